//! A small playbook for tests of the engine: one verdict for each compensation, and one rule for each by error kind.

use super::{
    AfterRefresh, Backoff, BreakerMark, Compensation, ConditionKind, ConditionTest, Dedupe, InFlightKey, Limits,
    Playbook, Refresh, Retry, Reversal, Rule, ServerDelay, Sharing, Terminal, Tools, UnsafePolicy, Verdict, When,
};
use crate::event::EffectClaim;
use crate::ids::{QueueId, ReasonId, VerdictId};
use crate::time::Duration;

pub(crate) const HUMAN: Terminal = Terminal::Escalate(QueueId(0));

pub(crate) const TIMEOUT: u16 = 0;
pub(crate) const STALE: u16 = 1;
pub(crate) const DENIED: u16 = 2;
pub(crate) const TAKE_BACK: u16 = 3;

/// A minute, and otherwise the defaults of the format.
pub(crate) const DEDUPE: Dedupe = Dedupe {
    window: Duration::from_millis(60_000),
    in_flight: InFlightKey::Join,
    min_key_len: 1,
    max_key_len: 255,
    most_keys: 100_000,
    takeover: None,
};

pub(crate) fn playbook() -> Playbook {
    let verdict = |name: &str, effect, then| {
        let breaker = BreakerMark::Ignored;
        Verdict { name: name.into(), means: "".into(), effect, breaker, then, tell: None }
    };
    let retry = Retry {
        backoff: Backoff::Listed(vec![Duration::from_millis(200), Duration::from_millis(600)]),
        max_retries: 2,
        server_delay: ServerDelay::IGNORED,
        retry_budget: None,
        cost: None,
        uncounted: false,
        on_unsafe: UnsafePolicy::End(HUMAN),
    };
    let refresh = Refresh { then: AfterRefresh::Retry, max_refreshes: 1, on_unsafe: UnsafePolicy::End(HUMAN) };
    let reversal = Reversal { reason: ReasonId(0), on_refused: HUMAN };
    let rule = |name: &str, verdict| Rule {
        name: name.into(),
        when: When::default().with(ConditionKind::Kind, ConditionTest::AnyOf(vec![name.to_owned()])),
        verdict: VerdictId(verdict),
    };
    let rules = [("timeout", TIMEOUT), ("stale", STALE), ("take_back", TAKE_BACK)];
    Playbook {
        name: "test".into(),
        verdicts: vec![
            verdict("timeout", EffectClaim::Unknown, Compensation::RetryWithBackoff(retry)),
            verdict("stale", EffectClaim::NotApplied, Compensation::RefreshEvidence(refresh)),
            verdict("denied", EffectClaim::NotApplied, Compensation::EscalateToHuman(QueueId(0))),
            verdict("take_back", EffectClaim::Applied, Compensation::IssueReversal(reversal)),
        ],
        rules: rules.into_iter().map(|(name, verdict)| rule(name, verdict)).collect(),
        otherwise: VerdictId(DENIED),
        default_queue: Some(QueueId(0)),
        queues: vec!["q".into()],
        reasons: vec!["r".into()],
        tools: Tools::default(),
        refuses_unknown_tools: false,
        actions: Vec::new(),
        graph: None,
        sharing: Sharing::NONE,
        breakers: Vec::new(),
        retry_budgets: Vec::new(),
        server_delay_sources: Vec::new(),
        extends: None,
        limits: Limits { max_attempts: 6, deadline: Some(Duration::from_millis(60_000)), ..Limits::NONE },
        study: None,
    }
}
