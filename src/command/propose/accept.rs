//! `playproof propose accept ID --reason TEXT`: playbook, decision record, fixtures, goldens, lock and history, all or
//! nothing.

use std::path::{Path, PathBuf};

use super::args::Accept;
use super::desk::{Desk, Tryout};
use super::stored::{self, Stored};
use crate::changeset::Change;
use crate::checking;
use crate::exit::{Exit, Failure};
use crate::output::{Output, to_stderr};
use crate::terminal::Terminal;
use crate::workspace::Workspace;
use crate::{folders, git};
use playproof_analysis::check::{Case, Id, check_one};
use playproof_analysis::proposal::{FixtureDiff, numbered};
use playproof_engine::sim::Simulator;
use playproof_formats::golden::{Class, GoldenFile, Reason};
use playproof_formats::history::{History, Kind, Record, Taken, next_number};
use playproof_formats::playbook::rows;
use playproof_formats::shell::Command;
use playproof_report::proposal::page;
use playproof_report::style::Palette;
use playproof_report::text::counted;

/// Accepts.
///
/// # Errors
/// No reason, no such proposal; a file that has uncommitted changes or cannot be written: then nothing has changed.
pub fn run(args: &Accept, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let project_lock = workspace.project_lock()?;
    let id = stored::find(&workspace, &args.id)?;
    let reason = args.reason.as_deref().ok_or_else(|| {
        Failure::said("a proposal is not accepted without a reason")
            .help("it is kept in the lock, beside each row that changes")
            .next(Command::new("playproof propose accept").name(&args.id).and("--reason '...'"))
    })?;
    let desk = Desk::open(&workspace, checking::jobs(None))?;
    let stored = stored::load(&workspace, &id)?;
    let tryout = desk.try_out(&stored)?;
    let palette = Palette::new(terminal.out.colour);
    if !tryout.judged.gates.is_empty() {
        output.page(&page(&tryout.judged, terminal.out.width, palette))?;
        to_stderr("playproof: not accepted; nothing was changed\n");
        return Ok(Exit::Found);
    }
    let changes = changes(&desk, &stored, &tryout, reason)?;
    refuse_uncommitted(&workspace, &stored, &changes)?;
    if terminal.ci {
        to_stderr("playproof: accepting in CI, because this command says so\n");
    }
    project_lock.commit(&changes, output)?;
    let mut lines: Vec<String> = Vec::new();
    for change in &changes {
        lines.extend(change.text().map(|_| format!("wrote {}", workspace.here(change.path()))));
    }
    lines.push(format!("{} is accepted", stored.id));
    lines.push("next: playproof check".to_owned());
    output.lines(&lines)?;
    Ok(Exit::Clean)
}

/// Every file that changes.
fn changes(desk: &Desk<'_>, stored: &Stored, tryout: &Tryout, reason: &str) -> Result<Vec<Change>, Failure> {
    let workspace = desk.workspace;
    let Some(playbook) = &tryout.used.path else { return Err(Failure::said("the playbook has no file")) };
    let (name, text) = (&tryout.judged.playbook, &tryout.applied.loaded.places.source.text);
    let mut lock = desk.lock.clone().unwrap_or_default();
    let new_rows = rows(&tryout.applied.loaded.playbook);
    lock.approve(name, new_rows.iter().map(|row| (&*row.name, &*row.text)), reason);
    let mut changes = vec![Change::Write(playbook.clone(), text.clone().into_bytes())];
    let adr = adr(workspace, stored)?;
    let adr_name = adr.as_ref().map(|adr| workspace.name(adr.path())).unwrap_or_default();
    changes.extend(adr);
    for (fixture, _, source) in &stored.fixtures {
        changes.push(Change::Create(workspace.fixture_path(fixture), source.text.clone().into_bytes()));
    }
    changes.extend(goldens(workspace, tryout, reason)?);
    changes.extend(other_goldens(desk, stored, tryout)?);
    changes.push(Change::Write(workspace.lock_path(), lock.render().into_bytes()));
    changes.push(record(workspace, stored, tryout, adr_name, reason)?);
    changes.extend(stored::files(&stored.folder)?.into_iter().map(Change::Remove));
    Ok(changes)
}

/// What the history keeps of it.
fn record(
    workspace: &Workspace,
    stored: &Stored,
    tryout: &Tryout,
    adr: String,
    reason: &str,
) -> Result<Change, Failure> {
    let history = workspace.read_history()?;
    refuse_unrecorded(&history, tryout)?;
    let rows = rows(&tryout.applied.loaded.playbook);
    let goldens = || tryout.judged.diffs.iter().filter(|diff| diff.is_new || diff.class().is_some());
    let explained = goldens().filter(|diff| !diff.is_new && diff.class().is_some_and(Class::wants_reason));
    let record = Record {
        kind: Kind::Proposal(Taken {
            id: stored.id.clone(),
            adr: adr.replace('\\', "/"),
            fixtures: stored.fixtures.iter().map(|(name, ..)| name.clone()).collect(),
            goldens: goldens().map(|diff| diff.id.to_string()).collect(),
            explained: explained.map(|diff| diff.id.to_string()).collect(),
        }),
        playbook: tryout.judged.playbook.clone(),
        reason: reason.to_owned(),
        rows: history.changes(&tryout.judged.playbook, rows.iter().map(|row| (&*row.name, &*row.text))),
    };
    if record.rows.is_empty() {
        // The gates hold this too; such a record could never be read again.
        return Err(Failure::said(format!(
            "`{}` changes no row of the playbook: there is nothing to record",
            stored.id
        )));
    }
    let number = next_number(history.entries().iter().map(|entry| entry.name.as_str()));
    Ok(Change::Create(workspace.record_path(&record.file_name(number)), record.render().into_bytes()))
}

