//! The details of a told failure, in their order: what is computed, then what the playbook's author adds.

use serde::{Serialize, Serializer};

use playproof_engine::event::{NoRetry, Told, Transcript};

use super::call::{EnvelopeCall, ToldFailure};

/// Details by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details(pub Vec<(String, Detail)>);

/// The value of a detail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Detail {
    /// A number.
    Number(u64),
    /// A text.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
}

impl Details {
    /// The details of a failed call.
    pub fn of(told: &Told, transcript: &Transcript<'_>, call: &EnvelopeCall<'_>) -> Details {
        let mut details = Vec::new();
        let mut add = |name: &str, value: Option<Detail>| details.extend(value.map(|value| (name.to_owned(), value)));
        add("status", told.status.map(|status| Detail::Number(status.into())));
        add("retried", Some(Detail::Number(told.retried.into())));
        add("retry", told.retry.map(NoRetry::as_str).map(|retry| Detail::Text(retry.to_owned())));
        add("retry_after_ms", told.retry_after.map(|wait| Detail::Number(wait.as_millis())));
        add("step", call.step.map(|step| Detail::Text(step.to_owned())));
        let completed = call.completed_steps.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>();
        add("completed_steps", Some(completed).filter(|steps| !steps.is_empty()).map(Detail::Texts));
        for (name, text) in told.verdict.map(|verdict| transcript.names.details(verdict)).unwrap_or_default() {
            add(name, Some(Detail::Text(text.to_string())));
        }
        Details(details)
    }

    /// The text of a detail.
    pub fn text(&self, wanted: &str) -> Option<&str> {
        self.0.iter().find_map(|(name, value)| match value {
            Detail::Text(text) if name == wanted => Some(text.as_str()),
            _ => None,
        })
    }
}

impl ToldFailure<'_> {
    pub(super) fn details(&self) -> Details {
        Details::of(self.told, self.transcript, self.call)
    }
}

impl Serialize for Details {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
