//! The changes of accepted rows: the lock, and a record in the history for each playbook.

use std::collections::BTreeSet;

use crate::changeset::Change;
use crate::checking::{Checked, row_guarantees};
use crate::exit::Failure;
use crate::threads::Threads;
use crate::workspace::Workspace;
use playproof_analysis::check::{CaseResult, GoldenState, PlaybookRows};
use playproof_formats::diagnostic::did_you_mean;
use playproof_formats::golden::Lock;
use playproof_formats::history::{History, Record, RecordKind, next_number};
use playproof_formats::playbook::rows;
use playproof_formats::shell::Command;
use playproof_report::check;
use playproof_report::doc::Block;
use playproof_report::text::counted;
use playproof_report::verify::guarantees;

/// Rows that are not the accepted ones, or that no record explains.
#[derive(Debug)]
pub struct EditedRows<'a> {
    checked: &'a Checked,
    changed: Vec<&'a PlaybookRows>,
    lock: Lock,
    history: History,
    records: Vec<Record>,
}

impl<'a> EditedRows<'a> {
    /// The edited rows of these playbooks, or of all where none is named.
    ///
    /// # Errors
    /// A playbook that no fixture uses; a lock or a history that cannot be used.
    pub fn find(workspace: &Workspace, checked: &'a Checked, playbooks: &[String]) -> Result<EditedRows<'a>, Failure> {
        refuse_unknown(playbooks, checked)?;
        let is_meant = |name: &str| playbooks.is_empty() || playbooks.iter().any(|meant| meant == name);
        let changed: Vec<_> = checked.report.rows.iter().filter(|rows| is_meant(&rows.playbook)).collect();
        let history = workspace.read_history()?;
        let lock = workspace.read_lock()?.unwrap_or_default();
        let records = records(&history, &lock, checked, is_meant);
        Ok(EditedRows { checked, changed, lock, history, records })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.records.is_empty()
    }

    /// The playbooks whose rows they are, sorted.
    pub fn playbooks(&self) -> Vec<String> {
        let changed = self.changed.iter().map(|rows| &rows.playbook);
        let names: BTreeSet<&String> = changed.chain(self.records.iter().map(|record| &record.playbook)).collect();
        names.into_iter().cloned().collect()
    }

    /// Refuses rows under which runs contradict their fixtures. A run that is as its golden says is not the rows' doing.
    ///
    /// # Errors
    /// There is such a run.
    pub fn refuse_contradicted(&self) -> Result<(), Failure> {
        let playbooks = self.playbooks();
        let contradicts = |result: &&CaseResult| {
            let is_new = !matches!(result.golden, GoldenState::Same);
            is_new && !result.contradictions.is_empty() && playbooks.contains(&result.id.playbook)
        };
        let runs: Vec<_> = self.checked.report.results.iter().filter(contradicts).collect();
        let Some(first) = runs.first() else { return Ok(()) };
        let count = counted(runs.len() as u64, "run contradicts its fixture", "runs contradict their fixtures");
        let said = first.contradictions.first().map(|said| format!("`{}`: {said}", first.id)).unwrap_or_default();
        Err(Failure::new(format!("under these rows {count}"))
            .help(said)
            .and_help("mend the rows, or what the fixtures expect; nothing was changed")
            .next(Command::new("playproof check").name(&first.id.to_string())))
    }

    /// The rows before and after, and what they do to the guarantees of their playbooks.
    pub fn page(&self) -> Vec<Block> {
        let jobs = Threads::default().number();
        let asked = row_guarantees(self.checked, self.changed.iter().copied(), jobs);
        let rows = self.changed.iter().map(|rows| check::rows(rows));
        rows.chain(asked.iter().filter_map(guarantees)).collect()
    }

    /// That they are not accepted without a reason.
    pub fn unexplained(again: Command) -> Failure {
        Failure::new("rows are not accepted without a reason")
            .help("it is kept in the lock, beside each row that changed, and in the history")
            .next(again.and("--reason '...'"))
    }

    /// The files that accepting them changes, and what to say of it.
    pub fn accept(mut self, workspace: &Workspace, reason: &str) -> (Vec<Change>, String) {
        for record in &mut self.records {
            reason.clone_into(&mut record.reason);
        }
        let before = self.lock.clone();
        let mut recalled = 0;
        for rows_of in &self.changed {
            match self.checked.used.get(&rows_of.playbook) {
                Some(used) => {
                    let rows = rows(&used.loaded.playbook);
                    self.lock.approve(&rows_of.playbook, rows.iter().map(|row| (&*row.name, &*row.text)), reason);
                    recalled += recall(&mut self.lock, &self.history, rows_of);
                }
                None => drop(self.lock.playbooks.remove(&rows_of.playbook)),
            }
        }
        for record in &self.records {
            self.lock.explain(&record.playbook, record.rows.iter().map(|row| &*row.name), reason);
        }
        let written = (self.lock != before).then_some(&self.lock);
        let changes = changes(workspace, &self.history, &self.records, written);
        let mut said = said(workspace, &self.history, &self.records, !self.changed.is_empty());
        if recalled > 0 {
            let keep = if recalled == 1 { "keeps" } else { "keep" };
            let them = if recalled == 1 { "it" } else { "them" };
            let rows = counted(recalled, "row", "rows");
            said += &format!(
                "\n\n{rows} {keep} the reason that the history gives: the one given here is not kept for {them}"
            );
        }
        (changes, said)
    }
}

fn refuse_unknown(asked: &[String], checked: &Checked) -> Result<(), Failure> {
    // One that no fixture uses any more has rows in the lock that are to go.
    let known = || checked.used.keys().chain(checked.report.rows.iter().map(|rows| &rows.playbook)).map(String::as_str);
    let Some(asked) = asked.iter().find(|asked| !known().any(|name| name == *asked)) else { return Ok(()) };
    let failure = Failure::new(format!("no fixture uses a playbook called `{asked}`"));
    Err(match did_you_mean(asked, known()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure,
    })
}

/// A record, still without its reason, for each playbook whose rows are not those of the history. That may be more than
/// what the lock lacks: rows that were accepted before there was a history, or whose records are gone.
fn records(history: &History, lock: &Lock, checked: &Checked, is_meant: impl Fn(&str) -> bool) -> Vec<Record> {
    let recorded = history.entries().iter().map(|entry| &entry.record.playbook);
    let names: BTreeSet<&String> = checked.used.keys().chain(lock.playbooks.keys()).chain(recorded).collect();
    let record = |name: &String| {
        let rows = checked.used.get(name).map(|used| rows(&used.loaded.playbook)).unwrap_or_default();
        let rows = history.changes(name, rows.iter().map(|row| (&*row.name, &*row.text)));
        Record { kind: RecordKind::Approval, playbook: name.clone(), reason: String::new(), rows }
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

/// Lock and records, or neither; no lock where it has every row already. A proposal is written in this way, too.
pub(super) fn changes(
    workspace: &Workspace,
    history: &History,
    records: &[Record],
    lock: Option<&Lock>,
) -> Vec<Change> {
    let lock = lock.map(|lock| Change::Write(workspace.lock_path(), lock.render().into_bytes()));
    let record =
        |(name, record): (String, &Record)| Change::Create(workspace.record_path(&name), record.render().into_bytes());
    lock.into_iter().chain(named(history, records).map(record)).collect()
}

fn named<'a>(history: &History, records: &'a [Record]) -> impl Iterator<Item = (String, &'a Record)> {
    let first = next_number(history.entries().iter().map(|entry| entry.name.as_str()));
    records.iter().zip(first..).map(|(record, number)| (record.file_name(number), record))
}

fn said(workspace: &Workspace, history: &History, records: &[Record], is_any_new: bool) -> String {
    let lock = workspace.here(&workspace.lock_path());
    let mut lines = vec![match is_any_new {
        true => format!("accepted in {lock}"),
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
