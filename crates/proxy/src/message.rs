//! What matters of a JSON-RPC message: borrowed from its line. What is not read here passes as it is.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A message.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) error: Option<&'a RawValue>,
}

/// What a message is, for a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A request to call a tool.
    Call,
    /// Another request.
    Request,
    /// The answer to a request.
    Answer,
    /// Its sender waits no longer for an answer.
    Cancelled,
    /// A request goes on.
    Progress,
    /// Anything else.
    Other,
}

impl<'a> Message<'a> {
    /// None: it is no message, and nobody's business.
    pub(crate) fn parse(line: &'a str) -> Option<Message<'a>> {
        if !line.trim_start().starts_with('{') {
            return None;
        }
        serde_json::from_str(line).ok()
    }

    pub(crate) fn kind(&self) -> Kind {
        match (self.method.as_deref(), self.id) {
            (Some("tools/call"), Some(_)) => Kind::Call,
            (Some(_), Some(_)) => Kind::Request,
            (Some("notifications/cancelled"), None) => Kind::Cancelled,
            (Some("notifications/progress"), None) => Kind::Progress,
            (Some(_) | None, None) => Kind::Other,
            (None, Some(_)) => Kind::Answer,
        }
    }

    /// Its id, so that the same id is the same text: 1 and "1" differ, "1" and "\u0031" do not.
    pub(crate) fn name(&self) -> Option<String> {
        self.id.and_then(name_of)
    }

    pub(crate) fn params(&self) -> Option<Params<'a>> {
        serde_json::from_str(self.params?.get()).ok()
    }
}

/// An id or a token, as it is compared; none: it is neither a text nor a number.
pub(crate) fn name_of(id: &RawValue) -> Option<String> {
    match id.get().as_bytes().first()? {
        b'"' => serde_json::from_str::<String>(id.get()).ok().map(|text| format!("\"{text}\"")),
        b'-' | b'0'..=b'9' => Some(id.get().to_owned()),
        _ => None,
    }
}

/// The parameters of the messages that matter.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Params<'a> {
    #[serde(borrow)]
    pub(crate) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    pub(crate) meta: Option<BTreeMap<Cow<'a, str>, &'a RawValue>>,
    #[serde(borrow)]
    pub(crate) task: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) input_responses: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) request_state: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) request_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) progress_token: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) progress: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) total: Option<&'a RawValue>,
    pub(crate) reason: Option<String>,
}

impl<'a> Params<'a> {
    pub(crate) fn of_meta(&self, key: &str) -> Option<&'a RawValue> {
        self.meta.as_ref()?.get(key).copied()
    }

    /// The token by which the client wants to hear of progress.
    pub(crate) fn token(&self) -> Option<&'a RawValue> {
        self.of_meta("progressToken")
    }

    /// Whether the call is of the protocol without `initialize`.
    pub(crate) fn is_new_era(&self) -> bool {
        self.of_meta("io.modelcontextprotocol/protocolVersion").is_some()
    }

    /// Whether it is an earlier call, sent once more with what the server asked for.
    pub(crate) fn goes_on(&self) -> bool {
        self.input_responses.is_some() || self.request_state.is_some()
    }

    /// Which call goes on: its tool, its arguments and the state that the server gave.
    pub(crate) fn leg(&self, state: Option<&RawValue>) -> String {
        let raw = |value: Option<&RawValue>| value.map_or("", RawValue::get).to_owned();
        format!("{}\0{}\0{}", self.name.as_deref().unwrap_or_default(), raw(self.arguments), raw(state))
    }
}

/// What matters of a result.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallResult<'a> {
    #[serde(borrow)]
    pub(crate) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) is_error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) result_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) request_state: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) task: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    pub(crate) meta: Option<&'a RawValue>,
}

/// What matters of an error.
#[derive(Debug, Deserialize)]
pub(crate) struct CallError<'a> {
    #[serde(borrow)]
    pub(crate) code: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) message: Option<&'a RawValue>,
}

/// The codes on which a client acts itself, or that are about the message and not the tool.
const OF_PROTOCOL: [&str; 9] =
    ["-32700", "-32600", "-32601", "-32602", "-32002", "-32042", "-32020", "-32021", "-32022"];

/// What an answer to a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    /// The server says that it worked.
    Fine,
    /// The server says that it failed.
    Failed,
    /// An error of the protocol.
    OfProtocol,
    /// The server asks for something first.
    AsksInput,
    /// The server has begun a task.
    Task,
}

impl Message<'_> {
    pub(crate) fn answer_kind(&self) -> AnswerKind {
        if let Some(error) = self.error {
            let error: Option<CallError<'_>> = serde_json::from_str(error.get()).ok();
            let code = error.and_then(|error| error.code.map(RawValue::get));
            return match code.is_some_and(|code| OF_PROTOCOL.contains(&code)) {
                true => AnswerKind::OfProtocol,
                false => AnswerKind::Failed,
            };
        }
        let result = self.call_result().unwrap_or_default();
        match result.result_type.as_deref() {
            Some("input_required") => AnswerKind::AsksInput,
            Some("task") => AnswerKind::Task,
            _ if result.task.is_some() && result.content.is_none() => AnswerKind::Task,
            _ if result.is_error.is_some_and(|said| ["true", "1"].contains(&said.get().trim_matches('"'))) => {
                AnswerKind::Failed
            }
            _ => AnswerKind::Fine,
        }
    }

    pub(crate) fn call_result(&self) -> Option<CallResult<'_>> {
        serde_json::from_str(self.result?.get()).ok()
    }
}
