//! Divergences in the aligned decision events of each call, weakened guards, and the first change.

use super::align::align;
use super::divergence::{Divergence, DivergencePlace, EventPair, FirstChange, PrecedingVerdict};
use super::ends::changed;
use crate::golden::body::{EventLine, GoldenBody};
use crate::golden::value::GoldenValue;
use playproof_engine::event::{Class, EventKind, FieldKey, RequestKind, ReversalRefusal};
use playproof_engine::time::{Duration, Instant};

/// The aligned events of both sides, call by call; adds their divergences to `found`.
pub(super) fn pairs(expected: &GoldenBody, actual: &GoldenBody, found: &mut Vec<Divergence>) -> Vec<EventPair> {
    let mut pairs = Vec::new();
    for call in calls(expected, actual) {
        let (e, a) = (events_of(expected, call), events_of(actual, call));
        let mut clock = Clock::default();
        for (e_at, a_at) in align(&e, &a) {
            let side =
                |events: &[&EventLine], at: Option<usize>| at.and_then(|at| events.get(at)).map(|e| (*e).clone());
            let mut pair = EventPair { expected: side(&e, e_at), actual: side(&a, a_at), class: None };
            let place = DivergencePlace::Event(call.to_owned(), pairs.len());
            let mut differs = differences(&pair, &place);
            differs.extend(clock.tick(&pair, &place));
            pair.class = differs.iter().map(|divergence| divergence.class).min();
            found.extend(differs);
            pairs.push(pair);
        }
    }
    pairs
}

/// The names of the calls of both sides, each once, in the order of the golden.
fn calls<'a>(expected: &'a GoldenBody, actual: &'a GoldenBody) -> Vec<&'a str> {
    let ends = expected.calls.iter().chain(&actual.calls).map(|call| call.name.as_str());
    let events = expected.events.iter().chain(&actual.events).map(|event| event.call.as_str());
    let mut names: Vec<&str> = Vec::new();
    for name in ends.chain(events) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The events of one call, in order.
pub(super) fn events_of<'a>(body: &'a GoldenBody, call: &str) -> Vec<&'a EventLine> {
    body.events.iter().filter(|event| event.call == call).collect()
}

fn differences(pair: &EventPair, place: &DivergencePlace) -> Vec<Divergence> {
    let divergence = |class, field: String, before: Option<String>, after: Option<String>| Divergence {
        class,
        place: place.clone(),
        field,
        expected: before,
        actual: after,
        span: pair.expected.as_ref().map(|event| event.span.clone()),
    };
    let (e, a) = match (&pair.expected, &pair.actual) {
        (Some(e), Some(a)) => (e, a),
        (e, a) => {
            let words = |event: &Option<EventLine>| event.as_ref().map(EventLine::words);
            let alone = e.iter().chain(a).map(|event| event.kind.class());
            let one_sided = |class| divergence(class, "event".to_owned(), words(e), words(a));
            return alone.map(one_sided).collect();
        }
    };
    if e.kind != a.kind {
        let class = e.kind.class().min(a.kind.class());
        return vec![divergence(class, "event".to_owned(), Some(e.words()), Some(a.words()))];
    }
    let mut found = Vec::new();
    let kind = e.kind.as_str();
    if e.value != a.value {
        let class = e.kind.value_key().class();
        found.push(divergence(class, kind.to_owned(), Some(e.value.to_string()), Some(a.value.to_string())));
    }
    for (key, before, after) in changed(&e.fields, &a.fields) {
        let (before, after) = (before.map(GoldenValue::to_string), after.map(GoldenValue::to_string));
        found.push(divergence(key.class(), format!("{kind}.{}", key.as_str()), before, after));
    }
    found
}

/// Compares the time since the call's previous event, if both sides have the same event.
struct Clock {
    before: Option<(Instant, Instant)>,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { before: Some((Instant::ZERO, Instant::ZERO)) }
    }
}

impl Clock {
    fn tick(&mut self, pair: &EventPair, place: &DivergencePlace) -> Option<Divergence> {
        let (Some(e), Some(a)) = (&pair.expected, &pair.actual) else {
            self.before = None; // later times differ for another reason
            return None;
        };
        // A late answer comes at the upstream's own time, independent of the call's events.
        let before = match e.kind {
            EventKind::LateAnswer => (Instant::ZERO, Instant::ZERO),
            _ => self.before.replace((e.at, a.at))?,
        };
        let passed: (Duration, Duration) = (e.at.since(before.0), a.at.since(before.1));
        (passed.0 != passed.1 && e.kind == a.kind).then(|| Divergence {
            class: Class::TimingOnly,
            place: place.clone(),
            field: format!("{}.after_ms", e.kind.as_str()),
            expected: Some(format!("+{}", passed.0)),
            actual: Some(format!("+{}", passed.1)),
            span: Some(e.span.clone()),
        })
    }
}

