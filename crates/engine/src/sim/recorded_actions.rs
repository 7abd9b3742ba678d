//! The recorded steps of the actions of a session. Calls are fed in the order in which they were made, so a step comes after
//! its action, perhaps when the action waits for it. Simulates nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::active_calls::ActiveCall;
use crate::ids::{CallId, StepId};
use crate::time::Instant;

/// The most actions that are kept; those that ended are forgotten beyond that.
const MOST: usize = 1_024;

/// The actions of a session that may get more steps.
#[derive(Debug, Default)]
pub(super) struct RecordedActions {
    /// By the number of their calls.
    known: BTreeMap<u64, RecordedAction>,
    /// The numbers by the hashes of their ids; the latest call with an id has it.
    ids: BTreeMap<u128, u64>,
}

#[derive(Debug)]
struct RecordedAction {
    id: u128,
    run: u128,
    /// The line of its recorded end: a call on a later line is none of its steps.
    end_line: Option<u64>,
    /// Steps that were fed and had no turn yet.
    came: VecDeque<Box<ActiveCall>>,
    /// The step that it waits for, and since when.
    waits: Option<Turn>,
    /// When the step before had ended in the recording, or the action was made.
    last: Option<Instant>,
    has_all: bool,
    has_ended: bool,
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
    /// An action is fed; `id` and `run` are hashes.
    pub(super) fn add(&mut self, id: u128, run: u128, call: &ActiveCall) {
        if self.known.len() >= MOST {
            self.known.retain(|_, action| !action.has_ended);
            let known = &self.known;
            self.ids.retain(|_, number| known.contains_key(number));
        }
        let recorded = &call.call;
        let answered = recorded.answers.iter().map(|answer| answer.place.line).max();
        let ended = recorded.dispatch.as_ref().and_then(|dispatch| dispatch.ended).map(|(_, line)| line);
        let action = RecordedAction {
            id,
            run,
            end_line: ended.or(answered),
            came: VecDeque::new(),
            waits: None,
            last: recorded.at,
            has_all: false,
            has_ended: false,
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
        let Some(action) = self.known.get_mut(&number).filter(|action| !action.has_ended) else {
            return Fed::TooLate(call);
        };
        match action.waits.take_if(|turn| is_step(&call, &turn.name)) {
            Some(turn) => {
                let start = action.start(&call, turn.since);
                Fed::Starts(call, turn, start)
            }
            None => {
                action.came.push_back(call);
                Fed::Kept
            }
        }
    }

    /// A call of a run on this line is fed that is no step of theirs: actions that ended before have all their steps.
    /// Returns those that wait for one in vain.
    pub(super) fn pass(&mut self, run: u128, line: u64, parent: Option<u64>) -> Vec<CallId> {
        let mut in_vain = Vec::new();
        let (known, ids) = (&mut self.known, &mut self.ids);
        known.retain(|number, action| {
            let is_over = action.run == run && action.end_line.is_some_and(|end| end < line) && parent != Some(*number);
            if is_over {
                action.has_all = true;
                in_vain.extend(action.waits.take().map(|turn| turn.action));
            }
            let is_done = is_over && action.has_ended;
            if is_done && ids.get(&action.id) == Some(number) {
                ids.remove(&action.id);
            }
            !is_done
        });
        in_vain
    }

    /// No more calls are fed: those that wait for a step wait in vain.
    pub(super) fn pass_all(&mut self) -> Vec<CallId> {
        let all = self.known.values_mut();
        let waiting = all.filter_map(|action| {
            action.has_all = true;
            action.waits.take()
        });
        waiting.map(|turn| turn.action).collect()
    }

    /// The action asks for a step.
    pub(super) fn ask(&mut self, number: u64, turn: Turn) -> Asked {
        let Some(action) = self.known.get_mut(&number) else { return Asked::Missing };
        let place = action.came.iter().position(|call| is_step(call, &turn.name));
        match place.and_then(|place| action.came.remove(place)) {
            Some(call) => {
                let start = action.start(&call, turn.since);
                Asked::Came(call, start)
            }
            None if action.has_all => Asked::Missing,
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
}

fn is_step(call: &ActiveCall, name: &str) -> bool {
    call.call.step().is_some_and(|(_, step)| step == name)
}

impl RecordedAction {
    /// When a step starts that has its turn since a moment: as long after it as recorded.
    fn start(&mut self, call: &ActiveCall, since: Instant) -> Instant {
        let gap = call.call.at.zip(self.last).map(|(made, last)| made.since(last)).unwrap_or_default();
        self.last = call.call.end().map(|(end, _)| end).or(call.call.at).or(self.last);
        since.plus(gap)
    }
}
