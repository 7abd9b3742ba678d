//! The frequent things among any number of different ones, in little room. Nothing that is frequent is lost wherever it
//! stands, and what is rare makes room for it: a sketch of the kind of Space-Saving (Metwally et al., 2005), cut in
//! bulk. Ordered, so that the same input gives the same rows.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::pairs;

/// Things by what tells them apart, each with what is counted of it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(
    bound = "K: Ord + serde::Serialize + serde::de::DeserializeOwned, V: serde::Serialize + serde::de::DeserializeOwned"
)]
pub struct Frequent<K, V> {
    #[serde(with = "pairs")]
    rows: BTreeMap<K, FrequentRow<V>>,
    /// So many stay when it is cut; up to twice as many are there.
    most: usize,
    /// The most that may have been counted of a thing that is not there. With n counted in all, at most n / `most`.
    floor: u64,
}

/// One thing.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FrequentRow<V> {
    /// What is counted of it beside how often it was.
    pub value: V,
    /// How often it was counted since it is there.
    pub count: u64,
    /// How often it may have been counted before, at most.
    pub missed: u64,
}

impl<K: Ord + Clone, V: Default> Frequent<K, V> {
    /// Nothing yet; the `most` most frequent things will stay.
    pub const fn new(most: usize) -> Frequent<K, V> {
        Frequent { rows: BTreeMap::new(), most, floor: 0 }
    }

    /// What the count of a thing may lack at most; 0: all counts are exact.
    pub const fn missed_at_most(&self) -> u64 {
        self.floor
    }

    /// Counts what is there.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut FrequentRow<V>>
    where
        K: Borrow<Q>,
    {
        self.rows.get_mut(key)
    }

    /// The row of a thing, made where there is none; where rows must go for it, each goes to `folded`.
    pub fn row(&mut self, key: K, folded: impl FnMut(K, FrequentRow<V>)) -> &mut FrequentRow<V> {
        if self.rows.len() >= 2 * self.most && !self.rows.contains_key(&key) {
            self.cut(folded);
        }
        let missed = self.floor;
        self.rows.entry(key).or_insert_with(|| FrequentRow { value: V::default(), count: 0, missed })
    }

    /// Takes in what was counted later, with `merge` for what is counted of a thing beside.
    pub fn merge(
        &mut self,
        later: Frequent<K, V>,
        mut merge: impl FnMut(&mut V, V),
        mut folded: impl FnMut(K, FrequentRow<V>),
    ) {
        // What is not there in `later` may have been counted in it all the same.
        if later.floor > 0 {
            let absent = self.rows.iter_mut().filter(|(key, _)| !later.rows.contains_key(*key));
            absent.for_each(|(_, row)| row.missed += later.floor);
        }
        for (key, row) in later.rows {
            let mine = self.row(key, &mut folded);
            mine.count += row.count;
            mine.missed += row.missed;
            merge(&mut mine.value, row.value);
        }
        self.floor += later.floor;
    }

    /// The same things under other keys, which stay different.
    #[must_use]
    pub fn with_keys(self, key: impl Fn(K) -> K) -> Frequent<K, V> {
        Frequent { rows: self.rows.into_iter().map(|(known, row)| (key(known), row)).collect(), ..self }
    }

    /// Only the most frequent ones; the others go to `folded`.
    pub fn cut(&mut self, mut folded: impl FnMut(K, FrequentRow<V>)) {
        if self.rows.len() <= self.most {
            return;
        }
        let mut ranks: Vec<(Reverse<u64>, &K)> =
            self.rows.iter().map(|(key, row)| (Reverse(row.count + row.missed), key)).collect();
        ranks.sort_unstable();
        let gone: Vec<K> = ranks.into_iter().skip(self.most).map(|(_, key)| key.clone()).collect();
        for key in gone {
            let Some(row) = self.rows.remove(&key) else { continue };
            self.floor = self.floor.max(row.count + row.missed);
            folded(key, row);
        }
    }

    /// What is there, in the order of the keys.
    pub fn rows(&self) -> impl Iterator<Item = (&K, &FrequentRow<V>)> {
        self.rows.iter()
    }

