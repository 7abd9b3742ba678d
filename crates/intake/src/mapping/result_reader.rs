//! Reads the results of rows, each by itself: whether it failed is judged here, with a guess of the tool where that is known by
//! an earlier row alone. Pairs nothing.

use std::borrow::Cow;

use super::condition::{ResultParts, RowCondition, any};
use super::model::{CallMap, Mapping, Pairing, ResultMap, TimeUnit};
use super::overrides::OwnRules;
use super::row_reader::{Noted, ReadRun, ReadValue, RowReader};
use super::time;
use super::values::{content, kind_of, scalar_in, scalar_of};
use crate::failure::{Assessment, FailureCache, ToolResult};
use crate::imported::ImportWarning;
use crate::raw_value::RawValue;
use crate::reader_state::ReaderState;
use crate::source_value::SourceValue;
use crate::trace_writer::Answer;
use crate::wire;
use playproof_engine::event::StatusFrom;

/// A result.
#[derive(Debug)]
pub(super) struct ReadResult {
    /// The number of its map.
    pub(super) map: usize,
    pub(super) run: ReadValue<ReadRun>,
    pub(super) named: Option<String>,
    pub(super) is_unfinished: bool,
    pub(super) answers: ReadAnswers,
    pub(super) started: Option<u64>,
    pub(super) at: Option<u64>,
    pub(super) attempt: Option<u32>,
    /// The source says that the caller waits no longer.
    pub(super) is_cancelled: bool,
    /// Distinguishes its row from others.
    pub(super) row: u32,
    pub(super) judged: Judged,
    /// How it is judged if another tool was called than was guessed; none: the tool is sure.
    pub(super) question: Option<Box<Question<'static>>>,
    pub(super) noted: Noted,
}

/// What tells which call a result answers.
#[derive(Debug)]
pub(super) enum ReadAnswers {
    /// That of its row: its id, and its tool.
    Own(String, Option<String>),
    /// The call with this id.
    Id(Option<String>),
    /// The request with this id, and its way.
    Request(Option<String>, Option<String>),
}

/// What is said of a result, if this tool was called.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) tool: Option<String>,
    pub(super) answer: Answer,
    pub(super) is_timeout: bool,
    /// No condition of the user's mapping names it as a failure, and its content tells of one.
    pub(super) is_unnamed: bool,
    pub(super) noted: Noted,
}

/// All that tells whether a result failed, beside the tool.
#[derive(Debug)]
pub(super) struct Question<'a> {
    texts: Texts<'a>,
    facts: Facts,
}

#[derive(Debug)]
struct Texts<'a> {
    parts: ResultParts<'a>,
    kind: Option<Cow<'a, str>>,
    headers: Option<Cow<'a, str>>,
}

#[derive(Debug)]
struct Facts {
    flag: Option<bool>,
    denies_words: bool,
    status: Option<u16>,
    at: Option<u64>,
    /// What a mapping that changes a format says.
    own: Option<OwnRules>,
    of_failure: Option<OfFailure>,
}

/// What is said of a result if it failed.
#[derive(Debug, Default)]
struct OfFailure {
    retry_after_ms: Option<u64>,
    retriable: Option<bool>,
    kind: Option<String>,
    noted: Noted,
}

impl<'a> Texts<'a> {
    fn into_owned(self) -> Texts<'static> {
        let owned = |text: Option<Cow<'a, str>>| text.map(|text| Cow::Owned(text.into_owned()));
        let ResultParts { error, body, status, code } = self.parts;
        let parts = ResultParts { error: owned(error), body: owned(body), status: owned(status), code: owned(code) };
        Texts { parts, kind: owned(self.kind), headers: owned(self.headers) }
    }
}

