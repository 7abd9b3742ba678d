//! `playproof feedback list`: what is kept, and what of it is answered by now.

use std::collections::BTreeMap;

use crate::cli::exit::{Exit, Failure};
use crate::cli::format::Format;
use crate::cli::kept;
use crate::cli::output::Output;
use crate::cli::project::Project;
use crate::cli::terminal::Terminal;
use crate::cli::workspace::{Used, Workspace};
use crate::report::feedback::{Shown, json, page};
use crate::report::style::Palette;

/// How it is listed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
}

/// Lists.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let (project, workspace) = (Project::find()?, Workspace::open()?);
    let ids = workspace.feedback_ids()?;
    if ids.is_empty() {
        return Err(
            Failure::said("no feedback is kept yet").next("playproof feedback add TRACE --call REF --note '...'")
        );
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
    let shown: Vec<Shown<'_>> =
        all.iter().map(|(kept, state, now)| Shown { kept, state: *state, now: now.as_deref() }).collect();
    match args.format {
        Format::Table => output.page(&page(&shown, terminal.out.width, Palette::new(terminal.out.colour)))?,
        Format::Json => output.page(&json(&shown))?,
    }
    Ok(Exit::Clean)
}
