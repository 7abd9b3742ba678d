//! The problems of a check as one flat list, worst first, for formats with rules, places and messages.

use std::collections::BTreeMap;
use std::path::Path;

use super::changes;
use super::changes::CheckPage;
use super::result::result;
use crate::doc::drawn;
use crate::style::Palette;
use playproof_analysis::check::{CaseResult, Cause, GoldenState, PlaybookRows};
use playproof_formats::golden::{Class, RowChange};
use playproof_formats::shell::Command;

/// The width of a text for people.
const WIDTH: usize = 100;

/// Its colours: none.
const PLAIN: Palette = Palette::new(false);

/// A line of a file, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file, relative to the project's root, with `/`.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// What reports add to the result: places of files and commands to run.
#[derive(Clone, Debug, Default)]
pub struct Directions {
    /// By run: its fixture's file.
    pub fixtures: BTreeMap<String, String>,
    /// By run: the command that replays it.
    pub replays: BTreeMap<String, Command>,
    /// By playbook and row: the place of the row.
    pub rows: BTreeMap<(String, String), Spot>,
    /// The lock's file.
    pub lock: String,
    /// The problems that prevented the check; then there are no results.
    pub in_the_way: Vec<Problem>,
    /// What the project is, as its settings resolve: each part with its name or its path below the root.
    pub project: Vec<(&'static str, String)>,
    /// The project's path in its repository; empty at the root, or without a repository.
    pub in_repository: String,
}

impl Directions {
    /// The path of a project file from the root of the repository, for services that show repositories.
    pub(super) fn path_in_repository(&self, file: &str) -> String {
        let (mut above, mut below) = (self.in_repository.as_str(), file);
        while let Some(rest) = below.strip_prefix("../").filter(|_| !above.is_empty()) {
            above = above.rsplit_once('/').map_or("", |(above, _)| above);
            below = rest;
        }
        let is_whole = above.is_empty() || Path::new(below).is_absolute();
        if is_whole { below.to_owned() } else { format!("{above}/{below}") }
    }
}

/// The level of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The effects upstream or who acts next differ from what was accepted, or the check failed.
    Error,
    /// Something differs.
    Warning,
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its stable id: a class, or one of `OTHERS`.
    pub rule: &'static str,
    /// How serious it is.
    pub level: Level,
    /// Its subject: a run, a golden, a row.
    pub about: String,
    /// The message, in one line.
    pub message: String,
    /// The place to look at first.
    pub spot: Spot,
    /// The full text for people, with line breaks.
    pub body: String,
    /// The command that shows it again.
    pub command: Command,
}

/// The rule of problems that prevented the check.
pub const NOT_CHECKED: &str = "not_checked";

/// The rules that are no classes of divergence, with their meanings.
pub const OTHERS: [(&str, &str); 6] = [
    (NOT_CHECKED, "nothing was checked: a file or an argument cannot be used"),
    ("unreadable_golden", "a golden that cannot be read"),
    ("contradicts_fixture", "a run contradicts the `expect` of its fixture"),
    ("missing_golden", "a fixture without a golden"),
    ("orphan_golden", "a golden without a fixture"),
    ("row_not_approved", "a playbook row that differs from the approved one"),
];

/// Every problem, worst first.
pub(super) fn problems(shown: &CheckPage<'_>, directions: &Directions) -> Vec<Problem> {
    let plain = CheckPage { above: "", ..*shown };
    let mut found = directions.in_the_way.clone();
    found.extend(shown.report.failing().into_iter().map(|failing| of_result(&plain, failing, directions)));
    for rows in &shown.report.rows {
        found.extend(of_rows(rows, directions));
    }
    found.extend(shown.report.orphans.iter().map(|path| Problem {
        rule: "orphan_golden",
        level: Level::Warning,
        about: path.clone(),
        message: "no fixture uses this golden".to_owned(),
        spot: Spot { file: path.clone(), line: 1, column: 1 },
        body: "no fixture uses this golden\n".to_owned(),
        command: Command::new("rm").path(path),
    }));
    found
}

fn of_result(shown: &CheckPage<'_>, failing: &CaseResult, directions: &Directions) -> Problem {
    let id = failing.id.to_string();
    let (rule, level, message) = said(failing, shown.causes.get(&failing.id));
    let command = directions.replays.get(&id).cloned().unwrap_or_else(|| Command::new("playproof check").name(&id));
    Problem {
        rule,
        level,
        message,
        spot: spot(shown, failing, directions),
        body: drawn(&[result(shown, failing)], WIDTH, PLAIN) + "\n",
        command,
        about: id,
    }
}

