//! `--report KIND=FILE`, and the annotations and summary for a GitHub runner. The crate `report` renders them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::checking::Checked;
use super::exit::Failure;
use super::output::{Output, say, to_runner};
use super::workspace::Workspace;
use super::{files, folders, outputs, project};
use playproof_analysis::check::{CheckReport, row_places};
use playproof_formats::diagnostic::{Report, did_you_mean};
use playproof_formats::shell::Command;
use playproof_report::check::{
    self, CheckPage, Directions, Level, NOT_CHECKED, Problem, Spot, annotations, comment, is_report, json, junit, sarif,
};
use playproof_report::html;

/// The kinds of reports.
const KINDS: [&str; 6] = ["junit", "sarif", "github", "markdown", "json", "html"];

/// The kind of report that other commands than `check` write.
const PAGE: [&str; 1] = ["html"];

/// One `--report`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportTo {
    kind: &'static str,
    file: String,
}

impl fmt::Display for ReportTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.kind, self.file)
    }
}

impl FromStr for ReportTo {
    type Err = String;

    fn from_str(text: &str) -> Result<ReportTo, String> {
        parse(text, &KINDS)
    }
}

/// Reads the report of a command that has only a page.
///
/// # Errors
/// Another kind, no file, standard output.
pub fn page(text: &str) -> Result<ReportTo, String> {
    parse(text, &PAGE)
}

fn parse(text: &str, kinds: &'static [&'static str]) -> Result<ReportTo, String> {
    let (kind, file) = text.split_once('=').ok_or_else(|| example(text, kinds))?;
    let Some(kind) = kinds.iter().copied().find(|known| *known == kind) else {
        let near = did_you_mean(kind, kinds.iter().copied());
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(format!("there is no report `{kind}`, only {}{near}", kinds.join(", ")));
    };
    if file == files::STDOUT {
        let usual = usual(kind);
        return Err(format!("the page is written to standard output; name a file, such as `{kind}={usual}`"));
    }
    if file.is_empty() {
        return Err(format!("name the file that the {kind} report is written to"));
    }
    Ok(ReportTo { kind, file: file.to_owned() })
}

/// The usual file name of a report of this kind.
fn usual(kind: &str) -> &'static str {
    match kind {
        "junit" => "playproof.xml",
        "sarif" => "playproof.sarif",
        "github" => "playproof.txt",
        "markdown" => "playproof.md",
        "html" => "playproof.html",
        _ => "playproof.json",
    }
}

/// The help for a kind without a file, or a file without a kind.
fn example(text: &str, kinds: &[&'static str]) -> String {
    let first = kinds.first().copied().unwrap_or_default();
    match kinds.iter().find(|kind| **kind == text) {
        Some(kind) => format!("write KIND=FILE, such as `{kind}={}`", usual(kind)),
        None if text.is_empty() => format!("write KIND=FILE, such as `{first}={}`", usual(first)),
        None => format!("write KIND=FILE, such as `{first}={text}`"),
    }
}

/// Refuses two reports for one file, and a report that would replace another file.
///
/// # Errors
/// There is such a report.
pub fn refuse(reports: &[ReportTo]) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    for report in reports {
        let file = &report.file;
        if files::destination(file).is_some_and(|there| !seen.insert(there)) {
            let said = format!("two reports would be written to `{file}`, and only the last would be left");
            return Err(Failure::new(said).help("name a file for each"));
        }
        outputs::refuse(file)?;
        outputs::refuse_others(file, "report of a check", |start| is_report(start) || html::is_page(start))?;
    }
    Ok(())
}

/// Writes every requested report.
///
/// # Errors
/// A file that cannot be written.
pub fn write(
    reports: &[ReportTo],
    shown: &CheckPage<'_>,
    directions: &Directions,
    next: Option<&Command>,
    output: &mut Output,
) -> Result<(), Failure> {
    for report in reports {
        let text = match report.kind {
            "junit" => junit(shown, directions),
            "sarif" => sarif(shown, directions),
            "github" => annotations(shown, directions),
            "markdown" => comment(shown, directions, next),
            "html" => check::page(shown, directions, next).html(),
            _ => json(shown, directions, next) + "\n",
        };
        outputs::write(&report.file, text.as_bytes(), output)?;
    }
    Ok(())
}

/// Refuses the page of a command, as [`refuse`]; and one that is an input.
///
/// # Errors
/// It would replace another file.
pub fn refuse_page(page: Option<&ReportTo>, inputs: &[String]) -> Result<(), Failure> {
    let Some(ReportTo { file, .. }) = page else { return Ok(()) };
    outputs::refuse_input(file, inputs.iter().map(String::as_str))?;
    outputs::refuse(file)?;
    outputs::refuse_others(file, "page of Playproof", html::is_page)
}

/// Writes the page of a command, if it is asked for.
///
/// # Errors
/// A file that cannot be written.
pub fn write_page(page: Option<&ReportTo>, text: impl FnOnce() -> String, output: &mut Output) -> Result<(), Failure> {
    match page {
        Some(ReportTo { file, .. }) => outputs::write(file, text().as_bytes(), output),
        None => Ok(()),
    }
}

