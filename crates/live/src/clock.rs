//! The clock of tokio as moments of the machine, and back.

use playproof_engine::time::{Duration, Instant};

/// Moments since the dispatcher was made.
#[derive(Debug)]
pub(crate) struct Clock {
    start: tokio::time::Instant,
    /// The moment at which it was made: that of the last line of its journal.
    from: Instant,
    /// How long a microsecond takes on tokio's clock, in microseconds.
    slowness: u32,
}

impl Clock {
    pub(crate) fn new(slowness: u32) -> Clock {
        Clock { start: tokio::time::Instant::now(), from: Instant::ZERO, slowness }
    }

    /// Time goes on from a moment.
    pub(crate) fn begin_at(&mut self, from: Instant) {
        *self = Clock { from, ..Clock::new(self.slowness) };
    }

    /// Now.
    pub(crate) fn now(&self) -> Instant {
        let micros = self.start.elapsed().as_micros() / u128::from(self.slowness);
        self.from.plus(Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX)))
    }

    /// A moment on tokio's clock.
    pub(crate) fn on_tokio(&self, at: Instant) -> tokio::time::Instant {
        let after = of_std(at.since(self.from)).saturating_mul(self.slowness);
        self.start.checked_add(after).unwrap_or(self.start)
    }
}

/// A span as the standard library has it.
pub(crate) const fn of_std(span: Duration) -> std::time::Duration {
    std::time::Duration::from_micros(span.as_micros())
}
