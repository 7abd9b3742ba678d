//! The canonical form of a playbook, one row for each part, and its fingerprint. Comments and layout do not matter.
//!
//! A row has no place in the file, so that git merges two branches that each add a verdict and a rule. Rows still contain
//! the order that matters: the row of a rule names the earlier rules that can match the same failures.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::ends::{end, queue_name, reason_text};
use super::{breaker, overlap, retry_budget, syntax, tell, waiting};
use playproof_engine::glob::is_glob;
use playproof_engine::ids::ActionId;
use playproof_engine::playbook::{
    Action, AfterRefresh, BreakerMark, Compensation, ConditionKind, ConditionTest, Dedupe, Graph, GuardMode, HeaderOp,
    HeaderTest, LimitKind, LimitValue, Limits, MessageTest, PermitLimits, Playbook, Reversal, Sharing, Step, Stuck,
    Study, ToolCallBudget, ToolFacts, UnsafePolicy, When,
};

/// One part of a playbook in canonical form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlaybookRow {
    /// Its unique name: `rule timeout`, `limit max_attempts`.
    pub name: String,
    /// Its content as compact JSON with sorted keys.
    pub text: String,
}

/// The identity of a playbook: SHA-256 over its sorted rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The first 12 hexadecimal digits, for people.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned() // 64 ASCII digits
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// The fingerprint of a playbook; its name does not matter.
pub fn fingerprint(playbook: &Playbook) -> Fingerprint {
    fingerprint_of(rows(playbook).iter().map(|row| (&*row.name, &*row.text)))
}

/// The fingerprint of the playbook with these rows, which are sorted by name.
pub fn fingerprint_of<'r>(rows: impl IntoIterator<Item = (&'r str, &'r str)>) -> Fingerprint {
    let mut hash = Sha256::new_with_prefix(syntax::FORMAT);
    for (name, text) in rows {
        // Neither a name nor compact JSON contains a line break.
        hash.update(format!("\n{name}\n{text}"));
    }
    Fingerprint(hash.finalize().into())
}

/// The rows of a playbook, sorted by name.
pub fn rows(playbook: &Playbook) -> Vec<PlaybookRow> {
    let mut rows = vec![
        row("otherwise", "", &json!(&*playbook.verdict(playbook.otherwise).name)),
        row("default_queue", "", &json!(playbook.default_queue.map(|queue| queue_name(playbook, queue)))),
    ];
    rows.extend(playbook.extends.as_ref().map(|version| row("extends", "", &json!(version))));
    rows.extend(limits(&playbook.limits));
    if playbook.refuses_unknown_tools {
        rows.push(row("registry", "", &json!({ "unknown_tools": "refuse" })));
    }
    rows.extend(ordered(playbook));
    rows.extend(sharing(&playbook.sharing));
    if !playbook.server_delay_sources.is_empty() {
        rows.push(row("server_delay_sources", "", &waiting::sources(&playbook.server_delay_sources)));
    }
    for verdict in &playbook.verdicts {
        let then = json!({ verdict.then.as_str(): compensation(playbook, &verdict.then) });
        let mut text = json!({ "means": &*verdict.means, "effect": verdict.effect.as_str(), "then": then });
        if let (Some(parts), true) = (text.as_object_mut(), verdict.breaker != BreakerMark::Ignored) {
            parts.insert("breaker".into(), json!(verdict.breaker.as_str()));
        }
        if let (Some(parts), Some(told)) = (text.as_object_mut(), &verdict.tell) {
            parts.insert("tell".into(), tell::canonical(told));
        }
        rows.push(row("verdict", &verdict.name, &text));
    }
    for (rule, after) in playbook.rules.iter().zip(orders(playbook)) {
        let after: Vec<&str> = after.into_iter().map(|earlier| &*playbook.rules[earlier].name).collect();
        let text =
            json!({ "when": when(&rule.when), "verdict": &*playbook.verdict(rule.verdict).name, "after": after });
        rows.push(row("rule", &rule.name, &text));
    }
    rows.extend(playbook.queues.iter().map(|queue| row("queue", queue, &json!({}))));
    rows.extend(playbook.breakers.iter().map(|(server, rules)| row("breaker", server, &breaker::canonical(rules))));
    let budgets = playbook.retry_budgets.iter();
    rows.extend(budgets.map(|(name, budget)| row("retry_budget", name, &retry_budget::canonical(budget))));
    rows.extend(tool_rows(playbook));
    rows.extend(playbook.study.iter().flat_map(study));
    rows.sort();
    rows
}

