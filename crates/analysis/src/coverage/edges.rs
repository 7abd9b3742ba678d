//! The edges of a graph that a run took, and the calls that lead a synthetic run to an action.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::target::Target;
use playproof_engine::event::Decision;
use playproof_engine::fixture::{FixtureCall, FixtureStep};
use playproof_engine::ids::{ActionId, AttemptNo, RunId, StepId};
use playproof_engine::playbook::{Graph, Playbook};
use playproof_engine::sim::{Scenario, SimulationRecord};
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{Script, ScriptedAnswer, UpstreamReply};

/// Adds the edges that the calls of a run took: from where it was to each action that was sent.
pub(super) fn taken(
    playbook: &Playbook,
    scenario: &Scenario<'_>,
    record: &SimulationRecord,
    targets: &mut BTreeSet<Target>,
) {
    if playbook.graph.is_none() {
        return;
    }
    let mut positions: BTreeMap<RunId, Option<ActionId>> = BTreeMap::new();
    for event in &record.events {
        let Some(call) = scenario.calls.get(event.call.index()) else { continue };
        match event.what {
            Decision::AttemptStarted { attempt: AttemptNo::FIRST, .. } if call.step.is_none() => {
                let from = positions.get(&call.run).copied().flatten();
                targets.extend(playbook.action_of(call.tool_name).map(|(to, _)| Target::Edge { from, to }));
            }
            Decision::StepEnded { action: to, step: StepId(0), .. } => {
                let from = positions.get(&call.run).copied().flatten();
                targets.insert(Target::Edge { from, to });
            }
            Decision::Outcome(_) => {
                if let Some(Some(valid)) = record.valid_next.get(event.call.index()) {
                    positions.insert(call.run, valid.position);
                }
            }
            _ => {}
        }
    }
}

/// A shortest way of actions through a graph that ends with one; none: no run comes there.
pub(super) fn way_to(graph: &Graph, wanted: ActionId) -> Option<Vec<ActionId>> {
    let mut before: BTreeMap<ActionId, Option<ActionId>> = BTreeMap::new();
    let mut open: VecDeque<(Option<ActionId>, ActionId)> = graph.entry.iter().map(|action| (None, *action)).collect();
    while let Some((from, action)) = open.pop_front() {
        if before.contains_key(&action) {
            continue;
        }
        before.insert(action, from);
        open.extend(graph.row(Some(action)).iter().map(|next| (Some(action), *next)));
    }
    let mut way = vec![wanted];
    let mut at = *before.get(&wanted)?;
    while let Some(action) = at {
        way.push(action);
        at = before.get(&action).copied().flatten();
    }
    way.reverse();
    Some(way)
}

/// A call of an action that succeeds at once, `place` milliseconds after the beginning.
pub(super) fn call_of(playbook: &Playbook, action: ActionId, place: u64) -> Option<FixtureCall> {
    let action = playbook.actions.get(action.index())?;
    let mut call = FixtureCall {
        name: format!("step-{}", place + 1),
        tool: action.tool.to_string(),
        args: arguments(playbook, &action.tool).unwrap_or("{}").to_owned(),
        at: Instant::from_millis(place),
        ..FixtureCall::default()
    };
    call.script.attempts.push(OK);
    Some(call)
}

const OK: ScriptedAnswer = ScriptedAnswer { reply: UpstreamReply::Ok, latency: Duration::ZERO, applied: None };

/// Gives a call of an action with steps their scripts: its own script answers the step at `place`, the others succeed.
pub(super) fn with_steps(playbook: &Playbook, call: &mut FixtureCall, place: usize) {
    let action = playbook.action_of(&call.tool).map(|(_, action)| action);
    let Some(action) = action.filter(|action| !action.steps.is_empty() && call.steps.is_empty()) else { return };
    call.is_action = true;
    let own = Script { reversal: Vec::new(), ..std::mem::take(&mut call.script) }; // a step has no token
    let steps = action.steps.iter().enumerate().map(|(n, step)| FixtureStep {
        step: step.name.to_string(),
        name: format!("{}/{}", call.name, step.name),
        group: None,
        args: call.args.clone(),
        key: call.key.as_ref().map(|key| format!("{key}/{}", step.name)),
        script: if n == place { own.clone() } else { Script { attempts: vec![OK], ..Script::default() } },
    });
    call.steps = steps.collect();
}

/// Arguments that fit the action whose body is a tool, if it says what fits.
pub(super) fn arguments<'a>(playbook: &'a Playbook, tool: &str) -> Option<&'a str> {
    let (_, action) = playbook.action_of(tool)?;
    action.inputs.as_ref().map(|inputs| inputs.example())
}
