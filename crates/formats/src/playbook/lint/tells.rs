//! Lints of what verdicts tell the agent.

use crate::diagnostic::Diagnostic;
use crate::playbook::places::Loaded;
use playproof_engine::event::EffectClaim;

/// A class that says that nothing reached the upstream, beside an effect that says that it acted.
pub(super) fn classes(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    for (verdict, places) in loaded.playbook.verdicts.iter().zip(&loaded.places.verdicts) {
        let Some((tell, places)) = verdict.tell.as_ref().zip(places.as_ref()) else { continue };
        let Some(place) = places.tell.as_ref().map(|tell| tell.class.clone()) else { continue };
        if tell.class.says_unsent() && verdict.effect == EffectClaim::Applied {
            let message =
                format!("`{}` says that the upstream never saw the call, and `effect: applied`", tell.class.as_str());
            found.push(
                Diagnostic::warning("class_contradicts_effect", format!("{message} that it acted"))
                    .at(place, "nothing was done")
                    .at(places.effect.clone(), "it was done")
                    .help("if the upstream answered, write `class: external_api_error`; else correct the `effect`"),
            );
        }
    }
}
