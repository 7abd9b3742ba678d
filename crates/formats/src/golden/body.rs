//! The body of a golden as values with places, independent of layout. Reads and compares nothing.

use std::collections::BTreeMap;
use std::ops::Range;

use super::value::GoldenValue;
use playproof_engine::event::{EventKind, FieldKey, FindingBy, FindingId, LedgerKind};
use playproof_engine::time::Instant;

/// A key with its value.
pub type GoldenField = (FieldKey, GoldenValue);

/// A golden's body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoldenBody {
    /// How each call ended, in the order of the calls.
    pub calls: Vec<CallEnd>,
    /// The upstream's ledger, one line for each intent.
    pub ledger: Vec<LedgerLine>,
    /// Worst first.
    pub findings: Vec<FindingLine>,
    /// Ordered by time, then emission.
    pub events: Vec<EventLine>,
}

/// How one call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEnd {
    /// Its name.
    pub name: String,
    /// In the order of the text.
    pub fields: Vec<GoldenField>,
    /// The place of the name in the body.
    pub span: Range<usize>,
}

/// What the upstream did for one intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerLine {
    /// The intent's name.
    pub intent: String,
    /// The number of entries, by kind.
    pub counts: BTreeMap<LedgerKind, u32>,
    /// The place of the name in the body.
    pub span: Range<usize>,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingLine {
    /// Its id.
    pub id: FindingId,
    /// The call.
    pub call: String,
    /// Who caused it.
    pub by: FindingBy,
    /// The count.
    pub count: u32,
    /// The place of the id in the body.
    pub span: Range<usize>,
}

/// One decision event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLine {
    /// The moment in virtual time: the sum of the delta times up to here.
    pub at: Instant,
    /// The call.
    pub call: String,
    /// The kind of event.
    pub kind: EventKind,
    /// The value behind the kind: the number of an attempt, a verdict, a queue.
    pub value: GoldenValue,
    /// The further fields, in the order of the text.
    pub fields: Vec<GoldenField>,
    /// The place of the event in the body.
    pub span: Range<usize>,
}

impl GoldenBody {
    /// The net effects of the whole ledger.
    pub fn net_effects(&self) -> u32 {
        self.ledger.iter().map(LedgerLine::net_effects).fold(0, u32::saturating_add)
    }

    /// The end of a call.
    pub fn call(&self, name: &str) -> Option<&CallEnd> {
        self.calls.iter().find(|call| call.name == name)
    }
}

impl CallEnd {
    /// The value of a field, if the call has it.
    pub fn field(&self, key: FieldKey) -> Option<&GoldenValue> {
        field(&self.fields, key)
    }
}

impl LedgerLine {
    /// The net effects of this intent.
    pub fn net_effects(&self) -> u32 {
        let count = |kind| self.counts.get(&kind).copied().unwrap_or(0);
        count(LedgerKind::Existing)
            .saturating_add(count(LedgerKind::Applied))
            .saturating_sub(count(LedgerKind::Reversed))
    }

    /// The text in the body: `applied x1, existing x1`.
    pub fn words(&self) -> String {
        let each: Vec<String> = self.counts.iter().map(|(kind, count)| format!("{} x{count}", kind.as_str())).collect();
        each.join(", ")
    }
}

impl FindingLine {
    /// Cause and count as in the body: `by: playbook, count: 1`.
    pub fn words(&self) -> String {
        format!("by: {}, count: {}", self.by.as_str(), self.count)
    }
}

impl EventLine {
    /// The value of a field, if the event has it.
    pub fn field(&self, key: FieldKey) -> Option<&GoldenValue> {
        field(&self.fields, key)
    }

    /// The text in the body, without time and call: `retry_scheduled: 2, delay_ms: 200`.
    pub fn words(&self) -> String {
        let mut words = format!("{}: {}", self.kind.as_str(), self.value);
        for (key, said) in &self.fields {
            words += &format!(", {}: {said}", key.as_str());
        }
        words
    }
}

/// The value of a field, if it is present.
pub(super) fn field(fields: &[GoldenField], key: FieldKey) -> Option<&GoldenValue> {
    fields.iter().find(|(known, _)| *known == key).map(|(_, said)| said)
}
