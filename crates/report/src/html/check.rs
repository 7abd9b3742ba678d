//! The page of a check: what differs from what was accepted, worst first, with the row of the playbook underlined.

use std::collections::BTreeSet;

use super::changed_rows::changed_rows;
use super::document::{Document, next};
use super::markup::Html;
use super::source;
use super::table::{Cell, Table};
use crate::check::{CheckPage, Directions, alike, because, divergence, summary};
use crate::style::Palette;
use crate::text;
use playproof_analysis::check::{CaseResult, Cause, GoldenState, PlaybookRows};
use playproof_engine::time::Instant;
use playproof_formats::golden::{Class, Comparison, EventLine, FirstChange};
use playproof_formats::shell::Command;

/// The most events of a call side by side.
const EVENTS_MAX: usize = 200;

/// The most names of a list.
const NAMES_MAX: usize = 100;

/// The page.
pub fn check(shown: &CheckPage<'_>, directions: &Directions, command: Option<&Command>) -> String {
    let mut page = Document::new("Check", "");
    let unchecked = !directions.in_the_way.is_empty();
    page.add(&Html::of(|html| {
        let counts = summary(shown.report, Palette::new(false));
        html.line("p", "strong", if unchecked { "Nothing was checked." } else { &counts });
    }));
    for problem in directions.in_the_way.iter().take(NAMES_MAX) {
        page.add(&Html::of(|html| {
            html.element("div", "card", |html| {
                html.line("p", "bad strong", &text::fitted(&problem.message, 400));
                html.line_pre(&cut(&problem.body));
            });
        }));
    }
    let failing = shown.report.failing();
    let groups = alike(&failing);
    let pieces: Vec<Html> = groups.iter().map(|group| result(shown, group)).collect();
    let (count, pieces) = (pieces.len(), page.fitting(pieces, 0));
    page.section("runs", "Runs that differ", &Html::of(|html| pieces.iter().for_each(|piece| html.add(piece))));
    page.left_out(count - pieces.len(), "kind of difference is", "kinds of differences are");
    page.section("rows", "Rows that are not approved", &rows(shown));
    page.section("orphans", "Goldens without a fixture", &list(&shown.report.orphans));
    if let Some(command) = command {
        page.add(&next(command));
    }
    page.finish()
}

/// Some lines of a text for people.
fn cut(said: &str) -> String {
    said.lines().take(40).map(|line| text::fitted(line, 400).into_owned()).collect::<Vec<_>>().join("\n")
}

fn list(names: &[String]) -> Html {
    if names.is_empty() {
        return Html::default();
    }
    Html::of(|html| {
        html.element("ul", "", |html| {
            for name in names.iter().take(NAMES_MAX) {
                html.element("li", "", |html| html.line("code", "", &text::fitted(name, 200)));
            }
        });
        if names.len() > NAMES_MAX {
            html.line("p", "soft", &format!("and {} more", text::count((names.len() - NAMES_MAX) as u64)));
        }
    })
}

/// The class of a divergence on a page.
pub(super) const fn class_of(class: Class) -> &'static str {
    match class {
        Class::EffectChanged | Class::GuardWeakened => "bad",
        Class::OutcomeChanged | Class::AttemptsChanged => "doubt",
        Class::TimingOnly | Class::Cosmetic => "soft",
    }
}

/// The first of some results that differ alike, then the names of the others.
fn result(shown: &CheckPage<'_>, group: &[&CaseResult]) -> Html {
    let Some((first, others)) = group.split_first() else { return Html::default() };
    Html::of(|html| {
        html.element("article", "card", |html| {
            html.element("h3", "", |html| {
                let (class, word) = word(first);
                html.line("span", &format!("tag {class}"), word);
                html.line("code", "strong", &text::fitted(&first.id.to_string(), 200));
            });
            html.line("p", "soft", &text::fitted(&first.title, 400));
            for contradiction in first.contradictions.iter().take(NAMES_MAX) {
                html.line(
                    "p",
                    "bad",
                    &format!("contradicts the fixture: {}", text::fitted(&contradiction.to_string(), 400)),
                );
            }
            match &first.golden {
                GoldenState::Unreadable(report) => html.add(&source::report(report, "")),
                GoldenState::Missing => html.line("p", "", "this run is not accepted yet"),
                GoldenState::Same => {}
                GoldenState::Diverged(diverged) => {
                    let cause = shown.causes.get(&first.id);
                    html.add(&difference(&diverged.comparison, cause, shown.show_args, ["golden", "run"]));
                }
            }
            let names: Vec<String> = others.iter().map(|other| other.id.to_string()).collect();
            if !names.is_empty() {
                let runs = text::counted(names.len() as u64, "more run", "more runs");
                html.line("p", "", &format!("the same in {runs}:"));
                html.add(&list(&names));
            }
        });
        html.newline();
    })
}

fn word(result: &CaseResult) -> (&'static str, &'static str) {
    match (&result.golden, result.worst()) {
        (GoldenState::Unreadable(_), _) => ("bad", "unreadable golden"),
        (_, Some(class)) => (class_of(class), class.words()),
        (GoldenState::Missing, _) => ("doubt", "no golden"),
        _ => ("bad", "contradicts its fixture"),
    }
}

