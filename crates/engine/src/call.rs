//! Recorded calls and answers as the rest of the product sees them. Knows no JSON and reads nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::event::{Act, AdmissionRefusal, Draw, ErrorFacts, IntentDoubt, KeyDialect, KeyHistory, StatusFrom};
use crate::ids::AttemptNo;
use crate::time::{Duration, Instant};

/// Names of an argument that is the idempotency key of its call. It says which request this is, and nothing of what the
/// call does.
pub const KEY_ARGUMENTS: [&str; 2] = ["idempotency_key", "idempotencyKey"];

/// A place in the inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Place {
    /// Which input, from 0, in the order of the command line.
    pub input: u32,
    /// Its line, from 1.
    pub line: u64,
}

impl Place {
    /// The same, of an input that comes behind `inputs` others.
    #[must_use]
    pub const fn behind(self, inputs: u32) -> Place {
        Place { input: self.input.saturating_add(inputs), ..self }
    }
}

/// A recorded tool call with every answer that the trace holds for it.
///
/// Its texts share one allocation, because a trace has millions of calls.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RecordedCall {
    text: String,
    ends: [u32; TEXTS],
    present: u8,
    /// The call's place.
    pub place: Place,
    /// The call's number in its input, from 1, in the order of the calls' lines.
    pub number: u64,
    /// The call's number in its run, from 1.
    pub number_in_run: u32,
    /// When the call was made; none if the trace has no times.
    pub at: Option<Instant>,
    /// The timeout of its attempts, if the call sets one.
    pub timeout: Option<Duration>,
    /// How long its caller waits, if it says so: no further attempt starts later.
    pub answer_within: Option<Duration>,
    /// Its key was used with other arguments before: an ok may be the answer to that request.
    pub key_is_reused: bool,
    /// An effect under its key was reversed before: an ok may be the first answer again.
    pub key_is_reversed: bool,
    /// How the calls under its key before it ended: that the key was processed may be said of a refusal.
    pub key_history: KeyHistory,
    /// What identical calls of its run before it show speaks against making it once more.
    pub is_repeat_unwise: bool,
    /// Answers to attempts are in the order of the attempts, other answers in the order of the trace.
    pub answers: Vec<RecordedAnswer>,
    /// What its dispatcher recorded of it, beside the answers.
    pub dispatch: Option<Box<RecordedDispatch>>,
    /// Of which call it is a step.
    pub parent: Option<Box<RecordedStep>>,
    /// Its transaction, where the trace has any.
    pub transaction: Option<Box<RecordedTransaction>>,
}

/// The transaction of a recorded call.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RecordedTransaction {
    /// Its label; empty: that of the run.
    pub label: Box<str>,
    /// The line since which the label stands for it: its first one, or that of the commit before it.
    pub since: u64,
    /// How often it had begun when the call was made.
    pub begun: u32,
    /// Whether it was committed although the call was not known to be done.
    pub was_committed: bool,
}

/// What a program did with a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedAct {
    /// Its line.
    pub line: u64,
    /// When.
    pub at: Option<Instant>,
    /// The run.
    pub run: Option<Box<str>>,
    /// The label of the transaction; empty: that of the run.
    pub label: Box<str>,
    /// What.
    pub act: Act,
    /// Of a write of state: its name, and its value as JSON.
    pub state: Option<(Box<str>, Box<str>)>,
}

/// Of which call a recorded call is a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RecordedStep {
    /// The id of the action's call.
    pub call: Box<str>,
    /// The name of the step.
    pub step: Box<str>,
}

/// What a dispatcher recorded of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RecordedDispatch {
    /// When its caller went away, and the line that says so.
    pub cancelled: Option<(Instant, u64)>,
    /// When it ended, and the line that says so.
    pub ended: Option<(Instant, u64)>,
    /// How many attempts the decisions have.
    pub sent: u32,
    /// The decisions, each with its line: JSON objects, as they are recorded.
    pub decisions: Vec<(u64, Box<str>)>,
    /// What decided them, if the trace says so.
    pub recorder: Option<Arc<Recorder>>,
}

/// What made the decisions of a trace.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Recorder {
    /// The name of the playbook.
    pub playbook: Box<str>,
    /// The fingerprint of the playbook.
    pub fingerprint: Box<str>,
    /// The seed of the draws.
    pub seed: u64,
    /// How the upstream answered repeated keys, if it was simulated.
    pub keys: Option<KeyDialect>,
}

