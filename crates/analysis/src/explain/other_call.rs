//! Another call that bears on a call: what both have in common, and what the upstream said to it.

use crate::replay::SentIn;
use playproof_engine::classify::{keyed_for, reads_as_reused_key};
use playproof_engine::event::{Decision, EffectClaim, ErrorFacts, IntentDoubt, Status};
use playproof_engine::evidence::FailureMeaning;
use playproof_engine::ids::{CallId, VerdictId};
use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::{Plan, SimulationRecord};
use playproof_intake::failure::{is_plain_refusal, tells_of_something_done};

/// Another call that bears on the explained one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherCall {
    /// Its name.
    pub name: OtherName,
    /// What the two calls have in common.
    pub relation: Relation,
    /// Whether the arguments of either call are not recorded, so that they may be equal.
    pub hides_args: bool,
    /// Whether it was made later than the call that is explained.
    pub later: bool,
    /// Whether nothing shows which of the two was made first: they are in two inputs, and one has no time.
    pub order_unknown: bool,
    /// Effects that its own answers prove.
    pub effects: u32,
    /// Whether it made effects, and all were reversed.
    pub taken_back: bool,
    /// Whether it made effects, and it is unknown whether all were reversed.
    pub may_be_taken_back: bool,
    /// Whether a reversal of it was confirmed, whatever it found, or may have taken back what it made.
    pub reversed: bool,
    /// Whether it may have an effect that is not proved.
    pub maybe: bool,
    /// The claim of all its answers.
    pub claim: EffectClaim,
    /// What the upstream said to it.
    pub said: UpstreamSaid,
}

/// The name of another call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherName {
    /// A call of the same run or fixture: its reference.
    Reference(String),
    /// A call of another run: its place.
    Place {
        /// Its line in the user's own file.
        line: u64,
        /// Its path in that line, if the line alone is ambiguous.
        path: Option<String>,
    },
    /// An effect that existed before the fixture began.
    Existing,
}

/// What two calls of one tool have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The same intent and arguments.
    Same,
    /// Run and arguments, but not the key.
    OtherKey,
    /// The key, but not the arguments.
    OtherArguments,
    /// Tool and arguments, and perhaps the run.
    MaybeSame(IntentDoubt),
    /// The run only, and the other call was made later.
    LaterWrite,
    /// Tool and arguments, but not the run: another intent, unless an agent began again under a new run id.
    OtherRun,
}

/// What the failures of a call say under any playbook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct UpstreamSaid {
    /// The call was denied.
    pub denied: bool,
    /// Its idempotency key was processed already.
    pub processed: bool,
    /// An attempt was answered with ok after that.
    pub ok_after_processed: bool,
    /// Its idempotency key belongs to a request with other arguments.
    pub key_reused: bool,
    /// A message tells that something was done.
    pub done: bool,
    /// An error says more than that the request was refused.
    pub more: bool,
    /// The client of the tool sends requests again by itself, so that an earlier one may have acted.
    pub resent: bool,
    /// The upstream says that the call should not be sent again.
    pub told_not_to: bool,
}

