//! The retry budgets of a playbook, and what the retries of a verdict say of them.

use std::sync::Arc;

use super::compensation::Context;
use super::kinds;
use super::names::Declared;
use super::waiting::{ratio, word};
use crate::diagnostic::Diagnostic;
use crate::playbook::places::{CompensationPlaces, SharedPlaces};
use crate::playbook::syntax;
use crate::yaml::{Cursor, MapReader};
use playproof_engine::ids::RetryBudgetId;
use playproof_engine::playbook::{
    BudgetScope, DepositRounding, OnEmptyBudget, Ratio, Refund, RetryBudget, RetryBudgetKind, RetryBudgetWord,
    TokenBucket, Tokens,
};

/// The declared names, and the budgets with their places if all are valid.
pub(super) struct RetryBudgets {
    pub names: Declared,
    pub budgets: Option<Vec<(Arc<str>, RetryBudget)>>,
    pub places: Vec<SharedPlaces>,
}

impl RetryBudgets {
    /// The kind of a budget, if all are valid.
    fn kind(&self, id: RetryBudgetId) -> Option<RetryBudgetWord> {
        let (_, budget) = self.budgets.as_ref()?.get(id.index())?;
        Some(budget.kind.word())
    }
}

/// The `retry_budgets` of a playbook.
pub(super) fn retry_budgets(record: &MapReader<'_>) -> RetryBudgets {
    let mut names = Declared::new("retry budget");
    let mut places = Vec::new();
    let Some(at) = record.optional("retry_budgets") else {
        return RetryBudgets { names, budgets: Some(Vec::new()), places };
    };
    let Some(entries) = at.entries("`retry_budgets`") else { return RetryBudgets { names, budgets: None, places } };
    let mut budgets = Vec::new();
    for (name, body) in entries {
        if body.named(&name, "") {
            names.declare(&name, body);
        }
        let record = body.record("a retry budget", syntax::RETRY_BUDGET);
        budgets.push(record.as_ref().and_then(budget).map(|budget| (name.text.into(), budget)));
        places.extend(record.map(|record| SharedPlaces::new(&name, &record, syntax::RETRY_BUDGET)));
    }
    RetryBudgets { names, budgets: budgets.into_iter().collect(), places }
}

fn budget(record: &MapReader<'_>) -> Option<RetryBudget> {
    let kind = record.required("kind").and_then(|kind| kind.word(&RetryBudgetWord::TABLE));
    let per = word(record, "per", &BudgetScope::TABLE, BudgetScope::Server);
    let on_empty = word(record, "on_empty", &OnEmptyBudget::TABLE, OnEmptyBudget::Stop);
    let kind = kind?;
    let name = |kind: RetryBudgetWord| kind.as_str();
    if kinds::has_other_keys(record, kind, name, &syntax::BUDGET_KEYS, "other_kind") {
        return None;
    }
    let kind = match kind {
        RetryBudgetWord::TokenBucket => token_bucket(record).map(RetryBudgetKind::TokenBucket),
        RetryBudgetWord::Throttle => throttle(record),
        RetryBudgetWord::DepositWithdraw => deposit_withdraw(record),
        RetryBudgetWord::ConcurrencyRatio => {
            let budget_percent = required_ratio(record, "budget_percent", syntax::PERCENT);
            let min_retry_concurrency = at_once(record);
            Some(RetryBudgetKind::ConcurrencyRatio {
                budget_percent: budget_percent?,
                min_retry_concurrency: min_retry_concurrency?,
            })
        }
        RetryBudgetWord::InflightShare => {
            let max_share = required_ratio(record, "max_share", syntax::PART);
            let min_retry_concurrency = at_once(record);
            Some(RetryBudgetKind::InflightShare {
                max_share: max_share?,
                min_retry_concurrency: min_retry_concurrency?,
            })
        }
    };
    Some(RetryBudget { kind: kind?, per: per?, on_empty: on_empty? })
}

fn token_bucket(record: &MapReader<'_>) -> Option<TokenBucket> {
    let required = |key| record.required(key).and_then(tokens);
    let optional = |key| record.optional(key).map_or(Some(Tokens::ZERO), tokens);
    let (capacity, cost) = (required("capacity"), required("cost"));
    let (no_retry_credit, success_credit) = (optional("no_retry_credit"), optional("success_credit"));
    let refill_per_sec = optional("refill_per_sec");
    let refund = word(record, "refund", &Refund::TABLE, Refund::LastCost);
    Some(TokenBucket {
        capacity: capacity?,
        cost: cost?,
        no_retry_credit: no_retry_credit?,
        refund: refund?,
        success_credit: success_credit?,
        refill_per_sec: refill_per_sec?,
    })
}

