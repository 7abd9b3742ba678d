//! Finds the files that the inputs of a command name: files, folders and globs; and their names in outputs. Reads no
//! file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::exit::Failure;
use super::output::say;
use super::{files, folders, inputs};
use playproof_formats::diagnostic::counted;
use playproof_intake::origin::Sources;
use playproof_report::text;

/// Endings of files with calls. A folder without such files may hold fixtures.
const TRACES: [&str; 9] =
    [".jsonl", ".json", ".ndjson", ".log", ".jsonl.gz", ".json.gz", ".jsonl.zst", ".json.zst", ".ndjson.gz"];

/// Endings of fixtures.
const FIXTURES: [&str; 2] = [".yaml", ".yml"];

/// Characters that make a path a glob, unless a file has that name.
const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// The formats of the JSON that Playproof writes, by their names. The pages of `graph` name none.
const REPORTS: [&str; 16] = [
    "check",
    "coverage",
    "crashes",
    "history-report",
    "history-verification",
    "impact",
    "lint",
    "mining",
    "mutation",
    "partial",
    "propose-check",
    "rehearsal",
    "replay",
    "same-decisions",
    "seeds",
    "verify",
];

/// What stands before the name of the format: in a document, and in the first of several lines.
const BEFORE_NAME: [&str; 2] = [r#"{"format":""#, r#"{"type":"format","format":""#];

/// How a SARIF file begins.
const SARIF: &str = r#"{"$schema":"https://json.schemastore.org/sarif"#;

/// The inputs of a command.
#[derive(Clone, Debug)]
pub struct InputPaths {
    typed: Vec<String>,
    files: Vec<String>,
    sources: Sources,
}

impl InputPaths {
    /// Finds the files: a folder stands for the traces in it and below, sorted; a glob for the files that it matches.
    /// A file that several of them name counts once. Reports of Playproof that lie beside them are left out, with a
    /// note.
    ///
    /// # Errors
    /// A folder or a glob without files, or with nothing but reports; a folder that cannot be read.
    pub fn find(typed: &[String]) -> Result<InputPaths, Failure> {
        let none = InputPaths { typed: Vec::new(), files: Vec::new(), sources: inputs::sources(&[]) };
        none.and(typed)
    }

    /// The files with these paths, which were read before.
    pub fn read_before(files: Vec<String>) -> InputPaths {
        InputPaths { typed: files.clone(), sources: inputs::sources(&files), files }
    }

    /// With more inputs behind these.
    ///
    /// # Errors
    /// As for [`InputPaths::find`].
    pub fn and(self, more: &[String]) -> Result<InputPaths, Failure> {
        let (mut typed, mut found) = (self.typed, self.files);
        let mut reports = Vec::new();
        for input in more {
            let several =
                if is_folder(input) { in_folder(input, &mut reports)? } else { matching(input, &mut reports)? };
            match several {
                None => found.push(input.clone()),
                Some(several) => {
                    let is_new = |file: &String| !found.iter().any(|known| files::is_same(known, file));
                    let new: Vec<String> = several.into_iter().filter(is_new).collect();
                    found.extend(new);
                }
            }
        }
        if !reports.is_empty() {
            let count = counted(reports.len() as u64, "report", "reports");
            say(&format!("note: {count} of Playproof left out: {}", text::fitted(&reports.join(", "), 200)));
        }
        typed.extend_from_slice(more);
        let sources = inputs::sources(&found);
        Ok(InputPaths { typed, files: found, sources })
    }

    /// The inputs as typed.
    pub fn typed(&self) -> &[String] {
        &self.typed
    }

    /// The inputs in the fewest words, for suggested commands: the folder whose files they are, if they are all that it
    /// stands for.
    pub fn shortest(&self) -> Vec<String> {
        let parents: BTreeSet<_> = self.files.iter().filter_map(|file| Path::new(file).parent()).collect();
        let folder = match (self.typed.len(), parents.first().map(|folder| folder.to_string_lossy())) {
            (2.., Some(folder)) if parents.len() == 1 && !folder.is_empty() => folder.into_owned(),
            _ => return self.typed.clone(),
        };
        let all: BTreeSet<String> = in_folder(&folder, &mut Vec::new()).ok().flatten().into_iter().flatten().collect();
        match all == self.files.iter().cloned().collect() {
            true => vec![folder],
            false => self.typed.clone(),
        }
    }

    /// The files, and `-` for standard input.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The names of the files in outputs, and the origins of their lines, once they are read.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// An input that can be named again; what came through several pipes is gone.
    pub fn again(&self, input: u32) -> Option<&str> {
        let pipes = self.files.iter().filter(|file| *file == files::STDIN).count();
        self.file(input).filter(|_| pipes < 2)
    }

    /// The file of an input by its place.
    pub fn file(&self, input: u32) -> Option<&str> {
        self.files.get(usize::try_from(input).ok()?).map(String::as_str)
    }
}

fn is_folder(input: &str) -> bool {
    input != files::STDIN && folders::has_folder(Path::new(input))
}

/// Whether a file is a report that Playproof wrote.
fn is_report(path: &str) -> bool {
    let Some(start) = files::beginning(path, 64) else { return false };
    let start = String::from_utf8_lossy(&start);
    let mut named = BEFORE_NAME.iter().filter_map(|before| start.strip_prefix(before)?.split_once('/'));
    start.starts_with(SARIF) || named.any(|(name, _)| REPORTS.contains(&name))
}

/// The files without reports, which join `reports`.
///
/// # Errors
/// There are only reports, and no file of `others`.
fn without_reports(
    input: &str,
    found: Vec<String>,
    others: Vec<String>,
    reports: &mut Vec<String>,
) -> Result<Vec<String>, Failure> {
    let (own, wanted): (Vec<String>, Vec<String>) = found.into_iter().partition(|file| is_report(file));
    if wanted.is_empty() && others.is_empty() && !own.is_empty() {
        return Err(Failure::source(input, "only_reports", "there are only reports of Playproof here")
            .help("name a trace, or a report by its own path"));
    }
    reports.extend(own);
    Ok(if wanted.is_empty() { others } else { wanted })
}

/// The recordings, or else the fixtures, in a folder and below. Hidden files and folders are not looked at.
fn in_folder(folder: &str, reports: &mut Vec<String>) -> Result<Option<Vec<String>>, Failure> {
    let is_hidden = |file: &PathBuf| file.iter().any(|part| part.as_encoded_bytes().starts_with(b"."));
    let mut all = folders::files_under(Path::new(folder), "")?;
    all.retain(|file| !is_hidden(file));
    let all = paths_in(folder, &all);
    let with = |endings: &[&str]| -> Vec<String> {
        all.iter().filter(|file| endings.iter().any(|ending| file.ends_with(ending))).cloned().collect()
    };
    let found = without_reports(folder, with(&TRACES), with(&FIXTURES), reports)?;
    if found.is_empty() {
        return Err(Failure::source(folder, "no_files", "there is no trace and no fixture in this folder")
            .help("traces end in `.jsonl`, `.json` or `.log`, perhaps with `.gz` or `.zst`; fixtures end in `.yaml`"));
    }
    Ok(Some(found))
}

/// The files that a glob matches; none for the path of a file.
fn matching(input: &str, reports: &mut Vec<String>) -> Result<Option<Vec<String>>, Failure> {
    let Some(at) = input.find(WILDCARDS).filter(|_| !files::exists(input)) else { return Ok(None) };
    let Ok(glob) = GlobBuilder::new(input).literal_separator(true).build() else { return Ok(None) };
    let (fixed, variable) = input.split_at(at);
    let folder = fixed.rfind('/').and_then(|slash| input.get(..=slash)).unwrap_or("");
    let deepest = if variable.contains("**") { usize::MAX } else { variable.matches('/').count() };
    let matcher: GlobMatcher = glob.compile_matcher();
    let is_match = |file: &Path| matcher.is_match(Path::new(folder).join(file));
    let found = paths_in(folder, &folders::files_within(Path::new(folder), deepest, is_match)?);
    if found.is_empty() {
        return Err(
            Failure::source(input, "no_files", "no file matches").help("`*` stops at a `/`, and `**` crosses it")
        );
    }
    without_reports(input, found, Vec::new(), reports).map(Some)
}

/// Files below a folder, by their paths from where the command runs.
fn paths_in(folder: &str, found: &[PathBuf]) -> Vec<String> {
    found.iter().map(|file| Path::new(folder).join(file).to_string_lossy().into_owned()).collect()
}
