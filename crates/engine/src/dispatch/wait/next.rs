//! The wait before the next attempt, or what ends the call instead: what the upstream says, the verdict's retries, the call's
//! attempts, the longest wish, the deadline, in this order.

use super::limits::{self, Elapsed};
use super::own;
use super::server::{self, Wish};
use crate::dispatch::io::ClassifiedFailure;
use crate::event::{Draw, StopReason};
use crate::playbook::{Backoff, Counter, Formula, Jitter, Limits, Retry, Terminal};
use crate::time::{Duration, Instant};

/// The waits of a call so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::dispatch) struct WaitHistory {
    /// Retries in all.
    retries: u32,
    /// Retries whose wait was the playbook's own.
    own: u32,
    /// Retries since the upstream last set a wait.
    since_server_delay: u32,
    /// The sum of the waits.
    waited: Duration,
    /// The wait and the draw of the last retry.
    previous: Option<(Duration, Draw)>,
}

impl WaitHistory {
    /// Adds a wait. That of an uncounted retry lengthens no later one.
    pub(in crate::dispatch) fn add(&mut self, wait: &NextWait, draw: Draw, is_counted: bool) {
        self.waited = self.waited.plus(wait.delay);
        if !is_counted {
            return;
        }
        self.retries = self.retries.saturating_add(1);
        self.previous = Some((wait.delay, draw));
        if wait.told.is_some() {
            self.since_server_delay = 0;
        } else {
            self.own = self.own.saturating_add(1);
            self.since_server_delay = self.since_server_delay.saturating_add(1);
        }
    }
}

/// A granted wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dispatch) struct NextWait {
    /// How long.
    pub delay: Duration,
    /// The draw, if the wait depends on it.
    pub draw: Option<Draw>,
    /// The upstream's wish, if it counted.
    pub told: Option<Duration>,
}

/// What ends the call instead of a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dispatch) enum RetryStop {
    /// A limit.
    Limit(StopReason),
    /// What the playbook does with a wish that is too long.
    End(Terminal),
}

impl From<StopReason> for RetryStop {
    fn from(stop: StopReason) -> RetryStop {
        RetryStop::Limit(stop)
    }
}

/// What a call has used of its limits.
#[derive(Clone, Copy, Debug)]
pub(in crate::dispatch) struct CallUsage {
    /// Attempts started.
    pub attempts: u32,
    /// Retries that this verdict has scheduled so far.
    pub retries: u32,
    /// When the call was made.
    pub since: Instant,
    /// Now.
    pub now: Instant,
    /// Its waits so far.
    pub history: WaitHistory,
}

/// The wait before the next attempt after `failure`.
pub(in crate::dispatch) fn next_wait(
    retry: &Retry,
    limits: &Limits,
    spent: CallUsage,
    failure: &ClassifiedFailure,
) -> Result<NextWait, RetryStop> {
    if server::forbids_retry(&retry.server_delay, failure.says) {
        return Err(StopReason::ToldNotTo.into());
    }
    if spent.retries >= retry.max_retries {
        return Err(StopReason::MaxRetries.into());
    }
    limits::attempts_left(limits, spent.attempts)?;
    let wanted = wanted(retry, spent, failure)?;
    let elapsed = Elapsed { since: spent.since, now: spent.now, waited: spent.history.waited };
    let delay = limits::allowed(limits, elapsed, wanted.delay)?;
    Ok(NextWait { delay, ..wanted })
}

/// The wait by backoff and server delay, before the deadline.
fn wanted(retry: &Retry, spent: CallUsage, failure: &ClassifiedFailure) -> Result<NextWait, RetryStop> {
    let own = || own_wait(&retry.backoff, spent, failure.draw);
    let is_drawn = retry.backoff.is_drawn();
    let draw = |is_used: bool| is_used.then_some(failure.draw);
    let mode = retry.server_delay.mode;
    match server::wish(&retry.server_delay, failure.says.wait) {
        Wish::None => Ok(NextWait { delay: own(), draw: draw(is_drawn), told: None }),
        Wish::Wait(told) => {
            let delay = server::wait(mode, told, jitter(&retry.backoff), failure.draw, own);
            let is_used = mode.is_drawn() || (is_drawn && mode.needs_own_wait());
            Ok(NextWait { delay, draw: draw(is_used), told: Some(told) })
        }
        Wish::TooLong(None) => Err(StopReason::MaxWait.into()),
        Wish::TooLong(Some(end)) => Err(RetryStop::End(end)),
    }
}

