//! Builds a fixture: calls of given shapes, and the answers of the upstream.

use std::sync::Arc;

use super::edges::{arguments, call_of, way_to, with_steps};
use super::path::Generator;
use super::stand_in::{is_true_of, other_example, stand_in};
use crate::shape::CallShape;
use crate::synthesize::SyntheticFailure;
use playproof_engine::event::{EffectClaim, ErrorFacts};
use playproof_engine::fixture::{Fixture, FixtureCall, FixtureTool};
use playproof_engine::playbook::{Access, Graph, Others};
use playproof_engine::sim::Plan;
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{KeyDialect, Script, ScriptedAnswer, UpstreamReply};

/// The latency of an answer.
pub(in crate::coverage) const LATENCY: Duration = Duration::from_millis(20);

/// The timeout of synthetic tools.
pub(super) const TIMEOUT: Duration = Duration::from_millis(1_000);

/// A fixture that is being built, with the name of its file.
pub(super) type NamedBuilder = (String, FixtureBuilder);

/// A fixture that is being built.
#[derive(Clone, Debug)]
pub(super) struct FixtureBuilder {
    pub title: String,
    pub calls: Vec<FixtureCall>,
    pub tools: Vec<FixtureTool>,
    /// Whether its calls are in an order of their own: no call leads to them.
    keeps_order: bool,
}

/// Success.
pub(super) fn ok() -> ScriptedAnswer {
    answer(UpstreamReply::Ok, LATENCY)
}

/// No answer.
pub(super) fn lost() -> ScriptedAnswer {
    answer(UpstreamReply::Lost, Duration::ZERO)
}

/// A refusal, for refreshes and reversals.
pub(super) fn refused() -> ScriptedAnswer {
    let error = ErrorFacts {
        kind: Some("503_unavailable".into()),
        message: Some("not now".into()),
        status: Some(503),
        ..ErrorFacts::default()
    };
    answer(UpstreamReply::failed(error), LATENCY)
}

fn answer(reply: UpstreamReply, latency: Duration) -> ScriptedAnswer {
    ScriptedAnswer { reply, latency, applied: None }
}

/// The failure as an answer to an attempt. A timeout is scripted as a missing answer if that is classified alike.
pub(super) fn failure(
    generator: &Generator<'_>,
    made: &SyntheticFailure,
    shape: CallShape,
    attempt: u32,
    tool: &str,
) -> ScriptedAnswer {
    let effect = generator.plan.playbook.verdict(made.verdict).effect;
    let applied = (effect == EffectClaim::Applied && shape.access == Access::Write).then_some(true);
    let silent = SyntheticFailure { error: Some(no_answer(TIMEOUT)), ..made.clone() };
    let same = |other: &SyntheticFailure| other.classified_at(generator.plan, shape, attempt, tool);
    let is_timeout = made.error.as_ref().is_some_and(|error| {
        error.kind.as_deref() == Some("timeout") && error.status.is_none() && error.code.is_none()
    });
    match is_timeout && same(&silent) == same(made) {
        true => ScriptedAnswer { applied, ..lost() },
        false => ScriptedAnswer { applied, ..answer(UpstreamReply::Failed(made.error.clone().map(Arc::new)), LATENCY) },
    }
}

/// The error that the simulation gives to an attempt without an answer in time.
fn no_answer(timeout: Duration) -> ErrorFacts {
    let message = format!("no answer within {timeout} ms");
    ErrorFacts { kind: Some("timeout".into()), message: Some(message.into()), ..ErrorFacts::default() }
}

impl FixtureBuilder {
    /// One call of this shape and tool, whose facts the fixture declares; without answers.
    pub fn of(title: impl Into<String>, shape: CallShape, tool: &str) -> FixtureBuilder {
        let facts = FixtureTool {
            pattern: tool.to_owned(),
            writes: shape.access == Access::Write,
            idempotent: shape.idempotent.then_some(true),
            repeatable: None,
            timeout: Some(TIMEOUT),
            ..FixtureTool::default()
        };
        FixtureBuilder {
            title: title.into(),
            calls: vec![call("call", shape, tool)],
            tools: vec![facts],
            keeps_order: false,
        }
    }

    /// One call of a tool whose facts the playbook declares.
    pub fn of_declared(title: impl Into<String>, shape: CallShape, tool: &str) -> FixtureBuilder {
        let calls = vec![call("call", shape, tool)];
        FixtureBuilder { title: title.into(), calls, tools: Vec::new(), keeps_order: false }
    }

    /// Calls as they are, through a graph.
    pub fn of_run(title: impl Into<String>, calls: Vec<FixtureCall>) -> FixtureBuilder {
        FixtureBuilder { title: title.into(), calls, tools: Vec::new(), keeps_order: true }
    }

    /// The same, with no arguments in any call.
    #[must_use]
    pub fn without_arguments(mut self) -> FixtureBuilder {
        for call in &mut self.calls {
            "{}".clone_into(&mut call.args);
        }
        self
    }

    /// The upstream's script for the first call.
    pub fn script(&mut self) -> Option<&mut Script> {
        self.calls.first_mut().map(|call| &mut call.script)
    }

    /// Adds answers to attempts, in this order.
    #[must_use]
    pub fn answered(mut self, answers: impl IntoIterator<Item = ScriptedAnswer>) -> FixtureBuilder {
        if let Some(script) = self.script() {
            script.attempts.extend(answers);
        }
        self
    }

