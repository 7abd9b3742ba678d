//! Playbooks by name or path, ready to run. Knows the embedded names; parses nothing itself.

use super::exit::Failure;
use super::files;
use super::kinds::{self, Kind};
use super::project::Project;
use crate::diagnostic::{Source, did_you_mean};
use crate::playbook::model::Tools;
use crate::playbook::{self, EMBEDDED, Loaded, embedded, tools};

/// Whether a playbook is named by its path; otherwise it is an embedded one.
pub fn is_path(name: &str) -> bool {
    name == files::STDIN || [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending))
}

/// The names that are meant: those of the command line, else the project's, else the default.
pub fn names(asked: &[String], project: &Project) -> Vec<String> {
    match (asked, &project.playbook) {
        ([], Some(name)) => vec![name.clone()],
        ([], None) => EMBEDDED.first().map(|name| (*name).to_owned()).into_iter().collect(),
        (asked, _) => asked.to_vec(),
    }
}

/// The text of a playbook.
///
/// # Errors
/// A path that cannot be read, a name that is not embedded.
pub fn source(name: &str) -> Result<std::sync::Arc<Source>, Failure> {
    match embedded(name) {
        Some(text) => Ok(Source::whole(format!("<embedded>/{name}"), text)),
        None if is_path(name) || files::exists(name) => {
            let source = files::read_small(name)?;
            kinds::expect(Kind::Playbook, name, source.text.as_bytes())?;
            Ok(source)
        }
        None => Err(unknown(name)),
    }
}

/// Loads a playbook.
///
/// # Errors
/// As [`source`], and everything that is wrong in it.
pub fn load(name: &str) -> Result<Loaded, Failure> {
    playbook::parse(source(name)?).map_err(|report| Failure::from(report).next(format!("playproof lint {name}")))
}

/// The tool facts of the command line, else of the project; none at all where neither names any.
///
/// # Errors
/// A path that cannot be read, and everything that is wrong in it.
pub fn facts(asked: Option<&str>, project: &Project) -> Result<Tools, Failure> {
    match asked.or(project.tools.as_deref()) {
        Some(path) => {
            let source = files::read_small(path)?;
            kinds::expect(Kind::ToolFacts, path, source.text.as_bytes())?;
            Ok(tools::parse(source)?)
        }
        None => Ok(Tools::default()),
    }
}

fn unknown(name: &str) -> Failure {
    let path = format!("{name}.yaml");
    let failure = Failure::said(format!("there is no embedded playbook `{name}`"));
    if files::size(&path).is_some() {
        return failure.help(format!("there is a file of that name: did you mean `{path}`?"));
    }
    match did_you_mean(name, EMBEDDED.iter().copied()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure.help(format!("embedded are {}; a path ends in `.yaml`", EMBEDDED.join(", "))),
    }
}
