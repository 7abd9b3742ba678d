//! The words by which a mapping is drafted (`draft_names.yaml`), and what a name means by them. Examines no rows.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The words that come with the program.
const TABLE: &str = include_str!("../../../draft_names.yaml");

/// The words of a row of the table, in their order.
pub(super) fn words_of(row: &str) -> &'static [&'static str] {
    static ROWS: LazyLock<BTreeMap<&str, Vec<&str>>> = LazyLock::new(|| {
        let (mut rows, mut row) = (BTreeMap::<&str, Vec<&str>>::new(), "");
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let (name, words) = line.split_once(": ").unwrap_or((row, line));
            row = name;
            rows.entry(row).or_default().extend(words.split_whitespace());
        }
        rows
    });
    debug_assert!(ROWS.contains_key(row), "no row of the table is `{row}`");
    ROWS.get(row).map_or(&[], Vec::as_slice)
}

/// Whether a row of the table has this word.
pub(super) fn has(row: &str, word: &str) -> bool {
    words_of(row).contains(&word)
}

/// The rank of a path for a key of the mapping: 0 is the most certain; none if its name does not fit.
pub(super) fn rank(key: &str, path: &[String]) -> Option<usize> {
    const OF_ERRORS: [&str; 6] = ["message", "code", "kind", "status", "retry_after_ms", "retry_after_s"];
    let (last, above) = path.split_last()?;
    let (names, plain) = (words_of(key), plain(last));
    let parent = above.last().map(|above| self::plain(above)).unwrap_or_default();
    // `tool.name` is a `toolname`, and `err.code` an `errorcode`.
    let in_error = has("error", &parent);
    let within = if in_error { format!("error{plain}") } else { format!("{parent}{plain}") };
    let rank = names.iter().position(|name| plain == *name || within == *name).or_else(|| {
        // `gen_ai.tool.name`: a longer name that ends in a usual one.
        names.iter().position(|name| name.len() > 5 && plain.ends_with(name)).map(|at| at + names.len())
    });
    rank.filter(|_| !in_error || OF_ERRORS.contains(&key))
}

/// Whether a word of a text is in a row of the table.
pub(super) fn means(row: &str, value: &str) -> bool {
    words(value).iter().any(|word| has(row, word))
}

/// Whether the words of an event's name mean a start.
pub(super) fn means_start(value: &str) -> bool {
    !means_end(value) && means("means_start", value)
}

/// Whether the words of an event's name mean an end.
pub(super) fn means_end(value: &str) -> bool {
    means("means_failure", value) || means("means_end", value)
}

/// The unit that the ending of a name tells.
pub(super) fn unit(name: &str) -> Option<&'static str> {
    let plain = plain(name);
    let mut units = words_of("unit").iter().filter_map(|unit| unit.split_once('='));
    units.find(|(ending, _)| plain.ends_with(ending)).map(|(_, unit)| unit)
}

/// The words of a name: `toolCall.end` is `tool`, `call`, `end`.
fn words(value: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in value.chars().take(80) {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words
}

/// A name in lower-case letters and digits.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank_of(key: &str, path: &[&str]) -> Option<usize> {
        rank(key, &path.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn names_are_recognised_however_they_are_spelled() {
        assert_eq!(rank_of("tool", &["toolName"]), rank_of("tool", &["tool_name"]));
        assert!(rank_of("tool", &["tool"]) < rank_of("tool", &["action"]));
        assert!(rank_of("tool", &["attributes", "gen_ai.tool.name"]).is_some());
        assert_eq!(rank_of("tool", &["tools_seen"]), None);
    }

    #[test]
    fn fields_of_an_error_have_only_roles_of_errors() {
        assert!(rank_of("code", &["err", "code"]).is_some());
        assert_eq!(rank_of("name", &["error", "name"]), None);
        assert_eq!(rank_of("id", &["error", "id"]), None);
    }

    #[test]
    fn the_name_of_an_end_may_contain_the_words_of_a_start() {
        assert!(means_start("tool_call") && means_start("toolCall.started") && means_start("tool.invoke"));
        assert!(means_end("tool_call_end") && !means_start("tool_call_end") && means_end("toolResult"));
        let fails = |value| means("means_failure", value);
        assert!(fails("TimedOut") || fails("timedout"));
        assert!(fails("error") && !fails("ok") && !fails("terror"));
        assert!(!means_start("recall") && !means_end("tool"));
    }
}
