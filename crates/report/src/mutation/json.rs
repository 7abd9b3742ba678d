//! The reports as one JSON document, `mutation/1`.

use crate::json::{Object, document};
use playproof_analysis::mutation::{Judgement, MutantResult, MutationReport, RevealingFixture, Stale};

/// The document.
pub fn json(reports: &[MutationReport]) -> String {
    document(&Object::document("mutation/1").with("playbooks", reports.iter().map(report).collect::<Vec<_>>()))
}

fn report(report: &MutationReport) -> Object {
    let stale = |stale: &Stale| Object::default().with("mutant", &stale.mutant).with("why", &stale.why);
    Object::default()
        .with("playbook", &report.playbook)
        .with("fixtures", &report.fixtures)
        .with("runs", report.runs)
        .with("mutants", report.mutants.iter().map(|judged| mutant(judged, report)).collect::<Vec<_>>())
        .with("stale", report.stale.iter().map(stale).collect::<Vec<_>>())
}

fn mutant(judged: &MutantResult, report: &MutationReport) -> Object {
    let said = Object::default().with("id", &judged.id).with("row", &judged.row).with("what", &judged.what);
    match &judged.judgement {
        Judgement::Caught(by) => {
            let names = by.iter().filter_map(|&place| report.fixtures.get(place));
            said.with("judgement", "caught").with("by", names.collect::<Vec<_>>())
        }
        Judgement::NotJudged => said.with("judgement", "not_judged"),
        Judgement::NotShown => said.with("judgement", "no_difference_found"),
        Judgement::Accepted { why, shown_by } => {
            said.with("judgement", "accepted").with("why", why).with("shown_by", shown(shown_by))
        }
        Judgement::Survived { shown_by } => said.with("judgement", "survived").with("shown_by", shown(shown_by)),
    }
}

fn shown(shown: &RevealingFixture) -> Object {
    Object::default().with("name", &shown.name).with("text", &shown.text)
}
