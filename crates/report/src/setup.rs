//! The page of a new project: the files written and kept, what is left to do, and the next commands.

use crate::style::Palette;
use crate::text::{counted, escape_unprintable, fitted, width};
use playproof_analysis::setup::{ByHand, ProjectFile, ProjectFiles, Purpose, RecordingSummary};
use playproof_formats::shell::Command;

/// The contents of the page.
#[derive(Debug)]
pub struct SetupPage<'a> {
    /// The project's folder, as people named it; empty for the working directory.
    pub folder: &'a str,
    /// The planned files.
    pub planned: &'a ProjectFiles,
    /// The recordings that were read.
    pub recordings: &'a [RecordingSummary],
    /// The result of `check`; none if the project existed before.
    pub check: Option<SetupCheck>,
    /// Columns.
    pub width: usize,
    /// Colours.
    pub palette: Palette,
}

/// The result of `check` on a new project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupCheck {
    /// An existing file cannot be used.
    Unusable,
    /// So many runs, all as accepted.
    Clean(usize),
    /// Something differs.
    Found {
        /// The rows of the playbook are not those of the lock.
        rows_differ: bool,
    },
}

/// The page.
pub fn page(shown: &SetupPage<'_>) -> String {
    let SetupPage { planned, palette, .. } = shown;
    let mut sections = Vec::new();
    if !shown.recordings.is_empty() {
        sections.push(shown.recordings.iter().map(recording).collect::<Vec<_>>().join("\n"));
    }
    sections.push(files(&planned.files, shown.width));
    sections.extend(shown.check.map(|check| format!("playproof check: {}", checked(check))));
    if !planned.by_hand.is_empty() {
        let lines: Vec<String> = planned.by_hand.iter().map(|what| format!("  {}", by_hand(what))).collect();
        sections.push(format!("{}\n{}", palette.strong("to do by hand:"), lines.join("\n")));
    }
    sections.push(next(shown));
    sections.join("\n\n")
}

fn recording(read: &RecordingSummary) -> String {
    let by = read.mapping.as_ref().map_or_else(String::new, |mapping| format!(", read by `{mapping}`"));
    let calls = counted(read.calls, "call", "calls");
    let unread = match read.unknown_fields {
        0 => String::new(),
        fields => format!(
            "\n  {} not read, which may hide failures: `playproof replay` names the first",
            counted(fields, "unknown field is", "unknown fields are")
        ),
    };
    format!("{}: {calls}, {} failed{by}{unread}", escape_unprintable(&read.path), read.failed)
}

fn checked(checked: SetupCheck) -> String {
    match checked {
        SetupCheck::Unusable => "an existing file cannot be used; see below".to_owned(),
        SetupCheck::Clean(runs) => format!("clean, {}", counted(runs as u64, "run", "runs")),
        SetupCheck::Found { rows_differ } => {
            let help = match rows_differ {
                false => "`playproof check` shows what differs",
                true => {
                    "the lock lacks rows of the playbook, or has others; if that is intended: playproof accept --reason '...'"
                }
            };
            format!("not clean: {help}")
        }
    }
}

fn by_hand(what: &ByHand) -> String {
    match what {
        ByHand::NameTools(path) => {
            format!("write `tools: {path}` into `playproof.yaml`, so that commands use it")
        }
        ByHand::OwnLayout => {
            "`playproof.yaml` names its own playbook, fixtures or goldens, so none were added".to_owned()
        }
        ByHand::MoveWorkflow(workflow) => {
            format!("GitHub reads `{workflow}` only at the root of the repository: move it there")
        }
    }
}

fn about(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Config => "what commands use by default",
        Purpose::Playbook => "what failures mean, and what follows",
        Purpose::Tools => "your tools: confirm the guesses",
        Purpose::Mapping => "your log: confirm the guesses",
        Purpose::EffectProved => "a conflict proves an effect",
        Purpose::RetryGuard => "the retry guard at work",
        Purpose::OwnFailure => "a failure from your recording",
        Purpose::Denial => "a denial is not retried",
        Purpose::Golden => "every decision, accepted",
        Purpose::Lock => "the playbook's rows, as approved",
        Purpose::History => "the approval and its reason",
        Purpose::Attributes => "git merges the lock row by row",
        Purpose::Ignored => "keeps pending files out of git",
        Purpose::Workflow => "checks every change in CI",
    }
}

