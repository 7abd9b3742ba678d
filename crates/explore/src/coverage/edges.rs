//! The edges of a graph that a run took, and the calls that lead a synthetic run to an action.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::target::Target;
use playproof_engine::event::Decision;
use playproof_engine::fixture::{Fixture, FixtureCall, FixtureStep};
use playproof_engine::ids::{ActionId, AttemptNo, RunId, StepId};
use playproof_engine::playbook::{Graph, Playbook, Step};
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

/// The fixture of one call, with the calls before it that lead a run through the graph to it. A call of a tool that only a
/// step has becomes a call of its action, in which that step gets the answers and the others succeed. Arguments that do
/// not fit the action are replaced by some that do. Where no run comes to the call, or no action has its tool, the fixture
/// stays as it is, and the gate refuses the call.
pub fn led_in(playbook: &Playbook, mut fixture: Fixture) -> Fixture {
    let (Some(graph), [call]) = (&playbook.graph, fixture.calls.as_mut_slice()) else { return fixture };
    let mut actions = (0..).map(ActionId).zip(&playbook.actions);
    let place_in = |steps: &[Step]| steps.iter().position(|step| *step.tool == *call.tool);
    let found = match playbook.action_of(&call.tool) {
        Some((id, action)) => Some((id, action, None)),
        None => actions.find_map(|(id, action)| Some((id, action, Some(place_in(&action.steps)?)))),
    };
    let Some((id, action, step)) = found else { return fixture };
    let Some(mut way) = way_to(graph, id) else { return fixture };
    let recorded = call.args.clone();
    if let Some(inputs) = action.inputs.as_ref().filter(|inputs| inputs.check(&recorded).is_err()) {
        inputs.example().clone_into(&mut call.args);
    }
    if let Some(place) = step {
        action.tool.as_ref().clone_into(&mut call.tool);
        with_steps(playbook, call, place);
        if let Some(own) = call.steps.get_mut(place) {
            own.args = recorded;
        }
    }
    way.pop(); // the call itself
    let mut before: Vec<FixtureCall> =
        (0..).zip(way).filter_map(|(place, action)| call_of(playbook, action, place)).collect();
    before.iter_mut().for_each(|call| with_steps(playbook, call, 0));
    call.at = call.at.plus(Duration::from_millis(before.len() as u64));
    fixture.calls.splice(0..0, before);
    fixture
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::sim::{Plan, Simulator};
    use playproof_formats::diagnostic::Source;
    use playproof_formats::playbook;

    /// How each call of the fixture of one call ends under an embedded playbook, once it is led in.
    fn ends(name: &str, tool: &str, args: &str) -> Vec<String> {
        let text = playbook::embedded(name).expect("an embedded playbook");
        let loaded = playbook::parse(Source::whole("p", text)).unwrap_or_else(|report| panic!("{report}"));
        let plan = Plan::new(loaded.playbook, &playproof_engine::playbook::Tools::default());
        let mut call = FixtureCall {
            name: "call".to_owned(),
            tool: tool.to_owned(),
            args: args.to_owned(),
            ..FixtureCall::default()
        };
        call.script.attempts = vec![OK];
        let fixture = led_in(&plan.playbook, Fixture { calls: vec![call], ..Fixture::default() });
        let scenario = Scenario::of_fixture(&fixture, &plan);
        let mut simulator = Simulator::new();
        let record = simulator.run_fixture(&plan, &scenario);
        let ends = scenario.calls.iter().zip(&record.outcomes);
        ends.map(|(call, outcome)| format!("{} {}", call.name, outcome.kind.as_str())).collect()
    }

    #[test]
    fn a_call_is_led_in_by_the_shortest_way() {
        let way = ["step-1 succeeded", "step-2 succeeded", "call succeeded"];
        assert_eq!(ends("coffee", "kitchen.make", "{}"), way);
        assert_eq!(ends("coffee", "take_order", r#"{"item":"latte"}"#), ["call succeeded"]);
        assert_eq!(ends("standard", "kitchen.make", "{}"), ["call succeeded"], "nothing is ordered");
    }

    #[test]
    fn arguments_that_do_not_fit_are_replaced_and_an_unknown_tool_stays() {
        assert_eq!(ends("coffee", "add_modifier", r#"{"modifier":"text"}"#), ["step-1 succeeded", "call succeeded"]);
        assert_eq!(ends("coffee", "nobody.has_it", "{}"), ["call refused"]);
    }

    #[test]
    fn a_call_of_a_step_becomes_one_of_its_action() {
        let done = ["call succeeded", "call/find_pr succeeded", "call/post succeeded", "call/react succeeded"];
        assert_eq!(ends("steps", "slack.react", r#"{"emoji":"tada"}"#), done);
    }
}
