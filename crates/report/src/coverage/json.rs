//! The report as one JSON document, `coverage/1`.

use serde::Serialize;

use crate::json::document;
use playproof_explore::coverage::{CoverageReport, TargetKind, TargetResult, TargetState};
use playproof_formats::diagnostic::Source;

#[derive(Serialize)]
struct ReportJson<'a> {
    format: &'static str,
    playbook: &'a str,
    fixtures: &'a [String],
    covered: usize,
    coverable: usize,
    permille: usize,
    groups: Vec<GroupJson>,
    goals: Vec<TargetJson<'a>>,
    suggestions: Vec<SuggestionJson<'a>>,
}

#[derive(Serialize)]
struct GroupJson {
    group: &'static str,
    covered: usize,
    coverable: usize,
}

#[derive(Serialize)]
struct TargetJson<'a> {
    id: &'a str,
    group: &'static str,
    #[serde(flatten)]
    state: StateJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
}

#[derive(Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum StateJson<'a> {
    Covered {
        by: Vec<&'a str>,
    },
    Unreachable {
        why: &'a str,
    },
    Reachable {
        #[serde(skip_serializing_if = "Option::is_none")]
        suggestion: Option<&'a str>,
    },
    Undecided,
}

#[derive(Serialize)]
struct SuggestionJson<'a> {
    name: &'a str,
    adds: Vec<&'a str>,
    text: &'a str,
}

/// The document; `source` is the playbook's text, for the lines of its parts.
pub fn json(report: &CoverageReport, source: &Source) -> String {
    let (covered, coverable) = report.tally(None);
    // Edges and steps have a group only where there are some.
    let has_some = |group: TargetKind| report.targets.iter().any(|result| result.target.kind() == group);
    let group = |group: TargetKind| {
        let (covered, coverable) = report.tally(Some(group));
        GroupJson { group: group.as_str(), covered, coverable }
    };
    let suggestions = report.suggestions.iter().map(|suggestion| SuggestionJson {
        name: &suggestion.name,
        adds: ids(report, &suggestion.adds),
        text: &suggestion.text,
    });
    let is_rare = |group: TargetKind| matches!(group, TargetKind::Edges | TargetKind::Steps);
    let groups = TargetKind::ALL.into_iter().filter(|group| !is_rare(*group) || has_some(*group));
    document(&ReportJson {
        format: "coverage/1",
        playbook: &report.playbook,
        fixtures: &report.fixtures,
        covered,
        coverable,
        permille: report.permille(),
        groups: groups.map(group).collect(),
        goals: report.targets.iter().map(|result| target(result, report, source)).collect(),
        suggestions: suggestions.collect(),
    })
}

fn target<'a>(result: &'a TargetResult, report: &'a CoverageReport, source: &Source) -> TargetJson<'a> {
    let state = match &result.state {
        TargetState::Covered(by) => {
            let names = by.iter().filter_map(|&place| report.fixtures.get(place));
            StateJson::Covered { by: names.map(String::as_str).collect() }
        }
        TargetState::Unreachable(why) => StateJson::Unreachable { why },
        TargetState::Reachable(place) => {
            let suggestion = report.suggestions.get(*place).map(|suggestion| suggestion.name.as_str());
            StateJson::Reachable { suggestion }
        }
        TargetState::Undecided => StateJson::Undecided,
    };
    let line = result.place.as_ref().map(|place| source.place(place.start).0);
    TargetJson { id: &result.id, group: result.target.kind().as_str(), state, line }
}

fn ids<'r>(report: &'r CoverageReport, places: &[usize]) -> Vec<&'r str> {
    places.iter().filter_map(|&place| report.targets.get(place)).map(|result| result.id.as_str()).collect()
}
