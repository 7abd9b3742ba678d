//! The results as one JSON document, `verify/1`.

use serde::Serialize;

use super::page::Shown;
use crate::json::document;
use playproof_engine::event::FindingId;
use playproof_explore::{Assumed, Compared, Counterexample, Fate, PropertyResult, RestsOn};

#[derive(Serialize)]
struct VerifyJson<'a> {
    format: &'static str,
    playbooks: Vec<PlaybookJson<'a>>,
}

#[derive(Serialize)]
struct PlaybookJson<'a> {
    playbook: &'a str,
    complete: bool,
    states: u64,
    properties: Vec<PropertyJson<'a>>,
    rests_on: Vec<RestsOnJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<AgainstJson<'a>>,
}

#[derive(Serialize)]
struct AgainstJson<'a> {
    playbook: &'a str,
    gained: Vec<&'static str>,
    lost: Vec<&'static str>,
    assumed: Vec<AssumedJson<'a>>,
    assumed_no_more: Vec<AssumedJson<'a>>,
}

#[derive(Serialize)]
struct AssumedJson<'a> {
    on: &'a str,
    id: &'static str,
}

#[derive(Serialize)]
struct PropertyJson<'a> {
    id: &'static str,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_departures: Option<u32>,
    #[serde(flatten)]
    shown: Option<ShownJson<'a>>,
    kinds: Vec<KindJson<'a>>,
}

#[derive(Serialize)]
struct KindJson<'a> {
    kind: &'a str,
    result: &'static str,
}

#[derive(Serialize)]
struct ShownJson<'a> {
    kind: &'a str,
    departures: u32,
    answers: usize,
    script: &'a [String],
    fixture: &'a str,
}

#[derive(Serialize)]
struct RestsOnJson<'a> {
    on: &'a str,
    breaks: Vec<BreaksJson<'a>>,
}

#[derive(Serialize)]
struct BreaksJson<'a> {
    id: &'static str,
    /// None: no run can show it.
    #[serde(flatten)]
    shown: Option<ShownJson<'a>>,
}

/// The document.
pub fn json<'a>(results: impl IntoIterator<Item = Shown<'a>>) -> String {
    document(&VerifyJson { format: "verify/1", playbooks: results.into_iter().map(playbook).collect() })
}

fn playbook(Shown { result, against, .. }: Shown<'_>) -> PlaybookJson<'_> {
    PlaybookJson {
        playbook: &result.playbook,
        complete: result.complete,
        states: result.states,
        properties: result.properties.iter().map(property).collect(),
        rests_on: result.rests_on.iter().map(rests_on).collect(),
        against: against.map(self::against),
    }
}

fn against<'a>((playbook, asked): (&'a str, &'a Compared)) -> AgainstJson<'a> {
    let ids = |ids: &[FindingId]| ids.iter().map(|id| id.as_str()).collect();
    let assumed =
        |all: &'a [Assumed]| all.iter().map(|Assumed { on, id }| AssumedJson { on, id: id.as_str() }).collect();
    AgainstJson {
        playbook,
        gained: ids(&asked.gained),
        lost: ids(&asked.lost),
        assumed: assumed(&asked.assumed),
        assumed_no_more: assumed(&asked.assumed_no_more),
    }
}

fn property(property: &PropertyResult) -> PropertyJson<'_> {
    PropertyJson {
        id: property.id.as_str(),
        result: property.fate.as_str(),
        to_departures: match property.fate {
            Fate::CutShort(departures) => departures.checked_sub(1),
            _ => None,
        },
        shown: property.counterexample.as_ref().map(shown),
        kinds: property.kinds.iter().map(|(kind, fate)| KindJson { kind, result: fate.as_str() }).collect(),
    }
}

fn rests_on(rests: &RestsOn) -> RestsOnJson<'_> {
    let unshown = rests.unshown.iter().map(|id| BreaksJson { id: id.as_str(), shown: None });
    RestsOnJson { on: &rests.on, breaks: rests.breaks.iter().map(breaks).chain(unshown).collect() }
}

fn breaks((id, broken): &(FindingId, Counterexample)) -> BreaksJson<'_> {
    BreaksJson { id: id.as_str(), shown: Some(shown(broken)) }
}

fn shown(shown: &Counterexample) -> ShownJson<'_> {
    ShownJson {
        kind: &shown.kind,
        departures: shown.departures,
        answers: shown.answers.len(),
        script: &shown.answers,
        fixture: &shown.text,
    }
}
