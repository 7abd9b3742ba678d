//! What makes trace lines of a recording that is read line by line. Reads no files.

use crate::imported::{ImportWarning, LossReport};
use crate::trace_writer::TraceWriter;
use playproof_formats::diagnostic::Report;

/// Makes trace lines of the lines of a recording.
pub(crate) trait LineImporter: std::fmt::Debug {
    /// Takes line `number` (from 1); ignores a blank line. After an error, the next line can still be taken.
    fn line(&mut self, number: usize, line: &[u8]) -> Result<(), Report>;

    /// Counts line `number` as one that is not JSON.
    fn skip(&mut self, number: usize) {
        self.loss().warn(ImportWarning::NotJson, &format!("line {number}"));
    }

    /// The source has ended.
    fn end(&mut self) {}

    /// What the source holds so far.
    fn loss(&mut self) -> &mut LossReport;

    /// The trace lines so far.
    fn lines(&mut self) -> &mut TraceWriter;

    /// The loss report; an error for a source that cannot be read so.
    fn finish(self: Box<Self>) -> Result<LossReport, Report>;
}
