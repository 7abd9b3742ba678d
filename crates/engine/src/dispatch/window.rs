//! What a breaker or a retry budget counts: the last answers, or those of the last time. Decides nothing.

use std::collections::VecDeque;

use crate::playbook::{BreakerWindow, BucketAlign, Ratio, TimeWindow};
use crate::time::{Duration, Instant};

/// One counted answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CountedCall {
    /// Whether it is a failure.
    pub failed: bool,
    /// Whether it took too long.
    pub slow: bool,
    /// How long it took.
    pub took: Duration,
}

/// The sum of counted answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tally {
    /// All of them.
    pub calls: u64,
    /// Failures.
    pub failures: u64,
    /// Slow ones.
    pub slow: u64,
    /// Slow failures.
    pub slow_failures: u64,
    /// Their times together.
    pub took: Duration,
}

impl Tally {
    /// The part of failures, rounded down; none without answers.
    pub fn failure_rate(&self) -> Option<Ratio> {
        self.rate(self.failures)
    }

    /// The part of slow answers, rounded down; none without answers.
    pub fn slow_rate(&self) -> Option<Ratio> {
        self.rate(self.slow)
    }

    /// The mean time of an answer, rounded down; none without answers.
    pub fn mean(&self) -> Option<Duration> {
        self.took.as_micros().checked_div(self.calls).map(Duration::from_micros)
    }

    fn rate(&self, part: u64) -> Option<Ratio> {
        let millionths = (u128::from(part) * u128::from(Ratio::SCALE)).checked_div(self.calls.into())?;
        u32::try_from(millionths).ok().map(Ratio)
    }

    pub(super) fn add(&mut self, call: CountedCall) {
        self.calls = self.calls.saturating_add(1);
        self.failures = self.failures.saturating_add(u64::from(call.failed));
        self.slow = self.slow.saturating_add(u64::from(call.slow));
        self.slow_failures = self.slow_failures.saturating_add(u64::from(call.failed && call.slow));
        self.took = self.took.plus(call.took);
    }

    fn remove(&mut self, call: CountedCall) {
        self.calls = self.calls.saturating_sub(1);
        self.failures = self.failures.saturating_sub(u64::from(call.failed));
        self.slow = self.slow.saturating_sub(u64::from(call.slow));
        self.slow_failures = self.slow_failures.saturating_sub(u64::from(call.failed && call.slow));
        self.took = self.took.minus(call.took);
    }

    fn merge(self, other: &Tally) -> Tally {
        Tally {
            calls: self.calls.saturating_add(other.calls),
            failures: self.failures.saturating_add(other.failures),
            slow: self.slow.saturating_add(other.slow),
            slow_failures: self.slow_failures.saturating_add(other.slow_failures),
            took: self.took.plus(other.took),
        }
    }
}

/// The answers in a breaker's window. A window by calls keeps each of them, one by time their sums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Window {
    last: VecDeque<CountedCall>,
    /// The sum of `last`.
    sum: Tally,
    buckets: TimeBuckets<Tally>,
}

impl Window {
    /// Adds an answer.
    pub fn record(&mut self, shape: &BreakerWindow, now: Instant, call: CountedCall) {
        match shape {
            BreakerWindow::Time(shape) => self.buckets.at(shape, now).add(call),
            BreakerWindow::Calls(most) => {
                self.last.push_back(call);
                self.sum.add(call);
                if self.last.len() > *most as usize
                    && let Some(oldest) = self.last.pop_front()
                {
                    self.sum.remove(oldest);
                }
            }
        }
    }

    /// The sum of the answers that count now.
    pub fn tally(&self, shape: &BreakerWindow, now: Instant) -> Tally {
        match shape {
            BreakerWindow::Time(shape) => self.buckets.alive(shape, now).fold(Tally::default(), Tally::merge),
            BreakerWindow::Calls(_) => self.sum,
        }
    }

    /// Forgets all answers.
    pub fn clear(&mut self) {
        *self = Window::default();
    }
}

