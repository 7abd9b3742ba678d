//! One opened input from its beginning to its end, call by call, on one thread. Opens nothing; `replay` reads a whole
//! corpus on many threads instead.

use std::io;

use crate::assemble::{AssembleOptions, Assembler, ClosedCall, InputLedger, Writes};
use crate::foreign::LossReport;
use crate::origin::Origins;
use crate::pieces::Chunks;
use crate::read::digest;
use crate::redact::RedactionRules;
use playproof_formats::diagnostic::Report;

/// An opened input.
pub struct Input<'a> {
    /// What it is called in messages.
    pub name: String,
    /// Its lines in our own format, decoded.
    pub lines: Box<dyn io::Read + Send + 'a>,
    /// What its source could not tell, where it is a foreign one.
    pub loss: Option<LossReport>,
    /// Where its lines come from, where it is a foreign one.
    pub origins: Option<Origins>,
}

/// Why an input gave no calls.
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

impl<'a> Input<'a> {
    /// An input of our own format.
    pub fn own(name: impl Into<String>, lines: impl io::Read + Send + 'a) -> Input<'a> {
        Input { name: name.into(), lines: Box::new(lines), loss: None, origins: None }
    }

    /// Gives every call to `each`, in the order in which they close, with what is shown of it; `number` is the place of
    /// the input among those that are read together.
    ///
    /// # Errors
    /// A source that cannot be read or is empty, or a line that cannot be used.
    pub fn each_call(
        self,
        number: u32,
        options: AssembleOptions,
        redaction: &RedactionRules,
        writes: &Writes<'_>,
        mut each: impl FnMut(ClosedCall),
    ) -> Result<InputLedger, ReadError> {
        let mut shown = |mut closed: ClosedCall| {
            redaction.show(&mut closed);
            each(closed);
        };
        let mut assembler = Assembler::new(number, &self.name, options, writes);
        let mut chunks = Chunks::new(self.lines);
        let mut closed = Vec::new();
        let unreadable = |error| ReadError::Unreadable(self.name.clone(), error);
        while let Some(piece) = chunks.next(Vec::new()).map_err(unreadable)? {
            assembler.take(digest(&piece, redaction), &mut closed)?;
            closed.drain(..).for_each(&mut shown);
        }
        let (ledger, _) = assembler.finish(&mut closed);
        closed.drain(..).for_each(&mut shown);
        if ledger.lines == 0 { Err(ReadError::Empty(self.name)) } else { Ok(ledger) }
    }

    /// All calls of a small input whose tools count as writes, in the order in which they close.
    ///
    /// # Errors
    /// Those of [`Input::each_call`].
    pub fn calls(self, redaction: &RedactionRules) -> Result<Vec<ClosedCall>, ReadError> {
        let mut calls = Vec::new();
        self.each_call(0, AssembleOptions::default(), redaction, &|_| true, |closed| calls.push(closed))?;
        Ok(calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = "{\"tool\":\"pay\",\"run_id\":\"r\",\"args\":{\"card\":\"4242\"},\"status\":\"ok\"}\n";

    fn read(text: &str) -> Result<Vec<ClosedCall>, ReadError> {
        let rules = RedactionRules::new(&["card"], &[]).unwrap();
        Input::own("t.jsonl", text.as_bytes()).calls(&rules)
    }

    #[test]
    fn a_call_is_given_as_recorded_and_as_shown() {
        let calls = read(&CALL.repeat(2)).unwrap();
        let args: Vec<_> = calls.iter().map(|call| (call.raw().args(), call.shown().args())).collect();
        assert_eq!(args, [(Some(r#"{"card":"4242"}"#), Some(r#"{"card":"[redacted]"}"#)); 2]);
    }

    #[test]
    fn an_input_without_lines_is_empty_and_one_without_calls_is_not() {
        assert!(matches!(read(""), Err(ReadError::Empty(name)) if name == "t.jsonl"));
        assert!(read("\n").unwrap().is_empty());
    }

    #[test]
    fn a_line_that_cannot_be_used_ends_the_reading_with_its_place() {
        let Err(ReadError::Invalid(report)) = read(&format!("{CALL}{{\n")) else { panic!("it was read") };
        assert!(report.to_string().starts_with("t.jsonl:2:"), "{report}");
    }

    #[test]
    fn a_source_that_fails_is_named() {
        struct Broken;
        impl io::Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        let failed = Input::own("t.jsonl", Broken).calls(&RedactionRules::default());
        assert!(matches!(failed, Err(ReadError::Unreadable(name, _)) if name == "t.jsonl"));
    }
}
