//! `replay FIXTURE --crash-everywhere`: runs a fixture once for each moment between two inputs at which its dispatcher can die,
//! and shows what became of it, worst first.

use std::collections::BTreeMap;

use serde::Serialize;

use super::args::{Args, Format};
use super::prepared::LoadedFixture;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal::Terminal;
use playproof_engine::event::{Finding, FindingBy, FindingId, FindingSeverity, Outcome};
use playproof_engine::fixture::Fixture;
use playproof_engine::sim::{Crash, CrashAt, DrivenCall, Plan, Scenario, SimulationRecord, Simulator};
use playproof_engine::time::{Duration, Instant};
use playproof_report::doc::{Block, Doc, Table, Text, first};
use playproof_report::json::{Millis, Object, document};
use playproof_report::text;

/// How long a dispatcher that has died is away.
const RESTART: Duration = Duration::from_millis(1_000);

/// Ways to end that the page shows of each playbook.
const SHOWN: usize = 10;

/// A fixture whose dispatcher dies everywhere.
#[derive(Serialize)]
struct FixtureCrashes<'a> {
    fixture: &'a str,
    playbooks: Vec<PlaybookCrashes>,
}

/// The same under one playbook.
#[derive(Serialize)]
struct PlaybookCrashes {
    playbook: String,
    /// Moments at which it died, one a run.
    points: u64,
    without_crash: Ends,
    /// The worst first.
    with_crash: Vec<Group>,
}

/// Crashes after which everything ended in the same way.
#[derive(Serialize)]
struct Group {
    points: u64,
    first: Point,
    #[serde(flatten)]
    ends: Ends,
    /// Unsafe findings by the playbook that the run without a crash lacks.
    new_unsafe: Vec<&'static str>,
}

/// A moment at which a dispatcher died.
#[derive(Clone, Copy, Serialize)]
struct Point {
    after_input: u32,
    at_ms: Millis,
    /// Whether the requests of that input had left.
    has_left: bool,
}

/// How everything ended.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Ends {
    upstream_calls: u64,
    effects: u64,
    calls: BTreeMap<String, String>,
    /// The findings of the run, by their ids.
    findings: Vec<&'static str>,
}

/// A finding by the playbook: of which call, and which.
type Found = Vec<(u32, FindingId)>;

