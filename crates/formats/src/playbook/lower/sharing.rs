//! What the calls of one dispatcher share: `dedupe`, `budget`, `permits`.

use super::waiting::word;
use crate::playbook::syntax;
use crate::yaml::{Cursor, MapReader};
use playproof_engine::playbook::{BudgetUnit, Dedupe, InFlightKey, PermitLimits, Sharing, ToolCallBudget};
use playproof_engine::time::Duration;

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
    let in_flight = word(&record, "in_flight", &InFlightKey::TABLE, InFlightKey::Join);
    let takeover = match record.optional("takeover_ms") {
        None => Some(None),
        Some(at) if in_flight == Some(InFlightKey::Refuse) => {
            at.wrong("no_followers", "no call follows another", "`in_flight: refuse` refuses it");
            None
        }
        Some(at) => at.count(1..=syntax::LONGEST_DEADLINE.as_millis()).map(|ms| Some(Duration::from_millis(ms.into()))),
    };
    let min_key_len = number(&record, "min_key_len", 1, syntax::LONGEST_KEY, syntax::SHORTEST_KEY);
    let max_key_len = number(&record, "max_key_len", 1, syntax::LONGEST_KEY, syntax::DEFAULT_LONGEST_KEY);
    let most_keys = number(&record, "most_keys", 1, syntax::MOST_KEYS, syntax::DEFAULT_MOST_KEYS);
    let (min_key_len, max_key_len) = (min_key_len?, max_key_len?);
    if min_key_len > max_key_len {
        let at = record.optional("min_key_len").unwrap_or(at);
        at.wrong("no_key_fits", "no key is so long and so short", "more than `max_key_len`");
        return None;
    }
    let (window, in_flight, takeover) = (window?, in_flight?, takeover?);
    Some(Dedupe { window, in_flight, takeover, min_key_len, max_key_len, most_keys: most_keys? })
}

fn budget(at: Cursor<'_>) -> Option<ToolCallBudget> {
    let record = at.record("`budget`", syntax::BUDGET)?;
    let tool_calls = record.required("tool_calls").and_then(|at| at.count(0..=syntax::MOST_SHARED));
    let counts = word(&record, "counts", &BudgetUnit::TABLE, BudgetUnit::Attempts);
    Some(ToolCallBudget { tool_calls: tool_calls?, counts: counts? })
}

fn permits(at: Cursor<'_>) -> Option<PermitLimits> {
    let record = at.record("`permits`", syntax::PERMITS)?;
    let max_in_flight = record.required("max_in_flight").and_then(|at| at.count(1..=syntax::MOST_SHARED));
    let queue = number(&record, "queue", 0, syntax::MOST_SHARED, syntax::DEFAULT_QUEUE);
    Some(PermitLimits { max_in_flight: max_in_flight?, queue: queue? })
}

