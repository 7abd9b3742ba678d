//! Headers: the tests of them in rules, and those that say how long to wait.

use crate::diagnostic::Diagnostic;
use crate::schema::At;
use playproof_engine::playbook::{DelayFormat, DelaySource, HeaderOp, HeaderTest};

/// One test of the condition `header`.
pub(super) fn test(at: At<'_>) -> Option<HeaderTest> {
    let invert = at.field("invert")?.flag()?;
    let texts = |at: At<'_>| at.all(|at| at.text().map(str::to_owned));
    let (op, is_absent) = if let Some(equals) = at.get("equals") {
        (HeaderOp::Equals(texts(equals)?), false)
    } else if let Some(prefix) = at.get("prefix") {
        (HeaderOp::Prefix(texts(prefix)?), false)
    } else if let Some(own) = at.get("range") {
        (range(own)?, false)
    } else {
        (HeaderOp::Present, at.optional("present", At::flag)? == Some(false))
    };
    Some(HeaderTest { name: name(at.get("name")?)?, op, invert: invert != is_absent })
}

/// `[FIRST, END]`: from the first number to below the second.
fn range(at: At<'_>) -> Option<HeaderOp> {
    let bounds: Vec<Option<i64>> = at.items().map(At::whole).collect();
    match bounds.as_slice() {
        [Some(first), Some(end)] if first < end => Some(HeaderOp::Range(*first, *end)),
        _ if at.items().count() != 2 || !at.items().all(At::fits) => None,
        _ => {
            let message = "a range of a header is `[FIRST, END]`: whole numbers from the first to below the second";
            at.wrong("bad_range", message, "not a range");
            None
        }
    }
}

/// The name of a header in lower case.
fn name(at: At<'_>) -> Option<String> {
    at.text().map(str::to_ascii_lowercase)
}

/// The headers that say how long to wait, in the order in which they are read.
pub(super) fn sources(root: At<'_>) -> Option<Vec<DelaySource>> {
    let list: Vec<At<'_>> = root.get("server_delay_sources").into_iter().flat_map(At::items).collect();
    let sources: Vec<Option<DelaySource>> = list.iter().map(|at| source(*at)).collect();
    let sources: Vec<DelaySource> = sources.into_iter().collect::<Option<_>>()?;
    for (n, (source, at)) in sources.iter().zip(&list).enumerate() {
        let is_same = |other: &DelaySource| other.header == source.header && other.format == source.format;
        if let Some(first) = sources.iter().take(n).position(is_same) {
            let message = format!("`{}` is read as `{}` twice", source.header, source.format.as_str());
            let again = Diagnostic::error("duplicate_source", message).at(at.span(), "again");
            at.report(again.at(list[first].span(), "the first time")); // a place among those before `n`
        }
    }
    Some(sources)
}

