//! A comparison as one JSON document: every cause, not only those of a page.

use super::words::Shown;
use crate::event::EffectClaim;
use crate::golden::RowChange;
use crate::impact::{CauseName, CauseRow, Changes, Direction, End, Impact, Load, Refusal, Side, parts};
use crate::report::json::{Object, write_inputs, write_place};
use crate::trace::origin::Sources;

/// The document, ending with a line break. `inputs` are the names of the inputs, for the places of examples.
pub fn json(shown: &Shown<'_>, inputs: &Sources) -> Vec<u8> {
    let impact = shown.impact;
    let mut out = Vec::new();
    let mut document = Object::open(&mut out);
    document.text("format", "impact/1");
    document.object("base", |object| side(object, &impact.base));
    document.object("candidate", |object| side(object, &impact.candidate));
    write_inputs(&mut document, shown.replayed, shown.notes, inputs);
    counts(&mut document, impact);
    document.objects("queues", &impact.queues, |object, queue| {
        object.text("queue", &queue.queue).number("base", queue.base).number("candidate", queue.candidate);
    });
    document.objects("findings", &impact.findings, |object, finding| {
        object.text("id", finding.id.as_str()).text("severity", finding.id.severity().as_str());
        object.number("base", finding.base).number("candidate", finding.candidate);
        object.number("gained", finding.gained).number("lost", finding.lost);
    });
    document.objects("rows", &impact.rows, row);
    document.objects("causes", &impact.causes, |object, found| cause(object, found, inputs));
    document.number("calls_of_other_causes", impact.overflow);
    document.object("gate", |object| gate(object, shown));
    document.end();
    out.push(b'\n');
    out
}

fn side(object: &mut Object<'_>, side: &Side) {
    object.text("playbook", &side.playbook).text("fingerprint", &side.fingerprint);
    object.number("upstream_calls", side.upstream_calls).millis("added_delay_ms", side.added_delay);
    object.number("waiting_for_people", side.people).number("effects", side.effects);
    object.number("effects_that_may_be_doubled", side.doubled);
    object.object("claims", |object| {
        let claims = [EffectClaim::Applied, EffectClaim::NotApplied, EffectClaim::Unknown];
        for (claim, count) in claims.into_iter().zip(side.claims) {
            object.number(claim.as_str(), count);
        }
    });
}

fn counts(object: &mut Object<'_>, impact: &Impact) {
    object.number("calls", impact.calls).number("failed_calls", impact.failed);
    object.number("unchanged", impact.unchanged()).number("changed", impact.changed);
    object.object("undetermined", |object| {
        object.number("calls", impact.undetermined.calls()).number("base_only", impact.undetermined.base);
        object.number("candidate_only", impact.undetermined.candidate).number("both", impact.undetermined.both);
        object.number("decided_differently", impact.undetermined_differing);
    });
    object.object("directions", |object| {
        for direction in Direction::ALL {
            object.number(direction.as_str(), impact.count(direction));
        }
    });
    object.object("differ_in", |object| changes(object, &impact.changes));
    object.object("load", |object| load(object, &impact.load));
}

fn changes(object: &mut Object<'_>, changes: &Changes) {
    for (what, count) in changes.rows() {
        object.number(what.as_str(), count);
    }
}

fn load(object: &mut Object<'_>, load: &Load) {
    object.number("upstream_calls_more", load.upstream_more).number("upstream_calls_fewer", load.upstream_fewer);
    object.millis("delay_more_ms", load.delay_more).millis("delay_fewer_ms", load.delay_fewer);
    object.number("waiting_for_people_more", load.people_more).number("waiting_for_people_fewer", load.people_fewer);
    object.number("effects_that_may_be_doubled_more", load.doubled_more);
    object.number("effects_that_may_be_doubled_fewer", load.doubled_fewer);
}

fn row(object: &mut Object<'_>, row: &RowChange) {
    object.text("row", &row.name);
    object.objects("parts", &parts(row), |object, part| {
        object.text("part", &part.path);
        for (key, value) in [("base", &part.before), ("candidate", &part.after)] {
            object.text_or_null(key, value.as_deref());
        }
    });
}

fn cause(object: &mut Object<'_>, found: &CauseRow, inputs: &Sources) {
    object.text("direction", found.direction.as_str());
    match &found.cause {
        CauseName::Classified { base, candidate } => {
            object.text("cause", "classified");
            for (key, (rule, verdict)) in [("base", base), ("candidate", candidate)] {
                object.object(key, |object| {
                    object.text("rule", rule).text("verdict", verdict);
                });
            }
        }
        CauseName::Row(change) => row(object.text("cause", "row"), change),
        CauseName::ToolFacts => drop(object.text("cause", "tool_facts")),
        CauseName::Several => drop(object.text("cause", "several")),
    }
    object.number("calls", found.calls).number("undetermined", found.undetermined);
    object.object("differ_in", |object| changes(object, &found.changes));
    object.object("load", |object| load(object, &found.load));
    object.objects("tools", found.tools.rows(), |object, (tool, calls)| {
        object.text("tool", tool).number("calls", calls);
    });
    if found.tools.others() > 0 {
        object.number("calls_of_other_tools", found.tools.others());
    }
    if let Some(example) = &found.example {
        object.object("example", |object| {
            object.text("call", &example.reference);
            write_place(object, inputs, example.place);
            object.text("tool", &example.tool);
            object.object("base", |object| end(object, &example.base));
            object.object("candidate", |object| end(object, &example.candidate));
        });
    }
}

fn end(object: &mut Object<'_>, end: &End) {
    object.text("outcome", end.outcome).text_if("detail", end.detail.as_deref());
    object.text("effect", end.claim.as_str()).number("attempts", u64::from(end.attempts));
}

fn gate(object: &mut Object<'_>, shown: &Shown<'_>) {
    let refusals = shown.gate.judge(shown.impact);
    let passed = refusals.is_empty() && !shown.gate.is_undecided(shown.impact);
    object.raw("passed", if passed { b"true" } else { b"false" });
    object.number("decided", shown.impact.decided);
    let asked = [("widening", shown.gate.widening), ("effects", shown.gate.effects)];
    object.texts("fail_on", asked.into_iter().filter(|(_, on)| *on).map(|(name, _)| name));
    object.text_if("allow_widening", shown.gate.allow_widening.as_deref());
    object.objects("refusals", refusals, |object, refusal| {
        let (why, calls) = match refusal {
            Refusal::Unsafe(calls) => ("unsafe", calls),
            Refusal::Widening(calls) => ("widening", calls),
            Refusal::Effects(calls) => ("effects", calls),
        };
        object.text("why", why).number("calls", calls);
    });
}
