//! `playproof feedback add`: keeps one call with its slice, redacted; both files or none.

use std::path::Path;

use crate::changeset::Change;
use crate::command::explain;
use crate::command::explain::Search;
use crate::exit::{Exit, Failure};
use crate::flags::Given;
use crate::output::Output;
use crate::project::Project;
use crate::read_options::ReadOptions;
use crate::skipped::without_skipping;
use crate::verdicts::refuse_misspelt;
use crate::workspace::Workspace;
use crate::{files, folders, inputs, playbooks, reason};
use playproof_analysis::explain::{InRun, Subject};
use playproof_analysis::feedback;
use playproof_analysis::feedback::{CameFrom, Ending, Feedback, MOST_SHARING, NotCut, OtherCalls, Slice};
use playproof_engine::sim::Plan;
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::shell::Command;
use playproof_report::feedback::expectation;
use playproof_report::text::{count, counted};
use playproof_trace::call::CompletedCall;
use playproof_trace::redact::RedactionRules;

/// The arguments of `feedback add`, with the flags that were typed.
pub type Args = Given<Options>;

/// What is kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The slice holds the call with all its attempts, and at most 20 earlier calls of its run with the same intent (same tool
and same key or arguments) or the same reversal token: other calls do not change what a playbook does with it. If the
playbook lets calls share keys, permits, budgets or breakers, the slice holds the calls of the dispatcher (in most traces:
of the run), at most 1,000; a call that needs more is not kept. Text that the project redacts is taken out; nothing is kept if the playbook would then decide otherwise. You can keep a call that
succeeded too, such as one that made its effect twice; it has no failure, so it takes no --expected.

Exit codes: 0 kept, or kept already, 2 wrong usage, or nothing that can be kept.")]
pub struct Options {
    /// A trace, or a foreign recording
    #[arg(value_name = "TRACE")]
    pub input: String,

    /// The call: a reference such as `r1#3` (run and number), or its own id
    #[arg(long, value_name = "REF|ID")]
    pub call: Option<String>,

    /// What is wrong with how the playbook handles it
    #[arg(long, value_name = "TEXT", value_parser = reason::parse)]
    pub note: Option<String>,

    /// The verdict that its failure should have: one of the playbook's, or a new one
    #[arg(long, value_name = "VERDICT")]
    pub expected: Option<String>,

    /// The expected verdict is meant to be new, although the playbook has one of a similar name
    #[arg(long, requires = "expected")]
    pub new: bool,

    /// The playbook: a name (of `playbooks/`, else embedded) or a path [default: the project's, or standard]
    #[arg(short, long, value_name = "P")]
    pub playbook: Option<String>,

    /// Tool facts; they win over the playbook's, and are kept with the call
    #[arg(long, value_name = "FILE")]
    pub tools: Option<String>,

    /// How to read a foreign recording that is not recognised
    #[arg(long, value_name = "FILE")]
    pub map: Option<String>,
}

/// The call that is meant.
struct Found {
    call: Box<CompletedCall>,
    /// What it is called on the command line.
    name: String,
    /// Its line in the user's own file.
    line: u64,
    /// What the calls of its run make of it.
    in_run: InRun,
    /// The other calls that its slice may hold.
    others: OtherCalls,
}

/// Keeps a call.
pub fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let note = note(args)?;
    refuse_input(&args.input)?;
    let (project, workspace) = (Project::find()?, Workspace::open()?);
    let project_lock = workspace.project_lock()?;
    let (name, used) = workspace.playbook(args.playbook.as_deref())?;
    let playbook = workspace.lasting_name(&name, &used)?;
    let tools = playbooks::facts_said(args.tools.as_deref(), &project)?;
    let plan = Plan::new(used.loaded.playbook.clone(), &tools);
    if let Some(expected) = &args.expected {
        refuse_misspelt(expected, args.new, &plan.playbook, &name)?;
    }
    let about = find(args, &plan, &project.redaction)?;
    let slice = Slice::cut(&plan, &about.call, &about.in_run, &about.others, &project.redaction)
        .map_err(|why| not_cut(args, &about, why))?;
    let call = about.call.shown();
    if args.expected.is_some() && slice.ending.failed.is_none() {
        return Err(Failure::new(format!("no attempt of `{}` failed, so that it has no verdict", call.reference()))
            .help("leave out `--expected`: a note may be kept of any call")
            .next(again(args)));
    }
    if let Some(failed) = &slice.ending.failed
        && args.expected.as_ref() == Some(&failed.verdict)
    {
        return Err(Failure::new(format!(
            "`{name}` gives `{}` the verdict `{}` already",
            call.reference(),
            failed.verdict
        ))
        .help("nothing was kept; leave out `--expected` if something else of how it was handled is wrong")
        .next(again(args)));
    }
    let id = slice.id(call, &playbook);
    let feedback = Feedback {
        note: note.to_owned(),
        playbook,
        call: slice.reference.clone(),
        expected: args.expected.clone(),
        closed: None,
        facts: args.tools.as_ref().map(|_| plan.facts(about.call.raw().tool())).filter(|facts| facts.declared),
        came_from: CameFrom {
            trace: Path::new(&args.input)
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            call: call.reference(),
            line: about.line,
        },
        before: slice.ending.clone(),
    };
    let (file, trace) = (workspace.feedback_path(&id, "yaml"), workspace.feedback_path(&id, "jsonl"));
    if folders::has_file(&file) {
        return kept_already(&workspace, &id, &feedback, output);
    }
    let changes = [
        Change::Write(trace.clone(), slice.text.clone().into_bytes()),
        Change::Write(file.clone(), feedback.render().into_bytes()),
    ];
    project_lock.commit(&changes, output)?;
    let run = call.run().map_or_else(|| "a run without a name".to_owned(), |run| format!("run {run}"));
    let run = call.dispatcher().filter(|_| plan.shares_state).map_or(run, |name| format!("dispatcher {name}"));
    let calls = counted(slice.calls as u64, "call", "calls");
    let lines = [
        format!("kept as {id}"),
        format!("  {}: {}", workspace.here(&file), expectation(&feedback, &plan.playbook, &name)),
        format!("  {}: {calls} of {run}", workspace.here(&trace)),
        format!("next: {}", show(&id)),
    ];
    output.lines(&lines)?;
    Ok(Exit::Clean)
}

