//! Mutants of what calls share: keys, the tool calls of a run, permits.

use super::mutant::{Mutant, MutantRow};
use playproof_engine::playbook::{BudgetUnit, Dedupe, InFlightKey, PermitLimits, Playbook, ToolCallBudget};
use playproof_engine::time::Duration;

pub(super) fn add(playbook: &Playbook, all: &mut Vec<Mutant>) {
    if let Some(rules) = playbook.sharing.dedupe {
        of_dedupe(rules, &mut MutantRow::new("dedupe".to_owned(), all));
    }
    if let Some(budget) = playbook.sharing.budget {
        of_budget(budget, &mut MutantRow::new("budget".to_owned(), all));
    }
    if let Some(permits) = playbook.sharing.permits {
        of_permits(permits, &mut MutantRow::new("permits".to_owned(), all));
    }
}

fn of_dedupe(rules: Dedupe, row: &mut MutantRow<'_>) {
    row.add("drop", "no key is shared", |playbook| playbook.sharing.dedupe = None);
    let in_flight = match rules.in_flight {
        InFlightKey::Join => InFlightKey::Refuse,
        InFlightKey::Refuse => InFlightKey::Join,
    };
    let least = (rules.min_key_len < rules.max_key_len).then_some(rules.min_key_len + 1);
    let longer = rules.takeover.map(|after| Some(after.plus(Duration::from_millis(1))));
    let others = [
        ("takeover_ms-drop", rules.takeover.map(|_| Dedupe { takeover: None, ..rules }), true),
        ("takeover_ms-longer", longer.map(|takeover| Dedupe { takeover, ..rules }), true),
        ("window_ms-longer", Some(Dedupe { window: rules.window.plus(Duration::from_millis(1)), ..rules }), true),
        ("most_keys-one", Some(Dedupe { most_keys: 1, ..rules }), rules.most_keys > 1 && rules.window > Duration::ZERO),
        ("window_ms-none", Some(Dedupe { window: Duration::ZERO, ..rules }), rules.window > Duration::ZERO),
        ("in_flight-other", Some(Dedupe { in_flight, ..rules }), true),
        ("min_key_len-longer", least.map(|min_key_len| Dedupe { min_key_len, ..rules }), true),
        ("max_key_len-longer", Some(Dedupe { max_key_len: rules.max_key_len.saturating_add(1), ..rules }), true),
    ];
    for (operation, other, differs) in others {
        if let Some(other) = other.filter(|_| differs) {
            row.add(operation, operation.replace('-', " "), move |playbook| playbook.sharing.dedupe = Some(other));
        }
    }
}

fn of_budget(budget: ToolCallBudget, row: &mut MutantRow<'_>) {
    row.add("drop", "tool calls are not counted", |playbook| playbook.sharing.budget = None);
    let counts = match budget.counts {
        BudgetUnit::Attempts => BudgetUnit::Calls,
        BudgetUnit::Calls => BudgetUnit::Attempts,
    };
    let more = ToolCallBudget { tool_calls: budget.tool_calls.saturating_add(1), ..budget };
    for (operation, other) in [("more", more), ("counts-other", ToolCallBudget { counts, ..budget })] {
        row.add(operation, operation.replace('-', " "), move |playbook| playbook.sharing.budget = Some(other));
    }
}

fn of_permits(permits: PermitLimits, row: &mut MutantRow<'_>) {
    row.add("drop", "attempts are not limited", |playbook| playbook.sharing.permits = None);
    let more = PermitLimits { max_in_flight: permits.max_in_flight.saturating_add(1), ..permits };
    row.add("more", "one more", move |playbook| playbook.sharing.permits = Some(more));
    let (operation, what, queue) = match permits.queue {
        0 => ("queue-one", "one call waits", 1),
        _ => ("queue-none", "no call waits", 0),
    };
    let other = PermitLimits { queue, ..permits };
    row.add(operation, what, move |playbook| playbook.sharing.permits = Some(other));
}
