//! What a number behind a word tells: the status of an error, or a count of none. Reads nothing else.

/// Whether a text is the word for a failure with nothing behind it but a number or no value. Only the status of an HTTP
/// answer is a failure for sure: any other number may be a count or a measure.
pub(super) fn bare_error(text: &str) -> Option<bool> {
    let (word, rest) = text.split_once(':')?;
    let is_word = |words: [&str; 2]| words.contains(&word.trim());
    match rest.trim() {
        "null" | "None" | "undefined" | "nil" => is_word(["Error", "Exception"]).then_some(false),
        number => {
            let number: u32 = number.parse().ok().filter(|number| *number > 0 && !rest.contains('+'))?;
            let is_word = ["error", "exception"].iter().any(|known| word.trim().eq_ignore_ascii_case(known));
            is_word.then_some((400..=599).contains(&number))
        }
    }
}

/// Whether a text begins with a label and the count 0, as `Not found: 0` and `Invalid: 0, valid: 17` do.
pub(super) fn counts_none(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let Some((label, value)) = line.split_once([':', '=']) else { return false };
    let is_label = label.len() <= 60 && label.chars().all(|c| c.is_ascii_alphanumeric() || " _-'/".contains(c));
    let rest = value.trim().strip_prefix('0').map(str::trim_start);
    is_label && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ';', '|', ')']))
}
