//! Traces under several playbooks: the summary, and the calls that are most worth looking at.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use super::args::{Args, Format};
use super::feed::{self, Notes};
use super::run::{plans, style};
use super::shown::{Drawing, heading};
use super::watch::{Part, Watcher, of_playbook};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{Output, refused, to_stderr, to_stdout};
use crate::cli::project::Project;
use crate::cli::terminal::{Terminal, cores};
use crate::cli::{beyond, files, inputs, playbooks};
use crate::diagnostic::{Report, did_you_mean};
use crate::event::{Finding, FindingBy, FindingId, FindingSeverity, Names};
use crate::playbook::model::Tools;
use crate::replay::{InputAccount, ReplayError, ReplayOptions, Replayed, replay};
use crate::report::json::{Object, fill_replayed};
use crate::report::listing::{Detail, Group, Listing, Only, Selection};
use crate::report::overview::{self, InputNote};
use crate::report::summary::Totals;
use crate::report::{diagnostic, text};
use crate::sim::Plan;
use crate::trace::model::Place;

/// Groups of calls that are shown unless `--all` is given.
const SHOWN: usize = 20;

/// Replays traces.
pub fn run(
    args: &Args,
    project: &Project,
    tools: &Tools,
    terminal: &Terminal,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let plans = plans(&playbooks::names(&args.playbooks, project), tools)?;
    let selection = selection(args, &plans)?;
    let mapping = args.reading.map.as_deref().map(inputs::mapping).transpose()?;
    let names: Vec<String> = args.inputs.iter().map(|path| files::display_name(path)).collect();
    let options = ReplayOptions {
        jobs: jobs(args.jobs),
        assemble: args.reading.options(),
        beyond: args.beyond_tape.clone().unwrap_or_default(),
        redaction: project.redaction.clone(),
    };
    beyond::warn(&options.beyond, &plans.iter().collect::<Vec<_>>());
    let lines = args.format == Format::Jsonl;
    let watcher =
        Watcher { lines: lines.then(|| selection.clone()), listing: Listing::new(selection), inputs: names.clone() };
    let notes: Notes = Arc::new(Mutex::new(Vec::new()));
    let bar = feed::bar(&args.inputs, terminal);
    let feed = feed::open(&args.inputs, mapping.as_ref(), Arc::clone(&notes), bar.clone());
    let mut written = 0;
    if lines {
        output.write(b"{\"type\":\"format\",\"format\":\"replay/1\"}\n")?;
    }
    let replayed = replay(&plans, feed, &options, &watcher, |part: Part| {
        written += part.written;
        if part.lines.is_empty() { Ok(()) } else { to_stdout(&part.lines) }
    });
    bar.finish_and_clear();
    let replayed = replayed.map_err(|error| failed(error, args))?;
    say_skipped(&replayed, terminal);
    refuse_empty(args, &replayed, if lines { written } else { watcher.listing.calls() })?;
    let notes = notes.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let groups = watcher.listing.into_groups();
    say_ambiguous(args, &groups);
    let page = Page { args, terminal, plans: &plans, options: &options, names: &names, replayed: &replayed };
    page.write(&groups, &notes, output)?;
    Ok(exit(&replayed, args.strict))
}

fn jobs(asked: Option<NonZeroUsize>) -> usize {
    asked.map_or_else(cores, NonZeroUsize::get)
}

fn selection(args: &Args, plans: &[Plan]) -> Result<Selection, Failure> {
    let everything = args.format == Format::Jsonl || args.run.is_some() && args.only.is_none();
    let only = match args.only.as_deref() {
        None if everything => Only::Nothing,
        None => Only::FailedOrFound,
        Some("failed") => Only::Failed,
        Some("findings") => Only::Found,
        Some(verdict) => Only::Verdict(known_verdict(verdict, plans)?),
    };
    let unfolded = args.all || args.call.is_some();
    let place = args.call.as_deref().and_then(|call| place(call, &args.inputs));
    Ok(Selection { only, call: args.call.clone(), place, run: args.run.clone(), unfolded })
}

/// The place that `FILE:LINE` names.
fn place(call: &str, inputs: &[String]) -> Option<Place> {
    let (path, line) = call.rsplit_once(':')?;
    let input = inputs.iter().position(|input| input == path)?;
    Some(Place { input: u32::try_from(input).ok()?, line: line.parse().ok()? })
}

