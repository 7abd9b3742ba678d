//! A valid mapping. Only `lower` makes one.

use std::ops::Range;
use std::sync::Arc;

use super::condition::RowCondition;
use super::path::Path;
use playproof_formats::diagnostic::Source;

/// How the rows of a foreign log become calls and results.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// The mapping file, for errors that appear only when it is applied.
    pub(super) source: Arc<Source>,
    /// The path of the rows in a document; none: the document is an array of rows, or each line is a row.
    pub(super) records: Option<Selector>,
    /// The unit of times; none: a number is milliseconds, a text is ISO 8601.
    pub(super) time: Option<TimeUnit>,
    pub(super) call: CallMap,
    pub(super) result: Option<ResultMap>,
    /// A result is a failure if one of these conditions holds.
    pub(super) failed: Vec<RowCondition>,
    /// Error kinds with their conditions; the first that holds counts.
    pub(super) kinds: Vec<(String, Vec<RowCondition>)>,
    /// The number of selectors.
    pub(super) selectors: usize,
    /// Lines that are not JSON are counted and skipped. The caller sets this; no mapping file does.
    pub(super) skip_invalid: bool,
    /// The most lines that may be skipped.
    pub(super) allow_skipped: Option<u64>,
}

/// A field of the mapping that holds a path into rows.
#[derive(Clone, Debug)]
pub(super) struct Selector {
    pub(super) path: Path,
    /// Its name, such as `call.args`.
    pub(super) field: String,
    /// Its place in the mapping file.
    pub(super) span: Range<usize>,
    /// Its index among the selectors of the mapping.
    pub(super) number: usize,
}

/// Which rows are calls, and the paths of their parts.
#[derive(Clone, Debug)]
pub(super) struct CallMap {
    /// None: every row.
    pub(super) when: Option<Vec<RowCondition>>,
    /// The place of `where`, or else of `call`, in the mapping file.
    pub(super) span: Range<usize>,
    pub(super) tool: Selector,
    pub(super) run: Option<Selector>,
    pub(super) id: Option<Selector>,
    pub(super) args: Option<Selector>,
    pub(super) at: Option<Selector>,
    pub(super) key: Option<Selector>,
    pub(super) evidence: Option<Selector>,
    pub(super) token: Option<Selector>,
}

/// Which rows are results, and the paths of their parts.
#[derive(Clone, Debug)]
pub(super) struct ResultMap {
    /// None: every row.
    pub(super) when: Option<Vec<RowCondition>>,
    pub(super) run: Option<Selector>,
    pub(super) id: Option<Selector>,
    pub(super) attempt: Option<Selector>,
    pub(super) started: Option<Selector>,
    pub(super) at: Option<Selector>,
    pub(super) latency_ms: Option<Selector>,
    pub(super) body: Option<Selector>,
    pub(super) message: Option<Selector>,
    pub(super) status: Option<Selector>,
    pub(super) code: Option<Selector>,
    pub(super) kind: Option<Selector>,
    pub(super) retry_after_ms: Option<Selector>,
    pub(super) retry_after_s: Option<Selector>,
}

/// The unit of times in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Seconds,
    Millis,
    Micros,
    Nanos,
    Iso,
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

    /// Every selector that is applied to rows.
    pub(super) fn all_selectors(&self) -> Vec<&Selector> {
        let CallMap { tool, run, id, args, at, key, evidence, token, .. } = &self.call;
        let mut all = vec![tool];
        all.extend([run, id, args, at, key, evidence, token].into_iter().flatten());
        if let Some(result) = &self.result {
            let ResultMap { run, id, attempt, started, at, latency_ms, body, message, status, .. } = result;
            let ResultMap { code, kind, retry_after_ms, retry_after_s, .. } = result;
            all.extend([run, id, attempt, started, at, latency_ms, body, message, status].into_iter().flatten());
            all.extend([code, kind, retry_after_ms, retry_after_s].into_iter().flatten());
        }
        all
    }

    /// The paths that a row must have to be a call.
    pub(super) fn required_of_calls(&self) -> Vec<String> {
        let tested = self.call.when.iter().flatten().flat_map(RowCondition::paths);
        tested.chain([self.call.tool.path.to_string()]).collect()
    }
}
