//! A dispatcher with names: calls, answers, wakes and cancellations in; what is wanted out (a request to send, a moment to
//! wait for, a step that was made, an end). It has no clock, no queue and no I/O: time is an argument, and the same inputs
//! give the same outputs.
//!
//! ```text
//! let call = dispatcher.call(now, NewCall { .. })?;
//! for want in dispatcher.take_wants() {
//!     Want::Send { call, asked, within }  -> send it; then `answer` or, after `within`, `time_out`
//!     Want::Wait { call, until }          -> `wake` it then
//!     Want::Step { call, action }         -> nothing to do: its own wants follow
//!     Want::End { call }                  -> read `outcome`, `told`, `valid_next`, `events`; then `forget`
//! }
//! ```
//!
//! After each input, take the wants: they are in the order in which they came about. Times never go back: an earlier one
//! counts as the latest.

use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::input::{Driver, Event};
use super::names::{Mention, Names, SharedBy};
use super::open_calls::{NewCall, OpenCall, OpenCalls};
use super::past_calls::PastCalls;
use crate::call::Reply;
use crate::classify::Memo;
use crate::dispatch::{Machine, Output, OutputBuffer, StepOf};
use crate::event::{
    Decision, DecisionEvent, Draw, ErrorFacts, Outcome, OutcomeKind, Provenance, RequestKind, Told, ValidNext,
};
use crate::evidence::{AgainstOneMore, Moment, told_as_follower, told_by_events};
use crate::ids::{AttemptNo, CallId, ErrorId, EvidenceId, Interner, RunId, ServerId, StepId, TokenId};
use crate::plan::Plan;
use crate::playbook::{Access, ToolFacts};
use crate::time::{Duration, Instant};
use crate::upstream::{Answer, UpstreamReply};

/// What a dispatcher wants of its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// Send a request for a call, and wait so long for its answer.
    Send {
        /// The call.
        call: CallId,
        /// Attempt, refresh or reversal.
        asked: RequestKind,
        /// The snapshot of evidence that it carries.
        evidence: EvidenceId,
        /// How long to wait.
        within: Duration,
    },
    /// Wake a call then.
    Wait {
        /// The call.
        call: CallId,
        /// When.
        until: Instant,
    },
    /// A call was made for a step of an action.
    Step {
        /// It.
        call: CallId,
        /// The call of the action.
        action: CallId,
    },
    /// A call has ended.
    End {
        /// The call.
        call: CallId,
    },
}

/// Why an input changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFault {
    /// A call that is not forgotten has this name.
    NameTaken,
    /// No call has this id: it is forgotten, or was never made.
    UnknownCall,
    /// The request is not out.
    NotAsked,
    /// The attempt was never sent.
    NotSent,
    /// The call has not ended, or is a step of a call that is not forgotten.
    NotEnded,
    /// The call did not ask to be woken by now.
    TooEarly,
}

/// One dispatcher under one plan.
#[derive(Debug)]
pub struct Dispatcher {
    plan: Arc<Plan>,
    machine: Machine,
    memo: Memo,
    calls: OpenCalls,
    names: Names<()>,
    tokens: Interner,
    now: Instant,
    out: OutputBuffer,
    events: Vec<DecisionEvent>,
    wants: Vec<Want>,
    past: PastCalls,
    /// Whether a call has had to do with a transaction.
    has_transactions: bool,
    /// How many calls were made, and how many events there were.
    made: u64,
    noted: u64,
}

impl Dispatcher {
    /// A dispatcher without calls.
    pub fn new(plan: impl Into<Arc<Plan>>) -> Dispatcher {
        Dispatcher {
            plan: plan.into(),
            machine: Machine::default(),
            memo: Memo::default(),
            calls: OpenCalls::default(),
            names: Names::default(),
            tokens: Interner::default(),
            now: Instant::ZERO,
            out: OutputBuffer::default(),
            events: Vec::new(),
            wants: Vec::new(),
            past: PastCalls::default(),
            has_transactions: false,
            made: 0,
            noted: 0,
        }
    }

    /// One without calls and with the same plan.
    #[must_use]
    pub fn anew(&self) -> Dispatcher {
        Dispatcher::new(Arc::clone(&self.plan))
    }

