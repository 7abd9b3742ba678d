//! The latest failures by what their source told: a recording repeats few, and judging one costs more than reading it.

use super::assess::{Assessment, ToolResult, assess};
use crate::recent_cache::RecentCache;

/// Kept failures: a search must cost less than judging.
const MAX: usize = 64;
/// Longer failures, in bytes, are not kept.
const MAX_TEXT: usize = 4_096;

/// The latest failures.
#[derive(Debug, Default)]
pub(crate) struct FailureCache(RecentCache<KnownFailure, MAX>);

#[derive(Debug)]
struct KnownFailure {
    flags: (Option<bool>, bool, Option<u16>),
    texts: [Option<String>; 6],
    assessment: Assessment,
}

impl FailureCache {
    /// Whether a result failed: as [`assess`] says.
    pub(crate) fn assess(&mut self, result: &ToolResult<'_>) -> Assessment {
        let texts = [result.code, result.kind, result.message, result.body, result.tool, result.retry_after];
        let flags = (result.flag, result.denies_words, result.status);
        let is_same = |known: &KnownFailure| known.flags == flags && known.texts.iter().map(Option::as_deref).eq(texts);
        let length: usize = texts.iter().flatten().map(|text| text.len()).sum();
        let may_be_known = length <= MAX_TEXT && result.headers.is_none();
        if may_be_known && let Some(known) = self.0.find(is_same) {
            return known.assessment.clone();
        }
        let assessment = assess(result);
        if may_be_known && assessment.is_timeless() && assessment != Assessment::Ok {
            let texts = texts.map(|text| text.map(str::to_owned));
            let assessment = assessment.clone();
            self.0.insert(KnownFailure { flags, texts, assessment });
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
        let bodies: Vec<String> = (0..2 * MAX).map(|n| format!("Error: {n}")).collect();
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
    fn a_failure_is_kept_unless_it_is_long() {
        let long = format!("Error: {}", "x".repeat(MAX_TEXT));
        for (body, kept) in [("Error: boom", true), (long.as_str(), false)] {
            let mut cache = FailureCache::default();
            cache.assess(&ToolResult { body: Some(body), ..ToolResult::default() });
            assert_eq!(cache.0.find(|_| true).is_some(), kept, "{body}");
        }
    }
}
