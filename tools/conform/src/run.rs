//! Runs a case: its policy as a playbook, its steps on the engine's own modules.

use super::case::{Case, CaseFile, CaseKind};
use super::result::{CaseOutcome, CaseResult};
use super::unmet::Unmet;
use super::{backoff, breaker, budget, classify, dedupe, retry, write};

/// Runs every case of a file.
pub fn run_cases(file: &CaseFile) -> Vec<CaseOutcome> {
    let outcome = |case: &Case| {
        let (result, why) = match run_case(case) {
            Ok(()) => (CaseResult::Passed, None),
            Err(unmet) => (unmet.result, Some(unmet.why)),
        };
        CaseOutcome { suite: file.suite.clone(), id: case.id.clone(), kind: case.kind, result, why }
    };
    file.cases.iter().map(outcome).collect()
}

/// The playbook of a case, as text.
///
/// # Errors
/// What a playbook cannot say.
pub fn playbook_of(case: &Case) -> Result<String, String> {
    if NOT_RUN.contains(&case.kind) {
        return Err(not_run(case.kind).why);
    }
    write::playbook_text(case).map_err(|unmet| unmet.why)
}

/// The kinds that nothing here runs: they never pass.
const NOT_RUN: [CaseKind; 4] =
    [CaseKind::Hedge, CaseKind::RateLimiter, CaseKind::ThrottleProbability, CaseKind::Validate];

fn not_run(kind: CaseKind) -> Unmet {
    Unmet::unsupported(format!("cases of kind `{}` are not run", kind.as_str()))
}

fn run_case(case: &Case) -> Result<(), Unmet> {
    match case.kind {
        CaseKind::Retry => retry::run(case),
        CaseKind::Backoff => backoff::run(case),
        CaseKind::Budget => budget::run(case),
        CaseKind::Breaker | CaseKind::Window => breaker::run(case),
        CaseKind::Dedupe => dedupe::run(case),
        CaseKind::Classify => classify::run(case),
        CaseKind::ServerDelayParse => classify::run_headers(case),
        CaseKind::Hedge | CaseKind::RateLimiter | CaseKind::ThrottleProbability | CaseKind::Validate => {
            Err(not_run(case.kind))
        }
    }
}
