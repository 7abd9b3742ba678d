//! The fields of an outcome.

use super::fields::{FieldKey, FieldValue};
use super::finding::FindingId;
use super::outcome::{Outcome, OutcomeKind};

impl Outcome {
    /// Passes the fields of an outcome, without its verdicts, to `take`.
    #[inline(always)]
    pub fn each_field(&self, mut take: impl FnMut(FieldKey, FieldValue)) {
        take(FieldKey::Outcome, FieldValue::Word(self.kind.as_str()));
        match self.kind {
            OutcomeKind::Succeeded
            | OutcomeKind::SucceededAfterCompensation
            | OutcomeKind::Skipped
            | OutcomeKind::Cancelled => {}
            OutcomeKind::Joined { leader, ended } => {
                take(FieldKey::Leader, leader.into());
                take(FieldKey::Ended, ended.into());
            }
            OutcomeKind::Cached { leader } => take(FieldKey::Leader, leader.into()),
            OutcomeKind::Escalated(queue) => take(FieldKey::Queue, queue.into()),
            OutcomeKind::Refused(why) => {
                take(FieldKey::Why, why.into());
                take(FieldKey::Code, FieldValue::Code(why.code()));
                take(FieldKey::Instead, FieldValue::Word(why.instead()));
            }
            OutcomeKind::Exhausted(stop) => take(FieldKey::Stop, FieldValue::Word(stop.as_str())),
            OutcomeKind::Suspected(_) => take(FieldKey::Why, FieldValue::Word(FindingId::SuspectedFailure.as_str())),
            OutcomeKind::Unfinished(_) => take(FieldKey::Why, FieldValue::Word(FindingId::Unfinished.as_str())),
            OutcomeKind::Undetermined(asked) => take(FieldKey::Lacks, FieldValue::Lacks(asked)),
            OutcomeKind::Reversed(reason) => take(FieldKey::Reason, reason.into()),
            OutcomeKind::Deprecated(why) => take(FieldKey::Reason, why.into()),
        }
        take(FieldKey::Effect, self.claim.into());
        take(FieldKey::Attempts, self.attempts.into());
        take(FieldKey::LastError, self.last_error.into());
        take(FieldKey::FirstError, self.first_error.into());
    }
}
