//! A validated playbook: names are resolved to ids, units applied, and each verdict has one compensation. Only `lower`
//! makes one. Holds no places and no compiled regexes.

use std::sync::Arc;

use super::breaker::{BreakerMark, BreakerRules};
use super::facts::Tools;
use super::graph::{Action, Graph, Step};
use super::retry_budget::{RetryBudget, Tokens};
use super::sharing::Sharing;
use super::tell::Tell;
use super::terminal::Terminal;
use super::waiting::{Backoff, DelaySource, ElapsedRule, ServerDelay};
use super::when::{ConditionKind, When};
use crate::event::{CompensationWord, EffectClaim, KeyHistory, PlaybookNames};
use crate::ids::{ActionId, BreakerId, QueueId, ReasonId, RetryBudgetId, RuleId, VerdictId};
use crate::time::Duration;
use crate::words;

/// The reserved verdict of failures that no rule matches.
pub const UNCLASSIFIED: &str = "unclassified";

/// The name of the breaker of servers without one of their own.
pub const DEFAULT_BREAKER: &str = "default";

/// Verdicts, rules, compensations, tool facts and limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Playbook {
    /// Its own name.
    pub name: Arc<str>,
    /// In the order of the file; `unclassified` is appended if the file does not declare it.
    pub verdicts: Vec<Verdict>,
    /// In the order of the file: the first that matches decides.
    pub rules: Vec<Rule>,
    /// The verdict of failures that no rule matches.
    pub otherwise: VerdictId,
    /// The queue to which guards escalate by default; none if nothing needs one.
    pub default_queue: Option<QueueId>,
    /// The declared queues.
    pub queues: Vec<Arc<str>>,
    /// The texts of every `reason`.
    pub reasons: Vec<Arc<str>>,
    /// The tool facts.
    pub tools: Tools,
    /// `registry: { unknown_tools: refuse }`: a call of a tool without a row of tool facts is refused.
    pub refuses_unknown_tools: bool,
    /// What an agent can do, in the order of the file.
    pub actions: Vec<Action>,
    /// Which action may follow which; none: nothing is ordered.
    pub graph: Option<Graph>,
    /// What the calls of one dispatcher share.
    pub sharing: Sharing,
    /// The breakers by server; `default` is for servers without one of their own.
    pub breakers: Vec<(Arc<str>, BreakerRules)>,
    /// What identifies the rows that it takes over of another playbook. Decides nothing.
    pub extends: Option<Box<str>>,
    /// The retry budgets by name.
    pub retry_budgets: Vec<(Arc<str>, RetryBudget)>,
    /// The headers that say how long to wait, in the order in which they are read; empty: the adapter's reading counts.
    pub server_delay_sources: Vec<DelaySource>,
    /// The limits of every call.
    pub limits: Limits,
    /// The unsafe switches; `None` for a playbook for use.
    pub study: Option<Study>,
}

impl Playbook {
    /// The verdict behind an id of this playbook.
    pub fn verdict(&self, id: VerdictId) -> &Verdict {
        &self.verdicts[id.index()] // `lower` gives out ids for this table
    }

