//! The breakers of a playbook, with every check that needs a place.

use std::sync::Arc;

use super::kinds;
use super::waiting::{self, ratio, word};
use crate::diagnostic::Diagnostic;
use crate::playbook::places::SharedPlaces;
use crate::playbook::syntax;
use crate::yaml::{Cursor, MapReader};
use playproof_engine::playbook::{
    AfterMaxWait, BreakerRules, BreakerWindow, BucketAlign, EvaluateOn, Formula, HalfOpen, HalfOpenWord, Jitter,
    OpenBoundary, OpenPeriod, OpenThresholds, ProbeThreshold, SlowCalls, TimeWindow,
};
use playproof_engine::time::Duration;

/// The breakers by server, and their places.
pub(super) type Breakers = (Vec<(Arc<str>, BreakerRules)>, Vec<SharedPlaces>);

/// The `breakers` of a playbook.
pub(super) fn breakers(record: &MapReader<'_>) -> Option<Breakers> {
    let Some(at) = record.optional("breakers") else { return Some(Breakers::default()) };
    let entries = at.entries("`breakers`")?;
    if entries.clone().count() > syntax::MOST_NAMES {
        at.wrong("too_many", format!("there are more than {} breakers", syntax::MOST_NAMES), "");
        return None;
    }
    let rows: Vec<Option<_>> = entries
        .map(|(name, body)| {
            let is_named = body.named(&name, "/:@"); // a server is also a tool's own name
            let record = body.record("a breaker", syntax::BREAKER)?;
            let rules = breaker(&record)?;
            is_named.then(|| ((name.text.into(), rules), SharedPlaces::new(&name, &record, syntax::BREAKER)))
        })
        .collect();
    Some(rows.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip())
}

fn breaker(record: &MapReader<'_>) -> Option<BreakerRules> {
    let window = record.required("window").and_then(window);
    let opens_at = thresholds(record, window);
    let min_calls = match record.optional("min_calls") {
        Some(at) => at.count(1..=syntax::MOST_CALLS),
        // One answer is enough for a number of failures; for a part it would be an accident.
        None if has_rate(record) => record.required("min_calls").and(None), // reports what is missing
        None => Some(1),
    };
    let evaluate_on = word(record, "evaluate_on", &EvaluateOn::TABLE, EvaluateOn::Failure);
    let open = open_period(record);
    let boundary = word(record, "open_boundary", &OpenBoundary::TABLE, OpenBoundary::AtEnd);
    let half_open = match record.optional("half_open") {
        Some(at) => half_open(at, window, opens_at),
        None => Some(HalfOpen::SingleProbe { another_after: None }),
    };
    Some(BreakerRules {
        window: window?,
        min_calls: min_calls?,
        opens_at: opens_at?,
        evaluate_on: evaluate_on?,
        open: open?,
        boundary: boundary?,
        half_open: half_open?,
    })
}

fn has_rate(record: &MapReader<'_>) -> bool {
    ["failure_rate", "slow_call_rate"].iter().any(|key| record.optional(key).is_some())
}

fn window(at: Cursor<'_>) -> Option<BreakerWindow> {
    let record = at.record("`window`", syntax::BREAKER_WINDOW)?;
    let (calls, time) = (record.optional("calls"), record.optional("time_ms"));
    let buckets =
        record.optional("buckets").map_or(Some(syntax::DEFAULT_BUCKETS), |at| at.count(1..=syntax::MOST_BUCKETS));
    let align = word(&record, "align", &BucketAlign::TABLE, BucketAlign::FirstEvent);
    let Some(time) = time else {
        let calls = match calls {
            Some(calls) => calls.count(1..=syntax::MOST_CALLS),
            None => record.required("calls").and(None), // reports what is missing
        };
        return only_of_time(&record).and(calls).map(BreakerWindow::Calls);
    };
    if let Some(calls) = calls {
        at.report(
            Diagnostic::error("two_windows", "a window holds a number of calls or a time, not both")
                .at(calls.span(), "a number of calls")
                .at(time.span(), "a time")
                .help("remove `calls` or `time_ms`"),
        );
        return None;
    }
    let span = time.duration_ms(syntax::LONGEST_WAIT)?;
    let buckets = buckets?;
    if span == Duration::ZERO {
        time.wrong("no_time", "a window of no time holds nothing", "at least 1");
        return None;
    }
    if span.as_millis() < u64::from(buckets) {
        let message = format!("a window of {span} ms has no {buckets} buckets of a millisecond or more");
        let place = record.optional("buckets").unwrap_or(time);
        place.wrong("short_buckets", message, "more than milliseconds");
        return None;
    }
    Some(BreakerWindow::Time(TimeWindow { span, buckets, align: align? }))
}

