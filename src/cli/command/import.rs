//! `playproof import FILE`: a foreign recording as lines of our own trace format, with an account of what is lost.

use crate::cli::exit::{Exit, Failure};
use crate::cli::files;
use crate::cli::flags::Flags;
use crate::cli::inputs;
use crate::cli::output::{Output, to_stderr};
use crate::cli::outputs;
use crate::cli::terminal::Terminal;
use crate::report::style::Palette;
use crate::report::text;
use crate::trace::own;

/// What is imported.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Built in and recognised: OpenAI chat messages, tau-bench results, tau2-bench results. For anything else that is JSON
or JSON Lines, write a mapping file: `playproof schema mapping` prints its schema.

Examples:
  playproof import results.json -o trace.jsonl
  playproof import our.log --map our.mapping.yaml | playproof replay -")]
pub struct Args {
    /// The recording, also gzip or zstd; `-` is standard input
    #[arg(value_name = "FILE")]
    pub input: String,

    /// How to read it, where it is not recognised
    #[arg(short, long, value_name = "FILE")]
    pub map: Option<String>,

    /// With --map: count lines that are no JSON instead of stopping at the first
    #[arg(long)]
    pub skip_invalid: bool,

    /// A recording without calls is no error
    #[arg(long)]
    pub allow_empty: bool,

    /// Where to write the trace; replaces a trace, and no other file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
}

/// Imports.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let target = args.output.as_deref().filter(|path| *path != files::STDOUT);
    if let Some(path) = target {
        outputs::refuse_input(path, [&*args.input].into_iter().chain(args.map.as_deref()))?;
        outputs::refuse_others(path, "trace", own::is_ours)?;
    }
    let mapping = args.map.as_deref().map(inputs::mapping).transpose()?;
    let mapping = mapping.map(|mapping| mapping.skipping_invalid(args.skip_invalid));
    let name = files::display_name(&args.input);
    let Some(imported) = inputs::foreign(&args.input, mapping.as_ref())? else {
        return Err(Failure::source(&name, "unknown_format", "this is no recording that is recognised")
            .help("a trace of our own format needs no import; anything else needs a mapping file (`--map`)")
            .next("playproof schema mapping"));
    };
    if imported.loss.calls == 0 && !args.allow_empty {
        return Err(without_calls(args, &name, imported.loss.results));
    }
    match target {
        Some(path) => files::write_atomically(path, &imported.lines)?,
        None => output.write(&imported.lines)?,
    }
    let palette = Palette::new(terminal.err.colour);
    let report = imported.loss.to_string();
    let fitted = |line: &str| {
        let line = text::visible(line);
        let (mark, said) = line.split_at(if line.starts_with("  - ") { 4 } else { 0 });
        text::hanging(mark, said, terminal.err.width)
    };
    let report: Vec<String> = report.lines().flat_map(fitted).collect();
    to_stderr(&format!("{}\n", report.join("\n")));
    if let Some(path) = target {
        to_stderr(&format!("{} playproof replay {}\n", palette.strong("next:"), text::shell_word(path)));
    }
    Ok(Exit::Clean)
}

/// Nothing can be made of a recording without calls, and nobody would look at what is written then.
fn without_calls(args: &Args, name: &str, results: u64) -> Failure {
    let said = match results {
        0 => "it holds no calls".to_owned(),
        results => format!("{}, but no calls", text::counted(results, "result", "results")),
    };
    let help = "a result belongs to a call before it; `--allow-empty` makes a recording without calls no error";
    let flags = Flags::default().with("--map", args.map.as_deref());
    let again = flags.after(&["playproof", "import", &args.input, "--allow-empty"]);
    Failure::source(name, "empty_input", said).help(help).next(again)
}
