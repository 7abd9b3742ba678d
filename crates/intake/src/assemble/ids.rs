//! How results find calls that the ids of open calls do not name: resends that were joined to an earlier call, and calls
//! whose results name no run.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::FixedState;

use crate::assemble::open::OpenCalls;
use crate::call::CallBuilder;
use crate::call_hashes::{id_hash, run_hash};
use playproof_engine::time::Instant;

/// The ids of joined resends, while the calls that they were joined to are open. Empty unless resends are joined.
#[derive(Debug, Default)]
pub struct JoinedIds {
    resends: BTreeMap<u128, JoinedResend>,
    /// By number of the earlier call: each id, with its run and without.
    ids: BTreeMap<u64, Vec<(u128, u128)>>,
}

/// A call that was joined to an earlier one, as its next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedResend {
    /// The number of the earlier call.
    pub of: u64,
    /// When it was sent; none once its first answer has taken that time.
    pub at: Option<Instant>,
}

/// The open call that an answer belongs to.
#[derive(Clone, Copy, Debug)]
pub struct AnswerTarget {
    /// Its number.
    pub number: u64,
    /// The resend that the answer names, if that was joined to the call.
    pub resend: Option<JoinedResend>,
}

impl JoinedIds {
    /// Joins the call with this `id` (`bare_id` without its run) to an earlier one; says whether that is new.
    pub fn add(&mut self, id: u128, bare_id: u128, resend: JoinedResend) -> bool {
        let before = self.resends.insert(id, resend);
        let is_new = before.is_none_or(|before| before.of != resend.of);
        if is_new {
            self.ids.entry(resend.of).or_default().push((id, bare_id));
        }
        is_new
    }

    /// The ids that were joined to an open call, each with its run and without.
    pub fn of_call(&self, number: u64) -> &[(u128, u128)] {
        self.ids.get(&number).map_or(&[], Vec::as_slice)
    }

    /// The resend with this id.
    pub fn find(&self, id: u128) -> Option<JoinedResend> {
        self.resends.get(&id).copied()
    }

    /// Notes that the resend with this id was answered: later attempts were sent later.
    pub fn answer(&mut self, id: u128) {
        if let Some(resend) = self.resends.get_mut(&id) {
            resend.at = None;
        }
    }

    /// Drops the ids that were joined to a call that has closed.
    pub fn close(&mut self, number: u64) {
        for (id, _) in self.ids.remove(&number).unwrap_or_default() {
            if self.resends.get(&id).is_some_and(|resend| resend.of == number) {
                self.resends.remove(&id);
            }
        }
    }
}

/// The ids of open calls without their runs. Built when the first result without a run needs it: traces whose results name
/// their runs pay nothing.
#[derive(Debug, Default)]
pub struct BareIds(HashMap<u128, Holders, FixedState>);

/// The open calls with one bare id.
#[derive(Debug, Default)]
struct Holders {
    calls: u32,
    /// The sum of their ids with their runs: the id itself where there is one call.
    id_sum: u128,
}

/// The hash of a call's id without its run; 0: it has none.
pub fn bare_id(call: &CallBuilder) -> u128 {
    call.call.id().map_or(0, |id| id_hash(run_hash(None), id))
}

impl BareIds {
    /// The ids of all open calls that a result can still find.
    pub fn of(open: &OpenCalls, joined: &JoinedIds) -> BareIds {
        let mut ids = BareIds::default();
        for open in open.iter().filter(|open| !open.superseded) {
            ids.add(bare_id(&open.built), open.built.hashes.id);
            joined.of_call(open.built.call.number).iter().for_each(|&(id, bare)| ids.add(bare, id));
        }
        ids
    }

    /// Removes the ids of a call that no result can find any more.
    pub fn remove_call(&mut self, call: &CallBuilder, joined: &JoinedIds) {
        self.remove(bare_id(call), call.hashes.id);
        joined.of_call(call.call.number).iter().for_each(|&(id, bare)| self.remove(bare, id));
    }

    /// Adds an open call by its id without its run and with it.
    pub fn add(&mut self, bare: u128, id: u128) {
        if bare == 0 {
            return;
        }
        let holders = self.0.entry(bare).or_default();
        holders.calls = holders.calls.saturating_add(1);
        holders.id_sum = holders.id_sum.wrapping_add(id);
    }

    fn remove(&mut self, bare: u128, id: u128) {
        let Some(holders) = self.0.get_mut(&bare) else { return };
        holders.calls = holders.calls.saturating_sub(1);
        holders.id_sum = holders.id_sum.wrapping_sub(id);
        if holders.calls == 0 {
            self.0.remove(&bare);
        }
    }

    /// The id, with its run, of the only open call with this bare id.
    pub fn only(&self, bare: u128) -> Option<u128> {
        self.0.get(&bare).filter(|holders| holders.calls == 1).map(|holders| holders.id_sum)
    }
}