fn note(args: &Args) -> Result<&str, Failure> {
    let note = args.note.as_deref();
    let expected = args.flags.only(&["--expected", "--new"]);
    note.ok_or_else(|| {
        Failure::new("a call is not kept without a note")
            .help("say what was wrong with how it was handled; the author of a later playbook change reads it")
            .next(expected.after(again(args).and("--note '...'")))
    })
}

fn refuse_input(input: &str) -> Result<(), Failure> {
    if inputs::is_fixture(input) {
        return Err(Failure::new(format!("`{input}` is a fixture; feedback is kept of recorded calls"))
            .help("what a fixture should show stands in its `expect`")
            .next(Command::new("playproof check").path(input)));
    }
    match input == files::STDIN {
        true => Err(Failure::new("the trace is read twice: name a file, not standard input")
            .next("playproof feedback add trace.jsonl --call REF --note '...'")),
        false => Ok(()),
    }
}

/// The command as it was typed, without its expected verdict.
fn again(args: &Args) -> Command {
    args.flags.without(&["--expected", "--new"]).after(Command::new("playproof feedback add").path(&args.input))
}

fn show(id: &str) -> Command {
    Command::new("playproof feedback show").name(id)
}

/// The call, and what of its input belongs to its slice.
fn find(args: &Args, plan: &Plan, redaction: &RedactionRules) -> Result<Found, Failure> {
    let reading = ReadOptions::plain(args.map.clone());
    let search = Search {
        call_flag: Some("--call"),
        command: "playproof feedback add",
        flags: args.flags.without(&["--call"]),
        inputs: std::slice::from_ref(&args.input),
        wanted: args.call.as_deref(),
        reading: &reading,
        beyond: MissingAnswerPolicy::Unanswered,
        pace: None,
        redaction,
    };
    let Subject::Recorded { call, recorded, sources, .. } =
        explain::find(&search, plan).map_err(without_skipping)?.subject
    else {
        return Err(Failure::new(format!("`{}` is no recording", args.input)));
    };
    let input = inputs::trace(&args.input, &reading.reading()?, redaction)?;
    let others = OtherCalls::of(input, reading.options(), redaction, call.raw(), plan.shares_state)?;
    let (name, line) =
        (sources.name_of(&call.shown().reference(), call.shown().place), sources.of(call.raw().place).line);
    Ok(Found { call, name, line, in_run: recorded.in_run, others })
}

fn not_cut(args: &Args, about: &Found, why: NotCut) -> Failure {
    let explain = Command::new("playproof explain").path(&args.input).name(&about.name);
    let flags = [("--playbook", &args.playbook), ("--tools", &args.tools), ("--map", &args.map)];
    let explain = flags.into_iter().fold(explain, |command, (flag, value)| command.flag_if(flag, value.as_deref()));
    match why {
        NotCut::Unreadable(error) => Failure::from(error),
        NotCut::NotAlone { left_out: 1.. } => {
            let said =
                format!("the call `{}` shares state with too many others to be kept", about.call.shown().reference());
            let most = count(MOST_SHARING as u64);
            Failure::new(said)
                .help(format!(
                    "a slice holds at most {most} other calls of a dispatcher, and does not replay as the trace does"
                ))
                .next(explain)
        }
        NotCut::NotAlone { left_out: 0 } => {
            Failure::new(format!("the call `{}` cannot be cut out of its trace", about.call.shown().reference()))
                .help("its lines alone do not replay as the whole trace does; please report this with the trace")
                .next(explain)
        }
        NotCut::Redacted { wanted, got } => changed_by_redaction(&wanted, got.as_deref()).next(explain),
    }
}

fn changed_by_redaction(wanted: &Ending, got: Option<&Ending>) -> Failure {
    let said = |ending: Option<&Ending>| {
        let verdict = ending.and_then(|ending| ending.failed.as_ref()).map_or("no verdict", |failed| &failed.verdict);
        let outcome = ending.map_or("nothing", |ending| &ending.outcome);
        format!("`{verdict}` and {outcome}")
    };
    let rule = wanted.failed.as_ref().map_or("otherwise", |failed| &failed.rule);
    Failure::new(format!(
        "redaction changes what the playbook makes of this call: {} become {}",
        said(Some(wanted)),
        said(got)
    ))
    .help(format!("nothing was kept; the rule `{rule}` asks for text that `redaction` in playproof.yaml takes out"))
}

fn kept_already(workspace: &Workspace, id: &str, new: &Feedback, output: &mut Output) -> Result<Exit, Failure> {
    let old = feedback::parse(workspace.read(&workspace.feedback_path(id, "yaml"))?)?.0;
    if old.note == new.note && old.expected == new.expected {
        output.lines(&[format!("kept already, as {id}; nothing was changed"), format!("next: {}", show(id))])?;
        return Ok(Exit::Clean);
    }
    Err(Failure::new(format!("this call is kept already, as `{id}`, with another note or expected verdict"))
        .help(format!(
            "nothing was changed; to change both: {}",
            Command::new("playproof feedback edit").name(id).and("--note '...' --expected VERDICT")
        ))
        .next(show(id)))
}
