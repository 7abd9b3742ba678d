//! `playproof conform`: asks a dispatcher of the user's own, or plain code, what it does with each fixture, and compares it with
//! a playbook.

#![expect(clippy::disallowed_methods, reason = "this command starts the dispatcher that `--exec` names")]

use std::io::{BufRead, BufReader, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use clap::ValueEnum;

use crate::exit::{Exit, Failure};
use crate::output::{Output, json_to_stdout, refused};
use crate::workspace::{Workspace, load_fixture};
use playproof_engine::fixture::Fixture;
use playproof_engine::plan::Plan;
use playproof_report::text::counted;
use playproof_serve::conform::{Askable, Compared, Comparison, Difference, Uncompared, askable, asked, compare};

/// How long a dispatcher may be silent.
const PATIENCE: Duration = Duration::from_secs(5);

/// What may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Ignored {
    /// The moments of requests and ends
    Waits,
}

/// What counts alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Only {
    /// The effects upstream
    Effects,
}

/// What is compared.
#[derive(Debug, clap::Args)]
#[command(override_usage = "playproof conform [OPTIONS] [FIXTURE]...", group = clap::ArgGroup::new("how").required(true).args(["exec", "stdio", "list"]), after_help = "\
The dispatcher reads lines of `dispatch/1` and answers each with one (`playproof help dispatch`). One process gets all fixtures,
and forgets everything at each `hello`. Playproof has the clock and the upstream. Retry code of your own is asked by a test
(docs/your-retry-code.md), which starts `--stdio`.

Examples:
  playproof conform --exec 'python3 my_dispatcher.py'
  playproof conform --exec 'node my_dispatcher.mjs' fixtures/refund-times-out.yaml --ignore waits

Exit codes: 0 no difference, 1 a difference or harm, 2 the command does not start, is silent for 5 s, or prints no protocol.")]
pub struct Args {
    /// Fixtures, or folders of them [default: the project's]
    #[arg(value_name = "FIXTURE")]
    pub fixtures: Vec<String>,

    /// The command that starts the dispatcher; a shell reads it
    #[arg(long, value_name = "CMD")]
    pub exec: Option<String>,

    /// Ask who has started this one fixture, on standard input and output
    #[arg(long)]
    pub stdio: bool,

    /// With `--stdio`: ask each call as if it were alone
    #[arg(long, requires = "stdio")]
    pub apart: bool,

    /// List which fixtures plain code can be asked, as JSON lines
    #[arg(long)]
    pub list: bool,

    /// The playbook that it is compared with [default: the project's]
    #[arg(long, value_name = "PLAYBOOK")]
    pub playbook: Option<String>,

    /// What may differ
    #[arg(long, value_enum, value_name = "WHAT")]
    pub ignore: Option<Ignored>,

    /// What counts alone
    #[arg(long, value_enum, value_name = "WHAT")]
    pub only: Option<Only>,
}

