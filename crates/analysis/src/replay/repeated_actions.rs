//! Identical calls of an action with steps, as recorded. Steps are compared among themselves; here stands what only the
//! action's own answers show: what the agent was told, for it never sees those of a step; and of calls without recorded
//! steps, all that they show.

use playproof_engine::event::{Finding, FindingId};
use playproof_engine::evidence::{CallShows, Evidence, Moment, RequestBook, acts_again};
use playproof_engine::ids::CallId;
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::Plan;
use playproof_intake::call::CompletedCall;
use playproof_intake::call_hashes::{CallHashes, id_hash};
use playproof_intake::hash;

use super::bounded_map::BoundedMap;
use super::step_order::has_steps;

/// The most identical calls of an action that are remembered.
const MOST_IDENTICAL: usize = 16;

/// The most steps of one action that are remembered.
const MOST_STEPS: usize = 64;

/// The tag of a step's hash.
const STEP: u64 = 27;

/// The calls of actions with steps; they belong to one input.
#[derive(Debug, Default)]
pub(super) struct RepeatedActions {
    /// By request: its calls, in the order in which they were made.
    calls: BoundedMap<Vec<ActionCall>>,
    /// The requests by the ids of their calls.
    requests: BoundedMap<u128>,
    /// By run (0: any, for requests that are the same in all runs) and arguments: the last actions, whatever they are.
    alike: BoundedMap<Vec<AlikeAction>>,
    /// What the calls of a step show.
    steps: BoundedMap<RequestBook>,
}

/// An action with the arguments of others.
#[derive(Clone, Debug)]
struct AlikeAction {
    /// The hashes of its id and its run.
    id: u128,
    run: u128,
    /// The hashes of its tool and its key.
    request: (u128, u128),
    tool: Box<str>,
    made: Moment,
    ended: Moment,
}

#[derive(Debug)]
struct ActionCall {
    id: u128,
    /// What its own answers show.
    own: CallShows,
    /// Whether a step of it is recorded.
    has_steps: bool,
    /// Its first recorded steps.
    steps: Vec<StepShows>,
    /// Whether a recorded step without a key acted, or may have, and acts again.
    has_acted: bool,
}

/// A recorded step of an action.
#[derive(Debug)]
pub(super) struct StepShows {
    /// A hash of its name.
    name: u128,
    /// The hash of its arguments.
    pub args: u128,
    pub shows: CallShows,
}

impl StepShows {
    /// Whether it is the step with this name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name == step_request(0, name)
    }
}

impl RepeatedActions {
    /// What is known of a step of identical actions, whatever its own arguments.
    pub(super) fn step(&self, action: u128, step: &str) -> Option<&RequestBook> {
        self.steps.get(&step_request(action, step))
    }

    /// Whether an action is still out, at a moment, that may yet make a write that this call, or a step of it, would make.
    pub(super) fn is_under_way(&self, closed: &CompletedCall, plan: &Plan, now: Moment) -> bool {
        let (call, hashes) = (closed.raw(), &closed.hashes);
        let own = call.step().map_or(hashes.id, |(parent, _)| id_hash(hashes.run, parent));
        let makes = |tool: &str| match has_steps(call, Some(plan)) {
            true => plan.steps_of(call.tool()).iter().any(|step| *step.tool == *tool),
            false => call.tool() == tool,
        };
        let alike = [hashes.run, 0].map(|run| self.alike.get(&hash::joined([run, hashes.args])));
        let mut out = alike.into_iter().flatten().flatten().filter(|action| {
            let is_same_request = hashes.key != 0 && (hashes.tool, hashes.key) == action.request;
            action.id != own && !is_same_request && !action.made.is_after(now) && action.ended.is_after(now)
        });
        out.any(|action| {
            let mut steps = plan.steps_of(&action.tool).iter();
            steps.any(|step| {
                let facts = plan.facts(&step.tool);
                let is_one_request = facts.across_runs || action.run == hashes.run;
                is_one_request && makes(&step.tool) && acts_again(step.facts(facts))
            })
        })
    }

    /// The recorded steps of an action.
    pub(super) fn steps_of(&self, closed: &CompletedCall) -> &[StepShows] {
        let calls = self.calls.get(&closed.hashes.request);
        let known = calls.and_then(|calls| calls.iter().rfind(|action| action.id == closed.hashes.id));
        known.map_or(&[], |action| &action.steps)
    }

