//! Reads a file of published cases (`retry-case/1`): what is wrong with it, and where. Runs nothing.

use std::fmt;

use serde_json::{Map, Value};

use super::amount::Amount;

/// The name of the format.
pub const FORMAT: &str = "retry-case/1";

/// The most repetitions of a step.
const MOST_REPEATS: u64 = 10_000;

/// A file of cases.
#[derive(Clone, Debug)]
pub struct CaseFile {
    /// The system whose behaviour the cases pin.
    pub suite: String,
    /// Never empty; each id occurs once.
    pub cases: Vec<Case>,
}

/// What one case pins: a policy, steps, and what each step must show.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name, unique in its file.
    pub id: String,
    /// What it is about.
    pub kind: CaseKind,
    /// The policy that a playbook must express.
    pub policy: Map<String, Value>,
    /// The state before the first step.
    pub initial: Map<String, Value>,
    /// The draw of every step that has none of its own.
    pub random: Map<String, Value>,
    /// In their order.
    pub steps: Vec<CaseStep>,
    /// What must hold in the end.
    pub expect: Map<String, Value>,
    /// How far times may be from what is expected, in milliseconds.
    pub tolerance_ms: Option<Amount>,
    /// Whether only its steps move the clock, and waits do not.
    pub manual_clock: bool,
}

/// One step of a case.
#[derive(Clone, Debug)]
pub struct CaseStep {
    /// What happens, of those of the case's kind.
    pub op: String,
    /// How it happens.
    pub input: Map<String, Value>,
    /// What it must show.
    pub expect: Map<String, Value>,
    /// How often it happens, from 1.
    pub repeat: u64,
}

/// What a case is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseKind {
    /// Calls with their attempts.
    Retry,
    /// Waits.
    Backoff,
    /// The states of a breaker.
    Breaker,
    /// Retries that calls share.
    Budget,
    /// Idempotency keys.
    Dedupe,
    /// What a breaker counts.
    Window,
    /// Which failures are sent again.
    Classify,
    /// What a header says of waiting.
    ServerDelayParse,
    /// Requests that are sent before the answer of another one.
    Hedge,
    /// Rates that adapt.
    RateLimiter,
    /// Random refusals.
    ThrottleProbability,
    /// Policies that a system refuses or repairs.
    Validate,
}

impl CaseKind {
    const ALL: [CaseKind; 12] = [
        CaseKind::Retry,
        CaseKind::Backoff,
        CaseKind::Breaker,
        CaseKind::Budget,
        CaseKind::Dedupe,
        CaseKind::Window,
        CaseKind::Classify,
        CaseKind::ServerDelayParse,
        CaseKind::Hedge,
        CaseKind::RateLimiter,
        CaseKind::ThrottleProbability,
        CaseKind::Validate,
    ];

    /// Its word in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            CaseKind::Retry => "retry",
            CaseKind::Backoff => "backoff",
            CaseKind::Breaker => "breaker",
            CaseKind::Budget => "budget",
            CaseKind::Dedupe => "dedupe",
            CaseKind::Window => "window",
            CaseKind::Classify => "classify",
            CaseKind::ServerDelayParse => "server_delay_parse",
            CaseKind::Hedge => "hedge",
            CaseKind::RateLimiter => "rate_limiter",
            CaseKind::ThrottleProbability => "throttle_probability",
            CaseKind::Validate => "validate",
        }
    }

    /// The words of its steps.
    const fn ops(self) -> &'static [&'static str] {
        match self {
            CaseKind::Retry => &["call", "response"],
            CaseKind::Backoff => &["delay", "next", "reset"],
            CaseKind::Breaker => {
                &["execute", "acquire", "record", "release", "transition", "reset", "advance", "at", "query"]
            }
            CaseKind::Budget => &[
                "acquire",
                "success",
                "failure",
                "release",
                "deposit",
                "deposit_then_withdraw",
                "set",
                "configure",
                "replace",
                "advance",
                "at",
                "query",
            ],
            CaseKind::Dedupe => &["begin", "complete", "advance", "at"],
            CaseKind::Window => &["record", "advance", "at", "reset", "query"],
            CaseKind::Classify => &["classify"],
            CaseKind::ServerDelayParse => &["parse"],
            CaseKind::Hedge => &["start", "at", "result", "other_call_failed"],
            CaseKind::RateLimiter => {
                &["response", "acquire", "cubic_success", "cubic_throttle", "measure", "set_rate", "advance", "at"]
            }
            CaseKind::ThrottleProbability => &["rate"],
            CaseKind::Validate => &["validate"],
        }
    }
}

