//! Fixtures by path, and those of a folder that run under a playbook. Parses nothing itself.

use std::path::Path;

use super::exit::Failure;
use super::files;
use super::playbooks;
use super::project::Project;
use crate::coverage::Case;
use crate::fixture::{self, model::Fixture};

/// Where fixtures lie unless somebody says otherwise.
const FOLDER: &str = "fixtures";

/// Loads a fixture.
///
/// # Errors
/// A path that cannot be read, and everything that is wrong in it.
pub fn load(path: &str) -> Result<Fixture, Failure> {
    fixture::parse(files::read_small(path)?).map_err(|report| Failure::from(report).next("playproof schema fixture"))
}

/// The folder that is meant: that of the command line, else the project's, else the usual one.
pub fn folder(asked: Option<&str>, project: &Project) -> String {
    asked.or(project.fixtures.as_deref()).unwrap_or(FOLDER).to_owned()
}

/// The fixtures of a folder that run under the playbook of this name, by name, in the order of their names.
///
/// # Errors
/// A folder or file that cannot be read, everything that is wrong in any fixture, and that none runs under it.
pub fn of_playbook(folder: &str, playbook: &str, project: &Project) -> Result<Vec<Case>, Failure> {
    let is_default = playbooks::load(&playbooks::names(&[], project).concat())?.playbook.name.as_ref() == playbook;
    let mut cases = Vec::new();
    for path in files::listed(folder, ".yaml")? {
        let fixture = load(&path)?;
        let runs = match fixture.playbooks.as_slice() {
            [] => is_default,
            named => named.iter().any(|name| name == playbook),
        };
        if runs {
            let name = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
            cases.push(Case { name, fixture });
        }
    }
    if cases.is_empty() {
        let said = Failure::said(format!("no fixture in `{folder}` runs under `{playbook}`"));
        return Err(said
            .help(format!("name it in a fixture: `playbooks: [{playbook}]`, or name another folder"))
            .next("playproof help coverage"));
    }
    Ok(cases)
}
