//! What is known of the requests of a dispatcher: its calls, and those that are forgotten as far as they speak against
//! making one like them once more. Bounded: beyond the last calls, any write may be one more of a request.

use std::collections::{BTreeMap, VecDeque};

use super::open_calls::OpenCall;
use crate::dispatch::StepOf;
use crate::evidence::{Against, CallWatch, Moment, RequestBooks};
use crate::ids::{ArgsId, CallId, Interner, KeyId, RunId, ToolId};
use crate::plan::{DrivenCall, Plan};
use crate::playbook::Access;

/// The most forgotten calls that are remembered.
const MOST: usize = 16_384;

/// Calls that are forgotten, in their order.
#[derive(Debug, Default)]
pub(super) struct PastCalls {
    calls: VecDeque<OpenCall>,
    /// Whether one of them is not remembered any more.
    is_incomplete: bool,
}

impl PastCalls {
    /// Remembers an action with its steps, or a call alone, if it matters to later ones.
    pub(super) fn add(&mut self, calls: Vec<OpenCall>) {
        let matters = |call: &OpenCall| call.watch.matters() || call.new.key.is_some();
        let is_of_run = |past: &OpenCall| calls.first().is_some_and(|call| call.new.run == past.new.run);
        // A success ends a refusal before it.
        let refused = || self.calls.iter().any(|past| past.watch.is_refused() && is_of_run(past));
        if calls.iter().any(matters) || refused() {
            self.calls.extend(calls.into_iter().map(OpenCall::past));
        }
        while self.calls.len() > MOST {
            self.calls.pop_front();
            self.is_incomplete = true;
        }
    }

    /// Whether none is remembered.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// A run makes no more calls.
    pub(super) fn end_run(&mut self, run: &str) {
        self.calls.retain(|call| call.new.run != run || call.facts.across_runs);
        self.is_incomplete &= !self.calls.is_empty();
    }

    /// Why making a call once more, or its steps, could do harm, as far as was known when it ended; `open`: the calls that are
    /// not forgotten.
    pub(super) fn against<'a>(
        &'a self,
        plan: &Plan,
        own: &'a OpenCall,
        open: impl Iterator<Item = &'a OpenCall>,
    ) -> Option<Against> {
        // What is the same request in all runs, any action may make.
        let in_all = own.facts.across_runs || plan.makes_across_runs(&own.new.tool);
        // Without steps only calls of the same request, or with the same key, say anything of it.
        let may_concern = |call: &OpenCall| plan.has_steps || (call.args == own.args && call.new.tool == own.new.tool);
        let concerns = |call: &&OpenCall| {
            let has_key = call.new.key.is_some() && (&call.new.key, &call.new.tool) == (&own.new.key, &own.new.tool);
            has_key || may_concern(call) && (call.new.run == own.new.run || call.facts.across_runs || in_all)
        };
        let mut known: Vec<&OpenCall> = self.calls.iter().chain(open).filter(concerns).collect();
        known.sort_by_key(|call| (call.of, call.number)); // the steps of an action follow it
        let place = known.iter().position(|call| call.number == own.number)?;
        let mut names = Names::default();
        let action = |n: usize, call: &OpenCall| {
            let before = &known[..n]; // `n` is a place
            call.step.and_then(|_| before.iter().rposition(|of| of.number == call.of))
        };
        let calls = known.iter().enumerate().map(|(n, call)| names.call(call, action(n, call)));
        let calls: Vec<DrivenCall<'_>> = calls.collect();
        let seen: Vec<CallWatch> = known.iter().map(|call| call.watch.clone()).collect();
        let now = own.watch.shows.over.unwrap_or(Moment::END);
        let books = RequestBooks::of(plan, &calls, seen, |_| ());
        let writes = own.facts.access == Access::Write || calls[place].has_steps(plan);
        let unknown = (self.is_incomplete && writes).then_some(Against::MayBeDone);
        books.against(plan, &calls, CallId::at(place), now).or(unknown)
    }
}

/// The names of some calls as numbers.
#[derive(Default)]
struct Names {
    runs: Interner,
    tools: Interner,
    keys: Interner,
    args: BTreeMap<u128, usize>,
}

impl Names {
    fn call<'a>(&mut self, call: &'a OpenCall, action: Option<usize>) -> DrivenCall<'a> {
        let next = self.args.len();
        let args = *self.args.entry(call.args).or_insert(next);
        DrivenCall {
            run: RunId(self.runs.intern(&call.new.run)),
            tool: ToolId(self.tools.intern(&call.new.tool)),
            key: call.new.key.as_deref().map(|key| KeyId(self.keys.intern(key))),
            args: ArgsId(u32::try_from(args).unwrap_or(u32::MAX)),
            step: call.step.map(|of| StepOf { action: action.map(CallId::at), ..of }),
            ..call.driven()
        }
    }
}
