//! One object a call: how it ended under one playbook, and what was found. Written in whole fragments, as events are.

use super::write::append;
use crate::view::CallView;
use playproof_analysis::envelope::{
    Detail, Details, Envelope, EnvelopeCall, EnvelopeKind, GraphAnswer, audit_id, envelope,
};
use playproof_engine::call::RecordedCall;
use playproof_engine::event::{Decision, EffectClaim, Finding, OutcomeKind, OutcomeWord, Told, Transcript};
use playproof_engine::ids::{ActionId, CallId, StepId};
use playproof_engine::sim::{CallTally, OffTape};
use playproof_engine::time::Duration;
use playproof_protocol::events::{self, Said};
use playproof_protocol::fragment::{digits, list, number, quote, raw, span, text, text_if, word};

/// Where the events of a call are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Events {
    /// In its object.
    Within,
    /// Not there.
    Elsewhere,
    /// In lines before it in the same buffer, all of this call: what [`write_events`](super::write_events) gave.
    Before(Said),
}

/// What the object of a call has beside how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallParts {
    /// Where its events are told.
    pub events: Events,
    /// The form of the envelope that its agent gets, if one is wanted.
    pub envelope: Option<EnvelopeKind>,
}

/// Appends the call's object to `out`, without a line end.
///
/// `findings` are those of this call, by whomever they were made.
pub fn write_call(
    out: &mut Vec<u8>,
    view: &CallView<'_>,
    transcript: &Transcript<'_>,
    call: CallId,
    tally: &CallTally,
    findings: &[Finding],
    parts: &CallParts,
) {
    let told = &parts.events;
    raw(out, "{\"type\":\"call\"");
    if let Events::Before(said) = told {
        out.extend_from_within(said.head.clone());
    } else {
        text(out, ",\"playbook\":", &transcript.names.playbook);
        text(out, ",\"ref\":", view.reference);
    }
    text_if(out, ",\"id\":", view.id);
    text_if(out, ",\"run\":", view.run);
    text_if(out, ",\"dispatcher\":", view.recorded.and_then(RecordedCall::dispatcher));
    text_if(out, ",\"input\":", view.input_from_root);
    if let Some(line) = view.line {
        number(out, ",\"line\":", line);
    }
    text_if(out, ",\"path\":", view.path.map(|path| path.to_string()).as_deref());
    text(out, ",\"tool\":", view.tool);
    if let Some(evidence) = view.recorded.and_then(RecordedCall::weakest_evidence) {
        text(out, ",\"status_from\":", evidence.as_str());
    }
    text_if(out, ",\"idempotency_key\":", view.key);
    match (told, transcript.outcomes.get(call.index())) {
        (Events::Before(said), _) => out.extend_from_within(said.outcome.clone()),
        (_, Some(outcome)) => events::ended(out, transcript, outcome),
        (_, None) => {}
    }
    if let Some(OutcomeKind::Escalated(_)) = transcript.outcomes.get(call.index()).map(|outcome| outcome.kind)
        && let Some(why) =
            transcript.events.iter().find_map(|event| event.what.refusal().filter(|_| event.call == call))
    {
        text(out, ",\"why\":", why.as_str()); // the refusal that people have now
    }
    if let Some(told) = transcript.told(call) {
        write_told(out, view, transcript, told);
    }
    raw(out, ",\"verdicts\":");
    list(out, transcript.verdicts(call), quote);
    steps(out, transcript, call);
    if let Some(valid) = transcript.valid_after(call) {
        let name = |id: &ActionId| transcript.names.action(*id);
        raw(out, ",\"next\":");
        list(out, valid.next.iter().map(name), quote);
        raw(out, ",\"withheld\":");
        list(out, valid.withheld.iter().map(name), quote);
    }
    number(out, ",\"upstream_calls\":", tally.sends);
    span(out, ",\"added_delay_ms\":", tally.added_delay);
    if tally.queued > Duration::ZERO {
        span(out, ",\"queued_ms\":", tally.queued);
    }
    number(out, ",\"tape_left\":", tally.tape_left);
    off_tape(out, tally.off_tape);
    raw(out, ",\"findings\":");
    list(out, findings, |out, finding| {
        word(out, "{\"id\":\"", finding.id.as_str());
        word(out, ",\"severity\":\"", finding.severity.as_str());
        word(out, ",\"by\":\"", finding.by.as_str());
        number(out, ",\"count\":", finding.count);
        text_if(out, ",\"other_call\":", view.other_place(finding).as_deref());
        raw(out, "}");
    });
    if *told == Events::Within {
        raw(out, ",\"events\":");
        let own = transcript.events.iter().filter(|event| event.call == call);
        list(out, own, |out, event| events::write_event(out, transcript, event));
    }
    if let Some(kind) = parts.envelope {
        raw(out, ",\"envelope\":");
        with_envelope(kind, view, transcript, call, |envelope| append(out, &envelope));
    }
    raw(out, "}");
}

