//! The recorded steps of the actions of a session. Calls are fed in the order in which they were made, so a step comes after
//! its action, perhaps when the action waits for it, or has ended: then the action's record is kept back until all of its
//! steps are known. Simulates nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::active_call::ActiveCall;
use super::acts::StepAct;
use super::pace::Pace;
use super::record::SimulationRecord;
use super::step_acts::{StepCall, unknown_steps};
use crate::event::StepsEnd;
use crate::ids::{CallId, StepId};
use crate::plan::Plan;
use crate::time::Instant;

/// The most actions that are kept; those that ended are forgotten beyond that.
const MOST: usize = 1_024;

/// The most actions whose acts are remembered for identical ones; all are forgotten beyond that.
const MOST_ACTED: usize = 65_536;

/// The actions of a session that may get more steps.
#[derive(Debug, Default)]
pub(super) struct RecordedActions {
    pace: Pace,
    /// By the number of their calls.
    known: BTreeMap<u64, RecordedAction>,
    /// The numbers by the hashes of their ids; the latest call with an id has it.
    ids: BTreeMap<u128, u64>,
    /// Calls of actions that were kept back and have all their steps.
    complete: Vec<CallId>,
    /// By what identical actions share: the first one that acted, or may have.
    acted: BTreeMap<u128, ActedBefore>,
}

#[derive(Debug)]
struct RecordedAction {
    id: u128,
    run: u128,
    /// A hash of what identical actions share, and one of its key.
    same: u128,
    key: Option<u128>,
    /// Its name for people.
    name: String,
    /// All calls that name it as their parent.
    steps: Vec<StepCall>,
    /// Its call, if it has ended and its record is kept back.
    kept: Option<CallId>,
    /// The line of its recorded end: a call on a later line is none of its steps.
    end_line: Option<u64>,
    /// Steps that were fed and had no turn yet.
    came: VecDeque<Box<ActiveCall>>,
    /// The step that it waits for, and since when.
    waits: Option<Turn>,
    /// When the step before had ended in the recording, or the action was made.
    last: Option<Instant>,
    has_all: bool,
    /// Whether its caller went away: until then it waits for its steps.
    is_cancelled: bool,
    has_ended: bool,
    /// Whether its record is closed.
    is_closed: bool,
}

/// An action of which a step has acted, or may have, and would act again.
#[derive(Clone, Debug)]
struct ActedBefore {
    number: u64,
    name: String,
    key: Option<u128>,
    /// Whether the call of the step has a key.
    is_keyed: bool,
    act: StepAct,
}

/// A step that has its turn.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    /// The call of its action.
    pub action: CallId,
    /// Which step.
    pub step: StepId,
    /// Its name.
    pub name: Arc<str>,
    /// Its tool.
    pub tool: Arc<str>,
    /// Since when.
    pub since: Instant,
}

/// What there is of a step.
pub(super) enum Asked {
    /// Its call, and when it starts.
    Came(Box<ActiveCall>, Instant),
    /// It may be fed later.
    Awaited,
    /// It was not recorded.
    Missing,
}

/// What becomes of a step that is fed.
pub(super) enum Fed {
    /// It waits for its turn.
    Kept,
    /// Its action waits for it: its turn, and when it starts.
    Starts(Box<ActiveCall>, Turn, Instant),
    /// Its action has ended.
    TooLate(Box<ActiveCall>),
}

impl RecordedActions {
    /// No actions yet.
    pub(super) fn new(pace: Pace) -> RecordedActions {
        RecordedActions { pace, ..RecordedActions::default() }
    }

