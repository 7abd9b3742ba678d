//! The trace slice that replays one call: the call with all its attempts, and the earlier calls of its run with the same
//! intent or the same reversal token. No other call can influence its simulation, unless the calls of a dispatcher share more:
//! then the slice holds those.

use std::collections::BTreeMap;

use super::ending::{Ending, failure_at};
use super::model::KeptFile;
use crate::explain::InRun;
use crate::replay::{SessionOptions, Sessions};
use playproof_engine::call::RecordedCall;
use playproof_engine::sim::{FinishedCall, Plan};
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_intake::assemble::AssembleOptions;
use playproof_intake::call::CompletedCall;
use playproof_intake::call_hashes::CallHashes;
use playproof_intake::input::{ReadError, TraceInput};
use playproof_intake::redact::RedactionRules;
use playproof_intake::{canonical, slice};

/// The most earlier calls in a slice: the latest ones.
const MOST_EARLIER: usize = 20;

/// The most other calls in a slice whose calls share something.
pub const MOST_SHARING: usize = 1_000;

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

/// The other calls of its input that a slice may hold, each part in the order of their lines.
#[derive(Debug, Default)]
pub struct OtherCalls {
    /// Those before it that belong to its slice, the latest ones; where calls share something, all of its dispatcher.
    pub earlier: Vec<CompletedCall>,
    /// Where calls share something, those of its dispatcher that were made after it, and may have ended before.
    pub later: Vec<CompletedCall>,
    /// The calls of its dispatcher for which there is no room.
    pub left_out: u64,
}

impl OtherCalls {
    /// Those of `about` in its input.
    ///
    /// # Errors
    /// An input that cannot be read.
    pub fn of(
        input: TraceInput<'_>,
        options: AssembleOptions,
        redaction: &RedactionRules,
        about: &RecordedCall,
        shares_state: bool,
    ) -> Result<OtherCalls, ReadError> {
        let most = if shares_state { MOST_SHARING } else { MOST_EARLIER };
        let (mut earlier, mut later): (BTreeMap<u64, CompletedCall>, BTreeMap<u64, CompletedCall>) = Default::default();
        let mut left_out = 0;
        input.each_call(0, options, redaction, &|_| true, |closed| {
            let (number, shares) = (closed.raw().number, shares_state && has_same_dispatcher(closed.raw(), about));
            if number < about.number && (shares || belongs(closed.raw(), about)) {
                earlier.insert(number, closed);
                if earlier.len() > most {
                    left_out += u64::from(earlier.pop_first().is_some());
                }
            } else if number > about.number && shares {
                later.insert(number, closed);
                if later.len() > most {
                    left_out += u64::from(later.pop_last().is_some());
                }
            }
        })?;
        Ok(OtherCalls { earlier: earlier.into_values().collect(), later: later.into_values().collect(), left_out })
    }
}

fn has_same_dispatcher(one: &RecordedCall, other: &RecordedCall) -> bool {
    match (one.dispatcher(), other.dispatcher()) {
        (None, None) => one.run() == other.run(),
        (one, other) => one == other,
    }
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
    NotAlone {
        /// The calls of its dispatcher for which the slice has no room.
        left_out: u64,
    },
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
    /// The slice of `about` with other calls, redacted and read back: the playbook must make the same of it as of the trace, in
    /// which the calls of its dispatcher make `in_run` of it. Calls that were made after it are kept only if they are needed.
    ///
    /// # Errors
    /// It does not.
    pub fn cut(
        plan: &Plan,
        about: &CompletedCall,
        in_run: &InRun,
        others: &OtherCalls,
        redaction: &RedactionRules,
    ) -> Result<Slice, NotCut> {
        let OtherCalls { earlier, later, left_out } = others;
        let wanted = Ending::of(plan, about.raw(), in_run);
        let of = |later: &[CompletedCall]| Slice::of(plan, &wanted, (earlier, about, later), redaction);
        let room = MOST_SHARING.saturating_sub(earlier.len());
        let later = &later[..later.len().min(room)];
        let left_out = left_out + (others.later.len() - later.len()) as u64;
        let cut = match of(&[]) {
            Err(NotCut::NotAlone { .. }) if !later.is_empty() => of(later),
            cut => cut,
        };
        cut.map_err(|why| if let NotCut::NotAlone { .. } = why { NotCut::NotAlone { left_out } } else { why })
    }

    /// The slice of a call with the calls before and after it, if it ends as wanted.
    fn of(
        plan: &Plan,
        wanted: &Ending,
        (earlier, about, later): (&[CompletedCall], &CompletedCall, &[CompletedCall]),
        redaction: &RedactionRules,
    ) -> Result<Slice, NotCut> {
        let text = |call: fn(&CompletedCall) -> &RecordedCall| {
            slice::lines(&earlier.iter().chain([about]).chain(later).map(call).collect::<Vec<_>>())
        };
        let read_back = |call| Slice::read_back(plan, text(call), earlier.len(), redaction);
        match read_back(CompletedCall::raw)? {
            Some(slice) if slice.ending == *wanted => {}
            _ => return Err(NotCut::NotAlone { left_out: 0 }),
        }
        match read_back(CompletedCall::shown)? {
            Some(slice) if slice.ending == *wanted => Ok(slice),
            other => {
                let got = other.map(|slice| Box::new(slice.ending));
                Err(NotCut::Redacted { wanted: Box::new(wanted.clone()), got })
            }
        }
    }

    /// The slice with this text, for the call at a place in the order of their lines; none without that call.
    fn read_back(
        plan: &Plan,
        text: String,
        about: usize,
        redaction: &RedactionRules,
    ) -> Result<Option<Slice>, ReadError> {
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
        let mut by_line: Vec<(u64, &CompletedCall)> = (0..).zip(&closed).collect();
        by_line.sort_by_key(|(_, closed)| closed.raw().number);
        Ok(by_line.get(about).map(|(number, about)| Slice {
            reference: about.raw().reference(),
            ending: Ending::of(plan, about.raw(), &in_run(*number)),
            calls: closed.len(),
            text,
        }))
    }

    /// The id of the kept call; `call` is the call as shown.
    pub fn id(&self, call: &RecordedCall, playbook: &str) -> String {
        KeptFile::id(call.tool(), &self.kind(call), playbook, &self.text)
    }

    /// What went wrong, in a word: the error kind, else the verdict, else the outcome.
    fn kind(&self, call: &RecordedCall) -> String {
        let Some(failed) = &self.ending.failed else { return self.ending.outcome.clone() };
        let error = failure_at(call, failed.attempt).flatten();
        error.and_then(|error| error.kind.as_deref()).unwrap_or(&failed.verdict).to_owned()
    }
}
