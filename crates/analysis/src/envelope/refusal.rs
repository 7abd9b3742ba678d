//! The answers of a graph of actions: five refusals and the success, each with what is valid now.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::call::{EnvelopeCall, NextActions, ToldFailure};
use playproof_engine::classify::{reads_as_at_work, reads_as_unanswered};
use playproof_engine::event::{AdmissionRefusal, ErrorFacts};
use playproof_engine::time::Duration;

/// A refusal or a success. Absent fields are not written.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RefusalEnvelope {
    /// Which refusal; none of a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'static str>,
    /// The action that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested: Option<String>,
    /// The action that succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The last action that is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// All actions, where the one asked for is none of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_actions: Option<Vec<String>>,
    /// Why the inputs do not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Which input does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<RefusalDetails>,
    /// How long an attempt may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<Seconds>,
    /// The name of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// The message of the error; redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// What happened, for people; redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The actions that are valid now; none without a graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_next_actions: Option<Vec<String>>,
    /// The withheld actions: the graph allows them, but an attempt may still be at work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    /// The schemas of their inputs, after a success, in the same order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_action_schemas: Option<ActionSchemas>,
}

/// Actions with the schemas of their inputs: an object in the author's order.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionSchemas(Vec<(String, Option<Value>)>);

impl Serialize for ActionSchemas {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, schema)| (name, schema)))
    }
}

/// The input that does not fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RefusalDetails {
    /// Its name.
    pub field: String,
    /// Its value.
    pub got: Value,
}

/// A span in seconds: a whole number, else with decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seconds(Duration);

impl Seconds {
    /// `30`, `0.2`.
    fn text(self) -> String {
        let (whole, millis) = (self.0.as_millis() / 1_000, self.0.as_millis() % 1_000);
        let decimals = format!("{millis:03}");
        match decimals.trim_end_matches('0') {
            "" => whole.to_string(),
            decimals => format!("{whole}.{decimals}"),
        }
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number: Result<serde_json::Number, _> = self.text().parse();
        number.map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl RefusalEnvelope {
    pub(super) fn of_success(call: &EnvelopeCall<'_>) -> RefusalEnvelope {
        let position = call.next.and_then(|next| next.position);
        let schema = |(name, schema): &(&str, Option<Value>)| ((*name).to_owned(), schema.clone());
        RefusalEnvelope {
            action: Some(call.name.to_owned()),
            state: position.map(str::to_owned),
            valid_next_actions: call.next.map(valid),
            withheld: withheld(call.next),
            next_action_schemas: call.next.map(|next| ActionSchemas(next.valid.iter().map(schema).collect())),
            ..RefusalEnvelope::default()
        }
    }
}

impl ToldFailure<'_> {
    pub(super) fn refusal(&self) -> RefusalEnvelope {
        let (name, next) = (self.call.name, self.call.next);
        let common = RefusalEnvelope {
            requested: Some(name.to_owned()),
            valid_next_actions: next.map(valid),
            withheld: withheld(next),
            ..RefusalEnvelope::default()
        };
        match self.refused() {
            Some(AdmissionRefusal::UnknownAction) => RefusalEnvelope {
                error: Some("unknown_action"),
                known_actions: next.map(|next| next.known.iter().map(|name| (*name).to_owned()).collect()),
                ..common
            },
            Some(AdmissionRefusal::InvalidTransition) => {
                RefusalEnvelope { error: Some("invalid_transition"), message: Some(self.not_valid()), ..common }
            }
            Some(AdmissionRefusal::ValidationFailed | AdmissionRefusal::Schema) => self.unfit(common),
            Some(why) => RefusalEnvelope { error: Some(why.as_str()), message: Some(self.message()), ..common },
            None if self.error().is_some_and(|error| reads_as_unanswered(error) || reads_as_at_work(error)) => {
                self.timeout(common)
            }
            None => self.raised(common),
        }
    }

    /// The message of a transition that does not exist, with the list as the library prints it.
    fn not_valid(&self) -> String {
        let valid = self.call.next.map(valid).unwrap_or_default();
        let valid: Vec<String> = valid.iter().map(|name| format!("'{name}'")).collect();
        let (name, why) = (self.call.name, self.out_of_order());
        format!("action '{name}' {why}. Valid actions now: [{}].", valid.join(", "))
    }

    fn unfit(&self, common: RefusalEnvelope) -> RefusalEnvelope {
        let unfit = self.call.unfit;
        RefusalEnvelope {
            error: Some("validation_failed"),
            reason: Some(unfit.map_or_else(|| self.message(), |unfit| unfit.reason.to_owned())),
            details: unfit.map(|unfit| RefusalDetails { field: unfit.field.to_owned(), got: unfit.got.clone() }),
            ..common
        }
    }

    /// The last attempt had no answer. How long it may take is said only if its error names it: how long it took is not how
    /// long it may.
    fn timeout(&self, common: RefusalEnvelope) -> RefusalEnvelope {
        let (name, said) = (self.call.name, self.message());
        let own = self.error().and_then(ErrorFacts::own_timeout).map(Seconds);
        let named = own.or_else(|| seconds_in(&said));
        let message = match (own, named) {
            (Some(seconds), _) => format!("action '{name}' exceeded its {}s timeout.", seconds.text()),
            (None, Some(_)) if said.starts_with("action ") => said,
            (None, Some(_)) => format!("action '{name}' {said}"),
            (None, None) => format!("action '{name}' got no answer: {said}"),
        };
        RefusalEnvelope { error: Some("action_timeout"), timeout_seconds: named, message: Some(message), ..common }
    }

    fn raised(&self, common: RefusalEnvelope) -> RefusalEnvelope {
        let error = self.error();
        let named = error.and_then(|error| error.code.as_deref().or(error.kind.as_deref()));
        RefusalEnvelope {
            error: Some("action_error"),
            error_type: Some(named.unwrap_or(self.told.class.as_str()).to_owned()),
            error_message: Some(self.message()),
            ..common
        }
    }
}

/// The timeout in a message of the library: `exceeded the 0.5s timeout`.
fn seconds_in(message: &str) -> Option<Seconds> {
    let (_, behind) = message.split_once("exceeded the ").or_else(|| message.split_once("exceeded its "))?;
    let (seconds, _) = behind.split_once("s timeout")?;
    let (whole, decimals) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let millis: u64 = format!("{decimals:0<3}").parse().ok().filter(|_| decimals.len() <= 3 && digits(decimals))?;
    let whole: u32 = whole.parse().ok().filter(|_| digits(whole))?;
    Some(Seconds(Duration::from_millis(u64::from(whole) * 1_000 + millis)))
}

fn valid(next: NextActions<'_>) -> Vec<String> {
    next.names().into_iter().map(str::to_owned).collect()
}

fn withheld(next: Option<NextActions<'_>>) -> Vec<String> {
    next.map(|next| next.withheld.iter().map(|name| (*name).to_owned()).collect()).unwrap_or_default()
}
