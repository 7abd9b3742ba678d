//! The latest results by what their source told: a recording repeats many, and judging one costs more than reading it.

use xxhash_rust::xxh3::Xxh3Default;

use super::assess::{Assessment, ToolResult, assess};

/// Places of kept results: each has one, in which a later one may follow it.
const PLACES: usize = 512;
/// Longer results, in bytes, are not kept.
const MAX_TEXT: usize = 4_096;

/// The latest results.
#[derive(Debug, Default)]
pub(crate) struct FailureCache(Vec<Option<KnownResult>>);

#[derive(Debug)]
struct KnownResult {
    hash: u64,
    flags: (Option<bool>, bool, Option<u16>),
    texts: [Option<String>; 6],
    assessment: Assessment,
}

impl FailureCache {
    /// Whether a result failed: as [`assess`] says.
    pub(crate) fn assess(&mut self, result: &ToolResult<'_>) -> Assessment {
        let texts = [result.code, result.kind, result.message, result.body, result.tool, result.retry_after];
        let flags = (result.flag, result.denies_words, result.status);
        let length: usize = texts.iter().flatten().map(|text| text.len()).sum();
        if length > MAX_TEXT || result.headers.is_some() {
            return assess(result);
        }
        let mut hasher = Xxh3Default::new();
        texts.iter().flatten().for_each(|text| hasher.update(text.as_bytes()));
        let hash = hasher.digest();
        let place = usize::try_from(hash % PLACES as u64).unwrap_or_default();
        let is_same = |known: &&KnownResult| {
            known.hash == hash && known.flags == flags && known.texts.iter().map(Option::as_deref).eq(texts)
        };
        if let Some(known) = self.0.get(place).and_then(Option::as_ref).filter(is_same) {
            return known.assessment.clone();
        }
        let assessment = assess(result);
        if assessment.is_timeless() {
            self.0.resize_with(PLACES, || None);
            let texts = texts.map(|text| text.map(str::to_owned));
            self.0[place] = Some(KnownResult { hash, flags, texts, assessment: assessment.clone() });
        }
        assessment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_failure_is_what_judging_it_again_says() {
        let plain = ToolResult { body: Some("Error: boom"), tool: Some("pay"), ..ToolResult::default() };
        let results = [
            plain,
            ToolResult { flag: Some(true), ..plain },
            ToolResult { flag: Some(false), ..plain },
            ToolResult { flag: Some(false), denies_words: true, ..plain },
            ToolResult { status: Some(429), ..plain },
            ToolResult { code: Some("rate_limited"), ..plain },
            ToolResult { kind: Some("timeout"), ..plain },
            ToolResult { message: Some("no such tool: x"), ..plain },
            ToolResult { body: Some("Permission denied"), ..plain },
            ToolResult { tool: Some("bash"), ..plain },
            ToolResult { retry_after: Some("7"), ..plain },
        ];
        let mut cache = FailureCache::default();
        for result in results.iter().chain(results.iter().rev()) {
            assert_eq!(cache.assess(result), assess(result), "{result:?}");
        }
        let bodies: Vec<String> = (0..2 * PLACES).map(|n| format!("Error: {n}")).collect();
        for body in bodies.iter().chain(&bodies) {
            let result = ToolResult { body: Some(body), ..plain };
            assert_eq!(cache.assess(&result), assess(&result), "{body}");
        }
    }

    #[test]
    fn a_wait_until_a_time_is_computed_for_each_answer() {
        let mut cache = FailureCache::default();
        let waits = [Some(1_782_907_200_000_000), Some(1_782_907_230_000_000), None].map(|at| {
            let wait = Some("Wed, 01 Jul 2026 12:01:00 GMT");
            match cache.assess(&ToolResult { status: Some(429), retry_after: wait, at, ..ToolResult::default() }) {
                Assessment::Failed(failure) => failure.retry_after_ms,
                _ => None,
            }
        });
        assert_eq!(waits, [Some(60_000), Some(30_000), None]);
    }

    #[test]
    fn a_result_is_kept_unless_it_is_long() {
        let long = format!("Error: {}", "x".repeat(MAX_TEXT));
        for (body, kept) in [("Error: boom", true), ("fine", true), (long.as_str(), false)] {
            let mut cache = FailureCache::default();
            cache.assess(&ToolResult { body: Some(body), ..ToolResult::default() });
            assert_eq!(cache.0.iter().any(Option::is_some), kept, "{body}");
        }
    }
}
