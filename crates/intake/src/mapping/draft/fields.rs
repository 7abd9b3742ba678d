//! Finds the field for each part of a call and of a result: the most certain field of its rows. Selects no rows.

use std::collections::BTreeSet;

use super::failures::{FailureSignal, in_answer};
use super::names;
use super::row_roles::{RowRoles, ids, ids_of_results, keys};
use super::survey::{FieldStats, Survey};
use super::text::{DraftLine, flow};
use crate::iso;
use playproof_formats::yaml::scalar;

/// The most different reasons that can be kinds.
const MAX_KINDS: usize = 30;

/// The survey in which fields are found.
pub(super) struct FieldFinder<'s> {
    pub(super) survey: &'s Survey,
    pub(super) roles: &'s RowRoles,
    pub(super) tool: &'s FieldStats,
}

/// The fields with times: of the call, of the start and the end of an attempt, and of how long it took.
#[derive(Default)]
pub(super) struct Times<'s> {
    pub(super) unit: Option<&'static str>,
    call: Option<&'s FieldStats>,
    started: Option<&'s FieldStats>,
    ended: Option<&'s FieldStats>,
    latency: Option<&'s FieldStats>,
}

impl<'s> FieldFinder<'s> {
    /// The most certain field for a key of the mapping that some of `rows` have and that `fits`.
    fn best(&self, key: &str, rows: &BTreeSet<usize>, fits: impl Fn(&FieldStats) -> bool) -> Option<&'s FieldStats> {
        let may_be_inside = ["body", "message"].contains(&key);
        let is_there = |field: &FieldStats| !rows.is_disjoint(&field.rows) && field.path != self.tool.path;
        let mut named = self.survey.named(key).map(|(_, field)| field);
        named.find(|field| is_there(field) && fits(field) && (may_be_inside || !in_answer(field)))
    }

    /// [`FieldFinder::best`] of those that at least half of `rows` have.
    fn usual(&self, key: &str, rows: &BTreeSet<usize>, fits: impl Fn(&FieldStats) -> bool) -> Option<&'s FieldStats> {
        self.best(key, rows, |field| field.is_usual(rows) && fits(field))
    }

    /// The number of the attempt, counted from 1.
    fn attempt(&self) -> Option<&'s FieldStats> {
        let rows = &self.roles.results;
        let counts = |field: &FieldStats| field.numbers_within(1.0, 100.0) && field.values.contains_key("1");
        self.best("attempt", rows, |field| rows.is_subset(&field.rows) && counts(field))
    }

    /// The paths of the ids of calls and results.
    fn id(&self) -> Option<(String, String)> {
        if let Some(ids) = &self.roles.ids {
            return Some(ids.clone());
        }
        let rows = &self.roles.calls;
        let first = match self.attempt().and_then(|attempt| attempt.values.get("1")) {
            Some(first) => rows.intersection(first).copied().collect(),
            None => rows.clone(),
        };
        let apart = |field: &FieldStats| keys(self.survey, field, &first).len() >= first.len().max(1);
        ids(self.survey, rows)
            .find(|(_, field)| apart(field))
            .map(|(_, field)| (field.path.clone(), field.path.clone()))
    }

    /// The times. A row that is a call and its result, and that tells when it was written and how long the call took, was
    /// written when the call ended.
    pub(super) fn times(&self) -> Times<'s> {
        let (calls, results) = (&self.roles.calls, &self.roles.results);
        let apart = self.roles.ids.is_some();
        let is_time = |field: &FieldStats| unit(field).is_some();
        let call = self.usual("started", calls, is_time).or_else(|| self.usual("at", calls, is_time));
        let unit_of = call.and_then(unit);
        let same_unit = |field: &FieldStats| is_time(field) && (unit_of.is_none() || unit(field) == unit_of);
        let is_duration = |field: &FieldStats| field.numbers == field.rows.len() && duration_unit(field).is_some();
        let latency = self.usual("latency", results, is_duration);
        let has = |key| self.usual(key, results, FieldStats::is_label).is_some();
        let at_end = !apart && has("at") && !has("started") && !has("ended") && latency.is_some();
        let ended = self.usual("ended", results, same_unit);
        let started = call.filter(|_| !apart && !at_end && (latency.is_some() || ended.is_some()));
        let written = || self.usual("at", results, same_unit).filter(|_| apart || at_end);
        let ended = ended.or_else(written);
        let latency = latency.filter(|_| at_end || (ended.is_none() && started.is_some()));
        Times { unit: unit_of, call: call.filter(|_| !at_end), started, ended, latency }
    }

    pub(super) fn call(&self, times: &Times<'_>) -> Vec<DraftLine> {
        let rows = &self.roles.calls;
        let mut conditions = self.roles.call_where.clone();
        let id = self.id().map(|(id, _)| id);
        // Rows of further attempts are no calls of their own: they repeat the id of the first.
        let repeats = |path: &String| {
            self.survey.fields.get(path).is_some_and(|field| keys(self.survey, field, rows).len() < rows.len())
        };
        let is_of_attempts = match &self.roles.ids {
            None => id.is_some(),
            Some((of_call, _)) => repeats(of_call),
        };
        if is_of_attempts {
            let of_calls = self.attempt().filter(|field| rows.is_subset(&field.rows));
            conditions.extend(of_calls.map(|field| (field.path.clone(), "1".into())));
        }
        let is_run = |field: &FieldStats| field.is_label() && Some(&field.path) != id.as_ref();
        let holds_args =
            |field: &FieldStats| field.objects > 0 || field.values.keys().any(|text| text.starts_with('{'));
        let found = [
            ("tool", Some(self.tool)),
            ("run", self.usual("run", rows, is_run)),
            ("id", id.as_ref().and_then(|id| self.survey.fields.get(id))),
            ("args", self.best("args", rows, holds_args)),
            ("at", times.call),
            ("key", self.best("key", rows, has_text)),
            ("evidence", self.best("evidence", rows, |_| true)),
            ("token", self.best("token", rows, has_text)),
        ];
        condition(&conditions).into_iter().chain(lines(found, rows)).collect()
    }

    pub(super) fn result(&self, times: &Times<'_>, failing: &BTreeSet<usize>) -> Vec<DraftLine> {
        let rows = &self.roles.results;
        let id = self.id().filter(|_| self.roles.ids.is_some() || self.attempt().is_some()).map(|(_, id)| id);
        let kind = self.best("kind", rows, is_kind);
        let message = self.message(failing, kind);
        let body = self.best("body", rows, |field| field.scalars() + field.objects > 0);
        let has_number = |field: &FieldStats| field.numbers > 0;
        let wait_ms = self.best("retry_after_ms", rows, has_number);
        let found = [
            ("id", id.as_ref().and_then(|id| self.survey.fields.get(id))),
            ("attempt", self.attempt()),
            ("started", times.started),
            ("at", times.ended),
            ("latency", times.latency),
            ("status", self.best("status", rows, |field| field.numbers_within(100.0, 599.0))),
            ("code", self.best("code", rows, has_text)),
            ("kind", kind),
            ("message", message),
            ("body", body.filter(|_| message.is_none())),
            ("retry_after_ms", wait_ms),
            ("retry_after_s", self.best("retry_after_s", rows, has_number).filter(|_| wait_ms.is_none())),
        ];
        let mut all: Vec<_> = condition(&self.roles.result_where).into_iter().chain(lines(found, rows)).collect();
        for line in &mut all {
            match (line.key, &id, times.latency) {
                ("id", Some(id), _) => line.value = flow(&ids_of_results(self.survey, self.roles, id)),
                ("latency", _, Some(field)) => {
                    let unit = duration_unit(field).unwrap_or_default();
                    line.value = format!("{{ path: {}, unit: {unit} }}", scalar(&field.path));
                }
                _ => {}
            }
        }
        all
    }

    /// The message of a failure: a text in the failing rows, or an object if there is no text.
    fn message(&self, failing: &BTreeSet<usize>, kind: Option<&FieldStats>) -> Option<&'s FieldStats> {
        let rows = if failing.is_empty() { &self.roles.results } else { failing };
        let is_event = |field: &FieldStats| self.roles.call_where.iter().any(|(path, _)| *path == field.path);
        let is_kind = |field: &FieldStats| kind.is_some_and(|kind| kind.path == field.path);
        let text = self.best("message", rows, |field| has_text(field) && !is_event(field) && !is_kind(field));
        text.or_else(|| self.best("message", rows, |field| field.objects > 0))
            .filter(|field| !failing.is_empty() || field.path.contains("err"))
    }

    /// The conditions that signal failures in results, each with its number of rows.
    pub(super) fn failed(&self, signals: &[FailureSignal]) -> Vec<(String, usize)> {
        let signalled = signals.iter().filter(|signal| !signal.rows.is_disjoint(&self.roles.results));
        let counted = |signal: &FailureSignal| signal.failing.intersection(&self.roles.results).count();
        let signalled = signalled.map(|signal| (signal.condition.clone(), counted(signal)));
        self.roles.failed.iter().cloned().chain(signalled).collect()
    }

    pub(super) fn failing(&self, signals: &[FailureSignal]) -> BTreeSet<usize> {
        let all = signals.iter().flat_map(|signal| signal.failing.iter().copied());
        all.filter(|row| self.roles.results.contains(row)).collect()
    }
}

