//! The page of a comparison: both playbooks side by side, then the causes, each with its direction and an example.

use super::document::{Document, next};
use super::markup::Html;
use super::table::{Cell, Table};
use crate::impact::{ImpactPage, TotalsLine, left_out, lines, words};
use crate::overview;
use crate::style::Palette;
use crate::text;
use playproof_analysis::impact::{CauseRow, Direction};

/// The title over the causes.
const CAUSES: &str = "Why calls are decided differently, widening first";

/// The page.
pub fn impact(shown: &ImpactPage<'_>) -> String {
    let impact = shown.impact;
    let about =
        format!("{} against {}", text::fitted(&impact.candidate.playbook, 80), text::fitted(&impact.base.playbook, 80));
    let mut page = Document::new("Impact", &about);
    page.section("summary", "Summary", &summary(shown));
    page.section("causes", CAUSES, &causes(shown));
    let inputs = overview::inputs(shown.replayed, shown.notes, 100, Palette::new(false));
    page.section("inputs", "Inputs", &Html::of(|html| html.line_pre(&inputs)));
    if let Some(command) = shown.next {
        page.add(&next(command));
    }
    page.finish()
}

/// The same as a part of another page.
pub fn impact_part(shown: &ImpactPage<'_>) -> Html {
    Html::of(|html| {
        html.line("h3", "", "On recorded calls");
        html.add(&summary(shown));
        let causes = causes(shown);
        if !causes.is_empty() {
            html.line("h3", "", CAUSES);
            html.add(&causes);
        }
    })
}

fn causes(shown: &ImpactPage<'_>) -> Html {
    let (causes, more) = shown.causes();
    Html::of(|html| {
        causes.iter().enumerate().for_each(|(n, row)| html.add(&cause(n + 1, row)));
        left_out(shown.impact, more).iter().for_each(|said| html.line("p", "soft", said));
    })
}

fn summary(shown: &ImpactPage<'_>) -> Html {
    let impact = shown.impact;
    let (refused, allowed) = words::gate(shown.gate, impact);
    Html::of(|html| {
        html.line("p", "strong", &words::balance(impact));
        html.line("p", "", &words::directions(impact));
        for said in &refused {
            html.line("p", "bad", &format!("does not pass: {said}"));
        }
        if refused.is_empty() {
            match words::undecided(shown.gate, impact) {
                Some(said) => html.line("p", "doubt", said),
                None if shown.gate.widening || shown.gate.effects => html.line("p", "good", "passes"),
                None => {}
            }
        }
        allowed.iter().for_each(|said| html.line("p", "", &text::fitted(said, 400)));
        let names = [&*impact.base.playbook, &*impact.candidate.playbook, "more", "fewer"];
        let header = std::iter::once(("", false)).chain(names.map(|name| (name, true)));
        let mut table = Table::new("", header);
        for TotalsLine { label, cells } in lines(impact) {
            let label = match label.strip_prefix("  ") {
                Some(below) => format!("· {below}"),
                None => label,
            };
            let cells = cells.map(Cell::Number);
            table.row("", &std::iter::once(Cell::Words(label)).chain(cells).collect::<Vec<_>>());
        }
        html.add(&table.finish());
    })
}

fn cause(number: usize, row: &CauseRow) -> Html {
    let class = match row.direction {
        Direction::Widening => "bad",
        Direction::Narrowing => "good",
        Direction::Neutral => "soft",
    };
    let mut calls = text::counted(row.calls, "call", "calls");
    if row.following > 0 {
        calls += &format!(", {} of them following from another", text::count(row.following));
    }
    if row.undetermined > 0 {
        calls += &format!(", {} undetermined", text::count(row.undetermined));
    }
    let said = [
        ("cause", words::cause(&row.cause)),
        ("tools", words::tools(&row.tools)),
        ("differ in", words::changes(row)),
        ("load", words::load(row)),
    ];
    Html::of(|html| {
        html.element("article", "card", |html| {
            html.element("h3", "", |html| {
                html.text(&format!("{number}. "));
                html.line("span", &format!("tag {class}"), row.direction.as_str());
                html.text(&calls);
            });
            html.element("dl", "", |html| {
                for (name, said) in said.iter().filter(|(_, said)| !said.is_empty()) {
                    html.line("dt", "", name);
                    html.line("dd", "", &text::fitted(said, 600));
                }
            });
            let Some(example) = &row.example else { return };
            html.element("p", "", |html| {
                html.text("example: ");
                html.line("code", "strong", &text::fitted(&example.tool, 100));
                html.text(" ");
                html.line("code", "", &text::fitted(&example.reference, 100));
            });
            html.element("dl", "", |html| {
                for (name, end) in [("base", &example.base), ("candidate", &example.candidate)] {
                    html.line("dt", "", name);
                    html.line("dd", "", &text::fitted(&words::end(end), 400));
                }
            });
        });
        html.newline();
    })
}
