//! The successful writes of a run, sorted by when they came, whatever the order of the lines.

use playproof_engine::evidence::Moment;
use playproof_engine::time::Instant;

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
    Sorted {
        /// The latest of them.
        writes: Vec<(Instant, u64)>,
        /// Whether earlier ones are forgotten.
        is_cut: bool,
    },
    /// One of them has no time: the open calls are asked.
    Untimed,
}

impl TimedWrites {
    /// These writes, in the order of their times.
    pub fn sorted(writes: &[Moment]) -> TimedWrites {
        let timed: Option<Vec<_>> = writes.iter().map(|write| Some((write.at?, write.place))).collect();
        let Some(mut writes) = timed else { return TimedWrites::Untimed };
        writes.sort_unstable();
        writes.dedup();
        TimedWrites::Sorted { writes, is_cut: false }
    }

    /// Notes the next write.
    pub fn note(&mut self, write: Moment) {
        let TimedWrites::Sorted { writes, is_cut } = self else { return };
        let Some(at) = write.at else {
            *self = TimedWrites::Untimed;
            return;
        };
        let new = (at, write.place);
        writes.insert(writes.partition_point(|known| *known < new), new);
        if writes.len() > MAX_KEPT {
            writes.drain(..MAX_KEPT / 2);
            *is_cut = true;
        }
    }

    /// The last write before a moment; none if the open calls must be asked.
    pub fn last_before(&self, made: Moment) -> Option<Option<Moment>> {
        let (TimedWrites::Sorted { writes, is_cut }, Some(at)) = (self, made.at) else { return None };
        let end = writes.partition_point(|known| *known < (at, made.place));
        match end.checked_sub(1).and_then(|last| writes.get(last)) {
            None if *is_cut => None,
            last => Some(last.map(|(at, place)| Moment::new(Some(*at), *place))),
        }
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
        let mut writes = TimedWrites::sorted(&[]);
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
        let mut writes = TimedWrites::sorted(&[]);
        (0..20_000).for_each(|n| writes.note(at(n, n)));
        assert!(matches!(&writes, TimedWrites::Sorted { writes, .. } if writes.len() <= MAX_KEPT));
        assert_eq!(writes.last_before(at(19_990, 0)), Some(Some(at(19_989, 19_989))));
        assert_eq!(writes.last_before(at(5, 0)), None, "what was before it is forgotten, so calls are asked");
    }
}
