//! The text of the file of a kept call, written and read back strictly. The slice beside it is a trace like any other.

use std::fmt::Write as _;
use std::sync::Arc;

use super::model::{CameFrom, KeptFile, KeptPlaces};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::time::Duration;
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::golden::merge_conflict;
use playproof_formats::yaml;
use playproof_formats::yaml::{Cursor, quoted};

const HEAD: &str = "\
# A recorded call, and the verdict that it should have. The file of the same name beside this one is the slice of the
# trace that replays it. `playproof check` says when the playbook handles it right.
format: kept/1
";

/// The JSON Schema of the file, for editors.
pub const SCHEMA: &str = include_str!("../../../../schemas/kept.json");

const FORMAT: &str = "kept/1";
const CAME_FROM: [&str; 3] = ["trace", "call", "line"];
const KEYS: [&str; 9] = ["format", "note", "playbook", "call", "attempt", "expect", "was", "facts", "came_from"];
const FACTS: [&str; 4] = ["access", "idempotent", "repeatable", "timeout_ms"];
const DAY: Duration = Duration::from_millis(86_400_000);

impl KeptFile {
    /// The file's text.
    pub fn render(&self) -> String {
        let KeptFile { note, playbook, call, attempt, expect, was, facts, came_from } = self;
        let quoted_lines = |pairs: &[(&str, &str)]| -> String {
            pairs.iter().map(|(key, value)| format!("{key}: {}\n", quoted(value))).collect()
        };
        let mut text = HEAD.to_owned() + &quoted_lines(&[("note", note), ("playbook", playbook), ("call", call)]);
        let _ = writeln!(text, "attempt: {attempt}"); // writing to a String cannot fail
        text += &quoted_lines(&[("expect", expect), ("was", was)]);
        if let Some(facts) = facts {
            let access = facts.access.as_str();
            let _ = writeln!(
                text,
                "facts: {{ access: {access}, idempotent: {}, repeatable: {}, timeout_ms: {} }}",
                facts.idempotent,
                facts.repeatable,
                facts.timeout.as_millis()
            );
        }
        let CameFrom { trace, call, line } = came_from;
        let _ = writeln!(text, "came_from: {{ trace: {}, call: {}, line: {line} }}", quoted(trace), quoted(call));
        text
    }
}

/// Reads the file of a kept call.
///
/// # Errors
/// Everything that is wrong with it, with places; a merge conflict as such.
pub fn parse(source: Arc<Source>) -> Result<(KeptFile, KeptPlaces), Report> {
    if let Some(said) = merge_conflict(&source.text) {
        return Err(Report::one(source, said.help("take either side: both speak of the same call")));
    }
    yaml::parse(source, read)
}

fn read(root: Cursor<'_>) -> Option<(KeptFile, KeptPlaces)> {
    let map = root.record("a kept call", &KEYS)?;
    let format = map.format(FORMAT)?;
    let text = |key: &'static str| map.required(key).and_then(Cursor::words).map(str::to_owned);
    let (note, playbook, call, was) = (text("note"), text("playbook"), text("call"), text("was"));
    let attempt = map.required("attempt").and_then(|attempt| attempt.whole(1..=u64::from(u32::MAX)));
    let expect = map.required("expect").and_then(Cursor::name).map(|name| name.text.to_owned());
    let facts = map.optional("facts").map(facts);
    let came_from = map.required("came_from").and_then(came_from);
    let place = |key: &str| map.optional(key).map(Cursor::span);
    let places = KeptPlaces { playbook: place("playbook")?, call: place("call")? };
    let file = KeptFile {
        note: note?,
        playbook: playbook?,
        call: call?,
        attempt: u32::try_from(attempt?).ok()?,
        expect: expect?,
        was: was?,
        facts: facts.map_or(Some(None), |facts| facts.map(Some))?,
        came_from: came_from?,
    };
    format?;
    Some((file, places))
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
        assert_eq!(said("note: it was paid twice\n"), ["missing_key"; 7]);
        assert_eq!(said("format: kept/9\nnote: it was paid twice\n").len(), 1, "another version is not read on");
    }

    #[test]
    fn the_schema_has_every_key_that_the_reader_knows_and_no_other() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let lists: [(&str, &[&str]); 3] =
            [("", &KEYS), ("/properties/facts", &FACTS), ("/properties/came_from", &CAME_FROM)];
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
