//! Replays inputs: sets up the stages, runs them, and collects the result. Knows no threads.

use std::io;
use std::sync::atomic::AtomicUsize;

use playproof_engine::playbook::Access;
use playproof_engine::sim::Plan;

use super::buffer_pool::BufferPool;
use super::io::{Inputs, Observer, ReplayError, ReplayOptions, Replayed};
use super::pipeline;
use super::pipeline::Sink;
use super::stages::{Feed, Order, Stages, Sums};

/// Replays `inputs` under each of `plans`, and gives every part that `observer` makes to `sink`, in order.
/// Tool facts for what the recordings show come from the first plan.
///
/// # Errors
/// Inputs that cannot be read, or have a line that cannot be used (unless skipped): such an input ends there, and the
/// others are replayed. What `sink` gives; it is given nothing more then.
pub fn replay<W: Observer, S: FnMut(W::Part) -> io::Result<()> + Send>(
    plans: &[Plan],
    inputs: Inputs<'_>,
    options: &ReplayOptions,
    observer: &W,
    sink: S,
) -> Result<Replayed, ReplayError> {
    let writes = |tool: &str| plans.first().is_none_or(|plan| plan.facts(tool).access == Access::Write);
    let stages = Stages { plans, options, writes: &writes, pool: BufferPool::default(), ended: AtomicUsize::new(0) };
    let sink = Sink::new(Sums::new(plans), sink);
    let finished = pipeline::run(&stages, observer, Feed::new(inputs), Order::new(plans), sink);
    if let Some(error) = finished.error {
        return Err(ReplayError::Output(error));
    }
    let (inputs, unread, mut possible_duplicates, unsettled_runs, arguments) =
        finished.order.map_or_else(Default::default, |order| {
            let recording = &order.recording;
            let (possible, unsettled) = (recording.possible_duplicates().clone(), recording.unsettled_runs().clone());
            let arguments = recording.arguments().clone();
            (order.accounts, order.unread, possible, unsettled, arguments)
        });
    let Sums { summaries, recorded, resent, .. } = finished.sums;
    possible_duplicates.resent.merge(&resent);
    let replayed = Replayed { summaries, inputs, recorded, possible_duplicates, unsettled_runs, arguments };
    match unread.is_empty() {
        true => Ok(replayed),
        false => Err(ReplayError::Read(Box::new(replayed), unread)),
    }
}
