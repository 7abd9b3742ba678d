//! Looks at every recorded failure, on whatever thread, and counts it by its shape. Small however long the traces
//! are; says what it could not tell apart.

use std::collections::BTreeMap;

use super::result::{Cluster, Mined, cluster_of};
use super::shape::{Failure, Key, Shape, write_forms};
use crate::event::OutcomeKind;
use crate::ids::AttemptNo;
use crate::replay::{Replayed, Seen, Watch};
use crate::sim::Plan;
use crate::trace::model::{RecordedCall, Reply};

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

    /// The same as if so many other inputs had been read before.
    #[must_use]
    pub fn after_inputs(mut self, inputs: u32) -> Part {
        let samples = self.shapes.values_mut().flat_map(|shape| &mut shape.samples);
        samples.for_each(|sample| sample.place.input = sample.place.input.saturating_add(inputs));
        self
    }

    /// The clusters of everything, drawn for the `top` most pressing ones.
    pub fn finish(self, plan: &Plan, replayed: &Replayed, top: usize) -> Mined {
        Mined::new(self.shapes, self.overflow, plan, replayed, top)
    }

    /// The cluster of one failed attempt of a call, as it is shown and as it is recorded, whatever its verdict; none where
    /// it was not seen or did not fail.
    pub fn around(
        self,
        plan: &Plan,
        (call, raw_call): (&RecordedCall, &RecordedCall),
        attempt: AttemptNo,
    ) -> Option<Cluster> {
        let failed = |call: &'_ RecordedCall| {
            let (_, answer) = call.attempts().find(|(number, _)| *number == attempt)?;
            match &answer.reply {
                Reply::Failed(error) => Some((error.clone(), answer.place)),
                Reply::Ok => None,
            }
        };
        let ((error, place), (raw, _)) = (failed(call)?, failed(raw_call)?);
        let facts = plan.facts(raw_call.tool());
        let (error, raw) = (error.as_deref(), raw.as_deref());
        let failure = Failure { call, error, raw_call, raw, facts, attempt, place };
        cluster_of(self.shapes, &key_of(plan, &failure, &mut String::new(), &mut String::new()), plan)
    }

    fn shape(&mut self, key: Key) -> Option<&mut Shape> {
        if self.shapes.len() >= MAX_SHAPES && !self.shapes.contains_key(&key) {
            return None;
        }
        Some(self.shapes.entry(key).or_default())
    }

    fn add(&mut self, plan: &Plan, failure: &Failure<'_>, exhausted: bool) {
        let (mut form, mut key) = (std::mem::take(&mut self.form), std::mem::take(&mut self.key));
        match self.shape(key_of(plan, failure, &mut form, &mut key)) {
            Some(shape) => shape.add(failure, &form, exhausted),
            None => self.overflow += 1,
        }
        (self.form, self.key) = (form, key);
    }
}

/// What tells the failure's shape from others; its form is left in `form`, and blind to case in `key`.
fn key_of(plan: &Plan, failure: &Failure<'_>, form: &mut String, key: &mut String) -> Key {
    write_forms(failure.message().unwrap_or(""), form, key);
    Key::new(key, failure.error, plan.classifier.classify(&failure.signal()).verdict)
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
        for ((attempt, answer), (_, recorded)) in seen.call.attempts().zip(seen.call.raw().attempts()) {
            if let (Reply::Failed(error), Reply::Failed(raw)) = (&answer.reply, &recorded.reply) {
                let (call, raw_call) = (&*seen.call, seen.call.raw());
                let (error, raw) = (error.as_deref(), raw.as_deref());
                let failure = Failure { call, error, raw_call, raw, facts, attempt, place: answer.place };
                part.add(plan, &failure, exhausted_by == Some(attempt));
            }
        }
    }
}
