//! The results of rows: which call a result answers, whether it failed, and when. Finds no rows.

use std::borrow::Cow;
use std::sync::Arc;

use super::apply::{Applier, PlacedRow};
use super::condition::{ResultParts, any};
use super::model::{CallMap, Pairing, ResultMap, Selector, TimeUnit};
use super::requests::{Answered, Requested};
use super::row::SourceRow;
use super::time;
use super::values::{content, kind_of, scalar_in, scalar_of};
use crate::failure::{Assessment, ToolResult};
use crate::hash;
use crate::imported::{ImportWarning, Missing};
use crate::json;
use crate::source_value::SourceValue;
use crate::trace_writer::{At, OutputResult};
use crate::wire;
use playproof_engine::event::StatusFrom;

/// The results, from the first, whose words are compared with what the user's mapping says of them.
const SAMPLED: u64 = 1_000;

impl Applier {
    /// Writes the result of a row, which is also a call by `call`, or answers an earlier one.
    pub(super) fn result(&mut self, map: &ResultMap, placed: &PlacedRow<'_, '_>, call: Option<&CallMap>) {
        let PlacedRow { row, place, span } = *placed;
        let mapping = Arc::clone(&self.mapping);
        let like = call.or(mapping.calls.first());
        let run = self.run_of(map.run.as_ref().or(like.and_then(|call| call.run.as_ref())), placed);
        let named = self.scalar(map.tool.as_ref(), row);
        // An answer to a request is its only one. Other calls still wait for their result.
        let is_unfinished = any(&mapping.unfinished, row, &ResultParts::default());
        if is_unfinished && mapping.pair != Pairing::Known {
            self.loss.warn(ImportWarning::Unfinished, place);
            return;
        }
        let answered = match call {
            Some(call) => {
                let id = scalar_in(call.id.as_ref(), row).or_else(|| self.scalar(map.id.as_ref(), row));
                let id = id.map_or_else(|| place.to_owned(), Cow::into_owned);
                (Some(id), scalar_of(&call.tool, row).map(Cow::into_owned))
            }
            None => match self.answered(map, like, placed, run.as_deref(), named.as_deref()) {
                Some(answered) => answered,
                None => return,
            },
        };
        if is_unfinished {
            self.loss.warn(ImportWarning::Unfinished, place);
            return;
        }
        let is_known = answered.1.is_some();
        let (id, tool) = (answered.0, named.map(Cow::into_owned).or(answered.1));
        let (started, at) = self.times(map, placed, call);
        let attempt = self.whole(map.attempt.as_ref(), row, place);
        let parts = self.parts(map, row);
        let flag = self.flag(row, &parts);
        let is_undecided = flag.is_none() && mapping.title.is_some() && mapping.overrides.is_none();
        if is_undecided && mapping.flags().any(|path| row.find(path).is_some()) {
            self.loss.warn(ImportWarning::UnknownFlag, place);
        }
        let assessment = self.assessment(map, placed, (flag, &parts), tool.as_deref(), at);
        if let Some((id, at)) = id.as_deref().zip(at).filter(|_| is_known)
            && any(&mapping.cancelled, row, &parts)
            && !assessment.is_timeout()
        {
            if !self.lines.goes_away(run.as_deref(), id, at, (span, place)) {
                self.loss.warn(ImportWarning::Copy, place);
            }
            return;
        }
        let flagged = !mapping.failed.by_text || flag.is_some();
        let is_written = self.lines.result(&OutputResult {
            run: run.as_deref(),
            id: id.as_deref(),
            attempt,
            started,
            at: at.map(At::Micros),
            reply: Some(&assessment.reply()),
            status_from: Some(assessment.evidence(flagged)),
            text: parts.body.as_deref(),
            row: Some(wire::hash_of_line(row.value.text)),
            repeats: mapping.unique.is_some(),
            source: place,
            span,
            ..OutputResult::default()
        });
        match is_written {
            true => self.loss.count_result(&assessment),
            false => self.loss.warn(ImportWarning::Copy, place),
        }
    }

    /// The id and the tool of the call that a separate result answers, as far as they are known; none: it is left out.
    fn answered(
        &mut self,
        map: &ResultMap,
        like: Option<&CallMap>,
        placed: &PlacedRow<'_, '_>,
        run: Option<&str>,
        tool: Option<&str>,
    ) -> Option<(Option<String>, Option<String>)> {
        let by_calls = like.and_then(|call| call.id.as_ref());
        if self.mapping.pair == Pairing::Known {
            return self.answered_request(map, map.id.as_ref().or(by_calls), placed, run.unwrap_or_default());
        }
        let id = self.scalar(map.id.as_ref().or(by_calls), placed.row).map(Cow::into_owned);
        let run = run.unwrap_or_default();
        match (self.mapping.pair, id) {
            (Pairing::Order, Some(id)) => {
                let tool = self.waiting.answer(run, &id);
                Some((Some(id), tool))
            }
            (Pairing::Order, None) => match self.waiting.answer_first(run, tool) {
                Some((id, tool)) => Some((Some(id), Some(tool))),
                None => {
                    self.loss.warn(ImportWarning::ResultWithoutCall, placed.place);
                    Some((Some(placed.place.to_owned()), None))
                }
            },
            (Pairing::Id | Pairing::Known, None) => {
                match (map.id.is_some(), by_calls) {
                    (true, _) => self.loss.warn(ImportWarning::ResultWithoutId, placed.place),
                    (false, None) => drop(self.loss.missing.insert(Missing::Ids)),
                    _ => {}
                }
                Some((None, None))
            }
            (Pairing::Id | Pairing::Known, Some(id)) => {
                let tool = self.called.tool(run, &id);
                Some((Some(id), tool))
            }
        }
    }

