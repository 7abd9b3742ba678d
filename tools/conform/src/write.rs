//! Writes the policy of a case as a playbook, so that whatever a case needs can be written by people too. What has no
//! counterpart is named. Runs nothing.

use std::fmt::Write as _;

use serde_json::Value;

use super::amount::Amount;
use super::case::{Case, CaseKind};
use super::knobs::{self, A_DAY, Budget, Waits, Wishes};
use super::policy::Block;
use super::rules::{Rules, Variant};
use super::unmet::Unmet;
use super::yaml::Yaml;

/// The tool of every call.
pub(super) const TOOL: &str = "upstream";
/// The tool of calls that are not idempotent.
pub(super) const UNSAFE_TOOL: &str = "upstream.unsafe";

/// The most attempts of a call.
const MOST_ATTEMPTS: Amount = Amount::whole(1_000);

/// The parts of a playbook.
struct Parts {
    verdicts: Vec<(String, Yaml)>,
    rules: Rules,
    wishes: Wishes,
    budget: Option<Vec<(String, Yaml)>>,
    breaker: Option<Yaml>,
    dedupe: Option<(Yaml, Yaml)>,
    limits: Yaml,
    timeout: Amount,
    any_unsafe: bool,
}

/// The playbook of a case, as text.
pub(super) fn playbook_text(case: &Case) -> Result<String, Unmet> {
    let mut policy = Block::new("policy", &case.policy);
    let modulo = has_raw_draws(case);
    let wishes = policy.block("server_delay")?.map(Wishes::read).transpose()?.unwrap_or_default();
    let waits = policy.block("backoff")?.map(|block| Waits::read(block, modulo, wishes.counter)).transpose()?;
    let waits = waits.unwrap_or_else(|| Waits::none(modulo));
    let budget = policy.block("budget")?.map(Budget::read).transpose()?.flatten();
    let window = policy.block("window")?.map(knobs::window).transpose()?;
    let breaker = policy.block("breaker")?.map(knobs::breaker).transpose()?.or(window.map(around));
    let dedupe = policy.block("dedupe")?.map(dedupe).transpose()?;
    let mut retry = policy.block("retry")?.unwrap_or_else(|| Block::new("policy.retry", empty()));
    policy.finish()?;
    let limits = limits(&mut retry, case)?;
    let own_timeout = retry.amount("per_attempt_timeout_ms")?;
    let long_poll = long_poll(&mut retry, case)?;
    let rules = Rules::read(&mut retry, case.kind, &classes(&waits, budget.as_ref()), &wishes.headers)?;
    retry.finish()?;
    let lock = dedupe.as_ref().and_then(|(_, _, lock)| *lock);
    let parts = Parts {
        verdicts: verdicts(&rules, &waits, &wishes, budget.as_ref(), breaker.is_some(), &limits),
        any_unsafe: rules.guards,
        wishes,
        breaker,
        dedupe: dedupe.map(|(rules, key, _)| (rules, key)),
        limits: limits.yaml(),
        timeout: own_timeout.or(lock).unwrap_or(A_DAY),
        budget: budget.map(|budget| {
            let on_empty = long_poll.then(|| ("on_empty".to_owned(), Yaml::plain("wait_and_stop")));
            budget.keys.into_iter().chain(on_empty).collect()
        }),
        rules,
    };
    Ok(parts.text())
}

fn empty() -> &'static serde_json::Map<String, Value> {
    static EMPTY: std::sync::LazyLock<serde_json::Map<String, Value>> = std::sync::LazyLock::new(serde_json::Map::new);
    &EMPTY
}

/// Whether the draws of the case are raw numbers.
fn has_raw_draws(case: &Case) -> bool {
    case.random.contains_key("r") || case.steps.iter().any(|step| step.input.contains_key("r"))
}

/// A breaker around a window alone; it opens if all fail.
fn around(window: Yaml) -> Yaml {
    let number = |number| Some(Yaml::from(Amount::whole(number)));
    Yaml::map([("window", Some(window)), ("min_calls", number(1)), ("failure_rate", number(1)), ("open_ms", number(1))])
}

