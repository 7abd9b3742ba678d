//! What makes trace lines of a recording that is read line by line. A line is read by itself, on any thread; what depends on
//! the lines before it is done in their order. Reads no files.

use std::fmt::Debug;

use crate::imported::{ImportWarning, LossReport};
use crate::reader_state::ReaderState;
use crate::trace_writer::TraceWriter;
use playproof_formats::diagnostic::Report;

/// Reads lines of a recording, each by itself.
pub(crate) trait LineReader: Sync {
    /// What a line says by itself.
    type Read: Send;

    /// Reads line `number` (from 1), which is not blank.
    fn read(&self, state: &mut ReaderState, number: usize, line: &[u8]) -> Result<Self::Read, Report>;
}

/// Makes trace lines of the lines of a recording.
pub(crate) trait LineImporter: Debug {
    /// What reads them.
    type Reader: LineReader;

    /// A reader of lines for any thread.
    fn reader(&self) -> Self::Reader;

    /// Takes the next line, which was `read`. A line that cannot be read may lie between two.
    fn take(&mut self, read: <Self::Reader as LineReader>::Read, number: usize, line: &[u8]);

    /// Counts line `number` as one that is not JSON.
    fn skip(&mut self, number: usize) {
        self.loss().warn(ImportWarning::NotJson, &format!("line {number}"));
    }

    /// Whether the lines so far say something else if they are read together.
    fn needs_whole(&self) -> bool {
        false
    }

    /// The source has ended.
    fn end(&mut self) {}

    /// What the source holds so far.
    fn loss(&mut self) -> &mut LossReport;

    /// The trace lines so far.
    fn lines(&mut self) -> &mut TraceWriter;

    /// The loss report; an error for a source that cannot be read so.
    fn finish(self) -> Result<LossReport, Report>;
}
