//! The retry budgets of a playbook, and what the retries of a verdict say of them.

use std::sync::Arc;

use super::names::Declared;
use crate::schema::At;
use playproof_engine::ids::RetryBudgetId;
use playproof_engine::playbook::{
    BudgetScope, DepositRounding, OnEmptyBudget, Ratio, Refund, RetryBudget, RetryBudgetKind, RetryBudgetWord,
    TokenBucket, Tokens,
};

/// The declared names, and the budgets if all are valid.
pub(super) struct RetryBudgets {
    pub names: Declared,
    pub budgets: Option<Vec<(Arc<str>, RetryBudget)>>,
}

impl RetryBudgets {
    /// The kind of a budget, if all are valid.
    pub(super) fn kind(&self, id: RetryBudgetId) -> Option<RetryBudgetWord> {
        let (_, budget) = self.budgets.as_ref()?.get(id.index())?;
        Some(budget.kind.word())
    }
}

/// The `retry_budgets` of a playbook.
pub(super) fn retry_budgets(root: At<'_>) -> RetryBudgets {
    let mut names = Declared::new("retry budget", root.get("retry_budgets"));
    let mut budgets = Vec::new();
    for (name, at) in root.get("retry_budgets").into_iter().flat_map(At::entries) {
        names.declare(&name, at);
        budgets.push(budget(at).map(|budget| (name.text.into(), budget)));
    }
    RetryBudgets { names, budgets: budgets.into_iter().collect() }
}

fn budget(at: At<'_>) -> Option<RetryBudget> {
    let tokens = |key| at.word(key, Tokens::parse);
    let ratio = |key| at.word(key, Ratio::parse);
    let kind = match at.word("kind", RetryBudgetWord::parse)? {
        RetryBudgetWord::TokenBucket => RetryBudgetKind::TokenBucket(TokenBucket {
            capacity: tokens("capacity")?,
            cost: tokens("cost")?,
            no_retry_credit: tokens("no_retry_credit")?,
            refund: at.word("refund", Refund::parse)?,
            success_credit: tokens("success_credit")?,
            refill_per_sec: tokens("refill_per_sec")?,
        }),
        RetryBudgetWord::Throttle => RetryBudgetKind::Throttle {
            max_tokens: tokens("max_tokens")?,
            token_ratio: tokens("token_ratio")?,
            allow_above: ratio("allow_above")?,
        },
        RetryBudgetWord::DepositWithdraw => RetryBudgetKind::DepositWithdraw {
            ttl: at.get("ttl_ms")?.millis()?,
            min_retries_per_sec: at.number("min_retries_per_sec")?,
            retry_percent: ratio("retry_percent")?,
            rounding: at.word("rounding", DepositRounding::parse)?,
        },
        RetryBudgetWord::ConcurrencyRatio => RetryBudgetKind::ConcurrencyRatio {
            budget_percent: ratio("budget_percent")?,
            min_retry_concurrency: at.number("min_retry_concurrency")?,
        },
        RetryBudgetWord::InflightShare => RetryBudgetKind::InflightShare {
            max_share: ratio("max_share")?,
            min_retry_concurrency: at.number("min_retry_concurrency")?,
        },
    };
    Some(RetryBudget {
        kind,
        per: at.word("per", BudgetScope::parse)?,
        on_empty: at.word("on_empty", OnEmptyBudget::parse)?,
    })
}
