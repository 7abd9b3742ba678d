//! The account of an input: every line, call and answer is counted once, and the counts must balance.

use crate::call::{CallBuilder, CompletedCall};
use crate::failure::is_plain_refusal;
use playproof_engine::call::{AnswerTo, RecordedAnswer, Reply};
use playproof_engine::classify::reads_as_processed;

/// How many lines, calls and answers an input held, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct InputLedger {
    /// All lines.
    pub lines: u64,
    /// Lines with nothing but white space.
    pub blank: u64,
    /// Lines that are a call.
    pub calls: u64,
    /// Lines that are an answer.
    pub results: u64,
    /// Lines that are a call and its answer.
    pub combined: u64,
    /// Lines that end a run.
    pub run_ends: u64,
    /// Lines that say what a dispatcher did with a call.
    pub dispatched: u64,
    /// Late answers to attempts of which nothing else is recorded, nor of the attempts before them. They count in
    /// `attached`, and are no row of the account where there are none.
    pub unsent: u64,
    /// The line of the first of them; 0: there is none.
    pub first_unsent: u64,
    /// Lines that say that the dispatcher of a run died of which no call was before. They count in `dispatched`, and are no
    /// row of the account where there are none.
    pub stray_crashes: u64,
    /// The first of these lines; 0: there is none.
    pub first_stray_crash: u64,
    /// Lines of types that this version does not know.
    pub other: u64,
    /// Lines that cannot be used.
    pub skipped: u64,
    /// Unknown fields; ignored.
    pub unknown_fields: u64,
    /// Runs; a run that returns after 100,000 calls of other runs counts again.
    pub runs: u64,
    /// Calls that closed.
    pub closed: u64,
    /// Calls that were joined to an earlier call, as its next attempt.
    pub joined: u64,
    /// Calls without an answer.
    pub unanswered: u64,
    /// Answers that were attached to their calls.
    pub attached: u64,
    /// Answers that match no open call.
    pub orphans: u64,
    /// Those of them that are an ok. They count in `orphans`, and are no row of the account.
    pub orphan_oks: u64,
    /// Those of them that are neither an ok nor a plain refusal, so that their attempt may have acted; likewise.
    pub orphan_doubts: u64,
    /// Those of them that say that the upstream had processed a key. They count in `orphan_doubts`.
    pub orphan_conflicts: u64,
    /// Second answers to one attempt, and repeated lines; the first one counts.
    pub duplicates: u64,
    /// Answers beyond the 1,000 that one call may have.
    pub surplus: u64,
    /// Lines whose time is before an earlier line of their run, or answers before their call: their latency is unknown.
    pub backwards: u64,
    /// Attached answers whose status comes from their text alone.
    pub read_from_text: u64,
}

impl InputLedger {
    /// Counts closed calls.
    pub(super) fn count_closed(&mut self, closed: &[CompletedCall]) {
        self.closed += closed.len() as u64;
        self.unanswered += closed.iter().filter(|closed| closed.counts.answers == 0).count() as u64;
    }

    /// Whether everything is counted once: each line has one kind, each call closed or was joined, and each answer was
    /// attached or has a reason why not.
    pub fn balances(&self) -> bool {
        let answers = [self.attached, self.orphans, self.duplicates, self.surplus];
        self.lines == self.read()
            && self.calls + self.combined == self.closed + self.joined
            && self.results + self.combined == answers.iter().sum::<u64>()
    }

    /// Counts an answer that no call takes.
    pub(super) fn count_orphan(&mut self, answer: &RecordedAnswer) {
        self.orphans += 1;
        match &answer.reply {
            Reply::Ok => self.orphan_oks += 1,
            _ if answer.to == AnswerTo::Refresh => {} // a refresh acts on nothing
            Reply::Suspected(_) | Reply::Unfinished(_) | Reply::Failed(None) => self.orphan_doubts += 1,
            Reply::Failed(Some(error)) => {
                self.orphan_doubts += u64::from(!is_plain_refusal(error));
                self.orphan_conflicts += u64::from(reads_as_processed(error, true));
            }
        }
    }

    /// The lines whose kind is known.
    fn read(&self) -> u64 {
        let Self { blank, calls, results, combined, run_ends, dispatched, other, skipped, .. } = *self;
        [blank, calls, results, combined, run_ends, dispatched, other, skipped].iter().sum()
    }

