//! Runs the calls of a case through a machine, one answer after the other.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::amount::Amount;
use super::budget::tokens;
use super::case::{Case, CaseStep};
use super::compare::Sight;
use super::driver::{Answer, Driver, NewCall, Told, nothing_sent};
use super::rules::NOT_RETRYABLE;
use super::steps::run_steps;
use super::subject::{draw, error, moment, plan, span};
use super::unmet::Unmet;
use super::write::{TOOL, UNSAFE_TOOL};
use playproof_engine::classify::Signal;
use playproof_engine::dispatch::RetryBalance;
use playproof_engine::event::{
    AdmissionRefusal, Decision, DeprecationReason, ErrorFacts, Outcome, OutcomeKind, StopReason,
};
use playproof_engine::ids::{AttemptNo, CallId, Interner, RetryBudgetId, ServerId};
use playproof_engine::playbook::RetryBudgetKind;
use playproof_engine::time::{Duration, Instant};

/// Runs a case of kind `retry`.
pub(super) fn run(case: &Case) -> Result<(), Unmet> {
    run_steps(case, &mut Calls::new(case)?, Calls::step, Calls::end)
}

/// The calls of a case.
pub(super) struct Calls<'a> {
    case: &'a Case,
    driver: Driver,
    /// The partitions, by their server.
    servers: Interner,
    current: Option<Current>,
    /// What the last call showed.
    last: Option<Current>,
}

/// The call that is made now.
#[derive(Clone)]
struct Current {
    id: CallId,
    tool: &'static str,
    server: ServerId,
    since: Instant,
    /// The attempt that is out, and how long it may take.
    out: Option<(AttemptNo, Duration)>,
    sent: u32,
    uncounted: u32,
    /// Attempts that came before the first step.
    earlier: u64,
    reason: String,
}

