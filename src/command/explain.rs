//! `playproof explain TRACE --call REF|ID`: one call, in sentences. Opens the inputs and says what is wrong with the
//! name of a call.

use crate::exit::{Exit, Failure};
use crate::flags::Flags;
use crate::output::Output;
use crate::project::Project;
use crate::read_options::ReadOptions;
use crate::terminal::Terminal;
use crate::{duplicate_args, files, fixtures, inputs, missing_answer, playbooks};
use playproof_analysis::explain::{CallFinder, CallNames, CandidateCall, LISTED, NotFound, Subject, Wanted};
use playproof_engine::sim::Plan;
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::shell::Command;
use playproof_report::block::{Arguments, Style};
use playproof_report::explain::page;
use playproof_report::style::Palette;
use playproof_report::text;
use playproof_trace::redact::RedactionRules;

/// What is explained.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof explain trace.jsonl --call r1#3
  playproof explain *.jsonl --call monday.jsonl:17
  playproof explain trace.jsonl --call call_Zx81 --playbook my.yaml --tools tools.yaml
  playproof explain fixtures/refund.yaml")]
pub struct Args {
    /// Traces, foreign recordings or fixtures that hold the call; `-` is standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,

    /// The call: a reference such as `r1#3` (run and number), the place FILE:LINE of its line or of a result's, or its own
    /// id
    #[arg(long, value_name = "REF|PLACE|ID", allow_hyphen_values = true)]
    pub call: Option<String>,

    /// The playbook: a name (of `playbooks/`, else embedded) or a path [default: the project's, or standard]
    #[arg(short, long, value_name = "P")]
    pub playbook: Option<String>,

    /// Tool facts; they win over the playbook's
    #[arg(long, value_name = "FILE")]
    pub tools: Option<String>,

    /// What answers where the recording ends: `ok`, `repeat`, `fail:KIND`
    #[arg(long, value_name = "ANSWER", value_parser = missing_answer::parse)]
    pub beyond_tape: Option<MissingAnswerPolicy>,

    /// How the trace is read.
    #[command(flatten)]
    pub reading: ReadOptions,
}

/// Explains.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let flags = Flags::default()
        .with("--playbook", args.playbook.as_deref())
        .with("--tools", args.tools.as_deref())
        .reading(&args.reading)
        .beyond(&args.beyond_tape.clone().unwrap_or_default());
    duplicate_args::refuse_inputs(&args.inputs, &flags, |once, flags| {
        flags.after(Command::new("playproof explain").paths(once).flag_if("--call", args.call.as_deref()))
    })?;
    let project = Project::find()?;
    let asked: Vec<String> = args.playbook.iter().cloned().collect();
    let name = playbooks::names(&asked, &project).into_iter().next().unwrap_or_default();
    let tools = playbooks::facts_said(args.tools.as_deref(), &project)?;
    let plan = Plan::new(playbooks::load(&name)?.playbook, &tools);
    let search = Search {
        command: "playproof explain",
        flags,
        inputs: &args.inputs,
        wanted: args.call.as_deref(),
        reading: &args.reading,
        beyond: args.beyond_tape.clone().unwrap_or_default(),
        redaction: &project.redaction,
    };
    missing_answer::warn(&search.beyond, &[&plan]);
    let subject = find(&search, &plan)?;
    let palette = Palette::new(terminal.out.colour);
    let style = Style { width: terminal.out.width, palette, arguments: Arguments::Values };
    output.page(&page(&subject, &plan, &tools, style))?;
    Ok(Exit::Clean)
}

/// What helps where resends are joined and a name is not there.
const RESENDS_HAVE_NO_NAME: &str =
    "with `--join-resends` a call that was sent again is an attempt of the first, and has no name of its own";

/// How the call is looked for.
pub struct Search<'a> {
    /// The words of the command, for those that it suggests.
    pub command: &'static str,
    /// The flags that it was given, but for `--call`.
    pub flags: Flags,
    /// The inputs, all of them traces or all of them fixtures.
    pub inputs: &'a [String],
    /// The reference, place or id; none where there is a single call.
    pub wanted: Option<&'a str>,
    /// How a trace is read.
    pub reading: &'a ReadOptions,
    /// What answers where the recording ends.
    pub beyond: MissingAnswerPolicy,
    /// What must not be shown.
    pub redaction: &'a RedactionRules,
}

