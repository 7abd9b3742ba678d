//! The page of proposals: the rows that change, underlined, and every fixture before and after, worst first.

use super::changed_rows::changed_rows;
use super::check::{class_of, difference};
use super::document::Document;
use super::markup::Html;
use super::source;
use super::table::{Cell, Table};
use crate::text;
use playproof_analysis::check::row_places;
use playproof_analysis::proposal::{FixtureDiff, ProposalGate, ProposalReport};
use playproof_formats::diagnostic::Label;
use playproof_formats::playbook::Loaded;

/// A proposal that was tried.
#[derive(Clone, Debug)]
pub struct Proposed<'a> {
    /// What it changes, and the objections.
    pub judged: &'a ProposalReport,
    /// The playbook as proposed.
    pub playbook: &'a Loaded,
    /// What it changes on recorded calls, if that was asked for.
    pub corpus: Option<Html>,
}

/// The page of all proposals.
pub fn proposals(all: &[Proposed<'_>]) -> String {
    let about = match all {
        [one] => one.judged.id.clone(),
        all => text::counted(all.len() as u64, "proposal", "proposals"),
    };
    let mut page = Document::new("Proposal", &text::fitted(&about, 200));
    for one in all {
        page.add(&head(one));
        let diffs: Vec<Html> = one.judged.shown().into_iter().map(fixture).collect();
        let (count, diffs) = (diffs.len(), page.fitting(diffs, 0));
        diffs.iter().for_each(|diff| page.add(diff));
        page.left_out(count - diffs.len(), "fixture is", "fixtures are");
        let unchanged = one.judged.unchanged() as u64;
        let said = text::counted(
            unchanged,
            "fixture run of the project ends as before",
            "fixture runs of the project end as before",
        );
        page.add(&Html::of(|html| html.line("p", "soft", &said)));
        one.corpus.iter().for_each(|corpus| page.add(corpus));
    }
    page.finish()
}

fn head(one: &Proposed<'_>) -> Html {
    let judged = one.judged;
    Html::of(|html| {
        html.element("h2", "", |html| {
            html.line("code", "", &text::fitted(&judged.id, 100));
            html.text(" changes ");
            html.line("code", "", &text::fitted(&judged.playbook, 100));
        });
        if judged.gates.is_empty() {
            html.line("p", "good strong", "ready to accept");
        }
        judged.gates.iter().take(50).for_each(|one| html.add(&gate(one)));
        html.add(&changed_rows(&judged.rows, ["before", "after"]));
        let places = judged.rows.iter().flat_map(|change| row_places(one.playbook, change));
        let labels: Vec<Label> = places.map(|(span, text)| Label { span, text }).collect();
        html.add(&source::underlined(&one.playbook.places.source, &labels, 1));
    })
}

fn gate(gate: &ProposalGate) -> Html {
    Html::of(|html| {
        html.element("div", "card", |html| {
            html.element("p", "", |html| {
                html.line("span", "tag bad", &gate.kind.to_string());
                html.text(&text::fitted(&gate.message, 400));
            });
            if let Some(report) = &gate.report {
                html.add(&source::report(report, &gate.message));
            }
            if let Some(help) = &gate.help {
                html.line("p", "soft", &format!("help: {}", text::fitted(help, 400)));
            }
            html.add(&super::document::next(&gate.next));
        });
    })
}

fn fixture(diff: &FixtureDiff) -> Html {
    let (class, words) = match (diff.class(), diff.is_new) {
        (None, true) => ("soft", "new fixture, unchanged by the proposal"),
        (Some(_), true) => ("good", "new fixture"),
        (Some(class), false) => (class_of(class), class.words()),
        (None, false) => ("soft", "as before"),
    };
    Html::of(|html| {
        html.element("article", "card", |html| {
            html.element("h3", "", |html| {
                html.line("span", &format!("tag {class}"), words);
                html.line("code", "strong", &text::fitted(&diff.id.to_string(), 200));
            });
            html.line("p", "soft", &text::fitted(&diff.title, 400));
            for contradiction in diff.contradictions.iter().take(50) {
                html.line(
                    "p",
                    "bad",
                    &format!("contradicts the fixture: {}", text::fitted(&contradiction.to_string(), 400)),
                );
            }
            html.add(&ends(diff));
            html.add(&difference(&diff.comparison, None, false, ["before", "after"]));
        });
        html.newline();
    })
}

/// How the calls end before and after.
fn ends(diff: &FixtureDiff) -> Html {
    let mut table = Table::new("", ["", "before", "after"].map(|name| (name, false)));
    for (call, lines) in diff.facts() {
        if !call.is_empty() {
            table.head(call);
        }
        for (label, before, after) in lines {
            let class = if before == after { "" } else { "changed" };
            table.row(class, &[Cell::Words(label.to_owned()), Cell::Words(before), Cell::Words(after)]);
        }
    }
    table.finish()
}