/// What later versions added has no row unless it is written.
fn limits(limits: &Limits) -> Vec<PlaybookRow> {
    let of = |kind: LimitKind| {
        let value = match limits.value(kind) {
            Some(LimitValue::Count(count)) => json!(count),
            Some(LimitValue::Span(span)) => json!(span.as_millis()),
            Some(LimitValue::Elapsed(elapsed)) => json!(elapsed.as_str()),
            None if kind == LimitKind::Deadline => Value::Null,
            None => return None,
        };
        Some(row("limit", kind.as_str(), &value))
    };
    LimitKind::ALL.into_iter().filter_map(of).collect()
}

/// Rows keep the author's order: callers see it.
fn ordered(playbook: &Playbook) -> Vec<PlaybookRow> {
    let names = |row: &[ActionId]| -> Value {
        row.iter().filter_map(|id| playbook.actions.get(id.index())).map(|action| json!(&*action.name)).collect()
    };
    let mut rows: Vec<PlaybookRow> = playbook.actions.iter().map(action).collect();
    if let Some(Graph { entry, next, others, stuck }) = &playbook.graph {
        rows.push(row("graph", "entry", &names(entry)));
        let each = playbook.actions.iter().zip(next);
        rows.extend(each.map(|(action, next)| row("graph next", &action.name, &names(next))));
        rows.push(row("graph", "others", &json!(others.as_str())));
        rows.extend(stuck.map(|Stuck { after, queue }| {
            row("graph", "stuck", &json!({ "after": after, "queue": queue_name(playbook, queue) }))
        }));
    }
    rows
}

fn action(action: &Action) -> PlaybookRow {
    let mut text = match action.steps.is_empty() {
        true => json!({ "tool": &*action.tool }),
        false => json!({ "steps": action.steps.iter().map(step).collect::<Value>() }),
    };
    if let (Some(parts), Some(inputs)) = (text.as_object_mut(), &action.inputs) {
        parts.insert("inputs".into(), serde_json::from_str(inputs.text()).unwrap_or_default());
    }
    row("action", &action.name, &text)
}

fn step(step: &Step) -> Value {
    let mut text = json!({ "id": &*step.name, "tool": &*step.tool });
    if let (Some(parts), true) = (text.as_object_mut(), step.never_idempotent) {
        parts.insert("idempotent".into(), json!(false));
    }
    text
}

fn sharing(sharing: &Sharing) -> Vec<PlaybookRow> {
    let Sharing { dedupe, budget, permits } = sharing;
    let dedupe = dedupe.map(|Dedupe { window, in_flight, takeover, min_key_len, max_key_len, most_keys }| {
        let mut text = json!({
            "window_ms": window.as_millis(),
            "in_flight": in_flight.as_str(),
            "min_key_len": min_key_len,
            "max_key_len": max_key_len,
            "most_keys": most_keys,
        });
        if let Some(takeover) = takeover {
            text["takeover_ms"] = json!(takeover.as_millis());
        }
        row("dedupe", "", &text)
    });
    let budget = budget.map(|ToolCallBudget { tool_calls, counts }| {
        row("budget", "", &json!({ "tool_calls": tool_calls, "counts": counts.as_str() }))
    });
    let permits = permits.map(|PermitLimits { max_in_flight, queue }| {
        row("permits", "", &json!({ "max_in_flight": max_in_flight, "queue": queue }))
    });
    [dedupe, budget, permits].into_iter().flatten().collect()
}

fn row(kind: &str, name: &str, text: &Value) -> PlaybookRow {
    let name = if name.is_empty() { kind.to_owned() } else { format!("{kind} {name}") };
    PlaybookRow { name, text: text.to_string() }
}

