//! `playproof reject [ID...]`: removes waiting goldens, and moves proposals to `rejected`. Accepted files stay.

use crate::changeset::Change;
use crate::command::accept::{ArgumentNames, argument_of_proposal};
use crate::command::propose::stored;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::workspace::Workspace;
use crate::{files, folders, git, pending, reason};
use playproof_analysis::check::CaseId;
use playproof_engine::ids::first_free;
use playproof_formats::shell::Command;

/// What is rejected.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof reject                                every golden that waits
  playproof reject standard/the-worked-refund     one of them
  playproof reject said-no --reason 'too wide'    a proposal: it goes to `rejected`, with the reason beside it

The accepted goldens stay as they are. Rows of a playbook cannot be rejected: undo the edit in its file instead.
All that is named is rejected, or nothing is.

Exit codes: 0 rejected, 2 nothing waits, or something cannot be rejected.")]
pub struct Args {
    /// Runs as PLAYBOOK/FIXTURE, fixtures or proposals [default: every golden that waits]
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,

    /// Why proposals are rejected; kept beside them
    #[arg(long, value_name = "TEXT", value_parser = reason::parse)]
    pub reason: Option<String>,
}

/// Rejects.
///
/// # Errors
/// A name that means nothing or two things; nothing that waits; rows; a proposal without a reason; a file that cannot
/// be removed.
pub fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let project_lock = workspace.project_lock()?;
    let fixtures = workspace.fixture_names()?;
    let waiting = workspace.goldens_that_end_in(".snap.new", &[])?;
    let waiting: Vec<CaseId> = waiting.into_iter().map(|id| with_fixture(id, &fixtures)).collect();
    let named = ArgumentNames::find(&workspace, &args.ids, &waiting)?;
    if let Some(playbook) = named.playbooks.first() {
        return Err(rows_are_edited(&workspace, playbook));
    }
    let is_meant = |id: &CaseId, asked: &String| workspace.names_run(asked, id);
    for asked in &named.runs {
        if !waiting.iter().any(|id| is_meant(id, asked)) {
            named.refuse_decided(&workspace)?;
            return Err(Failure::new(format!("nothing waits for review as `{asked}`")).next("playproof check"));
        }
    }
    let all = args.ids.is_empty();
    let goldens: Vec<CaseId> =
        waiting.into_iter().filter(|id| all || named.runs.iter().any(|asked| is_meant(id, asked))).collect();
    if goldens.is_empty() && named.proposals.is_empty() {
        workspace.refuse_empty()?;
        return Err(Failure::new("nothing waits for review").next("playproof check"));
    }
    let mut changes = pending::rejection(&workspace, &goldens);
    let mut lines: Vec<String> = goldens.iter().map(|id| format!("rejected {id}")).collect();
    match &args.reason {
        Some(_) if named.proposals.is_empty() => return Err(reason_for_no_proposal(&args.ids)),
        reason => {
            for id in &named.proposals {
                let (put_aside, line) = rejected_proposal(&workspace, id, reason.as_deref())?;
                changes.extend(put_aside);
                lines.push(line);
            }
        }
    }
    project_lock.commit(&changes, output)?;
    output.lines(&lines)?;
    Ok(Exit::Clean)
}

fn rows_are_edited(workspace: &Workspace, playbook: &str) -> Failure {
    let file = workspace.playbook_argument(playbook);
    let failure = Failure::new(format!("edited rows cannot be rejected; undo the edit in `{file}`"));
    let failure = failure.help("nothing was changed");
    match git::is_committed(workspace.root(), &workspace.playbook_name(playbook)) {
        true => failure.next(Command::new("git diff HEAD --").path(&file)),
        false => failure.next("playproof check"),
    }
}

fn reason_for_no_proposal(ids: &[String]) -> Failure {
    Failure::new("`--reason` is kept beside a proposal, and none is named")
        .help("a golden is rejected without a reason; nothing was changed")
        .next(Command::new("playproof reject").names(ids))
}

/// What rejecting a proposal changes, and what to say of it: it goes to `rejected/`, with the reason beside it. One that
/// cannot be read can be rejected all the same.
///
/// # Errors
/// No reason; a file that cannot be read.
pub fn rejected_proposal(
    workspace: &Workspace,
    id: &str,
    reason: Option<&str>,
) -> Result<(Vec<Change>, String), Failure> {
    let reason = reason.ok_or_else(|| {
        Failure::new("a proposal is not rejected without a reason")
            .help("the reason is kept with the proposal")
            .next(Command::new("playproof reject").name(&argument_of_proposal(workspace, id)).and("--reason '...'"))
    })?;
    let from = workspace.proposals().join(id);
    let rejected = workspace.proposals().join("rejected");
    // An earlier proposal of that name may have been rejected.
    let to = rejected.join(first_free(id, |id| folders::has_file(&rejected.join(id).join("reason.md"))));
    let mut changes = vec![Change::Create(to.join("reason.md"), format!("{reason}\n").into_bytes())];
    for file in stored::files(&from)? {
        let below = file.strip_prefix(&from).unwrap_or(&file).to_path_buf();
        changes.push(Change::Create(to.join(below), files::bytes(&file)?));
        changes.push(Change::Remove(file));
    }
    Ok((changes, format!("rejected {id}: moved to {}", workspace.here(&to))))
}

/// The id with the fixture that exists: names of fixtures and of playbooks may contain `/`, so the last `/` does not
/// always separate them.
fn with_fixture(id: CaseId, fixtures: &[String]) -> CaseId {
    let whole = id.to_string();
    let split = fixtures.iter().filter_map(|fixture| Some((whole.strip_suffix(fixture)?.strip_suffix('/')?, fixture)));
    let longest = split.max_by_key(|(_, fixture)| fixture.len());
    longest.map_or(id, |(playbook, fixture)| CaseId { playbook: playbook.to_owned(), fixture: fixture.clone() })
}