    /// The rule behind an id of this playbook.
    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id.index()] // as above
    }

    /// The action with this name.
    pub fn action_named(&self, name: &str) -> Option<&Action> {
        self.actions.iter().find(|action| *action.name == *name)
    }

    /// The action whose body is `tool`.
    pub fn action_of(&self, tool: &str) -> Option<(ActionId, &Action)> {
        let mut actions = (0..).map(ActionId).zip(&self.actions); // fewer than 65,536 names are declared
        actions.find(|(_, action)| *action.tool == *tool)
    }

    /// What a failure claims by its verdict and rule. `own` is the claim of the requests of the same call before, if there
    /// were any: it counts where the rule speaks of the key, which is where it asks for one.
    pub fn claimed(
        &self,
        (verdict, rule): (VerdictId, Option<RuleId>),
        key: KeyHistory,
        own: Option<EffectClaim>,
    ) -> EffectClaim {
        let speaks_of_key = |rule| self.rule(rule).when.is(ConditionKind::Keyed) == Some(true);
        key.weigh(self.verdict(verdict).effect, own.filter(|_| rule.is_some_and(speaks_of_key)))
    }

    /// The id of a server's breaker: its own, else the default one.
    pub fn breaker_id(&self, server: &str) -> Option<BreakerId> {
        let of = |wanted: &str| self.breakers.iter().position(|(name, _)| **name == *wanted);
        let place = of(server).or_else(|| of(DEFAULT_BREAKER))?;
        u16::try_from(place).ok().map(BreakerId)
    }

    /// The rules behind an id of this playbook.
    pub fn breaker_rules(&self, id: BreakerId) -> &BreakerRules {
        &self.breakers[id.index()].1 // as above
    }

    /// Whether the calls of one dispatcher share something beside their reversal tokens.
    pub fn shares_state(&self) -> bool {
        self.sharing.is_any()
            || !self.breakers.is_empty()
            || !self.retry_budgets.is_empty()
            || self.graph.is_some()
            || self.has_steps()
    }

    /// Whether some action has steps.
    pub fn has_steps(&self) -> bool {
        self.actions.iter().any(|action| !action.steps.is_empty())
    }

    /// The retry budget behind an id of this playbook.
    pub fn retry_budget(&self, id: RetryBudgetId) -> &RetryBudget {
        &self.retry_budgets[id.index()].1 // as above
    }

    /// Whether only the first failure of a call decides (a study switch).
    pub fn obeys_first_failure_only(&self) -> bool {
        self.studies(|study| study.first_failure_only)
    }

    /// Whether a study switch is on.
    pub fn studies(&self, switch: impl FnOnce(&Study) -> bool) -> bool {
        self.study.as_ref().is_some_and(switch)
    }

    /// The mode of the retry guard.
    pub fn retry_guard(&self) -> GuardMode {
        self.study.as_ref().map_or(GuardMode::Checked, |study| study.retry_guard)
    }

    /// The mode of the token guard.
    pub fn token_guard(&self) -> GuardMode {
        self.study.as_ref().map_or(GuardMode::Checked, |study| study.token_guard)
    }

    /// The names behind this playbook's ids.
    pub fn names(&self) -> PlaybookNames {
        PlaybookNames {
            playbook: Arc::clone(&self.name),
            verdicts: self.verdicts.iter().map(|verdict| Arc::clone(&verdict.name)).collect(),
            rules: self.rules.iter().map(|rule| Arc::clone(&rule.name)).collect(),
            queues: self.queues.clone(),
            reasons: self.reasons.clone(),
            details: self.verdicts.iter().map(Verdict::details).collect(),
            actions: self.actions.iter().map(Action::names).collect(),
            steps: self.actions.iter().map(|action| names(&action.steps)).collect(),
        }
    }
}

fn names(steps: &[Step]) -> Vec<Arc<str>> {
    steps.iter().map(|step| Arc::clone(&step.name)).collect()
}

/// What a failure means, and its compensation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Its name.
    pub name: Arc<str>,
    /// For people.
    pub means: Arc<str>,
    /// The effect claim that such a failure proves.
    pub effect: EffectClaim,
    /// What such a failure says to the breaker of its server.
    pub breaker: BreakerMark,
    /// The one compensation.
    pub then: Compensation,
    /// What the agent is told; none: the error says it.
    pub tell: Option<Tell>,
}

impl Verdict {
    /// The details that it tells the agent.
    fn details(&self) -> Vec<(Arc<str>, Arc<str>)> {
        self.tell.as_ref().map(|tell| tell.details.clone()).unwrap_or_default()
    }
}

