//! Verdicts: another effect claim, another compensation, and every parameter of the one there is.

use super::mutant::{Mutant, MutantRow};
use super::waits::{self, RetryMutant};
use super::{breakers, retry_budgets, tells};
use playproof_engine::event::EffectClaim;
use playproof_engine::ids::{QueueId, ReasonId, VerdictId};
use playproof_engine::playbook::{
    AfterRefresh, Backoff, Compensation, Playbook, Refresh, Retry, Reversal, ServerDelay, Terminal, UNCLASSIFIED,
    UnsafePolicy, Verdict,
};
use playproof_engine::time::Duration;

/// The reason of a compensation that a mutant brings in.
const REASON: &str = "a mutant gives it up";

pub(super) fn add(playbook: &Playbook, all: &mut Vec<Mutant>) {
    for (id, verdict) in (0..).map(VerdictId).zip(&playbook.verdicts) {
        let row = MutantRow::of_verdict(format!("verdict {}", verdict.name), id, all);
        let mut row = VerdictRow { row, n: id.index(), playbook };
        // The format keeps the effect and the compensation of the reserved verdict.
        if *verdict.name != *UNCLASSIFIED {
            row.effects(verdict);
            row.compensations(verdict);
        }
        row.marks(verdict);
        row.tells(verdict);
        row.parameters(&verdict.then);
    }
}

/// The mutants of one verdict.
struct VerdictRow<'a> {
    row: MutantRow<'a>,
    n: usize,
    playbook: &'a Playbook,
}

impl VerdictRow<'_> {
    fn add(&mut self, operation: String, what: String, edit: impl Fn(&mut Verdict) + Send + Sync + 'static) {
        let n = self.n;
        self.row.add(operation, what, move |playbook| playbook.verdicts.get_mut(n).into_iter().for_each(&edit));
    }

    fn effects(&mut self, verdict: &Verdict) {
        for other in [EffectClaim::Applied, EffectClaim::NotApplied, EffectClaim::Unknown] {
            if other != verdict.effect {
                let what = format!("`effect: {}` instead of `{}`", other.as_str(), verdict.effect.as_str());
                self.add(format!("effect-{}", other.as_str()), what, move |verdict| verdict.effect = other);
            }
        }
    }

    fn marks(&mut self, verdict: &Verdict) {
        for mark in breakers::marks(self.playbook, verdict) {
            let what = format!("`breaker: {}` instead of `{}`", mark.as_str(), verdict.breaker.as_str());
            self.add(format!("breaker-{}", mark.as_str()), what, move |verdict| verdict.breaker = mark);
        }
    }

    fn tells(&mut self, verdict: &Verdict) {
        for (operation, what, tell) in tells::of_verdict(verdict) {
            self.add(operation, what, move |verdict| verdict.tell.clone_from(&tell));
        }
    }

    fn compensations(&mut self, verdict: &Verdict) {
        for kind in 0..5 {
            let (mut probe, n) = (self.playbook.clone(), self.n);
            let other = brought_in(&mut probe, kind);
            if other.as_str() != verdict.then.as_str() {
                let what = format!("`{}` instead of `{}`", other.as_str(), verdict.then.as_str());
                self.row.add(format!("then-{}", other.as_str()), what, move |playbook| {
                    let other = brought_in(playbook, kind);
                    if let Some(verdict) = playbook.verdicts.get_mut(n) {
                        verdict.then = other;
                    }
                });
            }
        }
    }

    fn parameters(&mut self, then: &Compensation) {
        match then {
            Compensation::RetryWithBackoff(retry) => self.retry(retry),
            Compensation::RefreshEvidence(refresh) => self.refresh(refresh),
            Compensation::EscalateToHuman(queue) => self.queue(*queue),
            Compensation::IssueReversal(reversal) => self.on_refused(reversal.on_refused),
            Compensation::DeprecateToolCall(_) => {}
        }
    }

    fn retry(&mut self, retry: &Retry) {
        let follows = matches!(&retry.backoff, Backoff::Listed(list) if retry.max_retries as usize == list.len());
        self.retries(waits::of_backoff(&retry.backoff, follows));
        if !follows {
            self.counted("max_retries", retry.max_retries, |then, n| {
                if let Compensation::RetryWithBackoff(retry) = then {
                    retry.max_retries = n;
                }
            });
        }
        self.retries(waits::of_server_delay(retry.server_delay));
        self.retries(retry_budgets::of_payment(retry));
        self.on_unsafe(retry.on_unsafe);
    }

    fn retries(&mut self, mutants: Vec<RetryMutant>) {
        for RetryMutant { operation, what, edit } in mutants {
            self.add(operation, what, move |verdict| {
                if let Compensation::RetryWithBackoff(retry) = &mut verdict.then {
                    edit(retry);
                }
            });
        }
    }

    fn refresh(&mut self, refresh: &Refresh) {
        let (word, other) = match refresh.then {
            AfterRefresh::Retry => ("abort", AfterRefresh::Abort),
            AfterRefresh::Abort => ("retry", AfterRefresh::Retry),
        };
        self.add(format!("refresh-then-{word}"), format!("`then: {word}` after a refresh"), move |verdict| {
            if let Compensation::RefreshEvidence(refresh) = &mut verdict.then {
                refresh.then = other;
            }
        });
        self.counted("max_refreshes", refresh.max_refreshes, |then, n| {
            if let Compensation::RefreshEvidence(refresh) = then {
                refresh.max_refreshes = n;
            }
        });
        if refresh.then == AfterRefresh::Retry {
            self.on_unsafe(refresh.on_unsafe);
        }
    }

    /// One more and, where that leaves one, one fewer.
    fn counted(&mut self, name: &'static str, count: u32, set: fn(&mut Compensation, u32)) {
        for (word, other) in [("more", count.saturating_add(1)), ("fewer", count.saturating_sub(1))] {
            if other > 0 {
                let what = format!("`{name}: {other}` instead of {count}");
                self.add(format!("{name}-{word}"), what, move |verdict| set(&mut verdict.then, other));
            }
        }
    }

    fn queue(&mut self, queue: QueueId) {
        if let Some((other, name)) = self.other_queue(queue) {
            let what = format!("the queue `{name}` instead");
            self.add(format!("queue-{name}"), what, move |verdict| verdict.then = Compensation::EscalateToHuman(other));
        }
    }

    /// The queue behind this one, or the first.
    fn other_queue(&self, queue: QueueId) -> Option<(QueueId, String)> {
        let queues = &self.playbook.queues;
        let next = (queue.index() + 1) % queues.len().max(1);
        let other = QueueId(u16::try_from(next).ok()?);
        Some((other, queues.get(next)?.to_string())).filter(|_| other != queue)
    }

    fn on_unsafe(&mut self, on_unsafe: UnsafePolicy) {
        match on_unsafe {
            UnsafePolicy::End(end) => self.final_("on_unsafe", end, |then, end| match then {
                Compensation::RetryWithBackoff(retry) => retry.on_unsafe = UnsafePolicy::End(end),
                Compensation::RefreshEvidence(refresh) => refresh.on_unsafe = UnsafePolicy::End(end),
                _ => {}
            }),
            UnsafePolicy::Reverse(reversal) => {
                let end = reversal.on_refused;
                self.add("on_unsafe-on_refused".into(), "`on_unsafe` without the reversal".into(), move |verdict| {
                    match &mut verdict.then {
                        Compensation::RetryWithBackoff(retry) => retry.on_unsafe = UnsafePolicy::End(end),
                        Compensation::RefreshEvidence(refresh) => refresh.on_unsafe = UnsafePolicy::End(end),
                        _ => {}
                    }
                });
                self.on_refused(end);
            }
        }
    }

    fn on_refused(&mut self, end: Terminal) {
        self.final_("on_refused", end, |then, end| {
            let reversal = match then {
                Compensation::IssueReversal(reversal) => reversal,
                Compensation::RetryWithBackoff(Retry { on_unsafe: UnsafePolicy::Reverse(reversal), .. })
                | Compensation::RefreshEvidence(Refresh { on_unsafe: UnsafePolicy::Reverse(reversal), .. }) => reversal,
                _ => return,
            };
            reversal.on_refused = end;
        });
    }

    /// Another queue, and the other kind of end.
    fn final_(&mut self, name: &'static str, end: Terminal, set: fn(&mut Compensation, Terminal)) {
        if let Terminal::Escalate(queue) = end
            && let Some((other, queue)) = self.other_queue(queue)
        {
            let what = format!("`{name}` escalates to `{queue}` instead");
            self.add(format!("{name}-queue-{queue}"), what, move |verdict| {
                set(&mut verdict.then, Terminal::Escalate(other));
            });
        }
        let n = self.n;
        let escalates = matches!(end, Terminal::Escalate(_));
        if !escalates && self.playbook.queues.is_empty() {
            return;
        }
        let word = if escalates { "deprecate_tool_call" } else { "escalate_to_human" };
        self.row.add(format!("{name}-{word}"), format!("`{name}: {word}`"), move |playbook| {
            let end = if escalates { Terminal::Deprecate(reason(playbook)) } else { people(playbook) };
            playbook.verdicts.get_mut(n).into_iter().for_each(|verdict| set(&mut verdict.then, end));
        });
    }
}