/// One recorded answer.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RecordedAnswer {
    /// What it answers.
    pub to: AnswerTo,
    /// The attempt's number, if the trace has one.
    pub attempt: Option<u32>,
    /// When the attempt began, if the trace has the time.
    pub started: Option<Instant>,
    /// When the answer came.
    pub at: Option<Instant>,
    /// Its content.
    pub reply: Reply,
    /// Read from an identical later call (`--join-resends`), not recorded as this call's own.
    pub inferred: bool,
    /// What tells whether this is an ok or a failure.
    pub status_from: StatusFrom,
    /// The draw that came with it, if the trace has one.
    pub draw: Option<Draw>,
    /// A hash of what its line says beyond these fields; it tells answers of one call apart. 0: nothing more.
    pub line_hash: u32,
    /// Its place.
    pub place: Place,
}

/// What a recorded answer answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum AnswerTo {
    /// An attempt.
    Attempt,
    /// A refresh of the evidence.
    Refresh,
    /// The redemption of the reversal token.
    Reversal,
    /// An attempt that had timed out: it changes no decision.
    Late,
}

/// The content of a recorded answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Reply {
    /// Success.
    Ok,
    /// Failure; without an error object if the trace has none.
    Failed(Option<Arc<ErrorFacts>>),
    /// Its text suggests a failure and does not prove one.
    Suspected(Option<Arc<ErrorFacts>>),
    /// The work that was asked for is not done yet: how it ends is open.
    Unfinished(Option<Arc<ErrorFacts>>),
}

impl Reply {
    /// The error object, if there is one.
    pub const fn error(&self) -> Option<&Arc<ErrorFacts>> {
        match self {
            Reply::Ok => None,
            Reply::Failed(error) | Reply::Suspected(error) | Reply::Unfinished(error) => error.as_ref(),
        }
    }

    /// Whether it is a failure for sure.
    pub const fn is_failure(&self) -> bool {
        matches!(self, Reply::Failed(_))
    }
}

/// The texts of a recorded call, for building one.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallTexts<'a> {
    /// The agent run, if the trace names runs.
    pub run: Option<&'a str>,
    /// The call's label; labels repeat in real data.
    pub id: Option<&'a str>,
    /// The tool's name.
    pub tool: &'a str,
    /// The arguments as JSON text.
    pub args: Option<&'a str>,
    /// The idempotency key.
    pub key: Option<&'a str>,
    /// The evidence references as JSON text.
    pub evidence: Option<&'a str>,
    /// The reversal token.
    pub token: Option<&'a str>,
    /// The dispatcher that handled it, if the trace names dispatchers.
    pub dispatcher: Option<&'a str>,
}

/// The buffer of a call's texts grows in multiples of this many bytes.
const ROUND: usize = 128;

const TEXTS: usize = 8;
const RUN: usize = 1;
const ID: usize = 2;
const KEY: usize = 3;
const TOKEN: usize = 4;
const DISPATCHER: usize = 5;
const EVIDENCE: usize = 6;
/// Last, behind the evidence: both are long and rarely read.
const ARGS: usize = 7;

impl RecordedAnswer {
    /// The check of a gate that refused the call, if the answer is such a refusal.
    pub fn gate_refusal(&self) -> Option<AdmissionRefusal> {
        match &self.reply {
            Reply::Failed(Some(error)) if self.to == AnswerTo::Attempt => error.gate_refusal(),
            _ => None,
        }
    }

    /// Whether the line of `other` has the same content, as far as the trace shows.
    pub fn is_duplicate_of(&self, other: &RecordedAnswer) -> bool {
        self.line_hash == other.line_hash && self.has_same_facts(other)
    }

    /// Whether the fields of both are the same; their lines may say more.
    pub fn has_same_facts(&self, other: &RecordedAnswer) -> bool {
        let when = |answer: &RecordedAnswer| (answer.at, answer.started, answer.attempt, answer.to);
        when(self) == when(other) && self.reply == other.reply
    }
}

impl RecordedCall {
    /// A call without times and answers yet.
    pub fn new(texts: CallTexts<'_>, place: Place) -> RecordedCall {
        let mut call = RecordedCall {
            text: String::new(),
            ends: [0; TEXTS],
            present: 0,
            place,
            number: 0,
            number_in_run: 0,
            at: None,
            timeout: None,
            answer_within: None,
            key_is_reused: false,
            key_is_reversed: false,
            key_history: KeyHistory::Unknown,
            is_repeat_unwise: false,
            answers: Vec::new(),
            dispatch: None,
            parent: None,
            transaction: None,
        };
        call.reset(texts, place);
        call
    }

