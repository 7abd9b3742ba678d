//! The results of published cases, as a part of a document.

use std::fmt::Write;

use playproof_report::text::markdown;

use super::{CaseCounts, CaseOutcome, CaseResult};

/// The counts of each suite, and what did not pass by its reason, as Markdown.
pub fn markdown_tables(outcomes: &[CaseOutcome]) -> String {
    let mut page = String::from("| suite | cases | passed | failed | unsupported |\n|---|---|---|---|---|\n");
    let mut row = |suite: &str, counts: CaseCounts| {
        let CaseCounts { passed, failed, unsupported } = counts;
        let all = counts.all();
        let _ = writeln!(page, "| {suite} | {all} | {passed} | {failed} | {unsupported} |");
    };
    for suite in distinct(outcomes.iter().map(|case| case.suite.as_str())) {
        let cases = outcomes.iter().filter(|case| case.suite == suite);
        row(&markdown(suite), CaseCounts::of(cases.map(|case| case.result)));
    }
    row("**all**", CaseCounts::of(outcomes.iter().map(|case| case.result)));
    page.push('\n');
    let reason = |case: &CaseOutcome| (case.result.as_str(), one_line(case));
    let others: Vec<&CaseOutcome> = outcomes.iter().filter(|case| case.result != CaseResult::Passed).collect();
    for (result, why) in distinct(others.iter().map(|case| reason(case))) {
        let cases = others.iter().filter(|case| reason(case) == (result, why.clone()));
        let _ = writeln!(page, "- {result}, {}: {}", cases.count(), markdown(&why));
    }
    page
}

/// Why a case is not passed, on one line.
fn one_line(case: &CaseOutcome) -> String {
    case.why.as_deref().unwrap_or_default().replace('\n', "; ")
}

/// Each value once, in the order in which they are first seen.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::super::CaseKind;
    use super::*;

    fn outcomes() -> Vec<CaseOutcome> {
        let case = |id: &str, kind, result, why: Option<&str>| CaseOutcome {
            suite: "one".into(),
            id: id.into(),
            kind,
            result,
            why: why.map(str::to_owned),
        };
        vec![
            case("a", CaseKind::Retry, CaseResult::Passed, None),
            case("b", CaseKind::Hedge, CaseResult::Unsupported, Some("not run")),
            case("c", CaseKind::Retry, CaseResult::Failed, Some("`delay_ms` must be 1\nand is 2")),
        ]
    }

    #[test]
    fn the_page_counts_every_case_that_did_not_pass() {
        let page = markdown_tables(&outcomes());
        assert!(page.contains("| one | 3 | 1 | 1 | 1 |\n"), "{page}");
        assert!(page.contains("\n- unsupported, 1: not run\n"), "{page}");
    }
}