fn own_wait(backoff: &Backoff, spent: CallUsage, draw: Draw) -> Duration {
    let earlier = match backoff {
        Backoff::Listed(_) => spent.retries,
        Backoff::Formula(formula) => counted(formula, spent),
    };
    own::own_wait(backoff, earlier.saturating_add(1), draw, spent.history.previous)
}

fn counted(formula: &Formula, spent: CallUsage) -> u32 {
    match formula.counter {
        Counter::Verdict => spent.retries,
        Counter::Call => spent.history.retries,
        Counter::Own => spent.history.own,
        Counter::SinceServerDelay => spent.history.since_server_delay,
    }
}

const fn jitter(backoff: &Backoff) -> &Jitter {
    match backoff {
        Backoff::Listed(_) => &Jitter::None,
        Backoff::Formula(formula) => &formula.jitter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{ServerSays, WishFaults};
    use crate::ids::{QueueId, VerdictId};
    use crate::playbook::{ElapsedRule, Family, Ratio, ServerDelay, ServerDelayMode, UnsafePolicy};

    const LIMITS: Limits =
        Limits { max_attempts: 6, deadline: Some(ms(10_000)), call_timeout: None, elapsed: ElapsedRule::NextStart };

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn retry(mode: ServerDelayMode) -> Retry {
        Retry {
            backoff: Backoff::Listed(vec![ms(200), ms(600)]),
            max_retries: 3,
            server_delay: ServerDelay { mode, max: Some(ms(5_000)), ..ServerDelay::IGNORED },
            retry_budget: None,
            cost: None,
            uncounted: false,
            on_unsafe: UnsafePolicy::End(Terminal::Escalate(QueueId(0))),
        }
    }

    fn spent(attempts: u32, retries: u32, now_ms: u64) -> CallUsage {
        let history = WaitHistory::default();
        CallUsage { attempts, retries, since: Instant::ZERO, now: Instant::from_millis(now_ms), history }
    }

    fn failure(retry_after_ms: Option<u64>, draw: &str) -> ClassifiedFailure {
        let says = retry_after_ms.map(ms).into();
        let draw = Draw::parse(draw).unwrap();
        ClassifiedFailure { verdict: VerdictId(0), rule: None, error: None, says, draw, unanswered: false }
    }

    fn delay(mode: ServerDelayMode, spent: CallUsage, retry_after_ms: Option<u64>) -> Result<u64, RetryStop> {
        let wait = next_wait(&retry(mode), &LIMITS, spent, &failure(retry_after_ms, "0"));
        wait.map(|wait| wait.delay.as_millis())
    }

    const fn stop(stop: StopReason) -> Result<u64, RetryStop> {
        Err(RetryStop::Limit(stop))
    }

    #[test]
    fn delays_follow_the_list_and_its_last_value_repeats() {
        let ignore = ServerDelayMode::Ignore;
        assert_eq!(delay(ignore, spent(1, 0, 0), None), Ok(200));
        assert_eq!(delay(ignore, spent(2, 1, 0), None), Ok(600));
        assert_eq!(delay(ignore, spent(3, 2, 0), None), Ok(600));
        assert_eq!(delay(ignore, spent(4, 3, 0), None), stop(StopReason::MaxRetries));
    }

    #[test]
    fn retry_after_lengthens_the_wait_only_if_the_playbook_says_so() {
        let (ignore, at_least) = (ServerDelayMode::Ignore, ServerDelayMode::AtLeast);
        assert_eq!(delay(at_least, spent(1, 0, 0), Some(3_000)), Ok(3_000));
        assert_eq!(delay(at_least, spent(1, 0, 0), Some(1)), Ok(200));
        assert_eq!(delay(ignore, spent(1, 0, 0), Some(3_000)), Ok(200));
        assert_eq!(delay(at_least, spent(1, 0, 0), Some(5_001)), stop(StopReason::MaxWait));
    }

    #[test]
    fn the_deadline_bounds_the_start_of_an_attempt_and_counts_the_wait() {
        assert_eq!(delay(ServerDelayMode::Ignore, spent(1, 0, 9_800), None), Ok(200));
        assert_eq!(delay(ServerDelayMode::Ignore, spent(1, 0, 9_801), None), stop(StopReason::Deadline));
    }

    #[test]
    fn attempts_are_bounded_across_verdicts() {
        assert_eq!(delay(ServerDelayMode::Ignore, spent(6, 0, 0), None), stop(StopReason::MaxAttempts));
    }

    /// The growing waits of one call whose second failure carries a wish of 50 ms, by what their counter counts.
    fn waits(counter: Counter) -> Vec<u64> {
        let family = Family::Exponential { base: ms(100), multiplier: Ratio(2_000_000) };
        let formula = Formula { counter, ..Formula::plain(family) };
        let retry = Retry { backoff: Backoff::Formula(formula), max_retries: 9, ..retry(ServerDelayMode::Exact) };
        let mut history = WaitHistory::default();
        // Two verdicts take turns, so that each has scheduled half of the retries.
        let each = [(None, 0), (Some(50), 0), (None, 1), (None, 1)].into_iter().map(|(told, retries)| {
            let usage = CallUsage { history, ..spent(1, retries, 0) };
            let wait = next_wait(&retry, &LIMITS, usage, &failure(told, "0")).unwrap();
            history.add(&wait, Draw::ZERO, true);
            wait.delay.as_millis()
        });
        each.collect()
    }

    #[test]
    fn each_counter_counts_its_own_retries() {
        assert_eq!(waits(Counter::Verdict), [100, 50, 200, 200]);
        assert_eq!(waits(Counter::Call), [100, 50, 400, 800]);
        assert_eq!(waits(Counter::Own), [100, 50, 200, 400]);
        assert_eq!(waits(Counter::SinceServerDelay), [100, 50, 100, 200]);
    }

    #[test]
    fn an_uncounted_retry_lengthens_no_later_wait() {
        let wait = NextWait { delay: ms(5), draw: None, told: None };
        let mut history = WaitHistory::default();
        history.add(&wait, Draw::MAX, false);
        assert_eq!(history, WaitHistory { waited: ms(5), ..WaitHistory::default() });
    }

    #[test]
    fn a_wish_with_a_fault_stops_before_every_limit_if_the_playbook_says_so() {
        let faults = [(true, false, false), (false, true, false), (false, false, true)]
            .map(|(invalid, negative, multiple)| WishFaults { invalid, negative, multiple });
        for stops_at in faults {
            for fault in faults {
                let mut retry = retry(ServerDelayMode::Ignore);
                retry.server_delay.stops_at = stops_at;
                let says = ServerSays { wait: Some(ms(5)), faults: fault };
                let failure = ClassifiedFailure { says, ..failure(None, "0") };
                let stop = next_wait(&retry, &LIMITS, spent(6, 3, 99_999), &failure).unwrap_err();
                let told = if stops_at == fault { StopReason::ToldNotTo } else { StopReason::MaxRetries };
                assert_eq!(stop, RetryStop::Limit(told));
            }
        }
    }

    #[test]
    fn a_draw_is_named_only_where_it_decided() {
        let family = Family::Constant { base: ms(100) };
        let drawn = Backoff::Formula(Formula { jitter: Jitter::Full, ..Formula::plain(family) });
        let wait = |mode, backoff: &Backoff, told| {
            let retry = Retry { backoff: backoff.clone(), ..retry(mode) };
            let wait = next_wait(&retry, &LIMITS, spent(1, 0, 0), &failure(told, "0.5")).unwrap();
            (wait.delay.as_millis(), wait.draw.is_some(), wait.told.is_some())
        };
        let listed = Backoff::Listed(vec![ms(200)]);
        assert_eq!(wait(ServerDelayMode::Exact, &listed, None), (200, false, false));
        assert_eq!(wait(ServerDelayMode::Exact, &drawn, None), (50, true, false));
        assert_eq!(wait(ServerDelayMode::Exact, &drawn, Some(70)), (70, false, true));
        assert_eq!(wait(ServerDelayMode::AtLeast, &drawn, Some(70)), (70, true, true));
        let spread = ServerDelayMode::LowerBoundJitter { spread: Ratio(500_000) };
        assert_eq!(wait(spread, &listed, Some(100)), (125, true, true));
    }
}
