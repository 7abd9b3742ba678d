//! Runs a playbook's fixtures, says what they exercise, and finds the fixtures that would exercise the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::goal::{Goal, Group, goals};
use super::observe::exercised;
use super::probes::{Probe, probes};
use super::reach::Reach;
use super::text::{expected, to_yaml};
use playproof_engine::event::StopReason;
use playproof_engine::fixture::Fixture;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{ToolRow, Tools};
use playproof_engine::sim::{Plan, Scenario, Simulator};
use playproof_formats::playbook::Loaded;

/// A fixture by name.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name: the file's, without its ending.
    pub name: String,
    /// The fixture.
    pub fixture: Fixture,
}

/// What the fixtures of one playbook exercise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageReport {
    /// The playbook, by the name that fixtures know it by.
    pub playbook: String,
    /// The fixtures, by name, in the order in which they were given.
    pub fixtures: Vec<String>,
    /// Every goal, group by group.
    pub items: Vec<Item>,
    /// Fixtures that would exercise what is missing; those that exercise most first.
    pub suggestions: Vec<Suggestion>,
}

/// One goal, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The goal.
    pub goal: Goal,
    /// Its id.
    pub id: String,
    /// Whether it is exercised.
    pub state: State,
    /// Where the playbook says it: bytes of its text.
    pub place: Option<Range<usize>>,
}

/// Whether a goal is exercised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// By these fixtures: places in `fixtures`.
    Covered(Vec<usize>),
    /// By no fixture, and none can; why.
    Unreachable(String),
    /// By no fixture; this one would: a place in `suggestions`.
    Reachable(usize),
    /// By no fixture; neither is one known that would, nor that none can.
    Undecided,
}

/// A fixture that would exercise what no fixture does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// A name for its file, without its ending.
    pub name: String,
    /// The text of the file.
    pub text: String,
    /// What it alone adds to the fixtures and the suggestions before it: places in `items`.
    pub adds: Vec<usize>,
}

impl CoverageReport {
    /// Covered goals, and goals that can be covered, of one group or of all.
    pub fn tally(&self, group: Option<Group>) -> (usize, usize) {
        let items = || self.items.iter().filter(|item| group.is_none_or(|group| item.goal.group() == group));
        let covered = items().filter(|item| matches!(item.state, State::Covered(_))).count();
        let unreachable = items().filter(|item| matches!(item.state, State::Unreachable(_))).count();
        (covered, items().count() - unreachable)
    }

    /// Tenths of a percent of what can be covered, rounded down; all of it where there is nothing.
    pub fn permille(&self) -> usize {
        let (covered, coverable) = self.tally(None);
        (covered * 1_000).checked_div(coverable).unwrap_or(1_000)
    }
}

/// Measures what the fixtures exercise of the playbook that they call `name`; `stronger` are tool facts that win over
/// its own.
pub fn measure(name: &str, loaded: &Loaded, stronger: &Tools, cases: &[Case]) -> CoverageReport {
    let plan = Plan::new(loaded.playbook.clone(), stronger);
    let playbook = &plan.playbook;
    let goals = goals(playbook);
    let mut covered: BTreeMap<Goal, Vec<usize>> = BTreeMap::new();
    let mut simulator = Simulator::new();
    for (n, case) in cases.iter().enumerate() {
        for goal in goals_of(&plan, &case.fixture, &mut simulator) {
            covered.entry(goal).or_default().push(n);
        }
    }
    let missing: BTreeSet<Goal> = goals.iter().filter(|goal| !covered.contains_key(goal)).copied().collect();
    let chosen = choose(name, &plan, &missing, &mut simulator);
    let reach = Reach::new(loaded);
    let shown_by = |goal: Goal| chosen.iter().position(|(_, adds)| adds.contains(&goal));
    let items: Vec<Item> = goals
        .iter()
        .map(|&goal| {
            let state = match (covered.remove(&goal), shown_by(goal)) {
                (Some(by), _) => State::Covered(by),
                (None, Some(suggestion)) => State::Reachable(suggestion),
                (None, None) => reach.why_not(goal).map_or(State::Undecided, State::Unreachable),
            };
            Item { goal, id: goal.id(playbook), state, place: place(loaded, goal) }
        })
        .collect();
    let suggestions = chosen.into_iter().map(|(probe, adds)| {
        let text = text_of(name, &plan, probe.fixture, &mut simulator);
        let adds = items.iter().enumerate().filter(|(_, item)| adds.contains(&item.goal)).map(|(n, _)| n).collect();
        Suggestion { name: probe.name, text, adds }
    });
    let suggestions = suggestions.collect();
    let fixtures = cases.iter().map(|case| case.name.clone()).collect();
    CoverageReport { playbook: name.to_owned(), fixtures, items, suggestions }
}

