//! The results of published cases: a table of counts with what did not pass, JSON, and a page of the documents.

use std::fmt::Write;

use serde::Serialize;

use crate::json::document;
use crate::style::Palette;
use crate::table::{self, Align};
use crate::text::{escape_unprintable, hanging, markdown};
use playproof_analysis::conform::{CaseCounts, CaseKind, CaseOutcome, CaseResult};

/// The counts of each suite and kind, those that did not pass, and the sum.
pub fn page(outcomes: &[CaseOutcome], width: usize, palette: Palette) -> String {
    let header = ["suite", "kind", "cases", "passed", "failed", "unsupported"].map(str::to_owned);
    let shown = |(suite, kind, counts): (&str, CaseKind, CaseCounts)| {
        let CaseCounts { passed, failed, unsupported } = counts;
        let mut row = vec![escape_unprintable(suite).into_owned(), kind.as_str().to_owned()];
        row.extend([counts.all(), passed, failed, unsupported].map(|count| count.to_string()));
        row
    };
    let rows: Vec<Vec<String>> = counts(outcomes).into_iter().map(shown).collect();
    let aligns = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right];
    let mut sections = vec![table::render(&header, &rows, &aligns, width)];
    for (result, title) in [(CaseResult::Failed, "failed:"), (CaseResult::Unsupported, "unsupported:")] {
        let lines: Vec<String> = not_passed(outcomes, result).flat_map(|case| why(case, width)).collect();
        if !lines.is_empty() {
            sections.push(format!("{}\n{}", palette.strong(title), lines.join("\n")));
        }
    }
    sections.push(sum(CaseCounts::of(outcomes.iter().map(|case| case.result)), palette));
    sections.join("\n\n")
}

fn not_passed(outcomes: &[CaseOutcome], result: CaseResult) -> impl Iterator<Item = &CaseOutcome> {
    outcomes.iter().filter(move |case| case.result == result)
}

fn why(case: &CaseOutcome, width: usize) -> Vec<String> {
    let why = escape_unprintable(&one_line(case)).into_owned();
    hanging(&format!("  {}: ", escape_unprintable(&case.id)), &why, width)
}

/// Why a case is not passed, on one line.
fn one_line(case: &CaseOutcome) -> String {
    case.why.as_deref().unwrap_or_default().replace('\n', "; ")
}

fn sum(counts: CaseCounts, palette: Palette) -> String {
    let said = format!(
        "{} of {} cases pass; {} fail, and {} are not supported",
        counts.passed,
        counts.all(),
        counts.failed,
        counts.unsupported
    );
    if counts.failed == 0 { palette.good(&said) } else { palette.failed(&said) }
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

#[derive(Serialize)]
struct ConformJson<'a> {
    format: &'static str,
    counts: CountsJson,
    cases: Vec<CaseJson<'a>>,
}

#[derive(Serialize)]
struct CountsJson {
    cases: u64,
    passed: u64,
    failed: u64,
    unsupported: u64,
}

#[derive(Serialize)]
struct CaseJson<'a> {
    id: &'a str,
    suite: &'a str,
    kind: &'static str,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

/// The results as one JSON document, `conform/1`.
pub fn json(outcomes: &[CaseOutcome]) -> String {
    let counts = CaseCounts::of(outcomes.iter().map(|case| case.result));
    let CaseCounts { passed, failed, unsupported } = counts;
    document(&ConformJson {
        format: "conform/1",
        counts: CountsJson { cases: counts.all(), passed, failed, unsupported },
        cases: outcomes.iter().map(case_json).collect(),
    })
}

fn case_json(case: &CaseOutcome) -> CaseJson<'_> {
    let CaseOutcome { suite, id, kind, result, why } = case;
    CaseJson { id, suite, kind: kind.as_str(), result: result.as_str(), why: why.as_deref() }
}

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
    fn a_page_has_the_counts_and_the_reasons() {
        let page = page(&outcomes(), 80, Palette::new(false));
        let expected = "\
suite  kind   cases  passed  failed  unsupported
one    retry      2       1       1            0
one    hedge      1       0       0            1

failed:
  c: `delay_ms` must be 1; and is 2

unsupported:
  b: not run

1 of 3 cases pass; 1 fail, and 1 are not supported";
        assert_eq!(page, expected);
    }

    #[test]
    fn json_and_markdown_have_every_case_that_did_not_pass() {
        let json: serde_json::Value = serde_json::from_str(&json(&outcomes())).unwrap();
        assert_eq!(json["counts"], serde_json::json!({ "cases": 3, "passed": 1, "failed": 1, "unsupported": 1 }));
        assert_eq!(json["cases"][1]["why"], "not run");
        assert_eq!(json["cases"][0].get("why"), None);
        let page = markdown_tables(&outcomes());
        assert!(page.contains("| one | retry | 2 | 1 | 1 | 0 |\n"), "{page}");
        assert!(page.contains("| b | unsupported | not run |\n"), "{page}");
    }
}
