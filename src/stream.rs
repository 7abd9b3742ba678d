//! One streaming pass over the traces of a command: opens them, shows progress, reports unusable inputs. The command
//! handles the calls.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, PoisonError};

use super::exit::Failure;
use super::feed::{self, Notes};
use super::flags::Flags;
use super::input_kind::{self, InputKind};
use super::input_paths::InputPaths;
use super::output::{refused, to_stderr};
use super::project::Project;
use super::read_options::ReadOptions;
use super::terminal::Terminal;
use super::threads::Threads;
use super::{duplicate_args, files, inputs, playbooks};
use playproof_analysis::replay::{
    InputAccount, LinkObserver, Observer, PartLinks, ReplayError, ReplayOptions, Replayed, replay,
};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Pace, Plan};
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::diagnostic::Report;
use playproof_formats::shell::Command;
use playproof_intake::bad_line::OR_SKIP;
use playproof_report::overview;
use playproof_report::overview::InputNote;
use playproof_report::{diagnostic, text};

/// The inputs, and how to read them.
pub struct Stream<'a> {
    /// The command alone.
    pub name: &'static str,
    /// The command with everything before its inputs, for suggested commands.
    pub command: Command,
    /// The given flags, for suggested commands.
    pub flags: Flags,
    /// What is read.
    pub inputs: &'a InputPaths,
    /// The flags that say how to read them.
    pub reading: &'a ReadOptions,
    /// The answers after the end of a recording.
    pub beyond: MissingAnswerPolicy,
    /// When calls start that are simulated together.
    pub pace: Option<Pace>,
    /// The number of threads.
    pub threads: Threads,
    /// Whether `--allow-empty` is given; none if the command has no such flag.
    pub allow_empty: Option<bool>,
    /// Whether a partial result is asked for: what links it to others is wanted.
    pub is_part: bool,
}

/// The result of a pass.
pub struct Streamed {
    /// The counts of the replay.
    pub replayed: Replayed,
    /// How each input was read.
    pub notes: Vec<InputNote>,
    /// What links these calls to those of other parts, if it is wanted.
    pub links: PartLinks,
    /// Why some inputs could not be read to their ends; the others are counted.
    pub unread: Option<Failure>,
}

impl Streamed {
    /// Refuses a result without some of the inputs.
    ///
    /// # Errors
    /// An input that could not be read to its end.
    pub fn all_read(self) -> Result<Streamed, Failure> {
        match self.unread {
            Some(failure) => Err(failure),
            None => Ok(self),
        }
    }
}

