//! What people type in place of a command or a flag that Playproof has. Only suggests: a suggestion is a command that parses.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use playproof_formats::shell::Command;

/// Words, and what they mean here; `{}` is the word behind a flag. The first that parses is suggested.
const MEANT: [(&str, &str); 50] = [
    ("run", "replay"),
    ("simulate", "replay"),
    ("rehearse", "replay"),
    ("analyze", "replay"),
    ("analyse", "replay"),
    ("test", "check"),
    ("diff", "check"),
    ("feedback", "propose keep"),
    ("validate", "lint"),
    ("prove", "verify"),
    ("update", "accept"),
    ("approve", "accept"),
    ("bless", "accept"),
    ("new", "init"),
    ("create", "init"),
    ("import", "formats convert"),
    ("map", "formats try"),
    ("mine", "propose find"),
    ("mutate", "coverage --mutate"),
    ("tools", "confirm"),
    ("start", "serve"),
    ("show", "explain"),
    ("why", "explain"),
    ("convert", "formats convert"),
    ("version", "--version"),
    ("--json", "--format json"),
    ("-f", "--format {}"),
    ("--output", "--format {}"),
    ("--output", "--report html={}"),
    ("-o", "--format {}"),
    ("-o", "--report html={}"),
    ("--html", "--report html={}"),
    ("--html", "--report html=report.html"),
    ("--junit", "--report junit={}"),
    ("--sarif", "--report sarif={}"),
    ("--update", "--accept --reason WHY"),
    ("--fix", "--accept --reason WHY"),
    ("--update", ""),
    ("--facts", "--tools {}"),
    ("--mapping", "--map {}"),
    ("--filter", "--only {}"),
    ("--why", "--reason {}"),
    ("--message", "--reason {}"),
    ("-m", "--reason {}"),
    ("--no-color", "--color never"),
    ("--verbose", ""),
    ("-v", ""),
    ("--quiet", ""),
    ("-q", ""),
    ("--all", ""),
];

/// The command that a word names elsewhere.
pub fn command_word(typed: &str) -> Option<&'static str> {
    MEANT.iter().find(|(word, _)| *word == typed).map(|(_, meant)| *meant)
}

/// The command that was probably meant, if clap knows no such word and what it means parses.
pub fn command(error: &clap::Error, args: &[OsString], parses: impl Fn(&[OsString]) -> bool) -> Option<Command> {
    let kind = match error.kind() {
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        _ => return None,
    };
    let Some(ContextValue::String(typed)) = error.get(kind) else { return None };
    let at = args.iter().position(|arg| arg == typed.as_str())?;
    let of_word = MEANT.iter().filter(|(word, _)| word == typed);
    let all = of_word.filter_map(|(_, meant)| replaced(args, at, meant));
    let found = all.into_iter().find(|words| parses(words))?;
    let words = found.iter().skip(1).map(|word| word.to_string_lossy());
    Some(words.fold(Command::new("playproof"), |command, word| command.given(&word)))
}

/// The arguments with other words in the place of one.
fn replaced(args: &[OsString], at: usize, meant: &str) -> Option<Vec<OsString>> {
    let (before, behind) = args.split_at(at);
    let takes = meant.contains("{}");
    let value = if takes { behind.get(1)?.to_str()? } else { "" };
    let words = meant.split_whitespace().map(|word| word.replace("{}", value).into());
    Some(before.iter().cloned().chain(words).chain(behind.iter().skip(1 + usize::from(takes)).cloned()).collect())
}
