//! The text of a feedback file, written and read back strictly. The slice beside it is a trace like any other.

use std::fmt::Write as _;
use std::sync::Arc;

use super::ending::{ClassifiedFailure, Ending};
use super::model::{CameFrom, Feedback, FeedbackPlaces};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::time::Duration;
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::golden::merge_conflict;
use playproof_formats::yaml;
use playproof_formats::yaml::{Cursor, quoted};

const HEAD: &str = "\
# A call that the playbook handled wrong, and what is wrong with it. The file of the same name beside this one is the
# slice of the trace that replays it. `playproof feedback edit`, `close` and `reopen` change what people say in it.
format: feedback/1
";

/// The JSON Schema of a feedback, for editors.
pub const SCHEMA: &str = include_str!("../../../../schemas/feedback.json");

const FORMAT: &str = "feedback/1";
const CAME_FROM: [&str; 3] = ["trace", "call", "line"];
const KEYS: [&str; 9] = ["format", "note", "playbook", "call", "expected", "closed", "facts", "came_from", "before"];
const BEFORE: [&str; 7] = ["attempt", "verdict", "rule", "compensation", "outcome", "effect", "attempts"];
const FACTS: [&str; 4] = ["access", "idempotent", "repeatable", "timeout_ms"];
const DAY: Duration = Duration::from_millis(86_400_000);

impl Feedback {
    /// The file's text.
    pub fn render(&self) -> String {
        let mut text = HEAD.to_owned();
        let said = [("note", Some(&*self.note)), ("playbook", Some(&self.playbook)), ("call", Some(&self.call))];
        let asked = [("expected", self.expected.as_deref()), ("closed", self.closed.as_deref())];
        for (key, value) in said.into_iter().chain(asked) {
            if let Some(value) = value {
                let _ = writeln!(text, "{key}: {}", quoted(value)); // writing to a String cannot fail
            }
        }
        if let Some(facts) = self.facts {
            let access = facts.access.as_str();
            let _ = writeln!(
                text,
                "facts: {{ access: {access}, idempotent: {}, repeatable: {}, timeout_ms: {} }}",
                facts.idempotent,
                facts.repeatable,
                facts.timeout.as_millis()
            );
        }
        let CameFrom { trace, call, line } = &self.came_from;
        let _ = writeln!(text, "came_from: {{ trace: {}, call: {}, line: {line} }}", quoted(trace), quoted(call));
        text += "before:\n";
        let Ending { failed, outcome, effect, attempts } = &self.before;
        if let Some(ClassifiedFailure { attempt, verdict, rule, compensation }) = failed {
            let _ = writeln!(text, "  attempt: {attempt}");
            for (key, value) in [("verdict", verdict), ("rule", rule), ("compensation", compensation)] {
                let _ = writeln!(text, "  {key}: {}", quoted(value));
            }
        }
        let _ = writeln!(text, "  outcome: {outcome}\n  effect: {effect}\n  attempts: {attempts}");
        text
    }
}

/// Reads a feedback file.
///
/// # Errors
/// Everything that is wrong with it, with places; a merge conflict as such.
pub fn parse(source: Arc<Source>) -> Result<(Feedback, FeedbackPlaces), Report> {
    if let Some(said) = merge_conflict(&source.text) {
        return Err(Report::one(source, said.help("take either side: both speak of the same call")));
    }
    yaml::parse(source, read)
}

