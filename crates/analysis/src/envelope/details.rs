//! The details of a told failure, in their order: what is computed, then what the playbook's author adds.

use serde::{Serialize, Serializer};

use playproof_engine::event::{AdmissionRefusal, Told, Transcript};

use super::call::{EnvelopeCall, ToldFailure};

/// Details by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details<'a>(pub Vec<(&'a str, Detail<'a>)>);

/// The value of a detail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Detail<'a> {
    /// A number.
    Number(u64),
    /// A text.
    Text(&'a str),
    /// Several texts.
    Texts(Vec<&'a str>),
}

impl<'a> Details<'a> {
    /// The details of a failed call.
    pub fn of(told: &Told, transcript: &Transcript<'a>, call: &EnvelopeCall<'a>) -> Details<'a> {
        let mut details = Vec::new();
        let mut add = |name, value: Option<Detail<'a>>| details.extend(value.map(|value| (name, value)));
        add("status", told.status.map(|status| Detail::Number(status.into())));
        add("retried", Some(Detail::Number(told.retried.into())));
        add("retry", told.retry.map(|retry| Detail::Text(retry.as_str())));
        add("retry_after_ms", told.retry_after.map(|wait| Detail::Number(wait.as_millis())));
        add("step", call.step.map(Detail::Text));
        let texts = |all: &[&'a str]| (!all.is_empty()).then(|| Detail::Texts(all.to_vec()));
        add("completed_steps", texts(call.completed_steps));
        for (name, text) in told.verdict.map(|verdict| transcript.names.details(verdict)).unwrap_or_default() {
            add(name, Some(Detail::Text(text)));
        }
        Details(details)
    }

    /// The text of a detail.
    pub fn text(&self, wanted: &str) -> Option<&'a str> {
        self.0.iter().find_map(|(name, value)| match value {
            Detail::Text(text) if *name == wanted => Some(*text),
            _ => None,
        })
    }
}

impl<'a> ToldFailure<'a> {
    /// The details; where the order of actions is why the call was refused, also what is valid now.
    pub(super) fn details(&self) -> Details<'a> {
        let mut details = Details::of(self.told, self.transcript, self.call);
        let refused = self.refused();
        let order = matches!(refused, Some(AdmissionRefusal::InvalidTransition | AdmissionRefusal::UnknownAction));
        if let Some(next) = self.call.next.filter(|_| order) {
            details.0.push(("valid_next_actions", Detail::Texts(next.names())));
            details.0.push(("withheld", Detail::Texts(next.withheld.to_vec())));
        }
        details
    }
}

impl Serialize for Details<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
