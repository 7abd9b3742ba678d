//! What a playbook would do with the calls of a recording: lines of type `shadow`, which readers of a recording leave out, and
//! a line for people on each call that would end differently.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use playproof_engine::time::Duration;
use playproof_protocol::object::{Object, quote};

use crate::deciding::{Deciding, Unheard};
use crate::reading::TraceLine;

/// The most calls that are kept for late answers.
const MAX_CALLS: usize = 10_000;

/// Asks a playbook that nobody obeys.
pub(crate) struct Shadow {
    deciding: Deciding,
    answer_within: Duration,
    /// By their names in the session: the calls, oldest first.
    calls: BTreeMap<String, Known>,
    /// The latest name of each call.
    names: BTreeMap<String, String>,
    oldest: VecDeque<String>,
    made: u64,
}

struct Known {
    run: Option<String>,
    call: String,
    tool: String,
    /// It would have been sent again.
    is_repeated: bool,
}

impl Shadow {
    pub(crate) fn new(deciding: Deciding, answer_within: Duration) -> Shadow {
        let (calls, names) = (BTreeMap::new(), BTreeMap::new());
        Shadow { deciding, answer_within, calls, names, oldest: VecDeque::new(), made: 0 }
    }

    /// What is decided of trace lines: lines for the recording, and lines for people.
    pub(crate) fn take(&mut self, lines: &str) -> (String, Vec<String>) {
        let (mut out, mut said) = (String::new(), Vec::new());
        for line in TraceLine::all(lines) {
            let Some(driver_line) = self.driver_line(&line) else { continue };
            if let Err(Unheard::Refused(why) | Unheard::Unkept(why)) = self.deciding.say(&driver_line) {
                said.push(format!("shadow: nothing is decided of a line ({why})"));
            }
            for record in self.deciding.session.take_records() {
                said.extend(self.decision(&mut out, &record));
            }
        }
        (out, said)
    }

    /// What a driver says where a trace has such a line.
    fn driver_line(&mut self, line: &TraceLine<'_>) -> Option<String> {
        let (call, at) = (line.call_id.as_deref()?, line.at_ms?.get());
        let mut out = String::new();
        let begin =
            |kind: &str, name: &str, out| Object::new(out).text("type", kind).text("id", name).json("at_ms", at);
        match &*line.kind {
            "tool_call" => {
                let name = self.name(call, line);
                let object = begin("call", &name, &mut out).text("tool", line.tool.as_deref()?);
                let object = object.json("args", line.args.map_or("{}", |args| args.get()));
                let object = object.text_if("run", line.run_id.as_deref());
                let object = object.text_if("key", line.idempotency_key.as_deref());
                object.span("answer_within_ms", self.answer_within).end();
            }
            "tool_result" => {
                let object = begin("answer", self.names.get(call)?, &mut out);
                let object = object.number("attempt", line.attempt.unwrap_or(1));
                let object = if line.answers.as_deref() == Some("late") { object.truth("late", true) } else { object };
                answer(object, line).end();
            }
            "cancel" => begin("cancel", self.names.get(call)?, &mut out).end(),
            _ => return None,
        }
        Some(out)
    }

    /// The name of a new call: that of the recording, unless it was used before.
    fn name(&mut self, call: &str, line: &TraceLine<'_>) -> String {
        self.made += 1;
        let is_taken = self.calls.contains_key(call);
        let name = if is_taken { format!("{call}~{}", self.made) } else { call.to_owned() };
        let tool = line.tool.clone().unwrap_or_default();
        let known = Known { run: line.run_id.clone(), call: call.to_owned(), tool, is_repeated: false };
        self.calls.insert(name.clone(), known);
        self.names.insert(call.to_owned(), name.clone());
        self.oldest.push_back(name.clone());
        if self.oldest.len() > MAX_CALLS
            && let Some(known) = self.oldest.pop_front().and_then(|oldest| self.calls.remove(&oldest))
        {
            self.names.remove(&known.call);
        }
        name
    }

    /// Writes a decision; gives the line for people, if its call would end differently.
    fn decision(&mut self, out: &mut String, record: &str) -> Option<String> {
        let fields: Value = serde_json::from_str(record).ok()?;
        let known = self.calls.get_mut(fields["id"].as_str()?)?;
        let rest = record.split_once(",\"at_ms\":")?.1;
        out.push_str("{\"type\":\"shadow\"");
        for (key, text) in [("run_id", known.run.as_deref()), ("call_id", Some(&*known.call))] {
            let Some(text) = text else { continue };
            out.push_str(&format!(",\"{key}\":"));
            quote(out, text);
        }
        out.push_str(&format!(",\"at_ms\":{rest}\n"));
        let word = |key: &str| fields[key].as_str();
        match word("event")? {
            "retry_scheduled" if !std::mem::replace(&mut known.is_repeated, true) => {
                return Some(format!("shadow: {} (call {}) would be sent again", known.tool, known.call));
            }
            "outcome" if !known.is_repeated => {
                let what = match word("outcome")? {
                    "succeeded" | "cancelled" | "undetermined" => return None,
                    outcome => ["queue", "why", "stop"].into_iter().filter_map(word).fold(
                        format!("end {outcome}"), // with its queue, its reason or its limit
                        |said, more| format!("{said} ({more})"),
                    ),
                };
                return Some(format!("shadow: {} (call {}) would {what}", known.tool, known.call));
            }
            _ => {}
        }
        None
    }
}

/// What came, for an answer of a driver: only a flag of the server makes a failure.
pub(crate) fn answer<'o>(object: Object<'o>, line: &TraceLine<'_>) -> Object<'o> {
    let error = line.error.map(|error| error.get());
    let object = match line.status.as_deref() {
        Some("ok") => return object.truth("ok", true),
        Some("suspected") => object.truth("suspected", true),
        Some("unfinished") => object.truth("accepted", true),
        _ if error.is_none() => return object.truth("ok", false),
        _ => object,
    };
    match error {
        Some(error) => object.json("error", error),
        None => object,
    }
}
