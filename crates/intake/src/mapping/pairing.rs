//! The calls that wait for a result, where ids alone do not tell which call a result answers, and the tools of the calls
//! before. Holds a bounded number of both.

use std::collections::{BTreeMap, VecDeque};

use crate::hash;

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

/// The most calls whose tools are kept.
const MAX_CALLED: usize = 10_000;

/// The tools of the last calls by the hash of run and id: what a result says depends on what was called.
#[derive(Debug, Default)]
pub(crate) struct CalledTools {
    tools: BTreeMap<u64, Box<str>>,
    oldest_first: VecDeque<u64>,
}

impl CalledTools {
    /// A call of `run` was made.
    pub(crate) fn add(&mut self, run: &str, id: &str, tool: &str) {
        let key = key(run, id);
        if self.tools.insert(key, tool.into()).is_some() {
            return;
        }
        self.oldest_first.push_back(key);
        if self.oldest_first.len() > MAX_CALLED
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.tools.remove(&oldest);
        }
    }

    /// The tool of the call of `run` with this id; none: there was no such call, or it was long ago.
    pub(crate) fn tool(&self, run: &str, id: &str) -> Option<String> {
        self.tools.get(&key(run, id)).map(|tool| tool.to_string())
    }
}

fn key(run: &str, id: &str) -> u64 {
    hash::half(hash::bytes(id.as_bytes(), hash::seed(run.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_of_the_last_calls_are_known_by_run_and_id() {
        let mut called = CalledTools::default();
        called.add("r", "1", "a");
        called.add("s", "1", "b");
        assert_eq!((called.tool("r", "1").as_deref(), called.tool("s", "1").as_deref()), (Some("a"), Some("b")));
        assert_eq!((called.tool("r", "2"), called.tool("", "1")), (None, None));
        (0..MAX_CALLED).for_each(|n| called.add("t", &n.to_string(), "c"));
        assert_eq!((called.tool("s", "1"), called.tool("t", "0").as_deref()), (None, Some("c")));
    }

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
