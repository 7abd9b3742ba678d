//! Whether a word of a mapping is probably a misspelt one. Reads no rows.

use super::model::Mapping;
use crate::misfit::UnmatchedValue;
use playproof_formats::diagnostic::nearest;
use playproof_formats::playbook::KNOWN_KINDS;
use playproof_formats::playbook::lint::likely_kind;

impl Mapping {
    /// The kinds that are probably misspelt known ones.
    pub(crate) fn misspelt_kinds(&self) -> Vec<UnmatchedValue> {
        let is_named = |name: &str| self.kinds.iter().any(|kind| kind.name == name);
        let unknown = self.kinds.iter().filter(|kind| !KNOWN_KINDS.contains(&&*kind.name));
        let misspelt = unknown.filter_map(|kind| {
            let near = likely_kind(&kind.name, KNOWN_KINDS).filter(|near| !is_named(near))?;
            Some(UnmatchedValue {
                field: "kinds".into(),
                value: kind.name.clone(),
                path: None,
                others: vec![near.to_owned()],
                place: self.place(&kind.span),
            })
        });
        misspelt.collect()
    }
}

/// Whether `word` is probably `value` with another case or with one slip. Words such as `OK` and `KO`, `valid` and `invalid`,
/// `E7` and `E8`, `bounce` and `bounced` are two words, and so are names with `_`.
pub(super) fn is_misspelt(word: &str, value: &str) -> bool {
    let lower = |word: &str| word.to_lowercase();
    let (word, value) = (&*lower(word), &*lower(value));
    if word == value {
        return true;
    }
    let is_name = |word: &str| word.contains(|letter: char| letter.is_ascii_digit() || letter == '_');
    let letters = word.chars().count();
    let is_far = is_name(word) || is_name(value) || is_inflected(word, value) || nearest(word, [value], 1).is_none();
    if letters < 3 || is_far {
        return false;
    }
    let is_end = word.ends_with(value) || value.ends_with(word);
    let is_beginning = word.starts_with(value) || value.starts_with(word);
    is_swapped(word, value) || is_beginning || letters.max(value.chars().count()) >= 5 && !is_end
}

/// Whether they have the same letters in another order.
pub(super) fn is_swapped(word: &str, value: &str) -> bool {
    let letters = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    letters(word) == letters(value)
}

/// Whether one is the other in the plural or in the past.
pub(super) fn is_inflected(word: &str, value: &str) -> bool {
    let is_more = |long: &str, short: &str| matches!(long.strip_prefix(short), Some("s" | "d"));
    is_more(word, value) || is_more(value, word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_makes_a_word_misspelt_and_another_word_does_not() {
        for (word, value) in
            [("KOO", "KO"), ("WIAT", "WAIT"), ("error", "Error"), ("ko", "KO"), ("eror", "error"), ("falied", "failed")]
        {
            assert!(is_misspelt(word, value), "{word} {value}");
        }
        for (word, value) in [
            ("KO", "OK"),
            ("NOK", "OK"),
            ("invalid", "valid"),
            ("unpaid", "paid"),
            ("E7", "E8"),
            ("error_51", "error_52"),
            ("lost", "last"),
            ("failed", "error"),
            ("down", "done"),
            ("incomplete", "complete"),
            ("get_orders", "get_order"),
            ("bounce", "bounced"),
            ("errors", "error"),
        ] {
            assert!(!is_misspelt(word, value), "{word} {value}");
        }
    }
}
