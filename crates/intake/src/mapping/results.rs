//! Takes the results of rows in order: which call a result answers. Reads no rows.

use super::apply::{Applier, RowPlace};
use super::model::Pairing;
use super::requests::Answered;
use super::result_reader::{ReadAnswers, ReadResult};
use super::row_reader::ReadValue;
use crate::imported::{ImportWarning, Missing};
use crate::trace_writer::{At, OutputResult};
use std::sync::Arc;

/// The call that a result answers: its id and its tool, as far as they are known.
type AnsweredCall = (Option<String>, Option<String>);

impl Applier {
    /// Writes a result, which answers the call of its row or an earlier one.
    pub(super) fn result(&mut self, read: ReadResult, RowPlace { place, span }: RowPlace<'_>) {
        let mapping = Arc::clone(&self.reader.mapping);
        let ReadValue { value: run, noted } = read.run;
        self.note(noted);
        let run = self.run_of(run);
        // An answer to a request is its only one. Other calls still wait for their result.
        if read.is_unfinished && mapping.pair != Pairing::Known {
            self.loss.warn(ImportWarning::Unfinished, place);
            return;
        }
        let named = read.named.as_deref();
        let answered = match read.answers {
            ReadAnswers::Own(id, tool) => Some((Some(id), tool)),
            ReadAnswers::Id(id) => {
                let has_id = mapping.results.get(read.map).is_some_and(|map| map.id.is_some());
                let has_ids = (has_id, mapping.calls.first().is_some_and(|call| call.id.is_some()));
                Some(self.answered(id, run.as_deref().unwrap_or_default(), named, has_ids, place))
            }
            ReadAnswers::Request(source_id, way) => {
                let run = run.as_deref().unwrap_or_default();
                self.answered_request(source_id.as_deref(), way.as_deref(), run, read.is_unfinished, place)
            }
        };
        let Some((id, of_call)) = answered else { return };
        if read.is_unfinished {
            self.loss.warn(ImportWarning::Unfinished, place);
            return;
        }
        self.note(read.noted);
        let is_known = of_call.is_some();
        let tool = read.named.or(of_call);
        let is_sampled = self.reader.known.wants_results();
        let judged = match read.question.filter(|_| tool != read.judged.tool) {
            Some(question) => question.judge(&mapping, tool, &mut self.failures, is_sampled),
            None => read.judged,
        };
        if judged.is_unnamed && is_sampled {
            self.loss.warn(ImportWarning::UnnamedFailure, place);
        }
        self.note(judged.noted);
        if let Some((id, at)) =
            id.as_deref().zip(read.at).filter(|_| is_known && read.is_cancelled && !judged.is_timeout)
        {
            if !self.lines.goes_away(run.as_deref(), id, at, (span, place)) {
                self.loss.warn(ImportWarning::Copy, place);
            }
            return;
        }
        let is_written = self.lines.result(&OutputResult {
            run: run.as_deref(),
            id: id.as_deref(),
            attempt: read.attempt,
            started: read.started,
            at: read.at.map(At::Micros),
            answer: Some(&judged.answer),
            row: Some(read.row),
            repeats: mapping.unique.is_some(),
            source: place,
            span,
            ..OutputResult::default()
        });
        match is_written {
            true => {
                self.loss.count_result(&judged.answer.reply);
                self.reader.known.add_result();
            }
            false => self.loss.warn(ImportWarning::Copy, place),
        }
    }

    /// The call that a separate result with this id answers. `has_ids`: the maps of results and of calls have an id.
    fn answered(
        &mut self,
        id: Option<String>,
        run: &str,
        tool: Option<&str>,
        has_ids: (bool, bool),
        place: &str,
    ) -> AnsweredCall {
        match (self.reader.mapping.pair, id) {
            (Pairing::Order, Some(id)) => {
                let tool = self.waiting.answer(run, &id);
                (Some(id), tool)
            }
            (Pairing::Order, None) => match self.waiting.answer_first(run, tool) {
                Some((id, tool)) => (Some(id), Some(tool)),
                None => {
                    self.loss.warn(ImportWarning::ResultWithoutCall, place);
                    (Some(place.to_owned()), None)
                }
            },
            (Pairing::Id | Pairing::Known, None) => {
                match has_ids {
                    (true, _) => self.loss.warn(ImportWarning::ResultWithoutId, place),
                    (false, false) => drop(self.loss.missing.insert(Missing::Ids)),
                    (false, true) => {}
                }
                (None, None)
            }
            (Pairing::Id | Pairing::Known, Some(id)) => {
                let tool = self.called.tool(run, &id);
                (Some(id), tool)
            }
        }
    }

    /// The call that an answer is for; none: it answers something else, or nothing that is known.
    fn answered_request(
        &mut self,
        source_id: Option<&str>,
        way: Option<&str>,
        run: &str,
        is_unfinished: bool,
        place: &str,
    ) -> Option<AnsweredCall> {
        match self.requests.answer(run, source_id?, way) {
            Answered::Call(call) => {
                if !self.reader.mapping.continues.is_empty() && is_unfinished {
                    self.requests.leave_unfinished(run, call.clone());
                }
                Some((Some(call.id), Some(call.tool)))
            }
            Answered::Other { is_sure } => {
                if !is_sure {
                    self.loss.warn(ImportWarning::AnswerToEither, place);
                }
                None
            }
            // A source that shows its other requests shows what this one answers.
            Answered::Nothing if !self.reader.mapping.other_request.is_empty() => {
                self.loss.warn(ImportWarning::ResultWithoutCall, place);
                Some((Some(place.to_owned()), None))
            }
            Answered::Nothing => None,
        }
    }
}
