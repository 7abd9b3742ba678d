//! `playproof explain TRACE CALL`: explains one call. Opens the inputs, and suggests a name if there is no such call.

use crate::exit::{Exit, Failure};
use crate::flags::{Flags, Given};
use crate::input_paths::InputPaths;
use crate::inputs::Reading;
use crate::output::{Output, say};
use crate::project::Project;
use crate::read_options::ReadOptions;
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::workspace::{check_names, load_fixture, load_fixture_with_source};
use crate::{duplicate_args, files, inputs, missing_answer, playbooks};
use playproof_analysis::explain::{CallFinder, CallNames, CandidateCall, LISTED, NotFound, Subject, Wanted};
use playproof_analysis::replay::SessionOptions;
use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Pace, Plan};
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::shell::Command;
use playproof_intake::redact::RedactionRules;
use playproof_report::explain::page;
use playproof_report::text;

/// The arguments of `explain`, with the flags that were typed.
pub type Args = Given<Options>;

/// What is explained.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "playproof explain [OPTIONS] <INPUT>... [CALL]",
    after_help = "\
Examples:
  playproof explain trace.jsonl r1#3                 the third call of the run r1
  playproof explain *.jsonl monday.jsonl:17          the call of a line; the line of one of its results will do too
  playproof explain trace.jsonl call_Zx81 --playbook my.yaml --tools tools.yaml
  playproof explain fixtures/refund.yaml             the only call of a fixture

The last of several words names the call. It is one more input only if the inputs before it have no such call, and a file
or folder has that name; `./NAME` is always an input.

Exit codes: 0 explained, 2 no such call, unusable input or usage, 3 more lines skipped than read."
)]
pub struct Options {
    /// Traces, foreign recordings or fixtures: files, folders or globs; `-` is standard input. Last comes the call: a reference such as `r1#3` (run
    /// and number), a place FILE:LINE (`<stdin>:LINE` in standard input), or its own id; an input with a single call needs none
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,

    /// The old spelling of CALL
    #[arg(long, value_name = "CALL", allow_hyphen_values = true, hide = true)]
    pub call: Option<String>,

    /// The playbook: a name (of `playbooks/`, else embedded) or a path [default: the first that the fixture names, else
    /// the project's, or standard]
    #[arg(short, long, value_name = "P")]
    pub playbook: Option<String>,

    /// Tool facts; they win over the playbook's
    #[arg(long, value_name = "FILE")]
    pub tools: Option<String>,

    /// What answers where the recording ends: `ok`, `repeat`, `fail:KIND`
    #[arg(long, value_name = "ANSWER", value_parser = missing_answer::parse)]
    pub beyond_tape: Option<MissingAnswerPolicy>,

    /// The seed of the draws that jittered waits need and the recording does not give [default: 0]
    #[arg(long, value_name = "N", value_parser = crate::values::whole::<u64>(0..=u64::MAX))]
    pub seed: Option<u64>,

    /// When a call starts under a playbook whose calls share something: `causal`, as long after the calls that it followed as
    /// recorded, or `recorded`, at its recorded time [default: recorded if the trace says that this playbook decided it,
    /// else causal]
    #[arg(long, value_name = "causal|recorded", value_parser = crate::values::word(&Pace::TABLE))]
    pub pace: Option<Pace>,

    /// How the trace is read.
    #[command(flatten)]
    pub reading: ReadOptions,
}

/// The inputs, and the call if it is named.
struct InputsAndCall<'a> {
    typed: &'a [String],
    /// Their files, if they were looked for.
    paths: Option<InputPaths>,
    call: Option<&'a str>,
}

