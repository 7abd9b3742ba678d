//! A case with its playbook: written, read back, and ready to run.

use serde_json::{Map, Value};

use super::amount::Amount;
use super::case::Case;
use super::rules::AGAIN;
use super::unmet::Unmet;
use super::write::playbook_text;
use playproof_engine::event::{Draw, ErrorFacts, Headers};
use playproof_engine::playbook::{Playbook, Retry, Tools};
use playproof_engine::sim::Plan;
use playproof_engine::time::{Duration, Instant};
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook;

/// The plan of a case's playbook.
pub(super) fn plan(case: &Case) -> Result<Plan, Unmet> {
    let text = playbook_text(case)?;
    let loaded = playbook::parse(Source::whole("the playbook of the case", text));
    let loaded = loaded.map_err(|report| Unmet::unsupported(report.to_string()))?;
    Ok(Plan::new(loaded.playbook, &Tools::default()))
}

/// How the failures of a class are sent again.
pub(super) fn retry_of<'a>(playbook: &'a Playbook, class: Option<&str>) -> Result<&'a Retry, Unmet> {
    let of = |name: &str| playbook.verdicts.iter().find(|verdict| *verdict.name == *name);
    let own = class.and_then(|class| of(&format!("{AGAIN}_{class}")));
    let retry = own.or_else(|| of(AGAIN)).and_then(|verdict| verdict.then.retry());
    retry.ok_or_else(|| Unmet::unsupported("no failure is sent again"))
}

/// A clock that steps move. It is exact: many steps below a microsecond are as long as their sum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    millis: Amount,
}

impl Clock {
    /// The clock before the first step.
    pub fn of(initial: &Map<String, Value>) -> Clock {
        Clock { millis: initial.get("now_ms").and_then(Amount::of).unwrap_or_default() }
    }

    /// Lets the milliseconds of an input pass.
    pub fn pass(&mut self, input: &Map<String, Value>, key: &str) {
        let passed = input.get(key).and_then(Amount::of).unwrap_or_default();
        self.millis = self.millis.plus(passed.max(Amount::default()));
    }

    /// Goes to the moment of an input, unless it is over.
    pub fn go_to(&mut self, input: &Map<String, Value>, key: &str) {
        self.millis = self.millis.max(input.get(key).and_then(Amount::of).unwrap_or_default());
    }

    /// The time, cut to whole microseconds.
    pub fn now(self) -> Instant {
        Instant::from_micros(self.millis.as_thousandths().unwrap_or_default())
    }
}

/// The milliseconds of an input, in whole microseconds.
pub(super) fn span(input: &Map<String, Value>, key: &str) -> Option<Duration> {
    let amount = Amount::of(input.get(key)?)?;
    amount.as_thousandths().map(Duration::from_micros)
}

/// The moment of an input.
pub(super) fn moment(input: &Map<String, Value>, key: &str) -> Option<Instant> {
    span(input, key).map(|since| Instant::ZERO.plus(since))
}

/// The draw of a step, else of its case; 0 without one.
pub(super) fn draw(case: &Case, input: &Map<String, Value>) -> Result<Draw, Unmet> {
    let find = |key| input.get(key).and_then(Amount::of);
    let of_case = |key| case.random.get(key).and_then(Amount::of);
    let billionths = match (find("r"), find("u")) {
        (Some(raw), _) => raw.as_whole(),
        (None, Some(part)) => u64::try_from(part.as_billionths()).ok(),
        (None, None) => match (of_case("r"), of_case("u")) {
            (Some(raw), _) => raw.as_whole(),
            (None, Some(part)) => u64::try_from(part.as_billionths()).ok(),
            (None, None) => Some(0),
        },
    };
    let draw = billionths.and_then(|billionths| Draw::from_billionths(u32::try_from(billionths).ok()?));
    draw.ok_or_else(|| Unmet::unsupported("a draw is at most a billion billionths"))
}

/// The facts of outcomes that are headers of the answer.
const HEADER_FACTS: [&str; 8] =
    ["exception", "failure", "timeout_type", "result", "grpc_status", "reset", "method", "unprocessed"];

/// The error that an outcome is, and the headers that came with it.
pub(super) fn error(
    outcome: &Map<String, Value>,
    headers: Option<&Map<String, Value>>,
    wish: Option<Duration>,
) -> Result<ErrorFacts, Unmet> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut error = ErrorFacts { retry_after: wish, ..ErrorFacts::default() };
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        _ => None,
    };
    for (key, value) in outcome {
        let odd = || Unmet::unsupported(format!("no failure has `{key}: {value}`"));
        match (key.as_str(), value) {
            (_, Value::Null) | ("ok" | "note", _) => {}
            ("status", _) => {
                let status = Amount::of(value).and_then(Amount::as_whole).and_then(|status| u16::try_from(status).ok());
                error.status = Some(status.ok_or_else(odd)?);
            }
            ("class", Value::String(class)) => error.kind = Some(class.as_str().into()),
            ("type", Value::String(name)) => error.message = Some(name.as_str().into()),
            ("code", _) => error.code = Some(text(value).ok_or_else(odd)?.into()),
            ("server_says", Value::Bool(is)) => error.should_retry = Some(*is),
            ("headers", Value::Object(map)) => all.extend(values(map)?),
            ("committed", Value::Bool(is)) => all.extend(is.then(|| ("committed".to_owned(), "true".to_owned()))),
            ("trait", Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                all.extend(names.map(|name| (format!("trait-{name}"), "true".to_owned())));
            }
            (fact, _) if HEADER_FACTS.contains(&fact) => {
                all.push((fact.replace('_', "-"), text(value).ok_or_else(odd)?));
            }
            _ => return Err(odd()),
        }
    }
    if let Some(headers) = headers {
        all.extend(values(headers)?);
    }
    error.headers = Headers::new(all);
    Ok(error)
}

/// The headers of a map: each has a text or several.
fn values(map: &Map<String, Value>) -> Result<Vec<(String, String)>, Unmet> {
    let mut all = Vec::new();
    for (name, value) in map {
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for value in values {
            let text = value.as_str().ok_or_else(|| Unmet::unsupported(format!("no header has `{name}: {value}`")))?;
            all.push((name.clone(), text.to_owned()));
        }
    }
    Ok(all)
}
