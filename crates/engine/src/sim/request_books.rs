//! The books of the requests of a scenario: what its calls show by their events, and what their agent did by making them.

use std::collections::{BTreeMap, BTreeSet};

use crate::classify::{Signal, asked_wait, reads_as_unanswered};
use crate::dispatch::StepOf;
use crate::event::{Decision, Finding, FindingBy, FindingId, LedgerKind, Outcome, OutcomeKind, RequestKind, Status};
use crate::evidence::{
    Against, CallShows, Evidence, FailureMeaning, MOST_IDENTICAL_CALLS, Moment, OneMore, RequestBook, acts_again,
};
use crate::ids::{ArgsId, AttemptNo, CallId, KeyId, RunId, StepId, ToolId};
use crate::plan::{DrivenCall, Plan};
use crate::playbook::Access;
use crate::time::Instant;

use super::record::SimulationRecord;
use super::scenario::{Scenario, steps_of};

/// A request of a run.
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
    /// The calls that sent a reversal under it, and when.
    reversed: Vec<(CallId, Moment)>,
}

/// The calls in the order in which they were made; those that never were are last.
pub(super) fn made_order(calls: usize, record: &SimulationRecord) -> Vec<usize> {
    let first = |n: usize| record.first_event(CallId::at(n)).map_or(usize::MAX, |(place, _)| place);
    let mut order: Vec<usize> = (0..calls).collect();
    order.sort_by_key(|&n| first(n));
    order
}

impl RequestBooks {
    /// The books of the calls of a scenario that was simulated.
    pub fn of_record(plan: &Plan, scenario: &Scenario<'_>, record: &SimulationRecord) -> RequestBooks {
        let net = record.ledger.net_by_call();
        let effects = |call| net.get(&call).map_or(0, |net| net.effects);
        RequestBooks::of(plan, &scenario.calls, record, effects, &mut Vec::new())
    }

    /// The books of the calls of a scenario, and the findings of what their agent did over several calls.
    pub(super) fn of(
        plan: &Plan,
        calls: &[DrivenCall<'_>],
        record: &SimulationRecord,
        effects: impl Fn(CallId) -> u32,
        findings: &mut Vec<Finding>,
    ) -> RequestBooks {
        let mut books = RequestBooks { shows: seen_in(plan, calls, record), ..RequestBooks::default() };
        for n in made_order(calls.len(), record) {
            let (id, call) = (CallId::at(n), &calls[n]); // a place in `calls`
            if record.outcomes.get(n).is_some_and(|end| end.kind == OutcomeKind::Skipped) {
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
                    findings.push(Finding::new(FindingId::KeyReused, FindingBy::Recorded, id, 1));
                }
                known.reversed.extend(reversed(record, id).map(|at| (id, at)));
            }
            if call.has_steps(plan) {
                continue; // it is sent nowhere itself
            }
            let (made, book) = books.requests.entry(request).or_default();
            *made = made.saturating_add(1);
            if *made > MOST_IDENTICAL_CALLS {
                findings.push(facts.weigh(Finding::new(FindingId::RunawayLoop, FindingBy::Recorded, id, *made)));
            }
            let Some(seen) = books.shows.get_mut(n) else { continue };
            seen.effects = effects(id);
            if let Some(StepOf { action: Some(of), step }) = call.step
                && let Some(action) = calls.get(of.index())
            {
                let (_, book) =
                    books.steps.entry((request_of(action), step)).or_insert_with(|| (id, RequestBook::default()));
                book.note(seen);
            }
            if seen.made.at.is_none() {
                book.note(seen); // it was refused, or got the result of another call: nothing was sent
                continue;
            }
            book.take(id, seen, Evidence { facts, one_request: true }, |finding| findings.push(finding));
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
            is_made && self.shows.get(of.index()).and_then(|shows| shows.over).is_some_and(|over| over.is_after(now))
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
            !is_own && !is_same_request && action.has_steps(plan) && (action.run, action.args) == (call.run, call.args)
        });
        actions.any(|(of, action)| {
            let mut steps = plan.steps_of(action.tool_name).iter();
            is_out(of) && steps.any(|step| makes(&step.tool) && acts_again(step.facts(facts_of(&step.tool))))
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
                if used.args.first() != Some(&call.args) {
                    return Some(Against::KeyOfAnother);
                }
                if used.reversed.iter().any(|(by, reversed)| *by != id && !reversed.is_after(now)) {
                    return Some(Against::KeyReversed);
                }
            }
            let next = OneMore { own: &[*self.shows.get(id.index())?], key: key.map_or(0, mark), is_step: false, now };
            return self.book(call)?.against(next, call.facts);
        }
        let scripted: Vec<(StepId, CallId)> = steps_of(calls, id).collect();
        let own: Vec<CallShows> =
            scripted.iter().filter_map(|(_, step)| self.shows.get(step.index()).copied()).collect();
        let steps = plan.steps_of(call.tool_name).iter().zip((0..).map(StepId)).filter_map(|(step, place)| {
            let of_actions = self.steps.get(&(request_of(call), place));
            let is_alike = |of: &&DrivenCall<'_>| (of.tool_name, of.run, of.args) == (&*step.tool, call.run, call.args);
            let known = scripted.iter().find(|(of, _)| *of == place).map(|(_, of)| *of);
            let known = known.or(of_actions.map(|(of, _)| *of)).and_then(|of| calls.get(of.index()));
            let like = known.or_else(|| calls.iter().find(is_alike))?;
            let facts = step.facts(like.facts);
            let wanted = format!("{}/{}", call.written_key, step.name);
            let of_key = |of: &&DrivenCall<'_>| of.tool_name == &*step.tool && of.written_key == wanted;
            let key = match call.key.filter(|_| !facts.ignores_keys) {
                Some(_) => calls.iter().find(of_key).and_then(|of| of.key).map_or(u64::MAX, mark),
                None => 0,
            };
            let books = self.book(like).into_iter().chain(of_actions.map(|(_, book)| book));
            books.filter_map(|book| book.against(OneMore { own: &own, key, is_step: true, now }, facts)).min()
        });
        steps.min()
    }

    /// What every call of the scenario shows of a request.
    fn book(&self, call: &DrivenCall<'_>) -> Option<&RequestBook> {
        self.requests.get(&request_of(call)).map(|(_, book)| book)
    }
}

