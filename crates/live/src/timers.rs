//! The moments that are waited for, by moment and by the call whose future waits. A timer is in both lists or in none: a future
//! that waits for a moment which has passed would spin.

use std::collections::{BTreeMap, BTreeSet};

use playproof_engine::event::RequestKind;
use playproof_engine::ids::CallId;
use playproof_engine::time::Instant;

/// When a timer is due, and its number: those that are due at once fire in the order in which they were set.
pub(crate) type Key = (Instant, u64);

/// What happens at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// The call is woken.
    Wake,
    /// Its request is given up.
    Timeout(RequestKind),
}

/// Something that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timer {
    /// The call whose future waits: of a step, its action.
    pub owner: CallId,
    /// The call.
    pub call: CallId,
    /// What is due.
    pub due: Due,
}

/// All timers.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    all: BTreeMap<Key, Timer>,
    owned: BTreeSet<(CallId, Key)>,
    set: u64,
}

impl Timers {
    /// Sets one.
    pub(crate) fn set(&mut self, at: Instant, timer: Timer) -> Key {
        self.set += 1;
        let key = (at, self.set);
        self.all.insert(key, timer);
        self.owned.insert((timer.owner, key));
        key
    }

    /// Takes one back.
    pub(crate) fn take(&mut self, key: Key) -> Option<Timer> {
        let timer = self.all.remove(&key)?;
        self.owned.remove(&(timer.owner, key));
        Some(timer)
    }

    /// Takes back what a call waits for.
    pub(crate) fn take_all_of(&mut self, owner: CallId) {
        while let Some(key) = self.first_of(owner) {
            self.take(key);
        }
    }

    /// The one that is due first.
    pub(crate) fn first(&self) -> Option<Key> {
        Some(*self.all.first_key_value()?.0)
    }

    /// The first of a call.
    pub(crate) fn first_of(&self, owner: CallId) -> Option<Key> {
        let (of, key) = self.owned.range((owner, (Instant::ZERO, 0))..).next()?;
        (*of == owner).then_some(*key)
    }
}
