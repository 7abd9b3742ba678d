//! `playproof check [FIXTURE...]`: compares each run with its golden, and each playbook with its accepted rows.

use std::path::{Path, PathBuf};

use regex::Regex;

use crate::changeset::ProjectLock;
use crate::checking;
use crate::checking::{Checked, Selection};
use crate::command::propose::stored;
use crate::exit::{Exit, Failure};
use crate::flags::Given;
use crate::format::formats;
use crate::git;
use crate::git::Git;
use crate::output::{Output, say, to_stderr};
use crate::project;
use crate::project::{Project, is_path};
use crate::reports;
use crate::reports::ReportTo;
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::workspace::Workspace;
use crate::{pending, reason};
use playproof_analysis::check::{CaseResult, CheckReport, CheckStatus, GoldenState};
use playproof_formats::diagnostic::Report;
use playproof_formats::golden::{Class, MERGE_CONFLICT};
use playproof_formats::shell::Command;
use playproof_report::check::{CheckPage, Directions, json, page};
use playproof_report::text::counted;
use playproof_report::verify::guarantees;

const EXAMPLES: &str = "\
Examples:
  playproof check                                 every fixture under each of its playbooks
  playproof check the-worked-refund               one fixture, with the events of golden and run side by side
  playproof check --run 'standard/.*refund'       the runs whose PLAYBOOK/FIXTURE matches
  playproof check --changed-since main            the runs that a branch touches (needs git)

Where a run differs, what it shows is left beside its golden as `.snap.new`, for `playproof review`, `accept` or
`reject`; in CI nothing is written. To see what another playbook would change, edit the playbook and check.

A fixture is checked under the playbooks that it names: `playbooks: [NAME]`. One that names none is checked under the
project's playbook, and so is each run of the recordings that playproof.yaml names: `traces: [incidents/*.jsonl]`.
Of each kept call (`playproof propose keep`) it says whether the playbook handles it right.

Exit codes: 0 all is as accepted, 1 something differs, 2 something could not be checked, or nothing was.";

formats!(Format: Table = "For people", Json = "One JSON document");

/// The arguments of `check`, with the flags that were typed.
pub type Args = Given<Options>;

/// The arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Fixtures by name or path, or single runs as PLAYBOOK/FIXTURE [default: all]
    #[arg(value_name = "FIXTURE")]
    pub fixtures: Vec<String>,

    /// Only runs whose PLAYBOOK/FIXTURE matches this regular expression
    #[arg(long, value_name = "REGEX")]
    pub run: Option<String>,

    /// Only runs whose fixture, golden or playbook changed since this git revision; all of them where the
    /// lock, the tool facts or playproof.yaml did
    #[arg(long, value_name = "REV")]
    pub changed_since: Option<String>,

    /// Stop after the first run that does not pass
    #[arg(long)]
    pub fail_fast: bool,

    /// Accept the goldens of all that differs, also in CI
    #[arg(long)]
    pub accept: bool,

    /// Why a changed effect or a weakened guard is accepted
    #[arg(long, value_name = "TEXT", requires = "accept", value_parser = reason::parse)]
    pub reason: Option<String>,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Write a report too: junit, sarif, github, markdown, json or html; may be given several times
    #[arg(long = "report", value_name = "KIND=FILE")]
    pub reports: Vec<ReportTo>,

    /// Show arguments in Markdown, on pages and on GitHub, not only their keys and types
    #[arg(long)]
    pub show_args: bool,

    /// Accept a selection without runs
    #[arg(long)]
    pub allow_empty: bool,

    /// The threads.
    #[command(flatten)]
    pub threads: Threads,

    /// Not an option of this command; named so that its refusal can say what to do.
    #[arg(long, hide = true, value_name = "P")]
    pub playbook: Option<String>,
}

impl Args {
    /// Says in every report that was asked for that nothing was checked, and why.
    pub fn say_unchecked(&self, failure: &Failure) {
        if reports::refuse(&self.reports).is_ok() {
            reports::write_unchecked(&self.reports, failure);
        }
    }
}

/// Checks.
///
/// # Errors
/// Wrong usage, files that cannot be used, an empty selection.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    refuse_playbook(args)?;
    reports::refuse(&args.reports)?;
    let (workspace, checked) = examine(args, terminal, output).inspect_err(|failure| args.say_unchecked(failure))?;
    if args.accept {
        show(args, terminal, &workspace, &checked, output)?;
        return Ok(exit(&checked.report));
    }
    let left = if terminal.ci { Ok(0) } else { pending::leave(&workspace, &checked.report.results, output) };
    show(args, terminal, &workspace, &checked, output)?;
    match left {
        Ok(0) => {}
        Ok(waiting) if args.format == Format::Table => {
            to_stderr(&format!("{} for review\n", counted(waiting as u64, "golden waits", "goldens wait")));
        }
        Ok(_) => {}
        Err(failure) => say(&format!("playproof: nothing was left for review: {}", said(&failure))),
    }
    Ok(exit(&checked.report))
}

