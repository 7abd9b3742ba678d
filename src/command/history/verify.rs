//! `playproof history verify`: verifies that records explain the lock, and that goldens have the reasons of dangerous
//! changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::exit::{Exit, Failure};
use crate::format::formats;
use crate::git::Git;
use crate::output::Output;
use crate::terminal::Terminal;
use crate::workspace::Workspace;
use playproof_analysis::check::CaseId;
use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::golden::{GoldenFile, Lock};
use playproof_formats::history::{
    History, HistoryEntry, RecordKind, Violation, reason_for, reasons, rewritten, unkept, verify,
};
use playproof_formats::shell::Command;
use playproof_report::history::objections_json;
use playproof_report::text::{counted, wrapped};
use playproof_report::{diagnostic, text};

/// Objections that are drawn, those with one cause as one.
const DRAWN: usize = 20;

formats!(Format: Table = "For people", Json = "One JSON document");

/// How it is verified.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof history verify
  playproof history verify --since main    also whether dangerous changes of goldens since then say why

The records are replayed from the first to the last. Each must begin with the rows that the one before it left, and the
last must end with the rows of the lock. The reason of a row in the lock must be that of the record that changed it
last. The decision record of an accepted proposal must exist, and goldens that it changed dangerously must keep its
reason. Fixtures and goldens that a record names may have been removed since.

Files alone cannot show whether a reason was rewritten everywhere, or whether a reason that only a golden keeps was
removed or changed. `--since REV` compares with git, from the commit at which this branch left REV: every reason of that
commit must still be there, a record of that commit must be the same text, and a golden that changed dangerously since
needs a reason.

Exit codes: 0 everything is explained, 1 something is not, 2 nothing to verify, or files that cannot be used.")]
pub struct Args {
    /// Compare reasons and goldens with those of this git revision
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
}

/// What was looked at.
struct Looked {
    records: usize,
    playbooks: usize,
    rows: usize,
    goldens: usize,
    reasons: usize,
    /// Of those, since a revision.
    changed: Option<usize>,
}

/// Verifies.
///
/// # Errors
/// Nothing to verify; records, a lock or goldens that cannot be used.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let history = workspace.read_history()?;
    let lock = workspace.read_lock_with_source()?;
    if lock.is_none() && history.entries().is_empty() {
        workspace.refuse_empty()?;
        return Err(Failure::new("nothing to verify: there is neither a history nor a lock")
            .help("approving the rows of the playbooks that fixtures use makes both")
            .next("playproof accept --reason '...'"));
    }
    let nothing = || (Lock::default(), Source::whole(workspace.name(&workspace.lock_path()), ""));
    let (lock, source) = lock.unwrap_or_else(nothing);
    if lock.playbooks.values().all(|section| section.rows.is_empty()) && history.entries().is_empty() {
        return Err(Failure::new("nothing to verify: the lock has no rows, and there is no history")
            .next("playproof accept --reason '...'"));
    }
    let mut objections = verify(&history, &lock, &source);
    objections.extend(history.entries().iter().filter_map(|entry| without_adr(&workspace, entry)));
    let mut looked = Looked {
        records: history.entries().len(),
        playbooks: lock.playbooks.len(),
        rows: lock.playbooks.values().map(|section| section.rows.len()).sum(),
        goldens: 0,
        reasons: 0,
        changed: None,
    };
    let goldens = goldens(&workspace, &lock, &history)?;
    for (golden, source) in &goldens {
        looked.goldens += 1;
        looked.reasons += golden.reasons.len();
        objections.extend(reasons(golden, source));
    }
    objections.extend(history.entries().iter().flat_map(|entry| unkept(entry, &goldens)));
    if let Some(rev) = &args.since {
        let since = Since::read(&workspace, rev)?;
        looked.changed = Some(since.goldens(&goldens, &mut objections)?);
        since.records(&history, &mut objections)?;
    }
    let next = next(&objections);
    match args.format {
        Format::Json => {
            output.json(objections_json(looked.records, looked.rows, &objections, next.as_ref()))?;
        }
        Format::Table => output.page(&page(&looked, &objections, args.since.as_deref(), next.as_ref(), terminal))?,
    }
    Ok(if objections.is_empty() { Exit::Clean } else { Exit::Found })
}

/// The objection that the ADR of an accepted proposal is missing.
fn without_adr(workspace: &Workspace, entry: &HistoryEntry) -> Option<Violation> {
    let RecordKind::Proposal(taken) = &entry.record.kind else { return None };
    if workspace.read(&workspace.root().join(&taken.adr)).is_ok() {
        return None;
    }
    let said = Diagnostic::error("no_adr", "the ADR of this proposal is not there")
        .at(entry.places.adr.clone().unwrap_or_default(), "no such file")
        .help("restore it from git; if it was renamed, say so here");
    let report = Report::one(Arc::clone(&entry.source), said);
    Some(Violation { playbook: Some(entry.record.playbook.clone()), report })
}

/// Every golden with its source.
fn goldens(workspace: &Workspace, lock: &Lock, history: &History) -> Result<Vec<(GoldenFile, Arc<Source>)>, Failure> {
    let recorded = history.entries().iter().map(|entry| entry.record.playbook.as_str());
    let playbooks: Vec<&str> = lock.playbooks.keys().map(String::as_str).chain(recorded).collect();
    let read = |id: &CaseId| -> Result<(GoldenFile, Arc<Source>), Failure> {
        let source = workspace.read(&workspace.golden(id).accepted)?;
        Ok((GoldenFile::parse(&source)?, source))
    };
    workspace.goldens_that_end_in(".snap", &playbooks)?.iter().map(read).collect()
}

