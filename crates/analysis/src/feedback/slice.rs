//! Which calls of a run belong to a slice: the call itself with all its attempts, the earlier calls of its run that ask
//! the same, and those that hold the same reversal token. They show that it was sent again and what its effect was
//! before, and may have spent the token; no other call has a say in what a playbook does with it.

use playproof_engine::call::RecordedCall;
use playproof_trace::canonical;
use playproof_trace::marks::Marks;

/// Earlier calls that a slice holds at most, the latest ones.
pub const MOST_EARLIER: usize = 20;

/// Whether an earlier call of the same input belongs to the slice of `about`. Neither may be redacted.
pub fn belongs(earlier: &RecordedCall, about: &RecordedCall) -> bool {
    if earlier.number >= about.number || earlier.run() != about.run() {
        return false;
    }
    let marks = |call: &RecordedCall| {
        Marks::new(call.run(), call.id(), call.tool(), call.key(), call.args().map_or(0, canonical::hash_of))
    };
    let (one, other) = (marks(earlier), marks(about));
    let token = earlier.token().is_some() && earlier.token() == about.token();
    token || one.same == other.same || one.keyed != 0 && one.keyed == other.keyed
}
