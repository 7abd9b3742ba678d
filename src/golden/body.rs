//! What a golden's body says, as values with places: what people accepted, apart from how it is laid out.
//! Reads and compares nothing.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::time::Instant;

/// A golden's body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoldenBody {
    /// How each call ended, in the order of the calls.
    pub calls: Vec<CallEnd>,
    /// The upstream's book, one line an intent.
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
    /// Field and value, in the order of the text.
    pub fields: Vec<(&'static str, String)>,
    /// Where the name stands in the body.
    pub span: Range<usize>,
}

/// What the upstream did for one intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerLine {
    /// The intent's name.
    pub intent: String,
    /// How often, by kind of entry.
    pub counts: BTreeMap<&'static str, u32>,
    /// Where the name stands in the body.
    pub span: Range<usize>,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingLine {
    /// Its stable id.
    pub id: &'static str,
    /// At which call.
    pub call: String,
    /// By whom, and how many.
    pub fields: Vec<(&'static str, String)>,
    /// Where the id stands in the body.
    pub span: Range<usize>,
}

/// One decision event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLine {
    /// In virtual time: the sum of the delta times up to here.
    pub at: Instant,
    /// For which call.
    pub call: String,
    /// What sort: `retry_scheduled`.
    pub kind: &'static str,
    /// What stands behind the kind: the number of an attempt, a verdict, a queue.
    pub value: String,
    /// The further fields, in the order of the text.
    pub fields: Vec<(&'static str, String)>,
    /// Where the event stands in the body.
    pub span: Range<usize>,
}

impl GoldenBody {
    /// Effects that are there in the end, over the whole ledger.
    pub fn net_effects(&self) -> u32 {
        self.ledger.iter().map(LedgerLine::net_effects).fold(0, u32::saturating_add)
    }

    /// The end of a call.
    pub fn call(&self, name: &str) -> Option<&CallEnd> {
        self.calls.iter().find(|call| call.name == name)
    }
}

impl CallEnd {
    /// The value of a field, where the call has it.
    pub fn field(&self, name: &str) -> Option<&str> {
        value(&self.fields, name)
    }
}

impl LedgerLine {
    /// Effects of this intent that are there in the end.
    pub fn net_effects(&self) -> u32 {
        let count = |kind: &str| self.counts.get(kind).copied().unwrap_or(0);
        count("existing").saturating_add(count("applied")).saturating_sub(count("reversed"))
    }

    /// As the body writes it: `applied x1, existing x1`.
    pub fn words(&self) -> String {
        let each: Vec<String> = self.counts.iter().map(|(kind, count)| format!("{kind} x{count}")).collect();
        each.join(", ")
    }
}

impl FindingLine {
    /// The fields as the body writes them: `by: playbook, count: 1`.
    pub fn words(&self) -> String {
        let each: Vec<String> = self.fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        each.join(", ")
    }
}

impl EventLine {
    /// The value of a field, where the event has it.
    pub fn field(&self, name: &str) -> Option<&str> {
        value(&self.fields, name)
    }

    /// As the body writes it, without time and call: `retry_scheduled: 2, delay_ms: 200`.
    pub fn words(&self) -> String {
        let mut words = format!("{}: {}", self.kind, self.value);
        for (name, value) in &self.fields {
            words += &format!(", {name}: {value}");
        }
        words
    }
}

fn value<'a>(fields: &'a [(&'static str, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
}
