//! Every probe of a playbook: named, without unused answers, each scenario once.

use std::collections::{BTreeMap, BTreeSet};

use super::{calls, circuits, headers, limits, order, sharing};
use crate::coverage::observe::exercised;
use crate::coverage::path::Generator;
use crate::coverage::target::Target;
use playproof_engine::event::Decision;
use playproof_engine::fixture::Fixture;
use playproof_engine::ids::CallId;
use playproof_engine::sim::{Plan, Scenario, SimulationRecord, Simulator};

/// A synthetic fixture without an `expect`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// A name for its file.
    pub name: String,
    /// The fixture.
    pub fixture: Fixture,
    /// What it exercises, except rows of tool facts.
    pub exercises: BTreeSet<Target>,
}

/// Fixtures that try each rule, each verdict in each cell, each guard, each limit and each row of tool facts, without the
/// answers that nothing asks for, each once; the simplest first. `playbook` is the playbook's name in fixtures.
pub fn probes(plan: &Plan, playbook: &str) -> Vec<Probe> {
    probes_of(plan, drafts(plan, playbook))
}

/// The probes that drafts become.
pub fn probes_of(plan: &Plan, drafts: Vec<(String, Fixture)>) -> Vec<Probe> {
    let mut simulator = Simulator::new();
    let mut probes: Vec<Probe> = Vec::new();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut known = BTreeSet::new();
    for (name, draft) in drafts {
        let mut probe = Probe::of(plan, name, draft, &mut simulator);
        if !known.insert(format!("{:?}{:?}", probe.fixture.calls, probe.fixture.tools)) {
            continue;
        }
        let count = names.entry(probe.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            probe.name = format!("{}-{count}", probe.name);
        }
        probes.push(probe);
    }
    probes
}

/// What probes are made of, by name, with all answers. Several may have one name, and several may become the same probe.
pub fn drafts(plan: &Plan, playbook: &str) -> Vec<(String, Fixture)> {
    let generator = Generator::new(plan);
    let mut drafts = calls::for_rules(&generator);
    drafts.extend(calls::for_cells(&generator));
    drafts.extend(limits::for_limits(&generator));
    drafts.extend(headers::for_headers(&generator));
    drafts.extend(calls::for_reversals(&generator));
    drafts.extend(calls::for_tools(&generator));
    drafts.extend(calls::for_registry(&generator));
    drafts.extend(sharing::for_sharing(&generator));
    drafts.extend(circuits::for_circuits(&generator));
    drafts.extend(order::for_graph(&generator));
    drafts.extend(order::for_steps(&generator));
    drafts.into_iter().filter_map(|(name, draft)| Some((name, draft.build(plan, playbook)?))).collect()
}

impl Probe {
    /// Of a draft: its run tells which answers it needs.
    pub fn of(plan: &Plan, name: String, mut fixture: Fixture, simulator: &mut Simulator) -> Probe {
        let scenario = Scenario::of_fixture(&fixture, plan);
        let own = (0..).zip(&scenario.calls).filter(|(_, call)| call.step.is_none());
        let places: Vec<usize> = own.map(|(place, _)| place).collect();
        let record = simulator.run_fixture(plan, &scenario);
        let exercises = exercised(&plan.playbook, &scenario, record);
        remove_unused_answers(&mut fixture, &places, record);
        Probe { name, fixture, exercises }
    }
}

/// Removes the answers that the run did not request; `places` are those of the fixture's calls. Those of steps stay.
fn remove_unused_answers(fixture: &mut Fixture, places: &[usize], record: &SimulationRecord) {
    // The calls of a scenario are sorted by time, and synthetic calls are written in that order.
    for (call, &place) in fixture.calls.iter_mut().zip(places) {
        let Some(outcome) = record.outcomes.get(place).filter(|_| call.steps.is_empty()) else { continue };
        let count =
            |is: fn(&Decision) -> bool| record.events_of(CallId::at(place)).filter(|event| is(&event.what)).count();
        let refreshes = count(|what| matches!(what, Decision::EvidenceRefreshed { .. }));
        let reversals = count(Decision::sent_reversal);
        call.script.attempts.truncate(outcome.attempts as usize);
        call.script.refresh.truncate(refreshes);
        call.script.reversal.truncate(reversals);
    }
}
