//! Where each part of a call and of a result stands: the surest field of its rows. Decides on no rows.

use std::collections::BTreeSet;

use super::failures::{Signal, in_answer};
use super::guess::Line;
use super::names::Part;
use super::shape::{Shape, ids, keys};
use super::survey::{Field, Survey};
use crate::iso;
use playproof_formats::yaml::scalar;

/// What the parts are found in.
pub(super) struct Look<'s> {
    pub(super) survey: &'s Survey,
    pub(super) shape: &'s Shape,
    pub(super) tool: &'s Field,
}

impl<'s> Look<'s> {
    /// The surest field of `rows` for a part, of those that `fits` allows and that at least one in `share` rows has.
    fn best(
        &self,
        part: Part,
        rows: &BTreeSet<usize>,
        share: usize,
        fits: impl Fn(&Field) -> bool,
    ) -> Option<&'s Field> {
        let there = |field: &&Field| {
            let common = field.rows.intersection(rows).count();
            common > 0 && common * share >= rows.len() && field.path != self.tool.path
        };
        let ranked = |field: &'s Field| part.rank(&field.steps).map(|rank| (rank, field.steps.len(), field));
        let fields = self.survey.fields.values().filter(there).filter(|field| fits(field)).filter_map(ranked);
        let outside = fields.filter(|(.., field)| part == Part::Body || part == Part::Message || !in_answer(field));
        outside.min_by_key(|(rank, depth, _)| (*rank, *depth)).map(|(.., field)| field)
    }

    fn line(&self, key: &'static str, field: Option<&Field>, rows: &BTreeSet<usize>) -> Option<Line> {
        let field = field?;
        let rows = Some(field.rows.intersection(rows).count());
        Some(Line { key, value: scalar(&field.path).into_owned(), rows })
    }

    /// The number of the attempt, counted from 1.
    fn attempt(&self) -> Option<&'s Field> {
        let counts = |field: &Field| field.numbers_within(1.0, 100.0) && field.values.contains_key("1");
        self.best(Part::Attempt, &self.shape.results, 1, counts)
    }

    /// What tells calls apart, and joins a result with its call.
    fn id(&self) -> Option<(String, String)> {
        if let Some(ids) = &self.shape.ids {
            return Some(ids.clone());
        }
        let rows = &self.shape.calls;
        let first = match self.attempt().and_then(|attempt| attempt.values.get("1")) {
            Some(first) => rows.intersection(first).copied().collect(),
            None => rows.clone(),
        };
        let apart = |field: &Field| keys(self.survey, field, &first).len() >= first.len().max(1);
        let fields = ids(self.survey, rows).into_iter().filter(|(_, field)| apart(field));
        let best = fields.min_by_key(|(rank, field)| (*rank, field.steps.len())).map(|(_, field)| field.path.clone());
        best.map(|path| (path.clone(), path))
    }

    /// When a call was made, and what the times are written in.
    pub(super) fn call_time(&self) -> Option<(&'s Field, Option<&'static str>)> {
        let rows = &self.shape.calls;
        let is_time = |field: &Field| unit(field).is_some();
        let field = self.best(Part::Started, rows, 2, is_time).or_else(|| self.best(Part::Time, rows, 2, is_time))?;
        Some((field, unit(field)))
    }

    pub(super) fn call(&self, at: Option<&Field>) -> Vec<Line> {
        let rows = &self.shape.calls;
        let anything = |_: &Field| true;
        let mut conditions = self.shape.call_where.clone();
        if self.shape.ids.is_none() {
            conditions
                .extend(self.attempt().filter(|_| self.id().is_some()).map(|field| (field.path.clone(), "1".into())));
        }
        let id = self.id().map(|(id, _)| id);
        let named = |field: &Field| field.texts + field.numbers == field.rows.len() && Some(&field.path) != id.as_ref();
        let holds_args = |field: &Field| field.objects > 0 || field.values.keys().any(|text| text.starts_with('{'));
        let lines = [
            condition(&conditions),
            self.line("tool", Some(self.tool), rows),
            self.line("run", self.best(Part::Run, rows, 2, named), rows),
            id.as_ref().and_then(|id| self.line("id", self.survey.fields.get(id), rows)),
            self.line("args", self.best(Part::Args, rows, rows.len(), holds_args), rows),
            self.line("at", at, rows),
            self.line("key", self.best(Part::Key, rows, rows.len(), |field| field.texts > 0), rows),
            self.line("evidence", self.best(Part::Evidence, rows, rows.len(), anything), rows),
            self.line("token", self.best(Part::Token, rows, rows.len(), |field| field.texts > 0), rows),
        ];
        lines.into_iter().flatten().collect()
    }

    pub(super) fn result(&self, time: Option<(&Field, Option<&'static str>)>, failing: &BTreeSet<usize>) -> Vec<Line> {
        let rows = &self.shape.results;
        let apart = self.shape.ids.is_some();
        let id = self.id().map(|(_, id)| id);
        let unit_of = time.and_then(|(_, unit)| unit);
        let same_unit = |field: &Field| unit(field).is_some() && (unit_of.is_none() || unit(field) == unit_of);
        let ended = self.best(Part::Ended, rows, 2, same_unit);
        let latency = self.best(Part::Latency, rows, 2, |field| field.numbers == field.rows.len());
        let at = ended.or_else(|| apart.then(|| self.best(Part::Time, rows, 2, same_unit)).flatten());
        let started = time.map(|(field, _)| field).filter(|_| !apart && (latency.is_some() || ended.is_some()));
        let latency = latency.filter(|_| at.is_none() && started.is_some());
        let message = self.message(failing);
        let body = self.best(Part::Body, rows, rows.len(), |field| field.scalars() + field.objects > 0);
        let status = self.best(Part::Status, rows, rows.len(), |field| field.numbers_within(100.0, 599.0));
        let words = |field: &Field| field.texts > 0;
        let lines = [
            condition(&self.shape.result_where),
            id.filter(|_| apart || self.attempt().is_some())
                .and_then(|id| self.line("id", self.survey.fields.get(&id), rows)),
            self.line("attempt", self.attempt(), rows),
            self.line("started", started, rows),
            self.line("at", at, rows),
            self.line("latency_ms", latency, rows),
            self.line("status", status, rows),
            self.line("code", self.best(Part::Code, rows, rows.len(), words), rows),
            self.line("kind", self.best(Part::Kind, rows, rows.len(), words), rows),
            self.line("message", message, rows),
            self.line("body", body.filter(|_| message.is_none()), rows),
            self.line(
                "retry_after_ms",
                self.best(Part::RetryAfterMs, rows, rows.len(), |field| field.numbers > 0),
                rows,
            ),
            self.line("retry_after_s", self.retry_after_s(), rows),
        ];
        lines.into_iter().flatten().collect()
    }

    fn retry_after_s(&self) -> Option<&'s Field> {
        let rows = &self.shape.results;
        let in_ms = self.best(Part::RetryAfterMs, rows, rows.len(), |field| field.numbers > 0);
        if in_ms.is_some() { None } else { self.best(Part::RetryAfterS, rows, rows.len(), |field| field.numbers > 0) }
    }

    /// What a failure says: a text of the rows that fail, an object only where there is none.
    fn message(&self, failing: &BTreeSet<usize>) -> Option<&'s Field> {
        let rows = if failing.is_empty() { &self.shape.results } else { failing };
        let share = rows.len();
        let event = |field: &Field| self.shape.call_where.iter().any(|(path, _)| *path == field.path);
        let text = self.best(Part::Message, rows, share, |field| field.texts > 0 && !event(field));
        text.or_else(|| self.best(Part::Message, rows, share, |field| field.objects > 0))
            .filter(|field| !failing.is_empty() || field.path.contains("err"))
    }

    /// The conditions that tell of a failure in results, with the rows in which they do.
    pub(super) fn failed(&self, signals: &[Signal]) -> Vec<(String, usize)> {
        let told = signals.iter().filter(|signal| !signal.rows.is_disjoint(&self.shape.results));
        let counted = |signal: &Signal| signal.failing.intersection(&self.shape.results).count();
        let told = told.map(|signal| (signal.condition.clone(), counted(signal)));
        self.shape.failed.iter().cloned().chain(told).collect()
    }

    pub(super) fn failing(&self, signals: &[Signal]) -> BTreeSet<usize> {
        let all = signals.iter().flat_map(|signal| signal.failing.iter().copied());
        all.filter(|row| self.shape.results.contains(row)).collect()
    }

    /// A field that counts attempts from 0.
    pub(super) fn attempts_from_zero(&self) -> Option<String> {
        let rows = &self.shape.results;
        let from_zero = self.best(Part::Attempt, rows, rows.len(), |field| field.values.contains_key("0"));
        from_zero.map(|field| field.path.clone())
    }
}

