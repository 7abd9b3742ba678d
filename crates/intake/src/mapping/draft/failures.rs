//! Which fields signal a failure, and in which rows. Knows nothing of calls.

use std::collections::BTreeSet;

use super::names;
use super::survey::{FieldStats, Survey};
use super::text::flow;
use playproof_formats::yaml::scalar;

/// A field that signals whether a call failed.
#[derive(Clone, Debug)]
pub(super) struct FailureSignal {
    /// The condition of `failed`, as a mapping writes it.
    pub(super) condition: String,
    /// Rows in which the field is.
    pub(super) rows: BTreeSet<usize>,
    /// Rows in which the condition holds.
    pub(super) failing: BTreeSet<usize>,
}

/// Every field that signals failures. Fields inside an answer's data count only if there are no others.
pub(super) fn signals(survey: &Survey, except: &[&str]) -> Vec<FailureSignal> {
    let all = || survey.fields.values().filter(|field| !except.contains(&field.path.as_str()));
    let outside: Vec<FailureSignal> = all().filter(|field| !in_answer(field)).filter_map(signal).collect();
    if outside.is_empty() { all().filter_map(signal).collect() } else { outside }
}

/// Whether the field is inside the answer of a tool.
pub(super) fn in_answer(field: &FieldStats) -> bool {
    let is_body = |above: &[String]| names::rank("body", above).is_some() && !is_http(above);
    (1..field.steps.len()).any(|end| field.steps.get(..end).is_some_and(is_body))
}

/// Whether this is the frame of an HTTP response, whose fields are none of the answer.
fn is_http(path: &[String]) -> bool {
    matches!(path, [.., above, _] if names::plain(above) == "http")
}

fn signal(field: &FieldStats) -> Option<FailureSignal> {
    let name = names::plain(field.steps.last()?);
    let is_flag = field.bools == field.rows.len();
    if is_flag {
        let is_good = names::has("good_flag", &name);
        let failed = if is_good { "false" } else { "true" };
        return (is_good || names::has("bad_flag", &name))
            .then(|| of(field, failed.to_owned(), |value| value == failed));
    }
    if field.rank("status").is_some() && field.numbers_within(100.0, 599.0) {
        return Some(of(field, "400-599".to_owned(), |value| value.parse().is_ok_and(|n: f64| n >= 400.0)));
    }
    let in_status = field.steps.iter().rev().nth(1).is_some_and(|above| names::plain(above) == "status");
    if name == "code" && in_status && field.numbers_within(0.0, 2.0) {
        return Some(of(field, "2".to_owned(), |value| value == "2")); // OpenTelemetry: 0 unset, 1 ok, 2 error
    }
    let is_state = names::has("state", &name) || (name == "code" && in_status);
    if is_state && field.texts == field.rows.len() && field.values.len() <= 30 {
        return status_words(field);
    }
    let error = field.rank("message").is_some() || names::has("error", &name);
    let is_exception = name.starts_with("exc") && (error || field.rank("code").is_some()); // `exc_msg`, `exc_type`
    let is_error =
        is_exception || error && (name.contains("err") || name.contains("exception") || name.contains("failure"));
    let in_error = field.steps.iter().rev().skip(1).any(|above| names::has("error", &names::plain(above)));
    if is_error && !in_error && field.texts + field.objects > 0 {
        let empty = field.values.contains_key("");
        let test = if empty { "{ matches: \".\" }" } else { "{ absent: false }" };
        let mut signal = of(field, test.to_owned(), |value| !value.is_empty());
        if !empty {
            signal.failing.clone_from(&field.rows);
        }
        return Some(signal);
    }
    None
}

/// The signal of a status in words.
fn status_words(field: &FieldStats) -> Option<FailureSignal> {
    let bad: Vec<&str> =
        field.values.keys().map(String::as_str).filter(|value| names::means("means_failure", value)).collect();
    let is = |row: &str, value: &str| names::has(row, &value.to_lowercase());
    let is_status = field.values.keys().any(|value| is("means_success", value));
    // Beside the words for a success, what is left is a failure: `KO`.
    let others = field
        .values
        .keys()
        .map(String::as_str)
        .filter(|value| !is("means_success", value) && !is("means_unfinished", value));
    let others: Vec<&str> = others.filter(|value| !value.is_empty()).collect();
    match bad.as_slice() {
        [] if is_status && (1..=3).contains(&others.len()) => {
            Some(of(field, flow(&others), |value| others.contains(&value)))
        }
        [] if is_status => Some(of(field, "[error, failed, timeout]".to_owned(), |_| false)),
        [] => None,
        bad => Some(of(field, flow(bad), |value| bad.contains(&value))),
    }
}

fn of(field: &FieldStats, test: String, fails: impl Fn(&str) -> bool) -> FailureSignal {
    let failing = field.values.iter().filter(|(value, _)| fails(value)).flat_map(|(_, rows)| rows.iter().copied());
    FailureSignal {
        condition: format!("{{ {}: {test} }}", scalar(&field.path)),
        rows: field.rows.clone(),
        failing: failing.collect(),
    }
}