/// The closed set of next actions (DESIGN.md section 2, *Compensations*).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compensation {
    /// Wait, then send again with the same key.
    RetryWithBackoff(Retry),
    /// Take a new evidence snapshot first.
    RefreshEvidence(Refresh),
    /// Hand the call to people.
    EscalateToHuman(QueueId),
    /// Redeem the reversal token.
    IssueReversal(Reversal),
    /// Give up the local attempt; the planner reconciles against the upstream.
    DeprecateToolCall(ReasonId),
}

impl Compensation {
    /// The name of the compensation.
    pub const fn word(&self) -> CompensationWord {
        match self {
            Compensation::RetryWithBackoff(_) => CompensationWord::RetryWithBackoff,
            Compensation::RefreshEvidence(_) => CompensationWord::RefreshEvidence,
            Compensation::EscalateToHuman(_) => CompensationWord::EscalateToHuman,
            Compensation::IssueReversal(_) => CompensationWord::IssueReversal,
            Compensation::DeprecateToolCall(_) => CompensationWord::DeprecateToolCall,
        }
    }

    /// The word in files.
    pub const fn as_str(&self) -> &'static str {
        self.word().as_str()
    }

    /// The parameters of a retry, if it is one.
    pub const fn retry(&self) -> Option<&Retry> {
        match self {
            Compensation::RetryWithBackoff(retry) => Some(retry),
            _ => None,
        }
    }

    /// Whether it sends the call again, if its guard lets it pass.
    pub fn sends_again(&self) -> bool {
        match self {
            Compensation::RetryWithBackoff(_) => true,
            Compensation::RefreshEvidence(refresh) => refresh.then == AfterRefresh::Retry,
            _ => false,
        }
    }
}

/// The parameters of `retry_with_backoff`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The playbook's own waits.
    pub backoff: Backoff,
    /// Retries (not attempts) that this verdict may schedule for one call, from 1.
    pub max_retries: u32,
    /// What the upstream's wish to wait changes.
    pub server_delay: ServerDelay,
    /// The budget that pays for its retries.
    pub retry_budget: Option<RetryBudgetId>,
    /// What a retry takes from it; none: what the budget says.
    pub cost: Option<Tokens>,
    /// The request never left the client: its retry is no attempt and costs nothing.
    pub uncounted: bool,
    /// What runs if the retry guard stops the retry.
    pub on_unsafe: UnsafePolicy,
}

impl Retry {
    /// Whether a wait may depend on a draw.
    pub const fn is_drawn(&self) -> bool {
        self.backoff.is_drawn() || self.server_delay.mode.is_drawn()
    }
}

/// The parameters of `refresh_evidence`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refresh {
    /// What follows a successful refresh.
    pub then: AfterRefresh,
    /// Refreshes that one call may take, from 1.
    pub max_refreshes: u32,
    /// What runs if the retry guard stops the retry.
    pub on_unsafe: UnsafePolicy,
}

/// What follows a successful refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AfterRefresh {
    /// Send again, with the new evidence.
    Retry,
    /// Give the call up.
    Abort,
}

/// The parameters of `issue_reversal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reversal {
    /// Why the effect is reversed.
    pub reason: ReasonId,
    /// What runs if the token guard or the upstream refuses.
    pub on_refused: Terminal,
}

/// What runs instead of a suppressed retry; never another retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsafePolicy {
    /// End the call.
    End(Terminal),
    /// Reverse the effect.
    Reverse(Reversal),
}

/// One named line of the classifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub name: Arc<str>,
    /// All that must hold.
    pub when: When,
    /// The verdict it gives.
    pub verdict: VerdictId,
}

words! {
    /// The limits of a playbook, by their keys.
    pub enum LimitKind {
        /// Attempts of one call.
        MaxAttempts = "max_attempts",
        /// The time in which attempts may start.
        Deadline = "deadline_ms",
        /// The time in which the call ends.
        CallTimeout = "call_timeout_ms",
        /// What the deadline bounds.
        Elapsed = "elapsed",
    }
}

