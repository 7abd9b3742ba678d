//! The history on records built by hand.

use super::{json, page};
use crate::style::{Extent, Palette};
use playproof_formats::diagnostic::Source;
use playproof_formats::golden::RowChange;
use playproof_formats::history::{AcceptedProposal, History, HistoryEntry, Record, RecordKind, RecordPlaces};

fn row(name: &str, before: Option<&str>, after: Option<&str>) -> RowChange {
    RowChange { name: name.into(), before: before.map(str::to_owned), after: after.map(str::to_owned) }
}

fn history() -> History {
    let first: Vec<RowChange> = (0..12).map(|n| row(&format!("queue q{n}"), None, Some("{}"))).collect();
    let taken = AcceptedProposal {
        id: "slower".into(),
        adr: "docs/adr/0012-slower.md".into(),
        fixtures: vec!["a-slow-answer".into()],
        goldens: Vec::new(),
        explained: Vec::new(),
    };
    let second = vec![
        row(
            "verdict slow",
            Some(r#"{"effect":"unknown","then":{"backoff_ms":[200]}}"#),
            Some(r#"{"effect":"applied","then":{"backoff_ms":[300]}}"#),
        ),
        row("rule a_*b*", Some(r#"{"when":{"kind":["timeout","deadline","late","gone away for good"]}}"#), None),
    ];
    let entry = |number, kind, reason: &str, rows| {
        let record = Record { kind, playbook: "standard".into(), reason: reason.into(), rows };
        let source = Source::whole(record.file_name(number), record.render());
        HistoryEntry { number, name: record.file_name(number), record, places: RecordPlaces::default(), source }
    };
    let why = "the gateway answers within 300 ms since it was moved next door, and nobody wants to ask it sooner";
    History::new(vec![
        entry(2, RecordKind::Proposal(taken), why, second),
        entry(1, RecordKind::Approval, "first\u{1b}[31m", first),
    ])
}

#[test]
fn records_are_shown_oldest_first_with_reason_and_rows_within_the_width() {
    let history = history();
    let entries: Vec<&HistoryEntry> = history.entries().iter().collect();
    let page = page(&entries, Extent::Some).terminal(80, Palette::new(false));
    let expected = "\
What was accepted, and why

0001  standard  approved: 12 added
   why  first\\u{1b}[31m
   added    queue q0
     {}
   added    queue q1
     {}
   added    queue q2
     {}
   added    queue q3
     {}
   added    queue q4
     {}
   added    queue q5
     {}
   added    queue q6
     {}
   added    queue q7
     {}
   and 4 more rows; `--all` shows them

0002  standard  proposal slower accepted: 1 changed, 1 removed
   why       the gateway answers within 300 ms since it was moved next door, and
             nobody wants to ask it sooner
   ADR       docs/adr/0012-slower.md
   fixtures  a-slow-answer
   changed  verdict slow
     effect: unknown becomes applied
     then.backoff_ms: [200] becomes [300]
   removed  rule a_*b*
     { when: { kind: [timeout, deadline, late, gone away for good] } }";
    assert_eq!(page, expected);
    assert_eq!(super::page(&entries, Extent::All).terminal(80, Palette::new(false)).matches("queue q").count(), 12);
}

#[test]
fn nothing_in_markdown_is_markup() {
    let history = history();
    let entries: Vec<&HistoryEntry> = history.entries().iter().collect();
    let page = page(&entries, Extent::All).markdown();
    assert!(page.contains("### 0002 `standard` proposal slower accepted: 1 changed, 1 removed"), "{page}");
    assert!(page.contains("- removed `rule a_*b*`\n  - `{ when: { kind: "), "{page}");
    assert!(page.contains("first\\\\u\\{1b\\}\\[31m"), "{page}");
}

#[test]
fn json_has_every_row_with_its_texts() {
    let history = history();
    let entries: Vec<&HistoryEntry> = history.entries().iter().collect();
    let document: serde_json::Value = serde_json::from_str(&json(&entries)).unwrap();
    assert_eq!(document["records"][0]["rows"].as_array().unwrap().len(), 12);
    let second = &document["records"][1];
    assert_eq!((&second["proposal"], &second["rows"][1]["became"]), (&"slower".into(), &"removed".into()));
    assert!(second["rows"][1].get("after").is_none());
}
