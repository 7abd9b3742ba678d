//! When the next attempt may start, or the limit that forbids it. Pure arithmetic.

use crate::event::StopReason;
use crate::playbook::{Limits, Retry, RetryTiming};
use crate::time::{Duration, Instant};

/// What a call has used of its limits.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallUsage {
    /// Attempts started.
    pub attempts: u32,
    /// Retries that this verdict has scheduled so far.
    pub retries: u32,
    /// When the call was made.
    pub since: Instant,
    /// Now.
    pub now: Instant,
}

/// The wait before the next attempt, or the first limit that forbids it: the verdict's retries, the call's
/// attempts, the longest wait, the deadline (which bounds the *start* of an attempt).
pub(super) fn next_delay(
    retry: &Retry,
    limits: &Limits,
    spent: CallUsage,
    retry_after: Option<Duration>,
) -> Result<Duration, StopReason> {
    if spent.retries >= retry.max_retries {
        return Err(StopReason::MaxRetries);
    }
    attempts_left(limits, spent.attempts)?;
    let listed = listed_delay(retry, spent.retries);
    let delay = match (retry.after, retry_after) {
        (RetryTiming::RetryAfter, Some(asked)) if retry.max_wait.is_some_and(|most| asked > most) => {
            return Err(StopReason::MaxWait);
        }
        (RetryTiming::RetryAfter, Some(asked)) => listed.max(asked),
        _ => listed,
    };
    starts_in_time(limits, spent.since, spent.now.plus(delay))?;
    Ok(delay)
}

/// Checks that the call may have another attempt.
pub(super) fn attempts_left(limits: &Limits, attempts: u32) -> Result<(), StopReason> {
    if attempts < limits.max_attempts { Ok(()) } else { Err(StopReason::MaxAttempts) }
}

/// Checks that an attempt at `due` starts before the deadline.
pub(super) fn starts_in_time(limits: &Limits, since: Instant, due: Instant) -> Result<(), StopReason> {
    match limits.deadline {
        Some(deadline) if due.since(since) > deadline => Err(StopReason::Deadline),
        _ => Ok(()),
    }
}

/// The listed delay of the retry after `earlier` others; the last value repeats.
fn listed_delay(retry: &Retry, earlier: u32) -> Duration {
    let listed = retry.backoff.get(earlier as usize).or(retry.backoff.last());
    listed.copied().unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::QueueId;
    use crate::playbook::{Terminal, UnsafePolicy};

    const LIMITS: Limits = Limits { max_attempts: 6, deadline: Some(Duration::from_millis(10_000)) };

    fn retry(after: RetryTiming) -> Retry {
        Retry {
            backoff: vec![Duration::from_millis(200), Duration::from_millis(600)],
            max_retries: 3,
            after,
            max_wait: Some(Duration::from_millis(5_000)),
            on_unsafe: UnsafePolicy::End(Terminal::Escalate(QueueId(0))),
        }
    }

    fn spent(attempts: u32, retries: u32, now_ms: u64) -> CallUsage {
        CallUsage { attempts, retries, since: Instant::ZERO, now: Instant::from_millis(now_ms) }
    }

    fn delay(after: RetryTiming, spent: CallUsage, retry_after_ms: Option<u64>) -> Result<u64, StopReason> {
        next_delay(&retry(after), &LIMITS, spent, retry_after_ms.map(Duration::from_millis)).map(Duration::as_millis)
    }

    #[test]
    fn delays_follow_the_list_and_its_last_value_repeats() {
        assert_eq!(delay(RetryTiming::Backoff, spent(1, 0, 0), None), Ok(200));
        assert_eq!(delay(RetryTiming::Backoff, spent(2, 1, 0), None), Ok(600));
        assert_eq!(delay(RetryTiming::Backoff, spent(3, 2, 0), None), Ok(600));
        assert_eq!(delay(RetryTiming::Backoff, spent(4, 3, 0), None), Err(StopReason::MaxRetries));
    }

    #[test]
    fn retry_after_lengthens_the_wait_only_if_the_playbook_says_so() {
        assert_eq!(delay(RetryTiming::RetryAfter, spent(1, 0, 0), Some(3_000)), Ok(3_000));
        assert_eq!(delay(RetryTiming::RetryAfter, spent(1, 0, 0), Some(1)), Ok(200));
        assert_eq!(delay(RetryTiming::Backoff, spent(1, 0, 0), Some(3_000)), Ok(200));
        assert_eq!(delay(RetryTiming::RetryAfter, spent(1, 0, 0), Some(5_001)), Err(StopReason::MaxWait));
    }

    #[test]
    fn the_deadline_bounds_the_start_of_an_attempt_and_counts_the_wait() {
        assert_eq!(delay(RetryTiming::Backoff, spent(1, 0, 9_800), None), Ok(200));
        assert_eq!(delay(RetryTiming::Backoff, spent(1, 0, 9_801), None), Err(StopReason::Deadline));
    }

    #[test]
    fn attempts_are_bounded_across_verdicts() {
        assert_eq!(delay(RetryTiming::Backoff, spent(6, 0, 0), None), Err(StopReason::MaxAttempts));
    }
}
