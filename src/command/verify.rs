//! `playproof verify [PLAYBOOK...]`: what holds of a playbook whatever an upstream answers, and what breaks the rest.

use std::path::Path;

use playproof_engine::event::FindingId;
use playproof_engine::sim::Plan;
use playproof_explore::{Compared, Fate, PROPERTIES, Question, Verified, compare, verify};
use playproof_formats::diagnostic::{counted, did_you_mean};
use playproof_formats::playbook::Loaded;
use playproof_formats::shell::Command;
use playproof_report::verify::{Shown, json, pages};

use crate::changeset::Change;
use crate::duplicate_args;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::flags::Given;
use crate::format::formats;
use crate::output::{Output, to_stderr};
use crate::reports;
use crate::reports::ReportTo;
use crate::terminal::Terminal;
use crate::threads::Threads;
use crate::values::whole;
use crate::workspace::Workspace;

/// States of one playbook that are looked at unless more are asked for.
const MAX_STATES: u64 = 100_000;

formats!(Format: Table = "For people", Json = "One JSON document", Markdown = "For a comment");

/// The arguments of `verify`, with the flags that were typed.
pub type Args = Given<Options>;

/// What is verified.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  playproof verify                              the project's playbook
  playproof verify standard reversing
  playproof verify my.yaml --property duplicate_effect
  playproof verify my.yaml --write-fixtures fixtures/found
  playproof verify my.yaml --against standard

Answers each attempt, refresh and reversal of a call in every way: it works, fails with and without its effect, is lost or
late. What a failure can hide does not come from the playbook. A property is a finding that no such script of answers may
show; a counterexample is the script with the fewest departures from an upstream that works, then the fewest answers.

`What holds rests on` names what the upstream must keep to: without it, and with at most three departures, the properties
below it break. `playproof help FINDING` explains a property.

Exit codes: 0 all that was asked holds, 1 a property is violated, 2 unusable or nothing was asked, 3 cut short
(--max-states).")]
pub struct Options {
    /// Playbooks: names (of `playbooks/`, else embedded) or paths [default: the project's, or standard]
    #[arg(value_name = "PLAYBOOK")]
    pub playbooks: Vec<String>,

    /// Ask only this property; may be given several times
    #[arg(long = "property", value_name = "ID", value_parser = property)]
    pub properties: Vec<FindingId>,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,

    /// Write each counterexample as a fixture into this folder of the project, over no file: each `expect` is what the
    /// playbook does now
    #[arg(long, value_name = "DIR")]
    pub write_fixtures: Option<String>,

    /// Say which guarantees and assumptions are gained and lost against this playbook
    #[arg(long, value_name = "OLD")]
    pub against: Option<String>,

    /// Write a page for a browser too, as html=FILE
    #[arg(long = "report", value_name = "html=FILE", value_parser = reports::page)]
    pub report: Option<ReportTo>,

    /// Look at no more than about this many states of a playbook; exit with 3 if that is not enough
    #[arg(long, value_name = "N", default_value_t = MAX_STATES, value_parser = whole::<u64>(0..=u64::MAX))]
    pub max_states: u64,

    /// The threads.
    #[command(flatten)]
    pub threads: Threads,
}

/// A property by its name.
fn property(text: &str) -> Result<FindingId, String> {
    let names = || PROPERTIES.iter().map(|id| id.as_str());
    PROPERTIES.into_iter().find(|id| id.as_str() == text).ok_or_else(|| {
        let near = did_you_mean(text, names()).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        format!("there is no property `{text}`, only {}{near}", names().collect::<Vec<_>>().join(", "))
    })
}

/// A playbook with its result.
struct Judged {
    plan: Plan,
    loaded: Loaded,
    result: Verified,
    /// Held against the playbook of `--against`, by its name.
    against: Option<(String, Compared)>,
}

/// Verifies.
///
/// # Errors
/// An unusable playbook, a file in the way of a fixture.
pub fn run(args: &Args, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    duplicate_args::refuse_playbooks(&args.playbooks, |once| {
        args.flags.after(Command::new("playproof verify").paths(once))
    })?;
    reports::refuse_page(args.report.as_ref(), &[])?;
    let workspace = Workspace::open()?;
    let project_lock = args.write_fixtures.as_ref().map(|_| workspace.project_lock()).transpose()?;
    workspace.say_guesses()?;
    let named = args.playbooks.iter().map(|name| Some(name.as_str()));
    let asked: Vec<_> = if args.playbooks.is_empty() { vec![None] } else { named.collect() };
    let old = args.against.as_deref().map(|old| one(args, &workspace, Some(old))).transpose()?;
    let mut judged = Vec::new();
    for asked in asked {
        let one = one(args, &workspace, asked)?;
        let against = old.as_ref().map(|old| (old.result.playbook.clone(), compare(&old.result, &one.result)));
        judged.push(Judged { against, ..one });
    }
    if let (Some(folder), Some(project_lock)) = (&args.write_fixtures, project_lock) {
        refuse_unknown(&workspace, folder, &judged)?;
        let changes = fixtures(&workspace.with_fixtures(Some(folder)), &judged)?;
        project_lock.commit(&changes, output)?;
        let written = counted(changes.len() as u64, "fixture", "fixtures");
        to_stderr(&match changes.is_empty() {
            true => "no property is violated: no fixture was written\n".to_owned(),
            false => format!("wrote {written} into {folder}\n"),
        });
    }
    let doc = pages(judged.iter().map(Judged::shown));
    reports::write_page(args.report.as_ref(), || doc.html(), output)?;
    match args.format {
        Format::Json => output.json(json(judged.iter().map(Judged::shown)))?,
        Format::Table => output.page(&terminal.out.doc(&doc.untitled()))?,
        Format::Markdown => output.page(&doc.markdown())?,
    }
    conclude(&judged)
}

