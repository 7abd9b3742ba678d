//! The latest error objects of a trace by their JSON text: a repeated error is parsed and kept once. Parses nothing.

use std::sync::Arc;

use crate::recent_cache::RecentCache;
use playproof_engine::event::ErrorFacts;

/// Cached errors: a trace repeats few errors, and a search must cost less than parsing.
const MAX: usize = 8;

/// Longer error texts, in bytes, are not cached.
const MAX_RAW: usize = 4_096;

/// The latest errors.
#[derive(Debug, Default)]
pub(super) struct ErrorCache(RecentCache<CachedError, MAX>);

#[derive(Debug)]
struct CachedError {
    raw: Box<str>,
    error: Arc<ErrorFacts>,
    unknown_fields: u32,
}

impl ErrorCache {
    /// The cached error whose JSON text is `raw`, with its number of unknown fields.
    #[inline]
    pub(super) fn find(&mut self, raw: &str) -> Option<(Arc<ErrorFacts>, u32)> {
        let cached = self.0.find(|cached| *cached.raw == *raw)?;
        Some((Arc::clone(&cached.error), cached.unknown_fields))
    }

    /// Caches an error that [`ErrorCache::find`] did not find.
    pub(super) fn insert(&mut self, raw: &str, error: &Arc<ErrorFacts>, unknown_fields: u32) {
        if raw.len() > MAX_RAW {
            return;
        }
        self.0.insert(CachedError { raw: raw.into(), error: Arc::clone(error), unknown_fields });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_errors_are_not_cached() {
        let (long, mut cache) = ("x".repeat(MAX_RAW + 1), ErrorCache::default());
        cache.insert(&long, &Arc::default(), 0);
        assert!(cache.find(&long).is_none());
        cache.insert(&long[1..], &Arc::default(), 7);
        assert_eq!(cache.find(&long[1..]), Some((Arc::default(), 7)));
    }
}
