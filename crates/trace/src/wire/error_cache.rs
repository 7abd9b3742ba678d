//! The latest error objects of a trace by their JSON text: a repeated error is parsed and kept once. Parses nothing.

use std::sync::Arc;

use playproof_engine::event::ErrorFacts;

/// Cached errors: a trace repeats few errors, and a search must cost less than parsing.
const MAX: usize = 8;

/// Longer error texts, in bytes, are not cached.
const MAX_RAW: usize = 4_096;

/// The latest errors.
#[derive(Debug, Default)]
pub(super) struct ErrorCache {
    errors: Vec<CachedError>,
    /// The index of the entry that is replaced next.
    oldest: usize,
}

#[derive(Debug)]
struct CachedError {
    raw: Box<str>,
    error: Arc<ErrorFacts>,
    unknown_fields: u32,
}

impl ErrorCache {
    /// The cached error whose JSON text is `raw`, with its number of unknown fields.
    #[inline]
    pub(super) fn find(&self, raw: &str) -> Option<(Arc<ErrorFacts>, u32)> {
        let cached = self.errors.iter().find(|cached| *cached.raw == *raw)?;
        Some((Arc::clone(&cached.error), cached.unknown_fields))
    }

    /// Caches an error that [`ErrorCache::find`] did not find.
    pub(super) fn insert(&mut self, raw: &str, error: &Arc<ErrorFacts>, unknown_fields: u32) {
        if raw.len() > MAX_RAW {
            return;
        }
        let cached = CachedError { raw: raw.into(), error: Arc::clone(error), unknown_fields };
        match self.errors.get_mut(self.oldest) {
            Some(oldest) => *oldest = cached,
            None => self.errors.push(cached), // the cache is not full yet
        }
        self.oldest = (self.oldest + 1) % MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_errors_are_found_by_their_text_and_older_ones_are_replaced() {
        let raws: Vec<String> = (0..2 * MAX).map(|n| format!("{{\"x\":{n}}}")).collect();
        let mut cache = ErrorCache::default();
        for (n, raw) in raws.iter().enumerate() {
            assert!(cache.find(raw).is_none());
            cache.insert(raw, &Arc::default(), u32::try_from(n).unwrap());
        }
        let found: Vec<u32> = raws.iter().filter_map(|raw| Some(cache.find(raw)?.1)).collect();
        assert_eq!(found, [8, 9, 10, 11, 12, 13, 14, 15]);
    }

    #[test]
    fn long_errors_are_not_cached() {
        let mut cache = ErrorCache::default();
        cache.insert(&"x".repeat(MAX_RAW + 1), &Arc::default(), 0);
        assert!(cache.errors.is_empty());
    }
}
