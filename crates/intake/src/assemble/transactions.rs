//! The transactions of an input: how often each has begun, and since when its label stands for it. A commit ends it; the label
//! may then begin another one.

use std::collections::BTreeMap;

use playproof_engine::call::RecordedTransaction;

/// Those that are open, by the hash of their run and their label; that of a run itself has none.
#[derive(Debug, Default)]
pub struct Transactions {
    open: BTreeMap<(u128, Box<str>), Open>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    since: u64,
    begun: u32,
}

impl Transactions {
    /// Whether there is any.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// It begins, perhaps again.
    pub fn begin(&mut self, run: u128, label: Box<str>, line: u64) {
        let open = self.open.entry((run, label)).or_insert(Open { since: line, begun: 0 });
        open.begun = open.begun.saturating_add(1);
    }

    /// It is committed: which it was.
    pub fn commit(&mut self, run: u128, label: Box<str>, line: u64) -> Option<RecordedTransaction> {
        let known = self.open.remove(&(run, label.clone()));
        if label.is_empty() {
            self.open.insert((run, label.clone()), Open { since: line, begun: 0 }); // later calls of the run are in another one
        }
        let Open { since, begun } = known?;
        Some(RecordedTransaction { label, since, begun, was_committed: true })
    }

    /// The transaction of a call that names one, or of its run.
    pub fn of(&mut self, run: u128, named: Option<&RecordedTransaction>, line: u64) -> Option<RecordedTransaction> {
        let label = named.map_or_else(Box::default, |named| named.label.clone());
        let key = (run, label.clone());
        let open = match named {
            Some(_) => *self.open.entry(key).or_insert(Open { since: line, begun: 0 }),
            None => *self.open.get(&key)?,
        };
        let Open { since, begun } = open;
        Some(RecordedTransaction { label, since, begun, was_committed: false })
    }

    /// A run ends.
    pub fn end_run(&mut self, run: u128) {
        self.open.retain(|(of, _), _| *of != run);
    }
}
