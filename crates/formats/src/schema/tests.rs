//! What the validator reports of a tree, and that our schemas have no keyword that it passes over.

use std::sync::LazyLock;

use super::{Change, Schema, changes, inlined, read};
use crate::diagnostic::{Diagnostic, Source};
use crate::{fixture, playbook};

const SCHEMA: &str = r##"{
    "title": "a shop",
    "type": "object",
    "additionalProperties": false,
    "required": ["format", "open"],
    "properties": {
        "format": { "const": "shop/1" },
        "open": { "type": "boolean" },
        "wait_ms": { "type": "integer", "minimum": 0, "maximum": 5000, "default": 7 },
        "part": { "type": "number", "minimum": 0, "maximum": 1, "multipleOf": 0.001 },
        "sort": { "enum": ["coffee", "tea"], "default": "tea" },
        "beans": { "type": "string", "minLength": 1, "x-only": { "sort": ["coffee"] }, "x-needed": true },
        "names": { "anyOf": [{ "type": "string", "minLength": 1 }, { "type": "array", "minItems": 1, "items": { "type": "string" } }] },
        "kind": { "type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1, "title": "a kind",
                  "properties": { "small": { "type": "object" }, "large": { "type": "object" } } },
        "rooms": { "type": "object", "maxProperties": 3, "propertyNames": { "type": "string", "pattern": "^[a-z]+$", "title": "a room" },
                   "additionalProperties": { "$ref": "#/$defs/room" } }
    },
    "$defs": { "room": { "title": "a room", "type": "object", "additionalProperties": false,
        "oneOf": [{ "required": ["seats"] }, { "required": ["tables"] }],
        "dependentRequired": { "seats": ["rows"] },
        "properties": { "seats": { "type": "integer" }, "tables": { "type": "integer" }, "rows": { "type": "integer" },
                        "in": { "$ref": "#/$defs/room" } } } }
}"##;

static SHOP: LazyLock<Schema> = LazyLock::new(|| Schema::compile(SCHEMA));

fn diagnostics(text: &str) -> Vec<(Diagnostic, String)> {
    let report = read(Source::whole("t", text), &SHOP, |_| Some(())).expect_err(text);
    let underlined =
        |said: &Diagnostic| said.labels.iter().map(|label| &text[label.span.clone()]).collect::<Vec<_>>().join("|");
    report.diagnostics.iter().map(|said| (said.clone(), underlined(said))).collect()
}

fn errors(more: &str) -> Vec<String> {
    let text = format!("format: shop/1\nopen: true\n{more}\n");
    diagnostics(&text).iter().map(|(said, underlined)| format!("{}: {underlined}", said.id)).collect()
}

fn help(more: &str) -> Option<String> {
    diagnostics(&format!("format: shop/1\nopen: true\n{more}\n"))[0].0.help.clone()
}

#[test]
fn each_mistake_is_underlined() {
    for (more, expected) in [
        ("wait_ms: 5001", "wrong_type: 5001"),
        (
            "wait_ms: 99999999999999999999999999999999999999999999",
            "wrong_type: 99999999999999999999999999999999999999999999",
        ),
        ("part: 0.0001", "wrong_type: 0.0001"),
        ("part: 1.1", "wrong_type: 1.1"),
        ("sort: te", "wrong_type: te"),
        ("sort: coffee", "missing_key: format: shop/1"),
        ("beans: arabica", "other_kind: beans"),
        ("names: ''", "empty_text: ''"),
        ("names: []", "empty_list: []"),
        ("names: [a, 5]", "wrong_type: 5"),
        ("names: {}", "wrong_type: {}"),
        ("kind: {}", "empty_map: {}"),
        ("kind: { small: {}, large: {} }", "several_chosen: small|large"),
        ("kind: small", "wrong_type: small"),
        ("rooms: { a: {} }", "missing_key: {}"),
        ("rooms: { a: { seats: 1, tables: 2, rows: 3 } }", "several_chosen: seats|tables"),
        ("rooms: { a: { seats: 1 } }", "missing_key: seats"),
        ("rooms: { a: { tables: 1, in: { tables: x } } }", "wrong_type: x"),
        ("rooms: { A: { tables: 1 } }", "bad_name: A"),
        ("rooms: { a: { tables: 1 }, b: { tables: 1 }, c: { tables: 1 }, d: { tables: 1 } }", "too_many: d"),
        ("chairs: 1", "unknown_key: chairs"),
    ] {
        assert_eq!(errors(more), [expected], "{more}");
    }
}

