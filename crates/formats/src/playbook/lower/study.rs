//! The `study` block: the only place where anything unsafe can be switched on.

use crate::playbook::syntax;
use crate::yaml::{Cursor, MapReader};
use playproof_engine::playbook::{GuardMode, Study};

/// The study block written at `at`.
pub(super) fn study(at: Cursor<'_>) -> Option<Study> {
    let record = at.record("`study`", syntax::STUDY)?;
    let why = record.required("why").and_then(Cursor::words);
    let first_failure_only = switch(&record, "reclassify", "first_failure");
    let retry_guard = guard(&record, "retry_guard");
    let token_guard = guard(&record, "token_guard");
    let refused_reversal_exhausts = switch(&record, "refused_reversal", "exhausted");
    let futile_refresh_deprecates = switch(&record, "futile_refresh", "deprecated");
    let final_error_first = switch(&record, "final_error", "first");
    let resends_stale_evidence = switch(&record, "stale_evidence", "resent");
    Some(Study {
        why: why?.into(),
        first_failure_only: first_failure_only?,
        retry_guard: retry_guard?,
        token_guard: token_guard?,
        refused_reversal_exhausts: refused_reversal_exhausts?,
        futile_refresh_deprecates: futile_refresh_deprecates?,
        resends_stale_evidence: resends_stale_evidence?,
        final_error_first: final_error_first?,
    })
}

/// A switch that has one word; not written, it is off.
fn switch(record: &MapReader<'_>, key: &str, word: &str) -> Option<bool> {
    record.optional(key).map_or(Some(false), |at| at.word(&[(word, true)]))
}

fn guard(record: &MapReader<'_>, key: &str) -> Option<GuardMode> {
    record.optional(key).map_or(Some(GuardMode::Checked), |at| at.word(&syntax::OFF))
}
