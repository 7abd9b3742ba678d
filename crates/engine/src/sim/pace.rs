//! When a recorded call starts in a joint simulation. Calls that did not overlap in the recording do not overlap in the
//! simulation, however long a playbook waits: a call that was made after the end of others keeps its distance to the last
//! of them.

use std::collections::BTreeMap;

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

/// The calls of one run that have started, as far as later starts depend on them.
#[derive(Debug, Default)]
pub(super) struct RunPace {
    /// Recorded ends of calls that have not ended in the simulation, by number.
    running: BTreeMap<u64, Instant>,
    /// Ends that the last start did not depend on: the recorded one, and the simulated one.
    ended: Vec<(Instant, Instant)>,
    /// The latest recorded end and the latest simulated end that the last start depended on.
    last: Option<(Instant, Instant)>,
}

impl RunPace {
    /// The start of a call that was made at `made`; none: a call that it followed has not ended in the simulation.
    pub(super) fn start(&mut self, made: Instant) -> Option<Instant> {
        if self.running.values().any(|recorded| *recorded <= made) {
            return None;
        }
        let last = &mut self.last;
        self.ended.retain(|&(recorded, simulated)| {
            let is_before = recorded <= made;
            if is_before {
                let (latest, end) = last.unwrap_or((recorded, simulated));
                *last = Some((latest.max(recorded), end.max(simulated)));
            }
            !is_before
        });
        let moved = self.last.map(|(recorded, simulated)| simulated.plus(made.since(recorded)));
        Some(moved.map_or(made, |moved| moved.max(made)))
    }

    /// Notes a started call whose last answer was recorded at `recorded`.
    pub(super) fn note_start(&mut self, number: u64, recorded: Option<Instant>) {
        self.running.extend(recorded.map(|recorded| (number, recorded)));
    }

    /// Notes the end of a call in the simulation.
    pub(super) fn note_end(&mut self, number: u64, simulated: Instant) {
        self.ended.extend(self.running.remove(&number).map(|recorded| (recorded, simulated)));
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
        let mut run = RunPace::default();
        assert_eq!(run.start(ms(0)), Some(ms(0)));
        run.note_start(0, Some(ms(40)));
        assert_eq!(run.start(ms(30)), Some(ms(30)), "the recorded calls overlap");
        assert_eq!(run.start(ms(100)), None, "the first has not ended");
        run.note_end(0, ms(500));
        assert_eq!(run.start(ms(100)), Some(ms(560)));
        run.note_start(1, Some(ms(140)));
        run.note_end(1, ms(600));
        assert_eq!(run.start(ms(150)), Some(ms(610)));
        assert_eq!(run.start(ms(9_000)), Some(ms(9_460)));
    }

    #[test]
    fn a_call_that_ends_sooner_than_recorded_moves_nothing() {
        let mut run = RunPace::default();
        run.note_start(0, Some(ms(40)));
        run.note_end(0, ms(10));
        assert_eq!(run.start(ms(50)), Some(ms(50)));
    }

    #[test]
    fn a_call_without_an_end_is_awaited_by_none() {
        let mut run = RunPace::default();
        run.note_start(0, None);
        assert_eq!(run.start(ms(100)), Some(ms(100)));
    }
}
