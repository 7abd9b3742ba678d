//! From the text of a playbook to the plan that a dispatcher drives.

use std::fmt;

use playproof_engine::plan::Plan;
use playproof_engine::playbook::Tools;
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::playbook::{self, tools};

/// Why a text is no plan: every mistake with its place.
#[derive(Debug)]
pub struct NoPlan(String);

impl fmt::Display for NoPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoPlan {}

impl From<Report> for NoPlan {
    fn from(report: Report) -> NoPlan {
        NoPlan(report.to_string())
    }
}

/// The plan of a playbook (`playbooks/NAME.yaml`), and of a file of tool facts if the project has one (`tools.yaml`): their
/// texts.
///
/// # Errors
/// Mistakes in the texts; a playbook that is for study.
pub fn plan_of(name: &str, text: &str, facts: Option<&str>) -> Result<Plan, NoPlan> {
    let parsed = playbook::parse(Source::whole(name, text.to_owned()))?.playbook;
    if parsed.study.is_some() {
        return Err(NoPlan(format!("the playbook `{name}` is for study: it does what no dispatcher should do")));
    }
    let facts = match facts {
        Some(facts) => tools::parse(Source::whole("tools", facts.to_owned()))?.tools,
        None => Tools::default(),
    };
    Ok(Plan::new(parsed, &facts))
}
