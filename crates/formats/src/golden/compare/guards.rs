//! Guards that hold in the golden and no longer in the run. Looks at what is sent after them, not at how the events
//! align: a guard that stops one attempt later is still weaker.

use super::events::events_of;
use super::result::{Divergence, DivergencePlace};
use crate::golden::body::{EventLine, GoldenBody};
use crate::golden::value::GoldenValue;
use playproof_engine::event::{Class, EventKind, FieldKey, RequestKind};

/// One divergence for each call that the golden stops and the run sends on, or takes back.
pub(super) fn divergences(expected: &GoldenBody, actual: &GoldenBody, found: &mut Vec<Divergence>) {
    for call in &expected.calls {
        let golden = events_of(expected, &call.name);
        let Some(stop) = golden.iter().position(|event| event.kind.stops()) else { continue };
        let reversals = sent_reversals(expected, &call.name).len();
        if let Some(sent) = beyond(&golden, stop, reversals, actual, &call.name) {
            found.push(Divergence {
                class: Class::GuardWeakened,
                place: DivergencePlace::Call(call.name.clone()),
                field: golden[stop].kind.as_str().to_owned(), // found above
                expected: Some(golden[stop].words()),
                actual: Some(sent.words()),
                span: Some(golden[stop].span.clone()),
            });
        }
    }
}

/// The first thing that the run sends where the golden had stopped.
fn beyond<'a>(
    golden: &[&EventLine],
    stop: usize,
    reversals: usize,
    run: &'a GoldenBody,
    call: &str,
) -> Option<&'a EventLine> {
    let is_attempt = |event: &&&EventLine| event.kind == EventKind::AttemptStarted;
    let sent = golden.iter().take(stop).filter(is_attempt).count();
    let attempt = events_of(run, call).iter().filter(is_attempt).nth(sent).copied();
    attempt.or_else(|| sent_reversals(run, call).get(reversals).copied())
}

/// The events of a call that say that its reversal token was sent, as `Decision::sent_reversal` has it.
fn sent_reversals<'a>(body: &'a GoldenBody, call: &str) -> Vec<&'a EventLine> {
    let lacks = body.call(call).and_then(|end| end.field(FieldKey::Lacks));
    let lacks_reversal = lacks == Some(&GoldenValue::Lacks(RequestKind::Reversal));
    let mut events = events_of(body, call);
    events.retain(|event| match (event.kind, &event.value) {
        (EventKind::ReversalRedeemed, _) => true,
        (EventKind::ReversalRefused, GoldenValue::Refused(why)) => why.was_sent(),
        (EventKind::Outcome, _) => lacks_reversal,
        _ => false,
    });
    events
}
