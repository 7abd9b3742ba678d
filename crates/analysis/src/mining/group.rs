//! Groups of failures with one template, kind, status, code and verdict: their counts, and a few samples.

use crate::replay::{Counts, FrequentRow, head, write_template};
use playproof_engine::call::{Place, RecordedCall};
use playproof_engine::classify::Signal;
use playproof_engine::event::ErrorFacts;
use playproof_engine::ids::{AttemptNo, VerdictId};
use playproof_engine::playbook::{Access, ToolFacts};

/// The most samples of one group, each with a different message.
const SAMPLES: usize = 5;

/// The most bytes of a message in a sample.
const SAMPLE_MAX: usize = 1_024;

/// What the failures of one group have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(super) struct GroupKey {
    /// The template of the message in lower case (ASCII letters); empty without a message.
    pub template: Box<str>,
    pub kind: Option<Box<str>>,
    pub status: Option<u16>,
    pub code: Option<Box<str>>,
    /// Whether an error object came with the failure.
    pub has_error: bool,
    /// Their verdict.
    pub verdict: VerdictId,
}

impl GroupKey {
    pub fn new(template: &str, error: Option<&ErrorFacts>, verdict: VerdictId) -> GroupKey {
        GroupKey {
            template: template.into(),
            kind: error.and_then(|error| error.kind.clone()),
            status: error.and_then(|error| error.status),
            code: error.and_then(|error| error.code.clone()),
            has_error: error.is_some(),
            verdict,
        }
    }
}

/// One failed attempt of a recorded call.
#[derive(Clone, Copy)]
pub(super) struct RecordedFailure<'a> {
    /// The call and its error as shown: templates and rules are made from these.
    pub call: &'a RecordedCall,
    pub error: Option<&'a ErrorFacts>,
    /// The same as recorded: for the classifier, never shown.
    pub raw_call: &'a RecordedCall,
    pub raw: Option<&'a ErrorFacts>,
    pub facts: ToolFacts,
    pub attempt: AttemptNo,
    pub place: Place,
}

impl<'a> RecordedFailure<'a> {
    pub fn message(&self) -> Option<&'a str> {
        self.error.and_then(|error| error.message.as_deref())
    }

    pub fn signal(&self) -> Signal<'a> {
        Signal::new(self.raw, self.raw_call.tool(), self.facts, self.call.key().is_some(), self.attempt)
    }

    /// Its risk: 4 for a write that may be made twice, 2 for another write, 1 for a read.
    const fn risk(&self) -> u64 {
        match (self.facts.access, self.facts.idempotent) {
            (Access::Read, _) => 1,
            (Access::Write, true) => 2,
            (Access::Write, false) => 4,
        }
    }
}

/// A failure that rules are tried on.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct FailureSample {
    pub error: Option<ErrorFacts>,
    pub tool: String,
    /// The error and the tool as recorded: for the classifier, never shown.
    pub raw: Option<ErrorFacts>,
    pub raw_tool: String,
    pub facts: ToolFacts,
    pub keyed: bool,
    pub attempt: AttemptNo,
    pub reference: String,
    pub place: Place,
}

impl FailureSample {
    fn of(failure: &RecordedFailure<'_>) -> FailureSample {
        let cut = |message: &str| message.get(..message.floor_char_boundary(SAMPLE_MAX)).unwrap_or(message).into();
        let kept = |error: &ErrorFacts| ErrorFacts { message: error.message.as_deref().map(cut), ..error.clone() };
        FailureSample {
            error: failure.error.map(kept),
            tool: failure.call.tool().to_owned(),
            raw: failure.raw.map(kept),
            raw_tool: failure.raw_call.tool().to_owned(),
            facts: failure.facts,
            keyed: failure.call.key().is_some(),
            attempt: failure.attempt,
            reference: failure.call.reference(),
            place: failure.place,
        }
    }

    /// As shown, also for the classifier.
    #[must_use]
    pub fn without_raw(self) -> FailureSample {
        FailureSample { raw: self.error.clone(), raw_tool: self.tool.clone(), ..self }
    }

    /// The same failure of `tool` with another message.
    pub fn with_message(&self, tool: &str, message: &str) -> FailureSample {
        let said = |error: &ErrorFacts| ErrorFacts { message: Some(message.into()), ..error.clone() };
        FailureSample {
            error: self.error.as_ref().map(said),
            raw: self.raw.as_ref().map(said),
            tool: tool.to_owned(),
            raw_tool: tool.to_owned(),
            ..self.clone()
        }
    }

    pub fn message(&self) -> Option<&str> {
        self.error.as_ref().and_then(|error| error.message.as_deref())
    }

    pub fn signal(&self) -> Signal<'_> {
        Signal::new(self.raw.as_ref(), &self.raw_tool, self.facts, self.keyed, self.attempt)
    }
}

