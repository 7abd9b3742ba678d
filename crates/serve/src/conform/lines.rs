//! The lines of a driver that has a fixture's upstream.

use playproof_engine::call::Reply;
use playproof_engine::event::RequestKind;
use playproof_engine::fixture::FixtureCall;
use playproof_engine::plan::Plan;
use playproof_engine::sim::{DrivenCall, Scenario};
use playproof_engine::time::Instant;
use playproof_intake::trace_writer::error_object;

use crate::object::Object;
use crate::protocol::PROTOCOL;

/// What came of a request.
#[derive(Clone, Debug)]
pub(super) enum Came {
    Reply(Reply),
    Timeout,
    Lost,
    /// An answer after the timeout.
    Late(Reply),
}

/// The beginning: what a dispatcher without tool facts needs to know of the tools.
pub(super) fn hello(scenario: &Scenario<'_>) -> String {
    let mut tools = String::new();
    let mut object = Object::new(&mut tools);
    let mut known = std::collections::BTreeSet::new();
    for call in scenario.calls.iter().filter(|call| known.insert(call.tool_name)) {
        let mut facts = String::new();
        Object::new(&mut facts)
            .truth("declared", call.facts.declared)
            .text("access", call.facts.access.as_str())
            .truth("idempotent", call.facts.idempotent)
            .text_if("retry", call.facts.never_retried.then_some("never"))
            .text_if("keys", call.facts.ignores_keys.then_some("ignored"))
            .span("timeout_ms", call.facts.timeout)
            .end();
        object = object.json(call.tool_name, &facts);
    }
    object.end();
    let mut line = String::new();
    Object::new(&mut line)
        .text("type", "hello")
        .text("protocol", PROTOCOL)
        .truth("events", true)
        .json("tools", &tools)
        .end();
    line
}

/// A call is made.
pub(super) fn call(plan: &Plan, at: Instant, written: &FixtureCall, driven: &DrivenCall<'_>) -> String {
    let mut line = String::new();
    let object = begin(&mut line, "call", at, &written.name)
        .text("tool", driven.tool_name)
        .json("args", if written.args.is_empty() { "{}" } else { &written.args })
        .text_if("run", written.run.as_deref())
        .text_if("key", driven.key_text())
        .text_if("token", written.token.as_deref());
    let object = match written.timeout {
        Some(timeout) => object.span("timeout_ms", timeout),
        None => object,
    };
    let known = plan.steps_of(driven.tool_name);
    if known.is_empty() {
        object.end();
        return line;
    }
    let mut steps = String::new();
    let mut all = Object::new(&mut steps);
    for step in known {
        let own = written.steps.iter().find(|own| *own.step == *step.name);
        all = all.json(&step.name, own.map_or("null", |own| &own.args));
    }
    all.end();
    object.json("steps", &steps).end();
    line
}

/// A moment has come, or the caller goes away.
pub(super) fn bare(kind: &str, at: Instant, name: &str) -> String {
    let mut line = String::new();
    begin(&mut line, kind, at, name).end();
    line
}

/// What came of a request.
pub(super) fn answer(at: Instant, name: &str, asked: RequestKind, came: &Came, draw: Option<&str>) -> String {
    let mut line = String::new();
    let object = begin(&mut line, "answer", at, name);
    let object = match asked {
        RequestKind::Attempt(attempt) => object.number("attempt", attempt.get()),
        RequestKind::Refresh(_) => object.text("asked", "refresh"),
        RequestKind::Reversal => object.text("asked", "reversal"),
    };
    let object = match draw {
        Some(draw) => object.json("draw", draw),
        None => object,
    };
    let object = match came {
        Came::Timeout => object.truth("timeout", true),
        Came::Lost => object.truth("lost", true),
        Came::Reply(reply) => with_reply(object, reply),
        Came::Late(reply) => with_reply(object.truth("late", true), reply),
    };
    object.end();
    line
}

fn begin<'o>(line: &'o mut String, kind: &str, at: Instant, name: &str) -> Object<'o> {
    Object::new(line).text("type", kind).text("id", name).at("at_ms", at)
}

fn with_reply<'o>(object: Object<'o>, reply: &Reply) -> Object<'o> {
    let object = match reply {
        Reply::Ok => return object.truth("ok", true),
        Reply::Failed(None) => object.truth("ok", false),
        Reply::Failed(Some(_)) => object,
        Reply::Suspected(_) => object.truth("suspected", true),
        Reply::Unfinished(_) => object.truth("accepted", true),
    };
    match reply.error() {
        Some(error) => object.json("error", &error_object(error)),
        None => object,
    }
}
