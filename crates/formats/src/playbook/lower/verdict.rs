//! Verdicts, and the reserved verdict `unclassified`.

use std::sync::Arc;

use super::compensation::Context;
use super::tell;
use crate::diagnostic::Diagnostic;
use crate::playbook::places::VerdictPlaces;
use crate::playbook::syntax;
use crate::yaml::{Cursor, Key};
use playproof_engine::event::EffectClaim;
use playproof_engine::ids::QueueId;
use playproof_engine::playbook::{BreakerMark, Compensation, UNCLASSIFIED, Verdict};

/// The verdict `name`, written at `at`.
pub(super) fn verdict(context: &Context<'_>, name: &Key<'_>, at: Cursor<'_>) -> Option<(Verdict, VerdictPlaces)> {
    let record = at.record("a verdict", syntax::VERDICT)?;
    let written_means = record.required("means");
    let means = written_means.and_then(Cursor::words);
    let written_effect = record.required("effect");
    let effect = written_effect.and_then(|effect| effect.word(&EffectClaim::TABLE));
    let written_breaker = record.optional("breaker");
    let breaker = written_breaker.map_or(Some(BreakerMark::Ignored), |mark| mark.word(&BreakerMark::TABLE));
    let written_then = record.required("then");
    let then = written_then.and_then(|then| context.compensation(then));
    let told = record.optional("tell").map(tell::tell);
    if name.text == UNCLASSIFIED {
        if let (Some(at), Some(EffectClaim::Applied | EffectClaim::NotApplied)) = (written_effect, effect) {
            reserved(at, "the effect of a failure that no rule matches is always `unknown`");
        }
        if let (Some(at), Some((compensation, _))) = (written_then, &then)
            && !matches!(compensation, Compensation::EscalateToHuman(_))
        {
            reserved(at, "a failure that no rule matches always escalates to a human");
        }
    }
    let (then, places) = then?;
    let (tell, tell_places) = match told {
        Some(told) => told.map(|(tell, places)| (Some(tell), Some(places)))?,
        None => (None, None),
    };
    let verdict =
        Verdict { name: name.text.into(), means: means?.into(), effect: effect?, breaker: breaker?, then, tell };
    let (means, effect) = (written_means?.span(), written_effect?.span());
    Some((
        verdict,
        VerdictPlaces {
            name: name.span.clone(),
            means,
            effect,
            breaker: written_breaker.map(Cursor::span),
            then: places,
            tell: tell_places,
        },
    ))
}

fn reserved(at: Cursor<'_>, why: &str) {
    at.report(Diagnostic::error("reserved_verdict", why).at(at.span(), "not for `unclassified`").help(
        "leave `unclassified` out, or write `effect: unknown` and `then: { escalate_to_human: { queue: QUEUE } }`",
    ));
}

/// The reserved verdict of a playbook that does not declare it.
pub(super) fn unclassified(context: &Context<'_>) -> Option<Verdict> {
    let own = context.queues.number(UNCLASSIFIED).map(QueueId);
    let Some(queue) = own.or(context.default_queue.flatten()) else {
        if context.default_queue.is_none() && !context.default_queue_missed.replace(true) {
            context.root.report(
                Diagnostic::error(
                    "missing_default_queue",
                    "a failure that no rule matches escalates to a human, but there is no queue for it",
                )
                .at(context.root.span(), "no `default_queue` here")
                .help("declare `default_queue: QUEUE`, or a queue named `unclassified`"),
            );
        }
        return None;
    };
    Some(Verdict {
        name: Arc::from(UNCLASSIFIED),
        means: Arc::from("No rule knows this failure."),
        effect: EffectClaim::Unknown,
        breaker: BreakerMark::Ignored,
        then: Compensation::EscalateToHuman(queue),
        tell: None,
    })
}
