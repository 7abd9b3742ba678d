//! How long a retry waits: the playbook's own wait, and what the upstream's wish changes. A model;
//! `dispatch::wait` computes with it.

use std::fmt;

use super::terminal::Terminal;
use crate::decimal;
use crate::event::WishFaults;
use crate::time::Duration;
use crate::words;

/// The waits before the retries of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backoff {
    /// In order, never empty; the last one repeats for further retries.
    Listed(Vec<Duration>),
    /// By a formula.
    Formula(Formula),
}

impl Backoff {
    /// Whether a wait depends on a draw.
    pub const fn is_drawn(&self) -> bool {
        match self {
            Backoff::Listed(_) => false,
            Backoff::Formula(formula) => formula.family.is_drawn() || !matches!(formula.jitter, Jitter::None),
        }
    }
}

/// A family of waits, its bounds and its jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formula {
    /// How the waits grow.
    pub family: Family,
    /// The longest wait; none: a day.
    pub max: Option<Duration>,
    /// Where `max` cuts.
    pub cap: Cap,
    /// How a draw spreads the waits; a drawn family has no other jitter.
    pub jitter: Jitter,
    /// The shortest wait.
    pub floor: Duration,
    /// Whether waits are cut to whole milliseconds, each step by itself.
    pub whole_ms: bool,
    /// Which retries the growth counts.
    pub counter: Counter,
}

#[cfg(test)]
impl Formula {
    /// The waits of a family, with no bounds and no jitter.
    pub(crate) const fn plain(family: Family) -> Formula {
        Formula {
            family,
            max: None,
            cap: Cap::BeforeJitter,
            jitter: Jitter::None,
            floor: Duration::ZERO,
            whole_ms: false,
            counter: Counter::Verdict,
        }
    }
}

/// How waits grow. `n` is the number of the retry, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// `base`.
    Constant {
        /// The wait.
        base: Duration,
    },
    /// `base + increment * (n - 1)`.
    Linear {
        /// The first wait.
        base: Duration,
        /// What each further wait adds.
        increment: Duration,
    },
    /// `base * multiplier^(n - 1)`.
    Exponential {
        /// The first wait.
        base: Duration,
        /// The factor of each further wait, from 1.
        multiplier: Ratio,
    },
    /// `base + coef * (n - 1)^exponent`.
    Polynomial {
        /// The first wait.
        base: Duration,
        /// The factor of the power.
        coef: Duration,
        /// The power.
        exponent: u32,
    },
    /// `base` times 1, 1, 2, 3, 5, 8 and so on.
    Fibonacci {
        /// The first wait.
        base: Duration,
    },
    /// `base + draw * (min(max, multiplier * from) - base)`.
    Decorrelated {
        /// The shortest wait.
        base: Duration,
        /// The factor of `from`.
        multiplier: Ratio,
        /// What is multiplied.
        from: DecorrelatedFrom,
    },
    /// The decorrelated jitter of Polly 8: `base * (f(t) - f(t before)) / 1.4` with `f(t) = 2^t * tanh(sqrt(4 t))` and
    /// `t = n - 1 + draw` (`RetryHelper.DecorrelatedJitterBackoffV2`).
    PollyV2 {
        /// The median of the first wait.
        base: Duration,
    },
}

words! {
    /// The families of waits.
    pub enum FamilyWord {
        Constant = "constant",
        Linear = "linear",
        Exponential = "exponential",
        Polynomial = "polynomial",
        Fibonacci = "fibonacci",
        Decorrelated = "decorrelated",
        PollyV2 = "polly_v2",
    }
}

impl Family {
    /// Its name.
    pub const fn word(&self) -> FamilyWord {
        match self {
            Family::Constant { .. } => FamilyWord::Constant,
            Family::Linear { .. } => FamilyWord::Linear,
            Family::Exponential { .. } => FamilyWord::Exponential,
            Family::Polynomial { .. } => FamilyWord::Polynomial,
            Family::Fibonacci { .. } => FamilyWord::Fibonacci,
            Family::Decorrelated { .. } => FamilyWord::Decorrelated,
            Family::PollyV2 { .. } => FamilyWord::PollyV2,
        }
    }

