//! `playproof formats convert FILE`: converts a foreign recording into a trace, and reports what is lost.

use crate::duplicate_args;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::flags::Given;
use crate::inputs;
use crate::inputs::Shape;
use crate::output::{Output, to_stderr};
use crate::outputs;
use crate::project::Project;
use crate::read_options::ReadOptions;
use crate::skipped::refuse_mostly_skipped;
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::values::whole;
use playproof_formats::shell::Command;
use playproof_intake::assemble::AssembleOptions;
use playproof_intake::import;
use playproof_intake::imported::{ImportWarning, Imported, WarningCount};
use playproof_intake::input::TraceInput;
use playproof_intake::redact::RedactionRules;
use playproof_report::text;

/// The arguments of `formats convert`, with the flags that were typed.
pub type Args = Given<Options>;

/// What is converted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
`playproof formats` lists the formats that are recognised. For anything else that is JSON or JSON Lines, write a
mapping file: `playproof schema mapping` prints its schema.

Examples:
  playproof formats convert results.json -o trace.jsonl
  playproof formats convert our.log --map our.mapping.yaml | playproof replay -

Exit codes: 0 written, 2 unusable input or usage, 3 more lines skipped than read.")]
pub struct Options {
    /// The recording, also gzip or zstd; `-` is standard input
    #[arg(value_name = "FILE")]
    pub input: String,

    /// The mapping file, for a recording that is not recognised or for what is different in one that is
    #[arg(short, long, value_name = "FILE")]
    pub map: Option<String>,

    /// The format of the recording, if it is not recognised or several fit (`playproof formats` lists them)
    #[arg(long = "as", value_name = "FORMAT")]
    pub read_as: Option<String>,

    /// Count rows that are too large, and with --map lines that are not JSON, instead of stopping at the first
    #[arg(long)]
    pub skip_invalid: bool,

    /// Skip at most this many lines; exit with 3 if there are more [default: as many as are read]
    #[arg(long, value_name = "N", requires = "skip_invalid", value_parser = whole::<u64>(0..=u64::MAX))]
    pub allow_skipped: Option<u64>,

    /// Accept a recording without calls
    #[arg(long)]
    pub allow_empty: bool,

    /// Where to write the trace; replaces an earlier one of the same recording, and no other file [default: standard
    /// output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,

    /// Replace any trace
    #[arg(long, requires = "output")]
    pub replace: bool,
}

/// Converts.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    duplicate_args::refuse_inputs(
        std::slice::from_ref(&args.input),
        &args.flags.without(&["--output"]),
        |input, flags| {
            flags.after(Command::new("playproof formats convert").paths(input).flag_if("-o", args.output.as_deref()))
        },
    )?;
    let target = args.output.as_deref().filter(|path| *path != files::STDOUT);
    if let Some(path) = target {
        outputs::refuse(path)?;
        outputs::refuse_input(path, [&*args.input].into_iter().chain(args.map.as_deref()))?;
        outputs::refuse_others(path, "trace", import::is_own_format)?;
    }
    let redaction = Project::find()?.redaction;
    let reading = ReadOptions { skip_invalid: args.skip_invalid, ..ReadOptions::plain(args.map.clone()) };
    let reading = ReadOptions { allow_skipped: args.allow_skipped, read_as: args.read_as.clone(), ..reading }
        .reading(Threads::default())?;
    let name = files::display_name(&args.input);
    let Some(mut imported) = inputs::foreign(&args.input, &reading, args.skip_invalid, &redaction)? else {
        return Err(not_foreign(&args.input, &name));
    };
    let (skipped, read) = imported.loss.skipped_and_read();
    refuse_mostly_skipped(&name, skipped, read, args.allow_skipped)?;
    if imported.loss.calls == 0 && !args.allow_empty {
        return Err(without_calls(args, &name, imported.loss.results));
    }
    pair(&name, &mut imported)?;
    let Imported { lines, loss, .. } = imported;
    let lines = redaction.lines(lines);
    if let Some(path) = target {
        refuse_other_trace(args, path, &lines)?;
    }
    match target {
        Some(path) => outputs::write(path, &lines, output)?,
        None => output.json(&lines)?,
    }
    let palette = terminal.err.palette();
    let report = loss.to_string();
    let fitted = |line: &str| {
        let line = text::escape_unprintable(line);
        let (mark, said) = line.split_at(if line.starts_with("  - ") { 4 } else { 0 });
        text::hanging(mark, said, terminal.err.width)
    };
    let report: Vec<String> = report.lines().flat_map(fitted).collect();
    to_stderr(&format!("{}\n", report.join("\n")));
    if let Some(path) = target.filter(|path| outputs::is_kept(path)) {
        let next = Command::new("playproof replay").path(path);
        to_stderr(&format!("{} {next}\n", palette.strong("next:")));
    }
    Ok(Exit::Clean)
}

/// Refuses to replace a trace whose beginning differs from the import: it is another recording. An earlier import of the
/// same recording, also of a part of it, has the same beginning.
fn refuse_other_trace(args: &Args, path: &str, lines: &[u8]) -> Result<(), Failure> {
    let there = outputs::beginning(path).unwrap_or_default();
    let first = lines.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    let seen = first.len().min(there.len());
    if args.replace || there.is_empty() || (seen > 0 && first.get(..seen) == there.get(..seen)) {
        return Ok(());
    }
    let flags = &args.flags;
    Err(Failure::new(format!("`{path}` is there already, and is no trace of this recording: it would be overwritten"))
        .help("nothing was written; name another file, or say `--replace` if it may go")
        .next(flags.after(Command::new("playproof formats convert").path(&args.input).and("--replace"))))
}

/// Counts what finds no partner, as `replay` will: a mapping pairs nothing itself.
fn pair(name: &str, imported: &mut Imported) -> Result<(), Failure> {
    let input = TraceInput::own(name, imported.lines.as_slice());
    let ledger = input.each_call(0, AssembleOptions::default(), &RedactionRules::default(), &|_| true, drop)?;
    imported.loss.unanswered = ledger.unanswered;
    if ledger.orphans > 0 {
        let orphans = WarningCount { count: ledger.orphans, first: String::new() };
        imported.loss.warnings.insert(ImportWarning::ResultWithoutCall, orphans);
    }
    Ok(())
}

/// The failure of an input that is no foreign recording.
fn not_foreign(path: &str, name: &str) -> Failure {
    if path != files::STDIN && matches!(inputs::shape(path), Ok(Shape::Known)) {
        return Failure::source(name, "own_format", "this is a trace of our own format: it needs no conversion")
            .next(Command::new("playproof replay").path(path));
    }
    let help = match name.ends_with(".yaml") || name.ends_with(".yml") {
        true => crate::input_kind::YAML_RECORDINGS,
        false => "a trace of our own format needs no conversion; anything else needs a mapping file (`--map`)",
    };
    Failure::source(name, "unknown_format", "this is no recording that is recognised")
        .help(help)
        .next("playproof schema mapping")
}

/// The failure of a recording without calls: an empty trace is of no use.
fn without_calls(args: &Args, name: &str, results: u64) -> Failure {
    let said = match results {
        0 => "it holds no calls".to_owned(),
        results => format!("{}, but no calls", text::counted(results, "result", "results")),
    };
    let help = "a result belongs to a call before it; `--allow-empty` makes a recording without calls no error";
    let flags = &args.flags;
    let again = flags.after(Command::new("playproof formats convert").path(&args.input).and("--allow-empty"));
    Failure::source(name, "empty_input", said).help(help).next(again)
}