/// Whose the key of the explained call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOwner<'a> {
    /// Nobody sent another request under it before.
    Own,
    /// This call sent another request under it before.
    Other(&'a OtherCall),
    /// This call sent another request under it, and nothing shows which of both came first.
    Unknown(&'a OtherCall),
}

impl<'a> KeyOwner<'a> {
    /// Whose the key is, by the other calls in the order in which they were made.
    pub fn among(others: &'a [OtherCall]) -> KeyOwner<'a> {
        let is_other = |other: &OtherCall| other.relation == Relation::OtherArguments;
        if let Some(unknown) = others.iter().find(|other| is_other(other) && other.order_unknown) {
            return KeyOwner::Unknown(unknown);
        }
        let first = others.iter().find(|other| is_other(other) || other.relation == Relation::Same);
        match first.filter(|first| !first.later && is_other(first)) {
            Some(first) => KeyOwner::Other(first),
            None => KeyOwner::Own,
        }
    }
}

impl OtherCall {
    /// Whether it made an effect, or may have.
    pub const fn may_have_acted(&self) -> bool {
        self.effects > 0 || self.maybe || self.is_said_to_have_acted()
    }

    /// Whether an answer without an ok says that the request was processed.
    pub const fn says_processed(&self) -> bool {
        self.said.processed || self.effects == 0 && matches!(self.claim, EffectClaim::Applied)
    }

    /// Whether the upstream said that it has processed the request, without an ok, and no reversal followed.
    pub const fn is_said_to_have_acted(&self) -> bool {
        self.effects == 0 && !self.reversed && (matches!(self.claim, EffectClaim::Applied) || self.said.processed)
    }
}

impl Relation {
    /// What a call has in common with another one that is known to be of its run, or not; none: nothing that matters.
    pub fn of(own: &SentIn, other: &SentIn, later: bool) -> Option<Relation> {
        if own.tool != other.tool {
            return None;
        }
        let same_run = (own.input, own.run) == (other.input, other.run);
        match (own.key == other.key, own.args == other.args) {
            (true, true) => (same_run || own.key != 0).then_some(Relation::Same),
            (true, false) if own.key != 0 => Some(Relation::OtherArguments),
            (false, true) => same_run.then_some(Relation::OtherKey),
            _ => (same_run && later).then_some(Relation::LaterWrite),
        }
    }
}

impl UpstreamSaid {
    /// What one failure says. `keyed`: what [`keyed_for`] makes of it.
    pub fn of(error: Option<&ErrorFacts>, verdict: VerdictId, keyed: Option<bool>, plan: &Plan) -> UpstreamSaid {
        let FailureMeaning { denied, processed, .. } = FailureMeaning::under(plan, verdict, error, keyed == Some(true));
        let key_reused = plan.reserved.key_reused == Some(verdict) || error.is_some_and(reads_as_reused_key);
        let message = error.and_then(|error| error.message.as_deref());
        let done = message.is_some_and(tells_of_something_done);
        UpstreamSaid {
            denied,
            processed,
            key_reused: keyed != Some(false) && key_reused,
            ok_after_processed: false,
            done,
            more: error.is_some_and(|error| !is_plain_refusal(error)),
            resent: false,
            told_not_to: error.and_then(ErrorFacts::says_to_retry) == Some(false),
        }
    }

    /// What the failures of a simulated call say.
    pub(super) fn of_simulated(
        record: &SimulationRecord,
        id: CallId,
        key: Option<&str>,
        facts: ToolFacts,
        plan: &Plan,
    ) -> UpstreamSaid {
        let (mut said, mut last) = (UpstreamSaid::default(), None);
        for event in record.events_of(id) {
            match event.what {
                Decision::AttemptFinished { status: Status::Failed(error), .. } => last = error,
                Decision::AttemptFinished { .. } => last = None,
                Decision::FailureClassified { verdict, .. } => {
                    let error = last.and_then(|id| record.error(id));
                    let of_failure = UpstreamSaid::of(error, verdict, keyed_for(error, key), plan);
                    said = said.or(UpstreamSaid { resent: facts.resends, ..of_failure });
                }
                _ => {}
            }
        }
        said
    }

    /// What either says.
    #[must_use]
    pub const fn or(self, other: UpstreamSaid) -> UpstreamSaid {
        UpstreamSaid {
            denied: self.denied || other.denied,
            processed: self.processed || other.processed,
            ok_after_processed: self.ok_after_processed || other.ok_after_processed,
            key_reused: self.key_reused || other.key_reused,
            done: self.done || other.done,
            more: self.more || other.more,
            resent: self.resent || other.resent,
            told_not_to: self.told_not_to || other.told_not_to,
        }
    }
}
