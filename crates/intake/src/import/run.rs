//! Writes the lines of one run: pairs results with calls by id and order, and keeps the written ids unique. Knows no source
//! format.

use std::collections::{BTreeMap, BTreeSet};

use super::message_reader::MessageReader;
use super::names::UsedNames;
use crate::histories::Histories;
use crate::imported::{ImportWarning, Imported, LossReport, Missing};
use crate::origin::{LineFinder, SourceSpan};
use crate::reader_state::ReaderState;
use crate::trace_writer::{Answer, At, OutputCall, OutputResult, TraceWriter, WrittenArgs};

/// A call of a source.
#[derive(Debug)]
pub(super) struct SourceCall<'a> {
    pub(super) id: Option<&'a str>,
    /// The tool as the source names it: its results name it so too.
    pub(super) tool: &'a str,
    /// The tool as the user's mapping names it.
    pub(super) renamed: Option<&'a str>,
    pub(super) args: Option<&'a WrittenArgs>,
    pub(super) at: Option<&'a str>,
    pub(super) place: &'a str,
    pub(super) span: SourceSpan,
}

/// A result of a source.
#[derive(Debug)]
pub(super) struct SourceResult<'a> {
    pub(super) id: Option<&'a str>,
    pub(super) tool: Option<&'a str>,
    pub(super) answer: &'a Answer,
    /// Distinguishes its message from others.
    pub(super) row: u32,
    /// A flag of the source tells whether it failed.
    pub(super) flagged: bool,
    pub(super) at: Option<&'a str>,
    pub(super) place: &'a str,
    pub(super) span: SourceSpan,
}

/// The output of an import.
#[derive(Debug)]
pub(super) struct ImportOutput {
    pub(super) lines: TraceWriter,
    pub(super) loss: LossReport,
    /// Finds the places of values in the source.
    pub(super) finder: LineFinder,
    /// Reads messages, with what the user's mapping says otherwise.
    pub(super) reader: MessageReader,
    pub(super) state: ReaderState,
    /// The conversations so far, from which a later one may go on.
    pub(super) histories: Histories<Speakers>,
    /// Results without a flag: their text tells whether they failed.
    unflagged: u64,
    /// Calls and results without a time.
    pub(super) untimed: u64,
}

impl Default for ImportOutput {
    fn default() -> ImportOutput {
        ImportOutput {
            lines: TraceWriter::of_format(),
            loss: LossReport::default(),
            finder: LineFinder::default(),
            reader: MessageReader::default(),
            state: ReaderState::default(),
            histories: Histories::default(),
            unflagged: 0,
            untimed: 0,
        }
    }
}

impl ImportOutput {
    /// The lines, and the completed loss report.
    pub(super) fn finish(mut self) -> Imported {
        self.loss.missing.insert(if self.untimed > 0 { Missing::Times } else { Missing::Latencies });
        if self.unflagged > 0 {
            self.loss.missing.insert(Missing::FailureFlags);
        }
        self.lines.report(&mut self.loss);
        Imported { loss: self.loss, ..self.lines.take_imported() }
    }
}

/// The most calls of one run that wait for a result.
const MAX_WAITING: usize = 10_000;

/// Writes one run. Keeps its unanswered calls, and a hash of each id that it wrote.
#[derive(Debug, Default)]
pub(super) struct RunWriter {
    /// None: the source does not tell which calls belong to one run.
    name: Option<String>,
    /// The unanswered calls by their number, and the numbers by source id and by tool.
    waiting: BTreeMap<u64, WaitingCall>,
    by_id: BTreeMap<String, BTreeSet<u64>>,
    by_tool: BTreeMap<String, BTreeSet<u64>>,
    /// The written ids of the unanswered calls.
    waiting_ids: BTreeSet<String>,
    /// Calls so far.
    calls: u64,
    /// Unanswered calls that were forgotten because too many waited.
    forgotten: u64,
    used: UsedNames,
    /// Written ids that no later call may have: those of renamed calls and orphans.
    retired: UsedNames,
    /// The written ids of the last calls that were renamed, by their ids in the source.
    renamed: BTreeMap<String, String>,
}

#[derive(Debug)]
struct WaitingCall {
    /// The id in the source, or the place that stands for it.
    wanted: String,
    /// The written id.
    id: String,
    tool: String,
}

impl RunWriter {
    pub(super) fn of(name: Option<&str>) -> RunWriter {
        RunWriter { name: name.map(str::to_owned), ..RunWriter::default() }
    }

