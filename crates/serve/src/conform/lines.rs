//! What a driver that has a fixture's upstream says first, and the calls of the fixture as a dispatcher gets them.

use playproof_engine::drive::NewCall;
use playproof_engine::fixture::FixtureCall;
use playproof_engine::plan::Plan;
use playproof_engine::sim::{DrivenCall, Scenario};

use crate::object::Object;
use crate::protocol::PROTOCOL;

/// The beginning: what a dispatcher without tool facts needs to know of the tools.
pub(super) fn hello(scenario: &Scenario<'_>) -> String {
    let mut tools = String::new();
    let mut object = Object::new(&mut tools);
    let mut known = std::collections::BTreeSet::new();
    for call in scenario.calls.iter().filter(|call| call.act.is_none() && known.insert(call.tool_name)) {
        let mut facts = String::new();
        Object::new(&mut facts)
            .truth("declared", call.facts.declared)
            .text("access", call.facts.access.as_str())
            .truth("idempotent", call.facts.idempotent)
            .text_if("retry", call.facts.never_retried.then_some("never"))
            .text_if("once", call.facts.once.then_some("transaction"))
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
        .truth("anew", true)
        .truth("events", true)
        .json("tools", &tools)
        .end();
    line
}

/// A call of a fixture.
pub(super) fn new_call(plan: &Plan, written: &FixtureCall, driven: &DrivenCall<'_>) -> NewCall {
    let steps = written.steps.iter().map(|own| (own.step.clone(), own.args.clone())).collect();
    let is_unknown = |step: &&str| !written.steps.iter().any(|own| *own.step == **step);
    let known = plan.steps_of(driven.tool_name).iter().map(|step| &*step.name);
    NewCall {
        name: written.name.clone(),
        run: written.run.as_deref().unwrap_or_default().to_owned(),
        tool: driven.tool_name.to_owned(),
        args: if written.args.is_empty() { "{}" } else { &*written.args }.to_owned(),
        key: driven.key_text().map(str::to_owned),
        token: written.token.as_deref().map(str::to_owned),
        transaction: written.transaction.clone(),
        act: written.act,
        timeout: written.timeout,
        steps,
        unknown_steps: known.filter(is_unknown).map(str::to_owned).collect(),
        ..NewCall::default()
    }
}
