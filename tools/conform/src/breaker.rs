//! Runs the steps of a case on a breaker of its playbook, or on its window alone. Decides nothing itself.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::case::{Case, CaseKind, CaseStep};
use super::compare::{Shown, Sight};
use super::steps::run_steps;
use super::subject::{Clock, plan, span};
use super::unmet::Unmet;
use playproof_engine::dispatch::{Breaker, BreakerState, CountedCall, Generation, MarkedAnswer, Tally, Window};
use playproof_engine::event::CircuitChange;
use playproof_engine::playbook::{BreakerMark, BreakerRules, DEFAULT_BREAKER, Ratio};
use playproof_engine::time::Duration;

/// Runs a case of kind `breaker` or `window`.
pub(super) fn run(case: &Case) -> Result<(), Unmet> {
    let playbook = plan(case)?.playbook;
    let id = playbook.breaker_id(DEFAULT_BREAKER).ok_or_else(|| Unmet::unsupported("the policy has no breaker"))?;
    let rules = *playbook.breaker_rules(id);
    let policy = |key: &str| case.policy.get("breaker").and_then(|breaker| breaker.get(key)).and_then(Value::as_bool);
    let mut server = Server {
        rules,
        breaker: Breaker::default(),
        window: (case.kind == CaseKind::Window).then(Window::default),
        clock: Clock::of(&case.initial),
        probes: VecDeque::new(),
        rejected: 0,
        is_strict: policy("strict_transitions") == Some(true),
        null_rates: policy("rate_null_below_min") == Some(true),
    };
    server.begin(&case.initial)?;
    run_steps(case, &mut server, Server::step, Server::sight)
}

struct Server {
    rules: BreakerRules,
    breaker: Breaker,
    /// The window of a case that has no breaker.
    window: Option<Window>,
    clock: Clock,
    /// The requests that are out: which period's probe each is.
    probes: VecDeque<Option<Generation>>,
    /// The requests that were rejected since the last change of the state.
    rejected: u64,
    is_strict: bool,
    /// Whether a rate below the least number of answers is none.
    null_rates: bool,
}

impl Server {
    /// Puts the breaker into the state before the first step.
    fn begin(&mut self, initial: &Map<String, Value>) -> Result<(), Unmet> {
        for (key, value) in initial.iter().filter(|(key, _)| *key != "now_ms") {
            let inner = value.as_object().filter(|map| map.len() == 1).and_then(|map| map.get("state"));
            let word = inner.or(Some(value).filter(|_| key == "state")).and_then(Value::as_str);
            let state = word.and_then(BreakerState::parse);
            let state =
                state.ok_or_else(|| Unmet::unsupported(format!("a breaker does not begin with `{key}: {value}`")))?;
            self.breaker.force(&self.rules, self.clock.now(), state, &mut Vec::new());
        }
        Ok(())
    }

    fn step(&mut self, step: &CaseStep) -> Result<Sight, Unmet> {
        let (took, mut changes) = (span(&step.input, "duration_ms").unwrap_or_default(), Vec::new());
        let mut permitted = None;
        let mut error = None;
        match step.op.as_str() {
            "acquire" => permitted = Some(self.acquire(&mut changes)),
            "execute" => {
                let passes = self.acquire(&mut changes);
                permitted = Some(passes);
                if passes {
                    if step.input.get("advance") == Some(&Value::Bool(true)) {
                        self.clock.pass(&step.input, "duration_ms");
                    }
                    self.record(step, took, &mut changes)?;
                }
            }
            "record" => self.record(step, took, &mut changes)?,
            "release" => {
                if let Some(probe) = self.probes.pop_front().flatten() {
                    self.breaker.release(probe);
                }
            }
            "transition" => error = self.transition(step, &mut changes)?,
            "reset" => {
                self.breaker.force(&self.rules, self.clock.now(), BreakerState::Closed, &mut changes);
                self.window = self.window.as_ref().map(|_| Window::default());
            }
            "advance" => self.clock.pass(&step.input, "ms"),
            "at" => self.clock.go_to(&step.input, "ms"),
            "query" => {}
            other => return Err(Unmet::unsupported(format!("a breaker has no `{other}`"))),
        }
        self.breaker.settle(&self.rules, self.clock.now(), &mut changes);
        if !changes.is_empty() {
            self.rejected = 0;
        }
        let sight = self.sight().with("error", error);
        Ok(permitted.into_iter().fold(sight, |sight, permitted| sight.with("permitted", permitted)))
    }

