//! The calls of a dispatcher that its driver has not forgotten, with their errors.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::input::Calls;
use super::names::{NamedCall, SharedIds};
use crate::dispatch::StepOf;
use crate::event::{Act, Decision, DecisionEvent, Draw, ErrorFacts, Outcome, RequestKind, ValidNext};
use crate::evidence::{CallWatch, Moment};
use crate::ids::{CallId, ErrorId, TokenId};
use crate::plan::{DrivenCall, Plan};
use crate::playbook::ToolFacts;
use crate::time::{Duration, Instant};
use crate::upstream::{AnswerSource, Script};

/// A call as its driver makes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewCall {
    /// Its name, which no other call has that is not forgotten.
    pub name: String,
    /// Its run.
    pub run: String,
    /// Its tool.
    pub tool: String,
    /// Its arguments as canonical JSON.
    pub args: String,
    /// Its idempotency key.
    pub key: Option<String>,
    /// Its reversal token.
    pub token: Option<String>,
    /// Its transaction; none: that of its run.
    pub transaction: Option<String>,
    /// What it does with its transaction; none: it is a call of a tool. Of state, `tool` is the name.
    pub act: Option<Act>,
    /// The timeout of its attempts; none: that of its tool.
    pub timeout: Option<Duration>,
    /// How long its caller waits: no further attempt starts later.
    pub answer_within: Option<Duration>,
    /// The draws that come with the answers to its attempts; those that are missing follow from a seed.
    pub draws: Vec<Draw>,
    /// The seed of its other draws, unless the plan has one.
    pub seed: Option<u64>,
    /// The arguments of steps that have their own, by the names of the steps.
    pub steps: BTreeMap<String, String>,
    /// Steps that nobody can make, by their names.
    pub unknown_steps: Vec<String>,
}

/// A call that is not forgotten.
#[derive(Debug)]
pub(super) struct OpenCall {
    pub new: NewCall,
    pub facts: ToolFacts,
    pub shared: SharedIds,
    pub token: Option<TokenId>,
    pub at: Instant,
    /// Of which action it is a step.
    pub step: Option<StepOf>,
    /// The call of that action, also when it has ended.
    pub action: Option<CallId>,
    /// Of an action: its steps that had their turn.
    pub begun: u16,
    /// Its requests that are out: when each was sent, and how long it is waited for.
    pub asked: Vec<(RequestKind, Instant, Duration)>,
    /// The moments at which it asked to be woken.
    pub wakes: Vec<Instant>,
    pub events: Vec<DecisionEvent>,
    pub outcome: Option<Outcome>,
    /// The name of the call that its events mentioned last.
    pub other: Option<String>,
    pub valid_next: Option<ValidNext>,
    /// The errors of its events.
    pub errors: Vec<ErrorId>,
    /// A hash of its arguments.
    pub args: u128,
    /// Its number among all calls, and that of its action, or its own.
    pub number: u64,
    pub of: u64,
    /// What its events show.
    pub watch: CallWatch,
}

/// All of them, and their errors.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    /// By `CallId`.
    calls: Vec<Option<Box<OpenCall>>>,
    by_name: BTreeMap<String, CallId>,
    /// By `ErrorId`, with the number of calls whose events have it.
    errors: Vec<Option<(Arc<ErrorFacts>, u32)>>,
    free_errors: Vec<ErrorId>,
}

/// A driver gives the answers itself.
static NO_SCRIPT: Script = Script { attempts: Vec::new(), refresh: Vec::new(), reversal: Vec::new() };

impl OpenCall {
    pub(super) fn of(new: NewCall, facts: ToolFacts, shared: SharedIds, token: Option<TokenId>, at: Instant) -> Self {
        OpenCall {
            new,
            facts,
            shared,
            token,
            at,
            step: None,
            action: None,
            begun: 0,
            asked: Vec::new(),
            wakes: Vec::new(),
            events: Vec::new(),
            outcome: None,
            other: None,
            valid_next: None,
            errors: Vec::new(),
            args: 0,
            number: 0,
            of: 0,
            watch: CallWatch::default(),
        }
    }

    /// The call after it is forgotten: what it shows, without the texts of its arguments.
    pub(super) fn past(self) -> Self {
        let OpenCall {
            new: NewCall { name, run, tool, key, .. },
            facts,
            shared,
            at,
            step,
            args,
            number,
            of,
            watch,
            ..
        } = self;
        let new = NewCall { name, run, tool, key, ..NewCall::default() };
        OpenCall { step, args, number, of, watch, ..OpenCall::of(new, facts, shared, None, at) }
    }

