//! Guards that hold in the golden and no longer in the run. Looks at what is sent after them, not at how the events
//! align: a guard that stops one attempt later is still weaker.

use super::class::Class;
use super::events::events_of;
use super::result::{Divergence, Place};
use crate::golden::body::{EventLine, GoldenBody};

/// What stops a call from being sent again.
const STOPS: [&str; 3] = ["retry_suppressed", "reversal_refused", "escalated"];

/// One divergence for each call that the golden stops and the run sends on, or takes back.
pub(super) fn divergences(expected: &GoldenBody, actual: &GoldenBody, found: &mut Vec<Divergence>) {
    for call in &expected.calls {
        let golden = events_of(expected, &call.name);
        let Some(stop) = golden.iter().position(|event| STOPS.contains(&event.kind)) else { continue };
        let run = events_of(actual, &call.name);
        if let Some(sent) = beyond(&golden, stop, &run) {
            found.push(Divergence {
                class: Class::GuardWeakened,
                place: Place::Call(call.name.clone()),
                field: golden[stop].kind.to_owned(), // found above
                expected: Some(golden[stop].words()),
                actual: Some(sent.words()),
                span: Some(golden[stop].span.clone()),
            });
        }
    }
}

/// The first thing that the run sends where the golden had stopped.
fn beyond<'a>(golden: &[&EventLine], stop: usize, run: &[&'a EventLine]) -> Option<&'a EventLine> {
    let of = |events: &[&EventLine], kind: &str| events.iter().filter(|event| event.kind == kind).count();
    let nth = |kind: &'static str, n: usize| run.iter().filter(move |event| event.kind == kind).nth(n).copied();
    let sent = of(golden.get(..stop).unwrap_or_default(), "attempt_started");
    nth("attempt_started", sent).or_else(|| nth("reversal_redeemed", of(golden, "reversal_redeemed")))
}
