//! How alike two forms are: the words that they share. Whole numbers only.

use std::collections::BTreeMap;

/// Less alike than this, in thousandths, is not alike.
pub(super) const ALIKE_MIN: usize = 300;

/// Twice the shared words by all words, in thousandths: 1,000 for the same words in any order.
pub(super) fn likeness(a: &str, b: &str) -> usize {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for word in words(a) {
        counts.entry(word).or_default().0 += 1;
    }
    for word in words(b) {
        counts.entry(word).or_default().1 += 1;
    }
    let shared: usize = counts.values().map(|&(a, b)| a.min(b)).sum();
    let all: usize = counts.values().map(|&(a, b)| a + b).sum();
    (shared * 2_000).checked_div(all).unwrap_or(1_000) // two empty forms are the same
}

/// Placeholders are no words: that two messages both hold a number makes them no more alike.
fn words(form: &str) -> impl Iterator<Item = String> {
    let bare = form.split(' ').map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '<' && c != '>'));
    bare.filter(|word| !word.is_empty() && !word.contains('<')).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_words_make_forms_alike_and_placeholders_do_not() {
        assert_eq!(likeness("payment method <id> not found", "payment method not found"), 1_000);
        assert_eq!(likeness("order <n> not found", "Flight <n> not found!"), 666);
        assert_eq!(likeness("<n> <id>", "<n> other"), 0);
        assert_eq!(likeness("", ""), 1_000);
    }
}
