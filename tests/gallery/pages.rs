//! The Markdown of the gallery.

use std::fmt::Write as _;

use playproof_engine::fixture::Fixture;
use playproof_engine::sim::{Scenario, Simulator};
use playproof_report::text;

use super::themes::{self, THEMES, Theme};
use super::timelines::Timelines;
use crate::goldens::{plan, playbooks};

/// What stands on top of each page.
const WRITTEN: &str =
    "<!-- `UPDATE_DOCUMENTS=1 cargo test --test all gallery` writes this page from the fixtures. -->\n";

/// Words of names that are not written as other words.
const SPELT: [(&str, &str); 2] = [("aws", "AWS"), ("grpc", "gRPC")];

/// A fixture on its page.
pub struct Behaviour {
    name: String,
    title: String,
    playbooks: Vec<String>,
    /// The place of its theme.
    theme: usize,
    /// The verdict that most failures get.
    verdict: Option<String>,
    timelines: Timelines,
}

impl Behaviour {
    pub fn new(name: &str, fixture: &Fixture, timelines: Timelines) -> Behaviour {
        let playbooks = playbooks(fixture);
        let plan = plan(&playbooks[0]);
        let scenario = Scenario::of_fixture(fixture, &plan);
        let mut simulator = Simulator::new();
        let run = simulator.run_fixture(&plan, &scenario);
        let theme = themes::of(run).unwrap_or_else(|| panic!("no theme of the gallery holds {name}"));
        let verdict = themes::verdict(run).map(|verdict| plan.names.verdict(verdict).to_owned());
        Behaviour { name: name.to_owned(), title: fixture.title.clone(), playbooks, theme, verdict, timelines }
    }

    /// The name as words: its anchor is the name.
    fn heading(&self) -> String {
        let spelt =
            |word: &str| SPELT.iter().find(|(plain, _)| *plain == word).map_or(word.to_owned(), |it| it.1.to_owned());
        let words = self.name.split('-').map(spelt).collect::<Vec<String>>().join(" ");
        words[..1].to_uppercase() + &words[1..]
    }

    fn section(&self) -> String {
        let (Behaviour { name, .. }, Timelines { shown, left_out }) = (self, &self.timelines);
        let under = self.playbooks.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let title = text::markdown(&self.title);
        let mut section = format!("## {}\n\n{title}.\n\n", self.heading());
        let _ = writeln!(
            section,
            "[Fixture](../../fixtures/{name}.yaml), under {under}\n\n```text\n{}\n```",
            shown.join("\n\n")
        );
        if *left_out > 0 {
            let calls = text::counted(*left_out as u64, "more call", "more calls");
            let _ = writeln!(section, "\n`playproof replay fixtures/{name}.yaml` shows {calls}.");
        }
        section
    }
}

/// The behaviours of a theme, those with one verdict together.
pub fn of_theme(all: &[Behaviour], theme: usize) -> Vec<&Behaviour> {
    let mut behaviours: Vec<&Behaviour> = all.iter().filter(|one| one.theme == theme).collect();
    behaviours.sort_by_key(|one| (&one.verdict, &one.name));
    behaviours
}

/// The page of a theme.
pub fn page(theme: &Theme, behaviours: &[&Behaviour]) -> String {
    let sections: Vec<String> = behaviours.iter().map(|one| one.section()).collect();
    format!(
        "{WRITTEN}\n# {}\n\n{} [All behaviours](../gallery.md)\n\n{}",
        theme.title,
        theme.about,
        sections.join("\n")
    )
}

/// The page that lists all behaviours.
pub fn contents(all: &[Behaviour]) -> String {
    let mut page = format!(
        "{WRITTEN}\n# Gallery\n\nEvery fixture of Playproof with its timelines, as `playproof replay` prints them: {} \
         behaviours. A page is chosen by what the fixture's first playbook does; within a page, the behaviours stand \
         under the verdict that most of their failures get.\n",
        all.len()
    );
    for (at, theme) in THEMES.iter().enumerate() {
        let _ = write!(page, "\n## {}\n\n{} [The page](gallery/{}.md)\n", theme.title, theme.about, theme.file);
        let mut verdict = None;
        for one in of_theme(all, at) {
            if verdict != Some(&one.verdict) {
                verdict = Some(&one.verdict);
                let words = one.verdict.as_ref().map_or("No failed attempt".to_owned(), |name| format!("`{name}`"));
                let _ = write!(page, "\n{words}\n\n");
            }
            let _ = writeln!(page, "- [{}](gallery/{}.md#{})", one.heading(), theme.file, one.name);
        }
    }
    page
}
