//! Writes the lines of our own trace format. Reads nothing and pairs nothing.

use crate::json;
use crate::origin::{Origins, Stands};
use playproof_formats::text::escape_json;

/// Lines of a trace, one object each.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bytes: Vec<u8>,
    origins: Origins,
}

/// When something was, as our format writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At<'a> {
    /// ISO 8601 text.
    Text(&'a str),
    /// Microseconds since the source's zero.
    Micros(u64),
}

/// What a line says of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallLine<'a> {
    pub(crate) run: Option<&'a str>,
    pub(crate) id: Option<&'a str>,
    pub(crate) tool: &'a str,
    pub(crate) at: Option<At<'a>>,
    /// JSON text.
    pub(crate) args: Option<&'a str>,
    pub(crate) key: Option<&'a str>,
    /// JSON text.
    pub(crate) evidence: Option<&'a str>,
    pub(crate) token: Option<&'a str>,
    /// Microseconds.
    pub(crate) timeout: Option<u64>,
    pub(crate) source: &'a str,
    pub(crate) stands: Stands,
}

/// What a line says of a result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ResultLine<'a> {
    pub(crate) run: Option<&'a str>,
    pub(crate) id: Option<&'a str>,
    pub(crate) attempt: Option<u32>,
    /// Microseconds.
    pub(crate) started: Option<u64>,
    pub(crate) at: Option<At<'a>>,
    /// What it answers, where that is no attempt.
    pub(crate) answers: Option<&'a str>,
    /// None: it went well.
    pub(crate) failed: Option<ErrorPart<'a>>,
    /// Tells the row that it was made of from others.
    pub(crate) row: Option<u32>,
    /// Only the text says whether it failed.
    pub(crate) from_text: bool,
    pub(crate) source: &'a str,
    pub(crate) stands: Stands,
}

/// The error object of a failed result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ErrorPart<'a> {
    pub(crate) kind: Option<&'a str>,
    pub(crate) message: Option<&'a str>,
    pub(crate) status: Option<u16>,
    pub(crate) code: Option<&'a str>,
    pub(crate) retry_after_ms: Option<u64>,
}

impl Lines {
    /// All lines so far.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// All lines so far, and where each comes from.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Origins) {
        (self.bytes, self.origins)
    }

    /// Takes the lines so far, for a writer that streams.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Takes where they come from.
    pub(crate) fn take_origins(&mut self) -> Origins {
        std::mem::take(&mut self.origins)
    }

    pub(crate) fn call(&mut self, call: &CallLine<'_>) {
        let mut object = self.begin("tool_call");
        object.text("run_id", call.run);
        object.text("call_id", call.id);
        object.text("tool", Some(call.tool));
        object.at(call.at, "at_ms");
        object.json("args", call.args);
        object.text("idempotency_key", call.key);
        object.json("evidence_refs", call.evidence);
        object.text("reversal_token", call.token);
        object.millis("timeout_ms", call.timeout);
        object.end(call.source);
        self.origins.push(call.stands, call.source);
    }

    pub(crate) fn result(&mut self, result: &ResultLine<'_>) {
        let mut object = self.begin("tool_result");
        object.text("run_id", result.run);
        object.text("call_id", result.id);
        object.text("answers", result.answers);
        object.number("attempt", result.attempt.map(u64::from));
        object.at(result.started.map(At::Micros), "started_ms");
        object.at(result.at, "at_ms");
        object.text("status", Some(if result.failed.is_some() { "error" } else { "ok" }));
        object.text("status_from", result.from_text.then_some("text"));
        if let Some(error) = result.failed.filter(ErrorPart::says_something) {
            object.error(&error);
        }
        object.number("row", result.row.map(u64::from));
        object.end(result.source);
        self.origins.push(result.stands, result.source);
    }

    pub(crate) fn run_end(&mut self, run: &str) {
        let mut object = self.begin("run_end");
        object.text("run_id", Some(run));
        object.end("");
        self.origins.push(Stands::default(), "");
    }

    fn begin(&mut self, kind: &str) -> Object<'_> {
        self.bytes.push(b'{');
        let mut object = Object { bytes: &mut self.bytes, first: true };
        object.text("type", Some(kind));
        object
    }
}

