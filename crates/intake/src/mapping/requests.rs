//! The requests of a protocol whose answers carry ids: which one an answer is for, where both sides ask and count on their
//! own. Holds a bounded number of requests.

use std::collections::{BTreeMap, VecDeque};

use super::call_reader::ReadRequest;
use crate::hash;

/// The most open requests of one run.
const MAX_OPEN: usize = 10_000;

/// The open requests of each run, oldest first.
#[derive(Debug, Default)]
pub(super) struct OpenRequests {
    open: BTreeMap<String, VecDeque<OpenRequest>>,
    /// The calls that were answered, by run and id: a later answer may be for one of them.
    answered: BTreeMap<u64, OpenRequest>,
    answered_first: VecDeque<u64>,
    /// The calls of each run that are not finished, oldest first.
    unfinished: BTreeMap<String, VecDeque<RequestedCall>>,
    /// The first way that was recorded, and whether there was another.
    first_way: Option<String>,
    has_two_ways: bool,
}

#[derive(Debug)]
struct OpenRequest {
    /// The id as the source writes it: 1 and "1" differ.
    source_id: String,
    /// Which way it went, if that is recorded.
    way: Option<String>,
    /// None: another request than a call.
    call: Option<RequestedCall>,
}

/// A call that waits for its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestedCall {
    /// The written id.
    pub(super) id: String,
    pub(super) tool: String,
    /// A hash of its tool and its arguments.
    pub(super) asks: u64,
}

/// What an answer is for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answered {
    Call(RequestedCall),
    /// A request that is no call; `is_sure`: no call waits that the answer could be for as well.
    Other {
        is_sure: bool,
    },
    Nothing,
}

/// What a row with a request for a call is.
pub(super) enum Requested {
    /// A call, with the id to write.
    New(String),
    /// One that was not finished, once more.
    Again,
}

impl OpenRequests {
    /// A request for a call of `tool`, whose id is to be written as `wanted`: one that was not finished, or a new one.
    pub(super) fn request(&mut self, run: &str, read: &ReadRequest, wanted: &str, tool: &str) -> Requested {
        let ReadRequest { source_id, way, asks, goes_on } = read;
        if *goes_on && self.goes_on(run, source_id, *asks, way.as_deref()) {
            return Requested::Again;
        }
        Requested::New(self.call(run, source_id, (wanted, tool, *asks), way.as_deref()))
    }

    /// A call was made. Gives the id to write, which no open call has that is another one in the source.
    pub(super) fn call(
        &mut self,
        run: &str,
        source_id: &str,
        (id, tool, asks): (&str, &str, u64),
        way: Option<&str>,
    ) -> String {
        let open = self.open.get(run);
        let others = || open.into_iter().flatten().filter(|request| request.source_id != source_id);
        let is_taken = |id: &str| others().filter_map(|request| request.call.as_ref()).any(|call| call.id == id);
        let renamed = || (2u64..).map(|n| format!("{id}~{n}")).find(|id| !is_taken(id));
        let id = is_taken(id).then(renamed).flatten().unwrap_or_else(|| id.to_owned());
        self.add(run, source_id, way, Some(RequestedCall { id: id.clone(), tool: tool.to_owned(), asks }));
        id
    }

    /// A call is not finished: it may be made once more, under another id.
    pub(super) fn leave_unfinished(&mut self, run: &str, call: RequestedCall) {
        let waiting = self.unfinished.entry(run.to_owned()).or_default();
        if waiting.len() == MAX_OPEN {
            waiting.pop_front();
        }
        waiting.push_back(call);
    }

    /// A call that is not finished is made once more: the answer to this request is that call's. False: no call of the run that
    /// asks the same is unfinished.
    pub(super) fn goes_on(&mut self, run: &str, source_id: &str, asks: u64, way: Option<&str>) -> bool {
        let Some(waiting) = self.unfinished.get_mut(run) else { return false };
        let found = waiting.iter().position(|call| call.asks == asks);
        let Some(call) = found.and_then(|found| waiting.remove(found)) else { return false };
        self.add(run, source_id, way, Some(call));
        true
    }

    /// Another request was made, whose answer is no result.
    pub(super) fn other(&mut self, run: &str, source_id: &str, way: Option<&str>) {
        self.add(run, source_id, way, None);
    }

    fn add(&mut self, run: &str, source_id: &str, way: Option<&str>, call: Option<RequestedCall>) {
        self.learn(way);
        self.answered.remove(&key(run, source_id));
        if !self.open.contains_key(run) {
            self.open.insert(run.to_owned(), VecDeque::new());
        }
        let Some(open) = self.open.get_mut(run) else { return };
        if open.len() == MAX_OPEN {
            open.pop_front();
        }
        open.push_back(OpenRequest { source_id: source_id.to_owned(), way: way.map(str::to_owned), call });
    }

