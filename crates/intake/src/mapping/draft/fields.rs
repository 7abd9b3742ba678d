//! Finds the field for each part of a call and of a result: the most certain field of its rows. Selects no rows.

use std::collections::BTreeSet;

use super::failures::{FailureSignal, in_answer};
use super::names::FieldRole;
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

impl<'s> FieldFinder<'s> {
    /// The most certain field of `rows` for a role. It must pass `fits`, and at least one in `share` rows must have it.
    fn best(
        &self,
        role: FieldRole,
        rows: &BTreeSet<usize>,
        share: usize,
        fits: impl Fn(&FieldStats) -> bool,
    ) -> Option<&'s FieldStats> {
        let there = |field: &&FieldStats| {
            let common = field.rows.intersection(rows).count();
            common > 0 && common * share >= rows.len() && field.path != self.tool.path
        };
        let ranked = |field: &'s FieldStats| role.rank(&field.steps).map(|rank| (rank, field.steps.len(), field));
        let fields = self.survey.fields.values().filter(there).filter(|field| fits(field)).filter_map(ranked);
        let outside =
            fields.filter(|(.., field)| role == FieldRole::Body || role == FieldRole::Message || !in_answer(field));
        outside.min_by_key(|(rank, depth, _)| (*rank, *depth)).map(|(.., field)| field)
    }

    fn line(&self, key: &'static str, field: Option<&FieldStats>, rows: &BTreeSet<usize>) -> Option<DraftLine> {
        let field = field?;
        let rows = Some(field.rows.intersection(rows).count());
        Some(DraftLine { key, value: scalar(&field.path).into_owned(), rows })
    }

    /// The number of the attempt, counted from 1.
    fn attempt(&self) -> Option<&'s FieldStats> {
        let counts = |field: &FieldStats| field.numbers_within(1.0, 100.0) && field.values.contains_key("1");
        self.best(FieldRole::Attempt, &self.roles.results, 1, counts)
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
        let fields = ids(self.survey, rows).into_iter().filter(|(_, field)| apart(field));
        let best = fields.min_by_key(|(rank, field)| (*rank, field.steps.len())).map(|(_, field)| field.path.clone());
        best.map(|path| (path.clone(), path))
    }

    /// The time of a call, and the unit of times.
    pub(super) fn call_time(&self) -> Option<(&'s FieldStats, Option<&'static str>)> {
        let rows = &self.roles.calls;
        let is_time = |field: &FieldStats| unit(field).is_some();
        let field =
            self.best(FieldRole::Started, rows, 2, is_time).or_else(|| self.best(FieldRole::Time, rows, 2, is_time))?;
        Some((field, unit(field)))
    }

    /// Whether each row is a call and its result, and tells when it was written and how long the call took: it was written
    /// when the call ended.
    pub(super) fn is_written_at_end(&self) -> bool {
        let rows = &self.roles.results;
        let has = |role| self.best(role, rows, 2, |field| field.numbers + field.texts == field.rows.len()).is_some();
        let is_duration = |field: &FieldStats| field.numbers == field.rows.len() && duration_unit(field).is_some();
        self.roles.ids.is_none()
            && has(FieldRole::Time)
            && !has(FieldRole::Started)
            && !has(FieldRole::Ended)
            && self.best(FieldRole::Latency, rows, 2, is_duration).is_some()
    }

    pub(super) fn call(&self, at: Option<&FieldStats>) -> Vec<DraftLine> {
        let rows = &self.roles.calls;
        let anything = |_: &FieldStats| true;
        let mut conditions = self.roles.call_where.clone();
        if self.roles.ids.is_none() {
            conditions
                .extend(self.attempt().filter(|_| self.id().is_some()).map(|field| (field.path.clone(), "1".into())));
        }
        let id = self.id().map(|(id, _)| id);
        let named =
            |field: &FieldStats| field.texts + field.numbers == field.rows.len() && Some(&field.path) != id.as_ref();
        let holds_args =
            |field: &FieldStats| field.objects > 0 || field.values.keys().any(|text| text.starts_with('{'));
        let lines = [
            condition(&conditions),
            self.line("tool", Some(self.tool), rows),
            self.line("run", self.best(FieldRole::Run, rows, 2, named), rows),
            id.as_ref().and_then(|id| self.line("id", self.survey.fields.get(id), rows)),
            self.line("args", self.best(FieldRole::Args, rows, rows.len(), holds_args), rows),
            self.line("at", at.filter(|_| !self.is_written_at_end()), rows),
            self.line("key", self.best(FieldRole::Key, rows, rows.len(), |field| field.texts > 0), rows),
            self.line("evidence", self.best(FieldRole::Evidence, rows, rows.len(), anything), rows),
            self.line("token", self.best(FieldRole::Token, rows, rows.len(), |field| field.texts > 0), rows),
        ];
        lines.into_iter().flatten().collect()
    }

    pub(super) fn result(
        &self,
        time: Option<(&FieldStats, Option<&'static str>)>,
        failing: &BTreeSet<usize>,
    ) -> Vec<DraftLine> {
        let rows = &self.roles.results;
        let apart = self.roles.ids.is_some();
        let id = self.id().map(|(_, id)| id);
        let unit_of = time.and_then(|(_, unit)| unit);
        let same_unit = |field: &FieldStats| unit(field).is_some() && (unit_of.is_none() || unit(field) == unit_of);
        let ended = self.best(FieldRole::Ended, rows, 2, same_unit);
        let is_duration = |field: &FieldStats| field.numbers == field.rows.len() && duration_unit(field).is_some();
        let latency = self.best(FieldRole::Latency, rows, 2, is_duration);
        let is_written_at_end = self.is_written_at_end();
        let at_end = || (apart || is_written_at_end).then(|| self.best(FieldRole::Time, rows, 2, same_unit)).flatten();
        let at = ended.or_else(at_end);
        let started = time.map(|(field, _)| field);
        let started = started.filter(|_| !apart && !is_written_at_end && (latency.is_some() || ended.is_some()));
        let latency = latency.filter(|_| is_written_at_end || (at.is_none() && started.is_some()));
        let latency = latency.and_then(|field| {
            let value = format!("{{ path: {}, unit: {} }}", scalar(&field.path), duration_unit(field)?);
            Some(DraftLine { value, ..self.line("latency", Some(field), rows)? })
        });
        let kind = self.best(FieldRole::Kind, rows, rows.len(), is_kind);
        let message = self.message(failing, kind);
        let body = self.best(FieldRole::Body, rows, rows.len(), |field| field.scalars() + field.objects > 0);
        let status = self.best(FieldRole::Status, rows, rows.len(), |field| field.numbers_within(100.0, 599.0));
        let words = |field: &FieldStats| field.texts > 0;
        let lines = [
            condition(&self.roles.result_where),
            id.filter(|_| apart || self.attempt().is_some()).and_then(|id| {
                let line = self.line("id", self.survey.fields.get(&id), rows)?;
                let paths = ids_of_results(self.survey, self.roles, &id);
                let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
                Some(DraftLine { value: flow(&paths), ..line })
            }),
            self.line("attempt", self.attempt(), rows),
            self.line("started", started, rows),
            self.line("at", at, rows),
            latency,
            self.line("status", status, rows),
            self.line("code", self.best(FieldRole::Code, rows, rows.len(), words), rows),
            self.line("kind", kind, rows),
            self.line("message", message, rows),
            self.line("body", body.filter(|_| message.is_none()), rows),
            self.line(
                "retry_after_ms",
                self.best(FieldRole::RetryAfterMs, rows, rows.len(), |field| field.numbers > 0),
                rows,
            ),
            self.line("retry_after_s", self.retry_after_s(), rows),
        ];
        lines.into_iter().flatten().collect()
    }

    fn retry_after_s(&self) -> Option<&'s FieldStats> {
        let rows = &self.roles.results;
        let in_ms = self.best(FieldRole::RetryAfterMs, rows, rows.len(), |field| field.numbers > 0);
        if in_ms.is_some() {
            None
        } else {
            self.best(FieldRole::RetryAfterS, rows, rows.len(), |field| field.numbers > 0)
        }
    }

    /// The message of a failure: a text in the failing rows, or an object if there is no text.
    fn message(&self, failing: &BTreeSet<usize>, kind: Option<&FieldStats>) -> Option<&'s FieldStats> {
        let rows = if failing.is_empty() { &self.roles.results } else { failing };
        let share = rows.len();
        let event = |field: &FieldStats| self.roles.call_where.iter().any(|(path, _)| *path == field.path);
        let is_kind = |field: &FieldStats| kind.is_some_and(|kind| kind.path == field.path);
        let text =
            self.best(FieldRole::Message, rows, share, |field| field.texts > 0 && !event(field) && !is_kind(field));
        text.or_else(|| self.best(FieldRole::Message, rows, share, |field| field.objects > 0))
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

    /// A field that counts attempts from 0.
    pub(super) fn attempts_from_zero(&self) -> Option<String> {
        let rows = &self.roles.results;
        let from_zero = self.best(FieldRole::Attempt, rows, rows.len(), |field| field.values.contains_key("0"));
        from_zero.map(|field| field.path.clone())
    }
}

