//! The file of one recording: a new one for each process, for its user alone, and the guessed tools file beside it.

#![expect(
    clippy::disallowed_methods,
    reason = "a recording is appended to while it is made, under the time of its start"
)]

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::SystemTime;

use crate::exit::{Failure, describe_io};
use crate::outputs;

/// The file of a recording.
#[derive(Debug)]
pub struct RecordingFile {
    path: PathBuf,
    /// The start of this process, and its number: nothing else of this machine has both.
    pub begun: String,
}

/// The start and the number of this process, as a name.
pub fn begun() -> (String, String) {
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let start = format!("{year:04}-{month:02}-{day:02}T{:02}-{:02}-{:02}Z", rest / 3_600, rest / 60 % 60, rest % 60);
    (start, std::process::id().to_string())
}

/// A number that other processes hardly have.
pub fn seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (now.as_secs() << 20) ^ u64::from(now.subsec_nanos()) ^ (u64::from(std::process::id()) << 16)
}

/// Year, month and day of a day since 1970, by the calendar of four centuries that begins in March.
const fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // since the first of March of the year 0
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153; // from March
    let day = of_year - (153 * month + 2) / 5 + 1;
    let is_next_year = month >= 10;
    let year = year + era * 400;
    if is_next_year { (year + 1, month - 9, day) } else { (year, month + 3, day) }
}

impl RecordingFile {
    /// Where the recording of a server goes, in a folder that is made if it is not there.
    ///
    /// # Errors
    /// The folder cannot be made; a file that the project would read as its own.
    pub fn in_folder(folder: &str, server: &str) -> Result<RecordingFile, Failure> {
        let (start, process) = begun();
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let path = PathBuf::from(folder).join(format!("{start}-{}-{process}.jsonl", plain(server)));
        for file in [path.clone(), path.with_extension("tools.yaml")] {
            outputs::refuse_among_project_files(&file.to_string_lossy())?;
        }
        builder.create(folder).map_err(|error| unusable(folder, &error))?;
        outputs::refuse(&path.to_string_lossy())?;
        Ok(RecordingFile { path, begun: format!("{start}-{process}") })
    }

    /// Makes the file, which must not be there.
    ///
    /// # Errors
    /// It is there, or cannot be made.
    pub fn create(&self) -> Result<WholeLines, Failure> {
        let file = create(&self.path).map_err(|error| unusable(&self.path.to_string_lossy(), &error))?;
        Ok(WholeLines { file, length: 0 })
    }

    /// Removes the file of a connection without calls.
    pub fn remove_if_empty(&self) {
        if self.path.metadata().is_ok_and(|file| file.len() == 0) {
            let _ = std::fs::remove_file(&self.path); // an empty file says the same
        }
    }

    /// Writes the guessed tools file beside it; gives its path.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_guesses(&self, guesses: &str) -> io::Result<String> {
        let path = self.path.with_extension("tools.yaml");
        create(&path)?.write_all(guesses.as_bytes())?;
        Ok(path.to_string_lossy().into_owned())
    }
}

/// A file that has what was written whole, also where the disk is full.
#[derive(Debug)]
pub struct WholeLines {
    file: File,
    length: u64,
}

impl Write for WholeLines {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.file.write_all(lines) {
            let _ = self.file.set_len(self.length); // refused: a torn line stays
            return Err(error);
        }
        self.length += lines.len() as u64;
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file for its user alone.
fn create(path: &PathBuf) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create_new(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A part of a file's name.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(60).collect();
    if name.is_empty() { "server".to_owned() } else { name }
}

fn unusable(path: &str, error: &io::Error) -> Failure {
    Failure::new(format!("`{path}` cannot be used for a recording: {}", describe_io(error)))
        .help("the server was not started")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let known = [(0, (1970, 1, 1)), (59, (1970, 3, 1)), (11_016, (2000, 2, 29)), (20_786, (2026, 11, 29))];
        for (days, expected) in known {
            assert_eq!(date(days), expected);
        }
    }
}
