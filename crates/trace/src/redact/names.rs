//! The names of a trace as they are shown: those that say which runs, calls, tools and intents are the same. Names that
//! are equal are shown alike, and names that differ are shown different.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

use super::rules::{REDACTED, RedactionRules};
use crate::hash;

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// A run.
    Run,
    /// A call's label.
    Call,
    /// A tool.
    Tool,
    /// An idempotency key.
    Key,
    /// A reversal token.
    Token,
}

impl Name {
    /// The field of a trace's line that holds it.
    const fn field(self) -> &'static str {
        match self {
            Name::Run => "run_id",
            Name::Call => "call_id",
            Name::Tool => "tool",
            Name::Key => "idempotency_key",
            Name::Token => "reversal_token",
        }
    }

    fn mark(self, name: &str) -> u128 {
        hash::bytes(name.as_bytes(), self as u64)
    }
}

impl RedactionRules {
    /// A name as it is shown. Names are numbered in the order in which they are asked for first, so that whoever asks
    /// does it in the order of the trace.
    pub fn name<'n>(&self, of: Name, name: &'n str) -> Cow<'n, str> {
        let plain = self.text_under(of.field(), name);
        // A name that says itself that it was redacted may be what another becomes.
        if self.is_empty() || plain == name && !name.contains(REDACTED) {
            return Cow::Borrowed(name);
        }
        let mut stand_ins = self.stand_ins.lock().unwrap_or_else(PoisonError::into_inner);
        Cow::Owned(numbered(&plain, stand_ins.number(of, name, &plain)))
    }
}

/// `plain` the first time, then with a number.
pub(super) fn numbered(plain: &str, number: u32) -> String {
    match number {
        0 | 1 => plain.to_owned(),
        number => format!("{plain} {number}"),
    }
}

/// The numbers that tell names apart which are redacted to the same. Keeps hashes alone.
#[derive(Debug, Default)]
pub(super) struct StandIns {
    /// By name.
    given: BTreeMap<u128, u32>,
    /// By what is left of the name: the last number that was given.
    last: BTreeMap<u128, u32>,
    /// What is shown already.
    taken: BTreeSet<u128>,
}

impl StandIns {
    fn number(&mut self, of: Name, name: &str, plain: &str) -> u32 {
        if let Some(number) = self.given.get(&of.mark(name)) {
            return *number;
        }
        let last = self.last.entry(of.mark(plain)).or_default();
        *last += 1;
        while !self.taken.insert(of.mark(&numbered(plain, *last))) {
            *last += 1;
        }
        self.given.insert(of.mark(name), *last);
        *last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_redacted_stay_as_different_as_they_were() {
        let rules = RedactionRules::new(&["tool"], &[r"\d{4}"]).unwrap();
        let shown = |of, names: &[&str]| names.iter().map(|name| rules.name(of, name).into_owned()).collect::<Vec<_>>();
        let pay = ["pay-4111", "pay-4222", "pay-4111", "pay", "pay-[redacted] 3", "pay-4333"];
        let keys =
            ["pay-[redacted]", "pay-[redacted] 2", "pay-[redacted]", "pay", "pay-[redacted] 3", "pay-[redacted] 4"];
        assert_eq!(shown(Name::Key, &pay), keys);
        assert_eq!(shown(Name::Run, &["pay-4222", "pay-4111"]), ["pay-[redacted]", "pay-[redacted] 2"]);
        assert_eq!(shown(Name::Tool, &["a", "b", "a"]), ["[redacted]", "[redacted] 2", "[redacted]"]);
        assert_eq!(rules.clone().name(Name::Tool, "b"), "[redacted] 2", "clones know what was given");
    }
}
