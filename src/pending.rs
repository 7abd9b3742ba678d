//! Goldens that wait for review, beside the accepted ones: written, accepted, rejected. Compares nothing.

use super::changeset::Change;
use super::exit::Failure;
use super::output::Output;
use super::workspace::Workspace;
use super::{files, folders};
use playproof_analysis::check::{CaseId, CaseResult, GoldenState};
use playproof_engine::event::FindingId;
use playproof_formats::golden::{Class, GoldenFile, Reason};
use playproof_formats::shell::Command;

/// Writes the pending goldens, for review: one for each run that could be accepted, and
/// none for the others. Gives the number of those that wait.
///
/// # Errors
/// A file that cannot be written or removed.
pub fn leave(workspace: &Workspace, results: &[CaseResult], output: &mut Output) -> Result<usize, Failure> {
    let (mut waiting, mut changes) = (0, Vec::new());
    for result in results {
        let path = workspace.golden(&result.id).pending;
        match result.pending_golden().map(|golden| golden.render()) {
            Some(text) => {
                waiting += 1;
                if !says(&path, &text) {
                    changes.push(Change::Write(path, text.into_bytes()));
                }
            }
            None if folders::has_file(&path) => changes.push(Change::Remove(path)),
            None => {}
        }
    }
    if !changes.is_empty() {
        workspace.project_lock()?.commit(&changes, output)?;
    }
    Ok(waiting)
}

/// The results with a pending golden.
pub fn waiting<'a>(workspace: &Workspace, results: &'a [CaseResult]) -> Vec<&'a CaseResult> {
    results.iter().filter(|result| folders::has_file(&workspace.golden(&result.id).pending)).collect()
}

/// That nothing of `asked`, or nothing at all, waits for review, and why.
pub fn nothing_waits(results: &[CaseResult], asked: &[String], is_ci: bool) -> Failure {
    let check = |result: &CaseResult| Command::new("playproof check").name(&result.id.to_string());
    if let Some(result) = results.iter().find(|result| !result.contradictions.is_empty()) {
        let said = format!("`{}` cannot be accepted: it contradicts its fixture. Nothing else waits", result.id);
        return Failure::new(said).next(check(result));
    }
    let names = asked.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let said = if asked.is_empty() {
        "nothing waits for review".to_owned()
    } else {
        format!("no run of {names} waits for review")
    };
    match results.iter().find(|result| result.pending_golden().is_some()) {
        Some(result) if is_ci => Failure::new(said)
            .help("in CI, `playproof check` leaves nothing for review: run it, and this, where `CI` is not set")
            .next(check(result)),
        _ => Failure::new(said).next(Command::new("playproof check").names(asked)),
    }
}

/// Refuses a pending golden that no longer equals the run.
///
/// # Errors
/// It is so; a file that cannot be read.
pub fn refuse_stale(workspace: &Workspace, result: &CaseResult) -> Result<(), Failure> {
    let source = workspace.read(&workspace.golden(&result.id).pending)?;
    let left = GoldenFile::parse(&source)?;
    if left.body.text.trim_end() == result.body.render().trim_end() || !result.contradictions.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("what waits for `{}` is no longer what the run shows", result.id))
        .help("something changed after the check that left it")
        .next(Command::new("playproof check").name(&result.id.to_string())))
}

/// What accepting results changes: each becomes the golden, and nothing of it waits any more.
#[derive(Debug, Default)]
pub struct Acceptance {
    /// The runs that are accepted.
    pub ids: Vec<CaseId>,
    /// Their files; to be changed all or none.
    pub changes: Vec<Change>,
}

/// Accepts results, or none of them.
///
/// # Errors
/// A result that contradicts its fixture, that wants a reason where none is given, or whose golden is no longer the one
/// that it was held against.
pub fn acceptance(workspace: &Workspace, results: &[&CaseResult], reason: Option<&str>) -> Result<Acceptance, Failure> {
    let mut accepted = Acceptance::default();
    for result in results {
        let Some(mut golden) = acceptable(result)? else { continue };
        if let Some(class) = result.worst().filter(|class| class.requires_reason()) {
            let why = reason.ok_or_else(|| unexplained(class, results))?;
            golden.reasons.push(Reason { class: class.words().to_owned(), why: why.to_owned() });
        }
        refuse_changed(workspace, result)?;
        let (paths, text) = (workspace.golden(&result.id), golden.render().into_bytes());
        accepted.changes.push(match result.golden {
            GoldenState::Missing => Change::Create(paths.accepted, text),
            _ => Change::Write(paths.accepted, text),
        });
        if folders::has_file(&paths.pending) {
            accepted.changes.push(Change::Remove(paths.pending));
        }
        accepted.ids.push(result.id.clone());
    }
    Ok(accepted)
}

/// Refuses a golden that changed since the comparison: the page showed differences from another one.
fn refuse_changed(workspace: &Workspace, result: &CaseResult) -> Result<(), Failure> {
    let GoldenState::Diverged(diverged) = &result.golden else { return Ok(()) };
    let now = workspace.read_golden(&result.id)?.and_then(|source| GoldenFile::parse(&source).ok());
    if now.is_some_and(|now| now == diverged.golden) {
        return Ok(());
    }
    Err(Failure::new(format!("the golden of `{}` has changed since this was compared with it", result.id))
        .help("nothing was accepted")
        .next(Command::new("playproof check").name(&result.id.to_string())))
}

