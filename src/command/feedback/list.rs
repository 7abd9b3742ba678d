//! `playproof feedback list`: lists the kept calls, and which of them a playbook now handles as expected.

use std::collections::BTreeMap;

use crate::exit::{Exit, Failure};
use crate::feedback_store;
use crate::format::formats;
use crate::output::Output;
use crate::project::Project;
use crate::terminal::Terminal;
use crate::workspace::{Used, Workspace};
use playproof_analysis::feedback::{FeedbackState, JudgedFeedback, OpenFeedback, waiting};
use playproof_formats::shell::Command;
use playproof_report::feedback::{json, page};

formats!(Format: Table = "For people", Json = "One JSON document");

/// How it is listed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also list closed feedback
    #[arg(long)]
    pub all: bool,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
}

/// Lists: open feedback first, then answered, then closed.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let (project, workspace) = (Project::find()?, Workspace::open()?);
    let ids = workspace.feedback_ids()?;
    if ids.is_empty() && args.format == Format::Table {
        output.page("no feedback is kept\nnext: playproof feedback add TRACE --call REF --note '...'")?;
        return Ok(Exit::Clean);
    }
    let mut playbooks: BTreeMap<String, Used> = BTreeMap::new();
    let mut all = Vec::new();
    for id in &ids {
        let kept = feedback_store::load(&workspace, &project.redaction, id)?;
        let name = &kept.feedback.playbook;
        if !playbooks.contains_key(name) {
            playbooks.insert(name.clone(), feedback_store::playbook(&workspace, &kept)?);
        }
        let Some(used) = playbooks.get(name) else { continue };
        let plan = kept.plan(&used.loaded.playbook, workspace.tools());
        all.push(JudgedFeedback::of(kept, &plan));
    }
    all.sort_by_key(|judged| judged.state); // stable
    let kept = all.len();
    all.retain(|judged| args.all || judged.state != FeedbackState::Closed);
    match args.format {
        Format::Json => output.json(json(&all))?,
        Format::Table => {
            let palette = terminal.out.palette();
            let mut text = page(&all, kept - all.len(), terminal.out.width, palette);
            if let Some(next) = next(&all) {
                text += &format!("\n{} {}", palette.strong("next:"), next);
            }
            output.page(&text)?;
        }
    }
    Ok(Exit::Clean)
}

/// What the first that is open is waiting for.
fn next(all: &[JudgedFeedback]) -> Option<Command> {
    Some(match waiting(all)? {
        OpenFeedback::Expectation(kept) => {
            Command::new("playproof feedback edit").name(&kept.id).and("--expected VERDICT")
        }
        OpenFeedback::Change(kept) => Command::new("playproof feedback show").name(&kept.id),
    })
}
