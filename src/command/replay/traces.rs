//! Replays traces under several playbooks: the summary, and the most serious calls.

use std::sync::Mutex;

use super::args::{Args, Format, SELECTING};
use super::audit::AuditFile;
use super::prepared::{arguments, arguments_of_page, plans};
use super::recording;
use super::shown::{CallDrawing, heading};
use super::watch::{Batch, Watcher, of_playbook};
use crate::exit::{Exit, Failure};
use crate::input_paths::InputPaths;
use crate::output::{Output, json_to_stdout, say};
use crate::partial::{self, Maker, Parts, Sums, Whole};
use crate::project::Project;
use crate::stream::{Stream, Streamed};
use crate::terminal::Terminal;
use crate::{inputs, missing_answer, playbooks, reports};
use playproof_analysis::recorded::Arguments;
use playproof_analysis::replay::{FailureCounts, Replayed};
use playproof_engine::event::{Finding, FindingSeverity, PlaybookNames};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::diagnostic::did_you_mean;
use playproof_formats::playbook::Loaded;
use playproof_formats::shell;
use playproof_formats::shell::Command;
use playproof_intake::origin::Sources;
use playproof_report::doc::Doc;
use playproof_report::json;
use playproof_report::json::{Object, document};
use playproof_report::listing::{CallSelection, Group, Groups, ListedCall, Listing, Only};
use playproof_report::opening::{Sharper, sharper};
use playproof_report::overview::InputNote;
use playproof_report::replay::{ReplayPage, page as page_of_replay};
use playproof_report::summary::Totals;
use playproof_report::text;

/// Groups of calls that are shown unless `--all` is given.
const SHOWN: usize = 20;

/// The first line of a replay as lines.
const FORMAT: &[u8] = b"{\"type\":\"format\",\"format\":\"replay/1\"}\n";

/// What a replay counts beside: the calls that a page may list, and failures by verdict and template, one a playbook.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct ReplaySums {
    failures: Vec<FailureCounts>,
    groups: Groups,
    /// Each call is listed by itself.
    is_unfolded: bool,
}

impl Sums for ReplaySums {
    const COMMAND: &'static str = "replay";

    fn merge(&mut self, later: ReplaySums, before: u32) {
        self.groups.merge(later.groups, before, self.is_unfolded);
        self.failures.iter_mut().zip(later.failures).for_each(|(all, later)| all.merge(later));
    }

    fn missed_at_most(&self) -> u64 {
        self.failures.iter().map(FailureCounts::missed_at_most).max().unwrap_or(0)
    }

    fn remarks(&self) -> Vec<&'static str> {
        let forgotten = "Calls that end are too many to keep all: what came before a listed call may be missing.";
        self.groups.has_forgotten().then_some(forgotten).into_iter().collect()
    }
}

/// Replays traces.
pub fn run(
    args: &Args,
    paths: &InputPaths,
    project: &Project,
    tools: &Tools,
    terminal: &Terminal,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if let Some(file) = &args.partial {
        partial::refuse(&args.flags, file, paths)?;
    }
    let (plans, loaded) = plans(&playbooks::names(&args.playbooks, project), tools, args.seed)?;
    if args.same_decisions {
        return recording::compare(args, paths, (&plans, tools), project, terminal, output);
    }
    let audit = AuditFile::of(args, paths.files().iter().map(String::as_str))?;
    let sources = paths.sources();
    let selection = selection(args, &plans, sources)?;
    let lines = args.format == Format::Jsonl;
    let wanted = lines.then(|| selection.clone());
    let watcher = Watcher {
        lines: wanted,
        listing: Listing::new(selection.clone()),
        sources: sources.clone(),
        envelope: args.envelope,
        has_page: args.report.is_some() || args.partial.is_some(),
        audits: audit.is_some(),
        spare: Mutex::default(),
    };
    let beyond = args.beyond_tape.clone().unwrap_or_default();
    missing_answer::warn(&beyond, &plans.iter().collect::<Vec<_>>());
    let stream = Stream {
        beyond: beyond.clone(),
        pace: args.pace,
        threads: args.threads,
        allow_empty: Some(args.allow_empty),
        is_part: args.partial.is_some(),
        ..Stream::new("replay", paths, &args.reading, args.flags.clone())
    };
    let mut audited = Vec::new();
    let (mut written, mut failures) = (0, vec![FailureCounts::default(); plans.len()]);
    let streamed = stream.write(&plans, &watcher, project, terminal, |mut batch: Batch| {
        // An empty selection is refused, so the head comes with the first selected call.
        let head = if written == 0 { FORMAT } else { b"" };
        written += batch.written;
        audited.append(&mut batch.audited);
        failures.iter_mut().zip(batch.failures.drain(..)).for_each(|(all, later)| all.merge(later));
        let lines = &batch.lines;
        let result = if lines.is_empty() { Ok(()) } else { json_to_stdout(head).and_then(|()| json_to_stdout(lines)) };
        watcher.keep(batch);
        result
    })?;
    audit.map(|file| file.write(&audited, output)).transpose()?;
    let groups = watcher.listing.into_groups();
    let sums = ReplaySums { failures, groups, is_unfolded: selection.unfolded };
    if let Some(file) = &args.partial {
        return partial::write(maker(args, project, &plans), file, paths, streamed, sums, output);
    }
    refuse_empty(args, paths, if lines { written } else { sums.groups.calls() })?;
    if lines && written == 0 {
        output.json(FORMAT)?;
    }
    let Streamed { replayed, notes, unread, .. } = streamed;
    let whole = Whole { replayed, notes, sums, remarks: Vec::new() };
    let setup = ReplaySetup { args, paths, project, terminal, plans: &plans, loaded: &loaded, selection: &selection };
    let exit = setup.show(whole, output)?;
    unread.map_or(Ok(exit), Err)
}

