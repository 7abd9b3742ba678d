//! The clock: each reading is later than the one before. Knows no calls.

#![expect(clippy::disallowed_methods, reason = "a proxy measures real time")]

use std::time::{Duration as RealDuration, Instant as RealInstant, SystemTime};

use playproof_engine::time::{Duration, Instant};

/// The time since 1970, which never goes back.
#[derive(Debug)]
pub(crate) struct Clock {
    began: RealInstant,
    began_at: Instant,
    last: Instant,
}

impl Clock {
    pub(crate) fn new() -> Clock {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let began_at = Instant::ZERO.plus(span(since_1970));
        Clock { began: RealInstant::now(), began_at, last: began_at }
    }

    /// The moment of something that happens: one reading for one event.
    pub(crate) fn now(&mut self) -> Instant {
        self.later(self.real())
    }

    /// The moment of something that was due then, however late it is done.
    pub(crate) fn at(&mut self, due: Instant) -> Instant {
        self.later(due)
    }

    /// How long it is until then.
    pub(crate) fn until(&self, due: Instant) -> RealDuration {
        RealDuration::from_micros(due.since(self.real()).as_micros())
    }

    /// Whether that moment has come.
    pub(crate) fn has_come(&self, due: Instant) -> bool {
        self.real() >= due
    }

    fn real(&self) -> Instant {
        self.began_at.plus(span(self.began.elapsed()))
    }

    fn later(&mut self, wanted: Instant) -> Instant {
        self.last = wanted.max(self.last.plus(Duration::from_micros(1)));
        self.last
    }
}

fn span(real: RealDuration) -> Duration {
    Duration::from_micros(u64::try_from(real.as_micros()).unwrap_or(u64::MAX))
}
