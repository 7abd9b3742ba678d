//! Replays traces under several playbooks: the summary, and the most serious calls.

use std::sync::Mutex;

use super::args::{Args, Format, SELECTING};
use super::audit::AuditFile;
use super::partial::{self, Parts, Sums};
use super::prepared::{arguments, arguments_of_page, plans};
use super::recording;
use super::shown::{CallDrawing, heading};
use super::watch::{Part, Watcher, of_playbook};
use crate::exit::{Exit, Failure};
use crate::input_paths::InputPaths;
use crate::output::{Output, json_to_stdout, say};
use crate::project::Project;
use crate::stream::{Stream, Streamed};
use crate::terminal::Terminal;
use crate::{files, inputs, missing_answer, playbooks, reports};
use playproof_analysis::recorded::Arguments;
use playproof_analysis::replay::{FailureCounts, PartLinks, Replayed};
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
use playproof_report::listing::{CallSelection, Group, ListedCall, Listing, Only};
use playproof_report::opening::{Sharper, sharper};
use playproof_report::overview::InputNote;
use playproof_report::replay::{ReplayPage, page as page_of_replay};
use playproof_report::summary::Totals;
use playproof_report::text;

/// Groups of calls that are shown unless `--all` is given.
const SHOWN: usize = 20;

/// The first line of a replay as lines.
const FORMAT: &[u8] = b"{\"type\":\"format\",\"format\":\"replay/1\"}\n";

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
        partial::refuse(args, file, paths)?;
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
        links: args.partial.is_some(),
        spare: Mutex::default(),
    };
    let beyond = args.beyond_tape.clone().unwrap_or_default();
    missing_answer::warn(&beyond, &plans.iter().collect::<Vec<_>>());
    let stream = Stream {
        beyond: beyond.clone(),
        pace: args.pace,
        threads: args.threads,
        allow_empty: Some(args.allow_empty),
        ..Stream::new("replay", paths, &args.reading, args.flags.clone())
    };
    let mut audited = Vec::new();
    let (mut written, mut failures) = (0, vec![FailureCounts::default(); plans.len()]);
    let mut links = PartLinks::default();
    let streamed = stream.write(&plans, &watcher, project, terminal, |mut part: Part| {
        // An empty selection is refused, so the head comes with the first selected call.
        let head = if written == 0 { FORMAT } else { b"" };
        written += part.written;
        audited.append(&mut part.audited);
        failures.iter_mut().zip(part.failures.drain(..)).for_each(|(all, later)| all.merge(later));
        links.extend(std::mem::take(&mut part.links));
        let lines = &part.lines;
        let result = if lines.is_empty() { Ok(()) } else { json_to_stdout(head).and_then(|()| json_to_stdout(lines)) };
        watcher.keep(part);
        result
    })?;
    audit.map(|file| file.write(&audited, output)).transpose()?;
    let groups = watcher.listing.into_groups();
    let Streamed { replayed, notes, unread } = streamed;
    let sums = Sums { replayed, notes, failures, groups };
    if let Some(file) = &args.partial {
        return unread.map_or_else(|| partial::write(args, file, (paths, project, &plans), (sums, links), output), Err);
    }
    refuse_empty(args, paths, if lines { written } else { sums.groups.calls() })?;
    if lines && written == 0 {
        output.json(FORMAT)?;
    }
    let drawn = Drawn { args, paths, project, terminal, plans: &plans, loaded: &loaded, selection: &selection };
    let exit = drawn.show(sums, &[], output)?;
    unread.map_or(Ok(exit), Err)
}

/// Shows the sums of parts, as `replay` shows those of their traces.
///
/// # Errors
/// The parts cannot be added; what is selected of them is empty.
pub fn show_merged(args: &Args, parts: Parts, terminal: &Terminal, output: &mut Output) -> Result<Exit, Failure> {
    let project = Project::find()?;
    let tools = playbooks::facts_said(args.tools.as_deref(), &project)?;
    let (plans, loaded) = plans(&playbooks::names(&args.playbooks, &project), &tools, args.seed)?;
    let paths = InputPaths::read_before(parts.files());
    let selection = selection(args, &plans, paths.sources())?;
    let (sums, remarks) = parts.add((args, &project), &plans, paths.sources())?;
    refuse_empty(args, &paths, sums.groups.calls())?;
    let (paths, project) = (&paths, &project);
    let drawn = Drawn { args, paths, project, terminal, plans: &plans, loaded: &loaded, selection: &selection };
    drawn.show(sums, &remarks, output)
}

/// What the sums of a replay are shown with.
struct Drawn<'a> {
    args: &'a Args,
    paths: &'a InputPaths,
    project: &'a Project,
    terminal: &'a Terminal,
    plans: &'a [Plan],
    loaded: &'a [Loaded],
    selection: &'a CallSelection,
}

