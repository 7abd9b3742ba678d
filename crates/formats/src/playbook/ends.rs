//! How canonical rows write what ends a call: a queue of people, or a reason.

use serde_json::{Value, json};

use playproof_engine::ids::{QueueId, ReasonId};
use playproof_engine::playbook::{Playbook, Terminal};

pub(super) fn end(playbook: &Playbook, end: Terminal) -> Value {
    match end {
        Terminal::Escalate(queue) => json!({ "escalate_to_human": queue_name(playbook, queue) }),
        Terminal::Deprecate(reason) => json!({ "deprecate_tool_call": reason_text(playbook, reason) }),
    }
}

pub(super) fn queue_name(playbook: &Playbook, queue: QueueId) -> &str {
    playbook.queues.get(queue.index()).map_or("", |name| name)
}

pub(super) fn reason_text(playbook: &Playbook, reason: ReasonId) -> &str {
    playbook.reasons.get(reason.index()).map_or("", |text| text)
}
