//! Counts by name that stay small however long the input is. Ordered; says what it could not name.

use std::collections::BTreeMap;

/// Names that are counted apart.
const MAX_NAMES: usize = 200;

/// How often each name was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    rows: BTreeMap<Box<str>, u64>,
    others: u64,
}

impl Counts {
    /// Counts `name`.
    pub fn add(&mut self, name: &str, count: u64) {
        if let Some(row) = self.rows.get_mut(name) {
            *row += count;
        } else if self.rows.len() < MAX_NAMES {
            self.rows.insert(name.into(), count);
        } else {
            self.others += count;
        }
    }

    /// Adds what was counted later.
    pub fn merge(&mut self, later: &Counts) {
        for (name, &count) in &later.rows {
            self.add(name, count);
        }
        self.others += later.others;
    }

    /// The rows, the most frequent first, then by name.
    pub fn rows(&self) -> Vec<(&str, u64)> {
        let mut rows: Vec<(&str, u64)> = self.rows.iter().map(|(name, &count)| (&**name, count)).collect();
        rows.sort_by(|(a, many), (b, more)| more.cmp(many).then(a.cmp(b)));
        rows
    }

    /// What came after the first 200 names and is none of them: counted, but not by name.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Everything that was counted.
    pub fn total(&self) -> u64 {
        self.rows.values().sum::<u64>() + self.others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_comes_first_and_what_overflows_is_said() {
        let mut counts = Counts::default();
        for n in 0..300 {
            counts.add(&format!("name {n:03}"), 1);
        }
        counts.add("name 007", 4);
        let mut twice = counts.clone();
        twice.merge(&counts);
        assert_eq!(twice.rows()[..2], [("name 007", 10), ("name 000", 2)]);
        assert_eq!((twice.rows().len(), twice.others(), twice.total()), (200, 200, 608));
    }
}