/// Finds the call.
///
/// # Errors
/// An input that cannot be read; no such call, or several.
pub fn find(search: &Search<'_>, plan: &Plan) -> Result<Subject, Failure> {
    let sources = inputs::sources(search.inputs);
    let place = search.wanted.map(inputs::place);
    let wanted = search.wanted.zip(place.as_deref()).map(|(name, place)| Wanted { name, place });
    let mut finder = CallFinder::new(plan, wanted, &search.beyond, &sources);
    for (number, path) in search.inputs.iter().enumerate() {
        if inputs::is_fixture(path) {
            finder.take_fixture(number, &fixtures::load(path)?);
            continue;
        }
        let input = inputs::trace(path, search.reading.mapping()?.as_ref(), search.redaction)?;
        let ledger = finder.take_trace(number, input, search.reading.options(), search.redaction)?;
        search.reading.account_for(&files::display_name(path), &ledger)?;
    }
    finder.finish().map_err(|why| match why {
        NotFound::Unknown(names) => unknown(search, &names),
        NotFound::Several(found) => several(search, &found),
    })
}

/// References, or places where references are not enough.
fn several(search: &Search<'_>, found: &[CandidateCall]) -> Failure {
    let names = CandidateCall::names(found);
    let input = |candidate: &CandidateCall| search.inputs.get(candidate.input).map_or("", |input| input.as_str());
    let names: Vec<&str> =
        names.into_iter().zip(found).map(|(name, candidate)| name.unwrap_or_else(|| input(candidate))).collect();
    let listed = listed(&names, 100);
    let failure = Failure::new(match search.wanted {
        Some(wanted) => format!("`{wanted}` is the name of several calls: {listed}"),
        None => format!("say which call: {listed}"),
    });
    match (found.first(), names.first()) {
        (Some(first), _) if first.place.is_none() => {
            let command = Command::new(search.command).path(input(first)).flag("--call", &first.reference);
            failure.next(search.flags.after(command))
        }
        (_, Some(first)) => failure.next(command(search, first)),
        _ => failure,
    }
}

/// That there is no call of this name among those that were seen.
fn unknown(search: &Search<'_>, names: &CallNames) -> Failure {
    let inputs: Vec<String> = search.inputs.iter().map(|input| files::display_name(input)).collect();
    let call = search.wanted.map_or_else(|| "call".to_owned(), |wanted| format!("call `{wanted}`"));
    let failure = Failure::new(format!("there is no {call} in {}", inputs.join(", ")));
    let Some(wanted) = search.wanted.filter(|_| !names.is_empty()) else {
        return failure
            .help("no line of it is a call; a result belongs to a call before it")
            .next("playproof schema trace");
    };
    let of_run = names.of_run(wanted);
    let failure = match (of_run.first(), names.near(wanted)) {
        (Some(first), _) => failure
            .help(format!("`{wanted}` is a run; its calls are {}", listed(&of_run, 60)))
            .next(command(search, first)),
        (None, Some(near)) => failure.help(format!("did you mean `{near}`?")).next(command(search, near)),
        (None, None) => {
            let said = "calls are named by run and number, by FILE:LINE, or by their own id, such as";
            let all = Command::new("playproof replay").paths(search.inputs);
            let flags = search.flags.without(&["--note", "--expected", "--new"]);
            failure.help(format!("{said} {}", listed(&names.such_as(), 60))).next(flags.after(all))
        }
    };
    if search.reading.join_resends { failure.and_help(RESENDS_HAVE_NO_NAME) } else { failure }
}

/// The first names, each in so many columns.
fn listed(names: &[&str], columns: usize) -> String {
    let shown: Vec<_> = names.iter().take(LISTED).map(|name| text::fitted(name, columns)).collect();
    format!("{}{}", shown.join(", "), if names.len() > LISTED { ", and more" } else { "" })
}

/// The same command for one call.
fn command(search: &Search<'_>, call: &str) -> Command {
    search.flags.after(Command::new(search.command).paths(search.inputs).flag("--call", call))
}
