//! Applies a mapping: each row becomes a call line, a result line, both or neither. Streams row by row. Pairs nothing: our
//! reader does that.

use playproof_engine::event::Act;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::condition::{ResultParts, any, text};
use super::conversation::Conversation;
use super::documents::{Document, Documents};
use super::hint::RowSample;
use super::model::{CallMap, Mapping, Pairing, ResultMap, Selector, SkippedRows, ValueSource};
use super::pairing::{CalledTools, WaitingCalls};
use super::requests::{OpenRequests, Requested};
use super::row::{SourceRow, rows_of};
use super::time;
use super::unseen::UnseenTests;
use super::values::{listed, missing, names_request, of_document, stripped, value_of};
use crate::failure::FailureCache;
use crate::hash;
use crate::histories::{Compared, Histories, History};
use crate::imported::{ImportWarning, Imported, LossReport, Missing};
use crate::json;
use crate::json::{Parsed, SourceArgs};
use crate::line_importer::LineImporter;
use crate::origin::{LineFinder, SourceSpan};
use crate::prefixed;
use crate::redact::RedactionRules;
use crate::source_text::SourceText;
use crate::source_value::SourceValue;
use crate::tool_hints;
use crate::trace_writer::{At, OutputAct, OutputCall, TraceWriter};
use playproof_formats::diagnostic::{Diagnostic, Report};
use playproof_formats::yaml::shorten;

/// Converts a foreign source, called `name`, into lines in our own trace format. The source is JSON Lines, JSON documents in a
/// row, or one document with an array of rows. The lines are as recorded; `redaction` applies to reports.
///
/// # Errors
/// Bytes that are not UTF-8 or not JSON, with the place; a mapping by which no row is a call, with the paths of the rows.
pub fn apply(mapping: &Mapping, bytes: &[u8], name: &str, redaction: &RedactionRules) -> Result<Imported, Report> {
    let (bytes, others, first_other) = prefixed::objects(bytes);
    let source = SourceText::new(&bytes, name).map_err(|report| redaction.report(report))?;
    let mut applier = Applier { finder: source.lines(), ..Applier::new(mapping, name, redaction) };
    let mut documents = Documents::new(source);
    while let Some(next) = documents.next() {
        match next {
            Ok(Document { value, line }) => {
                let is_all = value.text.len() == source.text.trim().len();
                let place = if is_all { String::new() } else { place_of_line(line) };
                applier.document(&value, &place);
            }
            Err(broken) if broken.is_line && mapping.skip_invalid => {
                applier.loss.warn(ImportWarning::NotJson, &format!("line {}", broken.line));
            }
            Err(broken) => return Err(redaction.report(broken.report)),
        }
    }
    applier.loss.warn_of(ImportWarning::UnmatchedRow, others, || format!("line {first_other}"));
    let imported = applier.lines.take_imported();
    Ok(Imported { loss: applier.report()?, ..imported })
}

/// The place of a document that is a line.
fn place_of_line(line: usize) -> String {
    ["line ", itoa::Buffer::new().format(line)].concat()
}

/// A place in words.
fn named(place: &str) -> &str {
    if place.is_empty() { "the document" } else { place }
}

/// Applies a mapping to a source that arrives in parts.
#[derive(Debug)]
pub struct Applier {
    pub(super) mapping: Arc<Mapping>,
    name: Arc<str>,
    pub(super) lines: TraceWriter,
    pub(super) loss: LossReport,
    /// Finds the places of rows.
    finder: LineFinder,
    /// The number of rows in which each selector found a value.
    hits: Vec<u64>,
    /// What the user's mapping looks for and no row had so far.
    unseen: UnseenTests,
    /// The lists of paths that have led to no row so far.
    no_rows: Vec<usize>,
    sample: RowSample,
    rows: u64,
    /// The hashes of the names of runs.
    runs: BTreeSet<u64>,
    pub(super) waiting: WaitingCalls,
    pub(super) called: CalledTools,
    pub(super) requests: OpenRequests,
    /// The conversations so far, each with its run.
    histories: Histories<Option<String>>,
    /// While a request is read: the run of its conversation, as far as that is known.
    request: Option<Option<String>>,
    pub(super) failures: FailureCache,
    /// The hashes of the values of `unique`.
    seen: BTreeSet<u64>,
    /// The run that the last row for `new_run` began.
    begun_run: Option<String>,
    /// The place of a duration in the mapping that is a number without a unit.
    pub(super) unitless: Option<Range<usize>>,
}

