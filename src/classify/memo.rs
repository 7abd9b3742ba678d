//! Failures that were classified before. A trace says the same few errors again and again, and rules are slow to ask;
//! a failure is answered from here only where all that a rule may ask of it is the same.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::rules::{Classification, Classifier, Signal};
use crate::event::ErrorFacts;
use crate::ids::AttemptNo;
use crate::playbook::model::{Access, ToolFacts};
use crate::trace::hash::AsIsState;

/// Failures that are remembered.
const MAX_KNOWN: usize = 512;

/// A failed attempt of a call, with all that a rule may ask about it.
#[derive(Clone, Copy, Debug)]
pub struct Failed<'a> {
    /// What came with the failure.
    pub error: Option<&'a Arc<ErrorFacts>>,
    /// The tool's name.
    pub tool: &'a str,
    /// What is known of the tool.
    pub facts: ToolFacts,
    /// Whether the call has an idempotency key.
    pub keyed: bool,
    /// The attempt that failed.
    pub attempt: AttemptNo,
}

/// What one classifier said before.
#[derive(Debug, Default)]
pub struct Memo {
    /// Whose answers these are.
    of: Option<Arc<Classifier>>,
    known: HashMap<u64, Known, AsIsState>,
}

/// A failure that was classified: [`Failed`] but for what no rule asks.
#[derive(Debug)]
struct Known {
    error: Option<Arc<ErrorFacts>>,
    tool: Box<str>,
    access: Access,
    idempotent: bool,
    keyed: bool,
    attempt: AttemptNo,
    said: Classification,
}

impl Memo {
    /// What `classifier` says of a failure.
    pub fn classify(&mut self, classifier: &Arc<Classifier>, failed: &Failed<'_>) -> Classification {
        if !self.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, classifier)) {
            self.of = Some(Arc::clone(classifier));
            self.known.clear();
        }
        let mut failed = *failed;
        if !classifier.asks_for_tools() {
            failed.tool = "";
        }
        if !classifier.asks_for_attempts() {
            failed.attempt = AttemptNo::FIRST;
        }
        let key = failed.key();
        if let Some(known) = self.known.get(&key).filter(|known| known.is(&failed)) {
            return known.said;
        }
        let Failed { error, tool, facts, keyed, attempt } = failed;
        let said = classifier.classify(&Signal::new(error.map(|error| &**error), tool, facts, keyed, attempt));
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        let ToolFacts { access, idempotent, .. } = facts;
        let error = error.map(Arc::clone);
        self.known.insert(key, Known { error, tool: tool.into(), access, idempotent, keyed, attempt, said });
        said
    }
}

impl Failed<'_> {
    fn key(&self) -> u64 {
        let Failed { error, tool, facts, keyed, attempt } = self;
        let words = error.map(|error| (&error.kind, &error.message));
        FixedState::default().hash_one((words, tool, facts.access, facts.idempotent, keyed, attempt))
    }
}

impl Known {
    fn is(&self, failed: &Failed<'_>) -> bool {
        let same_error = match (&self.error, failed.error) {
            (Some(known), Some(error)) => Arc::ptr_eq(known, error) || known == error,
            (None, None) => true,
            _ => false,
        };
        let Failed { tool, facts, keyed, attempt, .. } = *failed;
        let known = (&*self.tool, self.access, self.idempotent, self.keyed, self.attempt);
        same_error && known == (tool, facts.access, facts.idempotent, keyed, attempt)
    }
}