/// Refuses the keys of a window by time in one by calls.
fn only_of_time(record: &MapReader<'_>) -> Option<()> {
    let Some(span) = ["buckets", "align"].iter().find_map(|key| record.key_span(key)) else { return Some(()) };
    let message = "only a window by time has buckets";
    record.cursor().report(Diagnostic::error("other_window", message).at(span, "not for `calls`"));
    None
}

fn thresholds(record: &MapReader<'_>, window: Option<BreakerWindow>) -> Option<OpenThresholds> {
    let rate = |key| record.optional(key).map_or(Some(None), |at| ratio(at, syntax::OPEN_RATE).map(Some));
    let failure_rate = rate("failure_rate");
    let failure_count = match record.optional("failure_count") {
        Some(at) => failures(at, window).map(Some),
        None => Some(None),
    };
    let slow = slow_calls(record);
    let (failure_rate, failure_count, slow) = (failure_rate?, failure_count?, slow?);
    if failure_rate.is_none() && failure_count.is_none() && slow.is_none() {
        let message = "nothing opens this breaker";
        record.cursor().report(
            Diagnostic::error("no_threshold", message)
                .at(record.span(), "no threshold")
                .help("write `failure_rate`, `failure_count`, or `slow_call_ms` and `slow_call_rate`"),
        );
        return None;
    }
    Some(OpenThresholds { failure_rate, failure_count, slow })
}

/// A number of failures that the window can hold.
fn failures(at: Cursor<'_>, window: Option<BreakerWindow>) -> Option<u32> {
    let failures = at.count(1..=syntax::MOST_CALLS)?;
    if let Some(BreakerWindow::Calls(most)) = window
        && failures > most
    {
        let message = format!("the window never holds {failures} failures: it has {most} calls");
        at.wrong("above_window", message, "more than the window");
        return None;
    }
    Some(failures)
}

fn slow_calls(record: &MapReader<'_>) -> Option<Option<SlowCalls>> {
    if record.optional("slow_call_ms").is_none() && record.optional("slow_call_rate").is_none() {
        return Some(None);
    }
    let over = record.required("slow_call_ms").and_then(|at| at.duration_ms(syntax::LONGEST_WAIT));
    let rate = record.required("slow_call_rate").and_then(|at| ratio(at, syntax::OPEN_RATE));
    Some(Some(SlowCalls { over: over?, rate: rate? }))
}

fn open_period(record: &MapReader<'_>) -> Option<OpenPeriod> {
    match (record.optional("open_ms"), record.optional("open_backoff")) {
        (Some(at), None) => at.duration_ms(syntax::LONGEST_DEADLINE).map(OpenPeriod::Fixed),
        (None, Some(at)) => growing(at).map(OpenPeriod::Growing),
        (None, None) => record.required("open_ms").and(None), // reports what is missing
        (Some(fixed), Some(growing)) => {
            record.cursor().report(
                Diagnostic::error("two_open_periods", "a breaker is open for one time or by a formula, not both")
                    .at(fixed.span(), "one time")
                    .at(growing.span(), "a formula")
                    .help("remove `open_ms` or `open_backoff`"),
            );
            None
        }
    }
}

