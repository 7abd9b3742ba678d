//! What a driver says: from a line to a value in which nothing is missing. Knows no calls.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use playproof_engine::call::Reply;
use playproof_engine::drive::NewCall;
use playproof_engine::event::{Act, Draw, EffectClaim, ErrorFacts, Headers, KindFrom};
use playproof_engine::ids::AttemptNo;
use playproof_engine::time::{Duration, Instant};
use playproof_formats::number::Decimal;

use crate::error::{ErrorCode, LineError};
use crate::protocol::PROTOCOL;
use crate::wrong_type::what_is_wrong;

/// A line of a driver.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// A driver begins.
    Hello(Hello),
    /// Something happens to a call.
    Input(Instant, Input),
    /// A question that changes nothing.
    Ask(Question),
}

/// How a driver begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hello {
    /// Everything that came before is forgotten.
    pub anew: bool,
    /// Whether answers have the decisions.
    pub events: bool,
    /// Whether the driver is the program that spoke before, which still has the state of its transactions.
    pub goes_on: bool,
    /// The forms of what the agent gets that ends have, as they were named.
    pub messages: Vec<String>,
}

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A call is made, or something is done with a transaction.
    Call(Box<NewCall>),
    /// An answer to a request comes.
    Answer(Box<GivenAnswer>),
    /// A moment for which a call asked has come.
    Wake(String),
    /// The caller of a call goes away.
    Cancel(String),
    /// A person says what an escalated call did.
    Resolve(String, Resolved),
    /// A run makes no more calls.
    EndRun(String),
}

/// An answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenAnswer {
    /// The call.
    pub id: String,
    /// The request.
    pub to: Asked,
    /// What came.
    pub came: Came,
    /// How long the clock of the request stood still.
    pub held: Duration,
    /// The luck of the wait that follows.
    pub draw: Option<Draw>,
}

/// A request, as a driver names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// An attempt.
    Attempt(AttemptNo),
    /// The refresh that is out.
    Refresh,
    /// The reversal.
    Reversal,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// An answer.
    Reply(Reply),
    /// Nothing in time.
    Timeout,
    /// Nothing, and nothing ever will.
    Lost,
    /// An answer to an attempt after its timeout.
    Late(Reply),
}

/// What a person said of a call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Resolved {
    /// Whether it acted.
    pub is_applied: bool,
    /// Who said so.
    pub by: String,
}

impl Resolved {
    /// What it did, as a claim.
    pub const fn effect(&self) -> EffectClaim {
        if self.is_applied { EffectClaim::Applied } else { EffectClaim::NotApplied }
    }
}

/// A question of a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Which actions are valid in a run now.
    Next(String),
    /// The calls of a run, or of all.
    History(Option<String>),
    /// The facts of a tool.
    Tool(String),
}

/// The fields of any line.
#[derive(Debug, Deserialize)]
struct Fields<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    protocol: Option<Cow<'a, str>>,
    events: Option<bool>,
    anew: Option<bool>,
    goes_on: Option<bool>,
    messages: Option<Vec<String>>,
    #[serde(borrow)]
    tools: Option<BTreeMap<String, ToolFields<'a>>>,
    id: Option<String>,
    #[serde(borrow)]
    at_ms: Option<&'a RawValue>,
    tool: Option<String>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    run: Option<String>,
    transaction: Option<String>,
    name: Option<String>,
    key: Option<String>,
    token: Option<String>,
    #[serde(borrow)]
    timeout_ms: Option<&'a RawValue>,
    #[serde(borrow)]
    answer_within_ms: Option<&'a RawValue>,
    #[serde(borrow)]
    steps: Option<BTreeMap<String, Option<&'a RawValue>>>,
    attempt: Option<u32>,
    #[serde(borrow)]
    asked: Option<Cow<'a, str>>,
    ok: Option<bool>,
    #[serde(borrow)]
    error: Option<ErrorFields<'a>>,
    timeout: Option<bool>,
    accepted: Option<bool>,
    suspected: Option<bool>,
    lost: Option<bool>,
    late: Option<bool>,
    #[serde(borrow)]
    held_ms: Option<&'a RawValue>,
    #[serde(borrow)]
    draw: Option<&'a RawValue>,
    #[serde(borrow)]
    effect: Option<Cow<'a, str>>,
    by: Option<String>,
    #[serde(borrow)]
    what: Option<Cow<'a, str>>,
}

