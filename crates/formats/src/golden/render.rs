//! Renders a simulation as the body of a golden, and that body as text: outcomes, then ledger, findings, and events with
//! delta times, so that one changed delay changes one line. Writes no time of day, path, line number or version.

use std::fmt::Write;

use super::body::{CallEnd, EventLine, FindingLine, GoldenBody, GoldenField, LedgerLine};
use super::value::GoldenValue;
use crate::yaml::scalar;
use playproof_engine::event::{DecisionEvent, FieldKey, FieldValue, Finding, Intent, NameId, Outcome, Transcript};
use playproof_engine::ids::{ActionId, CallId, StepId};
use playproof_engine::time::Instant;

impl GoldenBody {
    /// The body of a simulation, without places.
    pub fn new(transcript: &Transcript<'_>) -> GoldenBody {
        let finding = |finding: &Finding| FindingLine {
            id: finding.id,
            call: transcript.call(finding.call).to_owned(),
            by: finding.by,
            count: finding.count,
            span: 0..0,
        };
        GoldenBody {
            calls: (0..).map(CallId).zip(transcript.outcomes).map(|(id, end)| call_end(transcript, id, end)).collect(),
            ledger: ledger(transcript),
            findings: transcript.findings.iter().map(finding).collect(),
            events: transcript.events.iter().map(|event| event_line(transcript, event)).collect(),
        }
    }

    /// As text.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for call in &self.calls {
            line(&mut text, format_args!("{}: {{ {} }}", scalar(&call.name), written(&call.fields)));
        }
        line(&mut text, format_args!("ledger:{}", if self.ledger.is_empty() { " {}" } else { "" }));
        for entry in &self.ledger {
            line(&mut text, format_args!("  {}: {}", scalar(&entry.intent), entry.words()));
        }
        line(&mut text, format_args!("findings:{}", if self.findings.is_empty() { " []" } else { "" }));
        for finding in &self.findings {
            let (id, call) = (finding.id.as_str(), scalar(&finding.call));
            line(&mut text, format_args!("- {{ {id}: {call}, {} }}", finding.words()));
        }
        line(&mut text, format_args!("events:"));
        let mut before = Instant::ZERO;
        for event in &self.events {
            let delta = format!("+{}:", event.at.since(before));
            before = event.at;
            let (call, kind) = (scalar(&event.call), event.kind.as_str());
            let value = event.value.written(event.kind.value_key());
            let fields = if event.fields.is_empty() { String::new() } else { format!(", {}", written(&event.fields)) };
            line(&mut text, format_args!("- {{ {delta:<6} {call}, {kind}: {value}{fields} }}"));
        }
        text
    }
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{what}");
}

fn written(fields: &[GoldenField]) -> String {
    let each: Vec<String> =
        fields.iter().map(|(key, said)| format!("{}: {}", key.as_str(), said.written(*key))).collect();
    each.join(", ")
}

fn call_end(transcript: &Transcript<'_>, id: CallId, outcome: &Outcome) -> CallEnd {
    let mut fields = Vec::new();
    outcome.each_field(|key, value| {
        if key.is_in_golden(value) {
            fields.push((key, GoldenValue::new(value, transcript)));
        }
        if key == FieldKey::Attempts {
            fields.push((FieldKey::Verdicts, GoldenValue::Names(transcript.verdicts(id).map(str::to_owned).collect())));
        }
    });
    if let Some(steps) = transcript.steps_of(id) {
        let names = |ids: &[StepId]| {
            let names = ids.iter().map(|id| transcript.names.step(steps.action, *id).to_owned());
            GoldenValue::Names(names.collect())
        };
        if let Some(failed) = steps.failed {
            let failed = FieldValue::Name(NameId::Step(steps.action, failed));
            fields.push((FieldKey::Step, GoldenValue::new(failed, transcript)));
        }
        fields.push((FieldKey::Completed, names(&steps.completed)));
        if !steps.skipped.is_empty() {
            fields.push((FieldKey::Skipped, names(&steps.skipped)));
        }
    }
    if let Some(told) = transcript.told(id) {
        fields.push((FieldKey::Class, GoldenValue::Text(told.class.as_str().into())));
        fields.push((FieldKey::Retriable, GoldenValue::new(told.retriable.into(), transcript)));
    }
    if let Some(valid) = transcript.valid_after(id) {
        let actions = |ids: &[ActionId]| ids.iter().map(|id| transcript.names.action(*id).to_owned()).collect();
        fields.push((FieldKey::Next, GoldenValue::Names(actions(&valid.next))));
        if !valid.withheld.is_empty() {
            fields.push((FieldKey::Withheld, GoldenValue::Names(actions(&valid.withheld))));
        }
    }
    CallEnd { name: transcript.call(id).to_owned(), fields, span: 0..0 }
}

/// One line for each intent, in the order of its first effect.
fn ledger(transcript: &Transcript<'_>) -> Vec<LedgerLine> {
    let mut lines: Vec<(Intent, LedgerLine)> = Vec::new();
    for entry in transcript.ledger {
        let known = lines.iter().position(|(intent, _)| *intent == entry.intent);
        let at = known.unwrap_or_else(|| {
            let intent = (transcript.intent_name)(entry.intent);
            lines.push((entry.intent, LedgerLine { intent, counts: Default::default(), span: 0..0 }));
            lines.len() - 1
        });
        *lines[at].1.counts.entry(entry.kind).or_default() += 1; // `at` was found or pushed above
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

fn event_line(transcript: &Transcript<'_>, event: &DecisionEvent) -> EventLine {
    let fields = event.what.fields().skip(1).filter(|(key, value)| key.is_in_golden(*value));
    EventLine {
        at: event.at,
        call: transcript.call(event.call).to_owned(),
        kind: event.what.kind(),
        value: GoldenValue::new(event.what.value(), transcript),
        fields: fields.map(|(key, value)| (key, GoldenValue::new(value, transcript))).collect(),
        span: 0..0,
    }
}