    /// An action is fed; `id` and `run` are hashes, and so is what identical actions share, and its key.
    pub(super) fn add(&mut self, id: u128, run: u128, (same, key): (u128, Option<u128>), call: &ActiveCall) {
        if self.known.len() >= MOST {
            let complete = &mut self.complete;
            self.known.retain(|_, action| {
                let kept = action.kept.take();
                complete.extend(kept);
                kept.is_some() || !action.has_ended
            });
            let known = &self.known;
            self.ids.retain(|_, number| known.contains_key(number));
        }
        let recorded = &call.call;
        let answered = recorded.answers.iter().map(|answer| answer.place.line).max();
        let ended = recorded.dispatch.as_ref().and_then(|dispatch| dispatch.ended).map(|(_, line)| line);
        let action = RecordedAction {
            id,
            run,
            same,
            key,
            name: call.name.clone(),
            steps: Vec::new(),
            kept: None,
            end_line: ended.or(answered),
            came: VecDeque::new(),
            waits: None,
            last: recorded.at,
            has_all: false,
            is_cancelled: recorded.cancelled_at().is_some(),
            has_ended: false,
            is_closed: false,
        };
        self.known.insert(call.number, action);
        self.ids.insert(id, call.number);
    }

    /// The number of the action whose id has this hash.
    pub(super) fn find(&self, id: u128) -> Option<u64> {
        self.ids.get(&id).copied()
    }

    /// A step of an action is fed.
    pub(super) fn feed(&mut self, number: u64, call: Box<ActiveCall>) -> Fed {
        self.note_step(Some(number), &call);
        let Some(action) = self.known.get_mut(&number).filter(|action| !action.has_ended) else {
            return Fed::TooLate(call);
        };
        match action.waits.take_if(|turn| is_step(&call, turn)) {
            Some(turn) => {
                let start = action.start(&call, turn.since, self.pace);
                Fed::Starts(call, turn, start)
            }
            None => {
                action.came.push_back(call);
                Fed::Kept
            }
        }
    }

    /// Notes a call that names this action as its parent.
    pub(super) fn note_step(&mut self, action: Option<u64>, call: &ActiveCall) {
        if let Some(action) = action.and_then(|number| self.known.get_mut(&number)) {
            action.steps.push(StepCall::of(call));
        }
    }

    /// A call of a run on this line is fed that is no step of theirs: actions that ended before have all their steps.
    /// Returns those that wait for one in vain.
    pub(super) fn pass(&mut self, run: u128, line: u64, parent: Option<u64>) -> Vec<CallId> {
        let mut in_vain = Vec::new();
        let (known, ids, complete) = (&mut self.known, &mut self.ids, &mut self.complete);
        known.retain(|number, action| {
            let is_over = action.run == run && action.end_line.is_some_and(|end| end < line) && parent != Some(*number);
            if is_over {
                action.has_all = true;
                in_vain.extend(action.waits.take().map(|turn| turn.action));
            }
            let is_done = is_over && action.has_ended && action.is_closed;
            complete.extend(action.kept.take_if(|_| is_over));
            if is_done && ids.get(&action.id) == Some(number) {
                ids.remove(&action.id);
            }
            !is_done
        });
        in_vain
    }

    /// No more calls are fed: those that wait for a step wait in vain, unless their caller goes away later.
    pub(super) fn pass_all(&mut self) -> Vec<CallId> {
        let all = self.known.values_mut();
        let waiting = all.filter_map(|action| {
            action.has_all = true;
            self.complete.extend(action.kept.take());
            action.waits.take_if(|_| !action.is_cancelled)
        });
        waiting.map(|turn| turn.action).collect()
    }

    /// The action asks for a step.
    pub(super) fn ask(&mut self, number: u64, turn: Turn) -> Asked {
        let Some(action) = self.known.get_mut(&number) else { return Asked::Missing };
        let place = action.came.iter().position(|call| is_step(call, &turn));
        match place.and_then(|place| action.came.remove(place)) {
            Some(call) => {
                let start = action.start(&call, turn.since, self.pace);
                Asked::Came(call, start)
            }
            None if action.has_all && !action.is_cancelled => Asked::Missing,
            None => {
                action.waits = Some(turn);
                Asked::Awaited
            }
        }
    }

