//! `playproof propose list`: lists the waiting proposals with their states.

use super::context::Trials;
use super::stored;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::workspace::Workspace;
use playproof_report::proposal::ProposalList;

/// Lists.
///
/// # Errors
/// A project that cannot be used.
pub fn run(terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let ids = stored::ids(&workspace)?;
    if ids.is_empty() {
        workspace.refuse_empty()?;
        output.page("no proposal waits\nnext: playproof propose new VERDICT")?;
        return Ok(Exit::Clean);
    }
    let trials = Trials::open(&workspace, Threads::default().number())?;
    let mut list = ProposalList::default();
    for id in &ids {
        let Ok(stored) = stored::load(trials.workspace, id) else {
            list.unreadable(id);
            continue;
        };
        let trial = trials.try_out(&stored).ok();
        list.tried(id, &stored.proposal.playbook, trial.as_ref().map(|trial| (&trial.applied, &trial.judged)));
    }
    output.page(&terminal.out.doc(&list.page()))?;
    Ok(Exit::Clean)
}
