//! Goldens that wait for review, beside the accepted ones: written, accepted, rejected. Compares nothing.

use super::exit::Failure;
use super::workspace::Workspace;
use super::{files, folders};
use crate::check::{CaseResult, GoldenState, Id};
use crate::golden::{Class, GoldenFile, Reason};

/// Leaves what the runs show beside the goldens, for review: a pending golden for each run that could be accepted, and
/// none for the others. Gives the number of those that wait.
///
/// # Errors
/// A file that cannot be written or removed.
pub fn leave(workspace: &Workspace, results: &[CaseResult]) -> Result<usize, Failure> {
    let mut waiting = 0;
    for result in results {
        let paths = workspace.golden(&result.id);
        match pending(result) {
            Some(golden) => {
                write(&paths.pending, &golden.render())?;
                waiting += 1;
            }
            None if folders::has_file(&paths.pending) => folders::remove(&paths.pending)?,
            None => {}
        }
    }
    Ok(waiting)
}

/// What would be accepted of a result; none where nothing differs, or where nobody may accept it.
pub fn pending(result: &CaseResult) -> Option<GoldenFile> {
    if !result.contradictions.is_empty() {
        return None;
    }
    match &result.golden {
        GoldenState::Same | GoldenState::Unreadable(_) => None,
        GoldenState::Missing => Some(GoldenFile::new(&result.id.fixture, &result.id.playbook, &result.body)),
        GoldenState::Diverged(diverged) => {
            let named = GoldenFile {
                fixture: result.id.fixture.clone(),
                playbook: result.id.playbook.clone(),
                ..diverged.golden.clone()
            };
            Some(named.with_body(&result.body))
        }
    }
}

/// Accepts results: each becomes the golden, and nothing of it waits any more.
///
/// Nothing is written unless all can be accepted.
///
/// # Errors
/// A result that contradicts its fixture, or that wants a reason where none is given; a file that cannot be written.
pub fn accept(workspace: &Workspace, results: &[&CaseResult], reason: Option<&str>) -> Result<Vec<Id>, Failure> {
    let mut goldens = Vec::new();
    for result in results {
        let Some(mut golden) = acceptable(result)? else { continue };
        if let Some(class) = result.worst().filter(|class| class.wants_reason()) {
            let why = reason.ok_or_else(|| unexplained(class, results))?;
            golden.reasons.push(Reason { class: class.words().to_owned(), why: why.to_owned() });
        }
        goldens.push((&result.id, golden));
    }
    for (id, golden) in &goldens {
        let paths = workspace.golden(id);
        write(&paths.accepted, &golden.render())?;
        folders::remove(&paths.pending)?;
    }
    Ok(goldens.into_iter().map(|(id, _)| id.clone()).collect())
}

fn acceptable(result: &CaseResult) -> Result<Option<GoldenFile>, Failure> {
    if let Some(first) = result.contradictions.first() {
        let said = format!("`{}` cannot be accepted: it contradicts what its fixture is meant to show", result.id);
        return Err(Failure::said(said)
            .help(format!("{first}; mend the playbook, or what the fixture expects"))
            .next(format!("playproof check {}", result.id)));
    }
    if let GoldenState::Unreadable(report) = &result.golden {
        return Err(Failure::from(report.clone()));
    }
    Ok(pending(result))
}

fn unexplained(class: Class, results: &[&CaseResult]) -> Failure {
    let count = results.iter().filter(|result| result.worst().is_some_and(Class::wants_reason)).count();
    let which = match (count, results.iter().find(|result| result.worst() == Some(class))) {
        (1, Some(result)) => format!("`{}`", result.id),
        _ => format!("{count} of them"),
    };
    let next = match results {
        [one] => format!("playproof accept {} --reason '...'", one.id),
        _ => "playproof accept --reason '...'".to_owned(),
    };
    Failure::said(format!("{class} in {which}: this is not accepted without a reason"))
        .help("the reason is kept in the golden, for whoever reads it next")
        .next(next)
}

/// Forgets what waits for review.
///
/// # Errors
/// A file that cannot be removed.
pub fn reject(workspace: &Workspace, ids: &[Id]) -> Result<(), Failure> {
    ids.iter().try_for_each(|id| folders::remove(&workspace.golden(id).pending))
}

/// Writes a file that may lie in a new folder, if it does not say that already.
pub fn write(path: &std::path::Path, text: &str) -> Result<(), Failure> {
    let name = path.to_string_lossy();
    if folders::has_file(path) && files::read_small(&name).is_ok_and(|old| old.text == text) {
        return Ok(());
    }
    folders::make_for(path)?;
    files::write_atomically(&name, text.as_bytes())
}
