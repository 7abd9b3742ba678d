//! Which calls of a run belong to a slice: the call itself with all its attempts, and the earlier calls of its run
//! that ask the same. They show that it was sent again and what its effect was before; no other call has a say in
//! what a playbook does with it, for each call is simulated by itself.

use crate::trace::marks::Marks;

/// Earlier calls that a slice holds at most, the latest ones.
pub const MOST_EARLIER: usize = 20;

/// Whether a call of the same run asks for the same: the same tool, with the same key or the same arguments.
pub fn asks_the_same(one: &Marks, other: &Marks) -> bool {
    let keyed = one.keyed != 0 && one.keyed == other.keyed;
    one.run == other.run && (one.same == other.same || keyed)
}