/// Runs the fixtures with each crash; an unsafe finding by a playbook that the run without a crash lacks is found.
pub fn run(
    args: &Args,
    loaded: &[LoadedFixture<'_>],
    terminal: &Terminal,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut fixtures = Vec::new();
    for (path, fixture, plans) in loaded {
        let playbooks =
            plans.iter().map(|(name, plan)| with_each_crash(name, plan, fixture, args.no_journal)).collect();
        fixtures.push(FixtureCrashes { fixture: path, playbooks });
    }
    let mut groups = fixtures.iter().flat_map(|one| &one.playbooks).flat_map(|one| &one.with_crash);
    let is_found = groups.any(|group| !group.new_unsafe.is_empty());
    match args.format {
        Format::Json | Format::Jsonl => {
            let crashes =
                Object::document("crashes/1").with("restart_ms", Millis(RESTART)).with("journal", !args.no_journal);
            output.json(document(&crashes.with("fixtures", fixtures)))?;
        }
        Format::Markdown => output.page(&page(&fixtures).markdown())?,
        Format::Table => output.page(&terminal.out.doc(&page(&fixtures)))?,
    }
    Ok(if is_found { Exit::Found } else { Exit::Clean })
}

fn with_each_crash(name: &str, plan: &Plan, fixture: &Fixture, forgets: bool) -> PlaybookCrashes {
    let mut scenario = Scenario { crash: None, ..Scenario::of_fixture(fixture, plan) };
    let mut simulator = Simulator::new();
    let (ends, known) = ends_of(&scenario, simulator.run_fixture(plan, &scenario));
    let inputs = simulator.inputs();
    let mut groups: BTreeMap<(Ends, Vec<&'static str>), Group> = BTreeMap::new();
    for (after, has_left) in (1..=inputs).flat_map(|after| [(after, false), (after, true)]) {
        scenario.crash = Some(Crash { when: CrashAt::Input { after, has_left }, restart: RESTART, forgets });
        let record = simulator.run_fixture(plan, &scenario);
        let (ends, found) = ends_of(&scenario, record);
        let mut new: Vec<&str> =
            found.iter().filter(|finding| !known.contains(finding)).map(|(_, id)| id.as_str()).collect();
        new.dedup();
        let at_ms = Millis(record.death.map_or(Instant::ZERO, |death| death.at).since(Instant::ZERO));
        let first = Point { after_input: after, at_ms, has_left };
        let group = Group { points: 0, first, ends: ends.clone(), new_unsafe: new.clone() };
        groups.entry((ends, new)).or_insert(group).points += 1;
    }
    let mut with_crash: Vec<Group> = groups.into_values().collect();
    with_crash.sort_by_key(|group| {
        let Point { after_input, has_left, .. } = group.first;
        let harm = (group.new_unsafe.len(), group.ends.effects.saturating_sub(ends.effects), group.ends.findings.len());
        (std::cmp::Reverse(harm), after_input, has_left)
    });
    let points = with_crash.iter().map(|group| group.points).sum();
    PlaybookCrashes { playbook: name.to_owned(), points, without_crash: ends, with_crash }
}

/// How everything ends in a fixture whose dispatcher dies by itself: without its journal, and with it; whether more was done
/// upstream without.
pub fn beside_journal(plan: &Plan, fixture: &Fixture) -> (Table, bool) {
    let ends = [true, false].map(|forgets| {
        let mut scenario = Scenario::of_fixture(fixture, plan);
        scenario.crash.iter_mut().for_each(|crash| crash.forgets = forgets);
        ends_of(&scenario, Simulator::new().run_fixture(plan, &scenario)).0
    });
    let mut table = Table::words("", ["without a journal", "with it"]);
    let mut row = |label: &str, of: &dyn Fn(&Ends) -> String| {
        let [without, with] = ends.each_ref().map(|ends| Text::from(of(ends)));
        table.row([label.into(), without, with]);
    };
    for call in &fixture.calls {
        row(&call.name, &|ends| ends.calls.get(&*call.name).cloned().unwrap_or_default());
    }
    row("upstream calls", &|ends| text::count(ends.upstream_calls));
    row("effects upstream", &|ends| text::count(ends.effects));
    let [without, with] = &ends;
    (table, without.effects > with.effects)
}

/// How a run ended, and the unsafe findings by its playbook.
fn ends_of(scenario: &Scenario<'_>, record: &SimulationRecord) -> (Ends, Found) {
    let ended = |(call, outcome): (&DrivenCall<'_>, &Outcome)| {
        (call.name.to_owned(), format!("{}, effect {}", outcome.kind.as_str(), outcome.claim.as_str()))
    };
    let mut findings: Vec<&str> = record.findings.iter().map(|finding| finding.id.as_str()).collect();
    findings.sort_unstable();
    findings.dedup();
    let is_unsafe =
        |finding: &&Finding| (finding.by, finding.severity) == (FindingBy::Playbook, FindingSeverity::Unsafe);
    let mut found: Found = record.findings.iter().filter(is_unsafe).map(|one| (one.call.0, one.id)).collect();
    found.sort_unstable_by_key(|(call, id)| (id.as_str(), *call));
    let ends = Ends {
        upstream_calls: record.tallies.iter().map(|tally| u64::from(tally.sends)).sum(),
        effects: record.ledger.net().values().map(|net| u64::from(net.effects)).sum(),
        calls: scenario.calls.iter().zip(&record.outcomes).map(ended).collect(),
        findings,
    };
    (ends, found)
}

fn page(fixtures: &[FixtureCrashes<'_>]) -> Doc {
    let runs = fixtures.iter().flat_map(|fixture| fixture.playbooks.iter().map(|one| (fixture.fixture, one)));
    let cards = runs.map(|(fixture, one)| {
        let ways = text::counted(one.with_crash.len() as u64, "way to end", "ways to end");
        let points = text::counted(one.points, "moment", "moments");
        let title = format!("{fixture} under {}: the dispatcher dies at {points}, {ways}", one.playbook);
        let without = format!("without a crash: {}", one.without_crash.said());
        Block::card(title, vec![Block::para(without), first(SHOWN, one.with_crash.iter().map(Group::said))])
    });
    Doc::with("", cards.collect())
}

impl Group {
    fn said(&self) -> String {
        let Point { after_input, at_ms: Millis(at), has_left } = self.first;
        let left = if has_left { "after" } else { "before" };
        let points = text::counted(self.points, "moment", "moments");
        let new = match self.new_unsafe.as_slice() {
            [] => String::new(),
            new => format!("; unsafe: {}", new.join(", ")),
        };
        let ends = self.ends.said();
        format!("{points}, first {left} what input {after_input} asks for ({at} ms): {ends}{new}")
    }
}

impl Ends {
    fn said(&self) -> String {
        let calls: Vec<String> = self.calls.iter().map(|(call, end)| format!("{call} {end}")).collect();
        let sent = text::counted(self.upstream_calls, "request", "requests");
        let effects = text::counted(self.effects, "effect", "effects");
        let found = if self.findings.is_empty() { String::new() } else { format!("; {}", self.findings.join(", ")) };
        format!("{sent}, {effects}; {}{found}", calls.join("; "))
    }
}
