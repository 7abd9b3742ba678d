//! Replays inputs: sets up the stages, runs them, and collects the result. Knows no threads.

use std::io;

use playproof_engine::playbook::Access;
use playproof_engine::sim::Plan;

use super::buffer_pool::BufferPool;
use super::io::{Inputs, Observer, ReplayError, ReplayOptions, Replayed};
use super::pipeline;
use super::stages::{Feed, Order, Stages, Total};

/// Replays `inputs` under each of `plans`, and gives every part that `watch` makes to `sink`, in order.
/// Tool facts for what the recordings show come from the first plan.
///
/// # Errors
/// An input that cannot be opened or read, a line that cannot be used (unless skipped), and what `sink` gives.
/// Everything before an input's error has been given to `sink` then; after its own error `sink` is given nothing more.
pub fn replay<W: Observer, S: FnMut(W::Part) -> io::Result<()> + Send>(
    plans: &[Plan],
    inputs: Inputs<'_>,
    options: &ReplayOptions,
    observer: &W,
    sink: S,
) -> Result<Replayed, ReplayError> {
    let writes = |tool: &str| plans.first().is_none_or(|plan| plan.facts(tool).access == Access::Write);
    let stages = Stages { plans, options, observer, writes: &writes, pool: BufferPool::default() };
    let total = Total::new(plans, Box::new(sink));
    let finished = pipeline::run(&stages, options.jobs, Feed::new(inputs), Order::new(plans), total);
    if let Some(error) = finished.error {
        return Err(error);
    }
    let (inputs, mut possible_duplicates) = finished
        .order
        .map_or_else(Default::default, |order| (order.accounts, order.recording.possible_duplicates().clone()));
    let (summaries, recorded) = finished.sink.map_or_else(Default::default, |total| {
        possible_duplicates.resent.merge(&total.resent);
        (total.summaries, total.recorded)
    });
    Ok(Replayed { summaries, inputs, recorded, possible_duplicates })
}
