//! How an upstream answers repeated idempotency keys.

use std::collections::BTreeMap;

use crate::event::{ErrorFacts, KeyDialect};
use crate::ids::{ArgsId, AttemptNo, CallId, KeyId, ToolId};
use crate::time::{Duration, Instant};

use super::answer::UpstreamReply;

/// The state of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct KeyState {
    args: ArgsId,
    /// When its last request is answered.
    busy_until: Instant,
    /// The request that acted; none: no request with this key has acted.
    acted: Option<ActingRequest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ActingRequest {
    by: Option<SentAttempt>,
    done: Instant,
    answer_lost: bool,
}

/// A request: the call and its attempt.
pub(super) type SentAttempt = (CallId, AttemptNo);

/// The keys that the upstream has seen.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyStore {
    seen: BTreeMap<(ToolId, KeyId), KeyState>,
}

/// The dialect's answer to a repeated key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DialectAnswer {
    pub reply: UpstreamReply,
    pub latency: Duration,
    pub acts: bool,
}

impl KeyStore {
    /// Removes every key.
    pub(super) fn clear(&mut self) {
        if !self.seen.is_empty() {
            self.seen.clear(); // to clear an empty map is slow
        }
    }

    /// Whether a request with this key came before.
    pub(super) fn knows(&self, tool: ToolId, key: KeyId) -> bool {
        self.seen.contains_key(&(tool, key))
    }

    /// Records a request that ends at `done`, with or without an effect. `by`: none before the simulation.
    pub(super) fn note(
        &mut self,
        (tool, key, args): (ToolId, KeyId, ArgsId),
        by: Option<SentAttempt>,
        done: Instant,
        acted: bool,
    ) {
        let seen = self.seen.entry((tool, key)).or_insert(KeyState { args, busy_until: done, acted: None });
        seen.busy_until = seen.busy_until.max(done);
        if acted {
            seen.acted = Some(ActingRequest { by, done, answer_lost: false });
        }
    }

    /// Records that the answer to a request was lost; this matters only for the request that acted for this key.
    pub(super) fn lose_answer(&mut self, tool: ToolId, key: KeyId, to: SentAttempt) {
        let acted = self.seen.get_mut(&(tool, key)).and_then(|seen| seen.acted.as_mut());
        if let Some(acted) = acted.filter(|acted| acted.by == Some(to)) {
            acted.answer_lost = true;
        }
    }

    /// The dialect's answer at `now` to a repeated key; none for a new key.
    pub(super) fn answer(
        &self,
        dialect: KeyDialect,
        (tool, key, args): (ToolId, KeyId, ArgsId),
        now: Instant,
    ) -> Option<DialectAnswer> {
        let seen = self.seen.get(&(tool, key))?;
        let again = DialectAnswer { reply: UpstreamReply::Ok, latency: Duration::ZERO, acts: true };
        if dialect == KeyDialect::Ietf && seen.args != args {
            return Some(refusal(422, "422_key_reused", "idempotency_key was used with other arguments"));
        }
        if dialect == KeyDialect::Ietf && seen.busy_until > now {
            return Some(refusal(409, "409_conflict", "a request with this idempotency_key is in flight"));
        }
        let Some(acted) = seen.acted else { return Some(again) };
        Some(match dialect {
            KeyDialect::None => again,
            KeyDialect::Lossy if acted.answer_lost => again,
            KeyDialect::Conflict => refusal(409, "409_conflict", "idempotency_key already processed"),
            KeyDialect::Replay | KeyDialect::Ietf | KeyDialect::Lossy => {
                DialectAnswer { reply: UpstreamReply::Ok, latency: acted.done.since(now), acts: false }
            }
        })
    }
}

fn refusal(status: u16, kind: &str, message: &str) -> DialectAnswer {
    let error = ErrorFacts {
        kind: Some(kind.into()),
        message: Some(message.into()),
        status: Some(status),
        ..ErrorFacts::default()
    };
    DialectAnswer { reply: UpstreamReply::failed(error), latency: Duration::ZERO, acts: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: (ToolId, KeyId, ArgsId) = (ToolId(0), KeyId(0), ArgsId(0));

    fn answer(dialect: KeyDialect, done_ms: u64, lost: bool, now_ms: u64) -> DialectAnswer {
        let mut keys = KeyStore::default();
        let sent = (CallId(0), AttemptNo::FIRST);
        keys.note(KEY, Some(sent), Instant::from_millis(done_ms), true);
        if lost {
            keys.lose_answer(KEY.0, KEY.1, sent);
        }
        keys.answer(dialect, KEY, Instant::from_millis(now_ms)).expect("the key was seen")
    }

    fn status(answer: &DialectAnswer) -> Option<u16> {
        match &answer.reply {
            UpstreamReply::Failed(Some(error)) => error.status,
            _ => None,
        }
    }

    #[test]
    fn the_dialect_does_not_answer_a_new_key() {
        assert_eq!(KeyStore::default().answer(KeyDialect::Replay, KEY, Instant::ZERO), None);
    }

    #[test]
    fn replay_repeats_the_first_ok_and_does_not_act() {
        let again = answer(KeyDialect::Replay, 5, true, 10);
        assert_eq!((again.reply, again.acts), (UpstreamReply::Ok, false));
    }

    #[test]
    fn ietf_distinguishes_in_flight_from_done_and_from_other_arguments() {
        assert_eq!(status(&answer(KeyDialect::Ietf, 20, true, 10)), Some(409));
        assert_eq!(answer(KeyDialect::Ietf, 5, true, 10).reply, UpstreamReply::Ok);
        let mut keys = KeyStore::default();
        keys.note(KEY, None, Instant::ZERO, false);
        let other = keys.answer(KeyDialect::Ietf, (KEY.0, KEY.1, ArgsId(7)), Instant::ZERO);
        assert_eq!(other.as_ref().and_then(status), Some(422));
    }

    #[test]
    fn ietf_says_in_flight_of_a_request_that_will_fail() {
        let mut keys = KeyStore::default();
        keys.note(KEY, None, Instant::from_millis(20), false);
        keys.note(KEY, None, Instant::from_millis(5), true);
        let at = |now_ms| keys.answer(KeyDialect::Ietf, KEY, Instant::from_millis(now_ms)).expect("the key was seen");
        assert_eq!(status(&at(19)), Some(409));
        assert_eq!((at(20).reply, at(20).acts), (UpstreamReply::Ok, false));
        let replayed = keys.answer(KeyDialect::Replay, KEY, Instant::from_millis(10));
        assert_eq!(replayed.map(|answer| answer.reply), Some(UpstreamReply::Ok));
    }

    #[test]
    fn lossy_acts_again_only_if_the_answer_was_lost() {
        assert!(answer(KeyDialect::Lossy, 5, true, 10).acts);
        assert!(!answer(KeyDialect::Lossy, 5, false, 10).acts);
    }

    #[test]
    fn none_always_acts_again_and_conflict_never_does() {
        assert!(answer(KeyDialect::None, 5, false, 10).acts);
        let refused = answer(KeyDialect::Conflict, 5, false, 10);
        assert_eq!((status(&refused), refused.acts), (Some(409), false));
    }
}