    pub(super) fn call(&mut self, call: &SourceCall<'_>, output: &mut ImportOutput) {
        let wanted = call.id.unwrap_or(call.place);
        if call.id.is_none() {
            output.loss.warn(ImportWarning::CallWithoutId, call.place);
        }
        let id = self.call_id(wanted, call.place, &mut output.loss);
        output.loss.calls += 1;
        output.untimed += u64::from(call.at.is_none());
        output.lines.call(&OutputCall {
            run: self.name.as_deref(),
            id: Some(&id),
            tool: call.renamed.unwrap_or(call.tool),
            at: call.at.map(At::Text),
            args: call.args,
            source: call.place,
            span: call.span,
            ..OutputCall::default()
        });
        self.remember(wanted, id, call.tool);
    }

    /// The source id, wherever our reader can identify the call by it. The reader closes a call when its id is used again,
    /// which is wrong only for a call that is still unanswered.
    fn call_id(&mut self, wanted: &str, place: &str, loss: &mut LossReport) -> String {
        if !self.waiting_ids.contains(wanted) && !self.retired.has(wanted) {
            self.used.add(wanted);
            self.renamed.remove(wanted);
            return wanted.to_owned();
        }
        loss.warn(ImportWarning::RepeatedId, place);
        let id = self.used.free(wanted, '~');
        self.retired.add(&id);
        self.renamed.insert(wanted.to_owned(), id.clone());
        id
    }

    /// The written id of the last call with this id in the source, which was answered before.
    fn answered_before(&self, wanted: &str) -> Option<String> {
        let as_it_is = || (self.used.has(wanted) && !self.retired.has(wanted)).then(|| wanted.to_owned());
        self.renamed.get(wanted).cloned().or_else(as_it_is)
    }

    fn remember(&mut self, wanted: &str, id: String, tool: &str) {
        if self.waiting.len() == MAX_WAITING
            && let Some(first) = self.waiting.keys().next().copied()
        {
            self.take(first);
            self.forgotten += 1;
        }
        let number = self.calls;
        self.calls += 1;
        self.by_id.entry(wanted.to_owned()).or_default().insert(number);
        self.by_tool.entry(tool.to_owned()).or_default().insert(number);
        self.waiting_ids.insert(id.clone());
        self.waiting.insert(number, WaitingCall { wanted: wanted.to_owned(), id, tool: tool.to_owned() });
    }

    /// Removes a waiting call.
    fn take(&mut self, number: u64) -> Option<WaitingCall> {
        let call = self.waiting.remove(&number)?;
        for (numbers, name) in [(&mut self.by_id, &call.wanted), (&mut self.by_tool, &call.tool)] {
            if let Some(of_name) = numbers.get_mut(name) {
                of_name.remove(&number);
                if of_name.is_empty() {
                    numbers.remove(name);
                }
            }
        }
        self.waiting_ids.remove(&call.id);
        Some(call)
    }

    pub(super) fn result(&mut self, result: &SourceResult<'_>, output: &mut ImportOutput) {
        let id = self.answered_id(result, &mut output.loss);
        let is_written = output.lines.result(&OutputResult {
            run: self.name.as_deref(),
            id: Some(&id),
            at: result.at.map(At::Text),
            answer: Some(result.answer),
            row: Some(result.row),
            source: result.place,
            span: result.span,
            ..OutputResult::default()
        });
        if !is_written {
            return output.loss.warn(ImportWarning::Copy, result.place);
        }
        output.loss.count_result(&result.answer.reply);
        output.untimed += u64::from(result.at.is_none());
        output.unflagged += u64::from(!result.flagged);
    }

    /// The written id of the answered call: the earliest that waits for this result.
    fn answered_id(&mut self, answer: &SourceResult<'_>, loss: &mut LossReport) -> String {
        if answer.id.is_none() {
            loss.warn(ImportWarning::ResultWithoutId, answer.place);
        }
        let first = match (answer.id, answer.tool) {
            (Some(id), _) => self.by_id.get(id).and_then(BTreeSet::first),
            (None, Some(tool)) => self.by_tool.get(tool).and_then(BTreeSet::first),
            (None, None) => self.waiting.keys().next(),
        };
        if let Some(call) = first.copied().and_then(|first| self.take(first)) {
            return call.id;
        }
        if let Some(id) = answer.id.and_then(|id| self.answered_before(id)) {
            return id;
        }
        loss.warn(ImportWarning::ResultWithoutCall, answer.place);
        let orphan = self.used.free(answer.id.unwrap_or(answer.place), '~');
        self.retired.add(&orphan);
        orphan
    }

