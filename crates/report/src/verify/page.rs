//! The page for people: the properties, the story of each counterexample, and what the rest rests on.

use super::story;
use crate::diagnostic::render;
use crate::findings::{About, sentence};
use crate::style::Palette;
use crate::text::{count, counted, escape_unprintable, markdown_block, wrapped};
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

/// The page of one playbook, without a line break at its end.
pub fn page(shown: &Shown<'_>, width: usize, palette: Palette, colour: bool) -> String {
    let mut sections = vec![properties(shown.result, palette)];
    sections.extend(counterexamples(shown, width, palette, colour));
    sections.extend(rests_on(shown.result, width, palette));
    sections.extend(shown.against.map(|(old, asked)| compared(old, asked, palette)));
    sections.join("\n\n")
}

/// Each counterexample: its story, its timeline and the rows that decided it.
pub fn counterexamples(shown: &Shown<'_>, width: usize, palette: Palette, colour: bool) -> Vec<String> {
    let Shown { result, plan, loaded, .. } = *shown;
    let found = result.counterexamples().map(|(id, shown)| {
        let said = sentence(id, 2, About { declared: true, ..About::default() });
        let mut lines = vec![palette.strong(&format!("{}: {said}", id.as_str()))];
        lines.extend(wrapped(&story_of(shown), width));
        lines.extend(story::timeline(plan, shown, palette));
        lines.extend(story::rows(plan, loaded, id, shown).map(|report| render(&report, width, colour)));
        lines.join("\n")
    });
    found.collect()
}

/// The same as Markdown.
pub fn markdown(shown: &Shown<'_>, width: usize) -> String {
    markdown_block(&page(shown, width, Palette::new(false), false))
}

/// What changed rows do to the guarantees of their playbook: what is lost, and what their claims rest on. None where that is
/// nothing.
pub fn guarantees(asked: &Guarantees, width: usize, palette: Palette) -> Option<String> {
    let now = &asked.now;
    let lost = now.counterexamples().filter(|(id, _)| asked.lost.contains(id));
    let lost = lost.map(|(id, shown)| (palette.bad("lost"), format!("{}: {}", id.as_str(), story_of(shown))));
    let rests = now.rests_on.iter().flat_map(|rests| {
        let on = escape_unprintable(&rests.on);
        rests.properties().map(move |id| (palette.faint("held"), format!("{} rests on {on}", id.as_str())))
    });
    let said: Vec<(String, String)> = lost.chain(rests).collect();
    let playbook = escape_unprintable(&now.playbook);
    let kinds = counted(now.kinds.len() as u64, "kind", "kinds");
    let mut lines = vec![format!("properties of {playbook}, for {kinds} of call that the changed rows reach")];
    for (word, said) in &said {
        let said = wrapped(said, width.saturating_sub(8)).join("\n        ");
        lines.push(format!("  {word}  {said}"));
    }
    (!said.is_empty()).then(|| lines.join("\n"))
}

pub(crate) fn story_of(shown: &Counterexample) -> String {
    let departures = counted(u64::from(shown.departures), "departure", "departures");
    let answers = counted(shown.answers.len() as u64, "answer", "answers");
    let said: Vec<String> = shown.answers.iter().map(|answer| escape_unprintable(answer).into_owned()).collect();
    format!("{} ({departures}, {answers}): {}", escape_unprintable(&shown.kind), said.join(" → "))
}

fn properties(result: &Verified, palette: Palette) -> String {
    let is_asked = result.properties.iter().any(|property| property.fate != Fate::NotAsked);
    let extent = match (result.has_actions && !is_asked, result.complete) {
        (true, _) => "no script of answers that asks a property",
        (false, true) => "every script of answers",
        (false, false) => "not every script of answers",
    };
    let head = format!(
        "{}: {}, {extent} to one call",
        palette.strong(&escape_unprintable(&result.playbook)),
        counted(result.states, "state", "states"),
    );
    let actions = result.has_actions.then(|| "  no call of its actions was tried: nothing is said of them".to_owned());
    let lines =
        result.properties.iter().map(|property| format!("  {:24}{}", property.id.as_str(), fate(property, palette)));
    std::iter::once(head).chain(actions).chain(lines).collect::<Vec<_>>().join("\n")
}

fn fate(property: &PropertyResult, palette: Palette) -> String {
    match property.fate {
        Fate::Holds => palette.good("holds"),
        Fate::NotAsked => palette.faint("not asked"),
        Fate::CutShort(0) => palette.doubtful("cut short at the beginning"),
        Fate::CutShort(departures) => {
            let less = departures - 1; // not 0, as above
            palette.doubtful(&format!("cut short: holds to {}", counted(u64::from(less), "departure", "departures")))
        }
        Fate::Violated => {
            let broken = property.kinds.iter().filter(|(_, fate)| *fate == Fate::Violated).count();
            let kinds = counted(property.kinds.len() as u64, "kind", "kinds");
            format!("{} for {} of {kinds} of call", palette.bad("violated"), count(broken as u64))
        }
    }
}

/// What is gained and lost against another playbook.
pub(crate) fn compared(old: &str, asked: &Compared, palette: Palette) -> String {
    let property = |id: &FindingId| id.as_str().to_owned();
    let assumed = |Assumed { on, id }: &Assumed| format!("{} rests on {}", id.as_str(), escape_unprintable(on));
    let said = [
        ("lost", asked.lost.iter().map(property).collect::<Vec<_>>()),
        ("gained", asked.gained.iter().map(property).collect()),
        ("assumed now", asked.assumed.iter().map(assumed).collect()),
        ("assumed no more", asked.assumed_no_more.iter().map(assumed).collect()),
    ];
    let mut lines = vec![palette.strong(&format!("Against {}", escape_unprintable(old)))];
    let listed = said.into_iter().flat_map(|(word, all)| all.into_iter().map(move |one| format!("  {word:16}{one}")));
    lines.extend(listed);
    if lines.len() == 1 {
        lines.push("  no guarantee and no assumption is gained or lost".to_owned());
    }
    lines.join("\n")
}

pub(crate) fn rests_on(result: &Verified, width: usize, palette: Palette) -> Option<String> {
    if result.rests_on.is_empty() {
        return None;
    }
    let mut lines = vec![palette.strong("What holds rests on")];
    for rests in &result.rests_on {
        lines.push(format!("  {}", escape_unprintable(&rests.on)));
        for (id, shown) in &rests.breaks {
            let said = format!("{} without it: {}", id.as_str(), story_of(shown));
            let said = wrapped(&said, width.saturating_sub(4));
            lines.extend(said.iter().map(|line| palette.faint(&format!("    {line}"))));
        }
        for id in &rests.unshown {
            let said =
                format!("{} as far as the row is true: no fixture shows it, its ledger believes the row", id.as_str());
            let said = wrapped(&said, width.saturating_sub(4));
            lines.extend(said.iter().map(|line| palette.faint(&format!("    {line}"))));
        }
    }
    Some(lines.join("\n"))
}
