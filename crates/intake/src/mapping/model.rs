//! A valid mapping. Only `lower` makes one.

use std::ops::Range;
use std::sync::Arc;

use super::condition::{FieldTest, RowCondition, ValueTest};
use super::path::Path;
use crate::failure::WordTable;
use playproof_engine::words;
use playproof_formats::diagnostic::Source;

/// How the rows of a foreign log become calls and results; or, without `calls`, what is different in a recognised format.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// The mapping file, for errors that appear only when it is applied.
    pub(super) source: Arc<Source>,
    /// The lists of paths that lead to rows; an empty list: the document is an array of rows, or a row.
    pub(super) records: Vec<Vec<Path>>,
    /// The place of `records` in the mapping file.
    pub(super) records_span: Option<Range<usize>>,
    /// The unit of times; none: a number is milliseconds, a text is ISO 8601.
    pub(super) time: Option<TimeUnit>,
    /// Rows that are left out on purpose.
    pub(super) skip: SkippedRows,
    /// A row that repeats a value of this is a copy, and is left out.
    pub(super) unique: Option<Selector>,
    /// A row that fits begins a new run, where rows name none.
    pub(super) new_run: Vec<RowCondition>,
    /// A row that fits begins a transaction, perhaps again.
    pub(super) begin: Vec<RowCondition>,
    /// A row that fits commits one.
    pub(super) commit: Vec<RowCondition>,
    pub(super) pair: Pairing,
    /// A row that fits asks for something else than a call, by an id that a call may have too.
    pub(super) other_request: Vec<RowCondition>,
    /// Which way a row went, between those who ask and answer each other.
    pub(super) direction: Option<Selector>,
    /// A result that fits says that its call is not finished: it has no result yet.
    pub(super) unfinished: Vec<RowCondition>,
    /// A result that fits says that the caller waits no longer, unless it is a timeout.
    pub(super) cancelled: Vec<RowCondition>,
    /// A call that fits is one before it of its run, with its tool and arguments, that is not finished: it goes on.
    pub(super) continues: Vec<RowCondition>,
    /// The first that fits a row makes its call.
    pub(super) calls: Vec<CallMap>,
    /// The first that fits a row makes its result.
    pub(super) results: Vec<ResultMap>,
    pub(super) failed: FailedWhen,
    /// A result is no failure if one of these conditions holds.
    pub(super) not_failed: Vec<RowCondition>,
    /// The source says of a result that it succeeded, if one of these conditions holds: only what proves a failure counts.
    pub(super) not_suspected: Vec<RowCondition>,
    /// Of the error kinds, the first whose condition holds counts.
    pub(super) kinds: Vec<NamedKind>,
    /// The user's own rows of failure words, which come before those of the program.
    pub(super) words: WordTable,
    /// A row of the format fits one of these conditions.
    pub(super) detect: Vec<RowCondition>,
    /// The run and the tool, in a mapping without calls.
    pub(super) run: Option<Selector>,
    pub(super) tool: Option<Selector>,
    /// What the user's mapping says otherwise.
    pub(super) overrides: Option<Arc<Mapping>>,
    /// The name of a recognised format, for people.
    pub(super) title: Option<&'static str>,
    /// The number of selectors.
    pub(super) selectors: usize,
    /// Lines that are not JSON are counted and skipped. The caller sets this; no mapping file does.
    pub(super) skip_invalid: bool,
    /// The most lines that may be skipped.
    pub(super) allow_skipped: Option<u64>,
}

/// Which results are failures.
#[derive(Clone, Debug, Default)]
pub(super) struct FailedWhen {
    /// One of these conditions holds.
    pub(super) conditions: Vec<RowCondition>,
    /// The text of a result decides, if no condition does.
    pub(super) by_text: bool,
}

/// The name of failures for which one of the conditions holds.
#[derive(Clone, Debug)]
pub(super) struct NamedKind {
    pub(super) name: String,
    pub(super) when: Vec<RowCondition>,
    /// The place of the name in the mapping file.
    pub(super) span: Range<usize>,
}