    /// Whether its waits depend on a draw by themselves.
    pub const fn is_drawn(&self) -> bool {
        matches!(self, Family::Decorrelated { .. } | Family::PollyV2 { .. })
    }

    /// The wait from which it grows.
    pub const fn base(&self) -> Duration {
        match *self {
            Family::Constant { base }
            | Family::Linear { base, .. }
            | Family::Exponential { base, .. }
            | Family::Polynomial { base, .. }
            | Family::Fibonacci { base }
            | Family::Decorrelated { base, .. }
            | Family::PollyV2 { base } => base,
        }
    }
}

words! {
    /// What a decorrelated wait multiplies.
    pub enum DecorrelatedFrom {
        /// The first wait.
        Base = "base",
        /// The wait before.
        Previous = "prev",
    }
}

words! {
    /// Where the longest wait cuts.
    pub enum Cap {
        /// The jitter may lengthen the capped wait.
        BeforeJitter = "before_jitter",
        /// No wait is longer.
        AfterJitter = "after_jitter",
    }
}

words! {
    /// Which earlier retries the growth of the waits counts.
    pub enum Counter {
        /// Those of the same verdict.
        Verdict = "verdict",
        /// All of the call.
        Call = "call",
        /// Those of the call whose wait was the playbook's own.
        Own = "own",
        /// Those of the call since the upstream last set a wait.
        SinceServerDelay = "since_server_delay",
    }
}

/// How a draw spreads a wait `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Not at all.
    None,
    /// `draw * d`.
    Full,
    /// `d / 2 + draw * d / 2`.
    Equal,
    /// `d * (low + draw * (high - low))`; `low` may be above `high`.
    Proportional {
        /// The factor of draw 0.
        low: Ratio,
        /// The factor of draw 1.
        high: Ratio,
    },
    /// `d + (1 - 2 * draw) * by`, as failsafe has it; not below 0.
    Absolute {
        /// The largest change.
        by: Duration,
    },
    /// `d + draw * (by + per_retry * n)`.
    Additive {
        /// The largest addition, apart from the retries.
        by: Duration,
        /// What each retry adds to it.
        per_retry: Duration,
    },
    /// The draw in billionths, modulo the milliseconds of `d`.
    Modulo,
}

words! {
    /// The kinds of jitter.
    pub enum JitterWord {
        None = "none",
        Full = "full",
        Equal = "equal",
        Modulo = "modulo",
        Proportional = "proportional",
        Absolute = "absolute",
        Additive = "additive",
    }
}

impl Jitter {
    /// Its name.
    pub const fn word(&self) -> JitterWord {
        match self {
            Jitter::None => JitterWord::None,
            Jitter::Full => JitterWord::Full,
            Jitter::Equal => JitterWord::Equal,
            Jitter::Proportional { .. } => JitterWord::Proportional,
            Jitter::Absolute { .. } => JitterWord::Absolute,
            Jitter::Additive { .. } => JitterWord::Additive,
            Jitter::Modulo => JitterWord::Modulo,
        }
    }
}

/// A factor in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ratio(pub u32);

impl Ratio {
    /// Millionths of one.
    pub const SCALE: u32 = 1_000_000;

    /// The decimal places of millionths.
    const PLACES: u32 = 6;

    /// One.
    pub const ONE: Ratio = Ratio(Ratio::SCALE);

    /// Parses a decimal number with at most six places.
    pub fn parse(text: &str) -> Option<Ratio> {
        u32::try_from(decimal::parse(text, Ratio::PLACES)?).ok().map(Ratio)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal::write(f, self.0.into(), Ratio::PLACES)
    }
}

/// What the upstream's wish to wait changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerDelay {
    /// How the wish and the playbook's own wait become one.
    pub mode: ServerDelayMode,
    /// The longest wish; none: any.
    pub max: Option<Duration>,
    /// What a longer wish does.
    pub over_max: OverMax,
    /// Whether a wish of 0 ms counts as none.
    pub ignores_zero: bool,
    /// The faults of a wish at which the call is not sent again; a wish with any other fault counts as none, and of
    /// several values the first counts.
    pub stops_at: WishFaults,
}

