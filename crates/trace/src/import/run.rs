//! Writes the lines of one run: pairs results with calls by id and place, and keeps the ids that it writes apart.
//! Knows no source format.

use std::collections::{BTreeMap, VecDeque};

use super::names::Given;
use crate::emit::{At, CallLine, ErrorPart, Lines, ResultLine};
use crate::foreign::{Imported, LossReport, Missing, Oddity};
use crate::origin::{LineFinder, Stands};

/// The error kind of every failure of a source that has none.
pub(super) const TOOL_ERROR: &str = "tool_error";

/// A call as a source tells it.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) id: Option<&'a str>,
    pub(super) tool: &'a str,
    /// JSON text.
    pub(super) args: Option<&'a str>,
    pub(super) at: Option<&'a str>,
    pub(super) place: &'a str,
    pub(super) stands: Stands,
}

/// A result as a source tells it.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) id: Option<&'a str>,
    pub(super) tool: Option<&'a str>,
    /// The message of a failure.
    pub(super) failed: Option<&'a str>,
    /// A flag of the source said whether it failed.
    pub(super) flagged: bool,
    pub(super) at: Option<&'a str>,
    pub(super) place: &'a str,
    pub(super) stands: Stands,
}

/// Where an import writes to.
#[derive(Debug, Default)]
pub(super) struct Sink {
    pub(super) lines: Lines,
    pub(super) loss: LossReport,
    /// Where the values of the source stand.
    pub(super) finder: LineFinder,
    /// Results whose failure had to be read out of their text.
    unflagged: u64,
    /// Calls and results without a time.
    untimed: u64,
}

impl Sink {
    /// The lines, and the account with what turned out to be missing.
    pub(super) fn finish(mut self) -> Imported {
        self.loss.missing.insert(if self.untimed > 0 { Missing::Times } else { Missing::Latencies });
        if self.unflagged > 0 {
            self.loss.missing.insert(Missing::FailureFlags);
        }
        let (lines, origins) = self.lines.into_parts();
        Imported { lines, origins, loss: self.loss }
    }
}

/// One run that is being written.
#[derive(Debug, Default)]
pub(super) struct Run {
    name: String,
    calls: Vec<Written>,
    /// Calls by their source id, by their tool, and all; answered ones are dropped when met.
    by_id: BTreeMap<String, VecDeque<usize>>,
    by_tool: BTreeMap<String, VecDeque<usize>>,
    all: VecDeque<usize>,
    /// Unanswered calls by the id written for them.
    waiting: BTreeMap<String, usize>,
    given: Given,
    /// Ids that no later call may get back: renamed calls and orphans.
    retired: Given,
}

#[derive(Debug)]
struct Written {
    id: String,
    tool: String,
    answered: bool,
}

impl Run {
    pub(super) fn new(name: &str) -> Run {
        Run { name: name.to_owned(), ..Run::default() }
    }

    pub(super) fn call(&mut self, call: &Call<'_>, sink: &mut Sink) {
        let wanted = call.id.unwrap_or(call.place);
        if call.id.is_none() {
            sink.loss.saw(Oddity::CallWithoutId, call.place);
        }
        let id = self.call_id(wanted, call.place, &mut sink.loss);
        sink.loss.calls += 1;
        sink.untimed += u64::from(call.at.is_none());
        sink.lines.call(&CallLine {
            run: Some(&self.name),
            id: Some(&id),
            tool: call.tool,
            at: call.at.map(At::Text),
            args: call.args,
            source: call.place,
            stands: call.stands,
            ..CallLine::default()
        });
        self.remember(wanted, id, call.tool);
    }

    /// The id itself wherever our reader will tell the call from all others by it: it closes a call when its
    /// id is used again, which is right unless the call still waits.
    fn call_id(&mut self, wanted: &str, place: &str, loss: &mut LossReport) -> String {
        if !self.waiting.contains_key(wanted) && !self.retired.has(wanted) {
            self.given.give(wanted);
            return wanted.to_owned();
        }
        loss.saw(Oddity::RepeatedId, place);
        let id = self.given.free(wanted, '~');
        self.retired.give(&id);
        id
    }

    fn remember(&mut self, wanted: &str, id: String, tool: &str) {
        let number = self.calls.len();
        self.by_id.entry(wanted.to_owned()).or_default().push_back(number);
        self.by_tool.entry(tool.to_owned()).or_default().push_back(number);
        self.all.push_back(number);
        self.waiting.insert(id.clone(), number);
        self.calls.push(Written { id, tool: tool.to_owned(), answered: false });
    }

    pub(super) fn answer(&mut self, answer: &Answer<'_>, sink: &mut Sink) {
        let id = self.answered_id(answer, &mut sink.loss);
        sink.loss.results += 1;
        sink.untimed += u64::from(answer.at.is_none());
        sink.unflagged += u64::from(!answer.flagged);
        sink.loss.failures += u64::from(answer.failed.is_some());
        let error = |message| ErrorPart { kind: Some(TOOL_ERROR), message: Some(message), ..ErrorPart::default() };
        sink.lines.result(&ResultLine {
            run: Some(&self.name),
            id: Some(&id),
            at: answer.at.map(At::Text),
            failed: answer.failed.map(error),
            from_text: !answer.flagged,
            source: answer.place,
            stands: answer.stands,
            ..ResultLine::default()
        });
    }