    /// The tool of the call that waits for a result with this id.
    pub(super) fn tool_waiting_for(&self, id: &str) -> Option<&str> {
        self.waiting.get(self.by_id.get(id)?.first()?).map(|call| call.tool.as_str())
    }

    /// Whether a call waits for its result.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Gives back the memory for calls that wait, if none does.
    pub(super) fn shrink(&mut self) {
        if self.waiting.is_empty() {
            self.waiting = BTreeMap::new();
            self.by_id = BTreeMap::new();
            self.by_tool = BTreeMap::new();
            self.waiting_ids = BTreeSet::new();
        }
    }

    /// Ends the run.
    pub(super) fn end(&self, output: &mut ImportOutput) {
        self.count_unanswered(output);
        match &self.name {
            Some(name) => output.lines.run_end(name),
            None => drop(output.loss.missing.insert(Missing::Runs)),
        }
    }

    /// Forgets the run, which may go on.
    pub(super) fn count_unanswered(&self, output: &mut ImportOutput) {
        output.loss.unanswered += self.waiting.len() as u64 + self.forgotten;
    }
}

/// The runs of one conversation that is being read.
#[derive(Debug)]
pub(super) struct Speakers {
    agent: RunWriter,
    user: Option<RunWriter>,
    name: Option<String>,
    /// The simulated user's run was counted.
    pub(super) has_user: bool,
}

impl Speakers {
    /// A conversation that begins.
    pub(super) fn begin(name: Option<&str>, output: &mut ImportOutput) -> Speakers {
        output.loss.runs += 1;
        Speakers::resume(name, false)
    }

    /// A conversation that goes on, of which nothing else is known.
    pub(super) fn resume(name: Option<&str>, has_user: bool) -> Speakers {
        Speakers { agent: RunWriter::of(name), user: None, name: name.map(str::to_owned), has_user }
    }

    /// The conversation has ended.
    pub(super) fn end(&self, output: &mut ImportOutput) {
        self.agent.end(output);
        self.user.iter().for_each(|user| user.end(output));
    }

    /// Gives back the memory for calls that wait, where none does.
    pub(super) fn shrink(&mut self) {
        self.agent.shrink();
        self.user.iter_mut().for_each(RunWriter::shrink);
    }

    /// The conversation has ended, unless it had before: then no call waits.
    pub(super) fn end_if_waiting(&self, output: &mut ImportOutput) {
        if self.is_waiting() {
            self.end(output);
        }
    }

    /// Whether a call waits for its result.
    pub(super) fn is_waiting(&self) -> bool {
        self.agent.is_waiting() || self.user.as_ref().is_some_and(RunWriter::is_waiting)
    }

    /// Forgets the conversation, which may go on.
    pub(super) fn count_unanswered(&self, output: &mut ImportOutput) {
        self.agent.count_unanswered(output);
        self.user.iter().for_each(|user| user.count_unanswered(output));
    }