impl Drawn<'_> {
    /// Writes the page, with `remarks` on what is not exact; gives the exit code of the replay.
    fn show(&self, sums: Sums, remarks: &[String], output: &mut Output) -> Result<Exit, Failure> {
        let Drawn { args, paths, project, terminal, plans, loaded, selection } = *self;
        let Sums { replayed, notes, failures, groups } = sums;
        let named = (args.tools.as_deref(), loaded.first());
        playbooks::warn_of_arguments(&replayed.arguments, named, project, terminal)?;
        let groups = groups.ranked(paths.sources());
        say_ambiguous(args, &groups, paths.sources());
        let beyond = args.beyond_tape.clone().unwrap_or_default();
        let (only, replayed, notes) = (&selection.only, &replayed, &*notes);
        let page = Page { args, paths, terminal, plans, beyond: &beyond, only, replayed, notes, remarks };
        let report = || page.doc(&groups, &failures, loaded, arguments_of_page(args)).html();
        reports::write_page(args.report.as_ref(), report, output)?;
        page.write(&groups, loaded, output)?;
        if args.format == Format::Table {
            let resolved = inputs::resolved(paths.files(), &project.redaction, |_| true)?;
            if !resolved.is_empty() {
                output.lines(&resolved)?;
            }
        }
        Ok(exit(replayed, args.strict))
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
    args: &'a Args,
    paths: &'a InputPaths,
    terminal: &'a Terminal,
    plans: &'a [Plan],
    beyond: &'a MissingAnswerPolicy,
    only: &'a Only,
    replayed: &'a Replayed,
    notes: &'a [InputNote],
    /// What is not as exact as in one replay.
    remarks: &'a [String],
}

impl Page<'_> {
    fn shown<'g>(&self, groups: &'g [Group]) -> &'g [Group] {
        if self.args.all { groups } else { &groups[..groups.len().min(SHOWN)] }
    }

    fn write(&self, groups: &[Group], loaded: &[Loaded], output: &mut Output) -> Result<(), Failure> {
        let doc = || self.doc(groups, &[], loaded, arguments(self.args));
        match self.args.format {
            Format::Markdown => output.page(&doc().markdown()),
            Format::Json => output.json(self.json(groups, self.shown(groups))),
            Format::Jsonl => output.json(self.last_line()),
            Format::Table => output.page(&self.terminal.out.doc(&doc().untitled())),
        }
    }

    fn doc(&self, groups: &[Group], failures: &[FailureCounts], loaded: &[Loaded], arguments: Arguments) -> Doc {
        let (shown, playbooks) = (self.shown(groups), self.playbooks());
        let (sharper, said, next) = (self.sharper(), self.said().join(" "), self.next(shown));
        let worst = groups.first().and_then(Group::severity);
        let page = ReplayPage {
            totals: Totals { replayed: self.replayed, names: &playbooks },
            notes: self.notes,
            failures,
            sharper: sharper.as_ref(),
            has_counts: self.args.stats || self.args.format == Format::Markdown,
            remarks: Some(&*said).filter(|said| !said.is_empty()),
            heading: &heading(self.only, shown.len(), groups),
            of_worst: groups.iter().filter(|group| group.severity() == worst).count(),
            next: next.as_ref(),
        };
        page_of_replay(&page, self.drawing().cards(shown, arguments, loaded))
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
        let selected: Vec<(&str, &str)> = self.args.selected().collect();
        let selected = (!selected.is_empty()).then(|| selected.into_iter().collect::<Object>());
        let (playbooks, notes, sources) = (self.playbooks(), self.notes, self.paths.sources());
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
        let flags = selecting(self.args);
        let said = "Counted above, and judged by the exit code: the whole input. Listed below: only what";
        (!flags.is_empty()).then(|| text::escape_unprintable(&format!("{said} `{flags}` selects.")).into_owned())
    }

    fn playbooks(&self) -> Vec<&PlaybookNames> {
        self.plans.iter().map(|plan| &plan.names).collect()
    }

    fn drawing(&self) -> CallDrawing<'_> {
        let sources = self.paths.sources();
        CallDrawing { plans: self.plans, beyond: self.beyond, sources, envelope: self.args.envelope }
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

    /// An input that can be named again; what came through several pipes is gone.
    fn again(&self, input: u32) -> Option<&str> {
        let pipes = self.paths.files().iter().filter(|file| *file == files::STDIN).count();
        self.paths.file(input).filter(|_| pipes < 2)
    }

    /// The command that would make the picture sharper.
    fn sharper(&self) -> Option<Command> {
        self.again(0)?;
        match sharper(self.replayed)? {
            Sharper::Facts => {
                let command = Command::new("playproof confirm").paths(self.paths.shortest());
                Some(self.args.flags.reading(&["--tools"]).after(command))
            }
            Sharper::JoinedResends if self.args.reading.join_resends => None,
            Sharper::JoinedResends => {
                let command = Command::new("playproof replay").paths(self.paths.shortest()).and("--join-resends");
                Some(self.args.flags.after(command))
            }
        }
    }

    /// The one command to run next: the worst call, explained.
    fn next(&self, shown: &[Group]) -> Option<Command> {
        let call = &shown.first()?.detail.call;
        let input = self.again(call.place.input)?;
        let name = self.paths.sources().name_of(&call.reference(), call.place);
        let command = Command::new("playproof explain").path(input).name(&name);
        let worst = self.args.playbooks.get(self.worst_under(&shown.first()?.detail));
        let flags = self.args.flags.reading(&["--tools"]).with("--playbook", worst.map(String::as_str));
        Some(flags.and(self.args.flags.only(&["--beyond-tape", "--seed", "--pace"])).after(command))
    }
}
