//! The breaker of one server: closed, open, half open, or held in a state by people. Time is an argument; a change that
//! time alone brings happens when somebody asks. Emits nothing itself: it lists its changes.

use super::wait::formula_wait;
use super::window::{CountedCall, Tally, Window};
use crate::event::{CircuitChange, OpenReason};
use crate::playbook::{
    AfterMaxWait, BreakerMark, BreakerRules, BreakerWindow, EvaluateOn, HalfOpen, OpenBoundary, OpenPeriod,
    ProbeThreshold, Ratio,
};
use crate::time::{Duration, Instant};
use crate::words;

/// The number of a half-open period. A probe belongs to one: its answer counts in no other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Generation(u32);

words! {
    /// The states of a breaker, as people name and force them.
    pub enum BreakerState {
        /// Every request passes, and answers are counted.
        Closed = "closed",
        /// No request passes until the end of the open period.
        Open = "open",
        /// Probes pass.
        HalfOpen = "half_open",
        /// No request passes.
        ForcedOpen = "forced_open",
        /// Every request passes, and nothing is counted.
        Disabled = "disabled",
        /// Every request passes; answers are counted, and open nothing.
        MetricsOnly = "metrics_only",
    }
}

impl BreakerState {
    /// Whether people may put a breaker from this state into another: a closed one has nothing to probe (resilience4j).
    pub const fn may_become(self, next: BreakerState) -> bool {
        !matches!((self, next), (BreakerState::Closed, BreakerState::HalfOpen))
    }
}

/// A request that must not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// How long until a request can pass: to the end of the open period, or until another probe passes. None: unknown, as
    /// while a probe is out, because its answer decides.
    pub retry_after: Option<Duration>,
}

/// The answer to a request that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkedAnswer {
    /// What it says of the server.
    pub mark: BreakerMark,
    /// How long it took.
    pub took: Duration,
    /// The half-open period whose probe it answers.
    pub probe: Option<Generation>,
}

/// A breaker: its state, and the answers that it counts. A new one is closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Breaker {
    phase: Phase,
    /// Openings since it was last closed.
    openings: u32,
    /// The current half-open period, else the last one.
    generation: Generation,
    window: Window,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Phase {
    #[default]
    Closed,
    Open {
        until: Instant,
    },
    HalfOpen(Probes),
    ForcedOpen,
    Disabled,
    MetricsOnly,
}

/// The probes of a half-open period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Probes {
    since: Instant,
    /// When the last one passed.
    last: Instant,
    /// Those without an answer.
    out: u32,
    /// The answers.
    answers: Tally,
}

impl Breaker {
    /// Whether a request could pass at `at`, now or later. Reserves nothing.
    ///
    /// # Errors
    /// It could not.
    pub fn may_pass(&self, rules: &BreakerRules, at: Instant) -> Result<(), Blocked> {
        let Breaker { phase, openings, generation, window: _ } = *self;
        let mut asked = Breaker { phase, openings, generation, window: Window::default() };
        asked.pass(rules, at, &mut Vec::new()).map(|_| ())
    }

    /// Lets a request pass that starts now. A probe is reserved for it: give it back once, to `record` or `release`.
    ///
    /// # Errors
    /// It must not start.
    pub fn pass(
        &mut self,
        rules: &BreakerRules,
        now: Instant,
        changes: &mut Vec<CircuitChange>,
    ) -> Result<Option<Generation>, Blocked> {
        self.settle(rules, now, changes);
        if let Phase::Open { until } = self.phase {
            let is_over = match rules.boundary {
                OpenBoundary::AtEnd => now >= until,
                OpenBoundary::AfterEnd => now > until,
            };
            if !is_over {
                let first = match rules.boundary {
                    OpenBoundary::AtEnd => until,
                    OpenBoundary::AfterEnd => until.plus(Duration::from_micros(1)),
                };
                return Err(Blocked { retry_after: Some(first.since(now)) });
            }
            self.half_open(now, changes);
        }
        match &mut self.phase {
            Phase::Closed | Phase::Open { .. } | Phase::Disabled | Phase::MetricsOnly => Ok(None),
            Phase::ForcedOpen => Err(Blocked { retry_after: None }),
            Phase::HalfOpen(probes) => {
                if !probes.have_room(&rules.half_open, now) {
                    return Err(Blocked { retry_after: probes.retry_after(rules, now) });
                }
                probes.out = probes.out.saturating_add(1);
                probes.last = now;
                Ok(Some(self.generation))
            }
        }
    }

