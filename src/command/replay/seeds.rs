//! `replay FIXTURE --seeds A-B`: runs a fixture with each seed, and shows how much the draws matter.

use std::ops::RangeInclusive;

use serde::Serialize;

use super::args::{Args, Format};
use super::prepared::LoadedFixture;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal::Terminal;
use playproof_engine::event::Decision;
use playproof_engine::fixture::Fixture;
use playproof_engine::sim::{Plan, Scenario, SimulationRecord, Simulator, contradictions};
use playproof_engine::time::{Duration, Instant};
use playproof_report::doc::{Block, Doc, Table, Text, first};
use playproof_report::json::{Millis, Object, document};
use playproof_report::text;

/// Groups of contradicting seeds that the table shows.
const SHOWN: usize = 10;

/// A fixture with each seed.
#[derive(Serialize)]
struct FixtureSeeds<'a> {
    fixture: &'a str,
    playbooks: Vec<PlaybookSeeds>,
}

/// The same under one playbook.
#[derive(Serialize)]
struct PlaybookSeeds {
    playbook: String,
    ends_ms: Spread<Millis>,
    attempts: Spread<u64>,
    waits_ms: Spread<Millis>,
    contradictions: Vec<SeedContradictions>,
}

#[derive(Serialize)]
struct SeedContradictions {
    seed: u64,
    says: Vec<String>,
}

impl SeedContradictions {
    /// Whether the next seed contradicts in the same words.
    fn goes_on(&self, next: &SeedContradictions) -> bool {
        self.seed.checked_add(1) == Some(next.seed) && self.says == next.says
    }
}

/// The lowest, the median (of an even number the lower one) and the highest value.
#[derive(Serialize)]
struct Spread<T> {
    lowest: T,
    median: T,
    highest: T,
}

impl<T: Copy + Ord + Default> Spread<T> {
    fn over(mut values: Vec<T>) -> Spread<T> {
        values.sort_unstable();
        let at = |n: usize| values.get(n).copied().unwrap_or_default();
        let last = values.len().saturating_sub(1);
        Spread { lowest: at(0), median: at(last / 2), highest: at(last) }
    }
}

impl<T> Spread<T> {
    fn map<U>(&self, to: impl Fn(&T) -> U) -> Spread<U> {
        Spread { lowest: to(&self.lowest), median: to(&self.median), highest: to(&self.highest) }
    }
}

