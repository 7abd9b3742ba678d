//! A check as Markdown: a pull-request comment that the next run can find and replace, or a step's summary.

use super::changes::CheckPage;
use super::problems::{Directions, NOT_CHECKED, Problem, problems};
use crate::doc::{Block, Doc, Table, Text};
use crate::text::counted;
use playproof_formats::shell::Command;

/// The first line: a job finds the comment of an earlier run by it.
pub const MARKER: &str = "<!-- playproof check -->";

/// The page.
pub fn comment(shown: &CheckPage<'_>, directions: &Directions, next: Option<&Command>) -> String {
    let problems = problems(shown, directions);
    let mut doc = Doc::new("playproof check");
    doc.answer = vec![Block::Para(summary(shown, &problems))];
    doc.answer.extend(next.cloned().map(Block::next));
    let mut table = Table::named(["what", "where", "first difference"]);
    for problem in &problems {
        table.row([problem.rule.replace('_', " ").into(), Text::code(&problem.about), (&*problem.message).into()]);
    }
    doc.add(Block::Table(table));
    doc.blocks.extend(problems.iter().map(details));
    doc.comment(MARKER)
}

fn summary(shown: &CheckPage<'_>, problems: &[Problem]) -> Text {
    let runs = counted(shown.report.results.len() as u64, "run", "runs");
    let passed = shown.report.counts().passed;
    let found = counted(problems.len() as u64, "problem", "problems");
    match problems {
        [] => format!("{runs}, all as accepted.").into(),
        some if some.iter().any(|problem| problem.rule == NOT_CHECKED) => {
            format!("Nothing was checked: {found}.").into()
        }
        _ => format!("{runs}: {passed} as accepted, {found}.").into(),
    }
}

/// The whole text of a problem, folded.
fn details(problem: &Problem) -> Block {
    let (spot, body) = (&problem.spot, problem.body.trim_end());
    let text = format!("{body}\n{}:{}\nrun: {}", spot.file, spot.line, problem.command);
    Block::folded(&*problem.about, vec![Block::Lines(text)])
}
