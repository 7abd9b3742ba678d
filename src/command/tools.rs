//! `playproof tools`: drafts a tool facts file for people to confirm, and removes the marks of what they confirmed.

use std::path::Path;

use crate::changeset::Change;
use crate::exit::{Exit, Failure};
use crate::flags::Given;
use crate::input_paths::InputPaths;
use crate::output::{Output, to_stderr};
use crate::project;
use crate::project::Project;
use crate::read_options::ReadOptions;
use crate::workspace::Workspace;
use crate::{duplicate_args, files, inputs, outputs, playbooks};
use playproof_analysis::replay::Frequent;
use playproof_engine::call::Reply;
use playproof_engine::glob::Glob;
use playproof_formats::playbook::tools::LoadedTools;
use playproof_formats::shell::Command;
use playproof_report::text;
use playproof_trace::tool_facts::{ToolCount, listed, render};
use playproof_trace::tool_hints::{self, HintsByTool};

/// The arguments of `tools`, with the flags that were typed.
pub type Args = Given<Options>;

/// Whose tools.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each `access` is guessed from the tool's name, or from the hints of a tool list in the recording, and marked `# guessed: confirm`. Check it, then remove the mark: a row with
the mark is ignored, and its tool counts as a write that is not idempotent. Rows of this file win over the playbook's
own tool facts. Every row must have `access`; other missing fields keep the playbook's value. In either file, a row
with a tool's exact name wins over a row with a glob.

Examples:
  playproof tools trace.jsonl -o tools.yaml
  playproof replay trace.jsonl --tools tools.yaml
  playproof tools tools.yaml --confirm
  playproof tools --confirm 'get_*'

Exit codes: 0 written, 2 unusable input or usage, 3 more lines skipped than read.")]
pub struct Options {
    /// Traces or foreign recordings: files, folders or globs; `-` is standard input. With `--confirm`: the tool facts file
    #[arg(required_unless_present = "confirm", value_name = "TRACE")]
    pub inputs: Vec<String>,

    /// Where to write the file, which must be new [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,

    /// Remove the marks of the guesses in a tool facts file, or else in the project's, for the rows that GLOB names
    /// [default: all]
    #[arg(long, value_name = "GLOB", num_args = 0..=1, default_missing_value = ALL, conflicts_with = "output")]
    pub confirm: Option<String>,

    /// How the traces are read.
    #[command(flatten)]
    pub reading: ReadOptions,
}

/// The glob of every tool.
const ALL: &str = "**";

/// The most tools that are written. A trace with more probably names a tool anew in each call.
const MOST_TOOLS: usize = 5_000;

/// Drafts, or confirms what was drafted.
pub fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    if let Some(glob) = &args.confirm {
        return match args.inputs.as_slice() {
            [] => confirm_in_project(glob, output),
            [path] => confirm_in(path, glob, output),
            _ => Err(Failure::new("`--confirm` changes one tool facts file at a time")),
        };
    }
    let project = Project::find()?;
    duplicate_args::refuse_inputs(&args.inputs, &args.flags.reading(&[]), |once, flags| {
        flags.after(Command::new("playproof tools").paths(once).flag_if("-o", args.output.as_deref()))
    })?;
    let paths = InputPaths::find(&args.inputs)?;
    let target = args.output.as_deref().filter(|path| *path != files::STDOUT);
    if let Some(path) = target {
        outputs::refuse(path)?;
        outputs::refuse_input(path, paths.files().iter().map(String::as_str).chain(args.reading.map.as_deref()))?;
        refuse_facts(path, args)?;
    }
    let mapping = args.reading.reading()?;
    let mut counts: Frequent<Box<str>, (u64, bool)> = Frequent::new(MOST_TOOLS);
    let mut folded = 0;
    let mut hints = HintsByTool::new();
    for (number, path) in paths.files().iter().enumerate() {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let input = inputs::trace(path, &mapping, &project.redaction)?;
        if let Some(loss) = &input.loss {
            tool_hints::append(&loss.hints, &project.redaction, &mut hints);
        }
        let ledger = input.each_call(number, args.reading.options(), &project.redaction, &|_| true, |closed| {
            let failed = closed.shown().answers.iter().any(|answer| matches!(answer.reply, Reply::Failed(_)));
            let row = counts.row(closed.shown().tool().into(), |_, row| folded += row.count);
            row.count += 1;
            row.value.0 += u64::from(failed);
            row.value.1 = closed.raw().tool() != closed.shown().tool();
        })?;
        args.reading.account_for(&files::display_name(path), &ledger)?;
    }
    let root = project::root();
    let name = |path: &String| files::lasting(&root, &files::display_name(path));
    let names: Vec<String> = paths.files().iter().map(name).collect();
    counts.cut(|_, row| folded += row.count);
    if folded > 0 {
        let calls = text::counted(folded, "call", "calls");
        to_stderr(&format!(
            "note: +{calls} of rarer tools: the {} most frequent tools are written\n",
            text::count(MOST_TOOLS as u64)
        ));
    }
    if counts.rows().next().is_none() {
        return Err(Failure::new(format!("no calls in {}", said(&names)))
            .help("a call is a line with `tool`, or what a mapping (`--map`) makes one of")
            .next("playproof schema trace"));
    }
    let rows = counts.rows().map(|(tool, row)| {
        let (failed, is_redacted) = row.value;
        let hints = hints.get(&**tool).copied().unwrap_or_default();
        ToolCount { tool, is_redacted, calls: row.count, failed, hints }
    });
    let text = render(&said(&names), rows.chain(listed(&hints)));
    match target {
        None => output.page(&text)?,
        Some(path) => {
            outputs::write(path, text.as_bytes(), output)?;
            if outputs::is_kept(path) {
                let replay = Command::new("playproof replay").paths(&args.inputs).flag("--tools", path);
                let confirm = Command::new("playproof tools").path(path).and("--confirm");
                to_stderr(&format!(
                    "read the guesses and correct them, then take the marks away: {confirm}\nnext: {}\n",
                    args.flags.reading(&[]).after(replay)
                ));
            }
        }
    }
    Ok(Exit::Clean)
}