/// For each rule, the earlier rules that must stay before it, without those that follow from others.
///
/// Rules that cannot match the same failure may swap places. The order of all others is complete: if a rule omits an
/// overlapping earlier one, it names a rule between them that must stay after that one.
fn orders(playbook: &Playbook) -> Vec<Vec<usize>> {
    let count = playbook.rules.len();
    let mut behind: Vec<Vec<bool>> = Vec::with_capacity(count); // all rules before a rule, directly or not
    let mut orders = Vec::with_capacity(count);
    for (n, rule) in playbook.rules.iter().enumerate() {
        let mut mine = vec![false; n];
        let mut named = Vec::new();
        for earlier in (0..n).rev() {
            if mine[earlier] || overlap::are_disjoint(&playbook.rules[earlier].when, &rule.when) {
                continue;
            }
            named.push(earlier);
            mine[earlier] = true;
            for (mine, theirs) in mine.iter_mut().zip(&behind[earlier]) {
                *mine |= *theirs;
            }
        }
        named.reverse();
        orders.push(named);
        behind.push(mine);
    }
    orders
}

fn compensation(playbook: &Playbook, compensation: &Compensation) -> Value {
    match compensation {
        Compensation::RetryWithBackoff(retry) => {
            let mut parts = waiting::parts(playbook, retry);
            parts.extend(retry_budget::payment(playbook, retry));
            parts.insert("max_retries".into(), json!(retry.max_retries));
            parts.insert("on_unsafe".into(), on_unsafe(playbook, retry.on_unsafe));
            Value::Object(parts)
        }
        Compensation::RefreshEvidence(refresh) => json!({
            "then": if refresh.then == AfterRefresh::Retry { "retry" } else { "abort" },
            "max_refreshes": refresh.max_refreshes,
            "on_unsafe": on_unsafe(playbook, refresh.on_unsafe),
        }),
        Compensation::EscalateToHuman(queue) => json!({ "queue": queue_name(playbook, *queue) }),
        Compensation::IssueReversal(issued) => reversal(playbook, *issued),
        Compensation::DeprecateToolCall(reason) => json!({ "reason": reason_text(playbook, *reason) }),
    }
}

fn on_unsafe(playbook: &Playbook, on_unsafe: UnsafePolicy) -> Value {
    match on_unsafe {
        UnsafePolicy::End(terminal) => end(playbook, terminal),
        UnsafePolicy::Reverse(issued) => json!({ "issue_reversal": reversal(playbook, issued) }),
    }
}

fn reversal(playbook: &Playbook, reversal: Reversal) -> Value {
    json!({ "reason": reason_text(playbook, reversal.reason), "on_refused": end(playbook, reversal.on_refused) })
}

fn when(when: &When) -> Value {
    let part = |(ask, test): (ConditionKind, &ConditionTest)| (ask.as_str().to_owned(), asked(test));
    Value::Object(when.iter().map(part).collect())
}

fn asked(test: &ConditionTest) -> Value {
    match test {
        ConditionTest::AnyOf(texts) | ConditionTest::Globs(texts) => json!(sorted(texts)),
        ConditionTest::Ranges(ranges) => {
            let ranges: Vec<String> = ranges.iter().map(|range| format!("{}-{}", range.first, range.last)).collect();
            json!(sorted(&ranges))
        }
        ConditionTest::Messages(tests) => tests.iter().map(message).collect(),
        ConditionTest::Access(access) => json!(access.as_str()),
        ConditionTest::Is(is) | ConditionTest::Said(is) => json!(is),
        ConditionTest::Headers(tests) => {
            let mut tests: Vec<Value> = tests.iter().map(header).collect();
            tests.sort_by_cached_key(Value::to_string);
            tests.dedup();
            Value::Array(tests)
        }
        ConditionTest::Absent => json!("absent"),
    }
}

/// Lists mean "any of": their order does not matter.
fn sorted(texts: &[String]) -> Vec<&String> {
    let mut texts: Vec<&String> = texts.iter().collect();
    texts.sort();
    texts.dedup();
    texts
}

