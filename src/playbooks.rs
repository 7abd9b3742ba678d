//! Playbooks by name or path, ready to run. Parses nothing itself.
//!
//! A name means the same in every command. With the ending of a file it is a path. Any other name is a playbook of the
//! project (the one that `playproof.yaml` names, or `playbooks/NAME.yaml`), else an embedded one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::boundary::is_plain;
use super::exit::Failure;
use super::failed;
use super::files;
use super::folders;
use super::input_kind::{self, InputKind, reject_conflict_markers};
use super::output::say;
use super::project::{self, Project, is_path};
use super::terminal::Terminal;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::{Report, Source, did_you_mean};
use playproof_formats::playbook;
use playproof_formats::playbook::lint::{SeenArguments, unseen_arguments};
use playproof_formats::playbook::tools;
use playproof_formats::playbook::tools::{LoadedTools, ToolsFile};
use playproof_formats::playbook::{EMBEDDED, Loaded, embedded};
use playproof_formats::shell::Command;
use playproof_report::text::counted;

/// The folder of the project's own playbooks, below its root.
pub const FOLDER: &str = "playbooks";

/// A playbook by its name in fixtures and goldens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPlaybook {
    /// The name.
    pub name: String,
    /// Its file, if it lies apart from the other playbooks.
    pub path: Option<PathBuf>,
}

/// What a playbook's name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    /// A file; `-` is standard input.
    File(PathBuf),
    /// An embedded playbook, with its text.
    Embedded(&'static str),
}

impl NamedPlaybook {
    /// Resolves `named` in the project in `root`. A file below the folder of playbooks is named by its path there, however
    /// it was written.
    pub fn new(root: &Path, named: &str) -> NamedPlaybook {
        if !is_path(named) {
            return NamedPlaybook { name: named.to_owned(), path: None };
        }
        let (path, folder) = (Path::new(named), root.join(FOLDER));
        let as_written = path.strip_prefix(&folder).map(Path::to_path_buf).ok();
        match as_written.or_else(|| below(path, &folder)) {
            Some(below) => NamedPlaybook { name: below.with_extension("").to_string_lossy().into_owned(), path: None },
            None => {
                let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                NamedPlaybook { name, path: Some(path.to_path_buf()) }
            }
        }
    }
}

/// The path of a file below a folder, however it was named; none if it lies elsewhere. A link keeps its own name.
pub fn below(file: &Path, folder: &Path) -> Option<PathBuf> {
    let name = file.file_name().filter(|name| *name != files::STDIN)?;
    let real = |path: &Path| files::real(if path.as_os_str().is_empty() { Path::new(".") } else { path });
    let above = real(file.parent()?)?;
    Some(above.strip_prefix(real(folder)?).ok()?.join(name))
}

/// The default playbook of the project in `root`.
pub fn usual(root: &Path, project: &Project) -> NamedPlaybook {
    NamedPlaybook::new(root, usual_of(project))
}

fn usual_of(project: &Project) -> &str {
    project.playbook.as_deref().or_else(|| EMBEDDED.first().copied()).unwrap_or_default()
}

/// The project's file for the playbook `name`; none for an embedded one.
pub fn file_of(root: &Path, usual: &NamedPlaybook, name: &str) -> Option<PathBuf> {
    let apart = usual.path.as_ref().filter(|_| usual.name == name);
    let own = || root.join(FOLDER).join(format!("{name}.yaml"));
    if !is_plain(Path::new(name)) {
        return None; // a name must not lead out of the folder
    }
    // An unreadable file is an error; it is not replaced by the embedded playbook.
    Some(apart.cloned().unwrap_or_else(own)).filter(|path| folders::is_there(path))
}

/// Refuses the project's playbook `name` if its file ends in `.yml`: it would not be read, and an embedded one might be
/// used instead.
///
/// # Errors
/// The file ends in `.yml`.
pub fn refuse_other_ending(root: &Path, name: &str) -> Result<(), Failure> {
    let other = root.join(FOLDER).join(format!("{name}.yml"));
    match folders::has_file(&other) && !folders::has_file(&other.with_extension("yaml")) {
        true => Err(folders::other_ending(&other)),
        false => Ok(()),
    }
}

