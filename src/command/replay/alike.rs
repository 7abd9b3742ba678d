//! Calls of a fixture beside their runs, with those that it writes as one (`times`) and that went the same way folded into
//! one. Draws nothing.

use super::part::Part;
use playproof_engine::event::Finding;
use playproof_report::block::{self, Alike};
use playproof_report::view::{CallView, RunView};

/// The most names of further calls.
const OTHERS: usize = 4;

/// A call and what became of it, by playbook.
pub struct CallRuns<'a> {
    /// The call in the fixture.
    pub part: &'a Part<'a>,
    /// The call.
    pub view: CallView<'a>,
    /// What became of it.
    pub runs: Vec<RunView<'a>>,
}

/// Neighbours that went the same way, as the first of them: its findings have the greatest counts of all.
pub fn folded<'a>(calls: &[CallRuns<'a>]) -> Vec<(CallView<'a>, Vec<RunView<'a>>, Alike)> {
    calls.chunk_by(are_alike).filter_map(fold).collect()
}

fn are_alike(one: &CallRuns<'_>, other: &CallRuns<'_>) -> bool {
    one.part.is_one_with(other.part) && block::went_alike([one, other].map(|call| (&call.view, call.runs.as_slice())))
}

fn fold<'a>(calls: &[CallRuns<'a>]) -> Option<(CallView<'a>, Vec<RunView<'a>>, Alike)> {
    let (first, rest) = calls.split_first()?;
    let mut runs = first.runs.clone();
    for (n, run) in runs.iter_mut().enumerate() {
        let others = || rest.iter().filter_map(|call| call.runs.get(n)).flat_map(|run| &run.findings);
        for finding in &mut run.findings {
            let same = |other: &&Finding| (other.kind(), other.by) == (finding.kind(), finding.by);
            finding.count = others().filter(same).map(|other| other.count).fold(finding.count, u32::max);
        }
    }
    let others: Vec<String> = rest.iter().take(OTHERS).map(|call| call.view.reference.to_owned()).collect();
    let more = (rest.len() - others.len()) as u64;
    Some((first.view, runs, Alike { others, more, several_intents: !rest.is_empty(), is_mixed: false }))
}
