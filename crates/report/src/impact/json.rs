//! A comparison as one JSON document: every cause, not only those of a page.

use super::words::ImpactPage;
use crate::json::{Millis, Object, document, inputs, place};
use playproof_analysis::impact::{
    CauseName, CauseRow, Changes, Direction, ExampleCall, FindingChange, GateFailure, Impact, Load, QueueLoad, Side,
    SimulatedEnd, parts,
};
use playproof_engine::event::EffectClaim;
use playproof_formats::golden::{PartChange, RowChange};
use playproof_intake::origin::Sources;

/// The document, ending with a line break. `sources` are the inputs, for the places of examples.
pub fn json(shown: &ImpactPage<'_>, sources: &Sources) -> String {
    let impact = shown.impact;
    let counts = &impact.counts;
    let directions: Object = Direction::ALL.into_iter().map(|one| (one.as_str(), counts.in_direction(one))).collect();
    let written = Object::document("impact/1")
        .with("base", side(&impact.base))
        .with("candidate", side(&impact.candidate))
        .maybe("approximate", Some(shown.remarks).filter(|remarks| !remarks.is_empty()))
        .with("inputs", inputs(shown.replayed, shown.notes, sources))
        .with("calls", counts.calls)
        .with("failed_calls", counts.failed)
        .with("unchanged", counts.unchanged())
        .with("changed", counts.changed)
        .with("undetermined", undetermined(impact))
        .with("directions", directions)
        .with("differ_in", changes(&counts.changes))
        .with("load", load(&counts.load))
        .with("queues", impact.queues.iter().map(queue).collect::<Vec<_>>())
        .with("findings", impact.findings.iter().map(finding).collect::<Vec<_>>())
        .with("rows", impact.rows.iter().map(row).collect::<Vec<_>>())
        .with("causes", impact.causes.iter().map(|found| cause(found, sources)).collect::<Vec<_>>())
        .with("calls_of_other_causes", counts.overflow)
        .with("gate", gate(shown));
    document(&written) + "\n"
}

fn side(side: &Side) -> Object {
    let claims = [EffectClaim::Applied, EffectClaim::NotApplied, EffectClaim::Unknown].map(EffectClaim::as_str);
    Object::default()
        .with("playbook", &side.playbook)
        .with("fingerprint", &side.fingerprint)
        .with("upstream_calls", side.upstream_calls)
        .with("added_delay_ms", Millis(side.added_delay))
        .with("waiting_for_people", side.people)
        .with("effects", side.effects)
        .with("effects_that_may_be_doubled", side.doubled)
        .with("claims", claims.into_iter().zip(side.claims).collect::<Object>())
}

fn undetermined(impact: &Impact) -> Object {
    let of = &impact.counts.undetermined;
    Object::default()
        .with("calls", of.calls())
        .with("base_only", of.base)
        .with("candidate_only", of.candidate)
        .with("both", of.both)
        .with("decided_differently", impact.counts.undetermined_differing)
}

fn changes(changes: &Changes) -> Object {
    changes.rows().map(|(what, count)| (what.as_str(), count)).collect()
}

fn load(load: &Load) -> Object {
    Object::default()
        .with("upstream_calls_more", load.upstream_more)
        .with("upstream_calls_fewer", load.upstream_fewer)
        .with("delay_more_ms", Millis(load.delay_more))
        .with("delay_fewer_ms", Millis(load.delay_fewer))
        .with("waiting_for_people_more", load.people_more)
        .with("waiting_for_people_fewer", load.people_fewer)
        .with("effects_that_may_be_doubled_more", load.doubled_more)
        .with("effects_that_may_be_doubled_fewer", load.doubled_fewer)
}

fn queue(load: &QueueLoad) -> Object {
    Object::default().with("queue", &load.queue).with("base", load.base).with("candidate", load.candidate)
}

fn finding(change: &FindingChange) -> Object {
    let FindingChange { kind, base, candidate, gained, lost } = *change;
    let found = Object::default().with("id", kind.id.as_str()).with("severity", kind.severity.as_str());
    found.and(&[("base", base), ("candidate", candidate), ("gained", gained), ("lost", lost)].into_iter().collect())
}

fn row(row: &RowChange) -> Object {
    let part = |PartChange { path, before, after }| {
        Object::default().with("part", path).with("base", before).with("candidate", after)
    };
    Object::default().with("row", &row.name).with("parts", parts(row).into_iter().map(part).collect::<Vec<_>>())
}

fn cause(found: &CauseRow, sources: &Sources) -> Object {
    let classified = |(rule, verdict): &(String, String)| Object::default().with("rule", rule).with("verdict", verdict);
    let named = Object::default().with("direction", found.direction.as_str());
    let named = match &found.cause {
        CauseName::Classified { base, candidate } => {
            named.with("cause", "classified").with("base", classified(base)).with("candidate", classified(candidate))
        }
        CauseName::Row(change) => named.with("cause", "row").and(&row(change)),
        CauseName::ToolFacts => named.with("cause", "tool_facts"),
        CauseName::Several => named.with("cause", "several"),
    };
    let tools = found.tools.rows().into_iter();
    let tools = tools.map(|(tool, calls)| Object::default().with("tool", tool).with("calls", calls));
    named
        .with("calls", found.calls)
        .with("following", found.following)
        .with("undetermined", found.undetermined)
        .with("differ_in", changes(&found.changes))
        .with("load", load(&found.load))
        .with("tools", tools.collect::<Vec<_>>())
        .maybe("calls_of_other_tools", Some(found.tools.others()).filter(|others| *others > 0))
        .maybe("example", found.example.as_ref().map(|one| example(one, sources)))
}

fn example(example: &ExampleCall, sources: &Sources) -> Object {
    Object::default()
        .with("call", &example.reference)
        .and(&place(sources, example.place))
        .with("tool", &example.tool)
        .with("base", end(&example.base))
        .with("candidate", end(&example.candidate))
}

fn end(end: &SimulatedEnd) -> Object {
    Object::default()
        .with("outcome", end.outcome)
        .maybe("detail", end.detail.as_deref())
        .with("effect", end.claim.as_str())
        .with("attempts", end.attempts)
}

fn gate(shown: &ImpactPage<'_>) -> Object {
    let refusals = shown.gate.judge(shown.impact);
    let asked = [("widening", shown.gate.widening), ("effects", shown.gate.effects)];
    let asked: Vec<&str> = asked.into_iter().filter(|(_, on)| *on).map(|(name, _)| name).collect();
    let refusal = |refusal: &GateFailure| {
        let (why, calls) = match *refusal {
            GateFailure::Unsafe(calls) => ("unsafe", calls),
            GateFailure::Widening(calls) => ("widening", calls),
            GateFailure::Effects(calls) => ("effects", calls),
        };
        Object::default().with("why", why).with("calls", calls)
    };
    Object::default()
        .with("passed", refusals.is_empty() && !shown.gate.is_undecided(shown.impact))
        .with("decided", shown.impact.counts.decided)
        .with("fail_on", asked)
        .maybe("allow_widening", shown.gate.allow_widening.as_deref())
        .with("refusals", refusals.iter().map(refusal).collect::<Vec<_>>())
}