/// A row with its place.
pub(super) struct PlacedRow<'r, 'a> {
    pub(super) row: &'r SourceRow<'a>,
    pub(super) place: &'r str,
    pub(super) span: SourceSpan,
}

impl LineImporter for Applier {
    fn line(&mut self, number: usize, line: &[u8]) -> Result<(), Report> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let name = Arc::clone(&self.name);
        let (source, document) = SourceText::line(line, &name, number, SourceText::value)?;
        self.finder = LineFinder::new(source.text, number);
        self.document(&document, &place_of_line(number));
        Ok(())
    }

    fn loss(&mut self) -> &mut LossReport {
        &mut self.loss
    }

    fn lines(&mut self) -> &mut TraceWriter {
        &mut self.lines
    }

    fn finish(self: Box<Self>) -> Result<LossReport, Report> {
        (*self).report()
    }
}

impl Applier {
    /// An applier for the source called `name`.
    pub fn new(mapping: &Mapping, name: &str, redaction: &RedactionRules) -> Applier {
        Applier {
            mapping: Arc::new(mapping.clone()),
            name: name.into(),
            lines: if mapping.title.is_some() { TraceWriter::of_format() } else { TraceWriter::default() },
            finder: LineFinder::default(),
            loss: LossReport {
                read_as: mapping.title.unwrap_or("rows of a mapping").into(),
                is_overridden: mapping.overrides.is_some(),
                ..LossReport::default()
            },
            hits: vec![0; mapping.selectors],
            unseen: if mapping.title.is_none() { UnseenTests::of(mapping) } else { UnseenTests::default() },
            no_rows: (0..mapping.records.len()).filter(|_| mapping.title.is_none()).collect(),
            sample: RowSample::new(redaction),
            rows: 0,
            runs: BTreeSet::new(),
            waiting: WaitingCalls::default(),
            called: CalledTools::default(),
            requests: OpenRequests::default(),
            histories: Histories::default(),
            request: None,
            failures: FailureCache::default(),
            seen: BTreeSet::new(),
            begun_run: None,
            unitless: None,
        }
    }

    /// What the source holds so far.
    pub(crate) const fn loss_so_far(&self) -> &LossReport {
        &self.loss
    }

    /// The loss report: what the source lacks, and which fields of the mapping no row has.
    ///
    /// # Errors
    /// No row was a call, or no result has what would tell whether it failed.
    fn report(mut self) -> Result<LossReport, Report> {
        if self.loss.calls == 0 {
            let fitting = self.loss.count(ImportWarning::CallWithoutTool);
            let (rows, no_rows) = (self.rows, &self.no_rows);
            return Err(self.sample.nothing_fits(&self.mapping, rows, no_rows, &self.name, fitting));
        }
        if self.mapping.title.is_none() {
            let results = self.loss.results > 0;
            if results && let Some(report) = self.sample.nothing_tells(&self.mapping, &self.hits, &self.name) {
                return Err(report);
            }
            let has_condition = self.mapping.results.iter().any(|result| result.when.is_some());
            self.loss.no_row_is_a_result = has_condition && !results;
            let unfound = match self.sample.without_rows(&self.mapping, &self.no_rows) {
                Some(unused) => {
                    self.loss.unused.push(unused);
                    Vec::new()
                }
                None => self.sample.unfound(&self.mapping, &self.hits, &self.unseen, results || !has_condition),
            };
            if let Some(report) = self.mistakes(self.sample.errors(&unfound)) {
                return Err(report);
            }
            let has_failures = self.loss.failures + self.loss.suspected > 0 || !results;
            self.loss.unused.append(&mut self.sample.warnings(&self.mapping, &unfound, has_failures));
        }
        let of_user = self.mapping.title.is_none().then_some(&self.mapping).or(self.mapping.overrides.as_ref());
        self.loss.unknown_kinds.extend(of_user.into_iter().flat_map(|mapping| mapping.misspelt_kinds()));
        self.loss.missing.append(&mut missing(&self.mapping));
        self.lines.report(&mut self.loss);
        self.loss.runs = self.runs.len().max(1) as u64;
        Ok(self.loss)
    }

