//! Looks at every recorded failure, on whatever thread, and counts it by its shape. Small however long the traces
//! are; says what it could not tell apart.

use super::result::{Cluster, Mined, cluster_of};
use super::shape::{Failure, Key, Shape, write_forms};
use crate::replay::{Frequent, Replayed, Row, Seen, Watch};
use playproof_engine::call::{RecordedCall, Reply};
use playproof_engine::event::OutcomeKind;
use playproof_engine::ids::{AttemptNo, VerdictId};
use playproof_engine::sim::Plan;

/// Shapes that are told apart; the most frequent ones, where there are more.
const MAX_SHAPES: usize = 4_096;

/// Mines a replay under one plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Miner;

/// What was found in a batch of calls.
#[derive(Clone, Debug)]
pub struct Part {
    shapes: Frequent<Key, Shape>,
    folded: Folded,
    form: String,
    key: String,
}

impl Default for Part {
    fn default() -> Part {
        let shapes = Frequent::new(MAX_SHAPES);
        Part { shapes, folded: Folded::default(), form: String::new(), key: String::new() }
    }
}

/// Failures of rare shapes, that made room for others; counted by their verdict.
#[derive(Clone, Debug, Default)]
pub(super) struct Folded(Vec<Fold>);

/// What was folded of one verdict.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fold {
    pub failures: u64,
    pub exhausted: u64,
}

impl Folded {
    fn add(&mut self, verdict: VerdictId, fold: Fold) {
        let place = verdict.index();
        self.0.resize(self.0.len().max(place + 1), Fold::default());
        if let Some(mine) = self.0.get_mut(place) {
            mine.failures += fold.failures;
            mine.exhausted += fold.exhausted;
        }
    }

    fn shape(&mut self, key: &Key, row: Row<Shape>) {
        self.add(key.verdict, Fold { failures: row.count, exhausted: row.value.exhausted });
    }

    /// Those of each verdict.
    pub fn rows(&self) -> impl Iterator<Item = (VerdictId, Fold)> {
        (0..).map(VerdictId).zip(self.0.iter().copied())
    }
}

impl Part {
    /// Adds what was found in later calls.
    pub fn merge(&mut self, later: Part) {
        let Part { shapes, folded, .. } = self;
        later.folded.rows().for_each(|(verdict, fold)| folded.add(verdict, fold));
        shapes.merge(later.shapes, Shape::merge, |key, row| folded.shape(&key, row));
    }

    /// The same as if so many other inputs had been read before.
    #[must_use]
    pub fn after_inputs(mut self, inputs: u32) -> Part {
        let samples = self.shapes.values_mut().flat_map(|shape| &mut shape.samples);
        samples.for_each(|sample| sample.place.input = sample.place.input.saturating_add(inputs));
        self
    }

    /// The clusters of everything, drawn for the `top` most pressing ones.
    pub fn finish(mut self, plan: &Plan, replayed: &Replayed, top: usize) -> Mined {
        let Part { shapes, folded, .. } = &mut self;
        shapes.cut(|key, row| folded.shape(&key, row));
        let (shapes, folded) = self.told_apart();
        Mined::new(shapes, &folded, plan, replayed, top)
    }

    fn told_apart(self) -> (Vec<(Key, Shape)>, Folded) {
        let rows = self.shapes.into_rows();
        let shapes = rows.map(|(key, row)| (key, Shape { failures: row.count, missed: row.missed, ..row.value }));
        (shapes.collect(), self.folded)
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
        cluster_of(self.told_apart().0, &key_of(plan, &failure, &mut String::new(), &mut String::new()), plan)
    }

    fn add(&mut self, plan: &Plan, failure: &Failure<'_>, exhausted: bool) {
        let (mut form, mut key) = (std::mem::take(&mut self.form), std::mem::take(&mut self.key));
        let Part { shapes, folded, .. } = self;
        let row = shapes.row(key_of(plan, failure, &mut form, &mut key), |key, row| folded.shape(&key, row));
        row.count += 1;
        row.value.add(failure, &form, exhausted);
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