fn throttle(record: &MapReader<'_>) -> Option<RetryBudgetKind> {
    let required = |key| record.required(key).and_then(tokens);
    let (max_tokens, token_ratio) = (required("max_tokens"), required("token_ratio"));
    let allow_above = match record.optional("allow_above") {
        Some(at) => ratio(at, syntax::PART),
        None => Some(syntax::DEFAULT_ALLOW_ABOVE),
    };
    let (max_tokens, token_ratio, allow_above) = (max_tokens?, token_ratio?, allow_above?);
    Some(RetryBudgetKind::Throttle { max_tokens, token_ratio, allow_above })
}

fn deposit_withdraw(record: &MapReader<'_>) -> Option<RetryBudgetKind> {
    let ttl = record.required("ttl_ms").and_then(|at| {
        let ttl = at.duration_ms(syntax::LONGEST_WAIT)?;
        if ttl < syntax::SHORTEST_TTL {
            let shortest = syntax::SHORTEST_TTL;
            let message = format!("deposits are forgotten after {ttl} ms, and the reserve counts whole seconds");
            at.wrong("short_ttl", message, &format!("at least {shortest}"));
            return None;
        }
        Some(ttl)
    });
    let min = record.required("min_retries_per_sec").and_then(|at| at.count(0..=syntax::MOST_CALLS));
    let retry_percent = required_ratio(record, "retry_percent", syntax::RETRIES_PER_CALL);
    let rounding = word(record, "rounding", &DepositRounding::TABLE, DepositRounding::Finagle);
    Some(RetryBudgetKind::DepositWithdraw {
        ttl: ttl?,
        min_retries_per_sec: min?,
        retry_percent: retry_percent?,
        rounding: rounding?,
    })
}

fn required_ratio(record: &MapReader<'_>, key: &str, bounds: (Ratio, Ratio)) -> Option<Ratio> {
    record.required(key).and_then(|at| ratio(at, bounds))
}

fn at_once(record: &MapReader<'_>) -> Option<u32> {
    record.required("min_retry_concurrency").and_then(|at| at.count(0..=syntax::MOST_CALLS))
}

/// Tokens with at most three decimal places.
fn tokens(at: Cursor<'_>) -> Option<Tokens> {
    let most = Tokens::whole(syntax::MOST_TOKENS);
    let what = format!("a number from 0 to {most} with at most three decimal places");
    at.decimal(&what, |text| Tokens::parse(text).filter(|tokens| *tokens <= most))
}

/// What the retries of a verdict take, and from which budget.
pub(super) struct Payment {
    pub retry_budget: Option<RetryBudgetId>,
    pub cost: Option<Tokens>,
    pub uncounted: bool,
}

/// The keys of a retry that are about its budget.
pub(super) fn payment(
    context: &Context<'_>,
    retry: &MapReader<'_>,
    places: &mut CompensationPlaces,
) -> Option<Payment> {
    let written = retry.optional("retry_budget");
    let written_cost = retry.optional("cost");
    places.retry_budget = written.map(Cursor::span);
    places.cost = written_cost.map(Cursor::span);
    let retry_budget =
        written.map_or(Some(None), |at| context.retry_budgets.names.find(at).map(RetryBudgetId).map(Some));
    let cost = written_cost.map_or(Some(None), |at| tokens(at).map(Some));
    let uncounted = retry.optional("uncounted").map_or(Some(false), Cursor::bool);
    if let (Some(span), None) = (retry.key_span("cost"), written) {
        let message = "`cost` needs `retry_budget`, from which it is taken";
        retry.cursor().report(Diagnostic::error("cost_without_budget", message).at(span, "of which budget?"));
        return None;
    }
    let (retry_budget, uncounted) = (retry_budget?, uncounted?);
    let kind = retry_budget.and_then(|id| context.retry_budgets.kind(id));
    if let (Some(span), Some(kind)) =
        (retry.key_span("cost"), kind.filter(|kind| *kind != RetryBudgetWord::TokenBucket))
    {
        let message = format!("only a {} has costs", RetryBudgetWord::TokenBucket.as_str());
        let label = format!("not for a budget of kind {}", kind.as_str());
        retry.cursor().report(Diagnostic::error("other_kind", message).at(span, label));
        return None;
    }
    Some(Payment { retry_budget, cost: cost?, uncounted })
}
