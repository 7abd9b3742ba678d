//! One call, or several with the same course: what was found, and the recording beside each playbook.

use super::deciding::deciding;
use super::markup::Html;
use super::table::Table;
use crate::block::{self, Alike};
use crate::explain::{CallsBeside, EqualCall, WorstFinding, what_went_wrong};
use crate::summary::RowOf;
use crate::text;
use crate::timeline::{self, LedgerLine, TimelineLine, Tone};
use crate::view::{CallView, RunView};
use playproof_analysis::recorded::Arguments;
use playproof_analysis::replay::MessageTemplates;
use playproof_engine::event::{Decision, FindingSeverity, Outcome, OutcomeKind, Status};
use playproof_formats::playbook::Loaded;

/// The most lines of a timeline.
const LINES_MAX: usize = 60;

/// The most characters of a line.
const LINE: usize = 400;

/// The most characters of the arguments.
const ARGUMENTS: usize = 1_000;

/// What is shown of a call.
#[derive(Clone, Copy)]
pub struct CallShown<'a> {
    /// Its number on the page.
    pub number: usize,
    /// The call.
    pub view: &'a CallView<'a>,
    /// What became of it, by playbook.
    pub runs: &'a [RunView<'a>],
    /// The calls with the same course.
    pub alike: &'a Alike,
    /// An equal call before it, if one is on the page.
    pub before: Option<EqualCall<'a>>,
    /// How much of the arguments is shown.
    pub arguments: Arguments,
    /// The playbooks with the places of their rows, in the order of `runs`.
    pub playbooks: &'a [&'a Loaded],
}

/// The name by which links find a call.
pub(super) fn anchor(number: usize) -> String {
    format!("call-{number}")
}

/// The class of a severity.
pub(super) const fn severity_class(severity: FindingSeverity) -> &'static str {
    match severity {
        FindingSeverity::Unsafe => "bad",
        FindingSeverity::Doubt => "doubt",
        FindingSeverity::Note => "soft",
    }
}

/// A call of a page, with what the summary counts it under.
#[derive(Clone, Debug)]
pub struct CallPiece {
    /// The call.
    pub html: Html,
    /// Its findings, failures, verdicts and queues.
    pub of: Vec<RowOf>,
    /// What went wrong, if anything did.
    pub wrong: Option<WorstFinding>,
    /// The number of calls with this course.
    pub calls: u64,
}

/// The call.
pub fn call(shown: &CallShown<'_>) -> CallPiece {
    let beside = CallsBeside { several: shown.alike.several_intents, before: shown.before };
    let wrong = what_went_wrong(shown.view, shown.runs, beside);
    let calls = shown.alike.others.len() as u64 + shown.alike.more + 1;
    CallPiece { html: drawn(shown, wrong.as_ref()), of: counted_under(shown.view, shown.runs), wrong, calls }
}

fn counted_under(view: &CallView<'_>, runs: &[RunView<'_>]) -> Vec<RowOf> {
    let (mut all, mut templates) = (Vec::new(), MessageTemplates::default());
    for run in runs {
        let transcript = &run.transcript;
        all.extend(run.findings.iter().map(|finding| RowOf::Finding(finding.kind())));
        let mut last = None;
        for (_, decision) in run.decisions() {
            match decision {
                Decision::AttemptFinished { status: Status::Failed(error), .. } => last = error,
                Decision::FailureClassified { verdict, .. } => {
                    let verdict = transcript.names.verdict(verdict).to_owned();
                    let error = last.and_then(|id| transcript.error(id));
                    let message = error.and_then(|error| error.message.as_deref()).unwrap_or("");
                    all.push(RowOf::Failure(verdict.clone(), templates.template(message, view.args).to_owned()));
                    all.push(RowOf::Verdict(verdict));
                }
                Decision::Outcome(Outcome { kind: OutcomeKind::Escalated(queue), .. }) => {
                    all.push(RowOf::Queue(transcript.names.queue(queue).to_owned()));
                }
                _ => {}
            }
        }
    }
    all
}

fn drawn(shown: &CallShown<'_>, wrong: Option<&WorstFinding>) -> Html {
    let CallShown { view, runs, alike, .. } = *shown;
    Html::of(|html| {
        html.tag("article", &[("class", "card"), ("id", &anchor(shown.number))], |html| {
            html.element("h3", "", |html| title(html, shown));
            if let Some(wrong) = wrong {
                html.line("p", "strong", &wrong.said);
            }
            for (finding, said) in block::findings_in_words(view, runs, alike.several_intents) {
                html.element("p", "", |html| {
                    let class = format!("tag {}", severity_class(finding.severity));
                    html.line("span", &class, finding.severity.as_str());
                    html.text(&said);
                });
            }
            facts(html, shown);
            match block::uneventful(view, runs) {
                Some(said) => html.line("p", "", &said),
                None => html.element("div", "grid", |html| columns(html, shown)),
            }
        });
        html.newline();
    })
}