    /// The id and the tool of the call that an answer is for; none: it answers something else, or nothing that is known.
    fn answered_request(
        &mut self,
        map: &ResultMap,
        id: Option<&Selector>,
        placed: &PlacedRow<'_, '_>,
        run: &str,
    ) -> Option<(Option<String>, Option<String>)> {
        let source_id = self.find(id, placed.row)?;
        let direction = self.direction(placed.row).filter(|_| !map.is_from_caller);
        match self.requests.answer(run, source_id.raw().get(), direction.as_deref()) {
            Answered::Call(call) => {
                let mapping = &self.mapping;
                if !mapping.continues.is_empty() && any(&mapping.unfinished, placed.row, &ResultParts::default()) {
                    self.requests.leave_unfinished(run, call.clone());
                }
                Some((Some(call.id), Some(call.tool)))
            }
            Answered::Other { is_sure } => {
                if !is_sure {
                    self.loss.warn(ImportWarning::AnswerToEither, placed.place);
                }
                None
            }
            // A source that shows its other requests shows what this one answers.
            Answered::Nothing if !self.mapping.other_request.is_empty() => {
                self.loss.warn(ImportWarning::ResultWithoutCall, placed.place);
                Some((Some(placed.place.to_owned()), None))
            }
            Answered::Nothing => None,
        }
    }

    /// A call whose answer carries its id: one that was not finished, or a new one with the id to write.
    pub(super) fn request(
        &mut self,
        map: &CallMap,
        row: &SourceRow<'_>,
        [run, wanted, tool]: [&str; 3],
        args: Option<&str>,
    ) -> Option<Requested> {
        let source_id = self.find(map.id.as_ref(), row)?;
        let (source_id, direction) = (source_id.raw().get(), self.direction(row));
        let asks = hash::half(hash::bytes(args.unwrap_or_default().as_bytes(), hash::seed(tool.as_bytes())));
        if any(&self.mapping.continues, row, &ResultParts::default())
            && self.requests.goes_on(run, source_id, asks, direction.as_deref())
        {
            return Some(Requested::Again);
        }
        Some(Requested::New(self.requests.call(run, source_id, (wanted, tool, asks), direction.as_deref())))
    }

    /// A request that is no call.
    pub(super) fn other_request(&mut self, placed: &PlacedRow<'_, '_>) {
        let mapping = Arc::clone(&self.mapping);
        let Some(call) = mapping.calls.first() else { return };
        let Some(source_id) = self.find(call.id.as_ref(), placed.row) else { return };
        let run = self.run_of(call.run.as_ref(), placed).unwrap_or_default();
        let direction = self.direction(placed.row);
        self.requests.other(&run, source_id.raw().get(), direction.as_deref());
    }

