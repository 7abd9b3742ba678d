//! Refuses inputs and playbooks that are named twice: they would count twice, and standard input can be read once. Reads
//! no input; the project resolves the names of playbooks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::exit::Failure;
use super::files;
use super::flags::Flags;
use super::playbooks::{self, Meant};
use playproof_formats::shell::Command;

/// Placeholder for an unknown file name.
const FILE: &str = "FILE";

/// Refuses an input that is named twice, however its path is written, and more than one use of standard input by inputs
/// and `flags`. `again` makes the command with the remaining inputs and flags.
///
/// # Errors
/// There is such an input.
pub fn refuse_inputs(
    inputs: &[String],
    flags: &Flags,
    again: impl Fn(&[&str], &Flags) -> Command,
) -> Result<(), Failure> {
    refuse(inputs, "its calls would count twice", |input| Ok(file(input)), |once| again(once, flags))?;
    let wanted = flags.of_stdin() + inputs.iter().filter(|input| *input == files::STDIN).count();
    if wanted < 2 {
        return Ok(());
    }
    // No input is named twice here, so a flag is among them; the last one keeps standard input.
    let inputs = inputs.iter().map(|input| if input == files::STDIN { FILE } else { input.as_str() });
    let inputs: Vec<&str> = inputs.collect();
    let times = if wanted == 2 { "twice".to_owned() } else { format!("{wanted} times") };
    Err(Failure::new(format!("standard input is named {times}, and can be read once"))
        .help("name a file for all but one of them")
        .next(again(&inputs, &flags.with_stdin_once(FILE))))
}

/// Refuses a playbook that is named twice, by name or path. `again` makes the command with the remaining ones.
///
/// # Errors
/// There is such a playbook; an unknown name; an unusable project.
pub fn refuse_playbooks(named: &[String], again: impl Fn(&[&str]) -> Command) -> Result<(), Failure> {
    if named.len() < 2 {
        return Ok(());
    }
    let file_of = |name: &String| match playbooks::meant(name)? {
        Meant::File(path) if path != Path::new(files::STDIN) => Ok(Some(real(&path))),
        Meant::File(_) | Meant::Embedded(_) => Ok(None),
    };
    refuse(named, "it would be shown twice", file_of, again)
}

fn refuse(
    named: &[String],
    why: &str,
    file_of: impl Fn(&String) -> Result<Option<PathBuf>, Failure>,
    again: impl Fn(&[&str]) -> Command,
) -> Result<(), Failure> {
    let mut first: BTreeMap<PathBuf, &str> = BTreeMap::new();
    let (mut once, mut twice) = (Vec::new(), None);
    for name in named {
        let file = file_of(name)?.unwrap_or_else(|| PathBuf::from(name));
        match first.get(&file) {
            Some(before) => twice = twice.or(Some((*before, name))),
            None => {
                first.insert(file, name);
                once.push(name.as_str());
            }
        }
    }
    let Some((before, name)) = twice else { return Ok(()) };
    let said = match (name == files::STDIN, before == name) {
        (true, _) => "standard input is named twice, and can be read once".to_owned(),
        (_, true) => format!("`{name}` is named twice: {why}"),
        (_, false) => format!("`{name}` and `{before}` are the same file: {why}"),
    };
    Err(Failure::new(said).next(again(&once)))
}

/// The real path of an input; none if it is no file, or does not exist.
fn file(input: &str) -> Option<PathBuf> {
    if input == files::STDIN { None } else { files::real(Path::new(input)) }
}

fn real(path: &Path) -> PathBuf {
    files::real(path).unwrap_or_else(|| path.to_path_buf())
}
