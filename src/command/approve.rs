//! `playproof approve [PLAYBOOK...] --reason TEXT`: the rows of playbooks as they are become the approved ones.

use std::collections::BTreeSet;

use crate::changeset::Change;
use crate::checking;
use crate::checking::{Checked, Selection};
use crate::exit::{Exit, Failure};
use crate::output::{Output, to_stderr};
use crate::reason;
use crate::terminal::Terminal;
use crate::workspace::Workspace;
use playproof_analysis::check::PlaybookRows;
use playproof_formats::diagnostic::did_you_mean;
use playproof_formats::golden::Lock;
use playproof_formats::history::{History, Record, RecordKind, next_number};
use playproof_formats::playbook::rows;
use playproof_formats::shell::Command;
use playproof_report::check;
use playproof_report::style::Palette;
use playproof_report::text::counted;

/// What is approved.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof approve --reason 'the gateway now answers within 300 ms'
  playproof approve standard --reason 'first version'

Approving says that the rows of a playbook are meant as they are; what they change in the goldens is accepted apart.
It is recorded in the history, beside the proposals, with the rows before and after (`playproof history`).")]
pub struct Args {
    /// Playbooks that fixtures use, by name or path [default: all of them]
    #[arg(value_name = "PLAYBOOK")]
    pub playbooks: Vec<String>,

    /// Why the rows changed; kept beside each of them, and in the history
    #[arg(long, value_name = "TEXT", value_parser = reason::parse)]
    pub reason: Option<String>,
}

/// The command that approves these playbooks, or all of them where none is named.
pub fn again<S: AsRef<str>>(playbooks: &[S]) -> Command {
    Command::new("playproof approve").names(playbooks).and("--reason '...'")
}

/// Approves.
///
/// # Errors
/// No reason, a playbook that no fixture uses, files that cannot be used.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    workspace.refuse_empty()?;
    let project_lock = workspace.project_lock()?;
    let checked = checking::check(&workspace, &Selection::default(), checking::jobs(None), false)?;
    let asked: Vec<String> = args.playbooks.iter().map(|asked| workspace.known_name(asked)).collect();
    refuse_unknown(&asked, &checked)?;
    let reason = args.reason.as_deref().ok_or_else(|| {
        Failure::new("rows are not approved without a reason")
            .help("it is kept in the lock, beside each row that changed, and in the history")
            .next(again(&args.playbooks))
    })?;
    let is_meant = |name: &str| asked.is_empty() || asked.iter().any(|asked| asked == name);
    let changed: Vec<_> = checked.report.rows.iter().filter(|rows| is_meant(&rows.playbook)).collect();
    let history = workspace.read_history()?;
    let mut lock = workspace.read_lock()?.unwrap_or_default();
    let records = records(&history, &lock, &checked, is_meant, reason);
    if changed.is_empty() && records.is_empty() {
        output.page("every row is approved already")?;
        return Ok(Exit::Clean);
    }
    let before = lock.clone();
    let mut recalled = 0;
    for rows_of in &changed {
        match checked.used.get(&rows_of.playbook) {
            Some(used) => {
                let rows = rows(&used.loaded.playbook);
                lock.approve(&rows_of.playbook, rows.iter().map(|row| (&*row.name, &*row.text)), reason);
                recalled += recall(&mut lock, &history, rows_of);
            }
            None => drop(lock.playbooks.remove(&rows_of.playbook)),
        }
    }
    for record in &records {
        lock.explain(&record.playbook, record.rows.iter().map(|row| &*row.name), reason);
    }
    if terminal.ci {
        to_stderr("playproof: approving in CI, because this command says so\n");
    }
    let written = (lock != before).then_some(&lock);
    project_lock.commit(&changes(&workspace, &history, &records, written), output)?;
    let palette = Palette::new(terminal.out.colour);
    let mut pages: Vec<String> = changed.iter().map(|rows| check::rows(rows, terminal.out.width, palette)).collect();
    pages.push(said(&workspace, &history, &records, !changed.is_empty()));
    if recalled > 0 {
        let keep = if recalled == 1 { "keeps" } else { "keep" };
        pages.push(format!(
            "{} {keep} the reason that the history gives: the one given here is not kept for {}",
            counted(recalled, "row", "rows"),
            if recalled == 1 { "it" } else { "them" }
        ));
    }
    output.page(&pages.join("\n\n"))?;
    Ok(Exit::Clean)
}