/// Passes what the agent gets of a call to `then`; of a step it gets nothing, for its action answers.
pub(super) fn with_envelope(
    kind: EnvelopeKind,
    view: &CallView<'_>,
    transcript: &Transcript<'_>,
    call: CallId,
    then: impl FnOnce(Option<Envelope<'_>>),
) {
    if is_step(view, transcript, call) {
        return then(None);
    }
    let graph = GraphAnswer::of(transcript, call, view.tool, view.args);
    about(view, transcript, call, |about| {
        let name = graph.as_ref().and_then(|graph| graph.action).unwrap_or(about.name);
        let (next, unfit) = (graph.as_ref().map(GraphAnswer::next), graph.as_ref().and_then(GraphAnswer::unfit));
        then(envelope(kind, transcript, call, &EnvelopeCall { name, next, unfit, ..*about }));
    });
}

/// Whether a call is a step of an action of the playbook.
fn is_step(view: &CallView<'_>, transcript: &Transcript<'_>, call: CallId) -> bool {
    match view.recorded {
        Some(recorded) => {
            let mut steps = transcript.names.steps.iter().flatten();
            recorded.step().is_some_and(|(_, step)| steps.any(|known| **known == *step))
        }
        None => view.reference.rsplit_once('/').is_some_and(|(_, name)| {
            transcript.events.iter().filter(|event| event.call != call).any(|event| match event.what {
                Decision::StepEnded { action, step, .. } | Decision::StepSkipped { action, step } => {
                    transcript.names.step(action, step) == name
                }
                _ => false,
            })
        }),
    }
}

/// Of an action with steps: how each ended.
fn steps(out: &mut Vec<u8>, transcript: &Transcript<'_>, call: CallId) {
    if transcript.steps_of(call).is_none() {
        return;
    }
    let ends = transcript.events.iter().filter(|event| event.call == call).filter_map(|event| match event.what {
        Decision::StepEnded { action, step, ended, claim, acts_again, .. } => {
            Some((transcript.names.step(action, step), ended, claim, acts_again))
        }
        Decision::StepSkipped { action, step } => {
            Some((transcript.names.step(action, step), OutcomeWord::Skipped, EffectClaim::NotApplied, false))
        }
        _ => None,
    });
    raw(out, ",\"steps\":");
    list(out, ends, |out, (step, ended, claim, acts_again)| {
        text(out, "{\"step\":", step);
        word(out, ",\"outcome\":\"", ended.as_str());
        word(out, ",\"effect\":\"", claim.as_str());
        raw(out, if acts_again { ",\"acts_again\":true}" } else { "}" });
    });
}

/// What the agent is told of a failed call.
#[cold]
fn write_told(out: &mut Vec<u8>, view: &CallView<'_>, transcript: &Transcript<'_>, told: &Told) {
    word(out, ",\"told\":{\"class\":\"", told.class.as_str());
    raw(out, if told.retriable { ",\"retriable\":true" } else { ",\"retriable\":false" });
    word(out, ",\"boundary\":\"", told.boundary.as_str());
    text(out, ",\"audit_id\":", &audit_id(view.run, view.reference));
    raw(out, ",\"details\":{");
    about(view, transcript, told.call, |about| {
        for (n, (name, detail)) in Details::of(told, transcript, about).0.into_iter().enumerate() {
            raw(out, if n > 0 { "," } else { "" });
            quote(out, name);
            out.push(b':');
            match detail {
                Detail::Number(value) => digits(out, value),
                Detail::Text(text) => quote(out, text),
                Detail::Texts(texts) => list(out, texts, quote),
            }
        }
    });
    raw(out, "}}");
}

/// Passes what an envelope says of the call itself to `then`.
fn about(view: &CallView<'_>, transcript: &Transcript<'_>, call: CallId, then: impl FnOnce(&EnvelopeCall<'_>)) {
    let steps = transcript.steps_of(call);
    let name = |action: ActionId, step: StepId| transcript.names.step(action, step);
    let completed: Vec<&str> = match &steps {
        Some(steps) => steps.completed.iter().map(|step| name(steps.action, *step)).collect(),
        None => Vec::new(),
    };
    then(&EnvelopeCall {
        run: view.run,
        reference: view.reference,
        id: view.id,
        name: view.tool,
        step: steps.as_ref().and_then(|steps| Some(name(steps.action, steps.failed?))),
        completed_steps: &completed,
        ..EnvelopeCall::default()
    });
}

fn off_tape(out: &mut Vec<u8>, departure: Option<OffTape>) {
    let (key, count) = match departure {
        None => return raw(out, ",\"off_tape\":null"),
        Some(OffTape::FinalStatus) => return raw(out, ",\"off_tape\":{\"by\":\"final_status\"}"),
        Some(OffTape::Answers { recorded, used }) => {
            number(out, ",\"off_tape\":{\"by\":\"answers\",\"recorded\":", recorded);
            (",\"used\":", used)
        }
        Some(OffTape::Attempts { recorded, now }) => {
            number(out, ",\"off_tape\":{\"by\":\"attempts\",\"recorded\":", recorded);
            (",\"now\":", now)
        }
    };
    number(out, key, count);
    raw(out, "}");
}