fn has_text(field: &FieldStats) -> bool {
    field.texts > 0
}

/// A line for each part that was found.
fn lines<'f>(
    found: impl IntoIterator<Item = (&'static str, Option<&'f FieldStats>)>,
    rows: &BTreeSet<usize>,
) -> impl Iterator<Item = DraftLine> {
    found.into_iter().filter_map(|(key, field)| {
        let field = field?;
        Some(DraftLine { key, value: scalar(&field.path).into_owned(), rows: Some(field.common(rows)) })
    })
}

/// Whether a field names kinds of errors; a reason does so if it is one of a few names, and else is a message.
fn is_kind(field: &FieldStats) -> bool {
    let is_name = |text: &String| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let are_names = || field.values.len() <= MAX_KINDS && field.values.keys().all(is_name);
    has_text(field) && (!field.path.to_ascii_lowercase().ends_with("reason") || are_names())
}

fn condition(conditions: &[(String, String)]) -> Option<DraftLine> {
    let all: Vec<String> = conditions.iter().map(|(path, test)| format!("{}: {test}", scalar(path))).collect();
    (!all.is_empty()).then(|| DraftLine { key: "where", value: format!("{{ {} }}", all.join(", ")), rows: None })
}

/// The unit of the times in a field; none if it holds no times.
fn unit(field: &FieldStats) -> Option<&'static str> {
    let all = field.rows.len();
    if field.texts == all && field.values.keys().all(|value| iso::parse_any(value).is_some()) {
        return Some("iso");
    }
    // Nanoseconds are often text: they do not fit into JavaScript numbers.
    let digits = |value: &String| value.len() >= 10 && value.bytes().all(|byte| byte.is_ascii_digit());
    if field.numbers != all && !(field.texts == all && field.values.keys().all(digits)) {
        return None;
    }
    if let Some(unit) = names::unit(field.steps.last()?) {
        return Some(unit);
    }
    // Times since 1973 are at least 10^8 seconds; smaller numbers do not count from 1970.
    let largest = field.values.keys().filter_map(|value| value.parse::<f64>().ok()).fold(0.0, f64::max);
    Some(match largest {
        large if large >= 1e17 => "ns",
        large if large >= 1e14 => "us",
        large if large >= 1e11 => "ms",
        large if large >= 1e8 => "s",
        _ if field.values.keys().any(|value| value.contains('.')) => "s",
        _ => "ms",
    })
}

/// The unit of the durations in a field, by its name, or by their form; none if neither tells.
fn duration_unit(field: &FieldStats) -> Option<&'static str> {
    match field.steps.as_slice() {
        [.., above, name] if names::plain(name) == "duration" && names::plain(above) == "event" => Some("ns"), // the Elastic Common Schema
        [.., name] => {
            let in_seconds = || field.values.keys().any(|value| value.contains('.')).then_some("s");
            names::unit(name).or_else(in_seconds)
        }
        [] => None,
    }
}