/// What was there before this branch, as git knows it.
struct Since<'a> {
    workspace: &'a Workspace,
    git: Git,
    base: String,
    changed: BTreeSet<PathBuf>,
}

impl Since<'_> {
    fn read<'a>(workspace: &'a Workspace, rev: &str) -> Result<Since<'a>, Failure> {
        let git = Git::at(workspace.root(), rev)?;
        let base = git.merge_base(rev)?;
        let changed = git.changed_since(&base)?;
        Ok(Since { workspace, git, base, changed })
    }

    fn text(&self, path: &Path) -> Result<Option<String>, Failure> {
        self.git.text_at(&self.base, path)
    }

    /// How many goldens changed; those that did so dangerously without a reason are objected to.
    fn goldens(
        &self,
        goldens: &[(GoldenFile, Arc<Source>)],
        objections: &mut Vec<Violation>,
    ) -> Result<usize, Failure> {
        let mut count = 0;
        for (golden, source) in goldens.iter().filter(|(_, source)| self.changed.contains(Path::new(&source.name))) {
            let Some(before) = self.text(Path::new(&source.name))? else { continue };
            count += 1;
            // What could not be read before promised nothing.
            if let Ok(before) = GoldenFile::parse(&Source::whole(source.name.clone(), before)) {
                objections.extend(reason_for(&before, golden, source));
            }
        }
        Ok(count)
    }

    /// Records that were there and are gone, or are not the same text, are objected to: wherever `proposals` lay then.
    fn records(&self, history: &History, objections: &mut Vec<Violation>) -> Result<(), Failure> {
        let folder = self.workspace.record_path("");
        let is_record = |path: &&PathBuf| path.parent().and_then(Path::file_name) == folder.file_name();
        for path in self.changed.iter().filter(is_record) {
            let Some(before) = self.text(path)? else { continue };
            objections.extend(rewritten(history, &path.to_string_lossy(), &before));
        }
        Ok(())
    }
}

fn next(objections: &[Violation]) -> Option<Command> {
    let first = objections.first()?;
    let file = &first.report.source.name;
    Some(match first.id() {
        "no_record" | "not_in_the_lock" => "playproof accept --reason '...'".into(),
        "broken_chain" | "no_adr" => Command::new("git log --oneline --").path(file),
        _ => Command::new("git log -p --").path(file),
    })
}

/// Whether two objections say the same of rows of one playbook: a record that was edited makes one of each of its rows.
fn have_one_cause(one: &Violation, other: &Violation) -> bool {
    let labels = |objection: &Violation| -> Vec<String> {
        let labels = objection.report.diagnostics.iter().flat_map(|said| &said.labels);
        labels.map(|label| label.text.clone()).collect()
    };
    (one.id(), &one.playbook, &one.report.source.name) == (other.id(), &other.playbook, &other.report.source.name)
        && labels(one) == labels(other)
}

fn page(
    looked: &Looked,
    objections: &[Violation],
    since: Option<&str>,
    next: Option<&Command>,
    terminal: &Terminal,
) -> String {
    let palette = terminal.out.palette();
    let width = terminal.out.width;
    // One record's rows are judged one after the other, so that objections with one cause are neighbours.
    let alike: Vec<&[Violation]> = objections.chunk_by(have_one_cause).collect();
    let draw = |violations: &&[Violation]| {
        let first = diagnostic::render(&violations.first()?.report, width, terminal.out.colour);
        let others = violations.len().saturating_sub(1) as u64;
        let more = if others > 0 { format!("\n  and {} more of the same", text::count(others)) } else { String::new() };
        Some(format!("{}{more}", first.trim_end()))
    };
    let mut parts: Vec<String> = alike.iter().take(DRAWN).filter_map(draw).collect();
    let more: usize = alike.iter().skip(DRAWN).map(|alike| alike.len()).sum();
    if more > 0 {
        parts.push(format!("and {} more", text::count(more as u64)));
    }
    let count = |n: usize, one, many| counted(n as u64, one, many);
    let rows = format!(
        "{} of {} in the lock, {} in the history",
        count(looked.rows, "row", "rows"),
        count(looked.playbooks, "playbook", "playbooks"),
        count(looked.records, "record", "records"),
    );
    let said = match objections.len() {
        0 => palette.good("everything is explained"),
        many => palette.bad(&count(many, "objection", "objections")),
    };
    let changed = match (looked.changed, since) {
        (Some(changed), Some(rev)) => {
            format!("{} since {}", count(changed, "changed", "changed"), text::escape_unprintable(rev))
        }
        _ => "to check that no reason was removed or changed, use `--since REV`".to_owned(),
    };
    let kept = count(looked.reasons, "reason", "reasons");
    let goldens = format!("{} with {kept}; {changed}", count(looked.goldens, "golden", "goldens"));
    let mut end = vec![format!("{said}: {rows}")];
    end.extend(wrapped(&goldens, width));
    end.extend(next.map(|next| format!("{} {next}", palette.strong("next:"))));
    parts.push(end.join("\n"));
    parts.join("\n\n")
}