/// What is wrong with a file of cases, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseError {
    /// A JSON pointer; for a text that is not JSON, a line and a column.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Reads a file of cases.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn read_cases(text: &str) -> Result<CaseFile, CaseError> {
    let root: Value = serde_json::from_str(text).map_err(|error| CaseError {
        place: format!("line {}, column {}", error.line(), error.column()),
        message: "this is no JSON".into(),
    })?;
    let root = Part { place: String::new(), value: &root }.object()?;
    let format = root.required("schema")?;
    match format.text()? {
        FORMAT => {}
        other => return Err(format.error(format!("expected `{FORMAT}`, got `{other}`"))),
    }
    let all = root.required("cases")?;
    let mut cases: Vec<Case> = Vec::new();
    for part in all.list()? {
        let case = case(&part)?;
        if cases.iter().any(|other| other.id == case.id) {
            return Err(part.error(format!("a second case is called `{}`", case.id)));
        }
        cases.push(case);
    }
    if cases.is_empty() {
        return Err(all.error("there is no case"));
    }
    Ok(CaseFile { suite: root.required("suite")?.text()?.to_owned(), cases })
}

fn case(part: &Part<'_>) -> Result<Case, CaseError> {
    let part = part.object()?;
    let kind = part.required("kind")?;
    let word = kind.text()?;
    let of_word = CaseKind::ALL.into_iter().find(|one| one.as_str() == word);
    let kind = of_word.ok_or_else(|| kind.error(format!("unknown kind `{word}`")))?;
    let random = part.map("random")?;
    check_draws(&part, "random", &random)?;
    let steps = part.required("steps")?;
    let steps: Vec<CaseStep> = steps.list()?.iter().map(|part| step(part, kind)).collect::<Result<_, _>>()?;
    Ok(Case {
        id: part.required("id")?.text()?.to_owned(),
        kind,
        policy: part.required("policy")?.object()?.value.clone(),
        initial: part.map("initial")?,
        random,
        steps,
        expect: part.map("expect")?,
        manual_clock: part.optional("clock").map(|part| part.text()).transpose()? == Some("manual"),
        tolerance_ms: part.optional("tol_ms").map(|part| part.amount()).transpose()?,
    })
}

fn step(part: &Part<'_>, kind: CaseKind) -> Result<CaseStep, CaseError> {
    let part = part.object()?;
    let op = part.required("op")?;
    let word = op.text()?;
    if !kind.ops().contains(&word) {
        let known = kind.ops().join("`, `");
        return Err(op.error(format!("unknown op `{word}`: a case of kind `{}` has `{known}`", kind.as_str())));
    }
    let input = part.map("in")?;
    check_draws(&part, "in", &input)?;
    check_types(&part, &input)?;
    let repeat = part.optional("repeat").map(|part| part.whole(1, MOST_REPEATS)).transpose()?;
    Ok(CaseStep { op: word.to_owned(), input, expect: part.map("expect")?, repeat: repeat.unwrap_or(1) })
}

