//! Mutants of limits, guards, study switches and tool facts.

use super::mutant::{Mutant, MutantRow, slug};
use playproof_engine::playbook::{
    Access, Compensation, DelayFormat, ElapsedRule, GuardMode, Limits, Playbook, Study, ToolFacts, ToolRow, Tools,
    UnsafePolicy,
};
use playproof_engine::time::Duration;

const MILLI: Duration = Duration::from_millis(1);

/// The place of a limit that may be missing.
type LimitPlace = fn(&mut Limits) -> &mut Option<Duration>;

pub(super) fn add(playbook: &Playbook, all: &mut Vec<Mutant>) {
    let most = playbook.limits.max_attempts;
    let mut row = MutantRow::new("limit max_attempts".to_owned(), all);
    for (word, other) in [("more", most.saturating_add(1)), ("fewer", most.saturating_sub(1))] {
        if other > 0 {
            let what = format!("{other} instead of {most}");
            row.add(word, what, move |playbook| playbook.limits.max_attempts = other);
        }
    }
    for (name, limit, place) in [
        ("limit deadline_ms", playbook.limits.deadline, (|limits| &mut limits.deadline) as LimitPlace),
        ("limit call_timeout_ms", playbook.limits.call_timeout, |limits| &mut limits.call_timeout),
    ] {
        let Some(limit) = limit else { continue };
        let mut row = MutantRow::new(name.to_owned(), all);
        let others = [("longer", Some(limit.plus(MILLI))), ("shorter", Some(limit.minus(MILLI))), ("none", None)];
        for (word, other) in others {
            let what = format!("{} instead of {limit}", other.map_or("none".to_owned(), |other| other.to_string()));
            row.add(word, what, move |playbook| *place(&mut playbook.limits) = other);
        }
    }
    if playbook.limits.elapsed != ElapsedRule::NextStart {
        let mut row = MutantRow::new("limit elapsed".to_owned(), all);
        for elapsed in ElapsedRule::ALL.into_iter().filter(|elapsed| *elapsed != playbook.limits.elapsed) {
            let word = elapsed.as_str();
            row.add(word, format!("`elapsed: {word}`"), move |playbook| playbook.limits.elapsed = elapsed);
        }
    }
    if playbook.refuses_unknown_tools {
        let mut row = MutantRow::new("registry".to_owned(), all);
        row.add("allow", "unknown tools are allowed", |playbook| playbook.refuses_unknown_tools = false);
    }
    sources(playbook, all);
    guards(playbook, all);
    switches(playbook, all);
}

/// The headers that say how long to wait: one less, in another order, with or without decimal places.
fn sources(playbook: &Playbook, all: &mut Vec<Mutant>) {
    let mut row = MutantRow::new("server_delay_sources".to_owned(), all);
    for (n, source) in playbook.server_delay_sources.iter().enumerate() {
        let name = format!("{}-{}", source.header, source.format.as_str());
        row.add(format!("without-{}", slug(&name)), format!("without `{}`", source.header), move |playbook| {
            playbook.server_delay_sources.remove(n);
        });
        if playbook.server_delay_sources.get(n + 1).is_some_and(|next| next.header != source.header) {
            let what = format!("`{}` behind the next", source.header);
            row.add(format!("behind-{}", slug(&name)), what, move |playbook| {
                playbook.server_delay_sources.swap(n, n + 1);
            });
        }
        if source.format != DelayFormat::HttpDate {
            let float = !source.float;
            let what = format!("`{}` with `float: {float}`", source.header);
            row.add(format!("float-{}", slug(&name)), what, move |playbook| {
                playbook.server_delay_sources.iter_mut().skip(n).take(1).for_each(|source| source.float = float);
            });
        }
    }
}

/// A guard is switched off as a study playbook would do it.
fn guards(playbook: &Playbook, all: &mut Vec<Mutant>) {
    if playbook.retry_guard() == GuardMode::Checked {
        let mut row = MutantRow::new("guard retry_guard".to_owned(), all);
        row.add("off", "switched off", |playbook| study(playbook).retry_guard = GuardMode::Off);
    }
    if playbook.token_guard() == GuardMode::Checked && playbook.verdicts.iter().any(|verdict| reverses(&verdict.then)) {
        let mut row = MutantRow::new("guard token_guard".to_owned(), all);
        row.add("off", "switched off", |playbook| study(playbook).token_guard = GuardMode::Off);
    }
}

fn reverses(then: &Compensation) -> bool {
    let stands_in = |on_unsafe: &UnsafePolicy| matches!(on_unsafe, UnsafePolicy::Reverse(_));
    match then {
        Compensation::IssueReversal(_) => true,
        Compensation::RetryWithBackoff(retry) => stands_in(&retry.on_unsafe),
        Compensation::RefreshEvidence(refresh) => stands_in(&refresh.on_unsafe),
        Compensation::EscalateToHuman(_) | Compensation::DeprecateToolCall(_) => false,
    }
}

