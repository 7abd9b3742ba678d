//! Reads the values of one row, and notes what is odd about them. Makes no call and no result of them.

use std::borrow::Cow;
use std::ops::Range;

use super::condition::text;
use super::known::Known;
use super::model::{CallMap, Mapping, ResultMap, Selector, TimeUnit, ValueSource};
use super::row::SourceRow;
use super::time;
use super::values::{names_request, of_document, stripped, value_of};
use crate::imported::{Changed, ImportWarning};
use crate::json;
use crate::source_value::SourceValue;
use playproof_formats::yaml::shorten;

/// A value, and what is noted if it is taken.
#[derive(Debug, Default)]
pub(super) struct ReadValue<T> {
    pub(super) value: T,
    pub(super) noted: Noted,
}

/// What is noted beside values.
#[derive(Debug, Default)]
pub(super) struct Noted {
    pub(super) warnings: Vec<(ImportWarning, String)>,
    /// The selectors that found a value for the first time.
    pub(super) hits: Vec<usize>,
    /// The place of a duration in the mapping that is a number without a unit.
    pub(super) unitless: Option<Range<usize>>,
    pub(super) changed: Changed,
}

/// What tells the run of a row.
#[derive(Debug, Default)]
pub(super) struct ReadRun {
    pub(super) value: Option<String>,
    /// The place of an object around the row.
    pub(super) around: Option<String>,
    /// Its value names a request: the run is that of its conversation.
    pub(super) is_of_request: bool,
    pub(super) selector: Option<usize>,
    /// What the user's mapping says.
    pub(super) own: Option<String>,
}

/// Reads one row.
pub(super) struct RowReader<'r, 'a> {
    pub(super) mapping: &'r Mapping,
    /// The name of its file.
    pub(super) name: &'r str,
    pub(super) known: &'r Known,
    /// Reports quote values.
    pub(super) is_quoted: bool,
    pub(super) row: &'r SourceRow<'a>,
    pub(super) place: &'r str,
    /// The place of its document.
    pub(super) document: &'r str,
    /// Its document is a request.
    pub(super) in_request: bool,
    pub(super) noted: Noted,
}

