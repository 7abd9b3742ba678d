//! What the calls of one dispatcher share: `dedupe`, `budget`, `permits`.

use crate::schema::At;
use playproof_engine::playbook::{BudgetUnit, Dedupe, InFlightKey, PermitLimits, Sharing, ToolCallBudget};

/// The shared parts of a playbook.
pub(super) fn sharing(root: At<'_>) -> Option<Sharing> {
    let (dedupe, budget) = (root.optional("dedupe", dedupe), root.optional("budget", budget));
    let permits = root.optional("permits", permits);
    Some(Sharing { dedupe: dedupe?, budget: budget?, permits: permits? })
}

fn dedupe(at: At<'_>) -> Option<Dedupe> {
    let lengths = (at.number::<u32>("min_key_len"), at.number("max_key_len"));
    if let (Some(least), Some(most)) = lengths
        && least > most
    {
        let at = at.get("min_key_len").unwrap_or(at);
        at.wrong("no_key_fits", "no key is so long and so short", "more than `max_key_len`");
    }
    let dedupe = Dedupe {
        window: at.get("window_ms")?.millis()?,
        in_flight: at.word("in_flight", InFlightKey::parse)?,
        takeover: at.optional("takeover_ms", At::millis)?,
        min_key_len: lengths.0?,
        max_key_len: lengths.1?,
        most_keys: at.number("most_keys")?,
    };
    if let (InFlightKey::Refuse, Some(at)) = (dedupe.in_flight, at.get("takeover_ms")) {
        at.wrong("no_followers", "no call follows another", "`in_flight: refuse` refuses it");
    }
    Some(dedupe)
}

fn budget(at: At<'_>) -> Option<ToolCallBudget> {
    Some(ToolCallBudget { tool_calls: at.number("tool_calls")?, counts: at.word("counts", BudgetUnit::parse)? })
}

fn permits(at: At<'_>) -> Option<PermitLimits> {
    Some(PermitLimits { max_in_flight: at.number("max_in_flight")?, queue: at.number("queue")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::rows;
    use crate::playbook::tests::{loaded, wrong};
    use playproof_engine::time::Duration;

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
