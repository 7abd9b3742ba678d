//! Takes the calls and results of chat messages in their order: as they are read, or after they were read by themselves. `run`
//! pairs them.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::message_reader::{ChatCall, ChatEntry, ChatResult, ReadMessage};
use super::run::{ImportOutput, SourceCall, SourceResult, Speakers};
use crate::histories::{Beginnings, History};
use crate::imported::ImportWarning;
use crate::raw_value::RawValue;

/// Writes the runs of one conversation: the agent's, and the simulated user's if that calls tools too. Without a name it is
/// unknown which messages belong to one run.
pub(super) fn walk(run: Option<&str>, messages: &[RawValue<'_>], place: &str, output: &mut ImportOutput) {
    let mut speakers = Speakers::begin(run, output);
    speakers.read(messages, 0, place, output);
    speakers.end(output);
}

/// The same of a conversation that may go on from an earlier one of the same `thread`: its new messages then belong to the
/// runs of that one.
pub(super) fn walk_on(thread: &str, run: &str, messages: &[RawValue<'_>], place: &str, output: &mut ImportOutput) {
    let next = beginnings(thread, messages);
    let (mut speakers, known) = Speakers::begin_or_go_on(&next, run, place, output);
    speakers.read(messages, known, place, output);
    speakers.leave(&next, output);
}

/// What tells whether a conversation begins with an earlier one.
pub(super) fn beginnings(thread: &str, messages: &[RawValue<'_>]) -> Beginnings {
    Beginnings::of(thread, messages, |n| messages.get(n).is_some_and(|message| has_call(message.get())))
}

/// Whether a message makes calls, as far as its text tells.
fn has_call(message: &str) -> bool {
    static NAMES: LazyLock<[Finder<'_>; 2]> =
        LazyLock::new(|| ["\"tool_calls\"", "\"function_call\""].map(Finder::new));
    NAMES.iter().any(|name| name.find(message.as_bytes()).is_some())
}

/// Ends the conversations that waited for a later one to go on from them.
pub(super) fn end_all(output: &mut ImportOutput) {
    let waiting = std::mem::take(&mut output.histories);
    waiting.into_all().for_each(|speakers| speakers.end_if_waiting(output));
}

impl Speakers {
    /// A conversation that begins, or goes on from an earlier one, with the number of the messages that this one had.
    pub(super) fn begin_or_go_on(
        next: &Beginnings,
        run: &str,
        place: &str,
        output: &mut ImportOutput,
    ) -> (Speakers, usize) {
        let history = output.histories.compare(next);
        output.loss.warn_of_history(&history, place);
        match history {
            History::GoesOn(known, speakers) => (speakers, known),
            History::New | History::Branches | History::Repeats => (Speakers::begin(Some(run), output), 0),
        }
    }

    /// The end of a conversation that may go on nevertheless, and ends once more then.
    pub(super) fn leave(mut self, next: &Beginnings, output: &mut ImportOutput) {
        if !self.is_waiting() {
            self.end(output);
        }
        self.shrink(); // thousands are remembered
        let forgotten = output.histories.remember(next.whole, self);
        forgotten.into_iter().for_each(|speakers| speakers.end_if_waiting(output));
    }

    /// Reads and takes the messages behind the first `known` ones.
    fn read(&mut self, messages: &[RawValue<'_>], known: usize, place: &str, output: &mut ImportOutput) {
        if messages.is_empty() {
            output.loss.warn(ImportWarning::EmptyRun, place);
        }
        for (n, raw) in messages.iter().enumerate().skip(known) {
            let message = output.reader.read(*raw, &output.finder, &mut output.state);
            self.message(message, &format!("{place}[{n}]"), output);
        }
    }

    /// Takes the next message.
    pub(super) fn message(&mut self, message: ReadMessage, place: &str, output: &mut ImportOutput) {
        let ReadMessage { warnings, changed, said } = message;
        for (warning, rest) in warnings {
            output.loss.warn(warning, &format!("{place}{rest}"));
        }
        output.loss.changed.add(&changed);
        for said in said {
            match said {
                ChatEntry::Call(call) => self.call(&call, place, output),
                ChatEntry::Result(result) => self.result(result, place, output),
            }
        }
    }

    fn call(&mut self, call: &ChatCall, place: &str, output: &mut ImportOutput) {
        let run = self.run(call.by_user, &mut output.loss.runs);
        let place = [place, &call.place].concat();
        let call = SourceCall {
            id: call.id.as_deref(),
            tool: &call.tool,
            renamed: call.renamed.as_deref(),
            args: call.args.as_ref(),
            at: call.at.as_deref(),
            place: &place,
            span: call.span,
        };
        run.call(&call, output);
    }

    fn result(&mut self, read: ChatResult, place: &str, output: &mut ImportOutput) {
        let run = self.run(read.by_user, &mut output.loss.runs);
        let place = [place, &read.place].concat();
        let waiting = || run.tool_waiting_for(read.id.as_deref()?);
        let tool = read.named.as_deref().or_else(waiting);
        let (answer, changed) = match read.question.filter(|_| tool != read.tool.as_deref()) {
            Some(question) => question.answer(tool, &output.reader, &mut output.state.failures),
            None => (read.answer, read.changed),
        };
        output.loss.changed.add(&changed);
        let result = SourceResult {
            id: read.id.as_deref(),
            tool: read.named.as_deref(),
            answer: &answer,
            row: read.row,
            flagged: read.flagged,
            at: read.at.as_deref(),
            place: &place,
            span: read.span,
        };
        run.result(&result, output);
    }
}
