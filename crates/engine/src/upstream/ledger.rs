//! The upstream's ledger of effects: only the upstream writes it; it is never derived from claims.

use std::collections::BTreeMap;

use crate::event::{Intent, LedgerEntry, LedgerKind};
use crate::ids::{AttemptNo, CallId};
use crate::time::Instant;

/// The ledger, in the order in which effects landed.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Ledger {
    entries: Vec<LedgerEntry>,
}

/// The net effects of one intent or call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetEffects {
    /// Existing and applied effects, less reversed ones, never below zero.
    pub effects: u32,
    /// Applied effects, reversed or not.
    pub made: u32,
    /// Recorded failures whose effect is unknown.
    pub unobserved: u32,
}

impl Ledger {
    /// Adds an entry.
    pub(crate) fn add(&mut self, entry: LedgerEntry) {
        self.entries.push(entry);
    }

    /// Sets when the effects of an attempt landed.
    pub(crate) fn set_time(&mut self, attempt: AttemptNo, at: Instant) {
        let of_attempt = self.entries.iter_mut().filter(|entry| entry.attempt == Some(attempt));
        of_attempt.for_each(|entry| entry.at = at);
    }

    /// Sorts the entries by the moment at which they landed, then in the order in which they were added.
    pub(super) fn sort(&mut self) {
        self.entries.sort_by_key(|entry| entry.at);
    }

    /// The entries in the order in which they landed.
    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }

    /// Removes every entry.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// The net effects of each intent.
    pub fn net(&self) -> BTreeMap<Intent, NetEffects> {
        let mut all: BTreeMap<Intent, NetEffects> = BTreeMap::new();
        for entry in &self.entries {
            count(all.entry(entry.intent).or_default(), entry);
        }
        all
    }

    /// The net effects that each call caused.
    pub fn net_by_call(&self) -> BTreeMap<CallId, NetEffects> {
        let mut all: BTreeMap<CallId, NetEffects> = BTreeMap::new();
        for entry in &self.entries {
            if let Some(call) = entry.call {
                count(all.entry(call).or_default(), entry);
            }
        }
        all
    }
}

/// Net effects by key, in the order of the keys: a list costs less than a map, because nearly all ledgers are short. The
/// first entry is stored inline: most ledgers have no other.
#[derive(Debug)]
pub(crate) struct NetList<K> {
    first: Option<(K, NetEffects)>,
    more: Vec<(K, NetEffects)>,
}

impl<K: Ord + Copy> NetList<K> {
    /// Those of a ledger; entries without a key are left out.
    pub(crate) fn of(ledger: &Ledger, key: impl Fn(&LedgerEntry) -> Option<K>) -> NetList<K> {
        let one = |key: K, entry: &LedgerEntry| {
            let mut net = NetEffects::default();
            count(&mut net, entry);
            (key, net)
        };
        let mut all = NetList { first: None, more: Vec::new() };
        if let [only] = ledger.entries.as_slice() {
            all.first = key(only).map(|key| one(key, only));
            return all; // by far the most common case
        }
        let mut entries: Vec<(K, &LedgerEntry)> =
            ledger.entries.iter().filter_map(|entry| Some((key(entry)?, entry))).collect();
        entries.sort_by_key(|(key, _)| *key); // stable: a reversal takes back what came before it
        for (key, entry) in entries {
            match all.more.last_mut().or(all.first.as_mut()) {
                Some((last, net)) if *last == key => count(net, entry),
                Some(_) => all.more.push(one(key, entry)),
                None => all.first = Some(one(key, entry)),
            }
        }
        all
    }

    /// The net effects of a key, if it has entries.
    pub(crate) fn get(&self, key: K) -> Option<NetEffects> {
        if let Some((_, net)) = self.first.as_ref().filter(|(first, _)| *first == key) {
            return Some(*net);
        }
        let place = self.more.binary_search_by_key(&key, |(known, _)| *known).ok()?;
        self.more.get(place).map(|(_, net)| *net)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(K, NetEffects)> {
        self.first.iter().chain(&self.more)
    }
}

fn count(net: &mut NetEffects, entry: &LedgerEntry) {
    match entry.kind {
        LedgerKind::Existing => net.effects += 1,
        LedgerKind::Applied => {
            net.effects += 1;
            net.made += 1;
        }
        LedgerKind::Reversed => net.effects = net.effects.saturating_sub(1),
        LedgerKind::Unobserved => net.unobserved += 1,
        LedgerKind::Staged | LedgerKind::Committed | LedgerKind::Discarded => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Provenance;
    use crate::time::Instant;

    fn entry(at: u64, kind: LedgerKind, call: u32) -> LedgerEntry {
        LedgerEntry {
            at: Instant::from_millis(at),
            intent: Intent::Single(CallId(0)),
            kind,
            call: Some(CallId(call)),
            attempt: None,
            provenance: Provenance::Scripted,
        }
    }

    #[test]
    fn a_reversal_removes_one_effect_and_never_goes_below_zero() {
        let mut ledger = Ledger::default();
        ledger.add(entry(0, LedgerKind::Reversed, 0));
        ledger.add(entry(1, LedgerKind::Applied, 0));
        ledger.add(entry(1, LedgerKind::Applied, 1));
        assert_eq!(ledger.net()[&Intent::Single(CallId(0))].effects, 2);
        assert_eq!(ledger.net().get(&Intent::Single(CallId(1))), None);
        ledger.add(entry(2, LedgerKind::Reversed, 1));
        assert_eq!(ledger.net()[&Intent::Single(CallId(0))].effects, 1);
        assert_eq!(ledger.net_by_call()[&CallId(1)].effects, 0);
        let (intents, calls) =
            (NetList::of(&ledger, |entry| Some(entry.intent)), NetList::of(&ledger, |entry| entry.call));
        assert!(intents.iter().copied().eq(ledger.net()) && calls.iter().copied().eq(ledger.net_by_call()));
        assert_eq!((calls.get(CallId(1)).map(|net| net.made), calls.get(CallId(2))), (Some(1), None));
    }

    #[test]
    fn entries_are_in_the_order_in_which_they_landed() {
        let mut ledger = Ledger::default();
        ledger.add(entry(5, LedgerKind::Applied, 0));
        ledger.add(entry(2, LedgerKind::Existing, 1));
        ledger.sort();
        let times: Vec<u64> = ledger.entries().iter().map(|entry| entry.at.as_micros()).collect();
        assert_eq!(times, [2_000, 5_000]);
    }
}
