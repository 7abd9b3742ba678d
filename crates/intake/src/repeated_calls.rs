//! Finds calls that a source records in more than one run: a history that was cut or changed before it was sent again. Keeps a
//! bounded number of hashes, and no text.

use crate::hash;

/// The number of calls that are remembered, at most.
const SLOTS: usize = 1 << 14;

/// The latest calls, and how many were there before.
#[derive(Debug, Default)]
pub(crate) struct RepeatedCalls {
    /// The hash of a call and that of its run, at the place that the former gives.
    slots: Vec<(u64, u64)>,
    /// The run of the last call, and whether all its calls so far were there before: a history stands at the beginning.
    current: (u64, bool),
    /// Calls at the beginning of their run that another run had before.
    pub(crate) count: u64,
    /// The place of the first.
    pub(crate) first: String,
}

impl RepeatedCalls {
    /// Takes the next call; `asks` is the hash of its tool and its arguments.
    pub(crate) fn see(&mut self, run: &str, id: &str, asks: u64, place: &str) {
        if !is_random(id) {
            return;
        }
        let of = |part: &str, sum| hash::half(hash::bytes(part.as_bytes(), sum));
        let (call, run) = (of(id, asks), of(run, 0));
        if self.current.0 != run {
            self.current = (run, true);
        }
        if self.slots.is_empty() {
            self.slots = vec![(0, 0); SLOTS];
        }
        let index = usize::try_from(call % SLOTS as u64).unwrap_or_default();
        let Some(slot) = self.slots.get_mut(index) else { return };
        let was_there = slot.0 == call && slot.1 != run;
        self.current.1 &= was_there;
        match was_there {
            false => *slot = (call, run),
            true if self.current.1 => {
                if self.count == 0 {
                    place.clone_into(&mut self.first);
                }
                self.count += 1;
            }
            true => {}
        }
    }
}

/// Whether an id is one that no two calls have by chance. Counted ids, such as `call_1`, are short, and begin anew in each run.
pub(crate) fn is_random(id: &str) -> bool {
    const SHORTEST: usize = 16;
    id.len() >= SHORTEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_with_an_id_of_its_own_is_counted_where_another_run_has_it() {
        let mut repeated = RepeatedCalls::default();
        let ids = ["call_8Yd2kQx0Zp41", "call_p0Xw71mTq9Lc", "call_1"];
        let mut see = |run: &str, id: usize, tool: &str, place: &str| {
            repeated.see(run, ids[id], hash::seed(tool.as_bytes()), place);
            (repeated.count, repeated.first.clone())
        };
        see("a", 0, "pay", "1");
        see("a", 0, "pay", "2"); // one run: the reader pairs them
        see("a", 1, "pay", "3");
        see("b", 0, "refund", "4");
        see("c", 2, "pay", "5");
        assert_eq!(see("d", 2, "pay", "6"), (0, String::new()), "an id that is counted");
        assert_eq!(see("f", 0, "pay", "7"), (1, "7".into()));
        assert_eq!(see("f", 1, "pay", "8"), (2, "7".into()));
        see("e", 0, "mail", "9");
        assert_eq!(see("e", 1, "pay", "10"), (2, "7".into()), "not at the beginning of its run");
    }
}