/// Removes the marks of guesses in the project's tool facts file.
fn confirm_in_project(glob: &str, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let lock = workspace.project_lock()?;
    let (Some(path), Some(facts)) = (Project::find()?.tools, workspace.tools_file()?) else {
        return Err(Failure::new("the project names no tool facts file")
            .help("name the file, or write one and name it in `playproof.yaml` as `tools`")
            .next("playproof tools TRACE -o tools.yaml"));
    };
    let (confirmed, text) = confirmed(&facts, glob, &workspace.here(Path::new(&path)))?;
    lock.commit(&[Change::Write(path.into(), text.into_bytes())], output)?;
    said_of(&confirmed, output)
}

/// Removes the marks of guesses in a tool facts file.
fn confirm_in(path: &str, glob: &str, output: &mut Output) -> Result<Exit, Failure> {
    let facts = playbooks::written_facts(path)?;
    let (confirmed, text) = confirmed(&facts, glob, &files::display_name(path))?;
    outputs::write(path, text.as_bytes(), output)?;
    said_of(&confirmed, output)
}

/// The rows that `glob` confirms, and the text without their marks.
fn confirmed<'a>(facts: &'a LoadedTools, glob: &str, path: &str) -> Result<(Vec<&'a str>, String), Failure> {
    let meant = Glob::new(glob).map_err(|why| Failure::new(format!("`{glob}` is no glob: {why}")))?;
    let (confirmed, text) = facts.confirmed(|row| row == glob || meant.is_match(row));
    if confirmed.is_empty() {
        let named = if glob == ALL { String::new() } else { format!(" has a name like `{glob}`") };
        let none = format!("no guess in {path}{named}");
        return Err(Failure::new(none).help("a guess is a row with the mark `# guessed: confirm`"));
    }
    Ok((confirmed, text))
}

fn said_of(confirmed: &[&str], output: &mut Output) -> Result<Exit, Failure> {
    output.lines(&confirmed.iter().map(|row| format!("confirmed {row}")).collect::<Vec<_>>())?;
    Ok(Exit::Clean)
}

/// What is there holds what people confirmed, and a draft would take that back.
fn refuse_facts(path: &str, args: &Args) -> Result<(), Failure> {
    outputs::refuse_others(path, "draft", |_| false).map_err(|_| {
        let tools = args.flags.reading(&[]).after(Command::new("playproof tools").paths(&args.inputs));
        Failure::new(format!("`{path}` is there already: the facts that people confirmed in it would be overwritten"))
            .help("nothing was written; compare it with a new draft and take over what is missing, or remove it first")
            .next(tools.then("|", &Command::new("diff").path(path).and("-")))
    })
}

/// The inputs in one line, however many there are.
fn said(names: &[String]) -> String {
    match names {
        [first, _, _, rest @ ..] if !rest.is_empty() => format!("{first} and {} more", names.len() - 1),
        few => few.join(", "),
    }
}
