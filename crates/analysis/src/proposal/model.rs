//! What a proposal says, with the texts as its author wrote them. Reads and changes nothing.

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
    /// What it does, in order; never empty.
    pub operations: Vec<Operation>,
    /// The goldens that it changes, and how.
    pub expect: Vec<Expected>,
    /// Why a guard that it weakens may be weaker.
    pub reason: Option<String>,
}

/// A text and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned {
    /// The text.
    pub text: String,
    /// Where it stands in the proposal.
    pub span: Range<usize>,
}

/// A golden that is meant to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// `PLAYBOOK/FIXTURE`.
    pub id: Spanned,
    /// The worst that may change in it.
    pub class: Class,
}

/// One step of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What is done.
    pub what: OperationKind,
    /// For people who read the playbook; written above what is added.
    pub comment: Option<String>,
    /// Where the step stands in the proposal.
    pub span: Range<usize>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// A verdict that was not there.
    AddVerdict(Spanned, Snippet),
    /// A rule that was not there.
    AddRule(Spanned, Snippet, RulePosition),
    /// A rule at another place.
    MoveRule(Spanned, RulePosition),
    /// A rule that is no longer there.
    RemoveRule(Spanned),
    /// A verdict that is no longer there.
    RemoveVerdict(Spanned),
    /// A queue that was not there.
    AddQueue(Spanned),
    /// Other values in a verdict.
    ChangeVerdict(Spanned, Vec<FieldChange>),
    /// Another value of a limit.
    ChangeLimit(Spanned, Snippet),
}

/// Another value in a row.
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
    /// Behind all others.
    End,
    /// Before this rule.
    Before(Spanned),
    /// Behind this rule.
    After(Spanned),
}

/// A piece of YAML as written: its lines without the indentation that they have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet(pub Vec<String>);

impl Snippet {
    /// The one line; none where there are several, which stand below their key.
    pub fn line(&self) -> Option<&str> {
        match self.0.as_slice() {
            [line] if line.starts_with(['{', '[', '"', '\'']) || !line.contains(": ") => Some(line),
            _ => None,
        }
    }
}