    /// Adds answers to refreshes.
    #[must_use]
    pub fn refreshed(mut self, answers: impl IntoIterator<Item = ScriptedAnswer>) -> FixtureBuilder {
        if let Some(script) = self.script() {
            script.refresh.extend(answers);
        }
        self
    }

    /// Adds answers to reversals.
    #[must_use]
    pub fn reversed(mut self, answers: impl IntoIterator<Item = ScriptedAnswer>) -> FixtureBuilder {
        if let Some(script) = self.script() {
            script.reversal.extend(answers);
        }
        self
    }

    /// Sets the call's own timeout, so that a slow answer still comes in time.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> FixtureBuilder {
        if let Some(call) = self.calls.first_mut() {
            call.timeout = Some(timeout);
        }
        self
    }

    /// Adds the same call again, 5 s after the start, with the same token and another key.
    #[must_use]
    pub fn twice(mut self) -> FixtureBuilder {
        if let Some(first) = self.calls.first().cloned() {
            let key = first.key.as_ref().map(|_| "key_2".to_owned());
            let at = Instant::from_millis(5_000);
            self.calls.push(FixtureCall { name: "again".to_owned(), key, at, ..first });
        }
        self
    }

    /// The fixture, without an `expect`. Calls of tools with a schema get arguments that fit. None: the playbook declares a
    /// tool to be something else, or lets no run come to it.
    pub fn build(mut self, plan: &Plan, playbook: &str) -> Option<Fixture> {
        if let Some(graph) = plan.playbook.graph.as_ref().filter(|_| !self.keeps_order) {
            self.lead_through(plan, graph)?;
        }
        self.rename_examples(plan)?;
        for call in self.calls.iter_mut().filter(|call| call.args == ARGS) {
            if let Some(schema) = plan.schema(&call.tool) {
                schema.example().clone_into(&mut call.args);
            }
        }
        for call in &mut self.calls {
            with_steps(&plan.playbook, call, 0);
        }
        Some(Fixture {
            title: self.title,
            playbooks: vec![playbook.to_owned()],
            calls: self.calls,
            keys: KeyDialect::None,
            tools: self.tools,
            ..Fixture::default()
        })
    }
}

impl FixtureBuilder {
    /// Gives the calls tools that the graph lets through, and puts calls before them that lead to the first. None: the graph
    /// lets no such call through.
    fn lead_through(&mut self, plan: &Plan, graph: &Graph) -> Option<()> {
        let playbook = &plan.playbook;
        let step = self.stand_in(plan, graph)?;
        for call in &mut self.calls {
            if let Some(fitting) = arguments(playbook, &call.tool).filter(|_| call.args == ARGS) {
                fitting.clone_into(&mut call.args);
            }
            with_steps(playbook, call, step);
        }
        let wanted = self.calls.first().and_then(|call| playbook.action_of(&call.tool)).map(|(action, _)| action);
        let Some(mut way) = wanted.and_then(|wanted| way_to(graph, wanted)) else { return Some(()) };
        way.pop(); // the call itself
        let steps = (0..).zip(way).filter_map(|(place, action)| call_of(playbook, action, place));
        let steps: Vec<FixtureCall> = steps.collect();
        let later = Duration::from_millis(steps.len() as u64);
        self.calls.iter_mut().for_each(|call| call.at = call.at.plus(later));
        self.calls.splice(0..0, steps);
        Some(())
    }

    /// Puts another example in the place of each that the playbook declares to be something else; none: it declares a tool
    /// that is no example, or the other one too, to be something else.
    fn rename_examples(&mut self, plan: &Plan) -> Option<()> {
        for row in self.tools.iter_mut().filter(|row| !is_true_of(plan, row)) {
            let other = other_example(&row.pattern)?;
            for call in self.calls.iter_mut().filter(|call| call.tool == row.pattern) {
                other.clone_into(&mut call.tool);
            }
            row.pattern = other;
            if !is_true_of(plan, row) {
                return None;
            }
        }
        Some(())
    }

    /// Gives the calls, which are all of one tool, an action that the graph knows, and returns which of its steps meets their
    /// answers. The fixture leaves facts that are declared to the playbook.
    fn stand_in(&mut self, plan: &Plan, graph: &Graph) -> Option<usize> {
        let tool = self.calls.first()?.tool.clone();
        if graph.others == Others::Pass || plan.playbook.action_of(&tool).is_some() {
            return Some(0);
        }
        let row = self.tools.iter().find(|row| row.pattern == tool);
        let has_token = self.calls.iter().any(|call| call.token.is_some());
        let stand_in = stand_in(plan, graph, &tool, row, has_token)?;
        self.tools.retain(|row| row.pattern != tool || !plan.facts(stand_in.tool()).declared);
        for row in self.tools.iter_mut().filter(|row| row.pattern == tool) {
            stand_in.tool().clone_into(&mut row.pattern);
        }
        self.calls.iter_mut().for_each(|call| stand_in.action.tool.as_ref().clone_into(&mut call.tool));
        Some(stand_in.step)
    }
}

/// The arguments of every call.
const ARGS: &str = r#"{"order":"o_91"}"#;

fn call(name: &str, shape: CallShape, tool: &str) -> FixtureCall {
    FixtureCall {
        name: name.to_owned(),
        tool: tool.to_owned(),
        args: ARGS.to_owned(),
        key: shape.keyed.then(|| "key_1".to_owned()),
        token: shape.token.then(|| "token_1".to_owned()),
        ..FixtureCall::default()
    }
}
