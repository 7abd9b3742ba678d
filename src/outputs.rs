//! Files that people name for output: what they may replace, and how they are written. A file in the project is written
//! as a change of the project; any other file through links.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::boundary::Boundary;
use super::changeset::{Change, ProjectLock};
use super::exit::Failure;
use super::folders::Taken;
use super::output::Output;
use super::project::{self, Project};
use super::{files, folders, workspace};
use playproof_formats::shell::Command;

/// How many first bytes identify a file.
const LOOKED_AT: u64 = 64 << 10;

/// Refuses an output that is one of the inputs, by any name: writing would destroy the input.
///
/// # Errors
/// It is one.
pub fn refuse_input<'a>(output: &str, inputs: impl IntoIterator<Item = &'a str>) -> Result<(), Failure> {
    match inputs.into_iter().find(|input| *input != files::STDIN && files::is_same(output, input)) {
        None => Ok(()),
        Some(_) => Err(Failure::new(format!("`{output}` is an input: it would be overwritten"))
            .help("nothing was written; name another file")),
    }
}

/// Refuses an output without a folder, one that a project would read as its own, and one behind a link in the project:
/// the author of the project would choose what is written.
///
/// # Errors
/// It is one of them.
pub fn refuse(output: &str) -> Result<(), Failure> {
    if let Some((boundary, _, path)) = in_project(output) {
        boundary.writable(&path)?;
    }
    refuse_without_folder(output)?;
    refuse_project_file(output)
}

fn refuse_without_folder(output: &str) -> Result<(), Failure> {
    if output.ends_with(std::path::MAIN_SEPARATOR) || matches!(folders::taken(Path::new(output)), Ok(Taken::Folder)) {
        return Err(Failure::new(format!("`{output}` is a folder, not a file")).help("name a file in it"));
    }
    let folder = Path::new(output).parent().unwrap_or(Path::new(""));
    let name = folder.to_string_lossy();
    let said = match folders::taken(folder)? {
        _ if name.is_empty() => return Ok(()),
        Taken::Folder => return Ok(()),
        Taken::File => return Err(Failure::new(format!("`{name}` is not a folder, so `{output}` cannot be in it"))),
        Taken::Free => format!("there is no folder `{name}` for `{output}`"),
    };
    let help = "nothing was written; make the folder first, or name another one";
    Err(Failure::new(said).help(help).next(Command::new("mkdir -p").path(&name)))
}

/// Refuses a file whose name or place has a meaning in a project.
fn refuse_project_file(path: &str) -> Result<(), Failure> {
    let Some(there) = files::destination(path) else { return Ok(()) };
    let what = match there.file_name().and_then(OsStr::to_str) {
        Some(project::FILE) => "the settings of a project",
        Some(project::MUTANTS) => "a list of accepted mutants",
        _ => return refuse_among_project_files(path),
    };
    Err(would_be(path, what))
}

/// Refuses a file that a project would read as its own: the project around it, or that of the working directory.
///
/// # Errors
/// It is such a file.
pub fn refuse_among_project_files(path: &str) -> Result<(), Failure> {
    let Some(there) = files::destination(path) else { return Ok(()) };
    let around = files::above(&there, project::FILE).and_then(|file| Some(file.parent()?.to_path_buf()));
    let mut roots = around.into_iter().chain([project::root()]);
    let what = roots.find_map(|root| workspace::taken_for(&root, &there));
    what.map_or(Ok(()), |what| Err(would_be(path, what)))
}

fn would_be(path: &str, what: &str) -> Failure {
    Failure::new(format!("`{path}` would be read as {what}")).help("nothing was written; name another place")
}

/// Writes an output, whole or not at all.
///
/// # Errors
/// A path that cannot be written.
pub fn write(path: &str, bytes: &[u8], output: &mut Output) -> Result<(), Failure> {
    match in_project(path) {
        Some((boundary, staging, path)) if folders::is_file_or_free(&path) => {
            ProjectLock::at(&boundary, &staging)?.commit(&[Change::Write(path, bytes.to_vec())], output)
        }
        _ => {
            files::write_atomically(path, bytes)?;
            output.has_done("wrote", path);
            Ok(())
        }
    }
}

/// Whether the output is a file of the project of the working directory, so that a change of the project can hold it.
pub fn is_in_project(output: &str) -> bool {
    in_project(output).is_some_and(|(.., path)| folders::is_file_or_free(&path))
}

/// Whether the output can be read again: a device and a pipe cannot.
pub fn is_kept(output: &str) -> bool {
    folders::has_file(Path::new(output))
}

/// The boundary and staging folder of the project of the working directory, and the path of an output in it; none if the
/// output lies elsewhere.
fn in_project(output: &str) -> Option<(Boundary, PathBuf, PathBuf)> {
    let root = files::upwards(project::FILE)?.parent()?.to_path_buf();
    let path = files::normal(Path::new(output));
    // The reader of an unusable project reports it.
    let project = Project::find().unwrap_or_default();
    path.starts_with(&root).then(|| (project.boundary(&root), workspace::staging(&root, &project), path))
}

/// The first bytes of the file that an output would replace; none if there is no file.
pub fn beginning(output: &str) -> Option<Vec<u8>> {
    files::beginning(output, LOOKED_AT)
}

/// Refuses to replace an existing output unless `is_ours` recognises its first bytes. An empty file, a device and a pipe
/// may always be written.
///
/// # Errors
/// It may not be replaced; the message says that it is no `what`.
pub fn refuse_others(output: &str, what: &str, is_ours: impl Fn(&[u8]) -> bool) -> Result<(), Failure> {
    match beginning(output) {
        Some(beginning) if !beginning.is_empty() && !is_ours(&beginning) => {
            Err(Failure::new(format!("`{output}` exists and is no {what}: it would be overwritten")).help(format!(
                "nothing was written; name another file, or remove this one: `{}`",
                Command::new("rm").path(output)
            )))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_that_is_an_input_by_another_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        files::write_atomically(&path("a"), b"x").unwrap();
        let (a, detour, new) = (path("a"), path("./a"), path("new"));
        assert!(refuse_input(&a, ["-", &*new, &*detour]).is_err());
        assert!(refuse_input(&new, ["-", &*a]).is_ok());
        assert!(refuse_input("-", ["-"]).is_ok());
    }

    #[test]
    fn only_what_is_known_or_empty_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        files::write_atomically(&path("theirs"), b"x").unwrap();
        files::write_atomically(&path("empty"), b"").unwrap();
        assert!(refuse_others(&path("theirs"), "report", |_| false).is_err());
        assert!(refuse_others(&path("theirs"), "report", |start| start == b"x").is_ok());
        for free in ["empty", "none"] {
            assert!(refuse_others(&path(free), "report", |_| false).is_ok(), "{free}");
        }
    }
}
