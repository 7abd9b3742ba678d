//! Lints of what verdicts tell the agent.

use crate::diagnostic::Diagnostic;
use crate::playbook::places::Loaded;
use playproof_engine::event::EffectClaim;
use playproof_engine::ids::VerdictId;

/// A class that says that nothing reached the upstream, beside an effect that says that it acted.
pub(super) fn classes(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    for (id, verdict) in (0..).map(VerdictId).zip(&loaded.playbook.verdicts) {
        let Some((tell, place)) = verdict.tell.as_ref().zip(loaded.places.tell(id)) else { continue };
        let Some(effect) = loaded.places.written("verdicts", id.index(), "effect") else { continue };
        if tell.class.says_unsent() && verdict.effect == EffectClaim::Applied {
            let message =
                format!("`{}` says that the upstream never saw the call, and `effect: applied`", tell.class.as_str());
            found.push(
                Diagnostic::warning("class_contradicts_effect", format!("{message} that it acted"))
                    .at(place, "nothing was done")
                    .at(effect, "it was done")
                    .help("if the upstream answered, write `class: external_api_error`; else correct the `effect`"),
            );
        }
    }
}