/// The compensation of each kind that a mutant brings in.
fn brought_in(playbook: &mut Playbook, kind: u8) -> Compensation {
    let end = people(playbook);
    match kind {
        0 => Compensation::RetryWithBackoff(Retry {
            backoff: Backoff::Listed(vec![Duration::from_millis(1_000)]),
            max_retries: 1,
            server_delay: ServerDelay::IGNORED,
            retry_budget: None,
            cost: None,
            uncounted: false,
            on_unsafe: UnsafePolicy::End(end),
        }),
        1 => Compensation::RefreshEvidence(Refresh {
            then: AfterRefresh::Retry,
            max_refreshes: 1,
            on_unsafe: UnsafePolicy::End(end),
        }),
        2 => Compensation::IssueReversal(Reversal { reason: reason(playbook), on_refused: end }),
        3 => match end {
            Terminal::Escalate(queue) => Compensation::EscalateToHuman(queue),
            Terminal::Deprecate(reason) => Compensation::DeprecateToolCall(reason),
        },
        _ => Compensation::DeprecateToolCall(reason(playbook)),
    }
}

/// A reason that no playbook states.
fn reason(playbook: &mut Playbook) -> ReasonId {
    let known = playbook.reasons.iter().position(|reason| &**reason == REASON);
    let place = known.unwrap_or_else(|| {
        playbook.reasons.push(REASON.into());
        playbook.reasons.len() - 1
    });
    ReasonId(u16::try_from(place).unwrap_or(u16::MAX))
}

/// To the default queue, else the first; a playbook without queues gives the call up.
fn people(playbook: &mut Playbook) -> Terminal {
    let first = (!playbook.queues.is_empty()).then_some(QueueId(0));
    match playbook.default_queue.or(first) {
        Some(queue) => Terminal::Escalate(queue),
        None => Terminal::Deprecate(reason(playbook)),
    }
}
