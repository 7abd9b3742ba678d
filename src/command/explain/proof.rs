//! What the recorded answers of one call prove, with what the playbook says of the failures among them. Looks at one
//! call alone.

use playproof_engine::call::{AnswerTo, RecordedAnswer, RecordedCall, Reply};
use playproof_engine::classify::Signal;
use playproof_engine::event::EffectClaim;
use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::Plan;

/// What the recorded answers of one call prove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Attempts that were answered with ok.
    pub made: u32,
    /// Reversals that were.
    pub taken_back: u32,
    /// Failed attempts that may have acted, by what the playbook says of their failures.
    pub maybe: u32,
    /// All together; none: there is no answer.
    pub claim: Option<EffectClaim>,
}

impl Proof {
    /// What the answers of a call prove.
    pub fn of(call: &RecordedCall, plan: &Plan, facts: ToolFacts) -> Proof {
        let mut proof = Proof::default();
        for (number, answer) in call.attempts() {
            let effect = match &answer.reply {
                Reply::Ok => EffectClaim::Applied,
                Reply::Failed(error) => {
                    let signal = Signal::new(error.as_deref(), call.tool(), facts, call.is_keyed(), number);
                    plan.playbook.verdict(plan.classifier.classify(&signal).verdict).effect
                }
            };
            proof.made += u32::from(answer.reply == Reply::Ok);
            proof.maybe += u32::from(effect == EffectClaim::Unknown);
            proof.claim = Some(proof.claim.map_or(effect, |claim| claim.and(effect)));
        }
        let taken_back = |answer: &&RecordedAnswer| answer.to == AnswerTo::Reversal && answer.reply == Reply::Ok;
        proof.taken_back = u32::try_from(call.answers.iter().filter(taken_back).count()).unwrap_or(u32::MAX);
        proof
    }

    /// Effects that are left.
    pub const fn net(&self) -> u32 {
        self.made.saturating_sub(self.taken_back)
    }

    /// Whether an attempt may have acted that was not answered with ok; a call without an answer was sent too.
    pub const fn may_have_acted(&self) -> bool {
        self.maybe > 0 || self.claim.is_none()
    }
}