fn acceptable(result: &CaseResult) -> Result<Option<GoldenFile>, Failure> {
    if let Some(first) = result.contradictions.first() {
        let said = format!("`{}` cannot be accepted: it contradicts what its fixture is meant to show", result.id);
        return Err(Failure::new(said)
            .help(format!("{first}; mend the playbook, or what the fixture expects"))
            .next(Command::new("playproof check").name(&result.id.to_string())));
    }
    if !result.unexpected_harm.is_empty() && result.pending_golden().is_some() {
        return Err(harmful(&result.id, &result.unexpected_harm)
            .next(Command::new("playproof check").name(&result.id.to_string())));
    }
    if let GoldenState::Unreadable(report) = &result.golden {
        return Err(Failure::from(report.clone()));
    }
    Ok(result.pending_golden())
}

/// That a run shows harm that its fixture does not expect.
pub fn harmful(id: &CaseId, harm: &[FindingId]) -> Failure {
    let ids: Vec<&str> = harm.iter().map(|id| id.as_str()).collect();
    let (ids, CaseId { playbook, .. }) = (ids.join(", "), id);
    Failure::new(format!("`{id}` cannot be accepted: `{playbook}` does harm that its fixture does not expect: {ids}"))
        .help(format!("mend the playbook, or name it in `expect` of `{playbook}`: `findings: [{ids}]`"))
}

fn unexplained(class: Class, results: &[&CaseResult]) -> Failure {
    let count = results.iter().filter(|result| result.worst().is_some_and(Class::requires_reason)).count();
    let which = match (count, results.iter().find(|result| result.worst() == Some(class))) {
        (1, Some(result)) => format!("`{}`", result.id),
        _ => format!("{count} of them"),
    };
    let next = match results {
        [one] => Command::new("playproof accept").name(&one.id.to_string()).and("--reason '...'"),
        _ => "playproof accept --reason '...'".into(),
    };
    Failure::new(format!("{class} in {which}: this is not accepted without a reason"))
        .help("the reason is kept in the golden")
        .next(next)
}

/// What rejecting runs changes: nothing of them waits any more, and the goldens stay as they are.
pub fn rejection(workspace: &Workspace, ids: &[CaseId]) -> Vec<Change> {
    ids.iter().map(|id| Change::Remove(workspace.golden(id).pending)).collect()
}

/// Whether a file says that already.
fn says(path: &std::path::Path, text: &str) -> bool {
    folders::has_file(path) && files::read_small(&path.to_string_lossy()).is_ok_and(|old| old.text == text)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes a folder")]
mod tests {
    use super::*;
    use playproof_analysis::check::Diverged;
    use playproof_formats::diagnostic::Source;
    use playproof_formats::golden::{GoldenBody, compare, parse_body};

    fn body(attempts: u8) -> GoldenBody {
        let end = format!("outcome: escalated, effect: unknown, attempts: {attempts}, verdicts: []");
        let text = format!("a: {{ {end} }}\nledger: {{}}\nfindings: []\nevents: []\n");
        parse_body(Source::whole("g", text)).unwrap()
    }

    /// A run that differs from a golden that had other attempts.
    fn result(golden: GoldenState) -> CaseResult {
        let id = CaseId { playbook: "p".into(), fixture: "f".into() };
        CaseResult {
            id,
            title: String::new(),
            body: body(2),
            golden,
            contradictions: Vec::new(),
            unexpected_harm: Vec::new(),
        }
    }

    fn diverged() -> GoldenState {
        let golden = GoldenFile::new("f", "p", &body(1).render());
        let golden = GoldenFile::parse(&Source::whole("goldens/p/f.snap", golden.render())).unwrap();
        GoldenState::Diverged(Box::new(Diverged { comparison: compare(&body(1), &body(2)), golden }))
    }

    #[test]
    fn a_golden_that_is_another_one_by_now_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write = |path: &std::path::Path, text: &str| -> Result<(), Failure> {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            files::write_atomically(&path.to_string_lossy(), text.as_bytes())
        };
        write(&path("playproof.yaml"), "format: project/1\n").unwrap();
        let workspace = Workspace::at(folder.path()).unwrap();
        let accept = |golden: GoldenState| {
            let accepted = acceptance(&workspace, &[&result(golden)], None)?;
            workspace.project_lock()?.commit(&accepted.changes, &mut Output::default())
        };
        let golden = path("goldens/p/f.snap");
        // It was compared with one attempt; since then a person has accepted three.
        let theirs = GoldenFile::new("f", "p", &body(3).render()).render();
        write(&golden, &theirs).unwrap();
        assert!(format!("{:?}", accept(diverged()).unwrap_err()).contains("has changed since this was compared"));
        assert!(format!("{:?}", accept(GoldenState::Missing).unwrap_err()).contains("of this name now"));
        assert_eq!(files::read_small(&golden.to_string_lossy()).unwrap().text, theirs);
        write(&golden, &GoldenFile::new("f", "p", &body(1).render()).render()).unwrap();
        accept(diverged()).unwrap();
        assert!(files::read_small(&golden.to_string_lossy()).unwrap().text.contains("attempts: 2"));
    }
}