impl ErrorPart<'_> {
    fn says_something(&self) -> bool {
        self.kind.is_some()
            || self.message.is_some()
            || self.status.is_some()
            || self.code.is_some()
            || self.retry_after_ms.is_some()
    }
}

struct Object<'l> {
    bytes: &'l mut Vec<u8>,
    first: bool,
}

impl Object<'_> {
    fn name(&mut self, name: &str) {
        if !std::mem::take(&mut self.first) {
            self.bytes.push(b',');
        }
        quote(self.bytes, name);
        self.bytes.push(b':');
    }

    fn text(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.name(name);
            quote(self.bytes, value);
        }
    }

    fn number(&mut self, name: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.name(name);
            self.bytes.extend_from_slice(value.to_string().as_bytes());
        }
    }

    fn json(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.name(name);
            self.bytes.extend_from_slice(escape_json(&json::compact(value)).as_bytes());
        }
    }

    fn at(&mut self, at: Option<At<'_>>, millis_name: &str) {
        match at {
            None => {}
            Some(At::Text(text)) => self.text("at", Some(text)),
            Some(At::Micros(micros)) => self.millis(millis_name, Some(micros)),
        }
    }

    /// Milliseconds, of microseconds.
    fn millis(&mut self, name: &str, micros: Option<u64>) {
        if let Some(micros) = micros {
            self.name(name);
            let millis = playproof_engine::time::Duration::from_micros(micros).to_string();
            self.bytes.extend_from_slice(millis.as_bytes());
        }
    }

    fn error(&mut self, error: &ErrorPart<'_>) {
        self.name("error");
        self.bytes.push(b'{');
        let mut inner = Object { bytes: self.bytes, first: true };
        inner.text("kind", error.kind);
        inner.text("message", error.message);
        inner.number("status", error.status.map(u64::from));
        inner.text("code", error.code);
        inner.number("retry_after_ms", error.retry_after_ms);
        self.bytes.push(b'}');
    }

    fn end(mut self, source: &str) {
        self.text("source", (!source.is_empty()).then_some(source));
        self.bytes.extend_from_slice(b"}\n");
    }
}

/// `text` as a JSON string.
fn quote(bytes: &mut Vec<u8>, text: &str) {
    let quoted = serde_json::to_string(text).unwrap_or_default(); // a text is always written
    bytes.extend_from_slice(escape_json(&quoted).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_formats::text::is_unsafe_to_print;

    #[test]
    fn every_line_is_one_json_object_whatever_the_texts_hold() {
        let mut lines = Lines::default();
        let nasty = "a\"b\\c\nd\u{1}é\u{2028}\u{e0041}\u{7f}";
        let args = "{ \"a\":\n1, \"\u{202e}\": \"\u{ad}\" }";
        let call = CallLine { run: Some(nasty), tool: nasty, args: Some(args), ..CallLine::default() };
        lines.call(&call);
        let error = ErrorPart { message: Some(nasty), status: Some(409), ..ErrorPart::default() };
        let at = Some(At::Micros(1_500));
        lines.result(&ResultLine { failed: Some(error), at, ..ResultLine::default() });
        lines.run_end(nasty);
        let text = String::from_utf8(lines.into_bytes()).expect("text");
        assert!(!text.contains(|c| c != '\n' && is_unsafe_to_print(c)), "{text:?}");
        let read: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect();
        assert_eq!(read.len(), 3);
        assert_eq!(read[0]["tool"], nasty);
        assert_eq!((&read[0]["args"]["a"], &read[0]["args"]["\u{202e}"]), (&1.into(), &"\u{ad}".into()));
        assert_eq!(read[1]["error"]["message"], nasty);
        assert_eq!(read[1]["at_ms"], 1.5);
    }

    #[test]
    fn a_failure_of_which_nothing_is_known_has_no_error_object() {
        let mut lines = Lines::default();
        lines.result(&ResultLine { failed: Some(ErrorPart::default()), ..ResultLine::default() });
        assert_eq!(lines.into_bytes(), b"{\"type\":\"tool_result\",\"status\":\"error\"}\n");
    }
}