/// The classes of failures that differ in a wait or a cost.
fn classes(waits: &Waits, budget: Option<&Budget>) -> Vec<String> {
    let costs = budget.into_iter().flat_map(|budget| budget.costs.iter().map(|(class, _)| class.as_str()));
    let mut all: Vec<String> = waits.classes().chain(costs).map(str::to_owned).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The limits of a call.
struct Limits {
    max_attempts: Amount,
    deadline: Option<Amount>,
    elapsed: Option<&'static str>,
}

impl Limits {
    fn yaml(&self) -> Yaml {
        Yaml::map([
            ("max_attempts", Some(self.max_attempts.into())),
            ("deadline_ms", self.deadline.map(Yaml::from)),
            ("elapsed", self.elapsed.map(Yaml::plain)),
        ])
    }
}

fn limits(retry: &mut Block<'_>, case: &Case) -> Result<Limits, Unmet> {
    let default = if case.kind == CaseKind::Retry { Amount::whole(3) } else { MOST_ATTEMPTS };
    let most = retry.amount("max_attempts")?.unwrap_or(default);
    let most = if most == Amount::whole(0) { MOST_ATTEMPTS } else { most };
    let cap = retry.amount("max_attempts_cap")?;
    let mut limits =
        Limits { max_attempts: cap.map_or(most, |cap| most.min(cap)), deadline: call_deadline(case)?, elapsed: None };
    if let Some(mut elapsed) = retry.block("elapsed")? {
        let rules = [
            ("next_start_after_limit", "next_start"),
            ("truncate", "truncate"),
            ("elapsed_only", "elapsed_only"),
            ("cumulative_delay", "waits_after"),
            ("cumulative_before", "waits_before"),
        ];
        limits.elapsed = elapsed.word("rule", &rules)?;
        let limit = elapsed.amount("limit_ms")?;
        if limit.is_some() && limits.deadline.is_some() {
            return Err(Unmet::unsupported("a call has one deadline"));
        }
        limits.deadline = limits.deadline.or(limit);
        if case.manual_clock && !matches!(limits.elapsed, Some("waits_after" | "waits_before")) {
            return Err(Unmet::unsupported("time passes while a call waits"));
        }
        if elapsed.is("stop_if_below_base")? == Some(true) {
            return Err(Unmet::unsupported("a wait that was cut is not refused"));
        }
        elapsed.finish()?;
    }
    Ok(limits)
}

/// The deadline of the case's calls.
fn call_deadline(case: &Case) -> Result<Option<Amount>, Unmet> {
    let calls: Vec<_> = case.steps.iter().filter(|step| step.op == "call").collect();
    let deadlines: Vec<_> = calls.iter().map(|call| call.input.get("deadline_ms").and_then(Amount::of)).collect();
    match deadlines.split_first() {
        None => Ok(None),
        Some((first, rest)) if rest.iter().all(|other| other == first) => Ok(*first),
        Some(_) => Err(Unmet::unsupported("the calls of a playbook have one deadline")),
    }
}

/// Whether a call waits before it stops for want of a budget: calls that poll do.
fn long_poll(retry: &mut Block<'_>, case: &Case) -> Result<bool, Unmet> {
    let rests = match retry.text("on_budget_exhausted")? {
        Some("stop_after_delay") => true,
        Some("stop") | None => return Ok(false),
        Some(other) => return Err(Unmet::unsupported(format!("`on_budget_exhausted: {other}` has no counterpart"))),
    };
    let polls = |step: &&super::case::CaseStep| step.input.get("long_poll").and_then(Value::as_bool) == Some(true);
    let calls: Vec<_> = case.steps.iter().filter(|step| step.op == "call").collect();
    let polling = calls.iter().filter(|call| polls(call)).count();
    if polling > 0 && polling < calls.len() {
        return Err(Unmet::unsupported("the calls of one retry budget end alike when it is empty"));
    }
    Ok(rests && polling > 0)
}

/// Reads `dedupe`: its rules, whether a call needs a key, and how long a request holds its key without an answer.
fn dedupe(mut block: Block<'_>) -> Result<(Yaml, Yaml, Option<Amount>), Unmet> {
    let in_flight = block.word("in_flight", &[("join", "join"), ("reject", "refuse")])?;
    let needs_key = block.word("on_missing", &[("execute", "optional"), ("reject", "required")])?;
    if block.is("fingerprint")? == Some(false) || block.is("validate_before_store")? == Some(false) {
        return Err(Unmet::unsupported("a key belongs to its arguments, which are checked first"));
    }
    let rules = Yaml::map([
        ("window_ms", Some(block.amount("ttl_ms")?.unwrap_or(A_DAY).into())),
        ("in_flight", in_flight.map(Yaml::plain)),
        ("min_key_len", block.amount("min_key_len")?.map(Yaml::from)),
        ("max_key_len", block.amount("max_key_len")?.map(Yaml::from)),
    ]);
    let lock = block.amount("lock_timeout_ms")?;
    // The name of the header, the numbers of refusals, and which failures are not kept: none is.
    for key in ["key", "status", "not_stored", "on_not_stored"] {
        block.take(key);
    }
    block.finish()?;
    Ok((rules, Yaml::plain(needs_key.unwrap_or("optional")), lock))
}

fn verdicts(
    rules: &Rules,
    waits: &Waits,
    wishes: &Wishes,
    budget: Option<&Budget>,
    has_breaker: bool,
    limits: &Limits,
) -> Vec<(String, Yaml)> {
    let mark = has_breaker.then(|| Yaml::plain("failure"));
    let verdict = |means: &str, effect: &str, then: Yaml| {
        Yaml::map([
            ("means", Some(Yaml::quoted(means))),
            ("effect", Some(Yaml::plain(effect))),
            ("breaker", mark.clone()),
            ("then", Some(then)),
        ])
    };
    let again = |variant: &Variant| {
        let (key, wait) = waits.key(variant.class.as_deref());
        let cost = budget.and_then(|budget| {
            budget.costs.iter().find(|(class, _)| Some(class) == variant.class.as_ref()).map(|(_, cost)| *cost)
        });
        let pays = budget.is_some() && !variant.is_free;
        let then = Yaml::map([
            (key, Some(wait)),
            ("max_retries", Some(limits.max_attempts.into())), // the attempts decide
            ("server_delay", wishes.mode.clone()),
            ("retry_budget", pays.then(|| Yaml::plain("retries"))),
            ("cost", cost.filter(|_| pays).map(Yaml::from)),
        ]);
        let effect = if variant.may_have_acted { "unknown" } else { "not_applied" };
        verdict("It is sent again.", effect, Yaml::Map(vec![("retry_with_backoff".to_owned(), then)]))
    };
    let mut all: Vec<(String, Yaml)> = rules.variants.iter().map(|variant| (variant.name(), again(variant))).collect();
    for (name, most) in &rules.uncounted {
        let then = Yaml::map([
            ("backoff_ms", Some(Yaml::List(vec![Amount::whole(0).into()]))),
            ("max_retries", Some((*most).into())),
            ("uncounted", Some(true.into())),
        ]);
        let then = Yaml::Map(vec![("retry_with_backoff".to_owned(), then)]);
        all.push((name.clone(), verdict("The upstream never saw it.", "not_applied", then)));
    }
    for name in &rules.ends {
        let reason = Yaml::map([("reason", Some(Yaml::plain(*name)))]);
        let then = Yaml::Map(vec![("deprecate_tool_call".to_owned(), reason)]);
        all.push(((*name).to_owned(), verdict("It is not sent again.", "unknown", then)));
    }
    all
}

impl Parts {
    fn text(&self) -> String {
        let mut text = String::from("format: playbook/1\nname: case\n\nverdicts:\n");
        let mut line = |depth: usize, key: &str, value: &dyn std::fmt::Display| {
            let _ = writeln!(text, "{:depth$}{key}{value}", "");
        };
        for (name, verdict) in &self.verdicts {
            line(2, &format!("{name}: "), verdict);
        }
        let rules: Vec<Yaml> = self.rules.yaml().collect();
        line(0, "\nclassify:", if rules.is_empty() { &" []" } else { &"" });
        for rule in rules {
            line(2, "- ", &rule);
        }
        line(0, "otherwise: ", &self.rules.otherwise);
        line(0, "queues: ", &"[people]");
        line(0, "default_queue: ", &"people\n");
        if !self.wishes.sources.is_empty() {
            line(0, "server_delay_sources: ", &Yaml::List(self.wishes.sources.clone()));
        }
        if let Some(budget) = &self.budget {
            line(0, "retry_budgets:\n  retries: ", &Yaml::Map(budget.clone()));
        }
        if let Some(breaker) = &self.breaker {
            line(0, "breakers:\n  default: ", breaker);
        }
        if let Some((rules, _)) = &self.dedupe {
            line(0, "dedupe: ", rules);
        }
        line(0, "", &"tools:");
        for (tool, facts) in self.tools() {
            line(2, &format!("{tool}: "), &facts);
        }
        line(0, "limits: ", &self.limits);
        text
    }

    fn tools(&self) -> Vec<(&'static str, Yaml)> {
        let key = self.dedupe.as_ref().map(|(_, key)| key);
        let tool = |access: &str, idempotent: Option<bool>| {
            Yaml::map([
                ("access", Some(Yaml::plain(access))),
                ("idempotent", idempotent.map(Yaml::from)),
                ("timeout_ms", Some(self.timeout.into())),
                ("key", key.cloned()),
            ])
        };
        if self.any_unsafe {
            return vec![(TOOL, tool("write", Some(true))), (UNSAFE_TOOL, tool("write", Some(false)))];
        }
        match self.dedupe {
            Some(_) => vec![(TOOL, tool("write", Some(false)))],
            None => vec![(TOOL, tool("read", None))],
        }
    }
}
