//! The page of a replay of traces: the summary, failures, delays and queues, then the most serious calls.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::call::{CallPiece, anchor};
use super::chart::{Bar, bars};
use super::document::Document;
use super::markup::Html;
use super::table::{Cell, Table};
use crate::doc::Block;
use crate::explain::WorstFinding;
use crate::opening::sentences;
use crate::overview::{self, InputNote};
use crate::summary::{RowOf, Section, Totals};
use crate::text;
use crate::timeline::millis;
use playproof_analysis::replay::{Distribution, FailureCounts, FindingCounts, Percentiles, Summary};
use playproof_engine::event::{FindingKind, FindingSeverity};
use playproof_engine::time::Duration;
use playproof_formats::shell::Command;

/// How to read the calls.
const LEGEND: &str = "The recording stands beside the decisions of each playbook. Times are milliseconds since the start of \
                      the call. Underlined rows of the playbook decided.";

/// The most links of a row of the summary to its calls.
const LINKS: usize = 6;

/// The most sentences on what went wrong.
const WRONG: usize = 5;

/// The most failures by verdict and template that are listed.
const FAILURES: usize = 40;

/// The most queues of a chart.
const QUEUES: usize = 20;

/// The contents of a page beside the calls.
#[derive(Clone, Copy, Debug)]
pub struct ReplayPage<'a> {
    /// What was counted.
    pub totals: Totals<'a>,
    /// How the inputs were read.
    pub notes: &'a [InputNote],
    /// Failures by verdict and template, one a playbook.
    pub failures: &'a [FailureCounts],
    /// That a selection chooses only what is listed, if there is one.
    pub whole: Option<&'a str>,
    /// The one command to run next.
    pub next: Option<&'a Command>,
}

/// The calls of a page.
pub struct CallsShown<'a> {
    /// The most serious first.
    pub calls: Vec<CallPiece>,
    /// How many there are, also of those that are not shown, with the severity of the first.
    pub of_worst: usize,
    /// The heading above so many of them.
    pub heading: &'a dyn Fn(usize) -> String,
}

/// The page.
pub fn replay(shown: &ReplayPage<'_>, calls: CallsShown<'_>) -> String {
    let mut page = Document::new("Replay", &about(&shown.totals));
    let CallsShown { calls, of_worst, heading } = calls;
    let wrong: Vec<(Option<WorstFinding>, u64)> = calls.iter().map(|call| (call.wrong.clone(), call.calls)).collect();
    let (pieces, about): (Vec<Html>, Vec<Vec<RowOf>>) = calls.into_iter().map(|call| (call.html, call.of)).unzip();
    let sections = shown.totals.sections();
    // The calls take what room is left, so they are chosen before anything counts them or links to them.
    let found = Html::of(|html| {
        html.line("p", "", &sentences(&shown.totals).join(" "));
    });
    let (first, summary) = (went_wrong(&wrong, wrong.len(), of_worst), summary(shown));
    let others = numbers(shown, &sections, &BTreeMap::new());
    let room = others.iter().map(|(_, _, html)| html.len()).sum::<usize>() + found.len() + first.len() + summary.len();
    let pieces = page.fitting(pieces, room);
    page.section("found", "What was found", &found);
    page.section("wrong", "What went wrong", &went_wrong(&wrong, pieces.len(), of_worst));
    page.section("summary", "Summary", &summary);
    let links = links(&about, pieces.len());
    let listed = Html::of(|html| {
        html.element("p", "soft", |html| {
            html.text(&heading(pieces.len())).text(". ").text(LEGEND);
        });
        pieces.iter().for_each(|piece| html.add(piece));
    });
    for (id, title, inside) in numbers(shown, &sections, &links) {
        page.section(id, title, &inside);
    }
    if !pieces.is_empty() {
        page.section("calls", "The most serious calls", &listed);
    }
    if let Some(next) = shown.next {
        page.add(&super::document::next(next));
    }
    page.finish()
}

/// The inputs and the playbooks.
fn about(totals: &Totals<'_>) -> String {
    let inputs = match totals.replayed.inputs.as_slice() {
        [one] => text::fitted_path(&one.name, 80),
        all => text::counted(all.len() as u64, "input", "inputs"),
    };
    let names: Vec<&str> = totals.names.iter().map(|names| &*names.playbook).collect();
    format!("{inputs} under {}", text::fitted(&names.join(", "), 160))
}