    /// Its plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A call is made.
    ///
    /// # Errors
    /// Its name is taken.
    pub fn call(&mut self, now: Instant, new: NewCall) -> Result<CallId, InputFault> {
        if self.calls.find(&new.name).is_some() {
            return Err(InputFault::NameTaken);
        }
        self.now = self.now.max(now);
        let facts = if new.act.is_some() { ToolFacts::NOTHING_SENT } else { self.plan.facts(&new.tool) };
        let id = self.open(new, facts, None);
        self.input(id, Event::Made);
        Ok(id)
    }

    /// The program that had the state of transactions is gone: what was not committed is lost, and its transactions begin again
    /// before they commit. Gives the writes of state that are lost, as far as they are not forgotten; none: nothing was lost.
    pub fn lose_state(&mut self, now: Instant) -> Option<Vec<CallId>> {
        self.now = self.now.max(now);
        let lost = self.machine.lose_state(self.now, &mut self.out);
        self.settle();
        lost
    }

    /// The answer to a request comes; also that of a call whose caller went away.
    ///
    /// # Errors
    /// There is no such call, or its request is not out.
    pub fn answer(&mut self, now: Instant, call: CallId, asked: RequestKind, reply: &Reply) -> Result<(), InputFault> {
        let (sent, _) = self.take_asked(now, call, asked)?;
        let latency = Some(self.now.since(sent));
        let answer = Answer { reply: reply.into(), latency, provenance: Provenance::Recorded };
        self.input(call, Event::Answered { asked, answer, over_timeout: false });
        Ok(())
    }

    /// No answer to a request came in time. It may still come, as `late`.
    ///
    /// # Errors
    /// There is no such call, or its request is not out.
    pub fn time_out(&mut self, now: Instant, call: CallId, asked: RequestKind) -> Result<(), InputFault> {
        let (_, timeout) = self.take_asked(now, call, asked)?;
        self.input(call, Event::TimedOut { asked, timeout, provenance: Provenance::Recorded });
        Ok(())
    }

    /// Nothing will ever answer a request, and it is unknown what it did: the call is undetermined.
    ///
    /// # Errors
    /// There is no such call, or its request is not out.
    pub fn give_up(&mut self, now: Instant, call: CallId, asked: RequestKind) -> Result<(), InputFault> {
        self.take_asked(now, call, asked)?;
        let answer =
            Answer { reply: UpstreamReply::Lost, latency: Some(Duration::ZERO), provenance: Provenance::Unanswered };
        self.input(call, Event::Answered { asked, answer, over_timeout: false });
        Ok(())
    }

    /// The answer to an attempt comes after its timeout.
    ///
    /// # Errors
    /// There is no such call, or the attempt was never sent, or is still out.
    pub fn late(&mut self, now: Instant, call: CallId, attempt: AttemptNo, reply: &Reply) -> Result<(), InputFault> {
        let open = self.calls.get(call).ok_or(InputFault::UnknownCall)?;
        let is_sent = open.events.iter().any(|event| match event.what {
            Decision::AttemptStarted { attempt: sent, .. } => sent == attempt,
            _ => false,
        });
        if !is_sent || open.asked.iter().any(|(out, ..)| *out == RequestKind::Attempt(attempt)) {
            return Err(InputFault::NotSent);
        }
        self.now = self.now.max(now);
        self.input(call, Event::Late { attempt, reply: reply.into() });
        Ok(())
    }

    /// A moment has come for which a call asked.
    ///
    /// # Errors
    /// There is no such call, or it asked for no moment up to now: nothing changes.
    pub fn wake(&mut self, now: Instant, call: CallId) -> Result<(), InputFault> {
        let open = self.calls.get_mut(call).ok_or(InputFault::UnknownCall)?;
        let now = self.now.max(now);
        let place = open.wakes.iter().position(|due| *due <= now).ok_or(InputFault::TooEarly)?;
        open.wakes.remove(place);
        self.now = now;
        self.input(call, Event::Woken);
        Ok(())
    }

