//! `playproof propose list`: the proposals that wait, and how far each is.

use super::desk::Desk;
use super::stored;
use crate::checking;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal::Terminal;
use crate::workspace::Workspace;
use playproof_analysis::proposal::{GateKind, What, given};
use playproof_report::table;
use playproof_report::table::Align;
use playproof_report::text::escape_unprintable;

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
    let desk = Desk::open(&workspace, checking::jobs(None))?;
    let rows: Vec<Vec<String>> = ids.iter().map(|id| row(&desk, id)).collect();
    let header = ["proposal", "playbook", "verdicts", "state", "base"].map(str::to_owned);
    output.page(&table::render(&header, &rows, &[Align::Left; 5], terminal.out.width))?;
    Ok(Exit::Clean)
}

fn row(desk: &Desk<'_>, id: &str) -> Vec<String> {
    let cells =
        |cells: [&str; 4]| [id].into_iter().chain(cells).map(|cell| escape_unprintable(cell).into_owned()).collect();
    let Ok(stored) = stored::load(desk.workspace, id) else {
        return cells(["", "", "cannot be read", ""]);
    };
    let (proposal, playbook) = (&stored.proposal, stored.proposal.playbook.text.as_str());
    let named = proposal.operations.iter().filter_map(|operation| match &operation.what {
        What::AddVerdict(name, _) | What::ChangeVerdict(name, _) | What::RemoveVerdict(name) => {
            Some(name.text.as_str())
        }
        _ => None,
    });
    let mut verdicts: Vec<&str> = named.collect();
    let Ok(tried) = desk.try_out(&stored) else {
        return cells([playbook, &verdicts.join(", "), "does not fit the playbook", ""]);
    };
    let given = given(proposal, &tried.applied.loaded.playbook);
    verdicts.extend(given.into_iter().filter(|verdict| !verdicts.contains(verdict)).collect::<Vec<_>>());
    let gates = &tried.judged.gates;
    let moved = gates.iter().any(|gate| gate.kind == GateKind::BaseMoved);
    let state = match gates.first() {
        None => "ready".to_owned(),
        Some(first) if gates.len() == 1 => first.kind.to_string(),
        Some(first) => format!("{}, and {} more", first.kind, gates.len() - 1),
    };
    cells([playbook, &verdicts.join(", "), &state, if moved { "moved" } else { "as it is" }])
}
