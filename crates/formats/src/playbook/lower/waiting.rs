//! How long a retry waits: the list or the formula of its backoff, and what the upstream's wish changes.

use super::context::Context;
use crate::diagnostic::Diagnostic;
use crate::schema::At;
use playproof_engine::event::WishFaults;
use playproof_engine::playbook::{
    Backoff, Cap, Counter, DecorrelatedFrom, Family, FamilyWord, Formula, Jitter, JitterWord, OverMax, OverMaxWord,
    Ratio, ServerDelay, ServerDelayMode, ServerDelayWord, Terminal,
};

/// The `backoff_ms` or the `backoff` of a retry.
pub(super) fn backoff(retry: At<'_>) -> Option<Backoff> {
    match retry.get("backoff") {
        Some(at) => formula(at).map(Backoff::Formula),
        None => retry.get("backoff_ms")?.all(At::millis).map(Backoff::Listed),
    }
}

pub(super) fn formula(at: At<'_>) -> Option<Formula> {
    let family = family(at)?;
    let formula = Formula {
        family,
        max: at.optional("max_ms", At::millis)?,
        cap: at.word("cap", Cap::parse)?,
        jitter: jitter(at.field("jitter")?)?,
        floor: at.field("floor_ms")?.millis()?,
        whole_ms: at.says("round", "whole_ms")?,
        counter: at.word("counter", Counter::parse)?,
    };
    let Some(max) = formula.max else { return Some(formula) };
    if let Some(at) = at.get("floor_ms").filter(|_| formula.floor > max) {
        let message = format!("the shortest wait is {} ms, the longest one {max} ms", formula.floor);
        at.wrong("floor_above_max", message, "longer than `max_ms`");
    }
    if let (true, Some(longest), Some(base)) = (max < family.base(), at.get("max_ms"), at.get("base_ms")) {
        let message = format!("the longest wait is {max} ms, the first one {} ms", family.base());
        let diagnostic = Diagnostic::error("max_below_base", message).at(longest.span(), "shorter than `base_ms`");
        at.report(diagnostic.at(base.span(), "the first wait"));
    }
    Some(formula)
}

fn family(at: At<'_>) -> Option<Family> {
    let base = at.get("base_ms")?.millis()?;
    let multiplier = |default| Some(at.optional("multiplier", ratio)?.unwrap_or(Ratio(default * Ratio::SCALE)));
    Some(match at.word("kind", FamilyWord::parse)? {
        FamilyWord::Constant => Family::Constant { base },
        FamilyWord::Linear => Family::Linear { base, increment: at.get("increment_ms")?.millis()? },
        FamilyWord::Exponential => Family::Exponential { base, multiplier: multiplier(2)? },
        FamilyWord::Polynomial => {
            Family::Polynomial { base, coef: at.get("coef_ms")?.millis()?, exponent: at.number("exponent")? }
        }
        FamilyWord::Fibonacci => Family::Fibonacci { base },
        FamilyWord::Decorrelated => {
            Family::Decorrelated { base, multiplier: multiplier(3)?, from: at.word("from", DecorrelatedFrom::parse)? }
        }
        FamilyWord::PollyV2 => Family::PollyV2 { base },
    })
}

fn jitter(at: At<'_>) -> Option<Jitter> {
    let word = if at.is_map() { at.single()?.0.text } else { at.text()? };
    let parameters = || Some(at.single()?.1);
    Some(match JitterWord::parse(word)? {
        JitterWord::None => Jitter::None,
        JitterWord::Full => Jitter::Full,
        JitterWord::Equal => Jitter::Equal,
        JitterWord::Modulo => Jitter::Modulo,
        JitterWord::Proportional => {
            let factors = parameters()?;
            Jitter::Proportional { low: factors.word("low", Ratio::parse)?, high: factors.word("high", Ratio::parse)? }
        }
        JitterWord::Absolute => Jitter::Absolute { by: parameters()?.get("ms")?.millis()? },
        JitterWord::Additive => {
            let spans = parameters()?;
            Jitter::Additive { by: spans.get("ms")?.millis()?, per_retry: spans.field("ms_per_retry")?.millis()? }
        }
    })
}

/// The `server_delay` of a retry, or its short form `after` and `max_wait_ms`.
pub(super) fn server_delay(context: &Context<'_>, retry: At<'_>) -> Option<ServerDelay> {
    let short = retry.get("after").or_else(|| retry.get("max_wait_ms"));
    match (retry.get("server_delay"), short) {
        (Some(written), Some(short)) => {
            written.report(
                Diagnostic::error("two_server_delays", "`server_delay` says what `after` and `max_wait_ms` would say")
                    .at(written.span(), "the long form")
                    .at(short.span(), "the short form")
                    .help("write `mode` and `max_ms` in `server_delay`, and remove the short form"),
            );
            None
        }
        (Some(written), None) => long_form(context, written),
        (None, _) => {
            let heeds = retry.says("after", "retry_after")?;
            let mode = if heeds { ServerDelayMode::AtLeast } else { ServerDelayMode::Ignore };
            Some(ServerDelay { mode, max: retry.optional("max_wait_ms", At::millis)?, ..ServerDelay::IGNORED })
        }
    }
}

fn long_form(context: &Context<'_>, at: At<'_>) -> Option<ServerDelay> {
    let over_max = over_max(context, at.field("over_max")?);
    let stops = |fault| at.says(fault, "stop");
    let stops_at =
        WishFaults { invalid: stops("invalid")?, negative: stops("negative")?, multiple: stops("multiple")? };
    Some(ServerDelay {
        mode: mode(at)?,
        max: at.optional("max_ms", At::millis)?,
        over_max: over_max?,
        ignores_zero: at.says("zero", "ignore")?,
        stops_at,
    })
}

fn mode(at: At<'_>) -> Option<ServerDelayMode> {
    Some(match at.word("mode", ServerDelayWord::parse)? {
        ServerDelayWord::Ignore => ServerDelayMode::Ignore,
        ServerDelayWord::Exact => ServerDelayMode::Exact,
        ServerDelayWord::AtMost => {
            if at.get("max_ms").is_none() {
                let missing = Diagnostic::error("missing_key", "`server_delay` with `mode: at_most` needs `max_ms`");
                at.report(missing.at(at.span(), "`max_ms` is missing"));
            }
            ServerDelayMode::AtMost
        }
        ServerDelayWord::AtLeast => ServerDelayMode::AtLeast,
        ServerDelayWord::Window => ServerDelayMode::Window { by: at.get("window_ms")?.millis()? },
        ServerDelayWord::LowerBoundJitter => {
            ServerDelayMode::LowerBoundJitter { spread: at.word("spread", Ratio::parse)? }
        }
    })
}

fn over_max(context: &Context<'_>, at: At<'_>) -> Option<OverMax> {
    if at.is_map() {
        return context.queue(at.get("escalate_to_human")?).map(|queue| OverMax::End(Terminal::Escalate(queue)));
    }
    Some(match OverMaxWord::parse(at.text()?)? {
        OverMaxWord::Stop => OverMax::Stop,
        OverMaxWord::Cap => OverMax::Cap,
        OverMaxWord::Discard => OverMax::Discard,
    })
}

/// A factor or a part.
pub(super) fn ratio(at: At<'_>) -> Option<Ratio> {
    Ratio::parse(at.text()?)
}