/// Which rows are left out on purpose.
#[derive(Clone, Debug, Default)]
pub(super) enum SkippedRows {
    /// None: a row that is neither call nor result is a warning.
    #[default]
    None,
    /// Rows that fit one of these conditions.
    Where(Vec<RowCondition>),
    /// Every row that is neither call nor result.
    Rest,
}

words! {
    /// How a result finds its call.
    #[derive(Default)]
    pub enum Pairing {
        /// By its id.
        #[default]
        Id = "id",
        /// By its id; without one it answers the first call of its run, and of its tool if it names one, that has no result.
        Order = "order",
        /// By its id; a result whose id no waiting call has is left out on purpose.
        Known = "known",
    }
}

/// A part of a call or result: where its value is, and what is done with it.
#[derive(Clone, Debug)]
pub(super) struct Selector {
    /// The first that is present gives the value.
    pub(super) sources: Vec<ValueSource>,
    /// Removed from the beginning of a text.
    pub(super) strip: Vec<Prefix>,
    /// The unit of a time or a duration.
    pub(super) unit: Option<TimeUnit>,
    /// A source need not have it.
    pub(super) is_optional: bool,
    /// The key of a duration names its unit.
    pub(super) has_unit_in_name: bool,
    /// Its name, such as `call.args`.
    pub(super) field: String,
    /// Its place in the mapping file.
    pub(super) span: Range<usize>,
    /// Its index among the selectors of the mapping.
    pub(super) number: usize,
}

/// Where a value is.
#[derive(Clone, Debug)]
pub(super) enum ValueSource {
    Path(Path),
    /// The same in every row.
    Constant(String),
}

impl ValueSource {
    /// The path, if the value is not constant.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            ValueSource::Path(path) => Some(path),
            ValueSource::Constant(_) => None,
        }
    }
}

/// The beginning of a text; each `*` in it stands for the shortest text that fits.
#[derive(Clone, Debug)]
pub(super) struct Prefix(pub(super) String);

/// Which rows are calls, and the paths of their parts.
#[derive(Clone, Debug)]
pub(super) struct CallMap {
    /// Its index among the lists of paths to rows.
    pub(super) records: usize,
    /// The place of its own `records` in the mapping file.
    pub(super) records_span: Option<Range<usize>>,
    /// None: every row.
    pub(super) when: Option<Vec<RowCondition>>,
    /// The place of `where`, or else of `call`, in the mapping file.
    pub(super) span: Range<usize>,
    pub(super) tool: Selector,
    /// The MCP server of the tool: tools of two servers differ.
    pub(super) server: Option<Selector>,
    pub(super) run: Option<Selector>,
    pub(super) id: Option<Selector>,
    pub(super) args: Option<Selector>,
    pub(super) at: Option<Selector>,
    /// How long its caller waits for it.
    pub(super) timeout: Option<Selector>,
    pub(super) key: Option<Selector>,
    pub(super) evidence: Option<Selector>,
    pub(super) token: Option<Selector>,
    /// The label of its transaction; the rows of `begin` and `commit` have it too.
    pub(super) transaction: Option<Selector>,
    pub(super) step_of: Option<StepMap>,
}

/// Where a call says that it is a step of an action.
#[derive(Clone, Debug)]
pub(super) struct StepMap {
    /// The id of the action's call.
    pub(super) parent: Selector,
    /// The name of the step.
    pub(super) step: Selector,
}

/// Which rows are results, and the paths of their parts.
#[derive(Clone, Debug)]
pub(super) struct ResultMap {
    /// Its index among the lists of paths to rows.
    pub(super) records: usize,
    /// The place of its own `records` in the mapping file.
    pub(super) records_span: Option<Range<usize>>,
    /// None: every row.
    pub(super) when: Option<Vec<RowCondition>>,
    pub(super) run: Option<Selector>,
    pub(super) id: Option<Selector>,
    pub(super) tool: Option<Selector>,
    pub(super) attempt: Option<Selector>,
    pub(super) started: Option<Selector>,
    pub(super) at: Option<Selector>,
    pub(super) latency: Option<Selector>,
    pub(super) body: Option<Selector>,
    pub(super) message: Option<Selector>,
    pub(super) status: Option<Selector>,
    pub(super) code: Option<Selector>,
    pub(super) kind: Option<Selector>,
    pub(super) retry_after_ms: Option<Selector>,
    pub(super) retry_after_s: Option<Selector>,
    pub(super) headers: Option<Selector>,
    pub(super) retriable: Option<Selector>,
    /// The caller itself says how the call ended: its row goes the way of the call.
    pub(super) is_from_caller: bool,
}