impl<'a> Calls<'a> {
    pub fn new(case: &'a Case) -> Result<Calls<'a>, Unmet> {
        let mut driver = Driver::new(plan(case)?);
        driver.now = moment(&case.initial, "now_ms").unwrap_or_default();
        begin(&mut driver, &case.initial)?;
        Ok(Calls { case, driver, servers: Interner::new(), current: None, last: None })
    }

    fn step(&mut self, step: &CaseStep) -> Result<Sight, Unmet> {
        match step.op.as_str() {
            "call" => {
                self.call(&step.input)?;
                Ok(Sight::default())
            }
            _ => self.response(&step.input),
        }
    }

    /// The next answer is one to a new call.
    pub fn reset(&mut self) {
        self.current = None;
    }

    fn call(&mut self, input: &Map<String, Value>) -> Result<(), Unmet> {
        let is_safe = input.get("idempotent").and_then(Value::as_bool) != Some(false);
        let guards = self.driver.plan.facts(UNSAFE_TOOL).declared;
        let tool = if guards && !is_safe { UNSAFE_TOOL } else { TOOL };
        if let Some(at) = moment(input, "at_ms") {
            self.driver.now = self.driver.now.max(at);
        }
        let partition = input.get("partition").and_then(Value::as_str).unwrap_or_default();
        let server = ServerId(self.servers.intern(partition));
        let earlier = input.get("attempt").and_then(Amount::of).and_then(Amount::as_whole).unwrap_or(1);
        let new = NewCall { server, ..NewCall::of(tool) };
        let (id, told) = self.driver.call(new);
        let mut current = Current {
            id,
            tool,
            server,
            since: self.driver.now,
            out: None,
            sent: 0,
            uncounted: 0,
            earlier: earlier.saturating_sub(1),
            reason: String::new(),
        };
        current.note_sent(&told);
        current.reason = ended(&self.driver, &told).unwrap_or_default();
        self.last = Some(current.clone());
        self.current = Some(current);
        Ok(())
    }

    /// Answers the attempt that is out.
    pub fn response(&mut self, input: &Map<String, Value>) -> Result<Sight, Unmet> {
        if self.current.is_none() {
            self.call(&Map::new())?;
        }
        let mut current = self.current.take().ok_or_else(nothing_sent)?;
        if current.out.is_none() && current.sent == 0 {
            // Nothing was sent: the call was refused, which is its answer.
            let sight = Sight::default().with("decision", "stop").with("reason", &*current.reason);
            self.last = Some(current);
            return Ok(sight);
        }
        // The attempts before the first step failed as the first one does.
        for _ in 0..std::mem::take(&mut current.earlier) {
            self.answer(&mut current, input)?;
        }
        let told = self.answer(&mut current, input)?;
        Ok(self.sight(current, &told))
    }

    /// Answers the attempt that is out, and waits as long as the machine asks.
    fn answer(&mut self, current: &mut Current, input: &Map<String, Value>) -> Result<Seen, Unmet> {
        let (attempt, within) = current.out.take().ok_or_else(nothing_sent)?;
        let outcome = input.get("outcome").and_then(Value::as_object);
        let outcome = outcome.ok_or_else(|| Unmet::unsupported("a response has an outcome"))?;
        let headers = input.get("headers").and_then(Value::as_object);
        let mut failure = error(outcome, headers, span(input, "server_delay_ms"))?;
        let mut is_ok = outcome.get("ok") == Some(&Value::Bool(true));
        let start = self.driver.now;
        let end = moment(input, "at_ms").or_else(|| span(input, "duration_ms").map(|took| start.plus(took)));
        self.driver.now = end.unwrap_or(start).max(start);
        if self.driver.now.since(start) > within {
            failure = ErrorFacts { kind: Some("timeout".into()), ..ErrorFacts::default() };
            is_ok = false;
            self.driver.now = start.plus(within);
        }
        let took = self.driver.now.since(start);
        let dated = moment(input, "now_ms");
        let to = Answer { call: current.id, attempt, took, draw: draw(self.case, input)?, dated };
        let told = match is_ok && !self.is_wanted(current, attempt, &failure) {
            true => self.driver.succeed(&to),
            false => self.driver.fail(&to, current.tool, &failure),
        };
        Ok(self.wait(current, told))
    }

    /// Whether the policy sends again what is no failure by itself: a rule names what such an answer says.
    fn is_wanted(&self, current: &Current, attempt: AttemptNo, answer: &ErrorFacts) -> bool {
        let plan = &self.driver.plan;
        let signal = Signal::new(Some(answer), current.tool, plan.facts(current.tool), false, attempt);
        let said = plan.classifier.classify(&signal);
        let retries = plan.playbook.verdict(said.verdict).then.retry().is_some();
        retries && said.rule.is_some_and(|rule| plan.playbook.rule(rule).when.requires_error())
    }

    fn wait(&mut self, current: &mut Current, told: Told) -> Seen {
        current.uncounted += u32::from(told.is_uncounted(&self.driver.plan));
        let mut seen = Seen {
            scheduled: told.decisions.iter().any(|decision| matches!(decision, Decision::RetryScheduled { .. })),
            uncounted: told.is_uncounted(&self.driver.plan),
            delay: told.wake.map(|at| at.since(self.driver.now)),
            reason: ended(&self.driver, &told),
        };
        if let Some(at) = told.wake {
            self.driver.now = at;
            let woken = self.driver.wake(current.id);
            current.note_sent(&woken);
            seen.reason = seen.reason.or_else(|| ended(&self.driver, &woken));
        }
        if seen.uncounted && seen.reason.as_deref() == Some("max_attempts") {
            seen.reason = Some(NOT_RETRYABLE.to_owned()); // the limit of what is no attempt
        }
        current.reason = seen.reason.clone().unwrap_or_default();
        seen
    }

    fn sight(&mut self, current: Current, seen: &Seen) -> Sight {
        let retry = if seen.uncounted { "transparent" } else { "retry" };
        let reason = if seen.scheduled { Some(retry) } else { seen.reason.as_deref() };
        let sight = Sight::default()
            .with("decision", if seen.scheduled { "retry" } else { "stop" })
            .with("reason", reason)
            .with("stop", !seen.scheduled)
            .with("delay_ms", seen.delay)
            .with("attempts", current.counted());
        let sight = self.with_budget(sight, current.server);
        let is_over = current.out.is_none();
        self.last = Some(current.clone());
        self.current = (!is_over).then_some(current);
        sight
    }

    /// What the retry budget has left for a server, if it has tokens.
    fn with_budget(&self, sight: Sight, server: ServerId) -> Sight {
        let playbook = &self.driver.plan.playbook;
        let Some((_, budget)) = playbook.retry_budgets.first() else { return sight };
        match budget.kind {
            RetryBudgetKind::ConcurrencyRatio { .. } | RetryBudgetKind::InflightShare { .. } => sight,
            kind => {
                let balance = self.driver.machine.balance(playbook, RetryBudgetId(0), server);
                sight.with("budget", balance.left(&kind, self.driver.now))
            }
        }
    }

    /// What holds in the end, of the last call.
    pub fn end(&self) -> Sight {
        let Some(last) = &self.last else { return Sight::default() };
        self.with_budget(Sight::default(), last.server)
            .with("attempts", last.sent)
            .with("counted_attempts", last.counted())
            .with("total_ms", self.driver.now.since(last.since))
            .with("outcome", &*last.reason)
    }
}

/// Gives the machine the state before the first step.
fn begin(driver: &mut Driver, initial: &Map<String, Value>) -> Result<(), Unmet> {
    for (key, value) in initial.iter().filter(|(key, _)| *key != "now_ms") {
        let odd = || Unmet::unsupported(format!("a call does not begin with `{key}: {value}`"));
        let map = value.as_object().filter(|map| key == "budget" && map.len() == 1).ok_or_else(odd)?;
        let balance = map.get("balance").and_then(Amount::of).ok_or_else(odd)?;
        let plan = Arc::clone(&driver.plan);
        let (_, budget) = plan.playbook.retry_budgets.first().ok_or_else(odd)?;
        let balance = RetryBalance::with_balance(&budget.kind, tokens(balance)?);
        driver.machine.set_retry_balance(&plan.playbook, RetryBudgetId(0), ServerId(0), balance);
    }
    Ok(())
}

/// What an answer led to.
struct Seen {
    scheduled: bool,
    uncounted: bool,
    delay: Option<Duration>,
    /// Why the call ended.
    reason: Option<String>,
}

impl Current {
    /// The attempts that count.
    const fn counted(&self) -> u32 {
        self.sent.saturating_sub(self.uncounted)
    }