    /// Leaves out the lines after one that cannot be used.
    pub(super) fn end_early(&mut self) {
        self.lines = self.read();
    }

    /// Counts the late answers of a closed call to attempts of which nothing else is recorded.
    pub(super) fn count_unsent(&mut self, closed: &CallBuilder) {
        if closed.counts.answers == closed.counts.attempts {
            return; // nearly always
        }
        let mut highest = closed.call.attempts().last().map_or(0, |(number, _)| number.get());
        for (number, answers) in closed.call.late_answers() {
            if number.get() > highest.saturating_add(1) {
                self.unsent += answers.len() as u64;
                let lines = answers.iter().map(|answer| answer.place.line);
                self.first_unsent =
                    lines.chain((self.first_unsent > 0).then_some(self.first_unsent)).min().unwrap_or(0);
            } else {
                highest = highest.max(number.get());
            }
        }
    }

    /// Counts the death of the dispatcher of a run of which no call was before.
    pub(super) fn count_stray_crash(&mut self, line: u64) {
        self.stray_crashes += 1;
        if self.first_stray_crash == 0 {
            self.first_stray_crash = line;
        }
    }

    /// Whether no line so far is a line of a trace.
    pub fn is_without_entries(&self) -> bool {
        [self.calls, self.results, self.combined, self.run_ends, self.dispatched] == [0; 5]
    }

    /// The sum of this account and another input's.
    #[must_use]
    pub fn and(mut self, other: &InputLedger) -> InputLedger {
        for ((_, mine), (_, theirs)) in self.rows_mut().into_iter().zip(other.rows()) {
            *mine += theirs;
        }
        self.orphan_oks += other.orphan_oks;
        self.orphan_doubts += other.orphan_doubts;
        self.orphan_conflicts += other.orphan_conflicts;
        self.dispatched += other.dispatched;
        self.unsent += other.unsent;
        self.stray_crashes += other.stray_crashes;
        self
    }

    /// Every row with its name, in a fixed order.
    /// Those of lines that say what a dispatcher did, of late answers to attempts that were not sent, and of deaths in no run,
    /// are left out where there are none.
    pub fn rows(&self) -> Vec<(&'static str, u64)> {
        let mut copy = *self;
        let mut rows: Vec<(&str, u64)> = copy.rows_mut().map(|(name, value)| (name, *value)).into();
        let rare = [
            ("dispatched", self.dispatched),
            ("unsent", self.unsent),
            ("first_unsent", self.first_unsent),
            ("stray_crashes", self.stray_crashes),
            ("first_stray_crash", self.first_stray_crash),
        ];
        rows.extend(rare.into_iter().filter(|row| row.1 > 0));
        rows
    }

    fn rows_mut(&mut self) -> [(&'static str, &mut u64); 19] {
        [
            ("lines", &mut self.lines),
            ("blank", &mut self.blank),
            ("calls", &mut self.calls),
            ("results", &mut self.results),
            ("combined", &mut self.combined),
            ("run_ends", &mut self.run_ends),
            ("other", &mut self.other),
            ("skipped", &mut self.skipped),
            ("unknown_fields", &mut self.unknown_fields),
            ("runs", &mut self.runs),
            ("closed", &mut self.closed),
            ("joined", &mut self.joined),
            ("unanswered", &mut self.unanswered),
            ("attached", &mut self.attached),
            ("orphans", &mut self.orphans),
            ("duplicates", &mut self.duplicates),
            ("surplus", &mut self.surplus),
            ("backwards", &mut self.backwards),
            ("read_from_text", &mut self.read_from_text),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_without_a_line_call_or_answer_does_not_balance() {
        let good = InputLedger {
            lines: 3,
            calls: 1,
            results: 2,
            closed: 1,
            attached: 1,
            orphans: 1,
            ..InputLedger::default()
        };
        assert!(good.balances());
        assert!(!InputLedger { lines: 4, ..good }.balances());
        assert!(!InputLedger { closed: 0, ..good }.balances());
        assert!(!InputLedger { orphans: 0, ..good }.balances());
        assert!(good.and(&good).balances());
        assert_eq!(good.and(&good).lines, 6);
    }
}
