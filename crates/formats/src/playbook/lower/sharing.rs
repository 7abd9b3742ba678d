//! What the calls of one dispatcher share: `dedupe`, `budget`, `permits`.

use crate::playbook::syntax;
use crate::yaml::{Cursor, MapReader};
use playproof_engine::playbook::{BudgetUnit, Dedupe, InFlightKey, PermitLimits, Sharing, ToolCallBudget};

/// The shared parts of a playbook.
pub(super) fn sharing(record: &MapReader<'_>) -> Option<Sharing> {
    let dedupe = record.optional("dedupe").map_or(Some(None), |at| dedupe(at).map(Some));
    let budget = record.optional("budget").map_or(Some(None), |at| budget(at).map(Some));
    let permits = record.optional("permits").map_or(Some(None), |at| permits(at).map(Some));
    Some(Sharing { dedupe: dedupe?, budget: budget?, permits: permits? })
}

fn dedupe(at: Cursor<'_>) -> Option<Dedupe> {
    let record = at.record("`dedupe`", syntax::DEDUPE)?;
    let window = record.required("window_ms").and_then(|at| at.duration_ms(syntax::LONGEST_DEADLINE));
    let in_flight = record.optional("in_flight").map_or(Some(InFlightKey::Join), |at| at.word(&InFlightKey::TABLE));
    let min_key_len = number(&record, "min_key_len", 1, syntax::LONGEST_KEY, syntax::SHORTEST_KEY);
    let max_key_len = number(&record, "max_key_len", 1, syntax::LONGEST_KEY, syntax::DEFAULT_LONGEST_KEY);
    let most_keys = number(&record, "most_keys", 1, syntax::MOST_KEYS, syntax::DEFAULT_MOST_KEYS);
    let (min_key_len, max_key_len) = (min_key_len?, max_key_len?);
    if min_key_len > max_key_len {
        let at = record.optional("min_key_len").unwrap_or(at);
        at.wrong("no_key_fits", "no key is so long and so short", "more than `max_key_len`");
        return None;
    }
    Some(Dedupe { window: window?, in_flight: in_flight?, min_key_len, max_key_len, most_keys: most_keys? })
}

fn budget(at: Cursor<'_>) -> Option<ToolCallBudget> {
    let record = at.record("`budget`", syntax::BUDGET)?;
    let tool_calls = record.required("tool_calls").and_then(|at| whole(at, 0, syntax::MOST_SHARED));
    let counts = record.optional("counts").map_or(Some(BudgetUnit::Attempts), |at| at.word(&BudgetUnit::TABLE));
    Some(ToolCallBudget { tool_calls: tool_calls?, counts: counts? })
}

fn permits(at: Cursor<'_>) -> Option<PermitLimits> {
    let record = at.record("`permits`", syntax::PERMITS)?;
    let max_in_flight = record.required("max_in_flight").and_then(|at| whole(at, 1, syntax::MOST_SHARED));
    let queue = number(&record, "queue", 0, syntax::MOST_SHARED, syntax::DEFAULT_QUEUE);
    Some(PermitLimits { max_in_flight: max_in_flight?, queue: queue? })
}

fn number(record: &MapReader<'_>, key: &str, least: u64, most: u64, default: u32) -> Option<u32> {
    record.optional(key).map_or(Some(default), |at| whole(at, least, most))
}

fn whole(at: Cursor<'_>, least: u64, most: u64) -> Option<u32> {
    at.whole(least..=most).and_then(|number| u32::try_from(number).ok())
}
