//! Records: rendering, parsing, replay, and verification against a lock.

use std::sync::Arc;

use super::*;
use crate::diagnostic::{Report, Source};
use crate::golden::{GoldenFile, Lock, Reason, RowChange};

fn row(name: &str, before: Option<&str>, after: Option<&str>) -> RowChange {
    RowChange { name: name.into(), before: before.map(str::to_owned), after: after.map(str::to_owned) }
}

fn approval(reason: &str, rows: Vec<RowChange>) -> Record {
    Record { kind: RecordKind::Approval, playbook: "standard".into(), reason: reason.into(), rows }
}

fn proposal() -> Record {
    let taken = AcceptedProposal {
        id: "request-rejected".into(),
        adr: "docs/adr/0012-request-rejected.md".into(),
        fixtures: vec!["a-rejected-request".into()],
        goldens: vec!["standard/a-rejected-request".into()],
        explained: vec!["standard/a-rejected-request".into()],
    };
    let rows = vec![row("verdict request_rejected", None, Some(r#"{"effect":"not_applied"}"#))];
    Record {
        kind: RecordKind::Proposal(taken),
        playbook: "standard".into(),
        reason: "it's \"no\", not silence".into(),
        rows,
    }
}

fn read(text: &str) -> Result<Record, Report> {
    parse(Source::whole("0001-x.yaml", text)).map(|(record, _)| record)
}

fn entry(number: u32, record: &Record) -> HistoryEntry {
    let name = record.file_name(number);
    let source = Source::whole(format!("proposals/history/{name}"), record.render());
    let (record, places) = parse(source.clone()).unwrap_or_else(|report| panic!("{report}"));
    HistoryEntry { number, name, record, places, source }
}

fn history(records: &[Record]) -> History {
    History::new(records.iter().zip(1..).map(|(record, number)| entry(number, record)).collect())
}

fn lock(rows: &[(&str, &str)]) -> Lock {
    let mut lock = Lock::default();
    lock.approve("standard", rows.iter().copied(), "why");
    Lock::parse(Source::whole("goldens/playbook.lock", lock.render())).unwrap()
}

/// Id, underlined text and label of each violation.
fn objections(records: &[Record], rows: &[(&str, &str)]) -> Vec<(String, String, String)> {
    let mut lock = lock(rows);
    for record in records {
        lock.explain("standard", record.rows.iter().map(|row| &*row.name), &record.reason);
    }
    let source = Source::whole("goldens/playbook.lock", lock.render());
    objections_to(records, &Lock::parse(Arc::clone(&source)).unwrap(), &source)
}

fn objections_to(records: &[Record], lock: &Lock, source: &Arc<Source>) -> Vec<(String, String, String)> {
    let said = |objection: Violation| {
        let label = &objection.report.diagnostics[0].labels[0];
        let underlined = objection.report.source.text[label.span.clone()].to_owned();
        (objection.id().to_owned(), underlined, label.text.clone())
    };
    verify(&history(records), lock, source).into_iter().map(said).collect()
}

#[test]
fn a_reason_that_differs_from_its_record_is_reported_in_the_lock() {
    let mut lock = lock(&[("limit a", "1"), ("limit b", "2")]);
    lock.explain("standard", ["limit a"], "first");
    let source = Source::whole("goldens/playbook.lock", lock.render());
    let lock = Lock::parse(Arc::clone(&source)).unwrap();
    let found = objections_to(&[first()], &lock, &source);
    assert_eq!((found.len(), &*found[0].0, &*found[0].1), (1, "other_reason", "'why'"));
    assert!(found[0].2.starts_with("0001-standard-first-") && found[0].2.ends_with(".yaml says: first"), "{found:?}");
}

#[test]
fn a_golden_without_its_record_s_reason_is_reported_in_the_record() {
    let mut record = proposal();
    let RecordKind::Proposal(taken) = &mut record.kind else { panic!() };
    taken.explained = vec!["standard/pay".into(), "standard/gone".into()];
    let unkept = |whys: &[&str]| unkept(&entry(3, &record), &[golden(BODY, whys)]);
    assert_eq!(unkept(&["another", &record.reason]), []);
    for whys in [&[][..], &["another"]] {
        let found = unkept(whys);
        assert_eq!((found.len(), found[0].id()), (1, "reason_not_kept"));
        let report = &found[0].report;
        assert_eq!(&report.source.text[report.diagnostics[0].labels[0].span.clone()], "'standard/pay'");
    }
}

#[test]
fn a_removed_or_rewritten_record_is_reported() {
    let (was, other) = (entry(1, &first()), approval("second thoughts", first().rows));
    let then = |now: &[HistoryEntry]| {
        let found = rewritten(&History::new(now.to_vec()), &was.source.name, &was.source.text);
        found.map(|found| (found.id(), found.report.source.name.clone()))
    };
    let name = &was.source.name;
    assert_eq!(then(std::slice::from_ref(&was)), None);
    let renamed = entry(2, &first());
    assert_eq!(then(&[renamed]), None, "it is still there");
    assert_eq!(then(&[]), Some(("record_gone", name.clone())));
    let (record, places) = parse(Source::whole(name.clone(), other.render())).unwrap();
    let now = HistoryEntry { record, places, source: Source::whole(name.clone(), other.render()), ..was.clone() };
    assert_eq!(then(&[now]), Some(("record_rewritten", name.clone())));
    // Nor may a record that was there be made to begin elsewhere.
    let rebased = approval("first", vec![row("limit a", Some("0"), Some("1"))]);
    let (record, places) = parse(Source::whole(name.clone(), rebased.render())).unwrap();
    let now = HistoryEntry { record, places, source: Source::whole(name.clone(), rebased.render()), ..was.clone() };
    assert_eq!(then(&[now]), Some(("record_rewritten", name.clone())));
}

fn first() -> Record {
    approval("first", vec![row("limit a", None, Some("1")), row("limit b", None, Some("2"))])
}

#[test]
fn a_rendered_text_reads_back_and_renders_to_the_same_bytes() {
    let odd = row("tool a{b,c}: *", Some("tab\there"), None);
    for record in [proposal(), approval("two\nlines", vec![odd, row("limit x", Some("1"), Some("2"))])] {
        let text = record.render();
        let again = read(&text).unwrap_or_else(|report| panic!("{report}\n{text}"));
        assert_eq!((again.render(), again), (text, record));
    }
}

#[test]
fn a_file_name_depends_on_the_content_and_not_on_the_number_alone() {
    assert_eq!(proposal().file_name(12), "0012-request-rejected.yaml");
    let name = first().file_name(3);
    assert!(name.starts_with("0003-standard-first-") && number_of(&name) == Some(3), "{name}");
    let other = approval("first", vec![row("limit c", None, Some("1"))]);
    assert_ne!(other.file_name(3), name, "the same words for other rows on another branch");
}

#[test]
fn invalid_records_are_refused_with_the_place() {
    let good = proposal().render();
    let approval = first().render();
    for (text, said) in [
        (good.replace("history/1", "history/2"), "0001-x.yaml:2:9: expected `history/1`"),
        (good.replace("reason:", "raeson:"), "0001-x.yaml:7:1: a record has no key `raeson`"),
        (approval.replace("reason: 'first'", "reason: ' '"), "0001-x.yaml:5:9: this text is empty"),
        (approval.replace("rows:", "adr: 'x'\nrows:"), "0001-x.yaml:6:1: an approval has no `adr`"),
        (approval.replace("added: 'limit b'", "added: 'limit a'"), "0001-x.yaml:9:12: `limit a` changes twice"),
        (approval.replace("added: 'limit b'", "changed: 'limit b'"), "0001-x.yaml:9:5: a row needs `before`"),
        (approval.replace("after: '2'", "after: '2'\n    before: '1'"), "0001-x.yaml:11:5: a row that is added"),
        (approval.replace("  - added: 'limit a'", "  - name: 'limit a'"), "0001-x.yaml:7:5: a row has no key `name`"),
        ("format: history/1\n<<<<<<< HEAD\n".to_owned(), "0001-x.yaml:2:1: git could not merge this file"),
    ] {
        let report = read(&text).expect_err(said).to_string();
        assert!(report.starts_with(said), "{said}\n{report}");
    }
    let empty = approval.split("rows:").next().unwrap().to_owned() + "rows: []\n";
    assert!(read(&empty).unwrap_err().to_string().contains("changes nothing"));
}

#[test]
fn records_that_result_in_the_lock_explain_it() {
    let second = approval("second", vec![row("limit a", Some("1"), None), row("limit b", Some("2"), Some("3"))]);
    assert_eq!(objections(&[first(), second.clone()], &[("limit b", "3")]), []);
    let again = approval("third", vec![row("limit a", None, Some("9"))]);
    assert_eq!(objections(&[first(), second, again], &[("limit a", "9"), ("limit b", "3")]), []);
}

#[test]
fn records_with_the_same_number_and_different_rows_are_valid_in_any_order() {
    let (a, b) = (approval("a", vec![row("limit c", None, Some("3"))]), proposal());
    let entries = |first: &Record, second: &Record| vec![entry(1, &self::first()), entry(2, first), entry(2, second)];
    let names = |history: &History| history.entries().iter().map(|entry| entry.name.clone()).collect::<Vec<_>>();
    let (one, other) = (History::new(entries(&a, &b)), History::new(entries(&b, &a)));
    assert_eq!(names(&one), names(&other));
    let rows = one.replay(|_, _, before| assert!(before.is_none()));
    assert_eq!(rows["standard"].len(), 4);
}

#[test]
fn a_row_without_a_record_is_reported_in_the_lock() {
    let found = objections(&[first()], &[("limit a", "1"), ("limit b", "2"), ("limit c", "3")]);
    assert_eq!(found, [("no_record".into(), "limit c".into(), "no record has this row".into())]);
    let whole = objections(&[], &[("limit a", "1"), ("limit b", "2")]);
    assert_eq!(whole, [("no_record".into(), "standard".into(), "2 rows without a record".into())]);
    let gone = approval("gone", vec![row("limit a", Some("1"), None)]);
    let found = objections(&[first(), gone], &[("limit a", "1"), ("limit b", "2")]);
    assert!(found[0].2.ends_with("removed this row") && found[0].1 == "limit a", "{found:?}");
}

#[test]
fn a_text_that_the_lock_does_not_have_is_reported_in_the_record() {
    let found = objections(&[first()], &[("limit a", "1"), ("limit b", "7")]);
    assert_eq!(found, [("not_in_the_lock".into(), "'2'".into(), "the lock has 7".into())]);
    let found = objections(&[first()], &[("limit a", "1")]);
    assert_eq!(found, [("not_in_the_lock".into(), "'2'".into(), "the lock has no such row".into())]);
}

#[test]
fn a_playbook_that_the_lock_does_not_have_is_one_violation_unless_all_its_rows_were_removed() {
    let (first, empty) = (first(), Lock::default());
    let source = Source::whole("goldens/playbook.lock", "");
    let gone = approval("gone", first.rows.iter().map(|r| row(&r.name, r.after.as_deref(), None)).collect());
    let found = verify(&history(std::slice::from_ref(&first)), &empty, &source);
    assert_eq!((found.len(), found[0].id(), found[0].playbook.as_deref()), (1, "not_in_the_lock", Some("standard")));
    assert_eq!(verify(&history(&[first, gone]), &empty, &source), []);
}

#[test]
fn a_text_before_that_differs_from_the_earlier_record_is_reported() {
    let odd = approval("odd", vec![row("limit b", Some("5"), Some("6"))]);
    let found = objections(&[first(), odd], &[("limit a", "1"), ("limit b", "6")]);
    assert_eq!((found.len(), &*found[0].0, &*found[0].1), (1, "broken_chain", "'5'"));
    assert!(found[0].2.starts_with("0001-standard-first-") && found[0].2.ends_with(" left 2"), "{found:?}");
    let twice = approval("again", vec![row("limit b", None, Some("2"))]);
    let found = objections(&[first(), twice], &[("limit a", "1"), ("limit b", "2")]);
    assert_eq!((&*found[0].0, &*found[0].1), ("broken_chain", "'limit b'"));
    let orphan = approval("orphan", vec![row("limit z", Some("1"), None)]);
    let found = objections(&[first(), orphan], &[("limit a", "1"), ("limit b", "2")]);
    assert_eq!(found[0].2, "no earlier record has this row");
}

#[test]
fn the_next_record_has_the_changes_since_the_last_one() {
    let history = history(&[first()]);
    let changes = history.changes("standard", [("limit b", "3"), ("limit c", "4")]);
    let expected =
        [row("limit a", Some("1"), None), row("limit b", Some("2"), Some("3")), row("limit c", None, Some("4"))];
    assert_eq!(changes, expected);
    assert_eq!(history.changes("standard", [("limit a", "1"), ("limit b", "2")]), []);
    assert_eq!(history.changes("other", [("limit a", "1")]), [row("limit a", None, Some("1"))]);
}

const BODY: &str = "\
pay: { outcome: succeeded, effect: applied, attempts: 1, verdicts: [] }
ledger: { pay/k: applied x1 }
findings: []
events:
- { +0:    pay, attempt_started: 1 }
";

fn golden(body: &str, whys: &[&str]) -> (GoldenFile, Arc<Source>) {
    let mut golden = GoldenFile::new("pay", "standard", body);
    golden.reasons = whys.iter().map(|why| Reason { class: "effect changed".into(), why: (*why).into() }).collect();
    let source = Source::whole("goldens/standard/pay.snap", golden.render());
    (GoldenFile::parse(&source).unwrap_or_else(|report| panic!("{report}")), source)
}

#[test]
fn a_golden_that_changed_dangerously_needs_a_reason() {
    let worse = BODY.replace("applied x1", "applied x2");
    let slower = BODY.replace("+0:   ", "+200: ");
    let (before, _) = golden(BODY, &["once"]);
    let check = |body: &str, whys: &[&str]| {
        let (after, source) = golden(body, whys);
        reason_for(&before, &after, &source).map(|objection| objection.report.to_string())
    };
    let said = check(&worse, &["once"]).unwrap();
    assert_eq!(said, "goldens/standard/pay.snap:2:1: effect changed, but there is no reason for it");
    assert_eq!(check(&worse, &["once", "it now pays twice"]), None);
    assert_eq!(check(&slower, &["once"]), None);
    assert!(check(BODY, &[]).unwrap().contains("a reason was removed from this golden"));
    assert!(check(&worse, &["another", "words"]).unwrap().contains("was removed"));
}

#[test]
fn an_empty_reason_or_one_for_a_harmless_class_is_reported() {
    let (good, source) = golden(BODY, &["because"]);
    assert_eq!(reasons(&good, &source), []);
    let (blank, source) = golden(BODY, &[" "]);
    let found = reasons(&blank, &source);
    assert_eq!(found[0].report.to_string(), "goldens/standard/pay.snap:5:3: a reason in this golden is empty");
    let (mut odd, source) = golden(BODY, &["because"]);
    odd.reasons[0].class = "timing only".into();
    assert_eq!(reasons(&odd, &source)[0].id(), "odd_reason");
}

#[test]
fn a_truncated_record_is_read_or_refused_with_a_place() {
    let text = proposal().render();
    let cuts = (0..text.len()).filter_map(|at| text.get(..at)).map(str::to_owned);
    let lines: Vec<&str> = text.lines().collect();
    let gaps = (0..lines.len()).map(|gap| [&lines[..gap], &lines[gap + 1..]].concat().join("\n"));
    for text in cuts.chain(gaps) {
        if let Err(report) = read(&text) {
            let end = report.source.text.len();
            let spans = report.diagnostics.iter().flat_map(|said| &said.labels).map(|label| label.span.clone());
            assert!(spans.into_iter().all(|span| span.start <= span.end && span.end <= end), "{text}");
        }
    }
}
