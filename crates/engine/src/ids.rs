//! Small numbers that stand for names, so that the machine compares and hashes integers. A number is valid only within
//! the playbook or the simulation that gave it out.

#![expect(clippy::disallowed_types, reason = "the interner looks names up; its lists come from the `Vec` beside it")]

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The first free name of `wanted`, `wanted-2`, `wanted-3` and so on.
pub fn first_free(wanted: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..u32::MAX).map(|n| format!("{wanted}-{n}"));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or_default()
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(not(test), derive(PartialEq))]
        #[cfg_attr(test, expect(clippy::derived_hash_with_manual_eq, reason = "the same equality, but counted"))]
        pub struct $name(pub $inner);

        #[cfg(test)]
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                comparisons::count();
                self.0 == other.0
            }
        }

        impl $name {
            /// The number as an index into the table that gave it out.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A verdict, by its place in the playbook.
    VerdictId(u16);
    /// A rule, by its place in the playbook.
    RuleId(u16);
    /// A declared queue, by its place in the playbook.
    QueueId(u16);
    /// An action, by its place in the playbook.
    ActionId(u16);
    /// A step, by its place in its action.
    StepId(u16);
    /// A retry budget, by its place in the playbook.
    RetryBudgetId(u16);
    /// The text of a `reason` in the playbook.
    ReasonId(u16);
    /// A call, by its slot in one machine; in a simulation that removes no calls, its place.
    CallId(u32);
    /// A transaction.
    TransactionId(u32);
    /// A breaker, by its place in the playbook.
    BreakerId(u16);
    /// A server of one simulation.
    ServerId(u32);
    /// A run of one simulation.
    RunId(u32);
    /// A tool name of one simulation.
    ToolId(u32);
    /// An idempotency key of one simulation.
    KeyId(u32);
    /// A reversal token of one simulation.
    TokenId(u32);
    /// Canonical arguments of one simulation.
    ArgsId(u32);
    /// A snapshot of evidence: 0 is the one that the call came with, each refresh takes the next.
    EvidenceId(u32);
    /// An error seen in one simulation.
    ErrorId(u32);
}

impl RunId {
    /// Stands for every run, in requests of tools for which runs do not matter.
    pub const ALL: RunId = RunId(u32::MAX);
}

impl CallId {
    /// The id of the call at a place of one simulation.
    pub fn at(place: usize) -> CallId {
        CallId(u32::try_from(place).unwrap_or(u32::MAX))
    }
}

/// Counts comparisons of ids, so that tests notice linear searches.
#[cfg(test)]
pub(crate) mod comparisons {
    use std::cell::Cell;

    thread_local! {
        static COUNT: Cell<u64> = const { Cell::new(0) };
    }

    /// Counts one comparison.
    pub(crate) fn count() {
        COUNT.set(COUNT.get() + 1);
    }

    /// The comparisons of this thread while `work` runs.
    pub(crate) fn of(work: impl FnOnce()) -> u64 {
        let before = COUNT.get();
        work();
        COUNT.get() - before
    }
}

/// The number of an attempt, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct AttemptNo(u32);

impl AttemptNo {
    /// The first attempt of a call.
    pub const FIRST: AttemptNo = AttemptNo(1);

    /// The attempt numbered `number`; 0 is read as 1.
    pub const fn new(number: u32) -> AttemptNo {
        AttemptNo(if number == 0 { 1 } else { number })
    }

    /// The attempt after this one, saturating.
    pub const fn next(self) -> AttemptNo {
        AttemptNo(self.0.saturating_add(1))
    }

    /// The number, from 1.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The place of this attempt's answer in a list of answers, from 0.
    pub const fn index(self) -> usize {
        (self.0 - 1) as usize
    }
}

impl fmt::Display for AttemptNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Gives each distinct name a number, in the order of first use.
#[derive(Clone, Debug, Default)]
pub struct Interner {
    numbers: HashMap<Arc<str>, u32, foldhash::fast::FixedState>,
    names: Vec<Arc<str>>,
}

impl Interner {
    /// An interner without names.
    pub fn new() -> Interner {
        Interner::default()
    }

    /// The number of `name`, given out now if it is new.
    pub fn intern(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let shared: Arc<str> = name.into();
        self.names.push(Arc::clone(&shared));
        self.numbers.insert(shared, number);
        number
    }

    /// The name with this number, if there is one.
    pub fn name(&self, number: u32) -> Option<&str> {
        self.names.get(number as usize).map(|name| &**name)
    }

    /// The names in the order of their numbers.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_number() {
        let mut interner = Interner::new();
        assert_eq!(interner.intern("a"), 0);
        assert_eq!(interner.intern("b"), 1);
        assert_eq!(interner.intern("a"), 0);
        assert_eq!(interner.name(1), Some("b"));
        assert_eq!(interner.name(2), None);
    }
}
