//! The reports as one JSON document, `mutation/1`.

use serde::Serialize;

use crate::json::document;
use playproof_analysis::mutation::{Judgement, MutantResult, MutationReport, RevealingFixture};

#[derive(Serialize)]
struct ReportsJson<'a> {
    format: &'static str,
    playbooks: Vec<ReportJson<'a>>,
}

#[derive(Serialize)]
struct ReportJson<'a> {
    playbook: &'a str,
    fixtures: &'a [String],
    runs: usize,
    mutants: Vec<MutantJson<'a>>,
    stale: Vec<StaleJson<'a>>,
}

#[derive(Serialize)]
struct MutantJson<'a> {
    id: &'a str,
    row: &'a str,
    what: &'a str,
    #[serde(flatten)]
    judgement: JudgementJson<'a>,
}

#[derive(Serialize)]
#[serde(tag = "judgement", rename_all = "snake_case")]
enum JudgementJson<'a> {
    Caught { by: Vec<&'a str> },
    NotJudged,
    NoDifferenceFound,
    Accepted { why: &'a str, shown_by: ShownJson<'a> },
    Survived { shown_by: ShownJson<'a> },
}

#[derive(Serialize)]
struct ShownJson<'a> {
    name: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct StaleJson<'a> {
    mutant: &'a str,
    why: &'a str,
}

/// The document.
pub fn json(reports: &[MutationReport]) -> String {
    document(&ReportsJson { format: "mutation/1", playbooks: reports.iter().map(report).collect() })
}

fn report(report: &MutationReport) -> ReportJson<'_> {
    let stale = report.stale.iter().map(|stale| StaleJson { mutant: &stale.mutant, why: &stale.why });
    ReportJson {
        playbook: &report.playbook,
        fixtures: &report.fixtures,
        runs: report.runs,
        mutants: report.mutants.iter().map(|judged| mutant(judged, report)).collect(),
        stale: stale.collect(),
    }
}

fn mutant<'a>(judged: &'a MutantResult, report: &'a MutationReport) -> MutantJson<'a> {
    let judgement = match &judged.judgement {
        Judgement::Caught(by) => {
            let names = by.iter().filter_map(|&place| report.fixtures.get(place));
            JudgementJson::Caught { by: names.map(String::as_str).collect() }
        }
        Judgement::NotJudged => JudgementJson::NotJudged,
        Judgement::NotShown => JudgementJson::NoDifferenceFound,
        Judgement::Accepted { why, shown_by } => JudgementJson::Accepted { why, shown_by: shown(shown_by) },
        Judgement::Survived { shown_by } => JudgementJson::Survived { shown_by: shown(shown_by) },
    };
    MutantJson { id: &judged.id, row: &judged.row, what: &judged.what, judgement }
}

fn shown(shown: &RevealingFixture) -> ShownJson<'_> {
    ShownJson { name: &shown.name, text: &shown.text }
}
