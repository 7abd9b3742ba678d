//! What only the whole of several parts of a corpus can know: a run that is in two of them, calls of two parts that may ask
//! for the same, and a dispatcher that handled calls of two. Such calls are not compared: it is only found out of which tools
//! and dispatchers they are. Memory: the name of each run and dispatcher, and 8 bytes and the name of a tool for each key and
//! each request of a tool for which runs do not matter.

use std::collections::{BTreeMap, BTreeSet};

use playproof_engine::playbook::ToolFacts;
use playproof_intake::{call_hashes, hash};

use super::call_result::CallResult;
use super::io::Observer;
use super::lanes::key_hash;

/// The most runs, dispatchers, and keys and requests that are kept of a part.
const MOST: usize = 1_000_000;

/// What two parts have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InTwoParts {
    /// The tools of calls of two parts that may ask for the same.
    pub tools: BTreeSet<Box<str>>,
    /// Dispatchers whose calls share something.
    pub dispatchers: BTreeSet<Box<str>>,
}

/// Observes what may link calls to those of other parts, if that is wanted, beside another observer.
#[derive(Clone, Copy, Debug)]
pub struct LinkObserver<'a, W> {
    /// The other one.
    pub other: &'a W,
    /// Whether it is wanted.
    pub is_wanted: bool,
}

impl<W: Observer> Observer for LinkObserver<'_, W> {
    type Part = (W::Part, PartLinks);

    fn part(&self) -> Self::Part {
        (self.other.part(), PartLinks::default())
    }

    fn on_call(&self, result: &CallResult<'_>, (part, links): &mut Self::Part) {
        if self.is_wanted {
            links.add(result);
        }
        self.other.on_call(result, part);
    }
}

/// What may link the calls of one part to those of others.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PartLinks {
    /// The names of its runs.
    runs: BTreeSet<Box<str>>,
    /// By hash: keys, and requests of tools for which runs do not matter; with their tools.
    shared: BTreeMap<u64, Box<str>>,
    /// The tools of calls that name no run, and of those that name one.
    without_run: BTreeSet<Box<str>>,
    with_run: BTreeSet<Box<str>>,
    /// The names of dispatchers whose calls share something.
    dispatchers: BTreeSet<Box<str>>,
    /// There were more than are kept.
    is_cut: bool,
}

impl PartLinks {
    /// Takes a call.
    pub fn add(&mut self, result: &CallResult<'_>) {
        let (call, shown) = (result.call.raw(), result.call);
        let tool = shown.tool();
        match shown.run() {
            None => self.keep([tool], |links| &mut links.without_run),
            Some(run) => {
                self.keep([tool], |links| &mut links.with_run);
                self.keep([run], |links| &mut links.runs);
            }
        }
        let shares = result.plans.iter().any(|plan| plan.shares_state);
        let dispatcher = shown.dispatcher().filter(|_| shares);
        self.keep(dispatcher, |links| &mut links.dispatchers);
        let across = result.facts().iter().any(|facts: &ToolFacts| facts.across_runs);
        let request = across.then_some(result.marks.request.request);
        let key = call.key().map(|key| hash::joined([call_hashes::tool_hash(call.tool()), key_hash(key)]));
        for hash in request.into_iter().chain(key) {
            self.keep_shared(hash::half(hash), tool.into());
        }
    }

    /// Takes in what is known of further calls of the same part.
    pub fn extend(&mut self, later: PartLinks) {
        self.keep(later.runs, |links| &mut links.runs);
        self.keep(later.without_run, |links| &mut links.without_run);
        self.keep(later.with_run, |links| &mut links.with_run);
        self.keep(later.dispatchers, |links| &mut links.dispatchers);
        for (hash, tool) in later.shared {
            self.keep_shared(hash, tool);
        }
    }

    fn keep<N: AsRef<str>>(
        &mut self,
        names: impl IntoIterator<Item = N>,
        of: impl Fn(&mut PartLinks) -> &mut BTreeSet<Box<str>>,
    ) {
        for name in names {
            let known = of(self);
            if !known.contains(name.as_ref()) {
                let has_room = known.len() < MOST && known.insert(name.as_ref().into());
                self.is_cut |= !has_room;
            }
        }
    }

    fn keep_shared(&mut self, hash: u64, tool: Box<str>) {
        match self.shared.len() < MOST || self.shared.contains_key(&hash) {
            true => drop(self.shared.insert(hash, tool)),
            false => self.is_cut = true,
        }
    }

    /// The names of its runs, in order.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().map(|run| &**run)
    }

    /// The first of them.
    pub fn first_run(&self) -> Option<&str> {
        self.runs().next()
    }

    /// Takes in what is known of another part; what is in both joins `linked`.
    pub fn merge(&mut self, other: PartLinks, linked: &mut InTwoParts) {
        let both = |one: &BTreeSet<Box<str>>, other: &BTreeSet<Box<str>>| -> Vec<Box<str>> {
            one.intersection(other).cloned().collect()
        };
        linked.tools.extend(both(&self.without_run, &other.without_run));
        linked.tools.extend(both(&self.without_run, &other.with_run));
        linked.tools.extend(both(&self.with_run, &other.without_run));
        linked.dispatchers.extend(both(&self.dispatchers, &other.dispatchers));
        for (hash, tool) in other.shared {
            if self.shared.insert(hash, tool.clone()).is_some() {
                linked.tools.insert(tool);
            }
        }
        self.runs.extend(other.runs);
        self.without_run.extend(other.without_run);
        self.with_run.extend(other.with_run);
        self.dispatchers.extend(other.dispatchers);
        self.is_cut |= other.is_cut;
    }

    /// Whether not all is known of what links them: so many runs, keys or tools are kept of a part.
    pub fn cut_at(&self) -> Option<usize> {
        self.is_cut.then_some(MOST)
    }
}
