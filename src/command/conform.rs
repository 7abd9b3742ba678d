//! `playproof conform FILE...`: runs published cases of other systems, each written as a playbook, on the engine.

use crate::exit::{Exit, Failure};
use crate::files;
use crate::format::formats;
use crate::output::Output;
use crate::terminal::Terminal;
use crate::values::{Permille, permille};
use playproof_analysis::conform::{self, CaseCounts, CaseFile, CaseResult};
use playproof_formats::diagnostic::did_you_mean;
use playproof_formats::shell::Command;
use playproof_formats::text::escape_unprintable;
use playproof_report::conform::{json, page};

formats!(Format: Table = "For people", Json = "One JSON document");

/// The cases, and what is shown of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof conform cases.json
  playproof conform cases.json --show grpc-013        one case as a playbook
  playproof conform cases.json --fail-under 95

Each case is written as a playbook and run on the engine. A case that a playbook cannot say is unsupported.
The files in `tests/conformance` of the repository are examples; `docs/conformance.md` says what a case becomes.
Exit codes: 0 no case failed, 1 one did, or fewer passed than --fail-under, 2 unusable input or no case.")]
pub struct Args {
    /// Files of cases (`retry-case/1`)
    #[arg(value_name = "FILE", required = true)]
    pub inputs: Vec<String>,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Print the playbook of one case, and run nothing. The beginning of its id is enough: `grpc-013`
    #[arg(long, value_name = "ID", conflicts_with_all = ["format", "fail_under"])]
    pub show: Option<String>,

    /// Exit 1 only if fewer percent of the cases pass; unsupported ones do not
    #[arg(long, value_name = "PERCENT", value_parser = permille)]
    pub fail_under: Option<Permille>,
}

/// Runs the cases.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let files: Vec<CaseFile> = args.inputs.iter().map(|input| read(input)).collect::<Result<_, _>>()?;
    if let Some(id) = &args.show {
        return show(&files, id, output);
    }
    let outcomes: Vec<_> = files.iter().flat_map(conform::run_cases).collect();
    match args.format {
        Format::Json => output.json(json(&outcomes))?,
        Format::Table => output.page(&page(&outcomes, terminal.out.width, terminal.out.palette()))?,
    }
    let counts = CaseCounts::of(outcomes.iter().map(|case| case.result));
    let is_good = match args.fail_under {
        Some(Permille(least)) => counts.reach(least as u64),
        None => outcomes.iter().all(|case| case.result != CaseResult::Failed),
    };
    Ok(if is_good { Exit::Clean } else { Exit::Found })
}

fn read(input: &str) -> Result<CaseFile, Failure> {
    let source = files::read_small(input)?;
    conform::read_cases(&source.text).map_err(|error| {
        let message = format!("at {}: {}", escape_unprintable(&error.place), escape_unprintable(&error.message));
        Failure::source(&source.name, "bad_cases", message)
            .help("a file of cases is one JSON object: `schema`, `suite` and `cases`")
            .next("playproof help conform")
    })
}

fn show(files: &[CaseFile], id: &str, output: &mut Output) -> Result<Exit, Failure> {
    let cases = || files.iter().flat_map(|file| &file.cases);
    let begins = |name: &str| name.strip_prefix(id).is_some_and(|rest| rest.starts_with('-'));
    let exact: Vec<_> = cases().filter(|case| case.id == id).take(1).collect();
    let found = if exact.is_empty() { cases().filter(|case| begins(&case.id)).collect() } else { exact };
    let case = match found.as_slice() {
        [case] => *case,
        [] => {
            let near = did_you_mean(id, cases().map(|case| &*case.id));
            let failure = Failure::new(format!("no case is called `{}`", escape_unprintable(id)));
            let help = near.map(|near| format!("did you mean `{}`?", escape_unprintable(near)));
            let failure = help.into_iter().fold(failure, Failure::help);
            return Err(failure.next(Command::new("playproof help conform")));
        }
        several => {
            let names: Vec<_> = several.iter().take(5).map(|case| escape_unprintable(&case.id)).collect();
            let message = format!("{} cases begin with `{}-`", several.len(), escape_unprintable(id));
            let help = format!("such as {}", names.join(", "));
            return Err(Failure::new(message).help(help).next(Command::new("playproof help conform")));
        }
    };
    match conform::playbook_of(case) {
        Ok(playbook) => output.page(playbook.trim_end())?,
        Err(why) => {
            let message = format!("`{}` has no playbook: {}", escape_unprintable(id), escape_unprintable(&why));
            return Err(Failure::new(message).next(Command::new("playproof help conform")));
        }
    }
    Ok(Exit::Clean)
}
