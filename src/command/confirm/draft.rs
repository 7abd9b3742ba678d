//! `playproof confirm LOG --draft`: a new tool facts file in which each guess has its mark.

use super::args::Args;
use super::seen::SeenTools;
use crate::exit::{Exit, Failure};
use crate::input_paths::InputPaths;
use crate::output::{Output, to_stderr};
use crate::project::Project;
use crate::{files, outputs};
use playproof_formats::shell::Command;
use playproof_intake::tool_facts::render;

/// Writes the draft.
pub fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let paths = InputPaths::find(&args.inputs)?;
    let target = args.output.as_deref().filter(|path| *path != files::STDOUT);
    if let Some(path) = target {
        outputs::refuse(path)?;
        outputs::refuse_input(path, paths.files().iter().map(String::as_str).chain(args.reading.map.as_deref()))?;
        refuse_facts(path, args)?;
    }
    let seen = SeenTools::read(&paths, &args.reading, &Project::find()?)?;
    let text = render(&seen.logs, seen.tools());
    match target {
        None => output.page(&text)?,
        Some(path) => {
            outputs::write(path, text.as_bytes(), output)?;
            if outputs::is_kept(path) {
                let confirm = Command::new("playproof confirm").paths(&args.inputs).flag("--tools", path);
                to_stderr(&format!(
                    "correct the guesses and take their marks away, or answer them\nnext: {}\n",
                    args.flags.reading(&[]).after(confirm)
                ));
            }
        }
    }
    Ok(Exit::Clean)
}

/// What is there holds what people confirmed, and a draft would take that back.
fn refuse_facts(path: &str, args: &Args) -> Result<(), Failure> {
    outputs::refuse_others(path, "draft", |_| false).map_err(|_| {
        let confirm = Command::new("playproof confirm").paths(&args.inputs).flag("--tools", path);
        Failure::new(format!("`{path}` is there already: the facts that people confirmed in it would be overwritten"))
            .help("nothing was written; `--tools` adds the answers about its missing tools")
            .next(args.flags.reading(&[]).after(confirm))
    })
}