    /// Ends a half-open period that lasts too long, as of the moment at which it was too long.
    pub fn settle(&mut self, rules: &BreakerRules, now: Instant, changes: &mut Vec<CircuitChange>) {
        let Phase::HalfOpen(probes) = self.phase else { return };
        let HalfOpen::EvaluateRate { max_wait: Some(max_wait), on_max_wait, .. } = rules.half_open else { return };
        let end = probes.since.plus(max_wait);
        if now >= end {
            match on_max_wait {
                AfterMaxWait::Open => self.open(rules, end, OpenReason::MaxWait, changes),
                AfterMaxWait::Closed => self.close(changes),
            }
        }
    }

    /// Counts an answer in the state in which it comes; while half open, only that of a probe of this period. An ignored
    /// answer only frees its probe.
    pub fn record(
        &mut self,
        rules: &BreakerRules,
        now: Instant,
        answer: MarkedAnswer,
        changes: &mut Vec<CircuitChange>,
    ) {
        self.settle(rules, now, changes);
        if answer.mark == BreakerMark::Ignored {
            return answer.probe.into_iter().for_each(|probe| self.release(probe));
        }
        let slow = rules.opens_at.slow.is_some_and(|slow| answer.took > slow.over);
        let call = CountedCall { failed: answer.mark == BreakerMark::Failure, slow, took: answer.took };
        match self.phase {
            Phase::Disabled => {}
            Phase::HalfOpen(probes) if answer.probe == Some(self.generation) => {
                self.on_probe(rules, now, probes, call, changes);
            }
            Phase::HalfOpen(_) => {}
            Phase::Closed => {
                self.window.record(&rules.window, now, call);
                if (call.failed || rules.evaluate_on == EvaluateOn::Any)
                    && let Some(why) = reached(rules, &self.window.tally(&rules.window, now))
                {
                    self.open(rules, now, why, changes);
                }
            }
            // Counted for people only: the window is emptied before it decides again.
            Phase::Open { .. } | Phase::ForcedOpen | Phase::MetricsOnly => {
                self.window.record(&rules.window, now, call);
            }
        }
    }

    /// Frees a probe that gets no answer.
    pub fn release(&mut self, probe: Generation) {
        if let Phase::HalfOpen(probes) = &mut self.phase
            && probe == self.generation
        {
            probes.out = probes.out.saturating_sub(1);
        }
    }

    /// Puts it into a state; `Open` lasts as long as the rules say.
    pub fn force(&mut self, rules: &BreakerRules, now: Instant, state: BreakerState, changes: &mut Vec<CircuitChange>) {
        match state {
            BreakerState::Closed => self.close(changes),
            BreakerState::HalfOpen => self.half_open(now, changes),
            BreakerState::Open => self.open(rules, now, OpenReason::Forced, changes),
            BreakerState::ForcedOpen => {
                self.phase = Phase::ForcedOpen;
                changes.push(CircuitChange::Opened { why: OpenReason::Forced, until: None });
            }
            BreakerState::Disabled | BreakerState::MetricsOnly => {
                self.close(changes);
                let counts = state == BreakerState::MetricsOnly;
                self.phase = if counts { Phase::MetricsOnly } else { Phase::Disabled };
            }
        }
    }

    /// Opens it until a moment.
    pub fn force_open_until(&mut self, until: Instant, changes: &mut Vec<CircuitChange>) {
        self.open_until(until, OpenReason::Forced, changes);
    }

    fn on_probe(
        &mut self,
        rules: &BreakerRules,
        now: Instant,
        mut probes: Probes,
        call: CountedCall,
        changes: &mut Vec<CircuitChange>,
    ) {
        probes.out = probes.out.saturating_sub(1);
        probes.answers.add(call);
        self.phase = Phase::HalfOpen(probes);
        match probes.decision(rules) {
            Some(Decided::Open(why)) => self.open(rules, now, why, changes),
            Some(Decided::Close) => self.close(changes),
            None => {}
        }
    }

    fn open(&mut self, rules: &BreakerRules, now: Instant, why: OpenReason, changes: &mut Vec<CircuitChange>) {
        let period = open_period(rules, self.openings.saturating_add(1));
        self.open_until(now.plus(period), why, changes);
    }

