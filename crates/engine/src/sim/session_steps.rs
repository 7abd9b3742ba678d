//! The steps of the actions of a session: which fed calls they are, and when an action waits for one in vain.

use super::active_call::ActiveCall;
use super::record::OddStep;
use super::session::Session;
use super::session_call::StepTie;
use crate::ids::CallId;
use crate::plan::Plan;

impl Session {
    /// Keeps an action whose steps may follow, and takes a step of one; gives back any other call.
    pub(super) fn tied(&mut self, fed: Box<ActiveCall>, tie: StepTie, run: u128) -> Option<Box<ActiveCall>> {
        let named = match tie {
            StepTie::Step(of) | StepTie::NoStep(of) => self.cast.actions.find(of),
            StepTie::None | StepTie::Action { .. } => None,
        };
        let parent = named.filter(|_| matches!(tie, StepTie::Step(_)));
        for action in self.cast.actions.pass(run, fed.call.place.line, named) {
            self.event_loop.add_no_step(action);
        }
        let mut fed = fed;
        match tie {
            StepTie::Action { id, same, key } => self.cast.actions.add(id, run, (same, key), &fed),
            StepTie::Step(_) if named.is_none() => fed.record.odd_step = Some(OddStep::NoAction),
            StepTie::Step(_) | StepTie::None => {}
            StepTie::NoStep(_) => {
                fed.record.odd_step = Some(OddStep::NoStep);
                self.cast.actions.note_step(named, &fed);
            }
        }
        let Some(parent) = parent else { return Some(fed) };
        let run = fed.shared.as_ref().map(|shared| shared.run);
        if let Some(started) = self.started_calls(run) {
            started.note_start(fed.number, fed.call.end());
        }
        if let Some(start) = self.cast.feed_step(parent, fed, self.event_loop.now()) {
            self.event_loop.add_start(start, None);
        }
        None
    }

    /// Closes an action that has ended, unless more of its steps may be recorded: what they have done counts for it.
    pub(super) fn close_or_keep(&mut self, plan: &Plan, call: CallId) {
        let Some(Some(live)) = self.cast.live.get(call.index()) else { return };
        if !self.cast.actions.keep(live.number, call) {
            self.close(plan, call);
        }
    }

    /// Closes the actions that ended before all of their recorded steps were known.
    pub(super) fn close_complete(&mut self, plan: &Plan) {
        for call in self.cast.actions.take_complete() {
            self.close(plan, call);
        }
    }

    /// All recorded steps are fed: actions that wait for one, or will, wait in vain.
    pub(super) fn end_waits_for_steps(&mut self) {
        for action in self.cast.actions.pass_all() {
            self.event_loop.add_no_step(action);
        }
    }
}
