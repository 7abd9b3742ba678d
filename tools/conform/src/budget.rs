//! Runs the steps of a case on a retry budget of its playbook. Counts no tokens itself.

use super::amount::Amount;
use super::case::{Case, CaseStep};
use super::compare::Sight;
use super::steps::run_steps;
use super::subject::{Clock, plan, retry_of};
use super::unmet::Unmet;
use playproof_engine::dispatch::{RetryBalance, RetryLoad};
use playproof_engine::playbook::{Playbook, RetryBudgetKind, Tokens};

/// The most calls of one step.
const MOST_CALLS: u64 = 100_000;

/// Runs a case of kind `budget`.
pub(super) fn run(case: &Case) -> Result<(), Unmet> {
    run_steps(case, &mut Shared::new(case)?, Shared::step, Shared::sight)
}

struct Shared {
    /// The case with the policy that holds now.
    case: Case,
    playbook: Playbook,
    kind: RetryBudgetKind,
    balance: RetryBalance,
    load: RetryLoad,
    clock: Clock,
}

fn kind_of(playbook: &Playbook) -> Result<RetryBudgetKind, Unmet> {
    let budget = playbook.retry_budgets.first().map(|(_, budget)| budget.kind);
    budget.ok_or_else(|| Unmet::unsupported("the policy has no retry budget"))
}

/// The tokens of a number.
pub(super) fn tokens(amount: Amount) -> Result<Tokens, Unmet> {
    let thousandths = amount.as_thousandths();
    thousandths
        .map(Tokens::from_thousandths)
        .ok_or_else(|| Unmet::unsupported(format!("{amount} is no number of tokens")))
}

impl Shared {
    fn new(case: &Case) -> Result<Shared, Unmet> {
        let playbook = plan(case)?.playbook;
        let kind = kind_of(&playbook)?;
        let mut shared = Shared {
            case: case.clone(),
            playbook,
            kind,
            balance: RetryBalance::default(),
            load: RetryLoad::default(),
            clock: Clock::of(&case.initial),
        };
        for (key, value) in case.initial.iter().filter(|(key, _)| *key != "now_ms") {
            let odd = || Unmet::unsupported(format!("a budget does not begin with `{key}: {value}`"));
            match value.as_object() {
                Some(map) => {
                    map.iter().try_for_each(|(key, value)| shared.set(key, Amount::of(value).ok_or_else(odd)?))?;
                }
                None => shared.set(key, Amount::of(value).ok_or_else(odd)?)?,
            }
        }
        Ok(shared)
    }

    fn set(&mut self, key: &str, amount: Amount) -> Result<(), Unmet> {
        let count = || amount.as_whole().and_then(|count| u32::try_from(count).ok());
        match (key, count()) {
            ("balance", _) => self.balance = RetryBalance::with_balance(&self.kind, tokens(amount)?),
            ("retries" | "retries_in_flight" | "inflight_retries", Some(retries)) => self.load.retries = retries,
            ("active" | "executions", Some(calls)) => self.load.calls = calls,
            _ => return Err(Unmet::unsupported(format!("nothing sets `{key}` of a retry budget"))),
        }
        self.balance.set_load(self.load);
        Ok(())
    }

    fn step(&mut self, step: &CaseStep) -> Result<Sight, Unmet> {
        let amount = |key: &str| step.input.get(key).and_then(Amount::of);
        let cost = |key| amount(key).map(tokens).transpose();
        self.clock.go_to(&step.input, "at_ms");
        let (kind, now) = (self.kind, self.clock.now());
        match step.op.as_str() {
            "acquire" => {
                let class = step.input.get("class").and_then(serde_json::Value::as_str);
                let cost = cost("cost")?.or(retry_of(&self.playbook, class)?.cost);
                let taken = self.balance.take(&kind, now, cost);
                return Ok(self
                    .sight()
                    .with("ok", taken.is_some())
                    .with("allowed", taken.is_some())
                    .with("cost", taken));
            }
            "success" => self.balance.on_success(&kind, now, cost("last_cost")?),
            "failure" => self.balance.on_failure(&kind),
            "release" => match cost("amount")? {
                Some(cost) => self.balance.give_back(cost),
                None => self.balance.on_retry_end(),
            },
            "deposit" => self.balance.on_call(&kind, now),
            "deposit_then_withdraw" => {
                let count = amount("count").and_then(Amount::as_whole).unwrap_or(1);
                let mut granted = 0_u64;
                for _ in 0..count.min(MOST_CALLS) {
                    self.balance.on_call(&kind, now);
                    granted += u64::from(self.balance.take(&kind, now, None).is_some());
                }
                return Ok(self.sight().with("allowed", granted));
            }
            "set" => {
                for (key, value) in &step.input {
                    let amount =
                        Amount::of(value).ok_or_else(|| Unmet::unsupported(format!("`{key}` is no number")))?;
                    self.set(key, amount)?;
                }
            }
            "configure" => self.configure(step, false)?,
            "replace" => self.configure(step, true)?,
            "advance" => self.clock.pass(&step.input, "ms"),
            "at" => self.clock.go_to(&step.input, "ms"),
            "query" => {}
            other => return Err(Unmet::unsupported(format!("a retry budget has no `{other}`"))),
        }
        Ok(self.sight())
    }

    /// Changes keys of the policy; a budget that is replaced keeps its part of the tokens.
    fn configure(&mut self, step: &CaseStep, carries_over: bool) -> Result<(), Unmet> {
        let budget = self.case.policy.get_mut("budget").and_then(serde_json::Value::as_object_mut);
        let budget = budget.ok_or_else(|| Unmet::unsupported("the policy has no retry budget"))?;
        budget.extend(step.input.iter().map(|(key, value)| (key.clone(), value.clone())));
        self.playbook = plan(&self.case)?.playbook;
        let kind = kind_of(&self.playbook)?;
        if carries_over {
            self.balance = self.balance.carried_over(&self.kind, &kind);
        }
        self.kind = kind;
        Ok(())
    }

    fn sight(&self) -> Sight {
        let allowed = self.balance.may_retry(&self.kind, self.clock.now(), None);
        let sight = Sight::default().with("ok", allowed).with("allowed", allowed);
        match self.kind {
            RetryBudgetKind::ConcurrencyRatio { .. } | RetryBudgetKind::InflightShare { .. } => sight,
            _ => sight
                .with("balance", self.balance.left(&self.kind, self.clock.now()))
                .with("fraction", self.balance.saved()),
        }
    }
}
