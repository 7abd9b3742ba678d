//! The last successful write of a run before each of its calls, by when they were made, whatever the order of the lines.

use crate::assemble::open::{OpenCall, OpenCalls};
use playproof_engine::call::{AnswerTo, RecordedAnswer, Reply};
use playproof_engine::evidence::Moment;
use playproof_engine::time::Instant;

/// The most open calls of a run that are looked at, from the newest.
const MAX_SEARCHED: usize = 1_000;
/// The most writes of a run that are kept in order.
const MAX_KEPT: usize = 4_096;

/// The successful writes of a run by when they came, from its first late line on: with a thousand open calls, asking each of
/// them at every late line takes most of a replay.
#[derive(Clone, Debug, Default)]
pub enum TimedWrites {
    /// No line of the run came late so far.
    #[default]
    Unneeded,
    /// Their times and lines, in this order.
    Sorted(Vec<(Instant, u64)>),
    /// One of them has no time: the open calls are asked.
    Untimed,
}

impl TimedWrites {
    /// The writes that the open calls of a run know, and its `last`; `number` is the last open call.
    pub fn gather(
        last: Option<Moment>,
        open: &OpenCalls,
        mut number: u64,
        is_write: impl Fn(u128) -> bool,
    ) -> TimedWrites {
        let mut writes: Vec<Moment> = last.into_iter().collect();
        while let Some(call) = open.get(number) {
            writes.extend(written(call, &is_write));
            number = call.before();
        }
        let timed: Option<Vec<_>> = writes.into_iter().map(|write| Some((write.at?, write.place))).collect();
        let Some(mut writes) = timed else { return TimedWrites::Untimed };
        writes.sort_unstable();
        writes.dedup();
        TimedWrites::Sorted(writes)
    }

    /// Notes the next write.
    pub fn note(&mut self, write: Moment) {
        let TimedWrites::Sorted(writes) = self else { return };
        let Some(at) = write.at else {
            *self = TimedWrites::Untimed;
            return;
        };
        let new = (at, write.place);
        writes.insert(writes.partition_point(|known| *known < new), new);
        if writes.len() > MAX_KEPT {
            writes.drain(..MAX_KEPT / 2);
        }
    }

    /// The last write before a moment; none if the open calls must be asked.
    pub fn last_before(&self, made: Moment) -> Option<Option<Moment>> {
        let (TimedWrites::Sorted(writes), Some(at)) = (self, made.at) else { return None };
        let end = writes.partition_point(|known| *known < (at, made.place));
        let last = end.checked_sub(1).and_then(|last| writes.get(last));
        Some(last.map(|(at, place)| Moment::new(Some(*at), *place)))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64, line: u64) -> Moment {
        Moment::new(Some(Instant::from_micros(seconds)), line)
    }

    #[test]
    fn the_last_write_before_a_moment_is_found_whatever_the_order_of_the_lines() {
        let mut writes = TimedWrites::Sorted(Vec::new());
        [at(5, 1), at(3, 2), at(9, 3)].into_iter().for_each(|write| writes.note(write));
        for (made, last) in
            [(at(4, 9), Some(at(3, 2))), (at(9, 2), Some(at(5, 1))), (at(9, 4), Some(at(9, 3))), (at(3, 1), None)]
        {
            assert_eq!(writes.last_before(made), Some(last), "{made:?}");
        }
        assert_eq!(writes.last_before(Moment::new(None, 4)), None, "without a time, calls are asked");
        writes.note(Moment::new(None, 5));
        assert_eq!(writes.last_before(at(4, 9)), None);
    }

    #[test]
    fn few_writes_are_kept() {
        let mut writes = TimedWrites::Sorted(Vec::new());
        (0..20_000).for_each(|n| writes.note(at(n, n)));
        assert!(matches!(&writes, TimedWrites::Sorted(kept) if kept.len() <= MAX_KEPT));
        assert_eq!(writes.last_before(at(19_990, 0)), Some(Some(at(19_989, 19_989))));
    }
}
