//! What a playbook would do with the calls of a recording: lines of type `shadow`, which readers of a recording leave out, and
//! a line for people on each call that would end differently.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use playproof_protocol::object::Object;

use crate::call::Recorded;

/// The most calls that are kept: the playbook may decide of a call after its end.
const MAX_CALLS: usize = 10_000;

/// Knows what the decisions of a playbook that nobody obeys are about.
#[derive(Default)]
pub(crate) struct Shadow {
    /// By their names in the session: the calls, and the names, oldest first.
    calls: BTreeMap<String, Known>,
    oldest: VecDeque<String>,
}

struct Known {
    recorded: Option<Recorded>,
    tool: String,
    /// Obeyed, it would not be sent again.
    is_final: bool,
    /// It is said how it would end, or it would end alike.
    is_said: bool,
}

impl Shadow {
    /// A call is made.
    pub(crate) fn learn(&mut self, name: &str, recorded: Option<Recorded>, tool: &str) {
        let known = Known { recorded, tool: tool.to_owned(), is_final: false, is_said: false };
        self.calls.insert(name.to_owned(), known);
        self.oldest.push_back(name.to_owned());
        if self.oldest.len() > MAX_CALLS {
            self.oldest.pop_front().map(|oldest| self.calls.remove(&oldest));
        }
    }

    /// Obeyed, a call would not be sent again; if its answer passes, it would end alike.
    pub(crate) fn hush(&mut self, name: &str, may_repeat: bool, passes: bool) {
        if let Some(known) = self.calls.get_mut(name) {
            known.is_final |= !may_repeat;
            known.is_said |= passes;
        }
    }

    /// Writes a decision; gives the line for people, if its call would end differently.
    pub(crate) fn decision(&mut self, out: &mut String, record: &str) -> Option<String> {
        let fields: Value = serde_json::from_str(record).ok()?;
        let name = fields["id"].as_str()?;
        let known = self.calls.get_mut(name)?;
        let recorded = known.recorded.as_ref();
        let call = recorded.map_or(name, |recorded| &recorded.call);
        Object::new(out)
            .text("type", "shadow")
            .text_if("run_id", recorded.and_then(|recorded| recorded.run.as_deref()))
            .text("call_id", call)
            .text("id", name)
            .end();
        out.pop(); // it goes on
        out.push_str(&format!(",\"at_ms\":{}\n", record.split_once(",\"at_ms\":")?.1));
        let word = |key: &str| fields[key].as_str();
        let would = match word("event")? {
            "retry_scheduled" if !known.is_final => "be sent again".to_owned(),
            "outcome" => match word("outcome")? {
                "succeeded" | "cancelled" | "undetermined" => return None,
                outcome => ["queue", "why", "stop"].into_iter().filter_map(word).fold(
                    format!("end {outcome}"), // with its queue, its reason or its limit
                    |said, more| format!("{said} ({more})"),
                ),
            },
            _ => return None,
        };
        let is_new = !std::mem::replace(&mut known.is_said, true);
        is_new.then(|| format!("shadow: {} (call {call}) would {would}", known.tool))
    }
}