    /// The caller of a call goes away. A step has no caller: its action is cancelled.
    ///
    /// # Errors
    /// There is no such call.
    pub fn cancel(&mut self, now: Instant, call: CallId) -> Result<(), InputFault> {
        let open = self.calls.get(call).ok_or(InputFault::UnknownCall)?;
        let call = open.action.unwrap_or(call);
        self.now = self.now.max(now);
        self.input(call, Event::Cancelled);
        Ok(())
    }

    /// A person says whether a call that has ended did what it is there for: it changes nothing of that call, and is evidence
    /// for later ones. Of an action, it is said of the steps that may have acted.
    ///
    /// # Errors
    /// There is no such call, or it has not ended.
    pub fn resolve(&mut self, now: Instant, call: CallId, applied: bool) -> Result<(), InputFault> {
        let open = self.calls.get(call).ok_or(InputFault::UnknownCall)?;
        if open.outcome.is_none() {
            return Err(InputFault::NotEnded);
        }
        self.now = self.now.max(now);
        let is_step = |(id, open): (CallId, &OpenCall)| {
            (open.action == Some(call) && open.watch.shows.may_have_acted).then_some(id)
        };
        let steps: Vec<CallId> = self.calls.iter().filter_map(is_step).collect();
        for id in std::iter::once(call).chain(steps) {
            self.input(id, Event::Resolved(applied));
            self.noted += 1;
            let moment = Moment::new(Some(self.now), self.noted);
            if let Some(open) = self.calls.get_mut(id).filter(|open| open.facts.access == Access::Write) {
                open.watch.resolve(moment, applied);
            }
        }
        Ok(())
    }

    /// A run makes no more calls: what it has used is forgotten, unless a call of it is not forgotten.
    pub fn end_run(&mut self, ended: &str) {
        if let Some(run) = self.names.runs.find(hash(ended)).map(RunId)
            && self.names.runs.forget(run.0)
        {
            self.machine.forget_run(run);
        }
        self.past.end_run(ended);
    }

    /// The luck of the wait that follows an attempt: it comes with the answer.
    ///
    /// # Errors
    /// There is no such call.
    pub fn give_draw(&mut self, call: CallId, attempt: AttemptNo, draw: Draw) -> Result<(), InputFault> {
        let seed = self.plan.seed;
        let open = self.calls.get_mut(call).ok_or(InputFault::UnknownCall)?;
        for earlier in (1..).map(AttemptNo::new).skip(open.new.draws.len()).take_while(|earlier| *earlier < attempt) {
            let own = open.driven().draw(earlier, seed);
            open.new.draws.push(own);
        }
        match open.new.draws.get_mut(attempt.index()) {
            Some(given) => *given = draw,
            None => open.new.draws.push(draw),
        }
        Ok(())
    }

    /// The clock of a request that is out stood still for so long, because a person was asked.
    ///
    /// # Errors
    /// There is no such call, or its request is not out.
    pub fn hold(&mut self, call: CallId, asked: RequestKind, held: Duration) -> Result<(), InputFault> {
        let open = self.calls.get_mut(call).ok_or(InputFault::UnknownCall)?;
        let mut asked = open.asked.iter_mut().filter(|(out, ..)| *out == asked);
        let (_, sent, _) = asked.next().ok_or(InputFault::NotAsked)?;
        *sent = sent.plus(held);
        self.machine.hold(call, held);
        Ok(())
    }

    /// What is wanted since the last time, in order.
    pub fn take_wants(&mut self) -> Vec<Want> {
        std::mem::take(&mut self.wants)
    }

    /// The events of all calls since the last time, in order.
    pub fn take_events(&mut self) -> Vec<DecisionEvent> {
        std::mem::take(&mut self.events)
    }

    /// The call with a name, until it is forgotten.
    pub fn find(&self, name: &str) -> Option<CallId> {
        self.calls.find(name)
    }

    /// The calls that are not forgotten.
    pub fn calls(&self) -> impl Iterator<Item = (CallId, &NewCall)> {
        self.calls.iter().map(|(id, call)| (id, &call.new))
    }

    /// A call as it was made; of a step, as its action has it made.
    pub fn made(&self, call: CallId) -> Option<&NewCall> {
        Some(&self.calls.get(call)?.new)
    }

    /// The requests of a call that are out.
    pub fn asked(&self, call: CallId) -> impl Iterator<Item = RequestKind> {
        self.calls.get(call).into_iter().flat_map(|open| open.asked.iter().map(|(asked, ..)| *asked))
    }

