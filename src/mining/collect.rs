//! Looks at every recorded failure, on whatever thread, and counts it by its shape. Small however long the traces
//! are; says what it could not tell apart.

use std::collections::BTreeMap;

use super::result::Mined;
use super::shape::{Failure, Key, Shape, write_forms};
use crate::event::OutcomeKind;
use crate::ids::AttemptNo;
use crate::replay::{Replayed, Seen, Watch};
use crate::sim::Plan;
use crate::trace::model::Reply;

/// Shapes that are told apart.
const MAX_SHAPES: usize = 4_096;

/// Mines a replay under one plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Miner;

/// What was found in a batch of calls.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub(super) shapes: BTreeMap<Key, Shape>,
    /// Failures of shapes beyond those that are told apart.
    pub(super) overflow: u64,
    form: String,
    key: String,
}

impl Part {
    /// Adds what was found in later calls.
    pub fn merge(&mut self, later: Part) {
        self.overflow += later.overflow;
        for (key, shape) in later.shapes {
            match self.shape(key) {
                Some(mine) => mine.merge(shape),
                None => self.overflow += shape.failures,
            }
        }
    }

    /// The clusters of everything, drawn for the `top` most pressing ones.
    pub fn finish(self, plan: &Plan, replayed: &Replayed, top: usize) -> Mined {
        Mined::new(self.shapes, self.overflow, plan, replayed, top)
    }

    fn shape(&mut self, key: Key) -> Option<&mut Shape> {
        if self.shapes.len() >= MAX_SHAPES && !self.shapes.contains_key(&key) {
            return None;
        }
        Some(self.shapes.entry(key).or_default())
    }

    fn add(&mut self, plan: &Plan, failure: &Failure<'_>, exhausted: bool) {
        let (mut form, mut key) = (std::mem::take(&mut self.form), std::mem::take(&mut self.key));
        write_forms(failure.message().unwrap_or(""), &mut form, &mut key);
        let key_of_shape = Key::new(&key, failure.error, plan.classifier.classify(&failure.signal()).verdict);
        match self.shape(key_of_shape) {
            Some(shape) => shape.add(failure, &form, exhausted),
            None => self.overflow += 1,
        }
        (self.form, self.key) = (form, key);
    }
}

impl Watch for Miner {
    type Part = Part;

    fn part(&self) -> Part {
        Part::default()
    }

    fn see(&self, seen: &Seen<'_>, part: &mut Part) {
        let (Some(plan), Some(record), Some(&facts)) =
            (seen.plans.first(), seen.records().next(), seen.facts().first())
        else {
            return;
        };
        let exhausted_by = record.outcomes.first().and_then(|outcome| match outcome.kind {
            OutcomeKind::Exhausted(_) => Some(AttemptNo::new(outcome.attempts)),
            _ => None,
        });
        for (attempt, answer) in seen.call.attempts() {
            if let Reply::Failed(error) = &answer.reply {
                let error = error.as_deref();
                let failure = Failure { call: seen.call, error, facts, attempt, place: answer.place };
                part.add(plan, &failure, exhausted_by == Some(attempt));
            }
        }
    }
}
