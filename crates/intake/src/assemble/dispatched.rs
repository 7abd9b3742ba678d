//! What a dispatcher did with a call, beside the call. Refuses what cannot have happened. Finds no calls.

use std::sync::Arc;

use crate::assemble::open::OpenCall;
use crate::bad_line::BadLine;
use crate::digest::DispatchEntry;
use crate::wire::{DispatchWhat, LineError};
use playproof_engine::call::Recorder;
use playproof_engine::time::Instant;

/// Notes it beside its call, if that is open, and what decided it; the first cancellation and the first end count.
///
/// # Errors
/// A line about no open call, from before its call was made, or a cancellation of a call that had ended.
pub fn note(
    open: Option<&mut OpenCall>,
    entry: DispatchEntry,
    recorder: Option<&Arc<Recorder>>,
) -> Result<(), Box<BadLine>> {
    let open = match open {
        Some(open) => match impossible(open, &entry) {
            None => open,
            Some(error) => return Err(refused(entry, error)),
        },
        None => {
            let error = LineError {
                id: "unknown_call",
                message: "no call with this `call_id` is open in its run".to_owned(),
                span: entry.id_span.clone(),
                label: "no such call",
                help: Some("The line of the call stands before it, with the same `run_id`.".to_owned()),
                foreign: None,
            };
            return Err(refused(entry, error));
        }
    };
    let DispatchEntry { at, what, line, text, .. } = entry;
    let dispatch = open.built.call.dispatch.get_or_insert_default();
    if dispatch.recorder.is_none() {
        dispatch.recorder = recorder.cloned();
    }
    match what {
        DispatchWhat::Cancelled => drop(dispatch.cancelled.get_or_insert((at, line))),
        DispatchWhat::Decided => dispatch.decisions.push((line, text.trim().into())),
        DispatchWhat::Sent => {
            dispatch.sent = dispatch.sent.saturating_add(1);
            dispatch.decisions.push((line, text.trim().into()));
        }
        DispatchWhat::Ended => {
            dispatch.ended.get_or_insert((at, line));
            dispatch.decisions.push((line, text.trim().into()));
        }
    }
    Ok(())
}

/// Why it cannot have happened to the call.
fn impossible(open: &OpenCall, entry: &DispatchEntry) -> Option<LineError> {
    let CallTimes { made, ended } = CallTimes::of(open);
    let message = match (made, ended) {
        (Some((made, line)), _) if entry.at < made => {
            format!("its time is before that of its call, which line {line} has")
        }
        (_, Some((ended, line))) if entry.at > ended && entry.what == DispatchWhat::Cancelled => {
            format!("the call was cancelled after its end, which line {line} has")
        }
        _ => return None,
    };
    let (id, label, span) = ("impossible_time", "an impossible time", entry.at_span.clone());
    Some(LineError { id, message, span, label, help: None, foreign: None })
}

/// When a call was made and when it ended, with the lines that say so, as far as they are known.
struct CallTimes {
    made: Option<(Instant, u64)>,
    ended: Option<(Instant, u64)>,
}

impl CallTimes {
    fn of(open: &OpenCall) -> CallTimes {
        let (call, counts) = (&open.built.call, &open.built.counts);
        let succeeded = counts.ended_at.filter(|_| open.succeeded()).map(|at| (at, counts.ended_on));
        let ended = call.dispatch.as_ref().and_then(|dispatch| dispatch.ended);
        CallTimes { made: call.at.map(|at| (at, call.place.line)), ended: ended.or(succeeded) }
    }
}

fn refused(entry: DispatchEntry, error: LineError) -> Box<BadLine> {
    let mut bad = Box::new(BadLine::new(entry.line, &entry.text, error));
    if entry.is_hidden {
        bad.hide();
    }
    bad
}
