//! `playproof propose find TRACE...`: clusters the failures that no rule matches, and suggests a rule for each.

use super::playbooks::{Stand, stand};
use crate::exit::{Exit, Failure};
use crate::files;
use crate::flags::Given;
use crate::format::formats;
use crate::input_paths::InputPaths;
use crate::output::Output;
use crate::partial::{self, Maker, Parts, Sums, Whole};
use crate::playbooks;
use crate::project::Project;
use crate::read_options::ReadOptions;
use crate::stream::{Stream, Streamed};
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::values::whole;
use playproof_analysis::mining::{Mined, MinedPart, Miner};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_formats::shell::Command;
use playproof_report::mining::{MiningPage, json, page};

const EXAMPLES: &str = "\
Mines failures that no rule matches (verdict `unclassified`), and failures whose retries were used up (outcome
`exhausted`). A call that ends undetermined is counted and not mined: the recording does not show whether its verdict
helps.

A cluster has the failures with one message template, error kind, status and code. A template has placeholders for
numbers, ids, quoted text and paths, and for a word that has three or more values in otherwise equal messages; upper and
lower case are the same. The most urgent cluster comes first: number of failures times 4 for a write that is not
idempotent, 2 for another write, 1 for a read.

The rule below each cluster was tried on all mined messages: it matches those of the cluster and no others, whatever
their verdict. Nor does it match successful results of the same tools, where a foreign recording has their texts. Choose the verdict, and what follows from it.