/// What happened in the last time, in buckets: at most as many as the window has, and one more where their length was
/// rounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct TimeBuckets<T> {
    buckets: VecDeque<Bucket<T>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Bucket<T> {
    start: Instant,
    held: T,
}

impl<T: Default> TimeBuckets<T> {
    /// The bucket of `now`; those that no longer count are dropped. Time does not go back.
    pub(super) fn at(&mut self, shape: &TimeWindow, now: Instant) -> &mut T {
        let start = start(shape, now);
        while self.buckets.front().is_some_and(|first| start.since(first.start) >= shape.span) {
            self.buckets.pop_front();
        }
        if self.buckets.back().is_none_or(|last| start.since(last.start) >= width(shape)) {
            self.buckets.push_back(Bucket { start, held: T::default() });
        }
        let last = self.buckets.len() - 1; // pushed above if there was none
        &mut self.buckets[last].held
    }

    /// What still counts at `now`, the oldest first.
    pub(super) fn alive(&self, shape: &TimeWindow, now: Instant) -> impl Iterator<Item = &T> {
        let (start, span) = (start(shape, now), shape.span);
        self.buckets.iter().filter(move |bucket| start.since(bucket.start) < span).map(|bucket| &bucket.held)
    }
}

/// The length of a bucket in whole microseconds, rounded down.
fn width(shape: &TimeWindow) -> Duration {
    Duration::from_micros((shape.span.as_micros() / u64::from(shape.buckets.max(1))).max(1))
}

