//! One call as its events show it so far: what it has done, or may have, and what its last answer says.

use crate::classify::{Signal, asked_wait, reads_as_unanswered};
use crate::event::{Became, Decision, ErrorFacts, Outcome, OutcomeKind, RequestKind, Status};
use crate::ids::{AttemptNo, ErrorId};
use crate::plan::{DrivenCall, Plan};
use crate::playbook::Access;

use super::book::{CallShows, Moment};
use super::meaning::FailureMeaning;

/// A call under watch.
#[derive(Clone, Debug, Default)]
pub struct CallWatch {
    /// What it shows. Its effects are those that its answers prove.
    pub shows: CallShows,
    /// When it sent its reversal token.
    pub reversed: Option<Moment>,
    /// Whether it is a step that had no turn.
    pub is_skipped: bool,
    /// What became of its transaction, or of its state, at last.
    pub became: Option<Became>,
    /// The error of its last failure.
    error: Option<ErrorId>,
    /// Its last attempt.
    attempt: Option<AttemptNo>,
    /// Attempts that may have acted: those that had no answer may yet be known not to have; none: an answer left it open.
    open: Vec<Option<AttemptNo>>,
}

impl CallWatch {
    /// Whether it was denied, or its key was processed.
    pub const fn is_refused(&self) -> bool {
        self.shows.denied || self.shows.processed
    }

    /// Whether it can speak against a later call: it has acted, or may have, or was refused for good.
    pub const fn matters(&self) -> bool {
        self.shows.effects > 0 || self.shows.may_have_acted || self.shows.is_out || self.is_refused()
    }

    /// A person says whether the call, a write that has ended, acted.
    pub fn resolve(&mut self, now: Moment, applied: bool) {
        let shows = &mut self.shows;
        shows.is_out = false;
        match applied {
            true => shows.effects = shows.effects.max(1),
            false => (shows.effects, shows.settled) = (0, Some(now)),
        }
    }

    /// Takes the next event of the call.
    pub fn take<'e>(
        &mut self,
        plan: &Plan,
        call: &DrivenCall<'_>,
        (now, what): (Moment, Decision),
        error: impl Fn(ErrorId) -> Option<&'e ErrorFacts>,
    ) {
        let writes = call.facts.access == Access::Write;
        let shows = &mut self.shows;
        shows.since = shows.since.or(Some(now));
        self.reversed = self.reversed.or(what.sent_reversal().then_some(now));
        match what {
            Decision::AttemptStarted { attempt, .. } => {
                (self.attempt, shows.is_out) = (Some(attempt), true);
                if attempt == AttemptNo::FIRST {
                    shows.made = now;
                }
            }
            Decision::AttemptFinished { status: Status::Failed(failed), .. } => {
                self.error = failed;
                let wait = failed.and_then(error).and_then(|error| asked_wait(error, None));
                shows.wait_until = wait.zip(now.at).map(|(wait, at)| at.plus(wait));
                (shows.failed, shows.ended, shows.is_out) = (true, Some(now), false);
            }
            Decision::AttemptFinished { status, .. } => {
                (shows.failed, shows.ended) = (false, Some(now)); // a denial before it ends with a success
                (shows.advice, shows.wait_until, shows.is_out) = (None, None, false);
                if status == Status::Ok {
                    shows.effects += u32::from(writes); // an attempt has one answer
                } else {
                    (shows.suspected, shows.may_have_acted, shows.settled) = (true, true, None);
                }
            }
            Decision::FailureClassified { verdict, .. } => {
                let error = self.error.and_then(error);
                let failure = FailureMeaning::under(plan, verdict, error, call.key.is_some());
                if failure.may_have_acted {
                    self.open.push(self.attempt.filter(|_| error.is_some_and(reads_as_unanswered)));
                    shows.settled = None;
                }
                *shows = shows.with(failure, writes);
            }
            Decision::Transaction { became, .. } => self.became = Some(became),
            Decision::Outcome(Outcome { kind, .. }) => {
                shows.over = Some(now);
                self.is_skipped = kind == OutcomeKind::Skipped;
                if let OutcomeKind::Undetermined(RequestKind::Attempt(_)) = kind {
                    (shows.ended, shows.failed, shows.may_have_acted) = (None, false, true); // of a read the last means nothing
                }
            }
            Decision::LateAnswer { attempt, status } => self.take_late(plan, call, (now, attempt, status), error),
            _ => {}
        }
    }

    /// Takes a late answer: it changes no decision, but what it says counts for the calls after it.
    fn take_late<'e>(
        &mut self,
        plan: &Plan,
        call: &DrivenCall<'_>,
        (now, attempt, status): (Moment, AttemptNo, Status),
        error: impl Fn(ErrorId) -> Option<&'e ErrorFacts>,
    ) {
        let (shows, writes) = (&mut self.shows, call.facts.access == Access::Write);
        // Where its caller went away, nobody had heard of the attempt before.
        let is_first = shows.is_out && shows.over.is_some() && self.attempt == Some(attempt);
        if is_first {
            (shows.failed, shows.ended, shows.is_out) = (matches!(status, Status::Failed(_)), Some(now), false);
        }
        match status {
            Status::Ok => shows.effects += u32::from(writes),
            Status::Failed(late) => {
                let late = late.and_then(error);
                let signal = Signal::new(late, call.tool_name, call.facts, Some(call.key.is_some()), attempt);
                let verdict = plan.classifier.classify(&signal).verdict;
                let failure = FailureMeaning::under(plan, verdict, late, call.key.is_some());
                if !failure.may_have_acted {
                    self.open.retain(|open| *open != Some(attempt));
                    shows.settled = (self.open.is_empty() && !shows.suspected).then_some(now);
                }
                if is_first {
                    *shows = shows.with(failure, writes);
                }
            }
            Status::Suspected(_) | Status::Unfinished(_) | Status::Unanswered if is_first => {
                (shows.suspected, shows.may_have_acted) = (true, true);
            }
            Status::Suspected(_) | Status::Unfinished(_) | Status::Unanswered => {}
        }
    }
}