impl<'a> RowReader<'_, 'a> {
    /// A value with what was noted since the last one.
    pub(super) fn said<T>(&mut self, value: T) -> ReadValue<T> {
        ReadValue { value, noted: std::mem::take(&mut self.noted) }
    }

    pub(super) fn warn(&mut self, warning: ImportWarning) {
        self.noted.warnings.push((warning, self.place.to_owned()));
    }

    pub(super) fn way(&mut self) -> Option<String> {
        self.owned(self.mapping.direction.as_ref())
    }

    /// What tells the run of a row: a value, and the place of an object around the row.
    pub(super) fn run(&mut self, selector: Option<&Selector>) -> ReadRun {
        let run = self.find(selector).and_then(|found| match json::scalar(found.raw()) {
            Some(run) => selector.map(|selector| selector.stripped(&run).to_owned()),
            None => None,
        });
        let value = run.filter(|run| !run.is_empty());
        let is_of_request = self.in_request && selector.is_some_and(|selector| names_request(selector, self.row));
        let around = || {
            let paths = selector?.sources.iter().filter_map(ValueSource::path);
            let path = paths.filter_map(|path| self.row.place_around(path)).next()?;
            let place = of_document(self.document, path);
            Some(if place.is_empty() { self.name.to_string() } else { place.into_owned() })
        };
        let around = if value.is_none() || is_of_request { around() } else { None };
        let own = self.mapping.overrides.as_ref().and_then(|own| own.own_run(self.row));
        ReadRun { value, around, is_of_request, selector: selector.map(|selector| selector.number), own }
    }

    pub(super) fn find(&mut self, selector: Option<&Selector>) -> Option<SourceValue<'a>> {
        let selector = selector?;
        let found = value_of(selector, self.row)?;
        if self.known.is_new(selector.number) {
            self.noted.hits.push(selector.number);
        }
        Some(found)
    }

    pub(super) fn scalar(&mut self, selector: Option<&Selector>) -> Option<Cow<'a, str>> {
        let found = self.find(selector)?;
        stripped(selector?, found)
    }

    pub(super) fn owned(&mut self, selector: Option<&Selector>) -> Option<String> {
        self.scalar(selector).map(Cow::into_owned)
    }

    pub(super) fn time(&mut self, selector: Option<&Selector>) -> Option<u64> {
        let raw = self.find(selector)?;
        let mapping = self.mapping;
        let unit = selector.and_then(|selector| selector.unit).or(mapping.time);
        let micros = time::micros(raw.raw(), unit);
        match micros {
            None => self.unreadable(ImportWarning::UnreadableTime, selector),
            Some(at) if unit.is_none() && time::JANUARY_1970.contains(&at) && mapping.title.is_none() => {
                let why = "the mapping has no unit, perhaps it is `time: s`";
                self.noted.warnings.push((ImportWarning::TimeIn1970, format!("{}: {why}", self.named_place())));
            }
            Some(_) => {}
        }
        micros
    }

    /// The place in words.
    const fn named_place(&self) -> &str {
        if self.place.is_empty() { "the document" } else { self.place }
    }

    /// Notes a value that cannot be read, with its path, if nothing is redacted.
    pub(super) fn unreadable(&mut self, warning: ImportWarning, selector: Option<&Selector>) {
        let paths = selector.filter(|_| self.is_quoted).into_iter().flat_map(|selector| &selector.sources);
        let mut paths = paths.filter_map(ValueSource::path);
        let said = match paths.find_map(|path| Some((path, self.row.find(path)?))) {
            Some((path, found)) => format!("{}: `{path}` is `{}`", self.named_place(), shorten(&text(found))),
            None => self.place.to_owned(),
        };
        self.noted.warnings.push((warning, said));
    }

    pub(super) fn whole<N: TryFrom<u64>>(&mut self, selector: Option<&Selector>) -> Option<N> {
        let text = self.scalar(selector);
        self.number(selector, text.as_deref())
    }

    pub(super) fn number<N: TryFrom<u64>>(&mut self, selector: Option<&Selector>, text: Option<&str>) -> Option<N> {
        let text = text.filter(|_| selector.is_some())?;
        let number = time::whole(text);
        if number.is_none() {
            self.unreadable(ImportWarning::UnreadableNumber, selector);
        }
        number
    }

    /// The start and the end of an attempt. Of start, end and latency, two determine the third.
    pub(super) fn times(&mut self, map: &ResultMap, call: Option<&CallMap>) -> (Option<u64>, Option<u64>) {
        let call_at = call.and_then(|call| call.at.as_ref()).filter(|_| map.started.is_none());
        let mut started = self.time(map.started.as_ref());
        let mut at = self.time(map.at.as_ref());
        if let Some(raw) = self.find(map.latency.as_ref()) {
            let unit = self.duration_unit(map.latency.as_ref(), &raw);
            let Some(latency) = time::span(raw.raw(), unit) else {
                self.unreadable(ImportWarning::UnreadableNumber, map.latency.as_ref());
                return (started, at);
            };
            started = started.or_else(|| call_at.and_then(|call_at| self.time(Some(call_at))));
            started = started.or_else(|| at.map(|at| at.saturating_sub(latency)));
            at = at.or_else(|| started.map(|started| started.saturating_add(latency)));
        }
        (started, at)
    }

    /// The unit of a duration. A number without one, of a mapping of the user, is a mistake, which is reported at the end.
    pub(super) fn duration_unit(&mut self, selector: Option<&Selector>, found: &SourceValue<'_>) -> TimeUnit {
        let said = selector.and_then(|selector| selector.unit);
        let by_name = selector.is_some_and(|selector| selector.has_unit_in_name);
        let is_number = || json::scalar(found.raw()).is_some_and(|text| text.trim().parse::<f64>().is_ok());
        if said.is_none() && !by_name && self.mapping.title.is_none() && is_number() {
            self.noted.unitless = self.noted.unitless.take().or_else(|| selector.map(|selector| selector.span.clone()));
        }
        said.unwrap_or(TimeUnit::Millis)
    }
}
