//! The report as one JSON document, `coverage/1`.

use crate::json::{Object, document};
use playproof_explore::coverage::{CoverageReport, Suggestion, TargetKind, TargetResult, TargetState};
use playproof_formats::diagnostic::Source;

/// The document; `source` is the playbook's text, for the lines of its parts.
pub fn json(report: &CoverageReport, source: &Source) -> String {
    let (covered, coverable) = report.tally(None);
    // Edges and steps have a group only where there are some.
    let has_some = |group: TargetKind| report.targets.iter().any(|result| result.target.kind() == group);
    let group = |group: TargetKind| {
        let (covered, coverable) = report.tally(Some(group));
        Object::default().with("group", group.as_str()).with("covered", covered).with("coverable", coverable)
    };
    let suggestion = |one: &Suggestion| {
        Object::default().with("name", &one.name).with("adds", ids(report, &one.adds)).with("text", &one.text)
    };
    let is_rare = |group: TargetKind| matches!(group, TargetKind::Edges | TargetKind::Steps);
    let groups = TargetKind::ALL.into_iter().filter(|group| !is_rare(*group) || has_some(*group));
    let goals = report.targets.iter().map(|result| target(result, report, source));
    document(
        &Object::document("coverage/1")
            .with("playbook", &report.playbook)
            .with("fixtures", &report.fixtures)
            .with("covered", covered)
            .with("coverable", coverable)
            .with("permille", report.permille())
            .with("groups", groups.map(group).collect::<Vec<_>>())
            .with("goals", goals.collect::<Vec<_>>())
            .with("suggestions", report.suggestions.iter().map(suggestion).collect::<Vec<_>>()),
    )
}

fn target(result: &TargetResult, report: &CoverageReport, source: &Source) -> Object {
    let said = Object::default().with("id", &result.id).with("group", result.target.kind().as_str());
    let said = match &result.state {
        TargetState::Covered(by) => {
            let names = by.iter().filter_map(|&place| report.fixtures.get(place));
            said.with("state", "covered").with("by", names.collect::<Vec<_>>())
        }
        TargetState::Unreachable(why) => said.with("state", "unreachable").with("why", why),
        TargetState::Reachable(place) => {
            let suggestion = report.suggestions.get(*place).map(|suggestion| &suggestion.name);
            said.with("state", "reachable").maybe("suggestion", suggestion)
        }
        TargetState::Undecided => said.with("state", "undecided"),
    };
    said.maybe("line", result.place.as_ref().map(|place| source.place(place.start).0))
}

fn ids<'r>(report: &'r CoverageReport, places: &[usize]) -> Vec<&'r str> {
    places.iter().filter_map(|&place| report.targets.get(place)).map(|result| result.id.as_str()).collect()
}