words! {
    /// The unit of times in the source.
    pub enum TimeUnit {
        Seconds = "s",
        Millis = "ms",
        Micros = "us",
        Nanos = "ns",
        Iso = "iso",
    }
}

impl Mapping {
    /// A copy that skips and counts lines that are not JSON, if `skip` is set; `allowed` is the most lines that it may skip.
    #[must_use]
    pub fn skipping_invalid(self, skip: bool, allowed: Option<u64>) -> Mapping {
        Mapping { skip_invalid: skip, allow_skipped: allowed, ..self }
    }

    /// The most lines that may be skipped, if that is limited.
    pub fn allowed_to_skip(&self) -> Option<u64> {
        self.allow_skipped
    }

    /// Whether lines that are not JSON are skipped.
    pub fn skips_invalid(&self) -> bool {
        self.skip_invalid
    }

    /// Whether it describes no rows, and only says what is different in a recognised format.
    pub fn is_override(&self) -> bool {
        self.calls.is_empty()
    }

    /// The user's own rows of failure words, if there are any.
    pub(crate) fn own_words(&self) -> Option<&WordTable> {
        let own = self.overrides.as_deref().unwrap_or(self);
        Some(&own.words).filter(|words| !words.is_empty())
    }

    /// This mapping with the rows of failure words of a project, which come after its own.
    #[must_use]
    pub fn with_words(mut self, words: &WordTable) -> Mapping {
        self.words = std::mem::take(&mut self.words).and(words);
        self
    }

    /// A copy for the recognised format `title`, with what the user says otherwise.
    #[must_use]
    pub fn of_format(&self, title: &'static str, overrides: Option<&Mapping>) -> Mapping {
        let mut mapping = Mapping { title: Some(title), ..self.clone() };
        if let Some(overrides) = overrides {
            mapping.skip_invalid = overrides.skip_invalid;
            mapping.allow_skipped = overrides.allow_skipped;
            mapping.overrides = Some(Arc::new(overrides.clone()));
        }
        mapping
    }

    /// A copy by which neither a text nor what a tool itself answers, below a path, makes a failure.
    #[must_use]
    pub(crate) fn by_flags_outside(mut self, answer: &str) -> Mapping {
        self.failed.by_text = false;
        let is_of_tool = |path: &Path| path.to_string().starts_with(answer);
        self.failed.conditions.retain(|condition| !condition.paths().any(is_of_tool));
        self
    }

    /// Whether the rows of a list of paths can be results, and neither calls nor the beginnings of runs.
    pub(super) fn has_only_results(&self, list: usize) -> bool {
        [&self.new_run, &self.begin, &self.commit].into_iter().all(Vec::is_empty)
            && !self.calls.iter().any(|call| call.records == list)
            && self.results.iter().any(|result| result.records == list)
    }