/// Runs the fixtures with each seed; a contradiction of what they expect is found.
pub fn run(
    args: &Args,
    seeds: &RangeInclusive<u64>,
    loaded: &mut [LoadedFixture<'_>],
    terminal: &Terminal,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut fixtures = Vec::new();
    for (path, fixture, plans) in loaded {
        let playbooks = plans.iter_mut().map(|(name, plan)| with_each_seed(name, plan, fixture, seeds)).collect();
        fixtures.push(FixtureSeeds { fixture: path, playbooks });
    }
    let contradicted = fixtures.iter().flat_map(|one| &one.playbooks).any(|one| !one.contradictions.is_empty());
    match args.format {
        Format::Json | Format::Jsonl => {
            let (first, last) = (*seeds.start(), *seeds.end());
            let seeds = Object::document("seeds/1").with("first", first).with("last", last);
            output.json(document(&seeds.with("fixtures", fixtures)))?;
        }
        Format::Markdown => output.page(&page(&fixtures, seeds).markdown())?,
        Format::Table => output.page(&terminal.out.doc(&page(&fixtures, seeds)))?,
    }
    Ok(if contradicted { Exit::Found } else { Exit::Clean })
}

fn with_each_seed(name: &str, plan: &mut Plan, fixture: &Fixture, seeds: &RangeInclusive<u64>) -> PlaybookSeeds {
    let (mut ends, mut attempts, mut waits, mut wrong) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut simulator = Simulator::new();
    for seed in seeds.clone() {
        plan.seed = Some(seed);
        let scenario = Scenario::of_fixture(fixture, plan);
        let record = simulator.run_fixture(plan, &scenario);
        let expect = fixture.expect.get(&*plan.playbook.name);
        let says: Vec<String> = expect
            .map(|expect| contradictions(expect, plan, &scenario, record))
            .unwrap_or_default()
            .iter()
            .map(ToString::to_string)
            .collect();
        if !says.is_empty() {
            wrong.push(SeedContradictions { seed, says });
        }
        ends.push(end(record));
        attempts.push(record.attempts());
        waits.push(record.tallies.iter().fold(Duration::ZERO, |sum, tally| sum.plus(tally.added_delay)));
    }
    PlaybookSeeds {
        playbook: name.to_owned(),
        ends_ms: Spread::over(ends).map(|span| Millis(*span)),
        attempts: Spread::over(attempts),
        waits_ms: Spread::over(waits).map(|span| Millis(*span)),
        contradictions: wrong,
    }
}

/// When the last call ended.
fn end(record: &SimulationRecord) -> Duration {
    let ends = record.events.iter().filter(|event| matches!(event.what, Decision::Outcome(_)));
    ends.map(|event| event.at.since(Instant::ZERO)).max().unwrap_or_default()
}

fn page(fixtures: &[FixtureSeeds<'_>], seeds: &RangeInclusive<u64>) -> Doc {
    let card = |fixture: &FixtureSeeds<'_>| {
        let (first, last) = (seeds.start(), seeds.end());
        let title = format!("{} with the seeds {first} to {last}", fixture.fixture);
        let spreads = Block::Table(spreads(&fixture.playbooks));
        let wrong = fixture.playbooks.iter().filter(|one| !one.contradictions.is_empty()).map(contradicting);
        Block::card(title, std::iter::once(spreads).chain(wrong).collect())
    };
    Doc::with("", fixtures.iter().map(card).collect())
}

fn spreads(playbooks: &[PlaybookSeeds]) -> Table {
    let mut table =
        Table::columns([("playbook", false), ("", false), ("lowest", true), ("median", true), ("highest", true)]);
    for one in playbooks {
        let millis = |Millis(span): &Millis| format!("{span} ms");
        let mut row = |name: &str, what: &str, Spread { lowest, median, highest }: Spread<String>| {
            table.row([name, what, &lowest, &median, &highest].map(Text::from));
        };
        row(&one.playbook, "end of the last call", one.ends_ms.map(millis));
        row("", "attempts", one.attempts.map(|count| text::count(*count)));
        row("", "waits before retries", one.waits_ms.map(millis));
    }
    table
}

/// The seeds that contradict what the fixture expects, those in a row that say the same together.
fn contradicting(one: &PlaybookSeeds) -> Block {
    let said = text::counted(one.contradictions.len() as u64, "seed contradicts", "seeds contradict");
    let alike: Vec<&[SeedContradictions]> = one.contradictions.chunk_by(SeedContradictions::goes_on).collect();
    let lines = alike.iter().map(|alike| {
        let [from, to] = [alike.first(), alike.last()].map(|one| one.map_or(0, |one| one.seed));
        let seeds = if from == to { from.to_string() } else { format!("{from}-{to}") };
        format!("{seeds}: {}", alike.first().map(|one| one.says.join("; ")).unwrap_or_default())
    });
    let title = format!("{said} what the fixture expects under {}:", one.playbook);
    Block::card(title, vec![first(SHOWN, lines)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_one_of_the_values() {
        let spread = |values: &[u64]| {
            let Spread { lowest, median, highest } = Spread::over(values.to_vec());
            (lowest, median, highest)
        };
        assert_eq!((spread(&[3, 1, 2]), spread(&[4, 1, 3, 2]), spread(&[])), ((1, 2, 3), (1, 2, 4), (0, 0, 0)));
    }
}