    /// The mistakes that were `found` in the mapping, and a duration without a unit.
    fn mistakes(&self, mut found: Vec<Diagnostic>) -> Option<Report> {
        found.extend(self.unitless.clone().map(|span| {
            let said = Diagnostic::error("no_unit", "a duration has no unit").at(span, "its values are numbers");
            said.help("say the unit, such as `{ path: PATH, unit: ms }`")
        }));
        (!found.is_empty()).then(|| Report { source: self.mapping.source.clone(), diagnostics: found })
    }

    fn document(&mut self, document: &Parsed<'_>, place: &str) {
        tool_hints::gather(document.text, &mut self.loss.hints);
        let mapping = Arc::clone(&self.mapping);
        let rows = rows_of(document, &mapping.records, |list| mapping.has_only_results(list), &self.name);
        if !self.no_rows.is_empty() {
            self.sample.add_document(document);
            self.no_rows.retain(|list| !rows.iter().any(|(_, lists)| lists.contains(list)));
        }
        let Some(conversation) = Conversation::of(document) else { return self.rows(&rows, place) };
        let is_call = |(row, lists): &&(SourceRow<'_>, Vec<usize>)| {
            mapping.calls.iter().any(|call| lists.contains(&call.records) && call.is_for(row))
        };
        let calls = rows.iter().filter(is_call).filter_map(|(row, _)| conversation.message_of(&row.path));
        let calls: BTreeSet<usize> = calls.collect();
        let is_call = |message: usize| calls.contains(&message);
        let Compared { history, whole } = self.histories.compare(conversation.name, &conversation.messages, is_call);
        self.loss.warn_of_history(&history, place);
        let (known, earlier) = match history {
            History::GoesOn(known, run) => (known, run),
            History::New | History::Branches | History::Repeats => (0, None),
        };
        let is_known = |row: &SourceRow<'_>| conversation.message_of(&row.path).is_some_and(|message| message < known);
        let new: Vec<_> = rows.into_iter().filter(|(row, _)| !is_known(row)).collect();
        self.request = Some(earlier);
        self.rows(&new, place);
        self.histories.remember(whole, self.request.take().flatten());
    }

