//! What the client gets at the end of a call that did not succeed: the server's own answer with what is told of it, or, where
//! the server gave none, an answer of ours.

use serde_json::Value;
use serde_json::value::RawValue;

use playproof_protocol::object::{Object, quote};

use crate::call::OpenCall;
use crate::cut::Cuts;
use crate::deciding::End;
use crate::message::{CallError, Message};

/// The key of `_meta` under which a program finds how the call ended.
const OUTCOME: &str = "playproof/outcome";

/// The last line for a call.
pub(crate) fn failed(call: &OpenCall, end: &End) -> String {
    let prose = prose(call, end);
    let outcome = outcome(end);
    let added = call.last.as_ref().and_then(|(line, _)| with_told(line, &prose, &outcome));
    added.unwrap_or_else(|| own(call, &prose, &outcome))
}

/// An answer of ours: it says that the call failed, so that no schema of its result counts.
pub(crate) fn own(call: &OpenCall, prose: &str, outcome: &str) -> String {
    let (mut line, mut result) = (String::new(), String::new());
    let object = Object::new(&mut result).json("content", &format!("[{}]", block(prose))).truth("isError", true);
    let object = if call.is_new_era { object.text("resultType", "complete") } else { object };
    object.json("_meta", &format!("{{{outcome}}}")).end();
    Object::new(&mut line).text("jsonrpc", "2.0").json("id", &call.raw_id).json("result", &result).end();
    line.push('\n');
    line
}

/// The server's answer, and what is told behind its words.
fn with_told(line: &str, prose: &str, outcome: &str) -> Option<String> {
    let message = Message::parse(line)?;
    if let Some(error) = message.error {
        let error: CallError<'_> = serde_json::from_str(error.get()).ok()?;
        let raw = error.message?;
        let text: String = serde_json::from_str(raw.get()).ok()?;
        let told = Value::from(format!("{text}\n{prose}")).to_string();
        return Some(Cuts::of(line).replace(raw, told).line());
    }
    let (whole, result) = (message.result?, message.call_result()?);
    let cuts = match result.content.filter(|content| content.get().starts_with('[')) {
        Some(content) => Cuts::of(line).add(content, &block(prose)),
        None => Cuts::of(line),
    };
    let cuts = match result.meta.filter(|meta| meta.get().starts_with('{')) {
        Some(meta) => cuts.add(meta, outcome),
        None => cuts.add(whole, &format!("\"_meta\":{{{outcome}}}")),
    };
    Some(cuts.line())
}

fn block(prose: &str) -> String {
    let mut block = String::new();
    Object::new(&mut block).text("type", "text").text("text", prose).end();
    block
}

/// How the call ended, as a field of `_meta`.
fn outcome(end: &End) -> String {
    let mut out = String::new();
    quote(&mut out, OUTCOME);
    out.push(':');
    let fields = [
        ("effect", &end.effect),
        ("attempts", &end.attempts),
        ("queue", &end.queue),
        ("stop", &end.stop),
        ("why", &end.why),
        ("told", &end.told),
        ("valid_next", &end.valid_next),
    ];
    let object = Object::new(&mut out).text_if("outcome", end.outcome.as_deref());
    let known = fields.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    known.fold(object, |object, (name, value)| object.json(name, value.get())).end();
    out
}

/// What a person reads: the prose of the playbook, else what is known without it.
fn prose(call: &OpenCall, end: &End) -> String {
    if let Some(prose) = end.messages.as_ref().and_then(|messages| messages.openai.as_ref()) {
        return prose.content.clone();
    }
    let effect = match end.effect.as_deref().map(RawValue::get) {
        Some("\"applied\"") => "It took effect.",
        Some("\"not_applied\"") => "It did not take effect.",
        _ => "It is not known whether it took effect.",
    };
    format!("{} failed, and is not sent again. {effect} Do not make the same call again.", call.tool)
}