impl Args {
    /// The inputs, and the call where one is named: the last word, unless it is one more input. A file may have the name
    /// of a call, so the inputs are searched for it first.
    fn inputs_and_call(&self) -> Result<InputsAndCall<'_>, Failure> {
        let whole = InputsAndCall { typed: &self.inputs, paths: None, call: self.call.as_deref() };
        let (last, before) = match self.inputs.split_last() {
            Some((last, before)) if self.call.is_none() && !before.is_empty() => (last, before),
            _ => return Ok(whole),
        };
        if !is_input(last) {
            return Ok(InputsAndCall { typed: before, paths: None, call: Some(last) });
        }
        if is_path(last) {
            return Ok(whole);
        }
        let paths = InputPaths::find(before)?;
        if self.is_call(last, &paths)? {
            return Ok(InputsAndCall { typed: before, paths: Some(paths), call: Some(last) });
        }
        say(&format!("note: no call is named `{last}`, so it is read as one more input"));
        Ok(InputsAndCall { paths: Some(paths.and(std::slice::from_ref(last))?), ..whole })
    }

    /// Whether the inputs have a call of this name. Standard input and pipes can be read only once: they are taken to have
    /// it.
    fn is_call(&self, name: &str, paths: &InputPaths) -> Result<bool, Failure> {
        if paths.files().iter().any(|path| files::size(path).is_none()) {
            return Ok(true);
        }
        let project = Project::find()?;
        let plan = self.plan(&project, paths.files(), Some(name), &Tools::default())?;
        Ok(match look(&self.search(&project, (&[], paths.files()), Some(name)), &plan)?.0 {
            Ok(_) | Err(NotFound::Several(_)) => true,
            Err(NotFound::Unknown(_)) => false,
        })
    }

    /// The playbook with the tool facts.
    fn plan(&self, project: &Project, inputs: &[String], call: Option<&str>, tools: &Tools) -> Result<Plan, Failure> {
        let name = self.playbook.clone().or_else(|| playbook_of_fixture(inputs, call));
        let name = name.unwrap_or_else(|| playbooks::name(None, project));
        Ok(Plan::new(playbooks::load(&name)?.playbook, tools).with_seed(self.seed))
    }

    fn search<'a>(
        &'a self,
        project: &'a Project,
        (typed, inputs): (&'a [String], &'a [String]),
        wanted: Option<&'a str>,
    ) -> Search<'a> {
        Search {
            command: "playproof explain",
            call_flag: None,
            flags: self.flags.clone(),
            typed,
            inputs,
            wanted,
            reading: &self.reading,
            beyond: self.beyond_tape.clone().unwrap_or_default(),
            pace: self.pace,
            redaction: &project.redaction,
        }
    }
}

/// Whether a word is a path, which no call is named like.
fn is_path(word: &str) -> bool {
    word == files::STDIN || word.contains(['/', std::path::MAIN_SEPARATOR]) || looks_like_a_file(word)
}

fn is_input(word: &str) -> bool {
    word == files::STDIN || files::exists(word)
}

/// Refuses a call before its input: the word is no file, and what follows it is one.
fn refuse_call_first(inputs: &[String], call: Option<&str>) -> Result<(), Failure> {
    match (inputs, call) {
        ([first, others @ ..], None) if !others.is_empty() && !is_input(first) && !looks_like_a_file(first) => {
            Err(Failure::new(format!("`{first}` is no file; the call comes last"))
                .next(Command::new("playproof explain").paths(others).name(first)))
        }
        _ => Ok(()),
    }
}

/// Explains.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let InputsAndCall { typed: inputs, paths, call } = args.inputs_and_call()?;
    refuse_call_first(inputs, call)?;
    duplicate_args::refuse_inputs(inputs, &args.flags, |once, flags| {
        flags.after(Command::new("playproof explain").paths(once).names(call))
    })?;
    let project = Project::find()?;
    let tools = playbooks::facts_said(args.tools.as_deref(), &project)?;
    let paths = paths.map_or_else(|| InputPaths::find(inputs), Ok)?;
    let plan = args.plan(&project, paths.files(), call, &tools)?;
    let search = args.search(&project, (inputs, paths.files()), call);
    missing_answer::warn(&search.beyond, &[&plan]);
    let FoundCall { subject, unread } = find(&search, &plan)?;
    output.page(&terminal.out.doc(&page(&subject, &plan, &tools).untitled()))?;
    if let Subject::Recorded { call, .. } = &subject {
        let reference = call.raw().reference();
        let resolved = inputs::resolved(paths.files(), &project.redaction, |named| named == reference)?;
        if !resolved.is_empty() {
            output.page(&format!("\n{}", resolved.join("\n")))?;
        }
    }
    unread.map_or(Ok(Exit::Clean), Err)
}

/// The first playbook that the fixture with the call names, if one does.
fn playbook_of_fixture(inputs: &[String], wanted: Option<&str>) -> Option<String> {
    let fixtures = inputs.iter().filter(|path| inputs::is_fixture(path)).filter_map(|path| load_fixture(path).ok());
    let has_call = |fixture: &Fixture| {
        let steps = fixture.calls.iter().flat_map(|call| &call.steps).map(|step| &step.name);
        let mut names = fixture.calls.iter().map(|call| &call.name).chain(steps);
        wanted.is_none_or(|wanted| names.any(|name| name == wanted))
    };
    fixtures.filter(has_call).find_map(|fixture| fixture.playbooks.into_iter().next())
}

