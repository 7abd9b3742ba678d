//! Reads one opened input to its end, call by call, on one thread. Opens nothing; `replay` reads a whole corpus on many
//! threads.

use std::io;

use crate::assemble::{AssembleOptions, Assembler, FirstUses, InputLedger, Writes};
use crate::call::CompletedCall;
use crate::digest::read_piece;
use crate::imported::LossReport;
use crate::origin::Origins;
use crate::pieces::Chunks;
use crate::redact::RedactionRules;
use playproof_formats::diagnostic::Report;

/// An opened input.
pub struct TraceInput<'a> {
    /// Its name in messages.
    pub name: String,
    /// Its lines in our own format, decompressed.
    pub lines: Box<dyn io::Read + Send + 'a>,
    /// What its source lacked, if that is foreign.
    pub loss: Option<LossReport>,
    /// Where its lines come from, if its source is foreign.
    pub origins: Option<Origins>,
}

/// Why an input could not be read.
#[derive(Debug)]
pub enum ReadError {
    /// The source of this name could not be read to its end.
    Unreadable(String, io::Error),
    /// A line that cannot be used.
    Invalid(Box<Report>),
    /// The source of this name has no lines.
    Empty(String),
}

impl From<Report> for ReadError {
    fn from(report: Report) -> ReadError {
        ReadError::Invalid(Box::new(report))
    }
}

impl<'a> TraceInput<'a> {
    /// An input in our own format.
    pub fn own(name: impl Into<String>, lines: impl io::Read + Send + 'a) -> TraceInput<'a> {
        TraceInput { name: name.into(), lines: Box::new(lines), loss: None, origins: None }
    }

    /// Passes every call, redacted for display, to `each`, in the order in which calls close. `number` is the index of the
    /// input among those that are read together.
    ///
    /// # Errors
    /// A source that cannot be read or is empty, or a line that cannot be used.
    pub fn each_call(
        self,
        number: u32,
        options: AssembleOptions,
        redaction: &RedactionRules,
        writes: &Writes<'_>,
        each: impl FnMut(CompletedCall),
    ) -> Result<InputLedger, ReadError> {
        self.each_call_after(&mut FirstUses::default(), number, options, redaction, writes, each)
    }

    /// [`TraceInput::each_call`] after inputs that used `keys`; adds the keys of this one, also if it cannot be read to its end.
    /// Calls that it has until then are passed on.
    ///
    /// # Errors
    /// Those of [`TraceInput::each_call`].
    pub fn each_call_after(
        self,
        keys: &mut FirstUses,
        number: u32,
        options: AssembleOptions,
        redaction: &RedactionRules,
        writes: &Writes<'_>,
        mut each: impl FnMut(CompletedCall),
    ) -> Result<InputLedger, ReadError> {
        let mut pass_on = |mut closed: CompletedCall| {
            redaction.show(&mut closed);
            each(closed);
        };
        let assembler = Assembler::new(number, &self.name, options, writes);
        let mut assembler = assembler.with_keys(std::mem::take(keys));
        let mut chunks = Chunks::new(self.lines);
        let mut closed = Vec::new();
        let unreadable = |error| ReadError::Unreadable(self.name.clone(), error);
        let read = loop {
            match chunks.next(Vec::new()).map_err(unreadable) {
                Ok(None) => break Ok(()),
                Ok(Some(piece)) => {
                    if let Err(report) = assembler.take(read_piece(&piece, redaction), &mut closed) {
                        break Err(ReadError::from(report));
                    }
                }
                Err(error) => break Err(error),
            }
            closed.drain(..).for_each(&mut pass_on);
        };
        let (ledger, _, used) = assembler.finish(&mut closed);
        *keys = used;
        closed.drain(..).for_each(&mut pass_on);
        read?;
        if ledger.lines == 0 { Err(ReadError::Empty(self.name)) } else { Ok(ledger) }
    }

    /// All calls of a small input, in the order in which they close; every tool counts as a write.
    ///
    /// # Errors
    /// Those of [`TraceInput::each_call`].
    pub fn calls(self, redaction: &RedactionRules) -> Result<Vec<CompletedCall>, ReadError> {
        let mut calls = Vec::new();
        self.each_call(0, AssembleOptions::default(), redaction, &|_| true, |closed| calls.push(closed))?;
        Ok(calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = "{\"tool\":\"pay\",\"run_id\":\"r\",\"args\":{\"card\":\"4242\"},\"status\":\"ok\"}\n";

    fn read(text: &str) -> Result<Vec<CompletedCall>, ReadError> {
        let rules = RedactionRules::new(&["card"], &[]).unwrap();
        TraceInput::own("t.jsonl", text.as_bytes()).calls(&rules)
    }

    #[test]
    fn a_call_has_its_recorded_and_its_shown_arguments() {
        let calls = read(&CALL.repeat(2)).unwrap();
        let args: Vec<_> = calls.iter().map(|call| (call.raw().args(), call.shown().args())).collect();
        assert_eq!(args, [(Some(r#"{"card":"4242"}"#), Some(r#"{"card":"[redacted]"}"#)); 2]);
    }

    #[test]
    fn an_input_without_lines_is_an_error_and_one_without_calls_is_not() {
        assert!(matches!(read(""), Err(ReadError::Empty(name)) if name == "t.jsonl"));
        assert!(read("\n").unwrap().is_empty());
    }

    #[test]
    fn a_bad_line_ends_the_reading_with_its_place() {
        let Err(ReadError::Invalid(report)) = read(&format!("{CALL}{{\n")) else { panic!("it was read") };
        assert!(report.to_string().starts_with("t.jsonl:2:"), "{report}");
    }

    #[test]
    fn an_unreadable_source_is_named() {
        struct FailingSource;
        impl io::Read for FailingSource {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        let failed = TraceInput::own("t.jsonl", FailingSource).calls(&RedactionRules::default());
        assert!(matches!(failed, Err(ReadError::Unreadable(name, _)) if name == "t.jsonl"));
    }
}
