//! Which result of a call the next one is: its only one, one of them again, or one more. One rule for every recognised format:
//! a call is answered once, and what comes after that came late. Keeps a bounded number of hashes, and no text.

use std::collections::{BTreeMap, VecDeque};

use crate::hash;

/// The most calls whose results are remembered.
const MAX_CALLS: usize = 10_000;

/// The most results that are remembered of one call; those after them have the number of the last.
const MAX_RESULTS: usize = 100;

/// The results of the latest calls, by the hash of run and id.
#[derive(Debug, Default)]
pub(crate) struct SecondResults {
    calls: BTreeMap<u64, Vec<Said>>,
    oldest_first: VecDeque<u64>,
}

/// What one result of a call said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    /// The hash of its content.
    pub(crate) content: u64,
    /// What distinguishes its line from others.
    pub(crate) row: Option<u32>,
    /// The hash of its time; none: it has none.
    pub(crate) at: Option<u64>,
    pub(crate) ends: Ends,
}

/// Whether a result is the end of its attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// It is.
    Yes,
    /// Nobody waited longer: the upstream may answer yet.
    Unanswered,
    /// The work that was asked for is not done yet.
    Unfinished,
}

/// Which result of its call a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultIs {
    /// The first, or the end of work that was not done when the first came.
    Answer,
    /// An earlier one, at the same time.
    Copy,
    /// One more, with the number of its attempt.
    Late(u32),
    /// An earlier one at another time, with the number of its attempt and what distinguishes its line.
    Again(u32, Option<u32>),
}

impl SecondResults {
    /// A call is made: results before it are not its own.
    pub(crate) fn call(&mut self, run: Option<&str>, id: &str) {
        self.calls.remove(&key(run, id)); // its key stays behind in the queue, and is added again
    }

    /// The next result. `repeats` says that the source is known to repeat its rows, so that an equal one without a time is a
    /// copy.
    pub(crate) fn result(&mut self, run: Option<&str>, id: &str, said: Said, repeats: bool) -> ResultIs {
        let key = key(run, id);
        let Some(known) = self.calls.get_mut(&key) else {
            self.calls.insert(key, vec![said]);
            self.oldest_first.push_back(key);
            while self.oldest_first.len() > MAX_CALLS {
                self.oldest_first.pop_front().map(|oldest| self.calls.remove(&oldest));
            }
            return ResultIs::Answer;
        };
        let is_copy = known.iter().any(|seen| (seen.content, seen.at) == (said.content, said.at));
        if is_copy && (repeats || said.at.is_some()) {
            return ResultIs::Copy;
        }
        let ended = known.last().map_or(Ends::Yes, |last| last.ends);
        let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        let same = (1..).zip(&*known).find(|(_, seen)| seen.content == said.content);
        if let Some((index, seen)) = same.filter(|_| ended != Ends::Unfinished) {
            return ResultIs::Again(number(index), seen.row);
        }
        if ended != Ends::Yes || known.len() == MAX_RESULTS {
            known.pop(); // this one is the answer to the same attempt
        }
        known.push(said);
        match ended {
            Ends::Unfinished if known.len() == 1 => ResultIs::Answer,
            _ => ResultIs::Late(number(known.len())),
        }
    }
}

fn key(run: Option<&str>, id: &str) -> u64 {
    let seed = run.map_or(0, |run| hash::seed(run.as_bytes()));
    hash::half(hash::bytes(id.as_bytes(), seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(content: u64, at: Option<u64>) -> Said {
        Said { content, row: Some(7), at, ends: Ends::Yes }
    }

    #[test]
    fn a_later_result_is_a_copy_or_came_late() {
        let mut results = SecondResults::default();
        let mut result = |content, at, repeats| results.result(Some("r"), "c", said(content, at), repeats);
        assert_eq!(result(1, Some(1), false), ResultIs::Answer);
        assert_eq!(result(1, Some(1), false), ResultIs::Copy);
        assert_eq!(result(1, Some(2), true), ResultIs::Again(1, Some(7)), "it may be another one");
        assert_eq!(result(2, Some(2), false), ResultIs::Late(2));
        assert_eq!(result(3, None, false), ResultIs::Late(3));
        assert_eq!(result(3, None, false), ResultIs::Again(3, Some(7)), "without a time, too");
        assert_eq!(result(3, None, true), ResultIs::Copy);
        assert_eq!(results.result(None, "c", said(1, None), false), ResultIs::Answer, "of another run");
        results.call(Some("r"), "c");
        assert_eq!(results.result(Some("r"), "c", said(1, Some(1)), false), ResultIs::Answer, "of a later call");
    }

    #[test]
    fn the_end_of_unfinished_work_is_the_answer() {
        let mut results = SecondResults::default();
        let unfinished = |content| Said { ends: Ends::Unfinished, ..said(content, None) };
        assert_eq!(results.result(None, "c", unfinished(1), false), ResultIs::Answer);
        assert_eq!(results.result(None, "c", unfinished(2), false), ResultIs::Answer);
        assert_eq!(results.result(None, "c", said(3, None), false), ResultIs::Answer);
        assert_eq!(results.result(None, "c", said(4, None), false), ResultIs::Late(2));
    }

    #[test]
    fn what_comes_after_a_timeout_is_the_late_answer_to_it() {
        let mut results = SecondResults::default();
        let timeout = Said { ends: Ends::Unanswered, ..said(1, None) };
        let all = [timeout, said(2, None), said(3, None)].map(|said| results.result(None, "c", said, false));
        assert_eq!(all, [ResultIs::Answer, ResultIs::Late(1), ResultIs::Late(2)]);
    }

    #[test]
    fn what_is_kept_does_not_grow_with_the_calls() {
        let mut results = SecondResults::default();
        for n in 0..MAX_CALLS + 5 {
            results.call(None, &n.to_string());
            results.result(None, &n.to_string(), said(1, None), false);
        }
        for n in 2..300 {
            assert_ne!(results.result(None, "10004", said(n, None), false), ResultIs::Answer);
        }
        assert_eq!((results.calls.len(), results.oldest_first.len()), (MAX_CALLS, MAX_CALLS));
        assert!(results.calls.values().all(|known| known.len() <= MAX_RESULTS));
    }
}