/// Checks the draws of a case or of a step.
fn check_draws(part: &Object<'_>, key: &str, map: &Map<String, Value>) -> Result<(), CaseError> {
    for (name, most) in [("u", Amount::whole(1)), ("r", Amount::whole(u64::MAX))] {
        let Some(value) = map.get(name) else { continue };
        let part = Part { place: format!("{}/{key}/{name}", part.place), value };
        let amount = part.amount()?;
        if amount < Amount::whole(0) || amount > most {
            return Err(part.error(format!("expected a number from 0 to {most}")));
        }
    }
    Ok(())
}

/// The inputs of steps with one type.
const NUMBERS: [&str; 10] =
    ["n", "attempt", "deadline_ms", "duration_ms", "at_ms", "advance_ms", "ms", "for_ms", "now_ms", "count"];
const BOOLEANS: [&str; 4] = ["idempotent", "long_poll", "invalid_params", "advance"];
const TEXTS: [&str; 4] = ["key", "fingerprint", "class", "to"];

/// Checks the types of a step's inputs.
fn check_types(part: &Object<'_>, input: &Map<String, Value>) -> Result<(), CaseError> {
    for (key, value) in input {
        let part = Part { place: format!("{}/in/{key}", part.place), value };
        match key.as_str() {
            "headers" => part.object().map(drop)?,
            key if NUMBERS.contains(&key) => part.amount().map(drop)?,
            key if BOOLEANS.contains(&key) && !value.is_boolean() => return Err(part.expected("true or false")),
            key if TEXTS.contains(&key) => part.text().map(drop)?,
            _ => {}
        }
    }
    Ok(())
}

/// A value with its place.
struct Part<'a> {
    place: String,
    value: &'a Value,
}

/// An object with its place.
struct Object<'a> {
    place: String,
    value: &'a Map<String, Value>,
}

impl<'a> Part<'a> {
    fn error(&self, message: impl Into<String>) -> CaseError {
        let place = if self.place.is_empty() { "/".to_owned() } else { self.place.clone() };
        CaseError { place, message: message.into() }
    }

    fn expected(&self, what: &str) -> CaseError {
        let got = match self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        self.error(format!("expected {what}, got {got}"))
    }

    fn object(&self) -> Result<Object<'a>, CaseError> {
        let value = self.value.as_object().ok_or_else(|| self.expected("an object"))?;
        Ok(Object { place: self.place.clone(), value })
    }

    fn list(&self) -> Result<Vec<Part<'a>>, CaseError> {
        let list = self.value.as_array().ok_or_else(|| self.expected("a list"))?;
        let part = |(n, value)| Part { place: format!("{}/{n}", self.place), value };
        Ok(list.iter().enumerate().map(part).collect())
    }

    fn text(&self) -> Result<&'a str, CaseError> {
        self.value.as_str().ok_or_else(|| self.expected("a text"))
    }

    fn amount(&self) -> Result<Amount, CaseError> {
        Amount::of(self.value).ok_or_else(|| self.expected("a number"))
    }

    fn whole(&self, least: u64, most: u64) -> Result<u64, CaseError> {
        let whole = self.amount()?.as_whole().filter(|whole| (least..=most).contains(whole));
        whole.ok_or_else(|| self.error(format!("expected a whole number from {least} to {most}")))
    }
}

impl<'a> Object<'a> {
    fn optional(&self, key: &str) -> Option<Part<'a>> {
        self.value.get(key).map(|value| Part { place: format!("{}/{key}", self.place), value })
    }

    fn required(&self, key: &str) -> Result<Part<'a>, CaseError> {
        let missing = || CaseError {
            place: if self.place.is_empty() { "/".into() } else { self.place.clone() },
            message: format!("`{key}` is missing"),
        };
        self.optional(key).ok_or_else(missing)
    }

    /// The object of a key; empty without the key.
    fn map(&self, key: &str) -> Result<Map<String, Value>, CaseError> {
        self.optional(key).map_or_else(|| Ok(Map::new()), |part| part.object().map(|object| object.value.clone()))
    }
}
