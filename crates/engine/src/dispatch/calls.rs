//! The state of each call, and the slab that holds them: a call's number is its slot, and the lowest free slot is given out
//! next, unless the driver names another. Memory follows the calls that are there. Decides nothing.

use std::collections::BTreeSet;

use super::breaker::Generation;
use super::io::CallFacts;
use super::permits::Ticket;
use super::wait::WaitHistory;
use crate::event::{EffectClaim, Outcome};
use crate::ids::{ActionId, AttemptNo, CallId, ErrorId, EvidenceId, ReasonId, RetryBudgetId, StepId, VerdictId};
use crate::playbook::{Access, AfterRefresh, Terminal, Tokens};
use crate::time::Instant;

/// The phase of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// An attempt is in flight.
    InFlight(AttemptNo),
    /// The next attempt waits for its start.
    Backoff { attempt: AttemptNo, due: Instant },
    /// A retry budget is empty, of which `by` took the last: the call ends after the wait of the retry that there is not.
    Resting { due: Instant, by: Option<CallId> },
    /// The next attempt waits for a permit.
    Queued { attempt: AttemptNo, ticket: Ticket },
    /// It waits for the call that has its key.
    Following(CallId),
    /// New evidence was asked for.
    Refreshing(EvidenceId, AfterRefresh),
    /// The reversal token is being redeemed.
    Redeeming {
        /// The playbook's reason.
        reason: ReasonId,
        /// What runs if the upstream refuses.
        on_refused: Terminal,
    },
    /// It waits for a gated call of its run to end.
    AtGate,
    /// One of its steps has its turn.
    Stepping {
        /// Which.
        step: StepId,
        /// Its call; none: the driver has yet to make it.
        call: Option<CallId>,
    },
    /// Admission has yet to decide.
    Arrived,
    /// It has ended.
    Done(Outcome),
}

/// Everything that the machine keeps about a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CallState {
    pub facts: CallFacts,
    pub phase: Phase,
    /// Attempts started.
    pub attempts: u32,
    /// Attempts that never left the client and count for nothing.
    pub uncounted: u32,
    /// The half-open period whose probe the current attempt is.
    pub probe: Option<Generation>,
    /// What its last retry took of a retry budget.
    pub paid: Option<PaidRetry>,
    /// Whether retry budgets count it as a call that has started.
    pub is_counted: bool,
    /// Whether it holds a unit of the run's budget for an attempt that was not sent yet.
    pub has_reserved: bool,
    /// Snapshot that the next attempt carries.
    pub evidence: EvidenceId,
    /// Refreshes asked for.
    pub refreshes: u32,
    /// The claim over the attempts that ended; none before the first.
    pub claim: Option<EffectClaim>,
    /// Whether an attempt ended without proof of its effect: it may still take effect later.
    pub may_land: bool,
    /// The attempts from which nothing came back: they may still be at work.
    pub at_work: Vec<AttemptNo>,
    /// The action that it withholds because of them.
    pub withholds: Option<ActionId>,
    /// Whether a step that ended did not do what it is there for.
    pub is_undone: bool,
    /// The verdict of the first failure.
    pub first_verdict: Option<VerdictId>,
    /// The verdict of the last failure.
    pub last_verdict: Option<VerdictId>,
    pub first_error: Option<ErrorId>,
    pub last_error: Option<ErrorId>,
    pub retries: Retries,
    pub waits: WaitHistory,
}

/// A retry that a retry budget has paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PaidRetry {
    /// Which budget.
    pub budget: RetryBudgetId,
    /// What it took.
    pub cost: Tokens,
    /// Whether it is scheduled or out.
    pub is_open: bool,
    /// Whether it was sent: then its cost is spent, however it ends.
    pub is_sent: bool,
}

/// Retries scheduled, by verdict, in the order of first use. The first two verdicts are stored inline: few calls have
/// more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Retries {
    first: [Option<(VerdictId, u32)>; 2],
    more: Vec<(VerdictId, u32)>,
}

impl Retries {
    /// The retries that `verdict` has scheduled.
    pub(super) fn scheduled(&self, verdict: VerdictId) -> u32 {
        let mut counts = self.first.iter().flatten().chain(&self.more);
        counts.find(|(by, _)| *by == verdict).map_or(0, |(_, count)| *count)
    }