    /// Whether it says how its format is recognised.
    #[cfg(test)]
    pub(crate) fn has_mark(&self) -> bool {
        !self.detect.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn each_mark_needs_one_of(&self, marks: &[&str]) -> bool {
        let are_known = |needed: Vec<String>| needed.iter().all(|needed| marks.contains(&&**needed));
        self.detect
            .iter()
            .all(|mark| mark.needed_names().any(|name| marks.contains(&name)) || mark.needed_values().any(are_known))
    }

    /// The tests of results in the conditions on failures and kinds, each with the key of the mapping.
    pub(super) fn tests_of_results(&self) -> Vec<(&'static str, &FieldTest)> {
        let kinds: Vec<_> = self.kinds.iter().flat_map(|kind| &kind.when).collect();
        let all: [(_, Vec<&RowCondition>); 6] = [
            ("failed", self.failed.conditions.iter().collect()),
            ("not_failed", self.not_failed.iter().collect()),
            ("not_suspected", self.not_suspected.iter().collect()),
            ("kinds", kinds),
            ("unfinished", self.unfinished.iter().collect()),
            ("cancelled", self.cancelled.iter().collect()),
        ];
        keyed(all)
    }

    /// The tests of all rows in other conditions, each with the key of the mapping.
    pub(super) fn tests_of_rows(&self) -> Vec<(&'static str, &FieldTest)> {
        let skip = match &self.skip {
            SkippedRows::Where(when) => when.iter().collect(),
            SkippedRows::None | SkippedRows::Rest => Vec::new(),
        };
        let all: [(_, Vec<&RowCondition>); 8] = [
            ("skip", skip),
            ("new_run", self.new_run.iter().collect()),
            ("begin", self.begin.iter().collect()),
            ("commit", self.commit.iter().collect()),
            ("other_request", self.other_request.iter().collect()),
            ("continues", self.continues.iter().collect()),
            ("call.where", self.calls.iter().flat_map(|call| call.when.iter().flatten()).collect()),
            ("result.where", self.results.iter().flat_map(|result| result.when.iter().flatten()).collect()),
        ];
        keyed(all)
    }

    /// The only tests of the rows that are calls, and of those that are results: a path of such a test that no row has is a
    /// mistake. Of several, one may be for rows that a source does not have.
    pub(super) fn needed_tests(&self) -> Vec<(&'static str, &FieldTest)> {
        let of_call = if let [call] = self.calls.as_slice() { only_tests(call.when.as_ref()) } else { &[] };
        let of_result = if let [result] = self.results.as_slice() { only_tests(result.when.as_ref()) } else { &[] };
        let all = of_call.iter().map(|test| ("call.where", test));
        let all = all.chain(of_result.iter().map(|test| ("result.where", test)));
        all.filter(|(_, test)| !test.is_optional && test.tests.iter().all(ValueTest::needs_value)).collect()
    }

    /// Whether a condition asks for the status or the code of a result, which the content may tell.
    pub(super) fn reads_content(&self) -> bool {
        let conditions = [&self.failed.conditions, &self.not_failed, &self.not_suspected].into_iter();
        let mut conditions = conditions.chain(self.kinds.iter().map(|kind| &kind.when)).flatten();
        conditions.any(|condition| condition.0.iter().any(FieldTest::is_of_code))
    }

    /// The paths of the flags by which the source says of a result that it succeeded: what else a condition tests is none.
    pub(super) fn flags(&self) -> impl Iterator<Item = &Path> {
        let alone = self.not_suspected.iter().filter(|condition| condition.paths().count() == 1);
        alone.flat_map(RowCondition::paths)
    }

    /// A place in the mapping file, as `FILE:LINE:COLUMN`.
    pub(super) fn place(&self, span: &Range<usize>) -> String {
        let (line, column) = self.source.place(span.start);
        format!("{}:{line}:{column}", self.source.name)
    }

    /// The paths to rows of a list, as a mapping writes them.
    pub(super) fn written_records(&self, list: usize) -> String {
        let paths = self.records.get(list).into_iter().flatten().map(Path::to_string);
        paths.collect::<Vec<_>>().join("`, `")
    }

    /// The mapping file.
    pub fn text(&self) -> &str {
        &self.source.text
    }

    /// The paths that calls and results are read from, each behind the part that is there, such as `call.args`.
    pub fn paths(&self) -> Vec<(&str, String)> {
        let of_results = self.results.iter().flat_map(ResultMap::selectors);
        let selectors = self.calls.iter().flat_map(CallMap::selectors).chain(of_results);
        let paths = selectors.flat_map(|part| part.sources.iter().map(move |source| (&*part.field, source)));
        paths.filter_map(|(part, source)| Some((part, source.path()?.to_string()))).collect()
    }

    /// The paths inside a row that a row must have to be a call.
    pub(super) fn required_of_calls(&self) -> Vec<String> {
        let Some(call) = self.calls.first() else { return Vec::new() };
        let tested = call.when.iter().flatten().flat_map(RowCondition::paths).map(Path::to_string);
        tested.chain(call.tool.inside()).collect()
    }
}

/// The tests of the only condition.
fn only_tests(when: Option<&Vec<RowCondition>>) -> &[FieldTest] {
    match when.map(Vec::as_slice) {
        Some([RowCondition(tests)]) => tests,
        _ => &[],
    }
}

/// The tests of conditions, each with its key.
fn keyed<'m, const N: usize>(all: [(&'static str, Vec<&'m RowCondition>); N]) -> Vec<(&'static str, &'m FieldTest)> {
    let tests = |(key, conditions): (&'static str, Vec<&'m RowCondition>)| {
        conditions.into_iter().flat_map(|condition| &condition.0).map(move |test| (key, test)).collect::<Vec<_>>()
    };
    all.into_iter().flat_map(tests).collect()
}

