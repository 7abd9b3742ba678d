//! Simulates one recorded call or one fixture to its end: all calls are known from the start, and none is removed.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::call::RecordedCall;
use crate::classify::Memo;
use crate::drive::Calls;
use crate::event::{Act, Became, Decision, ErrorFacts, Intent, LedgerEntry, LedgerKind, Provenance, TokensLeft};
use crate::ids::{CallId, ErrorId, StepId};
use crate::playbook::ToolFacts;
use crate::time::Instant;
use crate::upstream::{Answer, KeyDialect, Ledger, MissingAnswerPolicy, Request, Upstream};

use super::event_loop::{CallSource, EventLoop, LoopStep, LoopStop, StepSource};
use super::findings;
use super::record::{BudgetLeft, CallTally, Errors, SimulationRecord};
use super::scenario::Scenario;
use super::{step_acts, told};
use crate::plan::{DrivenCall, Plan, steps_of};

/// Simulates scenarios one after the other, and keeps its allocations between them.
#[derive(Debug, Default)]
pub struct Simulator {
    event_loop: EventLoop,
    upstream: Upstream,
    memo: Memo,
    record: SimulationRecord,
    errors: Errors,
    begun: BTreeSet<CallId>,
}

/// The calls of a scenario, which start in their order, and their errors.
struct ScenarioCalls<'a, 'c> {
    calls: &'a [DrivenCall<'c>],
    errors: &'a mut Errors,
    /// The steps that had their turn.
    begun: &'a mut BTreeSet<CallId>,
}

impl ScenarioCalls<'_, '_> {
    /// The steps of an action that the scenario has, with their ids: they follow it.
    fn steps(&self, action: CallId) -> impl Iterator<Item = (StepId, CallId)> {
        steps_of(self.calls, action)
    }
}

impl Calls for ScenarioCalls<'_, '_> {
    #[inline]
    fn call(&self, id: CallId) -> DrivenCall<'_> {
        self.calls[id.index()] // every id is a place in `calls`
    }

    fn intern_error(&mut self, _: CallId, error: Arc<ErrorFacts>) -> ErrorId {
        self.errors.intern(error)
    }
}

impl CallSource for ScenarioCalls<'_, '_> {
    fn start(&mut self, _: CallId) {} // no call is removed, so ids are places

    fn step(&mut self, _: &Plan, now: Instant, action: CallId, step: StepId) -> StepSource {
        let found = self.steps(action).find(|(of, _)| *of == step);
        let Some((_, id)) = found else { return StepSource::Missing };
        self.begun.insert(id);
        StepSource::Starts(now, Some(id))
    }

    fn end_steps(&mut self, now: Instant, action: CallId) -> Vec<(Instant, Option<CallId>)> {
        let had_no_turn = self.steps(action).filter(|(_, id)| !self.begun.contains(id));
        had_no_turn.map(|(_, id)| (now, Some(id))).collect()
    }

    fn steps_again(&mut self, action: CallId) -> Vec<CallId> {
        let steps: Vec<CallId> = self.steps(action).map(|(_, id)| id).collect();
        self.begun.retain(|begun| !steps.contains(begun));
        steps
    }
}

impl Simulator {
    /// A new simulator.
    pub fn new() -> Simulator {
        Simulator::default()
    }

    /// Simulates one recorded call. `facts` are those of its tool.
    pub fn replay(
        &mut self,
        plan: &Plan,
        call: &RecordedCall,
        facts: ToolFacts,
        beyond: &MissingAnswerPolicy,
    ) -> &SimulationRecord {
        self.replay_after(plan, call, facts, beyond, false)
    }

    /// Simulates one recorded call; `token_spent`: another call of the run has sent its reversal token before.
    pub fn replay_after(
        &mut self,
        plan: &Plan,
        call: &RecordedCall,
        facts: ToolFacts,
        beyond: &MissingAnswerPolicy,
        token_spent: bool,
    ) -> &SimulationRecord {
        let calls = [DrivenCall::recorded(call, facts, beyond).under(plan)];
        self.clear(&calls, KeyDialect::None);
        self.event_loop.add_start(calls[0].at, Some(CallId(0)));
        if let Some(at) = call.cancelled_at() {
            self.event_loop.add_cancel(at.max(calls[0].at), CallId(0));
        }
        if let Some(token) = calls[0].token.filter(|_| token_spent) {
            self.event_loop.machine.note_redeemed(token);
        }
        self.run(plan, &calls, |_, _| ());
        self.record.compare_with_tape(call);
        &self.record
    }