/// The facts of a tool, which are checked and no more.
#[derive(Debug, Deserialize)]
struct ToolFields<'a> {
    #[serde(rename = "declared")]
    _declared: Option<bool>,
    #[serde(rename = "idempotent")]
    _idempotent: Option<bool>,
    #[serde(borrow)]
    access: Option<Cow<'a, str>>,
    #[serde(borrow)]
    retry: Option<Cow<'a, str>>,
    #[serde(borrow)]
    keys: Option<Cow<'a, str>>,
    #[serde(borrow)]
    once: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timeout_ms: Option<&'a RawValue>,
}

/// The error of an answer.
#[derive(Debug, Deserialize)]
struct ErrorFields<'a> {
    kind: Option<Box<str>>,
    message: Option<Box<str>>,
    status: Option<u16>,
    code: Option<Box<str>>,
    #[serde(borrow)]
    retry_after_ms: Option<&'a RawValue>,
    should_retry: Option<bool>,
    headers: Option<BTreeMap<String, Value>>,
    kind_from: Option<Cow<'a, str>>,
}

impl Said {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(line: &str) -> Result<Said, LineError> {
        let fields: Fields<'_> = serde_json::from_str(line).map_err(|error| bad(what_is_wrong(line, &error)))?;
        let kind = fields.kind.as_deref().ok_or_else(|| missing("type"))?.to_owned();
        let at = || moment(fields.at_ms);
        let id = || filled(fields.id.clone(), "id");
        Ok(match &*kind {
            "hello" => Said::Hello(fields.hello()?),
            "ask" => Said::Ask(fields.question()?),
            "call" => Said::Input(at()?, Input::Call(Box::new(fields.call()?))),
            "answer" => Said::Input(at()?, Input::Answer(Box::new(fields.answer()?))),
            "wake" => Said::Input(at()?, Input::Wake(id()?)),
            "cancel" => Said::Input(at()?, Input::Cancel(id()?)),
            "resolve" => {
                let is_applied = match fields.effect.as_deref() {
                    Some("applied") => true,
                    Some("not_applied") => false,
                    _ => return Err(bad("`effect` is `applied` or `not_applied`")),
                };
                Said::Input(at()?, Input::Resolve(id()?, Resolved { is_applied, by: filled(fields.by.clone(), "by")? }))
            }
            "end_run" => Said::Input(at()?, Input::EndRun(fields.run.clone().ok_or_else(|| missing("run"))?)),
            other => match Act::parse(other) {
                Some(act) => Said::Input(at()?, Input::Call(Box::new(fields.act(act)?))),
                None => return Err(LineError::new(ErrorCode::UnknownType, format!("unknown type `{other}`"))),
            },
        })
    }
}

