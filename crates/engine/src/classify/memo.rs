//! A cache of classifications. A trace repeats few errors many times, and rules are slow; a cached classification is used
//! only if everything that a rule can test is the same.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::rules::{Classification, Classifier};
use super::signal::Signal;
use crate::event::ErrorFacts;
use crate::ids::AttemptNo;
use crate::playbook::{Access, ToolFacts};

/// The most cached classifications.
const MAX_KNOWN: usize = 512;

/// A failed attempt of a call, with everything that a rule can test.
#[derive(Clone, Copy, Debug)]
pub struct FailedAttempt<'a> {
    /// The error object of the failure.
    pub error: Option<&'a Arc<ErrorFacts>>,
    /// The tool's name.
    pub tool: &'a str,
    /// The tool facts.
    pub facts: ToolFacts,
    /// Whether the call has an idempotency key.
    pub keyed: bool,
    /// The attempt that failed.
    pub attempt: AttemptNo,
}

/// The cached classifications of one classifier.
#[derive(Debug, Default)]
pub struct Memo {
    /// The classifier that gave them.
    of: Option<Arc<Classifier>>,
    known: HashMap<u64, MemoEntry, FixedState>,
}

/// The facts of a failure that the classifier's rules test; none for those that no rule tests.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct MemoKey<'a> {
    error: Option<&'a Arc<ErrorFacts>>,
    tool: Option<&'a str>,
    rest: CallTraits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CallTraits {
    access: Access,
    idempotent: bool,
    keyed: bool,
    attempt: Option<AttemptNo>,
}

/// A failure's facts and its classification.
#[derive(Debug)]
struct MemoEntry {
    error: Option<Arc<ErrorFacts>>,
    tool: Option<Box<str>>,
    rest: CallTraits,
    said: Classification,
}

impl Memo {
    /// The classification of a failure by `classifier`.
    pub fn classify(&mut self, classifier: &Arc<Classifier>, failed: &FailedAttempt<'_>) -> Classification {
        if !self.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, classifier)) {
            self.of = Some(Arc::clone(classifier));
            self.known.clear();
        }
        let FailedAttempt { error, tool, facts, keyed, attempt } = *failed;
        let signal = Signal::new(error.map(|error| &**error), tool, facts, keyed, attempt);
        // The error covers its own fields; every other field that a rule can test must be named here.
        let Signal {
            kind: _,
            message: _,
            status: _,
            code: _,
            retry_after: _,
            should_retry: _,
            headers: _,
            has_error: _,
            tool,
            access,
            idempotent,
            keyed,
            attempt,
        } = signal;
        let attempt = classifier.asks_for_attempts().then_some(attempt);
        let rest = CallTraits { access, idempotent, keyed, attempt };
        let asked = MemoKey { error, tool: classifier.asks_for_tools().then_some(tool), rest };
        let key = FixedState::default().hash_one(asked);
        if let Some(known) = self.known.get(&key).filter(|known| known.asked() == asked) {
            return known.said;
        }
        let said = classifier.classify(&signal);
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(key, MemoEntry::new(asked, said));
        said
    }
}

impl MemoEntry {
    fn new(asked: MemoKey<'_>, said: Classification) -> MemoEntry {
        let MemoKey { error, tool, rest } = asked;
        MemoEntry { error: error.map(Arc::clone), tool: tool.map(Into::into), rest, said }
    }

    fn asked(&self) -> MemoKey<'_> {
        MemoKey { error: self.error.as_ref(), tool: self.tool.as_deref(), rest: self.rest }
    }
}