    /// The action has ended: its steps that had no turn. None: the call is no action.
    pub(super) fn end(&mut self, number: u64) -> Option<VecDeque<Box<ActiveCall>>> {
        let action = self.known.get_mut(&number)?;
        action.has_ended = true;
        action.waits = None;
        Some(std::mem::take(&mut action.came))
    }

    /// The call of an action has ended; whether its record is kept back, because more of its steps may be fed.
    pub(super) fn keep(&mut self, number: u64, call: CallId) -> bool {
        let Some(action) = self.known.get_mut(&number).filter(|action| !action.has_all) else { return false };
        action.kept = Some(call);
        true
    }

    /// The calls that were kept back and have all their steps.
    pub(super) fn take_complete(&mut self) -> Vec<CallId> {
        std::mem::take(&mut self.complete)
    }

    /// The record of an action is closed. Gives what its recorded steps have done or may have done, and a step of an
    /// identical action before it that acted.
    pub(super) fn close(&mut self, plan: &Plan, number: u64, record: &SimulationRecord) -> Vec<StepAct> {
        let Some(action) = self.known.get_mut(&number) else { return Vec::new() };
        action.is_closed = true;
        let (same, key) = (action.same, action.key);
        let mut acts: Vec<StepAct> = action.steps.iter().filter_map(|step| step.act(plan)).collect();
        let own = action.acted(plan, number).or_else(|| action.unknown(plan, number, record));
        let before = self.acted.get(&same).filter(|before| before.number < number).cloned();
        let among_known = || {
            let mut earlier = self.known.range(..number).filter(|(_, other)| other.same == same);
            earlier.find_map(|(number, other)| other.acted(plan, *number))
        };
        if let Some(before) = before.or_else(among_known) {
            let is_same_request = before.is_keyed && key.is_some() && before.key == key;
            acts.extend((!is_same_request).then_some(StepAct {
                before: Some(before.name),
                acts_again: true,
                ..before.act
            }));
        }
        if let Some(own) = own {
            if self.acted.len() >= MOST_ACTED {
                self.acted.clear();
            }
            let first = self.acted.entry(same).or_insert_with(|| own.clone());
            if own.number < first.number {
                *first = own;
            }
        }
        acts
    }
}

/// Whether a call is the step that has its turn.
fn is_step(call: &ActiveCall, turn: &Turn) -> bool {
    call.call.step().is_some_and(|(_, step)| *step == *turn.name) && *call.call.tool() == *turn.tool
}

impl RecordedAction {
    /// Its first recorded step that has acted, or may have, and would act again.
    fn acted(&self, plan: &Plan, number: u64) -> Option<ActedBefore> {
        let mut steps = self.steps.iter().filter(|step| !step.is_idempotent());
        steps.find_map(|step| Some(self.acted_by(number, step.has_key(), step.act(plan)?)))
    }

    /// The same of a step that is not recorded.
    fn unknown(&self, plan: &Plan, number: u64, record: &SimulationRecord) -> Option<ActedBefore> {
        let end = StepsEnd::read(record.events.iter())?;
        let step = unknown_steps(plan, &end).next()?.to_owned();
        let act = StepAct { call: CallId(0), step, by: None, before: None, is_proved: false, acts_again: true };
        Some(self.acted_by(number, false, act))
    }

    fn acted_by(&self, number: u64, is_keyed: bool, act: StepAct) -> ActedBefore {
        ActedBefore { number, name: self.name.clone(), key: self.key, is_keyed, act }
    }

    /// When a step starts that has its turn since a moment: as long after it as recorded, or at its recorded time.
    fn start(&mut self, call: &ActiveCall, since: Instant, pace: Pace) -> Instant {
        if pace == Pace::Recorded {
            return call.call.at.map_or(since, |made| made.max(since)); // its action may have waited in the recording
        }
        let gap = call.call.at.zip(self.last).map(|(made, last)| made.since(last)).unwrap_or_default();
        self.last = call.call.end().map(|(end, _)| end).or(call.call.at).or(self.last);
        since.plus(gap)
    }
}
