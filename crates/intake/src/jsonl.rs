//! Long recordings in JSON Lines, of the formats that can be read line by line.

use std::io::{BufRead, Write};

use crate::foreign_lines::Rules;
pub use crate::foreign_lines::{Account, ForeignLines, JsonLinesError};
use crate::import::{ChatLines, FormatOptions};
use crate::mapping::{Applier, Mapping};

impl<R: BufRead> ForeignLines<'_, R> {
    /// Reads it by a mapping to its end, and writes the trace lines to `lines`.
    ///
    /// # Errors
    /// A source or a file that fails, a line that cannot be used, a recording without calls.
    pub fn mapped(self, mapping: &Mapping, lines: &mut dyn Write) -> Result<Account, JsonLinesError> {
        let importer = Applier::new(mapping, self.name, self.redaction);
        let skip_invalid = mapping.skips_invalid();
        self.write_to(importer, Rules { skip_invalid, checks: Some(skip_invalid), ..Rules::default() }, lines)
    }

    /// Reads OpenAI chat messages to their end, and writes the trace lines to `lines`.
    ///
    /// # Errors
    /// Those of [`ForeignLines::mapped`].
    pub fn chat(self, options: FormatOptions<'_>, lines: &mut dyn Write) -> Result<Account, JsonLinesError> {
        let importer = ChatLines::new(self.name, options);
        let checks = options.overrides.map(Mapping::skips_invalid);
        self.write_to(importer, Rules { skip_invalid: options.skip_invalid, checks, ..Rules::default() }, lines)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::import::{SourceFormat, import_whole};
    use crate::imported::LossReport;
    use crate::limits;
    use crate::mapping::{apply_whole, parse};
    use crate::redact::RedactionRules;
    use playproof_formats::diagnostic::Source;

    fn map(skip: bool) -> Mapping {
        let text = "format: mapping/1\nrecords: 'm[*]'\ncall: { tool: t, args: a, run: ^ }\n";
        let map = parse(Source::whole("m.yaml", text)).unwrap_or_else(|report| panic!("{report}"));
        map.skipping_invalid(skip, None)
    }

    fn by_lines(log: &str, skip: bool, lines: &mut dyn Write) -> Result<Account, JsonLinesError> {
        lines_of(log, &RedactionRules::default()).mapped(&map(skip), lines)
    }

    fn lines_of<'a>(log: &'a str, redaction: &'a RedactionRules) -> ForeignLines<'a, &'a [u8]> {
        ForeignLines { source: log.as_bytes(), name: "log", redaction, jobs: 2 }
    }

    #[test]
    fn a_recording_read_by_lines_gives_the_same_as_one_read_whole() {
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        let hidden = deep.replace('[', "\\u005b");
        let log = format!(
            "{{\"m\":[{{\"t\":\"a\"}},{{\"t\":\"b\"}}]}}\n\noops\r\n{{\"m\":[{{\"t\":\"c\",\"a\":{deep}}},{{\"t\":\"d\"}}]}}\n{{\"m\":[{{\"t\":\"e\",\"a\":\"{hidden}\"}}]}}"
        );
        let redaction = RedactionRules::default();
        let whole =
            apply_whole(&map(true), log.as_bytes(), "log", &redaction).unwrap_or_else(|report| panic!("{report}"));
        let whole = limits::checked(whole, log.as_bytes(), "log", true).unwrap_or_else(|report| panic!("{report}"));
        let mut lines = Vec::new();
        let Account { loss, origins } = by_lines(&log, true, &mut lines).expect("an account");
        assert_eq!(String::from_utf8(lines), String::from_utf8(whole.lines));
        assert_eq!((&loss, &origins), (&whole.loss, &whole.origins));
        assert_eq!(
            origins.find(3).map(|origin| (origin.line, origin.path.map(|path| path.to_string()))),
            Some((4, Some("m[1]".to_owned())))
        );
    }

    /// What is lost of a chat log, read by lines and whole alike.
    fn read_both_ways(log: &str) -> LossReport {
        let (options, redaction) = (FormatOptions::default(), RedactionRules::default());
        let whole = import_whole(SourceFormat::OpenAi, log.as_bytes(), "log", options);
        let whole = whole.unwrap_or_else(|report| panic!("{report}"));
        let mut lines = Vec::new();
        let account = lines_of(log, &redaction).chat(options, &mut lines);
        let Account { loss, origins } = account.expect("an account");
        assert_eq!((&loss, &origins), (&whole.loss, &whole.origins));
        assert_eq!(String::from_utf8(lines), String::from_utf8(whole.lines));
        loss
    }

    #[test]
    fn chat_messages_read_by_lines_give_the_same_as_read_whole() {
        let body = |n: usize| ["done", "Error: timed out", "{\\\"error\\\":\\\"x\\\"}", "fine"][n % 4];
        let chat = |n: usize| {
            let call =
                r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"é\u0007","arguments":"{}"}}]}"#;
            let result = format!(r#"{{"role":"tool","tool_call_id":"a","content":"{}"}}"#, body(n));
            format!("{{\"messages\":[{call},{result}],\"tools\":[{{\"name\":\"t{n}\",\"parameters\":{{}}}}]}}\n")
        };
        let log: String = (0..100).map(chat).collect();
        read_both_ways(&log);
    }

    #[test]
    fn a_log_that_repeats_its_history_is_read_by_lines_as_it_is_whole() {
        let call = |id: &str| {
            format!(
                r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","function":{{"name":"f","arguments":"{{}}"}}}}]}}"#
            )
        };
        let result = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"Error: timed out"}}"#);
        let (first, answered, other) = (call("a"), format!("{},{}", call("a"), result("a")), call("c"));
        let requests = [first, other.clone(), answered.clone(), format!("{answered},{}", call("b")), other];
        let log: String = requests.iter().map(|messages| format!("{{\"messages\":[{messages}]}}\n")).collect();
        let loss = read_both_ways(&log);
        assert_eq!((loss.calls, loss.results, loss.runs), (4, 1, 3), "a copy counts");
    }

    #[test]
    fn a_bad_line_is_reported_at_its_place() {
        let report = |log: &str| match by_lines(log, false, &mut io::sink()) {
            Err(JsonLinesError::Invalid(report)) => report.to_string(),
            other => format!("{other:?}"),
        };
        let good = "{\"m\":[{\"t\":\"a\"}]}\n";
        assert_eq!(report(&format!("{good}{{\"m\": \n")), "log:2:5: the JSON ends before it is complete");
        let deep = format!("{good}{{\"m\":[{{\"t\":\"a\",\"a\":{}1{}}}]}}\n", "[".repeat(500), "]".repeat(500));
        assert!(report(&deep).starts_with("log:2:1: this row makes no valid trace line"), "{}", report(&deep));
        assert!(report("{}\n").contains("is a call") || report("{}\n").contains("no rows"), "{}", report("{}\n"));
    }
}
