//! When a recorded call starts in a joint simulation. Calls that did not overlap in the recording do not overlap in the
//! simulation, however long a playbook waits: a call that was made after the end of others keeps its distance to the last
//! of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::time::Instant;
use crate::words;

words! {
    /// What moves the start of a recorded call.
    #[derive(Default)]
    pub enum Pace {
        /// The calls of its run that had ended when it was made.
        #[default]
        Causal = "causal",
        /// Nothing.
        Recorded = "recorded",
    }
}

/// A recorded moment, and its line: the order of the lines decides between equal moments.
pub(super) type RecordedMoment = (Instant, u64);

/// The calls that have started, as far as later starts depend on them: those of one run, or of a session.
#[derive(Debug, Default)]
pub(super) struct StartedCalls {
    /// Recorded ends of calls that have not ended in the simulation.
    running: BTreeSet<(RecordedMoment, u64)>,
    /// The same by number.
    ends: BTreeMap<u64, RecordedMoment>,
    /// Ends that the last start did not depend on: the recorded one, and the latest simulated one.
    ended: BTreeMap<RecordedMoment, Instant>,
    /// The latest recorded end and the latest simulated end that the last start depended on.
    last: Option<(Instant, Instant)>,
}

impl StartedCalls {
    /// The start of a call that was made at `made`, by the calls of its run; none: a call that it followed has not ended in
    /// the simulation.
    pub(super) fn start(&mut self, made: RecordedMoment) -> Option<Instant> {
        if self.running.first().is_some_and(|(recorded, _)| *recorded <= made) {
            return None;
        }
        while let Some(first) = self.ended.first_entry().filter(|first| *first.key() <= made) {
            let ((recorded, _), simulated) = first.remove_entry();
            let (latest, end) = self.last.unwrap_or((recorded, simulated));
            self.last = Some((latest.max(recorded), end.max(simulated)));
        }
        let moved = self.last.map(|(recorded, simulated)| simulated.plus(made.0.since(recorded)));
        Some(moved.map_or(made.0, |moved| moved.max(made.0)))
    }

    /// Whether a call ended at the very moment `made`, on an earlier line, and has not ended in the simulation.
    pub(super) fn is_at_an_end(&self, made: RecordedMoment) -> bool {
        self.running.range(((made.0, 0), 0)..(made, 0)).next().is_some()
    }

    /// Notes a started call that ended at `recorded`, if that is known.
    pub(super) fn note_start(&mut self, number: u64, recorded: Option<RecordedMoment>) {
        if let Some(recorded) = recorded {
            self.running.insert((recorded, number));
            self.ends.insert(number, recorded);
        }
    }

    /// Notes the end of a call in the simulation.
    pub(super) fn note_end(&mut self, number: u64, simulated: Instant) {
        if let Some(recorded) = self.ends.remove(&number) {
            self.running.remove(&(recorded, number));
            let end = self.ended.entry(recorded).or_insert(simulated);
            *end = (*end).max(simulated);
        }
    }

    /// The same, where no start depends on ends any more; gives the recorded end.
    pub(super) fn forget(&mut self, number: u64) -> Option<RecordedMoment> {
        let recorded = self.ends.remove(&number)?;
        self.running.remove(&(recorded, number));
        Some(recorded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn a_call_keeps_its_distance_to_the_last_call_that_had_ended() {
        let mut run = StartedCalls::default();
        assert_eq!(run.start((ms(0), 9)), Some(ms(0)));
        run.note_start(0, Some((ms(40), 1)));
        assert_eq!(run.start((ms(30), 9)), Some(ms(30)), "the recorded calls overlap");
        assert_eq!(run.start((ms(100), 9)), None, "the first has not ended");
        run.note_end(0, ms(500));
        assert_eq!(run.start((ms(100), 9)), Some(ms(560)));
        run.note_start(1, Some((ms(140), 1)));
        run.note_end(1, ms(600));
        assert_eq!(run.start((ms(150), 9)), Some(ms(610)));
        assert_eq!(run.start((ms(9_000), 9)), Some(ms(9_460)));
    }

    #[test]
    fn a_call_that_ends_sooner_than_recorded_moves_nothing() {
        let mut run = StartedCalls::default();
        run.note_start(0, Some((ms(40), 1)));
        run.note_end(0, ms(10));
        assert_eq!(run.start((ms(50), 9)), Some(ms(50)));
    }

    #[test]
    fn a_call_without_an_end_is_awaited_by_none() {
        let mut run = StartedCalls::default();
        run.note_start(0, None);
        assert_eq!(run.start((ms(100), 9)), Some(ms(100)));
    }

    #[test]
    fn of_equal_moments_the_earlier_line_is_the_earlier_one() {
        let mut run = StartedCalls::default();
        run.note_start(0, Some((ms(40), 7)));
        assert_eq!((run.start((ms(40), 6)), run.is_at_an_end((ms(40), 6))), (Some(ms(40)), false));
        assert_eq!((run.start((ms(40), 8)), run.is_at_an_end((ms(40), 8))), (None, true));
        assert!(!run.is_at_an_end((ms(41), 8)), "it ended before");
        run.note_end(0, ms(50));
        assert_eq!(run.start((ms(40), 8)), Some(ms(50)));
    }
}
