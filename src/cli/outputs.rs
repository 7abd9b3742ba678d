//! Files that a command is told to write: what they may replace, and how they are written: as a change of the project
//! where they lie in it, else through links as people mean them.

use std::path::{Path, PathBuf};

use super::boundary::Boundary;
use super::changeset::{Change, ProjectLock};
use super::exit::Failure;
use super::folders::Taken;
use super::output::Output;
use super::project::{self, Project};
use super::{files, folders, workspace};
use crate::shell::Command;

/// How much of a file tells what it is.
const LOOKED_AT: u64 = 64 << 10;

/// Refuses an output that is one of the inputs, by whatever name: it would be gone as soon as it is read.
///
/// # Errors
/// It is one.
pub fn refuse_input<'a>(output: &str, inputs: impl IntoIterator<Item = &'a str>) -> Result<(), Failure> {
    match inputs.into_iter().find(|input| *input != files::STDIN && files::is_same(output, input)) {
        None => Ok(()),
        Some(_) => Err(Failure::said(format!("`{output}` is an input: it would be overwritten"))
            .help("nothing was written; name another file after `-o`")),
    }
}

/// Refuses an output that names a folder, and one in the project that a link stands in the way to: whoever made the
/// project would choose what is written.
///
/// # Errors
/// It is so.
pub fn refuse_place(output: &str) -> Result<(), Failure> {
    if output.ends_with(std::path::MAIN_SEPARATOR) || folders::taken(Path::new(output))? == Taken::Folder {
        return Err(Failure::said(format!("`{output}` is a folder, and a file is written")).help("name a file in it"));
    }
    in_project(output).map_or(Ok(()), |(boundary, _, path)| boundary.writable(&path).map(drop))
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
            folders::make_for(Path::new(path))?;
            files::write_atomically(path, bytes)?;
            output.has_done("wrote", path);
            Ok(())
        }
    }
}

/// Whether what was written can be read again: a device and a pipe give nothing back.
pub fn is_kept(output: &str) -> bool {
    folders::has_file(Path::new(output))
}

/// The project of the working directory, and where in it an output lies; none where it lies elsewhere.
fn in_project(output: &str) -> Option<(Boundary, PathBuf, PathBuf)> {
    let root = files::upwards(project::FILE)?.parent()?.to_path_buf();
    let path = files::normal(Path::new(output));
    // One that cannot be used is told of by whoever reads it.
    let project = Project::find().unwrap_or_default();
    path.starts_with(&root).then(|| (Boundary::new(&root, &project), workspace::staging(&root, &project), path))
}

/// How a file begins that an output would replace; none where there is none.
pub fn beginning(output: &str) -> Option<Vec<u8>> {
    files::beginning(output, LOOKED_AT)
}

/// Refuses an output that is there, and that `is_ours` does not know by its beginning as one that may be replaced. An
/// empty file, a device and a pipe lose nothing.
///
/// # Errors
/// It may not be replaced; `what` it would have to be.
pub fn refuse_others(output: &str, what: &str, is_ours: impl Fn(&[u8]) -> bool) -> Result<(), Failure> {
    match beginning(output) {
        Some(beginning) if !beginning.is_empty() && !is_ours(&beginning) => Err(Failure::said(format!(
            "`{output}` is there already, and is no {what}: it would be overwritten"
        ))
        .help(format!(
            "nothing was written; name another file, or remove this one: `{}`",
            Command::new("rm").path(output)
        ))),
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