/// References are unique in an input, ids not even there: a name that selects several calls says so.
fn say_ambiguous(args: &Args, groups: &[Group]) {
    let (Some(call), [first, _, ..]) = (&args.call, groups) else { return };
    let name = |group: &Group| {
        let Place { input, line } = group.detail.call.place;
        let input = usize::try_from(input).ok().and_then(|input| args.inputs.get(input));
        format!("{}:{line}", input.map_or("?", String::as_str))
    };
    let listed: Vec<String> = groups.iter().take(SHOWN).map(name).collect();
    let more = if groups.len() > SHOWN { ", and more" } else { "" };
    to_stderr(&text::visible(&format!(
        "note: `{call}` is the name of {} calls: {}{more}; one of them alone: --call {}",
        groups.len(),
        listed.join(", "),
        text::shell_word(&name(first))
    )));
    to_stderr("\n");
}

fn known_verdict(name: &str, plans: &[Plan]) -> Result<String, Failure> {
    let known: Vec<&str> = plans.iter().flat_map(|plan| &plan.names.verdicts).map(|verdict| &**verdict).collect();
    if known.contains(&name) {
        return Ok(name.to_owned());
    }
    let failure = Failure::said(format!("`{name}` is neither `failed`, nor `findings`, nor a verdict of the playbook"));
    Err(match did_you_mean(name, known.iter().copied().chain(["failed", "findings"])) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure.help(format!("its verdicts are {}", known.join(", "))),
    })
}

fn failed(error: ReplayError, args: &Args) -> Failure {
    match error {
        ReplayError::Output(error) => refused(&error),
        ReplayError::Input(report) => {
            let next = next_after(&report, args);
            let failure = Failure::from(*report);
            match next {
                Some(next) => failure.next(next),
                None => failure,
            }
        }
    }
}

/// What to run after an input that cannot be used.
fn next_after(report: &Report, args: &Args) -> Option<String> {
    let first = report.diagnostics.first()?;
    match first.id {
        "foreign_line" => Some("playproof schema mapping".to_owned()),
        "directory" => {
            Some(format!("playproof replay {}/*.jsonl", text::shell_word(report.source.name.trim_end_matches('/'))))
        }
        _ if first.labels.is_empty() || args.reading.skip_invalid => None,
        _ => Some(format!("playproof replay {} --skip-invalid", text::shell_words(&args.inputs))),
    }
}

/// The first lines that were skipped, each with its place.
fn say_skipped(replayed: &Replayed, terminal: &Terminal) {
    for account in &replayed.inputs {
        for report in &account.skipped {
            to_stderr(&diagnostic::render(report, terminal.err.width, terminal.err.colour));
        }
        if account.ledger.skipped > 0 {
            let lines = text::counted(account.ledger.skipped, "line", "lines");
            to_stderr(&format!("{}: {lines} skipped\n", text::visible(&account.name)));
        }
    }
}

/// An input without calls, and a selection that selects nothing, are no success.
fn refuse_empty(args: &Args, replayed: &Replayed, selected: u64) -> Result<(), Failure> {
    if args.allow_empty {
        return Ok(());
    }
    if let Some(account) = replayed.inputs.iter().find(|account| account.ledger.calls + account.ledger.combined == 0) {
        return Err(empty(account, args));
    }
    let (what, wanted) = match (&args.call, &args.run, args.only.as_deref()) {
        (Some(call), ..) => ("call", call.as_str()),
        (_, Some(run), _) => ("call in a run", run.as_str()),
        (_, _, Some(verdict)) if !["failed", "findings"].contains(&verdict) => ("failure with the verdict", verdict),
        _ => return Ok(()),
    };
    if selected > 0 {
        return Ok(());
    }
    Err(Failure::said(format!("there is no {what} `{wanted}`"))
        .help("`--allow-empty` makes an empty selection no error")
        .next(format!("playproof replay {}", text::shell_words(&args.inputs))))
}

fn empty(account: &InputAccount, args: &Args) -> Failure {
    let ledger = &account.ledger;
    let said = match (ledger.lines, ledger.results) {
        (0, _) => "it is empty".to_owned(),
        (_, 0) => format!("no calls in {}", text::counted(ledger.lines, "line", "lines")),
        (_, results) => format!("{}, but no calls", text::counted(results, "result", "results")),
    };
    Failure::source(&account.name, "empty_input", said)
        .help("`--allow-empty` makes an input without calls no error")
        .next(format!("playproof import {}", text::shell_words(&args.inputs)))
}

/// An `unsafe` finding by anyone is 1; a doubt counts only where it is asked to.
fn exit(replayed: &Replayed, strict: bool) -> Exit {
    let found = |severity: FindingSeverity| {
        let ids = FindingId::ALL.into_iter().filter(|id| id.severity() == severity);
        ids.into_iter().any(|id| {
            replayed.recorded.count(id, FindingBy::Recorded) > 0
                || replayed.summaries.iter().any(|summary| summary.findings.count(id, FindingBy::Playbook) > 0)
        })
    };
    if found(FindingSeverity::Unsafe) {
        Exit::Found
    } else if strict && (found(FindingSeverity::Doubt) || replayed.possible_duplicates.total() > 0) {
        Exit::Inconclusive
    } else {
        Exit::Clean
    }
}

