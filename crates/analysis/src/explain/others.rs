//! The other calls that bear on a call: those with its intent, its request under another key, its key for another
//! request, and later writes of its tool.

use super::other_call::{OtherCall, OtherName, Relation, UpstreamSaid};
use super::subject::{Simulation, Subject};
use crate::replay::SentIn;
use playproof_engine::event::EffectClaim;
use playproof_engine::fixture::Fixture;
use playproof_engine::ids::CallId;
use playproof_engine::playbook::Access;
use playproof_engine::sim::{DrivenCall, Plan, Scenario, SimulationRecord};

/// The other calls, in order, and what the upstream said to the call itself.
pub fn others_of(subject: &Subject, plan: &Plan, simulation: &Simulation) -> (Vec<OtherCall>, UpstreamSaid) {
    let Simulation { record, call, facts, .. } = simulation;
    let said = UpstreamSaid::of_simulated(record, *call, subject.recorded_key(), *facts, plan);
    match subject {
        Subject::Recorded { recorded, .. } => (recorded.others.clone(), said.or(recorded.said)),
        Subject::Fixture { fixture, .. } => (of_fixture(fixture, plan, simulation), said),
    }
}

fn of_fixture(fixture: &Fixture, plan: &Plan, simulation: &Simulation) -> Vec<OtherCall> {
    let scenario = Scenario::of_fixture(fixture, plan);
    let Some(own) = scenario.calls.get(simulation.call.index()) else { return Vec::new() };
    let own = SentIn::in_fixture(own.run_of_request(), own.tool, own.args, own.honoured_key());
    let existing = scenario.before.iter().filter_map(|effect| {
        let relation =
            Relation::of(&own, &SentIn::in_fixture(effect.run, effect.tool, effect.args, effect.key), false)?;
        Some(OtherCall {
            name: OtherName::Existing,
            relation,
            hides_args: false,
            later: false,
            order_unknown: false,
            effects: 1,
            taken_back: false,
            may_be_taken_back: false,
            reversed: false,
            maybe: false,
            claim: EffectClaim::Applied,
            said: UpstreamSaid::default(),
        })
    });
    // The order in which calls are made is not that in which they are written.
    let record = &simulation.record;
    let made =
        |id: CallId| record.events_of(id).next().and_then(|first| record.events.iter().position(|of| of == first));
    let made = |id: CallId| made(id).unwrap_or(usize::MAX);
    let own_made = made(simulation.call);
    let mut calls: Vec<(usize, CallId, &DrivenCall<'_>)> = Vec::new();
    calls.extend(scenario.calls.iter().enumerate().map(|(n, call)| (made(CallId::at(n)), CallId::at(n), call)));
    calls.sort_by_key(|(made, ..)| *made);
    let calls = calls.into_iter().filter_map(|(made, id, call)| {
        let later = (made, id) > (own_made, simulation.call);
        let other = SentIn::in_fixture(call.run_of_request(), call.tool, call.args, call.honoured_key());
        let other_run = || own.is_of_other_run(&other).then_some(Relation::OtherRun);
        let relation = Relation::of(&own, &other, later).or_else(other_run)?;
        (id != simulation.call).then(|| simulated(call, id, relation, later, plan, &simulation.record))?
    });
    existing.chain(calls).collect()
}

/// Another call of the fixture; none if the simulation never reached it.
fn simulated(
    call: &DrivenCall<'_>,
    id: CallId,
    relation: Relation,
    later: bool,
    plan: &Plan,
    record: &SimulationRecord,
) -> Option<OtherCall> {
    let claim = record.outcomes.get(id.index())?.claim;
    let net = record.ledger.net_by_call().get(&id).copied().unwrap_or_default();
    let effects = net.effects;
    Some(OtherCall {
        name: OtherName::Reference(call.name.to_owned()),
        relation,
        hides_args: false,
        later,
        order_unknown: false,
        effects,
        taken_back: effects == 0 && net.made > 0,
        may_be_taken_back: false,
        reversed: net.made > effects,
        maybe: effects == 0 && claim != EffectClaim::NotApplied && call.facts.access == Access::Write,
        claim,
        said: UpstreamSaid::of_simulated(record, id, call.key_text(), call.facts, plan),
    })
}
