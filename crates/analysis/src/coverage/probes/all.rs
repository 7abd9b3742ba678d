//! Every probe of a playbook: named, cut to what a run asks for, each scenario once.

use std::collections::{BTreeMap, BTreeSet};

use super::{cells, limits, reversals, rules, tools};
use crate::coverage::goal::Goal;
use crate::coverage::observe::exercised;
use crate::coverage::prefix::Kit;
use crate::coverage::story::Story;
use playproof_engine::event::Decision;
use playproof_engine::fixture::Fixture;
use playproof_engine::ids::CallId;
use playproof_engine::sim::{Plan, Scenario, SimulationRecord, Simulator};

/// A fixture that was made up; it does not say yet what it is meant to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// A name for its file.
    pub name: String,
    /// The fixture.
    pub fixture: Fixture,
    /// What it exercises, but for rows of tool facts.
    pub exercises: BTreeSet<Goal>,
}

/// What probes are collected in.
pub(super) struct Probing<'a> {
    pub kit: Kit<'a>,
    found: Vec<(String, Story)>,
}

impl Probing<'_> {
    /// Takes a story under a name.
    pub fn add(&mut self, name: String, story: Story) {
        self.found.push((name, story));
    }
}

/// Fixtures that try each rule, each verdict in each cell, each guard, each limit and each row of tool facts; the
/// plainest first. `playbook` is the name that fixtures call the playbook by.
pub fn probes(plan: &Plan, playbook: &str) -> Vec<Probe> {
    let mut probing = Probing { kit: Kit::new(plan), found: Vec::new() };
    rules::add(&mut probing);
    cells::add(&mut probing);
    limits::add(&mut probing);
    reversals::add(&mut probing);
    tools::add(&mut probing);
    let mut simulator = Simulator::new();
    let mut probes: Vec<Probe> = Vec::new();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (name, story) in probing.found {
        let mut fixture = story.fixture(playbook);
        let scenario = Scenario::of_fixture(&fixture, |tool| plan.facts(tool));
        let record = simulator.run_fixture(plan, &scenario);
        let exercises = exercised(&plan.playbook, &scenario, record);
        cut(&mut fixture, record);
        if !seen.insert(format!("{:?}{:?}", fixture.calls, fixture.tools)) {
            continue;
        }
        let count = names.entry(name.clone()).or_default();
        *count += 1;
        let name = if *count == 1 { name } else { format!("{name}-{count}") };
        probes.push(Probe { name, fixture, exercises });
    }
    probes
}

/// Takes away the answers that nobody asked for.
fn cut(fixture: &mut Fixture, record: &SimulationRecord) {
    // Calls of a scenario stand in the order of their times; made-up ones are written in it.
    for ((call, outcome), n) in fixture.calls.iter_mut().zip(&record.outcomes).zip(0..) {
        let count = |is: fn(&Decision) -> bool| record.events_of(CallId(n)).filter(|event| is(&event.what)).count();
        let refreshes = count(|what| matches!(what, Decision::EvidenceRefreshed { .. }));
        let reversals = count(Decision::sent_reversal);
        call.script.attempts.truncate(outcome.attempts as usize);
        call.script.refresh.truncate(refreshes);
        call.script.reversal.truncate(reversals);
    }
}
