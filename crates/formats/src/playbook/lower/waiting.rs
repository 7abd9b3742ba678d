//! How long a retry waits: the list or the formula of its backoff, and what the upstream's wish changes.

use super::compensation::Context;
use super::kinds;
use crate::diagnostic::Diagnostic;
use crate::playbook::places::CompensationPlaces;
use crate::playbook::syntax;
use crate::yaml::{Cursor, MapReader};
use playproof_engine::event::WishFaults;
use playproof_engine::playbook::{
    Backoff, Cap, Counter, DecorrelatedFrom, Family, FamilyWord, Formula, Jitter, JitterWord, OverMax, OverMaxWord,
    Ratio, ServerDelay, ServerDelayMode, ServerDelayWord, Terminal,
};
use playproof_engine::time::Duration;

/// The `backoff_ms` or the `backoff` of a retry.
pub(super) fn backoff(retry: &MapReader<'_>, places: &mut CompensationPlaces) -> Option<Backoff> {
    let (list, formula) = (retry.optional("backoff_ms"), retry.optional("backoff"));
    places.backoff = list.or(formula).map(Cursor::span);
    match (list, formula) {
        (Some(list), None) => listed(list).map(Backoff::Listed),
        (None, Some(at)) => self::formula(at).map(Backoff::Formula),
        (Some(list), Some(formula)) => {
            retry.cursor().report(
                Diagnostic::error("two_backoffs", "a retry waits by a list or by a formula, not by both")
                    .at(list.span(), "a list")
                    .at(formula.span(), "a formula")
                    .help("remove `backoff_ms` or `backoff`"),
            );
            None
        }
        (None, None) => {
            retry.required("backoff_ms"); // reports what is missing
            None
        }
    }
}

/// The waits of a list.
fn listed(at: Cursor<'_>) -> Option<Vec<Duration>> {
    let waits: Vec<Cursor<'_>> = at.list()?.collect();
    if waits.is_empty() || waits.len() > syntax::MOST_WAITS {
        let message = format!("a backoff has 1 to {} waits, not {}", syntax::MOST_WAITS, waits.len());
        at.wrong("bad_backoff", message, "in milliseconds");
        return None;
    }
    let waits: Vec<Option<Duration>> = waits.iter().map(|wait| wait.duration_ms(syntax::LONGEST_WAIT)).collect();
    waits.into_iter().collect()
}

pub(super) fn formula(at: Cursor<'_>) -> Option<Formula> {
    if at.is_list() {
        at.report(
            Diagnostic::error("wrong_type", "`backoff` is a formula, and this is a list")
                .at(at.span(), "expected a map")
                .help("write the list as `backoff_ms: [...]`, in milliseconds"),
        );
        return None;
    }
    let record = at.record("`backoff`", syntax::BACKOFF)?;
    let family = family(&record);
    let max = span(&record, "max_ms");
    let cap = word(&record, "cap", &Cap::TABLE, Cap::BeforeJitter);
    let jitter = record.optional("jitter").map_or(Some(Jitter::None), jitter);
    let floor = span(&record, "floor_ms").map(Option::unwrap_or_default);
    let whole_ms = word(&record, "round", &syntax::ROUND, false);
    let counter = word(&record, "counter", &Counter::TABLE, Counter::Verdict);
    let (family, max) = (family?, max?);
    if let (true, Some(key)) = (family.is_drawn(), record.key_span("jitter")) {
        let kind = family.word().as_str();
        let message = format!("the waits of {kind} are drawn by themselves: it takes no other `jitter`");
        at.report(Diagnostic::error("other_family", message).at(key, format!("not for {kind}")));
        return None;
    }
    if let (Some(max), Some(floor), Some(at)) = (max, floor, record.optional("floor_ms"))
        && floor > max
    {
        let message = format!("the shortest wait is {floor} ms, the longest one {max} ms");
        at.wrong("floor_above_max", message, "longer than `max_ms`");
        return None;
    }
    if let (Some(max), Some(at)) = (max.filter(|max| *max < family.base()), record.optional("max_ms")) {
        let message = format!("the longest wait is {max} ms, the first one {} ms", family.base());
        let diagnostic = Diagnostic::error("max_below_base", message).at(at.span(), "shorter than `base_ms`");
        at.report(match record.optional("base_ms") {
            Some(base) => diagnostic.at(base.span(), "the first wait"),
            None => diagnostic,
        });
        return None;
    }
    Some(Formula { family, max, cap: cap?, jitter: jitter?, floor: floor?, whole_ms: whole_ms?, counter: counter? })
}