    /// Turns this into another call without times and answers, and keeps the allocations.
    pub fn reset(&mut self, texts: CallTexts<'_>, place: Place) {
        let CallTexts { run, id, tool, args, key, evidence, token, dispatcher } = texts;
        let all = [Some(tool), run, id, key, token, dispatcher, evidence, args];
        self.text.clear();
        let length: usize = all.iter().flatten().map(|part| part.len()).sum();
        if length > self.text.capacity() {
            self.text.reserve_exact(length.next_multiple_of(ROUND)); // rounded up, so that it is rarely allocated again
        }
        self.present = 0;
        for (n, part) in all.into_iter().enumerate() {
            if let Some(part) = part {
                self.present |= 1 << n;
                self.text.push_str(part);
            }
            self.ends[n] = u32::try_from(self.text.len()).unwrap_or(u32::MAX); // a line is at most 16 MiB
        }
        self.place = place;
        self.number = 0;
        self.number_in_run = 0;
        self.at = None;
        self.timeout = None;
        self.answer_within = None;
        self.key_is_reused = false;
        self.key_is_reversed = false;
        self.key_history = KeyHistory::Unknown;
        self.is_repeat_unwise = false;
        self.answers.clear();
        self.dispatch = None;
        self.parent = None;
        self.transaction = None;
    }

    /// Bytes allocated for its texts.
    pub fn allocated(&self) -> usize {
        self.text.capacity()
    }

    /// All its texts, concatenated.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its names, key and reversal token, concatenated.
    pub fn names(&self) -> &str {
        &self.text[..self.ends[TOKEN] as usize]
    }

    /// Whether a dispatcher says that it ended the call without sending it.
    pub fn was_unsent(&self) -> bool {
        self.dispatch.as_ref().is_some_and(|of| of.ended.is_some() && of.sent == 0)
    }

    /// Whether its dispatcher sent an attempt after the last one that has an answer.
    pub fn is_unanswered(&self) -> bool {
        let answered = self.attempts().last().map_or(0, |(number, _)| number.get());
        self.dispatch.as_ref().is_some_and(|of| of.sent > answered)
    }

    /// Whether it has an idempotency key; does not read it.
    pub fn is_keyed(&self) -> bool {
        self.has(KEY)
    }

    /// Whether it has a reversal token; does not read it.
    pub fn has_token(&self) -> bool {
        self.has(TOKEN)
    }

    fn has(&self, n: usize) -> bool {
        self.present & (1 << n) != 0
    }

    fn part(&self, n: usize) -> Option<&str> {
        let start = if n == 0 { 0 } else { self.ends[n - 1] };
        self.has(n).then(|| &self.text[start as usize..self.ends[n] as usize])
    }

    /// The tool's name.
    pub fn tool(&self) -> &str {
        self.part(0).unwrap_or("")
    }

    /// The agent run, if the trace names runs.
    pub fn run(&self) -> Option<&str> {
        self.part(RUN)
    }

    /// The call's label.
    pub fn id(&self) -> Option<&str> {
        self.part(ID)
    }

    /// The arguments as JSON text.
    pub fn args(&self) -> Option<&str> {
        self.part(ARGS)
    }

    /// Why calls that look like this one may be other requests; none: tool, run and arguments are recorded.
    pub fn intent_doubt(&self) -> Option<IntentDoubt> {
        match (self.has(RUN), self.has(ARGS)) {
            (false, _) => Some(IntentDoubt::NoRun),
            (true, false) => Some(IntentDoubt::NoArguments),
            (true, true) => None,
        }
    }

    /// The idempotency key.
    pub fn key(&self) -> Option<&str> {
        self.part(KEY)
    }

    /// The evidence references as JSON text.
    pub fn evidence(&self) -> Option<&str> {
        self.part(EVIDENCE)
    }

    /// The reversal token.
    pub fn token(&self) -> Option<&str> {
        self.part(TOKEN)
    }

    /// The dispatcher that handled it, if the trace names dispatchers.
    pub fn dispatcher(&self) -> Option<&str> {
        self.part(DISPATCHER)
    }

    /// Of a step: the id of the action's call, and its own name.
    pub fn step(&self) -> Option<(&str, &str)> {
        self.parent.as_ref().map(|parent| (&*parent.call, &*parent.step))
    }

    /// When its caller went away, if that is recorded.
    pub fn cancelled_at(&self) -> Option<Instant> {
        Some(self.dispatch.as_ref()?.cancelled?.0)
    }

    /// When it ended, and the line that says so: its outcome, else its last answer.
    pub fn end(&self) -> Option<(Instant, u64)> {
        let answers = || self.answers.iter().filter_map(|answer| Some((answer.at?, answer.place.line))).max();
        self.dispatch.as_ref().and_then(|dispatch| dispatch.ended).or_else(answers)
    }