/// Guards that stop a call in the golden and not in the run: one divergence for each call that the run sends again or
/// reverses. Counts requests instead of aligning events: a guard that stops one attempt later is weaker too.
pub(super) fn weakened_guards(expected: &GoldenBody, actual: &GoldenBody, found: &mut Vec<Divergence>) {
    for call in &expected.calls {
        let golden = events_of(expected, &call.name);
        let Some(stop) = golden.iter().position(|event| event.kind.stops()) else { continue };
        let reversals = sent_reversals(expected, &call.name).len();
        if let Some(sent) = sent_after_stop(&golden, stop, reversals, actual, &call.name) {
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

/// The first request of the run after the point at which the golden stops.
fn sent_after_stop<'a>(
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

/// The events of a call that show that its reversal token was sent, as in `Decision::sent_reversal`.
fn sent_reversals<'a>(body: &'a GoldenBody, call: &str) -> Vec<&'a EventLine> {
    let reversal = GoldenValue::lacks(RequestKind::Reversal);
    let lacks_reversal = body.call(call).and_then(|end| end.field(FieldKey::Lacks)) == Some(&reversal);
    let was_sent = |why: &GoldenValue| ReversalRefusal::parse(&why.to_string()).is_some_and(ReversalRefusal::was_sent);
    let mut events = events_of(body, call);
    events.retain(|event| match event.kind {
        EventKind::ReversalRedeemed => true,
        EventKind::ReversalRefused => was_sent(&event.value),
        EventKind::Outcome => lacks_reversal,
        _ => false,
    });
    events
}

/// The first pair that differs, in virtual time, and the verdicts before it.
pub(super) fn first_change(pairs: &[EventPair]) -> Option<FirstChange> {
    let when = |pair: &EventPair| pair.expected.iter().chain(&pair.actual).map(|event| event.at).min();
    let differing = pairs.iter().enumerate().filter(|(_, pair)| pair.class.is_some());
    let (at, first) = differing.min_by_key(|(at, pair)| (when(pair), *at))?;
    let words = |side: &Option<EventLine>| side.as_ref().map(EventLine::words);
    let (expected, actual) = (words(&first.expected), words(&first.actual));
    if expected != actual {
        return change(pairs, at, expected, actual);
    }
    let timed = |side: &Option<EventLine>| {
        side.as_ref().map(|event| format!("{}, at {} ms", event.words(), event.at.since(Instant::ZERO)))
    };
    change(pairs, at, timed(&first.expected), timed(&first.actual)) // the same event at another time
}

/// The outcome of the first call that differs if all decisions are the same: the same events with a different claim.
pub(super) fn changed_end(pairs: &[EventPair], divergences: &[Divergence]) -> Option<FirstChange> {
    let (call, worst) = divergences.iter().find_map(|one| match &one.place {
        DivergencePlace::Call(call) | DivergencePlace::Finding(call) => Some((call, one)),
        _ => None,
    })?;
    let of_call = |pair: &EventPair| pair.actual.as_ref().is_some_and(|event| event.call == *call);
    let at = pairs.iter().rposition(of_call)?;
    let words = |side: &Option<String>| side.as_ref().map(|side| format!("{}: {side}", worst.field));
    change(pairs, at, words(&worst.expected), words(&worst.actual))
}

fn change(pairs: &[EventPair], at: usize, golden: Option<String>, run: Option<String>) -> Option<FirstChange> {
    let pair = pairs.get(at)?;
    let event = pair.expected.as_ref().or(pair.actual.as_ref())?;
    let before = || pairs.iter().take(at + 1).rev();
    let all = || pairs.iter().rev(); // the steps of an action come after it
    let own = |line: &EventLine| line.call == event.call;
    let of_step = |line: &EventLine| line.call.strip_prefix(&*event.call).is_some_and(|step| step.starts_with('/'));
    Some(FirstChange {
        call: event.call.clone(),
        at: event.at,
        pair: pair.clone(),
        golden,
        run,
        expected: because(before().filter_map(|pair| pair.expected.as_ref()), own)
            .or_else(|| because(all().filter_map(|pair| pair.expected.as_ref()), of_step)),
        actual: because(before().filter_map(|pair| pair.actual.as_ref()), own)
            .or_else(|| because(all().filter_map(|pair| pair.actual.as_ref()), of_step)),
    })
}

fn because<'a>(
    mut latest_first: impl Iterator<Item = &'a EventLine>,
    of_call: impl Fn(&EventLine) -> bool,
) -> Option<PrecedingVerdict> {
    let classified = latest_first.find(|event| of_call(event) && event.kind == EventKind::FailureClassified)?;
    let rule = classified.field(FieldKey::Rule).map(GoldenValue::to_string).unwrap_or_default();
    Some(PrecedingVerdict { verdict: classified.value.to_string(), rule })
}
