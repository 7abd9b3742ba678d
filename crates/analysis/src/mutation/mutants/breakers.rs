//! Mutants of breakers, and of what verdicts say to them.

use super::mutant::{Mutant, MutantRow};
use super::retry_budgets::other_part;
use playproof_engine::playbook::{
    AfterMaxWait, BreakerMark, BreakerRules, BreakerWindow, BucketAlign, EvaluateOn, HalfOpen, OpenBoundary,
    OpenPeriod, OpenThresholds, Playbook, ProbeThreshold, SlowCalls, TimeWindow, Verdict,
};
use playproof_engine::time::Duration;

const MILLI: Duration = Duration::from_millis(1);

/// A change: its name, and the changed rules.
type Change = (&'static str, BreakerRules);

pub(super) fn add(playbook: &Playbook, all: &mut Vec<Mutant>) {
    for (n, (server, rules)) in playbook.breakers.iter().enumerate() {
        let mut row = MutantRow::new(format!("breaker {server}"), all);
        row.add("drop", "dropped", move |playbook| {
            playbook.breakers.remove(n);
        });
        let changes = [windows(rules), thresholds(rules), opening(rules), half_open(rules)].concat();
        for (operation, other) in changes.into_iter().filter(|(_, rules)| is_valid(rules)) {
            row.add(operation, operation.replace('-', " "), move |playbook| {
                playbook.breakers.get_mut(n).into_iter().for_each(|(_, rules)| *rules = other);
            });
        }
    }
}

/// The other marks of a verdict; without breakers they change nothing.
pub(super) fn marks(playbook: &Playbook, verdict: &Verdict) -> Vec<BreakerMark> {
    let others = BreakerMark::ALL.into_iter().filter(|mark| *mark != verdict.breaker);
    if playbook.breakers.is_empty() { Vec::new() } else { others.collect() }
}

/// Whether the format takes it: numbers within the window and the capacity.
fn is_valid(rules: &BreakerRules) -> bool {
    let within_window = |count: u32| !matches!(rules.window, BreakerWindow::Calls(most) if count > most);
    let is_judged = match rules.half_open {
        HalfOpen::SingleProbe { .. } => true,
        HalfOpen::EvaluateRate { permits, .. } => {
            within_window(permits) && (rules.opens_at.failure_rate.is_some() || rules.opens_at.slow.is_some())
        }
        HalfOpen::Thresholds { capacity, decides } => match decides {
            ProbeThreshold::Successes(needed) | ProbeThreshold::Failures(needed) => (1..=capacity).contains(&needed),
        },
    };
    let counts_failures = rules.opens_at.failure_count.is_none_or(|count| count > 0 && within_window(count));
    is_judged && counts_failures && rules.min_calls > 0 && rules.opens_at != OpenThresholds::default()
}

fn windows(own: &BreakerRules) -> Vec<Change> {
    let window = |window| BreakerRules { window, ..*own };
    match own.window {
        BreakerWindow::Calls(calls) => vec![("window-longer", window(BreakerWindow::Calls(calls.saturating_add(1))))],
        BreakerWindow::Time(time) => {
            let align = match time.align {
                BucketAlign::Epoch => BucketAlign::FirstEvent,
                BucketAlign::FirstEvent => BucketAlign::Epoch,
            };
            let time_window = |time| window(BreakerWindow::Time(time));
            vec![
                ("window-longer", time_window(TimeWindow { span: time.span.plus(MILLI), ..time })),
                ("align-other", time_window(TimeWindow { align, ..time })),
            ]
        }
    }
}

fn thresholds(own: &BreakerRules) -> Vec<Change> {
    let opens_at = |opens_at| BreakerRules { opens_at, ..*own };
    let now = own.opens_at;
    let mut found = vec![
        ("min_calls-more", BreakerRules { min_calls: own.min_calls.saturating_add(1), ..*own }),
        ("min_calls-fewer", BreakerRules { min_calls: own.min_calls.saturating_sub(1), ..*own }),
    ];
    if let Some(rate) = now.failure_rate {
        let other = Some(other_part(rate));
        found.push(("failure_rate-other", opens_at(OpenThresholds { failure_rate: other, ..now })));
        found.push(("failure_rate-none", opens_at(OpenThresholds { failure_rate: None, ..now })));
    }
    if let Some(count) = now.failure_count {
        let (more, fewer) = (Some(count.saturating_add(1)), Some(count.saturating_sub(1)));
        found.push(("failure_count-more", opens_at(OpenThresholds { failure_count: more, ..now })));
        found.push(("failure_count-fewer", opens_at(OpenThresholds { failure_count: fewer, ..now })));
        found.push(("failure_count-none", opens_at(OpenThresholds { failure_count: None, ..now })));
    }
    if let Some(slow) = now.slow {
        let longer = Some(SlowCalls { over: slow.over.plus(MILLI), ..slow });
        let rate = Some(SlowCalls { rate: other_part(slow.rate), ..slow });
        found.push(("slow_call_ms-longer", opens_at(OpenThresholds { slow: longer, ..now })));
        found.push(("slow_call_rate-other", opens_at(OpenThresholds { slow: rate, ..now })));
        found.push(("slow_call_rate-none", opens_at(OpenThresholds { slow: None, ..now })));
    }
    let evaluate_on = match own.evaluate_on {
        EvaluateOn::Failure => EvaluateOn::Any,
        EvaluateOn::Any => EvaluateOn::Failure,
    };
    found.push(("evaluate_on-other", BreakerRules { evaluate_on, ..*own }));
    found
}

fn opening(own: &BreakerRules) -> Vec<Change> {
    let (operation, open) = match own.open {
        OpenPeriod::Fixed(period) => ("open_ms-longer", OpenPeriod::Fixed(period.plus(MILLI))),
        OpenPeriod::Growing(formula) => ("open_backoff-constant", OpenPeriod::Fixed(formula.family.base())),
    };
    let boundary = match own.boundary {
        OpenBoundary::AtEnd => OpenBoundary::AfterEnd,
        OpenBoundary::AfterEnd => OpenBoundary::AtEnd,
    };
    vec![(operation, BreakerRules { open, ..*own }), ("open_boundary-other", BreakerRules { boundary, ..*own })]
}

fn half_open(own: &BreakerRules) -> Vec<Change> {
    let half_open = |half_open| BreakerRules { half_open, ..*own };
    let single = half_open(HalfOpen::SingleProbe { another_after: None });
    match own.half_open {
        HalfOpen::SingleProbe { another_after: None } => {
            let decides = ProbeThreshold::Successes(2);
            vec![("half_open-two", half_open(HalfOpen::Thresholds { capacity: 2, decides }))]
        }
        HalfOpen::SingleProbe { another_after: Some(wait) } => {
            let another_after = Some(wait.plus(MILLI));
            vec![
                ("another_after_ms-longer", half_open(HalfOpen::SingleProbe { another_after })),
                ("another_after_ms-none", single),
            ]
        }
        HalfOpen::EvaluateRate { permits, max_wait, on_max_wait } => {
            let permitting = |permits| half_open(HalfOpen::EvaluateRate { permits, max_wait, on_max_wait });
            let mut found =
                vec![("half_open-single_probe", single), ("permits-more", permitting(permits.saturating_add(1)))];
            if let Some(wait) = max_wait {
                let other = match on_max_wait {
                    AfterMaxWait::Open => AfterMaxWait::Closed,
                    AfterMaxWait::Closed => AfterMaxWait::Open,
                };
                let waiting = |max_wait, on_max_wait| {
                    half_open(HalfOpen::EvaluateRate { permits, max_wait: Some(max_wait), on_max_wait })
                };
                found.push(("max_wait_ms-longer", waiting(wait.plus(MILLI), on_max_wait)));
                found.push(("on_max_wait-other", waiting(wait, other)));
            }
            found
        }
        HalfOpen::Thresholds { capacity, decides } => {
            let moved = |by: fn(u32, u32) -> u32| match decides {
                ProbeThreshold::Successes(needed) => ProbeThreshold::Successes(by(needed, 1)),
                ProbeThreshold::Failures(needed) => ProbeThreshold::Failures(by(needed, 1)),
            };
            let deciding = |decides| half_open(HalfOpen::Thresholds { capacity, decides });
            let larger = HalfOpen::Thresholds { capacity: capacity.saturating_add(1), decides };
            vec![
                ("half_open-single_probe", single),
                ("capacity-more", half_open(larger)),
                ("threshold-more", deciding(moved(u32::saturating_add))),
                ("threshold-fewer", deciding(moved(u32::saturating_sub))),
            ]
        }
    }
}
