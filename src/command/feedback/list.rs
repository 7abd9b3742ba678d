//! `playproof feedback list`: what is kept, and what of it is answered by now.

use std::collections::BTreeMap;

use crate::exit::{Exit, Failure};
use crate::format::Format;
use crate::kept;
use crate::output::Output;
use crate::project::Project;
use crate::terminal::Terminal;
use crate::workspace::{Used, Workspace};
use playproof_analysis::feedback::{Kept, State};
use playproof_formats::shell::Command;
use playproof_report::feedback::{Shown, json, page};
use playproof_report::style::Palette;

/// How it is listed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Those that are closed too
    #[arg(long)]
    pub all: bool,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
}

/// Lists: what is open first, then what is answered, then what is closed.
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
        let kept = kept::load(&workspace, &project.redaction, id)?;
        let name = &kept.feedback.playbook;
        if !playbooks.contains_key(name) {
            playbooks.insert(name.clone(), kept::playbook(&workspace, &kept)?);
        }
        let Some(used) = playbooks.get(name) else { continue };
        let plan = kept.plan(&used.loaded.playbook, workspace.tools());
        let (state, now) = kept.state(&plan);
        all.push((kept, state, now));
    }
    all.sort_by_key(|(_, state, _)| *state); // stable
    let shown: Vec<Shown<'_>> = all
        .iter()
        .filter(|(_, state, _)| args.all || *state != State::Closed)
        .map(|(kept, state, now)| Shown { kept, state: *state, now: now.as_ref() })
        .collect();
    match args.format {
        Format::Table => {
            let palette = Palette::new(terminal.out.colour);
            let mut text = page(&shown, all.len() - shown.len(), terminal.out.width, palette);
            if let Some(next) = next(&shown) {
                text += &format!("\n{} {}", palette.strong("next:"), next);
            }
            output.page(&text)?;
        }
        Format::Json => output.json(json(&shown))?,
    }
    Ok(Exit::Clean)
}

/// The first that is open: what it is waiting for.
fn next(shown: &[Shown<'_>]) -> Option<Command> {
    let open = || shown.iter().filter(|shown| shown.state == State::Open).map(|shown| shown.kept);
    let is_unsaid = |kept: &&Kept| kept.feedback.expected.is_none() && kept.feedback.before.failed.is_some();
    match open().find(is_unsaid) {
        Some(unsaid) => Some(Command::new("playproof feedback edit").name(&unsaid.id).and("--expected VERDICT")),
        None => open().next().map(|first| Command::new("playproof feedback show").name(&first.id)),
    }
}