    /// The same, to change it.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.rows.values_mut().map(|row| &mut row.value)
    }

    /// The same, taken.
    pub fn into_rows(self) -> impl Iterator<Item = (K, FrequentRow<V>)> {
        self.rows.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Counts names one after the other.
    fn counted(names: impl IntoIterator<Item = u32>, most: usize) -> (Frequent<u32, ()>, u64) {
        let (mut frequent, mut folded) = (Frequent::new(most), 0);
        for name in names {
            frequent.row(name, |_, row| folded += row.count).count += 1;
        }
        (frequent, folded)
    }

    #[test]
    fn what_is_frequent_is_found_wherever_it_stands_and_nothing_is_lost_of_the_sum() {
        let rare = || 1..100_000_u32;
        let often = || std::iter::repeat_n(0, 50_000);
        let between = || rare().flat_map(|name| [name, 0].into_iter().take(1 + usize::from(name % 2 == 0)));
        let orders: [Vec<u32>; 3] =
            [rare().chain(often()).collect(), often().chain(rare()).collect(), between().collect()];
        for names in orders {
            let (all, truth) = (names.len() as u64, names.iter().filter(|name| **name == 0).count() as u64);
            let (frequent, folded) = counted(names, 100);
            let (_, row) = frequent.rows().find(|(name, _)| **name == 0).expect("the frequent one");
            assert!(row.count <= truth && truth <= row.count + row.missed, "{row:?} of {truth}");
            assert!(row.missed <= all / 100, "{row:?}");
            assert!(frequent.rows().count() <= 200);
            assert_eq!(frequent.rows().map(|(_, row)| row.count).sum::<u64>() + folded, all);
        }
    }

    #[test]
    fn what_never_made_room_for_others_is_exact() {
        let (frequent, folded) = counted((0..200).chain(0..100), 100);
        assert_eq!((frequent.rows().count(), frequent.floor, folded), (200, 0, 0));
    }

    #[test]
    fn what_is_rare_goes_first_whatever_its_name_is() {
        for name in [0, 5_000, u32::MAX] {
            let rare = 1..10_000_u32;
            let names = rare.flat_map(|other| [other, name].into_iter().take(1 + usize::from(other % 4 == 0)));
            let (mut frequent, _) = counted(names, 10);
            frequent.cut(|_, _| {});
            assert!(frequent.rows().any(|(known, _)| *known == name), "{name} is gone");
        }
    }

    #[test]
    fn what_a_part_has_folded_may_have_been_there() {
        let (mut all, _) = counted([7; 5], 2);
        let (part, _) = counted([7, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5], 2);
        assert!(part.rows().all(|(name, _)| *name != 7), "it made room");
        all.merge(part, |(), ()| {}, |_, _| {});
        let row = all.get_mut(&7).expect("the frequent one");
        assert!(row.count <= 6 && 6 <= row.count + row.missed, "{row:?}");
    }

    proptest! {
        #[test]
        fn the_truth_lies_between_the_bounds_of_every_name(
            names in prop::collection::vec(0..40_u32, 0..400), most in 1..8_usize, parts in 1..5_usize,
        ) {
            let (mut all, mut folded) = (Frequent::<u32, ()>::new(most), 0);
            for part in names.chunks(names.len() / parts + 1) {
                let (later, lost) = counted(part.iter().copied(), most);
                folded += lost;
                all.merge(later, |(), ()| {}, |_, row| folded += row.count);
            }
            prop_assert!(all.rows().count() <= 2 * most);
            prop_assert_eq!(all.rows().map(|(_, row)| row.count).sum::<u64>() + folded, names.len() as u64);
            for name in 0..40 {
                let truth = names.iter().filter(|known| **known == name).count() as u64;
                let floor = all.floor;
                let (least, most) = all.get_mut(&name).map_or((0, floor), |row| (row.count, row.count + row.missed));
                prop_assert!(least <= truth && truth <= most, "{} of {}: {}..={}", truth, name, least, most);
            }
        }
    }

    #[test]
    fn what_was_counted_in_parts_holds_the_truth_between_its_bounds() {
        let (mut all, mut folded) = (Frequent::<u32, ()>::new(50), 0);
        for part in 0..20_u32 {
            let names = (0..400).map(|n| if n % 4 == 0 { 7 } else { 1_000 * (part + 1) + n });
            let (later, lost) = counted(names, 50);
            folded += lost;
            all.merge(later, |(), ()| {}, |_, row| folded += row.count);
        }
        let row = all.get_mut(&7).expect("the frequent one");
        assert!(row.count <= 2_000 && 2_000 <= row.count + row.missed, "{row:?}");
        assert_eq!(all.rows().map(|(_, row)| row.count).sum::<u64>() + folded, 8_000);
    }
}
