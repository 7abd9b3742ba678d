//! What is known of failures, such as their classifications. A trace repeats few errors many times, and rules are slow;
//! what is known is used only if everything that a rule can test is the same.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::rules::{AskedTraits, Classification, Classifier};
use super::signal::Signal;
use crate::event::ErrorFacts;
use crate::ids::AttemptNo;
use crate::playbook::{Access, ToolFacts};

/// The most failures of which something is known.
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
    known: KnownFailures<Classification>,
}

/// What is known of the failures of a trace, which repeats few errors many times: the same for all that are alike in
/// everything that a rule can test.
#[derive(Debug)]
pub struct KnownFailures<T> {
    known: HashMap<u64, KnownFailure<T>, FixedState>,
}

/// The facts of a failure that rules test; none for those that no rule tests.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct FailureKey<'a> {
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

/// A failure's facts and what is known of it.
#[derive(Debug)]
struct KnownFailure<T> {
    error: Option<Arc<ErrorFacts>>,
    tool: Option<Box<str>>,
    rest: CallTraits,
    known: T,
}

impl Memo {
    /// The classification of a failure by `classifier`.
    pub fn classify(&mut self, classifier: &Arc<Classifier>, failed: &FailedAttempt<'_>) -> Classification {
        if !self.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, classifier)) {
            self.of = Some(Arc::clone(classifier));
            self.known.known.clear();
        }
        self.known.get(classifier.asks(), failed, |signal| classifier.classify(signal))
    }
}

impl<T> Default for KnownFailures<T> {
    fn default() -> KnownFailures<T> {
        KnownFailures { known: HashMap::default() }
    }
}

impl<T: Copy> KnownFailures<T> {
    /// What is known of a failure; `find_out` says it of one that is new. `asked`: what it depends on.
    pub fn get(
        &mut self,
        asked: AskedTraits,
        failed: &FailedAttempt<'_>,
        find_out: impl FnOnce(&Signal<'_>) -> T,
    ) -> T {
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
        let rest = CallTraits { access, idempotent, keyed, attempt: asked.attempts.then_some(attempt) };
        let key = FailureKey { error, tool: asked.tools.then_some(tool), rest };
        let hash = FixedState::default().hash_one(key);
        if let Some(failure) = self.known.get(&hash).filter(|failure| failure.key() == key) {
            return failure.known;
        }
        let known = find_out(&signal);
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(hash, KnownFailure::new(key, known));
        known
    }
}

impl<T> KnownFailure<T> {
    fn new(asked: FailureKey<'_>, known: T) -> KnownFailure<T> {
        let FailureKey { error, tool, rest } = asked;
        KnownFailure { error: error.map(Arc::clone), tool: tool.map(Into::into), rest, known }
    }

    fn key(&self) -> FailureKey<'_> {
        FailureKey { error: self.error.as_ref(), tool: self.tool.as_deref(), rest: self.rest }
    }
}
