//! Lints of what calls share: breakers and retry budgets that do nothing, or nothing else.

use crate::diagnostic::Diagnostic;
use crate::playbook::overlap;
use crate::playbook::places::Loaded;
use playproof_engine::dispatch::wait_range;
use playproof_engine::ids::{RetryBudgetId, VerdictId};
use playproof_engine::playbook::{
    AfterMaxWait, BreakerMark, BreakerRules, BudgetUnit, DEFAULT_BREAKER, DEFAULT_TIMEOUT, EvaluateOn, HalfOpen,
    Limits, Playbook, Ratio, Retry, RetryBudgetKind, ServerDelayMode, TokenBucket, Tokens, ToolRow, UNCLASSIFIED,
};
use playproof_engine::time::Duration;

/// All lints of breakers.
pub(super) fn breakers(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    let playbook = &loaded.playbook;
    let marks_failures = playbook.verdicts.iter().any(|verdict| verdict.breaker == BreakerMark::Failure);
    for (n, (server, rules)) in playbook.breakers.iter().enumerate() {
        let near = |key| loaded.places.near("breakers", n, key).unwrap_or_default();
        let slow_success_opens = rules.opens_at.slow.is_some() && rules.evaluate_on == EvaluateOn::Any;
        if !marks_failures && !slow_success_opens {
            found.push(
                Diagnostic::warning("circuit_never_opens", format!("nothing opens the breaker `{server}`"))
                    .at(near(""), "no verdict is a failure of its server")
                    .help("write `breaker: failure` in the verdicts that mean that the server is down"),
            );
        }
        if let Some((key, why)) = never_closes(rules) {
            found.push(
                Diagnostic::warning("circuit_never_closes", format!("no probe closes the breaker `{server}`"))
                    .at(near(key), why)
                    .help("give probes the time to answer"),
            );
        }
        if marks_failures && let Some(verdict) = uncounted(playbook).filter(|_| !ends_half_open(rules)) {
            let said = format!("the breaker `{server}` may stay half open for ever");
            found.push(
                Diagnostic::warning("circuit_stays_half_open", said)
                    .at(near("half_open"), format!("a probe that is answered with `{verdict}` counts neither way"))
                    .help(format!("write `breaker: success` or `breaker: failure` in `{verdict}`")),
            );
        }
        // Tools outside the playbook may belong to any server.
        let tools = playbook.tools.rows();
        let belongs = |tool: &ToolRow| match tool.server() {
            Some(own) => own == &**server,
            None => overlap::tool_covers(&tool.pattern, server),
        };
        let is_tool = tools.iter().any(belongs);
        if **server != *DEFAULT_BREAKER && !tools.is_empty() && !is_tool {
            found.push(
                Diagnostic::warning("unused_breaker", format!("no tool belongs to the server `{server}`"))
                    .at(near(""), "no request ever asks it")
                    .help("remove it, or name a tool"),
            );
        }
    }
    if playbook.breakers.is_empty() {
        unused_marks(loaded, found);
    }
}

/// The first verdict whose answers neither close nor open a breaker; what no rule knows is not asked.
fn uncounted(playbook: &Playbook) -> Option<&str> {
    let verdicts = playbook.verdicts.iter().filter(|verdict| *verdict.name != *UNCLASSIFIED);
    verdicts.filter(|verdict| verdict.breaker == BreakerMark::Ignored).map(|verdict| &*verdict.name).next()
}

/// Whether a half-open period ends without an answer that counts.
fn ends_half_open(rules: &BreakerRules) -> bool {
    matches!(rules.half_open, HalfOpen::EvaluateRate { max_wait: Some(_), .. })
}

/// The part of a breaker that opens it again whatever a probe answers, and why.
fn never_closes(rules: &BreakerRules) -> Option<(&'static str, &'static str)> {
    let HalfOpen::EvaluateRate { max_wait, on_max_wait, .. } = rules.half_open else { return None };
    if max_wait == Some(Duration::ZERO) && on_max_wait == AfterMaxWait::Open {
        return Some(("half_open", "it opens again before an answer comes"));
    }
    let all_slow = rules.opens_at.slow.is_some_and(|slow| slow.over == Duration::ZERO);
    all_slow.then_some(("slow_call_ms", "every answer is slow"))
}