/// The family of a formula; a key of another family is an error.
fn family(record: &MapReader<'_>) -> Option<Family> {
    let kind = record.required("kind").and_then(|kind| kind.word(&FamilyWord::TABLE));
    let base = record.required("base_ms").and_then(|base| base.duration_ms(syntax::LONGEST_WAIT));
    let kind = kind?;
    let has_others = kinds::has_other_keys(record, kind, FamilyWord::as_str, &syntax::FAMILY_KEYS, "other_family");
    let base = base.filter(|_| !has_others)?;
    let multiplier = |default| match record.optional("multiplier") {
        Some(at) => ratio(at, syntax::MULTIPLIER),
        None => Some(Ratio(default * Ratio::SCALE)),
    };
    let required_span = |key| record.required(key).and_then(|at| at.duration_ms(syntax::LONGEST_WAIT));
    match kind {
        FamilyWord::Constant => Some(Family::Constant { base }),
        FamilyWord::Linear => Some(Family::Linear { base, increment: required_span("increment_ms")? }),
        FamilyWord::Exponential => Some(Family::Exponential { base, multiplier: multiplier(2)? }),
        FamilyWord::Polynomial => {
            let coef = required_span("coef_ms");
            let exponent = record.required("exponent").and_then(|at| at.count(1..=syntax::MOST_EXPONENT));
            Some(Family::Polynomial { base, coef: coef?, exponent: exponent? })
        }
        FamilyWord::Fibonacci => Some(Family::Fibonacci { base }),
        FamilyWord::Decorrelated => {
            let from = word(record, "from", &DecorrelatedFrom::TABLE, DecorrelatedFrom::Previous);
            Some(Family::Decorrelated { base, multiplier: multiplier(3)?, from: from? })
        }
        FamilyWord::PollyV2 => Some(Family::PollyV2 { base }),
    }
}

fn jitter(at: Cursor<'_>) -> Option<Jitter> {
    if !at.is_map() {
        let plain = JitterWord::TABLE.map(|(text, word)| (text, plain_jitter(word)));
        let known: Vec<(&str, Jitter)> = plain.into_iter().filter_map(|(text, jitter)| Some((text, jitter?))).collect();
        return at.word(&known);
    }
    let parameterised: Vec<&str> =
        JitterWord::TABLE.into_iter().filter(|(_, word)| plain_jitter(*word).is_none()).map(|(text, _)| text).collect();
    let (kind, parameters) = at.single("`jitter`", &parameterised)?;
    match kind.text {
        "proportional" => {
            let record = parameters.record("`proportional`", syntax::PROPORTIONAL)?;
            let bound = |key| record.required(key).and_then(|at| ratio(at, syntax::JITTER_FACTOR));
            let (low, high) = (bound("low"), bound("high"));
            Some(Jitter::Proportional { low: low?, high: high? })
        }
        "absolute" => {
            let record = parameters.record("`absolute`", syntax::ABSOLUTE)?;
            let by = record.required("ms").and_then(|at| at.duration_ms(syntax::LONGEST_WAIT));
            Some(Jitter::Absolute { by: by? })
        }
        _ => {
            let record = parameters.record("`additive`", syntax::ADDITIVE)?;
            let by = record.required("ms").and_then(|at| at.duration_ms(syntax::LONGEST_WAIT));
            let per_retry = span(&record, "ms_per_retry").map(Option::unwrap_or_default);
            Some(Jitter::Additive { by: by?, per_retry: per_retry? })
        }
    }
}

/// The kind of jitter without parameters.
const fn plain_jitter(word: JitterWord) -> Option<Jitter> {
    match word {
        JitterWord::None => Some(Jitter::None),
        JitterWord::Full => Some(Jitter::Full),
        JitterWord::Equal => Some(Jitter::Equal),
        JitterWord::Modulo => Some(Jitter::Modulo),
        JitterWord::Proportional | JitterWord::Absolute | JitterWord::Additive => None,
    }
}

/// The `server_delay` of a retry, or its short form `after` and `max_wait_ms`.
pub(super) fn server_delay(
    context: &Context<'_>,
    retry: &MapReader<'_>,
    places: &mut CompensationPlaces,
) -> Option<ServerDelay> {
    let written = retry.optional("server_delay");
    let (after, max_wait) = (retry.optional("after"), retry.optional("max_wait_ms"));
    places.max_wait = max_wait.map(Cursor::span);
    places.server_delay = written.map(Cursor::span);
    if let (Some(written), Some(short)) = (written, after.or(max_wait)) {
        written.report(
            Diagnostic::error("two_server_delays", "`server_delay` says what `after` and `max_wait_ms` would say")
                .at(written.span(), "the long form")
                .at(short.span(), "the short form")
                .help("write `mode` and `max_ms` in `server_delay`, and remove the short form"),
        );
        return None;
    }
    if let Some(written) = written {
        return long_form(context, written);
    }
    let mode = after.map_or(Some(ServerDelayMode::Ignore), |after| after.word(&syntax::AFTER));
    let max = span(retry, "max_wait_ms");
    Some(ServerDelay { mode: mode?, max: max?, ..ServerDelay::IGNORED })
}

