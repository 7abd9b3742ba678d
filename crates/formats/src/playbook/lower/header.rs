//! Headers: the tests of them in rules, and those that say how long to wait.

use crate::diagnostic::Diagnostic;
use crate::playbook::syntax;
use crate::yaml::{Cursor, MapReader, NodeKind, Scalar, shorten};
use playproof_engine::playbook::{DelayFormat, DelaySource, HeaderOp, HeaderTest};

/// The tests of the condition `header`: one, or a list of which one must hold.
pub(super) fn tests(at: Cursor<'_>) -> Option<Vec<HeaderTest>> {
    let tests: Vec<Option<HeaderTest>> = at.one_or_many().into_iter().map(test).collect();
    let tests: Option<Vec<HeaderTest>> = tests.into_iter().collect();
    tests.filter(|tests| !tests.is_empty())
}

fn test(at: Cursor<'_>) -> Option<HeaderTest> {
    let record = at.record("a test of a header", syntax::HEADER)?;
    let name = record.required("name").and_then(name);
    let invert = record.optional("invert").map_or(Some(false), Cursor::bool);
    let written: Vec<&str> = syntax::HEADER_OPS.into_iter().filter(|key| record.optional(key).is_some()).collect();
    let (op, is_absent) = match written.as_slice() {
        [] => (Some(HeaderOp::Present), false),
        ["equals"] => (texts(&record, "equals").map(HeaderOp::Equals), false),
        ["prefix"] => (texts(&record, "prefix").map(HeaderOp::Prefix), false),
        ["range"] => (record.optional("range").and_then(range), false),
        ["present"] => (Some(HeaderOp::Present), !record.optional("present").and_then(Cursor::bool)?),
        several => {
            let message = "a header has one test: `equals`, `prefix`, `range` or `present`";
            let spans = several.iter().filter_map(|key| record.key_span(key));
            at.report(spans.fold(Diagnostic::error("several_chosen", message), |all, span| all.at(span, "one")));
            return None;
        }
    };
    Some(HeaderTest { name: name?, op: op?, invert: invert? != is_absent })
}

fn texts(record: &MapReader<'_>, key: &str) -> Option<Vec<String>> {
    let each = record.optional(key)?.one_or_many().into_iter().map(|at| at.as_written().map(str::to_owned));
    let texts: Option<Vec<String>> = each.collect::<Vec<_>>().into_iter().collect();
    texts.filter(|texts| !texts.is_empty())
}

/// `[FIRST, END]`: from the first number to below the second.
fn range(at: Cursor<'_>) -> Option<HeaderOp> {
    let bound = |at: Cursor<'_>| match at.node().kind {
        NodeKind::Scalar { value: Scalar::Whole(bound), .. } => i64::try_from(bound).ok(),
        _ => None,
    };
    let bounds: Vec<Option<i64>> = at.list()?.map(bound).collect();
    match bounds.as_slice() {
        [Some(first), Some(end)] if first < end => Some(HeaderOp::Range(*first, *end)),
        _ => {
            let message = "a range of a header is `[FIRST, END]`: whole numbers from the first to below the second";
            at.wrong("bad_range", message, "not a range");
            None
        }
    }
}

/// The name of a header in lower case.
fn name(at: Cursor<'_>) -> Option<String> {
    let text = at.string()?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let plain = text.strip_prefix(':').unwrap_or(text); // `:status`, of HTTP/2
    if plain.is_empty() || plain.len() > 100 || !plain.bytes().all(fits) {
        let message = format!("`{}` is not the name of a header", shorten(text));
        at.wrong("bad_header", message, "letters, digits and `-`");
        return None;
    }
    Some(text.to_ascii_lowercase())
}

/// The headers that say how long to wait, in the order in which they are read.
pub(super) fn sources(at: Cursor<'_>) -> Option<Vec<DelaySource>> {
    let list: Vec<Cursor<'_>> = at.list()?.collect();
    if list.is_empty() || list.len() > syntax::MOST_SOURCES {
        let message =
            format!("there are 1 to {} headers that say how long to wait, not {}", syntax::MOST_SOURCES, list.len());
        at.wrong("bad_sources", message, "in the order in which they are read");
        return None;
    }
    let sources: Vec<Option<DelaySource>> = list.iter().map(|at| source(*at)).collect();
    let sources: Vec<DelaySource> = sources.into_iter().collect::<Option<_>>()?;
    for (n, (source, at)) in sources.iter().zip(&list).enumerate() {
        let is_same = |other: &DelaySource| other.header == source.header && other.format == source.format;
        if let Some(first) = sources.iter().take(n).position(is_same) {
            let message = format!("`{}` is read as `{}` twice", source.header, source.format.as_str());
            let again = Diagnostic::error("duplicate_source", message).at(at.span(), "again");
            at.report(again.at(list[first].span(), "the first time")); // a place among those before `n`
            return None;
        }
    }
    Some(sources)
}

fn source(at: Cursor<'_>) -> Option<DelaySource> {
    let record = at.record("a header that says how long to wait", syntax::SOURCE)?;
    let header = record.required("header").and_then(name);
    let format = record.required("format").and_then(|format| format.word(&DelayFormat::TABLE));
    let float = record.optional("float").map_or(Some(false), Cursor::bool);
    if let (Some(DelayFormat::HttpDate), Some(key)) = (format, record.key_span("float")) {
        let message = "`float` is for numbers: an `http_date` has no decimal places";
        at.report(Diagnostic::error("other_format", message).at(key, "not for http_date"));
        return None;
    }
    Some(DelaySource { header: header?, format: format?, float: float? })
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
            ("{ name: '' }", "bad_header: ''"),
            ("{ name: 'a b' }", "bad_header: 'a b'"),
            ("{ name: ':' }", "bad_header: ':'"),
            ("{ name: 5 }", "wrong_type: 5"),
            ("{ name: x, exact: a }", "unknown_key: exact"),
            ("{ name: x, equals: [] }", "empty_list: []"),
            ("{ name: x, equals: { a: b } }", "wrong_type: { a: b }"),
            ("{ name: x, equals: ~ }", "wrong_type: ~"),
            ("{ name: x, equals: a, prefix: b }", "several_chosen: equals|prefix"),
            ("{ name: x, range: 5 }", "wrong_type: 5"),
            ("{ name: x, range: [5] }", "bad_range: [5]"),
            ("{ name: x, range: [5, 5] }", "bad_range: [5, 5]"),
            ("{ name: x, range: [a, b] }", "bad_range: [a, b]"),
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
            ("[]", "bad_sources: []"),
            ("[retry-after]", "wrong_type: retry-after"),
            ("[{ header: retry-after }]", "missing_key: { header: retry-after }"),
            ("[{ header: 'a:b', format: ms }]", "bad_header: 'a:b'"),
            ("[{ header: a, format: minutes }]", "wrong_type: minutes"),
            ("[{ header: a, format: http_date, float: true }]", "other_format: float"),
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
