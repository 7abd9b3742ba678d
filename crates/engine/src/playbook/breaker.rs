//! When the breaker of a server opens, how long it stays open, and how probes close it. A model; `dispatch::breaker`
//! keeps its state.

use super::waiting::{Formula, Ratio};
use crate::time::Duration;
use crate::words;

/// The rules of one breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerRules {
    /// The answers that it counts.
    pub window: BreakerWindow,
    /// Answers in the window before any threshold counts, from 1; at most those that a window by calls can hold.
    pub min_calls: u32,
    /// What opens it; at least one is set.
    pub opens_at: OpenThresholds,
    /// Which answers may open it.
    pub evaluate_on: EvaluateOn,
    /// How long it stays open.
    pub open: OpenPeriod,
    /// Whether a request may pass at the end of that period, or only after it.
    pub boundary: OpenBoundary,
    /// How requests probe the server afterwards.
    pub half_open: HalfOpen,
}

/// The answers that a breaker counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerWindow {
    /// The last ones, this many at most, from 1.
    Calls(u32),
    /// Those of the last time.
    Time(TimeWindow),
}

/// A span of time in equal buckets; a bucket is forgotten as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWindow {
    /// The span.
    pub span: Duration,
    /// Its buckets, from 1; each lasts at least a microsecond.
    pub buckets: u32,
    /// Where a bucket starts.
    pub align: BucketAlign,
}

words! {
    /// Where the bucket of a time window starts.
    pub enum BucketAlign {
        /// At a multiple of its length (resilience4j, Failsafe).
        Epoch = "epoch",
        /// At its first event (Polly).
        FirstEvent = "first_event",
    }
}

/// What opens a breaker: any of them, when it is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenThresholds {
    /// The part of failures.
    pub failure_rate: Option<Ratio>,
    /// The number of failures, from 1.
    pub failure_count: Option<u32>,
    /// The part of slow answers.
    pub slow: Option<SlowCalls>,
}

/// Answers that count as slow, and how many of them open a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowCalls {
    /// An answer is slow if it takes longer.
    pub over: Duration,
    /// The part of slow answers that opens.
    pub rate: Ratio,
}

words! {
    /// Which answers may open a breaker.
    pub enum EvaluateOn {
        /// Failures (Polly).
        Failure = "failure",
        /// Also successes (resilience4j, Failsafe).
        Any = "any",
    }
}

/// How long a breaker stays open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenPeriod {
    /// Always as long.
    Fixed(Duration),
    /// By a formula over the openings since it was last closed. It needs no draw.
    Growing(Formula),
}

words! {
    /// When an open breaker lets a request pass.
    pub enum OpenBoundary {
        /// From the end of the period.
        AtEnd = ">=",
        /// After the end of the period.
        AfterEnd = ">",
    }
}

/// How requests probe a server after its breaker was open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfOpen {
    /// One request; its success closes, its failure opens.
    SingleProbe {
        /// Lets one more request pass if no answer came for so long (Polly 7); none: never.
        another_after: Option<Duration>,
    },
    /// A number of requests; the rates of their answers decide (resilience4j).
    EvaluateRate {
        /// Requests of one half-open period, from 1.
        permits: u32,
        /// The longest half-open period; none: any.
        max_wait: Option<Duration>,
        /// What follows a longer one.
        on_max_wait: AfterMaxWait,
    },
    /// Requests until enough of them succeed or fail (Failsafe).
    Thresholds {
        /// Requests at once, and answers until it is decided, from 1.
        capacity: u32,
        /// How many answers decide.
        decides: ProbeThreshold,
    },
}

words! {
    /// What follows a half-open period that lasts too long.
    pub enum AfterMaxWait {
        /// The breaker opens again.
        Open = "open",
        /// The breaker closes.
        Closed = "closed",
    }
}

/// How many answers of probes decide; neither is above the capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeThreshold {
    /// So many successes close; it opens when they can no longer be reached.
    Successes(u32),
    /// So many failures open; it closes when they can no longer be reached.
    Failures(u32),
}

words! {
    /// The modes of the half-open state.
    pub enum HalfOpenWord {
        SingleProbe = "single_probe",
        EvaluateRate = "evaluate_rate",
        Thresholds = "thresholds",
    }
}

impl HalfOpen {
    /// Its name.
    pub const fn word(&self) -> HalfOpenWord {
        match self {
            HalfOpen::SingleProbe { .. } => HalfOpenWord::SingleProbe,
            HalfOpen::EvaluateRate { .. } => HalfOpenWord::EvaluateRate,
            HalfOpen::Thresholds { .. } => HalfOpenWord::Thresholds,
        }
    }
}

words! {
    /// What the answer of a verdict says to the breaker of its server.
    pub enum BreakerMark {
        /// The server does not work.
        Failure = "failure",
        /// The server works.
        Success = "success",
        /// Nothing: a complete round trip that nobody marked proves no outage.
        Ignored = "ignored",
    }
}
