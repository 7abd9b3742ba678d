//! Runs a playbook's fixtures, lists what they exercise, and suggests fixtures that would exercise the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::observe::exercised;
use super::probes::{Probe, probes};
use super::reach::Reach;
use super::target::{Target, TargetKind, targets};
use crate::{expected, to_yaml};
use playproof_engine::event::StopReason;
use playproof_engine::fixture::Fixture;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{LimitKind, ToolRow, Tools};
use playproof_engine::sim::{Plan, Scenario, Simulator};
use playproof_formats::playbook::Loaded;

/// A fixture by name.
#[derive(Clone, Debug)]
pub struct NamedFixture {
    /// Its name: the file's, without its ending.
    pub name: String,
    /// The fixture.
    pub fixture: Fixture,
}

/// What the fixtures of one playbook exercise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageReport {
    /// The playbook's name in fixtures.
    pub playbook: String,
    /// The names of the fixtures, in the given order.
    pub fixtures: Vec<String>,
    /// Every target, group by group.
    pub targets: Vec<TargetResult>,
    /// Fixtures that would exercise what is missing; first those that add most.
    pub suggestions: Vec<Suggestion>,
}

/// One target and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetResult {
    /// The target.
    pub target: Target,
    /// Its id.
    pub id: String,
    /// Whether it is exercised.
    pub state: TargetState,
    /// Its place in the playbook: bytes of the text.
    pub place: Option<Range<usize>>,
}

/// Whether a target is exercised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetState {
    /// These fixtures exercise it: indexes into `fixtures`.
    Covered(Vec<usize>),
    /// No fixture can exercise it; why.
    Unreachable(String),
    /// No fixture exercises it; this one would: an index into `suggestions`.
    Reachable(usize),
    /// No fixture exercises it, and whether one can is unknown.
    Undecided,
}

/// A fixture that would exercise missing targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// A name for its file, without its ending.
    pub name: String,
    /// The text of the file.
    pub text: String,
    /// What it adds to the fixtures and the earlier suggestions: indexes into `targets`.
    pub adds: Vec<usize>,
}

impl CoverageReport {
    /// The numbers of covered and of coverable targets, of one kind or of all.
    pub fn tally(&self, group: Option<TargetKind>) -> (usize, usize) {
        let targets = || self.targets.iter().filter(|target| group.is_none_or(|group| target.target.kind() == group));
        let covered = targets().filter(|target| matches!(target.state, TargetState::Covered(_))).count();
        let unreachable = targets().filter(|target| matches!(target.state, TargetState::Unreachable(_))).count();
        (covered, targets().count() - unreachable)
    }

    /// The covered share of the coverable targets in tenths of a percent, rounded down; 1,000 if there are none.
    pub fn permille(&self) -> usize {
        let (covered, coverable) = self.tally(None);
        (covered * 1_000).checked_div(coverable).unwrap_or(1_000)
    }
}

/// Measures what the fixtures exercise of the playbook that they call `name`. The tool facts `stronger` override the
/// playbook's own.
pub fn measure(name: &str, loaded: &Loaded, stronger: &Tools, cases: &[NamedFixture]) -> CoverageReport {
    let plan = Plan::new(loaded.playbook.clone(), stronger);
    let playbook = &plan.playbook;
    let targets = targets(playbook);
    let mut covered: BTreeMap<Target, Vec<usize>> = BTreeMap::new();
    let mut simulator = Simulator::new();
    for (n, case) in cases.iter().enumerate() {
        for target in targets_of(&plan, &case.fixture, &mut simulator) {
            covered.entry(target).or_default().push(n);
        }
    }
    let missing: BTreeSet<Target> = targets.iter().filter(|target| !covered.contains_key(target)).copied().collect();
    let chosen = choose(name, &plan, &missing, &mut simulator);
    let reach = Reach::new(loaded);
    let shown_by = |target: Target| chosen.iter().position(|(_, adds)| adds.contains(&target));
    let targets: Vec<TargetResult> = targets
        .iter()
        .map(|&target| {
            let state = match (covered.remove(&target), shown_by(target)) {
                (Some(by), _) => TargetState::Covered(by),
                (None, Some(suggestion)) => TargetState::Reachable(suggestion),
                (None, None) => reach.why_not(target).map_or(TargetState::Undecided, TargetState::Unreachable),
            };
            TargetResult { target, id: target.id(playbook), state, place: place(loaded, target) }
        })
        .collect();
    let suggestions = chosen.into_iter().map(|(probe, adds)| {
        let text = text_of(name, &plan, probe.fixture, &mut simulator);
        let adds =
            targets.iter().enumerate().filter(|(_, target)| adds.contains(&target.target)).map(|(n, _)| n).collect();
        Suggestion { name: probe.name, text, adds }
    });
    let suggestions = suggestions.collect();
    let fixtures = cases.iter().map(|case| case.name.clone()).collect();
    CoverageReport { playbook: name.to_owned(), fixtures, targets, suggestions }
}