impl CallMap {
    /// Its parts.
    pub(super) fn selectors(&self) -> Vec<&Selector> {
        let CallMap { tool, server, run, id, args, at, timeout, key, evidence, token, transaction, step_of, .. } = self;
        let others = [server, run, id, args, at, timeout, key, evidence, token, transaction].into_iter().flatten();
        let step = step_of.iter().flat_map(|of| [&of.parent, &of.step]);
        [tool].into_iter().chain(others).chain(step).collect()
    }
}

impl ResultMap {
    /// Its parts.
    pub(super) fn selectors(&self) -> Vec<&Selector> {
        let ResultMap { run, id, tool, attempt, started, at, latency, body, message, .. } = self;
        let ResultMap { status, code, kind, retry_after_ms, retry_after_s, headers, retriable, .. } = self;
        let first = [run, id, tool, attempt, started, at, latency, body, message];
        let rest = [status, code, kind, retry_after_ms, retry_after_s, headers, retriable];
        first.into_iter().chain(rest).flatten().collect()
    }
}

impl Selector {
    /// Whether each row of its map needs it.
    pub(super) fn is_needed(&self) -> bool {
        const NEEDED: [&str; 6] = ["call.tool", "call.id", "call.args", "call.at", "result.id", "result.at"];
        !self.is_optional && NEEDED.contains(&self.field.as_str())
    }

    /// Its paths that lead into the row.
    pub(super) fn inside(&self) -> Option<String> {
        match self.sources.as_slice() {
            [ValueSource::Path(path)] if path.is_inside() => Some(path.to_string()),
            _ => None,
        }
    }

    /// Its paths as a mapping writes them.
    pub(super) fn written(&self) -> String {
        let written = |source: &ValueSource| match source {
            ValueSource::Path(path) => path.to_string(),
            ValueSource::Constant(text) => text.clone(),
        };
        self.sources.iter().map(written).collect::<Vec<_>>().join("`, `")
    }

    /// Whether its value is the same in every row.
    pub(super) fn is_constant(&self) -> bool {
        self.sources.iter().any(|source| matches!(source, ValueSource::Constant(_)))
    }

    /// The text without the first prefix that it begins with.
    pub(super) fn stripped<'t>(&self, text: &'t str) -> &'t str {
        self.strip.iter().find_map(|prefix| prefix.after(text)).unwrap_or(text)
    }
}

impl Prefix {
    /// The rest of a text that begins with the prefix and goes on after it.
    pub(super) fn after<'t>(&self, text: &'t str) -> Option<&'t str> {
        let mut parts = self.0.split('*');
        let mut rest = text.strip_prefix(parts.next()?)?;
        for part in parts {
            rest = if part.is_empty() { rest } else { rest.split_once(part)?.1 };
        }
        (!rest.is_empty()).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_removed_where_something_is_left() {
        let after = |prefix: &str, text: &str| Prefix(prefix.to_owned()).after(text).unwrap_or("none").to_owned();
        assert_eq!(after("execute_tool ", "execute_tool pay"), "pay");
        assert_eq!(after("execute_tool ", "execute_tool "), "none");
        assert_eq!(after("mcp__*__", "mcp__shop__get__order"), "get__order");
        assert_eq!(after("mcp__*__", "mcp__shop"), "none");
        assert_eq!(after("mcp__*__", "pay"), "none");
    }
}