/// What differs between two runs of a fixture: the first decision, the row behind it, every value, the events.
pub(super) fn difference(comparison: &Comparison, cause: Option<&Cause>, show_args: bool, sides: [&str; 2]) -> Html {
    Html::of(|html| {
        if let Some(first) = &comparison.first {
            html.add(&first_change(first, cause, sides));
        }
        if let Some(cause) = cause {
            html.add(&source::report(&cause.report, &comparison.headline()));
        }
        html.add(&values(comparison, show_args, sides));
        html.add(&events(comparison, sides));
    })
}

fn first_change(first: &FirstChange, cause: Option<&Cause>, sides: [&str; 2]) -> Html {
    let at = first.at.since(Instant::ZERO);
    let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "-".to_owned());
    let compensation = cause.and_then(|cause| cause.compensation);
    let mut rows = vec![(sides[0], side(&first.golden)), (sides[1], side(&first.run))];
    if first.expected != first.actual {
        rows.extend(first.expected.iter().map(|before| ("was", because(before, None))));
        rows.extend(first.actual.iter().map(|after| ("now", because(after, compensation))));
    } else if let Some(after) = first.actual.as_ref().filter(|_| cause.is_none_or(|cause| cause.because.is_none())) {
        rows.push(("because", because(after, compensation)));
    }
    rows.extend(cause.and_then(|cause| cause.because.clone()).map(|said| ("because", said)));
    Html::of(|html| {
        html.element("p", "", |html| {
            html.text("first difference: ");
            html.line("code", "strong", &text::fitted(&first.call, 100));
            html.text(&format!(" at {at} ms"));
        });
        html.element("dl", "", |html| {
            for (name, said) in rows {
                html.line("dt", "", name);
                html.element("dd", "", |html| html.line("code", "", &text::fitted(&said, 400)));
            }
        });
    })
}

/// Every value that differs, worst first: what it is and where, then both sides.
fn values(comparison: &Comparison, show_args: bool, sides: [&str; 2]) -> Html {
    let mut table = Table::new("", ["what differs", sides[0], sides[1]].map(|name| (name, false)));
    let mut seen = BTreeSet::new();
    for one in comparison.divergences.iter().filter(|one| one.field != "event") {
        let cells = divergence(one, show_args);
        if !seen.insert(cells.clone()) {
            continue; // the end of a call and its last event both contain the outcome
        }
        let [_, place, field, before, after] = cells.as_slice() else { continue };
        let what = Html::of(|html| {
            html.line("span", class_of(one.class), one.class.words());
            html.text(" ");
            html.code(&format!("{place}: {field}"));
        });
        table.row("", &[Cell::Drawn(what), Cell::Code(before.clone()), Cell::Code(after.clone())]);
    }
    table.finish()
}

/// The events of both runs side by side, call by call; those that differ are marked.
fn events(comparison: &Comparison, sides: [&str; 2]) -> Html {
    if comparison.pairs.is_empty() {
        return Html::default();
    }
    let mut table = Table::new("", sides.map(|name| (name, false)));
    let side = |event: &Option<EventLine>| {
        let words = |event: &EventLine| format!("{} {}", event.at.since(Instant::ZERO), event.words());
        Cell::Code(event.as_ref().map_or_else(|| "-".to_owned(), words))
    };
    let mut last = None;
    for pair in comparison.pairs.iter().take(EVENTS_MAX) {
        let class = match pair.class.map(class_of) {
            None => "",
            Some("bad") => "changed harm",
            Some(_) => "changed",
        };
        let call = pair.expected.as_ref().or(pair.actual.as_ref()).map(|event| event.call.as_str());
        if last != call {
            table.head(call.unwrap_or_default());
        }
        last = call;
        table.row(class, &[side(&pair.expected), side(&pair.actual)]);
    }
    Html::of(|html| {
        html.tag("details", &[("open", "open")], |html| {
            html.line("summary", "", "events of each call side by side, in ms");
            html.add(&table.finish());
            if let Some(more) = comparison.pairs.len().checked_sub(EVENTS_MAX).filter(|more| *more > 0) {
                html.line("p", "soft", &format!("and {} more", text::count(more as u64)));
            }
        });
    })
}

fn rows(shown: &CheckPage<'_>) -> Html {
    Html::of(|html| {
        for rows in shown.report.rows.iter().take(NAMES_MAX) {
            html.add(&rows_of(rows));
        }
    })
}

fn rows_of(rows: &PlaybookRows) -> Html {
    Html::of(|html| {
        html.element("h3", "", |html| html.line("code", "", &text::fitted(&rows.playbook, 100)));
        if !rows.is_used {
            html.line("p", "", "no fixture uses this playbook, but the lock still has its rows");
            return;
        }
        if !rows.is_locked {
            let count = text::counted(rows.changes.len() as u64, "row", "rows");
            html.line("p", "", &format!("this playbook is not approved yet ({count})"));
            return;
        }
        html.add(&changed_rows(&rows.changes, ["approved", "now"]));
    })
}