fn title(html: &mut Html, shown: &CallShown<'_>) {
    let CallShown { number, view, alike, .. } = *shown;
    html.text(&format!("{number}. "));
    html.line("code", "strong", &text::fitted(view.tool, 100));
    html.text("  ");
    html.line("code", "", &text::fitted(view.reference, 100));
    if let Some(id) = view.id.filter(|id| !id.is_empty() && *id != view.reference) {
        html.text(" ");
        html.line("code", "soft", &format!("({})", text::fitted(id, 60)));
    }
    let alike = alike.others.len() as u64 + alike.more;
    if alike > 0 {
        html.text(" ");
        html.line("span", "tag", &format!("×{}", text::count(alike + 1)));
    }
    html.text(" ");
    html.tag("a", &[("class", "back-link"), ("href", "#top"), ("aria-label", "to the top of the page")], |html| {
        html.text("↑");
    });
}

fn facts(html: &mut Html, shown: &CallShown<'_>) {
    let CallShown { view, alike, arguments, .. } = *shown;
    html.line("p", "soft", &block::known(view, 100).join(" · "));
    if let Some(said) = block::arguments(view, arguments) {
        html.element("p", "soft", |html| {
            html.text("args ");
            html.line("code", "", &text::fitted(&said, ARGUMENTS));
        });
    }
    if !alike.others.is_empty() {
        html.line("p", "soft", &text::fitted(&block::alike_in_words(alike), LINE));
    }
}

fn columns(html: &mut Html, shown: &CallShown<'_>) {
    let CallShown { view, runs, .. } = *shown;
    let departure = runs.first().and_then(|run| run.tally.off_tape);
    if view.recorded.is_some() {
        html.element("div", "", |html| {
            html.line("h3", "", "recorded");
            lines(html, &timeline::of_recording(view, departure), None);
        });
    }
    for (n, run) in runs.iter().enumerate() {
        html.element("div", "", |html| {
            html.line("h3", "", &text::fitted(&run.transcript.names.playbook, 100));
            let made = timeline::of_run(view, run);
            lines(html, &made, Some(&timeline::ledger(view, run, &made)));
            html.element("dl", "", |html| {
                for (n, (name, said)) in block::foot(run, view.recorded).iter().enumerate() {
                    html.line("dt", "", name);
                    html.line("dd", if n == 0 { "strong" } else { "" }, &text::fitted(said, LINE));
                }
            });
            if let Some(loaded) = shown.playbooks.get(n) {
                html.add(&deciding(run, view.tool, loaded));
            }
        });
    }
}

/// A timeline; that of a playbook with what the ledger booked beside it.
fn lines(html: &mut Html, lines: &[TimelineLine], ledger: Option<&[LedgerLine]>) {
    let ledger_name = ledger.filter(|ledger| !ledger.is_empty()).map(|_| "ledger");
    let apart = ledger.unwrap_or_default().iter().filter(|line| line.beside.is_none());
    let mut stamps = lines.iter().map(block::stamp).chain(apart.map(|line| block::stamp(&line.at())));
    let with_times = stamps.any(|stamp| !stamp.is_empty());
    let times = with_times.then_some(("ms", true));
    let header = times.into_iter().chain([("", false)]).chain(ledger_name.map(|name| (name, false)));
    let mut table = Table::new("lines", header);
    let stamp = |line: &TimelineLine| with_times.then(|| block::stamp(line));
    let booked = |at: usize| {
        let here = ledger.unwrap_or_default().iter().filter(move |line| line.beside == Some(at));
        here.map(|line| line.text.as_str()).collect::<Vec<_>>().join(", ")
    };
    let with_ledger = ledger_name.is_some();
    for (n, line) in lines.iter().enumerate().take(LINES_MAX) {
        let before = ledger.unwrap_or_default().iter().filter(|line| line.beside.is_none() && line.before == n);
        before.for_each(|line| table.timeline("", stamp(&line.at()).as_deref(), "", "", Some(&line.text)));
        let booked = booked(n);
        let class = if line.departs { "departs" } else { "" };
        let said = text::fitted(&line.text, LINE);
        table.timeline(class, stamp(line).as_deref(), tone(line.tone), &said, with_ledger.then_some(booked.as_str()));
    }
    let after = ledger.unwrap_or_default().iter().filter(|line| line.beside.is_none() && line.before >= lines.len());
    after.for_each(|line| table.timeline("", stamp(&line.at()).as_deref(), "", "", Some(&line.text)));
    html.add(&table.finish());
    if lines.len() > LINES_MAX {
        let more = (lines.len() - LINES_MAX) as u64;
        html.line("p", "soft", &format!("and {}", text::counted(more, "more line", "more lines")));
    }
}

const fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Failed => "bad",
        Tone::Stopped => "doubt",
        Tone::Good => "good",
        Tone::Sent | Tone::Decided => "",
    }
}
