//! Selects and runs cases, for `check`, `accept` and `review`. Writes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use regex::Regex;

use super::exit::Failure;
use super::kept;
use super::project::Project;
use super::threads::Threads;
use super::workspace::{Used, Workspace};
use playproof_analysis::check::{
    Case, CaseId, Cause, CheckReport, PlaybookRows, cause, cause_in_facts, check_one, map, row_changes,
};
use playproof_engine::fixture::Fixture;
use playproof_engine::sim::Simulator;
use playproof_explore::{Guarantees, guarantees};
use playproof_formats::diagnostic::{Report, Source, did_you_mean};

/// A selection of cases; an empty field selects all.
#[derive(Debug, Default)]
pub struct Selection {
    /// Fixtures by name or path, cases by id, goldens by path.
    pub named: Vec<String>,
    /// Cases whose id matches.
    pub run: Option<Regex>,
    /// Cases that use one of these files.
    pub changed: Option<BTreeSet<PathBuf>>,
}

impl Selection {
    /// Whether every case is selected.
    pub fn is_everything(&self) -> bool {
        self.named.is_empty() && self.run.is_none() && self.changed.is_none()
    }

    /// The cases that people named.
    pub fn named(named: &[String]) -> Selection {
        Selection { named: named.to_vec(), ..Selection::default() }
    }
}

/// The cases that ran, and the result.
#[derive(Debug)]
pub struct Checked {
    /// The playbooks of the cases, by name.
    pub used: BTreeMap<String, Used>,
    /// The result.
    pub report: CheckReport,
    /// The causes of each divergence, by id.
    pub causes: BTreeMap<CaseId, Cause>,
    /// The files of the recorded runs, by their names beside those of fixtures.
    pub recordings: BTreeMap<String, String>,
}

/// Runs the selected cases.
///
/// # Errors
/// Unusable files, unknown names. An empty selection is no error.
pub fn check(
    workspace: &Workspace,
    selection: &Selection,
    jobs: NonZeroUsize,
    fail_fast: bool,
) -> Result<Checked, Failure> {
    let recorded = workspace.recorded_runs(Threads { jobs: Some(jobs) })?;
    let files: BTreeMap<String, String> = recorded.iter().map(|run| (run.name.clone(), run.file.clone())).collect();
    let names = fixture_names(workspace, selection, files.keys())?;
    let (of_recordings, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| files.contains_key(name));
    let mut fixtures = workspace.load_fixtures(&names, jobs)?;
    let written = fixtures.len();
    let meant = recorded.into_iter().filter(|run| of_recordings.contains(&run.name));
    fixtures.extend(meant.map(|run| (run.name, run.fixture)));
    let all = ids(workspace, &fixtures);
    let mut used = workspace.load_playbooks(&fixtures)?;
    let written = fixtures.iter().take(written).map(|(name, fixture)| (name.as_str(), fixture));
    workspace.check_names(written, &used)?;
    let lock = workspace.read_lock()?;
    for asked in &selection.named {
        if !all.iter().any(|(id, _)| workspace.names_run(asked, id)) {
            let ids: Vec<String> = all.iter().map(|(id, _)| id.to_string()).collect();
            return Err(unknown(asked, &ids, workspace));
        }
    }
    let meant: Vec<&(CaseId, &Fixture)> =
        all.iter().filter(|(id, _)| is_meant(workspace, selection, (&used, &files), id)).collect();
    let mut cases = Vec::with_capacity(meant.len());
    for (id, fixture) in meant {
        let Some(plan) = used.get(&id.playbook).map(|used| &used.plan) else { continue };
        cases.push(Case { id: id.clone(), fixture, plan, golden: golden(workspace, id)? });
    }
    let last = |result: &playproof_analysis::check::CaseResult| fail_fast && !result.passes();
    let results = map(&cases, jobs, Simulator::new, check_one, last);
    let ended_early = results.len() < cases.len();
    let ran: BTreeSet<String> = cases.iter().map(|case| case.id.playbook.clone()).collect();
    drop(cases);
    used.retain(|name, _| ran.contains(name));
    let playbooks = used.iter().map(|(name, used)| (name.clone(), &used.loaded.playbook)).collect();
    let everything = selection.is_everything();
    let rows = row_changes(lock.as_ref(), &playbooks, everything);
    let orphans = if everything { orphans(workspace, &all, &used)? } else { Vec::new() };
    let kept = if everything { kept::judge_all(workspace, &Project::find()?.redaction)? } else { Vec::new() };
    let report = CheckReport { results, orphans, rows, ended_early, kept };
    let causes = causes(workspace, &fixtures, &report, &used)?;
    Ok(Checked { causes, used, report, recordings: files })
}

