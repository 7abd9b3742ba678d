//! Calls that one worker takes at a time, with what was found of them where calls pass in order.

use playproof_engine::event::Finding;
use playproof_engine::sim::SimulationRecord;
use playproof_trace::call::CompletedCall;

use super::lanes::Numbered;

/// Calls of a batch, at most.
pub(super) const BATCH: usize = 256;

/// Closed calls, and what is known of them by their place in the batch.
pub(super) struct Batch {
    pub calls: Vec<CompletedCall>,
    /// What the recording shows.
    pub recorded: Vec<(usize, Finding)>,
    /// Calls that were simulated with others of their run, with their records by plan.
    pub joined: Vec<(usize, Vec<Option<SimulationRecord>>)>,
}

/// Cuts calls into batches, in their order.
pub(super) fn cut(calls: Vec<Numbered>, batches: &mut Vec<Batch>) {
    let mut calls = calls.into_iter().peekable();
    while calls.peek().is_some() {
        let mut batch = Batch { calls: Vec::with_capacity(BATCH), recorded: Vec::new(), joined: Vec::new() };
        for (n, call) in calls.by_ref().take(BATCH).enumerate() {
            batch.calls.push(call.closed);
            batch.recorded.extend(call.recorded.into_iter().map(|finding| (n, finding)));
            if !call.records.is_empty() {
                batch.joined.push((n, call.records));
            }
        }
        batches.push(batch);
    }
}
