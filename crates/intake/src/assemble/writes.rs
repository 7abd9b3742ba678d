//! The last successful write of a run before each of its calls, of those that its open calls know.

use crate::assemble::open::{OpenCall, OpenCalls};
use crate::assemble::timed_writes::TimedWrites;
use playproof_engine::call::{AnswerTo, RecordedAnswer, Reply};
use playproof_engine::evidence::Moment;

/// The most open calls of a run that are looked at, from the newest.
const MAX_SEARCHED: usize = 1_000;

/// The writes that the open calls of a run know, and its `last`; `number` is the last open call.
pub fn gather(last: Option<Moment>, open: &OpenCalls, mut number: u64, is_write: impl Fn(u128) -> bool) -> TimedWrites {
    let mut writes: Vec<Moment> = last.into_iter().collect();
    while let Some(call) = open.get(number) {
        writes.extend(written(call, &is_write));
        number = call.before();
    }
    TimedWrites::sorted(&writes)
}

/// The successful writes that a call knows: its own, and the last before it.
fn written(call: &OpenCall, is_write: impl Fn(u128) -> bool) -> impl Iterator<Item = Moment> {
    let is_of_write = is_write(call.built.hashes.tool);
    let answers = call.built.call.answers.iter().filter(move |_| is_of_write);
    let acted = answers.filter(|answer| answer.reply == Reply::Ok && answer.to != AnswerTo::Refresh);
    acted.map(moment_of).chain(call.built.counts.last_write)
}

/// When an answer came.
pub fn moment_of(answer: &RecordedAnswer) -> Moment {
    Moment::new(answer.at, answer.place.line)
}

/// The later of a moment that may be known and another one.
pub fn later(known: Option<Moment>, other: Moment) -> Option<Moment> {
    known.filter(|known| known.is_after(other)).or(Some(other))
}

/// The last write before `made`, of `last` and those that the open calls of the run know; `number` is the last of them.
pub fn last_before(
    made: Moment,
    last: Option<Moment>,
    open: &OpenCalls,
    mut number: u64,
    is_write: impl Fn(u128) -> bool,
) -> Option<Moment> {
    let is_before = |write: &Moment| made.is_after(*write);
    let mut last = last.filter(is_before);
    for _ in 0..MAX_SEARCHED {
        let Some(call) = open.get(number) else { break };
        last = written(call, &is_write).filter(is_before).fold(last, later);
        number = call.before();
    }
    last
}

/// Notes a write for the open calls of its run that were made after it, although its line came later; `number` is the last
/// of them.
pub fn note_late(write: Moment, open: &mut OpenCalls, mut number: u64) {
    for _ in 0..MAX_SEARCHED {
        let Some(call) = open.get_mut(number) else { break };
        let made = call.made();
        if made.is_after(write) {
            call.built.counts.last_write = later(call.built.counts.last_write, write);
        } else if made.at.is_some() {
            break; // and so were the calls before it
        }
        number = call.before();
    }
}
