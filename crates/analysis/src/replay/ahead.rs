//! Brings near in memory what is looked at soon. Judges nothing.

use playproof_engine::call::Reply;
use playproof_engine::event::ErrorFacts;
use playproof_trace::call::CompletedCall;
use playproof_trace::simd::{prefetch, prefetch_texts};

/// Has the calls that come soon brought near: they were last touched thousands of calls ago.
#[inline]
pub fn ahead(calls: &[CompletedCall], now: usize) {
    if let Some(soon) = calls.get(now + 12) {
        prefetch(&**soon);
    }
    if let Some(next) = calls.get(now + 8)
        && let Some(answer) = next.raw().answers.first()
    {
        prefetch_texts(next.raw().names());
        prefetch(answer);
    }
    if let Some(error) = calls.get(now + 5).and_then(first_error) {
        prefetch(error);
    }
    if let Some(error) = calls.get(now + 2).and_then(first_error)
        && let (Some(kind), Some(message)) = (&error.kind, &error.message)
    {
        prefetch(&**kind);
        prefetch(&**message);
    }
}

fn first_error(closed: &CompletedCall) -> Option<&ErrorFacts> {
    match &closed.raw().answers.first()?.reply {
        Reply::Failed(error) => error.as_deref(),
        Reply::Ok => None,
    }
}
