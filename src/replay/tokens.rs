//! Reversal tokens that calls of one run have in common. Every call has a machine of its own (docs/adr/0010), and a
//! token is redeemed once: so which tokens are spent is found out where calls pass one at a time, in the order in
//! which they close. Only a call with a token that failed or was never answered costs anything here, and only under a
//! playbook that redeems tokens: it is simulated once more. Keeps 16 bytes a token that was sent.
#![expect(clippy::disallowed_types, reason = "a set of marks that is only asked, never iterated")]

use std::collections::HashSet;

use foldhash::fast::FixedState;

use crate::sim::{Plan, Simulator};
use crate::trace::assemble::ClosedCall;
use crate::trace::hash;
use crate::upstream::BeyondTape;

/// The seed that tells marks of tokens from other marks.
const TOKEN: u64 = 30;

/// The tokens that one playbook sent for redemption.
#[derive(Debug, Default)]
pub struct Tokens {
    sent: HashSet<u128, FixedState>,
    sim: Simulator,
}

impl Tokens {
    /// Takes the next closed call: whether its token was sent by an earlier call of its run, under `plan`.
    pub fn take(&mut self, plan: &Plan, closed: &ClosedCall, beyond: &BeyondTape) -> bool {
        let Some(token) = token(closed).filter(|_| plan.redeems) else { return false };
        let mark = hash::pair(closed.marks.run, hash::bytes(token.as_bytes(), TOKEN));
        let spent = self.sent.contains(&mark);
        if !spent {
            let facts = plan.facts(closed.raw().tool());
            let record = self.sim.replay(plan, closed.raw(), facts, beyond);
            if record.events.iter().any(|event| event.what.sent_reversal()) {
                self.sent.insert(mark);
            }
        }
        spent
    }
}

/// The token of a call that may come to be redeemed; a call that only succeeded takes nothing back.
pub fn token(closed: &ClosedCall) -> Option<&str> {
    let story = &closed.story;
    if story.attempts > 0 && story.succeeded == story.attempts {
        return None;
    }
    closed.raw().token()
}
