//! The page of a replay of traces: what was found in sentences, the inputs, the counts, then the most serious calls.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::card::{CallCard, anchor};
use super::doc::{Bar, Bars, Block, Doc, Table, Text, Tone};
use super::explain::WorstFinding;
use super::findings;
use super::opening::sentences;
use super::overview::{self, InputNote};
use super::summary::{RowOf, Totals};
use super::text;
use super::timeline::millis;
use playproof_analysis::replay::{Distribution, FailureCounts, FindingCounts, Percentiles, Summary};
use playproof_engine::event::{FindingKind, FindingSeverity};
use playproof_engine::time::Duration;
use playproof_formats::shell::Command;

/// How to read the calls.
const LEGEND: &str = "The recording stands beside the decisions of each playbook. Times are milliseconds since the start of \
                      the call. Underlined rows of the playbook decided.";

/// The most links of a row to the calls that it counts.
const LINKS: usize = 6;

/// The most sentences on what went wrong.
const WRONG: usize = 5;

/// The most failures by verdict and template that are listed.
const FAILURES: usize = 40;

/// The most queues of a chart.
const QUEUES: usize = 20;

/// By what a row counts: the first calls of the page that it counts.
type Links = BTreeMap<RowOf, Vec<usize>>;

/// The contents of a page beside the calls.
#[derive(Clone, Copy, Debug)]
pub struct ReplayPage<'a> {
    /// What was counted.
    pub totals: Totals<'a>,
    /// How the inputs were read.
    pub notes: &'a [InputNote],
    /// Failures by verdict and template, one a playbook; empty where no page asks for them.
    pub failures: &'a [FailureCounts],
    /// The command that would make the picture sharper.
    pub sharper: Option<&'a Command>,
    /// Whether the counts stand also where there is little room.
    pub has_counts: bool,
    /// What limits the page: a selection chooses only what is listed, a sum is not exact.
    pub remarks: Option<&'a str>,
    /// What is said above the calls.
    pub heading: &'a str,
    /// The number of calls, also of those that are not shown, that are as bad as the first.
    pub of_worst: usize,
    /// The one command to run next.
    pub next: Option<&'a Command>,
}

