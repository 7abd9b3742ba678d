//! The books of the requests of several calls: what each shows, and what the agent did by making them.

use std::collections::BTreeMap;

use crate::dispatch::StepOf;
use crate::event::{Act, Became, Finding, FindingBy, FindingId};
use crate::ids::{ArgsId, CallId, KeyId, RunId, StepId, ToolId, TransactionId};
use crate::plan::{DrivenCall, Plan, steps_of};
use crate::playbook::Access;

use super::book::{Against, CallShows, Evidence, MOST_IDENTICAL_CALLS, Moment, OneMore, RequestBook, acts_again};
use super::reruns::Reruns;
use super::watch::CallWatch;

/// A request: of a run, or of all.
type Request = (RunId, ToolId, ArgsId);

/// What is known of the calls of a scenario.
#[derive(Debug, Default)]
pub struct RequestBooks {
    /// By `CallId`.
    shows: Vec<CallShows>,
    /// By request: how often it was made, and what its calls show.
    requests: BTreeMap<Request, (u32, RequestBook)>,
    /// By the request of an action: a call of its step, and what the calls of that step show, whatever their own arguments.
    steps: BTreeMap<(Request, StepId), (CallId, RequestBook)>,
    keys: BTreeMap<(ToolId, KeyId), KeyUse>,
}

/// What is known of a key.
#[derive(Debug, Default)]
struct KeyUse {
    /// The arguments of its calls, in the order in which they were made.
    args: Vec<ArgsId>,
    /// Its calls, and when each was made.
    calls: Vec<(CallId, Moment)>,
    /// The calls that sent a reversal under it, and when.
    reversed: Vec<(CallId, Moment)>,
}