fn said(failing: &CaseResult, cause: Option<&Cause>) -> (&'static str, Level, String) {
    if let GoldenState::Unreadable(report) = &failing.golden {
        return ("unreadable_golden", Level::Error, report.to_string());
    }
    let contradiction = contradiction(failing);
    match failing.comparison() {
        Some(comparison) => {
            let class = comparison.worst().unwrap_or(Class::Cosmetic);
            let is_serious = class <= Class::OutcomeChanged || contradiction.is_some();
            let first = changes::first_words(comparison).map(|first| format!("first: {first}"));
            let row = cause.map(|cause| format!("row `{}`", cause.row));
            let said = [Some(comparison.headline()), first, row, contradiction].into_iter().flatten();
            let level = if is_serious { Level::Error } else { Level::Warning };
            (class.as_str(), level, said.collect::<Vec<_>>().join("; "))
        }
        None => match contradiction {
            Some(said) => ("contradicts_fixture", Level::Error, said),
            None => ("missing_golden", Level::Warning, "this run is not accepted yet".to_owned()),
        },
    }
}

fn contradiction(failing: &CaseResult) -> Option<String> {
    let (first, others) = failing.contradictions.split_first()?;
    let more = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
    Some(format!("contradicts the fixture: {first}{more}"))
}

/// The place in the playbook, otherwise in the golden, otherwise the fixture.
fn spot(shown: &CheckPage<'_>, failing: &CaseResult, directions: &Directions) -> Spot {
    let cause = shown.causes.get(&failing.id).and_then(place_of);
    if let Some((line, column, file)) = cause.filter(|(_, _, file)| !file.starts_with('<')) {
        return Spot { file: file.to_owned(), line, column };
    }
    if let GoldenState::Diverged(diverged) = &failing.golden {
        let body = &diverged.golden.body;
        let span = diverged.comparison.divergences.first().and_then(|first| first.span.as_ref());
        let (line, column) = body.place(span.map_or(0, |span| span.start));
        return Spot { file: body.name.clone(), line, column };
    }
    if let GoldenState::Unreadable(report) = &failing.golden {
        let label = report.diagnostics.first().and_then(|first| first.labels.first());
        let (line, column) = label.map_or((1, 1), |label| report.source.place(label.span.start));
        return Spot { file: report.source.name.clone(), line, column };
    }
    let file = directions.fixtures.get(&failing.id.to_string()).cloned().unwrap_or_default();
    Spot { file, line: 1, column: 1 }
}

/// The place of a cause in the playbook.
pub(super) fn place_of(cause: &Cause) -> Option<(usize, usize, &str)> {
    let label = cause.report.diagnostics.first()?.labels.first()?;
    let (line, column) = cause.report.source.place(label.span.start);
    Some((line, column, &cause.report.source.name))
}

/// A playbook that is not approved is one problem, not one per row.
fn of_rows(rows: &PlaybookRows, directions: &Directions) -> Vec<Problem> {
    let command = Command::new("playproof accept").name(&rows.playbook).and("--reason '...'");
    let lock = || Spot { file: directions.lock.clone(), line: 1, column: 1 };
    let body = drawn(&[changes::rows_to_approve(rows)], WIDTH, PLAIN) + "\n";
    let whole = |message: &str| Problem {
        rule: "row_not_approved",
        level: Level::Warning,
        about: rows.playbook.clone(),
        message: message.to_owned(),
        spot: lock(),
        body: body.clone(),
        command: command.clone(),
    };
    if !rows.is_used {
        return vec![whole("no fixture uses this playbook, but the lock still has its rows")];
    }
    if !rows.is_locked {
        return vec![whole("this playbook is not approved yet")];
    }
    let one = |change: &RowChange| Problem {
        about: format!("{}: {}", rows.playbook, change.name),
        message: changes::row_words(change),
        spot: directions.rows.get(&(rows.playbook.clone(), change.name.clone())).cloned().unwrap_or_else(lock),
        body: changes::row_words(change) + "\n",
        ..whole("")
    };
    rows.changes.iter().map(one).collect()
}
