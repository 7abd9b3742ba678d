//! Verdicts, and the reserved verdict `unclassified`.

use std::sync::Arc;

use super::context::Context;
use super::tell;
use crate::diagnostic::Diagnostic;
use crate::schema::At;
use crate::yaml::Key;
use playproof_engine::event::EffectClaim;
use playproof_engine::ids::QueueId;
use playproof_engine::playbook::{BreakerMark, Compensation, UNCLASSIFIED, Verdict};

/// The verdict `name`, written at `at`.
pub(super) fn verdict(context: &Context<'_>, name: &Key<'_>, at: At<'_>) -> Option<Verdict> {
    let effect = at.word("effect", EffectClaim::parse);
    let then = at.get("then").and_then(|then| context.compensation(then));
    let tell = at.optional("tell", tell::tell);
    if name.text == UNCLASSIFIED {
        if let (Some(at), Some(EffectClaim::Applied | EffectClaim::NotApplied)) = (at.get("effect"), effect) {
            reserved(at, "the effect of a failure that no rule matches is always `unknown`");
        }
        if let (Some(at), Some(compensation)) = (at.get("then"), &then)
            && !matches!(compensation, Compensation::EscalateToHuman(_))
        {
            reserved(at, "a failure that no rule matches always escalates to a human");
        }
    }
    Some(Verdict {
        name: name.text.into(),
        means: at.get("means")?.text()?.into(),
        effect: effect?,
        breaker: at.word("breaker", BreakerMark::parse)?,
        then: then?,
        tell: tell?,
    })
}

fn reserved(at: At<'_>, why: &str) {
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