    /// The written id of the call that is answered: of those that wait for it, the earliest.
    fn answered_id(&mut self, answer: &Answer<'_>, loss: &mut LossReport) -> String {
        if answer.id.is_none() {
            loss.saw(Oddity::ResultWithoutId, answer.place);
        }
        let queue = match (answer.id, answer.tool) {
            (Some(id), _) => self.by_id.get_mut(id),
            (None, Some(tool)) => self.by_tool.get_mut(tool),
            (None, None) => Some(&mut self.all),
        };
        let waiting = queue.and_then(|queue| first_waiting(queue, &self.calls));
        let Some(call) = waiting.and_then(|number| self.calls.get_mut(number)) else {
            loss.saw(Oddity::ResultWithoutCall, answer.place);
            let orphan = self.given.free(answer.id.unwrap_or(answer.place), '~');
            self.retired.give(&orphan);
            return orphan;
        };
        call.answered = true;
        self.waiting.remove(&call.id);
        call.id.clone()
    }

    /// The tool of the call that a result with this id would answer.
    pub(super) fn tool_waiting_for(&self, id: &str) -> Option<&str> {
        let waiting = |&&number: &&usize| self.calls.get(number).is_some_and(|call| !call.answered);
        let number = self.by_id.get(id)?.iter().find(waiting)?;
        self.calls.get(*number).map(|call| call.tool.as_str())
    }

    pub(super) fn end(self, sink: &mut Sink) {
        sink.loss.runs += 1;
        sink.loss.unanswered += self.waiting.len() as u64;
        sink.lines.run_end(&self.name);
    }
}

/// Takes the first call that still waits, and all answered ones before it, out of the queue.
fn first_waiting(queue: &mut VecDeque<usize>, calls: &[Written]) -> Option<usize> {
    while let Some(number) = queue.pop_front() {
        if calls.get(number).is_some_and(|call| !call.answered) {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call<'a>(id: Option<&'a str>, tool: &'a str, place: &'a str) -> Call<'a> {
        Call { id, tool, args: None, at: None, place, stands: Stands::default() }
    }

    fn answer<'a>(id: Option<&'a str>, tool: Option<&'a str>, place: &'a str) -> Answer<'a> {
        Answer { id, tool, failed: None, flagged: false, at: None, place, stands: Stands::default() }
    }

    fn ids(sink: Sink) -> Vec<String> {
        let text = String::from_utf8(sink.lines.into_bytes()).expect("text");
        let id = |line: &str| {
            let line: serde_json::Value = serde_json::from_str(line).expect("a line");
            let mark = if line["type"] == "tool_call" { "" } else { ">" };
            line["call_id"].as_str().map(|id| format!("{mark}{id}"))
        };
        text.lines().filter_map(id).collect()
    }

    #[test]
    fn an_id_that_is_used_again_after_its_answer_stays_as_it_is() {
        let (mut run, mut sink) = (Run::new("r"), Sink::default());
        for _ in 0..2 {
            run.call(&call(Some("a"), "t", "p"), &mut sink);
            run.answer(&answer(Some("a"), None, "p"), &mut sink);
        }
        assert_eq!(sink.loss.count(Oddity::RepeatedId), 0);
        assert_eq!(ids(sink), ["a", ">a", "a", ">a"]);
    }

    #[test]
    fn parallel_calls_with_one_id_are_renamed_and_answered_in_order() {
        let (mut run, mut sink) = (Run::new("r"), Sink::default());
        run.call(&call(Some("a"), "t", "p"), &mut sink);
        run.call(&call(Some("a"), "u", "p"), &mut sink);
        run.answer(&answer(Some("a"), None, "p"), &mut sink);
        assert_eq!(run.tool_waiting_for("a"), Some("u"));
        run.answer(&answer(Some("a"), None, "p"), &mut sink);
        assert_eq!(sink.loss.count(Oddity::RepeatedId), 1);
        assert_eq!(ids(sink), ["a", "a~2", ">a", ">a~2"]);
    }

    #[test]
    fn an_orphan_is_kept_and_never_meets_a_call() {
        let (mut run, mut sink) = (Run::new("r"), Sink::default());
        run.answer(&answer(Some("a"), None, "p"), &mut sink);
        run.call(&call(Some("a"), "t", "p"), &mut sink);
        run.answer(&answer(Some("a"), None, "p"), &mut sink);
        run.answer(&answer(Some("a"), None, "p"), &mut sink);
        assert_eq!(sink.loss.count(Oddity::ResultWithoutCall), 2);
        assert_eq!(ids(sink), [">a", "a~2", ">a~2", ">a~3"]);
    }

    #[test]
    fn an_answer_without_an_id_goes_to_the_call_of_its_tool_that_waited_longest() {
        let (mut run, mut sink) = (Run::new("r"), Sink::default());
        for (tool, place) in [("t", "1"), ("u", "2"), ("u", "3")] {
            run.call(&call(None, tool, place), &mut sink);
        }
        run.answer(&answer(None, Some("u"), "p"), &mut sink);
        run.answer(&answer(None, None, "p"), &mut sink);
        run.answer(&answer(None, None, "p"), &mut sink);
        run.answer(&answer(None, None, "p"), &mut sink);
        assert_eq!((sink.loss.count(Oddity::CallWithoutId), sink.loss.count(Oddity::ResultWithoutId)), (3, 4));
        assert_eq!(ids(sink), ["1", "2", "3", ">2", ">1", ">3", ">p"]);
    }
}