fn unused_marks(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    for (n, verdict) in loaded.playbook.verdicts.iter().enumerate() {
        let Some(place) = loaded.places.written("verdicts", n, "breaker") else { continue };
        found.push(
            Diagnostic::warning("unused_breaker", format!("`{}` speaks to a breaker, and there is none", verdict.name))
                .at(place, "no breaker hears it")
                .help("declare `breakers`, or remove `breaker`"),
        );
    }
}

/// A budget of no tool calls.
pub(super) fn budget(loaded: &Loaded) -> Option<Diagnostic> {
    let budget = loaded.playbook.sharing.budget.filter(|budget| budget.tool_calls == 0)?;
    let counted = if budget.counts == BudgetUnit::Calls { "call" } else { "attempt" };
    Some(
        Diagnostic::warning("budget_allows_no_call", "every call of every run is refused: the budget is spent at once")
            .at(loaded.places.value(&["budget"])?, format!("not one {counted}"))
            .help("raise `tool_calls`, or remove the budget"),
    )
}

/// A dedupe window that ends before a retry of another call with the key may come.
pub(super) fn dedupe(loaded: &Loaded) -> Option<Diagnostic> {
    let playbook = &loaded.playbook;
    let window = playbook.sharing.dedupe?.window;
    let spans = playbook.verdicts.iter().filter_map(|verdict| {
        let span = longest_span(verdict.then.retry()?, &playbook.limits, window);
        Some((span, &verdict.name))
    });
    let (span, name) = spans.max_by_key(|(span, _)| *span)?;
    if window == Duration::ZERO || span <= window {
        return None; // zero: no result is meant to be kept
    }
    let message = format!("the waits of `{name}` can take longer than the {window} ms for which results are kept");
    Some(
        Diagnostic::warning("dedupe_shorter_than_retries", message)
            .at(loaded.places.value(&["dedupe"])?, "a late retry finds nothing")
            .help("raise `window_ms`, or retry for a shorter time"),
    )
}

/// A leader that is taken over while its first attempt may still be answered in time.
pub(super) fn takeover(loaded: &Loaded) -> Option<Diagnostic> {
    let playbook = &loaded.playbook;
    let takeover = playbook.sharing.dedupe?.takeover?;
    let slowest = playbook.tools.rows().iter().max_by_key(|row| row.facts.timeout);
    let (tool, timeout) = slowest.map_or(("", DEFAULT_TIMEOUT), |row| (&*row.pattern, row.facts.timeout));
    if takeover >= timeout {
        return None;
    }
    let tool = if tool.is_empty() { "a tool without tool facts".to_owned() } else { format!("`{tool}`") };
    let message = format!("{tool} may take {timeout} ms to answer, and is taken over after {takeover} ms");
    Some(
        Diagnostic::warning("hasty_takeover", message)
            .at(loaded.places.value(&["dedupe"])?, "a call that works is sent twice")
            .help("raise `takeover_ms` above the longest timeout"),
    )
}

/// The longest time that the retries of a verdict wait, as far as the playbook bounds it; it stops counting above
/// `enough`.
fn longest_span(retry: &Retry, limits: &Limits, enough: Duration) -> Duration {
    let longest = |own: Duration| match retry.server_delay.mode {
        ServerDelayMode::Ignore => own,
        ServerDelayMode::Window { by } => own.plus(by),
        _ => own.max(retry.server_delay.max.unwrap_or_default()),
    };
    let most = limits.deadline.into_iter().chain(limits.call_timeout).min();
    let mut span = Duration::ZERO;
    for n in 1..=retry.max_retries.min(limits.max_attempts.saturating_sub(1)) {
        span = span.plus(longest(wait_range(&retry.backoff, n).1));
        if span > enough {
            break;
        }
    }
    most.map_or(span, |most| span.min(most))
}

