//! From arguments to an exit code: parses, dispatches to a command, and prints a failure.

use std::error::Error as _;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;
use clap::error::{ContextValue, ErrorKind};

use super::args::{Cli, ParsedCommand};
use super::command::{
    accept, audit, check, completions, confirm, conform, coverage, demo, explain, formats, graph, help, history,
    impact, init, lint, merge, propose, proxy, reject, replay, review, schema, serve, verify,
};
use super::exit::{Exit, Failure};
use super::failed::{fail, say_next};
use super::files;
use super::manual::{definition, more, plain};
use super::meant;
use super::output::{Output, refused, to_stderr};
use super::panic::install_panic_hook;
use super::project;
use super::skipped;
use super::terminal::{ColorChoice, Terminal};
use super::{values, workspace};
use playproof_formats::shell::Command;
use playproof_formats::text::escape_unprintable;
use playproof_report::style::Palette;

/// Runs the program with `args` (its own name first) and gives its exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    install_panic_hook();
    let args = as_paths(args);
    let terminal = Terminal::detect(colour_asked_for(&args));
    let parsed = match parse(&args, terminal.out.width) {
        Ok(parsed) => parsed,
        Err(error) => {
            let meant = meant::command(&error, &args, |args| parse(args, terminal.out.width).is_ok());
            return usage(&error, &meant.unwrap_or_else(|| help_for(&args)), &terminal).into();
        }
    };
    let mut output = Output::new(terminal.out.colour);
    let ended = begin(&parsed, &args).and_then(|()| dispatch(parsed.command, &terminal, &mut output));
    match ended {
        Ok(exit) => exit.into(),
        Err(failure) => {
            let next = skipped::wanted_allowance(&failure).map(|lines| allowing(lines, &args));
            let next = next.or_else(|| corrected(&failure, &args));
            let done = output.done();
            let failure = if done.is_some() { failure.beside_changes() } else { failure };
            let exit = fail(&project::blamed(failure), &next.unwrap_or_else(|| help_for(&args)), terminal.err);
            if let Some(done) = done {
                to_stderr(&format!("  {} {}\n", terminal.err.palette().strong("note:"), escape_unprintable(&done)));
            }
            exit.into()
        }
    }
}

/// The command with another `--allow-skipped`.
fn allowing(lines: &str, args: &[OsString]) -> Command {
    const FLAG: &str = "--allow-skipped";
    let words: Vec<_> = args.iter().skip(1).map(|arg| arg.to_string_lossy()).collect();
    let is_value =
        |n: usize| n.checked_sub(1).and_then(|before| words.get(before)).is_some_and(|before| before == FLAG);
    let is_kept = |(n, word): &(usize, &std::borrow::Cow<'_, str>)| {
        !is_value(*n) && *word != FLAG && !word.starts_with(&format!("{FLAG}="))
    };
    let kept: Vec<_> = words.iter().enumerate().filter(is_kept).map(|(_, word)| word).collect();
    let end = kept.iter().position(|word| *word == "--").unwrap_or(kept.len());
    let (before, behind) = kept.split_at(end);
    let given = |command: Command, words: &[&std::borrow::Cow<'_, str>]| {
        words.iter().fold(command, |command, word| command.given(word))
    };
    given(given(Command::new("playproof"), before).flag(FLAG, lines), behind)
}

/// The command with its misspelt word corrected; none if the word does not stand alone in it.
fn corrected(failure: &Failure, args: &[OsString]) -> Option<Command> {
    let Failure::Message { typo: Some(typo), .. } = failure else { return None };
    let (typed, meant) = &**typo;
    let corrected = |word: &str| match word.strip_suffix(typed.as_str()) {
        Some("") => Some(meant.clone()),
        Some(flag) if flag.starts_with("--") && flag.ends_with('=') => Some(format!("{flag}{meant}")),
        _ => None,
    };
    let words: Vec<_> = args.iter().skip(1).map(|arg| arg.to_string_lossy()).collect();
    words.iter().any(|word| corrected(word).is_some()).then(|| {
        let meant = words.iter().map(|word| corrected(word).unwrap_or_else(|| word.to_string()));
        meant.fold(Command::new("playproof"), |command, word| command.given(&word))
    })
}

/// Runs before the project is read: refuses paths that lead out of it, and finishes the change of a killed command.
fn begin(cli: &Cli, args: &[OsString]) -> Result<(), Failure> {
    let again = || {
        let words = args.iter().skip(1).map(|arg| arg.to_string_lossy());
        words.fold(Command::new("playproof --allow-outside"), |command, word| command.given(&word))
    };
    match &cli.command {
        ParsedCommand::Demo(_) | ParsedCommand::Schema(_) | ParsedCommand::Completions(_) | ParsedCommand::Help(_) => {
            Ok(())
        }
        ParsedCommand::Init(args) => workspace::begin(&args.root(), cli.allow_outside, again),
        ParsedCommand::Check(args) => {
            workspace::begin_here(cli.allow_outside, again).inspect_err(|failure| args.say_unchecked(failure))
        }
        _ => workspace::begin_here(cli.allow_outside, again),
    }
}

