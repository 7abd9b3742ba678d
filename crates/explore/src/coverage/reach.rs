//! The targets that no fixture can exercise, and why. Lists only what the playbook alone makes certain.

use super::probes::sharing::MOST_CALLS;
use super::target::{Cell, CircuitStep, Target};
use playproof_engine::event::{AdmissionRefusal, GuardKind, OutcomeWord, StopReason, WishFaults};
use playproof_engine::ids::{ActionId, BreakerId, QueueId, VerdictId};
use playproof_engine::playbook::{
    AfterRefresh, BreakerMark, Compensation, ConditionKind, GuardMode, NumberRange, OverMax, Playbook, Refresh, Retry,
    Reversal, Rule, ServerDelay, ServerDelayMode, Sharing, Terminal, UnsafePolicy,
};
use playproof_formats::playbook::Loaded;
use playproof_formats::playbook::lint::{lint, reachable_actions, silent_rules, why_never_unsafe};

/// Static facts of a playbook.
pub(super) struct Reach<'a> {
    loaded: &'a Loaded,
    /// By `RuleId`: why it never matches.
    silent: Vec<Option<String>>,
    live: Vec<bool>,
    /// By `VerdictId`: why the retry guard never stops its compensation.
    never_unsafe: Vec<Option<&'static str>>,
    /// By `VerdictId`: why it is never given.
    ungiven: Vec<Option<String>>,
    /// By `ActionId`: whether a run can reach it; empty without a graph.
    reachable: Vec<bool>,
}

type Why = Option<String>;

fn because(why: &str) -> Why {
    Some(why.to_owned())
}

impl<'a> Reach<'a> {
    pub fn new(loaded: &'a Loaded) -> Reach<'a> {
        let silent = silent_rules(loaded);
        let live: Vec<bool> = silent.iter().map(Option::is_none).collect();
        let playbook = &loaded.playbook;
        let given = |id: VerdictId| {
            playbook.otherwise == id || playbook.rules.iter().zip(&live).any(|(rule, live)| *live && rule.verdict == id)
        };
        let verdicts = (0..).map(VerdictId).take(playbook.verdicts.len());
        let ungiven = verdicts.map(|id| (!given(id)).then(|| "no rule that can match gives it".to_owned())).collect();
        let reachable = playbook.graph.as_ref().map(reachable_actions).unwrap_or_default();
        let never_unsafe = why_never_unsafe(playbook, &live);
        Reach { loaded, silent, live, never_unsafe, ungiven, reachable }
    }

    /// Why the target can never be reached; none if it may be.
    pub fn why_not(&self, target: Target) -> Why {
        match target {
            Target::Rule(id) => self.silent.get(id.index()).cloned().flatten(),
            Target::Otherwise => None,
            Target::Verdict(id) => self.ungiven(id),
            Target::Told(id) => self.ungiven(id),
            Target::Compensation(id) => self.ungiven(id).or_else(|| self.not_carried_out(id)),
            Target::Guard { verdict, guard, stops } => {
                self.ungiven(verdict).or_else(|| self.guard(verdict, guard, stops))
            }
            Target::Outcome(outcome) => self.outcome(outcome),
            Target::Refusal(why) => self.refusal(why),
            Target::Stop(stop) => self.stop(stop),
            Target::Circuit(id, step) => self.circuit(id, step),
            Target::Queue(id) => self.queue(id),
            Target::Tool(row) => self.tool(row),
            Target::Edge { from, .. } => self.edge(from),
            Target::Step(action, _) => self.edge(Some(action)),
            Target::Cell(cell) => self.ungiven(cell.verdict).or_else(|| self.cell(cell)),
        }
    }

    fn playbook(&self) -> &'a Playbook {
        &self.loaded.playbook
    }

    fn ungiven(&self, id: VerdictId) -> Why {
        self.ungiven.get(id.index()).cloned().flatten()
    }

