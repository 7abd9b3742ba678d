//! The page of fixtures under several playbooks: side by side, then each call.

use super::call::CallPiece;
use super::document::{Document, next};
use super::markup::Html;
use super::table::{Cell, Table};
use crate::text;
use playproof_formats::shell::Command;

/// One fixture.
#[derive(Clone, Debug)]
pub struct RehearsalPage {
    /// Its file.
    pub path: String,
    /// Its title.
    pub title: String,
    /// The playbooks.
    pub playbooks: Vec<String>,
    /// A row for each thing that is compared: its name, then its value under each playbook.
    pub rows: Vec<Vec<String>>,
    /// What the fixture is meant to show, and does not.
    pub contradictions: Vec<String>,
    /// Its calls.
    pub calls: Vec<CallPiece>,
    /// The one command to run next.
    pub next: Command,
}

/// The page.
pub fn rehearsals(all: &[RehearsalPage]) -> String {
    let about = match all {
        [one] => one.path.clone(),
        all => text::counted(all.len() as u64, "fixture", "fixtures"),
    };
    let mut page = Document::new("Replay", &text::fitted_path(&about, 200));
    for (shown, n) in all.iter().zip(1..) {
        let id = format!("fixture-{n}");
        page.listed(&id, &text::fitted(&shown.title, 100));
        page.add(&fixture(shown, &id));
        let calls: Vec<Html> = shown.calls.iter().map(|call| call.html.clone()).collect();
        let (count, calls) = (calls.len(), page.fitting(calls, 0));
        calls.iter().for_each(|call| page.add(call));
        page.left_out(count - calls.len(), "call is", "calls are");
        page.add(&next(&shown.next));
    }
    page.finish()
}

fn fixture(shown: &RehearsalPage, id: &str) -> Html {
    Html::of(|html| {
        html.tag("section", &[("id", id)], |html| {
            html.line("h2", "", &text::fitted(&shown.title, 400));
            html.element("p", "soft", |html| html.line("code", "", &text::fitted_path(&shown.path, 200)));
            let header = std::iter::once(String::new()).chain(shown.playbooks.iter().cloned());
            let mut table = Table::new("", header.map(|name| (name, false)));
            for row in &shown.rows {
                let cells: Vec<Cell> = row.iter().map(|cell| Cell::Words(cell.clone())).collect();
                table.row("", &cells);
            }
            html.add(&table.finish());
            if !shown.contradictions.is_empty() {
                html.line("p", "bad", "What the fixture is meant to show, and does not:");
                html.element("ul", "", |html| {
                    shown.contradictions.iter().take(50).for_each(|said| html.line("li", "", &text::fitted(said, 400)));
                });
            }
        });
    })
}
