//! Why failures do not prove that nothing was done: by what they say, and by what the inputs leave open.

use super::other_call::UpstreamSaid;
use playproof_intake::assemble::InputLedger;

/// What the inputs leave open of any call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputGaps {
    /// Results that are an ok and belong to no call: one may be the answer to this call.
    pub unclaimed_oks: u64,
    /// Results that belong to no call and are neither an ok nor a plain refusal: one may be an attempt of this call.
    pub unclaimed_doubts: u64,
    /// Those of them that say that a key was processed.
    pub unclaimed_conflicts: u64,
    /// Inputs that could not be read to their ends: they may show what became of this call.
    pub unread_inputs: u32,
    /// Lines that were skipped: likewise.
    pub skipped_lines: u64,
}

/// Why the failures of an intent do not prove that nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distrust {
    /// A message tells that something was done.
    SaysDone,
    /// An error says more than that the request was refused.
    SaysMore,
    /// The client of the tool sends requests again by itself: an earlier one may have acted.
    Resent,
    /// A result belongs to no call, and may be an attempt of this one.
    Unclaimed,
    /// An input could not be read to its end.
    Unread,
    /// Lines were skipped.
    Skipped,
}

impl InputGaps {
    /// Adds those of an input that was read.
    pub fn add(&mut self, ledger: &InputLedger) {
        self.unclaimed_oks += ledger.orphan_oks;
        self.unclaimed_doubts += ledger.orphan_doubts;
        self.unclaimed_conflicts += ledger.orphan_conflicts;
        self.skipped_lines += ledger.skipped;
    }
}

impl Distrust {
    /// The reason that comes first.
    pub fn of(said: UpstreamSaid, gaps: InputGaps) -> Option<Distrust> {
        let all = [
            (said.done, Distrust::SaysDone),
            (said.more, Distrust::SaysMore),
            (said.resent, Distrust::Resent),
            (gaps.unclaimed_oks > 0 || gaps.unclaimed_doubts > 0, Distrust::Unclaimed),
            (gaps.unread_inputs > 0, Distrust::Unread),
            (gaps.skipped_lines > 0, Distrust::Skipped),
        ];
        all.into_iter().find_map(|(is, why)| is.then_some(why))
    }
}
