//! What the upstream booked for a call, beside the lines of its timeline.

use super::lines::TimelineLine;
use crate::view::{CallView, RunView};
use playproof_engine::event::{LedgerEntry, LedgerKind, Provenance};
use playproof_engine::time::Duration;

/// One entry of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerLine {
    /// When it was booked, since the call.
    pub since: Duration,
    /// The line of the timeline at the same time, if there is one: the first.
    pub beside: Option<usize>,
    /// The line of the timeline that follows it.
    pub before: usize,
    /// What was booked.
    pub text: String,
    /// Whether times are delays that the playbook added, because the source has none.
    added: bool,
}

impl LedgerLine {
    /// Its own line where no other has its time.
    pub fn at(&self) -> TimelineLine {
        TimelineLine::of_ledger(self.since, self.added)
    }
}

/// The entries of a call, in order, each placed by its time among `lines`.
pub fn ledger(view: &CallView<'_>, run: &RunView<'_>, lines: &[TimelineLine]) -> Vec<LedgerLine> {
    let own = run.transcript.ledger.iter().filter(|entry| entry.call == Some(run.call));
    let line = |entry: &LedgerEntry| {
        let since = entry.at.since(view.at);
        let (beside, before) = placed(since, lines);
        LedgerLine { since, beside, before, text: words(entry.kind, entry.provenance), added: !view.timed }
    };
    own.map(line).collect()
}

/// The first line of a time, if there is one, and the line that follows what happened then.
fn placed(since: Duration, lines: &[TimelineLine]) -> (Option<usize>, usize) {
    let mut now = Duration::ZERO;
    for (n, line) in lines.iter().enumerate() {
        now = line.at.unwrap_or(now); // a repeated time is not written again
        if now >= since {
            return ((now == since).then_some(n), n);
        }
    }
    (None, lines.len())
}

fn words(kind: LedgerKind, provenance: Provenance) -> String {
    let what = match kind {
        LedgerKind::Applied => "+1 effect",
        LedgerKind::Existing => "effect was there",
        LedgerKind::Reversed => "−1 effect, taken back",
        LedgerKind::Unobserved => "not observed",
        LedgerKind::Staged => "staged",
        LedgerKind::Committed => "committed",
        LedgerKind::Discarded => "discarded",
    };
    let from = match provenance {
        Provenance::Modelled => " (modelled)",
        Provenance::Inferred => " (joined resend)",
        Provenance::Recorded | Provenance::Scripted | Provenance::Unanswered => "",
    };
    format!("{what}{from}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_stands_beside_the_first_line_of_its_time_or_on_a_line_of_its_own() {
        let line = |at: Option<u64>| TimelineLine { at: at.map(ms), ..TimelineLine::of_ledger(Duration::ZERO, false) };
        let lines = [Some(0), Some(5_000), None, Some(5_200)].map(line);
        let cases = [
            (0, (Some(0), 0)),
            (400, (None, 1)),
            (5_000, (Some(1), 1)),
            (5_100, (None, 3)),
            (5_200, (Some(3), 3)),
            (9_000, (None, 4)),
        ];
        for (at, wanted) in cases {
            assert_eq!(placed(ms(at), &lines), wanted, "at {at}");
        }
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }
}
