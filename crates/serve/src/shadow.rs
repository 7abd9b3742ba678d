//! What a playbook would have done while a program does as it does: the program sends each call once, and is asked for
//! nothing more. Further requests have no answer, so that a call which needs one ends as `undetermined`.

use std::collections::BTreeSet;

use playproof_engine::drive::{Dispatcher, Want};
use playproof_engine::event::RequestKind;
use playproof_engine::ids::{AttemptNo, CallId};
use playproof_engine::time::Instant;

/// The driver of what nobody sends.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    /// The moments that are waited for, with the names of the calls.
    waits: BTreeSet<(Instant, String)>,
    /// The calls that the program has answered before the playbook would have sent them.
    answered: BTreeSet<String>,
}

impl Shadow {
    /// Wakes what waited for a moment up to now; the ends and the steps that follow.
    pub(crate) fn pass_time(&mut self, dispatcher: &mut Dispatcher, now: Instant) -> Vec<Want> {
        let mut wants = Vec::new();
        while let Some((due, name)) = self.waits.pop_first() {
            if due > now {
                self.waits.insert((due, name));
                break;
            }
            if let Some(call) = dispatcher.find(&name)
                && dispatcher.wake(due, call).is_ok()
            {
                wants.extend(self.settle(dispatcher, due));
            }
        }
        wants
    }

    /// The program has an answer to a call that was not sent.
    pub(crate) fn answer_unsent(&mut self, dispatcher: &Dispatcher, name: &str) {
        if dispatcher.find(name).is_some_and(|call| dispatcher.outcome(call).is_none()) {
            self.answered.insert(name.to_owned());
        }
    }

    /// Takes what is wanted: a first attempt waits for the program, any other request has no answer. The ends and the steps
    /// that follow.
    pub(crate) fn settle(&mut self, dispatcher: &mut Dispatcher, now: Instant) -> Vec<Want> {
        let mut kept = Vec::new();
        loop {
            let wants = dispatcher.take_wants();
            if wants.is_empty() {
                return kept;
            }
            for want in wants {
                match want {
                    Want::Send { call, asked, .. } if !self.is_sent(dispatcher, call, asked) => {
                        let _ = dispatcher.give_up(now, call, asked); // it is out: it was asked for just now
                    }
                    Want::Send { .. } => {}
                    Want::Wait { call, until } => {
                        self.waits.extend(dispatcher.made(call).map(|made| (until, made.name.clone())));
                    }
                    Want::Step { .. } => kept.push(want),
                    Want::End { call } => {
                        if let Some(made) = dispatcher.made(call) {
                            self.answered.remove(&made.name);
                        }
                        kept.push(want);
                    }
                }
            }
        }
    }

    /// Whether the program sends a request and has not answered yet.
    fn is_sent(&mut self, dispatcher: &Dispatcher, call: CallId, asked: RequestKind) -> bool {
        let is_answered = dispatcher.made(call).is_none_or(|made| self.answered.remove(&made.name));
        asked == RequestKind::Attempt(AttemptNo::FIRST) && dispatcher.action_of(call).is_none() && !is_answered
    }
}
