//! What a session forgets: runs that are over, and keys that no later call needs.

use super::active_call::ActiveCall;
use super::session::Session;
use crate::ids::RunId;

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
        let is_over = self.names.runs.get(run.0).is_some_and(|run| run.kept.last + PATIENCE < newest);
        if is_over && self.names.runs.forget(run.0) {
            self.event_loop.machine.forget_run(run);
        }
    }

    /// Gives back the numbers of a call that has ended, but for what later calls need of it.
    pub(super) fn forget(&mut self, live: &ActiveCall) {
        let Some(shared) = live.shared else { return };
        self.names.release(&self.event_loop.machine, shared);
        self.forget_run(shared.run, self.fed.back().map_or(0, |(newest, _)| *newest));
    }
}
