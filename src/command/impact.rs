//! `playproof impact --candidate B TRACE...`: compares two playbooks on recorded calls.

use clap::ValueEnum;

use crate::exit::{Exit, Failure};
use crate::flags::{Flags, Given};
use crate::format::formats;
use crate::input_paths::InputPaths;
use crate::output::Output;
use crate::partial::{self, Maker, Parts, Sums, Whole};
use crate::project::Project;
use crate::read_options::ReadOptions;
use crate::reports::{self, ReportTo};
use crate::stream::{Stream, Streamed};
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::{missing_answer, playbooks, reason};
use playproof_analysis::impact::{Comparer, Impact, ImpactGate, ImpactPart};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Pace, Plan};
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::playbook::fingerprint;
use playproof_formats::shell::Command;
use playproof_report::impact::{ImpactPage, json, page};

const EXAMPLES: &str = "\
Runs every recorded call under both playbooks and compares the two. A cause is the first decision that differs: another
verdict for the same failure, or a changed row of the playbook. Where calls share keys, permits, budgets or breakers, the
first call of a dispatcher that differs is the cause of later ones that differ only in what they share: these follow from it.

  widening    the candidate attempts a write (or redeems a reversal token) where the base does not
  narrowing   the base does, and the candidate does not
  neutral     both attempt as many writes

Calls whose end the recording does not tell (undetermined) are counted apart, never as unchanged; a cause before that
end is still shown. `--beyond-tape` supplies answers where recordings end.

Examples:
  playproof impact --base standard --candidate my.yaml trace.jsonl
  playproof impact --candidate my.yaml trace.jsonl --fail-on widening,effects
  playproof impact -b my-old.yaml -c my.yaml *.jsonl.gz --beyond-tape fail:timeout

Exit codes: 0 clean; 1 what --fail-on names, or an unsafe finding under the candidate only; 2 unusable input or usage,
nothing to compare; 3 with --fail-on nothing was decided, with --strict an undetermined call.";

/// What makes the command fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// The candidate attempts a write that the base does not attempt
    Widening,
    /// An effect claim, a ledger entry or a finding about effects changes
    Effects,
}

formats!(Format: Table = "For people", Json = "One JSON document", Markdown = "For a pull request or a wiki");

/// The arguments of `impact`, with the flags that were typed.
pub type Args = Given<Options>;

/// The arguments of `impact`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Traces or foreign recordings: files, folders or globs; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub inputs: Vec<String>,

    /// The current playbook: a name (of `playbooks/`, else embedded) or a path [default: the project's, or standard]
    #[arg(short, long, value_name = "P")]
    pub base: Option<String>,

    /// The changed playbook
    #[arg(short, long, value_name = "P")]
    pub candidate: String,

    /// Tool facts; they win over those of both playbooks
    #[arg(long, value_name = "FILE")]
    pub tools: Option<String>,

    /// What answers where a recording ends: `ok`, `repeat` (the last answer), `fail:KIND`
    #[arg(long, value_name = "ANSWER", value_parser = missing_answer::parse)]
    pub beyond_tape: Option<MissingAnswerPolicy>,

    /// The seed of the draws that jittered waits need and the recording does not give [default: 0]
    #[arg(long, value_name = "N", value_parser = crate::values::whole::<u64>(0..=u64::MAX))]
    pub seed: Option<u64>,

    /// When a call starts under a playbook whose calls share something: `causal`, as long after the calls that it followed as
    /// recorded, or `recorded`, at its recorded time [default: recorded under the playbook that the trace says decided it,
    /// else causal]
    #[arg(long, value_name = "causal|recorded", value_parser = crate::values::word(&Pace::TABLE))]
    pub pace: Option<Pace>,

    /// Exit with 1 where a call widens or its effects change, and with 3 where no failed call can be decided; for both:
    /// `widening,effects`
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub fail_on: Vec<FailOn>,

    /// Let widening pass, and say why in the result
    #[arg(long, value_name = "REASON", requires = "fail_on", value_parser = reason::parse)]
    pub allow_widening: Option<String>,

    /// Exit with 3 where a call is undetermined
    #[arg(long)]
    pub strict: bool,

    /// Accept an input in which nothing can be compared or decided
    #[arg(long)]
    pub allow_empty: bool,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Write the result as a page for a browser too: one file without scripts
    #[arg(long, value_name = "html=FILE", value_parser = reports::page)]
    pub report: Option<ReportTo>,

    /// Write the sums as a file that `playproof merge` adds to others, in place of a page
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "report", "strict"])]
    pub partial: Option<String>,

    /// The threads.
    #[command(flatten)]
    pub threads: Threads,

    /// How traces are read.
    #[command(flatten)]
    pub reading: ReadOptions,
}

impl Sums for ImpactPart {
    const COMMAND: &'static str = "impact";

    fn merge(&mut self, later: ImpactPart, before: u32) {
        ImpactPart::merge(self, later.after_inputs(before));
    }

    fn missed_at_most(&self) -> u64 {
        ImpactPart::missed_at_most(self)
    }

    fn remarks(&self) -> Vec<&'static str> {
        let cut = "Causes are too many to tell all apart: which ones are depends on the parts.";
        (self.overflow() > 0).then_some(cut).into_iter().collect()
    }
}

