//! Mutants of retry budgets, and of what retries take from them.

use super::mutant::{Mutant, MutantRow};
use super::waits::RetryMutant;
use playproof_engine::ids::RetryBudgetId;
use playproof_engine::playbook::{
    BudgetScope, Compensation, DepositRounding, OnEmptyBudget, Playbook, Ratio, Refund, Retry, RetryBudget,
    RetryBudgetKind, TokenBucket, Tokens,
};
use playproof_engine::time::Duration;

/// A change of a kind: its name, and the changed kind.
type Change = (&'static str, RetryBudgetKind);

pub(super) fn add(playbook: &Playbook, all: &mut Vec<Mutant>) {
    for (id, (name, budget)) in (0..).map(RetryBudgetId).zip(&playbook.retry_budgets) {
        let mut row = MutantRow::new(format!("retry_budget {name}"), all);
        if playbook.verdicts.iter().any(|verdict| takes_from(&verdict.then, id)) {
            row.add("unused", "no retry takes from it", move |playbook| {
                for verdict in playbook.verdicts.iter_mut().filter(|verdict| takes_from(&verdict.then, id)) {
                    if let Compensation::RetryWithBackoff(retry) = &mut verdict.then {
                        (retry.retry_budget, retry.cost) = (None, None);
                    }
                }
            });
        }
        let per = match budget.per {
            BudgetScope::Server => BudgetScope::Dispatcher,
            BudgetScope::Dispatcher => BudgetScope::Server,
        };
        let on_empty = match budget.on_empty {
            OnEmptyBudget::Stop => OnEmptyBudget::WaitAndStop,
            OnEmptyBudget::WaitAndStop => OnEmptyBudget::Stop,
        };
        let kinds = changes(&budget.kind).into_iter();
        let of_kind = kinds.map(|(operation, kind)| (operation, RetryBudget { kind, ..*budget }));
        let others =
            [("per-other", RetryBudget { per, ..*budget }), ("on_empty-other", RetryBudget { on_empty, ..*budget })];
        for (operation, other) in of_kind.chain(others) {
            row.add(operation, operation.replace('-', " "), move |playbook| {
                playbook.retry_budgets.get_mut(id.index()).into_iter().for_each(|(_, budget)| *budget = other);
            });
        }
    }
}

fn takes_from(then: &Compensation, id: RetryBudgetId) -> bool {
    then.retry().is_some_and(|retry| retry.retry_budget == Some(id))
}

/// A part that differs a little, from 0 to 1.
pub(super) const fn other_part(part: Ratio) -> Ratio {
    let step = Ratio::SCALE / 1_000;
    Ratio(if part.0 > Ratio::SCALE / 2 { part.0 - step } else { part.0 + step })
}

fn changes(kind: &RetryBudgetKind) -> Vec<Change> {
    let more = |tokens: Tokens| tokens.plus(Tokens::ONE);
    match *kind {
        RetryBudgetKind::TokenBucket(bucket) => of_bucket(bucket),
        RetryBudgetKind::Throttle { max_tokens, token_ratio, allow_above } => {
            let throttle = |max_tokens, token_ratio, allow_above| RetryBudgetKind::Throttle {
                max_tokens,
                token_ratio,
                allow_above,
            };
            vec![
                ("max_tokens-more", throttle(more(max_tokens), token_ratio, allow_above)),
                ("token_ratio-more", throttle(max_tokens, more(token_ratio), allow_above)),
                ("allow_above-other", throttle(max_tokens, token_ratio, other_part(allow_above))),
            ]
        }
        RetryBudgetKind::DepositWithdraw { ttl, min_retries_per_sec, retry_percent, rounding } => {
            let other = match rounding {
                DepositRounding::Finagle => DepositRounding::Tower,
                DepositRounding::Tower => DepositRounding::Finagle,
            };
            let deposits = |ttl, min_retries_per_sec, retry_percent, rounding| RetryBudgetKind::DepositWithdraw {
                ttl,
                min_retries_per_sec,
                retry_percent,
                rounding,
            };
            let (longer, more) = (ttl.plus(Duration::from_millis(1)), min_retries_per_sec.saturating_add(1));
            vec![
                ("ttl_ms-longer", deposits(longer, min_retries_per_sec, retry_percent, rounding)),
                ("min_retries_per_sec-more", deposits(ttl, more, retry_percent, rounding)),
                ("retry_percent-other", deposits(ttl, min_retries_per_sec, other_part(retry_percent), rounding)),
                ("rounding-other", deposits(ttl, min_retries_per_sec, retry_percent, other)),
            ]
        }
        RetryBudgetKind::ConcurrencyRatio { budget_percent, min_retry_concurrency } => {
            let ratio = |budget_percent, min_retry_concurrency| RetryBudgetKind::ConcurrencyRatio {
                budget_percent,
                min_retry_concurrency,
            };
            vec![
                ("budget_percent-other", ratio(other_part(budget_percent), min_retry_concurrency)),
                ("min_retry_concurrency-more", ratio(budget_percent, min_retry_concurrency.saturating_add(1))),
            ]
        }
        RetryBudgetKind::InflightShare { max_share, min_retry_concurrency } => {
            let share =
                |max_share, min_retry_concurrency| RetryBudgetKind::InflightShare { max_share, min_retry_concurrency };
            vec![
                ("max_share-other", share(other_part(max_share), min_retry_concurrency)),
                ("min_retry_concurrency-more", share(max_share, min_retry_concurrency.saturating_add(1))),
            ]
        }
    }
}

fn of_bucket(own: TokenBucket) -> Vec<Change> {
    let more = |tokens: Tokens| tokens.plus(Tokens::ONE);
    let refund = match own.refund {
        Refund::LastCost => Refund::None,
        Refund::None => Refund::LastCost,
    };
    let changed = [
        ("capacity-more", TokenBucket { capacity: more(own.capacity), ..own }),
        ("cost-more", TokenBucket { cost: more(own.cost), ..own }),
        ("no_retry_credit-more", TokenBucket { no_retry_credit: more(own.no_retry_credit), ..own }),
        ("success_credit-more", TokenBucket { success_credit: more(own.success_credit), ..own }),
        ("refill_per_sec-more", TokenBucket { refill_per_sec: more(own.refill_per_sec), ..own }),
        ("refund-other", TokenBucket { refund, ..own }),
    ];
    changed.into_iter().map(|(operation, bucket)| (operation, RetryBudgetKind::TokenBucket(bucket))).collect()
}

/// The mutants of what a retry takes from its budget.
pub(super) fn of_payment(retry: &Retry) -> Vec<RetryMutant> {
    let mut found = Vec::new();
    let mut changed = |operation: &str, what: &str, edit: fn(&mut Retry)| {
        found.push(RetryMutant { operation: operation.into(), what: what.into(), edit: Box::new(edit) });
    };
    if retry.retry_budget.is_some() {
        changed("retry_budget-none", "no `retry_budget`", |retry| (retry.retry_budget, retry.cost) = (None, None));
    }
    if retry.cost.is_some() {
        changed("cost-more", "a larger `cost`", |retry| retry.cost = retry.cost.map(|cost| cost.plus(Tokens::ONE)));
        changed("cost-none", "no `cost`", |retry| retry.cost = None);
    }
    if retry.uncounted {
        changed("uncounted-false", "`uncounted: false`", |retry| retry.uncounted = false);
    }
    found
}
