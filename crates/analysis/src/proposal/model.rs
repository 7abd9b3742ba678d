//! The model of a proposal, with texts as written. Reads and changes nothing.

use std::ops::Range;
use std::sync::Arc;

use playproof_formats::diagnostic::Source;
use playproof_formats::golden::Class;

/// A change of a playbook that waits for review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// What the places point into.
    pub source: Arc<Source>,
    /// The playbook, by the name that fixtures know it by.
    pub playbook: Spanned,
    /// The fingerprint of the playbook that it was made for.
    pub base: Spanned,
    /// Its steps, in order; never empty.
    pub operations: Vec<Operation>,
    /// The goldens with an expected change.
    pub expect: Vec<Expected>,
    /// The reason for a weaker guard.
    pub reason: Option<String>,
}

/// A text and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned {
    /// The text.
    pub text: String,
    /// Where it stands in the proposal.
    pub span: Range<usize>,
}

/// A golden with an expected change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// `PLAYBOOK/FIXTURE`.
    pub id: Spanned,
    /// The worst expected class.
    pub class: Class,
}

/// One step of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The change.
    pub what: OperationKind,
    /// A comment for the playbook, above the added row.
    pub comment: Option<String>,
    /// Where the step stands in the proposal.
    pub span: Range<usize>,
}

/// The kind of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Adds a verdict.
    AddVerdict(Spanned, Snippet),
    /// Adds a rule.
    AddRule(Spanned, Snippet, RulePosition),
    /// Moves a rule.
    MoveRule(Spanned, RulePosition),
    /// Removes a rule.
    RemoveRule(Spanned),
    /// Removes a verdict.
    RemoveVerdict(Spanned),
    /// Adds a queue.
    AddQueue(Spanned),
    /// Changes values of a verdict.
    ChangeVerdict(Spanned, Vec<FieldChange>),
    /// Changes a limit.
    ChangeLimit(Spanned, Snippet),
}

/// A changed value in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    /// `means`, `effect` or `then`.
    pub key: &'static str,
    /// The value as written.
    pub value: Snippet,
}

/// Where a rule goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RulePosition {
    /// After all others.
    End,
    /// Before this rule.
    Before(Spanned),
    /// After this rule.
    After(Spanned),
}

/// A piece of YAML as written: its lines without their common indent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet(pub Vec<String>);

impl Snippet {
    /// The only line; none if there are several.
    pub fn line(&self) -> Option<&str> {
        match self.0.as_slice() {
            [line] if line.starts_with(['{', '[', '"', '\'']) || !line.contains(": ") => Some(line),
            _ => None,
        }
    }
}