impl Fields<'_> {
    fn hello(self) -> Result<Hello, LineError> {
        let protocol = self.protocol.as_deref().ok_or_else(|| missing("protocol"))?;
        if protocol != PROTOCOL {
            return Err(LineError::new(ErrorCode::UnknownType, format!("the protocol is `{PROTOCOL}`")));
        }
        self.tools.unwrap_or_default().into_iter().try_for_each(|(name, tool)| tool.check(&name))?;
        Ok(Hello {
            anew: self.anew.unwrap_or_default(),
            goes_on: self.goes_on.unwrap_or_default(),
            events: self.events.unwrap_or_default(),
            messages: self.messages.unwrap_or_default(),
        })
    }

    fn question(self) -> Result<Question, LineError> {
        match self.what.as_deref().ok_or_else(|| missing("what"))? {
            "next" => Ok(Question::Next(self.run.ok_or_else(|| missing("run"))?)),
            "history" => Ok(Question::History(self.run)),
            "tool" => Ok(Question::Tool(self.tool.ok_or_else(|| missing("tool"))?)),
            _ => Err(LineError::new(ErrorCode::UnknownType, "`what` is `next`, `history` or `tool`")),
        }
    }

    fn call(self) -> Result<NewCall, LineError> {
        let (mut steps, mut unknown_steps) = (BTreeMap::new(), Vec::new());
        for (step, args) in self.steps.unwrap_or_default() {
            match args {
                Some(args) => drop(steps.insert(step, args.get().to_owned())),
                None => unknown_steps.push(step),
            }
        }
        Ok(NewCall {
            name: filled(self.id, "id")?,
            run: self.run.unwrap_or_default(),
            tool: filled(self.tool, "tool")?,
            args: self.args.map_or_else(|| "{}".to_owned(), |args| args.get().to_owned()),
            key: self.key.filter(|key| !key.is_empty()),
            token: self.token.filter(|token| !token.is_empty()),
            transaction: self.transaction.filter(|label| !label.is_empty()),
            timeout: span(self.timeout_ms, "timeout_ms")?,
            answer_within: span(self.answer_within_ms, "answer_within_ms")?,
            steps,
            unknown_steps,
            ..NewCall::default()
        })
    }

    /// What is done with a transaction; a write of state has a name.
    fn act(self, act: Act) -> Result<NewCall, LineError> {
        let name = if act == Act::State { filled(self.name, "name")? } else { act.as_str().to_owned() };
        Ok(NewCall {
            name: filled(self.id, "id")?,
            run: self.run.unwrap_or_default(),
            transaction: self.transaction.filter(|label| !label.is_empty()),
            act: Some(act),
            tool: name,
            args: self.args.map_or_else(|| "{}".to_owned(), |args| args.get().to_owned()),
            ..NewCall::default()
        })
    }

    fn answer(self) -> Result<GivenAnswer, LineError> {
        let to = match (self.attempt, self.asked.as_deref()) {
            (Some(attempt), None) if attempt > 0 => Asked::Attempt(AttemptNo::new(attempt)),
            (None, Some("refresh")) => Asked::Refresh,
            (None, Some("reversal")) => Asked::Reversal,
            _ => return Err(bad("an answer has `attempt` (from 1), or `asked`: `refresh` or `reversal`")),
        };
        let draw = match self.draw {
            None => None,
            Some(draw) => Some(Draw::parse(draw.get()).ok_or_else(|| bad("`draw` is a number from 0 to 1"))?),
        };
        let error = self.error.map(ErrorFields::facts).transpose()?.map(Arc::new);
        let says = |flag: Option<bool>| flag == Some(true);
        let is_more = says(self.accepted) || says(self.suspected) || says(self.timeout) || says(self.lost);
        let ok = self.ok.filter(|ok| *ok || !is_more); // what is not `ok` is said by the others
        let came = match (says(self.accepted), says(self.suspected), says(self.timeout), says(self.lost), ok) {
            (true, false, false, false, None) => Came::Reply(Reply::Unfinished(error)),
            (false, true, false, false, None) => Came::Reply(Reply::Suspected(error)),
            (false, false, true, false, None) if error.is_none() => Came::Timeout,
            (false, false, false, true, None) if error.is_none() => Came::Lost,
            (false, false, false, false, Some(true)) if error.is_none() => Came::Reply(Reply::Ok),
            (false, false, false, false, Some(false)) => Came::Reply(Reply::Failed(error)),
            (false, false, false, false, None) if error.is_some() => Came::Reply(Reply::Failed(error)),
            _ => return Err(bad("an answer says one of `ok`, `error`, `timeout`, `accepted`, `suspected`, `lost`")),
        };
        let held = span(self.held_ms, "held_ms")?.unwrap_or_default();
        let came = match (says(self.late), to, came) {
            (false, _, came) => came,
            (true, Asked::Attempt(_), Came::Reply(reply)) => Came::Late(reply),
            (true, ..) => return Err(bad("`late` is the answer to an attempt")),
        };
        Ok(GivenAnswer { id: filled(self.id, "id")?, to, came, held, draw })
    }
}