/// The failures of one group.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct FailureGroup {
    /// The template as the first failure spells it.
    pub template: String,
    pub failures: u64,
    /// The most failures that may be missing: those that came while the group was rare.
    pub missed: u64,
    /// Failures that exhausted their call.
    pub exhausted: u64,
    pub writes: u64,
    /// The sum of their risks.
    pub risk: u64,
    pub tools: Counts,
    pub samples: Vec<FailureSample>,
    /// How their messages differ from their heads.
    pub spelling: Spelling,
}

impl FailureGroup {
    /// Adds a failure with this template.
    pub fn add(&mut self, failure: &RecordedFailure<'_>, template: &str, exhausted: bool) {
        if self.failures == 0 {
            template.clone_into(&mut self.template);
        }
        let message = failure.message().unwrap_or("");
        self.failures += 1;
        self.exhausted += u64::from(exhausted);
        self.writes += u64::from(failure.facts.access == Access::Write);
        self.risk += failure.risk();
        self.tools.add(failure.call.tool(), 1);
        self.spelling = self.spelling.or(Spelling::of(message));
        if self.samples.len() < SAMPLES && self.is_new(message) {
            self.samples.push(FailureSample::of(failure));
        }
    }

    /// Adds later failures.
    pub fn merge(&mut self, later: FailureGroup) {
        if self.failures == 0 {
            *self = later;
            return;
        }
        self.failures += later.failures;
        self.exhausted += later.exhausted;
        self.writes += later.writes;
        self.risk += later.risk;
        self.tools.merge(&later.tools);
        self.spelling = self.spelling.or(later.spelling);
        for sample in later.samples {
            if self.samples.len() < SAMPLES && self.is_new(sample.message().unwrap_or("")) {
                self.samples.push(sample);
            }
        }
    }

    /// Whether no sample has this message, as far as samples keep it.
    fn is_new(&self, message: &str) -> bool {
        !self.samples.iter().any(|known| {
            let known = known.message().unwrap_or("");
            message.starts_with(known) && (known.len() == message.len() || known.len() + 4 > SAMPLE_MAX)
        })
    }
}

/// What messages have beside the words of their heads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Spelling {
    /// Other white space than single blanks between words.
    pub uneven: bool,
    /// Text before the head.
    pub before: bool,
    /// Text after the head.
    pub after: bool,
}

impl Spelling {
    pub fn of(message: &str) -> Spelling {
        let head = head(message);
        let Some((before, after)) = message.split_once(head) else { return Spelling::default() }; // a head is a part
        let [is_before, is_after] = [before, after].map(|text| !text.trim().is_empty());
        let blanks = !is_before && !before.is_empty() || !is_after && !after.is_empty();
        Spelling { uneven: blanks || is_uneven(head), before: is_before, after: is_after }
    }

    pub const fn or(self, other: Spelling) -> Spelling {
        Spelling {
            uneven: self.uneven | other.uneven,
            before: self.before | other.before,
            after: self.after | other.after,
        }
    }
}

/// Failures of rare groups that are no longer told apart, counted by verdict.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct RareFailures(Vec<RareCount>);

/// The rare failures of one verdict.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct RareCount {
    pub failures: u64,
    pub exhausted: u64,
}

impl RareFailures {
    /// Adds failures of one verdict.
    pub fn add(&mut self, verdict: VerdictId, count: RareCount) {
        let place = verdict.index();
        self.0.resize(self.0.len().max(place + 1), RareCount::default());
        if let Some(mine) = self.0.get_mut(place) {
            mine.failures += count.failures;
            mine.exhausted += count.exhausted;
        }
    }

    /// Adds a whole group.
    pub fn add_group(&mut self, key: &GroupKey, row: FrequentRow<FailureGroup>) {
        self.add(key.verdict, RareCount { failures: row.count, exhausted: row.value.exhausted });
    }

    /// The counts by verdict.
    pub fn rows(&self) -> impl Iterator<Item = (VerdictId, RareCount)> {
        (0..).map(VerdictId).zip(self.0.iter().copied())
    }
}

/// Writes the template of a message of a call with these arguments into `template`, and in lower case (ASCII letters)
/// into `key`.
pub(super) fn write_templates(message: &str, args: Option<&str>, template: &mut String, key: &mut String) {
    write_template(message, args, template);
    template.clone_into(key);
    key.make_ascii_lowercase();
}

fn is_uneven(message: &str) -> bool {
    let mut before = ' '; // a blank at the beginning is uneven too
    for c in message.chars() {
        if c.is_whitespace() && (c != ' ' || before == ' ') {
            return true;
        }
        before = c;
    }
    before == ' ' && !message.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_even_if_it_consists_of_single_blanks_between_words() {
        for even in ["", "a", "a b", "a b c."] {
            assert!(!is_uneven(even), "{even:?}");
        }
        for uneven in [" ", " a", "a ", "a  b", "a\nb", "a\tb", "a\u{a0}b"] {
            assert!(is_uneven(uneven), "{uneven:?}");
        }
    }
}
