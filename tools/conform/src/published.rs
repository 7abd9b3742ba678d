//! The published cases of this package, and the document that lists their results.

#![expect(clippy::disallowed_methods, reason = "tests look at the disk")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use playproof_formats::diagnostic::Source;
use playproof_formats::playbook;

use super::{
    CaseCounts, CaseError, CaseKind, CaseOutcome, CaseResult, markdown_tables, playbook_of, read_cases, run_cases,
};

const DOCUMENT: &str = "docs/conformance.md";

/// What stands before the results in the document.
const BEGIN: &str = "<!-- results: `UPDATE_DOCUMENTS=1 cargo test -p playproof-conform` writes them -->\n";

/// The kinds that the project promises, and the part of their cases that pass, in thousandths.
const PROMISED: ([CaseKind; 5], u64) =
    ([CaseKind::Retry, CaseKind::Backoff, CaseKind::Breaker, CaseKind::Budget, CaseKind::Dedupe], 950);

/// A file or folder of this package.
fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The texts of a folder's files, by name.
fn texts(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(path(folder)).expect("the folder of cases");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.iter().map(|file| String::from_utf8_lossy(&fs::read(file).expect("a file of cases")).into_owned()).collect()
}

fn outcomes() -> Vec<CaseOutcome> {
    texts("cases").iter().flat_map(|text| run_cases(&read_cases(text).expect("cases"))).collect()
}

#[test]
fn the_document_has_the_results() {
    let path = path("../..").join(DOCUMENT);
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
    let (kinds, permille) = PROMISED;
    let cases = outcomes().into_iter().filter(|case| kinds.contains(&case.kind));
    let counts = CaseCounts::of(cases.map(|case| case.result));
    assert!(counts.all() > 200 && counts.reach(permille), "{counts:?}");
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

/// A good case, and another of this kind with this expectation.
fn cases(kind: &str, expect: &str) -> String {
    let case = |id: &str, kind: &str, step: &str| {
        let policy = r#"{"backoff":{"kind":"constant","base_ms":30}}"#;
        format!(r#"{{"id":"{id}","kind":"{kind}","policy":{policy},"steps":[{step}]}}"#)
    };
    let good = case("good", "backoff", r#"{"op":"delay","in":{"n":2},"expect":{"delay_ms":30}}"#);
    let other = case("other", kind, &format!(r#"{{"op":"delay","in":{{"n":1}},"expect":{expect}}}"#));
    format!(r#"{{"schema":"retry-case/1","suite":"own","cases":[{good},{other}]}}"#)
}

#[test]
fn a_case_passes_fails_or_is_unsupported_and_says_why() {
    let run = |expect: &str| run_cases(&read_cases(&cases("backoff", expect)).expect("cases"));
    let results = |outcomes: &[CaseOutcome]| outcomes.iter().map(|case| case.result).collect::<Vec<_>>();
    assert_eq!(results(&run(r#"{"delay_ms":30}"#)), [CaseResult::Passed; 2]);
    let bad = run(r#"{"delay_ms":31}"#);
    assert_eq!(results(&bad), [CaseResult::Passed, CaseResult::Failed]);
    assert_eq!(bad[1].why.as_deref(), Some("`delay_ms` must be 31, and is 30"));
    let odd = run(r#"{"odd":31}"#);
    assert_eq!(results(&odd), [CaseResult::Passed, CaseResult::Unsupported]);
    for outcomes in [bad, odd] {
        let counts = CaseCounts::of(outcomes.iter().map(|case| case.result));
        assert!(counts.reach(500) && !counts.reach(510), "{counts:?}");
    }
    let empty = read_cases(r#"{"schema":"retry-case/1","suite":"own","cases":[]}"#);
    let CaseError { place, message } = empty.expect_err("there is no case");
    assert_eq!((place.as_str(), message.as_str()), ("/cases", "there is no case"));
}

#[test]
fn the_playbook_of_a_case_can_be_used() {
    let good = read_cases(&cases("backoff", r#"{"delay_ms":30}"#)).expect("cases");
    let shown = playbook_of(&good.cases[0]).expect("a playbook");
    assert!(shown.starts_with("format: playbook/1\n") && shown.contains("base_ms: 30"), "{shown}");
    let files = texts("cases").into_iter().map(|text| read_cases(&text).expect("cases"));
    let mut seen = 0;
    for case in files.flat_map(|file| file.cases) {
        let Ok(text) = playbook_of(&case) else { continue };
        playbook::parse(Source::whole(&*case.id, &*text)).unwrap_or_else(|report| panic!("{report}\n{text}"));
        seen += 1;
    }
    assert!(seen > 200, "{seen}");
}

#[test]
fn any_file_of_cases_has_results_or_an_error_with_its_place() {
    let texts = texts("corpus");
    assert!(texts.len() > 4);
    for text in texts {
        match read_cases(&text) {
            Ok(file) => assert_eq!(run_cases(&file).len(), file.cases.len()),
            Err(error) => assert!(!error.place.is_empty() && !error.message.is_empty()),
        }
    }
}