/// Writes into every report that nothing was checked, and why, so that no report of an earlier run remains.
pub fn write_unchecked(reports: &[ReportTo], failure: &Failure) {
    let next = match failure {
        Failure::Message { next, .. } | Failure::Reports { next, .. } => {
            next.clone().unwrap_or("playproof check".into())
        }
        Failure::PipeClosed => return,
    };
    let in_repository = folders::below_repository(&project::root()).unwrap_or_default();
    let directions = Directions { in_the_way: in_the_way(failure, &next), in_repository, ..Directions::default() };
    let (report, causes) = (CheckReport::default(), BTreeMap::new());
    let shown = CheckPage { report: &report, causes: &causes, above: "", show_args: false };
    let written = write(reports, &shown, &directions, Some(&next), &mut Output::default())
        .and_then(|()| tell_github(&shown, &directions, Some(&next)));
    if let Err(Failure::Message { message, .. }) = written {
        say(&format!("playproof: {message}"));
    }
}

/// One problem for each file, or one for the whole project.
fn in_the_way(failure: &Failure, next: &Command) -> Vec<Problem> {
    let problem = |spot: Spot, message: &str, help: &str| Problem {
        rule: NOT_CHECKED,
        level: Level::Error,
        about: spot.file.clone(),
        message: message.to_owned(),
        spot,
        body: format!("{message}\n{help}"),
        command: next.clone(),
    };
    match failure {
        Failure::PipeClosed => Vec::new(),
        Failure::Message { message, help, .. } => {
            let spot = Spot { file: project::FILE.to_owned(), line: 1, column: 1 };
            vec![problem(spot, message, help.as_deref().unwrap_or_default())]
        }
        Failure::Reports { reports, .. } => {
            let of = |report: &Report| {
                let label = report.diagnostics.iter().find_map(|said| said.labels.first());
                let (line, column) = label.map_or((1, 1), |label| report.source.place(label.span.start));
                let helps: Vec<&str> = report.diagnostics.iter().filter_map(|said| said.help.as_deref()).collect();
                let spot = Spot { file: report.source.name.clone(), line, column };
                problem(spot, &report.to_string(), &helps.join("\n"))
            };
            reports.iter().map(of).collect()
        }
    }
}

/// On a GitHub runner, prints annotations and writes the summary of the step.
///
/// # Errors
/// A summary that cannot be written.
#[expect(clippy::disallowed_methods, reason = "GitHub's runner speaks through the environment")]
pub fn tell_github(shown: &CheckPage<'_>, directions: &Directions, next: Option<&Command>) -> Result<(), Failure> {
    if std::env::var("GITHUB_ACTIONS").as_deref() != Ok("true") {
        return Ok(());
    }
    to_runner(&annotations(shown, directions));
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else { return Ok(()) };
    let page = comment(shown, directions, next);
    // The steps of a job share the file, so the summary is appended.
    files::append(Path::new(&path), page.as_bytes())
}

/// The paths and commands that the reports of a check name.
pub fn directions(workspace: &Workspace, checked: &Checked) -> Directions {
    let in_repository = folders::below_repository(workspace.root()).unwrap_or_default();
    let lock = workspace.name(&workspace.lock_path());
    let project = workspace.resolved();
    let mut directions = Directions { lock, project, in_repository, ..Directions::default() };
    for result in checked.report.failing() {
        let recording = checked.recordings.get(&result.id.fixture).cloned();
        let fixture = recording.unwrap_or_else(|| workspace.fixture_name(&result.id.fixture));
        let id = result.id.to_string();
        let playbook = workspace.playbook_name(&result.id.playbook);
        let replay = Command::new("playproof replay").path(&fixture).flag("--playbook", &playbook);
        directions.replays.insert(id.clone(), replay);
        directions.fixtures.insert(id, fixture);
    }
    for rows in &checked.report.rows {
        let Some(used) = checked.used.get(&rows.playbook).filter(|used| used.path.is_some()) else { continue };
        for change in &rows.changes {
            let Some((span, _)) = row_places(&used.loaded, change).into_iter().next() else { continue };
            let source = &used.loaded.places.source;
            let (line, column) = source.place(span.start);
            let spot = Spot { file: source.name.clone(), line, column };
            directions.rows.insert((rows.playbook.clone(), change.name.clone()), spot);
        }
    }
    directions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_a_known_kind_and_a_file() {
        let report: ReportTo = "junit=out/a=b.xml".parse().unwrap();
        assert_eq!((report.kind, &*report.file), ("junit", "out/a=b.xml"));
        let refused = |text: &str| text.parse::<ReportTo>().unwrap_err();
        assert!(refused("out.xml").contains("junit=out.xml"));
        assert!(refused("junt=x").contains("did you mean `junit`"));
        assert!(refused("sarif=").contains("name the file"));
        assert!(refused("junit").contains("`junit=playproof.xml`"));
        assert!(refused("sarif=-").contains("`sarif=playproof.sarif`"));
        assert!(refused("").contains("`junit=playproof.xml`"));
    }

    #[test]
    fn other_commands_have_only_a_page() {
        assert_eq!(page("html=a.html").unwrap().to_string(), "html=a.html");
        assert!(page("junit=x").unwrap_err().contains("there is no report `junit`, only html"));
        assert!(page("a.html").unwrap_err().contains("`html=a.html`"));
        assert!(page("html").unwrap_err().contains("`html=playproof.html`"));
    }
}