/// The same arguments, with `./` before the names of files that look like flags: whatever is suggested then can be typed.
fn as_paths(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let is_file = |text: &str| text.len() > 1 && text.starts_with('-') && files::exists(text);
    let (mut only_files, mut is_proxy) = (false, false);
    let mut path = |arg: OsString| {
        let Some(text) = arg.to_str() else { return arg };
        let flag = text.split_once('=').filter(|(flag, _)| flag.starts_with("--"));
        match flag {
            _ if only_files && is_proxy => arg, // of another program
            _ if only_files && is_file(text) => format!("./{text}").into(),
            Some((flag, value)) if !only_files && is_file(value) => format!("{flag}=./{value}").into(),
            _ => {
                only_files |= text == "--";
                is_proxy |= text == "proxy";
                arg
            }
        }
    };
    args.into_iter().map(&mut path).collect()
}

/// What was typed. Pages of help are fitted to the width only where one is shown.
fn parse(args: &[OsString], width: usize) -> Result<Cli, clap::Error> {
    parse_with(plain(args), args).or_else(|_| parse_with(definition(width), args))
}

fn parse_with(mut definition: clap::Command, args: &[OsString]) -> Result<Cli, clap::Error> {
    let mut matches =
        definition.try_get_matches_from_mut(args).map_err(values::without_vain_tip).map_err(values::with_new_name)?;
    values::refuse_empty(&mut definition, &matches)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut definition))
}

fn dispatch(command: ParsedCommand, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        ParsedCommand::Init(args) => init::run(&args, terminal, output),
        ParsedCommand::Demo(args) => demo::run(&args, terminal, output),
        ParsedCommand::Replay(args) => replay::run(&args, terminal, output),
        ParsedCommand::Confirm(args) => confirm::run(&args, terminal, output),
        ParsedCommand::Explain(args) => explain::run(&args, terminal, output),
        ParsedCommand::Lint(args) => lint::run(&args, terminal, output),
        ParsedCommand::Check(args) => check::run(&args, terminal, output),
        ParsedCommand::Review(args) => review::run(&args, terminal, output),
        ParsedCommand::Accept(args) => accept::run(&args, terminal, output),
        ParsedCommand::Reject(args) => reject::run(&args, output),
        ParsedCommand::Graph(args) => graph::run(&args, terminal, output),
        ParsedCommand::History(args) => history::run(&args, terminal, output),
        ParsedCommand::Coverage(args) => coverage::run(&args, terminal, output),
        ParsedCommand::Verify(args) => verify::run(&args, terminal, output),
        ParsedCommand::Impact(args) => impact::run(&args, terminal, output),
        ParsedCommand::Propose(args) => propose::run(&args, terminal, output),
        ParsedCommand::Formats(args) => formats::run(&args, terminal, output),
        ParsedCommand::Conform(args) => conform::run(&args, output),
        ParsedCommand::Merge(args) => merge::run(&args, terminal, output),
        ParsedCommand::Serve(args) => serve::run(&args),
        ParsedCommand::Audit(args) => audit::run(&args, output),
        ParsedCommand::Proxy(args) => proxy::run(&args),
        ParsedCommand::Schema(args) => schema::run(&args, output),
        ParsedCommand::Completions(args) => completions::run(&args, &mut definition(completions::WIDTH), output),
        ParsedCommand::Help(args) => help::run(&args, &mut definition(terminal.out.width), more, terminal, output),
    }
}

/// The help of the command that was typed.
fn help_for(args: &[OsString]) -> Command {
    let definition = definition(0);
    let mut command = &definition;
    let mut names = Vec::new();
    for arg in args.iter().skip(1) {
        if let Some(below) = command.get_subcommands().find(|one| *arg == one.get_name()) {
            names.push(below.get_name());
            command = below;
        }
    }
    Command::new("playproof help").names(names)
}

/// Help and version are results; everything else that clap says is wrong usage.
fn usage(error: &clap::Error, help: &Command, terminal: &Terminal) -> Exit {
    let is_result = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let stream = if is_result { terminal.out } else { terminal.err };
    let page = error.render();
    let page = if stream.colour { page.ansi().to_string() } else { page.to_string() };
    let page = typed(error).fold(page, |page, typed| page.replace(&*typed, &escape_unprintable(&typed)));
    if !is_result {
        // What clap says last names no command that could be typed.
        let said = page.rsplit_once("\n\nFor more information").map_or(page.trim_end(), |(said, _)| said);
        to_stderr(&format!("{said}\n\n"));
        say_next(help, Palette::new(stream.colour));
        return Exit::Unusable;
    }
    match Output::new(stream.colour).page(&page) {
        Ok(()) => Exit::Clean,
        Err(failure) => fail(&failure, &"playproof help".into(), terminal.err),
    }
}

/// The typed words in an error of clap.
fn typed(error: &clap::Error) -> impl Iterator<Item = String> {
    let texts = |(_, value): (_, &ContextValue)| match value {
        ContextValue::String(text) => vec![text.clone()],
        ContextValue::Strings(texts) => texts.clone(),
        _ => Vec::new(),
    };
    error.context().flat_map(texts).chain(error.source().map(ToString::to_string))
}

/// `--color`, read by hand because usage errors come before the arguments are parsed.
fn colour_asked_for(args: &[OsString]) -> ColorChoice {
    let words: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    let after_blank = words.windows(2).find(|pair| pair[0] == "--color").map(|pair| pair[1]);
    let after_equals = words.iter().find_map(|word| word.strip_prefix("--color="));
    match after_equals.or(after_blank) {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

impl From<std::io::Error> for Failure {
    /// For writes into memory and to standard output; reads say their path themselves.
    fn from(error: std::io::Error) -> Failure {
        refused(&error)
    }
}