    fn rows(&mut self, rows: &[(SourceRow<'_>, Vec<usize>)], place: &str) {
        for (row, lists) in rows {
            self.row(row, lists, &of_document(place, &row.path));
        }
    }

    fn row(&mut self, row: &SourceRow<'_>, lists: &[usize], place: &str) {
        self.rows += 1;
        self.sample.add(row);
        let mapping = Arc::clone(&self.mapping);
        self.unseen.row(row);
        let is_copy = self.is_copy(row);
        let result = mapping.results.iter().find(|result| lists.contains(&result.records) && result.is_for(row));
        if is_copy && (result.is_none() || mapping.title.is_none()) {
            self.loss.warn(ImportWarning::Copy, place);
            return;
        }
        let nothing = ResultParts::default();
        if any(&mapping.new_run, row, &nothing) {
            self.begun_run = Some(place.to_owned());
        }
        if let SkippedRows::Where(when) = &mapping.skip
            && any(when, row, &nothing)
        {
            return;
        }
        let placed = PlacedRow { row, place, span: self.finder.find(row.value.text) };
        let acts = [(Act::Begin, &mapping.begin), (Act::Commit, &mapping.commit)];
        if let Some((act, _)) = acts.into_iter().find(|(_, when)| any(when, row, &nothing)) {
            self.act(act, &mapping, &placed);
        }
        let call = mapping.calls.iter().find(|call| lists.contains(&call.records) && call.is_for(row));
        // Of a row that is there again, the result may be another one.
        let call = call.filter(|call| is_copy || self.call(call, &placed, result));
        if let Some(result) = result {
            self.unseen.result(row);
            self.result(result, &placed, call);
        }
        if call.is_none() && result.is_none() && any(&mapping.other_request, row, &nothing) {
            self.other_request(&placed);
            return;
        }
        match mapping.skip {
            _ if call.is_some() || result.is_some() => {}
            SkippedRows::Rest => self.loss.passed += u64::from(mapping.title.is_none()),
            SkippedRows::None | SkippedRows::Where(_) => self.loss.warn(ImportWarning::UnmatchedRow, place),
        }
    }

    /// Whether the row repeats a value of `unique`, at the same path.
    fn is_copy(&mut self, row: &SourceRow<'_>) -> bool {
        let Some(unique) = &self.mapping.unique else { return false };
        let selector = unique.number;
        let paths = (0u64..).zip(unique.sources.iter().filter_map(ValueSource::path));
        let found = paths.filter_map(|(number, path)| Some((number, row.find(path)?))).next();
        let Some((number, value)) = found else { return false };
        self.hit(selector);
        !self.seen.insert(hash::half(hash::bytes(value.raw().get().as_bytes(), number)))
    }

    /// Writes what a row does with the transaction that it names as calls do.
    fn act(&mut self, act: Act, mapping: &Mapping, placed: &PlacedRow<'_, '_>) {
        for map in &mapping.calls {
            let label = self.scalar(map.transaction.as_ref(), placed.row).filter(|label| !label.is_empty());
            if let Some(label) = label {
                let run = self.run_of(map.run.as_ref(), placed);
                let (run, label) = (run.as_deref(), Some(&*label));
                let PlacedRow { span, place: source, .. } = *placed;
                return self.lines.act(&OutputAct { act, run, label, at: None, state: None, source, span });
            }
        }
    }

    /// Writes the call of a row; says whether the row is one.
    fn call(&mut self, map: &CallMap, placed: &PlacedRow<'_, '_>, result: Option<&ResultMap>) -> bool {
        let PlacedRow { row, place, span } = *placed;
        let named = self.scalar(Some(&map.tool), row);
        let named = match (named, self.scalar(map.server.as_ref(), row)) {
            (Some(named), Some(server)) if !server.is_empty() => Some(Cow::Owned(format!("mcp__{server}__{named}"))),
            (named, _) => named,
        };
        let own = self.mapping.overrides.as_ref();
        let own = own.and_then(|own| own.other_tool(row, named.as_deref(), &mut self.loss.changed));
        let Some(tool) = own.as_deref().or(named.as_deref()).filter(|tool| !tool.is_empty()) else {
            self.loss.warn(ImportWarning::CallWithoutTool, place);
            return true;
        };
        let run = self.run_of(map.run.as_ref(), placed);
        let mut id = self.call_id(map, placed, result);
        let args = self.find(map.args.as_ref(), row);
        let args = args.as_ref().map(|args| SourceArgs::of(args.raw()));
        if matches!(args, Some(SourceArgs::Text(_))) {
            self.loss.warn(ImportWarning::ArgumentsNotJson, place);
        }
        let at = self.time(map.at.as_ref(), row, place);
        let at = at.or_else(|| self.times(result.filter(|_| map.at.is_none())?, placed, None).0);
        let timeout = self.find(map.timeout.as_ref(), row);
        let timeout =
            timeout.and_then(|found| time::span(found.raw(), self.duration_unit(map.timeout.as_ref(), &found)));
        let (key, token) = (self.scalar(map.key.as_ref(), row), self.scalar(map.token.as_ref(), row));
        let transaction = self.scalar(map.transaction.as_ref(), row).filter(|label| !label.is_empty());
        let evidence = self.find(map.evidence.as_ref(), row);
        let evidence = evidence.as_ref().map(|evidence| listed(evidence.raw()));
        let step_of = map.step_of.as_ref();
        let step_of = step_of.map(|of| (self.scalar(Some(&of.parent), row), self.scalar(Some(&of.step), row)));
        let step = match &step_of {
            Some((Some(parent), Some(step))) if !parent.is_empty() && !step.is_empty() => Some((&**parent, &**step)),
            _ => None,
        };
        match &run {
            Some(run) => drop(self.runs.insert(hash::half(hash::bytes(run.as_bytes(), 0)))),
            None => drop(self.loss.missing.insert(Missing::Runs)),
        }
        if result.is_none() {
            // A result names the tool as the source does.
            let named = named.as_deref().unwrap_or(tool);
            let (run, wanted) = (run.as_deref().unwrap_or_default(), id.as_deref().unwrap_or_default());
            match self.mapping.pair {
                Pairing::Id => self.called.add(run, wanted, named),
                Pairing::Order => self.waiting.add(run, wanted, named),
                Pairing::Known => {
                    let args = args.as_ref().and_then(SourceArgs::as_json);
                    match self.request(map, row, [run, wanted, named], args) {
                        Some(Requested::Again) => return true,
                        Some(Requested::New(written)) => id = Some(Cow::Owned(written)),
                        None => {}
                    }
                }
            }
        }
        self.loss.calls += 1;
        self.lines.call(&OutputCall {
            run: run.as_deref(),
            id: id.as_deref(),
            tool,
            at: at.map(At::Micros),
            args: args.as_ref().and_then(SourceArgs::as_json),
            key: key.as_deref(),
            evidence: evidence.as_deref(),
            token: token.as_deref(),
            transaction: transaction.as_deref(),
            step,
            timeout,
            source: place,
            span,
            ..OutputCall::default()
        });
        true
    }

    /// The run of a row: a value, else that of the conversation, else the place of an object around the row, else the run that
    /// was begun last.
    pub(super) fn run_of(&mut self, selector: Option<&Selector>, placed: &PlacedRow<'_, '_>) -> Option<String> {
        let run = self.find(selector, placed.row).and_then(|found| match json::scalar(found.raw()) {
            Some(run) => selector.map(|selector| selector.stripped(&run).to_owned()),
            None => None,
        });
        let around = || {
            let paths = selector?.sources.iter().filter_map(ValueSource::path);
            let path = paths.filter_map(|path| placed.row.place_around(path)).next()?;
            let document = placed.place.strip_suffix(placed.row.path.as_str()).unwrap_or_default();
            let place = of_document(document.trim_end_matches(": "), path);
            Some(if place.is_empty() { self.name.to_string() } else { place.into_owned() })
        };
        let run = run.filter(|run| !run.is_empty());
        let run = match &mut self.request {
            Some(known) if run.is_none() || selector.is_some_and(|selector| names_request(selector, placed.row)) => {
                *known = known.take().or(run).or_else(around);
                known.clone()
            }
            _ => run.or_else(around),
        };
        if let Some(selector) = selector.filter(|_| run.is_some()) {
            self.hit(selector.number);
        }
        let run = run.or_else(|| self.begun_run.clone());
        let own = self.mapping.overrides.as_ref();
        own.and_then(|own| own.other_run(placed.row, run.as_deref(), &mut self.loss.changed)).or(run)
    }

    /// The id of a call. A call needs one if its row is also its result, or if results are paired by order: it defaults to the
    /// place of the row.
    fn call_id<'a>(
        &mut self,
        map: &CallMap,
        placed: &PlacedRow<'_, 'a>,
        result: Option<&ResultMap>,
    ) -> Option<Cow<'a, str>> {
        let by_order = self.mapping.pair == Pairing::Order;
        let id = self.scalar(map.id.as_ref(), placed.row);
        if id.is_none() && map.id.is_some() && !by_order {
            self.loss.warn(ImportWarning::CallWithoutId, placed.place);
        }
        let of_result = self.scalar(result.and_then(|result| result.id.as_ref()), placed.row);
        id.or(of_result).or_else(|| (result.is_some() || by_order).then(|| Cow::Owned(placed.place.to_owned())))
    }

