//! Proposals as one JSON document.

use crate::proposal::{CallFacts, FixtureDiff, Judged};
use crate::report::json::Object;

/// The document.
pub fn json(all: &[Judged]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut document = Object::open(&mut out);
    document.text("format", "propose-check/1");
    document.objects("proposals", all, |object, judged| {
        object.text("id", &judged.id).text("playbook", &judged.playbook);
        object.objects("gates", &judged.gates, |object, gate| {
            object.text("id", gate.kind.as_str()).text("message", &gate.message);
            object.text_if("help", gate.help.as_deref()).text("next", &gate.next.to_string());
        });
        object.objects("rows", &judged.rows, |object, row| {
            object.text("row", &row.name);
            object.text_or_null("before", row.before.as_deref()).text_or_null("after", row.after.as_deref());
        });
        object.objects("fixtures", judged.shown(), fixture);
        object.number("unchanged", judged.unchanged() as u64);
    });
    document.end();
    out.push(b'\n');
    out
}

fn fixture(object: &mut Object<'_>, diff: &FixtureDiff) {
    object.text("id", &diff.id.to_string()).flag("new", diff.is_new);
    object.text_or_null("class", diff.class().map(|class| class.as_str()));
    object.number("effects_before", u64::from(diff.effects.0)).number("effects_after", u64::from(diff.effects.1));
    object.objects("before", &diff.before, call);
    object.objects("after", &diff.after, call);
}

fn call(object: &mut Object<'_>, facts: &CallFacts) {
    object.text("call", &facts.call);
    object.texts("verdicts", facts.verdicts.split(", ").filter(|verdict| !verdict.is_empty()));
    object.text("compensation", &facts.compensation).text("outcome", &facts.outcome);
    object.text_or_null("queue", facts.queue.as_deref()).text("effect", &facts.effect);
    object.number("attempts", facts.attempts.parse().unwrap_or(0)).number("delay_ms", facts.delay_ms);
}