    /// The moments at which a call asked to be woken.
    pub fn waits(&self, call: CallId) -> &[Instant] {
        self.calls.get(call).map_or(&[], |open| &open.wakes)
    }

    /// How long a request of a call that is out is waited for.
    pub fn within(&self, call: CallId, asked: RequestKind) -> Option<Duration> {
        let open = self.calls.get(call)?;
        open.asked.iter().find(|(out, ..)| *out == asked).map(|(.., within)| *within)
    }

    /// When a call was made.
    pub fn made_at(&self, call: CallId) -> Option<Instant> {
        Some(self.calls.get(call)?.at)
    }

    /// Of a step: the call of its action.
    pub fn action_of(&self, call: CallId) -> Option<CallId> {
        self.calls.get(call)?.action
    }

    /// What is valid in a run now; none: the playbook has no graph.
    pub fn valid_in(&self, run: &str) -> Option<ValidNext> {
        let known = self.names.runs.find(hash(run)).map(RunId);
        self.machine.valid_next(&self.plan.playbook, known.unwrap_or(RunId(u32::MAX)))
    }

    /// Whether nothing is left that a later call could depend on: no call, no key, no run, no breaker, no
    /// retry budget.
    pub fn is_idle(&self) -> bool {
        self.calls.iter().next().is_none() && self.past.is_empty() && self.machine.is_idle()
    }

    /// The events of a call, in order.
    pub fn events(&self, call: CallId) -> &[DecisionEvent] {
        self.calls.get(call).map_or(&[], |open| &open.events)
    }

    /// How a call ended.
    pub fn outcome(&self, call: CallId) -> Option<Outcome> {
        self.calls.get(call)?.outcome
    }

    /// The name of the other call that the events of a call mentioned last: whose result it gets, behind which it waits, that
    /// opened the circuit.
    pub fn mentioned(&self, call: CallId) -> Option<&str> {
        self.calls.get(call)?.other.as_deref()
    }

    /// An error that events mention, as long as their call is not forgotten.
    pub fn error(&self, id: ErrorId) -> Option<&ErrorFacts> {
        self.calls.error(id).map(|error| &**error)
    }

    /// The name of a server that events mention.
    pub fn server(&self, id: ServerId) -> Option<&str> {
        self.names.servers.name(id.0)
    }

    /// The draw that came with the answer to an attempt, if waits are drawn: for recorders.
    pub fn draw(&self, call: CallId, attempt: AttemptNo) -> Option<Draw> {
        let open = self.calls.get(call)?;
        self.plan.draws.then(|| open.driven().draw(attempt, self.plan.seed))
    }

    /// What is valid in its run after a call that has ended; none: the playbook has no graph, or it is a step.
    pub fn valid_next(&self, call: CallId) -> Option<&ValidNext> {
        self.calls.get(call)?.valid_next.as_ref()
    }

    /// What the agent is told of a call that has failed.
    pub fn told(&self, call: CallId) -> Option<Told> {
        let open = self.calls.get(call)?;
        let outcome = open.outcome?;
        let action = self.plan.action(&open.new.tool);
        let is_withheld = |after: &ValidNext| action.is_some_and(|action| after.withheld.contains(&action));
        let withheld = open.valid_next.as_ref().is_some_and(is_withheld);
        let others = self.calls.iter().map(|(_, open)| open);
        let against = || AgainstOneMore {
            request: self.past.against(&self.plan, open, others),
            withheld,
            ..AgainstOneMore::default()
        };
        let driven = open.driven();
        let own = told_by_events(&self.plan, &driven, call, outcome, |error| self.error(error), against, &open.events);
        let OutcomeKind::Joined { leader, .. } = outcome.kind else { return own };
        let Some(of_leader) = self.told(leader) else { return own };
        let retried = outcome.attempts.saturating_sub(1);
        let own = own.unwrap_or(Told { call, error: outcome.last_error, retried, ..of_leader });
        Some(told_as_follower(own, of_leader, driven.has_steps(&self.plan)))
    }

