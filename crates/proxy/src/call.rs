//! A call of the client that is not answered, as a proxy knows it. Decides nothing.

use playproof_engine::time::{Duration, Instant};
use playproof_formats::number::Decimal;

/// A call that is not answered.
#[derive(Debug, Default)]
pub(crate) struct OpenCall {
    /// The client's id as it wrote it, and as it is compared.
    pub(crate) raw_id: String,
    pub(crate) id: String,
    /// The client's line; after a round of input, its last.
    pub(crate) line: String,
    pub(crate) tool: String,
    /// Its run, and its run and its id in the recording, if it has a line there.
    pub(crate) run: String,
    pub(crate) recorded: Option<Recorded>,
    pub(crate) is_new_era: bool,
    pub(crate) is_read: bool,
    /// Whether a row says how long an attempt may take.
    pub(crate) has_timeout: bool,
    /// Whether it has an idempotency key, so that others may get its result.
    pub(crate) has_key: bool,
    /// The token by which the client hears of progress, as it wrote it.
    pub(crate) token: Option<String>,
    pub(crate) progress: Progress,
    /// The attempt that is out, and whether any ever was.
    pub(crate) out: Option<Attempt>,
    pub(crate) was_sent: bool,
    /// When it is sent again, and when the client hears next that it waits.
    pub(crate) wake: Option<Instant>,
    pub(crate) beat: Option<Instant>,
    /// The server's last answer, under the client's id, and whether it says that the call failed.
    pub(crate) last: Option<(String, bool)>,
    /// Whether it may be sent again.
    pub(crate) may_repeat: bool,
    /// The last answer passes as it came.
    pub(crate) is_of_protocol: bool,
    /// The client waits no longer.
    pub(crate) is_silent: bool,
    /// In the shadow: the playbook would wait no longer, and the client does.
    pub(crate) is_over: bool,
}

/// The names of a call in its recording.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) run: Option<String>,
    pub(crate) call: String,
}

/// An attempt that is out.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) number: u32,
    /// Its id on the wire.
    pub(crate) wire: String,
    /// When its time is over.
    pub(crate) due: Option<Instant>,
    /// Since when its clock stands still, because the client is asked; and for how long it did before.
    pub(crate) held_since: Option<Instant>,
    pub(crate) held: Duration,
    /// The server waits for a round of input.
    pub(crate) asks_input: bool,
}

impl Attempt {
    /// The client is asked.
    pub(crate) fn hold(&mut self, at: Instant) {
        self.held_since.get_or_insert(at);
    }

    /// Nobody is asked any more.
    pub(crate) fn go_on(&mut self, at: Instant) {
        if let Some(since) = self.held_since.take() {
            let held = at.since(since);
            self.held = self.held.plus(held);
            self.due = self.due.map(|due| due.plus(held));
        }
    }

    /// When its time is over, if its clock runs.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due.filter(|_| self.held_since.is_none())
    }
}

impl OpenCall {
    /// The next moment at which something is to be done for it.
    pub(crate) fn due(&self) -> Option<Instant> {
        let due = self.out.as_ref().and_then(Attempt::due);
        [due, self.wake, self.beat].into_iter().flatten().min()
    }

    /// Nothing is waited for.
    pub(crate) const fn wait_no_longer(&mut self) {
        (self.wake, self.beat) = (None, None);
    }
}

/// The progress that the client has heard of, in thousandths: it always rises.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    heard: u64,
    pub(crate) total: Option<String>,
}

impl Progress {
    /// Whether the client may hear of a value: it is higher than all before.
    pub(crate) fn rises_to(&mut self, value: &str) -> bool {
        let Some(value) = thousandths(value) else { return false };
        let rises = value > self.heard;
        self.heard = self.heard.max(value);
        rises
    }

    /// The next value: the smallest that is higher; and the total, where it is not less.
    pub(crate) fn next(&mut self) -> (String, Option<&str>) {
        self.heard += 1;
        let next = format!("{}.{:03}", self.heard / 1_000, self.heard % 1_000);
        let total = self.total.as_deref().filter(|total| thousandths(total).is_some_and(|total| total >= self.heard));
        (next, total)
    }
}

fn thousandths(value: &str) -> Option<u64> {
    Decimal::parse(value)?.scaled(4).map(|value| value.div_ceil(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_always_rises() {
        let mut progress = Progress::default();
        let rises = ["1", "2.5", "2.5", "1e0", "3"].map(|value| progress.rises_to(value));
        assert_eq!(rises, [true, true, false, false, true]);
        progress.total = Some("3.001".into());
        assert_eq!(progress.next(), ("3.001".to_owned(), Some("3.001")));
        assert_eq!(progress.next(), ("3.002".to_owned(), None), "no total that is less");
        assert!(progress.rises_to("3.0021") && !progress.rises_to("3.003"), "a thousandth is the smallest step");
    }

    #[test]
    fn a_clock_that_stands_still_moves_the_end_of_an_attempt() {
        let at = |ms| Instant::ZERO.plus(Duration::from_millis(ms));
        let mut attempt = Attempt {
            number: 1,
            wire: "1".into(),
            due: Some(at(100)),
            held_since: None,
            held: Duration::ZERO,
            asks_input: false,
        };
        attempt.hold(at(10));
        attempt.hold(at(20));
        assert_eq!(attempt.due(), None);
        attempt.go_on(at(70));
        assert_eq!((attempt.due(), attempt.held), (Some(at(160)), Duration::from_millis(60)));
    }
}