/// Shows the sums of parts, as `replay` shows those of their traces.
///
/// # Errors
/// The parts cannot be added; what is selected of them is empty.
pub fn show_merged(
    args: &Args,
    parts: Parts<ReplaySums>,
    terminal: &Terminal,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let project = &Project::find()?;
    let tools = playbooks::facts_said(args.tools.as_deref(), project)?;
    let (plans, loaded) = plans(&playbooks::names(&args.playbooks, project), &tools, args.seed)?;
    let paths = &parts.inputs();
    let selection = selection(args, &plans, paths.sources())?;
    let whole = parts.add(maker(args, project, &plans), paths.sources())?;
    refuse_empty(args, paths, whole.sums.groups.calls())?;
    let setup = ReplaySetup { args, paths, project, terminal, plans: &plans, loaded: &loaded, selection: &selection };
    setup.show(whole, output)
}

fn maker<'a>(args: &'a Args, project: &'a Project, plans: &'a [Plan]) -> Maker<'a> {
    Maker { flags: &args.flags, tools: args.tools.as_deref(), project, plans }
}

/// What a replay is shown with.
struct ReplaySetup<'a> {
    args: &'a Args,
    paths: &'a InputPaths,
    project: &'a Project,
    terminal: &'a Terminal,
    plans: &'a [Plan],
    loaded: &'a [Loaded],
    selection: &'a CallSelection,
}

impl ReplaySetup<'_> {
    /// Writes the page; gives the exit code of the replay.
    fn show(&self, whole: Whole<ReplaySums>, output: &mut Output) -> Result<Exit, Failure> {
        let ReplaySetup { args, paths, project, terminal, loaded, .. } = *self;
        let Whole { replayed, notes, sums: ReplaySums { failures, groups, .. }, remarks } = whole;
        let named = (args.tools.as_deref(), loaded.first());
        playbooks::warn_of_arguments(&replayed.arguments, named, project, terminal)?;
        let groups = groups.ranked(paths.sources());
        say_ambiguous(args, &groups, paths.sources());
        let beyond = args.beyond_tape.clone().unwrap_or_default();
        let page = Page { setup: self, beyond: &beyond, replayed: &replayed, notes: &notes, remarks: &remarks };
        reports::write_page(
            args.report.as_ref(),
            || page.doc(&groups, &failures, arguments_of_page(args)).html(),
            output,
        )?;
        page.write(&groups, output)?;
        if args.format == Format::Table {
            let resolved = inputs::resolved(paths.files(), &project.redaction, |_| true)?;
            if !resolved.is_empty() {
                output.lines(&resolved)?;
            }
        }
        Ok(exit(&replayed, args.strict))
    }
}

/// Which calls are listed.
fn selection(args: &Args, plans: &[Plan], sources: &Sources) -> Result<CallSelection, Failure> {
    let everything =
        args.all || args.call.is_some() || args.run.is_some() || args.tool.is_some() || args.format == Format::Jsonl;
    let only = match args.only() {
        None if args.class.is_some() => Only::Failed,
        None if everything => Only::Nothing,
        None => Only::FailedOrFound,
        Some("failed") => Only::Failed,
        Some("findings") => Only::Found,
        Some(verdict) => Only::Verdict(known_verdict(verdict, plans)?),
    };
    let unfolded = args.all || args.call.is_some();
    let call = args.call.as_deref().map(|call| inputs::place(call).into_owned());
    let (run, tool, class) = (args.run.clone(), args.tool.clone(), args.class);
    Ok(CallSelection { only, call, sources: sources.clone(), run, tool, class, unfolded })
}

