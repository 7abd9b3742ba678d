//! `playproof propose keep TRACE CALL`: keeps one call with its slice, redacted, and the verdict that it should have; both
//! files or none.

use std::path::Path;

use super::args::Keep;
use super::stored;
use crate::changeset::Change;
use crate::command::explain;
use crate::command::explain::Search;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::project::Project;
use crate::read_options::ReadOptions;
use crate::skipped::without_skipping;
use crate::threads::Threads;
use crate::verdicts::refuse_misspelt;
use crate::workspace::Workspace;
use crate::{files, folders, inputs, playbooks};
use playproof_analysis::explain::{InRun, Subject};
use playproof_analysis::kept;
use playproof_analysis::kept::{CameFrom, Ending, KeptFile, MOST_SHARING, NotCut, OtherCalls, Slice};
use playproof_engine::sim::Plan;
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::shell::Command;
use playproof_intake::call::CompletedCall;
use playproof_intake::redact::RedactionRules;
use playproof_report::text::{count, counted};

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
///
/// # Errors
/// No such call; one that has the verdict already, or in which nothing failed; one whose slice ends differently.
pub fn run(args: &Keep, output: &mut Output) -> Result<Exit, Failure> {
    refuse_input(&args.input)?;
    let (project, workspace) = (Project::find()?, Workspace::open()?);
    let project_lock = workspace.project_lock()?;
    let (name, used) = workspace.playbook(args.playbook.as_deref())?;
    let playbook = workspace.lasting_name(&name, &used)?;
    let tools = playbooks::facts_said(args.tools.as_deref(), &project)?;
    let plan = Plan::new(used.loaded.playbook.clone(), &tools);
    refuse_misspelt(&args.expect, args.new, &plan.playbook, &name)?;
    let about = find(args, &plan, &project.redaction)?;
    let slice = Slice::cut(&plan, &about.call, &about.in_run, &about.others, &project.redaction)
        .map_err(|why| not_cut(args, &about, why))?;
    let call = about.call.shown();
    let explain = Command::new("playproof explain").path(&args.input).name(&about.name);
    let Some(failed) = &slice.ending.failed else {
        return Err(Failure::new(format!("no attempt of `{}` failed, so that it has no verdict", call.reference()))
            .next(explain));
    };
    if args.expect == failed.verdict {
        let said = format!("`{name}` gives `{}` the verdict `{}` already", call.reference(), failed.verdict);
        return Err(Failure::new(said).help("nothing was kept").next(explain));
    }
    let id = slice.id(call, &playbook);
    let kept = KeptFile {
        note: args.note.clone(),
        playbook,
        call: slice.reference.clone(),
        attempt: failed.attempt,
        expect: args.expect.clone(),
        was: failed.verdict.clone(),
        facts: args.tools.as_ref().map(|_| plan.facts(about.call.raw().tool())).filter(|facts| facts.declared),
        came_from: CameFrom {
            trace: Path::new(&args.input)
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            call: call.reference(),
            line: about.line,
        },
    };
    let (file, trace) = (workspace.kept_path(&id, "yaml"), workspace.kept_path(&id, "jsonl"));
    let next = stored::next_for_kept(&workspace, &id, &args.expect);
    if folders::has_file(&file) {
        return kept_already(&workspace, &id, &kept, &next, output);
    }
    let changes = [
        Change::Write(trace.clone(), slice.text.clone().into_bytes()),
        Change::Write(file.clone(), kept.render().into_bytes()),
    ];
    project_lock.commit(&changes, output)?;
    let run = call.run().map_or_else(|| "a run without a name".to_owned(), |run| format!("run {run}"));
    let run = call.dispatcher().filter(|_| plan.shares_state).map_or(run, |name| format!("dispatcher {name}"));
    let calls = counted(slice.calls as u64, "call", "calls");
    let is_new = plan.playbook.verdicts.iter().all(|known| *known.name != *args.expect);
    let new = if is_new { format!(", which {name} does not have yet") } else { String::new() };
    let lines = [
        format!("kept as {id}"),
        format!("  {}: {name} gave it {}; expected is {}{new}", workspace.here(&file), kept.was, kept.expect),
        format!("  {}: {calls} of {run}", workspace.here(&trace)),
        format!("next: {next}"),
    ];
    output.lines(&lines)?;
    Ok(Exit::Clean)
}

fn refuse_input(input: &str) -> Result<(), Failure> {
    if inputs::is_fixture(input) {
        return Err(Failure::new(format!("`{input}` is a fixture; recorded calls are kept"))
            .help("what a fixture should show stands in its `expect`")
            .next(Command::new("playproof check").path(input)));
    }
    match input == files::STDIN {
        true => Err(Failure::new("the trace is read twice: name a file, not standard input")
            .next("playproof propose keep trace.jsonl CALL --expect VERDICT --note '...'")),
        false => Ok(()),
    }
}

/// The call, and what of its input belongs to its slice.
fn find(args: &Keep, plan: &Plan, redaction: &RedactionRules) -> Result<Found, Failure> {
    let reading = ReadOptions::plain(args.map.clone());
    let search = Search {
        call_flag: None,
        command: "playproof propose keep",
        flags: args.flags.clone(),
        typed: std::slice::from_ref(&args.input),
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
    let input = inputs::trace(&args.input, &reading.reading(Threads::default())?, redaction)?;
    let others = OtherCalls::of(input, reading.options(), redaction, call.raw(), plan.shares_state)?;
    let (name, line) =
        (sources.name_of(&call.shown().reference(), call.shown().place), sources.find(call.raw().place).line);
    Ok(Found { call, name, line, in_run: recorded.in_run, others })
}

fn not_cut(args: &Keep, about: &Found, why: NotCut) -> Failure {
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

fn kept_already(
    workspace: &Workspace,
    id: &str,
    new: &KeptFile,
    next: &Command,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let path = workspace.kept_path(id, "yaml");
    let old = kept::parse(workspace.read(&path)?)?.0;
    if old.note == new.note && old.expect == new.expect {
        output.lines(&[format!("kept already, as {id}; nothing was changed"), format!("next: {next}")])?;
        return Ok(Exit::Clean);
    }
    Err(Failure::new(format!("this call is kept already, as `{id}`, with another note or expected verdict"))
        .help(format!("nothing was changed; edit `{}`", workspace.here(&path)))
        .next("playproof check"))
}
