//! What failures of one form have in common, what is counted of them, and the few that are kept as samples.

use crate::replay::{Counts, write_template};
use playproof_engine::call::{Place, RecordedCall};
use playproof_engine::classify::Signal;
use playproof_engine::event::ErrorFacts;
use playproof_engine::ids::{AttemptNo, VerdictId};
use playproof_engine::playbook::{Access, ToolFacts};

/// Samples of one shape, each with a message of its own.
const SAMPLES: usize = 5;

/// Bytes of a message that a sample keeps.
const SAMPLE_MAX: usize = 1_024;

/// A form counts by its first bytes; longer messages may go on in any way.
pub(super) const FORM_MAX: usize = 400;

/// What failures of one form have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// The form of the message, blind to the case of ASCII letters; empty where there is no message.
    pub form: Box<str>,
    pub kind: Option<Box<str>>,
    pub status: Option<u16>,
    pub code: Option<Box<str>>,
    /// Whether an error object came with the failure.
    pub has_error: bool,
    /// What the playbook says of them.
    pub verdict: VerdictId,
}

impl Key {
    pub fn new(form: &str, error: Option<&ErrorFacts>, verdict: VerdictId) -> Key {
        Key {
            form: form.into(),
            kind: error.and_then(|error| error.kind.clone()),
            status: error.and_then(|error| error.status),
            code: error.and_then(|error| error.code.clone()),
            has_error: error.is_some(),
            verdict,
        }
    }
}

/// A recorded failure that is being looked at.
#[derive(Clone, Copy)]
pub(super) struct Failure<'a> {
    /// The call and its error as they are shown: forms are made of these, and so are rules.
    pub call: &'a RecordedCall,
    pub error: Option<&'a ErrorFacts>,
    /// The same as recorded: classified, and shown to nobody.
    pub raw_call: &'a RecordedCall,
    pub raw: Option<&'a ErrorFacts>,
    pub facts: ToolFacts,
    pub attempt: AttemptNo,
    pub place: Place,
}

impl<'a> Failure<'a> {
    pub fn message(&self) -> Option<&'a str> {
        self.error.and_then(|error| error.message.as_deref())
    }

    pub fn signal(&self) -> Signal<'a> {
        Signal::new(self.raw, self.raw_call.tool(), self.facts, self.call.key().is_some(), self.attempt)
    }

    /// How much it matters: writes that nothing protects from being made twice, other writes, reads.
    const fn risk(&self) -> u64 {
        match (self.facts.access, self.facts.idempotent) {
            (Access::Read, _) => 1,
            (Access::Write, true) => 2,
            (Access::Write, false) => 4,
        }
    }
}

/// A failure that is kept to try rules on.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub error: Option<ErrorFacts>,
    pub tool: String,
    /// The error and the tool as recorded: rules are tried on these.
    pub raw: Option<ErrorFacts>,
    pub raw_tool: String,
    pub facts: ToolFacts,
    pub keyed: bool,
    pub attempt: AttemptNo,
    pub reference: String,
    pub place: Place,
}

impl Sample {
    fn of(failure: &Failure<'_>) -> Sample {
        let cut = |message: &str| message.get(..message.floor_char_boundary(SAMPLE_MAX)).unwrap_or(message).into();
        let kept = |error: &ErrorFacts| ErrorFacts { message: error.message.as_deref().map(cut), ..error.clone() };
        Sample {
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

    pub fn message(&self) -> Option<&str> {
        self.error.as_ref().and_then(|error| error.message.as_deref())
    }

    pub fn signal(&self) -> Signal<'_> {
        Signal::new(self.raw.as_ref(), &self.raw_tool, self.facts, self.keyed, self.attempt)
    }
}

/// What is counted of the failures of one shape.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    /// The form in the letters of the first failure.
    pub form: String,
    pub failures: u64,
    /// How many more there may have been while it was rare.
    pub missed: u64,
    /// Those whose call ended exhausted by them.
    pub exhausted: u64,
    pub writes: u64,
    /// The sum of what each matters.
    pub risk: u64,
    pub tools: Counts,
    pub samples: Vec<Sample>,
    /// The longest message, in bytes.
    pub longest: usize,
    /// A message has other white space than single blanks between its words.
    pub uneven: bool,
}

impl Shape {
    /// Adds a failure whose form is `form`.
    pub fn add(&mut self, failure: &Failure<'_>, form: &str, exhausted: bool) {
        if self.failures == 0 {
            form.clone_into(&mut self.form);
        }
        let message = failure.message().unwrap_or("");
        self.failures += 1;
        self.exhausted += u64::from(exhausted);
        self.writes += u64::from(failure.facts.access == Access::Write);
        self.risk += failure.risk();
        self.tools.add(failure.call.tool(), 1);
        self.longest = self.longest.max(message.len());
        self.uneven |= is_uneven(message);
        if self.samples.len() < SAMPLES && self.is_new(message) {
            self.samples.push(Sample::of(failure));
        }
    }

    /// Adds what was counted of later failures.
    pub fn merge(&mut self, later: Shape) {
        if self.failures == 0 {
            *self = later;
            return;
        }
        self.failures += later.failures;
        self.exhausted += later.exhausted;
        self.writes += later.writes;
        self.risk += later.risk;
        self.tools.merge(&later.tools);
        self.longest = self.longest.max(later.longest);
        self.uneven |= later.uneven;
        for sample in later.samples {
            if self.samples.len() < SAMPLES && self.is_new(sample.message().unwrap_or("")) {
                self.samples.push(sample);
            }
        }
    }

    /// Whether no sample has this message. What a sample has cut off does not count.
    fn is_new(&self, message: &str) -> bool {
        !self.samples.iter().any(|known| {
            let known = known.message().unwrap_or("");
            message.starts_with(known) && (known.len() == message.len() || known.len() + 4 > SAMPLE_MAX)
        })
    }
}

/// Writes the form of a message, blind to the case of ASCII letters into `key`, as it is into `form`.
pub(super) fn write_forms(message: &str, form: &mut String, key: &mut String) {
    write_template(message, form);
    form.clone_into(key);
    key.make_ascii_lowercase();
}

pub(super) fn is_uneven(message: &str) -> bool {
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
    fn white_space_is_even_where_single_blanks_stand_between_words() {
        for even in ["", "a", "a b", "a b c."] {
            assert!(!is_uneven(even), "{even:?}");
        }
        for uneven in [" ", " a", "a ", "a  b", "a\nb", "a\tb", "a\u{a0}b"] {
            assert!(is_uneven(uneven), "{uneven:?}");
        }
    }
}
