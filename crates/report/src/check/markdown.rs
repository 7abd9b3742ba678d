//! A check as Markdown: a pull-request comment that the next run can find and replace, or a step's summary.

use super::changes::CheckPage;
use super::problems::{Directions, NOT_CHECKED, Problem, problems};
use crate::table::markdown_row;
use crate::text::{counted, escape_unprintable, html, markdown, markdown_block, markdown_code};
use playproof_formats::shell::Command;

/// The first line: a job finds the comment of an earlier run by it.
pub const MARKER: &str = "<!-- playproof check -->";

/// GitHub refuses comments of more than 65,536 characters; some room is left for lines that a job adds.
const LONGEST: usize = 60_000;

/// The page.
pub fn comment(shown: &CheckPage<'_>, directions: &Directions, next: Option<&Command>) -> String {
    let problems = problems(shown, directions);
    let mut page = format!("{MARKER}\n### playproof check\n\n{}\n", summary(shown, &problems));
    if let Some(next) = next {
        page += &format!("\nNext: {}\n", markdown_code(&next.to_string()));
    }
    if problems.is_empty() {
        return page;
    }
    page += "\n| what | where | first difference |\n|---|---|---|\n";
    let mut left = 0;
    for problem in &problems {
        let (rule, message) = (markdown(&problem.rule.replace('_', " ")), markdown(&problem.message));
        let row = markdown_row(&[rule, markdown_code(&problem.about), message]) + "\n";
        if page.len() + row.len() > LONGEST / 2 { left += 1 } else { page += &row }
    }
    page += &more(left);
    let mut folded = 0;
    for problem in &problems {
        let details = details(problem);
        if page.len() + details.len() > LONGEST { folded += 1 } else { page += &details }
    }
    page + &more(folded)
}

fn more(left: usize) -> String {
    match left {
        0 => String::new(),
        left => format!("\n{} not shown.\n", counted(left as u64, "more problem is", "more problems are")),
    }
}

fn summary(shown: &CheckPage<'_>, problems: &[Problem]) -> String {
    let runs = counted(shown.report.results.len() as u64, "run", "runs");
    let passed = shown.report.counts().passed;
    if problems.iter().any(|problem| problem.rule == NOT_CHECKED) {
        return format!("Nothing was checked: {}.", counted(problems.len() as u64, "problem", "problems"));
    }
    match problems.is_empty() {
        true => format!("{runs}, all as accepted."),
        false => format!("{runs}: {passed} as accepted, {}.", counted(problems.len() as u64, "problem", "problems")),
    }
}

/// The whole text of a problem, folded.
fn details(problem: &Problem) -> String {
    let (file, body) = (escape_unprintable(&problem.spot.file), problem.body.trim_end());
    let text = format!("{body}\n{file}:{}\nrun: {}", problem.spot.line, problem.command);
    format!("\n<details><summary>{}</summary>\n\n{}\n\n</details>\n", html(&problem.about), markdown_block(&text))
}
