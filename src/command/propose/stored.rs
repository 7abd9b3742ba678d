//! Proposals on disk: finds, names and reads them. Judges nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::exit::Failure;
use crate::folders;
use crate::workspace::{STAGING, Workspace};
use playproof_analysis::proposal;
use playproof_analysis::proposal::Proposal;
use playproof_engine::fixture::Fixture;
use playproof_formats::diagnostic::{Report, Source, did_you_mean};
use playproof_formats::golden::merge_conflict;
use playproof_formats::history::RecordKind;
use playproof_formats::shell::Command;
use playproof_report::proposal::kept_as;

/// The edited copy of a playbook in the folder of a proposal.
pub const COPY: &str = "playbook.yaml";

/// The text that was copied, beside it.
pub const BASE: &str = "base.yaml";

/// Folders beside the proposals that are none.
const ASIDE: [&str; 3] = ["rejected", "history", STAGING];

/// A proposal with its files.
#[derive(Debug)]
pub struct Stored {
    /// The name of its folder.
    pub id: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What it says.
    pub proposal: Proposal,
    /// Its decision record, if there is one.
    pub adr: Option<Arc<Source>>,
    /// Its fixtures by name.
    pub fixtures: Vec<(String, Fixture)>,
    /// The text of each.
    pub sources: Vec<Arc<Source>>,
}

/// The ids of all proposals that wait, sorted.
///
/// # Errors
/// A folder that cannot be read.
pub fn ids(workspace: &Workspace) -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    for path in folders::files_under(workspace.proposals(), COPY)? {
        let parts: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if let [id, file] = parts.as_slice()
            && file == COPY
            && !is_reserved(id)
        {
            ids.push(id.clone());
        }
    }
    Ok(ids)
}

/// The next command about a kept call: a draft of the change, or the check of the proposal that was drafted from it.
pub fn next_for_kept(workspace: &Workspace, kept: &str, expect: &str) -> Command {
    let reason = kept_as(kept);
    let adr = |id: &String| workspace.read(&workspace.proposals().join(id).join("adr.md"));
    let is_from = |id: &String| adr(id).is_ok_and(|adr| adr.text.contains(&reason));
    match ids(workspace).unwrap_or_default().into_iter().find(is_from) {
        Some(id) => Command::new("playproof propose check").name(&id),
        None => Command::new("playproof propose new").name(expect).flag("--from", kept),
    }
}

/// Whether a folder of this name beside the proposals is something else, or none at all.
pub fn is_reserved(id: &str) -> bool {
    id.is_empty() || id.starts_with('.') || ASIDE.iter().any(|aside| aside.eq_ignore_ascii_case(id))
}

/// The id of the proposal that `asked` names: by its id, its folder, or its file.
pub fn known(workspace: &Workspace, asked: &str) -> Option<String> {
    let is_there = |id: &String| {
        !is_reserved(id) && !id.contains('/') && folders::has_file(&workspace.proposals().join(id).join(COPY))
    };
    workspace.proposal_named(asked).filter(is_there)
}

/// The same of a name that must be one.
///
/// # Errors
/// No such proposal.
pub fn find(workspace: &Workspace, asked: &str) -> Result<String, Failure> {
    match known(workspace, asked) {
        Some(id) => Ok(id),
        None => Err(unknown(workspace, asked)?),
    }
}

/// Reads a proposal.
///
/// # Errors
/// No such proposal, everything that is wrong in its files.
pub fn load(workspace: &Workspace, id: &str) -> Result<Stored, Failure> {
    let named = find(workspace, id)?;
    let folder = workspace.proposals().join(&named);
    let again = Command::new("playproof propose check").name(&named);
    refuse_conflicts(workspace, &folder).map_err(|failure| failure.next(again.clone()))?;
    let copied = folder.join(BASE);
    let copied = folders::has_file(&copied).then(|| workspace.read(&copied)).transpose()?;
    let source = workspace.read(&folder.join(COPY))?;
    let rebase = Command::new("playproof propose rebase").name(&named);
    let next = if proposal::has_base(&source.text) { again.clone() } else { rebase };
    let proposal = proposal::parse(source, copied).map_err(|report| Failure::from(report).next(next))?;
    let adr = folder.join("adr.md");
    let adr = folders::has_file(&adr).then(|| workspace.read(&adr)).transpose()?;
    let (mut fixtures, mut sources) = (Vec::new(), Vec::new());
    for name in folders::yaml_under(&folder.join("fixtures"))? {
        let source = workspace.read(&folder.join("fixtures").join(&name))?;
        let fixture =
            workspace.parse_fixture(Arc::clone(&source)).map_err(|report| Failure::from(report).next(again.clone()))?;
        let name = name.to_string_lossy().replace('\\', "/");
        fixtures.push((name.trim_end_matches(".yaml").to_owned(), fixture));
        sources.push(source);
    }
    Ok(Stored { id: named, folder, proposal, adr, fixtures, sources })
}

/// Refuses a proposal in which git has left both sides of a merge, in whichever file.
fn refuse_conflicts(workspace: &Workspace, folder: &Path) -> Result<(), Failure> {
    let mut reports = Vec::new();
    for file in files(folder)? {
        // What is no text was not merged by lines.
        let Ok(source) = workspace.read(&file) else { continue };
        if let Some(said) = merge_conflict(&source.text) {
            reports.push(Report::one(source, said.help("decide which side is meant; nothing was changed")));
        }
    }
    if reports.is_empty() { Ok(()) } else { Err(Failure::Reports { reports, next: None }) }
}

/// That the proposal that `asked` names waits no more: it was accepted or rejected. None if neither.
///
/// # Errors
/// Records that cannot be used.
pub fn decided(workspace: &Workspace, asked: &str) -> Result<Option<Failure>, Failure> {
    let Some(id) = workspace.proposal_named(asked).filter(|id| !is_reserved(id)) else { return Ok(None) };
    let is_its_record = |kind: &RecordKind| matches!(kind, RecordKind::Proposal(accepted) if accepted.id == id);
    let history = workspace.read_history()?;
    if let Some(entry) = history.entries().iter().rev().find(|entry| is_its_record(&entry.record.kind)) {
        let record = workspace.here(&workspace.record_path(&entry.name));
        let said = format!("the proposal `{id}` is already accepted: see `{record}`");
        return Ok(Some(Failure::new(said).next("playproof history")));
    }
    let rejected = workspace.proposals().join("rejected").join(&id).join("reason.md");
    Ok(folders::has_file(&rejected).then(|| {
        let reason = workspace.here(&rejected);
        Failure::new(format!("the proposal `{id}` was rejected: see `{reason}`")).next("playproof propose list")
    }))
}

fn unknown(workspace: &Workspace, id: &str) -> Result<Failure, Failure> {
    if let Some(failure) = decided(workspace, id)? {
        return Ok(failure);
    }
    let known = ids(workspace)?;
    if known.is_empty() {
        workspace.refuse_empty()?;
    }
    let said = Failure::new(format!("no proposal in `{}` is called `{id}`", workspace.name(workspace.proposals())));
    let near = did_you_mean(id, known.iter().map(String::as_str));
    Ok(said.next("playproof propose list").near(near, "playproof propose check"))
}

/// Every file of a proposal.
///
/// # Errors
/// A folder that cannot be read.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    Ok(folders::files_under(folder, "")?.into_iter().map(|below| folder.join(below)).collect())
}
