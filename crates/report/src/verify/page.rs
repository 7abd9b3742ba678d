//! The page of `verify`: the properties, the story of each counterexample, and what the rest rests on.

use super::story;
use crate::doc::{Block, Doc, Item, Table, Text, Tone};
use crate::findings::{About, sentence};
use crate::text::{count, counted};
use playproof_engine::event::FindingId;
use playproof_engine::sim::Plan;
use playproof_explore::{Assumed, Compared, Counterexample, Fate, Guarantees, PropertyResult, Verified};
use playproof_formats::playbook::Loaded;

/// The result of one playbook, with what it is drawn from.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The result.
    pub result: &'a Verified,
    /// The playbook, ready to run.
    pub plan: &'a Plan,
    /// The playbook with its places.
    pub loaded: &'a Loaded,
    /// The result held against that of another playbook, by its name.
    pub against: Option<(&'a str, &'a Compared)>,
}

/// The page of all playbooks.
pub fn pages<'a>(all: impl IntoIterator<Item = Shown<'a>>) -> Doc {
    Doc::with("Verify", all.into_iter().map(|shown| page(&shown)).collect())
}

/// What there is to say of one playbook.
pub fn page(shown: &Shown<'_>) -> Block {
    let result = shown.result;
    let is_asked = result.properties.iter().any(|property| property.fate != Fate::NotAsked);
    let extent = match (result.has_actions && !is_asked, result.complete) {
        (true, _) => "no script of answers that asks a property",
        (false, true) => "every script of answers",
        (false, false) => "not every script of answers",
    };
    let title = format!("{}: {}, {extent} to one call", result.playbook, counted(result.states, "state", "states"));
    let mut inside = Vec::new();
    if result.has_actions {
        inside.push(Block::para("no call of its actions was tried: nothing is said of them"));
    }
    let mut table = Table::named(["property", "result"]);
    result.properties.iter().for_each(|property| table.row([Text::code(property.id.as_str()), fate(property)]));
    inside.push(Block::Table(table));
    inside.extend(counterexamples(shown));
    inside.extend(rests_on(result));
    inside.extend(shown.against.map(|(old, asked)| compared(old, asked)));
    Block::section(&result.playbook, title, inside)
}

/// Each counterexample: its story, its timeline and the rows that decided it.
pub fn counterexamples(shown: &Shown<'_>) -> Vec<Block> {
    let Shown { result, plan, loaded, .. } = *shown;
    let found = result.counterexamples().map(|(id, shown)| {
        let said = sentence(id, 2, About { declared: true, ..About::default() });
        let mut inside = vec![Block::Para(story_of(shown)), Block::Table(story::timeline(plan, shown))];
        inside.extend(story::rows(plan, loaded, id, shown));
        Block::card(Text::new(Tone::Bad, id.as_str()).say(format!(": {said}")), inside)
    });
    found.collect()
}

/// What changed rows do to the guarantees of their playbook: what is lost, and what their claims rest on. None where that is
/// nothing.
pub fn guarantees(asked: &Guarantees) -> Option<Block> {
    let now = &asked.now;
    let lost = now.counterexamples().filter(|(id, _)| asked.lost.contains(id));
    let lost = lost.map(|(id, shown)| {
        let said = Text::new(Tone::Bad, "lost").say(format!("  {}: ", id.as_str()));
        said.join(story_of(shown))
    });
    let held = now.rests_on.iter().flat_map(|rests| {
        let rests_on = move |id: FindingId| format!("  {} rests on {}", id.as_str(), rests.on);
        rests.properties().map(move |id| Text::new(Tone::Soft, "held").say(rests_on(id)))
    });
    let said: Vec<Text> = lost.chain(held).collect();
    let kinds = counted(now.kinds.len() as u64, "kind", "kinds");
    let title = format!("properties of {}, for {kinds} of call that the changed rows reach", now.playbook);
    (!said.is_empty()).then(|| Block::card(title, vec![Block::list(said)]))
}

fn story_of(shown: &Counterexample) -> Text {
    let departures = counted(u64::from(shown.departures), "departure", "departures");
    let answers = counted(shown.answers.len() as u64, "answer", "answers");
    format!("{} ({departures}, {answers}): {}", shown.kind, shown.answers.join(" → ")).into()
}

fn fate(property: &PropertyResult) -> Text {
    match property.fate {
        Fate::Holds => Text::new(Tone::Good, "holds"),
        Fate::NotAsked => Text::new(Tone::Soft, "not asked"),
        Fate::CutShort(0) => Text::new(Tone::Doubt, "cut short at the beginning"),
        Fate::CutShort(departures) => {
            let less = departures - 1; // not 0, as above
            let less = counted(u64::from(less), "departure", "departures");
            Text::new(Tone::Doubt, format!("cut short: holds to {less}"))
        }
        Fate::Violated => {
            let broken = property.kinds.iter().filter(|(_, fate)| *fate == Fate::Violated).count();
            let kinds = counted(property.kinds.len() as u64, "kind", "kinds");
            Text::new(Tone::Bad, "violated").say(format!(" for {} of {kinds} of call", count(broken as u64)))
        }
    }
}

/// What is gained and lost against another playbook.
fn compared(old: &str, asked: &Compared) -> Block {
    let property = |id: &FindingId| Text::code(id.as_str());
    let assumed = |Assumed { on, id }: &Assumed| Text::code(id.as_str()).say(" rests on ").name(on);
    let said = [
        ("lost", asked.lost.iter().map(property).collect::<Vec<_>>()),
        ("gained", asked.gained.iter().map(property).collect()),
        ("assumed now", asked.assumed.iter().map(assumed).collect()),
        ("assumed no more", asked.assumed_no_more.iter().map(assumed).collect()),
    ];
    let pairs: Vec<_> = said.into_iter().flat_map(|(word, all)| all.into_iter().map(move |one| (word, one))).collect();
    let said = match pairs.is_empty() {
        true => Block::para("no guarantee and no assumption is gained or lost"),
        false => Block::pairs(pairs),
    };
    Block::card(Text::new(Tone::Strong, format!("Against {old}")), vec![said])
}

fn rests_on(result: &Verified) -> Option<Block> {
    let items = result.rests_on.iter().map(|rests| {
        let broken = rests.breaks.iter().map(|(id, shown)| {
            Text::from(format!("{} without it: ", id.as_str())).join(story_of(shown)).toned(Tone::Soft)
        });
        let unshown = rests.unshown.iter().map(|id| {
            let said = "as far as the row is true: no fixture shows it, its ledger believes the row";
            Text::new(Tone::Soft, format!("{} {said}", id.as_str()))
        });
        Item { said: Text::code(&rests.on), below: broken.chain(unshown).collect() }
    });
    let items: Vec<Item> = items.collect();
    let title = Text::new(Tone::Strong, "What holds rests on");
    (!items.is_empty()).then(|| Block::card(title, vec![Block::List(items)]))
}