/// Everything that one fixture exercises.
pub(super) fn targets_of(plan: &Plan, fixture: &Fixture, simulator: &mut Simulator) -> BTreeSet<Target> {
    let scenario = Scenario::of_fixture(fixture, plan);
    let mut targets = exercised(&plan.playbook, &scenario, simulator.run_fixture(plan, &scenario));
    let facts = plan.facts("");
    let rows = fixture.tools.iter().filter_map(|row| ToolRow::new(row.pattern.clone(), facts).ok());
    let own = Tools::new(rows.collect());
    let declared = scenario.calls.iter().map(|call| call.tool_name);
    let declared = declared.filter(|tool| own.place(tool).is_none());
    targets.extend(declared.filter_map(|tool| plan.tool_row(tool)).map(Target::Tool));
    targets
}

/// The probes that exercise what is missing: first those that add more than cells, then the rest.
fn choose(
    name: &str,
    plan: &Plan,
    missing: &BTreeSet<Target>,
    simulator: &mut Simulator,
) -> Vec<(Probe, BTreeSet<Target>)> {
    let mut able: Vec<(Probe, BTreeSet<Target>)> = Vec::new();
    for probe in probes(plan, name) {
        let mut adds = targets_of(plan, &probe.fixture, simulator);
        adds.retain(|target| missing.contains(target));
        if !adds.is_empty() {
            able.push((probe, adds));
        }
    }
    let mut chosen = Vec::new();
    choose_for(|target| target.kind() != TargetKind::Cells, &mut able, &mut chosen);
    choose_for(|_| true, &mut able, &mut chosen);
    chosen
}

/// Repeatedly takes from `able` the probe that adds most of what `counts`; of equals the earlier one.
fn choose_for(
    counts: impl Fn(&Target) -> bool,
    able: &mut Vec<(Probe, BTreeSet<Target>)>,
    chosen: &mut Vec<(Probe, BTreeSet<Target>)>,
) {
    loop {
        let adds = |adds: &BTreeSet<Target>| adds.iter().filter(|target| counts(target)).count();
        let most = able.iter().map(|(_, targets)| adds(targets)).max().filter(|most| *most > 0);
        let best = most.and_then(|most| able.iter().position(|(_, targets)| adds(targets) == most));
        let Some(best) = best else { return };
        let (probe, added) = able.remove(best);
        able.iter_mut().for_each(|(_, targets)| targets.retain(|target| !added.contains(target)));
        chosen.push((probe, added));
    }
}

/// The fixture's text, with what it shows now as its `expect`.
fn text_of(name: &str, plan: &Plan, mut fixture: Fixture, simulator: &mut Simulator) -> String {
    let scenario = Scenario::of_fixture(&fixture, plan);
    let expect = expected(plan, &scenario, simulator.run_fixture(plan, &scenario));
    fixture.expect.insert(name.to_owned(), expect.into());
    to_yaml(&fixture)
}

/// The place of the target in the playbook.
fn place(loaded: &Loaded, target: Target) -> Option<Range<usize>> {
    let places = &loaded.places;
    let compensation = |id: VerdictId| places.compensation(id);
    match target {
        Target::Rule(id) => places.rule(id),
        Target::Otherwise => places.otherwise(),
        Target::Verdict(id) => places.verdict(id),
        Target::Compensation(id) => compensation(id),
        Target::Guard { verdict, stops, .. } if stops => places.fallback(verdict).or_else(|| compensation(verdict)),
        Target::Guard { verdict, .. } => compensation(verdict),
        Target::Stop(StopReason::MaxAttempts) => places.limit(LimitKind::MaxAttempts),
        Target::Stop(StopReason::Deadline) => places.limit(LimitKind::Deadline),
        Target::Stop(StopReason::CallTimeout) => places.limit(LimitKind::CallTimeout),
        Target::Circuit(id, _) => places.breaker(id),
        Target::Outcome(_) | Target::Refusal(_) | Target::Stop(_) => None,
        Target::Queue(id) => places.queue(id),
        Target::Tool(row) => places.tool(row),
        Target::Told(id) => places.tell(id).or_else(|| places.verdict(id)),
        Target::Edge { from: Some(from), .. } => places.next_of(from),
        Target::Edge { from: None, .. } => places.graph_entry(),
        Target::Step(action, _) => places.action(action),
        Target::Cell(cell) => places.verdict(cell.verdict),
    }
}
