//! Idempotency keys: a key is registered before any wait and bound to its tool and arguments. A call whose key is in flight
//! follows the call that has it, the leader; the result of a success is kept for a while, that of a failure never.

use std::collections::{BTreeMap, VecDeque};

use super::io::CallFacts;
use crate::event::{AdmissionRefusal, EffectClaim};
use crate::ids::{ArgsId, CallId, KeyId, ToolId, TransactionId};
use crate::playbook::{Dedupe, InFlightKey};
use crate::time::{Duration, Instant};

/// The keys that are in flight or kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Keys {
    known: BTreeMap<KeyId, Key>,
    /// Keys whose call has ended, in the order of these ends.
    ended: VecDeque<(Instant, KeyId)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// The request that the key is bound to.
    request: (ToolId, ArgsId),
    /// It is kept until this transaction is committed.
    within: Option<TransactionId>,
    stage: Stage,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    InFlight { leader: CallId, since: Instant, followers: VecDeque<CallId> },
    Succeeded { leader: CallId, at: Instant, claim: EffectClaim },
    Failed { at: Instant, claim: EffectClaim },
}

/// What a call does with its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyUse {
    /// It is sent.
    Leads,
    /// It waits for the leader.
    Follows(CallId),
    /// It gets the kept result.
    Kept { leader: CallId, age: Duration, claim: EffectClaim },
    /// It is refused.
    Refused(AdmissionRefusal),
}

/// How a leader ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeaderEnd {
    /// With a success.
    Succeeded(EffectClaim),
    /// Otherwise, with an answer.
    Failed(EffectClaim),
    /// Without an answer, and sending the request again can do no harm.
    Lost,
    /// Without an answer, and the request may have acted.
    LostUnsettled,
}

/// What the followers of a leader that ended do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Handover {
    /// They end as the leader did.
    Join(VecDeque<CallId>),
    /// The first of them leads now.
    TakesOver(CallId),
    /// They are refused.
    Unsettled(VecDeque<CallId>),
}

impl Keys {
    /// What a new call does with `key`: it follows, or leads as soon as it is registered.
    pub(super) fn look_up(
        &mut self,
        rules: &Dedupe,
        now: Instant,
        call: CallId,
        key: KeyId,
        facts: &CallFacts,
        is_bound: bool,
    ) -> KeyUse {
        self.forget(rules, now);
        let Some(known) = self.known.get_mut(&key) else { return KeyUse::Leads };
        if is_bound && known.request != (facts.tool, facts.args) {
            return KeyUse::Refused(AdmissionRefusal::KeyReused);
        }
        match &mut known.stage {
            Stage::InFlight { leader, followers, .. } => match rules.in_flight {
                InFlightKey::Refuse => KeyUse::Refused(AdmissionRefusal::KeyInFlight),
                InFlightKey::Join => {
                    followers.push_back(call);
                    KeyUse::Follows(*leader)
                }
            },
            Stage::Succeeded { leader, at, claim } => {
                KeyUse::Kept { leader: *leader, age: now.since(*at), claim: *claim }
            }
            Stage::Failed { claim, .. } if *claim != EffectClaim::NotApplied && !facts.is_safe_to_resend() => {
                KeyUse::Refused(AdmissionRefusal::Unsettled)
            }
            Stage::Failed { .. } => KeyUse::Leads,
        }
    }

    /// Registers `key` for a call that leads. A key in flight stays with its leader.
    pub(super) fn register(&mut self, now: Instant, call: CallId, key: KeyId, facts: &CallFacts) {
        if let Some(Key { stage: Stage::InFlight { .. }, .. }) = self.known.get(&key) {
            return; // only a study switch registers so late
        }
        let stage = Stage::InFlight { leader: call, since: now, followers: VecDeque::new() };
        self.known.insert(
            key,
            Key {
                request: (facts.tool, facts.args),
                within: facts.transaction.filter(|_| facts.once.is_some()),
                stage,
            },
        );
    }

    /// Notes the end of a call with `key`, and says what its followers do; none: it has none, or does not lead.
    pub(super) fn note_end(&mut self, now: Instant, key: KeyId, call: CallId, end: LeaderEnd) -> Option<Handover> {
        let known = self.known.get_mut(&key)?;
        let Stage::InFlight { leader, followers, .. } = &mut known.stage else { return None };
        if *leader != call {
            return None;
        }
        let mut followers = std::mem::take(followers);
        let (stage, handover) = match end {
            LeaderEnd::Lost => {
                let Some(first) = followers.pop_front() else {
                    self.known.remove(&key);
                    return None;
                };
                known.stage = Stage::InFlight { leader: first, since: now, followers };
                return Some(Handover::TakesOver(first));
            }
            LeaderEnd::Succeeded(claim) => {
                (Stage::Succeeded { leader: call, at: now, claim }, Handover::Join(followers))
            }
            LeaderEnd::Failed(claim) => (Stage::Failed { at: now, claim }, Handover::Join(followers)),
            LeaderEnd::LostUnsettled => {
                (Stage::Failed { at: now, claim: EffectClaim::Unknown }, Handover::Unsettled(followers))
            }
        };
        known.stage = stage;
        if known.within.is_none() {
            self.ended.push_back((now, key));
        }
        Some(handover)
    }

    /// Lets a follower lead if its leader has led for `after` and has not ended. The leader that it follows, and when it can
    /// ask again; without that moment, it leads now. None: it follows nobody.
    pub(super) fn take_over(
        &mut self,
        now: Instant,
        key: KeyId,
        follower: CallId,
        after: Duration,
    ) -> Option<(CallId, Option<Instant>)> {
        let Stage::InFlight { leader, since, followers } = &mut self.known.get_mut(&key)?.stage else { return None };
        let place = followers.iter().position(|call| *call == follower)?;
        let silent = *leader;
        let due = since.plus(after);
        if now < due {
            return Some((silent, Some(due)));
        }
        followers.remove(place);
        (*leader, *since) = (follower, now);
        Some((silent, None))
    }

    /// The call whose success is kept for a key.
    pub(super) fn kept_by(&self, key: KeyId) -> Option<CallId> {
        match self.known.get(&key)?.stage {
            Stage::Succeeded { leader, .. } => Some(leader),
            Stage::InFlight { .. } | Stage::Failed { .. } => None,
        }
    }

    /// Takes a follower away from its leader.
    pub(super) fn leave(&mut self, key: KeyId, follower: CallId) {
        if let Some(Key { stage: Stage::InFlight { followers, .. }, .. }) = self.known.get_mut(&key) {
            followers.retain(|call| *call != follower);
        }
    }

    /// Whether the key is in flight or kept.
    pub(super) fn knows(&self, key: KeyId) -> bool {
        self.known.contains_key(&key)
    }

    /// Forgets the requests of a transaction.
    pub(super) fn forget_within(&mut self, transaction: TransactionId) {
        self.known.retain(|_, known| known.within != Some(transaction));
    }

    /// Forgets the keys whose window is over, and the oldest ended ones if there are too many.
    pub(super) fn forget(&mut self, rules: &Dedupe, now: Instant) {
        let most = rules.most_keys as usize;
        while let Some(&(at, key)) = self.ended.front() {
            if now.since(at) < rules.window && self.known.len() < most {
                return;
            }
            self.ended.pop_front();
            let ended_then = self.known.get(&key).is_some_and(|known| match known.stage {
                Stage::InFlight { .. } => false,
                Stage::Succeeded { at: end, .. } | Stage::Failed { at: end, .. } => end == at,
            });
            if ended_then {
                self.known.remove(&key);
            }
        }
    }
}
