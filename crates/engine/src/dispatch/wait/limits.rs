//! The limits of a call: its attempts, the moments at which they may start, and its end.

use crate::event::StopReason;
use crate::playbook::{ElapsedRule, Limits};
use crate::time::{Duration, Instant};

/// When a call was made, what it has waited, and now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elapsed {
    pub since: Instant,
    pub now: Instant,
    /// The sum of its waits so far.
    pub waited: Duration,
}

/// Checks that the call may have another attempt.
pub(in crate::dispatch) fn attempts_left(limits: &Limits, attempts: u32) -> Result<(), StopReason> {
    if attempts < limits.max_attempts { Ok(()) } else { Err(StopReason::MaxAttempts) }
}

/// Checks that an attempt at `due` starts before the deadline and before the call's end.
pub(in crate::dispatch) fn starts_in_time(limits: &Limits, since: Instant, due: Instant) -> Result<(), StopReason> {
    let span = due.since(since);
    match limits.deadline {
        Some(deadline) if span > deadline => Err(StopReason::Deadline),
        _ => before_the_end(limits, span),
    }
}

/// The first moment at which no attempt of a call may start any more, if a limit says so.
pub(in crate::dispatch) fn too_late_at(limits: &Limits, since: Instant) -> Option<Instant> {
    let deadline = limits.deadline.map(|deadline| deadline.plus(Duration::from_micros(1)));
    let earliest = deadline.into_iter().chain(limits.call_timeout).min()?;
    Some(since.plus(earliest))
}

/// The wait that the deadline leaves of `wait`, or the limit that forbids it.
pub(super) fn allowed(limits: &Limits, spent: Elapsed, wait: Duration) -> Result<Duration, StopReason> {
    let elapsed = spent.now.since(spent.since);
    let Some(deadline) = limits.deadline else {
        return before_the_end(limits, elapsed.plus(wait)).map(|()| wait);
    };
    let (is_over, wait) = match limits.elapsed {
        ElapsedRule::NextStart => (elapsed.plus(wait) > deadline, wait),
        ElapsedRule::Truncate => (elapsed >= deadline, wait.min(deadline.minus(elapsed))),
        ElapsedRule::ElapsedOnly => (elapsed > deadline, wait),
        ElapsedRule::WaitsAfter => (spent.waited.plus(wait) > deadline, wait),
        ElapsedRule::WaitsBefore => (spent.waited >= deadline, wait),
    };
    if is_over {
        return Err(StopReason::Deadline);
    }
    before_the_end(limits, elapsed.plus(wait)).map(|()| wait)
}

/// Whether a first retry may follow an attempt that took `elapsed`, after `wait`: for lints.
pub fn first_retry_fits(limits: &Limits, elapsed: Duration, wait: Duration) -> bool {
    let spent = Elapsed { since: Instant::ZERO, now: Instant::ZERO.plus(elapsed), waited: Duration::ZERO };
    allowed(limits, spent, wait).is_ok()
}

/// What is left of the call's time for a request that starts `elapsed` after the call, if the playbook limits it.
pub(in crate::dispatch) fn time_left(limits: &Limits, elapsed: Duration) -> Option<Duration> {
    limits.call_timeout.map(|end| end.minus(elapsed))
}

fn before_the_end(limits: &Limits, start: Duration) -> Result<(), StopReason> {
    match limits.call_timeout {
        Some(end) if start >= end => Err(StopReason::CallTimeout),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// The wait that a limit of one second leaves after `elapsed` and `waited`.
    fn left(elapsed: ElapsedRule, at: u64, waited: u64, wait: u64) -> Result<u64, StopReason> {
        let limits = Limits { max_attempts: 6, deadline: Some(ms(1_000)), call_timeout: None, elapsed };
        let spent = Elapsed { since: Instant::from_millis(50), now: Instant::from_millis(50 + at), waited: ms(waited) };
        allowed(&limits, spent, ms(wait)).map(Duration::as_millis)
    }

    #[test]
    fn each_rule_of_the_deadline_counts_its_own_time() {
        use ElapsedRule::{ElapsedOnly, NextStart, Truncate, WaitsAfter, WaitsBefore};
        let late = Err(StopReason::Deadline);
        assert_eq!((left(NextStart, 800, 0, 200), left(NextStart, 801, 0, 200)), (Ok(200), late));
        assert_eq!((left(Truncate, 999, 0, 200), left(Truncate, 1_000, 0, 200)), (Ok(1), late));
        assert_eq!((left(ElapsedOnly, 1_000, 0, 200), left(ElapsedOnly, 1_001, 0, 200)), (Ok(200), late));
        assert_eq!((left(WaitsAfter, 5_000, 800, 200), left(WaitsAfter, 0, 801, 200)), (Ok(200), late));
        assert_eq!((left(WaitsBefore, 5_000, 999, 200), left(WaitsBefore, 0, 1_000, 200)), (Ok(200), late));
    }

    #[test]
    fn no_wait_begins_that_no_attempt_can_follow_before_the_end_of_the_call() {
        let limits =
            Limits { max_attempts: 6, deadline: None, call_timeout: Some(ms(500)), elapsed: ElapsedRule::NextStart };
        let spent = Elapsed { since: Instant::ZERO, now: Instant::from_millis(300), waited: ms(0) };
        assert_eq!(allowed(&limits, spent, ms(199)), Ok(ms(199)));
        assert_eq!(allowed(&limits, spent, ms(200)), Err(StopReason::CallTimeout));
        assert_eq!(time_left(&limits, ms(120)), Some(ms(380)));
    }
}
