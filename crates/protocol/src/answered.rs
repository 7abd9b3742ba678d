//! What an answer of a driver does to a dispatcher: it is on time, late, or of a call whose caller went away.

use playproof_engine::drive::{Dispatcher, InputFault};
use playproof_engine::event::{Decision, Draw, RequestKind, Status};
use playproof_engine::ids::{AttemptNo, CallId};
use playproof_engine::time::Instant;

use crate::said::{Asked, Came, GivenAnswer};

/// Takes an answer; gives the draw of the wait that follows its attempt, if waits are drawn.
///
/// # Errors
/// There is no such call, or nothing lacks this answer.
pub fn take(
    dispatcher: &mut Dispatcher,
    now: Instant,
    given: &GivenAnswer,
) -> Result<Option<(AttemptNo, Draw)>, InputFault> {
    let call = dispatcher.find(&given.id).ok_or(InputFault::UnknownCall)?;
    let asked = match given.to {
        Asked::Attempt(attempt) => RequestKind::Attempt(attempt),
        Asked::Reversal => RequestKind::Reversal,
        Asked::Refresh => {
            let mut out = dispatcher.asked(call);
            out.find(|asked| matches!(asked, RequestKind::Refresh(_))).ok_or(InputFault::NotAsked)?
        }
    };
    let is_out = dispatcher.within(call, asked).is_some();
    let has_ended = dispatcher.outcome(call).is_some();
    match (asked, &given.came) {
        (RequestKind::Attempt(attempt), Came::Reply(reply) | Came::Late(reply))
            if matches!(given.came, Came::Late(_)) || (is_out && has_ended) =>
        {
            if is_out && !has_ended {
                return Err(InputFault::NotSent);
            }
            if is_out {
                dispatcher.time_out(now, call, asked)?; // the caller went away: it hears nothing
            } else if !has_timed_out(dispatcher, call, attempt) {
                return Err(InputFault::NotSent);
            }
            dispatcher.late(now, call, attempt, reply)?;
            Ok(None)
        }
        _ if !is_out => Err(InputFault::NotAsked),
        (_, came) => {
            dispatcher.hold(call, asked, given.held)?;
            let draw = match asked {
                RequestKind::Attempt(attempt) => draw(dispatcher, call, attempt, given)?,
                RequestKind::Refresh(_) | RequestKind::Reversal => None,
            };
            match came {
                Came::Reply(reply) | Came::Late(reply) => dispatcher.answer(now, call, asked, reply)?,
                Came::Timeout => dispatcher.time_out(now, call, asked)?,
                Came::Lost => dispatcher.give_up(now, call, asked)?,
            }
            Ok(draw)
        }
    }
}

/// The luck of the wait that follows an attempt.
fn draw(
    dispatcher: &mut Dispatcher,
    call: CallId,
    attempt: AttemptNo,
    given: &GivenAnswer,
) -> Result<Option<(AttemptNo, Draw)>, InputFault> {
    if let Some(draw) = given.draw {
        dispatcher.give_draw(call, attempt, draw)?;
    }
    Ok(dispatcher.draw(call, attempt).map(|draw| (attempt, draw)))
}

/// Whether an attempt has ended without an answer, and none has come since.
fn has_timed_out(dispatcher: &Dispatcher, call: CallId, attempt: AttemptNo) -> bool {
    let mut has_timed_out = false;
    for event in dispatcher.events(call) {
        match event.what {
            Decision::AttemptFinished { attempt: ended, status, .. } if ended == attempt => {
                let error = match status {
                    Status::Failed(error) => error.and_then(|id| dispatcher.error(id)),
                    Status::Ok | Status::Suspected(_) | Status::Unfinished(_) | Status::Unanswered => None,
                };
                has_timed_out = error.is_some_and(|error| error.is_own_timeout());
            }
            Decision::LateAnswer { attempt: answered, .. } if answered == attempt => has_timed_out = false,
            _ => {}
        }
    }
    has_timed_out
}