    /// When each action with steps was made in the latest simulation, and how many events there were before, in their order.
    pub(super) fn actions(&self) -> &[(CallId, Instant, usize)] {
        &self.event_loop.actions
    }

    /// The record of the latest simulation.
    pub fn record(&self) -> &SimulationRecord {
        &self.record
    }

    /// Swaps the record of the latest simulation with another one, whose allocations are reused.
    pub fn swap_record(&mut self, other: &mut SimulationRecord) {
        std::mem::swap(&mut self.record, other);
    }

    /// Sets the record's redacted errors: `shown` gives one for each error, or none if nothing is redacted.
    pub fn show(&mut self, shown: impl FnOnce(&[Arc<ErrorFacts>]) -> Vec<Arc<ErrorFacts>>) {
        let shown = shown(&self.record.errors);
        self.record.show(shown);
    }

    /// Simulates a fixture's scenario.
    pub fn run_fixture(&mut self, plan: &Plan, scenario: &Scenario<'_>) -> &SimulationRecord {
        self.record = self.run_fixture_observed(plan, scenario, |_, _| ());
        &self.record
    }

    /// How many inputs the latest simulation had: between them are the moments at which its dispatcher can die.
    pub const fn inputs(&self) -> u32 {
        self.event_loop.journal.taken
    }

    /// Simulates a fixture's scenario, and shows each request with its answer.
    pub(super) fn run_fixture_observed(
        &mut self,
        plan: &Plan,
        scenario: &Scenario<'_>,
        mut observe: impl FnMut(&Request, &Option<Answer>),
    ) -> SimulationRecord {
        self.begin(scenario);
        for &effect in &scenario.before {
            self.upstream.add_existing(effect);
        }
        self.run(plan, &scenario.calls, &mut observe);
        self.note_shared(plan, scenario);
        std::mem::take(&mut self.record)
    }

    /// Begins a scenario that the caller drives step by step and answers.
    pub fn begin(&mut self, scenario: &Scenario<'_>) {
        self.clear(&scenario.calls, scenario.keys);
        self.add_starts(scenario);
    }

    /// Runs until an answer is needed; none: no event is left.
    pub fn next(&mut self, plan: &Plan, scenario: &Scenario<'_>) -> Option<Request> {
        self.next_of(plan, &scenario.calls)
    }

    /// Takes the answer to a request of `next`; none: the answer is missing.
    pub fn answer(&mut self, request: &Request, answer: Option<Answer>) {
        self.event_loop.answer(request, answer);
    }

    /// Ends a scenario without remaining events; `ledger` is the ledger of the caller's upstream.
    pub fn finish(&mut self, plan: &Plan, scenario: &Scenario<'_>, ledger: Ledger) -> &SimulationRecord {
        self.record.ledger = ledger;
        self.close(plan, &scenario.calls);
        self.note_shared(plan, scenario);
        &self.record
    }

    /// Notes what the calls of a scenario shared.
    fn note_shared(&mut self, plan: &Plan, scenario: &Scenario<'_>) {
        let Simulator { record, event_loop, .. } = self;
        record.servers = scenario.server_names();
        let end = record.events.last().map_or(Instant::ZERO, |event| event.at);
        record.budgets.clear();
        record.budgets.extend(event_loop.machine.balances().filter_map(|((budget, server), balance)| {
            let kind = plan.playbook.retry_budget(budget).kind;
            let left = TokensLeft::from_thousandths(balance.left(&kind, end).thousandths());
            kind.has_tokens().then_some(BudgetLeft { budget, server, left })
        }));
    }

