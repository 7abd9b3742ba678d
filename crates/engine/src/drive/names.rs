//! The small numbers of a dispatcher for what its calls share: tools, keys with their requests, runs. Numbers of keys and
//! runs that nothing needs any more are given out again. And the names of calls that events mention, which may have left.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use crate::dispatch::{Machine, RetryBalanceKey};
use crate::event::{AdmissionRefusal, Decision, DecisionEvent, Outcome, OutcomeKind, StopReason};
use crate::ids::{ActionId, ArgsId, CallId, ErrorId, Interner, KeyId, RunId, ServerId, ToolId, TransactionId};
use crate::plan::Plan;

/// Up to this many unused names are kept.
const FEW: usize = 1_024;

/// Names as numbers, which can be forgotten.
#[derive(Debug)]
pub(crate) struct Numbers<T> {
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
    pub(crate) fn take(&mut self, name: u128) -> u32 {
        let number = match self.known.get(&name) {
            Some(&number) => number,
            None => self.add(name),
        };
        if let Some(Some(entry)) = self.values.get_mut(number as usize) {
            entry.users += 1;
        }
        number
    }

    /// The number of a name that is known.
    pub(crate) fn find(&self, name: u128) -> Option<u32> {
        self.known.get(&name).copied()
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
    pub(crate) fn release(&mut self, number: u32) {
        if let Some(Some(entry)) = self.values.get_mut(number as usize) {
            entry.users = entry.users.saturating_sub(1);
        }
    }

    /// The names that are known.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Forgets a name, unless a call that has not ended has it; says whether it was forgotten.
    pub(crate) fn forget(&mut self, number: u32) -> bool {
        let slot = self.values.get_mut(number as usize);
        let Some(entry) = slot.and_then(|slot| slot.take_if(|entry| entry.users == 0)) else { return false };
        self.known.remove(&entry.name);
        self.free.insert(number)
    }

    /// The name of a number.
    pub(crate) fn name(&self, number: u32) -> Option<u128> {
        Some(self.values.get(number as usize)?.as_ref()?.name)
    }

    /// What is kept for a name.
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.values.get(number as usize)?.as_ref().map(|entry| &entry.value)
    }

    /// What is kept for a name.
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.values.get_mut(number as usize)?.as_mut().map(|entry| &mut entry.value)
    }

    /// Forgets names that no call has and that are not `needed`, if there are many.
    pub(crate) fn sweep(&mut self, mut needed: impl FnMut(u32, &T) -> bool) {
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

/// What is kept of a key.
#[derive(Debug, Default)]
pub(crate) struct KeyRequests {
    /// The arguments with which it was used first.
    first: Option<u128>,
    /// Others with their numbers, from 1; few have any.
    others: BTreeMap<u128, u32>,
    /// The name of the call that last succeeded with it.
    leader: String,
}

impl KeyRequests {
    /// The number of arguments among those of the key.
    fn number(&mut self, args: u128) -> ArgsId {
        if *self.first.get_or_insert(args) == args {
            return ArgsId(0);
        }
        let next = u32::try_from(self.others.len() + 1).unwrap_or(u32::MAX);
        ArgsId(*self.others.entry(args).or_insert(next))
    }
}

/// What is kept of a run.
#[derive(Debug, Default)]
pub(crate) struct RunNames<R> {
    /// What its driver keeps of it.
    pub kept: R,
    /// The names of the calls that took tool calls last, by their ids.
    takers: BTreeMap<CallId, String>,
    /// The names of the calls of which an attempt may still be at work, by their actions and ids.
    at_work: BTreeMap<(ActionId, CallId), String>,
}

/// The names of a dispatcher as numbers.
#[derive(Debug, Default)]
pub(crate) struct Names<R> {
    pub keys: Numbers<KeyRequests>,
    pub runs: Numbers<RunNames<R>>,
    tools: BTreeMap<u128, u32>,
    transactions: BTreeMap<u128, u32>,
    args: BTreeMap<u128, u32>,
    pub servers: Interner,
    /// The names of the calls that opened breakers last, by server.
    opened_by: BTreeMap<ServerId, String>,
    /// The names of the calls that took the last of retry budgets.
    spenders: BTreeMap<RetryBalanceKey, String>,
}

/// What a call shares with others, by name or by a hash of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedBy<'a> {
    pub run: u128,
    pub tool: u128,
    pub server: &'a str,
    pub key: Option<u128>,
    /// Its transaction, if that matters, and whether its request is done once in it.
    pub transaction: Option<(u128, bool)>,
    pub args: u128,
    /// Whether the arguments of calls without a key are compared too.
    pub compares_args: bool,
}