    /// The call as events know it.
    pub(super) fn named(&self) -> NamedCall<'_> {
        NamedCall { name: &self.new.name, tool: &self.new.tool, shared: Some(self.shared), before: &self.events }
    }

    /// The call for the machine.
    pub(super) fn driven(&self) -> DrivenCall<'_> {
        let SharedIds { run, tool, server, key, transaction, once, args } = self.shared;
        DrivenCall {
            name: &self.new.name,
            group: None,
            tool_name: &self.new.tool,
            facts: self.facts,
            tool,
            server,
            run,
            key,
            transaction,
            once,
            act: self.new.act,
            token: self.token,
            args,
            at: self.at,
            timeout: self.new.timeout.unwrap_or(self.facts.timeout),
            answer_within: self.new.answer_within,
            source: AnswerSource::Script(&NO_SCRIPT, &[]),
            written_args: &self.new.args,
            written_key: self.new.key.as_deref().unwrap_or_default(),
            draws: &self.new.draws,
            seed: self.new.seed,
            step: self.step,
        }
    }
}

impl OpenCalls {
    pub(super) fn get(&self, id: CallId) -> Option<&OpenCall> {
        self.calls.get(id.index())?.as_deref()
    }

    pub(super) fn get_mut(&mut self, id: CallId) -> Option<&mut OpenCall> {
        self.calls.get_mut(id.index())?.as_deref_mut()
    }

    pub(super) fn find(&self, name: &str) -> Option<CallId> {
        self.by_name.get(name).copied()
    }

    pub(super) fn error(&self, id: ErrorId) -> Option<&Arc<ErrorFacts>> {
        self.errors.get(id.index())?.as_ref().map(|(error, _)| error)
    }

    /// The calls that are not forgotten.
    pub(super) fn iter(&self) -> impl Iterator<Item = (CallId, &OpenCall)> {
        self.calls.iter().enumerate().filter_map(|(n, call)| Some((CallId::at(n), call.as_deref()?)))
    }

    pub(super) fn insert(&mut self, id: CallId, call: OpenCall) {
        if self.calls.len() <= id.index() {
            self.calls.resize_with(id.index() + 1, || None);
        }
        self.by_name.insert(call.new.name.clone(), id);
        self.calls[id.index()] = Some(Box::new(call)); // extended above
    }

    /// Takes an event of a call, whose errors then stay as long as the call; `place`: its number among all events.
    pub(super) fn note(&mut self, plan: &Plan, event: &DecisionEvent, place: u64) {
        let Some(Some(call)) = self.calls.get_mut(event.call.index()) else { return };
        call.events.push(*event);
        let mut watch = std::mem::take(&mut call.watch);
        if let Some(call) = self.get(event.call) {
            let moment = Moment::new(Some(event.at), place);
            watch.take(plan, &call.driven(), (moment, event.what), |error| self.error(error).map(|error| &**error));
        }
        let Some(Some(call)) = self.calls.get_mut(event.call.index()) else { return };
        call.watch = watch;
        let Decision::Outcome(outcome) = event.what else { return };
        call.outcome = Some(outcome);
        for id in [outcome.first_error, outcome.last_error].into_iter().flatten() {
            if !call.errors.contains(&id)
                && let Some(Some((_, users))) = self.errors.get_mut(id.index())
            {
                *users += 1;
                call.errors.push(id);
            }
        }
    }

    pub(super) fn remove(&mut self, id: CallId) -> Option<Box<OpenCall>> {
        let call = self.calls.get_mut(id.index())?.take()?;
        self.by_name.remove(&call.new.name);
        for &id in &call.errors {
            let Some(slot) = self.errors.get_mut(id.index()) else { continue };
            if let Some((_, users)) = slot {
                *users -= 1; // each call counts its errors once
                if *users == 0 {
                    *slot = None;
                    self.free_errors.push(id);
                }
            }
        }
        Some(call)
    }
}

impl Calls for OpenCalls {
    #[expect(clippy::expect_used, reason = "a driver's events are of calls that are not forgotten")]
    fn call(&self, id: CallId) -> DrivenCall<'_> {
        self.get(id).expect("an open call").driven()
    }

    fn intern_error(&mut self, id: CallId, error: Arc<ErrorFacts>) -> ErrorId {
        let own = self.get(id).map_or(&[][..], |call| &call.errors);
        if let Some(known) = own.iter().find(|known| self.error(**known) == Some(&error)) {
            return *known;
        }
        let slot = self.free_errors.pop().unwrap_or_else(|| {
            self.errors.push(None);
            ErrorId(u32::try_from(self.errors.len() - 1).unwrap_or(u32::MAX))
        });
        self.errors[slot.index()] = Some((error, 1)); // free or new
        if let Some(call) = self.get_mut(id) {
            call.errors.push(slot);
        }
        slot
    }
}