    /// Counts one more retry of `verdict`.
    pub(super) fn count(&mut self, verdict: VerdictId) {
        let mut counts = self.first.iter_mut().flatten().chain(&mut self.more);
        if let Some((_, count)) = counts.find(|(by, _)| *by == verdict) {
            *count = count.saturating_add(1);
            return;
        }
        match self.first.iter_mut().find(|count| count.is_none()) {
            Some(empty) => *empty = Some((verdict, 1)),
            None => self.more.push((verdict, 1)),
        }
    }
}

impl CallState {
    /// A call that admission has yet to decide on.
    pub(super) fn new(facts: CallFacts) -> CallState {
        CallState {
            facts,
            phase: Phase::Arrived,
            attempts: 0,
            uncounted: 0,
            probe: None,
            paid: None,
            is_counted: false,
            has_reserved: false,
            evidence: facts.evidence,
            refreshes: 0,
            claim: None,
            may_land: false,
            at_work: Vec::new(),
            withholds: None,
            is_undone: false,
            first_verdict: None,
            last_verdict: None,
            first_error: None,
            last_error: None,
            retries: Retries::default(),
            waits: WaitHistory::default(),
        }
    }

    /// Adds what one attempt says about the effect. A read never has one.
    pub(super) fn add_claim(&mut self, said: EffectClaim) {
        let said = if self.facts.access == Access::Read { EffectClaim::NotApplied } else { said };
        self.claim = Some(self.claim.map_or(said, |claim| claim.and(said)));
    }

    /// The claim so far: `not_applied` before the first attempt ended.
    pub(super) fn claim(&self) -> EffectClaim {
        self.claim.unwrap_or(EffectClaim::NotApplied)
    }

    /// Records an error as the last one, and as the first if there was none.
    pub(super) fn note_error(&mut self, error: Option<ErrorId>) {
        if error.is_some() {
            self.first_error = self.first_error.or(error);
            self.last_error = error;
        }
    }
}

/// The slab. Its last slot is never free, so that equal calls in equal slots are equal slabs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CallSlab {
    slots: Vec<Option<CallState>>,
    free: BTreeSet<u32>,
}

impl CallSlab {
    /// The id of the next call.
    #[inline]
    pub(super) fn next(&self) -> CallId {
        let after_all = || u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        CallId(self.free.first().copied().unwrap_or_else(after_all))
    }

    /// Whether a slot holds no call.
    #[inline]
    pub(super) fn is_free(&self, call: CallId) -> bool {
        self.get(call).is_none()
    }

    /// Puts a call into a free slot.
    #[inline]
    pub(super) fn insert(&mut self, id: CallId, call: CallState) {
        if id.index() == self.slots.len() {
            return self.slots.push(Some(call)); // by far the most common case
        }
        for slot in self.slots.len()..id.index() {
            self.slots.push(None);
            self.free.insert(CallId::at(slot).0);
        }
        match self.slots.get_mut(id.index()) {
            Some(slot) => *slot = Some(call),
            None => self.slots.push(Some(call)),
        }
        self.free.remove(&id.0);
    }

    #[inline]
    pub(super) fn get(&self, call: CallId) -> Option<&CallState> {
        self.slots.get(call.index())?.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, call: CallId) -> Option<&mut CallState> {
        self.slots.get_mut(call.index())?.as_mut()
    }

    /// The calls that have not ended.
    pub(super) fn open(&self) -> impl Iterator<Item = CallId> {
        let is_open = |call: &CallState| !matches!(call.phase, Phase::Done(_));
        let calls = self.slots.iter().enumerate();
        calls.filter(move |(_, call)| call.as_ref().is_some_and(is_open)).map(|(n, _)| CallId::at(n))
    }

    /// Frees the call's slot.
    pub(super) fn remove(&mut self, call: CallId) {
        if self.slots.get_mut(call.index()).and_then(Option::take).is_none() {
            return;
        }
        self.free.insert(call.0);
        while let Some(None) = self.slots.last() {
            self.slots.pop();
            self.free.pop_last(); // the last slot was free: it is the highest free one
        }
    }

    /// Frees every slot and keeps the allocation.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        if !self.free.is_empty() {
            self.free.clear(); // to clear an empty map is slow
        }
    }
}