/// What edited rows do to the guarantees of these playbooks; how the approved rows fared is not known.
pub fn row_guarantees<'a>(
    checked: &'a Checked,
    changed: impl IntoIterator<Item = &'a PlaybookRows>,
    jobs: NonZeroUsize,
) -> Vec<Guarantees> {
    let of = |rows: &'a PlaybookRows| {
        let used = checked.used.get(&rows.playbook).filter(|_| rows.is_locked)?;
        let names = rows.changes.iter().map(|change| change.name.as_str());
        Some(guarantees(&rows.playbook, names, (None, &used.plan), jobs))
    };
    changed.into_iter().filter_map(of).collect()
}

/// The golden of a case. A file that is no text or no golden is a result of this case, not an error.
fn golden(workspace: &Workspace, id: &CaseId) -> Result<Option<Result<Arc<Source>, Report>>, Failure> {
    match workspace.read_golden(id) {
        Ok(golden) => Ok(golden.map(Ok)),
        Err(Failure::Reports { mut reports, .. }) if is_not_text(&reports) => Ok(reports.pop().map(Err)),
        Err(failure) => Err(failure),
    }
}

fn is_not_text(reports: &[Report]) -> bool {
    matches!(reports, [report] if report.diagnostics.iter().any(|said| said.id == "not_utf8"))
}

/// The names of the fixtures and recorded runs that may be selected.
fn fixture_names<'r>(
    workspace: &Workspace,
    selection: &Selection,
    recorded: impl Iterator<Item = &'r String>,
) -> Result<Vec<String>, Failure> {
    let mut all = workspace.fixture_names()?;
    all.extend(recorded.cloned());
    if selection.named.is_empty() {
        return Ok(all);
    }
    let mut meant = BTreeSet::new();
    for asked in &selection.named {
        let before = meant.len();
        meant.extend(all.iter().filter(|name| may_mean(workspace, asked, name)).cloned());
        if meant.len() == before && !meant.iter().any(|name| may_mean(workspace, asked, name)) {
            return Err(unknown(asked, &all, workspace));
        }
    }
    Ok(meant.into_iter().collect())
}

/// The playbooks of a fixture are not known yet, so `PLAYBOOK/` may precede its name.
fn may_mean(workspace: &Workspace, asked: &str, fixture: &str) -> bool {
    let is_run = |asked: &str| asked.strip_suffix(fixture).is_some_and(|before| before.ends_with('/'));
    workspace.names_fixture(asked, fixture) || is_run(bare(asked))
}

/// The name without file endings.
pub fn bare(asked: &str) -> &str {
    let endings = [".snap.new", ".snap", ".yaml"];
    endings.iter().find_map(|ending| asked.strip_suffix(ending)).unwrap_or(asked)
}

fn unknown(asked: &str, all: &[String], workspace: &Workspace) -> Failure {
    let failure = Failure::new(format!("no fixture in `{}` is called `{asked}`", workspace.fixtures_name()));
    let name = bare(asked).trim_start_matches("./");
    let name = name.strip_prefix(&format!("{}/", workspace.fixtures_name())).unwrap_or(name);
    match did_you_mean(name, all.iter().map(String::as_str)) {
        None => failure.next("playproof check"),
        Some(near) => failure.typo(asked, near),
    }
}

