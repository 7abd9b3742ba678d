//! The breakers of a playbook, and what their parts ask of each other.

use std::sync::Arc;

use super::waiting;
use crate::diagnostic::Diagnostic;
use crate::schema::At;
use playproof_engine::playbook::{
    AfterMaxWait, BreakerRules, BreakerWindow, BucketAlign, EvaluateOn, Formula, HalfOpen, HalfOpenWord, Jitter,
    OpenBoundary, OpenPeriod, OpenThresholds, ProbeThreshold, Ratio, SlowCalls, TimeWindow,
};

/// The breakers by server.
pub(super) fn breakers(root: At<'_>) -> Option<Vec<(Arc<str>, BreakerRules)>> {
    let Some(at) = root.get("breakers") else { return Some(Vec::new()) };
    let rows: Vec<Option<_>> = at.entries().map(|(name, body)| Some((name.text.into(), breaker(body)?))).collect();
    rows.into_iter().collect()
}

fn breaker(at: At<'_>) -> Option<BreakerRules> {
    let window = at.get("window").and_then(window);
    let opens_at = thresholds(at, window);
    let half_open = match at.get("half_open") {
        Some(at) => half_open(at, window, opens_at),
        None => Some(HalfOpen::SingleProbe { another_after: None }),
    };
    let open = match at.get("open_backoff") {
        Some(at) => growing(at).map(OpenPeriod::Growing),
        None => at.get("open_ms").and_then(At::millis).map(OpenPeriod::Fixed),
    };
    Some(BreakerRules {
        window: window?,
        // One answer is enough for a number of failures; for a part it would be an accident.
        min_calls: at.optional("min_calls", At::whole)?.unwrap_or(1),
        opens_at: opens_at?,
        evaluate_on: at.word("evaluate_on", EvaluateOn::parse)?,
        open: open?,
        boundary: at.word("open_boundary", OpenBoundary::parse)?,
        half_open: half_open?,
    })
}

fn window(at: At<'_>) -> Option<BreakerWindow> {
    let Some(time) = at.get("time_ms").filter(|_| at.get("calls").is_none()) else {
        return at.get("calls")?.whole().map(BreakerWindow::Calls);
    };
    let buckets: u32 = at.number("buckets")?;
    let span = time.millis()?;
    if span.as_millis() < u64::from(buckets) {
        let message = format!("a window of {span} ms has no {buckets} buckets of a millisecond or more");
        at.get("buckets").unwrap_or(time).wrong("short_buckets", message, "more than milliseconds");
    }
    Some(BreakerWindow::Time(TimeWindow { span, buckets, align: at.word("align", BucketAlign::parse)? }))
}

fn thresholds(at: At<'_>, window: Option<BreakerWindow>) -> Option<OpenThresholds> {
    let rate = |key| at.optional(key, waiting::ratio);
    let slow = at.optional("slow_call_ms", At::millis)?.zip(rate("slow_call_rate")?);
    Some(OpenThresholds {
        failure_rate: rate("failure_rate")?,
        failure_count: at.optional("failure_count", |at| within_window(at, window, "failures"))?,
        slow: slow.map(|(over, rate): (_, Ratio)| SlowCalls { over, rate }),
    })
}

/// A number that the window can hold.
fn within_window(at: At<'_>, window: Option<BreakerWindow>, what: &str) -> Option<u32> {
    let count = at.whole()?;
    if let Some(BreakerWindow::Calls(most)) = window
        && count > most
    {
        let message = format!("the window never holds {count} {what}: it has {most} calls");
        at.wrong("above_window", message, "more than the window");
    }
    Some(count)
}

/// A formula that needs no draw: nothing brings one when a breaker opens.
fn growing(at: At<'_>) -> Option<Formula> {
    let formula = waiting::formula(at)?;
    let refused = [
        ("kind", formula.family.is_drawn(), "the waits of this kind are drawn"),
        ("jitter", formula.jitter != Jitter::None, "an open period has no draw for a jitter"),
        ("counter", at.get("counter").is_some(), "an open period counts the openings since the last close"),
    ];
    if let Some((key, _, message)) = refused.into_iter().find(|(_, is_refused, _)| *is_refused) {
        at.get(key).unwrap_or(at).wrong("drawn_open_period", message, "not for `open_backoff`");
    }
    Some(formula)
}

fn half_open(at: At<'_>, window: Option<BreakerWindow>, opens_at: Option<OpenThresholds>) -> Option<HalfOpen> {
    match at.word("mode", HalfOpenWord::parse)? {
        HalfOpenWord::SingleProbe => {
            Some(HalfOpen::SingleProbe { another_after: at.optional("another_after_ms", At::millis)? })
        }
        HalfOpenWord::EvaluateRate => {
            if opens_at.is_some_and(|opens_at| opens_at.failure_rate.is_none() && opens_at.slow.is_none()) {
                let message = "probes are judged by a part, and this breaker opens at none";
                at.get("mode")?.wrong("no_rate", message, "needs `failure_rate` or `slow_call_rate`");
            }
            Some(HalfOpen::EvaluateRate {
                permits: within_window(at.get("permits")?, window, "probes")?,
                max_wait: at.optional("max_wait_ms", At::millis)?,
                on_max_wait: at.word("on_max_wait", AfterMaxWait::parse)?,
            })
        }
        HalfOpenWord::Thresholds => {
            let capacity = at.number("capacity");
            let decides = probe_threshold(at, capacity);
            Some(HalfOpen::Thresholds { capacity: capacity?, decides: decides? })
        }
    }
}

fn probe_threshold(at: At<'_>, capacity: Option<u32>) -> Option<ProbeThreshold> {
    let within = |at: At<'_>| {
        let needed = at.whole()?;
        if let Some(capacity) = capacity.filter(|capacity| needed > *capacity) {
            let message = format!("{needed} probes are needed, and at most {capacity} decide");
            at.wrong("above_capacity", message, "more than `capacity`");
        }
        Some(needed)
    };
    match (at.get("success_threshold"), at.get("failure_threshold")) {
        (Some(at), _) => within(at).map(ProbeThreshold::Successes),
        (None, Some(at)) => within(at).map(ProbeThreshold::Failures),
        (None, None) => {
            let message = "`half_open` needs `success_threshold` or `failure_threshold`";
            at.report(Diagnostic::error("missing_key", message).at(at.span(), "which answers decide?"));
            None
        }
    }
}
