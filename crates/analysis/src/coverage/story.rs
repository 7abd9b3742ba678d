//! A fixture in the making: calls of given shapes, and what the upstream answers them.

use std::sync::Arc;

use super::madeup::MadeUp;
use super::prefix::Kit;
use super::shape::Shape;
use playproof_engine::event::{EffectClaim, ErrorFacts};
use playproof_engine::fixture::{Fixture, FixtureCall, FixtureTool};
use playproof_engine::playbook::Access;
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{KeyDialect, Script, ScriptedAnswer, UpstreamReply};

/// How long an answer takes.
pub(super) const LATENCY: Duration = Duration::from_millis(20);

/// The timeout of made-up tools.
pub(super) const TIMEOUT: Duration = Duration::from_millis(1_000);

/// A fixture in the making.
#[derive(Clone, Debug)]
pub(super) struct Story {
    pub title: String,
    pub calls: Vec<FixtureCall>,
    pub tools: Vec<FixtureTool>,
}

/// A yes.
pub(super) fn ok() -> ScriptedAnswer {
    answer(UpstreamReply::Ok, LATENCY)
}

/// No answer.
pub(super) fn lost() -> ScriptedAnswer {
    answer(UpstreamReply::Lost, Duration::ZERO)
}

/// A plain no, for refreshes and reversals.
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

/// The failure as an answer to an attempt: where a timeout of the attempt's own means the same, no answer comes.
pub(super) fn failure(kit: &Kit<'_>, made: &MadeUp, shape: Shape, attempt: u32, tool: &str) -> ScriptedAnswer {
    let effect = kit.plan.playbook.verdict(made.verdict).effect;
    let applied = (effect == EffectClaim::Applied && shape.access == Access::Write).then_some(true);
    let silent = MadeUp { error: Some(no_answer(TIMEOUT)), ..made.clone() };
    let same = |other: &MadeUp| other.classified_at(kit.plan, shape, attempt, tool);
    let is_timeout = made.error.as_ref().is_some_and(|error| {
        error.kind.as_deref() == Some("timeout") && error.status.is_none() && error.code.is_none()
    });
    match is_timeout && same(&silent) == same(made) {
        true => ScriptedAnswer { applied, ..lost() },
        false => ScriptedAnswer { applied, ..answer(UpstreamReply::Failed(made.error.clone().map(Arc::new)), LATENCY) },
    }
}

/// The error that a simulation gives to an attempt whose answer does not come in time.
fn no_answer(timeout: Duration) -> ErrorFacts {
    let message = format!("no answer within {timeout} ms");
    ErrorFacts { kind: Some("timeout".into()), message: Some(message.into()), ..ErrorFacts::default() }
}

impl Story {
    /// One call of this shape and tool, whose facts the fixture itself declares; nothing is answered yet.
    pub fn of(title: impl Into<String>, shape: Shape, tool: &str) -> Story {
        let facts = FixtureTool {
            pattern: tool.to_owned(),
            writes: shape.access == Access::Write,
            idempotent: shape.idempotent,
            repeatable: false,
            timeout: Some(TIMEOUT),
        };
        Story { title: title.into(), calls: vec![call("call", shape, tool)], tools: vec![facts] }
    }

    /// One call of a tool whose facts the playbook declares.
    pub fn of_declared(title: impl Into<String>, shape: Shape, tool: &str) -> Story {
        Story { title: title.into(), calls: vec![call("call", shape, tool)], tools: Vec::new() }
    }

    /// The upstream's script for the first call.
    pub fn script(&mut self) -> Option<&mut Script> {
        self.calls.first_mut().map(|call| &mut call.script)
    }

    /// The attempts are answered so, in this order.
    #[must_use]
    pub fn answered(mut self, answers: impl IntoIterator<Item = ScriptedAnswer>) -> Story {
        if let Some(script) = self.script() {
            script.attempts.extend(answers);
        }
        self
    }

    /// Requests for evidence are answered so.
    #[must_use]
    pub fn refreshed(mut self, answers: impl IntoIterator<Item = ScriptedAnswer>) -> Story {
        if let Some(script) = self.script() {
            script.refresh.extend(answers);
        }
        self
    }

    /// The redemption of the token is answered so.
    #[must_use]
    pub fn reversed(mut self, answers: impl IntoIterator<Item = ScriptedAnswer>) -> Story {
        if let Some(script) = self.script() {
            script.reversal.extend(answers);
        }
        self
    }

    /// The call's own timeout, so that a slow answer still comes in time.
    #[must_use]
    pub fn patient(mut self, timeout: Duration) -> Story {
        if let Some(call) = self.calls.first_mut() {
            call.timeout = Some(timeout);
        }
        self
    }

    /// The same call once more, a while later, with the same token but a key of its own.
    #[must_use]
    pub fn twice(mut self) -> Story {
        if let Some(first) = self.calls.first().cloned() {
            let key = first.key.as_ref().map(|_| "key_2".to_owned());
            let at = Instant::from_millis(5_000);
            self.calls.push(FixtureCall { name: "again".to_owned(), key, at, ..first });
        }
        self
    }

    /// The fixture, without what it is meant to show.
    pub fn fixture(self, playbook: &str) -> Fixture {
        Fixture {
            title: self.title,
            playbooks: vec![playbook.to_owned()],
            calls: self.calls,
            keys: KeyDialect::None,
            before: Vec::new(),
            tools: self.tools,
            expect: Default::default(),
        }
    }
}

fn call(name: &str, shape: Shape, tool: &str) -> FixtureCall {
    FixtureCall {
        name: name.to_owned(),
        tool: tool.to_owned(),
        args: r#"{"order":"o_91"}"#.to_owned(),
        key: shape.keyed.then(|| "key_1".to_owned()),
        token: shape.token.then(|| "token_1".to_owned()),
        evidence: Vec::new(),
        at: Instant::ZERO,
        timeout: None,
        script: Script::default(),
    }
}