    fn note_sent(&mut self, told: &Told) {
        self.out = told.sent;
        self.sent += u32::from(told.sent.is_some());
    }
}

/// Why the call ended, in the words of cases.
fn ended(driver: &Driver, told: &Told) -> Option<String> {
    told.outcome().map(|outcome| reason(driver, outcome).to_owned())
}

fn reason<'a>(driver: &'a Driver, outcome: &Outcome) -> &'a str {
    match outcome.kind {
        OutcomeKind::Succeeded | OutcomeKind::SucceededAfterCompensation => "success",
        OutcomeKind::Deprecated(DeprecationReason::Stated(reason)) => {
            driver.plan.names.reasons.get(reason.index()).map_or("deprecated", |reason| reason)
        }
        OutcomeKind::Escalated(_) => "non_idempotent",
        OutcomeKind::Exhausted(stop) => match stop {
            StopReason::MaxAttempts | StopReason::MaxRetries => "max_attempts",
            StopReason::Deadline | StopReason::CallTimeout => "deadline",
            StopReason::ToldNotTo => "pushback_stop",
            StopReason::CircuitOpen => "breaker_open",
            StopReason::RetryBudget => "budget",
            other => other.as_str(),
        },
        OutcomeKind::Refused(AdmissionRefusal::CircuitOpen) => "breaker_open",
        OutcomeKind::Refused(why) => why.as_str(),
        other => other.word().as_str(),
    }
}
