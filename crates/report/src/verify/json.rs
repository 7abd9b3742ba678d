//! The results as one JSON document, `verify/1`.

use super::page::Shown;
use crate::json::{Object, document};
use playproof_engine::event::FindingId;
use playproof_explore::{Assumed, Compared, Counterexample, Fate, PropertyResult, RestsOn};

/// The document.
pub fn json<'a>(results: impl IntoIterator<Item = Shown<'a>>) -> String {
    let playbooks: Vec<Object> = results.into_iter().map(playbook).collect();
    document(&Object::document("verify/1").with("playbooks", playbooks))
}

fn playbook(Shown { result, against, .. }: Shown<'_>) -> Object {
    Object::default()
        .with("playbook", &result.playbook)
        .with("complete", result.complete)
        .with("states", result.states)
        .with("properties", result.properties.iter().map(property).collect::<Vec<_>>())
        .with("rests_on", result.rests_on.iter().map(rests_on).collect::<Vec<_>>())
        .maybe("against", against.map(self::against))
}

fn against((playbook, asked): (&str, &Compared)) -> Object {
    let ids = |ids: &[FindingId]| ids.iter().map(|id| id.as_str()).collect::<Vec<_>>();
    let assumed = |Assumed { on, id }: &Assumed| Object::default().with("on", on).with("id", id.as_str());
    let assumed = |all: &[Assumed]| all.iter().map(assumed).collect::<Vec<_>>();
    Object::default()
        .with("playbook", playbook)
        .with("gained", ids(&asked.gained))
        .with("lost", ids(&asked.lost))
        .with("assumed", assumed(&asked.assumed))
        .with("assumed_no_more", assumed(&asked.assumed_no_more))
}

fn property(property: &PropertyResult) -> Object {
    let kinds = property.kinds.iter();
    let kinds = kinds.map(|(kind, fate)| Object::default().with("kind", kind).with("result", fate.as_str()));
    let to_departures = match property.fate {
        Fate::CutShort(departures) => departures.checked_sub(1),
        Fate::Holds | Fate::NotAsked | Fate::Violated => None,
    };
    Object::default()
        .with("id", property.id.as_str())
        .with("result", property.fate.as_str())
        .maybe("to_departures", to_departures)
        .and(&property.counterexample.as_ref().map(shown).unwrap_or_default())
        .with("kinds", kinds.collect::<Vec<_>>())
}

/// A property that no run can show broken has its id alone.
fn rests_on(rests: &RestsOn) -> Object {
    let broken = |id: &FindingId| Object::default().with("id", id.as_str());
    let breaks = rests.breaks.iter().map(|(id, example)| broken(id).and(&shown(example)));
    let breaks = breaks.chain(rests.unshown.iter().map(broken));
    Object::default().with("on", &rests.on).with("breaks", breaks.collect::<Vec<_>>())
}

fn shown(shown: &Counterexample) -> Object {
    Object::default()
        .with("kind", &shown.kind)
        .with("departures", shown.departures)
        .with("answers", shown.answers.len())
        .with("script", &shown.answers)
        .with("fixture", &shown.text)
}