fn read(root: Cursor<'_>) -> Option<(Feedback, FeedbackPlaces)> {
    let map = root.record("a feedback", &KEYS)?;
    let format = map.format(FORMAT)?;
    let text = |key: &'static str| map.required(key).and_then(Cursor::words).map(str::to_owned);
    let (note, playbook, call) = (text("note"), text("playbook"), text("call"));
    let expected = map.optional("expected").map(|expected| expected.name().map(|name| name.text.to_owned()));
    let closed = map.optional("closed").map(|reason| reason.words().map(str::to_owned));
    let facts = map.optional("facts").map(facts);
    let came_from = map.required("came_from").and_then(came_from);
    let before = map.required("before").and_then(before);
    let place = |key: &str| map.optional(key).map(Cursor::span);
    let places = FeedbackPlaces { playbook: place("playbook")?, call: place("call")?, expected: place("expected") };
    let feedback = Feedback {
        note: note?,
        playbook: playbook?,
        call: call?,
        expected: expected.map_or(Some(None), |expected| expected.map(Some))?,
        closed: closed.map_or(Some(None), |closed| closed.map(Some))?,
        facts: facts.map_or(Some(None), |facts| facts.map(Some))?,
        came_from: came_from?,
        before: before?,
    };
    format?;
    Some((feedback, places))
}

fn facts(at: Cursor<'_>) -> Option<ToolFacts> {
    let map = at.record("facts of a tool", &FACTS)?;
    let access = map.required("access")?.word(&[("read", Access::Read), ("write", Access::Write)]);
    let fact = |key: &'static str| map.required(key).and_then(Cursor::bool);
    let (idempotent, repeatable) = (fact("idempotent"), fact("repeatable"));
    let timeout = map.required("timeout_ms").and_then(|timeout| timeout.duration_ms(DAY));
    Some(ToolFacts {
        access: access?,
        idempotent: idempotent?,
        repeatable: repeatable?,
        timeout: timeout?,
        declared: true,
        ..ToolFacts::ASSUMED
    })
}

fn came_from(at: Cursor<'_>) -> Option<CameFrom> {
    let map = at.record("where the call was", &CAME_FROM)?;
    let text = |key: &'static str| map.required(key).and_then(Cursor::string).map(str::to_owned);
    let (trace, call) = (text("trace"), text("call"));
    let line = map.required("line").and_then(|line| line.whole(0..=u64::MAX));
    Some(CameFrom { trace: trace?, call: call?, line: line? })
}

fn before(at: Cursor<'_>) -> Option<Ending> {
    let map = at.record("what was made of the call", &BEFORE)?;
    let text = |key: &'static str| map.required(key).and_then(Cursor::words).map(str::to_owned);
    let number = |key: &'static str, least| {
        map.required(key)
            .and_then(|number| number.whole(least..=u64::from(u32::MAX)))
            .and_then(|n| u32::try_from(n).ok())
    };
    let failed = match map.optional("attempt") {
        None => None,
        Some(_) => {
            let (attempt, verdict) = (number("attempt", 1), text("verdict"));
            let (rule, compensation) = (text("rule"), text("compensation"));
            Some(ClassifiedFailure { attempt: attempt?, verdict: verdict?, rule: rule?, compensation: compensation? })
        }
    };
    let (outcome, effect, attempts) = (text("outcome"), text("effect"), number("attempts", 0));
    Some(Ending { failed, outcome: outcome?, effect: effect?, attempts: attempts? })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_file_without_a_format_is_told_what_else_it_lacks() {
        let said = |text: &str| {
            let report = parse(Source::whole("f.yaml", text)).unwrap_err();
            report.diagnostics.iter().map(|said| said.id).collect::<Vec<_>>()
        };
        assert_eq!(said("note: it was paid twice\n"), ["missing_key"; 5]);
        assert_eq!(said("format: feedback/9\nnote: it was paid twice\n").len(), 1, "another version is not read on");
    }

    #[test]
    fn the_schema_has_every_key_that_the_reader_knows_and_no_other() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let lists: [(&str, &[&str]); 4] = [
            ("", &KEYS),
            ("/properties/facts", &FACTS),
            ("/properties/came_from", &CAME_FROM),
            ("/properties/before", &BEFORE),
        ];
        for (at, known) in lists {
            let part = schema.pointer(at).unwrap();
            let mut known = known.to_vec();
            known.sort_unstable();
            assert_eq!(part["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), known, "{at}");
            assert_eq!(part["additionalProperties"], false, "{at}");
        }
        assert_eq!(schema["properties"]["format"]["const"], FORMAT);
    }
}