const fn request_of(call: &DrivenCall<'_>) -> Request {
    (call.run, call.tool, call.args)
}

/// When a call has sent its reversal token.
fn reversed(record: &SimulationRecord, id: CallId) -> Option<Moment> {
    let (place, event) = record.placed_events_of(id).find(|(_, event)| event.what.sent_reversal())?;
    Some(Moment { at: Some(event.at), place: place as u64 + 1 })
}

/// A mark of a key; 0 is none.
fn mark(key: KeyId) -> u64 {
    u64::from(key.0) + 1
}

/// How the calls of a fixture went; their effects are known elsewhere.
fn seen_in(plan: &Plan, calls: &[DrivenCall<'_>], record: &SimulationRecord) -> Vec<CallShows> {
    let keyed = |id: CallId| calls.get(id.index()).is_some_and(|call| call.key.is_some());
    let unseen = |call: &DrivenCall<'_>| CallShows { key: call.honoured_key().map_or(0, mark), ..CallShows::default() };
    let mut seen: Vec<CallShows> = calls.iter().map(unseen).collect();
    let mut last_error = vec![None; calls.len()];
    let mut last_attempt: BTreeMap<CallId, AttemptNo> = BTreeMap::new();
    let mut open: BTreeSet<(CallId, Option<AttemptNo>)> = BTreeSet::new(); // none: an answer left it open
    let changes = record.ledger.entries().iter().filter(|entry| entry.kind != LedgerKind::Unobserved);
    let changes: Vec<Instant> = changes.map(|entry| entry.at).collect(); // a ledger is in the order of time
    for (place, event) in (1_u64..).zip(&record.events) {
        let (Some(call), Some(error)) = (seen.get_mut(event.call.index()), last_error.get_mut(event.call.index()))
        else {
            continue;
        };
        let now = Moment { at: Some(event.at), place };
        call.since = call.since.or(Some(now));
        if let Decision::AttemptStarted { attempt, .. } = event.what {
            last_attempt.insert(event.call, attempt);
        }
        match event.what {
            Decision::AttemptStarted { attempt, .. } if attempt.get() > 1 => call.is_out = true,
            Decision::AttemptStarted { .. } => {
                call.is_out = true;
                call.made = now;
                let before = changes.partition_point(|&at| at < event.at).checked_sub(1);
                call.last_write = before.map(|last| Moment { at: Some(changes[last]), place: 0 });
            }
            Decision::AttemptFinished { status: Status::Failed(failed), .. } => {
                call.is_out = false;
                (call.failed, call.ended) = (true, Some(now));
                *error = failed.and_then(|id| record.error(id));
                let wait = error.and_then(|error| asked_wait(error, None));
                call.wait_until = wait.map(|wait| event.at.plus(wait));
            }
            Decision::AttemptFinished { status: Status::Ok, .. } => {
                call.is_out = false;
                (call.failed, call.denied, call.processed, call.ended) = (false, false, false, Some(now));
                (call.advice, call.wait_until) = (None, None);
            }
            Decision::AttemptFinished { status: Status::Suspected(_) | Status::Unfinished(_), .. } => {
                (call.failed, call.denied, call.processed, call.ended) = (false, false, false, Some(now));
                (call.advice, call.wait_until) = (None, None);
                (call.suspected, call.may_have_acted, call.is_out) = (true, true, false);
            }
            Decision::FailureClassified { verdict, .. } => {
                let failure = FailureMeaning::under(plan, verdict, *error, keyed(event.call));
                if failure.may_have_acted {
                    let silent = last_attempt.get(&event.call).filter(|_| error.is_some_and(reads_as_unanswered));
                    open.insert((event.call, silent.copied()));
                }
                *call = call.with(failure, calls[event.call.index()].facts.access == Access::Write); // as above
            }
            Decision::Outcome(Outcome { kind: OutcomeKind::Undetermined(RequestKind::Attempt(_)), .. }) => {
                (call.ended, call.failed, call.may_have_acted) = (None, false, true); // of a read the last means nothing
                call.over = Some(now);
            }
            Decision::Outcome(_) => call.over = Some(now),
            // A late failure changes no decision, but what it says counts for the calls after it.
            Decision::LateAnswer { attempt, status: Status::Failed(Some(late)) } => {
                let of = &calls[event.call.index()]; // as above
                let late = record.error(late);
                let signal = Signal::new(late, of.tool_name, of.facts, Some(of.key.is_some()), attempt);
                let failure =
                    FailureMeaning::under(plan, plan.classifier.classify(&signal).verdict, late, of.key.is_some());
                if !failure.may_have_acted {
                    open.remove(&(event.call, Some(attempt)));
                    let is_open = open.range((event.call, None)..).next().is_some_and(|(of, _)| *of == event.call);
                    call.settled = (!is_open && !call.suspected).then_some(now);
                }
                if call.is_out && call.over.is_some() {
                    // Its caller went away: nobody had heard of it before.
                    (call.failed, call.ended) = (true, Some(now));
                    *call = call.with(failure, of.facts.access == Access::Write);
                }
            }
            _ => {}
        }
    }
    seen
}
