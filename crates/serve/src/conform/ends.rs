//! How a dispatcher says that a call has ended, and what of it the playbook's end is compared with: only what is said.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use playproof_engine::event::{EffectClaim, OutcomeWord};

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

/// What ends do not say.
pub(super) fn uncompared(said: &BTreeMap<String, SaidEnd>) -> Uncompared {
    let count =
        |is: fn(&SaidEnd) -> bool| u32::try_from(said.values().filter(|end| is(end)).count()).unwrap_or(u32::MAX);
    Uncompared { outcomes: count(|end| !end.has_word()), effects: count(|end| end.effect.is_none()) }
}