/// The page, with the most serious calls.
pub fn page(shown: &ReplayPage<'_>, calls: Vec<CallCard>) -> Doc {
    let totals = &shown.totals;
    let mut doc = Doc::new(format!("Replay: {}", about(totals)));
    doc.add(Block::para(sentences(totals).join(" ")));
    doc.blocks.extend(shown.remarks.map(Block::para));
    doc.blocks.extend(shown.sharper.cloned().map(|command| Block::Command("to see more clearly", command)));
    doc.add(Block::Room(vec![Block::Pairs(judged(totals).into_iter().map(Into::into).collect())]));
    doc.add(Block::List(overview::inputs(totals.replayed, shown.notes)));
    doc.blocks.extend(overview::unclassified(totals));
    doc.blocks.extend(overview::doubts(totals));
    let wrong = went_wrong(&calls, shown.of_worst);
    doc.add(Block::Room(vec![Block::section("wrong", "What went wrong", wrong)]));
    let links = links(&calls);
    let numbers = vec![
        Block::section("numbers", "Numbers", vec![Block::Table(counts(totals, &links))]),
        Block::section("delays", "Delay and upstream calls", spreads(totals)),
    ];
    doc.blocks.extend(if shown.has_counts { numbers } else { vec![Block::Room(numbers)] });
    doc.add(Block::Room(vec![
        Block::section("failures", "Failures by verdict and message", failures(shown, &links)),
        Block::section("queues", "Load of human queues", queues(totals)),
    ]));
    if !calls.is_empty() {
        let legend = Block::Room(vec![Block::Para(Text::new(Tone::Soft, LEGEND))]);
        let calls = std::iter::once(legend).chain(calls.into_iter().map(|call| call.block));
        doc.add(Block::section("calls", shown.heading, calls.collect()));
    }
    doc.blocks.extend(shown.next.cloned().map(Block::next));
    doc
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

/// The worst calls in their order, one sentence each, with a link to the call; `of_worst` calls, which may be more, are as bad
/// as the first.
fn went_wrong(calls: &[CallCard], of_worst: usize) -> Vec<Block> {
    let found = calls.iter().zip(1..).filter_map(|(call, n)| Some((n, call.wrong.as_ref()?, call.calls)));
    let mut found: Vec<(usize, &WorstFinding, u64)> = found.collect();
    let worst = found.first().map(|(_, wrong, _)| wrong.severity);
    found.retain(|(_, wrong, _)| Some(wrong.severity) == worst);
    let entry = |(number, wrong, calls): &(usize, &WorstFinding, u64)| {
        let more = text::counted(calls - 1, "more call", "more calls");
        let more = if *calls > 1 { format!(" {more} went the same way.") } else { String::new() };
        let said = Text::default().link(anchor(*number), format!("#{number}")).say(format!(" {}{more}", wrong.said));
        said.and(Tone::Soft, format!(" ({})", wrong.id.as_str()))
    };
    let left = of_worst.saturating_sub(found.len().min(WRONG)) as u64;
    let more = (left > 0 && !found.is_empty()).then(|| {
        let said = format!("and {} more of {}", text::count(left), text::count(of_worst as u64));
        Text::new(Tone::Soft, said)
    });
    vec![Block::list(found.iter().take(WRONG).map(entry).chain(more))]
}

fn links(calls: &[CallCard]) -> Links {
    let mut links = Links::new();
    for (call, n) in calls.iter().zip(1..) {
        for of in &call.of {
            let calls = links.entry(of.clone()).or_default();
            if calls.last() != Some(&n) {
                calls.push(n);
            }
        }
    }
    links
}

/// A text with links to the first calls that its row counts.
fn linked(said: Text, of: &RowOf, links: &Links) -> Text {
    let calls = links.get(of).into_iter().flatten().take(LINKS);
    calls.fold(said, |said, call| said.link(anchor(*call), format!("#{call}")))
}

/// Everything that was counted, recorded beside each playbook.
fn counts(totals: &Totals<'_>, links: &Links) -> Table {
    let names = totals.names.iter().map(|names| &*names.playbook);
    let mut table = Table::numbers("", std::iter::once("recorded").chain(names));
    for section in totals.sections() {
        if !section.title.is_empty() {
            table.head(section.title);
        }
        let indent = if section.title.is_empty() { "" } else { "  " };
        for row in section.rows {
            let tone = match row.of {
                RowOf::Finding(kind) => findings::tone(kind.severity),
                RowOf::Other | RowOf::Verdict(_) | RowOf::Failure(..) | RowOf::Queue(_) => Tone::Plain,
            };
            let label = linked(Text::new(tone, format!("{indent}{}", row.label)), &row.of, links);
            let values = std::iter::once(row.recorded).chain(row.values).map(Text::from);
            table.row(std::iter::once(label).chain(values).collect::<Vec<_>>());
        }
    }
    table
}

/// Whether anything unsafe was found, by whom. A playbook that sends what the recording shows is not clean of it.
fn judged(totals: &Totals<'_>) -> Vec<(Text, Text)> {
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
    let judge = |(name, own, sent, is_sure): (String, &FindingCounts, &FindingCounts, bool)| {
        let found = [FindingSeverity::Unsafe, FindingSeverity::Doubt]
            .map(|severity| (severity, [own, sent].map(|counts| seen(counts, severity))));
        let worst = found.into_iter().find(|(_, kinds)| kinds.iter().any(|kinds| !kinds.is_empty()));
        let severity = match &worst {
            // What it does not send may be what the findings rest on.
            Some((FindingSeverity::Unsafe, [own, _])) if own.is_empty() && !is_sure => Some(FindingSeverity::Doubt),
            worst => worst.as_ref().map(|(severity, _)| *severity),
        };
        let tag = severity
            .map_or(Text::new(Tone::Good, "clean"), |severity| Text::new(findings::tone(severity), severity.as_str()));
        let [own, sent] = worst.map(|(_, kinds)| kinds.map(words)).unwrap_or_default();
        let fewer = if is_sure { "" } else { ", or fewer: it sends some calls less often" };
        let said = match (own.is_empty(), sent.is_empty()) {
            (true, true) => "no finding that is unsafe or a doubt".to_owned(),
            (false, true) => own,
            (true, false) => format!("the recorded calls with {sent} stay as they were{fewer}"),
            (false, false) => format!("{own}; the recorded calls with {sent} stay as they were{fewer}"),
        };
        (tag, Text::new(Tone::Strong, text::fitted(&name, 100)).say(format!(": {said}")))
    };
    by.chain(playbooks).map(judge).collect()
}

/// Failures by verdict and template, of each playbook.
fn failures(shown: &ReplayPage<'_>, links: &Links) -> Vec<Block> {
    let of_playbooks = shown.failures.iter().zip(shown.totals.names).filter(|(counts, _)| counts.total() > 0);
    let mut blocks = Vec::new();
    for (counts, names) in of_playbooks {
        if shown.totals.names.len() > 1 {
            blocks.push(Block::Para(Text::new(Tone::Strong, &*names.playbook)));
        }
        let header = [("verdict", false), ("message, without its variable parts", false), ("failures", true)];
        let mut table = Table::columns(header);
        let rows = counts.rows();
        for (verdict, template, count) in rows.iter().take(FAILURES) {
            let verdict = names.verdict(*verdict);
            let of = RowOf::Failure(verdict.to_owned(), (*template).to_owned());
            let template = if template.is_empty() { "(no message)" } else { template };
            let message = linked(Text::code(text::fitted(template, 300)), &of, links);
            table.row([verdict.into(), message, text::count(*count).into()]);
        }
        blocks.push(Block::Table(table));
        let listed: u64 = rows.iter().take(FAILURES).map(|(_, _, count)| count).sum();
        if counts.total() > listed {
            let rest = text::counted(counts.total() - listed, "more failure", "more failures");
            blocks.push(Block::Para(Text::new(Tone::Soft, format!("and {rest} with rarer messages"))));
        }
    }
    blocks
}

/// How delays and upstream calls are spread over the calls.
fn spreads(totals: &Totals<'_>) -> Vec<Block> {
    let summaries = &totals.replayed.summaries;
    let delay = |value: u64| format!("{} ms", millis(Duration::from_micros(value)));
    let of = |of: fn(&Summary) -> &Distribution| summaries.iter().map(of).map(Distribution::percentiles);
    let longest = of(|summary| &summary.delay_of_calls).map(|spread| spread.max).max().unwrap_or_default();
    // They are the same under every playbook.
    let recorded = summaries.first().map(|summary| summary.requests_recorded_of_calls.percentiles());
    let requests = of(|summary| &summary.requests_of_calls).chain(recorded).map(|spread| spread.max);
    let most = requests.max().unwrap_or_default();
    if longest == 0 && most <= 1 {
        return Vec::new();
    }
    let several = summaries.len() > 1;
    let named = |title: &str, name: &str| if several { format!("{title}: {name}") } else { title.to_owned() };
    let mut charts = Vec::new();
    for (summary, names) in summaries.iter().zip(totals.names) {
        let delayed = text::counted(summary.delay_of_calls.above_zero(), "delayed call", "delayed calls");
        let all = summary.delay_of_calls.percentiles();
        if all.max > 0 {
            let waiting = summary.delay_of_calls.percentiles_above_zero();
            let delayed = named(&format!("Delay added, {delayed}"), &names.playbook);
            charts.push(spread(named("Delay added, all calls", &names.playbook), all, delay, longest));
            charts.push(spread(delayed, waiting, delay, longest));
        }
        if most > 1 {
            let requests = summary.requests_of_calls.percentiles();
            charts.push(spread(named("Upstream calls per call", &names.playbook), requests, text::count, most));
        }
    }
    let recorded = recorded.filter(|_| most > 1);
    let of_recording = |recorded| spread("Upstream calls per call, recorded".to_owned(), recorded, text::count, most);
    charts.extend(recorded.map(of_recording));
    let said = "p95: 95 of 100 calls have this or less. At most one percent too high; max is exact.";
    vec![Block::Charts(charts), Block::Para(Text::new(Tone::Soft, said))]
}

fn spread(title: String, percentiles: Percentiles, words: impl Fn(u64) -> String, of: u64) -> Bars {
    let bar = |(name, value): (&str, u64)| Bar { label: name.to_owned(), value, said: words(value) };
    Bars { title, of, bars: percentiles.rows().map(bar).into() }
}

/// The calls that wait for people, by queue.
fn queues(totals: &Totals<'_>) -> Vec<Block> {
    let summaries = &totals.replayed.summaries;
    let of = summaries.iter().flat_map(|summary| &summary.queues).copied().max().unwrap_or_default();
    let chart = |(summary, names): (&Summary, &&playproof_engine::event::PlaybookNames)| {
        let waiting = names.queues.iter().zip(&summary.queues).filter(|(_, count)| **count > 0);
        let bar = |(name, count): (&std::sync::Arc<str>, &u64)| Bar {
            label: name.to_string(),
            value: *count,
            said: text::count(*count),
        };
        let mut bars: Vec<Bar> = waiting.map(bar).collect();
        bars.sort_by_key(|bar| Reverse(bar.value)); // stable
        let more = bars.len().saturating_sub(QUEUES) as u64;
        bars.truncate(QUEUES);
        let calls = text::counted(summary.queues.iter().sum(), "call waits", "calls wait");
        let more = if more == 0 { String::new() } else { format!(", {} not shown", text::count(more)) };
        Bars { title: format!("{}: {calls} for people{more}", names.playbook), of, bars }
    };
    let charts = summaries.iter().zip(totals.names).map(chart).filter(|chart| !chart.bars.is_empty());
    vec![Block::Charts(charts.collect())]
}