fn number(record: &MapReader<'_>, key: &str, least: u64, most: u64, default: u32) -> Option<u32> {
    record.optional(key).map_or(Some(default), |at| at.count(least..=most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::rows;
    use crate::playbook::tests::{loaded, wrong};

    fn read(parts: &str) -> Sharing {
        loaded(parts).playbook.sharing
    }

    #[test]
    fn omitted_values_get_the_documented_defaults() {
        let sharing = read("dedupe: { window_ms: 60000 }\nbudget: { tool_calls: 5 }\npermits: { max_in_flight: 8 }\n");
        let dedupe = Dedupe {
            window: Duration::from_millis(60_000),
            in_flight: InFlightKey::Join,
            min_key_len: 1,
            max_key_len: 255,
            most_keys: 100_000,
            takeover: None,
        };
        assert_eq!(sharing.dedupe, Some(dedupe));
        assert_eq!(sharing.budget, Some(ToolCallBudget { tool_calls: 5, counts: BudgetUnit::Attempts }));
        assert_eq!(sharing.permits, Some(PermitLimits { max_in_flight: 8, queue: 10_000 }));
        assert_eq!(read(""), Sharing::NONE);
    }

    #[test]
    fn each_wrong_value_is_underlined() {
        for (parts, underlined) in [
            ("dedupe: { window_ms: -1 }", "-1"),
            ("dedupe: { window_ms: 604800001 }", "604800001"),
            ("dedupe: { window_ms: 5s }", "5s"),
            ("dedupe: { in_flight: join }", "{ in_flight: join }"),
            ("dedupe: { window_ms: 1, in_flight: wait }", "wait"),
            ("dedupe: { window_ms: 1, takeover_ms: 0 }", "0"),
            ("dedupe: { window_ms: 1, takeover_ms: 604800001 }", "604800001"),
            ("dedupe: { window_ms: 1, in_flight: refuse, takeover_ms: 9 }", "9"),
            ("dedupe: { window_ms: 1, min_key_len: 0 }", "0"),
            ("dedupe: { window_ms: 1, min_key_len: 9, max_key_len: 8 }", "9"),
            ("dedupe: { window_ms: 1, max_key_len: 65536 }", "65536"),
            ("dedupe: { window_ms: 1, most_keys: 0 }", "0"),
            ("dedupe: { window_ms: 1, windows: 1 }", "windows"),
            ("dedupe: 60000", "60000"),
            ("budget: { tool_calls: 1.5 }", "1.5"),
            ("budget: { tool_calls: 1000001 }", "1000001"),
            ("budget: { tool_calls: 1, counts: calls_ }", "calls_"),
            ("budget: {}", "{}"),
            ("permits: { max_in_flight: 0 }", "0"),
            ("permits: { max_in_flight: 8, queue: -1 }", "-1"),
            ("permits: { max_in_flight: true }", "true"),
            ("tools: { pay: { access: write, keys: some } }", "some"),
            ("tools: { pay: { access: write, key: yes } }", "yes"),
            ("tools: { pay: { access: write, server: '' } }", "''"),
        ] {
            assert_eq!(wrong(&format!("{parts}\n")), [underlined], "{parts}");
        }
    }

    #[test]
    fn every_value_is_in_its_row_and_what_is_not_written_has_none() {
        let texts = |parts: &str| {
            let playbook = loaded(parts).playbook;
            rows(&playbook).into_iter().map(|row| format!("{} {}", row.name, row.text)).collect::<Vec<_>>()
        };
        let plain = texts("tools: { pay: { access: write } }\n");
        let whole = "dedupe: { window_ms: 1 }\nbudget: { tool_calls: 1 }\npermits: { max_in_flight: 1 }\n";
        assert_eq!(texts(whole).len(), texts("").len() + 3);
        for changed in ["keys: ignored", "key: required", "server: s"] {
            assert_ne!(texts(&format!("tools: {{ pay: {{ access: write, {changed} }} }}\n")), plain, "{changed}");
        }
        for unchanged in ["keys: honoured", "key: optional"] {
            assert_eq!(texts(&format!("tools: {{ pay: {{ access: write, {unchanged} }} }}\n")), plain, "{unchanged}");
        }
        for (from, to) in [
            ("window_ms: 1", "window_ms: 2"),
            ("window_ms: 1", "window_ms: 1, in_flight: refuse"),
            ("window_ms: 1", "window_ms: 1, min_key_len: 2"),
            ("window_ms: 1", "window_ms: 1, max_key_len: 9"),
            ("window_ms: 1", "window_ms: 1, most_keys: 9"),
            ("window_ms: 1", "window_ms: 1, takeover_ms: 9"),
            ("tool_calls: 1", "tool_calls: 2"),
            ("tool_calls: 1", "tool_calls: 1, counts: calls"),
            ("max_in_flight: 1", "max_in_flight: 2"),
            ("max_in_flight: 1", "max_in_flight: 1, queue: 9"),
        ] {
            assert_ne!(texts(&whole.replace(from, to)), texts(whole), "{to}");
        }
    }
}