impl Question<'_> {
    fn into_owned(self) -> Question<'static> {
        Question { texts: self.texts.into_owned(), facts: self.facts }
    }

    fn result<'q>(&'q self, mapping: &'q Mapping, tool: Option<&'q str>) -> ToolResult<'q> {
        let Texts { parts, kind, headers } = &self.texts;
        ToolResult {
            flag: self.facts.flag,
            denies_words: self.facts.denies_words,
            status: self.facts.status,
            code: parts.code.as_deref(),
            kind: kind.as_deref(),
            message: parts.error.as_deref(),
            body: parts.body.as_deref(),
            tool,
            words: mapping.own_words(),
            headers: headers.as_deref().map(RawValue::of_checked),
            at: self.facts.at,
            ..ToolResult::default()
        }
    }

    /// Whether it failed by its flag and its content.
    fn assess(&self, mapping: &Mapping, tool: Option<&str>, failures: &mut FailureCache) -> Assessment {
        match (mapping.failed.by_text, self.facts.flag) {
            (true, _) | (false, Some(true)) => failures.assess(&self.result(mapping, tool)),
            (false, _) => Assessment::Ok,
        }
    }

    /// What is said of the result: what the user's mapping says is final; the flags of a format come before the content.
    pub(super) fn judge(
        &self,
        mapping: &Mapping,
        tool: Option<String>,
        failures: &mut FailureCache,
        is_sampled: bool,
    ) -> Judged {
        let said = self.assess(mapping, tool.as_deref(), failures);
        self.judged(said, (mapping, tool), failures, is_sampled)
    }

    fn judged(
        &self,
        mut said: Assessment,
        (mapping, tool): (&Mapping, Option<String>),
        failures: &mut FailureCache,
        is_sampled: bool,
    ) -> Judged {
        let (result, flag) = (self.result(mapping, tool.as_deref()), self.facts.flag);
        let mut noted = Noted::default();
        let by_text = mapping.failed.by_text;
        let may_be_unnamed = is_sampled && !by_text && flag.is_none() && mapping.title.is_none();
        let is_unnamed = may_be_unnamed && tells_of_failure(&failures.assess(&result), result.status);
        if let (Assessment::Failed(failure), Some(of_failure)) = (&mut said, &self.facts.of_failure) {
            failure.retry_after_ms = of_failure.retry_after_ms.or(failure.retry_after_ms);
            failure.retriable = of_failure.retriable;
            if let Some(kind) = &of_failure.kind {
                kind.clone_into(&mut failure.kind);
                failure.kind_from = None;
                failure.forget_teller();
            }
            noted.warnings.clone_from(&of_failure.noted.warnings);
            noted.hits.clone_from(&of_failure.noted.hits);
        }
        if let Some(own) = &self.facts.own {
            said = own.corrected(&self.texts.parts, &result, said, &mut noted.changed);
        }
        let answer = Answer::of(&said, !by_text || flag.is_some(), self.texts.parts.body.as_deref());
        Judged { answer, is_timeout: said.is_timeout(), is_unnamed, noted, tool }
    }
}

