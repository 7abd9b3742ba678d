//! What a file that a command writes may replace: nothing that people, or other programs, made. Writes nothing.

use super::exit::Failure;
use super::files;
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