/// Compares.
pub fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let (name, used) = workspace.playbook(args.playbook.as_deref())?;
    let Some(exec) = &args.exec else {
        return if args.list { list(args, &name, &used.plan, output) } else { stdio(args, &name, &used.plan) };
    };
    let fixtures = fixtures(args, workspace)?;
    let how = Comparison { ignores_waits: args.ignore.is_some(), only_effects: args.only.is_some() };
    let mut dispatcher = Started::new(exec)?;
    let (mut lines, mut asked, mut skipped, mut differ, mut more) = (Vec::new(), 0_u64, Vec::new(), 0_u64, 0_u64);
    let mut unsaid = Uncompared::default();
    for (fixture_name, fixture) in &fixtures {
        if let Some(why) = not_asked(&used.plan, fixture) {
            skipped.push(format!("{fixture_name} ({why})"));
            continue;
        }
        let compared = compare(&used.plan, fixture, how, |line| dispatcher.say(line));
        if compared.as_ref().is_err_and(|broken| broken.lacks_transactions) {
            skipped.push(format!("{fixture_name} (an `act`, and the dispatcher says no `transactions: true`)"));
            continue;
        }
        asked += 1;
        let compared = compared.map_err(|broken| {
            Failure::new(format!("`{exec}` cannot be compared on the fixture `{fixture_name}`: {}", broken.why))
                .help(format!("the last line that it got: {}", broken.said))
        })?;
        differ += u64::from(compared.difference.is_some());
        more += u64::from(compared.effects_caused > compared.effects);
        unsaid.outcomes += compared.uncompared.outcomes;
        unsaid.effects += compared.uncompared.effects;
        lines.extend(line(fixture_name, &compared));
    }
    let left_out = (!skipped.is_empty()).then(|| {
        let number = counted(skipped.len() as u64, "fixture is not run", "fixtures are not run");
        format!("{number}: {}", skipped.join(", "))
    });
    if asked == 0 {
        let failure = Failure::new("there is no fixture to compare").next("playproof help conform");
        return Err(left_out.into_iter().fold(failure, Failure::help));
    }
    lines.push(format!(
        "{} compared with `{name}`: {} the same, {differ} differ, {more} with more effects",
        counted(asked, "fixture", "fixtures"),
        asked - differ,
    ));
    if !how.only_effects {
        lines.extend(not_compared(unsaid));
    }
    lines.extend(left_out);
    output.lines(&lines)?;
    Ok(if differ > 0 { Exit::Found } else { Exit::Clean })
}

/// Why no other dispatcher is asked a fixture.
fn not_asked(plan: &Plan, fixture: &Fixture) -> Option<&'static str> {
    match (has_steps(plan, fixture), fixture.crash.is_some()) {
        (true, _) => Some("an action of several steps, which a dispatcher of tools does not know"),
        (false, true) => Some("a crash"),
        (false, false) => None,
    }
}

/// Which fixtures plain code can be asked under the playbook, each in a line.
fn list(args: &Args, playbook: &str, plan: &Plan, output: &mut Output) -> Result<Exit, Failure> {
    let mut text = String::new();
    let workspace = Workspace::open()?;
    let folders = match args.fixtures.as_slice() {
        [] => vec![workspace.fixtures_name()],
        named => named.to_vec(),
    };
    let mut add = |path: &Path, fixture: &Fixture| {
        if !workspace.playbooks_of(fixture).contains(&playbook) {
            return;
        }
        let Askable { why_not, at_once, apart } = askable(plan, fixture);
        let line = serde_json::json!({
            "fixture": path, "name": path.file_stem().unwrap_or_default().to_string_lossy(), "title": fixture.title,
            "calls": fixture.calls.len(), "at_once": at_once, "apart": apart, "skip": why_not,
        });
        text += &format!("{line}\n");
    };
    for folder in &folders {
        if !Path::new(folder).is_dir() {
            add(Path::new(folder), &load_fixture(folder)?);
            continue;
        }
        let own = Workspace::open()?.with_fixtures(Some(folder));
        for (name, fixture) in own.load_fixtures(&own.fixture_names()?, NonZeroUsize::MIN)? {
            add(&Path::new(folder).join(format!("{name}.yaml")), &fixture);
        }
    }
    if text.is_empty() {
        return Err(Failure::new(format!("no fixture runs under `{playbook}`")).next("playproof help conform"));
    }
    output.json(text)?;
    Ok(Exit::Clean)
}

/// Asks who has started this.
fn stdio(args: &Args, playbook: &str, plan: &Plan) -> Result<Exit, Failure> {
    let [path] = args.fixtures.as_slice() else {
        return Err(Failure::new("`--stdio` asks one fixture").next("playproof help conform"));
    };
    let fixture = load_fixture(path)?;
    if let Some(why) = askable(plan, &fixture).why_not {
        return Err(Failure::new(format!("plain code cannot be asked `{path}`: under `{playbook}` it {why}")));
    }
    let mut from = std::io::stdin().lock();
    let ask = |line: &str| {
        json_to_stdout(format!("{line}\n").as_bytes()).map_err(|error| error.to_string())?;
        let mut answer = String::new();
        let length = from.read_line(&mut answer).map_err(|error| error.to_string())?;
        if length == 0 { Err("it has ended".to_owned()) } else { Ok(answer) }
    };
    let found = asked(plan, &fixture, args.apart, ask);
    json_to_stdout(found.line(path, playbook).as_bytes()).map_err(|error| refused(&error))?;
    Ok(if found.harm.is_empty() { Exit::Clean } else { Exit::Found })
}