impl RequestBooks {
    /// The books of calls, by what is seen of each, and the findings of what their agent did over several of them.
    pub fn of(
        plan: &Plan,
        calls: &[DrivenCall<'_>],
        seen: Vec<CallWatch>,
        mut found: impl FnMut(Finding),
    ) -> RequestBooks {
        let mut books = RequestBooks::default();
        let mut reruns = Reruns::default();
        // By transaction: how often it was committed, and has begun since.
        let mut transactions: BTreeMap<TransactionId, (u32, u32)> = BTreeMap::new();
        let marked = seen.iter().zip(calls);
        let marked = marked.map(|(watch, call)| CallShows { key: call.honoured_key().map_or(0, mark), ..watch.shows });
        books.shows = marked.collect();
        for n in made_order(&books.shows) {
            let (id, Some(call), Some(watch), Some(shows)) =
                (CallId::at(n), calls.get(n), seen.get(n), books.shows.get(n))
            else {
                continue;
            };
            if let Some(act) = call.act {
                let (commits, begun) =
                    call.transaction.map(|of| *transactions.entry(of).or_default()).unwrap_or_default();
                let known = match (act, watch.became) {
                    (Act::Begin, _) => (commits, begun + 1),
                    (Act::Commit, Some(Became::Committed)) => (commits + 1, 0),
                    _ => (commits, begun),
                };
                transactions.extend(call.transaction.map(|of| (of, known)));
                continue; // it is no request
            }
            if watch.is_skipped {
                continue; // nothing was sent for it, and its key was not used
            }
            let (facts, request) = (call.facts, request_of(call));
            if let Some(key) = call.honoured_key().filter(|_| facts.access == Access::Write) {
                let known = books.keys.entry((call.tool, key)).or_default();
                let is_new = !known.args.contains(&call.args);
                if is_new {
                    known.args.push(call.args);
                }
                if is_new && known.args.len() > 1 {
                    found(Finding::new(FindingId::KeyReused, FindingBy::Recorded, id, 1));
                }
                known.calls.extend(shows.made.at.map(|_| (id, shows.made))); // one that was not sent uses no key
                known.reversed.extend(watch.reversed.map(|at| (id, at)));
            }
            if call.has_steps(plan) {
                continue; // it is sent nowhere itself
            }
            let (made, book) = books.requests.entry(request).or_default();
            *made = made.saturating_add(1);
            if *made > MOST_IDENTICAL_CALLS {
                found(facts.weigh(Finding::new(FindingId::RunawayLoop, FindingBy::Recorded, id, *made)));
            }
            if let Some(StepOf { action: Some(of), step }) = call.step
                && let Some(action) = calls.get(of.index())
            {
                let (_, book) =
                    books.steps.entry((request_of(action), step)).or_insert_with(|| (id, RequestBook::default()));
                book.note(shows);
            }
            if shows.made.at.is_none() {
                book.note(shows); // it was refused, or got the result of another call: nothing was sent
                continue;
            }
            if let Some(of) = call.transaction.filter(|_| acts_again(facts)) {
                let (commits, begun) = transactions.get(&of).copied().unwrap_or_default();
                let acted = shows.effects > 0 || shows.may_have_acted;
                if reruns.take((of, commits, call.tool, call.key, call.args), begun, shows.effects > 0, acted) {
                    let again = Finding::new(FindingId::Reexecuted, FindingBy::Recorded, id, 1);
                    found(if facts.declared { again } else { again.in_doubt() });
                }
            }
            book.take(id, shows, Evidence { facts, one_request: true }, &mut found);
        }
        books
    }

    /// Why making a call once more, or the steps of an action, could do harm, as far as is known at a moment.
    pub fn against(&self, plan: &Plan, calls: &[DrivenCall<'_>], id: CallId, now: Moment) -> Option<Against> {
        let call = calls.get(id.index())?;
        let known = self.known_against(plan, calls, (id, call), now);
        let is_under_way = || plan.has_steps && self.is_under_way(plan, calls, (id, call), now);
        known.or_else(|| is_under_way().then_some(Against::MayBeDone))
    }

    /// Whether an action is still out, at a moment, that may yet make a write that this call, or a step of it, would make.
    fn is_under_way(
        &self,
        plan: &Plan,
        calls: &[DrivenCall<'_>],
        (id, call): (CallId, &DrivenCall<'_>),
        now: Moment,
    ) -> bool {
        let since = |of: CallId| self.shows.get(of.index()).and_then(|shows| shows.since);
        let is_out = |of: CallId| {
            let began = since(of).into_iter().chain(steps_of(calls, of).filter_map(|(_, step)| since(step)));
            let is_made = began.into_iter().any(|began| !began.is_after(now));
            is_made && self.shows.get(of.index()).and_then(|shows| shows.over).is_none_or(|over| over.is_after(now))
        };
        let facts_of =
            |tool: &str| calls.iter().find(|of| of.tool_name == tool).map_or_else(|| plan.facts(tool), |of| of.facts);
        let makes = |tool: &str| match plan.steps_of(call.tool_name) {
            steps if call.has_steps(plan) => steps.iter().any(|step| *step.tool == *tool),
            _ => call.tool_name == tool,
        };
        let actions = calls.iter().enumerate().map(|(n, action)| (CallId::at(n), action));
        let mut actions = actions.filter(|(of, action)| {
            let is_own = *of == id || call.step.is_some_and(|step| step.action == Some(*of));
            let is_same_request = call.key.is_some() && (call.key, call.tool) == (action.key, action.tool);
            !is_own && !is_same_request && action.has_steps(plan) && action.args == call.args
        });
        actions.any(|(of, action)| {
            let mut steps = plan.steps_of(action.tool_name).iter();
            is_out(of)
                && steps.any(|step| {
                    let facts = facts_of(&step.tool);
                    let is_one_request = facts.across_runs || action.run == call.run;
                    is_one_request && makes(&step.tool) && acts_again(step.facts(facts))
                })
        })
    }

    fn known_against(
        &self,
        plan: &Plan,
        calls: &[DrivenCall<'_>],
        (id, call): (CallId, &DrivenCall<'_>),
        now: Moment,
    ) -> Option<Against> {
        if !call.has_steps(plan) {
            let key = call.honoured_key();
            if let Some(used) = key.and_then(|key| self.keys.get(&(call.tool, key))) {
                let has_other =
                    |calls: &[(CallId, Moment)]| calls.iter().any(|(by, at)| *by != id && !at.is_after(now));
                // Each call that is repeatable is a request of its own, to which no key belongs that was used before.
                if used.args.first() != Some(&call.args) || call.facts.repeatable && has_other(&used.calls) {
                    return Some(Against::KeyOfAnother);
                }
                if has_other(&used.reversed) {
                    return Some(Against::KeyReversed);
                }
            }
            let next = OneMore { own: &[*self.shows.get(id.index())?], key: key.map_or(0, mark), is_step: false, now };
            return self.book(call)?.against(next, call.facts);
        }
        let steps = plan.steps_of(call.tool_name).iter().zip((0..).map(StepId)).filter_map(|(step, place)| {
            let of_actions = self.steps.get(&(request_of(call), place));
            let is_alike = |of: &&DrivenCall<'_>| of.tool_name == &*step.tool && is_beside(of, call);
            let own = steps_of(calls, id).find(|(of, _)| *of == place).map(|(_, of)| of);
            let known = own.or(of_actions.map(|(of, _)| *of)).and_then(|of| calls.get(of.index()));
            let like = known.or_else(|| calls.iter().find(is_alike))?;
            let wanted = call.key.map(|_| format!("{}/{}", call.written_key, step.name));
            let has_key = |of: &&DrivenCall<'_>| of.tool == like.tool && Some(of.written_key) == wanted.as_deref();
            let key = calls.iter().find(has_key).and_then(|of| of.key).map_or(0, mark);
            let next = OneMore { own: &[], key, is_step: true, now };
            let books = self.book(like).into_iter().chain(of_actions.map(|(_, book)| book));
            books.filter_map(|book| book.against(next, step.facts(like.facts))).min()
        });
        steps.min()
    }

    /// What every call of the scenario shows of a request.
    fn book(&self, call: &DrivenCall<'_>) -> Option<&RequestBook> {
        self.requests.get(&request_of(call)).map(|(_, book)| book)
    }
}

const fn request_of(call: &DrivenCall<'_>) -> Request {
    (call.run_of_request(), call.tool, call.args)
}

/// Whether a call has the arguments of an action, in its run or in any where that does not matter.
fn is_beside(one: &DrivenCall<'_>, action: &DrivenCall<'_>) -> bool {
    (one.facts.across_runs || one.run == action.run) && one.args == action.args
}

/// The calls in the order in which they were made; those that never were are last.
fn made_order(shows: &[CallShows]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..shows.len()).collect();
    order.sort_by_key(|&n| shows[n].since.map_or(u64::MAX, |since| since.place)); // each is a place in `shows`
    order
}

/// A mark of a key; 0 is none.
fn mark(key: KeyId) -> u64 {
    u64::from(key.0) + 1
}
