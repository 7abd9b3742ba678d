//! Finds the changed row behind the first decision that differs: a rule or verdict, a guard, a limit, a tool, or what calls
//! share.

use super::call_run::CallRun;
use super::cause::{CauseKey, RuleVerdict};
use super::pairing::Pairing;
use playproof_engine::event::{AdmissionRefusal, Decision, GuardKind, OutcomeKind, StopReason};
use playproof_engine::playbook::LimitKind;

/// The cause of a difference.
pub(super) struct Blame {
    pub cause: CauseKey,
    /// Whether it lies in what calls share, or in nothing of the call itself.
    pub is_shared: bool,
}

/// The cause of the difference at `at`.
pub(super) fn blame(pairing: &Pairing, base: CallRun<'_>, candidate: CallRun<'_>, at: usize) -> Blame {
    let decision = |ran: CallRun<'_>| ran.events().get(at).map(|event| event.what);
    let (mine, theirs) = (decision(base), decision(candidate));
    let own = |cause| Blame { cause, is_shared: false };
    if let (
        Some(Decision::FailureClassified { verdict: left, rule: by, .. }),
        Some(Decision::FailureClassified { verdict: right, rule: other, .. }),
    ) = (mine, theirs)
        && !pairing.same_verdict(left, right)
    {
        let candidate = RuleVerdict { rule: other, verdict: right };
        return own(CauseKey::Classified { base: RuleVerdict { rule: by, verdict: left }, candidate });
    }
    let sides = [(theirs, candidate), (mine, base)].into_iter().filter_map(|(what, ran)| Some((what?, ran)));
    let is_shared = sides.clone().any(|(what, _)| is_shared(what));
    let by_gate = sides.clone().find_map(|(what, ran)| match what {
        Decision::Refused { why, .. } if why.is_of_gate() => pairing.gate_row(why, position(ran)),
        _ => None,
    });
    if let Some(row) = by_gate {
        return Blame { cause: CauseKey::Row(row), is_shared };
    }
    let mut rows = sides.flat_map(|(what, ran)| rows_behind(what, ran, at));
    if let Some(row) = rows.find_map(|row| pairing.row(&row)) {
        return Blame { cause: CauseKey::Row(row), is_shared };
    }
    let facts = |ran: CallRun<'_>| (ran.facts.access, ran.facts.idempotent, ran.facts.repeatable);
    let other_facts = facts(base) != facts(candidate);
    if let Some(guard) = guard(mine, theirs) {
        if other_facts {
            return own(CauseKey::ToolFacts);
        }
        if let Some(row) = pairing.row(guard) {
            return own(CauseKey::Row(row));
        }
    }
    match verdict_row(pairing, base, at) {
        Some(row) => Blame { cause: CauseKey::Row(row), is_shared },
        None if other_facts => own(CauseKey::ToolFacts),
        None => match [candidate, base].into_iter().flat_map(tool_row).find_map(|row| pairing.row(&row)) {
            Some(row) => own(CauseKey::Row(row)),
            None => Blame { cause: elsewhere(pairing).map_or(CauseKey::Several, CauseKey::Row), is_shared: true },
        },
    }
}

/// Whether a decision rests on what calls share.
const fn is_shared(what: Decision) -> bool {
    match what {
        Decision::Refused { why, .. } => matches!(
            why,
            AdmissionRefusal::InvalidTransition
                | AdmissionRefusal::KeyReused
                | AdmissionRefusal::KeyInFlight
                | AdmissionRefusal::Unsettled
                | AdmissionRefusal::BudgetExceeded
                | AdmissionRefusal::CircuitOpen
                | AdmissionRefusal::QueueFull
        ),
        Decision::Queued { .. }
        | Decision::Joined { .. }
        | Decision::ServedFromCache { .. }
        | Decision::TookOver { .. }
        | Decision::RetryUnpaid { .. }
        | Decision::CircuitOpened { .. }
        | Decision::CircuitHalfOpen { .. }
        | Decision::CircuitClosed { .. } => true,
        Decision::Outcome(outcome) => outcome.kind.shared_stop().is_some(),
        _ => false,
    }
}

