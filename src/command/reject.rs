//! `playproof reject [ID...]`: forgets what waits for review; the goldens stay as they are.

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::pending;
use crate::workspace::Workspace;
use playproof_analysis::check::CaseId;

/// What is rejected.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Runs as PLAYBOOK/FIXTURE, or fixtures [default: everything that waits]
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
}

/// Rejects.
///
/// # Errors
/// Nothing that waits, or a file that cannot be removed.
pub fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let project_lock = workspace.project_lock()?;
    let fixtures = workspace.fixture_names()?;
    let waiting = workspace.goldens_that_end_in(".snap.new", &[])?;
    let waiting: Vec<CaseId> = waiting.into_iter().map(|id| with_fixture(id, &fixtures)).collect();
    let is_meant = |id: &CaseId, asked: &String| workspace.names_run(asked, id);
    for asked in &args.ids {
        if !waiting.iter().any(|id| is_meant(id, asked)) {
            return Err(Failure::new(format!("nothing waits for review as `{asked}`")).next("playproof diff"));
        }
    }
    let meant: Vec<CaseId> = waiting
        .into_iter()
        .filter(|id| args.ids.is_empty() || args.ids.iter().any(|asked| is_meant(id, asked)))
        .collect();
    if meant.is_empty() {
        workspace.refuse_empty()?;
        return Err(Failure::new("nothing waits for review").next("playproof check"));
    }
    pending::reject(&workspace, &project_lock, &meant, output)?;
    let lines: Vec<String> = meant.iter().map(|id| format!("rejected {id}")).collect();
    output.lines(&lines)?;
    Ok(Exit::Clean)
}

/// A fixture may lie in a folder, and a playbook too: of what stands before the last `/`, the fixture that is there says
/// what is whose.
fn with_fixture(id: CaseId, fixtures: &[String]) -> CaseId {
    let whole = id.to_string();
    let split = fixtures.iter().filter_map(|fixture| Some((whole.strip_suffix(fixture)?.strip_suffix('/')?, fixture)));
    let longest = split.max_by_key(|(_, fixture)| fixture.len());
    longest.map_or(id, |(playbook, fixture)| CaseId { playbook: playbook.to_owned(), fixture: fixture.clone() })
}
