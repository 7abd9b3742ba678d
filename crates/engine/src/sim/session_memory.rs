//! What a session forgets: runs that are over, and keys that no later call needs.

use std::collections::BTreeSet;

use super::active_calls::{ActiveCall, SharedIds};
use super::session::Session;
use crate::ids::{KeyId, RunId};

/// A run of which no call is among so many is over: what it has used is forgotten.
pub const PATIENCE: u64 = 10_000;

impl Session {
    /// Forgets the runs that are over when the call with this number is fed.
    pub(super) fn forget_idle_runs(&mut self, newest: u64) {
        while let Some((_, run)) = self.fed.pop_front_if(|(fed, _)| *fed + PATIENCE < newest) {
            self.forget_run(run, newest);
        }
    }

    /// Forgets a run if it is over, and no call of it goes on.
    fn forget_run(&mut self, run: RunId, newest: u64) {
        let is_over = self.names.runs.get(run.0).is_some_and(|run| run.last + PATIENCE < newest);
        if is_over && self.names.runs.forget(run.0) {
            self.event_loop.machine.forget_run(run);
        }
    }

    /// Gives back the numbers of a call that has ended, but for what later calls need of it.
    pub(super) fn forget(&mut self, live: &ActiveCall) {
        let Some(SharedIds { run, key, .. }) = live.shared else { return };
        self.names.runs.release(run.0);
        self.forget_run(run, self.fed.back().map_or(0, |(newest, _)| *newest));
        let Session { names, event_loop, .. } = self;
        if let Some(key) = key {
            names.keys.release(key.0);
            let machine = &event_loop.machine;
            let mut bound: Option<BTreeSet<KeyId>> = None; // few sweeps ask
            names.keys.sweep(|key, _| {
                let key = KeyId(key);
                machine.knows_key(key) || bound.get_or_insert_with(|| machine.bound_keys()).contains(&key)
            });
        }
    }
}
