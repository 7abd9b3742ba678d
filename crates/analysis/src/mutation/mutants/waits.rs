//! Mutants of how a retry waits: its list or formula, and what the upstream's wish changes.

use playproof_engine::event::WishFaults;
use playproof_engine::playbook::{
    Backoff, Cap, Counter, Family, Formula, Jitter, OverMax, Ratio, Retry, ServerDelay, ServerDelayMode,
};
use playproof_engine::time::Duration;

const MILLI: Duration = Duration::from_millis(1);

/// A change of one part of a retry.
pub(super) struct RetryMutant {
    pub operation: String,
    pub what: String,
    pub edit: Box<dyn Fn(&mut Retry) + Send + Sync>,
}

/// The mutants of the own waits; `follows`: the number of retries is the length of the list, so that both change.
pub(super) fn of_backoff(backoff: &Backoff, follows: bool) -> Vec<RetryMutant> {
    let mut found = Vec::new();
    match backoff {
        Backoff::Listed(list) => listed(list, follows, &mut found),
        Backoff::Formula(own) => formula(*own, &mut found),
    }
    found
}

fn add(
    found: &mut Vec<RetryMutant>,
    operation: impl Into<String>,
    what: impl Into<String>,
    edit: impl Fn(&mut Retry) + Send + Sync + 'static,
) {
    found.push(RetryMutant { operation: operation.into(), what: what.into(), edit: Box::new(edit) });
}

fn edit_list(retry: &mut Retry, edit: impl FnOnce(&mut Vec<Duration>)) {
    if let Backoff::Listed(list) = &mut retry.backoff {
        edit(list);
    }
}

fn listed(list: &[Duration], follows: bool, found: &mut Vec<RetryMutant>) {
    for (at, wait) in list.iter().enumerate() {
        let what = format!("wait {} is {} ms instead of {wait}", at + 1, wait.plus(MILLI));
        add(found, format!("wait-{}-longer", at + 1), what, move |retry| {
            edit_list(retry, |list| list.get_mut(at).into_iter().for_each(|wait| *wait = wait.plus(MILLI)));
        });
    }
    if list.len() > 1 {
        add(found, "backoff-shorter", "without the last wait", move |retry| {
            edit_list(retry, |list| list.truncate(list.len().saturating_sub(1)));
            retry.max_retries -= u32::from(follows);
        });
    }
    add(found, "backoff-longer", "with the last wait once more", move |retry| {
        edit_list(retry, |list| list.extend(list.last().copied()));
        retry.max_retries += u32::from(follows);
    });
}

fn formula(own: Formula, found: &mut Vec<RetryMutant>) {
    let mut changed = |operation: &str, what: String, other: Formula| {
        add(found, operation, what, move |retry| retry.backoff = Backoff::Formula(other));
    };
    for (key, family) in grown(own.family) {
        changed(&format!("{key}-larger"), format!("a larger `{key}`"), Formula { family, ..own });
    }
    if let Some(max) = own.max {
        let longer = Some(max.plus(MILLI));
        changed("max_ms-longer", format!("`max_ms` {}", max.plus(MILLI)), Formula { max: longer, ..own });
        changed("max_ms-none", "no `max_ms`".to_owned(), Formula { max: None, ..own });
    }
    let cap = match own.cap {
        Cap::BeforeJitter => Cap::AfterJitter,
        Cap::AfterJitter => Cap::BeforeJitter,
    };
    if own.max.is_some() && own.jitter != Jitter::None {
        changed(&format!("cap-{}", cap.as_str()), format!("`cap: {}`", cap.as_str()), Formula { cap, ..own });
    }
    if !own.family.is_drawn() {
        let jitter = if own.jitter == Jitter::None { Jitter::Full } else { Jitter::None };
        let word = jitter.word().as_str();
        changed(&format!("jitter-{word}"), format!("`jitter: {word}`"), Formula { jitter, ..own });
    }
    if own.floor > Duration::ZERO {
        let floor = own.floor.plus(MILLI);
        changed("floor_ms-longer", format!("`floor_ms` {floor}"), Formula { floor, ..own });
    }
    changed("round-other", "waits rounded the other way".to_owned(), Formula { whole_ms: !own.whole_ms, ..own });
    for counter in Counter::ALL.into_iter().filter(|counter| *counter != own.counter) {
        let word = counter.as_str();
        changed(&format!("counter-{word}"), format!("`counter: {word}`"), Formula { counter, ..own });
    }
}