/// Verifies one playbook.
fn one(args: &Args, workspace: &Workspace, asked: Option<&str>) -> Result<Judged, Failure> {
    let (playbook, used) = workspace.playbook(asked)?;
    let (properties, jobs) = (args.properties.as_slice(), args.threads.number());
    let question = Question { playbook: &playbook, properties, states: args.max_states, jobs, changed: None };
    let plan = Plan::new(used.loaded.playbook.clone(), workspace.tools());
    let result = verify(&plan, &question);
    Ok(Judged { plan, loaded: used.loaded, result, against: None })
}

impl Judged {
    fn shown(&self) -> Shown<'_> {
        let against = self.against.as_ref().map(|(old, compared)| (old.as_str(), compared));
        Shown { result: &self.result, plan: &self.plan, loaded: &self.loaded, against }
    }
}

/// Refuses fixtures among those of the project of a playbook that the project does not find by its name.
fn refuse_unknown(workspace: &Workspace, folder: &str, judged: &[Judged]) -> Result<(), Failure> {
    let whole = |path: &Path| files::normal(&files::absolute(path));
    let all = workspace.fixture_path("");
    let is_of_project = files::upwards("playproof.yaml").is_some()
        && all.parent().is_some_and(|all| whole(Path::new(folder)).starts_with(whole(all)));
    let mut shown = judged.iter().filter(|one| is_of_project && one.result.counterexamples().next().is_some());
    let usual = workspace.playbook(None).ok().map(|(name, _)| name);
    let is_known = |name: &String| usual.as_ref() == Some(name) || workspace.playbook(Some(name)).is_ok();
    let Some(unknown) = shown.find(|one| !is_known(&one.result.playbook)) else { return Ok(()) };
    let name = &unknown.result.playbook;
    Err(Failure::new(format!(
        "the project has no playbook `{name}`: fixtures of it in {folder} would break its `check`"
    ))
    .help("move the playbook into `playbooks/`, or name a folder outside of the fixtures; nothing was written"))
}

/// The counterexamples as new files.
fn fixtures(workspace: &Workspace, judged: &[Judged]) -> Result<Vec<Change>, Failure> {
    let mut changes = Vec::new();
    for one in judged {
        for (id, shown) in one.result.counterexamples() {
            let name = format!("{}-{}", one.result.playbook, id.as_str()).replace(['/', '_', '.'], "-");
            let path = workspace.fixture_path(&name);
            workspace.refuse_new_fixture(&path)?;
            changes.push(Change::Write(path, shown.text.clone().into_bytes()));
        }
    }
    Ok(changes)
}

fn conclude(judged: &[Judged]) -> Result<Exit, Failure> {
    let mut all = judged.iter().flat_map(|one| one.result.all_counterexamples());
    if let Some((id, shown)) = all.find(|(_, shown)| !shown.confirmed) {
        to_stderr(&format!("error: the ordinary run of this fixture does not show `{}`\n{}", id.as_str(), shown.text));
        return Ok(Exit::Bug);
    }
    let fates = judged.iter().flat_map(|one| &one.result.properties).map(|property| property.fate);
    match fates.min().unwrap_or(Fate::NotAsked) {
        Fate::Violated => Ok(Exit::Found),
        Fate::CutShort(_) => Ok(Exit::Inconclusive),
        Fate::Holds => Ok(Exit::Clean),
        Fate::NotAsked if judged.iter().any(|one| one.result.has_actions) => {
            Err(Failure::new("no property was asked: the playbook orders actions, and no call of an action is tried")
                .help("write fixtures with its actions: `replay` and `check` show the same findings in them")
                .next(Command::new("playproof help fixture")))
        }
        Fate::NotAsked => Err(Failure::new("no property was asked: no call comes to where one of them could break")
            .next(Command::new("playproof lint"))),
    }
}