/// Runs the selected cases; with `--accept`, accepts the differences and runs again.
fn examine(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<(Workspace, Checked), Failure> {
    let workspace = Workspace::open()?;
    workspace.read_history()?;
    let project_lock = args.accept.then(|| workspace.project_lock()).transpose()?;
    workspace.say_guesses()?;
    let selection = selection(args, &workspace)?;
    let check = || checking::check(&workspace, &selection, args.threads.number(), args.fail_fast);
    let mut checked = check()?;
    if checked.report.results.is_empty() && !args.allow_empty {
        return Err(nothing(args, &workspace, &selection));
    }
    if let Some(project_lock) = project_lock {
        accept((args, terminal), &workspace, &project_lock, &checked, output)?;
        checked = check()?;
    }
    Ok((workspace, checked))
}

fn refuse_playbook(args: &Args) -> Result<(), Failure> {
    let Some(playbook) = &args.playbook else { return Ok(()) };
    Err(Failure::new("`check` runs each fixture under the playbooks that it names; there is no `--playbook`")
        .help(format!(
            "a fixture names its playbooks (`playbooks: [{playbook}]`), and without them runs under the project's; to see it \
             under another one, replay it"
        ))
        .next(Command::new("playproof replay fixtures/NAME.yaml").flag("--playbook", playbook)))
}

fn selection(args: &Args, workspace: &Workspace) -> Result<Selection, Failure> {
    let bad = |error: &regex::Error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Failure::new(format!("`--run` is no regular expression: {why}")).next("playproof check --run 'standard/.*'")
    };
    let run = args.run.as_deref().map(|run| Regex::new(run).map_err(|error| bad(&error))).transpose()?;
    let changed =
        args.changed_since.as_deref().map(|rev| Git::at(workspace.root(), rev)?.changed_since(rev)).transpose()?;
    let shared = shared_files(workspace)?;
    let changed = changed.filter(|changed| !shared.iter().any(|file| changed.contains(file)));
    Ok(Selection { named: args.fixtures.clone(), run, changed })
}

/// The files on which every run depends: the project's own, its tool facts, the approved rows.
fn shared_files(workspace: &Workspace) -> Result<Vec<PathBuf>, Failure> {
    let tools = Project::find()?.tools.map(|tools| PathBuf::from(workspace.name(Path::new(&tools))));
    let lock = PathBuf::from(workspace.name(&workspace.lock_path()));
    Ok([PathBuf::from(project::FILE), lock].into_iter().chain(tools).collect())
}

fn nothing(args: &Args, workspace: &Workspace, selection: &Selection) -> Failure {
    if selection.is_everything() {
        return workspace.empty().and_help("`--allow-empty` if this is meant");
    }
    if let (Some(rev), None) = (&args.changed_since, &selection.run) {
        let again = args.flags.after(Command::new("playproof check").names(&args.fixtures));
        return Failure::new(format!("nothing to check: no fixture, golden or playbook has changed since `{rev}`"))
            .help("a gate that looked at nothing does not pass unasked: where that may be, say `--allow-empty`")
            .next(again.and("--allow-empty"));
    }
    let why = match &selection.run {
        Some(run) => format!("no run matches `{run}`"),
        None => "no run is meant".to_owned(),
    };
    Failure::new(format!("nothing to check: {why}")).help("`--allow-empty` if that is no error").next("playproof check")
}

fn show(
    args: &Args,
    terminal: &Terminal,
    workspace: &Workspace,
    checked: &Checked,
    output: &mut Output,
) -> Result<(), Failure> {
    let above = workspace.way_up();
    let shown = CheckPage { report: &checked.report, causes: &checked.causes, above: &above, show_args: true };
    let directions = reports::directions(workspace, checked);
    // Reports are read at the project's root, the page where people stand.
    let public = CheckPage { show_args: args.show_args, above: "", ..shown };
    let next = |above| next(terminal, workspace, above, &checked.report);
    let (here, next) = (next(&above), next(""));
    reports::write(&args.reports, &public, &directions, next.as_ref(), output)?;
    reports::tell_github(&public, &directions, next.as_ref())?;
    match args.format {
        Format::Json => output.json(json(&shown, &directions, next.as_ref()))?,
        Format::Table => {
            let asked = checking::row_guarantees(checked, &checked.report.rows, args.threads.number());
            let mut doc = page(&shown, &Directions::default(), here.as_ref());
            doc.blocks.extend(asked.iter().filter_map(guarantees));
            output.page(&terminal.out.doc(&doc.untitled()))?;
        }
    }
    Ok(())
}

