//! Lists of words, each written as one text with spaces or `|` between them. Most words that a list lacks are known by their
//! first letter and their length.

use std::fmt;

/// More letters than a word has that is looked for without its marks.
const LONGEST: usize = 32;

/// The letters and digits of a name, in small letters.
pub(super) fn letters(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase())
}

/// The most words of a list.
const MOST: usize = 128;

/// A list of words.
pub(super) struct WordList {
    /// The words as they are written.
    text: &'static str,
    /// The lengths of its words by their first letter, a bit each.
    lengths: [u32; 32],
    /// Where each word begins and ends.
    places: [(u16, u16); MOST],
    count: usize,
}

/// The bit of a length; all long words share one.
const fn bit(length: usize) -> u32 {
    1 << if length < 31 { length } else { 31 }
}

impl WordList {
    /// The list that `text` writes.
    #[expect(clippy::cast_possible_truncation, reason = "a list is shorter, as is asserted")]
    pub(super) const fn of(text: &'static str) -> WordList {
        let bytes = text.as_bytes();
        assert!(bytes.len() < u16::MAX as usize);
        let mut list = WordList { text, lengths: [0; 32], places: [(0, 0); MOST], count: 0 };
        let (mut start, mut at) = (0, 0);
        while at <= bytes.len() {
            if at == bytes.len() || is_gap(bytes[at]) {
                if at > start {
                    list.lengths[(bytes[start] % 32) as usize] |= bit(at - start);
                    list.places[list.count] = (start as u16, at as u16);
                    list.count += 1;
                }
                start = at + 1;
            }
            at += 1;
        }
        list
    }

    /// The words, in their order.
    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> + Clone {
        let text = self.text;
        let places = self.places.iter().take(self.count);
        places.map(move |(start, end)| &text[usize::from(*start)..usize::from(*end)]) // gaps are ASCII
    }

    /// Whether it has this word, as it is written.
    pub(super) fn has(&self, word: &str) -> bool {
        self.may_have(word) && self.words().any(|own| own == word)
    }

    /// Whether it has this word, in small or capital letters.
    pub(super) fn has_in_any_case(&self, word: &str) -> bool {
        self.may_have(word) && self.words().any(|own| own.eq_ignore_ascii_case(word))
    }

    /// Whether it has this word without its marks, in small letters.
    pub(super) fn has_plain(&self, word: &str) -> bool {
        let (mut plain, mut length) = ([0; LONGEST], 0);
        for (letter, own) in plain.iter_mut().zip(letters(word)) {
            *letter = own;
            length += 1;
        }
        // What is longer than any word is cut, and none.
        std::str::from_utf8(&plain[..length]).is_ok_and(|plain| self.has(plain))
    }

    /// Letters differ from their capitals in a bit that the remainder by 32 leaves out.
    fn may_have(&self, word: &str) -> bool {
        word.bytes().next().is_some_and(|first| self.lengths[usize::from(first % 32)] & bit(word.len()) != 0)
    }
}

/// As it is written.
impl fmt::Display for WordList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

/// Whether a byte stands between words.
const fn is_gap(byte: u8) -> bool {
    byte == b' ' || byte == b'|'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_its_words_and_no_others() {
        static LIST: WordList = WordList::of("made sent|n/a [] 0  überwiesen a-very-long-word-of-more-than-31-letters");
        let words: Vec<&str> = LIST.words().collect();
        assert_eq!(words, ["made", "sent", "n/a", "[]", "0", "überwiesen", "a-very-long-word-of-more-than-31-letters"]);
        for word in words {
            assert!(LIST.has(word) && LIST.has_in_any_case(&word.to_ascii_uppercase()), "{word}");
        }
        for word in
            ["", " ", "mad", "made ", "made sent", "Made", "send", "1", "ü", "a-very-long-word-of-more-than-31-letter"]
        {
            assert!(!LIST.has(word), "{word}");
        }
        assert!(LIST.has_plain("M_ade") && !LIST.has_plain("N/A") && !LIST.has_plain(&"made".repeat(9)));
    }
}
