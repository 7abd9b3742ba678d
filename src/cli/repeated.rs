//! What is named twice on the command line: all that it holds would count twice, and standard input is empty the second
//! time. Reads nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::exit::Failure;
use super::flags::Flags;
use super::{files, playbooks};

/// Refuses an input that is named again, in whatever way its path is written. `again` makes the command of the inputs
/// that are left.
///
/// # Errors
/// There is one; standard input is an input and the value of one of `flags`.
pub fn refuse_inputs(inputs: &[String], flags: &Flags, again: impl Fn(&[&str]) -> String) -> Result<(), Failure> {
    refuse(inputs, "what is in it would count twice", |input| Ok(file(input)), &again)?;
    match inputs.iter().find(|input| *input == files::STDIN && flags.read_stdin()) {
        Some(_) => Err(Failure::said("standard input is wanted twice, and can be read once")
            .help("name a file for one of the two")
            .next(again(&["FILE"]))),
        None => Ok(()),
    }
}

/// Refuses a playbook that is named again, by its name or by a path. `again` makes the command of those that are left.
///
/// # Errors
/// There is one; a project file that cannot be used.
pub fn refuse_playbooks(named: &[String], again: impl Fn(&[&str]) -> String) -> Result<(), Failure> {
    if named.len() < 2 {
        return Ok(());
    }
    let file_of = |name: &String| Ok(playbooks::file(name)?.map(|path| real(&path)));
    refuse(named, "it would be shown twice", file_of, again)
}

fn refuse(
    named: &[String],
    why: &str,
    file_of: impl Fn(&String) -> Result<Option<PathBuf>, Failure>,
    again: impl Fn(&[&str]) -> String,
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
        (_, false) => format!("`{name}` is `{before}`, which is named already: {why}"),
    };
    Err(Failure::said(said).next(again(&once)))
}

/// The file that an input is; none for what is no file, or not there.
fn file(input: &str) -> Option<PathBuf> {
    if input == files::STDIN { None } else { files::real(Path::new(input)) }
}

fn real(path: &Path) -> PathBuf {
    files::real(path).unwrap_or_else(|| path.to_path_buf())
}
