//! The Markdown of the gallery.

use std::fmt::Write as _;
use std::fs;

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
    /// Where people have reported such a failure.
    reports: Option<String>,
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
        let (name, title) = (name.to_owned(), fixture.title.clone());
        let reports = reports_of(&name);
        Behaviour { name, title, playbooks, theme, verdict, reports, timelines }
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

/// How the last line of a fixture of a reported failure begins.
const REPORTED: &str = "# reported in: ";

/// What stands behind it.
fn reports_of(name: &str) -> Option<String> {
    let text = fs::read_to_string(super::root().join(format!("fixtures/{name}.yaml"))).expect("a fixture");
    reports_in(&text).unwrap_or_else(|line| panic!("`{REPORTED}` is the last line of {name}, not line {line}"))
}

/// The reports that the last line of a fixture names; the error: the line that names them and is not the last.
fn reports_in(text: &str) -> Result<Option<String>, usize> {
    let named = text.lines().zip(1..).find_map(|(line, n)| Some((line.strip_prefix(REPORTED)?, n)));
    match named {
        Some((_, n)) if n < text.lines().count() => Err(n),
        _ => Ok(named.map(|(reports, _)| reports.to_owned())),
    }
}

#[test]
fn reports_that_are_not_named_in_the_last_line_are_refused() {
    assert_eq!(reports_in("title: t\n# reported in: a#1; b#2\n"), Ok(Some("a#1; b#2".to_owned())));
    assert_eq!(reports_in("title: t\n"), Ok(None));
    assert_eq!(reports_in("# reported in: a#1\ntitle: t\n"), Err(1));
    assert_eq!(reports_in("title: t\n# reported in: a#1\n# reported in: b#2\n"), Err(2));
}

/// The page of the failures that people have reported.
pub fn incidents(all: &[Behaviour]) -> String {
    let mut page = format!(
        "{WRITTEN}\n# Incidents\n\nFailures that people reported (`repository#number`, specifications, public \
         accounts), each as a fixture with tools of its own: the pattern, not the system of the report. Some reports \
         were written by machines. Playproof has no word for how long keys live, a refresh of credentials, a client's \
         clock, the items of a batch, a queue that delivers by itself, a request for approval that is withdrawn, an \
         upstream that is slower under load.\n"
    );
    for (at, theme) in THEMES.iter().enumerate() {
        let reported = of_theme(all, at).into_iter().filter_map(|one| Some((one, one.reports.as_ref()?)));
        let rows = reported.map(|(one, reports)| {
            let (title, reports) = (text::markdown(&one.title), text::markdown(reports));
            format!("- [{title}]({}.md#{}): {reports}\n", theme.file, one.name)
        });
        let rows: String = rows.collect();
        if !rows.is_empty() {
            let _ = write!(page, "\n## {}\n\n{rows}", theme.title);
        }
    }
    page
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
