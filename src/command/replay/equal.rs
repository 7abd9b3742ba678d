//! Which calls of a page were made after equal ones. Says nothing of how they ended.

use std::collections::BTreeMap;

use playproof_engine::call::RecordedCall;
use playproof_engine::evidence::Moment;

/// Of each call one that is known to be equal (one run, tool and arguments) and was made before it: the last of them, where
/// all have a time or none has. None for a call without a run or without recorded arguments: it is unknown what such a call
/// is equal to.
pub fn equal_before<'a>(calls: &[&'a RecordedCall]) -> Vec<Option<&'a RecordedCall>> {
    let mut equal: BTreeMap<_, Vec<(usize, &'a RecordedCall)>> = BTreeMap::new();
    for (n, call) in calls.iter().enumerate() {
        if let Some(request) = request(call) {
            equal.entry(request).or_default().push((n, call));
        }
    }
    let mut before = vec![None; calls.len()];
    for mut calls in equal.into_values() {
        // Times and lines together are no order: a call without a time is after one line and before a time on the next.
        let are_timed = calls.iter().all(|(_, call)| call.at.is_some());
        calls.sort_by_key(|(_, call)| (call.at.filter(|_| are_timed), call.place, call.number));
        for pair in calls.windows(2) {
            let [(_, earlier), (n, call)] = pair else { continue };
            before[*n] = Some(*earlier).filter(|earlier| is_after(call, earlier));
        }
    }
    before
}

fn request(call: &RecordedCall) -> Option<(u32, &str, &str, &str)> {
    Some((call.place.input, call.run()?, call.tool(), call.args()?))
}

/// Whether a call was made after another one. Several calls of one line have numbers.
fn is_after(call: &RecordedCall, other: &RecordedCall) -> bool {
    let made = |call: &RecordedCall| Moment::new(call.at, call.place.line);
    let (now, then) = (made(call), made(other));
    now.is_after(then) || !then.is_after(now) && call.number > other.number
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::call::{CallTexts, Place};
    use playproof_engine::time::Instant;

    fn call(run: Option<&str>, args: Option<&str>, line: u64, at: Option<u64>) -> RecordedCall {
        let texts = CallTexts { run, args, tool: "pay", ..CallTexts::default() };
        let mut call = RecordedCall::new(texts, Place { line, ..Place::default() });
        call.at = at.map(Instant::from_millis);
        call
    }

    fn lines_before(calls: &[RecordedCall]) -> Vec<Option<u64>> {
        let calls: Vec<&RecordedCall> = calls.iter().collect();
        equal_before(&calls).into_iter().map(|call| call.map(|call| call.place.line)).collect()
    }

    #[test]
    fn times_decide_which_call_was_before_and_lines_where_a_time_is_missing() {
        let paid = |line, at| call(Some("r"), Some("{}"), line, at);
        assert_eq!(lines_before(&[paid(1, Some(30)), paid(2, Some(10)), paid(3, Some(20))]), [Some(3), None, Some(2)]);
        assert_eq!(lines_before(&[paid(2, None), paid(1, Some(90))]), [Some(1), None]);
        assert_eq!(lines_before(&[paid(2, Some(5)), paid(1, Some(5))]), [Some(1), None]);
        assert_eq!(lines_before(&[paid(1, Some(30)), paid(2, None), paid(3, Some(10))]), [None, Some(1), Some(2)]);
        assert_eq!(lines_before(&[paid(1, None), paid(2, Some(30)), paid(3, Some(10))]), [None, Some(1), None]);
    }

    #[test]
    fn a_call_without_a_run_or_without_arguments_is_equal_to_none() {
        for (run, args) in [(None, Some("{}")), (Some("r"), None)] {
            assert_eq!(lines_before(&[call(run, args, 1, None), call(run, args, 2, None)]), [None, None]);
        }
    }
}
