//! Compares what a step showed with what its case expects. A key that nothing shows is never passed over.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::amount::Amount;
use super::knobs::A_DAY;
use super::unmet::Unmet;
use playproof_engine::playbook::{Ratio, Tokens};
use playproof_engine::time::Duration;

/// Times are whole microseconds.
const MICROSECOND: Amount = Amount::millionths(1_000);

/// The tolerance of other numbers.
const MILLIONTH: Amount = Amount::millionths(1);

/// One value that a step shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Number(Amount),
    Text(String),
    Is(bool),
    Nothing,
}

/// What a step shows, by the keys of cases.
#[derive(Clone, Debug, Default)]
pub(super) struct Sight(BTreeMap<&'static str, Shown>);

impl Sight {
    /// The same with this value.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<Shown>) -> Sight {
        self.0.insert(key, value.into());
        self
    }
}

impl From<bool> for Shown {
    fn from(is: bool) -> Shown {
        Shown::Is(is)
    }
}

impl From<&str> for Shown {
    fn from(text: &str) -> Shown {
        Shown::Text(text.to_owned())
    }
}

impl From<u64> for Shown {
    fn from(count: u64) -> Shown {
        Shown::Number(Amount::whole(count))
    }
}

impl From<u32> for Shown {
    fn from(count: u32) -> Shown {
        u64::from(count).into()
    }
}

impl From<Amount> for Shown {
    fn from(amount: Amount) -> Shown {
        Shown::Number(amount)
    }
}

impl From<Tokens> for Shown {
    fn from(tokens: Tokens) -> Shown {
        Amount::thousandths(tokens.thousandths()).into()
    }
}

impl From<Ratio> for Shown {
    fn from(ratio: Ratio) -> Shown {
        Amount::millionths(ratio.0.into()).into()
    }
}

/// In milliseconds.
impl From<Duration> for Shown {
    fn from(span: Duration) -> Shown {
        Amount::thousandths(span.as_micros()).into()
    }
}

impl<T: Into<Shown>> From<Option<T>> for Shown {
    fn from(value: Option<T>) -> Shown {
        value.map_or(Shown::Nothing, Into::into)
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shown::Number(amount) => write!(f, "{amount}"),
            Shown::Text(text) => f.write_str(text),
            Shown::Is(is) => write!(f, "{is}"),
            Shown::Nothing => f.write_str("nothing"),
        }
    }
}

/// Compares what a step shows with what is expected of it. `tolerance_ms` is the case's own.
pub(super) fn compare(expect: &Map<String, Value>, sight: &Sight, tolerance_ms: Option<Amount>) -> Result<(), Unmet> {
    let own = expect.get("tol").map(|value| Amount::of(value).ok_or_else(|| odd("tol", value))).transpose()?;
    for (key, value) in expect.iter().filter(|(key, _)| !["tol", "note", "notes"].contains(&key.as_str())) {
        let (name, bound) = bounded(key);
        let Some(shown) = sight.0.get(name) else {
            return Err(Unmet::unsupported(format!("nothing here shows `{key}`")));
        };
        let tolerance = match own {
            Some(own) if own > MILLIONTH => own,
            _ if name.ends_with("_ms") => tolerance_ms.map_or(MICROSECOND, |tolerance| tolerance.max(MICROSECOND)),
            _ => MILLIONTH,
        };
        if !holds(value, shown, bound, tolerance).ok_or_else(|| odd(key, value))? {
            return Err(Unmet::failed(format!("`{key}` must be {value}, and is {shown}")));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    Exact,
    Least,
    Most,
}

/// The key that an expectation is about, and how it bounds its value.
fn bounded(key: &str) -> (&str, Bound) {
    match key {
        "min_ms" => ("delay_ms", Bound::Least),
        "max_ms" => ("delay_ms", Bound::Most),
        _ => match (key.strip_suffix("_min"), key.strip_suffix("_max")) {
            (Some(name), _) => (name, Bound::Least),
            (_, Some(name)) => (name, Bound::Most),
            _ => (key, Bound::Exact),
        },
    }
}

/// Whether a value is as expected; none: nothing can be expected so.
fn holds(expected: &Value, shown: &Shown, bound: Bound, tolerance: Amount) -> Option<bool> {
    let is_exact = |is: bool| (bound == Bound::Exact).then_some(is);
    match expected {
        Value::Null => is_exact(*shown == Shown::Nothing),
        Value::Bool(expected) => is_exact(*shown == Shown::Is(*expected)),
        // A wait that is saturated is as long as a playbook allows.
        Value::String(word) if word == "max" => is_exact(*shown == Shown::Number(A_DAY)),
        Value::String(expected) => is_exact(matches!(shown, Shown::Text(text) if text == expected)),
        Value::Number(_) => {
            let expected = Amount::of(expected)?;
            let Shown::Number(amount) = shown else { return Some(false) };
            Some(match bound {
                Bound::Exact => amount.is_near(expected, tolerance),
                Bound::Least => *amount >= expected || amount.is_near(expected, tolerance),
                Bound::Most => *amount <= expected || amount.is_near(expected, tolerance),
            })
        }
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn odd(key: &str, value: &Value) -> Unmet {
    Unmet::unsupported(format!("nothing can be expected as `{key}: {value}`"))
}

#[cfg(test)]
mod tests {
    use super::super::result::CaseResult;
    use super::*;
    use serde_json::json;

    fn result(expect: Value) -> Result<(), CaseResult> {
        let sight = Sight::default()
            .with("delay_ms", Duration::from_micros(1_500))
            .with("state", "open")
            .with("ok", true)
            .with("failure_rate", None::<Ratio>)
            .with("calls", 3_u64);
        compare(expect.as_object().unwrap(), &sight, None).map_err(|unmet| unmet.result)
    }

    #[test]
    fn values_are_equal_within_a_microsecond_or_a_millionth() {
        let failed = Err(CaseResult::Failed);
        for (expect, expected) in [
            (json!({}), Ok(())),
            (json!({ "delay_ms": 1.5, "state": "open", "ok": true, "failure_rate": null, "calls": 3 }), Ok(())),
            (json!({ "delay_ms": 1.501 }), Ok(())),
            (json!({ "delay_ms": 1.502 }), failed),
            (json!({ "delay_ms": 1.6, "tol": 0.1 }), Ok(())),
            (json!({ "min_ms": 1, "max_ms": 2, "calls_min": 3, "calls_max": 3 }), Ok(())),
            (json!({ "min_ms": 1.6 }), failed),
            (json!({ "calls_max": 2 }), failed),
            (json!({ "calls": "3" }), failed),
            (json!({ "calls": null }), failed),
            (json!({ "failure_rate": 0 }), failed),
            (json!({ "state": "closed" }), failed),
            (json!({ "ok": false, "note": "for people" }), failed),
        ] {
            assert_eq!(result(expect.clone()), expected, "{expect}");
        }
    }

    #[test]
    fn what_nothing_shows_is_never_passed_over() {
        for expect in [json!({ "balance": 3 }), json!({ "calls": [3] }), json!({ "ok_min": true })] {
            assert_eq!(result(expect.clone()), Err(CaseResult::Unsupported), "{expect}");
        }
    }
}