/// Compares.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let paths = &InputPaths::find(&args.inputs)?;
    reports::refuse_page(args.report.as_ref(), paths.files())?;
    if let Some(file) = &args.partial {
        partial::refuse(&args.flags, file, paths)?;
    }
    let stream = Stream {
        beyond: args.beyond_tape.clone().unwrap_or_default(),
        pace: args.pace,
        threads: args.threads,
        allow_empty: Some(args.allow_empty),
        is_part: args.partial.is_some(),
        ..Stream::new("impact", paths, &args.reading, args.flags.clone())
    };
    let (project, tools) = stream.begin(args.tools.as_deref())?;
    let (base, plans) = plans(args, &project, &tools)?;
    refuse_equal(args, &base, &plans)?;
    let [mine, theirs] = &plans;
    let watcher = Comparer::new(mine, theirs);
    missing_answer::warn(&stream.beyond, &[mine, theirs]);
    let mut sums = ImpactPart::default();
    let streamed = stream.run(&plans, &watcher, &project, terminal, |part| sums.merge(part))?;
    if let Some(file) = &args.partial {
        return partial::write(maker(args, &project, &plans), file, paths, streamed, sums, output);
    }
    let Streamed { replayed, notes, unread, .. } = streamed;
    let setup = ImpactSetup { args, paths, terminal, base: &base, plans: &plans };
    let exit = setup.show(Whole { replayed, notes, sums, remarks: Vec::new() }, output)?;
    unread.map_or(Ok(exit), Err)
}

/// Shows the sums of parts, as `impact` shows those of their traces.
///
/// # Errors
/// The parts cannot be added.
pub fn show_merged(
    args: &Args,
    parts: Parts<ImpactPart>,
    terminal: &Terminal,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let project = Project::find()?;
    let tools = playbooks::facts_said(args.tools.as_deref(), &project)?;
    let (base, plans) = plans(args, &project, &tools)?;
    refuse_equal(args, &base, &plans)?;
    let paths = &parts.inputs();
    let whole = parts.add(maker(args, &project, &plans), paths.sources())?;
    ImpactSetup { args, paths, terminal, base: &base, plans: &plans }.show(whole, output)
}

/// The name of the base, and both plans, told apart.
fn plans(args: &Args, project: &Project, tools: &Tools) -> Result<(String, [Plan; 2]), Failure> {
    let base = playbooks::name(args.base.as_deref(), project);
    let load = |name: &str| Ok::<Plan, Failure>(Plan::new(playbooks::load(name)?.playbook, tools).with_seed(args.seed));
    let mut plans = [load(&base)?, load(&args.candidate)?];
    playbooks::tell_apart(&mut plans, &[base.clone(), args.candidate.clone()]);
    Ok((base, plans))
}

fn maker<'a>(args: &'a Args, project: &'a Project, plans: &'a [Plan]) -> Maker<'a> {
    Maker { flags: &args.flags, tools: args.tools.as_deref(), project, plans }
}

/// What a comparison is shown with.
struct ImpactSetup<'a> {
    args: &'a Args,
    paths: &'a InputPaths,
    terminal: &'a Terminal,
    base: &'a str,
    plans: &'a [Plan; 2],
}

impl ImpactSetup<'_> {
    /// Writes the page; gives the exit code of the comparison.
    fn show(&self, whole: Whole<ImpactPart>, output: &mut Output) -> Result<Exit, Failure> {
        let ImpactSetup { args, paths, terminal, base, plans: [mine, theirs] } = *self;
        let Whole { replayed, notes, sums, remarks } = whole;
        let impact = Comparer::new(mine, theirs).finish(sums, [mine, theirs], &replayed);
        let gate = gate(args);
        let next = next(args, paths, base, &impact);
        let (impact, replayed, notes, remarks) = (&impact, &replayed, &*notes, &*remarks);
        let shown = ImpactPage { impact, replayed, notes, remarks, gate: &gate, next: next.as_ref() };
        let doc = page(&shown);
        reports::write_page(args.report.as_ref(), || doc.html(), output)?;
        match args.format {
            Format::Markdown => output.page(&doc.markdown())?,
            Format::Json => output.json(json(&shown, paths.sources()))?,
            Format::Table => output.page(&terminal.out.doc(&doc))?,
        }
        Ok(exit(args, &gate, impact))
    }
}

/// Refuses to compare a playbook with itself: that names a wrong file, and a gate would always pass.
fn refuse_equal(args: &Args, base: &str, [mine, theirs]: &[Plan; 2]) -> Result<(), Failure> {
    if args.allow_empty || fingerprint(&mine.playbook) != fingerprint(&theirs.playbook) {
        return Ok(());
    }
    let said = match base == args.candidate {
        true => format!("base and candidate are both `{base}`: there is nothing to compare"),
        false => format!("`{base}` and `{}` are the same but for names and layout: nothing to compare", args.candidate),
    };
    Err(Failure::new(said).help("`--allow-empty` accepts two equal playbooks"))
}

fn gate(args: &Args) -> ImpactGate {
    ImpactGate {
        widening: args.fail_on.contains(&FailOn::Widening),
        effects: args.fail_on.contains(&FailOn::Effects),
        allow_widening: args.allow_widening.clone(),
        allow_empty: args.allow_empty,
    }
}

fn exit(args: &Args, gate: &ImpactGate, impact: &Impact) -> Exit {
    if !gate.judge(impact).is_empty() {
        Exit::Found
    } else if gate.is_undecided(impact) || args.strict && impact.counts.undetermined.calls() > 0 {
        Exit::Inconclusive
    } else {
        Exit::Clean
    }
}

/// The example of the first cause under both playbooks, side by side.
fn next(args: &Args, paths: &InputPaths, base: &str, impact: &Impact) -> Option<Command> {
    let example = impact.causes.first()?.example.as_ref()?;
    let input = paths.again(example.place.input)?;
    let call = paths.sources().name_of(&example.reference, example.place);
    let compared = Flags::default().with("--playbook", Some(base)).with("--playbook", Some(&args.candidate));
    let replay = Command::new("playproof replay").path(input).flag("--call", &call);
    Some(compared.and(args.flags.reading(&["--tools", "--beyond-tape", "--seed", "--pace"])).after(replay))
}
