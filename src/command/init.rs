//! `playproof init [DIR] [--from TRACE]...`: makes a working project in a folder: all of its files or none.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::changeset::{Change, ProjectLock};
use crate::checking;
use crate::checking::Selection;
use crate::duplicate_args;
use crate::exit::{DOUBTFUL_DRAFT, Exit, Failure};
use crate::failed::fail;
use crate::files;
use crate::flags::Given;
use crate::folders::{self, Taken, taken};
use crate::input_paths::InputPaths;
use crate::inputs;
use crate::inputs::{Reading, Shape};
use crate::output::{Output, say};
use crate::outputs;
use crate::playbooks;
use crate::project;
use crate::project::Project;
use crate::skipped::without_skipping;
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::workspace::{self, Workspace};
use playproof_analysis::check::CheckStatus;
use playproof_analysis::setup;
use playproof_analysis::setup::{
    HISTORY, NoMapping, NoPlan, PLAYBOOK_FILE, ProjectFile, ProjectFiles, RecordingSummary, Recordings, Settings,
};
use playproof_engine::playbook::Tools;
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;
use playproof_formats::shell::Command;
use playproof_intake::assemble::AssembleOptions;
use playproof_intake::input::TraceInput;
use playproof_intake::mapping::DraftDoubt;
use playproof_intake::redact::RedactionRules;
use playproof_intake::tool_hints;
use playproof_report::setup::{SetupCheck, SetupPage, page};

/// The arguments of `init`, with the flags that were typed.
pub type Args = Given<Options>;

/// Where, and from what.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof init                            a project in this folder
  playproof init refunds                    in a folder of that name
  playproof init --from trace.jsonl         with its tools, and as a fixture its worst failure that a rule matches
  playproof init --from a.log --from b.log  a log that is not recognised gets a drafted mapping
  playproof init --from a.log --map m.yaml  the mapping is there already

No file is overwritten. Either all missing files are written, or none.

Exit codes: 0 `playproof check` is clean, 1 the files that were kept differ from the new ones, 2 nothing was written.")]
pub struct Options {
    /// The project's folder; it is made where it is missing
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub folder: String,

    /// A trace or another recording that shows tools, a log format and a failure; may be given several times
    #[arg(long, value_name = "TRACE")]
    pub from: Vec<String>,

    /// The mapping file for the recordings, where you have one
    #[arg(long, value_name = "FILE", requires = "from")]
    pub map: Option<String>,
}

/// How the names of files end that people may take for what `init` makes or reads.
const FILES: [&str; 4] = ["yaml", "yml", "json", "jsonl"];

/// Makes the project.
///
/// # Errors
/// A recording that cannot be used, something in the way, a folder that cannot be written: then nothing is left.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    duplicate_args::refuse_inputs(&args.from, &args.flags.only(&["--map"]), |once, flags| {
        let init = Command::new("playproof init").path(&args.folder);
        flags.after(once.iter().fold(init, |init, path| init.flag("--from", path)))
    })?;
    let root = args.root();
    if !files::exists(&args.folder) && root.extension().is_some_and(|end| FILES.iter().any(|known| end == *known)) {
        let said = format!("`{}` looks like a file, and `init` takes the folder of a project", args.folder);
        return Err(Failure::new(said)
            .help("a playbook is a file in its folder `playbooks`, a recording is read with `--from`")
            .next("playproof init"));
    }
    outputs::refuse_among_project_files(&root.join(project::FILE).to_string_lossy())?;
    say_nested(&root);
    let folder = Folder::open(&root)?;
    let from = InputPaths::find(&args.from)?;
    let recordings = read(args, from.files(), &root, &folder.redaction()).map_err(without_skipping)?;
    let names: Vec<String> = from.files().iter().map(|path| files::lasting(&root, path)).collect();
    let planned = setup::plan(&folder, &recordings, recordings.tools(&names)).map_err(no_plan)?;
    folder.write(&planned, output)?;
    let (check, ended) = match planned.is_whole {
        true => checked(&root),
        false => (None, Ok(Exit::Clean)),
    };
    let palette = terminal.out.palette();
    let (planned, recordings, width) = (&planned, &recordings.inputs, terminal.out.width);
    output.page(&page(&SetupPage { folder: &root.to_string_lossy(), planned, recordings, check, width, palette }))?;
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

fn no_plan(why: NoPlan<Failure>) -> Failure {
    match why {
        NoPlan::Folder(failure) => failure,
        NoPlan::Playbook(report) => {
            let next = Command::new("playproof lint").path(&report.source.name);
            Failure::from(report).next(next)
        }
        NoPlan::File(report) => report.into(),
    }
}

