//! From arguments to a project on disk: all of its files, or none.

use std::path::{Path, PathBuf};

use super::page::Said;
use super::set::{self, Before, Part, Set};
use super::traces;
use crate::boundary::Boundary;
use crate::changeset::{Change, ProjectLock};
use crate::checking;
use crate::checking::Selection;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::flags::Flags;
use crate::output::{Output, say};
use crate::outputs;
use crate::project;
use crate::reading::without_skipping;
use crate::repeated;
use crate::run::fail;
use crate::terminal::Terminal;
use crate::workspace::Workspace;
use playproof_analysis::check::Verdict;
use playproof_formats::shell::Command;
use playproof_report::style::Palette;
use playproof_report::text::counted;

/// Where, and from what.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof init                            a project in this folder
  playproof init refunds                    in a folder of that name
  playproof init --from trace.jsonl         with facts about the tools of the trace, and a failure of it as a fixture
  playproof init --from a.log --from b.log  a log that is not recognised gets a drafted mapping
  playproof init --from a.log --map m.yaml  the mapping is there already

No file is overwritten: what is there is kept. Either all that is missing is written, or nothing.

Exit codes: 0 `playproof check` is clean, 1 what was kept does not go together with it, 2 nothing was written.")]
pub struct Args {
    /// The project's folder; it is made where it is missing
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub folder: String,

    /// A trace or another recording to draw tool facts, a mapping and a fixture from; repeatable
    #[arg(long, value_name = "TRACE")]
    pub from: Vec<String>,

    /// How to read the recordings, where that is written already; it stays where it is
    #[arg(long, value_name = "FILE", requires = "from")]
    pub map: Option<String>,
}

/// Makes the project.
///
/// # Errors
/// A recording that cannot be used, something in the way, a folder that cannot be written: then nothing is left.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let flags = Flags::default().with("--map", args.map.as_deref());
    repeated::refuse_inputs(&args.from, &flags, |once, flags| {
        let init = Command::new("playproof init").path(&args.folder);
        flags.after(once.iter().fold(init, |init, path| init.flag("--from", path)))
    })?;
    let root = args.root();
    outputs::refuse_among_project_files(&root.join(project::FILE).to_string_lossy())?;
    say_nested(&root);
    let before = Before::of(&root)?;
    let drawn = traces::draw(&root, &args.from, args.map.as_deref(), &before.redaction()?).map_err(without_skipping)?;
    let set = set::plan(&before, &drawn)?;
    plant(&root, &before, &set, output)?;
    let (check, ended) = match set.is_whole {
        true => checked(&root, &set),
        false => (None, Ok(Exit::Clean)),
    };
    let palette = Palette::new(terminal.out.colour);
    let folder = root.to_string_lossy();
    let said = Said { folder: &folder, set: &set, drawn: &drawn, check, width: terminal.out.width, palette };
    output.page(&said.page())?;
    ended.or_else(|failure| {
        // The files are written: what was kept does not go together with them.
        fail(&failure, &"playproof check".into(), terminal.err);
        Ok(Exit::Found)
    })
}

impl Args {
    /// The folder; the working directory is the empty path, so that files are named as people type them.
    pub fn root(&self) -> PathBuf {
        Path::new(&self.folder).components().filter(|step| *step != std::path::Component::CurDir).collect()
    }
}

/// Says where the folder is part of another project: commands in it will go by the new one, and those of the other one
/// may take its files for their own.
fn say_nested(root: &Path) {
    let above = files::above(root, project::FILE);
    if let Some(found) = above.filter(|_| !files::exists(&root.join(project::FILE).to_string_lossy())) {
        say(&format!("note: this folder is part of a project already: `{}`", files::from_here(&found)));
    }
}

/// Writes what is missing, and overwrites nothing that has appeared meanwhile.
fn plant(root: &Path, before: &Before, set: &Set, output: &mut Output) -> Result<(), Failure> {
    let missing = set.parts.iter().filter(|part| !part.kept);
    let create = |part: &Part| Change::Create(root.join(&part.path), part.source.text.clone().into_bytes());
    let changes: Vec<Change> = missing.map(create).collect();
    if changes.is_empty() {
        return Ok(());
    }
    ProjectLock::at(&Boundary::new(root, &before.project()), &before.staging())?.commit(&changes, output)
}

/// What `check` says of the project, and how the command ends for it.
fn checked(root: &Path, set: &Set) -> (Option<String>, Result<Exit, Failure>) {
    let check = || {
        let workspace = Workspace::at(root)?;
        checking::check(&workspace, &Selection::default(), checking::jobs(None), false)
    };
    let report = match check() {
        Ok(checked) => checked.report,
        Err(failure) => {
            return (Some("what was kept cannot be used; see below".to_owned()), Err(failure.next("playproof check")));
        }
    };
    let runs = counted(report.results.len() as u64, "run", "runs");
    if report.verdict() == Verdict::Clean {
        return (Some(format!("clean, {runs}")), Ok(Exit::Clean));
    }
    let kept =
        if set.parts.iter().any(|part| part.kept) { "what was kept does not go together with it" } else { "not clean" };
    let help = match report.rows.is_empty() {
        true => "`playproof check` says what differs",
        false => {
            "the rows of the playbook are not those of the lock; if they are meant: playproof approve --reason '...'"
        }
    };
    (Some(format!("{kept}: {help}")), Ok(Exit::Found))
}
