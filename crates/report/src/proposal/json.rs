//! Proposals as one JSON document.

use serde::Serialize;

use crate::json::{RowJson, document};
use playproof_analysis::proposal::{CallSummary, FixtureDiff, ProposalGate, ProposalReport};

#[derive(Serialize)]
struct CheckJson<'a> {
    format: &'static str,
    proposals: Vec<ProposalJson<'a>>,
}

#[derive(Serialize)]
struct ProposalJson<'a> {
    id: &'a str,
    playbook: &'a str,
    gates: Vec<GateJson<'a>>,
    rows: Vec<RowJson<'a>>,
    fixtures: Vec<FixtureJson<'a>>,
    unchanged: usize,
    lost: Vec<&'static str>,
    rests_on: Vec<&'a str>,
}

#[derive(Serialize)]
struct GateJson<'a> {
    id: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    next: String,
}

#[derive(Serialize)]
struct FixtureJson<'a> {
    id: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    new: bool,
    class: Option<&'static str>,
    effects_before: u32,
    effects_after: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unsafe_findings: Vec<&'static str>,
    before: Vec<CallJson<'a>>,
    after: Vec<CallJson<'a>>,
}

#[derive(Serialize)]
struct CallJson<'a> {
    call: &'a str,
    verdicts: Vec<&'a str>,
    compensation: &'a str,
    outcome: &'a str,
    queue: Option<&'a str>,
    effect: &'a str,
    attempts: u64,
    delay_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    told: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retriable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a [String]>,
}

/// The document, ending with a line break.
pub fn json(all: &[ProposalReport]) -> String {
    document(&CheckJson { format: "propose-check/1", proposals: all.iter().map(proposal).collect() }) + "\n"
}

fn proposal(judged: &ProposalReport) -> ProposalJson<'_> {
    ProposalJson {
        id: &judged.id,
        playbook: &judged.playbook,
        gates: judged.gates.iter().map(gate).collect(),
        rows: judged.rows.iter().map(RowJson::from).collect(),
        fixtures: judged.shown().into_iter().map(fixture).collect(),
        unchanged: judged.unchanged(),
        lost: judged.guarantees.iter().flat_map(|asked| &asked.lost).map(|id| id.as_str()).collect(),
        rests_on: judged.guarantees.iter().flat_map(|asked| &asked.now.rests_on).map(|rests| &*rests.on).collect(),
    }
}

fn gate(gate: &ProposalGate) -> GateJson<'_> {
    GateJson { id: gate.kind.as_str(), message: &gate.message, help: gate.help.as_deref(), next: gate.next.to_string() }
}

fn fixture(diff: &FixtureDiff) -> FixtureJson<'_> {
    FixtureJson {
        id: diff.id.to_string(),
        new: diff.is_new,
        class: diff.class().map(|class| class.as_str()),
        effects_before: diff.effects.0,
        effects_after: diff.effects.1,
        unsafe_findings: diff.harm.iter().map(|id| id.as_str()).collect(),
        before: diff.before.iter().map(call).collect(),
        after: diff.after.iter().map(call).collect(),
    }
}

fn call(facts: &CallSummary) -> CallJson<'_> {
    CallJson {
        call: &facts.call,
        verdicts: facts.verdicts.split(", ").filter(|verdict| !verdict.is_empty()).collect(),
        compensation: &facts.compensation,
        outcome: &facts.outcome,
        queue: facts.queue.as_deref(),
        effect: &facts.effect,
        attempts: facts.attempts.parse().unwrap_or(0),
        delay_ms: facts.delay_ms,
        told: facts.told.as_ref().map(|(class, _)| class.as_str()),
        retriable: facts.told.as_ref().map(|(_, retriable)| *retriable),
        next: facts.next.as_deref(),
    }
}