/// The worst calls in their order, one sentence each, with a link to the call. The page shows `shown` of `calls`, and
/// `of_worst` calls, which may be more, are as bad as the first.
fn went_wrong(calls: &[(Option<WorstFinding>, u64)], shown: usize, of_worst: usize) -> Html {
    let found = calls.iter().take(shown).zip(1..).filter_map(|((wrong, alike), n)| Some((n, wrong.as_ref()?, *alike)));
    let mut found: Vec<(usize, &WorstFinding, u64)> = found.collect();
    let worst = found.first().map(|(_, wrong, _)| wrong.severity);
    found.retain(|(_, wrong, _)| Some(wrong.severity) == worst);
    if found.is_empty() {
        return Html::default();
    }
    Html::of(|html| {
        html.element("ul", "", |html| {
            for (number, wrong, alike) in found.iter().take(WRONG) {
                html.element("li", "", |html| {
                    html.link(&anchor(*number), &format!("#{number}"));
                    html.text(" ").text(&wrong.said);
                    if *alike > 1 {
                        html.text(&format!(
                            " {} went the same way.",
                            text::counted(alike - 1, "more call", "more calls")
                        ));
                    }
                    html.text(" ");
                    html.line("span", "soft", &format!("({})", wrong.id.as_str()));
                });
            }
        });
        let said = more(found.len().min(WRONG), found.len(), of_worst);
        said.iter().for_each(|said| html.line("p", "soft", said));
    })
}

/// How many calls of `all` are not `told` here, and how many of these are below with the `shown` ones; none if none.
fn more(told: usize, shown: usize, all: usize) -> Option<String> {
    let [left, below] = [all, shown].map(|count| count.saturating_sub(told));
    let [left_said, below_said, all] = [left, below, all].map(|count| text::count(count as u64));
    match below {
        _ if left == 0 => None,
        0 => Some(format!("and {left_said} more of {all}, which are not on this page")),
        _ if below == left => Some(format!("and {left_said} more of {all} below")),
        _ => Some(format!("and {left_said} more of {all}, {below_said} of them below")),
    }
}

/// Every section between the summary and the calls: its name, its title and its contents.
fn numbers(
    shown: &ReplayPage<'_>,
    sections: &[Section],
    links: &BTreeMap<RowOf, Vec<usize>>,
) -> Vec<(&'static str, &'static str, Html)> {
    vec![
        ("numbers", "Numbers", counts(shown, sections, links)),
        ("failures", "Failures by verdict and message", failures(shown, links)),
        ("delays", "Delay and upstream calls", spreads(shown)),
        ("queues", "Load of human queues", queues(shown)),
        ("doubts", "What the recording leaves open", doubts(shown)),
    ]
}

/// By what a row counts: the first calls of the page that it counts.
fn links(about: &[Vec<RowOf>], shown: usize) -> BTreeMap<RowOf, Vec<usize>> {
    let mut links: BTreeMap<RowOf, Vec<usize>> = BTreeMap::new();
    for (n, about) in about.iter().take(shown).enumerate() {
        for of in about {
            let calls = links.entry(of.clone()).or_default();
            if calls.last() != Some(&(n + 1)) {
                calls.push(n + 1);
            }
        }
    }
    links
}

/// Links to the calls below that a row counts.
fn link(html: &mut Html, of: &RowOf, links: &BTreeMap<RowOf, Vec<usize>>) {
    let calls = links.get(of).map(Vec::as_slice).unwrap_or_default();
    if calls.is_empty() {
        return;
    }
    html.text(" ");
    html.element("span", "links", |html| {
        for call in calls.iter().take(LINKS) {
            html.link(&anchor(*call), &format!("#{call}"));
            html.text(" ");
        }
        if calls.len() > LINKS {
            html.text("…");
        }
    });
}

fn summary(shown: &ReplayPage<'_>) -> Html {
    Html::of(|html| {
        html.add(&verdict(&shown.totals));
        html.add(&Block::List(overview::inputs(shown.totals.replayed, shown.notes)).html());
        if let Some(whole) = shown.whole {
            html.line("p", "doubt", whole);
        }
    })
}

fn counts(shown: &ReplayPage<'_>, sections: &[Section], links: &BTreeMap<RowOf, Vec<usize>>) -> Html {
    let totals = &shown.totals;
    let mut header = vec![(String::new(), false), ("recorded".to_owned(), true)];
    header.extend(totals.names.iter().map(|names| (names.playbook.to_string(), true)));
    let mut table = Table::new("", header);
    for section in sections.iter().filter(|section| !section.is_spread) {
        if !section.title.is_empty() {
            table.head(section.title);
        }
        for row in &section.rows {
            let mut cells = vec![label(&row.label, &row.of, links), Cell::Number(row.recorded.clone())];
            cells.extend(row.values.iter().map(|value| Cell::Number(value.clone())));
            table.row("", &cells);
        }
    }
    table.finish()
}

