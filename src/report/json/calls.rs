//! One object a call: how it ended under one playbook, and what was found.

use super::events;
use super::write::Object;
use crate::event::{Finding, Transcript};
use crate::ids::CallId;
use crate::report::view::CallView;
use crate::sim::{OffTape, Tally};

/// Appends the call's object to `out`, without a line end.
///
/// `findings` are those of this call, by whomever they were made.
pub fn write_call(
    out: &mut Vec<u8>,
    view: &CallView<'_>,
    transcript: &Transcript<'_>,
    call: CallId,
    tally: &Tally,
    findings: &[Finding],
    with_events: bool,
) {
    let mut line = Object::open(out);
    line.text("type", "call").text("playbook", &transcript.names.playbook).text("ref", view.reference);
    line.text_if("id", view.id).text_if("run", view.run).text_if("input", view.input).number_if("line", view.line);
    line.text("tool", view.tool).text_if("idempotency_key", view.key);
    if let Some(outcome) = transcript.outcomes.get(call.index()) {
        line.more(|out| events::ended(out, transcript, outcome));
    }
    line.texts("verdicts", transcript.verdicts(call));
    line.number("upstream_calls", tally.sends.into()).millis("added_delay_ms", tally.added_delay);
    line.number("tape_left", tally.tape_left.into());
    off_tape(&mut line, tally.off_tape);
    line.objects("findings", findings, |object, finding| {
        object.text("id", finding.id.as_str()).text("severity", finding.id.severity().as_str());
        object.text("by", finding.by.as_str()).number("count", finding.count.into());
    });
    if with_events {
        let own = transcript.events.iter().filter(|event| event.call == call);
        line.raws("events", own, |event, out| events::write_event(out, transcript, event));
    }
    line.end();
}

fn off_tape(line: &mut Object<'_>, departure: Option<OffTape>) {
    match departure {
        None => line.null("off_tape"),
        Some(OffTape::FinalStatus) => line.object("off_tape", |object| {
            object.text("by", "final_status");
        }),
        Some(OffTape::Answers { recorded, used }) => line.object("off_tape", |object| {
            object.text("by", "answers").number("recorded", recorded.into()).number("used", used.into());
        }),
        Some(OffTape::Attempts { recorded, now }) => line.object("off_tape", |object| {
            object.text("by", "attempts").number("recorded", recorded.into()).number("now", now.into());
        }),
    };
}