/// The one command to run next: about the worst first. `above` leads to the project's root.
fn next(terminal: &Terminal, workspace: &Workspace, above: &str, report: &CheckReport) -> Option<Command> {
    let failing = report.failing();
    if let Some(first) = failing.first() {
        return Some(match &first.golden {
            GoldenState::Unreadable(report) => restore(report, workspace, above),
            _ if !first.contradictions.is_empty() => about_contradiction(workspace, above, first),
            _ if terminal.ci => "playproof check   # not in CI: it leaves what it found for review".into(),
            GoldenState::Missing if failing.len() > 1 => "playproof accept".into(), // the worst is first
            GoldenState::Missing | GoldenState::Same => Command::new("playproof accept").name(&first.id.to_string()),
            GoldenState::Diverged(_) if terminal.out.is_terminal => "playproof review".into(),
            GoldenState::Diverged(_) => {
                let accept = Command::new("playproof accept").name(&first.id.to_string());
                let wants_reason = first.worst().is_some_and(Class::requires_reason);
                if wants_reason { accept.and("--reason '...'") } else { accept }
            }
        });
    }
    if !report.orphans.is_empty() {
        return Some(Command::new("rm").paths(report.orphans.iter().map(|path| format!("{above}{path}"))));
    }
    // One that no fixture uses any more cannot be named.
    let named = report.rows.iter().all(|rows| rows.is_used);
    let names: Vec<&str> = report.rows.iter().filter(|_| named).map(|rows| &*rows.playbook).collect();
    if !report.rows.is_empty() {
        return Some(Command::new("playproof accept").names(&names).and("--reason '...'"));
    }
    let waiting = report.kept.iter().find(|kept| !kept.is_right())?;
    Some(stored::next_for_kept(workspace, &waiting.id, &waiting.expect))
}

/// Takes a golden back as it was; in the middle of a merge git wants to know which side's. Without git, a new golden
/// replaces it.
fn restore(report: &Report, workspace: &Workspace, above: &str) -> Command {
    if !git::is_committed(workspace.root(), &report.source.name) {
        return Command::new("rm").path(&format!("{above}{}", report.source.name));
    }
    let is_half_merged = report.diagnostics.iter().any(|said| said.id == MERGE_CONFLICT);
    let restore = if is_half_merged { "git restore --ours" } else { "git restore" };
    Command::new(restore).path(&format!("{above}{}", report.source.name))
}

fn about_contradiction(workspace: &Workspace, above: &str, result: &CaseResult) -> Command {
    let playbook = workspace.playbook_name(&result.id.playbook);
    let playbook = if is_path(&playbook) { format!("{above}{playbook}") } else { playbook };
    let fixture = format!("{above}{}", workspace.fixture_name(&result.id.fixture));
    Command::new("playproof replay").path(&fixture).flag("--playbook", &playbook)
}

/// Accepts everything that differs.
fn accept(
    (args, terminal): (&Args, &Terminal),
    workspace: &Workspace,
    project_lock: &ProjectLock,
    checked: &Checked,
    output: &mut Output,
) -> Result<(), Failure> {
    let accepted = pending::acceptance(workspace, &checked.report.failing(), args.reason.as_deref())
        .map_err(|failure| failure.next("playproof check"))?;
    project_lock.commit(&accepted.changes, output)?;
    if terminal.ci && !accepted.ids.is_empty() {
        let many = counted(accepted.ids.len() as u64, "golden was", "goldens were");
        to_stderr(&format!("playproof: --accept in CI: {many} overwritten with what the runs show\n"));
    }
    for id in &accepted.ids {
        say(&format!("accepted {id}"));
    }
    Ok(())
}

fn exit(report: &CheckReport) -> Exit {
    match report.verdict() {
        CheckStatus::Clean => Exit::Clean,
        CheckStatus::Differs => Exit::Found,
        CheckStatus::Unusable => Exit::Unusable,
    }
}

fn said(failure: &Failure) -> String {
    match failure {
        Failure::Message { message, .. } => message.clone(),
        Failure::Reports { reports, .. } => reports.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        Failure::PipeClosed => "the reader of the output went away".to_owned(),
    }
}
