//! What the upstream booked for a call, beside the lines of its timeline.

use super::lines::TimelineLine;
use crate::view::{CallView, RunView};
use playproof_engine::event::{LedgerKind, Provenance};
use playproof_engine::time::Duration;

/// The lines with the entries of the call beside the first line of their time, or on lines of their own.
pub fn with_ledger(view: &CallView<'_>, run: &RunView<'_>, lines: Vec<TimelineLine>) -> Vec<TimelineLine> {
    let own = run.transcript.ledger.iter().filter(|entry| entry.call == Some(run.call));
    let booked = own.map(|entry| (entry.at.since(view.at), words(entry.kind, entry.provenance)));
    beside(lines, booked, !view.timed)
}

/// Places what was booked by its time; `added` as in the lines.
fn beside(
    mut lines: Vec<TimelineLine>,
    booked: impl Iterator<Item = (Duration, String)>,
    added: bool,
) -> Vec<TimelineLine> {
    let mut times: Vec<Duration> = Vec::with_capacity(lines.len());
    for line in &lines {
        times.push(line.at.or(times.last().copied()).unwrap_or_default()); // a repeated time is not written again
    }
    for (since, said) in booked {
        let place = times.iter().position(|time| *time >= since).unwrap_or(times.len());
        match lines.get_mut(place).filter(|_| times.get(place) == Some(&since)) {
            Some(line) if line.booked.is_empty() => line.booked = said,
            Some(line) => line.booked += &format!(", {said}"),
            None => {
                lines.insert(place, TimelineLine::of_ledger(since, added, said));
                times.insert(place, since);
            }
        }
    }
    lines
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
        let ms = Duration::from_millis;
        let line =
            |at: Option<u64>| TimelineLine { at: at.map(ms), ..TimelineLine::of_ledger(ms(0), false, String::new()) };
        let lines: Vec<TimelineLine> = [Some(0), Some(5_000), None, Some(5_200)].map(line).into();
        let booked = [(0, "a"), (400, "b"), (5_000, "c"), (5_000, "d"), (5_100, "e"), (9_000, "f")];
        let all = beside(lines, booked.into_iter().map(|(at, said)| (ms(at), said.to_owned())), false);
        let all: Vec<(Option<u64>, &str)> =
            all.iter().map(|line| (line.at.map(|at| at.as_millis()), line.booked.as_str())).collect();
        let wanted = [
            (Some(0), "a"),
            (Some(400), "b"),
            (Some(5_000), "c, d"),
            (None, ""),
            (Some(5_100), "e"),
            (Some(5_200), ""),
            (Some(9_000), "f"),
        ];
        assert_eq!(all, wanted);
    }
}