impl<'a> Stream<'a> {
    /// The inputs of `playproof NAME`, read without answers after their ends, on all cores; they have calls.
    pub fn new(name: &'static str, inputs: &'a InputPaths, reading: &'a ReadOptions, flags: Flags) -> Stream<'a> {
        Stream {
            name,
            command: Command::new("playproof").and(name),
            flags,
            inputs,
            reading,
            beyond: MissingAnswerPolicy::Unanswered,
            pace: None,
            threads: Threads::default(),
            allow_empty: None,
            is_part: false,
        }
    }

    /// Refuses an input that is named twice, and finds the project and the tool facts: those of the file `tools`, or the
    /// project's.
    ///
    /// # Errors
    /// An input that is named twice; a project or tool facts that cannot be read.
    pub fn begin(&self, tools: Option<&str>) -> Result<(Project, Tools), Failure> {
        self.refuse_repeated()?;
        let project = Project::find()?;
        let tools = playbooks::facts_said(tools, &project)?;
        Ok((project, tools))
    }

    /// Replays all inputs under `plans`; `each` gets every part that `watch` makes, in order.
    ///
    /// # Errors
    /// No input can be read or used; there are no calls, unless that is allowed.
    pub fn run<W: Observer>(
        &self,
        plans: &[Plan],
        watch: &W,
        project: &Project,
        terminal: &Terminal,
        mut each: impl FnMut(W::Part) + Send,
    ) -> Result<Streamed, Failure> {
        self.write(plans, watch, project, terminal, |part| {
            each(part);
            Ok(())
        })
    }

    /// The same for an `each` that writes and may fail.
    ///
    /// # Errors
    /// Those of [`Stream::run`], and those of `each`.
    pub fn write<W: Observer>(
        &self,
        plans: &[Plan],
        watch: &W,
        project: &Project,
        terminal: &Terminal,
        mut each: impl FnMut(W::Part) -> io::Result<()> + Send,
    ) -> Result<Streamed, Failure> {
        self.refuse_fixtures()?;
        let reading = self.reading.reading(self.threads)?;
        let options = ReplayOptions {
            jobs: reading.jobs,
            assemble: self.reading.options(),
            beyond: self.beyond.clone(),
            redaction: project.redaction.clone(),
            pace: self.pace,
            simulates_each: false,
        };
        let notes: Notes = Notes::default();
        let bar = feed::bar(self.inputs.files(), terminal);
        let (notes_of, sources) = (Arc::clone(&notes), self.inputs.sources().clone());
        let feed = feed::open(self.inputs.files(), &reading, &project.redaction, notes_of, sources, bar.clone());
        let watch = LinkObserver { other: watch, is_wanted: self.is_part };
        let mut links = PartLinks::default();
        let replayed = replay(plans, feed, &options, &watch, |(part, more)| {
            links.extend(more);
            each(part)
        });
        bar.finish_and_clear();
        let learned = std::mem::take(&mut *notes.lock().unwrap_or_else(PoisonError::into_inner));
        let (mut notes, mut unread) = (learned.notes, learned.refused);
        let replayed = match replayed {
            Ok(replayed) => replayed,
            Err(ReplayError::Output(error)) => return Err(refused(&error)),
            Err(ReplayError::Read(replayed, more)) => {
                unread.extend(more.into_iter().map(|unread| (unread.input, Failure::from(unread.error))));
                *replayed
            }
        };
        for (n, _) in &unread {
            notes.get_mut(*n).into_iter().for_each(|note| note.unread = true);
        }
        let is_nothing_read = unread.len() == replayed.inputs.len();
        let unread = self.unread(unread);
        if is_nothing_read && let Some(failure) = unread {
            return Err(failure);
        }
        self.show_skipped(&replayed, terminal)?;
        self.refuse_empty(&replayed, &notes)?;
        Ok(Streamed { replayed, notes, links, unread })
    }

    /// The failures of inputs as one, in the order of the inputs.
    fn unread(&self, mut failures: Vec<(usize, Failure)>) -> Option<Failure> {
        failures.sort_by_key(|(n, _)| *n);
        failures.into_iter().map(|(_, failure)| self.with_next(failure)).reduce(Failure::and)
    }

    /// Refuses an input that is named twice. Comes before any input is read.
    ///
    /// # Errors
    /// There is such an input.
    pub fn refuse_repeated(&self) -> Result<(), Failure> {
        duplicate_args::refuse_inputs(self.inputs.typed(), &self.flags, |once, flags| self.with_inputs(once, flags))
    }

    fn refuse_fixtures(&self) -> Result<(), Failure> {
        match self.inputs.files().iter().find(|path| inputs::is_fixture(path)) {
            None => Ok(()),
            Some(path) => {
                input_kind::expect(InputKind::Trace, path, files::read_small(path)?.text.as_bytes())?;
                let said = format!("`{path}` has the name of a fixture, and `{}` reads traces", self.name);
                Err(Failure::new(said).next(Command::new("playproof replay").path(path)))
            }
        }
    }

    /// The failure of an input, with a command to run next unless it has one.
    fn with_next(&self, failure: Failure) -> Failure {
        let next = match &failure {
            Failure::Reports { reports, next: None } => reports.first().and_then(|report| self.next_after(report)),
            _ => None,
        };
        match next {
            Some(next) => failure.next(next),
            None => failure,
        }
    }

    /// The command to run after an unusable input.
    fn next_after(&self, report: &Report) -> Option<Command> {
        let first = report.diagnostics.first()?;
        match first.id {
            "directory" => Some(self.with_inputs(&["FOLDER"], &self.flags)), // standard input is one
            // The report itself says whether skipping lines helps.
            _ if self.reading.skip_invalid => None,
            // The whole file is probably something else.
            "not_json" if report.source.first_line == 1 => Some("playproof schema trace".into()),
            _ => {
                first.help.as_ref().filter(|help| help.contains("--skip-invalid")).map(|_| self.again("--skip-invalid"))
            }
        }
    }

    /// An input without calls is no result. Beside others it is noted.
    fn refuse_empty(&self, replayed: &Replayed, notes: &[InputNote]) -> Result<(), Failure> {
        let is_empty = |account: &InputAccount| account.ledger.calls + account.ledger.combined == 0;
        let read = replayed.inputs.iter().zip(notes).filter(|(_, note)| !note.unread).map(|(account, _)| account);
        let empty: Vec<&InputAccount> = read.filter(|account| is_empty(account)).collect();
        match empty.first().filter(|_| self.allow_empty != Some(true)) {
            Some(account) if empty.len() == replayed.inputs.len() => Err(self.empty(account)),
            Some(_) => {
                let names: Vec<&str> = empty.iter().map(|account| account.name.as_str()).collect();
                to_stderr(&format!("note: no calls in {}\n", names.join(", ")));
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn empty(&self, account: &InputAccount) -> Failure {
        let ledger = &account.ledger;
        let flag = self.allow_empty.map_or("", |_| "; `--allow-empty` accepts an input without calls");
        let refused = |said: String| Failure::source(&account.name, "empty_input", said).next("playproof schema trace");
        match (ledger.lines, ledger.results) {
            (0, _) => {
                let failure = inputs::empty(&account.name);
                match flag.strip_prefix("; ") {
                    None => failure.next("playproof schema trace"),
                    Some(flag) => failure.and_help(flag).next(self.again("--allow-empty")),
                }
            }
            (lines, 0) => {
                let odd = overview::unknown_names(&account.first_unknown).into_iter().map(|said| format!("; {said}"));
                refused(format!("no calls in {}", text::counted(lines, "line", "lines")))
                    .help(format!("a call is a line with `tool`{flag}{}", odd.collect::<String>()))
            }
            (_, results) => refused(format!("{}, but no calls", text::counted(results, "result", "results")))
                .help(format!("a result belongs to a call before it{flag}")),
        }
    }

    /// Prints the first skipped lines with their places, and the number of others; each help text is printed once.
    fn show_skipped(&self, replayed: &Replayed, terminal: &Terminal) -> Result<(), Failure> {
        let mut helps = BTreeSet::new();
        for account in replayed.inputs.iter().filter(|account| account.ledger.skipped > 0) {
            for report in &account.skipped {
                let report = with_new_help(report, &mut helps);
                to_stderr(&diagnostic::render(&report, terminal.err.width, terminal.err.colour));
            }
            let more = account.ledger.skipped.saturating_sub(account.skipped.len() as u64);
            if more > 0 {
                to_stderr(&format!("… and {} more\n", text::count(more)));
            }
            self.reading.account_for(&account.name, &account.ledger)?;
        }
        Ok(())
    }

    /// The same command with one more flag.
    fn again(&self, flag: &'static str) -> Command {
        self.with_inputs(&self.inputs.shortest(), &self.flags).and(flag)
    }

    /// The same command with these inputs and flags.
    fn with_inputs<S: AsRef<str>>(&self, inputs: &[S], flags: &Flags) -> Command {
        flags.after(self.command.clone().paths(inputs))
    }
}

/// The report without help texts that were printed before.
fn with_new_help(report: &Report, said: &mut BTreeSet<String>) -> Report {
    let mut report = report.clone();
    for diagnostic in &mut report.diagnostics {
        let help = diagnostic.help.take().map(|help| help.replace(OR_SKIP, ""));
        diagnostic.help = help.filter(|help| said.insert(help.clone()));
    }
    report
}