    /// Whether the result of a call may still be asked for: a later call may get it, or one that follows it does.
    pub fn keeps_result_of(&self, call: CallId) -> bool {
        let key = self.calls.get(call).and_then(|open| open.shared.shared_key());
        key.is_some_and(|key| self.machine.keeps_success_of(key, call))
    }

    /// Forgets a call that has ended: its id and its name are free again. Of an action, its steps too.
    ///
    /// # Errors
    /// There is no such call, or it has not ended, or it is a step of a call that is not forgotten.
    pub fn forget(&mut self, call: CallId) -> Result<(), InputFault> {
        let open = self.calls.get(call).ok_or(InputFault::UnknownCall)?;
        if open.outcome.is_none() || open.action.is_some_and(|action| self.calls.get(action).is_some()) {
            return Err(InputFault::NotEnded);
        }
        let is_own = |(id, open): (CallId, &OpenCall)| (open.action == Some(call)).then_some(id);
        let steps: Vec<CallId> = match self.plan.steps(&open.new.tool) {
            0 => Vec::new(),
            _ => self.calls.iter().filter_map(is_own).collect(),
        };
        let mut past = Vec::new();
        for id in std::iter::once(call).chain(steps) {
            if let Some(open) = self.calls.remove(id) {
                self.machine.take_outcome(id);
                self.names.release(&self.machine, open.shared);
                let machine = &self.machine;
                self.names.runs.sweep(|run, _| machine.needs_run(RunId(run)));
                past.push(*open);
            }
        }
        self.past.add(past);
        Ok(())
    }

    /// The names of keys and runs that are kept.
    #[cfg(test)]
    pub(super) fn names_kept(&self) -> usize {
        self.names.keys.len() + self.names.runs.len()
    }

    /// Gives a call an id.
    fn open(&mut self, new: NewCall, facts: ToolFacts, of: Option<(CallId, StepOf)>) -> CallId {
        let id = self.machine.next_call();
        let token = new.token.as_deref().map(|token| TokenId(self.tokens.intern(token)));
        let named = self.plan.same_if(&new.tool).and_then(|same_if| same_if.intent(&new.args));
        let args = hash(named.as_deref().unwrap_or(&new.args));
        // Only where transactions matter: the others cost nothing.
        self.has_transactions |= facts.once || new.act.is_some() || new.transaction.is_some();
        let is_tracked = self.has_transactions;
        let label = format!("{}\n{}", new.run, new.transaction.as_deref().unwrap_or_default());
        let shared = self.names.take(SharedBy {
            run: hash(&new.run),
            tool: hash(&new.tool),
            server: self.plan.server(&new.tool),
            key: new.key.as_deref().map(hash),
            transaction: is_tracked.then(|| (hash(&label), facts.once)),
            args,
            compares_args: is_tracked || self.plan.playbook.graph.as_ref().is_some_and(|graph| graph.stuck.is_some()),
        });
        let (action, step) = of.unzip();
        let (number, of) = (self.made, action.and_then(|action| self.calls.get(action)).map(|action| action.number));
        self.made += 1;
        let of = of.unwrap_or(number);
        self.calls.insert(
            id,
            OpenCall { action, step, args, number, of, ..OpenCall::of(new, facts, shared, token, self.now) },
        );
        id
    }

    /// Takes a request of a call from those that are out: when it was sent, and how long it is waited for.
    fn take_asked(
        &mut self,
        now: Instant,
        call: CallId,
        asked: RequestKind,
    ) -> Result<(Instant, Duration), InputFault> {
        let open = self.calls.get_mut(call).ok_or(InputFault::UnknownCall)?;
        let place = open.asked.iter().position(|(out, ..)| *out == asked).ok_or(InputFault::NotAsked)?;
        let (_, sent, within) = open.asked.remove(place);
        self.now = self.now.max(now);
        Ok((sent, within))
    }

    fn input(&mut self, call: CallId, event: Event) {
        let Dispatcher { plan, machine, memo, calls, out, now, .. } = self;
        Driver { plan, memo, calls }.handle(machine, *now, call, event, out);
        self.settle();
    }