/// The limits of every call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Attempts of one call, from 1.
    pub max_attempts: u32,
    /// The time from the call's start in which attempts may start; none: no limit.
    pub deadline: Option<Duration>,
    /// The time from the call's start in which its last attempt ends; none: no limit. It cuts the attempt's timeout.
    pub call_timeout: Option<Duration>,
    /// What `deadline` bounds.
    pub elapsed: ElapsedRule,
}

/// The value of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitValue {
    /// A number.
    Count(u32),
    /// A span of time.
    Span(Duration),
    /// What `deadline` bounds.
    Elapsed(ElapsedRule),
}

impl Limits {
    /// One attempt, and no other limit.
    pub const NONE: Limits =
        Limits { max_attempts: 1, deadline: None, call_timeout: None, elapsed: ElapsedRule::NextStart };

    /// The value of a limit. None: there is no such limit, or it has its default.
    pub fn value(&self, kind: LimitKind) -> Option<LimitValue> {
        match kind {
            LimitKind::MaxAttempts => Some(LimitValue::Count(self.max_attempts)),
            LimitKind::Deadline => self.deadline.map(LimitValue::Span),
            LimitKind::CallTimeout => self.call_timeout.map(LimitValue::Span),
            LimitKind::Elapsed => {
                Some(self.elapsed).filter(|elapsed| *elapsed != ElapsedRule::NextStart).map(LimitValue::Elapsed)
            }
        }
    }
}

/// The mode of a guard. Only a study playbook, or the counterfactual run of `explain`, has another one than `Checked`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardMode {
    /// It decides by the facts.
    Checked,
    /// It always passes.
    Off,
    /// It always stops.
    Stops,
}

/// The unsafe switches of a study playbook, which is not for use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Study {
    /// Why the playbook exists.
    pub why: Arc<str>,
    /// `reclassify: first_failure`: later failures are classified and shown, but not obeyed.
    pub first_failure_only: bool,
    /// `retry_guard: off`.
    pub retry_guard: GuardMode,
    /// `token_guard: off`.
    pub token_guard: GuardMode,
    /// `refused_reversal: exhausted`: a refused reversal ends the call without an escalation.
    pub refused_reversal_exhausts: bool,
    /// `futile_refresh: deprecated`: a call is given up if its last allowed refresh did not help.
    pub futile_refresh_deprecates: bool,
    /// `failed_refresh: resent`: a refresh that fails is ignored, and the call is sent again.
    pub resends_after_failed_refresh: bool,
    /// `stale_evidence: resent`: the retry after a refresh carries the evidence that was refused.
    pub resends_stale_evidence: bool,
    /// `final_error: first`: the outcome carries the first error only.
    pub final_error_first: bool,
    /// `dedupe: after_permit`: a key is looked up when its call is made, and registered when its first attempt starts.
    pub registers_key_late: bool,
    /// `cache: ignores_arguments`: a key is bound to no request.
    pub cache_ignores_arguments: bool,
    /// `permit: held_in_backoff`: a call keeps its permit until it ends.
    pub holds_permit_in_backoff: bool,
    /// `client_keys: true`: the client makes a key for each write of a fixture that has none.
    pub makes_keys: bool,
}

impl Study {
    /// The block with every switch off.
    pub fn safe(why: &str) -> Study {
        Study {
            why: why.into(),
            first_failure_only: false,
            retry_guard: GuardMode::Checked,
            token_guard: GuardMode::Checked,
            refused_reversal_exhausts: false,
            futile_refresh_deprecates: false,
            resends_after_failed_refresh: false,
            resends_stale_evidence: false,
            final_error_first: false,
            registers_key_late: false,
            cache_ignores_arguments: false,
            holds_permit_in_backoff: false,
            makes_keys: false,
        }
    }
}
