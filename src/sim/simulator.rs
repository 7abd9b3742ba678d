//! Drives the dispatcher against the upstream until nothing is left to happen. The only loop there is.

use std::sync::Arc;

use crate::classify::{Classification, Failed, Memo, reads_as_refusal};
use crate::clock::EventQueue;
use crate::dispatch::{Failure, Input, Machine, Outputs, Reaction, Seen, Want};
use crate::event::{Asked, Decision, DecisionEvent, EffectClaim, ErrorFacts, OutcomeKind, Provenance};
use crate::ids::{ArgsId, AttemptNo, CallId, ErrorId, KeyId, ToolId};
use crate::playbook::model::ToolFacts;
use crate::time::{Duration, Instant};
use crate::trace::assemble::ClosedCall;
use crate::trace::model::{RecordedCall, Reply};
use crate::upstream::{Answer, BeyondTape, KeyDialect, Request, Says, Source, World};

use super::findings;
use super::plan::Plan;
use super::record::{OffTape, Record, Tally};
use super::scenario::{Scenario, ScenarioCall};

/// What will happen at some later moment.
#[derive(Clone, Debug)]
enum Pending {
    Call(CallId),
    Wake(CallId),
    Arrives { call: CallId, asked: Asked, answer: Answer, over_timeout: bool },
    TimesOut { call: CallId, asked: Asked, timeout: Duration, provenance: Provenance },
    ArrivesLate { call: CallId, attempt: AttemptNo, says: Says },
}

/// Runs scenarios one after the other and keeps its allocations between them.
#[derive(Debug, Default)]
pub struct Simulator {
    machine: Machine,
    world: World,
    queue: EventQueue<Pending>,
    outputs: Outputs,
    memo: Memo,
    record: Record,
}

impl Simulator {
    /// A simulator that has run nothing.
    pub fn new() -> Simulator {
        Simulator::default()
    }

    /// Runs one recorded call. `facts` are those of its tool, `declared` or assumed.
    pub fn replay(&mut self, plan: &Plan, call: &RecordedCall, facts: ToolFacts, beyond: &BeyondTape) -> &Record {
        self.replay_after(plan, call, facts, beyond, false)
    }

    /// The same; `token_spent` says that an earlier call of the run has sent the call's reversal token already.
    pub fn replay_after(
        &mut self,
        plan: &Plan,
        call: &RecordedCall,
        facts: ToolFacts,
        beyond: &BeyondTape,
        token_spent: bool,
    ) -> &Record {
        let calls = [ScenarioCall::recorded(call, facts, beyond)];
        self.clear(KeyDialect::None, calls.len());
        if let Some(token) = calls[0].token.filter(|_| token_spent) {
            self.machine.note_redeemed(token);
        }
        self.run(plan, &calls, &[]);
        self.compare_with_tape(call);
        &self.record
    }

    /// Gives the latest simulation, which was one of `call`, the errors that are shown.
    pub fn show(&mut self, call: &ClosedCall) {
        self.record.shown_errors = call.shown_errors(&self.record.errors);
    }

    /// What the latest simulation left behind.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Runs a fixture's scenario.
    pub fn rehearse(&mut self, plan: &Plan, scenario: &Scenario<'_>) -> &Record {
        self.clear(scenario.keys, scenario.calls.len());
        self.run(plan, &scenario.calls, &scenario.before);
        &self.record
    }