    /// Closes the request that an answer is for. An answer goes the other way than its request. If no way is recorded, an
    /// answer is for the other request: whoever is asked during a call answers before the call ends.
    pub(super) fn answer(&mut self, run: &str, source_id: &str, way: Option<&str>) -> Answered {
        self.learn(way);
        let knows_ways = self.has_two_ways;
        let fits = |request: &OpenRequest| {
            let goes_alike = knows_ways && way.is_some() && request.way.as_deref() == way;
            request.source_id == source_id && !goes_alike
        };
        let open = self.open.get_mut(run);
        let find = |is_call| {
            let mut requests = open.iter().flat_map(|open| open.iter());
            requests.position(|request| request.call.is_some() == is_call && fits(request))
        };
        let (call, other) = (find(true), find(false));
        let closed = open.zip(other.or(call)).and_then(|(open, found)| open.remove(found));
        if self.open.get(run).is_some_and(VecDeque::is_empty) {
            self.open.remove(run);
        }
        match closed {
            None => {
                let answered = self.answered.get(&key(run, source_id)).filter(|request| fits(request));
                answered.and_then(|request| request.call.clone()).map_or(Answered::Nothing, Answered::Call)
            }
            Some(OpenRequest { call: None, .. }) => Answered::Other { is_sure: call.is_none() },
            Some(request @ OpenRequest { call: Some(_), .. }) => self.answer_call(key(run, source_id), request),
        }
    }

    /// Remembers a call that was answered, and gives it.
    fn answer_call(&mut self, key: u64, request: OpenRequest) -> Answered {
        let call = request.call.clone();
        self.answered.insert(key, request);
        self.answered_first.push_back(key);
        if self.answered_first.len() > MAX_OPEN
            && let Some(first) = self.answered_first.pop_front()
        {
            self.answered.remove(&first);
        }
        call.map_or(Answered::Nothing, Answered::Call)
    }

    /// Notes a way. A log whose messages all go one way tells none.
    fn learn(&mut self, way: Option<&str>) {
        match (way, &self.first_way) {
            (Some(way), Some(first)) => self.has_two_ways |= way != first,
            (Some(way), None) => self.first_way = Some(way.to_owned()),
            (None, _) => {}
        }
    }
}

fn key(run: &str, source_id: &str) -> u64 {
    hash::half(hash::bytes(source_id.as_bytes(), hash::seed(run.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> Answered {
        Answered::Call(RequestedCall { id: id.into(), tool: "t".into(), asks: 0 })
    }

    #[test]
    fn an_answer_goes_the_other_way_than_its_request() {
        let mut requests = OpenRequests::default();
        requests.call("r", "1", ("1", "t", 0), Some("out"));
        requests.other("r", "1", Some("in"));
        assert_eq!(requests.answer("r", "1", Some("in")), call("1"));
        assert_eq!(requests.answer("r", "1", Some("out")), Answered::Other { is_sure: true });
        assert_eq!(requests.answer("r", "1", Some("out")), Answered::Nothing);
        assert_eq!(requests.answer("r", "1", Some("in")), call("1"), "again");
        requests.other("r", "1", Some("out"));
        assert_eq!(requests.answer("r", "1", Some("in")), Answered::Other { is_sure: true });
    }

    #[test]
    fn without_a_way_the_next_answer_is_for_the_other_request_and_that_is_not_sure() {
        let mut requests = OpenRequests::default();
        requests.call("r", "1", ("1", "t", 0), None);
        requests.other("r", "1", None);
        assert_eq!(requests.answer("r", "1", None), Answered::Other { is_sure: false });
        assert_eq!(requests.answer("r", "1", None), call("1"));
        requests.other("r", "2", None);
        assert_eq!(requests.answer("r", "2", None), Answered::Other { is_sure: true });
    }

    #[test]
    fn messages_that_all_go_one_way_tell_none() {
        let mut requests = OpenRequests::default();
        requests.call("r", "1", ("1", "t", 0), Some("stdio"));
        assert_eq!(requests.answer("r", "1", Some("stdio")), call("1"));
    }

    #[test]
    fn a_number_and_a_text_are_two_ids() {
        let mut requests = OpenRequests::default();
        assert_eq!(requests.call("r", "1", ("1", "t", 0), None), "1");
        assert_eq!(requests.call("r", "\"1\"", ("1", "t", 0), None), "1~2");
        assert_eq!(requests.answer("r", "\"1\"", None), call("1~2"));
        assert_eq!(requests.answer("r", "1", None), call("1"));
        assert_eq!(requests.call("r", "\"1\"", ("1", "t", 0), None), "1", "nothing else waits");
    }

    #[test]
    fn what_goes_on_is_the_call_of_the_run_that_asks_the_same() {
        let mut requests = OpenRequests::default();
        for (id, asks) in [("1", 7), ("2", 8)] {
            requests.call("r", id, (id, "t", asks), None);
            assert!(matches!(requests.answer("r", id, None), Answered::Call(_)));
            requests.leave_unfinished("r", RequestedCall { id: id.into(), tool: "t".into(), asks });
        }
        assert!(!requests.goes_on("other", "3", 8, None) && !requests.goes_on("r", "3", 9, None));
        assert!(requests.goes_on("r", "3", 8, None));
        let second = RequestedCall { id: "2".into(), tool: "t".into(), asks: 8 };
        assert_eq!(requests.answer("r", "3", None), Answered::Call(second));
        assert!(!requests.goes_on("r", "4", 8, None), "it waits no longer");
    }
}
