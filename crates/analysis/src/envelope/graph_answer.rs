//! What a graph says after a call, read from its simulation: the parts of an envelope that only a gate knows.

use serde_json::Value;

use super::call::{NextActions, UnfitInput};
use playproof_engine::event::{AdmissionRefusal, OutcomeKind, Transcript};
use playproof_engine::ids::CallId;

/// A reason, the input that does not fit, and its value.
type Unfit = (String, String, Value);

/// What is valid after a call, and which of its inputs did not fit.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphAnswer<'a> {
    /// The action of the call; none: no action has its tool.
    pub action: Option<&'a str>,
    position: Option<&'a str>,
    valid: Vec<(&'a str, Option<Value>)>,
    withheld: Vec<&'a str>,
    known: Vec<&'a str>,
    unfit: Option<Unfit>,
}

impl<'a> GraphAnswer<'a> {
    /// Of a call of `tool` with these arguments; none without a graph.
    pub fn of(transcript: &Transcript<'a>, call: CallId, tool: &str, args: Option<&str>) -> Option<GraphAnswer<'a>> {
        let after = transcript.valid_after(call)?;
        let names = transcript.names;
        let schema = |text: &str| serde_json::from_str(text).ok().map(written); // canonical text that was checked before
        let valid = |id: &_| (names.action(*id), names.action_inputs(*id).and_then(schema));
        let action = names.actions.iter().find(|action| *action.tool == *tool);
        let inputs = action.and_then(|action| schema(action.inputs.as_deref()?));
        Some(GraphAnswer {
            action: action.map(|action| &*action.name),
            position: after.position.map(|id| names.action(id)),
            valid: after.next.iter().map(valid).collect(),
            withheld: after.withheld.iter().map(|id| names.action(*id)).collect(),
            known: names.actions.iter().map(|action| &*action.name).collect(),
            unfit: unfit(transcript, call, inputs.as_ref(), args),
        })
    }

    /// What is valid now.
    pub fn next(&self) -> NextActions<'_> {
        NextActions { position: self.position, valid: &self.valid, withheld: &self.withheld, known: &self.known }
    }

    /// The input that did not fit, if that is why the call was refused.
    pub fn unfit(&self) -> Option<UnfitInput<'_>> {
        self.unfit.as_ref().map(|(reason, field, got)| UnfitInput { reason, field, got })
    }
}

/// A canonical schema as people write it: one type is no list.
fn written(schema: Value) -> Value {
    let Value::Object(keys) = schema else { return schema };
    let key = |(key, value): (String, Value)| {
        let value = match (key.as_str(), value) {
            ("type", Value::Array(types)) => match <[Value; 1]>::try_from(types) {
                Ok([only]) => only,
                Err(types) => Value::Array(types),
            },
            ("items", item) => written(item),
            ("properties", Value::Object(all)) => all.into_iter().map(|(name, one)| (name, written(one))).collect(),
            (_, value) => value,
        };
        (key, value)
    };
    keys.into_iter().map(key).collect()
}

/// The reason, the input and its value. The message begins with the place: `/amount: expected integer, got string`.
fn unfit(transcript: &Transcript<'_>, call: CallId, inputs: Option<&Value>, args: Option<&str>) -> Option<Unfit> {
    let outcome = transcript.outcomes.get(call.index())?;
    let message = match outcome.kind {
        OutcomeKind::Refused(AdmissionRefusal::ValidationFailed) => {
            transcript.error(outcome.last_error?)?.message.as_deref()?
        }
        _ => return None,
    };
    let (place, _) = message.split_once(": ")?;
    let args: Value = serde_json::from_str(args?).ok()?;
    let (field, got) = (place.strip_prefix('/')?.to_owned(), args.pointer(place).cloned());
    let listed = inputs.zip(got.as_ref()).and_then(|(inputs, got)| allowed(inputs, place, got));
    let reason = listed.map_or_else(|| message.to_owned(), |listed| format!("{field} must be one of: {listed}"));
    Some((reason, field, got.unwrap_or_default())) // null: it is missing
}

/// The values that the input at `place` may have, if the schema lists them and `got` is none of them.
fn allowed(inputs: &Value, place: &str, got: &Value) -> Option<String> {
    let values = inputs.pointer(&format!("{}/enum", place.replace('/', "/properties/")))?.as_array()?;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    (!values.contains(got)).then(|| values.iter().map(text).collect::<Vec<_>>().join(", "))
}