/// What `check` says of the project, and how the command ends for it.
fn checked(root: &Path) -> (Option<SetupCheck>, Result<Exit, Failure>) {
    let check = || {
        let workspace = Workspace::at(root)?;
        checking::check(&workspace, &Selection::default(), Threads::default().number(), false)
    };
    let report = match check() {
        Ok(checked) => checked.report,
        Err(failure) => return (Some(SetupCheck::Unusable), Err(failure.next("playproof check"))),
    };
    if report.verdict() == CheckStatus::Clean {
        return (Some(SetupCheck::Clean(report.results.len())), Ok(Exit::Clean));
    }
    (Some(SetupCheck::Found { rows_differ: !report.rows.is_empty() }), Ok(Exit::Found))
}

/// Reads the recordings.
///
/// # Errors
/// A recording that cannot be read, is empty, or gives no mapping.
fn read(args: &Args, from: &[String], root: &Path, redaction: &RedactionRules) -> Result<Recordings, Failure> {
    let given = args
        .map
        .as_deref()
        .map(|path| Ok::<_, Failure>((path, Reading::mapped(Some(inputs::mapping(path)?)))))
        .transpose()?;
    let mut recordings = Recordings::default();
    for (number, path) in (0..).zip(from) {
        let (input, mapping) = opened(root, path, given.as_ref(), &mut recordings, redaction)?;
        let is_given = given.is_some();
        let mut read =
            RecordingSummary { path: path.clone(), mapping, is_given, calls: 0, failed: 0, unknown_fields: 0 };
        if let Some(loss) = &input.loss {
            tool_hints::append(&loss.hints, redaction, &mut recordings.hints);
        }
        let ledger = input.each_call(number, AssembleOptions::default(), redaction, &|_| true, |closed| {
            recordings.on_call(&mut read, &closed);
        });
        let ledger = ledger.map_err(|error| Failure::from(error).next(Command::new("playproof replay").path(path)))?;
        read.unknown_fields = ledger.unknown_fields;
        if read.calls == 0 {
            return Err(Failure::source(path, "empty_input", "it holds no calls").next("playproof init"));
        }
        recordings.inputs.push(read);
    }
    Ok(recordings)
}

/// The recording as a trace, and its mapping where it needs one.
fn opened(
    root: &Path,
    path: &str,
    given: Option<&(&str, Reading)>,
    recordings: &mut Recordings,
    redaction: &RedactionRules,
) -> Result<(TraceInput<'static>, Option<String>), Failure> {
    refuse_others(path)?;
    if let Some((file, reading)) = given {
        return Ok((inputs::trace(path, reading, redaction)?, Some((*file).to_owned())));
    }
    match inputs::shape(path)? {
        Shape::Empty => Err(inputs::empty(path).next("playproof init")),
        Shape::Known => Ok((inputs::trace(path, &Reading::default(), redaction)?, None)),
        Shape::Foreign => {
            let bytes = inputs::whole(path)?;
            let imported = recordings.import(path, &files::lasting(root, path), &bytes, redaction);
            let (imported, mapping) = imported.map_err(|why| no_mapping(path, why, redaction))?;
            let lines = Box::new(std::io::Cursor::new(imported.lines));
            let (loss, origins) = (Some(imported.loss), Some(imported.origins));
            Ok((TraceInput { name: path.to_owned(), lines, loss, origins }, Some(mapping)))
        }
    }
}

/// Refuses what cannot be read twice, or is no recording.
fn refuse_others(path: &str) -> Result<(), Failure> {
    if path == files::STDIN {
        let said = "`--from` wants a file: standard input cannot be read again by the commands that come next";
        return Err(Failure::new(said).next("playproof help init"));
    }
    match inputs::is_fixture(path) {
        true => Err(Failure::new(format!("`{path}` is no recording that is recognised"))
            .help(crate::input_kind::YAML_RECORDINGS)
            .next("playproof help init")),
        false => Ok(()),
    }
}

fn no_mapping(path: &str, why: NoMapping, redaction: &RedactionRules) -> Failure {
    let why = match why {
        NoMapping::Unreadable(report) => return report.into(),
        NoMapping::Redacted => {
            return Failure::source(path, "redacted", "a mapping for it would say what `redaction` takes out")
                .help("write one by hand that reads other fields, and name it with `--map`")
                .next("playproof schema mapping");
        }
        // No golden is made of a draft that reads a recording wrong.
        NoMapping::Doubtful(DraftDoubt { looking, of }) => {
            let said =
                format!("a mapping drafted from it finds no failure, and {looking} of {of} results look like one");
            let help = "write one that says which results failed (`failed`, `not_failed`), and name it with `--map`";
            return Failure::source(path, DOUBTFUL_DRAFT, said).help(help).next("playproof schema mapping");
        }
        NoMapping::Unmapped(why) => why,
    };
    let said = format!("this is no recording that is recognised, and no field of it looks like {}", why.missing);
    let fields: Vec<String> = why.fields.iter().map(|field| format!("`{}`", redaction.text(field))).collect();
    let has =
        if fields.is_empty() { "it holds no rows".to_owned() } else { format!("its rows have {}", fields.join(", ")) };
    Failure::source(path, "unmapped", said)
        .help(format!("{has}; if it is a log of tool calls, write a mapping for it by hand and name it with `--map`"))
        .next("playproof schema mapping")
}