    /// The run of the agent, or of the simulated user.
    pub(super) fn run(&mut self, is_user: bool, runs: &mut u64) -> &mut RunWriter {
        if !is_user {
            return &mut self.agent;
        }
        *runs += u64::from(!std::mem::replace(&mut self.has_user, true));
        let of_user = || self.name.as_ref().map(|agent| format!("{agent}.user"));
        self.user.get_or_insert_with(|| RunWriter::of(of_user().as_deref()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::failure::Assessment;

    fn call<'a>(id: Option<&'a str>, tool: &'a str, place: &'a str) -> SourceCall<'a> {
        SourceCall { id, tool, renamed: None, args: None, at: None, place, span: SourceSpan::default() }
    }

    static OK: LazyLock<Answer> = LazyLock::new(|| Answer::of(&Assessment::Ok, false, Some("")));

    fn result<'a>(id: Option<&'a str>, tool: Option<&'a str>, place: &'a str) -> SourceResult<'a> {
        SourceResult { id, tool, answer: &OK, row: 0, flagged: false, at: None, place, span: SourceSpan::default() }
    }

    fn ids(output: ImportOutput) -> Vec<String> {
        let text = String::from_utf8(output.lines.into_bytes()).expect("text");
        let id = |line: &str| {
            let line: serde_json::Value = serde_json::from_str(line).expect("a line");
            let mark = if line["type"] == "tool_call" { "" } else { ">" };
            line["call_id"].as_str().map(|id| format!("{mark}{id}"))
        };
        text.lines().filter_map(id).collect()
    }

    #[test]
    fn an_id_that_is_used_again_after_its_answer_stays_unchanged() {
        let (mut run, mut output) = (RunWriter::of(Some("r")), ImportOutput::default());
        for _ in 0..2 {
            run.call(&call(Some("a"), "t", "p"), &mut output);
            run.result(&result(Some("a"), None, "p"), &mut output);
        }
        assert_eq!(output.loss.count(ImportWarning::RepeatedId), 0);
        assert_eq!(ids(output), ["a", ">a", "a", ">a"]);
    }

    #[test]
    fn parallel_calls_with_one_id_are_renamed_and_answered_in_order() {
        let (mut run, mut output) = (RunWriter::of(Some("r")), ImportOutput::default());
        run.call(&call(Some("a"), "t", "p"), &mut output);
        run.call(&call(Some("a"), "u", "p"), &mut output);
        run.result(&result(Some("a"), None, "p"), &mut output);
        assert_eq!(run.tool_waiting_for("a"), Some("u"));
        run.result(&result(Some("a"), None, "p"), &mut output);
        assert_eq!(output.loss.count(ImportWarning::RepeatedId), 1);
        assert_eq!(ids(output), ["a", "a~2", ">a", ">a~2"]);
    }

    #[test]
    fn what_a_run_keeps_does_not_grow_with_its_answered_calls() {
        let (mut run, mut output) = (RunWriter::of(None), ImportOutput::default());
        let kept = |run: &RunWriter| (run.waiting.len(), run.by_id.len(), run.by_tool.len(), run.waiting_ids.len());
        for n in 0..3_000 {
            run.call(&call(Some(&format!("c{n}")), &format!("t{n}"), "p"), &mut output);
            run.result(&result(Some(&format!("c{n}")), None, "p"), &mut output);
            assert_eq!(kept(&run), (0, 0, 0, 0));
        }
        for n in 0..MAX_WAITING + 7 {
            run.call(&call(Some(&format!("d{n}")), &format!("t{n}"), "p"), &mut output);
        }
        assert_eq!(kept(&run), (MAX_WAITING, MAX_WAITING, MAX_WAITING, MAX_WAITING));
        assert_eq!((run.tool_waiting_for("d6"), run.tool_waiting_for("d7")), (None, Some("t7")));
        run.end(&mut output);
        assert_eq!(output.loss.unanswered, MAX_WAITING as u64 + 7);
    }

    #[test]
    fn an_orphan_is_kept_and_never_paired_with_a_call() {
        let (mut run, mut output) = (RunWriter::of(Some("r")), ImportOutput::default());
        run.result(&result(Some("a"), None, "p"), &mut output);
        run.call(&call(Some("a"), "t", "p"), &mut output);
        run.result(&result(Some("a"), None, "p"), &mut output);
        run.result(&result(Some("a"), None, "p"), &mut output);
        run.result(&result(Some("b"), None, "p"), &mut output);
        assert_eq!(output.loss.count(ImportWarning::ResultWithoutCall), 2);
        assert_eq!(ids(output), [">a", "a~2", ">a~2", ">a~2", ">b"]);
    }

    #[test]
    fn a_renamed_tool_is_answered_by_the_name_of_the_source() {
        let (mut run, mut output) = (RunWriter::of(Some("r")), ImportOutput::default());
        run.call(&SourceCall { renamed: Some("a"), ..call(None, "x_a", "1") }, &mut output);
        run.result(&result(None, Some("x_a"), "p"), &mut output);
        assert_eq!(output.loss.count(ImportWarning::ResultWithoutCall), 0);
        assert_eq!(ids(output), ["1", ">1"]);
    }

    #[test]
    fn a_result_without_an_id_goes_to_the_call_of_its_tool_that_waited_longest() {
        let (mut run, mut output) = (RunWriter::of(Some("r")), ImportOutput::default());
        for (tool, place) in [("t", "1"), ("u", "2"), ("u", "3")] {
            run.call(&call(None, tool, place), &mut output);
        }
        run.result(&result(None, Some("u"), "p"), &mut output);
        run.result(&result(None, None, "p"), &mut output);
        run.result(&result(None, None, "p"), &mut output);
        run.result(&result(None, None, "p"), &mut output);
        assert_eq!(
            (output.loss.count(ImportWarning::CallWithoutId), output.loss.count(ImportWarning::ResultWithoutId)),
            (3, 4)
        );
        assert_eq!(ids(output), ["1", "2", "3", ">2", ">1", ">3", ">p"]);
    }
}