fn source(at: At<'_>) -> Option<DelaySource> {
    Some(DelaySource {
        header: name(at.get("header")?)?,
        format: at.word("format", DelayFormat::parse)?,
        float: at.field("float")?.flag()?,
    })
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Source;
    use crate::playbook::tests::errors_of;
    use crate::playbook::{Loaded, parse, rows};

    fn text(when: &str, more: &str) -> String {
        format!(
            "format: playbook/1\nname: test\nqueues: [people]\ndefault_queue: people\nverdicts:\n  again: {{ means: m, \
             effect: unknown, then: {{ retry_with_backoff: {{ backoff_ms: [1] }} }} }}\nclassify:\n- {{ rule: r, when: {{ \
             {when} }}, verdict: again }}\n{more}\n"
        )
    }

    fn load(when: &str, more: &str) -> Loaded {
        parse(Source::whole("t", text(when, more))).unwrap_or_else(|report| panic!("{report}"))
    }

    /// The errors with what each underlines.
    fn errors(when: &str, more: &str) -> Vec<String> {
        errors_of(&text(when, more))
    }

    /// The canonical condition on headers.
    fn condition(test: &str) -> String {
        let rows = rows(&load(&format!("header: {test}"), "").playbook);
        let row = rows.into_iter().find(|row| row.name == "rule r").unwrap().text.replace('"', "");
        let (_, rest) = row.split_once("when:{header:").unwrap();
        rest.trim_end_matches("}}").to_owned()
    }

    #[test]
    fn what_means_the_same_is_written_alike_and_nothing_else_is() {
        let present = condition("{ name: X-Overloaded }");
        assert_eq!(present, "[{name:x-overloaded,present:true}]");
        for same in ["present: true", "invert: false", "present: false, invert: true"] {
            assert_eq!(condition(&format!("{{ name: x-overloaded, {same} }}")), present, "{same}");
        }
        assert_eq!(condition("[{ name: x-overloaded }, { name: X-Overloaded }]"), present);
        assert_eq!(condition("{ name: x, invert: true }"), condition("{ name: x, present: false }"));
        assert_eq!(condition("{ name: x, equals: [b, a] }"), condition("{ name: x, equals: [a, b] }"));
        assert_eq!(condition("{ name: x, equals: 5 }"), "[{equals:[5],name:x}]");
        let mut all =
            ["present: false", "equals: a", "equals: a, invert: true", "prefix: a", "range: [0, 5]", "range: [-1, 5]"]
                .map(|test| condition(&format!("{{ name: x, {test} }}")));
        all.sort();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
    }

    #[test]
    fn every_wrong_test_of_a_header_is_underlined() {
        for (test, expected) in [
            ("x-a", "wrong_type: x-a"),
            ("[]", "empty_list: []"),
            ("{ equals: a }", "missing_key: { equals: a }"),
            ("{ name: '' }", "empty_text: ''"),
            ("{ name: 'a b' }", "bad_name: 'a b'"),
            ("{ name: ':' }", "bad_name: ':'"),
            ("{ name: 5 }", "wrong_type: 5"),
            ("{ name: x, exact: a }", "unknown_key: exact"),
            ("{ name: x, equals: [] }", "empty_list: []"),
            ("{ name: x, equals: { a: b } }", "wrong_type: { a: b }"),
            ("{ name: x, equals: ~ }", "wrong_type: ~"),
            ("{ name: x, equals: a, prefix: b }", "several_chosen: equals|prefix"),
            ("{ name: x, range: 5 }", "wrong_type: 5"),
            ("{ name: x, range: [5] }", "too_few: [5]"),
            ("{ name: x, range: [5, 5] }", "bad_range: [5, 5]"),
            ("{ name: x, range: [1, b] }", "wrong_type: b"),
            ("{ name: x, range: [0, 9223372036854775808] }", "bad_range: [0, 9223372036854775808]"),
            ("{ name: x, present: yes }", "wrong_type: yes"),
            ("{ name: x, invert: 1 }", "wrong_type: 1"),
        ] {
            assert_eq!(errors(&format!("header: {test}"), ""), [expected], "{test}");
        }
        assert_eq!(errors("should_retry: no", ""), ["wrong_type: no"]);
    }

    #[test]
    fn every_wrong_source_of_a_delay_is_underlined() {
        for (sources, expected) in [
            ("retry-after", "wrong_type: retry-after"),
            ("[]", "empty_list: []"),
            ("[retry-after]", "wrong_type: retry-after"),
            ("[{ header: retry-after }]", "missing_key: { header: retry-after }"),
            ("[{ header: 'a:b', format: ms }]", "bad_name: 'a:b'"),
            ("[{ header: a, format: minutes }]", "wrong_type: minutes"),
            ("[{ header: a, format: http_date, float: true }]", "other_kind: float"),
            ("[{ header: a, format: ms, float: 1 }]", "wrong_type: 1"),
            ("[{ header: a, format: ms, unit: s }]", "unknown_key: unit"),
            (
                "[{ header: a, format: ms }, { header: A, format: ms, float: true }]",
                "duplicate_source: { header: A, format: ms, float: true }|{ header: a, format: ms }",
            ),
        ] {
            assert_eq!(errors("kind: a", &format!("server_delay_sources: {sources}")), [expected], "{sources}");
        }
        let sources =
            load("kind: a", "server_delay_sources: [{ header: A, format: ms }, { header: a, format: unix_ts }]");
        assert_eq!(sources.playbook.server_delay_sources.len(), 2);
    }
}