    /// What made its recorded decisions, if the trace says so.
    pub fn recorder(&self) -> Option<&Recorder> {
        self.dispatch.as_ref()?.recorder.as_deref()
    }

    /// How its upstream answered repeated keys, if that was simulated and the trace says so.
    pub fn simulated_keys(&self) -> Option<KeyDialect> {
        self.recorder()?.keys
    }

    /// The answers to attempts in ascending order, each with its attempt's number. An answer without a number belongs to
    /// the attempt after the one before it.
    pub fn attempts(&self) -> impl Iterator<Item = (AttemptNo, &RecordedAnswer)> {
        let mut next = AttemptNo::FIRST;
        self.answers.iter().filter(|answer| answer.to == AnswerTo::Attempt).map(move |answer| {
            let number = answer.attempt.map_or(next, AttemptNo::new);
            next = number.next();
            (number, answer)
        })
    }

    /// The error of its only attempt; none: it has several attempts, or none that failed with an error.
    pub fn only_error(&self) -> Option<&ErrorFacts> {
        let mut attempts = self.attempts();
        match (attempts.next(), attempts.next()) {
            (Some((_, RecordedAnswer { reply: Reply::Failed(error), .. })), None) => error.as_deref(),
            _ => None,
        }
    }

    /// The check of a gate that refused it, as recorded in place of an answer: nothing was sent.
    pub fn gate_refusal(&self) -> Option<AdmissionRefusal> {
        self.only_error()?.gate_refusal()
    }

    /// The attempts with late answers, each with these answers; none: the usual call.
    pub fn late_answers(&self) -> BTreeMap<AttemptNo, Vec<&RecordedAnswer>> {
        let mut late: BTreeMap<AttemptNo, Vec<&RecordedAnswer>> = BTreeMap::new();
        for answer in self.answers.iter().filter(|answer| answer.to == AnswerTo::Late) {
            late.entry(answer.attempt.map_or(AttemptNo::FIRST, AttemptNo::new)).or_default().push(answer);
        }
        late
    }

    /// Attempts whose only ok came late: each has one effect, as one that was answered with ok at once has.
    pub fn late_successes(&self) -> u32 {
        let late = self.late_answers();
        let in_time =
            |attempt: AttemptNo| self.attempts().any(|(number, answer)| number == attempt && answer.reply == Reply::Ok);
        let succeeded = late
            .iter()
            .filter(|(attempt, answers)| answers.iter().any(|answer| answer.reply == Reply::Ok) && !in_time(**attempt));
        u32::try_from(succeeded.count()).unwrap_or(u32::MAX)
    }

    /// The weakest evidence by which an importer read success or failure of one of its answers; none if all have flags.
    pub fn weakest_evidence(&self) -> Option<StatusFrom> {
        let all = self.answers.iter().map(|answer| answer.status_from);
        all.max().filter(|evidence| *evidence != StatusFrom::Flag)
    }

    /// The name that is unique in an input and that `--call` takes: `RUN#3`, or `#3` if runs have no names.
    pub fn reference(&self) -> String {
        let mut reference = String::with_capacity(self.run().map_or(0, str::len) + 11); // `#` and ten digits at most
        self.write_reference(&mut reference);
        reference
    }

    /// Writes the reference into `out`, replacing its content.
    pub fn write_reference(&self, out: &mut String) {
        out.clear();
        out.push_str(self.run().unwrap_or(""));
        out.push('#');
        let (mut rest, mut digits, mut first) = (self.number_in_run, [b'0'; 10], 10);
        while first == 10 || rest > 0 {
            first -= 1; // a number has at most ten digits
            digits[first] = b'0' + (rest % 10).to_le_bytes()[0];
            rest /= 10;
        }
        out.push_str(std::str::from_utf8(&digits[first..]).unwrap_or_default()); // by hand: a trace has millions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_gives_back_the_texts_it_was_built_from() {
        let texts = CallTexts { run: Some("r1"), tool: "pay", key: Some("k"), ..CallTexts::default() };
        let mut call = RecordedCall::new(texts, Place::default());
        call.number_in_run = 3;
        assert_eq!((call.tool(), call.run(), call.id(), call.key()), ("pay", Some("r1"), None, Some("k")));
        assert_eq!((call.args(), call.token()), (None, None));
        assert_eq!(call.reference(), "r1#3");
        for number in [0, 10, 99, 1_000, 4_294_967_295] {
            call.number_in_run = number;
            assert_eq!(call.reference(), format!("r1#{number}"));
        }
    }
}