fn label(said: &str, of: &RowOf, links: &BTreeMap<RowOf, Vec<usize>>) -> Cell {
    Cell::Drawn(Html::of(|html| {
        match (of, said.strip_prefix("  ")) {
            (RowOf::Finding(kind), _) => {
                let class = format!("tag {}", super::call::severity_class(kind.severity));
                html.line("span", &class, kind.severity.as_str());
                html.name(kind.id.as_str());
            }
            (_, Some(below)) => html.name(&format!("· {}", text::fitted(below, 200))),
            (_, None) => html.name(&text::fitted(said, 200)),
        }
        link(html, of, links);
    }))
}

/// The first sentence: whether anything unsafe was found, by whom. A playbook that sends what the recording shows is not
/// clean of it.
fn verdict(totals: &Totals<'_>) -> Html {
    let replayed = totals.replayed;
    let words = |kinds: Vec<FindingKind>| kinds.iter().map(|kind| kind.id.as_str()).collect::<Vec<_>>().join(", ");
    let seen = |counts: &FindingCounts, severity: FindingSeverity| -> Vec<FindingKind> {
        let mut kinds: Vec<FindingKind> =
            counts.rows().map(|(kind, _, _)| kind).filter(|kind| kind.severity == severity).collect();
        kinds.dedup();
        kinds
    };
    let none = FindingCounts::default();
    let by = std::iter::once(("the recording".to_owned(), &replayed.recorded, &none, true));
    let playbooks = replayed.summaries.iter().zip(totals.names).map(|(summary, names)| {
        (names.playbook.to_string(), &summary.findings, &summary.recorded_findings_sent, summary.sent_less == 0)
    });
    Html::of(|html| {
        for (name, own, sent, is_sure) in by.chain(playbooks) {
            let found = [FindingSeverity::Unsafe, FindingSeverity::Doubt]
                .map(|severity| (severity, [own, sent].map(|counts| seen(counts, severity))));
            let worst = found.into_iter().find(|(_, kinds)| kinds.iter().any(|kinds| !kinds.is_empty()));
            let (class, severity) = match &worst {
                // What it does not send may be what the findings rest on.
                Some((FindingSeverity::Unsafe, [own, _])) if own.is_empty() && !is_sure => tag(FindingSeverity::Doubt),
                Some((severity, _)) => tag(*severity),
                None => ("good", "clean"),
            };
            let [own, sent] = worst.map(|(_, kinds)| kinds.map(words)).unwrap_or_default();
            let fewer = if is_sure { "" } else { ", or fewer: it sends some calls less often" };
            html.element("p", "", |html| {
                html.line("span", &format!("tag {class}"), severity);
                html.line("span", "strong", &text::fitted(&name, 100));
                let said = match (own.is_empty(), sent.is_empty()) {
                    (true, true) => "no finding that is unsafe or a doubt".to_owned(),
                    (false, true) => own,
                    (true, false) => format!("the recorded calls with {sent} stay as they were{fewer}"),
                    (false, false) => format!("{own}; the recorded calls with {sent} stay as they were{fewer}"),
                };
                html.text(&format!(": {said}"));
            });
        }
    })
}

/// The class and the word of a severity.
const fn tag(severity: FindingSeverity) -> (&'static str, &'static str) {
    (super::call::severity_class(severity), severity.as_str())
}

/// Failures by verdict and template, of each playbook.
fn failures(shown: &ReplayPage<'_>, links: &BTreeMap<RowOf, Vec<usize>>) -> Html {
    let of_playbooks = shown.failures.iter().zip(shown.totals.names).filter(|(counts, _)| counts.total() > 0);
    Html::of(|html| {
        for (counts, names) in of_playbooks {
            if shown.totals.names.len() > 1 {
                html.line("h3", "", &text::fitted(&names.playbook, 100));
            }
            let header = [("verdict", false), ("message, without its variable parts", false), ("failures", true)];
            let mut table = Table::new("", header);
            let rows = counts.rows();
            for (verdict, template, count) in rows.iter().take(FAILURES) {
                let verdict = names.verdict(*verdict);
                let of = RowOf::Failure(verdict.to_owned(), (*template).to_owned());
                let template = if template.is_empty() { "(no message)" } else { template };
                let message = Html::of(|html| {
                    html.line("code", "", &text::fitted(template, 300));
                    link(html, &of, links);
                });
                let cells = [Cell::Words(verdict.to_owned()), Cell::Drawn(message), Cell::Number(text::count(*count))];
                table.row("", &cells);
            }
            html.add(&table.finish());
            let listed: u64 = rows.iter().take(FAILURES).map(|(_, _, count)| count).sum();
            if counts.total() > listed {
                let rest = text::counted(counts.total() - listed, "more failure", "more failures");
                html.line("p", "soft", &format!("and {rest} with rarer messages"));
            }
        }
    })
}

