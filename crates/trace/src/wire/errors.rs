//! The errors that lines said last, by their words: what is said again need not be read, nor kept, twice.
//! Knows no JSON.

use std::sync::Arc;

use playproof_engine::event::ErrorFacts;

/// Errors that are remembered: the usual ones of a trace are few, and looking must cost less than reading.
const MAX: usize = 8;

/// Errors said in more bytes are not remembered.
const MAX_RAW: usize = 4_096;

/// The latest errors of some lines.
#[derive(Debug, Default)]
pub(super) struct KnownErrors {
    errors: Vec<KnownError>,
    /// The one that is forgotten next.
    oldest: usize,
}

#[derive(Debug)]
struct KnownError {
    raw: Box<str>,
    error: Arc<ErrorFacts>,
    unknown_fields: u32,
}

impl KnownErrors {
    /// The error whose JSON text is `raw`, with its number of unknown fields, if it is remembered.
    #[inline]
    pub(super) fn find(&self, raw: &str) -> Option<(Arc<ErrorFacts>, u32)> {
        let known = self.errors.iter().find(|known| *known.raw == *raw)?;
        Some((Arc::clone(&known.error), known.unknown_fields))
    }

    /// Remembers an error that is not remembered yet.
    pub(super) fn note(&mut self, raw: &str, error: &Arc<ErrorFacts>, unknown_fields: u32) {
        if raw.len() > MAX_RAW {
            return;
        }
        let known = KnownError { raw: raw.into(), error: Arc::clone(error), unknown_fields };
        match self.errors.get_mut(self.oldest) {
            Some(oldest) => *oldest = known,
            None => self.errors.push(known), // there is still room
        }
        self.oldest = (self.oldest + 1) % MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_errors_are_found_by_their_words_and_older_ones_are_forgotten() {
        let raws: Vec<String> = (0..2 * MAX).map(|n| format!("{{\"x\":{n}}}")).collect();
        let mut known = KnownErrors::default();
        for (n, raw) in raws.iter().enumerate() {
            assert!(known.find(raw).is_none());
            known.note(raw, &Arc::default(), u32::try_from(n).unwrap());
        }
        let found: Vec<u32> = raws.iter().filter_map(|raw| Some(known.find(raw)?.1)).collect();
        assert_eq!(found, [8, 9, 10, 11, 12, 13, 14, 15]);
    }

    #[test]
    fn long_errors_are_not_kept() {
        let mut known = KnownErrors::default();
        known.note(&"x".repeat(MAX_RAW + 1), &Arc::default(), 0);
        assert!(known.errors.is_empty());
    }
}
