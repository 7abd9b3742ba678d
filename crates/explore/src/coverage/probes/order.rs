//! Probes of a graph: every action from everywhere, a tool that no action has, arguments that do not fit, the same refusal
//! again and again.

use std::sync::Arc;

use crate::coverage::edges::{call_of, way_to, with_steps};
use crate::coverage::fixture_builder::{FixtureBuilder, NamedBuilder};
use crate::coverage::path::Generator;
use playproof_engine::event::ErrorFacts;
use playproof_engine::fixture::FixtureCall;
use playproof_engine::ids::ActionId;
use playproof_engine::playbook::{Graph, Playbook};
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{ScriptedAnswer, UpstreamReply};

/// The most probes of edges: a graph with more is not tried edge by edge.
const MOST: usize = 2_000;

/// The most equal refusals of a probe.
const MOST_REFUSALS: u32 = 20;

pub(super) fn for_graph(generator: &Generator<'_>) -> Vec<NamedBuilder> {
    let playbook = &generator.plan.playbook;
    let Some(graph) = &playbook.graph else { return Vec::new() };
    let ids = || (0..).map(ActionId).take(playbook.actions.len());
    let mut found = Vec::new();
    for from in [None].into_iter().chain(ids().map(Some)).take(MOST / playbook.actions.len().max(1)) {
        let Some(way) = from.map_or(Some(Vec::new()), |from| way_to(graph, from)) else { continue };
        for to in ids() {
            let names = [from, Some(to)].map(|action| name(playbook, action));
            let title = format!("{} after {}", names[1], names[0]);
            found.extend(run(playbook, title, way.iter().copied().chain([to])));
        }
        found.extend(unknown(playbook, &way, &name(playbook, from)));
    }
    found.extend(ids().filter_map(|action| unfit(playbook, graph, action)));
    found.extend(graph.stuck.filter(|stuck| stuck.after <= MOST_REFUSALS).map(|stuck| {
        let calls = (0..=stuck.after).map(|_| unknown_call(0)).enumerate();
        let calls = calls.map(|(n, call)| FixtureCall { name: format!("again-{n}"), at: at(n), ..call });
        ("the-same-refusal-again".to_owned(), FixtureBuilder::of_run("The same refusal again", calls.collect()))
    }));
    found
}

/// Each step of each action fails, has no answer, and succeeds.
pub(super) fn for_steps(generator: &Generator<'_>) -> Vec<NamedBuilder> {
    let playbook = &generator.plan.playbook;
    let error = ErrorFacts { kind: Some("no_such_kind".into()), ..ErrorFacts::default() };
    let failed = UpstreamReply::Failed(Some(Arc::new(error)));
    let mut found = Vec::new();
    for (id, action) in (0..).map(ActionId).zip(&playbook.actions) {
        let way = playbook.graph.as_ref().map_or(Some(vec![id]), |graph| way_to(graph, id));
        for (place, step) in action.steps.iter().enumerate() {
            for (what, reply) in
                [("fails", &failed), ("has no answer", &UpstreamReply::Lost), ("succeeds", &UpstreamReply::Ok)]
            {
                let Some(mut calls) = way.clone().and_then(|way| steps(playbook, way.into_iter())) else { continue };
                let answer = ScriptedAnswer { reply: reply.clone(), latency: Duration::ZERO, applied: None };
                let Some(last) = calls.last_mut() else { continue };
                last.script.attempts = vec![answer.clone(), answer];
                with_steps(playbook, last, place);
                let title = format!("{} of {} {what}", step.name, action.name);
                found.push(("a-step-that-fails".to_owned(), FixtureBuilder::of_run(title, calls)));
            }
        }
    }
    found
}

fn name(playbook: &Playbook, action: Option<ActionId>) -> String {
    let named = action.and_then(|action| playbook.actions.get(action.index()));
    named.map_or_else(|| "the beginning".to_owned(), |action| action.name.to_string())
}

fn at(place: usize) -> Instant {
    Instant::from_millis(u64::try_from(place).unwrap_or(u64::MAX))
}

fn steps(playbook: &Playbook, actions: impl Iterator<Item = ActionId>) -> Option<Vec<FixtureCall>> {
    (0..).zip(actions).map(|(place, action)| call_of(playbook, action, place)).collect()
}

fn run(playbook: &Playbook, title: String, actions: impl Iterator<Item = ActionId>) -> Option<NamedBuilder> {
    Some(("an-action-from-somewhere".to_owned(), FixtureBuilder::of_run(title, steps(playbook, actions)?)))
}

/// A tool that no action has.
fn unknown_call(place: usize) -> FixtureCall {
    FixtureCall {
        name: "unknown".to_owned(),
        tool: "no_such_action".to_owned(),
        args: "{}".to_owned(),
        at: at(place),
        ..FixtureCall::default()
    }
}

fn unknown(playbook: &Playbook, way: &[ActionId], from: &str) -> Option<NamedBuilder> {
    let mut calls = steps(playbook, way.iter().copied())?;
    calls.push(unknown_call(way.len()));
    Some(("a-tool-without-an-action".to_owned(), FixtureBuilder::of_run(format!("No action after {from}"), calls)))
}

/// An action with arguments that do not fit, where it is valid.
fn unfit(playbook: &Playbook, graph: &Graph, action: ActionId) -> Option<NamedBuilder> {
    let inputs = playbook.actions.get(action.index())?.inputs.as_ref()?;
    let unfit = ["{}", r#"{"no_such_field":null}"#].into_iter().find(|args| inputs.check(args).is_err())?;
    let mut calls = steps(playbook, way_to(graph, action)?.into_iter())?;
    unfit.clone_into(&mut calls.last_mut()?.args);
    let title = format!("{} with arguments that do not fit", name(playbook, Some(action)));
    Some(("inputs-that-do-not-fit".to_owned(), FixtureBuilder::of_run(title, calls)))
}
