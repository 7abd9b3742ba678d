//! The account of an input: every line, call and answer is booked once, and the books must balance.

/// What an input held and what became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Lines of types that this version does not know.
    pub other: u64,
    /// Lines that could not be used.
    pub skipped: u64,
    /// Fields that nobody knows; ignored.
    pub unknown_fields: u64,
    /// Runs; a run that is silent for 100,000 calls and comes back counts again.
    pub runs: u64,
    /// Calls that were given out.
    pub closed: u64,
    /// Calls that were read as further attempts of an earlier call.
    pub joined: u64,
    /// Calls without an answer.
    pub unanswered: u64,
    /// Answers that were given out with their calls.
    pub attached: u64,
    /// Answers that no open call goes with.
    pub orphans: u64,
    /// Answers to an attempt that had one already, and lines that say again what one of their call said; the first one
    /// counts.
    pub duplicates: u64,
    /// Answers beyond the 1,000 that one call may have.
    pub surplus: u64,
    /// Lines with a time before an earlier line of their run, or answers before their call: their latency is unknown.
    pub backwards: u64,
    /// Answers given out of which only the text says whether they are ok or failures.
    pub read_from_text: u64,
}

impl InputLedger {
    /// Whether everything is booked once: each line is of one kind, each call was given out or joined,
    /// each answer was attached or says why not.
    pub fn balances(&self) -> bool {
        let kinds = [self.blank, self.calls, self.results, self.combined, self.run_ends, self.other, self.skipped];
        let answers = [self.attached, self.orphans, self.duplicates, self.surplus];
        self.lines == kinds.iter().sum::<u64>()
            && self.calls + self.combined == self.closed + self.joined
            && self.results + self.combined == answers.iter().sum::<u64>()
    }

    /// Whether no line yet is one of a trace.
    pub fn is_without_entries(&self) -> bool {
        [self.calls, self.results, self.combined, self.run_ends] == [0; 4]
    }

    /// This account and another input's, added up.
    #[must_use]
    pub fn and(mut self, other: &InputLedger) -> InputLedger {
        for ((_, mine), (_, theirs)) in self.rows_mut().into_iter().zip(other.rows()) {
            *mine += theirs;
        }
        self
    }

    /// Every row with its name, in a fixed order.
    pub fn rows(&self) -> [(&'static str, u64); 19] {
        let mut copy = *self;
        copy.rows_mut().map(|(name, value)| (name, *value))
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
    fn books_with_a_missing_line_call_or_answer_do_not_balance() {
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