impl ToolFields<'_> {
    fn check(&self, name: &str) -> Result<(), LineError> {
        let word = |field: &str, said: &Option<Cow<'_, str>>, words: &[&str]| match said.as_deref() {
            Some(other) if !words.contains(&other) => {
                Err(bad(format!("`tools.{name}.{field}` is `{}`, not `{other}`", words.join("` or `"))))
            }
            Some(_) | None => Ok(()),
        };
        word("access", &self.access, &["read", "write"])?;
        word("retry", &self.retry, &["never"])?;
        word("keys", &self.keys, &["ignored"])?;
        word("once", &self.once, &["transaction"])?;
        span(self.timeout_ms, &format!("tools.{name}.timeout_ms")).map(drop)
    }
}

impl ErrorFields<'_> {
    fn facts(self) -> Result<ErrorFacts, LineError> {
        let kind_from = match self.kind_from.as_deref() {
            None | Some("flag") => None,
            Some(word) => Some(KindFrom::parse(word).ok_or_else(|| bad("`kind_from` is `flag`, `code` or `text`"))?),
        };
        Ok(ErrorFacts {
            kind: self.kind,
            message: self.message,
            status: self.status,
            code: self.code,
            retry_after: span(self.retry_after_ms, "retry_after_ms")?,
            should_retry: self.should_retry,
            retriable: None,
            headers: headers(self.headers.unwrap_or_default())?,
            kind_from,
        })
    }
}

/// The headers of an object whose values are texts, numbers, booleans or lists of them; `null` is no value.
fn headers(all: BTreeMap<String, Value>) -> Result<Headers, LineError> {
    let mut pairs = Vec::new();
    for (name, value) in all {
        let values = match value {
            Value::Null => continue,
            Value::Array(values) => values,
            one => vec![one],
        };
        for value in values {
            let text = match value {
                Value::String(text) => text,
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                _ => return Err(bad("a header is a text, a number, a boolean or a list of them")),
            };
            pairs.push((name.clone(), text));
        }
    }
    Ok(Headers::new(pairs))
}

/// The latest moment, and the longest span, in milliseconds; the schema says so.
const MILLIS_MAX: u64 = 18_446_744_073_709_551;

/// A moment in milliseconds; decimals beyond the third are dropped.
fn moment(raw: Option<&RawValue>) -> Result<Instant, LineError> {
    let span = span(raw, "at_ms")?.ok_or_else(|| missing("at_ms"))?;
    Ok(Instant::ZERO.plus(span))
}

fn span(raw: Option<&RawValue>, name: &str) -> Result<Option<Duration>, LineError> {
    let Some(raw) = raw else { return Ok(None) };
    let micros = Decimal::parse(raw.get()).and_then(|number| number.scaled(3));
    let micros = micros
        .filter(|micros| *micros <= MILLIS_MAX * 1_000)
        .ok_or_else(|| bad(format!("`{name}` is a number of milliseconds from 0 to {MILLIS_MAX}")))?;
    Ok(Some(Duration::from_micros(micros)))
}

/// A text that must be there and say something.
fn filled(field: Option<String>, name: &str) -> Result<String, LineError> {
    field.filter(|text| !text.is_empty()).ok_or_else(|| missing(name))
}

fn bad(text: impl Into<String>) -> LineError {
    LineError::new(ErrorCode::BadLine, text)
}

fn missing(field: &str) -> LineError {
    bad(format!("`{field}` is missing"))
}