    /// Runs calls from a cleared state.
    fn run(&mut self, plan: &Plan, calls: &[ScenarioCall<'_>], before: &[(ToolId, Option<KeyId>, ArgsId)]) {
        for &(tool, key, args) in before {
            self.world.add_existing(tool, key, args);
        }
        for (n, call) in calls.iter().enumerate() {
            self.queue.push(call.at, Pending::Call(call_id(n)));
        }
        while let Some((now, pending)) = self.queue.pop() {
            Turn { sim: self, plan, calls, now }.take(pending);
        }
        self.close(calls.len());
        findings::derive(plan, calls, &mut self.record);
    }

    fn clear(&mut self, keys: KeyDialect, calls: usize) {
        self.machine.clear();
        self.world.clear(keys);
        self.queue.clear();
        self.outputs.events.clear();
        self.record.outcomes.clear();
        self.record.errors.clear();
        self.record.shown_errors.clear();
        self.record.tallies.clear();
        self.record.tallies.resize(calls, Tally::default());
    }

    fn close(&mut self, calls: usize) {
        let Simulator { machine, outputs, record, .. } = self;
        std::mem::swap(&mut outputs.events, &mut record.events);
        for event in &record.events {
            if let (Decision::RetryScheduled { delay, .. }, Some(tally)) =
                (event.what, record.tallies.get_mut(event.call.index()))
            {
                tally.added_delay = tally.added_delay.plus(delay);
            }
        }
        // Every call was told to the machine, and the queue is empty: each has ended, so that outcome n is call n's.
        record.outcomes.extend((0..calls).filter_map(|n| machine.outcome(call_id(n))));
        debug_assert_eq!(record.outcomes.len(), calls, "a call has not ended");
        self.world.swap_ledger(&mut record.ledger);
    }

    /// What the recording has that the run did not use, and where the run departed from it.
    fn compare_with_tape(&mut self, call: &RecordedCall) {
        let Record { outcomes, tallies, events, .. } = &mut self.record;
        let (Some(outcome), Some(tally)) = (outcomes.first(), tallies.first_mut()) else { return };
        let (mut recorded, mut last) = (0_u32, None);
        for attempt in call.attempts() {
            recorded += 1; // the assembler keeps 1,000 answers a call at most
            last = Some(attempt);
        }
        let Some((number, last)) = last else { return };
        let from_tape = |event: &&DecisionEvent| {
            use Provenance::{Inferred, Recorded};
            matches!(event.what, Decision::AttemptFinished { provenance: Recorded | Inferred, .. })
        };
        let used = u32::try_from(events.iter().filter(from_tape).count()).unwrap_or(u32::MAX);
        let succeeded = matches!(outcome.kind, OutcomeKind::Succeeded | OutcomeKind::SucceededAfterCompensation);
        tally.tape_left = recorded.saturating_sub(used);
        tally.off_tape = if number.get() != outcome.attempts {
            Some(OffTape::Attempts { recorded: number.get(), now: outcome.attempts })
        } else if tally.tape_left > 0 {
            Some(OffTape::Answers { recorded, used })
        } else if succeeded != (last.reply == Reply::Ok) {
            Some(OffTape::FinalStatus)
        } else {
            None
        };
    }
}

/// What is taken from the queue at one moment, and everything that follows from it at once.
struct Turn<'a, 'c> {
    sim: &'a mut Simulator,
    plan: &'a Plan,
    calls: &'a [ScenarioCall<'c>],
    now: Instant,
}

impl<'a, 'c> Turn<'a, 'c> {
    fn take(&mut self, pending: Pending) {
        match pending {
            Pending::Call(call) => {
                let facts = self.call(call).dispatched();
                self.tell(Input::Call(call, facts));
            }
            Pending::Wake(call) => self.tell(Input::Woken(call)),
            Pending::Arrives { call, asked, answer, over_timeout } => {
                let reaction = self.reaction(call, asked, answer.says);
                let seen = Seen { latency: answer.latency, provenance: answer.provenance, over_timeout };
                self.tell(Input::Answered { call, asked, reaction, seen });
            }
            Pending::TimesOut { call, asked, timeout, provenance } => {
                let reaction = self.timed_out(call, asked, timeout);
                let seen = Seen { latency: Some(timeout), provenance, over_timeout: false };
                self.tell(Input::Answered { call, asked, reaction, seen });
            }
            Pending::ArrivesLate { call, attempt, says } => {
                let failed = match says {
                    Says::Failed(error) => Some(error.map(|error| self.sim.record.intern_error(error))),
                    Says::Ok | Says::Lost => None,
                };
                self.tell(Input::Late { call, attempt, failed });
            }
        }
    }

    /// Tells the machine, and does what it wants until it wants nothing more.
    fn tell(&mut self, input: Input) {
        let Simulator { machine, outputs, .. } = &mut *self.sim;
        machine.handle_input(&self.plan.playbook, self.now, input, outputs);
        let mut wants = std::mem::take(&mut outputs.wants);
        for want in wants.drain(..) {
            match want {
                Want::Wake { call, at } => self.sim.queue.push(at, Pending::Wake(call)),
                Want::Ask { call, asked, .. } => self.ask(call, asked),
            }
        }
        self.sim.outputs.wants = wants;
    }