/// Paths stay whole, so that they can be copied; only the descriptions are cut.
fn files(files: &[ProjectFile], columns: usize) -> String {
    let rows = folded(files);
    let path = rows.iter().map(|row| width(&row.path)).max().unwrap_or_default();
    let line = |row: &FileRow| {
        let word = if row.kept { "kept " } else { "wrote" };
        let about = fitted(&row.about, columns.saturating_sub(path + 9));
        let blank = " ".repeat(path.saturating_sub(width(&row.path)));
        format!("{word}  {}{blank}  {about}", row.path).trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A line of the list of files.
struct FileRow {
    kept: bool,
    path: String,
    about: String,
}

/// The files; goldens are one row if all are new or all are kept.
fn folded(files: &[ProjectFile]) -> Vec<FileRow> {
    let is_golden = |file: &&ProjectFile| file.purpose == Purpose::Golden;
    let goldens = files.iter().filter(is_golden).count();
    let kept = files.iter().filter(is_golden).filter(|file| file.kept).count();
    let alike = kept == 0 || kept == goldens;
    let mut rows: Vec<FileRow> = Vec::new();
    for file in files {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let about = about(file.purpose);
        let (path, about) = match alike && is_golden(&file) {
            true => {
                let counted = counted(goldens as u64, "golden", "goldens");
                (format!("{folder}/*.snap"), format!("{counted}: {about}"))
            }
            false => (file.path.clone(), about.to_owned()),
        };
        if rows.last().is_none_or(|last| last.path != path) {
            rows.push(FileRow { kept: file.kept, path, about });
        }
    }
    rows
}

fn next(shown: &SetupPage<'_>) -> String {
    let mut rows = Vec::new();
    let mut add = |command: Command, about: &str| rows.push((command.to_string(), about.to_owned()));
    if !shown.folder.is_empty() {
        add(Command::new("cd").path(shown.folder), "commands find the project from here");
    }
    if let Some(read) = shown.recordings.first() {
        let map = read.mapping.as_ref().map(|map| match read.is_given {
            true => from_project(shown.folder, map),
            false => map.clone(),
        });
        let trace = from_project(shown.folder, &read.path);
        let with = |command: Command| command.path(&trace).flag_if("--map", map.as_deref());
        add(
            with(Command::new("playproof confirm")),
            "asks what was guessed of your tools, then says what the log shows",
        );
        add(with(Command::new("playproof replay")), "what the playbook would have done");
        add(with(Command::new("playproof propose find")), "failures that no rule matches, with a rule for each");
    } else {
        add("playproof replay trace.jsonl".into(), "what the playbook does with your own failures");
    }
    add("playproof check".into(), "compares every run with its golden");
    let width = rows.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default();
    let lines: Vec<String> = rows.iter().map(|(command, about)| format!("  {command:width$}  {about}")).collect();
    format!("{}\n{}", shown.palette.strong("next:"), lines.join("\n"))
}

/// A path relative to the project's folder.
fn from_project(folder: &str, path: &str) -> String {
    let steps: Vec<&str> = folder.split('/').filter(|step| !step.is_empty() && *step != ".").collect();
    let plain = !folder.starts_with('/') && !path.starts_with('/') && !steps.contains(&"..");
    if let Some(inside) = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).filter(|_| plain) {
        return inside.to_owned();
    }
    if plain { format!("{}{path}", "../".repeat(steps.len())) } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_formats::diagnostic::Source;

    #[test]
    fn a_trace_is_named_as_it_is_found_from_the_project() {
        assert_eq!(from_project("", "a.jsonl"), "a.jsonl");
        assert_eq!(from_project("x/y", "a.jsonl"), "../../a.jsonl");
        assert_eq!(from_project("x", "x/a.jsonl"), "a.jsonl");
        assert_eq!(from_project("x", "/a.jsonl"), "/a.jsonl");
    }

    #[test]
    fn goldens_are_one_row_unless_only_some_of_them_are_kept() {
        let golden = |path: &str, kept| {
            let (path, source) = (format!("goldens/ours/{path}.snap"), Source::whole("", ""));
            ProjectFile { path, purpose: Purpose::Golden, source, kept }
        };
        let rows = |kept: [bool; 2]| folded(&[golden("a", kept[0]), golden("b", kept[1])]).len();
        assert_eq!([[false, false], [true, true], [true, false]].map(rows), [1, 1, 2]);
    }
}
