//! Writes texts as YAML scalars that read back unchanged, in block and in flow style. Knows no format.

use std::borrow::Cow;

use super::node::{Node, NodeKind, Scalar};
use crate::text::is_unsafe_to_print;

/// The comment with which a draft marks a guess that a person must confirm.
pub const GUESSED: &str = "# guessed: confirm";

/// Words that some YAML parsers do not read as texts, or that have a meaning in our formats.
const WORDS: [&str; 12] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "absent"];

/// A text as a scalar or key: plain if every parser reads it as a text, else in quotes.
pub fn scalar(text: &str) -> Cow<'_, str> {
    let starts_plain = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let is_inner = |c: char| c.is_ascii_alphanumeric() || " _-./*".contains(c);
    let bare = ["0x", "0o", "0b"].iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
    let may_be_number = text.starts_with(|c: char| c.is_ascii_digit())
        && bare.chars().all(|c| c.is_ascii_hexdigit() || "_.-+ ".contains(c));
    let is_odd = may_be_number || text.ends_with(' ') || WORDS.contains(&&*text.to_ascii_lowercase());
    match starts_plain && !is_odd && text.chars().all(is_inner) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(quoted(text)),
    }
}

/// A text in single quotes, or in double quotes if it has characters that are unsafe to print. The result contains no CI
/// command (`##[`).
pub fn quoted(text: &str) -> String {
    if !text.contains(is_unsafe_to_print) && !text.contains("##") {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '#' if out.ends_with('#') => out.push_str("\\x23"),
            c if is_unsafe_to_print(c) => out.push_str(&format!("\\U{:08x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A value of a file in one line, without aliases; the keys of maps are sorted.
pub fn flow(node: &Node) -> String {
    match &node.kind {
        NodeKind::Scalar { text, value: Scalar::Text } => scalar(text).into_owned(),
        NodeKind::Scalar { value: Scalar::Null, .. } => "null".to_owned(),
        NodeKind::Scalar { text, .. } => text.to_string(),
        NodeKind::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        NodeKind::Map(entries) => {
            let mut parts: Vec<_> =
                entries.iter().map(|entry| format!("{}: {}", scalar(&entry.key), flow(&entry.value))).collect();
            parts.sort();
            if parts.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", parts.join(", ")) }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::diagnostic::Source;
    use crate::yaml;

    fn read(written: &str) -> Option<String> {
        let text =
            format!("block in a line: {written}\nwithin braces: {{ c: {written}, d: [{written}] }}\n{written}: e\n");
        yaml::parse(Source::whole("t", text), |root| {
            let entries: Vec<_> = root.entries("a map")?.collect();
            let [(_, block), (_, flow), (key, _)] = entries.as_slice() else { return None };
            let inner: Vec<_> = flow.entries("a map")?.map(|(_, value)| value).collect();
            let listed: Vec<_> = inner.get(1)?.list()?.collect();
            let all = [block.string()?, inner.first()?.string()?, listed.first()?.string()?, key.text];
            all.iter().all(|text| *text == all[0]).then(|| all[0].to_owned())
        })
        .ok()
    }

    #[test]
    fn only_unambiguous_texts_are_plain() {
        for plain in ["timeout", "409_conflict", "5xx", "search.*", "goldens/a b", "_x", "o_91", "study/x"] {
            assert_eq!(scalar(plain), plain);
        }
        for odd in ["1_000", "1e5", "2020-01-01", "absent", " a", "a ", "-a", "a: b", "#", "a #b"] {
            assert!(scalar(odd).starts_with('\''), "{odd}");
        }
        for (text, written) in [
            ("", "''"),
            ("412", "'412'"),
            ("0x1f", "'0x1f'"),
            ("Yes", "'Yes'"),
            ("*.a", "'*.a'"),
            ("it's: so", "'it''s: so'"),
            ("two\nlines\u{1b}", "\"two\\nlines\\U0000001b\""),
            ("a\u{2028}b", "\"a\\U00002028b\""),
        ] {
            assert_eq!(scalar(text), written);
        }
    }

    proptest! {
        #[test]
        fn any_text_reads_back_unchanged(text in r"(?s).{0,12}", word in "[a-z0-9 '\"\\\\:#{}\\[\\],*&!|>%@`-]{0,6}") {
            for text in [text, word] {
                prop_assert_eq!(read(&scalar(&text)), Some(text.clone()), "{}", scalar(&text));
                prop_assert_eq!(read(&quoted(&text)), Some(text));
            }
        }
    }
}
