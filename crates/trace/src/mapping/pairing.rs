//! The calls that wait for a result, where ids alone do not tell which call a result answers. Holds a bounded number of them.

use std::collections::{BTreeMap, VecDeque};

/// The most waiting calls of one run.
const MAX_WAITING: usize = 10_000;

/// The waiting calls of each run, oldest first.
#[derive(Debug, Default)]
pub(super) struct WaitingCalls(BTreeMap<String, VecDeque<WaitingCall>>);

#[derive(Debug)]
struct WaitingCall {
    id: String,
    tool: String,
}

impl WaitingCalls {
    /// A call of `run` was made.
    pub(super) fn add(&mut self, run: &str, id: &str, tool: &str) {
        if !self.0.contains_key(run) {
            self.0.insert(run.to_owned(), VecDeque::new());
        }
        let Some(waiting) = self.0.get_mut(run) else { return };
        if waiting.len() == MAX_WAITING {
            waiting.pop_front();
        }
        waiting.push_back(WaitingCall { id: id.to_owned(), tool: tool.to_owned() });
    }

    /// The call with this id was answered; none: no such call waits. Gives its tool.
    pub(super) fn answer(&mut self, run: &str, id: &str) -> Option<String> {
        self.take(run, |call| call.id == id).map(|call| call.tool)
    }

    /// Answers the first call of `run`, and of `tool` if that is known; gives its id and its tool.
    pub(super) fn answer_first(&mut self, run: &str, tool: Option<&str>) -> Option<(String, String)> {
        self.take(run, |call| tool.is_none_or(|tool| tool == call.tool)).map(|call| (call.id, call.tool))
    }

    fn take(&mut self, run: &str, fits: impl Fn(&WaitingCall) -> bool) -> Option<WaitingCall> {
        let waiting = self.0.get_mut(run)?;
        let found = waiting.iter().position(fits)?;
        let call = waiting.remove(found);
        if waiting.is_empty() {
            self.0.remove(run);
        }
        call
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_without_an_id_answers_the_first_call_of_its_run_and_tool() {
        let mut waiting = WaitingCalls::default();
        waiting.add("r", "1", "a");
        waiting.add("r", "2", "b");
        waiting.add("r", "3", "b");
        waiting.add("s", "4", "b");
        assert_eq!(waiting.answer_first("r", Some("b")), Some(("2".into(), "b".into())));
        assert_eq!(waiting.answer_first("r", None), Some(("1".into(), "a".into())));
        assert_eq!((waiting.answer("r", "2"), waiting.answer("r", "3")), (None, Some("b".into())));
        assert_eq!(waiting.answer_first("r", None), None);
    }

    #[test]
    fn the_oldest_of_very_many_waiting_calls_is_forgotten() {
        let mut waiting = WaitingCalls::default();
        (0..=MAX_WAITING).for_each(|n| waiting.add("r", &n.to_string(), "t"));
        assert_eq!((waiting.answer("r", "0"), waiting.answer("r", "1")), (None, Some("t".into())));
    }
}