    fn ask(&mut self, id: CallId, asked: Asked) {
        let call = self.call(id);
        self.sim.record.tallies[id.index()].sends += 1; // one a call
        let request =
            Request { call: id, asked, tool: call.tool, key: call.key, args: call.args, intent: call.intent(id) };
        let Some(answer) = self.sim.world.ask(self.now, &request, call.source) else {
            let answer = Answer { says: Says::Lost, latency: Some(Duration::ZERO), provenance: Provenance::Unanswered };
            return self.sim.queue.push(self.now, Pending::Arrives { call: id, asked, answer, over_timeout: false });
        };
        let late = answer.latency.is_some_and(|latency| latency > call.timeout);
        match call.source {
            Source::Tape(_) => {
                let at = self.now.plus(answer.latency.unwrap_or_default());
                self.sim.queue.push(at, Pending::Arrives { call: id, asked, answer, over_timeout: late });
            }
            Source::Script(_) if late || answer.says == Says::Lost => {
                self.time_out(&request, call.timeout, answer);
            }
            Source::Script(_) => {
                let at = self.now.plus(answer.latency.unwrap_or_default());
                self.sim.queue.push(at, Pending::Arrives { call: id, asked, answer, over_timeout: false });
            }
        }
    }

    /// A scripted answer that comes too late, or never, ends its request at the timeout.
    fn time_out(&mut self, request: &Request, timeout: Duration, answer: Answer) {
        let &Request { call, asked, .. } = request;
        if matches!(asked, Asked::Attempt(_)) {
            self.sim.world.lose_answer(request);
        }
        let provenance = answer.provenance;
        let due = self.now.plus(timeout);
        self.sim.queue.push(due, Pending::TimesOut { call, asked, timeout, provenance });
        if let (Asked::Attempt(attempt), Some(latency), true) = (asked, answer.latency, answer.says != Says::Lost) {
            let at = self.now.plus(latency);
            self.sim.queue.push(at, Pending::ArrivesLate { call, attempt, says: answer.says });
        }
    }

    fn reaction(&mut self, call: CallId, asked: Asked, says: Says) -> Reaction {
        match (says, asked) {
            (Says::Ok, _) => Reaction::Ok,
            (Says::Lost, _) => Reaction::Unanswered,
            (Says::Failed(error), Asked::Attempt(attempt)) => self.failed(call, attempt, error),
            (Says::Failed(error), Asked::Refresh(_)) => {
                Reaction::Refused(error.map(|error| self.sim.record.intern_error(error)))
            }
            (Says::Failed(error), Asked::Reversal) => self.failed_reversal(call, error),
        }
    }

    /// A reversal that failed did not happen if the upstream plainly refused it, or if the playbook says of such a
    /// failure that nothing was done. Reversals have no attempts: rules that ask for one read it as the first.
    fn failed_reversal(&mut self, id: CallId, error: Option<Arc<ErrorFacts>>) -> Reaction {
        let said = self.classify(id, AttemptNo::FIRST, error.as_ref());
        let said = self.plan.playbook.verdict(said.verdict).effect;
        let refused = said == EffectClaim::NotApplied || error.as_deref().is_some_and(reads_as_refusal);
        let error = error.map(|error| self.sim.record.intern_error(error));
        match (refused, error) {
            (true, error) => Reaction::Refused(error),
            // Something came back, without an error object: that is one.
            (false, None) => Reaction::Unclear(Some(self.sim.record.intern_error(Arc::default()))),
            (false, error) => Reaction::Unclear(error),
        }
    }

    fn timed_out(&mut self, call: CallId, asked: Asked, timeout: Duration) -> Reaction {
        let Asked::Attempt(attempt) = asked else { return Reaction::Unclear(None) };
        let error = ErrorFacts {
            kind: Some("timeout".into()),
            message: Some(format!("no answer within {timeout} ms").into()),
            ..ErrorFacts::default()
        };
        self.failed(call, attempt, Some(Arc::new(error)))
    }

    fn failed(&mut self, id: CallId, attempt: AttemptNo, error: Option<Arc<ErrorFacts>>) -> Reaction {
        let said = self.classify(id, attempt, error.as_ref());
        let retry_after = error.as_ref().and_then(|error| error.retry_after);
        let error: Option<ErrorId> = error.map(|error| self.sim.record.intern_error(error));
        Reaction::Failed(Failure { verdict: said.verdict, rule: said.rule, error, retry_after })
    }

    fn classify(&mut self, id: CallId, attempt: AttemptNo, error: Option<&Arc<ErrorFacts>>) -> Classification {
        let call = self.call(id);
        let failed = Failed { error, tool: call.tool_name, facts: call.facts, keyed: call.key.is_some(), attempt };
        self.sim.memo.classify(&self.plan.classifier, &failed)
    }

    fn call(&self, id: CallId) -> &'a ScenarioCall<'c> {
        &self.calls[id.index()] // every id here was given out for a place in `calls`
    }
}

fn call_id(n: usize) -> CallId {
    CallId(u32::try_from(n).unwrap_or(u32::MAX))
}
