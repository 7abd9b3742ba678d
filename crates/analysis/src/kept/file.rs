//! The text of the file of a kept call, written and read back strictly. The slice beside it is a trace like any other.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use super::model::{CameFrom, KeptFile, KeptPlaces};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::golden::merge_conflict;
use playproof_formats::schema;
use playproof_formats::schema::{At, Schema};
use playproof_formats::yaml::quoted;

const HEAD: &str = "\
# A recorded call, and the verdict that it should have. The file of the same name beside this one is the slice of the
# trace that replays it. `playproof check` says when the playbook handles it right.
format: kept/1
";

/// The JSON Schema of the file: the only place of its keys, words and bounds.
pub const SCHEMA: &str = include_str!("../../../../schemas/kept.json");

static KEPT: LazyLock<Schema> = LazyLock::new(|| Schema::compile(SCHEMA));

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
    schema::read(source, &KEPT, read)
}

fn read(root: At<'_>) -> Option<(KeptFile, KeptPlaces)> {
    let text = |at: At<'_>, key: &str| at.get(key).and_then(At::text).map(str::to_owned);
    let place = |key: &str| root.get(key).map(At::span);
    let came_from = root.get("came_from")?;
    let file = KeptFile {
        note: text(root, "note")?,
        playbook: text(root, "playbook")?,
        call: text(root, "call")?,
        attempt: root.number("attempt")?,
        expect: text(root, "expect")?,
        was: text(root, "was")?,
        facts: root.optional("facts", facts)?,
        came_from: CameFrom {
            trace: text(came_from, "trace")?,
            call: text(came_from, "call")?,
            line: came_from.number("line")?,
        },
    };
    Some((file, KeptPlaces { playbook: place("playbook")?, call: place("call")? }))
}

fn facts(at: At<'_>) -> Option<ToolFacts> {
    Some(ToolFacts {
        access: at.word("access", Access::parse)?,
        idempotent: at.get("idempotent")?.flag()?,
        repeatable: at.get("repeatable")?.flag()?,
        timeout: at.get("timeout_ms")?.millis()?,
        declared: true,
        ..ToolFacts::ASSUMED
    })
}

#[cfg(test)]
mod tests {
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
    fn the_schema_has_no_keyword_type_or_word_that_is_passed_over() {
        assert_eq!(KEPT.unknown(), [""; 0]);
    }
}