/// The playbook of the command line, else the project's, else the default.
pub fn name(asked: Option<&str>, project: &Project) -> String {
    asked.map_or_else(|| files::near(&project::root(), usual_of(project)), str::to_owned)
}

/// The requested playbooks: those of the command line, else the project's, else the default.
pub fn names(asked: &[String], project: &Project) -> Vec<String> {
    match asked {
        [] => vec![name(None, project)],
        asked => asked.to_vec(),
    }
}

/// Shows playbooks of the same name by their files, as `asked`.
pub fn tell_apart(plans: &mut [Plan], asked: &[String]) {
    let root = project::root();
    rename_equal(plans, asked.iter().map(|asked| files::lasting(&root, &files::display_name(asked))));
    rename_equal(plans, asked.iter().cloned()); // two paths may end in one file name
}

fn rename_equal(plans: &mut [Plan], others: impl Iterator<Item = String>) {
    let names: Vec<Arc<str>> = plans.iter().map(|plan| Arc::clone(&plan.names.playbook)).collect();
    for (plan, other) in plans.iter_mut().zip(others) {
        if names.iter().filter(|name| **name == plan.names.playbook).count() > 1 {
            plan.names.playbook = other.into();
        }
    }
}

/// The text of a playbook.
///
/// # Errors
/// As [`meant`]; a path that cannot be read.
pub fn source(name: &str) -> Result<Arc<Source>, Failure> {
    match meant(name)? {
        Meant::File(path) => read(&files::near(&project::root(), &path.to_string_lossy())),
        Meant::Embedded(text) => Ok(Source::whole(format!("<embedded>/{name}"), text)),
    }
}

/// What a name or a path means.
///
/// # Errors
/// An unknown name; an unusable project file.
pub fn meant(name: &str) -> Result<Meant, Failure> {
    let (root, project) = (project::root(), Project::find()?);
    if is_path(name) {
        return Ok(Meant::File(PathBuf::from(name)));
    }
    if let Some(file) = file_of(&root, &usual(&root, &project), name) {
        project.boundary(&root).readable(&file)?;
        return Ok(Meant::File(file));
    }
    refuse_other_ending(&root, name)?;
    match embedded(name) {
        Some(text) => Ok(Meant::Embedded(text)),
        None if files::exists(name) => Ok(Meant::File(PathBuf::from(name))),
        None => Err(unknown(name, &root)),
    }
}

fn read(path: &str) -> Result<Arc<Source>, Failure> {
    let source = files::read_small(path)?;
    input_kind::expect(InputKind::Playbook, path, source.text.as_bytes())?;
    Ok(source)
}

/// Parses a playbook; rejects git's conflict markers.
///
/// # Errors
/// Everything that is wrong in it.
pub fn parse(source: Arc<Source>) -> Result<Loaded, Report> {
    reject_conflict_markers(&source)?;
    playbook::parse(source)
}

/// Loads a playbook.
///
/// # Errors
/// As [`source`], and everything that is wrong in it.
pub fn load(name: &str) -> Result<Loaded, Failure> {
    loaded(source(name)?, name)
}

/// The same from a text; suggested commands name it by `argument`.
///
/// # Errors
/// Everything that is wrong in it.
pub fn loaded(source: Arc<Source>, argument: &str) -> Result<Loaded, Failure> {
    parse(source).map_err(|report| Failure::from(report).next(Command::new("playproof lint").path(argument)))
}

/// The tool facts of the command line, else of the project, else none.
///
/// # Errors
/// A path that cannot be read, and everything that is wrong in it.
pub fn facts(asked: Option<&str>, project: &Project) -> Result<Tools, Failure> {
    Ok(facts_file(asked, project)?.map(|(_, file)| file.tools).unwrap_or_default())
}