/// The folder as it is before.
struct Folder {
    root: PathBuf,
    /// What its `playproof.yaml` says, if it has one.
    project: Option<Project>,
}

impl Folder {
    /// Looks at the folder.
    ///
    /// # Errors
    /// A file where the folder should be; a `playproof.yaml` in which something is wrong.
    fn open(root: &Path) -> Result<Folder, Failure> {
        if !root.as_os_str().is_empty() && taken(root)? == Taken::File {
            let said = format!("`{}` is a file; a project needs a folder", root.display());
            return Err(Failure::new(said).next("playproof init"));
        }
        let file = root.join(project::FILE);
        let project = match taken(&file)? {
            Taken::File => Some(Project::read(&file)?),
            _ => None,
        };
        Ok(Folder { root: root.to_path_buf(), project })
    }

    fn project(&self) -> Project {
        self.project.clone().unwrap_or_default()
    }

    /// A path below the root, as people stand.
    fn at(&self, path: &str) -> String {
        files::from_here(&self.root.join(path))
    }

    /// What must not be shown of recordings, as this folder's own project says: another project, from which the command
    /// may be run, decides nothing about this one.
    fn redaction(&self) -> RedactionRules {
        self.project().redaction
    }

    /// Writes the missing files; overwrites none that appeared in the meantime.
    fn write(&self, planned: &ProjectFiles, output: &mut Output) -> Result<(), Failure> {
        let missing = planned.files.iter().filter(|file| !file.kept);
        let create =
            |file: &ProjectFile| Change::Create(self.root.join(&file.path), file.source.text.clone().into_bytes());
        let changes: Vec<Change> = missing.map(create).collect();
        if changes.is_empty() {
            return Ok(());
        }
        let project = self.project();
        let staging = workspace::staging(&self.root, &project);
        ProjectLock::at(&project.boundary(&self.root), &staging)?.commit(&changes, output)
    }
}

impl setup::ProjectFolder for Folder {
    type Error = Failure;

    fn file(&self, path: &str) -> Result<Option<Arc<Source>>, Failure> {
        let place = self.root.join(path);
        match taken(&place)? {
            Taken::Free => Ok(None),
            Taken::File => files::read_small(&place.to_string_lossy()).map(Some),
            Taken::Folder => {
                let said = format!("`{}` is a folder, and a file of this name is needed", place.display());
                Err(Failure::new(said).help("move it away, or name another folder"))
            }
        }
    }

    fn refuse_other_fixtures(&self) -> Result<(), Failure> {
        let folder = self.root.join("fixtures");
        taken(&folder.join("NAME.yaml"))?;
        for name in [folders::files_under(&folder, ".yml")?, folders::files_under(&folder, ".yaml")?].concat() {
            let path = folder.join(name);
            if fixture::parse(files::read_small(&path.to_string_lossy())?).is_err() {
                let said =
                    format!("`{}` is no fixture of Playproof, and `check` reads all of that folder", path.display());
                let inside = self.root.join("playproof");
                return Err(Failure::new(said)
                    .help("make the project in a folder of its own")
                    .next(Command::new("playproof init").path(&inside.to_string_lossy())));
            }
        }
        folders::yaml_under(&folder).map(drop)
    }

    fn tools(&self) -> Result<Tools, Failure> {
        playbooks::facts(None, &self.project())
    }

    fn has_history(&self) -> Result<bool, Failure> {
        Ok(!folders::files_under(&self.root.join(HISTORY), ".yaml")?.is_empty())
    }

    fn has_goldens(&self) -> Result<bool, Failure> {
        let goldens = self.root.join("goldens");
        Ok(folders::has_folder(&goldens) && !folders::files_under(&goldens, ".snap")?.is_empty())
    }

    fn settings(&self) -> Settings {
        let Some(project) = &self.project else { return Settings::None };
        let is_usual = |named: &Option<String>, usual: &str| {
            named.as_ref().is_none_or(|named| named.trim_end_matches('/') == self.at(usual))
        };
        let is_usual = project.playbook.as_deref() == Some(&*self.at(PLAYBOOK_FILE))
            && is_usual(&project.fixtures, "fixtures")
            && is_usual(&project.goldens, "goldens")
            && is_usual(&project.proposals, "proposals");
        if is_usual { Settings::Usual } else { Settings::Elsewhere }
    }

    fn names_tools(&self, path: &str) -> bool {
        self.project().tools == Some(self.at(path))
    }

    fn below_repository(&self) -> Option<String> {
        folders::below_repository(&self.root)
    }
}
