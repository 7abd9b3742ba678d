//! The few calls that are most worth looking at: the most serious first, then the earliest; those that are alike are
//! one, with a count. Keeps no more calls than it shows, and is exact all the same: a call that is worse placed than
//! all that are kept can never come back.

use crate::event::{Decision, Finding, FindingId, FindingSeverity, Status};
use crate::sim::Record;
use crate::trace::model::{Place, RecordedCall};

use super::seen::Seen;
use super::template::write_template;

/// How serious a call is, the most serious first.
type Rank = (Option<FindingSeverity>, Option<FindingId>);

/// A call that stands for others like it.
#[derive(Clone, Debug)]
pub struct Highlight {
    /// The call; of those alike, the one whose findings count highest.
    pub call: RecordedCall,
    /// Its records, in the order of the playbooks.
    pub records: Vec<Record>,
    /// What the recording shows of it.
    pub recorded: Vec<Finding>,
    /// How many calls are like it, itself included.
    pub count: u64,
    rank: Rank,
    first: Place,
    worst_count: u32,
    key: String,
}

/// The highlights of the calls seen so far.
#[derive(Clone, Debug)]
pub struct Highlights {
    kept: Vec<Highlight>,
    limit: usize,
    offered: u64,
    template: String,
    key: String,
}

impl Highlights {
    /// At most `limit` of them.
    pub fn new(limit: usize) -> Highlights {
        Highlights { kept: Vec::new(), limit, offered: 0, template: String::new(), key: String::new() }
    }

    /// Offers a call. Calls are offered in their order.
    pub fn offer(&mut self, seen: &Seen<'_>) {
        self.offered += 1;
        let rank = rank(seen);
        if self.is_out_of_reach(rank) {
            return;
        }
        self.write_key(seen);
        let worst_count = seen.findings().map(|(_, finding)| finding.count).max().unwrap_or(0);
        let place = seen.call.place;
        if let Some(alike) = self.kept.iter_mut().find(|kept| kept.key == self.key) {
            alike.count += 1;
            if worst_count > alike.worst_count {
                alike.represent(seen, worst_count);
            }
            return;
        }
        self.keep(Highlight {
            call: seen.call.clone(),
            records: seen.records().cloned().collect(),
            recorded: seen.recorded.to_vec(),
            count: 1,
            rank,
            first: place,
            worst_count,
            key: self.key.clone(),
        });
    }

    /// Adds the highlights of later calls.
    pub fn merge(&mut self, later: Highlights) {
        self.offered += later.offered;
        for new in later.kept {
            match self.kept.iter_mut().find(|kept| kept.key == new.key) {
                Some(alike) => alike.absorb(new),
                None => self.keep(new),
            }
        }
    }

    /// The highlights, the most serious first, then by place.
    pub fn shown(&self) -> &[Highlight] {
        &self.kept
    }

    /// Calls that were offered and are neither shown nor like one that is.
    pub fn others(&self) -> u64 {
        self.offered - self.kept.iter().map(|kept| kept.count).sum::<u64>()
    }

    /// Whether a call of this rank can neither be like a kept one nor be kept itself.
    fn is_out_of_reach(&self, rank: Rank) -> bool {
        self.kept.len() >= self.limit && self.kept.last().is_none_or(|last| order(rank) > order(last.rank))
    }

    fn keep(&mut self, new: Highlight) {
        let place = self.kept.partition_point(|kept| kept.order() <= new.order());
        self.kept.insert(place, new);
        self.kept.truncate(self.limit);
    }

    /// What calls that are alike have in common: findings, tool, verdicts, outcomes, the form of the last message.
    fn write_key(&mut self, seen: &Seen<'_>) {
        use std::fmt::Write;
        let Highlights { key, template, .. } = self;
        key.clear();
        key.push_str(seen.call.tool());
        for (playbook, finding) in seen.findings() {
            let _ = write!(key, "\n{playbook:?} {:?}", finding.id); // writing to a string cannot fail
        }
        for record in seen.records() {
            let mut last = None;
            for event in &record.events {
                match event.what {
                    Decision::FailureClassified { verdict, .. } => {
                        let _ = write!(key, "\n{}", verdict.0);
                    }
                    Decision::Outcome(outcome) => {
                        let _ = write!(key, "\n{:?} {:?}", outcome.kind, outcome.claim);
                    }
                    Decision::AttemptFinished { status: Status::Failed(error), .. } => last = error,
                    _ => {}
                }
            }
            let message = last.and_then(|error| record.error(error)).and_then(|error| error.message.as_deref());
            write_template(message.unwrap_or(""), template);
            key.push('\n');
            key.push_str(template);
        }
    }
}

impl Highlight {
    fn order(&self) -> ((bool, Rank), Place) {
        (order(self.rank), self.first)
    }

    fn represent(&mut self, seen: &Seen<'_>, worst_count: u32) {
        self.call = seen.call.clone();
        self.records = seen.records().cloned().collect();
        self.recorded = seen.recorded.to_vec();
        self.worst_count = worst_count;
    }

    fn absorb(&mut self, later: Highlight) {
        self.count += later.count;
        if later.worst_count > self.worst_count {
            self.call = later.call;
            self.records = later.records;
            self.recorded = later.recorded;
            self.worst_count = later.worst_count;
        }
    }
}

/// Calls without a finding come last.
fn order(rank: Rank) -> (bool, Rank) {
    (rank.0.is_none(), rank)
}

fn rank(seen: &Seen<'_>) -> Rank {
    let worst = seen.findings().map(|(_, finding)| (finding.id.severity(), finding.id)).min();
    (worst.map(|worst| worst.0), worst.map(|worst| worst.1))
}
