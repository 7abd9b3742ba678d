//! What is known of a source while it is read. Reads nothing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::model::Mapping;
use super::unseen::UnseenTests;

/// The results, from the first, whose words are compared with what the user's mapping says of them.
const SAMPLED: u64 = 1_000;

/// What is known so far, and need not be looked for again. Only taking changes it, so that a reader knows at most what is true
/// of the rows before its own.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The selectors of the user's mapping, by number, that found a value. None for a recognised format: nothing asks.
    hits: Vec<AtomicBool>,
    /// What conditions of the user's mapping look for and no row had.
    pub(super) unseen: UnseenTests,
    /// The results so far.
    results: AtomicU64,
}

impl Known {
    /// Nothing is known yet of a source.
    pub(super) fn of(mapping: &Mapping) -> Known {
        match mapping.title {
            None => Known {
                hits: (0..mapping.selectors).map(|_| AtomicBool::new(false)).collect(),
                unseen: UnseenTests::of(mapping),
                results: AtomicU64::new(0),
            },
            Some(_) => Known::default(),
        }
    }

    /// The selectors that found a value.
    pub(super) fn hits(&self) -> Vec<bool> {
        self.hits.iter().map(|hit| hit.load(Ordering::Relaxed)).collect()
    }

    /// A selector found a value in a row that is taken.
    pub(super) fn hit(&self, selector: usize) {
        self.hits.get(selector).into_iter().for_each(|hit| hit.store(true, Ordering::Relaxed));
    }

    /// Whether a selector that finds a value is the first to do so.
    pub(super) fn is_new(&self, selector: usize) -> bool {
        self.hits.get(selector).is_some_and(|hit| !hit.load(Ordering::Relaxed))
    }

    /// Whether the words of the next result are compared with what the user's mapping says of it.
    pub(super) fn wants_results(&self) -> bool {
        self.results.load(Ordering::Relaxed) < SAMPLED
    }

    /// A result is taken.
    pub(super) fn add_result(&self) {
        self.results.fetch_add(1, Ordering::Relaxed);
    }
}
