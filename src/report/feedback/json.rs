//! Kept feedback as JSON documents.

use super::page::Shown;
use crate::feedback::Ending;
use crate::report::json::Object;
use crate::shell::Command;

/// The list, without a line break at its end.
pub fn json(all: &[Shown<'_>]) -> String {
    let mut out = Vec::new();
    let mut document = Object::open(&mut out);
    document.text("format", "feedback-list/1");
    document.objects("feedback", all, fill);
    document.end();
    String::from_utf8_lossy(&out).into_owned()
}

/// One in full, with what its playbook makes of the call now.
pub fn json_of(shown: &Shown<'_>, now: &Ending, slice: &str, next: &Command) -> String {
    let mut out = Vec::new();
    let mut document = Object::open(&mut out);
    document.text("format", "feedback-shown/1");
    fill(&mut document, shown);
    document.text("slice", slice).text("call", &shown.kept.feedback.call);
    for (key, ending) in [("before", &shown.kept.feedback.before), ("now", now)] {
        document.object(key, |object| fill_ending(object, ending));
    }
    document.text("next", &next.to_string());
    document.end();
    String::from_utf8_lossy(&out).into_owned()
}

fn fill(object: &mut Object<'_>, shown: &Shown<'_>) {
    let feedback = &shown.kept.feedback;
    object.text("id", &shown.kept.id).text("state", shown.state.as_str()).text("tool", shown.tool());
    object.text("playbook", &feedback.playbook).text("note", &feedback.note);
    object.text_or_null("verdict", shown.verdict()).text_or_null("rule", shown.rule());
    object.text_or_null("expected", feedback.expected.as_deref());
    object.text_or_null("closed", feedback.closed.as_deref());
    object.object("came_from", |object| {
        let from = &feedback.came_from;
        object.text("trace", &from.trace).text("call", &from.call).number("line", from.line);
    });
}

fn fill_ending(object: &mut Object<'_>, ending: &Ending) {
    if let Some(failed) = &ending.failed {
        object.number("attempt", failed.attempt.into()).text("verdict", &failed.verdict).text("rule", &failed.rule);
        object.text("compensation", &failed.compensation);
    }
    object.text("outcome", &ending.outcome).text("effect", &ending.effect);
    object.number("attempts", ending.attempts.into());
}