fn header(test: &HeaderTest) -> Value {
    let mut asked = match &test.op {
        HeaderOp::Present => json!({ "present": !test.invert }),
        HeaderOp::Equals(texts) => json!({ "equals": sorted(texts) }),
        HeaderOp::Prefix(texts) => json!({ "prefix": sorted(texts) }),
        HeaderOp::Range(first, end) => json!({ "range": [first, end] }),
    };
    asked["name"] = json!(test.name);
    if test.invert && test.op != HeaderOp::Present {
        asked["invert"] = json!(true);
    }
    asked
}

fn message(test: &MessageTest) -> Value {
    json!({ test.op.as_str(): sorted(&test.any_of), "case": test.case_sensitive })
}

/// The row of a glob names the glob before it, because the first glob that matches applies. Plain names have no order.
fn tool_rows(playbook: &Playbook) -> Vec<PlaybookRow> {
    let mut last_glob: Option<&str> = None;
    let mut rows = Vec::new();
    for tool in playbook.tools.rows() {
        let ToolFacts { access, idempotent, repeatable, timeout, ignores_keys, needs_key, never_retried, .. } =
            tool.facts;
        let across_runs = tool.facts.across_runs;
        let mut text = json!({
            "access": access.as_str(),
            "idempotent": idempotent,
            "repeatable": repeatable,
            "timeout_ms": timeout.as_millis(),
        });
        if let Some(parts) = text.as_object_mut() {
            if let Some(schema) = tool.schema() {
                parts.insert("schema".into(), serde_json::from_str(schema.text()).unwrap_or_default());
            }
            // What later versions added is not written where it has its default.
            if ignores_keys {
                parts.insert("keys".into(), json!("ignored"));
            }
            if let Some(server) = tool.server() {
                parts.insert("server".into(), json!(server));
            }
            if tool.upstream_retries() > 0 {
                parts.insert("upstream_retries".into(), json!(tool.upstream_retries()));
            }
            if needs_key {
                parts.insert("key".into(), json!("required"));
            }
            if never_retried {
                parts.insert("retry".into(), json!("never"));
            }
            if let Some(same_if) = tool.identity() {
                let names: BTreeSet<&str> = same_if.names().iter().map(|name| &**name).collect();
                parts.insert("same_if".into(), json!(names));
            }
            if across_runs {
                parts.insert("same_across".into(), json!("runs"));
            }
            if tool.facts.once {
                parts.insert("once".into(), json!("transaction"));
            }
        }
        if is_glob(&tool.pattern) {
            if let (Some(parts), Some(last)) = (text.as_object_mut(), last_glob) {
                parts.insert("after".into(), json!(last));
            }
            last_glob = Some(&tool.pattern);
        }
        rows.push(row("tool", &tool.pattern, &text));
    }
    rows
}

/// Switches in the playbook's own words; a switch that is off has no row.
fn study(study: &Study) -> Vec<PlaybookRow> {
    let guard = |guard: GuardMode| match guard {
        GuardMode::Checked => None,
        GuardMode::Off => Some("off"),
        GuardMode::Stops => Some("stops"),
    };
    let switches = [
        ("reclassify", study.first_failure_only.then_some("first_failure")),
        ("retry_guard", guard(study.retry_guard)),
        ("token_guard", guard(study.token_guard)),
        ("refused_reversal", study.refused_reversal_exhausts.then_some("exhausted")),
        ("futile_refresh", study.futile_refresh_deprecates.then_some("deprecated")),
        ("failed_refresh", study.resends_after_failed_refresh.then_some("resent")),
        ("stale_evidence", study.resends_stale_evidence.then_some("resent")),
        ("final_error", study.final_error_first.then_some("first")),
        ("dedupe", study.registers_key_late.then_some("after_permit")),
        ("cache", study.cache_ignores_arguments.then_some("ignores_arguments")),
        ("permit", study.holds_permit_in_backoff.then_some("held_in_backoff")),
    ];
    let makes_keys = study.makes_keys.then(|| row("study", "client_keys", &json!(true)));
    let written = switches.into_iter().filter_map(|(switch, says)| Some(row("study", switch, &json!(says?))));
    [row("study", "why", &json!(&*study.why))].into_iter().chain(written).chain(makes_keys).collect()
}