/// The same in the numbers of a dispatcher.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedIds {
    pub run: RunId,
    pub tool: ToolId,
    pub server: ServerId,
    pub key: Option<KeyId>,
    pub transaction: Option<TransactionId>,
    pub once: Option<KeyId>,
    pub args: ArgsId,
}

impl SharedIds {
    /// The key by which calls are one request to the dispatcher.
    pub(crate) fn shared_key(&self) -> Option<KeyId> {
        self.once.or(self.key)
    }
}

/// A call as events know it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedCall<'a> {
    pub name: &'a str,
    pub tool: &'a str,
    pub shared: Option<SharedIds>,
    /// Its events before this one.
    pub before: &'a [DecisionEvent],
}

/// The other call that an event mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mention<'a> {
    /// It is there; the error that the event has from it.
    Open(CallId, Option<ErrorId>),
    /// It may have left: its name is kept.
    Left(&'a str),
}

impl<R: Default> Names<R> {
    /// The numbers of what one more call shares.
    pub(crate) fn take(&mut self, by: SharedBy<'_>) -> SharedIds {
        let (run, tool) = (RunId(self.runs.take(by.run)), ToolId(number(&mut self.tools, by.tool)));
        let server = ServerId(self.servers.intern(by.server));
        let key = by.key.map(|key| self.key(key, by.args));
        let once = by.transaction.filter(|(_, once)| *once);
        let once = once.map(|(of, _)| KeyId(self.keys.take(joined([of, by.tool, by.key.unwrap_or(by.args)]))));
        let transaction = by.transaction.map(|(of, _)| TransactionId(number(&mut self.transactions, of)));
        let args = match (by.compares_args, key) {
            (true, _) => ArgsId(number(&mut self.args, by.args)),
            (false, Some((_, args))) => args,
            (false, None) => ArgsId(0),
        };
        SharedIds { run, tool, server, key: key.map(|(key, _)| key), transaction, once, args }
    }

    /// The number of a key, and of the arguments with which it is used.
    fn key(&mut self, key: u128, args: u128) -> (KeyId, ArgsId) {
        let number = self.keys.take(key);
        let args = self.keys.get_mut(number).map_or(ArgsId(0), |requests| requests.number(args));
        (KeyId(number), args)
    }

    /// A call that has these numbers has left: keys that no later call needs are forgotten.
    pub(crate) fn release(&mut self, machine: &Machine, shared: SharedIds) {
        self.runs.release(shared.run.0);
        for key in [shared.key, shared.once].into_iter().flatten() {
            self.keys.release(key.0);
            let mut bound: Option<BTreeSet<KeyId>> = None; // few sweeps ask
            self.keys.sweep(|key, _| {
                let key = KeyId(key);
                machine.knows_key(key) || bound.get_or_insert_with(|| machine.bound_keys()).contains(&key)
            });
        }
    }

    /// Keeps the names that later events mention.
    pub(crate) fn note(&mut self, plan: &Plan, machine: &Machine, event: &DecisionEvent, call: NamedCall<'_>) {
        let (shared, name) = (call.shared, call.name);
        if let Decision::FailureClassified { .. } | Decision::RetryScheduled { .. } = event.what
            && let Some(budget) = call.retry_budget(plan, event.what)
            && machine.has_spent(budget, event.call, event.at)
        {
            self.spenders.insert(budget, name.to_owned());
        }
        if let (Decision::Outcome(_), Some(shared)) = (event.what, shared)
            && let Some(action) = machine.withheld_by(event.call)
            && let Some(run) = self.runs.get_mut(shared.run.0)
        {
            run.at_work.insert((action, event.call), name.to_owned());
        }
        match (event.what, shared) {
            (Decision::CircuitOpened { server, .. }, _) => {
                self.opened_by.insert(server, name.to_owned());
            }
            (
                Decision::Queued { .. } | Decision::AttemptStarted { .. } | Decision::RetryScheduled { .. },
                Some(shared),
            ) => {
                if let Some(run) = self.runs.get_mut(shared.run.0) {
                    let taker = run.takers.entry(event.call).or_default();
                    name.clone_into(taker);
                }
            }
            (Decision::Outcome(outcome), Some(shared)) if outcome.kind.is_success() => {
                let key = shared.shared_key().filter(|key| machine.keeps_success_of(*key, event.call));
                if let Some(requests) = key.and_then(|key| self.keys.get_mut(key.0)) {
                    name.clone_into(&mut requests.leader);
                }
            }
            _ => {}
        }
    }

