//! Lists of words, each written as one text with spaces between them.

/// The words of a list, in their order.
pub(super) fn words_in(list: &'static str) -> impl Iterator<Item = &'static str> + Clone {
    list.split([' ', '|']).filter(|word| !word.is_empty())
}

/// Whether a list has this word, as it is written.
pub(super) fn is_in(list: &'static str, word: &str) -> bool {
    words_in(list).any(|own| own == word)
}

/// Whether a list has this word, in small or capital letters.
pub(super) fn is_in_any_case(list: &'static str, word: &str) -> bool {
    words_in(list).any(|own| own.eq_ignore_ascii_case(word))
}
