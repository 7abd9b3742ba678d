//! The page of fixtures under several playbooks: side by side, then each call.

use super::call::CallPiece;
use super::document::{Document, next};
use super::markup::Html;
use crate::doc::Block;
use crate::text;
use playproof_formats::shell::Command;

/// One fixture.
#[derive(Clone, Debug)]
pub struct RehearsalPage {
    /// Its file.
    pub path: String,
    /// Its title.
    pub title: String,
    /// What is compared, and what the fixture is meant to show, and does not.
    pub overview: Vec<Block>,
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
            shown.overview.iter().for_each(|block| html.add(&block.html()));
        });
    })
}
