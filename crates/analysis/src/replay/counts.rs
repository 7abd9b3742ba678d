//! Counts by name in bounded memory. Ordered; also counts what has no name of its own.

use super::frequent::Frequent;

/// The most names.
const MAX_NAMES: usize = 200;

/// Counts of the most frequent names. A count lacks what came while its name was rare.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    names: Frequent<Box<str>, ()>,
    total: u64,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts { names: Frequent::new(MAX_NAMES), total: 0 }
    }
}

impl Counts {
    /// Counts `name`.
    pub fn add(&mut self, name: &str, count: u64) {
        self.total += count;
        match self.names.get_mut(name) {
            Some(row) => row.count += count,
            None => self.names.row(name.into(), |_, _| {}).count += count,
        }
    }

    /// Adds what was counted later.
    pub fn merge(&mut self, later: &Counts) {
        self.total += later.total;
        self.names.merge(later.names.clone(), |(), ()| {}, |_, _| {});
    }

    /// The rows, the most frequent first, then by name.
    pub fn rows(&self) -> Vec<(&str, u64)> {
        let mut rows: Vec<(&str, u64)> = self.names.rows().map(|(name, row)| (&**name, row.count)).collect();
        rows.sort_by(|(a, many), (b, more)| more.cmp(many).then(a.cmp(b)));
        rows.truncate(MAX_NAMES);
        rows
    }

    /// The count of rare names, beyond the 200 most frequent.
    pub fn others(&self) -> u64 {
        self.total - self.rows().iter().map(|(_, count)| count).sum::<u64>()
    }

    /// What the count of a name may lack at most.
    pub const fn missed_at_most(&self) -> u64 {
        self.names.missed_at_most()
    }

    /// Everything that was counted.
    pub const fn total(&self) -> u64 {
        self.total
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

    #[test]
    fn a_name_that_is_frequent_behind_many_rare_ones_is_named() {
        let mut counts = Counts::default();
        for n in 0..10_000 {
            counts.add(&n.to_string(), 1);
        }
        counts.add("often", 5_000);
        assert_eq!(counts.rows()[0], ("often", 5_000));
        assert_eq!((counts.rows().len(), counts.total()), (200, 15_000));
        assert_eq!(counts.others(), 15_000 - 5_199);
    }
}