    /// The verdicts that can be given, with their compensations.
    fn given(&self) -> impl Iterator<Item = (VerdictId, &'a Compensation)> {
        let verdicts = (0..).map(VerdictId).zip(&self.playbook().verdicts);
        verdicts.filter(|(id, _)| self.ungiven(*id).is_none()).map(|(id, verdict)| (id, &verdict.then))
    }

    fn retries(&self) -> impl Iterator<Item = &'a Retry> {
        self.given().filter_map(|(_, then)| then.retry())
    }

    fn refreshes(&self) -> impl Iterator<Item = &'a Refresh> {
        self.given().filter_map(|(_, then)| match then {
            Compensation::RefreshEvidence(refresh) => Some(refresh),
            _ => None,
        })
    }

    /// The compensations that stand in where the retry guard can stop.
    fn stand_ins(&self) -> impl Iterator<Item = (VerdictId, UnsafePolicy)> {
        self.given().filter_map(|(id, then)| {
            let stand_in = match then {
                Compensation::RetryWithBackoff(retry) => retry.on_unsafe,
                Compensation::RefreshEvidence(refresh) if refresh.then == AfterRefresh::Retry => refresh.on_unsafe,
                _ => return None,
            };
            self.never_stops(id).is_none().then_some((id, stand_in))
        })
    }

    fn reversals(&self) -> impl Iterator<Item = Reversal> {
        let own = self.given().filter_map(|(_, then)| match then {
            Compensation::IssueReversal(reversal) => Some(*reversal),
            _ => None,
        });
        own.chain(self.stand_ins().filter_map(|(_, stand_in)| match stand_in {
            UnsafePolicy::Reverse(reversal) => Some(reversal),
            UnsafePolicy::End(_) => None,
        }))
    }

    /// Everything that can end a call without a request to the upstream.
    fn finals(&self) -> Vec<Terminal> {
        let own = self.given().filter_map(|(_, then)| match then {
            Compensation::EscalateToHuman(queue) => Some(Terminal::Escalate(*queue)),
            Compensation::DeprecateToolCall(reason) => Some(Terminal::Deprecate(*reason)),
            _ => None,
        });
        let stand_ins = self.stand_ins().filter_map(|(_, stand_in)| match stand_in {
            UnsafePolicy::End(end) => Some(end),
            UnsafePolicy::Reverse(_) => None,
        });
        let refused = self.reversals().map(|reversal| reversal.on_refused).filter(|_| !self.refusal_exhausts());
        own.chain(stand_ins).chain(refused).collect()
    }

    fn refusal_exhausts(&self) -> bool {
        self.playbook().study.as_ref().is_some_and(|study| study.refused_reversal_exhausts)
    }

    /// Why the retry guard never stops this verdict's compensation.
    fn never_stops(&self, id: VerdictId) -> Option<&'static str> {
        self.never_unsafe.get(id.index()).copied().flatten()
    }

    fn not_carried_out(&self, id: VerdictId) -> Why {
        match &self.playbook().verdict(id).then {
            Compensation::RetryWithBackoff(_) if self.playbook().limits.max_attempts == 1 => because(ONE_ATTEMPT),
            Compensation::RefreshEvidence(_) if self.playbook().limits.max_attempts == 1 => because(ONE_ATTEMPT),
            _ => None,
        }
    }

    fn guard(&self, id: VerdictId, guard: GuardKind, stops: bool) -> Why {
        let off = |guard: GuardMode| (guard == GuardMode::Off && stops).then(|| "the guard is off".to_owned());
        match guard {
            GuardKind::Retry if stops => self.never_stops(id).map(str::to_owned),
            GuardKind::Retry => None,
            GuardKind::Token => {
                let stands_in = !matches!(self.playbook().verdict(id).then, Compensation::IssueReversal(_));
                let why = self.never_stops(id).filter(|_| stands_in);
                why.map(|why| format!("it stands in for a retry, and {why}"))
                    .or_else(|| off(self.playbook().token_guard()))
            }
        }
    }

    fn sends_nothing_again(&self) -> Why {
        if self.playbook().limits.max_attempts == 1 {
            return because(ONE_ATTEMPT);
        }
        (!self.given().any(|(_, then)| then.sends_again())).then(|| "nothing sends a call again".to_owned())
    }

    fn outcome(&self, outcome: OutcomeWord) -> Why {
        let none = |is: bool, why: &str| (!is).then(|| why.to_owned());
        match outcome {
            OutcomeWord::SucceededAfterCompensation => self.sends_nothing_again(),
            OutcomeWord::Deprecated => {
                let futile = self.playbook().study.as_ref().is_some_and(|study| study.futile_refresh_deprecates);
                let aborts = self.refreshes().any(|refresh| refresh.then == AfterRefresh::Abort || futile);
                let gives_up = self.finals().iter().any(|end| matches!(end, Terminal::Deprecate(_)));
                none(aborts || gives_up, "nothing deprecates a call")
            }
            OutcomeWord::Escalated => {
                let escalates = self.finals().iter().any(|end| matches!(end, Terminal::Escalate(_)));
                none(escalates, "nothing escalates a call")
            }
            OutcomeWord::Reversed => none(self.reversals().next().is_some(), "nothing issues a reversal"),
            OutcomeWord::Exhausted => {
                let bounded = self.retries().next().is_some() || self.refreshes().next().is_some();
                let refused = self.refusal_exhausts() && self.reversals().next().is_some();
                none(bounded || refused, "nothing retries, refreshes or reverses within a limit")
            }
            OutcomeWord::Refused => None, // only listed where something refuses,
            // Only listed where the playbook makes them possible.
            OutcomeWord::Joined | OutcomeWord::Cached | OutcomeWord::Skipped | OutcomeWord::Cancelled => None,
            OutcomeWord::Succeeded | OutcomeWord::Undetermined => None,
        }
    }

    /// Probes and fixtures that people read have few calls.
    fn refusal(&self, why: AdmissionRefusal) -> Why {
        let Sharing { budget, permits, .. } = self.playbook().sharing;
        let needed = match why {
            AdmissionRefusal::BudgetExceeded => budget.map_or(0, |budget| budget.tool_calls),
            AdmissionRefusal::QueueFull => {
                permits.map_or(0, |permits| permits.max_in_flight.saturating_add(permits.queue))
            }
            _ => 0,
        };
        (needed >= MOST_CALLS).then(|| format!("it takes more than {needed} calls"))
    }

    fn stop(&self, stop: StopReason) -> Why {
        let limits = self.playbook().limits;
        let none = |is: bool, why: &str| (!is).then(|| why.to_owned());
        let resends = self.given().any(|(_, then)| then.sends_again());
        let bounded = self.retries().next().is_some() || self.refreshes().next().is_some();
        match stop {
            StopReason::ToldNotTo => {
                let stops = self.retries().any(|retry| retry.server_delay.stops_at != WishFaults::default());
                let is_read = !self.playbook().server_delay_sources.is_empty();
                none(stops && is_read, "no retry stops at what the upstream says in a header")
            }
            StopReason::MaxRetries => {
                // The verdict's own limit is checked first, but a call with N attempts has had at most N - 1 retries.
                let fits = self.retries().any(|retry| retry.max_retries < limits.max_attempts);
                none(fits, "every verdict allows at least as many retries as `limits.max_attempts`")
            }
            StopReason::MaxAttempts => {
                let retries = self.retries().fold(0, |sum: u32, retry| sum.saturating_add(retry.max_retries));
                let refreshes = self.refreshes().map(|refresh| refresh.max_refreshes).max().unwrap_or(0);
                let most = retries.saturating_add(refreshes).saturating_add(1);
                let why = "all retries and refreshes together stay within `limits.max_attempts`";
                none(most > limits.max_attempts && bounded, why)
            }
            StopReason::Deadline => none(limits.deadline.is_some(), "there is no deadline")
                .or_else(|| none(bounded, "nothing is sent after the first attempt")),
            StopReason::CallTimeout => none(limits.call_timeout.is_some(), "there is no `call_timeout_ms`")
                .or_else(|| none(bounded, "nothing is sent after the first attempt")),
            StopReason::MaxWait => {
                let stops = |delay: &ServerDelay| {
                    delay.mode != ServerDelayMode::Ignore && delay.max.is_some() && delay.over_max == OverMax::Stop
                };
                let waits = self.retries().any(|retry| stops(&retry.server_delay));
                none(waits, "no retry stops at a wish that is too long")
            }
            StopReason::MaxRefreshes => {
                let futile = self.playbook().study.as_ref().is_some_and(|study| study.futile_refresh_deprecates);
                let again = self.refreshes().any(|refresh| {
                    refresh.then == AfterRefresh::Retry && resends && refresh.max_refreshes < limits.max_attempts
                });
                none(again && !futile, "no call can need more refreshes than `max_refreshes`")
            }
            StopReason::RefreshFailed => none(self.refreshes().next().is_some(), "nothing refreshes evidence"),
            StopReason::Budget => none(bounded, "nothing is sent after the first attempt")
                .or_else(|| self.refusal(AdmissionRefusal::BudgetExceeded)),
            StopReason::CircuitOpen | StopReason::RetryBudget => None, // only listed where a playbook has them
            StopReason::ReversalRefused => {
                let refused = self.refusal_exhausts() && self.reversals().next().is_some();
                none(refused, "a refused reversal goes on to `on_refused`")
            }
        }
    }

    /// A breaker that never opens makes no transition at all.
    fn circuit(&self, id: BreakerId, step: CircuitStep) -> Why {
        let rules = self.playbook().breaker_rules(id);
        let verdicts = self.given().map(|(id, _)| self.playbook().verdict(id));
        let marks_failures = verdicts.into_iter().any(|verdict| verdict.breaker == BreakerMark::Failure);
        if !marks_failures && rules.opens_at.slow.is_none() {
            return because("no verdict is a failure of its server");
        }
        let needed = rules.min_calls.max(rules.opens_at.failure_count.unwrap_or_default());
        (needed >= MOST_CALLS && step == CircuitStep::Opens).then(|| format!("it takes more than {needed} calls"))
    }

    fn queue(&self, id: QueueId) -> Why {
        let stuck = self.playbook().graph.as_ref().and_then(|graph| graph.stuck);
        let used = self.finals().contains(&Terminal::Escalate(id)) || stuck.is_some_and(|stuck| stuck.queue == id);
        (!used).then(|| "nothing that can happen escalates to it".to_owned())
    }

    fn edge(&self, from: Option<ActionId>) -> Why {
        let is_unreachable = self.reachable.get(from?.index()) == Some(&false);
        is_unreachable.then(|| "no run can reach the action before it".to_owned())
    }

    fn tool(&self, row: usize) -> Why {
        let place = self.loaded.places.tool(row)?;
        let shadowed = lint(self.loaded)
            .into_iter()
            .find(|found| found.id == "shadowed_tool" && found.labels.first().is_some_and(|label| label.span == place));
        shadowed.map(|found| found.message)
    }

    fn cell(&self, cell: Cell) -> Why {
        if cell.later
            && let Some(why) = self.sends_nothing_again()
        {
            return Some(why);
        }
        if self.playbook().otherwise == cell.verdict {
            return None;
        }
        let mut rules =
            self.playbook().rules.iter().zip(&self.live).filter(|(rule, live)| **live && rule.verdict == cell.verdict);
        let matches = rules.any(|(rule, _)| can_match(rule, cell));
        (!matches).then(|| "none of its rules matches such a call".to_owned())
    }
}

const ONE_ATTEMPT: &str = "a call has one attempt";

/// Whether a rule can match a failure in this cell, by its conditions on the call.
fn can_match(rule: &Rule, cell: Cell) -> bool {
    let when = &rule.when;
    let attempts = when.ranges(ConditionKind::Attempt);
    let attempt = |range: &NumberRange| match cell.later {
        true => range.last > 1,
        false => range.first == 1,
    };
    when.access().is_none_or(|access| access == cell.access)
        && when.is(ConditionKind::Keyed).is_none_or(|keyed| keyed == cell.keyed)
        && (attempts.is_empty() || attempts.iter().any(attempt))
}