/// The same, with a note about unconfirmed guesses.
///
/// # Errors
/// As [`facts`].
pub fn facts_said(asked: Option<&str>, project: &Project) -> Result<Tools, Failure> {
    let Some((path, ToolsFile { tools, guessed })) = facts_file(asked, project)? else { return Ok(Tools::default()) };
    if guessed > 0 {
        let rows = guessed + tools.rows().len();
        let (are, they) = if guessed == 1 { ("is a guess", "it declares") } else { ("are guesses", "they declare") };
        say(&format!(
            "note: {guessed} of {} in {} {are}; until you confirm (`{}`), {they} nothing, and an undeclared tool \
             counts as a write that must not be repeated",
            counted(rows as u64, "row", "rows"),
            path,
            Command::new("playproof confirm").flag("--tools", &path),
        ));
    }
    Ok(tools)
}

/// Warns of arguments that the tool facts, or the playbook, name and that no recorded call of the tool has.
///
/// # Errors
/// As [`facts`].
pub fn warn_of_arguments(
    seen: &SeenArguments,
    (asked, playbook): (Option<&str>, Option<&Loaded>),
    project: &Project,
    terminal: &Terminal,
) -> Result<(), Failure> {
    if seen.is_empty() {
        return Ok(());
    }
    let path = asked.or(project.tools.as_deref()).map(|path| files::near(&project::root(), path));
    let facts = path.map(|path| written_facts(&path)).transpose()?;
    let of_facts = facts.iter().map(|facts| (&facts.source, facts.unseen_arguments(seen)));
    let of_playbook = playbook.iter().map(|one| (&one.places.source, unseen_arguments(one, seen)));
    let said = of_facts.chain(of_playbook).filter(|(_, said)| !said.is_empty());
    let said = said.map(|(source, diagnostics)| Report { source: source.clone(), diagnostics });
    failed::warn(&said.collect::<Vec<_>>(), terminal.err);
    Ok(())
}

/// The bytes of the tool facts that `asked` names, else of the project's.
///
/// # Errors
/// They cannot be read.
pub fn facts_bytes(asked: Option<&str>, project: &Project) -> Result<Vec<u8>, Failure> {
    let path = asked.or(project.tools.as_deref()).map(|path| files::near(&project::root(), path));
    path.map_or_else(|| Ok(Vec::new()), |path| files::bytes(Path::new(&path)))
}

fn facts_file(asked: Option<&str>, project: &Project) -> Result<Option<(String, ToolsFile)>, Failure> {
    let Some(path) = asked.or(project.tools.as_deref()) else { return Ok(None) };
    let path = files::near(&project::root(), path);
    let file = written_facts(&path)?.file;
    Ok(Some((path, file)))
}

/// The argument that names the source of a playbook.
pub fn argument(source: &str) -> &str {
    source.strip_prefix("<embedded>/").unwrap_or(source)
}

/// A tool facts file with the places of its rows.
///
/// # Errors
/// A path that cannot be read, and everything that is wrong in it.
pub fn written_facts(path: &str) -> Result<LoadedTools, Failure> {
    let source = files::read_small(path)?;
    input_kind::expect(InputKind::ToolFacts, path, source.text.as_bytes())?;
    reject_conflict_markers(&source)?;
    tools::load(source).map_err(|report| Failure::from(report).next("playproof schema tools"))
}

fn unknown(name: &str, root: &Path) -> Failure {
    let path = format!("{name}.yaml");
    let failure = Failure::new(format!("there is no playbook `{name}`, neither in this project nor embedded"));
    if folders::has_file(Path::new(&path)) {
        return failure.help(format!("there is a file of that name: did you mean `{path}`?"));
    }
    match near(name, root) {
        Some(near) => failure.typo(name, &near),
        None => failure.help(format!(
            "the embedded playbooks are {}; the project's own is `{FOLDER}/{name}.yaml`; a path ends in `.yaml`",
            EMBEDDED.join(", ")
        )),
    }
}

/// The name of a playbook that is similar to `name`.
pub fn near(name: &str, root: &Path) -> Option<String> {
    let own = folders::files_under(&root.join(FOLDER), ".yaml").unwrap_or_default();
    let own: Vec<String> = own.iter().map(|path| path.with_extension("").to_string_lossy().into_owned()).collect();
    did_you_mean(name, own.iter().map(String::as_str).chain(EMBEDDED.iter().copied())).map(str::to_owned)
}
