//! The page of `verify`: the properties of each playbook, the story of each counterexample, and what the rest rests on.

use super::document::Document;
use super::markup::Html;
use super::source;
use super::table::{Cell, Table};
use crate::style::Palette;
use crate::text;
use crate::verify::{self, Shown};
use playproof_engine::event::FindingId;
use playproof_explore::{Counterexample, Fate};

/// The width of what stands in lines.
const WIDTH: usize = 110;

/// The page of all playbooks.
pub fn verify<'a>(all: impl IntoIterator<Item = Shown<'a>>) -> String {
    let all: Vec<Shown<'_>> = all.into_iter().collect();
    let names: Vec<&str> = all.iter().map(|shown| shown.result.playbook.as_str()).collect();
    let mut page = Document::new("Verify", &text::fitted(&names.join(", "), 200));
    for shown in &all {
        page.add(&properties(shown));
        let stories = shown.result.counterexamples().map(|(id, found)| story(shown, id, found)).collect::<Vec<_>>();
        let (count, stories) = (stories.len(), page.fitting(stories, 0));
        stories.iter().for_each(|story| page.add(story));
        page.left_out(count - stories.len(), "counterexample is", "counterexamples are");
        let plain = Palette::new(false);
        let rests = verify::rests_on(shown.result, WIDTH, plain);
        let against = shown.against.map(|(old, asked)| verify::compared(old, asked, plain));
        for said in rests.into_iter().chain(against) {
            page.add(&Html::of(|html| html.line_pre(&said)));
        }
    }
    page.finish()
}

fn properties(shown: &Shown<'_>) -> Html {
    let mut table = Table::new("fit", [("property", false), ("result", false)]);
    for property in &shown.result.properties {
        let class = match property.fate {
            Fate::Violated => "bad",
            Fate::CutShort(_) => "doubt",
            Fate::Holds | Fate::NotAsked => "",
        };
        let result = property.fate.as_str().replace('_', " ");
        table.row(class, &[Cell::Code(property.id.as_str().to_owned()), Cell::Words(result)]);
    }
    let extent = if shown.result.complete { "every script of answers" } else { "not every script of answers" };
    let states = text::counted(shown.result.states, "state", "states");
    Html::of(|html| {
        html.element("h2", "", |html| html.line("code", "", &text::fitted(&shown.result.playbook, 100)));
        html.line("p", "soft", &format!("{states}, {extent} to one call"));
        html.add(&table.finish());
    })
}

fn story(shown: &Shown<'_>, id: FindingId, found: &Counterexample) -> Html {
    let plain = Palette::new(false);
    let timeline = verify::timeline(shown.plan, found, plain).join("\n");
    Html::of(|html| {
        html.element("article", "card", |html| {
            html.element("h3", "", |html| html.line("span", "tag bad", id.as_str()));
            html.line("p", "", &text::fitted(&verify::story_of(found), 600));
            html.line_pre(&timeline);
            if let Some(report) = verify::rows(shown.plan, shown.loaded, id, found) {
                html.add(&source::report(&report, ""));
            }
        });
        html.newline();
    })
}