    /// Takes the next closed call, if it is an action with steps or one of these; `repeated` is what it shows as a call of
    /// its own. Calls of one run come in the order in which they were made.
    pub(super) fn take(
        &mut self,
        closed: &CompletedCall,
        facts: ToolFacts,
        plans: &[Plan],
        repeated: impl FnOnce() -> CallShows,
        found: impl FnMut(Finding),
    ) {
        let call = closed.raw();
        if let Some((parent, name)) = call.step() {
            let id = id_hash(closed.hashes.run, parent);
            let Some(request) = self.requests.get(&id) else { return };
            let step = repeated();
            if !call.was_unsent() {
                self.steps.entry(step_request(*request, name), RequestBook::default).note(&step);
            }
            let calls = self.calls.get_mut(request);
            if let Some(action) = calls.and_then(|calls| calls.iter_mut().rfind(|action| action.id == id)) {
                action.has_steps = true;
                if action.steps.len() < MOST_STEPS {
                    let args = closed.hashes.args;
                    action.steps.push(StepShows { name: step_request(0, name), args, shows: step });
                }
                action.has_acted |= acts_again(facts) && step.key == 0 && (step.effects > 0 || step.may_have_acted);
            }
        } else if has_steps(call, plans.first()) {
            let own = repeated();
            if let Some(ended) = ended_at(closed) {
                let CallHashes { id, run, tool, key, args, .. } = closed.hashes;
                let made = Moment::new(call.at, call.place.line);
                let action = AlikeAction { id, run, request: (tool, key), tool: call.tool().into(), made, ended };
                let in_all = plans.iter().any(|plan| plan.makes_across_runs(call.tool()));
                for run in std::iter::once(run).chain(in_all.then_some(0)) {
                    let alike = self.alike.entry(hash::joined([run, args]), Vec::new);
                    if alike.len() >= MOST_IDENTICAL {
                        alike.remove(0);
                    }
                    alike.push(action.clone());
                }
            }
            let is_one_request = call.intent_doubt().is_none();
            if let Some(before) = self.calls.get(&closed.hashes.request) {
                judge(before, &own, Evidence { facts, one_request: is_one_request }, found);
            }
            let calls = self.calls.entry(closed.hashes.request, Vec::new);
            if calls.len() >= MOST_IDENTICAL {
                let oldest = calls.remove(0);
                self.requests.remove(&oldest.id);
            }
            calls.push(ActionCall { id: closed.hashes.id, own, has_steps: false, steps: Vec::new(), has_acted: false });
            self.requests.insert(closed.hashes.id, closed.hashes.request);
        }
    }
}

/// When a call had ended; none: that is not recorded.
fn ended_at(closed: &CompletedCall) -> Option<Moment> {
    let ended = closed.raw().dispatch.as_ref().and_then(|of| of.ended);
    let ended = ended.map(|(at, place)| Moment::new(Some(at), place));
    let counts = &closed.counts;
    ended.or((counts.ended_on > 0).then_some(Moment::new(counts.ended_at, counts.ended_on)))
}

/// What the calls of a step of identical actions share.
fn step_request(action: u128, step: &str) -> u128 {
    hash::bytes_after(action, step.as_bytes(), STEP)
}

/// Adds what a call shows after identical ones. What rests on a call without recorded steps is a doubt: the recording does
/// not say how far it came.
fn judge(before: &[ActionCall], now: &CallShows, evidence: Evidence, mut found: impl FnMut(Finding)) {
    let in_doubt = Evidence { one_request: false, ..evidence };
    let is_advice = |finding: &Finding| matches!(finding.id, FindingId::UnsafeAdvice | FindingId::IgnoredAdvice);
    let is_proved = before.iter().any(|action| action.has_acted);
    let advised = before.iter().map(|action| match action.has_steps {
        // The key of a step is its own: what it protects is no act here.
        true => CallShows { key: 0, effects: 0, may_have_acted: action.has_acted, ..action.own },
        false => without_steps(&action.own, evidence.facts),
    });
    let mut shown = after(advised, now, if is_proved { evidence } else { in_doubt });
    shown.retain(is_advice);
    shown.into_iter().for_each(&mut found);
    let alone = before.iter().filter(|action| !action.has_steps);
    let mut alone = alone.map(|action| without_steps(&action.own, evidence.facts)).peekable();
    if alone.peek().is_some() {
        let mut shown = after(alone, &without_steps(now, evidence.facts), in_doubt);
        shown.retain(|finding| !is_advice(finding));
        shown.into_iter().for_each(found);
    }
}

/// What a call shows after others.
fn after(before: impl Iterator<Item = CallShows>, now: &CallShows, evidence: Evidence) -> Vec<Finding> {
    let (mut repeats, mut shown) = (RequestBook::default(), Vec::new());
    for call in before {
        repeats.take(CallId(0), &call, evidence, |_| ());
    }
    repeats.take(CallId(0), now, evidence, |finding| shown.push(finding));
    shown
}

/// A call of which no step is recorded. That it succeeded does not say which of its steps acted.
fn without_steps(own: &CallShows, facts: ToolFacts) -> CallShows {
    let acted = facts.access == Access::Write && own.effects > 0;
    CallShows { effects: 0, may_have_acted: own.may_have_acted || acted, ..*own }
}