/// Everything that a page is made of, beside the calls.
struct Page<'a> {
    args: &'a Args,
    terminal: &'a Terminal,
    plans: &'a [Plan],
    options: &'a ReplayOptions,
    names: &'a [String],
    replayed: &'a Replayed,
}

impl Page<'_> {
    fn write(&self, groups: &[Group], notes: &[InputNote], output: &mut Output) -> Result<(), Failure> {
        let shown = if self.args.all { groups } else { &groups[..groups.len().min(SHOWN)] };
        match self.args.format {
            Format::Table => output.page(&self.table(groups, shown, notes)),
            Format::Markdown => output.page(&self.markdown(groups, shown, notes)),
            Format::Json => output.write(&self.json(groups, shown)),
            Format::Jsonl => output.write(&self.last_line()),
        }
    }

    fn table(&self, groups: &[Group], shown: &[Group], notes: &[InputNote]) -> String {
        let style = style(self.args, self.terminal);
        let playbooks = self.playbooks();
        let totals = Totals { replayed: self.replayed, names: &playbooks };
        let mut parts = vec![overview::render(&totals, notes, style.width, style.palette)];
        if !shown.is_empty() {
            let calls = groups.iter().map(|group| group.count).sum();
            let heading = text::wrapped(&heading(shown.len(), groups.len(), calls), style.width).join("\n");
            parts.push(style.palette.strong(&heading));
            parts.extend(self.drawing().blocks(shown, style));
        }
        if let Some(next) = self.next(shown) {
            parts.push(format!("{} {next}", style.palette.strong("next:")));
        }
        parts.join("\n\n")
    }

    fn markdown(&self, groups: &[Group], shown: &[Group], notes: &[InputNote]) -> String {
        let style = style(self.args, self.terminal);
        let playbooks = self.playbooks();
        let totals = Totals { replayed: self.replayed, names: &playbooks };
        let mut parts = vec!["## Replay".to_owned(), overview::markdown(&totals, notes)];
        if !shown.is_empty() {
            let calls = groups.iter().map(|group| group.count).sum();
            parts.push(format!("### {}", text::markdown(&heading(shown.len(), groups.len(), calls))));
            parts.extend(self.drawing().blocks(shown, style).iter().map(|block| text::markdown_block(block)));
        }
        if let Some(next) = self.next(shown) {
            parts.push(text::markdown_block(&format!("next: {next}")));
        }
        parts.join("\n\n")
    }

    fn json(&self, groups: &[Group], shown: &[Group]) -> Vec<u8> {
        let drawing = self.drawing();
        let mut out = Vec::new();
        let mut document = Object::open(&mut out);
        document.text("format", "replay/1");
        fill_replayed(&mut document, self.replayed, &self.playbooks());
        document.number("groups", groups.len() as u64).raws("calls", shown, |group, out| drawing.json(group, out));
        document.end();
        out.push(b'\n');
        out
    }

    fn last_line(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut line = Object::open(&mut out);
        line.text("type", "summary");
        fill_replayed(&mut line, self.replayed, &self.playbooks());
        line.end();
        out.push(b'\n');
        out
    }

    fn playbooks(&self) -> Vec<&Names> {
        self.plans.iter().map(|plan| &plan.names).collect()
    }

    fn drawing(&self) -> Drawing<'_> {
        Drawing { plans: self.plans, beyond: &self.options.beyond, inputs: self.names }
    }

    /// The place of the playbook under which the worst finding of a call was made.
    fn worst_under(&self, detail: &Detail) -> usize {
        let key = |finding: &Finding| (finding.id.severity(), finding.id);
        let recorded = detail.recorded.iter().map(|finding| (key(finding), 0));
        let own = detail
            .records
            .iter()
            .enumerate()
            .flat_map(|(n, record)| of_playbook(record).map(move |finding| (key(&finding), n)));
        recorded.chain(own).min().map_or(0, |(_, playbook)| playbook)
    }

    /// The one command to run next: the worst call, explained.
    fn next(&self, shown: &[Group]) -> Option<String> {
        let call = &shown.first()?.detail.call;
        let input = self.args.inputs.get(usize::try_from(call.place.input).ok()?)?;
        let mut words = vec!["playproof", "explain", input, "--call"];
        let reference = call.reference();
        words.push(&reference);
        for (flag, value) in [("--tools", &self.args.tools), ("--map", &self.args.reading.map)] {
            if let Some(value) = value {
                words.extend([flag, value]);
            }
        }
        let worst = self.worst_under(&shown.first()?.detail);
        if let Some(playbook) = self.args.playbooks.get(worst) {
            words.extend(["--playbook", playbook]);
        }
        Some(text::shell_words(&words))
    }
}