    /// The other call that an event of a call mentions.
    pub(crate) fn mentioned(&self, plan: &Plan, event: &DecisionEvent, call: NamedCall<'_>) -> Option<Mention<'_>> {
        Some(match event.what {
            Decision::Joined { leader } | Decision::TookOver { leader } => Mention::Open(leader, None),
            Decision::Queued { behind: Some(behind), .. } => Mention::Open(behind, None),
            Decision::Outcome(Outcome { kind: OutcomeKind::Joined { leader, .. }, last_error, .. }) => {
                Mention::Open(leader, last_error)
            }
            Decision::ServedFromCache { .. } | Decision::Outcome(Outcome { kind: OutcomeKind::Cached { .. }, .. }) => {
                Mention::Left(&self.keys.get(call.shared?.shared_key()?.0)?.leader)
            }
            Decision::Refused { why: AdmissionRefusal::InvalidTransition, by: Some(by), .. } => {
                let action = plan.action(call.tool)?;
                Mention::Left(self.runs.get(call.shared?.run.0)?.at_work.get(&(action, by))?)
            }
            Decision::Refused { why, by: Some(by), .. } => {
                let stop = match why {
                    AdmissionRefusal::CircuitOpen => StopReason::CircuitOpen,
                    _ => StopReason::Budget,
                };
                Mention::Left(self.stopped_by(plan, event, call, (stop, by))?)
            }
            Decision::Outcome(Outcome { kind, stopped_by: Some(by), .. }) if by != event.call => {
                Mention::Left(self.stopped_by(plan, event, call, (kind.shared_stop()?, by))?)
            }
            _ => return None,
        })
    }

    /// The call that opened the circuit or took the last of the budget at which a call stopped.
    fn stopped_by(
        &self,
        plan: &Plan,
        event: &DecisionEvent,
        call: NamedCall<'_>,
        (stop, by): (StopReason, CallId),
    ) -> Option<&str> {
        let shared = call.shared?;
        let name = match stop {
            StopReason::CircuitOpen => self.opened_by.get(&shared.server)?,
            StopReason::RetryBudget => self.spenders.get(&call.retry_budget(plan, event.what)?)?,
            _ => self.runs.get(shared.run.0)?.takers.get(&by)?,
        };
        Some(name)
    }
}

impl NamedCall<'_> {
    /// The retry budget of the verdict of an event, or of the call's last one.
    fn retry_budget(&self, plan: &Plan, what: Decision) -> Option<RetryBalanceKey> {
        if plan.playbook.retry_budgets.is_empty() {
            return None;
        }
        let before = self.before.iter().rev().map(|event| event.what);
        let verdict = std::iter::once(what).chain(before).find_map(|what| match what {
            Decision::FailureClassified { verdict, .. } => Some(verdict),
            _ => None,
        })?;
        let id = plan.playbook.verdict(verdict).then.retry()?.retry_budget?;
        Some((id, plan.playbook.retry_budget(id).scope(self.shared?.server)))
    }
}

/// One hash of several.
fn joined(parts: [u128; 3]) -> u128 {
    let half = |seed| u128::from(FixedState::with_seed(seed).hash_one(parts));
    half(3) << 64 | half(4)
}

/// The number of a name that is never forgotten.
fn number(known: &mut BTreeMap<u128, u32>, name: u128) -> u32 {
    let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
    *known.entry(name).or_insert(next)
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