    fn direction<'a>(&mut self, row: &SourceRow<'a>) -> Option<Cow<'a, str>> {
        let mapping = Arc::clone(&self.mapping);
        self.scalar(mapping.direction.as_ref(), row)
    }

    /// The flag of the source: whether a result failed.
    fn flag(&self, row: &SourceRow<'_>, parts: &ResultParts<'_>) -> Option<bool> {
        let mapping = &self.mapping;
        match () {
            () if any(&mapping.not_failed, row, parts) => Some(false),
            () if any(&mapping.failed.conditions, row, parts) => Some(true),
            () if any(&mapping.not_suspected, row, parts) => Some(false),
            () => None,
        }
    }

    /// Whether a result failed. What the user's mapping says is final; the flags of a format come before the content.
    fn assessment(
        &mut self,
        map: &ResultMap,
        placed: &PlacedRow<'_, '_>,
        (flag, parts): (Option<bool>, &ResultParts<'_>),
        tool: Option<&str>,
        at: Option<u64>,
    ) -> Assessment {
        let (mapping, row) = (Arc::clone(&self.mapping), placed.row);
        let kind = self.scalar(map.kind.as_ref(), row);
        let headers = self.find(map.headers.as_ref(), row);
        let found = ToolResult {
            flag,
            denies_words: any(&mapping.not_failed, row, parts),
            status: self.number(map.status.as_ref(), parts.status.as_deref(), row, placed.place),
            code: parts.code.as_deref(),
            kind: kind.as_deref(),
            message: parts.error.as_deref(),
            body: parts.body.as_deref(),
            tool,
            words: mapping.own_words(),
            headers: headers.as_ref().map(SourceValue::raw),
            at,
            ..ToolResult::default()
        };
        let mut said = match (mapping.failed.by_text, flag) {
            (true, _) | (false, Some(true)) => self.failures.assess(&found),
            (false, _) => Assessment::Ok,
        };
        let is_unnamed = !mapping.failed.by_text && flag.is_none() && mapping.title.is_none();
        if is_unnamed && self.loss.results < SAMPLED && tells_of_failure(&self.failures.assess(&found), found.status) {
            self.loss.warn(ImportWarning::UnnamedFailure, placed.place);
        }
        if let Assessment::Failed(failure) = &mut said {
            failure.retry_after_ms = self.retry_after(map, row, placed.place).or(failure.retry_after_ms);
            failure.retriable = self.scalar(map.retriable.as_ref(), row).and_then(|said| flag_of(&said));
            if let Some(kind) = kind_of(&mapping.kinds, row, parts) {
                kind.clone_into(&mut failure.kind);
                failure.kind_from = None;
                failure.forget_teller();
            }
        }
        match mapping.overrides.as_deref() {
            Some(own) => own.corrected(row, parts, &found, said, &mut self.loss.changed),
            None => said,
        }
    }

    fn parts<'a>(&mut self, map: &ResultMap, row: &SourceRow<'a>) -> ResultParts<'a> {
        let body = self.find(map.body.as_ref(), row).map(content);
        let error = self.find(map.message.as_ref(), row).map(content).filter(|error| !error.trim().is_empty());
        let (status, code) = (self.scalar(map.status.as_ref(), row), self.scalar(map.code.as_ref(), row));
        ResultParts { error, body, status, code }
    }

    /// The start and the end of an attempt. Of start, end and latency, two determine the third.
    pub(super) fn times(
        &mut self,
        map: &ResultMap,
        placed: &PlacedRow<'_, '_>,
        call: Option<&CallMap>,
    ) -> (Option<u64>, Option<u64>) {
        let PlacedRow { row, place, .. } = *placed;
        let call_at = call.and_then(|call| call.at.as_ref()).filter(|_| map.started.is_none());
        let mut started = self.time(map.started.as_ref(), row, place);
        let mut at = self.time(map.at.as_ref(), row, place);
        if let Some(raw) = self.find(map.latency.as_ref(), row) {
            let unit = self.duration_unit(map.latency.as_ref(), &raw);
            let Some(latency) = time::span(raw.raw(), unit) else {
                self.unreadable(ImportWarning::UnreadableNumber, map.latency.as_ref(), row, place);
                return (started, at);
            };
            started = started.or_else(|| call_at.and_then(|call_at| self.time(Some(call_at), row, place)));
            started = started.or_else(|| at.map(|at| at.saturating_sub(latency)));
            at = at.or_else(|| started.map(|started| started.saturating_add(latency)));
        }
        (started, at)
    }

    /// The unit of a duration. A number without one, of a mapping of the user, is a mistake: `finish` says so.
    pub(super) fn duration_unit(&mut self, selector: Option<&Selector>, found: &SourceValue<'_>) -> TimeUnit {
        let said = selector.and_then(|selector| selector.unit);
        let by_name = selector.is_some_and(|selector| selector.has_unit_in_name);
        let is_number = || json::scalar(found.raw()).is_some_and(|text| text.trim().parse::<f64>().is_ok());
        if said.is_none() && !by_name && self.mapping.title.is_none() && self.unitless.is_none() && is_number() {
            self.unitless = selector.map(|selector| selector.span.clone());
        }
        said.unwrap_or(TimeUnit::Millis)
    }

    fn retry_after(&mut self, map: &ResultMap, row: &SourceRow<'_>, place: &str) -> Option<u64> {
        let parts = [(&map.retry_after_ms, TimeUnit::Millis), (&map.retry_after_s, TimeUnit::Seconds)];
        let (selector, unit, found) =
            parts.into_iter().find_map(|(part, unit)| Some((part, unit, self.find(part.as_ref(), row)?)))?;
        let micros = time::span(found.raw(), unit);
        if micros.is_none() {
            self.unreadable(ImportWarning::UnreadableNumber, selector.as_ref(), row, place);
        }
        micros.map(|micros| micros / 1_000)
    }
}

/// Whether a result that no condition names is probably a failure: by its content, or by an HTTP status that the mapping
/// reads. A code alone may be anything.
fn tells_of_failure(said: &Assessment, status: Option<u16>) -> bool {
    match said {
        Assessment::Failed(failure) => {
            failure.evidence != StatusFrom::Code || status.is_some_and(|status| (400..=599).contains(&status))
        }
        Assessment::Ok | Assessment::Suspected(_) | Assessment::Unfinished(_) => false,
    }
}

/// A flag as logs write it; none: it says neither.
fn flag_of(said: &str) -> Option<bool> {
    match said {
        said if said.eq_ignore_ascii_case("true") => Some(true),
        said if said.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}
