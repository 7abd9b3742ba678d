//! The results of published cases, as tables of a document.

use std::fmt::Write;

use playproof_report::text::markdown;

use super::{CaseCounts, CaseKind, CaseOutcome, CaseResult};

/// The counts and what did not pass, as Markdown.
pub fn markdown_tables(outcomes: &[CaseOutcome]) -> String {
    let mut page =
        String::from("| suite | kind | cases | passed | failed | unsupported |\n|---|---|---|---|---|---|\n");
    let mut row = |suite: &str, kind: &str, counts: CaseCounts| {
        let CaseCounts { passed, failed, unsupported } = counts;
        let all = counts.all();
        let _ = writeln!(page, "| {suite} | {kind} | {all} | {passed} | {failed} | {unsupported} |");
    };
    for (suite, kind, counts) in counts(outcomes) {
        row(&markdown(suite), kind.as_str(), counts);
    }
    row("**all**", "", CaseCounts::of(outcomes.iter().map(|case| case.result)));
    page.push_str("\n| case | result | why |\n|---|---|---|\n");
    for case in outcomes.iter().filter(|case| case.result != CaseResult::Passed) {
        let why = markdown(&one_line(case));
        let _ = writeln!(page, "| {} | {} | {why} |", markdown(&case.id), case.result.as_str());
    }
    page
}

/// Why a case is not passed, on one line.
fn one_line(case: &CaseOutcome) -> String {
    case.why.as_deref().unwrap_or_default().replace('\n', "; ")
}

/// The counts of each suite and kind, in the order in which they are first seen.
fn counts(outcomes: &[CaseOutcome]) -> Vec<(&str, CaseKind, CaseCounts)> {
    let mut seen: Vec<(&str, CaseKind)> = Vec::new();
    for case in outcomes {
        if !seen.contains(&(&case.suite, case.kind)) {
            seen.push((&case.suite, case.kind));
        }
    }
    seen.sort_by_key(|(suite, kind)| (outcomes.iter().position(|case| case.suite == *suite), *kind));
    let of = |(suite, kind): (&'_ str, CaseKind)| {
        let cases = outcomes.iter().filter(|case| case.suite == suite && case.kind == kind);
        CaseCounts::of(cases.map(|case| case.result))
    };
    seen.into_iter().map(|(suite, kind)| (suite, kind, of((suite, kind)))).collect()
}

#[cfg(test)]
mod tests {
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
    fn the_tables_have_every_case_that_did_not_pass() {
        let page = markdown_tables(&outcomes());
        assert!(page.contains("| one | retry | 2 | 1 | 1 | 0 |\n"), "{page}");
        assert!(page.contains("| b | unsupported | not run |\n"), "{page}");
    }
}