    /// Takes what the machine wrote: events to their calls, outputs to the wants. A step is made at once.
    fn settle(&mut self) {
        let (events, outputs) = (std::mem::take(&mut self.out.events), std::mem::take(&mut self.out.outputs));
        self.out.bound.clear();
        for (call, valid) in self.out.valid_next.drain(..) {
            if let Some(open) = self.calls.get_mut(call) {
                open.valid_next = Some(valid);
            }
        }
        let mut ended = Vec::new();
        for event in &events {
            self.note(event);
            if let Decision::Outcome(_) = event.what {
                ended.push(event.call);
            }
        }
        self.events.extend(events);
        let mut steps = Vec::new();
        for output in outputs {
            match output {
                Output::Ask { call, asked, evidence, within } => {
                    if let Some(open) = self.calls.get_mut(call) {
                        open.asked.push((asked, self.now, within));
                    }
                    self.wants.push(Want::Send { call, asked, evidence, within });
                }
                Output::Wake { call, at } => {
                    if let Some(open) = self.calls.get_mut(call) {
                        open.wakes.push(at);
                    }
                    self.wants.push(Want::Wait { call, until: at });
                }
                Output::Step { action, step } => steps.push((action, step)),
            }
        }
        self.wants.extend(ended.iter().map(|&call| Want::End { call }));
        for (action, step) in steps {
            self.begin_step(action, step);
        }
        if self.plan.has_steps {
            ended.into_iter().for_each(|action| self.skip_steps(action));
        }
    }

    /// Takes an event to its call, with the name of the other call that it mentions.
    fn note(&mut self, event: &DecisionEvent) {
        let Dispatcher { plan, machine, calls, names, noted, .. } = self;
        let Some(open) = calls.get(event.call) else { return };
        names.note(plan, machine, event, open.named());
        let other = names.mentioned(plan, event, open.named()).and_then(|mention| match mention {
            Mention::Open(other, _) => Some(calls.get(other)?.new.name.clone()),
            Mention::Left(name) => Some(name.to_owned()),
        });
        *noted += 1;
        calls.note(plan, event, *noted);
        if let Some(open) = calls.get_mut(event.call) {
            open.other = other.or(open.other.take());
        }
    }

    fn begin_step(&mut self, action: CallId, step: StepId) {
        let Some((new, facts)) = self.new_step(action, step) else {
            return self.input(action, Event::NoStep);
        };
        if let Some(open) = self.calls.get_mut(action) {
            open.begun = step.0 + 1;
        }
        self.make_step(action, new, facts, StepOf { action: Some(action), step });
    }

    /// The steps that had no turn in an action that has ended: they are skipped.
    fn skip_steps(&mut self, action: CallId) {
        let Some(open) = self.calls.get(action).filter(|open| open.step.is_none()) else { return };
        for step in (open.begun..self.plan.steps(&open.new.tool)).map(StepId) {
            if let Some((new, facts)) = self.new_step(action, step) {
                self.make_step(action, new, facts, StepOf { action: None, step });
            }
        }
    }

    fn make_step(&mut self, action: CallId, new: NewCall, facts: ToolFacts, of: StepOf) {
        let call = self.open(new, facts, Some((action, of)));
        self.wants.push(Want::Step { call, action });
        self.input(call, Event::Made);
    }

    /// The call of a step. With a key, each step has one of its own: `KEY/STEP`.
    fn new_step(&self, action: CallId, step: StepId) -> Option<(NewCall, ToolFacts)> {
        let of = &self.calls.get(action)?.new;
        let named = self.plan.steps_of(&of.tool).get(step.index())?;
        let name = &*named.name;
        if of.unknown_steps.iter().any(|unknown| unknown == name) {
            return None;
        }
        let new = NewCall {
            name: format!("{}/{name}", of.name),
            run: of.run.clone(),
            transaction: of.transaction.clone(),
            tool: named.tool.to_string(),
            args: of.steps.get(name).unwrap_or(&of.args).clone(),
            key: of.key.as_ref().map(|key| format!("{key}/{name}")),
            timeout: of.timeout,
            answer_within: of.answer_within,
            seed: of.seed,
            ..NewCall::default()
        };
        Some((new, named.facts(self.plan.facts(&named.tool))))
    }
}

fn hash(name: &str) -> u128 {
    let half = |seed| u128::from(FixedState::with_seed(seed).hash_one(name));
    half(1) << 64 | half(2)
}