#[test]
fn what_was_meant_is_said() {
    for (more, expected) in [
        ("wait_ms: 5s", "write `5000`, in milliseconds"),
        ("wait: 5s", "write `wait_ms: 5000`, in milliseconds"),
        ("wait_ms: '5'", "write `5` without quotes"),
        ("sort: cofee", "did you mean `coffee`?"),
        ("srot: tea", "did you mean `sort`?"),
        ("names: 5", "write it in quotes: `\"5\"`"),
        ("kind: small", "write `KIND: { ... }`, where KIND is `large` or `small`"),
    ] {
        assert_eq!(help(more).as_deref(), Some(expected), "{more}");
    }
    let text = "format: shop/1\nopen: yes\n";
    assert_eq!(diagnostics(text)[0].0.help.as_deref(), Some("write `true`"));
}

#[test]
fn all_mistakes_are_reported_at_once_and_a_key_that_was_meant_is_not_missing() {
    let found = errors("rooms: { a: { tabels: 1 }, B: { tables: x } }\nsort: milk");
    assert_eq!(found, ["unknown_key: tabels", "bad_name: B", "wrong_type: x", "wrong_type: milk"]);
}

#[test]
fn a_file_of_another_format_is_read_no_further() {
    let found = diagnostics("format: shop/2\nopen: perhaps\n");
    assert_eq!(found.iter().map(|(_, underlined)| underlined.as_str()).collect::<Vec<_>>(), ["shop/2"]);
}

#[test]
fn the_time_for_many_mistakes_grows_with_their_number_and_most_are_only_counted() {
    let many: String = (0..20_000).map(|n| format!("chair_{n}: 1\n")).collect();
    let found = diagnostics(&format!("format: shop/1\nopen: true\n{many}"));
    assert_eq!(found.len(), 51);
    assert_eq!(found.last().unwrap().0.message, "19950 more errors are not shown");
}

#[test]
fn a_value_that_is_not_written_has_its_default() {
    let read = read(Source::whole("t", "format: shop/1\nopen: true\n"), &SHOP, |root| {
        assert!(root.get("wait_ms").is_none());
        Some((root.number::<u32>("wait_ms")?, root.says("sort", "tea")?))
    });
    assert_eq!(read, Ok((7, true)));
}

#[test]
fn our_schemas_have_no_keyword_type_or_word_that_is_passed_over() {
    const WRONG: &str =
        r#"{ "minimun": 1, "$ref": "no.json", "pattern": "(", "type": ["strng", "null"], "enum": ["a", 5, false] }"#;
    for text in [playbook::SCHEMA, playbook::TOOLS_SCHEMA, fixture::SCHEMA] {
        assert_eq!(Schema::compile(text).unknown(), [""; 0]);
    }
    assert_eq!(Schema::compile(WRONG).unknown(), ["$ref no.json", "no text: 5", "minimun", "type strng", "pattern ("]);
}

#[test]
fn a_schema_that_refers_to_playbooks_becomes_whole() {
    let whole = inlined(playbook::TOOLS_SCHEMA);
    assert!(
        !whole.contains("playbook.json") && whole.contains("\"#/$defs/tool\"") && whole.contains("\"arguments\": {")
    );
    assert_eq!(inlined(playbook::SCHEMA), playbook::SCHEMA);
}

/// A change of `open: true` and of what else a text says, in words.
fn changed(more: &str) -> Vec<String> {
    let text = format!("format: shop/1\nopen: true\n{more}\n");
    let said = |change: &Change| format!("{} {:?}", change.names.join("."), change.what);
    let read = read(Source::whole("t", &text), &SHOP, |root| Some(changes(root).iter().map(said).collect()));
    read.unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn a_tree_changes_in_all_ways_that_its_schema_knows() {
    let as_it_is = changed("");
    assert_eq!(as_it_is[0], r#"open Becomes("false", Some("true"))"#);
    let default = [r#"wait_ms Becomes("6", Some("7"))"#, r#"wait_ms Becomes("0", Some("7"))"#];
    for expected in
        default.into_iter().chain([r#"sort Becomes("coffee", Some("tea"))"#, r#"kind Becomes("small", None)"#])
    {
        assert!(as_it_is.iter().any(|change| change == expected), "{expected}: {as_it_is:?}");
    }
    for (more, expected) in [
        ("wait_ms: 7", "wait_ms Dropped"),
        ("part: 1", r#"part Becomes("0", Some("1"))"#),
        ("names: [a, b]", "names.b Dropped"),
        ("kind: { small: {} }", r#"kind Becomes("large", Some("small"))"#),
        ("rooms: { a: { seats: 1, rows: 2 } }", "rooms.a.rows Dropped"),
        ("rooms: { a: { seats: 1, rows: 2 } }", r#"rooms.a.seats Becomes("tables", None)"#),
    ] {
        let changed = changed(more);
        assert!(changed.iter().any(|change| change == expected), "{expected}: {changed:?}");
        assert!(!as_it_is.iter().any(|change| change == expected), "{expected}");
    }
}
