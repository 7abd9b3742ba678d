//! What a thread keeps while it reads the lines of a recording. It changes the work, and no result. Reads nothing.

use std::collections::BTreeSet;

use crate::failure::FailureCache;
use crate::histories::Beginnings;
use crate::mapping::CalledTools;
use crate::raw_value::Tape;

/// The most conversations of which a thread remembers that it has read them.
const MAX_READ: usize = 10_000;

/// What a thread keeps.
#[derive(Debug, Default)]
pub(crate) struct ReaderState {
    /// That of the document before, to be filled again.
    pub(crate) tape: Tape,
    pub(crate) failures: FailureCache,
    /// The tools of the calls that were read, by their ids alone: a guess.
    pub(crate) tools: CalledTools,
    /// The hashes of the conversations that were read.
    conversations: BTreeSet<u64>,
}

impl ReaderState {
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