/// What helps where resends are joined and a name is not there.
const RESENDS_HAVE_NO_NAME: &str =
    "with `--join-resends` a call that was sent again is an attempt of the first, and has no name of its own";

/// How the call is looked for.
pub struct Search<'a> {
    /// The words of the command, for those that it suggests.
    pub command: &'static str,
    /// The flag that takes the call; none where its name alone is given.
    pub call_flag: Option<&'static str>,
    /// The flags that it was given, but for the call's.
    pub flags: Flags,
    /// The inputs as they were typed, such as a folder.
    pub typed: &'a [String],
    /// The files that they are, all of them traces or all of them fixtures.
    pub inputs: &'a [String],
    /// The reference, place or id; none where there is a single call.
    pub wanted: Option<&'a str>,
    /// How a trace is read.
    pub reading: &'a ReadOptions,
    /// What answers where the recording ends.
    pub beyond: MissingAnswerPolicy,
    /// When calls start that are simulated together.
    pub pace: Option<Pace>,
    /// What must not be shown.
    pub redaction: &'a RedactionRules,
}

impl Search<'_> {
    fn with_call(&self, command: Command, call: &str) -> Command {
        match self.call_flag {
            Some(flag) => command.flag(flag, call),
            None => command.name(call),
        }
    }
}

/// The call, and why some of the inputs could not be read to their ends.
pub struct FoundCall {
    /// The call.
    pub subject: Subject,
    /// Their failures; none of a single input.
    pub unread: Option<Failure>,
}

/// Finds the call. An input that cannot be read does not hide the others.
///
/// # Errors
/// No input can be read; no such call, or several.
pub fn find(search: &Search<'_>, plan: &Plan) -> Result<FoundCall, Failure> {
    let (found, unread) = look(search, plan)?;
    let found = found.map_err(|why| match why {
        NotFound::Unknown(names) => unknown(search, &names),
        NotFound::Several(found) => several(search, &found),
    });
    match (found, unread) {
        (Ok(subject), unread) => Ok(FoundCall { subject, unread }),
        (Err(failure), Some(unread)) => Err(unread.and(failure)),
        (Err(failure), None) => Err(failure),
    }
}

/// The call, or why there is none; and why some inputs could not be read to their end.
type Looked = (Result<Subject, NotFound>, Option<Failure>);

/// Looks for the call in all inputs that can be read; an error if none can.
fn look(search: &Search<'_>, plan: &Plan) -> Result<Looked, Failure> {
    let sources = inputs::sources(search.inputs);
    let place = search.wanted.map(inputs::place);
    let wanted = search.wanted.zip(place.as_deref()).map(|(name, place)| Wanted { name, place });
    let simulated = SessionOptions { beyond: &search.beyond, pace: search.pace };
    let mut finder = CallFinder::new(plan, wanted, simulated, &sources);
    let reading = search.reading.reading(Threads::default())?;
    let mut failures = Vec::new();
    for (number, path) in search.inputs.iter().enumerate() {
        if let Err(failure) = take(search, plan, &mut finder, (number, path), &reading) {
            finder.note_unread();
            failures.push(failure);
        }
    }
    let is_nothing_read = failures.len() == search.inputs.len();
    let unread = failures.into_iter().reduce(Failure::and);
    if is_nothing_read && let Some(unread) = unread {
        return Err(unread);
    }
    Ok((finder.finish(), unread))
}

/// Takes the calls of one input.
fn take(
    search: &Search<'_>,
    plan: &Plan,
    finder: &mut CallFinder<'_>,
    (number, path): (usize, &str),
    reading: &Reading,
) -> Result<(), Failure> {
    if inputs::is_fixture(path) {
        let (fixture, source) = load_fixture_with_source(path)?;
        check_names((&fixture, source), &[&plan.playbook], &Project::find()?)?;
        finder.take_fixture(number, &fixture);
        return Ok(());
    }
    let input = inputs::trace(path, reading, search.redaction)?;
    let ledger = finder.take_trace(number, input, search.reading.options(), search.redaction)?;
    search.reading.account_for(&files::display_name(path), &ledger)
}

