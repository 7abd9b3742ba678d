//! The steps of the actions of a session: which fed calls they are, and when an action waits for one in vain.

use super::active_calls::ActiveCall;
use super::session::Session;
use super::session_call::StepTie;

impl Session {
    /// Keeps an action whose steps may follow, and takes a step of one; gives back any other call.
    pub(super) fn tied(&mut self, fed: Box<ActiveCall>, tie: StepTie, run: u128) -> Option<Box<ActiveCall>> {
        let parent = match tie {
            StepTie::Step(of) => self.cast.actions.find(of),
            StepTie::None | StepTie::Action(_) => None,
        };
        for action in self.cast.actions.pass(run, fed.call.place.line, parent) {
            self.event_loop.add_no_step(action);
        }
        if let StepTie::Action(id) = tie {
            self.cast.actions.add(id, run, &fed);
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

    /// Actions that wait for a step wait in vain; whether there is one.
    pub(super) fn end_waits_for_steps(&mut self) -> bool {
        let in_vain = self.cast.actions.pass_all();
        in_vain.iter().for_each(|action| self.event_loop.add_no_step(*action));
        !in_vain.is_empty()
    }
}