/// Its record says what the proposal changes, and no more: rows that nobody has recorded yet are not its own.
fn refuse_unrecorded(history: &History, tryout: &Tryout) -> Result<(), Failure> {
    let (name, rows) = (&tryout.judged.playbook, rows(&tryout.used.loaded.playbook));
    let unrecorded = history.changes(name, rows.iter().map(|row| (&*row.name, &*row.text)));
    let Some(first) = unrecorded.first() else { return Ok(()) };
    let rows = counted(unrecorded.len() as u64, "row", "rows");
    Err(Failure::said(format!("the history does not explain {rows} of `{name}` as it is, first `{}`", first.name))
        .help("record them first: the record of a proposal says what the proposal changes; nothing was changed")
        .next(Command::new("playproof approve").name(name).and("--reason '...'")))
}

/// The decision record under the next number.
fn adr(workspace: &Workspace, stored: &Stored) -> Result<Option<Change>, Failure> {
    let Some(adr) = &stored.adr else { return Ok(None) };
    let folder = workspace.root().join("docs/adr");
    let names = folders::files_under(&folder, ".md")?;
    let number = |path: &PathBuf| path.to_str()?.get(..4)?.parse::<u32>().ok();
    let next = names.iter().filter_map(number).max().unwrap_or(0).saturating_add(1);
    let path = folder.join(format!("{next:04}-{}.md", stored.id));
    Ok(Some(Change::Create(path, numbered(&adr.text, next).into_bytes())))
}

/// The goldens under the playbook: those that change, and those of the new fixtures.
fn goldens(workspace: &Workspace, tryout: &Tryout, reason: &str) -> Result<Vec<Change>, Failure> {
    let mut changes = Vec::new();
    for diff in tryout.judged.diffs.iter().filter(|diff| diff.is_new || diff.class().is_some()) {
        let golden = golden(tryout, diff, reason)?;
        let paths = workspace.golden(&diff.id);
        changes.push(Change::Write(paths.accepted, golden.render().into_bytes()));
        if folders::has_file(&paths.pending) {
            changes.push(Change::Remove(paths.pending));
        }
    }
    Ok(changes)
}

fn golden(tryout: &Tryout, diff: &FixtureDiff, reason: &str) -> Result<GoldenFile, Failure> {
    let Id { playbook, fixture } = &diff.id;
    let Some(source) = tryout.goldens.get(&diff.id).and_then(Option::as_ref) else {
        return Ok(GoldenFile::new(fixture, playbook, &diff.body.render()));
    };
    let mut golden = GoldenFile::parse(source)?.with_body(&diff.body.render());
    if let Some(class) = diff.class().filter(|class| class.wants_reason()) {
        golden.reasons.push(Reason { class: class.words().to_owned(), why: reason.to_owned() });
    }
    Ok(golden)
}

/// The goldens of the new fixtures under the other playbooks that they name.
fn other_goldens(desk: &Desk<'_>, stored: &Stored, tryout: &Tryout) -> Result<Vec<Change>, Failure> {
    let fixtures: Vec<_> = stored.fixtures.iter().map(|(name, fixture, _)| (name.clone(), fixture.clone())).collect();
    let used = desk.workspace.load_playbooks(&fixtures)?;
    let mut changes = Vec::new();
    let mut simulator = Simulator::new();
    for (name, fixture) in &fixtures {
        for (playbook, used) in used.iter().filter(|(playbook, _)| **playbook != tryout.judged.playbook) {
            if !desk.workspace.playbooks_of(fixture).contains(&playbook.as_str()) {
                continue;
            }
            if desk.lock.as_ref().is_none_or(|lock| !lock.playbooks.contains_key(playbook)) {
                let said = format!(
                    "the new fixture `{name}` brings the playbook `{playbook}`, whose rows nobody has approved"
                );
                return Err(Failure::said(said)
                    .help(format!(
                        "leave `{playbook}` out of it for now, and add it when this is accepted; nothing was changed"
                    ))
                    .next(Command::new("playproof propose check").name(&stored.id)));
            }
            let id = Id { playbook: playbook.clone(), fixture: name.clone() };
            let result = check_one(&mut simulator, &Case { id: id.clone(), fixture, plan: &used.plan, golden: None });
            if let Some(first) = result.contradictions.first() {
                return Err(Failure::said(format!("`{id}` does not show what it is meant to show: {first}"))
                    .help("nothing was changed")
                    .next(Command::new("playproof propose check").name(&stored.id)));
            }
            let golden = GoldenFile::new(name, playbook, &result.body.render());
            changes.push(Change::Write(desk.workspace.golden(&id).accepted, golden.render().into_bytes()));
        }
    }
    Ok(changes)
}

/// Refuses to write over what nobody has committed. The proposal's own files are taken over as they are.
fn refuse_uncommitted(workspace: &Workspace, stored: &Stored, changes: &[Change]) -> Result<(), Failure> {
    let is_own = |path: &Path| path.starts_with(&stored.folder);
    let written: Vec<PathBuf> =
        changes.iter().map(Change::path).filter(|path| !is_own(path)).map(Path::to_path_buf).collect();
    let dirty = git::uncommitted(workspace.root(), &written);
    let Some(first) = dirty.iter().next() else { return Ok(()) };
    let name = workspace.here(first);
    let more = if dirty.len() > 1 { format!(" (and {} more)", dirty.len() - 1) } else { String::new() };
    Err(Failure::said(format!("`{name}`{more} has changes that are not committed, and this would write over it"))
        .help("commit or stash them; nothing was changed")
        .next(Command::new("git diff HEAD --").path(&name)))
}