/// References, or places where references are not enough.
fn several(search: &Search<'_>, found: &[CandidateCall]) -> Failure {
    let names = CandidateCall::names(found);
    let input = |candidate: &CandidateCall| search.inputs.get(candidate.input).map_or("", |input| input.as_str());
    let unlike = |candidate: &CandidateCall| format!("{} in {}", candidate.reference, input(candidate));
    let names = names.into_iter().zip(found);
    let names: Vec<String> =
        names.map(|(name, candidate)| name.map_or_else(|| unlike(candidate), str::to_owned)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let listed = listed(&names, 100);
    let failure = Failure::new(match search.wanted {
        Some(wanted) => format!("`{wanted}` is the name of several calls: {listed}"),
        None => format!("say which call: {listed}"),
    });
    match (found.first(), names.first()) {
        (Some(first), _) if first.place.is_none() => {
            let command = Command::new(search.command).path(input(first));
            failure.next(search.flags.after(search.with_call(command, &first.reference)))
        }
        (_, Some(first)) => failure.next(command(search, first)),
        _ => failure,
    }
}

/// That there is no call of this name among those that were seen.
fn unknown(search: &Search<'_>, names: &CallNames) -> Failure {
    let typed: Vec<String> = search.typed.iter().map(|input| files::display_name(input)).collect();
    let typed: Vec<&str> = typed.iter().map(String::as_str).collect();
    let call = search.wanted.map_or_else(|| "call".to_owned(), |wanted| format!("call `{wanted}`"));
    let failure = Failure::new(format!("there is no {call} in {}", listed(&typed, 100)));
    let Some(wanted) = search.wanted.filter(|_| !names.is_empty()) else {
        return failure
            .help("no line of it is a call; a result belongs to a call before it")
            .next("playproof schema trace");
    };
    let run = names.run().unwrap_or(wanted);
    let of_run = names.of_run();
    let is_fixture = search.inputs.iter().all(|input| inputs::is_fixture(input));
    let is_place = !is_fixture && search.inputs.iter().any(|input| is_line_of(wanted, input));
    let failure = match (of_run.first(), names.near(wanted)) {
        (Some(first), _) => {
            let calls = listed(&of_run, 60);
            let help = match run == wanted {
                true => format!("`{run}` is a run; its calls are {calls}"),
                false => format!("the calls of the run `{run}` are {calls}"),
            };
            failure.help(help).next(command(search, first))
        }
        (None, Some(near)) if !is_place => failure.help(format!("did you mean `{near}`?")).next(command(search, near)),
        (None, _) if is_place => {
            let all = search.flags.after(Command::new("playproof replay").paths(search.typed).and("--all"));
            failure.help("that line has no call, and no result of one").next(all)
        }
        (None, _) => {
            let said = match is_fixture {
                true => "calls are named as their fixture names them, such as",
                false => "calls are named by run and number, by FILE:LINE, or by their own id, such as",
            };
            let all = Command::new("playproof replay").paths(search.typed);
            let flags = search.flags.without(&["--note", "--expect", "--new"]);
            let failure = failure.help(format!("{said} {}", listed(&names.such_as(), 60))).next(flags.after(all));
            match looks_like_a_file(wanted) {
                true => failure.and_help(&format!("no file is called `{wanted}` either")),
                false => failure,
            }
        }
    };
    if search.reading.join_resends { failure.and_help(RESENDS_HAVE_NO_NAME) } else { failure }
}

/// Whether `wanted` is a place in `input`.
fn is_line_of(wanted: &str, input: &str) -> bool {
    let line = wanted.strip_prefix(input).and_then(|rest| rest.strip_prefix(':'));
    line.is_some_and(|line| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a word that names no file was probably meant to.
fn looks_like_a_file(word: &str) -> bool {
    [".json", ".jsonl", ".yaml", ".yml", ".gz", ".zst"].iter().any(|ending| word.ends_with(ending))
}

/// The first names, each in so many columns.
fn listed(names: &[impl AsRef<str>], columns: usize) -> String {
    let shown: Vec<_> = names.iter().take(LISTED).map(|name| text::fitted(name.as_ref(), columns)).collect();
    format!("{}{}", shown.join(", "), if names.len() > LISTED { ", and more" } else { "" })
}

/// The same command for one call.
fn command(search: &Search<'_>, call: &str) -> Command {
    search.flags.after(search.with_call(Command::new(search.command).paths(search.typed), call))
}
