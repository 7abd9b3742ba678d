//! Clauses: whether a message is one clause, and whether it begins or ends with the given words. Words within a longer
//! text prove nothing about what a tool did.

/// The most characters of a clause.
pub const LONGEST: usize = 80;

/// Where one clause ends and another begins.
const BOUNDARIES: [char; 12] = [',', ';', ':', '.', '!', '?', '—', '–', '\n', '\r', '\u{2028}', '\u{2029}'];

/// Words that join two clauses.
const JOINING: [&str; 3] = ["but", "and", "however"];

/// The message without outer blanks and without one final `.` or `!`, if that is one clause of at most 80 characters.
pub fn of(message: &str) -> Option<&str> {
    Some(without_end(message)).filter(|clause| is_one(message, clause))
}

/// Whether the message is a clause that begins or ends with `words`, at the boundary of a word.
pub fn is_framed(message: &str, words: &str) -> bool {
    let clause = without_end(message);
    let begins = clause.strip_prefix(words).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    let ends = || clause.strip_suffix(words).is_some_and(|rest| !rest.ends_with(char::is_alphanumeric));
    (begins || ends()) && is_one(message, clause) // in this order, because few messages have the words
}

/// The message without outer blanks and without one final `.` or `!`.
fn without_end(message: &str) -> &str {
    let message = message.trim();
    message.strip_suffix(['.', '!']).unwrap_or(message)
}

/// Whether `clause`, the message without its end, is one clause.
fn is_one(message: &str, clause: &str) -> bool {
    let joins = |word: &str| JOINING.iter().any(|joining| word.eq_ignore_ascii_case(joining));
    !clause.is_empty()
        && message.trim().chars().count() <= LONGEST
        && !clause.contains(BOUNDARIES)
        && !clause.split_whitespace().any(joins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_begins_or_ends_with_the_words() {
        for message in ["order not found", "not found", " not found in stock!\n", "Order o_1 not found.", "(not found)"]
        {
            let framed = is_framed(message, "not found");
            assert_eq!(framed, message != "(not found)", "{message}");
        }
        for message in ["it was not found here", "knot found", "not founded", "", ".", "not found.."] {
            assert!(!is_framed(message, "not found"), "{message}");
        }
    }

    #[test]
    fn what_has_two_clauses_is_none() {
        for between in [",", ";", ":", ".", "!", "?", "—", "–", "\n", "\r", " but", " and", " HOWEVER"] {
            let message = format!("refund created{between} mail not found");
            assert_eq!(of(&message), None, "{message}");
        }
        assert!(is_framed("butter and-or sand not found", "not found"), "no word of its own joins");
    }

    #[test]
    fn a_clause_has_at_most_80_characters() {
        let of_length = |length: usize| format!("{} not found", "é".repeat(length - " not found".len()));
        assert!(is_framed(&of_length(80), "not found") && !is_framed(&of_length(81), "not found"));
    }
}
