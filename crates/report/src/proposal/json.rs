//! Proposals as one JSON document.

use crate::json::{Object, document, row};
use playproof_analysis::proposal::{CallSummary, FixtureDiff, ProposalGate, ProposalReport};

/// The document, ending with a line break.
pub fn json(all: &[ProposalReport]) -> String {
    let proposals: Vec<Object> = all.iter().map(proposal).collect();
    document(&Object::document("propose-check/1").with("proposals", proposals)) + "\n"
}

fn proposal(judged: &ProposalReport) -> Object {
    let lost = judged.guarantees.iter().flat_map(|asked| &asked.lost).map(|id| id.as_str());
    let rests_on = judged.guarantees.iter().flat_map(|asked| &asked.now.rests_on).map(|rests| &*rests.on);
    Object::default()
        .with("id", &judged.id)
        .with("playbook", &judged.playbook)
        .with("gates", judged.gates.iter().map(gate).collect::<Vec<_>>())
        .with("rows", judged.rows.iter().map(row).collect::<Vec<_>>())
        .with("fixtures", judged.shown().into_iter().map(fixture).collect::<Vec<_>>())
        .with("unchanged", judged.unchanged())
        .with("lost", lost.collect::<Vec<_>>())
        .with("rests_on", rests_on.collect::<Vec<_>>())
}

fn gate(gate: &ProposalGate) -> Object {
    let said = Object::default().with("id", gate.kind.as_str()).with("message", &gate.message);
    said.maybe("help", gate.help.as_deref()).with("next", gate.next.to_string())
}

fn fixture(diff: &FixtureDiff) -> Object {
    Object::default()
        .with("id", diff.id.to_string())
        .flag("new", diff.is_new)
        .with("class", diff.class().map(|class| class.as_str()))
        .with("effects_before", diff.effects.0)
        .with("effects_after", diff.effects.1)
        .list("unsafe_findings", diff.harm.iter().map(|id| id.as_str()).collect())
        .with("before", diff.before.iter().map(call).collect::<Vec<_>>())
        .with("after", diff.after.iter().map(call).collect::<Vec<_>>())
}

fn call(facts: &CallSummary) -> Object {
    let verdicts = facts.verdicts.split(", ").filter(|verdict| !verdict.is_empty());
    Object::default()
        .with("call", &facts.call)
        .with("verdicts", verdicts.collect::<Vec<_>>())
        .with("compensation", &facts.compensation)
        .with("outcome", &facts.outcome)
        .with("queue", facts.queue.as_deref())
        .with("effect", &facts.effect)
        .with("attempts", facts.attempts.parse().unwrap_or(0_u64))
        .with("delay_ms", facts.delay_ms)
        .maybe("told", facts.told.as_ref().map(|(class, _)| class.as_str()))
        .maybe("retriable", facts.told.as_ref().map(|(_, retriable)| *retriable))
        .maybe("next", facts.next.as_deref())
}