fn condition(conditions: &[(String, String)]) -> Option<Line> {
    let all: Vec<String> = conditions.iter().map(|(path, test)| format!("{}: {test}", scalar(path))).collect();
    (!all.is_empty()).then(|| Line { key: "where", value: format!("{{ {} }}", all.join(", ")), rows: None })
}

/// What the times of a field are written in, if it holds times.
fn unit(field: &Field) -> Option<&'static str> {
    let all = field.rows.len();
    if field.texts == all && field.values.keys().all(|value| iso::parse_micros(value).is_some()) {
        return Some("iso");
    }
    // Nanoseconds are often written as text, because they do not fit into the numbers of JavaScript.
    let digits = |value: &String| value.len() >= 10 && value.bytes().all(|byte| byte.is_ascii_digit());
    if field.numbers != all && !(field.texts == all && field.values.keys().all(digits)) {
        return None;
    }
    let name = super::names::plain(field.steps.last()?);
    let named = [("ms", "ms"), ("us", "us"), ("ns", "ns"), ("seconds", "s"), ("nano", "ns")];
    if let Some((_, unit)) = named.into_iter().find(|(ending, _)| name.ends_with(ending) && name != "ts") {
        return Some(unit);
    }
    // Since 1973 a time of day is at least 10^8 seconds; smaller numbers count from a beginning of their own.
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

/// Kinds that the standard playbook knows, for what `result` picks out.
pub(super) fn kinds(result: &[Line]) -> Vec<(&'static str, String)> {
    let has = |key: &str| result.iter().any(|line| line.key == key);
    let status = has("status").then_some([
        "409_conflict: 409",
        "403_forbidden: 403",
        "412_precondition: 412",
        "rate_limited: 429",
        "5xx: 500-599",
    ]);
    let by_status = status.into_iter().flatten().filter_map(|row| row.split_once(": "));
    let mut kinds: Vec<_> = by_status.map(|(kind, number)| (kind, format!("{{ status: {number} }}"))).collect();
    if has("message") || has("body") {
        let said = "{ message: { contains: [timed out, timeout, no answer, deadline exceeded] } }";
        kinds.insert(kinds.len().saturating_sub(1), ("timeout", said.to_owned()));
    }
    kinds
}