    fn open_until(&mut self, until: Instant, why: OpenReason, changes: &mut Vec<CircuitChange>) {
        self.openings = self.openings.saturating_add(1);
        self.phase = Phase::Open { until };
        changes.push(CircuitChange::Opened { why, until: Some(until) });
    }

    fn half_open(&mut self, now: Instant, changes: &mut Vec<CircuitChange>) {
        self.generation = Generation(self.generation.0.wrapping_add(1));
        self.phase = Phase::HalfOpen(Probes { since: now, last: now, out: 0, answers: Tally::default() });
        changes.push(CircuitChange::HalfOpen);
    }

    fn close(&mut self, changes: &mut Vec<CircuitChange>) {
        self.openings = 0;
        self.phase = Phase::Closed;
        self.window.clear();
        changes.push(CircuitChange::Closed);
    }

    /// Its state; time alone does not change it before it is asked.
    pub const fn state(&self) -> BreakerState {
        match self.phase {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { .. } => BreakerState::Open,
            Phase::HalfOpen(_) => BreakerState::HalfOpen,
            Phase::ForcedOpen => BreakerState::ForcedOpen,
            Phase::Disabled => BreakerState::Disabled,
            Phase::MetricsOnly => BreakerState::MetricsOnly,
        }
    }

    /// What it counts now: the answers to its probes while it is half open, else those of its window.
    pub fn tally(&self, rules: &BreakerRules, now: Instant) -> Tally {
        match self.phase {
            Phase::HalfOpen(probes) => probes.answers,
            _ => self.window.tally(&rules.window, now),
        }
    }

    /// The answers that it needs in its state before a rate counts.
    pub fn needed_calls(&self, rules: &BreakerRules) -> u32 {
        match (self.phase, rules.half_open) {
            (Phase::HalfOpen(_), HalfOpen::EvaluateRate { permits, .. }) => rules.min_calls.min(permits),
            (Phase::HalfOpen(_), _) => 1,
            _ => needed_calls(rules),
        }
    }
}

/// How long a breaker stays open after so many openings.
fn open_period(rules: &BreakerRules, openings: u32) -> Duration {
    match &rules.open {
        OpenPeriod::Fixed(period) => *period,
        OpenPeriod::Growing(formula) => formula_wait(formula, openings),
    }
}

/// The answers that the window needs before a threshold counts.
fn needed_calls(rules: &BreakerRules) -> u32 {
    match rules.window {
        BreakerWindow::Calls(most) => rules.min_calls.min(most),
        BreakerWindow::Time(_) => rules.min_calls,
    }
}

/// The threshold that the answers of the window reach.
fn reached(rules: &BreakerRules, tally: &Tally) -> Option<OpenReason> {
    if tally.calls < u64::from(needed_calls(rules)) {
        return None;
    }
    let many = rules.opens_at.failure_count.is_some_and(|count| tally.failures >= u64::from(count));
    many.then_some(OpenReason::FailureCount).or_else(|| rate_reached(rules, tally))
}

fn rate_reached(rules: &BreakerRules, tally: &Tally) -> Option<OpenReason> {
    let is_part = |part: u64, rate: Ratio| {
        u128::from(part) * u128::from(Ratio::SCALE) >= u128::from(rate.0) * u128::from(tally.calls)
    };
    let opens_at = rules.opens_at;
    if opens_at.failure_rate.is_some_and(|rate| is_part(tally.failures, rate)) {
        return Some(OpenReason::FailureRate);
    }
    opens_at.slow.is_some_and(|slow| is_part(tally.slow, slow.rate)).then_some(OpenReason::SlowCallRate)
}

/// What the answers of probes decide.
enum Decided {
    Open(OpenReason),
    Close,
}

impl Probes {
    /// Whether one more probe may pass.
    fn have_room(&self, rules: &HalfOpen, now: Instant) -> bool {
        match *rules {
            HalfOpen::SingleProbe { another_after } => {
                self.out == 0 || another_after.is_some_and(|wait| now >= self.last.plus(wait))
            }
            HalfOpen::EvaluateRate { permits, .. } => {
                u64::from(self.out).saturating_add(self.answers.calls) < u64::from(permits)
            }
            HalfOpen::Thresholds { capacity, .. } => self.out < capacity,
        }
    }

    /// How long until another single probe passes, whatever the one that is out answers (Polly).
    fn retry_after(&self, rules: &BreakerRules, now: Instant) -> Option<Duration> {
        let HalfOpen::SingleProbe { another_after: Some(wait) } = rules.half_open else { return None };
        let wait = self.last.plus(wait).since(now);
        (wait > Duration::ZERO).then_some(wait)
    }