/// The study block, made where there is none.
fn study(playbook: &mut Playbook) -> &mut Study {
    playbook.study.get_or_insert_with(|| Study::safe("a mutant"))
}

fn switches(playbook: &Playbook, all: &mut Vec<Mutant>) {
    type Switch = (&'static str, fn(&Study) -> bool, fn(&mut Study));
    const SWITCHES: [Switch; 12] = [
        ("reclassify", |study| study.first_failure_only, |study| study.first_failure_only = false),
        (
            "retry_guard",
            |study| study.retry_guard != GuardMode::Checked,
            |study| study.retry_guard = GuardMode::Checked,
        ),
        (
            "token_guard",
            |study| study.token_guard != GuardMode::Checked,
            |study| study.token_guard = GuardMode::Checked,
        ),
        ("refused_reversal", |study| study.refused_reversal_exhausts, |study| study.refused_reversal_exhausts = false),
        ("futile_refresh", |study| study.futile_refresh_deprecates, |study| study.futile_refresh_deprecates = false),
        (
            "failed_refresh",
            |study| study.resends_after_failed_refresh,
            |study| study.resends_after_failed_refresh = false,
        ),
        ("stale_evidence", |study| study.resends_stale_evidence, |study| study.resends_stale_evidence = false),
        ("final_error", |study| study.final_error_first, |study| study.final_error_first = false),
        ("dedupe", |study| study.registers_key_late, |study| study.registers_key_late = false),
        ("cache", |study| study.cache_ignores_arguments, |study| study.cache_ignores_arguments = false),
        ("permit", |study| study.holds_permit_in_backoff, |study| study.holds_permit_in_backoff = false),
        ("client_keys", |study| study.makes_keys, |study| study.makes_keys = false),
    ];
    let Some(now) = &playbook.study else { return };
    for (name, is_on, clear) in SWITCHES.into_iter().filter(|(_, is_on, _)| is_on(now)) {
        debug_assert!(is_on(now));
        let mut row = MutantRow::new(format!("study {name}"), all);
        row.add("drop", "dropped", move |playbook| playbook.study.iter_mut().for_each(clear));
    }
}

/// Tool facts: a row dropped, or one fact changed.
pub(super) fn add_tools(playbook: &Playbook, all: &mut Vec<Mutant>) {
    for (n, tool) in playbook.tools.rows().iter().enumerate() {
        let facts = tool.facts;
        let mut row = MutantRow::of_tools(format!("tool {}", tool.pattern), all);
        row.add("drop", "dropped", move |playbook| {
            let mut rows = playbook.tools.rows().to_vec();
            rows.remove(n);
            playbook.tools = Tools::new(rows);
        });
        if tool.schema().is_some() {
            row.add("schema-drop", "without its schema", move |playbook| {
                let rows = playbook.tools.rows().iter().cloned().enumerate();
                let rows = rows.map(|(at, row)| if at == n { row.taking(None) } else { row });
                playbook.tools = Tools::new(rows.collect());
            });
        }
        if tool.server().is_some() {
            row.add("server-drop", "each tool is a server of its own", move |playbook| {
                let rows = playbook.tools.rows().iter().cloned().enumerate();
                let rows = rows.map(|(at, row)| if at == n { row.of_server(None) } else { row });
                playbook.tools = Tools::new(rows.collect());
            });
        }
        let mut vary = |operation: &str, what: String, other: ToolFacts| {
            row.add(operation, what, move |playbook| {
                let mut rows: Vec<ToolRow> = playbook.tools.rows().to_vec();
                rows.iter_mut().skip(n).take(1).for_each(|row| *row = row.clone().with_facts(other));
                playbook.tools = Tools::new(rows);
            });
        };
        let timeout = facts.timeout.plus(Duration::from_millis(1));
        vary("timeout_ms-longer", format!("`timeout_ms: {timeout}`"), ToolFacts { timeout, ..facts });
        if facts.needs_key {
            vary("key-optional", "`key: optional`".into(), ToolFacts { needs_key: false, ..facts });
        }
        if facts.never_retried {
            vary("retry-guarded", "`retry: guarded`".into(), ToolFacts { never_retried: false, ..facts });
        }
        if facts.ignores_keys || playbook.sharing.dedupe.is_some() && facts.access == Access::Write {
            let ignores_keys = !facts.ignores_keys;
            let said = if ignores_keys { "ignored" } else { "honoured" };
            vary("keys-other", format!("`keys: {said}`"), ToolFacts { ignores_keys, ..facts });
        }
        match facts.access {
            Access::Read => {
                vary("access-write", "`access: write`".into(), ToolFacts { access: Access::Write, ..facts });
            }
            Access::Write => {
                let idempotent = !facts.idempotent;
                vary("access-read", "`access: read`".into(), ToolFacts { access: Access::Read, ..facts });
                vary("idempotent", format!("`idempotent: {idempotent}`"), ToolFacts { idempotent, ..facts });
                let repeatable = !facts.repeatable;
                vary("repeatable", format!("`repeatable: {repeatable}`"), ToolFacts { repeatable, ..facts });
            }
        }
    }
}
