//! How a dispatcher says that a call has ended, and what of it the playbook's end is compared with: only what is said.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use playproof_engine::event::{EffectClaim, OutcomeKind, OutcomeWord};
use playproof_engine::plan::Plan;
use playproof_engine::sim::SimulationRecord;

use super::compared::Difference;

/// What a `done` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SaidEnd {
    pub outcome: Option<String>,
    pub effect: Option<EffectClaim>,
    pub queue: Option<String>,
}

/// What ends do not say, or say in words of their own: it is not compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncompared {
    /// Ends whose outcome is no word of the protocol.
    pub outcomes: u32,
    /// Ends that say no effect.
    pub effects: u32,
}

impl SaidEnd {
    /// Reads a `done`; a value of a wrong type and an unknown claim are errors.
    pub(super) fn read(done: &Map<String, Value>) -> Result<SaidEnd, String> {
        let text = |key: &str| match done.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(format!("`{key}` of a `done` is a text, not {other}")),
        };
        let claim = |word: String| {
            EffectClaim::parse(&word)
                .ok_or_else(|| format!("`effect` of a `done` is `applied`, `not_applied` or `unknown`, not `{word}`"))
        };
        Ok(SaidEnd {
            outcome: text("outcome")?,
            effect: text("effect")?.map(claim).transpose()?,
            queue: text("queue")?,
        })
    }

    fn has_word(&self) -> bool {
        self.outcome.as_deref().and_then(OutcomeWord::parse).is_some()
    }
}

/// The first end whose claim or queue is not the playbook's.
pub(super) fn first_false(
    record: &SimulationRecord,
    plan: &Plan,
    names: &[String],
    said: &BTreeMap<String, SaidEnd>,
) -> Option<Difference> {
    record.outcomes.iter().zip(names).find_map(|(outcome, name)| {
        let end = said.get(name)?;
        let queue = match outcome.kind {
            OutcomeKind::Escalated(queue) => Some(plan.names.queue(queue)),
            _ => None,
        };
        let difference = |key: &str, own: &str, theirs: &str| Difference {
            call: name.clone(),
            playbook: Some(format!("done {}, {key} {own}", outcome.kind.as_str())),
            dispatcher: Some(format!("done {}, {key} {theirs}", end.outcome.as_deref().unwrap_or("without a word"))),
        };
        let of_effect = end.effect.filter(|effect| *effect != outcome.claim);
        let of_queue = end.queue.as_deref().zip(queue).filter(|(theirs, own)| theirs != own);
        of_effect
            .map(|effect| difference("effect", outcome.claim.as_str(), effect.as_str()))
            .or_else(|| of_queue.map(|(theirs, own)| difference("queue", own, theirs)))
    })
}

/// What ends do not say.
pub(super) fn uncompared(said: &BTreeMap<String, SaidEnd>) -> Uncompared {
    let count =
        |is: fn(&SaidEnd) -> bool| u32::try_from(said.values().filter(|end| is(end)).count()).unwrap_or(u32::MAX);
    Uncompared { outcomes: count(|end| !end.has_word()), effects: count(|end| end.effect.is_none()) }
}