    /// What the answers decide.
    fn decision(&self, rules: &BreakerRules) -> Option<Decided> {
        let Tally { calls, failures, .. } = self.answers;
        let successes = calls.saturating_sub(failures);
        let probe = Some(Decided::Open(OpenReason::Probe));
        match rules.half_open {
            HalfOpen::SingleProbe { .. } if failures > 0 => probe,
            HalfOpen::SingleProbe { .. } => Some(Decided::Close),
            HalfOpen::EvaluateRate { permits, .. } if calls < u64::from(rules.min_calls.min(permits)) => None,
            HalfOpen::EvaluateRate { .. } => {
                Some(rate_reached(rules, &self.answers).map_or(Decided::Close, Decided::Open))
            }
            HalfOpen::Thresholds { capacity, decides } => {
                let beyond = |needed: u32| u64::from(capacity.saturating_sub(needed));
                match decides {
                    ProbeThreshold::Successes(needed) if successes >= u64::from(needed) => Some(Decided::Close),
                    ProbeThreshold::Successes(needed) if failures > beyond(needed) => probe,
                    ProbeThreshold::Failures(needed) if failures >= u64::from(needed) => probe,
                    ProbeThreshold::Failures(needed) if successes > beyond(needed) => Some(Decided::Close),
                    ProbeThreshold::Successes(_) | ProbeThreshold::Failures(_) => None,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::playbook::{
        BucketAlign, Cap, Counter, Family, Formula, Jitter, OpenThresholds, Ratio, SlowCalls, TimeWindow,
    };

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// Opens at three failures of the last five answers, for 100 ms.
    fn rules() -> BreakerRules {
        BreakerRules {
            window: BreakerWindow::Calls(5),
            min_calls: 1,
            opens_at: OpenThresholds { failure_count: Some(3), ..OpenThresholds::default() },
            evaluate_on: EvaluateOn::Failure,
            open: OpenPeriod::Fixed(ms(100)),
            boundary: OpenBoundary::AtEnd,
            half_open: HalfOpen::SingleProbe { another_after: None },
        }
    }

    fn by_rate(permits: u32) -> BreakerRules {
        BreakerRules {
            min_calls: 4,
            opens_at: OpenThresholds { failure_rate: Some(Ratio(500_000)), ..OpenThresholds::default() },
            half_open: HalfOpen::EvaluateRate { permits, max_wait: None, on_max_wait: AfterMaxWait::Open },
            ..rules()
        }
    }

    /// A breaker with its rules and its transitions so far.
    struct Bench {
        rules: BreakerRules,
        breaker: Breaker,
        changes: Vec<CircuitChange>,
    }

    impl Bench {
        fn new(rules: BreakerRules) -> Bench {
            Bench { rules, breaker: Breaker::default(), changes: Vec::new() }
        }

        /// The same, opened by people at 0.
        fn opened(rules: BreakerRules) -> Bench {
            let mut bench = Bench::new(rules);
            bench.force(0, BreakerState::Open);
            bench
        }

        fn pass(&mut self, millis: u64) -> Result<Option<Generation>, Blocked> {
            let could = self.breaker.may_pass(&self.rules, at(millis));
            let passed = self.breaker.pass(&self.rules, at(millis), &mut self.changes);
            assert_eq!(could, passed.map(|_| ()), "`may_pass` and `pass` agree");
            passed
        }

        fn probe(&mut self, millis: u64) -> Generation {
            self.pass(millis).unwrap().expect("a probe")
        }

        fn answer(&mut self, millis: u64, mark: BreakerMark, probe: Option<Generation>) -> BreakerState {
            self.slow_answer(millis, mark, 1, probe)
        }

        fn slow_answer(
            &mut self,
            millis: u64,
            mark: BreakerMark,
            took: u64,
            probe: Option<Generation>,
        ) -> BreakerState {
            self.breaker.record(
                &self.rules,
                at(millis),
                MarkedAnswer { mark, took: ms(took), probe },
                &mut self.changes,
            );
            self.breaker.state()
        }

        fn force(&mut self, millis: u64, state: BreakerState) {
            self.breaker.force(&self.rules, at(millis), state, &mut self.changes);
        }

        /// The states after these answers at 0: `f`ailure, `s`uccess, `i`gnored.
        fn answers(&mut self, answers: &str) -> Vec<BreakerState> {
            answers.chars().map(|answer| self.answer(0, mark(answer), None)).collect()
        }
    }

    fn mark(answer: char) -> BreakerMark {
        match answer {
            'f' => BreakerMark::Failure,
            's' => BreakerMark::Success,
            _ => BreakerMark::Ignored,
        }
    }

    const CLOSED: BreakerState = BreakerState::Closed;
    const OPEN: BreakerState = BreakerState::Open;
    const HALF: BreakerState = BreakerState::HalfOpen;

    #[test]
    fn people_may_make_every_change_but_one() {
        let refused = BreakerState::ALL.into_iter().flat_map(|from| BreakerState::ALL.map(|to| (from, to)));
        let refused: Vec<_> = refused.filter(|(from, to)| !from.may_become(*to)).collect();
        assert_eq!(refused, [(BreakerState::Closed, BreakerState::HalfOpen)]);
    }

    #[test]
    fn each_threshold_opens_when_it_is_reached_and_not_before() {
        let rate = |rate, min_calls| BreakerRules {
            min_calls,
            opens_at: OpenThresholds { failure_rate: Some(Ratio(rate)), ..OpenThresholds::default() },
            ..rules()
        };
        let cases = [
            (rules(), "ffsf", 4),
            (rules(), "ffsssf", 0),         // the first failure has left the window
            (rate(500_000, 4), "fsfsf", 5), // a success does not open
            (rate(500_000, 4), "ssff", 4),
            (rate(500_001, 4), "ssff", 0),
            (rate(1, 4), "fff", 0),
            (rate(1_000_000, 100), "fffff", 5), // the window holds no more than five
            (BreakerRules { evaluate_on: EvaluateOn::Any, ..rate(500_000, 4) }, "fsfs", 4),
            (BreakerRules { min_calls: 5, ..rules() }, "fffsf", 5),
            (rules(), "fifif", 5), // ignored answers are not counted
        ];
        for (rules, answers, opens_at) in cases {
            let states = Bench::new(rules).answers(answers);
            let opened = states.iter().position(|state| *state == OPEN).map_or(0, |before| before + 1);
            assert_eq!(opened, opens_at, "{answers} {rules:?}");
        }
    }

    #[test]
    fn an_answer_is_slow_if_it_takes_longer_than_the_limit() {
        let slow = SlowCalls { over: ms(400), rate: Ratio(500_000) };
        let rules = BreakerRules {
            min_calls: 2,
            opens_at: OpenThresholds { slow: Some(slow), ..OpenThresholds::default() },
            evaluate_on: EvaluateOn::Any,
            ..rules()
        };
        for (took, state) in [(400, CLOSED), (401, OPEN)] {
            let mut bench = Bench::new(rules);
            bench.answer(0, BreakerMark::Success, None);
            assert_eq!(bench.slow_answer(0, BreakerMark::Success, took, None), state, "{took} ms");
        }
        let mut bench = Bench::new(rules);
        bench.slow_answer(0, BreakerMark::Success, 900, None);
        bench.slow_answer(0, BreakerMark::Failure, 900, None);
        assert!(matches!(bench.changes[..], [CircuitChange::Opened { why: OpenReason::SlowCallRate, .. }]));
    }

    #[test]
    fn the_boundary_of_the_open_period_is_at_its_end_or_after_it() {
        for (boundary, passes_at_end) in [(OpenBoundary::AtEnd, true), (OpenBoundary::AfterEnd, false)] {
            let mut bench = Bench::opened(BreakerRules { boundary, ..rules() });
            let beyond = Duration::from_micros(u64::from(!passes_at_end));
            assert_eq!(bench.pass(40), Err(Blocked { retry_after: Some(ms(60).plus(beyond)) }));
            assert_eq!(bench.pass(99), Err(Blocked { retry_after: Some(ms(1).plus(beyond)) }));
            assert_eq!(bench.breaker.state(), OPEN);
            assert_eq!(bench.pass(100).is_ok(), passes_at_end, "{boundary:?}");
            assert_eq!(bench.pass(101).is_ok(), !passes_at_end, "one probe only");
            assert_eq!(bench.changes[1..], [CircuitChange::HalfOpen]);
        }
    }

    #[test]
    fn asking_reserves_nothing_and_changes_nothing() {
        let bench = Bench::opened(rules());
        let before = bench.breaker.clone();
        assert_eq!(bench.breaker.may_pass(&bench.rules, at(100)), Ok(()));
        assert_eq!(bench.breaker.may_pass(&bench.rules, at(100)), Ok(()));
        assert_eq!(bench.breaker, before);
    }

    #[test]
    fn the_single_probe_decides_and_everyone_else_waits_for_it() {
        for (answer, state, next) in [('f', OPEN, 200), ('s', CLOSED, 100)] {
            let mut bench = Bench::opened(rules());
            let probe = bench.probe(100);
            assert_eq!(bench.pass(130), Err(Blocked { retry_after: None }), "its answer decides when");
            assert_eq!(bench.pass(5_000), Err(Blocked { retry_after: None }));
            assert_eq!(bench.answer(100, mark(answer), Some(probe)), state);
            assert!(bench.pass(next).is_ok(), "{answer}");
        }
    }

    #[test]
    fn another_probe_passes_after_the_first_one_is_lost() {
        let half_open = HalfOpen::SingleProbe { another_after: Some(ms(50)) };
        let mut bench = Bench::opened(BreakerRules { half_open, ..rules() });
        let first = bench.probe(100);
        assert_eq!(bench.pass(149), Err(Blocked { retry_after: Some(ms(1)) }));
        let second = bench.probe(150);
        assert_eq!(first, second, "one half-open period");
        assert_eq!(bench.pass(199), Err(Blocked { retry_after: Some(ms(1)) }));
        assert_eq!(bench.answer(199, BreakerMark::Failure, Some(second)), OPEN);
        assert_eq!(bench.answer(199, BreakerMark::Success, Some(first)), OPEN);
    }

    #[test]
    fn a_cancelled_or_ignored_probe_frees_its_place() {
        let mut bench = Bench::opened(rules());
        let probe = bench.probe(100);
        bench.breaker.release(probe);
        let probe = bench.probe(100);
        assert_eq!(bench.answer(100, BreakerMark::Ignored, Some(probe)), HALF);
        let probe = bench.probe(100);
        assert_eq!(bench.answer(100, BreakerMark::Success, Some(probe)), CLOSED);
    }

    #[test]
    fn the_answer_of_another_half_open_period_counts_for_nothing() {
        let mut bench = Bench::opened(rules());
        let old = bench.probe(100);
        bench.force(100, BreakerState::Open);
        let new = bench.probe(200);
        assert_ne!(old, new);
        assert_eq!(bench.answer(200, BreakerMark::Success, Some(old)), HALF);
        assert_eq!(bench.answer(200, BreakerMark::Failure, None), HALF);
        bench.breaker.release(old);
        assert!(bench.pass(200).is_err(), "the new probe is still out");
        assert_eq!(bench.answer(200, BreakerMark::Success, Some(new)), CLOSED);
    }

    #[test]
    fn rates_of_probes_decide_after_as_many_answers_as_needed() {
        for (answers, state) in [("fsss", CLOSED), ("ffss", OPEN), ("ffsf", OPEN), ("ssssx", CLOSED), ("fff", HALF)] {
            let mut bench = Bench::opened(by_rate(4));
            for answer in answers.chars().filter(|answer| *answer != 'x') {
                let probe = bench.probe(100);
                bench.answer(100, mark(answer), Some(probe));
            }
            assert_eq!(bench.breaker.state(), state, "{answers}");
        }
        // Fewer permits than the minimum: all of them decide. More: the minimum does.
        for (permits, needed) in [(2, 2), (9, 4)] {
            let mut bench = Bench::opened(by_rate(permits));
            bench.probe(100);
            assert_eq!(bench.breaker.needed_calls(&bench.rules), needed);
            for answered in 1..=needed {
                assert_eq!(bench.breaker.state(), HALF, "{permits} permits, {answered} answers");
                let probe = bench.breaker.generation;
                bench.answer(100, BreakerMark::Success, Some(probe));
            }
            assert_eq!(bench.breaker.state(), CLOSED);
        }
    }

    #[test]
    fn a_half_open_period_has_so_many_permits_and_no_more() {
        let mut bench = Bench::opened(by_rate(4));
        let probes: Vec<Generation> = (0..4).map(|_| bench.probe(100)).collect();
        assert!(bench.pass(100).is_err());
        bench.breaker.release(probes[0]);
        let again = bench.probe(100);
        bench.answer(100, BreakerMark::Success, Some(again));
        assert!(bench.pass(100).is_err(), "an answer does not give its permit back");
        bench.force(100, BreakerState::Open);
        bench.force(100, BreakerState::HalfOpen);
        for _ in 0..4 {
            bench.probe(100);
        }
        assert!(bench.pass(100).is_err());
    }

    #[test]
    fn a_half_open_period_that_lasts_too_long_ends_as_the_rules_say() {
        for (on_max_wait, state) in [(AfterMaxWait::Open, OPEN), (AfterMaxWait::Closed, CLOSED)] {
            let half_open = HalfOpen::EvaluateRate { permits: 4, max_wait: Some(ms(50)), on_max_wait };
            let mut bench = Bench::opened(BreakerRules { half_open, ..by_rate(4) });
            let probe = bench.probe(100);
            bench.breaker.settle(&bench.rules, at(149), &mut bench.changes);
            assert_eq!(bench.breaker.state(), HALF);
            bench.breaker.settle(&bench.rules, at(160), &mut bench.changes);
            assert_eq!(bench.breaker.state(), state);
            assert_eq!(bench.answer(161, BreakerMark::Success, Some(probe)), state);
            // It opened at 150, when it was due, not at 160, when somebody asked.
            assert_eq!(bench.pass(249).is_ok(), state == CLOSED);
            assert!(bench.pass(250).is_ok());
        }
    }

    #[test]
    fn thresholds_of_probes_decide_as_soon_as_the_other_end_is_out_of_reach() {
        let cases = [
            (ProbeThreshold::Successes(3), "sss", CLOSED),
            (ProbeThreshold::Successes(3), "fss", HALF),
            (ProbeThreshold::Successes(3), "fsf", OPEN),
            (ProbeThreshold::Failures(2), "ff", OPEN),
            (ProbeThreshold::Failures(2), "ss", HALF),
            (ProbeThreshold::Failures(2), "sss", CLOSED),
            (ProbeThreshold::Failures(4), "s", CLOSED),
        ];
        for (decides, answers, state) in cases {
            let half_open = HalfOpen::Thresholds { capacity: 4, decides };
            let mut bench = Bench::opened(BreakerRules { half_open, ..rules() });
            let mut last = HALF;
            for answer in answers.chars() {
                assert_eq!(last, HALF, "decided too early: {decides:?} {answers}");
                let probe = bench.probe(100);
                last = bench.answer(100, mark(answer), Some(probe));
            }
            assert_eq!(last, state, "{decides:?} {answers}");
        }
        let half_open = HalfOpen::Thresholds { capacity: 2, decides: ProbeThreshold::Successes(2) };
        let mut bench = Bench::opened(BreakerRules { half_open, ..rules() });
        let first = bench.probe(100);
        bench.probe(100);
        assert!(bench.pass(100).is_err());
        bench.answer(100, BreakerMark::Success, Some(first));
        assert!(bench.pass(100).is_ok(), "an answer gives its permit back");
    }

    #[test]
    fn the_open_period_grows_with_the_openings_since_the_last_close() {
        let formula = Formula {
            family: Family::Exponential { base: ms(100), multiplier: Ratio(1_500_000) },
            max: Some(ms(200)),
            cap: Cap::BeforeJitter,
            jitter: Jitter::None,
            floor: Duration::ZERO,
            whole_ms: false,
            counter: Counter::Verdict,
        };
        let mut bench = Bench::new(BreakerRules { open: OpenPeriod::Growing(formula), ..rules() });
        let mut periods = Vec::new();
        let mut now = 0;
        for closes in [false, false, true, false] {
            bench.changes.clear();
            bench.force(now, BreakerState::Open);
            let [CircuitChange::Opened { until: Some(until), .. }] = bench.changes[..] else {
                panic!("{:?}", bench.changes)
            };
            periods.push(until.since(at(now)).as_millis());
            now = until.as_micros() / 1_000;
            if closes {
                let probe = bench.probe(now);
                bench.answer(now, BreakerMark::Success, Some(probe));
            }
        }
        assert_eq!(periods, [100, 150, 200, 100]);
    }

    #[test]
    fn a_breaker_that_closes_counts_from_nothing() {
        let mut bench = Bench::new(rules());
        assert_eq!(bench.answers("fff"), [CLOSED, CLOSED, OPEN]);
        assert_eq!(bench.breaker.tally(&bench.rules, at(0)).calls, 3);
        bench.answer(50, BreakerMark::Failure, None);
        assert_eq!(bench.breaker.tally(&bench.rules, at(50)).calls, 4, "late answers are counted for people");
        let probe = bench.probe(100);
        assert_eq!(bench.breaker.tally(&bench.rules, at(100)).calls, 0);
        bench.answer(100, BreakerMark::Success, Some(probe));
        assert_eq!(bench.breaker.tally(&bench.rules, at(100)).calls, 0);
        assert_eq!(bench.answers("ff"), [CLOSED, CLOSED]);
    }

    #[test]
    fn people_hold_a_breaker_open_off_or_watching() {
        let mut bench = Bench::new(rules());
        bench.force(0, BreakerState::ForcedOpen);
        assert_eq!(bench.pass(1_000_000), Err(Blocked { retry_after: None }));
        bench.force(0, BreakerState::Disabled);
        assert_eq!(bench.answers("ffff").last(), Some(&BreakerState::Disabled));
        assert_eq!((bench.pass(0), bench.breaker.tally(&bench.rules, at(0)).calls), (Ok(None), 0));
        bench.force(0, BreakerState::MetricsOnly);
        assert_eq!(bench.answers("ffff").last(), Some(&BreakerState::MetricsOnly));
        assert_eq!((bench.pass(0), bench.breaker.tally(&bench.rules, at(0)).calls), (Ok(None), 4));
        bench.force(0, BreakerState::Closed);
        assert_eq!(bench.answers("ff"), [CLOSED, CLOSED]);
        bench.breaker.force_open_until(at(7_000), &mut bench.changes);
        assert_eq!(bench.pass(6_999), Err(Blocked { retry_after: Some(ms(1)) }));
    }

    #[test]
    fn a_failure_that_has_left_the_time_window_does_not_open() {
        for (align, last, state) in [
            (BucketAlign::Epoch, 199, OPEN),
            (BucketAlign::Epoch, 200, CLOSED),
            (BucketAlign::FirstEvent, 299, OPEN),
            (BucketAlign::FirstEvent, 300, CLOSED),
        ] {
            let window = BreakerWindow::Time(TimeWindow { span: ms(200), buckets: 2, align });
            let mut bench = Bench::new(BreakerRules { window, ..rules() });
            let first = if align == BucketAlign::Epoch { 99 } else { 100 };
            bench.answer(first, BreakerMark::Failure, None);
            bench.answer(first, BreakerMark::Failure, None);
            assert_eq!(bench.answer(last, BreakerMark::Failure, None), state, "{align:?} {last}");
        }
    }

    /// All states that a breaker reaches by any sequence of few inputs: no probe is lost, and no more are out than may be.
    #[test]
    fn no_sequence_of_inputs_lets_more_probes_out_than_the_rules_allow() {
        for (rules, most) in [
            (rules(), 1),
            (by_rate(2), 2),
            (
                BreakerRules {
                    half_open: HalfOpen::Thresholds { capacity: 2, decides: ProbeThreshold::Successes(1) },
                    ..rules()
                },
                2,
            ),
        ] {
            let mut reached = BTreeSet::new();
            let mut open: Vec<(Bench, u64, Vec<Generation>)> = vec![(Bench::opened(rules), 100, Vec::new())];
            while let Some((bench, now, out)) = open.pop() {
                if now > 600 || !reached.insert(format!("{:?} {now} {out:?}", bench.breaker)) {
                    continue;
                }
                let of_this = out.iter().filter(|probe| **probe == bench.breaker.generation).count();
                assert!(bench.breaker.state() != HALF || of_this <= most, "{of_this} probes are out");
                let fork = |bench: &Bench| Bench { rules, breaker: bench.breaker.clone(), changes: Vec::new() };
                let mut asked = fork(&bench);
                if let Ok(probe) = asked.pass(now) {
                    open.push((asked, now, out.iter().copied().chain(probe).collect()));
                }
                for nth in 0..out.len() {
                    let mut rest = out.clone();
                    let probe = rest.remove(nth);
                    for answer in ['f', 's', 'i'] {
                        let mut answered = fork(&bench);
                        answered.answer(now, mark(answer), Some(probe));
                        open.push((answered, now, rest.clone()));
                    }
                }
                if out.len() <= 3 {
                    open.push((bench, now + 100, out));
                }
            }
            assert!(reached.len() > 50, "{}", reached.len());
        }
    }
}