/// Every case of the fixtures, by playbook, then fixture.
fn ids<'a>(workspace: &Workspace, fixtures: &'a [(String, Fixture)]) -> Vec<(CaseId, &'a Fixture)> {
    let mut ids = Vec::new();
    for (name, fixture) in fixtures {
        for playbook in workspace.playbooks_of(fixture) {
            ids.push((CaseId { playbook: playbook.to_owned(), fixture: name.clone() }, fixture));
        }
    }
    ids.sort_by(|(a, _), (b, _)| a.cmp(b));
    ids
}

fn is_meant(
    workspace: &Workspace,
    selection: &Selection,
    (used, recordings): (&BTreeMap<String, Used>, &BTreeMap<String, String>),
    id: &CaseId,
) -> bool {
    let by_change = |changed: &BTreeSet<PathBuf>| {
        let playbook = used.get(&id.playbook).and_then(|used| used.path.as_deref());
        let golden = workspace.golden(id).accepted;
        let recording = recordings.get(&id.fixture).map(PathBuf::from);
        let fixture = recording.unwrap_or_else(|| PathBuf::from(workspace.fixture_name(&id.fixture)));
        let parts = [
            Some(fixture),
            Some(PathBuf::from(workspace.name(&golden))),
            playbook.map(|path| PathBuf::from(workspace.name(path))),
        ];
        parts.into_iter().flatten().any(|part| changed.contains(&part))
    };
    (selection.named.is_empty() || selection.named.iter().any(|asked| workspace.names_run(asked, id)))
        && selection.run.as_ref().is_none_or(|run| run.is_match(&id.to_string()))
        && selection.changed.as_ref().is_none_or(by_change)
}

/// The goldens without a fixture, by file.
fn orphans(
    workspace: &Workspace,
    wanted: &[(CaseId, &Fixture)],
    used: &BTreeMap<String, Used>,
) -> Result<Vec<String>, Failure> {
    let playbooks: Vec<&str> = used.keys().map(String::as_str).collect();
    let wanted: BTreeSet<&CaseId> = wanted.iter().map(|(id, _)| id).collect();
    let there = workspace.goldens_that_end_in(".snap", &playbooks)?;
    let orphans = there.iter().filter(|id| !wanted.contains(id));
    Ok(orphans.map(|id| workspace.name(&workspace.golden(id).accepted)).collect())
}

/// The causes of each divergence: changed rows; else tool facts without which the run is as accepted; else the rows in
/// force.
fn causes(
    workspace: &Workspace,
    fixtures: &[(String, Fixture)],
    report: &CheckReport,
    used: &BTreeMap<String, Used>,
) -> Result<BTreeMap<CaseId, Cause>, Failure> {
    let mut causes = BTreeMap::new();
    let diverged = report.results.iter().filter_map(|result| Some((&result.id, result.comparison()?)));
    let mut diverged = diverged.peekable();
    let facts = if diverged.peek().is_some() { workspace.tools_file()? } else { None };
    let mut simulator = Simulator::new();
    for (id, comparison) in diverged {
        let Some(used) = used.get(&id.playbook) else { continue };
        let rows = report.rows.iter().find(|rows| rows.playbook == id.playbook);
        let fixture = fixtures.iter().find(|(name, _)| *name == id.fixture);
        let by_facts = match (&facts, fixture) {
            (Some(file), Some((_, fixture))) if rows.is_none() => {
                let case = Case { id: id.clone(), fixture, plan: &used.plan, golden: golden(workspace, id)? };
                cause_in_facts(&mut simulator, &case, comparison, file)
            }
            _ => None,
        };
        if let Some(cause) = by_facts.or_else(|| cause(&used.loaded, rows, comparison)) {
            causes.insert(id.clone(), cause);
        }
    }
    Ok(causes)
}