/// References are unique in an input, ids not even there: a name that selects several calls says so.
fn say_ambiguous(args: &Args, groups: &[Group], sources: &Sources) {
    let (Some(call), [first, _, ..]) = (&args.call, groups) else { return };
    let name = |group: &Group| sources.describe(group.detail.call.place);
    let listed: Vec<String> = groups.iter().take(SHOWN).map(name).collect();
    let more = if groups.len() > SHOWN { ", and more" } else { "" };
    say(&format!(
        "note: `{call}` is the name of {} calls: {}{more}; one of them alone: --call {}",
        groups.len(),
        listed.join(", "),
        shell::word(&name(first))
    ));
}

fn known_verdict(name: &str, plans: &[Plan]) -> Result<String, Failure> {
    let known: Vec<&str> = plans.iter().flat_map(|plan| &plan.names.verdicts).map(|verdict| &**verdict).collect();
    if known.contains(&name) {
        return Ok(name.to_owned());
    }
    let failure = Failure::new(format!("`{name}` is neither `failed`, nor `findings`, nor a verdict of the playbook"));
    Err(match did_you_mean(name, known.iter().copied().chain(["failed", "findings"])) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure.help(format!("its verdicts are {}", known.join(", "))),
    })
}

/// A selection that selects nothing is no success.
fn refuse_empty(args: &Args, paths: &InputPaths, selected: u64) -> Result<(), Failure> {
    if selected > 0 || args.allow_empty {
        return Ok(());
    }
    let said = match (&args.call, &args.run, args.only()) {
        _ if args.class.is_some() || args.tool.is_some() => {
            format!("there is no call that `{}` selects", selecting(args))
        }
        (Some(call), Some(run), _) => format!("there is no call `{call}` in the run `{run}`"),
        (Some(call), None, _) => format!("there is no call `{call}`"),
        (None, Some(run), _) => format!("there is no call in a run `{run}`"),
        (_, _, Some(verdict)) if !["failed", "findings"].contains(&verdict) => {
            format!("there is no failure with the verdict `{verdict}`")
        }
        _ => return Ok(()),
    };
    let mut command = Command::new("playproof replay").paths(paths.shortest());
    let of_run = args.run.as_ref().zip(args.call.as_ref().filter(|call| call.starts_with('#')));
    let whole = of_run.map(|(run, number)| format!("{run}{number}"));
    let failure = Failure::new(said);
    let failure = match &whole {
        Some(whole) => {
            command = command.flag("--call", whole);
            failure.help(format!("the calls of a run are named after it: `{whole}`"))
        }
        None if args.call.is_some() => failure.help(
            "a call is named by run and number (`r1#3`), by FILE:LINE, or by its own id; \
             `--allow-empty` accepts an empty selection",
        ),
        None => failure.help("`--allow-empty` accepts an empty selection"),
    };
    Err(failure.next(args.flags.without(&SELECTING).without(&["--call"]).after(command)))
}

/// The flags that select calls, as they can be typed.
fn selecting(args: &Args) -> String {
    let flags: Vec<String> = args.selected().map(|(flag, value)| format!("--{flag} {}", shell::word(value))).collect();
    flags.join(" ")
}

/// An `unsafe` finding by anyone is 1; a doubt, and that no call was answered, count only where they are asked to.
fn exit(replayed: &Replayed, strict: bool) -> Exit {
    let found = |severity: FindingSeverity| {
        let by_playbook = replayed.summaries.iter().flat_map(|summary| summary.findings.rows());
        replayed.recorded.rows().chain(by_playbook).any(|(kind, _, _)| kind.severity == severity)
    };
    if found(FindingSeverity::Unsafe) {
        Exit::Found
    } else if strict && (found(FindingSeverity::Doubt) || replayed.ledger().attached == 0) {
        Exit::Inconclusive
    } else {
        Exit::Clean
    }
}

/// The contents of a page, except the calls.
struct Page<'a> {
    setup: &'a ReplaySetup<'a>,
    beyond: &'a MissingAnswerPolicy,
    replayed: &'a Replayed,
    notes: &'a [InputNote],
    /// What is not as exact as in one replay.
    remarks: &'a [String],
}

