//! The trace slice that replays one call: the call with all its attempts, and the earlier calls of its run with the same
//! intent or the same reversal token. No other call can influence its simulation.

use std::collections::BTreeMap;

use super::ending::{Ending, failure_at};
use super::model::Feedback;
use crate::explain::InRun;
use crate::replay::{SessionOptions, Sessions};
use playproof_engine::call::RecordedCall;
use playproof_engine::sim::{FinishedCall, Plan};
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_trace::assemble::AssembleOptions;
use playproof_trace::call::CompletedCall;
use playproof_trace::call_hashes::CallHashes;
use playproof_trace::input::{ReadError, TraceInput};
use playproof_trace::redact::RedactionRules;
use playproof_trace::{canonical, slice};

/// The most earlier calls in a slice: the latest ones. More where all calls of a run share something.
const MOST_EARLIER: usize = 20;
const MOST_SHARING: usize = 1_000;

/// Whether an earlier call of the same input belongs to the slice of `about`. Neither may be redacted.
pub fn belongs(earlier: &RecordedCall, about: &RecordedCall) -> bool {
    if earlier.number >= about.number || earlier.run() != about.run() {
        return false;
    }
    let hashes = |call: &RecordedCall| {
        CallHashes::new(call.run(), call.id(), call.tool(), call.key(), call.args().map_or(0, canonical::hash_of))
    };
    let (one, other) = (hashes(earlier), hashes(about));
    let token = earlier.token().is_some() && earlier.token() == about.token();
    token || one.request == other.request || one.key != 0 && one.key == other.key
}

/// The earlier calls of its input that belong to the slice of `about`, the latest ones, in their order; all of its run if
/// they share something.
///
/// # Errors
/// An input that cannot be read.
pub fn earlier(
    input: TraceInput<'_>,
    options: AssembleOptions,
    redaction: &RedactionRules,
    about: &RecordedCall,
    shares_state: bool,
) -> Result<Vec<CompletedCall>, ReadError> {
    let most = if shares_state { MOST_SHARING } else { MOST_EARLIER };
    let shares = |call: &RecordedCall| shares_state && call.number < about.number && call.run() == about.run();
    let mut latest: BTreeMap<u64, CompletedCall> = BTreeMap::new();
    input.each_call(0, options, redaction, &|_| true, |closed| {
        if shares(closed.raw()) || belongs(closed.raw(), about) {
            latest.insert(closed.raw().number, closed);
            if latest.len() > most {
                latest.pop_first();
            }
        }
    })?;
    Ok(latest.into_values().collect())
}

/// A call and its slice, ready to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The lines, redacted.
    pub text: String,
    /// How many calls they hold.
    pub calls: usize,
    /// The call's reference in them.
    pub reference: String,
    /// What the playbook makes of it.
    pub ending: Ending,
}

/// Why a call has no slice.
#[derive(Debug)]
pub enum NotCut {
    /// Its lines alone end differently than in the whole trace.
    NotAlone,
    /// The redacted lines end differently.
    Redacted {
        /// What it makes of the call as recorded.
        wanted: Box<Ending>,
        /// What it makes of the call as redacted; none where no call is left.
        got: Option<Box<Ending>>,
    },
    /// Its lines cannot be read back.
    Unreadable(ReadError),
}

impl From<ReadError> for NotCut {
    fn from(error: ReadError) -> NotCut {
        NotCut::Unreadable(error)
    }
}

impl Slice {
    /// The slice of `about` with its `earlier` calls, redacted and read back: the playbook must make the same of it as of
    /// the trace, in which the calls of its run make `in_run` of it.
    ///
    /// # Errors
    /// It does not.
    pub fn cut(
        plan: &Plan,
        about: &CompletedCall,
        in_run: &InRun,
        earlier: &[CompletedCall],
        redaction: &RedactionRules,
    ) -> Result<Slice, NotCut> {
        let text = |call: fn(&CompletedCall) -> &RecordedCall| {
            slice::lines(&earlier.iter().chain([about]).map(call).collect::<Vec<_>>())
        };
        let wanted = Ending::of(plan, about.raw(), in_run);
        match Slice::read_back(plan, text(CompletedCall::raw), redaction)? {
            Some(slice) if slice.ending == wanted => {}
            _ => return Err(NotCut::NotAlone),
        }
        match Slice::read_back(plan, text(CompletedCall::shown), redaction)? {
            Some(slice) if slice.ending == wanted => Ok(slice),
            other => {
                let got = other.map(|slice| Box::new(slice.ending));
                Err(NotCut::Redacted { wanted: Box::new(wanted), got })
            }
        }
    }

    /// The slice with this text, for its last call; none without a call.
    fn read_back(plan: &Plan, text: String, redaction: &RedactionRules) -> Result<Option<Slice>, ReadError> {
        let closed = TraceInput::own("the slice", text.as_bytes()).calls(redaction)?;
        let mut sessions = Sessions::default();
        for (number, closed) in (0..).zip(&closed) {
            let options = SessionOptions { beyond: &MissingAnswerPolicy::Unanswered, pace: None };
            sessions.take(plan, options, number, closed);
        }
        sessions.finish(plan);
        let ended: Vec<FinishedCall> = sessions.take_ended().collect();
        let in_run = |number| match ended.iter().find(|ended| ended.number == number) {
            Some(FinishedCall { token_spent, record, .. }) => {
                InRun { token_spent: *token_spent, record: plan.shares_state.then(|| record.clone()) }
            }
            None => InRun::default(),
        };
        let last = (0..).zip(&closed).max_by_key(|(_, closed)| closed.raw().number);
        Ok(last.map(|(number, last)| Slice {
            reference: last.raw().reference(),
            ending: Ending::of(plan, last.raw(), &in_run(number)),
            calls: closed.len(),
            text,
        }))
    }

    /// The id of the feedback; `call` is the call as shown.
    pub fn id(&self, call: &RecordedCall, playbook: &str) -> String {
        Feedback::id(call.tool(), &self.kind(call), playbook, &self.text)
    }

    /// What went wrong, in a word: the error kind, else the verdict, else the outcome.
    fn kind(&self, call: &RecordedCall) -> String {
        let Some(failed) = &self.ending.failed else { return self.ending.outcome.clone() };
        let error = failure_at(call, failed.attempt).flatten();
        error.and_then(|error| error.kind.as_deref()).unwrap_or(&failed.verdict).to_owned()
    }
}
