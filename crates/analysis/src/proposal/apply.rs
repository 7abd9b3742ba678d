//! Applies a proposal to a playbook's text. The result is parsed like any other playbook, so that the trial and the
//! written file agree.

use std::sync::Arc;

use super::edit::{EditError, edit};
use super::model::{OperationKind, Proposal};
use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::golden::{RowChange, changes, merge_conflict};
use playproof_formats::playbook;
use playproof_formats::playbook::{Loaded, PlaybookRow, rows};

/// A playbook with the change in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The playbook with its text.
    pub loaded: Loaded,
    /// The rows that change, by name.
    pub rows: Vec<RowChange>,
}

/// Applies a proposal.
///
/// # Errors
/// A playbook that cannot be read; a step that does not fit it, with its place; an invalid result.
pub fn apply(source: &Arc<Source>, proposal: &Proposal) -> Result<Applied, Report> {
    if let Some(said) = merge_conflict(&source.text) {
        return Err(Report::one(Arc::clone(source), said.help("resolve it first; nothing was changed")));
    }
    let before = playbook::parse(Arc::clone(source))?;
    let mut text = Arc::clone(source);
    for operation in &proposal.operations {
        let edited = edit(&text, operation).map_err(|refusal| match refusal {
            EditError::Step(said) => Report::one(Arc::clone(&proposal.source), said),
            EditError::Text(said) => Report::one(Arc::clone(&text), said),
        })?;
        text = Source::whole(format!("{} (as proposed)", source.name), edited);
    }
    let loaded = playbook::parse(Arc::clone(&text))?;
    let (old, new) = (rows(&before.playbook), rows(&loaded.playbook));
    let changed = row_changes(&old, &new);
    if let Some(spilled) = changed.iter().find(|change| !is_meant(proposal, change)) {
        let said = format!("the edit would change `{}` too, which the proposal does not name", spilled.name);
        let at = loaded.places.row(&loaded.playbook, &spilled.name, "").unwrap_or(0..0);
        return Err(Report::one(text, Diagnostic::error("edit_by_hand", said).at(at, "this row would change")));
    }
    Ok(Applied { loaded, rows: changed })
}

fn row_changes(before: &[PlaybookRow], after: &[PlaybookRow]) -> Vec<RowChange> {
    let mut locked = playproof_formats::golden::Lock::default();
    locked.approve("", before.iter().map(|row| (&*row.name, &*row.text)), "");
    changes(locked.playbooks.get(""), after.iter().map(|row| (&*row.name, &*row.text)))
}

/// Whether an operation names the changed row, or only the order of rules changes.
fn is_meant(proposal: &Proposal, change: &RowChange) -> bool {
    let names = |what: &OperationKind| match what {
        OperationKind::AddVerdict(name, _)
        | OperationKind::ChangeVerdict(name, _)
        | OperationKind::RemoveVerdict(name) => {
            format!("verdict {}", name.text)
        }
        OperationKind::AddRule(name, ..) | OperationKind::MoveRule(name, _) | OperationKind::RemoveRule(name) => {
            format!("rule {}", name.text)
        }
        OperationKind::AddQueue(name) => format!("queue {}", name.text),
        OperationKind::ChangeLimit(name, _) => format!("limit {}", name.text),
    };
    is_order_alone(change) || proposal.operations.iter().any(|operation| names(&operation.what) == change.name)
}

/// Whether only the order of a rule changes.
pub fn is_order_alone(change: &RowChange) -> bool {
    change.name.starts_with("rule ")
        && change.before.is_some()
        && change.after.is_some()
        && change.parts().iter().all(|part| part.path == "after")
}