impl Page<'_> {
    fn shown<'g>(&self, groups: &'g [Group]) -> &'g [Group] {
        if self.setup.args.all { groups } else { &groups[..groups.len().min(SHOWN)] }
    }

    fn write(&self, groups: &[Group], output: &mut Output) -> Result<(), Failure> {
        let doc = || self.doc(groups, &[], arguments(self.setup.args));
        match self.setup.args.format {
            Format::Markdown => output.page(&doc().markdown()),
            Format::Json => output.json(self.json(groups, self.shown(groups))),
            Format::Jsonl => output.json(self.last_line()),
            Format::Table => output.page(&self.setup.terminal.out.doc(&doc().untitled())),
        }
    }

    fn doc(&self, groups: &[Group], failures: &[FailureCounts], arguments: Arguments) -> Doc {
        let (shown, playbooks) = (self.shown(groups), self.playbooks());
        let (sharper, said, next) = (self.sharper(), self.said().join(" "), self.next(shown));
        let worst = groups.first().and_then(Group::severity);
        let page = ReplayPage {
            totals: Totals { replayed: self.replayed, names: &playbooks },
            notes: self.notes,
            failures,
            sharper: sharper.as_ref(),
            has_counts: self.setup.args.stats || self.setup.args.format == Format::Markdown,
            remarks: Some(&*said).filter(|said| !said.is_empty()),
            heading: &heading(&self.setup.selection.only, shown.len(), groups),
            of_worst: groups.iter().filter(|group| group.severity() == worst).count(),
            next: next.as_ref(),
        };
        page_of_replay(&page, self.drawing().cards(shown, arguments, self.setup.loaded))
    }

    fn json(&self, groups: &[Group], shown: &[Group]) -> String {
        let drawing = self.drawing();
        let calls: Vec<Object> = shown.iter().map(|group| drawing.json(group)).collect();
        let whole = self.replayed_json(Object::document("replay/1"));
        document(&whole.with("groups", groups.len()).with("calls", calls))
    }

    fn last_line(&self) -> String {
        document(&self.replayed_json(Object::default().with("type", "summary")))
    }

    /// Adds the selection, which limits the list, and every number: these cover the whole input.
    fn replayed_json(&self, begun: Object) -> Object {
        let selected: Vec<(&str, &str)> = self.setup.args.selected().collect();
        let selected = (!selected.is_empty()).then(|| selected.into_iter().collect::<Object>());
        let (playbooks, notes, sources) = (self.playbooks(), self.notes, self.setup.paths.sources());
        let begun = begun.maybe("listed_only", selected);
        let begun = if self.remarks.is_empty() { begun } else { begun.with("approximate", self.remarks) };
        begun.and(&json::replayed(self.replayed, &playbooks, notes, sources))
    }

    /// What is said of the numbers below them.
    fn said(&self) -> Vec<String> {
        self.whole().into_iter().chain(self.remarks.iter().cloned()).collect()
    }

    /// The note that a selection chooses only what is listed: the summary covers the whole input.
    fn whole(&self) -> Option<String> {
        let flags = selecting(self.setup.args);
        let said = "Counted above, and judged by the exit code: the whole input. Listed below: only what";
        (!flags.is_empty()).then(|| text::escape_unprintable(&format!("{said} `{flags}` selects.")).into_owned())
    }

    fn playbooks(&self) -> Vec<&PlaybookNames> {
        self.setup.plans.iter().map(|plan| &plan.names).collect()
    }

    fn drawing(&self) -> CallDrawing<'_> {
        let sources = self.setup.paths.sources();
        CallDrawing { plans: self.setup.plans, beyond: self.beyond, sources, envelope: self.setup.args.envelope }
    }

    /// The place of the playbook under which the worst finding of a call was made.
    fn worst_under(&self, detail: &ListedCall) -> usize {
        let key = |finding: &Finding| finding.kind();
        let recorded = detail.recorded.iter().map(|finding| (key(finding), 0));
        let own = detail
            .records
            .iter()
            .enumerate()
            .flat_map(|(n, record)| of_playbook(record).map(move |finding| (key(&finding), n)));
        recorded.chain(own).min().map_or(0, |(_, playbook)| playbook)
    }

    /// The command that would make the picture sharper.
    fn sharper(&self) -> Option<Command> {
        self.setup.paths.again(0)?;
        match sharper(self.replayed)? {
            Sharper::Facts => {
                let command = Command::new("playproof confirm").paths(self.setup.paths.shortest());
                Some(self.setup.args.flags.reading(&["--tools"]).after(command))
            }
            Sharper::JoinedResends if self.setup.args.reading.join_resends => None,
            Sharper::JoinedResends => {
                let command = Command::new("playproof replay").paths(self.setup.paths.shortest()).and("--join-resends");
                Some(self.setup.args.flags.after(command))
            }
        }
    }

    /// The one command to run next: the worst call, explained.
    fn next(&self, shown: &[Group]) -> Option<Command> {
        let call = &shown.first()?.detail.call;
        let input = self.setup.paths.again(call.place.input)?;
        let name = self.setup.paths.sources().name_of(&call.reference(), call.place);
        let command = Command::new("playproof explain").path(input).name(&name);
        let worst = self.setup.args.playbooks.get(self.worst_under(&shown.first()?.detail));
        let flags = self.setup.args.flags.reading(&["--tools"]).with("--playbook", worst.map(String::as_str));
        Some(flags.and(self.setup.args.flags.only(&["--beyond-tape", "--seed", "--pace"])).after(command))
    }
}
