//! Readable, unique names for the runs of a file.

use std::collections::{BTreeMap, BTreeSet};

use crate::hash;

/// The parts of a run's name in its source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RunLabel {
    /// Its own name, such as `task_5`.
    pub(super) base: Option<String>,
    /// Its trial number.
    pub(super) trial: Option<String>,
}

/// Names in use, so that none is used twice. Keeps a hash of each: a long file has millions. Two names with one hash, which
/// no file has by chance, would give the second one a count that it does not need.
#[derive(Debug, Default)]
pub(super) struct UsedNames {
    names: BTreeSet<u64>,
    counts: BTreeMap<u64, u64>,
}

impl UsedNames {
    /// Whether `name` is in use.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(&hash::seed(name.as_bytes()))
    }

    /// Marks `name` as used.
    pub(super) fn add(&mut self, name: &str) {
        self.names.insert(hash::seed(name.as_bytes()));
    }

    /// Uses and returns `wanted`; if that is in use, `wanted` with `mark` and the first free count from 2.
    pub(super) fn free(&mut self, wanted: &str, mark: char) -> String {
        let mut name = wanted.to_owned();
        while self.has(&name) {
            let count = self.counts.entry(hash::seed(wanted.as_bytes())).or_insert(1);
            *count += 1; // ends: each round excludes one of the used names
            name = format!("{wanted}{mark}{count}");
        }
        self.add(&name);
        name
    }
}

/// A name for each run, in the same order: its base, with the trial if the base is not unique, and with a count if that is
/// not unique either.
pub(super) fn unique(labels: &[RunLabel]) -> Vec<String> {
    let mut bases: BTreeMap<&str, u32> = BTreeMap::new();
    for base in labels.iter().filter_map(|label| label.base.as_deref()) {
        *bases.entry(base).or_default() += 1;
    }
    let mut used = UsedNames::default();
    let name = |(n, label): (usize, &RunLabel)| {
        let wanted = match (&label.base, &label.trial) {
            (None, _) => format!("run_{}", n + 1),
            (Some(base), Some(trial)) if bases.get(base.as_str()).is_some_and(|&count| count > 1) => {
                format!("{base}.trial_{trial}")
            }
            (Some(base), _) => base.clone(),
        };
        used.free(&wanted, '.')
    };
    labels.iter().enumerate().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(base: &str, trial: &str) -> RunLabel {
        RunLabel { base: Some(base.into()), trial: (!trial.is_empty()).then(|| trial.into()) }
    }

    #[test]
    fn a_run_is_named_after_its_task_and_its_trial_only_where_needed() {
        let labels = [label("task_5", "0"), label("task_7", "0"), label("task_7", "1"), label("task_7", "1")];
        assert_eq!(unique(&labels), ["task_5", "task_7.trial_0", "task_7.trial_1", "task_7.trial_1.2"]);
    }

    #[test]
    fn names_stay_unique_even_where_a_task_is_named_like_a_trial() {
        let labels = [label("t", "1"), label("t", "2"), label("t.trial_1", ""), RunLabel::default()];
        assert_eq!(unique(&labels), ["t.trial_1", "t.trial_2", "t.trial_1.2", "run_4"]);
    }
}