/// The family with each of its parameters a little larger, by key.
fn grown(family: Family) -> Vec<(&'static str, Family)> {
    let base = family.base().plus(MILLI);
    let more = |ratio: Ratio| Ratio(ratio.0.saturating_add(Ratio::SCALE / 1_000));
    match family {
        Family::Constant { .. } => vec![("base_ms", Family::Constant { base })],
        Family::Fibonacci { .. } => vec![("base_ms", Family::Fibonacci { base })],
        Family::PollyV2 { .. } => vec![("base_ms", Family::PollyV2 { base })],
        Family::Linear { base: first, increment } => vec![
            ("base_ms", Family::Linear { base, increment }),
            ("increment_ms", Family::Linear { base: first, increment: increment.plus(MILLI) }),
        ],
        Family::Exponential { base: first, multiplier } => vec![
            ("base_ms", Family::Exponential { base, multiplier }),
            ("multiplier", Family::Exponential { base: first, multiplier: more(multiplier) }),
        ],
        Family::Polynomial { base: first, coef, exponent } => vec![
            ("base_ms", Family::Polynomial { base, coef, exponent }),
            ("coef_ms", Family::Polynomial { base: first, coef: coef.plus(MILLI), exponent }),
            ("exponent", Family::Polynomial { base: first, coef, exponent: exponent.saturating_add(1) }),
        ],
        Family::Decorrelated { base: first, multiplier, from } => vec![
            ("base_ms", Family::Decorrelated { base, multiplier, from }),
            ("multiplier", Family::Decorrelated { base: first, multiplier: more(multiplier), from }),
        ],
    }
}

/// The mutants of what the upstream's wish changes.
pub(super) fn of_server_delay(own: ServerDelay) -> Vec<RetryMutant> {
    let mut found = of_faults(own);
    let mut changed = |operation: String, what: String, other: ServerDelay| {
        add(&mut found, operation, what, move |retry| retry.server_delay = other);
    };
    let (word, mode) = match own.mode {
        ServerDelayMode::Ignore => ("retry_after", ServerDelayMode::AtLeast),
        _ => ("backoff", ServerDelayMode::Ignore),
    };
    changed(format!("after-{word}"), format!("`after: {word}`"), ServerDelay { mode, ..own });
    if own.mode == ServerDelayMode::Ignore {
        return found;
    }
    let larger = match own.mode {
        ServerDelayMode::Window { by } => Some(("window_ms", ServerDelayMode::Window { by: by.plus(MILLI) })),
        ServerDelayMode::LowerBoundJitter { spread } => {
            let spread = Ratio(spread.0.saturating_add(Ratio::SCALE / 1_000));
            Some(("spread", ServerDelayMode::LowerBoundJitter { spread }))
        }
        _ => None,
    };
    if let Some((key, mode)) = larger {
        changed(format!("{key}-larger"), format!("a larger `{key}`"), ServerDelay { mode, ..own });
    }
    if let Some(most) = own.max {
        for (word, max) in [("longer", Some(most.plus(MILLI))), ("shorter", Some(most.minus(MILLI))), ("none", None)] {
            let what = format!("`max_wait_ms` {}", max.map_or("gone".to_owned(), |wait| wait.to_string()));
            changed(format!("max_wait_ms-{word}"), what, ServerDelay { max, ..own });
        }
        if own.over_max != OverMax::Stop {
            changed("over_max-stop".into(), "`over_max: stop`".into(), ServerDelay { over_max: OverMax::Stop, ..own });
        }
    }
    if own.ignores_zero {
        changed("zero-use".into(), "`zero: use`".into(), ServerDelay { ignores_zero: false, ..own });
    }
    found
}

/// The mutants that do not stop at a fault of a wish.
fn of_faults(own: ServerDelay) -> Vec<RetryMutant> {
    let all = own.stops_at;
    let faults = [
        ("invalid", own.stops_at.invalid, WishFaults { invalid: false, ..all }),
        ("negative", own.stops_at.negative, WishFaults { negative: false, ..all }),
        ("multiple", own.stops_at.multiple, WishFaults { multiple: false, ..all }),
    ];
    let mut found = Vec::new();
    for (fault, _, stops_at) in faults.into_iter().filter(|(_, stops, _)| *stops) {
        add(&mut found, format!("{fault}-ignore"), format!("`{fault}: ignore`"), move |retry| {
            retry.server_delay.stops_at = stops_at;
        });
    }
    found
}