fn long_form(context: &Context<'_>, at: Cursor<'_>) -> Option<ServerDelay> {
    let record = at.record("`server_delay`", syntax::SERVER_DELAY)?;
    let mode = mode(&record);
    let max = span(&record, "max_ms");
    let over_max = record.optional("over_max").map_or(Some(OverMax::Stop), |at| over_max(context, at));
    let ignores_zero = word(&record, "zero", &syntax::ZERO, false);
    let stops_at = stops_at(&record);
    if let (Some(over), None) = (record.key_span("over_max"), record.optional("max_ms")) {
        let message = "`over_max` needs `max_ms`, the longest wish";
        at.report(Diagnostic::error("over_max_without_max", message).at(over, "over which wish?"));
        return None;
    }
    Some(ServerDelay { mode: mode?, max: max?, over_max: over_max?, ignores_zero: ignores_zero?, stops_at: stops_at? })
}

/// The faults of a wish that stop the call.
fn stops_at(record: &MapReader<'_>) -> Option<WishFaults> {
    let stops = |fault| word(record, fault, &syntax::FAULT, false);
    let (invalid, negative, multiple) = (stops("invalid"), stops("negative"), stops("multiple"));
    Some(WishFaults { invalid: invalid?, negative: negative?, multiple: multiple? })
}

fn mode(record: &MapReader<'_>) -> Option<ServerDelayMode> {
    let mode = record.required("mode")?.word(&ServerDelayWord::TABLE)?;
    for (key, of) in [("window_ms", ServerDelayWord::Window), ("spread", ServerDelayWord::LowerBoundJitter)] {
        if let (Some(span), true) = (record.key_span(key), mode != of) {
            let label = format!("not for {}", mode.as_str());
            let message = format!("`{key}` is for {}", of.as_str());
            record.cursor().report(Diagnostic::error("other_mode", message).at(span, label));
            return None;
        }
    }
    match mode {
        ServerDelayWord::Ignore => Some(ServerDelayMode::Ignore),
        ServerDelayWord::Exact => Some(ServerDelayMode::Exact),
        ServerDelayWord::AtMost => {
            if let Some(span) = record.key_span("over_max") {
                let message = "`at_most` cuts a longer wish: it has no `over_max`";
                record.cursor().report(Diagnostic::error("other_mode", message).at(span, "not for at_most"));
                return None;
            }
            record.required("max_ms").map(|_| ServerDelayMode::AtMost)
        }
        ServerDelayWord::AtLeast => Some(ServerDelayMode::AtLeast),
        ServerDelayWord::Window => {
            let by = record.required("window_ms")?.duration_ms(syntax::LONGEST_WAIT)?;
            Some(ServerDelayMode::Window { by })
        }
        ServerDelayWord::LowerBoundJitter => {
            let spread = ratio(record.required("spread")?, syntax::SPREAD)?;
            Some(ServerDelayMode::LowerBoundJitter { spread })
        }
    }
}

fn over_max(context: &Context<'_>, at: Cursor<'_>) -> Option<OverMax> {
    if at.is_map() {
        let (_, parameters) = at.single("`over_max`", &["escalate_to_human"])?;
        return context.queue(parameters).map(|queue| OverMax::End(Terminal::Escalate(queue)));
    }
    Some(match at.word(&OverMaxWord::TABLE)? {
        OverMaxWord::Stop => OverMax::Stop,
        OverMaxWord::Cap => OverMax::Cap,
        OverMaxWord::Discard => OverMax::Discard,
    })
}

/// The span of a key, if it is written.
pub(super) fn span(record: &MapReader<'_>, key: &str) -> Option<Option<Duration>> {
    record.optional(key).map_or(Some(None), |at| at.duration_ms(syntax::LONGEST_WAIT).map(Some))
}

pub(super) fn word<T: Copy>(record: &MapReader<'_>, key: &str, table: &[(&str, T)], default: T) -> Option<T> {
    record.optional(key).map_or(Some(default), |at| at.word(table))
}

/// A factor within bounds, with at most six decimal places.
pub(super) fn ratio(at: Cursor<'_>, (least, most): (Ratio, Ratio)) -> Option<Ratio> {
    let what = format!("a number from {least} to {most} with at most six decimal places");
    at.decimal(&what, |text| Ratio::parse(text).filter(|ratio| (least..=most).contains(ratio)))
}