Examples:
  playproof propose find trace.jsonl
  playproof propose find traces/*.jsonl.gz --playbook my.yaml --top 30
  playproof propose find results.json --tools tools.yaml --format json

Exit codes: 0 shown, 2 unusable input or usage, 3 more lines skipped than read.";

/// The clusters that are shown by default.
const TOP: u16 = 10;

formats!(Format: Table = "For people", Json = "One JSON document");

/// The arguments of `propose find`, with the flags that were typed.
pub type Args = Given<Options>;

/// The arguments of `propose find`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Traces or foreign recordings: files, folders or globs; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub inputs: Vec<String>,

    /// The playbook: a name (of `playbooks/`, else embedded) or a path [default: the project's, or standard]
    #[arg(short, long, value_name = "P")]
    pub playbook: Option<String>,

    /// Tool facts; they win over the playbook's
    #[arg(long, value_name = "FILE")]
    pub tools: Option<String>,

    /// Show this many clusters
    #[arg(long, value_name = "N", default_value_t = TOP, value_parser = whole::<u16>(1..=1_000))]
    pub top: u16,

    /// Accept an input without calls
    #[arg(long)]
    pub allow_empty: bool,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Write the sums as a file that `playproof merge` adds to others, in place of a page
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    pub partial: Option<String>,

    /// The threads.
    #[command(flatten)]
    pub threads: Threads,

    /// How traces are read.
    #[command(flatten)]
    pub reading: ReadOptions,
}

impl Sums for MinedPart {
    const COMMAND: &'static str = "propose find";

    fn merge(&mut self, later: MinedPart, before: u32) {
        MinedPart::merge(self, later.after_inputs(before));
    }

    fn missed_at_most(&self) -> u64 {
        MinedPart::missed_at_most(self)
    }

    fn remarks(&self) -> Vec<&'static str> {
        let redacted = "Rules are tried on redacted texts: parts have no others.";
        self.is_redacted().then_some(redacted).into_iter().collect()
    }
}

/// Mines.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let paths = &InputPaths::find(&args.inputs)?;
    if let Some(file) = &args.partial {
        partial::refuse(&args.flags, file, paths)?;
    }
    let stream = Stream {
        threads: args.threads,
        allow_empty: Some(args.allow_empty),
        is_part: args.partial.is_some(),
        ..Stream::new("propose find", paths, &args.reading, args.flags.clone())
    };
    let (project, tools) = stream.begin(args.tools.as_deref())?;
    let plans = plans(args, &project, &tools)?;
    let mut sums = MinedPart::default();
    let miner = Miner { sources: paths.sources().clone() };
    let streamed = stream.run(&plans, &miner, &project, terminal, |part| sums.merge(part))?;
    if let Some(file) = &args.partial {
        let sums = sums.redacted(&project.redaction);
        return partial::write(maker(args, &project, &plans), file, paths, streamed, sums, output);
    }
    let Streamed { replayed, notes, unread, .. } = streamed;
    show(args, paths, &plans, Whole { replayed, notes, sums, remarks: Vec::new() }, terminal, output)?;
    unread.map_or(Ok(Exit::Clean), Err)
}

/// Shows the sums of parts, as `propose find` shows those of their traces.
///
/// # Errors
/// The parts cannot be added.
pub fn show_merged(
    args: &Args,
    parts: Parts<MinedPart>,
    terminal: &Terminal,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let project = Project::find()?;
    let tools = playbooks::facts_said(args.tools.as_deref(), &project)?;
    let plans = plans(args, &project, &tools)?;
    let paths = &parts.inputs();
    let whole = parts.add(maker(args, &project, &plans), paths.sources())?;
    show(args, paths, &plans, whole, terminal, output)?;
    Ok(Exit::Clean)
}

fn plans(args: &Args, project: &Project, tools: &Tools) -> Result<[Plan; 1], Failure> {
    let name = playbooks::name(args.playbook.as_deref(), project);
    Ok([Plan::new(playbooks::load(&name)?.playbook, tools)])
}

fn maker<'a>(args: &'a Args, project: &'a Project, plans: &'a [Plan]) -> Maker<'a> {
    Maker { flags: &args.flags, tools: args.tools.as_deref(), project, plans }
}

fn show(
    args: &Args,
    paths: &InputPaths,
    [plan]: &[Plan; 1],
    whole: Whole<MinedPart>,
    terminal: &Terminal,
    output: &mut Output,
) -> Result<(), Failure> {
    let Whole { replayed, notes, sums, remarks } = whole;
    let mined = sums.finish(plan, &replayed, usize::from(args.top));
    let next = next(args, paths, &mined);
    let (mined, replayed, notes, remarks) = (&mined, &replayed, &*notes, &*remarks);
    let shown = MiningPage { mined, replayed, notes, remarks, names: paths.sources(), next: next.as_ref() };
    match args.format {
        Format::Json => output.json(json(&shown)),
        Format::Table => output.page(&terminal.out.doc(&page(&shown))),
    }
}

/// A verdict for the most urgent cluster with a rule, where the project can change the playbook; else what
/// makes it so. Without such a cluster its first example, explained. Nothing for standard input, which is gone.
fn next(args: &Args, paths: &InputPaths, mined: &Mined) -> Option<Command> {
    if args.inputs.iter().any(|input| input == files::STDIN) {
        return None;
    }
    let of_calls = args.flags.reading(&["--playbook", "--tools"]);
    Some(match mined.shown.iter().position(|cluster| cluster.rule.is_ok()) {
        Some(place) => match stand(args.playbook.as_deref()) {
            Stand::Own => {
                let new =
                    Command::new("playproof propose new VERDICT").flag("--from-cluster", &(place + 1).to_string());
                of_calls.after(new.and("--trace").paths(paths.shortest()))
            }
            Stand::AnotherIsOwn => args
                .flags
                .without(&["--playbook"])
                .after(Command::new("playproof propose find").paths(paths.shortest())),
            Stand::NoneIsOwn => {
                let from = |command: Command, input: &String| command.flag("--from", input);
                let init = paths.shortest().iter().fold(Command::new("playproof init"), from);
                init.flag_if("--map", args.reading.map.as_deref())
            }
        },
        None => {
            let example = mined.shown.first()?.examples.first()?;
            let input = paths.file(example.place.input)?;
            let call = paths.sources().name_of(&example.reference, example.place);
            of_calls.after(Command::new("playproof explain").path(input).name(&call))
        }
    })
}
