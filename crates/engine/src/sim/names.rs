//! The small numbers of a session for what its calls share: tools, keys with their requests, runs. Numbers of keys and runs
//! that nothing needs any more are given out again.

use std::collections::{BTreeMap, BTreeSet};

use super::gate_account::GateAccount;
use super::pace::StartedCalls;
use crate::dispatch::PurseKey;
use crate::ids::{ActionId, ArgsId, CallId, Interner, KeyId, RunId, ServerId};

/// Up to this many unused names are kept.
const FEW: usize = 1_024;

/// Names as numbers, which can be forgotten.
#[derive(Debug)]
pub(super) struct Numbers<T> {
    known: BTreeMap<u128, u32>,
    /// By number.
    values: Vec<Option<Entry<T>>>,
    free: BTreeSet<u32>,
    /// The number of names at which unused ones are looked for.
    sweep_at: usize,
}

#[derive(Debug)]
struct Entry<T> {
    name: u128,
    /// Calls that have the name and have not ended.
    users: u32,
    value: T,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Numbers { known: BTreeMap::new(), values: Vec::new(), free: BTreeSet::new(), sweep_at: FEW }
    }
}

impl<T: Default> Numbers<T> {
    /// The number of a name for one more call.
    pub(super) fn take(&mut self, name: u128) -> u32 {
        let number = match self.known.get(&name) {
            Some(&number) => number,
            None => self.add(name),
        };
        if let Some(Some(entry)) = self.values.get_mut(number as usize) {
            entry.users += 1;
        }
        number
    }

    fn add(&mut self, name: u128) -> u32 {
        let number = self.free.pop_first().unwrap_or(u32::try_from(self.values.len()).unwrap_or(u32::MAX));
        let entry = Some(Entry { name, users: 0, value: T::default() });
        match self.values.get_mut(number as usize) {
            Some(slot) => *slot = entry,
            None => self.values.push(entry),
        }
        self.known.insert(name, number);
        number
    }

    /// A call that has the name has ended.
    pub(super) fn release(&mut self, number: u32) {
        if let Some(Some(entry)) = self.values.get_mut(number as usize) {
            entry.users = entry.users.saturating_sub(1);
        }
    }

    /// The names that are known.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// Forgets a name, unless a call that has not ended has it; says whether it was forgotten.
    pub(super) fn forget(&mut self, number: u32) -> bool {
        let slot = self.values.get_mut(number as usize);
        let Some(entry) = slot.and_then(|slot| slot.take_if(|entry| entry.users == 0)) else { return false };
        self.known.remove(&entry.name);
        self.free.insert(number)
    }

    /// The name of a number.
    pub(super) fn name(&self, number: u32) -> Option<u128> {
        Some(self.values.get(number as usize)?.as_ref()?.name)
    }

    /// What is kept for a name.
    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.values.get(number as usize)?.as_ref().map(|entry| &entry.value)
    }

    /// What is kept for a name.
    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.values.get_mut(number as usize)?.as_mut().map(|entry| &mut entry.value)
    }

    /// Forgets names that no call has and that are not `needed`, if there are many.
    pub(super) fn sweep(&mut self, mut needed: impl FnMut(u32, &T) -> bool) {
        if self.known.len() < self.sweep_at {
            return;
        }
        for (number, slot) in (0..).zip(&mut self.values) {
            if slot.as_ref().is_some_and(|entry| entry.users == 0 && !needed(number, &entry.value))
                && let Some(entry) = slot.take()
            {
                self.known.remove(&entry.name);
                self.free.insert(number);
            }
        }
        self.sweep_at = FEW.max(self.known.len() * 2);
    }
}

/// What a session keeps of a key.
#[derive(Debug, Default)]
pub(super) struct KeyRequests {
    /// The arguments with which it was used first.
    first: Option<u128>,
    /// Others with their numbers, from 1; few have any.
    others: BTreeMap<u128, u32>,
    /// The name of the call that last succeeded with it.
    pub leader: String,
}

impl KeyRequests {
    /// The number of arguments among those of the key.
    pub(super) fn number(&mut self, args: u128) -> ArgsId {
        if *self.first.get_or_insert(args) == args {
            return ArgsId(0);
        }
        let next = u32::try_from(self.others.len() + 1).unwrap_or(u32::MAX);
        ArgsId(*self.others.entry(args).or_insert(next))
    }
}

/// What a session keeps of a run.
#[derive(Debug, Default)]
pub(super) struct RunNames {
    /// The number of its call that was fed last.
    pub last: u64,
    pub pace: StartedCalls,
    pub gate: GateAccount,
    /// The names of the calls that took tool calls last, by their ids.
    pub takers: BTreeMap<CallId, String>,
    /// The names of the calls of which an attempt may still be at work, by their actions and ids.
    pub at_work: BTreeMap<(ActionId, CallId), String>,
}

/// The numbers of a session.
#[derive(Debug, Default)]
pub(super) struct SharedNames {
    pub keys: Numbers<KeyRequests>,
    pub runs: Numbers<RunNames>,
    tools: BTreeMap<u128, u32>,
    args: BTreeMap<u128, u32>,
    pub servers: Interner,
    /// The names of the calls that opened breakers last, by server.
    pub opened_by: BTreeMap<ServerId, String>,
    /// The names of the calls that took the last of retry budgets.
    pub spenders: BTreeMap<PurseKey, String>,
}

impl SharedNames {
    /// The number of a tool.
    pub(super) fn tool(&mut self, name: u128) -> u32 {
        let next = u32::try_from(self.tools.len()).unwrap_or(u32::MAX);
        *self.tools.entry(name).or_insert(next)
    }

    /// The number of arguments among those of all calls.
    pub(super) fn args(&mut self, args: u128) -> ArgsId {
        let next = u32::try_from(self.args.len()).unwrap_or(u32::MAX);
        ArgsId(*self.args.entry(args).or_insert(next))
    }

    /// The number of a key, and of the arguments with which it is used.
    pub(super) fn key(&mut self, key: u128, args: u128) -> (KeyId, ArgsId) {
        let number = self.keys.take(key);
        let args = self.keys.get_mut(number).map_or(ArgsId(0), |requests| requests.number(args));
        (KeyId(number), args)
    }

    /// The number of a run.
    pub(super) fn run(&mut self, run: u128) -> RunId {
        RunId(self.runs.take(run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_names_are_forgotten_and_their_numbers_given_out_again() {
        let mut numbers: Numbers<()> = Numbers::default();
        for name in 0..5_000_u128 {
            let number = numbers.take(name);
            if name != 7 {
                numbers.release(number);
            }
            numbers.sweep(|_, ()| false);
        }
        assert_eq!(numbers.take(7), 7, "a call still has it");
        assert!(numbers.values.len() <= FEW + 1, "{} slots", numbers.values.len());
    }
}
