//! The published cases of this folder, run by the program, and the document that lists their results.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use playproof_analysis::conform::{CaseCounts, CaseKind, CaseOutcome, CaseResult, read_cases, run_cases};
use playproof_report::conform::markdown_tables;

use crate::place::Place;

const DOCUMENT: &str = "docs/conformance.md";

/// What stands before the results in the document.
const BEGIN: &str = "<!-- results: `UPDATE_DOCUMENTS=1 cargo test --test all conformance` writes them -->\n";

/// The kinds that the project promises, and the percent of their cases that pass.
const PROMISED: ([CaseKind; 5], u64) =
    ([CaseKind::Retry, CaseKind::Backoff, CaseKind::Breaker, CaseKind::Budget, CaseKind::Dedupe], 95);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// The files of cases, by name.
fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("tests/conformance")).expect("the folder of cases");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    files
}

fn outcomes() -> Vec<CaseOutcome> {
    let texts = files().into_iter().map(|path| fs::read_to_string(path).expect("a file of cases"));
    texts.flat_map(|text| run_cases(&read_cases(&text).expect("cases"))).collect()
}

#[test]
fn the_document_has_the_results() {
    let path = root().join(DOCUMENT);
    let text = fs::read_to_string(&path).expect("the document");
    let (prose, _) = text.split_once(BEGIN).expect("the place of the results");
    let fresh = format!("{prose}{BEGIN}\n{}", markdown_tables(&outcomes()));
    if fresh != text && env::var_os("UPDATE_DOCUMENTS").is_some() {
        fs::write(&path, &fresh).expect("the document can be written");
    }
    assert!(fresh == text, "{DOCUMENT} has other results");
}

#[test]
fn as_many_cases_pass_as_promised() {
    let (kinds, percent) = PROMISED;
    let cases = outcomes().into_iter().filter(|case| kinds.contains(&case.kind));
    let counts = CaseCounts::of(cases.map(|case| case.result));
    assert!(counts.all() > 200 && counts.reach(percent), "{counts:?}");
}

#[test]
fn what_a_playbook_does_not_do_is_unsupported_and_every_other_case_passes() {
    let outcomes = outcomes();
    let of = |result: CaseResult| outcomes.iter().filter(move |case| case.result == result);
    assert_eq!(of(CaseResult::Failed).map(|case| &case.id).collect::<Vec<_>>(), Vec::<&String>::new());
    let kept = "a failed outcome is not kept: its request is executed again";
    let kept: Vec<&str> = of(CaseResult::Unsupported)
        .filter(|case| case.why.as_deref() == Some(kept))
        .filter_map(|case| case.id.get(..8))
        .collect();
    assert_eq!(kept, ["idem-002", "idem-010", "idem-021"]);
}

#[test]
fn the_exit_code_says_whether_a_case_failed() {
    let place = Place::new();
    let cases = |kind: &str, expect: &str| {
        let step = format!(r#"{{"op":"delay","in":{{"n":1}},"expect":{expect}}}"#);
        let policy = r#"{"backoff":{"kind":"constant","base_ms":30}}"#;
        let case = |id: &str, kind: &str, step: &str| {
            format!(r#"{{"id":"{id}","kind":"{kind}","policy":{policy},"steps":[{step}]}}"#)
        };
        let good = case("good", "backoff", r#"{"op":"delay","in":{"n":2},"expect":{"delay_ms":30}}"#);
        let other = case("other", kind, &step);
        format!(r#"{{"schema":"retry-case/1","suite":"own","cases":[{good},{other}]}}"#)
    };
    place.write("good.json", &cases("backoff", r#"{"delay_ms":30}"#));
    place.write("bad.json", &cases("backoff", r#"{"delay_ms":31}"#));
    place.write("odd.json", &cases("backoff", r#"{"odd":31}"#));
    place.write("empty.json", r#"{"schema":"retry-case/1","suite":"own","cases":[]}"#);
    place.run(&["conform", "good.json"]).exits(0);
    let bad = place.run(&["conform", "bad.json"]).exits(1);
    assert!(bad.out.contains("other: `delay_ms` must be 31, and is 30"), "{}", bad.out);
    place.run(&["conform", "odd.json"]).exits(0);
    for (percent, code) in [("50", 0), ("51", 1)] {
        place.run(&["conform", "bad.json", "--fail-under", percent]).exits(code);
        place.run(&["conform", "odd.json", "--fail-under", percent]).exits(code);
    }
    let empty = place.run(&["conform", "empty.json"]).exits(2);
    assert!(empty.err.contains("at /cases: there is no case"), "{}", empty.err);
    place.run(&["conform", "gone.json"]).exits(2);
    let shown = place.run(&["conform", "good.json", "--show", "good"]).exits(0);
    assert!(shown.out.starts_with("format: playbook/1\n") && shown.out.contains("base_ms: 30"), "{}", shown.out);
    place.run(&["conform", "good.json", "--show", "none"]).exits(2);
    // The beginning of an id is enough where one case has it, up to a dash.
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/grpc.json");
    let show = |id: &str| place.run(&["conform", cases.to_str().expect("a path"), "--show", id]);
    assert!(show("grpc-013").exits(0).out.starts_with("format: playbook/1\n"));
    let run = show("grpc").exits(2);
    assert!(run.err.contains("cases begin with `grpc-`"), "{}", run.err);
    show("grpc-01").exits(2);
    let json = place.run(&["conform", "bad.json", "--format", "json"]).exits(1);
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    let expected = serde_json::json!({ "cases": 2, "failed": 1, "passed": 1, "unsupported": 0 });
    assert_eq!((&json["format"], &json["counts"]), (&"conform/1".into(), &expected));
    assert_eq!(json["cases"][1]["result"], "failed");
}

/// What `--show` prints is a playbook that `lint` can read: it has no errors, whatever it warns of.
#[test]
fn the_playbook_of_a_case_can_be_used() {
    let place = Place::new();
    for (file, id) in [
        ("grpc.json", "grpc-013-pushback-1000-ms-is-exact-no-jitter"),
        ("resilience4j.json", "r4j-012-open-wait-grows-5-s-then-7-5-s"),
        ("idempotency.json", "idem-018-in-flight-409"),
    ] {
        let cases = root().join("tests/conformance").join(file);
        let shown = place.run(&["conform", cases.to_str().expect("a path"), "--show", id]).exits(0);
        place.write("shown.yaml", &shown.out);
        assert!(place.run(&["lint", "shown.yaml"]).code < 2, "{}", shown.out);
    }
}
