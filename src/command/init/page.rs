//! What `init` says: which files it wrote and which it kept, what is left to do, and the commands to run next.

use super::set::{Part, Set};
use super::traces::Drawn;
use playproof_formats::shell::Command;
use playproof_report::style::Palette;
use playproof_report::text::{counted, escape_unprintable, fitted, width};

/// What is said.
pub struct Said<'a> {
    /// The project's folder, as people named it; empty for the working directory.
    pub folder: &'a str,
    /// What was planned.
    pub set: &'a Set,
    /// What was drawn from traces.
    pub drawn: &'a Drawn,
    /// What `check` says of it; none where the project was there before.
    pub check: Option<String>,
    /// Columns.
    pub width: usize,
    /// Colours.
    pub palette: Palette,
}

impl Said<'_> {
    /// The page.
    pub fn page(&self) -> String {
        let mut sections = Vec::new();
        if !self.drawn.read.is_empty() {
            sections.push(self.read());
        }
        sections.push(self.files());
        if let Some(check) = &self.check {
            sections.push(format!("playproof check: {check}"));
        }
        if !self.set.notes.is_empty() {
            let notes: Vec<String> = self.set.notes.iter().map(|note| format!("  {note}")).collect();
            sections.push(format!("{}\n{}", self.palette.strong("to do by hand:"), notes.join("\n")));
        }
        sections.push(self.next());
        sections.join("\n\n")
    }

    fn read(&self) -> String {
        let line = |read: &super::traces::Read| {
            let by = read.mapping.as_ref().map_or_else(String::new, |mapping| format!(", read by `{mapping}`"));
            let calls = counted(read.calls, "call", "calls");
            format!("{}: {calls}, {} failed{by}", escape_unprintable(&read.path), read.failed)
        };
        self.drawn.read.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Paths stay whole, so that they can be copied; only what is said of them is cut.
    fn files(&self) -> String {
        let rows = folded(&self.set.parts);
        let path = rows.iter().map(|row| width(&row.path)).max().unwrap_or_default();
        let line = |row: &Row| {
            let word = if row.kept { "kept " } else { "wrote" };
            let about = fitted(&row.about, self.width.saturating_sub(path + 9));
            let blank = " ".repeat(path.saturating_sub(width(&row.path)));
            format!("{word}  {}{blank}  {about}", row.path).trim_end().to_owned()
        };
        rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn next(&self) -> String {
        let mut rows = Vec::new();
        let mut add = |command: Command, about: &str| rows.push((command.to_string(), about.to_owned()));
        if !self.folder.is_empty() {
            add(Command::new("cd").path(self.folder), "commands find the project from here");
        }
        if let Some(read) = self.drawn.read.first() {
            let map = read.mapping.as_ref().map(|map| match read.is_given {
                true => from_project(self.folder, map),
                false => map.clone(),
            });
            let trace = from_project(self.folder, &read.path);
            let with = |command: Command| command.path(&trace).flag_if("--map", map.as_deref());
            add(with(Command::new("playproof replay")), "what the playbook would have done");
            add(with(Command::new("playproof mine")), "failures that no rule knows, with rules for them");
        } else {
            add("playproof replay trace.jsonl".into(), "what the playbook does with your own failures");
        }
        add("playproof check".into(), "nothing drifts unreviewed");
        let width = rows.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default();
        let lines: Vec<String> = rows.iter().map(|(command, about)| format!("  {command:width$}  {about}")).collect();
        format!("{}\n{}", self.palette.strong("next:"), lines.join("\n"))
    }
}

/// A line of the list of files.
struct Row {
    kept: bool,
    path: String,
    about: String,
}

/// The files, where all goldens are new or all are kept as one row.
fn folded(parts: &[Part]) -> Vec<Row> {
    let is_golden = |part: &Part| part.path.ends_with(".snap");
    let goldens = || parts.iter().filter(|part| is_golden(part));
    let kept = goldens().filter(|part| part.kept).count();
    let alike = kept == 0 || kept == goldens().count();
    let mut rows: Vec<Row> = Vec::new();
    for part in parts {
        let folder = part.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let (path, about) = match alike && is_golden(part) {
            true => (
                format!("{folder}/*.snap"),
                format!("{}: {}", counted(goldens().count() as u64, "golden", "goldens"), part.about),
            ),
            false => (part.path.clone(), part.about.clone()),
        };
        if rows.last().is_none_or(|last| last.path != path) {
            rows.push(Row { kept: part.kept, path, about });
        }
    }
    rows
}

/// A path as it is written in the project's folder.
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

    #[test]
    fn a_trace_is_named_as_it_is_found_from_the_project() {
        assert_eq!(from_project("", "a.jsonl"), "a.jsonl");
        assert_eq!(from_project("x/y", "a.jsonl"), "../../a.jsonl");
        assert_eq!(from_project("x", "x/a.jsonl"), "a.jsonl");
        assert_eq!(from_project("x", "/a.jsonl"), "/a.jsonl");
    }
}