impl<'a> RowReader<'_, 'a> {
    /// The result of the row, which is also a call by `call`, or answers an earlier one.
    pub(super) fn result(
        &mut self,
        (number, map): (usize, &ResultMap),
        call: Option<&CallMap>,
        state: &mut ReaderState,
    ) -> ReadResult {
        let (mapping, row) = (self.mapping, self.row);
        let like = call.or(mapping.calls.first());
        let run = self.run(map.run.as_ref().or(like.and_then(|call| call.run.as_ref())));
        let named = self.owned(map.tool.as_ref());
        let run = self.said(run);
        let answers = self.answers(map, call, like);
        let (started, at) = self.times(map, call);
        let attempt = self.whole(map.attempt.as_ref());
        let parts = self.parts(map);
        let question = self.question(map, parts, at);
        let of_call = match &answers {
            ReadAnswers::Own(_, tool) => tool.clone(),
            ReadAnswers::Id(id) | ReadAnswers::Request(id, _) => {
                id.as_ref().filter(|_| named.is_none()).and_then(|id| state.tools.tool("", id))
            }
        };
        let is_sure = named.is_some() || matches!(answers, ReadAnswers::Own(..));
        let (question, judged) = self.judge(map, question, named.clone().or(of_call), is_sure, state);
        ReadResult {
            map: number,
            run,
            named,
            is_unfinished: any(&mapping.unfinished, row, &ResultParts::default()),
            answers,
            started,
            at,
            attempt,
            is_cancelled: any(&mapping.cancelled, row, &question.texts.parts),
            row: wire::hash_of_line(row.value.text),
            judged,
            question: (!is_sure).then(|| Box::new(question.into_owned())),
            noted: std::mem::take(&mut self.noted),
        }
    }

    /// What tells which call the result answers.
    fn answers(&mut self, map: &ResultMap, call: Option<&CallMap>, like: Option<&CallMap>) -> ReadAnswers {
        if let Some(call) = call {
            let id = scalar_in(call.id.as_ref(), self.row).or_else(|| self.scalar(map.id.as_ref()));
            let id = id.map_or_else(|| self.place.to_owned(), Cow::into_owned);
            return ReadAnswers::Own(id, scalar_of(&call.tool, self.row).map(Cow::into_owned));
        }
        let id = map.id.as_ref().or(like.and_then(|call| call.id.as_ref()));
        match self.mapping.pair {
            Pairing::Known => {
                let source_id = self.find(id).map(|id| id.raw().get().to_owned());
                let way = if map.is_from_caller { None } else { self.way() };
                ReadAnswers::Request(source_id, way)
            }
            Pairing::Id | Pairing::Order => ReadAnswers::Id(self.owned(id)),
        }
    }

    fn question<'q>(&mut self, map: &ResultMap, parts: ResultParts<'q>, at: Option<u64>) -> Question<'q>
    where
        'a: 'q,
    {
        let (mapping, row) = (self.mapping, self.row);
        let flag = flag(mapping, |conditions| any(conditions, row, &parts));
        let is_undecided = flag.is_none() && mapping.title.is_some() && mapping.overrides.is_none();
        if is_undecided && mapping.flags().any(|path| row.find(path).is_some()) {
            self.warn(ImportWarning::UnknownFlag);
        }
        let denies_words = any(&mapping.not_failed, row, &parts);
        let kind = self.scalar(map.kind.as_ref());
        let headers = self.find(map.headers.as_ref()).map(SourceValue::text);
        let status = self.number(map.status.as_ref(), parts.status.as_deref());
        let own = mapping.overrides.as_deref().map(|own| own.rules_of(row));
        let facts = Facts { flag, denies_words, status, at, own, of_failure: None };
        Question { texts: Texts { parts, kind, headers }, facts }
    }

    /// What is said of a result, with `tool` as the one that was called.
    fn judge<'q>(
        &mut self,
        map: &ResultMap,
        mut question: Question<'q>,
        tool: Option<String>,
        is_sure: bool,
        state: &mut ReaderState,
    ) -> (Question<'q>, Judged) {
        let mapping = self.mapping;
        let said = question.assess(mapping, tool.as_deref(), &mut state.failures);
        if !is_sure || matches!(said, Assessment::Failed(_)) {
            question.facts.of_failure = Some(self.of_failure(map, &question.texts.parts));
        }
        let is_sampled = self.known.wants_results();
        let judged = question.judged(said, (mapping, tool), &mut state.failures, is_sampled);
        (question, judged)
    }

    fn of_failure(&mut self, map: &ResultMap, parts: &ResultParts<'_>) -> OfFailure {
        let before = std::mem::take(&mut self.noted);
        let retry_after_ms = self.retry_after(map);
        let retriable = self.scalar(map.retriable.as_ref()).and_then(|said| flag_of(&said));
        let kind = kind_of(&self.mapping.kinds, self.row, parts).map(str::to_owned);
        let noted = std::mem::replace(&mut self.noted, before);
        OfFailure { retry_after_ms, retriable, kind, noted }
    }

    fn parts(&mut self, map: &ResultMap) -> ResultParts<'a> {
        let body = self.find(map.body.as_ref()).map(content);
        let error = self.find(map.message.as_ref()).map(content).filter(|error| !error.trim().is_empty());
        let (status, code) = (self.scalar(map.status.as_ref()), self.scalar(map.code.as_ref()));
        ResultParts { error, body, status, code }
    }

    fn retry_after(&mut self, map: &ResultMap) -> Option<u64> {
        let parts = [(&map.retry_after_ms, TimeUnit::Millis), (&map.retry_after_s, TimeUnit::Seconds)];
        let (selector, unit, found) =
            parts.into_iter().find_map(|(part, unit)| Some((part, unit, self.find(part.as_ref())?)))?;
        let micros = time::span(found.raw(), unit);
        if micros.is_none() {
            self.unreadable(ImportWarning::UnreadableNumber, selector.as_ref());
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

/// The flag of the source: whether a result failed.
fn flag(mapping: &Mapping, any: impl Fn(&[RowCondition]) -> bool) -> Option<bool> {
    match () {
        () if any(&mapping.not_failed) => Some(false),
        () if any(&mapping.failed.conditions) => Some(true),
        () if any(&mapping.not_suspected) => Some(false),
        () => None,
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