/// How delays and upstream calls are spread, as bars.
fn spreads(shown: &ReplayPage<'_>) -> Html {
    let summaries = &shown.totals.replayed.summaries;
    let delay = |value: u64| format!("{} ms", millis(Duration::from_micros(value)));
    let of = |of: fn(&Summary) -> &Distribution| summaries.iter().map(of).map(Distribution::percentiles);
    let longest = of(|summary| &summary.delay_of_calls).map(|spread| spread.max).max().unwrap_or_default();
    let recorded = summaries.first().map(|summary| summary.requests_recorded_of_calls.percentiles());
    let requests = of(|summary| &summary.requests_of_calls).chain(recorded).map(|spread| spread.max);
    let most = requests.max().unwrap_or_default();
    if longest == 0 && most <= 1 {
        return Html::default();
    }
    Html::of(|html| {
        let several = summaries.len() > 1;
        let named = |title: &str, name: &str| if several { format!("{title}: {name}") } else { title.to_owned() };
        html.element("div", "grid", |html| {
            for (summary, names) in summaries.iter().zip(shown.totals.names) {
                let delayed = text::counted(summary.delay_of_calls.above_zero(), "delayed call", "delayed calls");
                let all = summary.delay_of_calls.percentiles();
                let waiting = summary.delay_of_calls.percentiles_above_zero();
                if all.max > 0 {
                    let delayed = named(&format!("Delay added, {delayed}"), &names.playbook);
                    html.add(&spread(&named("Delay added, all calls", &names.playbook), all, delay, longest));
                    html.add(&spread(&delayed, waiting, delay, longest));
                }
                if most > 1 {
                    let requests = summary.requests_of_calls.percentiles();
                    html.add(&spread(&named("Upstream calls per call", &names.playbook), requests, text::count, most));
                }
            }
            if let Some(recorded) = recorded.filter(|_| most > 1) {
                html.add(&spread("Upstream calls per call, recorded", recorded, text::count, most));
            }
        });
        html.line("p", "soft", "p95: 95 of 100 calls have this or less. At most one percent too high; max is exact.");
    })
}

fn spread(title: &str, percentiles: Percentiles, words: impl Fn(u64) -> String, of: u64) -> Html {
    let bar = |(name, value): (&str, u64)| Bar { label: name.to_owned(), value, said: words(value) };
    bars("bars short", title, &percentiles.rows().map(bar), of)
}

/// The calls that wait for people, by queue.
fn queues(shown: &ReplayPage<'_>) -> Html {
    let summaries = &shown.totals.replayed.summaries;
    let longest = summaries.iter().flat_map(|summary| &summary.queues).copied().max().unwrap_or_default();
    if longest == 0 {
        return Html::default();
    }
    Html::of(|html| {
        html.element("div", "grid", |html| {
            for (summary, names) in summaries.iter().zip(shown.totals.names) {
                let waiting = names.queues.iter().zip(&summary.queues).filter(|(_, count)| **count > 0);
                let mut all: Vec<Bar> = waiting
                    .map(|(name, count)| Bar { label: name.to_string(), value: *count, said: text::count(*count) })
                    .collect();
                all.sort_by_key(|bar| Reverse(bar.value)); // stable
                let calls = text::counted(summary.queues.iter().sum(), "call waits", "calls wait");
                let more = all.len().saturating_sub(QUEUES) as u64;
                all.truncate(QUEUES);
                html.add(&bars("bars", &format!("{}: {calls} for people", names.playbook), &all, longest));
                if more > 0 {
                    html.line("p", "soft", &format!("and {}", text::counted(more, "more queue", "more queues")));
                }
            }
        });
    })
}

fn doubts(shown: &ReplayPage<'_>) -> Html {
    Html::of(|html| overview::doubts(&shown.totals).iter().for_each(|said| html.add(&said.html())))
}

#[cfg(test)]
mod tests {
    use super::more;

    #[test]
    fn what_is_not_told_is_counted_with_all_and_with_what_is_below() {
        assert_eq!(more(5, 5, 5), None);
        assert_eq!(more(5, 8, 8).unwrap(), "and 3 more of 8 below");
        assert_eq!(more(5, 20, 35).unwrap(), "and 30 more of 35, 15 of them below");
        assert_eq!(more(2, 2, 1_035).unwrap(), "and 1,033 more of 1,035, which are not on this page");
    }
}