/// The fixtures that are named, or those of the project.
fn fixtures(args: &Args, workspace: Workspace) -> Result<Vec<(String, Fixture)>, Failure> {
    let of_folder = |workspace: &Workspace| workspace.load_fixtures(&workspace.fixture_names()?, NonZeroUsize::MIN);
    if args.fixtures.is_empty() {
        workspace.refuse_empty()?;
        return of_folder(&workspace);
    }
    let mut all = Vec::new();
    for path in &args.fixtures {
        if Path::new(path).is_dir() {
            all.extend(of_folder(&Workspace::open()?.with_fixtures(Some(path)))?);
        } else {
            all.push((path.clone(), load_fixture(path)?));
        }
    }
    Ok(all)
}

/// Whether a call of a fixture is an action of several steps under a plan.
fn has_steps(plan: &Plan, fixture: &Fixture) -> bool {
    fixture.calls.iter().any(|call| call.is_action || !plan.steps_of(&call.tool).is_empty())
}

/// What the ends of a dispatcher do not say, in a line.
fn not_compared(of: Uncompared) -> Option<String> {
    let counted =
        |count: u32, of: &str| (count > 0).then(|| format!("{of} of {}", counted(count.into(), "end", "ends")));
    let parts = [counted(of.outcomes, "the outcome"), counted(of.effects, "the effect")];
    let said = parts.into_iter().flatten().collect::<Vec<_>>().join(", and ");
    (!said.is_empty()).then(|| format!("not compared, because nothing or another word was said: {said}"))
}

/// What differs in a fixture, in a line.
fn line(fixture: &str, compared: &Compared) -> Option<String> {
    let Difference { call, playbook, dispatcher } = compared.difference.as_ref()?;
    let shown = |what: &Option<String>| what.clone().unwrap_or_else(|| "nothing more".to_owned());
    Some(format!(
        "{fixture}: {call}: playbook: {}; dispatcher: {}; effects: {} and {}",
        shown(playbook),
        shown(dispatcher),
        compared.effects,
        compared.effects_caused,
    ))
}

/// A dispatcher that was started. It ends with this value.
struct Started {
    child: Child,
    to: Option<ChildStdin>,
    from: Receiver<String>,
}

impl Started {
    fn new(command: &str) -> Result<Started, Failure> {
        let mut shell = std::process::Command::new("sh");
        let started = shell.arg("-c").arg(command).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|error| Failure::new(format!("`{command}` does not start: {error}")))?;
        let (to, out) = (child.stdin.take(), child.stdout.take());
        let (heard, from) = channel();
        // A thread reads, so that silence has an end.
        std::thread::spawn(move || {
            let Some(out) = out else { return };
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if heard.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Started { child, to, from })
    }

    /// What a line is answered with.
    fn say(&mut self, line: &str) -> Result<String, String> {
        let said = self.to.as_mut().map(|to| to.write_all(format!("{line}\n").as_bytes()).and_then(|()| to.flush()));
        if !matches!(said, Some(Ok(()))) {
            return Err("it has ended".to_owned());
        }
        self.from.recv_timeout(PATIENCE).map_err(|error| match error {
            std::sync::mpsc::RecvTimeoutError::Timeout => format!("it is silent for {} s", PATIENCE.as_secs()),
            std::sync::mpsc::RecvTimeoutError::Disconnected => "it has ended".to_owned(),
        })
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.to = None;
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}