    pub(super) fn find<'a>(&mut self, selector: Option<&Selector>, row: &SourceRow<'a>) -> Option<SourceValue<'a>> {
        let selector = selector?;
        let found = value_of(selector, row)?;
        self.hit(selector.number);
        Some(found)
    }

    /// Counts a row in which the selector with this number found a value.
    fn hit(&mut self, selector: usize) {
        if let Some(hits) = self.hits.get_mut(selector) {
            *hits += 1;
        }
    }

    pub(super) fn scalar<'a>(&mut self, selector: Option<&Selector>, row: &SourceRow<'a>) -> Option<Cow<'a, str>> {
        let found = self.find(selector, row)?;
        stripped(selector?, found)
    }

    pub(super) fn time(&mut self, selector: Option<&Selector>, row: &SourceRow<'_>, place: &str) -> Option<u64> {
        let raw = self.find(selector, row)?;
        let unit = selector.and_then(|selector| selector.unit).or(self.mapping.time);
        let micros = time::micros(raw.raw(), unit);
        match micros {
            None => self.unreadable(ImportWarning::UnreadableTime, selector, row, place),
            Some(at) if unit.is_none() && time::JANUARY_1970.contains(&at) && self.mapping.title.is_none() => {
                let why = "the mapping has no unit, perhaps it is `time: s`";
                self.loss.warn_of(ImportWarning::TimeIn1970, 1, || format!("{}: {why}", named(place)));
            }
            Some(_) => {}
        }
        micros
    }

    /// Counts a value that cannot be read. The first is named with its path, if nothing is redacted.
    pub(super) fn unreadable(
        &mut self,
        warning: ImportWarning,
        selector: Option<&Selector>,
        row: &SourceRow<'_>,
        place: &str,
    ) {
        let paths = selector.filter(|_| self.sample.is_quoted()).into_iter().flat_map(|selector| &selector.sources);
        let mut paths = paths.filter_map(ValueSource::path);
        self.loss.warn_of(warning, 1, || match paths.find_map(|path| Some((path, row.find(path)?))) {
            Some((path, found)) => format!("{}: `{path}` is `{}`", named(place), shorten(&text(found))),
            None => place.to_owned(),
        });
    }

    pub(super) fn whole<N: TryFrom<u64>>(
        &mut self,
        selector: Option<&Selector>,
        row: &SourceRow<'_>,
        place: &str,
    ) -> Option<N> {
        let text = self.scalar(selector, row);
        self.number(selector, text.as_deref(), row, place)
    }

    pub(super) fn number<N: TryFrom<u64>>(
        &mut self,
        selector: Option<&Selector>,
        text: Option<&str>,
        row: &SourceRow<'_>,
        place: &str,
    ) -> Option<N> {
        let text = text.filter(|_| selector.is_some())?;
        let number = time::whole(text);
        if number.is_none() {
            self.unreadable(ImportWarning::UnreadableNumber, selector, row, place);
        }
        number
    }
}