/// A formula that needs no draw: nothing brings one when a breaker opens.
fn growing(at: Cursor<'_>) -> Option<Formula> {
    let formula = waiting::formula(at)?;
    let refused = [
        ("kind", formula.family.is_drawn(), "the waits of this kind are drawn"),
        ("jitter", formula.jitter != Jitter::None, "an open period has no draw for a jitter"),
        ("counter", at.entry("counter").is_some(), "an open period counts the openings since the last close"),
    ];
    let Some((key, _, message)) = refused.into_iter().find(|(_, is_refused, _)| *is_refused) else {
        return Some(formula);
    };
    at.entry(key).unwrap_or(at).wrong("drawn_open_period", message, "not for `open_backoff`");
    None
}

fn half_open(at: Cursor<'_>, window: Option<BreakerWindow>, opens_at: Option<OpenThresholds>) -> Option<HalfOpen> {
    let record = at.record("`half_open`", syntax::HALF_OPEN)?;
    let mode = record.required("mode")?.word(&HalfOpenWord::TABLE)?;
    let name = |mode: HalfOpenWord| mode.as_str();
    if kinds::has_other_keys(&record, mode, name, &syntax::HALF_OPEN_KEYS, "other_mode") {
        return None;
    }
    let span = |key| waiting::span(&record, key);
    match mode {
        HalfOpenWord::SingleProbe => Some(HalfOpen::SingleProbe { another_after: span("another_after_ms")? }),
        HalfOpenWord::EvaluateRate => {
            let permits = record.required("permits").and_then(|at| permits(at, window));
            let max_wait = span("max_wait_ms");
            let on_max_wait = word(&record, "on_max_wait", &AfterMaxWait::TABLE, AfterMaxWait::Open);
            if let (Some(span), None) = (record.key_span("on_max_wait"), record.optional("max_wait_ms")) {
                let message = "`on_max_wait` needs `max_wait_ms`, the longest half-open period";
                at.report(Diagnostic::error("on_max_wait_without_max_wait", message).at(span, "after which time?"));
                return None;
            }
            if opens_at.is_some_and(|opens_at| opens_at.failure_rate.is_none() && opens_at.slow.is_none()) {
                let message = "probes are judged by a part, and this breaker opens at none";
                record.required("mode")?.wrong("no_rate", message, "needs `failure_rate` or `slow_call_rate`");
                return None;
            }
            Some(HalfOpen::EvaluateRate { permits: permits?, max_wait: max_wait?, on_max_wait: on_max_wait? })
        }
        HalfOpenWord::Thresholds => {
            let capacity = record.required("capacity").and_then(|at| at.count(1..=syntax::MOST_CALLS));
            let decides = probe_threshold(&record, capacity);
            Some(HalfOpen::Thresholds { capacity: capacity?, decides: decides? })
        }
    }
}

/// A number of probes, at most the answers that decide while the breaker is closed.
fn permits(at: Cursor<'_>, window: Option<BreakerWindow>) -> Option<u32> {
    let permits = at.count(1..=syntax::MOST_CALLS)?;
    if let Some(BreakerWindow::Calls(most)) = window
        && permits > most
    {
        let message =
            format!("{permits} probes are more than the window of {most} calls, which decides while it is closed");
        at.wrong("above_window", message, "more than the window");
        return None;
    }
    Some(permits)
}

fn probe_threshold(record: &MapReader<'_>, capacity: Option<u32>) -> Option<ProbeThreshold> {
    let within = |at: Cursor<'_>| {
        let needed = at.count(1..=syntax::MOST_CALLS)?;
        match capacity {
            Some(capacity) if needed > capacity => {
                let message = format!("{needed} probes are needed, and at most {capacity} decide");
                at.wrong("above_capacity", message, "more than `capacity`");
                None
            }
            _ => Some(needed),
        }
    };
    match (record.optional("success_threshold"), record.optional("failure_threshold")) {
        (Some(at), None) => within(at).map(ProbeThreshold::Successes),
        (None, Some(at)) => within(at).map(ProbeThreshold::Failures),
        (None, None) => record.required("success_threshold").and(None), // reports what is missing
        (Some(successes), Some(failures)) => {
            record.cursor().report(
                Diagnostic::error("two_thresholds", "successes or failures decide, not both")
                    .at(successes.span(), "successes")
                    .at(failures.span(), "failures")
                    .help("remove one: the other end follows from `capacity`"),
            );
            None
        }
    }
}
