//! Finds the playbook that a proposal changes, and refuses one that the project cannot change.

use std::path::Path;

use super::stored::Stored;
use crate::exit::Failure;
use crate::files;
use crate::workspace::{Used, Workspace};
use playproof_formats::shell::Command;

/// The playbook that a proposal names, from wherever in the project it is asked.
///
/// # Errors
/// As [`own_playbook`].
pub fn playbook_of(workspace: &Workspace, stored: &Stored) -> Result<(String, Used), Failure> {
    own(workspace, workspace.lasting_playbook(&stored.proposal.playbook)?)
}

/// A playbook that the project can change: its own, at the place where fixtures find it by name.
///
/// # Errors
/// A playbook that cannot be used, ships with Playproof, or is outside the project's folder of playbooks.
pub fn own_playbook(workspace: &Workspace, asked: Option<&str>) -> Result<(String, Used), Failure> {
    own(workspace, workspace.playbook(asked)?)
}

fn own(workspace: &Workspace, (name, used): (String, Used)) -> Result<(String, Used), Failure> {
    let Some(path) = &used.path else {
        let said = format!("`{name}` ships with Playproof and cannot be changed; change a playbook of your own");
        let other = workspace.playbook(None).ok().filter(|(other, used)| is_own(workspace, other, used));
        return Err(match other {
            Some((other, _)) => Failure::new(said).help(format!("the project's own is `{other}`")).next(
                Command::new("playproof propose new VERDICT").flag("--playbook", &workspace.playbook_argument(&other)),
            ),
            None => Failure::new(said)
                .help(format!("`playproof init` makes a project with one; or put your own at `playbooks/{name}.yaml`"))
                .next("playproof init"),
        });
    };
    if !is_own(workspace, &name, &used) {
        let said = format!("`{}` is not what this project's fixtures call `{name}`", workspace.here(path));
        return Err(Failure::new(said)
            .help("a project changes the playbooks below its folder `playbooks`, and the one that playproof.yaml names")
            .next("playproof propose new VERDICT --playbook playbooks/NAME.yaml"));
    }
    Ok((name, used))
}

/// Whether a proposal can change the playbook that is asked for, or else that of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    /// It can.
    Own,
    /// It cannot, but it can change the project's.
    AnotherIsOwn,
    /// There is none that it could change.
    NoneIsOwn,
}

/// How the playbook that is asked for, by name or path, stands to the project of the working directory.
pub fn stand(asked: Option<&str>) -> Stand {
    let Ok(workspace) = Workspace::open() else { return Stand::NoneIsOwn };
    match (own_playbook(&workspace, asked).is_ok(), own_playbook(&workspace, None).is_ok()) {
        (true, _) => Stand::Own,
        (false, true) => Stand::AnotherIsOwn,
        (false, false) => Stand::NoneIsOwn,
    }
}

/// Whether the playbook is the project's own, and is the one that its fixtures know by `name`.
pub fn is_own(workspace: &Workspace, name: &str, used: &Used) -> bool {
    let Some(path) = &used.path else { return false };
    let root = if workspace.root().as_os_str().is_empty() { Path::new(".") } else { workspace.root() };
    let known = workspace.playbook(Some(name)).ok().and_then(|(_, known)| files::real(&known.path?));
    match (files::real(path), files::real(root)) {
        (Some(path), Some(root)) => path.starts_with(root) && known == Some(path),
        _ => false,
    }
}