    fn acquire(&mut self, changes: &mut Vec<CircuitChange>) -> bool {
        match self.breaker.pass(&self.rules, self.clock.now(), changes) {
            Ok(probe) => {
                self.probes.push_back(probe);
                true
            }
            Err(_) => {
                self.rejected += 1;
                false
            }
        }
    }

    fn record(&mut self, step: &CaseStep, took: Duration, changes: &mut Vec<CircuitChange>) -> Result<(), Unmet> {
        let outcome = step.input.get("outcome").and_then(Value::as_str).unwrap_or_default();
        let (mark, slow) = match outcome {
            "success" => (BreakerMark::Success, false),
            "failure" => (BreakerMark::Failure, false),
            "ignored" => (BreakerMark::Ignored, false),
            "slow_success" => (BreakerMark::Success, true),
            "slow_failure" => (BreakerMark::Failure, true),
            other => return Err(Unmet::unsupported(format!("no answer is a `{other}`"))),
        };
        match &mut self.window {
            Some(window) if mark != BreakerMark::Ignored => {
                let failed = mark == BreakerMark::Failure;
                window.record(&self.rules.window, self.clock.now(), CountedCall { failed, slow, took });
            }
            Some(_) => {}
            None => {
                let probe = self.probes.pop_front().flatten();
                self.breaker.record(&self.rules, self.clock.now(), MarkedAnswer { mark, took, probe }, changes);
            }
        }
        Ok(())
    }

    fn transition(&mut self, step: &CaseStep, changes: &mut Vec<CircuitChange>) -> Result<Option<&'static str>, Unmet> {
        let word = step.input.get("to").and_then(Value::as_str).unwrap_or_default();
        let state =
            BreakerState::parse(word).ok_or_else(|| Unmet::unsupported(format!("a breaker has no state `{word}`")))?;
        if self.is_strict && !self.breaker.state().may_become(state) {
            return Ok(Some("illegal_transition"));
        }
        match span(&step.input, "for_ms").filter(|_| state == BreakerState::Open) {
            Some(open) => self.breaker.force_open_until(self.clock.now().plus(open), changes),
            None => self.breaker.force(&self.rules, self.clock.now(), state, changes),
        }
        Ok(None)
    }

    fn sight(&self) -> Sight {
        let Some(window) = &self.window else {
            let tally = self.breaker.tally(&self.rules, self.clock.now());
            let counts = tally.calls >= u64::from(self.breaker.needed_calls(&self.rules));
            let wait =
                self.breaker.may_pass(&self.rules, self.clock.now()).err().and_then(|blocked| blocked.retry_after);
            return counted(&tally, !self.null_rates || counts)
                .with("state", self.breaker.state().as_str())
                .with("not_permitted", self.rejected)
                .with("retry_after_ms", wait);
        };
        counted(&window.tally(&self.rules.window, self.clock.now()), true)
    }
}

/// What a window counts; a rate of no answers is 0.
fn counted(tally: &Tally, has_rates: bool) -> Sight {
    let rate = |rate: Option<Ratio>| -> Shown { has_rates.then(|| rate.unwrap_or(Ratio(0))).into() };
    Sight::default()
        .with("calls", tally.calls)
        .with("failures", tally.failures)
        .with("successes", tally.calls - tally.failures)
        .with("slow", tally.slow)
        .with("slow_failures", tally.slow_failures)
        .with("total_ms", tally.took)
        .with("avg_ms", tally.mean().unwrap_or_default())
        .with("failure_rate", rate(tally.failure_rate()))
        .with("slow_rate", rate(tally.slow_rate()))
}