/// Whether a field names kinds of errors; a reason does so if it is one of a few names, and else is a message.
fn is_kind(field: &FieldStats) -> bool {
    let is_name = |text: &String| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let are_names = || field.values.len() <= MAX_KINDS && field.values.keys().all(is_name);
    field.texts > 0 && (!field.path.to_ascii_lowercase().ends_with("reason") || are_names())
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
    let name = super::names::plain(field.steps.last()?);
    let named = [("ms", "ms"), ("us", "us"), ("ns", "ns"), ("seconds", "s"), ("nano", "ns")];
    if let Some((_, unit)) = named.into_iter().find(|(ending, _)| name.ends_with(ending) && name != "ts") {
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
    let (last, above) = field.steps.split_last()?;
    let name = super::names::plain(last);
    let named =
        [("ms", "ms"), ("millis", "ms"), ("us", "us"), ("ns", "ns"), ("seconds", "s"), ("secs", "s"), ("nano", "ns")];
    if let Some((_, unit)) = named.into_iter().find(|(ending, _)| name.ends_with(ending)) {
        return Some(unit);
    }
    if name == "duration" && above.last().is_some_and(|above| super::names::plain(above) == "event") {
        return Some("ns"); // the Elastic Common Schema
    }
    field.values.keys().any(|value| value.contains('.')).then_some("s")
}
