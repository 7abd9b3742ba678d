//! A mapping in which nothing is invalid. Made by `lower` only.

use std::ops::Range;
use std::sync::Arc;

use super::condition::Condition;
use super::path::Path;
use playproof_formats::diagnostic::Source;

/// How the rows of a foreign log become calls and results.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// The mapping file, for errors that only show when it is applied.
    pub(super) source: Arc<Source>,
    /// Where the rows are in a document; none: the document is the rows, or one row a line.
    pub(super) records: Option<Selector>,
    /// What a time is; none: a number is milliseconds, a text is ISO 8601.
    pub(super) time: Option<TimeUnit>,
    pub(super) call: CallMap,
    pub(super) result: Option<ResultMap>,
    /// A result is a failure if one of these holds.
    pub(super) failed: Vec<Condition>,
    /// The first kind of which a condition holds.
    pub(super) kinds: Vec<(String, Vec<Condition>)>,
    /// How many selectors there are.
    pub(super) selectors: usize,
    /// Lines that are no JSON are counted and left out. No mapping file says that: whoever applies it does.
    pub(super) skip_invalid: bool,
    /// So many of them at most.
    pub(super) allow_skipped: Option<u64>,
}

/// A field of the mapping that says where something stands.
#[derive(Clone, Debug)]
pub(super) struct Selector {
    pub(super) path: Path,
    /// As in `call.args`.
    pub(super) field: String,
    /// Where it is written in the mapping file.
    pub(super) span: Range<usize>,
    /// Its place among the mapping's selectors.
    pub(super) number: usize,
}

/// Which rows are calls, and where their parts stand.
#[derive(Clone, Debug)]
pub(super) struct CallMap {
    /// None: every row.
    pub(super) when: Option<Vec<Condition>>,
    /// Where `where`, or else `call`, is written.
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

/// Which rows are results, and where their parts stand.
#[derive(Clone, Debug)]
pub(super) struct ResultMap {
    /// None: every row.
    pub(super) when: Option<Vec<Condition>>,
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

/// What a time in the source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Seconds,
    Millis,
    Micros,
    Nanos,
    Iso,
}

impl Mapping {
    /// The same; lines that are no JSON are counted and left out if `skip` says so.
    #[must_use]
    pub fn skipping_invalid(self, skip: bool, allowed: Option<u64>) -> Mapping {
        Mapping { skip_invalid: skip, allow_skipped: allowed, ..self }
    }

    /// How many may be, where that was said.
    pub fn allowed_to_skip(&self) -> Option<u64> {
        self.allow_skipped
    }

    /// Whether they are.
    pub fn skips_invalid(&self) -> bool {
        self.skip_invalid
    }

    /// Every selector that looks into rows.
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
    pub(super) fn asked_of_calls(&self) -> Vec<String> {
        let asked = self.call.when.iter().flatten().flat_map(Condition::paths);
        asked.chain([self.call.tool.path.to_string()]).collect()
    }
}