/// Where a bucket starts whose first event is at `now`.
fn start(shape: &TimeWindow, now: Instant) -> Instant {
    match shape.align {
        BucketAlign::FirstEvent => now,
        BucketAlign::Epoch => {
            let width = width(shape).as_micros();
            Instant::from_micros(now.as_micros() / width * width)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    const fn time(span: u64, buckets: u32, align: BucketAlign) -> BreakerWindow {
        BreakerWindow::Time(TimeWindow { span: ms(span), buckets, align })
    }

    const fn call(failed: bool) -> CountedCall {
        CountedCall { failed, slow: false, took: ms(100) }
    }

    /// The answers that count at `query`, of answers at these times.
    fn counted(shape: &BreakerWindow, at: &[u64], query: u64) -> u64 {
        let mut window = Window::default();
        for at in at {
            window.record(shape, Instant::from_millis(*at), call(true));
        }
        window.tally(shape, Instant::from_millis(query)).calls
    }

    #[test]
    fn a_window_by_calls_forgets_the_oldest_answer() {
        let mut window = Window::default();
        let rates = [true, false, false, false, false].map(|failed| {
            window.record(&BreakerWindow::Calls(4), Instant::ZERO, call(failed));
            window.tally(&BreakerWindow::Calls(4), Instant::ZERO).failure_rate().unwrap().0
        });
        assert_eq!(rates, [1_000_000, 500_000, 333_333, 250_000, 0]);
        assert_eq!(window.tally(&BreakerWindow::Calls(4), Instant::ZERO).took, ms(400));
    }

    #[test]
    fn a_bucket_by_the_epoch_is_forgotten_at_once() {
        let shape = time(5_000, 5, BucketAlign::Epoch);
        let at = [0, 100, 900];
        assert_eq!([4_900, 4_999, 5_000].map(|query| counted(&shape, &at, query)), [3, 3, 0]);
        assert_eq!(counted(&shape, &[900, 1_000], 5_000), 1);
    }

    #[test]
    fn a_bucket_by_its_first_event_is_forgotten_when_that_is_old() {
        let shape = time(5_000, 5, BucketAlign::FirstEvent);
        // 900 and 1,899 share a bucket; 1,900 begins the next one.
        let at = [900, 1_899, 1_900];
        assert_eq!([5_899, 5_900, 6_899, 6_900].map(|query| counted(&shape, &at, query)), [3, 1, 1, 0]);
    }

    #[test]
    fn one_bucket_is_forgotten_as_a_whole() {
        let shape = time(100, 1, BucketAlign::FirstEvent);
        assert_eq!([199, 200].map(|query| counted(&shape, &[100, 150, 199], query)), [3, 0]);
    }

    #[test]
    fn the_sums_tell_slow_answers_and_slow_failures_apart() {
        let mut tally = Tally::default();
        for (failed, slow) in [(true, true), (true, false), (false, true), (false, false)] {
            tally.add(CountedCall { failed, slow, took: ms(10) });
        }
        let expected = Tally { calls: 4, failures: 2, slow: 2, slow_failures: 1, took: ms(40) };
        assert_eq!((tally, tally.mean(), tally.slow_rate()), (expected, Some(ms(10)), Some(Ratio(500_000))));
        assert_eq!((Tally::default().failure_rate(), Tally::default().mean()), (None, None));
    }

    #[test]
    fn the_times_of_answers_saturate() {
        let mut window = Window::default();
        let longest = CountedCall { took: Duration::from_micros(u64::MAX), ..call(true) };
        for _ in 0..5 {
            window.record(&BreakerWindow::Calls(2), Instant::from_micros(u64::MAX), longest);
        }
        assert_eq!(window.tally(&BreakerWindow::Calls(2), Instant::ZERO).calls, 2);
    }

    /// The answers that count, by the definition: every answer is kept, and looked at again.
    fn by_definition(shape: &BreakerWindow, all: &[(Instant, CountedCall)], now: Instant) -> Tally {
        let mut counted: Vec<CountedCall> = Vec::new();
        match shape {
            BreakerWindow::Calls(most) => {
                counted.extend(all.iter().rev().take(*most as usize).map(|(_, call)| *call));
            }
            BreakerWindow::Time(TimeWindow { span, buckets, align }) => {
                let length = span.as_micros() / u64::from(*buckets);
                let mut first_event: Option<Instant> = None;
                for (at, call) in all {
                    let counts = match align {
                        BucketAlign::Epoch => now.as_micros() / length - at.as_micros() / length < u64::from(*buckets),
                        BucketAlign::FirstEvent => {
                            let begins = first_event.is_none_or(|first| at.since(first).as_micros() >= length);
                            let first = if begins { *at } else { first_event.unwrap() };
                            first_event = Some(first);
                            now.since(first) < *span
                        }
                    };
                    counted.extend(counts.then_some(*call));
                }
            }
        }
        let mut tally = Tally::default();
        counted.into_iter().for_each(|call| tally.add(call));
        tally
    }

    fn shapes() -> impl Strategy<Value = BreakerWindow> {
        let by_time = (1_u64..20, 1_u32..8, prop_oneof![Just(BucketAlign::Epoch), Just(BucketAlign::FirstEvent)]);
        prop_oneof![
            (1_u32..12).prop_map(BreakerWindow::Calls),
            by_time.prop_map(|(length, buckets, align)| time(length * u64::from(buckets), buckets, align)),
        ]
    }

    proptest! {
        #[test]
        fn a_window_counts_as_a_list_of_all_answers_does(
            shape in shapes(),
            steps in vec((0_u64..30_000, any::<bool>(), any::<bool>(), 0_u64..9_000), 0..60),
            later in 0_u64..50_000,
        ) {
            let (mut window, mut all, mut now) = (Window::default(), Vec::new(), Instant::ZERO);
            for (wait, failed, slow, took) in steps {
                now = now.plus(Duration::from_micros(wait));
                let call = CountedCall { failed, slow, took: Duration::from_micros(took) };
                window.record(&shape, now, call);
                all.push((now, call));
                prop_assert_eq!(window.tally(&shape, now), by_definition(&shape, &all, now));
                let (kept, most) = match &shape {
                    BreakerWindow::Calls(most) => (window.last.len(), *most),
                    BreakerWindow::Time(time) => (window.buckets.buckets.len(), time.buckets),
                };
                prop_assert!(kept <= most as usize, "{} kept", kept);
            }
            let later = now.plus(Duration::from_micros(later));
            prop_assert_eq!(window.tally(&shape, later), by_definition(&shape, &all, later));
        }
    }
}