/// Everything that one fixture exercises.
pub(super) fn goals_of(plan: &Plan, fixture: &Fixture, simulator: &mut Simulator) -> BTreeSet<Goal> {
    let scenario = Scenario::of_fixture(fixture, |tool| plan.facts(tool));
    let mut goals = exercised(&plan.playbook, &scenario, simulator.run_fixture(plan, &scenario));
    let facts = plan.facts("");
    let rows = fixture.tools.iter().filter_map(|row| ToolRow::new(row.pattern.clone(), facts).ok());
    let own = Tools::new(rows.collect());
    let declared = fixture.calls.iter().map(|call| call.tool.as_str());
    let declared = declared.filter(|tool| own.place(tool).is_none());
    goals.extend(declared.filter_map(|tool| plan.tool_row(tool)).map(Goal::Tool));
    goals
}

/// The probes that exercise what is missing: first those that exercise more than cells, then the rest.
fn choose(
    name: &str,
    plan: &Plan,
    missing: &BTreeSet<Goal>,
    simulator: &mut Simulator,
) -> Vec<(Probe, BTreeSet<Goal>)> {
    let mut able: Vec<(Probe, BTreeSet<Goal>)> = Vec::new();
    for probe in probes(plan, name) {
        let mut adds = goals_of(plan, &probe.fixture, simulator);
        adds.retain(|goal| missing.contains(goal));
        if !adds.is_empty() {
            able.push((probe, adds));
        }
    }
    let mut chosen = Vec::new();
    choose_for(|goal| goal.group() != Group::Cells, &mut able, &mut chosen);
    choose_for(|_| true, &mut able, &mut chosen);
    chosen
}

/// Takes from `able`, again and again, the probe that adds most of what `counts`; the earlier one where two add as
/// much.
fn choose_for(
    counts: impl Fn(&Goal) -> bool,
    able: &mut Vec<(Probe, BTreeSet<Goal>)>,
    chosen: &mut Vec<(Probe, BTreeSet<Goal>)>,
) {
    loop {
        let adds = |adds: &BTreeSet<Goal>| adds.iter().filter(|goal| counts(goal)).count();
        let most = able.iter().map(|(_, goals)| adds(goals)).max().filter(|most| *most > 0);
        let best = most.and_then(|most| able.iter().position(|(_, goals)| adds(goals) == most));
        let Some(best) = best else { return };
        let (probe, added) = able.remove(best);
        able.iter_mut().for_each(|(_, goals)| goals.retain(|goal| !added.contains(goal)));
        chosen.push((probe, added));
    }
}

/// The fixture's text, saying what it shows now.
fn text_of(name: &str, plan: &Plan, mut fixture: Fixture, simulator: &mut Simulator) -> String {
    let scenario = Scenario::of_fixture(&fixture, |tool| plan.facts(tool));
    let expect = expected(plan, &scenario, simulator.run_fixture(plan, &scenario));
    fixture.expect.insert(name.to_owned(), expect);
    to_yaml(&fixture)
}

/// Where the playbook says what the goal is about.
fn place(loaded: &Loaded, goal: Goal) -> Option<Range<usize>> {
    let places = &loaded.places;
    let compensation = |id: VerdictId| places.compensation(id);
    match goal {
        Goal::Rule(id) => places.rule(id),
        Goal::Otherwise => places.otherwise(),
        Goal::Verdict(id) => places.verdict(id),
        Goal::Compensation(id) => compensation(id),
        Goal::Guard { verdict, stops, .. } if stops => places.fallback(verdict).or_else(|| compensation(verdict)),
        Goal::Guard { verdict, .. } => compensation(verdict),
        Goal::Stop(StopReason::MaxAttempts) => places.max_attempts(),
        Goal::Stop(StopReason::Deadline) => places.deadline(),
        Goal::Outcome(_) | Goal::Stop(_) => None,
        Goal::Queue(id) => places.queue(id),
        Goal::Tool(row) => places.tool(row),
        Goal::Cell(cell) => places.verdict(cell.verdict),
    }
}