/// All lints of retry budgets.
pub(super) fn retry_budgets(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    let playbook = &loaded.playbook;
    for (id, (name, budget)) in (0..).map(RetryBudgetId).zip(&playbook.retry_budgets) {
        let near = |key| loaded.places.near("retry_budgets", id.index(), key).unwrap_or_default();
        let uses = |retry: &Retry| retry.retry_budget == Some(id);
        if !playbook.verdicts.iter().any(|verdict| verdict.then.retry().is_some_and(uses)) {
            found.push(
                Diagnostic::warning("unused_retry_budget", format!("no retry takes from the budget `{name}`"))
                    .at(near(""), "never used")
                    .help("remove it, or name it in a `retry_with_backoff`"),
            );
        }
        if let Some((key, why)) = below_one_retry(&budget.kind) {
            found.push(
                Diagnostic::warning("budget_below_one_retry", format!("the budget `{name}` never allows a retry"))
                    .at(near(key), why)
                    .help("raise it, or remove the retries"),
            );
        }
    }
    for (verdict_id, verdict) in (0..).map(VerdictId).zip(&playbook.verdicts) {
        let Some(Retry { retry_budget: Some(id), cost: Some(cost), .. }) = verdict.then.retry() else { continue };
        let Some(place) = loaded.places.then(verdict_id, &["cost"]) else { continue };
        if let RetryBudgetKind::TokenBucket(TokenBucket { capacity, .. }) = playbook.retry_budget(*id).kind
            && *cost > capacity
        {
            let message =
                format!("a retry of `{}` costs {cost} tokens, and a full budget has {capacity}", verdict.name);
            found.push(
                Diagnostic::warning("budget_below_one_retry", message)
                    .at(place, "more than the budget ever has")
                    .help("lower the cost, or raise `capacity`"),
            );
        }
    }
}

/// Tools whose own client retries too: the attempts of the layers multiply.
pub(super) fn layers(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    let playbook = &loaded.playbook;
    let retries = playbook.verdicts.iter().filter_map(|verdict| verdict.then.retry()).map(|retry| retry.max_retries);
    let attempts = playbook.limits.max_attempts.min(retries.fold(1, u32::saturating_add));
    for (n, tool) in playbook.tools.rows().iter().enumerate() {
        let below = tool.upstream_retries().saturating_add(1);
        let Some(place) = loaded.places.written("tools", n, "upstream_retries") else { continue };
        if below == 1 || attempts == 1 {
            continue;
        }
        let sends = u64::from(attempts) * u64::from(below);
        let message = format!(
            "a call of `{}` can be sent {sends} times: {attempts} attempts, each sent {below} times",
            tool.pattern
        );
        found.push(
            Diagnostic::warning("layers_multiply", message)
                .at(place, "its own client retries too")
                .help("retry in one layer: switch the retries of the tool's client off"),
        );
    }
}

/// The part of a budget that allows no retry even when it is full, and why.
fn below_one_retry(kind: &RetryBudgetKind) -> Option<(&'static str, &'static str)> {
    match *kind {
        RetryBudgetKind::TokenBucket(bucket) => {
            (bucket.cost > bucket.capacity).then_some(("capacity", "less than the cost of one retry"))
        }
        RetryBudgetKind::Throttle { max_tokens, allow_above, .. } => {
            let after_a_failure = u128::from(max_tokens.minus(Tokens::ONE).thousandths()) * u128::from(Ratio::SCALE);
            let threshold = u128::from(max_tokens.thousandths()) * u128::from(allow_above.0);
            let why = "one failure brings it to where retries stop";
            (after_a_failure <= threshold).then_some(("max_tokens", why))
        }
        RetryBudgetKind::DepositWithdraw { min_retries_per_sec, retry_percent, .. } => {
            let why = "there is no reserve, and calls pay for nothing";
            (min_retries_per_sec == 0 && retry_percent == Ratio(0)).then_some(("retry_percent", why))
        }
        RetryBudgetKind::ConcurrencyRatio { budget_percent, min_retry_concurrency } => {
            let why = "no retry is allowed at once";
            (min_retry_concurrency == 0 && budget_percent == Ratio(0)).then_some(("budget_percent", why))
        }
        // Its part is reached only above it: the first retry always passes.
        RetryBudgetKind::InflightShare { .. } => None,
    }
}
