//! What a thread keeps while it reads the lines of a recording. It changes the work, and no result. Reads no files.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::failure::FailureCache;
use crate::histories::Beginnings;
use crate::mapping::CalledTools;
use crate::origin::LineFinder;
use crate::raw_value::{RawValue, Tape};
use crate::source_text::SourceText;
use playproof_formats::diagnostic::Report;

/// The most conversations of which a thread remembers that it has read them.
const MAX_READ: usize = 10_000;

/// What a thread keeps.
#[derive(Debug, Default)]
pub(crate) struct ReaderState {
    /// That of the document before, to be filled again.
    tape: Tape,
    pub(crate) failures: FailureCache,
    /// The tools of the calls that were read, by their ids alone: a guess.
    pub(crate) tools: CalledTools,
    /// The hashes of the conversations that were read.
    conversations: BTreeSet<u64>,
}

impl ReaderState {
    /// Parses line `number` of the recording called `name`, and gives what `read` makes of its document.
    pub(crate) fn document<R>(
        &mut self,
        (name, number, line): (&Arc<str>, usize, &[u8]),
        read: impl FnOnce(RawValue<'_>, &LineFinder, &mut ReaderState) -> R,
    ) -> Result<R, Report> {
        let mut tape = std::mem::take(&mut self.tape);
        let parsed = SourceText::line(line, name, number, |source| source.on_tape(&mut tape));
        let said = parsed.map(|(source, document)| read(document, &LineFinder::new(source.text, number), self));
        self.tape = tape;
        said
    }

    /// How many of the first messages of a conversation were read before, as all of an earlier one. Remembers the conversation.
    pub(crate) fn read_before(&mut self, conversation: &Beginnings) -> usize {
        let messages = conversation.longest(|hash| self.conversations.contains(hash));
        if self.conversations.len() >= MAX_READ {
            self.conversations.clear();
        }
        self.conversations.extend(conversation.whole);
        messages
    }
}
