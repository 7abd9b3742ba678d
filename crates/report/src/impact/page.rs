//! The page of a comparison: the balance, both playbooks side by side, the causes with widening first, the gate.

use super::words::{self, ImpactPage};
use crate::doc::{Block, Doc, Table, Text, Tone};
use crate::findings;
use crate::overview;
use crate::text::{count, counted, fitted};
use crate::timeline::millis;
use playproof_analysis::impact::{CauseRow, Direction, Impact};
use playproof_engine::event::EffectClaim;
use playproof_engine::time::Duration;

/// The page.
pub fn page(shown: &ImpactPage<'_>) -> Doc {
    let impact = shown.impact;
    let title = Text::from("What ").name(&impact.candidate.playbook).say(" changes against ");
    let mut doc = Doc::new(title.name(&impact.base.playbook));
    let (causes, more) = shown.causes();
    let mut why: Vec<Block> = (1..).zip(causes).map(|(n, row)| cause(n, row)).collect();
    why.extend(left_out(impact, more).map(|said| Block::Para(Text::new(Tone::Soft, said))));
    let mut summary = vec![Block::List(overview::inputs(shown.replayed, shown.notes))];
    summary.extend(shown.remarks.iter().cloned().map(Block::para));
    summary.push(Block::list([words::balance(impact), words::directions(impact)]));
    summary.push(Block::Table(totals(impact)));
    doc.blocks = summary;
    doc.add(Block::section("causes", "Why calls are decided differently, widening first", why));
    doc.answer = gate(shown);
    doc.answer.extend(shown.next.cloned().map(Block::next));
    doc
}

/// What the page leaves out, in a line.
fn left_out(impact: &Impact, more: usize) -> Option<String> {
    let mut said = Vec::new();
    if more > 0 {
        said.push(format!("{} more (--format json has them all)", counted(more as u64, "cause", "causes")));
    }
    if impact.counts.overflow > 0 {
        said.push(format!("{} with further causes", counted(impact.counts.overflow, "call", "calls")));
    }
    (!said.is_empty()).then(|| format!("and {}", said.join(", and ")))
}

/// Both playbooks side by side: what is counted under each, and what only the candidate has more or fewer of.
fn totals(impact: &Impact) -> Table {
    let (base, candidate, load) = (&impact.base, &impact.candidate, &impact.counts.load);
    let mut table = Table::numbers("", [&*base.playbook, &*candidate.playbook, "more", "fewer"]);
    let row = |label: Text, sides: [String; 2], swing: [String; 2]| -> Vec<Text> {
        std::iter::once(label).chain(sides.into_iter().chain(swing).map(Text::from)).collect()
    };
    let numbers =
        |label: &str, sides: [u64; 2], swing: [u64; 2]| row(label.into(), sides.map(count), swing.map(number_if));
    let upstream = [base.upstream_calls, candidate.upstream_calls];
    table.row(numbers("upstream calls", upstream, [load.upstream_more, load.upstream_fewer]));
    let delay = [load.delay_more, load.delay_fewer].map(delay_if);
    table.row(row("delay added, ms".into(), [base.added_delay, candidate.added_delay].map(millis), delay));
    let effects = [base.effects, candidate.effects];
    table.row(numbers("effects in the ledger", effects, [load.effects_more, load.effects_fewer]));
    let claims = [EffectClaim::Applied, EffectClaim::NotApplied, EffectClaim::Unknown];
    for ((claim, mine), theirs) in claims.into_iter().zip(base.claims).zip(candidate.claims) {
        let swing = [load.claims_more, load.claims_fewer].map(|calls| calls[claim as usize]);
        table.row(numbers(&format!("  claimed {}", claim.as_str()), [mine, theirs], swing));
    }
    let doubled = [base.doubled, candidate.doubled];
    table.row(numbers("effects that may be doubled", doubled, [load.doubled_more, load.doubled_fewer]));
    let people = [base.people, candidate.people];
    table.row(numbers("waiting for people", people, [load.people_more, load.people_fewer]));
    for queue in &impact.queues {
        let label = format!("  in queue {}", fitted(&queue.queue, 40));
        table.row(numbers(&label, [queue.base, queue.candidate], [0, 0]));
    }
    for finding in &impact.findings {
        let tone = findings::tone(finding.kind.severity);
        let label = Text::new(tone, format!("{:6}  {}", finding.kind.severity.as_str(), finding.kind.id.as_str()));
        let swing = [finding.gained, finding.lost].map(number_if);
        table.row(row(label, [finding.base, finding.candidate].map(count), swing));
    }
    table
}

fn number_if(n: u64) -> String {
    if n == 0 { String::new() } else { count(n) }
}

fn delay_if(span: Duration) -> String {
    if span.as_micros() == 0 { String::new() } else { millis(span) }
}

fn cause(number: usize, row: &CauseRow) -> Block {
    let tone = match row.direction {
        Direction::Widening => Tone::Bad,
        Direction::Narrowing => Tone::Good,
        Direction::Neutral => Tone::Soft,
    };
    let mut calls = counted(row.calls, "call", "calls");
    if row.following > 0 {
        calls += &format!(", {} of them following from another", count(row.following));
    }
    if row.undetermined > 0 {
        calls += &format!(", {} undetermined", count(row.undetermined));
    }
    let title = Text::from(format!("{number}. ")).and(tone, row.direction.as_str()).say(format!("  {calls}"));
    let mut pairs = vec![
        ("cause", words::cause(&row.cause).into()),
        ("tools", words::tools(&row.tools).into()),
        ("differ in", words::changes(row).into()),
        ("load", words::load(row).into()),
    ];
    if let Some(example) = &row.example {
        let name = |name: &str, most: usize| Text::code(fitted(name, most));
        pairs.push(("example", name(&example.reference, 40).say(" of ").name(fitted(&example.tool, 40))));
        pairs.push(("  base", words::end(&example.base).into()));
        pairs.push(("  candidate", words::end(&example.candidate).into()));
    }
    Block::card(title, vec![Block::pairs(pairs)])
}

/// Whether the comparison passes, and what was allowed.
fn gate(shown: &ImpactPage<'_>) -> Vec<Block> {
    let (refused, allowed) = words::gate(shown.gate, shown.impact);
    let mut said = Vec::new();
    if !refused.is_empty() {
        said.push(Block::list(refused.into_iter().map(|why| Text::new(Tone::Bad, "does not pass: ").say(why))));
    } else if let Some(why) = words::undecided(shown.gate, shown.impact) {
        said.push(Block::Para(Text::new(Tone::Doubt, why)));
    } else if shown.gate.widening || shown.gate.effects {
        said.push(Block::Para(Text::new(Tone::Good, "passes")));
    }
    said.extend(allowed.map(Block::para));
    said
}