/// A header that says how long to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelaySource {
    /// Its name in lower case.
    pub header: String,
    /// How its value is written.
    pub format: DelayFormat,
    /// Whether the number may have decimal places.
    pub float: bool,
}

words! {
    /// How a header writes a wish to wait.
    pub enum DelayFormat {
        /// Milliseconds.
        Millis = "ms",
        /// Seconds.
        Seconds = "seconds",
        /// Until a time as HTTP writes it.
        HttpDate = "http_date",
        /// Until a time in seconds since 1970.
        UnixTime = "unix_ts",
    }
}

impl ServerDelay {
    /// No wish is heeded.
    pub const IGNORED: ServerDelay = ServerDelay {
        mode: ServerDelayMode::Ignore,
        max: None,
        over_max: OverMax::Stop,
        ignores_zero: false,
        stops_at: WishFaults { invalid: false, negative: false, multiple: false },
    };
}

/// How the upstream's wish and the playbook's own wait become one wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerDelayMode {
    /// The own wait.
    Ignore,
    /// The wish.
    Exact,
    /// The wish, cut to the longest one.
    AtMost,
    /// The longer of both.
    AtLeast,
    /// The wish, but not below the own wait, and at most `by` above it.
    Window {
        /// The most that the wish adds.
        by: Duration,
    },
    /// The wish, plus a drawn part of at most `spread` of it.
    LowerBoundJitter {
        /// The largest part.
        spread: Ratio,
    },
}

words! {
    /// The modes of a server delay.
    pub enum ServerDelayWord {
        Ignore = "ignore",
        Exact = "exact",
        AtMost = "at_most",
        AtLeast = "at_least",
        Window = "window",
        LowerBoundJitter = "lower_bound_jitter",
    }
}

impl ServerDelayMode {
    /// Its name.
    pub const fn word(&self) -> ServerDelayWord {
        match self {
            ServerDelayMode::Ignore => ServerDelayWord::Ignore,
            ServerDelayMode::Exact => ServerDelayWord::Exact,
            ServerDelayMode::AtMost => ServerDelayWord::AtMost,
            ServerDelayMode::AtLeast => ServerDelayWord::AtLeast,
            ServerDelayMode::Window { .. } => ServerDelayWord::Window,
            ServerDelayMode::LowerBoundJitter { .. } => ServerDelayWord::LowerBoundJitter,
        }
    }

    /// Whether a wish that counts leaves the own wait a say.
    pub const fn needs_own_wait(&self) -> bool {
        !matches!(self, ServerDelayMode::Exact | ServerDelayMode::AtMost | ServerDelayMode::LowerBoundJitter { .. })
    }

    /// Whether a wish that counts depends on a draw by itself.
    pub const fn is_drawn(&self) -> bool {
        matches!(self, ServerDelayMode::LowerBoundJitter { .. })
    }
}

/// What a wish over the longest one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverMax {
    /// The call ends as exhausted.
    Stop,
    /// The wish is cut.
    Cap,
    /// The wish counts as none.
    Discard,
    /// The call ends so.
    End(Terminal),
}

words! {
    /// The values of `over_max`, without `escalate_to_human`.
    pub enum OverMaxWord {
        Stop = "stop",
        Cap = "cap",
        Discard = "discard",
    }
}

words! {
    /// What the deadline of a call bounds.
    pub enum ElapsedRule {
        /// The start of the next attempt.
        NextStart = "next_start",
        /// The same, and the last wait is cut to what is left.
        Truncate = "truncate",
        /// The moment at which an attempt failed; the wait does not count.
        ElapsedOnly = "elapsed_only",
        /// The sum of all waits, this one included.
        WaitsAfter = "waits_after",
        /// The sum of the waits before this one, which may so pass it.
        WaitsBefore = "waits_before",
    }
}
