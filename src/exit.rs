//! Exit codes, and failures with the command to run next. Prints nothing.

use std::io::{self, ErrorKind};
use std::process::ExitCode;

use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::shell::Command;

/// An exit code (`playproof help exit-codes`).
///
/// An interrupt (Ctrl-C) is left to the system, but while a key is awaited: the process ends by the signal, which shells
/// report as 130.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// No problem.
    Clean,
    /// Inconclusive: a limit was hit, or a doubt under `--strict`.
    Inconclusive,
    /// An `unsafe` finding, a divergence, a lint warning.
    Found,
    /// Wrong usage, or input that cannot be used.
    Unusable,
    /// A bug of the program.
    Bug,
    /// Ctrl-C where a key was awaited; shells use the same number.
    Interrupted,
    /// The reader of the output went away (`| head`); shells use the same number.
    PipeClosed,
    /// That of another program, which was run.
    Program(u8),
}

impl Exit {
    /// The number.
    pub const fn number(self) -> u8 {
        match self {
            Exit::Clean => 0,
            Exit::Found => 1,
            Exit::Unusable => 2,
            Exit::Inconclusive => 3,
            Exit::Bug => 70,
            Exit::Interrupted => 130,
            Exit::PipeClosed => 141,
            Exit::Program(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.number())
    }
}

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// A message with help and the command to run next.
    Message {
        /// The problem: lowercase, user text in backticks.
        message: String,
        /// The remedy.
        help: Option<String>,
        /// The command to run next.
        next: Option<Command>,
        /// A misspelt word of the command line, and its probable correction.
        typo: Option<Box<(String, String)>>,
    },
    /// Errors with their places in sources.
    Reports {
        /// Never empty.
        reports: Vec<Report>,
        /// The command to run next.
        next: Option<Command>,
    },
    /// The reader of the output went away.
    PipeClosed,
}

/// The id of the error that too many lines of an input were skipped.
pub const MOSTLY_SKIPPED: &str = "mostly_skipped";

/// The id of the error that a drafted mapping reads a recording wrong.
pub const DOUBTFUL_DRAFT: &str = "doubtful_draft";

impl Failure {
    /// The exit code of this failure.
    pub fn exit(&self) -> Exit {
        let is_inconclusive =
            |report: &Report| report.diagnostics.iter().all(|said| [MOSTLY_SKIPPED, DOUBTFUL_DRAFT].contains(&said.id));
        match self {
            Failure::PipeClosed => Exit::PipeClosed,
            Failure::Reports { reports, .. } if reports.iter().all(is_inconclusive) => Exit::Inconclusive,
            Failure::Message { .. } | Failure::Reports { .. } => Exit::Unusable,
        }
    }

    /// A failure with a message.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::Message { message: message.into(), help: None, next: None, typo: None }
    }

    /// A failure of a whole source.
    pub fn source(name: &str, id: &'static str, message: impl Into<String>) -> Failure {
        Failure::from(Report::one(Source::whole(name, ""), Diagnostic::error(id, message)))
    }

    /// The same, with a help text.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Failure {
        match &mut self {
            Failure::Message { help, .. } => *help = Some(text.into()),
            Failure::Reports { reports, .. } => {
                if let Some(last) = reports.last_mut().and_then(|report| report.diagnostics.last_mut()) {
                    last.help = Some(text.into());
                }
            }
            Failure::PipeClosed => {}
        }
        self
    }

    /// The same, with one more help text.
    #[must_use]
    pub fn and_help(self, text: &str) -> Failure {
        let last = |reports: &[Report]| reports.last()?.diagnostics.last()?.help.clone();
        let said = match &self {
            Failure::Reports { reports, .. } => last(reports),
            Failure::Message { help, .. } => help.clone(),
            Failure::PipeClosed => None,
        };
        let joined = |said: String| format!("{said}{} {text}", if said.ends_with('?') { "" } else { ";" });
        self.help(said.map_or_else(|| text.to_owned(), joined))
    }

    /// The same of a command that had changed files before it failed: what says that nothing was changed speaks of the
    /// rest.
    #[must_use]
    pub fn beside_changes(self) -> Failure {
        let of_the_rest = |help: &mut Option<String>| {
            *help = help.take().map(|help| help.replace("nothing was ", "nothing else was "));
        };
        let mut failure = self;
        match &mut failure {
            Failure::Message { help, .. } => of_the_rest(help),
            Failure::Reports { reports, .. } => {
                let said = reports.iter_mut().flat_map(|report| &mut report.diagnostics);
                said.for_each(|said| of_the_rest(&mut said.help));
            }
            Failure::PipeClosed => {}
        }
        failure
    }

    /// The same, with the command to run next.
    #[must_use]
    pub fn next(mut self, command: impl Into<Command>) -> Failure {
        match &mut self {
            Failure::Message { next, .. } | Failure::Reports { next, .. } => *next = Some(command.into()),
            Failure::PipeClosed => {}
        }
        self
    }

    /// Both failures as one, with the first command to run next.
    #[must_use]
    pub fn and(self, other: Failure) -> Failure {
        let ((mut reports, next), (more, later)) = (self.into_reports(), other.into_reports());
        reports.extend(more);
        Failure::Reports { reports, next: next.or(later) }
    }

    /// Its reports, and the command to run next. A message is a report of a source without a name.
    pub fn into_reports(self) -> (Vec<Report>, Option<Command>) {
        match self {
            Failure::Reports { reports, next } => (reports, next),
            Failure::Message { message, help, next, .. } => {
                let said = Diagnostic { help, ..Diagnostic::error("input", message) };
                (vec![Report::one(Source::whole("", ""), said)], next)
            }
            Failure::PipeClosed => (Vec::new(), None),
        }
    }

    /// The same; `meant` was probably meant by the word `typed` of the command line, which is suggested with it.
    #[must_use]
    pub fn typo(self, typed: &str, meant: &str) -> Failure {
        let mut failure = self.help(format!("did you mean `{meant}`?"));
        if let Failure::Message { typo, .. } = &mut failure {
            *typo = Some(Box::new((typed.to_owned(), meant.to_owned())));
        }
        failure
    }

    /// The same; if `near` was probably meant, with that suggestion and `command` for it.
    #[must_use]
    pub fn near(self, near: Option<&str>, command: &'static str) -> Failure {
        match near {
            Some(near) => self.help(format!("did you mean `{near}`?")).next(Command::new(command).name(near)),
            None => self,
        }
    }
}

impl From<Report> for Failure {
    fn from(report: Report) -> Failure {
        Failure::Reports { reports: vec![report], next: None }
    }
}

/// An error of the system in plain words.
pub fn describe_io(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_lowercase()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_codes_are_those_of_the_documentation() {
        let all = [Exit::Clean, Exit::Found, Exit::Unusable, Exit::Inconclusive, Exit::Bug, Exit::PipeClosed];
        assert_eq!(all.map(Exit::number), [0, 1, 2, 3, 70, 141]);
    }

    #[test]
    fn more_help_stands_behind_a_question_or_a_semicolon() {
        let help = |first: &str| match Failure::new("m").help(first).and_help("go on") {
            Failure::Message { help, .. } => help.unwrap_or_default(),
            _ => String::new(),
        };
        assert_eq!((help("did you mean `x`?"), help("stop")), ("did you mean `x`? go on".into(), "stop; go on".into()));
    }

    #[test]
    fn the_worst_of_several_ends_is_the_greatest() {
        assert_eq!([Exit::Inconclusive, Exit::Found, Exit::Clean].into_iter().max(), Some(Exit::Found));
    }
}