fn refuse_unknown(asked: &[String], checked: &Checked) -> Result<(), Failure> {
    let known = || checked.used.keys().map(String::as_str);
    let Some(asked) = asked.iter().find(|asked| !known().any(|name| name == *asked)) else { return Ok(()) };
    let failure = Failure::new(format!("no fixture uses a playbook called `{asked}`"));
    Err(match did_you_mean(asked, known()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure,
    })
}

/// A record for each playbook whose rows are not what the history comes to. That may be more than what the lock does
/// not have: rows that were approved before there was a history, or whose records are gone.
fn records(
    history: &History,
    lock: &Lock,
    checked: &Checked,
    is_meant: impl Fn(&str) -> bool,
    reason: &str,
) -> Vec<Record> {
    let recorded = history.entries().iter().map(|entry| &entry.record.playbook);
    let names: BTreeSet<&String> = checked.used.keys().chain(lock.playbooks.keys()).chain(recorded).collect();
    let record = |name: &String| {
        let rows = checked.used.get(name).map(|used| rows(&used.loaded.playbook)).unwrap_or_default();
        let rows = history.changes(name, rows.iter().map(|row| (&*row.name, &*row.text)));
        Record { kind: RecordKind::Approval, playbook: name.clone(), reason: reason.to_owned(), rows }
    };
    let records = names.into_iter().filter(|name| is_meant(name)).map(record);
    records.filter(|record| !record.rows.is_empty()).collect()
}

/// Rows that the lock had lost, and that the history explains as they are, keep the reason that it gives. How many.
fn recall(lock: &mut Lock, history: &History, changed: &PlaybookRows) -> u64 {
    let replayed = history.replay(|_, _, _| {});
    let Some(known) = replayed.get(changed.playbook.as_str()) else { return 0 };
    let mut recalled = 0;
    for change in &changed.changes {
        let standing = known.get(change.name.as_str()).filter(|standing| standing.text == change.after.as_deref());
        if let Some(standing) = standing {
            lock.explain(&changed.playbook, [change.name.as_str()], &standing.entry.record.reason);
            recalled += 1;
        }
    }
    recalled
}

/// Records and lock, or neither; no lock where it has every row already.
fn changes(workspace: &Workspace, history: &History, records: &[Record], lock: Option<&Lock>) -> Vec<Change> {
    let records = named(history, records).map(|(name, record)| (workspace.record_path(&name), record.render()));
    let all = records.chain(lock.map(|lock| (workspace.lock_path(), lock.render())));
    all.map(|(path, text)| Change::Write(path, text.into_bytes())).collect()
}

fn named<'a>(history: &History, records: &'a [Record]) -> impl Iterator<Item = (String, &'a Record)> {
    let first = next_number(history.entries().iter().map(|entry| entry.name.as_str()));
    records.iter().zip(first..).map(|(record, number)| (record.file_name(number), record))
}

fn said(workspace: &Workspace, history: &History, records: &[Record], is_any_new: bool) -> String {
    let lock = workspace.here(&workspace.lock_path());
    let mut lines = vec![match is_any_new {
        true => format!("approved in {lock}"),
        false => {
            format!("{lock} has every row already: what no record explained is recorded, with this reason in both")
        }
    }];
    let recorded = named(history, records).map(|(name, record)| {
        let rows = counted(record.rows.len() as u64, "row", "rows");
        format!("recorded in {}: {}, {rows}", workspace.here(&workspace.record_path(&name)), record.playbook)
    });
    lines.extend(recorded);
    lines.join("\n")
}