/// The rows that can make a decision, by their names in the playbook of its side.
fn rows_behind(what: Decision, ran: CallRun<'_>, at: usize) -> Vec<String> {
    match what {
        Decision::Refused { why, .. } => admission_rows(why, ran),
        Decision::Joined { .. } | Decision::ServedFromCache { .. } | Decision::TookOver { .. } => named("dedupe"),
        Decision::Queued { behind: None, .. } => named("permits"),
        Decision::CircuitOpened { .. } | Decision::CircuitHalfOpen { .. } | Decision::CircuitClosed { .. } => {
            breaker_row(ran)
        }
        Decision::RetryUnpaid { .. } => retry_budget_row(ran, at),
        Decision::Outcome(outcome) => match outcome.kind {
            OutcomeKind::Exhausted(stop) => stop_rows(stop, ran, at),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn admission_rows(why: AdmissionRefusal, ran: CallRun<'_>) -> Vec<String> {
    match why {
        AdmissionRefusal::NotFound => [named("registry"), tool_row(ran)].concat(),
        AdmissionRefusal::KeyLength | AdmissionRefusal::KeyReused | AdmissionRefusal::KeyInFlight => named("dedupe"),
        AdmissionRefusal::Unsettled => [tool_row(ran), named("dedupe")].concat(),
        AdmissionRefusal::Schema | AdmissionRefusal::KeyMissing => tool_row(ran),
        AdmissionRefusal::BudgetExceeded => named("budget"),
        AdmissionRefusal::QueueFull => named("permits"),
        AdmissionRefusal::CircuitOpen => breaker_row(ran),
        AdmissionRefusal::UnknownAction
        | AdmissionRefusal::InvalidTransition
        | AdmissionRefusal::ValidationFailed
        | AdmissionRefusal::RolledBack => Vec::new(),
    }
}

/// The rows of the limit that ended the call; those of a verdict are found by the verdict.
fn stop_rows(stop: StopReason, ran: CallRun<'_>, at: usize) -> Vec<String> {
    let limit = |kind: LimitKind| vec![format!("limit {}", kind.as_str())];
    match stop {
        StopReason::MaxAttempts => limit(LimitKind::MaxAttempts),
        StopReason::Deadline => limit(LimitKind::Deadline),
        StopReason::CallTimeout => limit(LimitKind::CallTimeout),
        StopReason::Budget => named("budget"),
        StopReason::CircuitOpen => breaker_row(ran),
        StopReason::RetryBudget => retry_budget_row(ran, at),
        StopReason::ToldNotTo => named("server_delay_sources"),
        StopReason::MaxRetries
        | StopReason::MaxWait
        | StopReason::MaxRefreshes
        | StopReason::RefreshFailed
        | StopReason::ReversalRefused => Vec::new(),
    }
}

fn named(row: &str) -> Vec<String> {
    vec![row.to_owned()]
}

/// The action at which the run is after a refused call; none: it has not begun.
fn position<'a>(ran: CallRun<'a>) -> Option<&'a str> {
    let position = ran.record.valid_next.first()?.as_ref()?.position?;
    Some(ran.plan.names.action(position))
}

/// The row of the tool's breaker: that of its server, else the default one.
fn breaker_row(ran: CallRun<'_>) -> Vec<String> {
    let CallRun { plan, tool, .. } = ran;
    let breaker = plan.playbook.breaker_id(plan.server(tool));
    let breaker = breaker.and_then(|id| plan.playbook.breakers.get(id.index()));
    breaker.map(|(server, _)| format!("breaker {server}")).into_iter().collect()
}

/// The row of the retry budget from which the last verdict before the difference pays.
fn retry_budget_row(ran: CallRun<'_>, at: usize) -> Vec<String> {
    let playbook = &ran.plan.playbook;
    let before = ran.events().get(..at).unwrap_or_default();
    let budget = before.iter().rev().find_map(|event| match event.what {
        Decision::FailureClassified { verdict, .. } => Some(playbook.verdict(verdict).then.retry()?.retry_budget),
        _ => None,
    });
    let budget = budget.flatten().and_then(|id| playbook.retry_budgets.get(id.index()));
    budget.map(|(name, _)| format!("retry_budget {name}")).into_iter().collect()
}

/// The row of the playbook that supplies facts of the tool.
fn tool_row(ran: CallRun<'_>) -> Vec<String> {
    let row = ran.plan.tool_row(ran.tool).and_then(|place| ran.plan.playbook.tools.rows().get(place));
    row.map(|row| format!("tool {}", row.pattern)).into_iter().collect()
}

/// The switch of the guard that stopped only one side.
fn guard(base: Option<Decision>, candidate: Option<Decision>) -> Option<&'static str> {
    let spoke = |what: Decision| match what {
        Decision::EvidenceRefreshed { .. } => Some((GuardKind::Retry, false)),
        what => what.guard(),
    };
    match (spoke(base?)?, spoke(candidate?)?) {
        ((mine, stops), (theirs, passes)) if mine == theirs && stops != passes => Some(match mine {
            GuardKind::Retry => "study retry_guard",
            GuardKind::Token => "study token_guard",
        }),
        _ => None,
    }
}

/// The row of the last verdict before the difference whose row differs.
fn verdict_row(pairing: &Pairing, base: CallRun<'_>, at: usize) -> Option<usize> {
    let before = base.events().get(..at).unwrap_or_default();
    before.iter().rev().find_map(|event| match event.what {
        Decision::FailureClassified { verdict, .. } => pairing.verdict_row(verdict),
        _ => None,
    })
}

/// The only row that differs, or another one that can change a decision.
fn elsewhere(pairing: &Pairing) -> Option<usize> {
    let only = (pairing.rows.len() == 1).then_some(0);
    let limit = || LimitKind::ALL.into_iter().find_map(|kind| pairing.row(&format!("limit {}", kind.as_str())));
    only.or_else(|| pairing.study_row()).or_else(limit).or_else(|| pairing.row("default_queue"))
}