    /// Simulates calls from a cleared state.
    fn run(&mut self, plan: &Plan, calls: &[DrivenCall<'_>], mut observe: impl FnMut(&Request, &Option<Answer>)) {
        while let Some(request) = self.next_of(plan, calls) {
            let call = &calls[request.call.index()]; // as in `ScenarioCalls::call`
            if std::mem::take(&mut self.event_loop.journal.has_forgotten) {
                self.upstream.note_forgotten();
            }
            let answer = self.upstream.handle_request(&request, call.source);
            observe(&request, &answer);
            if answer.is_some() || !call.is_cancelled_after(request.at) {
                self.event_loop.answer(&request, answer);
            }
            if let Some(late) = call.late_answer(request.asked) {
                self.event_loop.answer_late(&request, late);
            }
        }
        self.upstream.swap_ledger(&mut self.record.ledger);
        self.close(plan, calls);
    }

    /// Books what became of writes of state, by their names.
    fn book_state(&mut self, calls: &[DrivenCall<'_>]) {
        for event in &self.event_loop.buffer.events {
            let Some(state) = calls.get(event.call.index()).filter(|call| call.act == Some(Act::State)) else {
                continue;
            };
            let Decision::Transaction { became, .. } = event.what else { continue };
            let kind = match became {
                Became::Staged => LedgerKind::Staged,
                Became::Committed => LedgerKind::Committed,
                Became::Discarded => LedgerKind::Discarded,
                Became::Begun | Became::BegunAgain | Became::RolledBack => continue,
            };
            self.record.ledger.add(LedgerEntry {
                at: event.at,
                intent: Intent::State(state.tool),
                kind,
                call: Some(event.call),
                attempt: None,
                provenance: Provenance::Modelled,
            });
        }
    }

    fn next_of(&mut self, plan: &Plan, calls: &[DrivenCall<'_>]) -> Option<Request> {
        let mut cast = ScenarioCalls { calls, errors: &mut self.errors, begun: &mut self.begun };
        let step = self.event_loop.next(plan, &mut self.memo, &mut cast, None, LoopStop::AtNone);
        let LoopStep::Asks(request) = step else { return None };
        self.record.tallies[request.call.index()].sends += 1; // one for each call
        Some(request)
    }

    fn clear(&mut self, calls: &[DrivenCall<'_>], keys: KeyDialect) {
        self.event_loop.clear();
        self.upstream.clear(keys);
        self.begun.clear();
        self.errors.restart(&mut self.record.errors);
        self.record.outcomes.clear();
        self.record.valid_next.clear();
        self.record.shown_errors.clear();
        self.record.tallies.clear();
        self.record.tallies.resize(calls.len(), CallTally::default());
    }

    /// Adds the starts of a fixture's calls, the moments at which callers go away, and the crash.
    fn add_starts(&mut self, scenario: &Scenario<'_>) {
        self.event_loop.journal.crash.clone_from(&scenario.crash);
        let mut later = scenario.later.iter().cloned().peekable();
        for (n, call) in scenario.calls.iter().enumerate().filter(|(_, call)| call.step.is_none()) {
            match later.next_if(|later| later.call == CallId::at(n)) {
                Some(later) => self.event_loop.add_later_start(later),
                None => self.event_loop.add_start(call.at, Some(CallId::at(n))),
            }
        }
        for &(at, call) in &scenario.cancelled {
            self.event_loop.add_cancel(at, call);
        }
    }

    fn close(&mut self, plan: &Plan, calls: &[DrivenCall<'_>]) {
        self.book_state(calls);
        let Simulator { event_loop, record, errors, .. } = self;
        std::mem::swap(&mut event_loop.buffer.events, &mut record.events);
        record.errors = errors.take();
        record.death = event_loop.journal.death;
        // The machine has all calls, and the queue is empty: each call has ended, so that outcome n belongs to call n.
        record.outcomes.extend((0..calls.len()).filter_map(|n| event_loop.machine.outcome(CallId::at(n))));
        if !event_loop.buffer.valid_next.is_empty() {
            record.valid_next.resize(calls.len(), None);
            for (call, valid) in event_loop.buffer.valid_next.drain(..) {
                record.valid_next[call.index()] = Some(valid); // each is a call of the scenario
            }
        }
        debug_assert_eq!(record.outcomes.len(), calls.len(), "a call has not ended");
        record.close();
        step_acts::of_scenario(plan, calls, record);
        let books = findings::derive(plan, calls, record);
        told::derive(plan, calls, record, None, &books);
    }
}
