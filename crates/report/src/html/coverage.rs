//! The page of coverage: totals by kind, the grid of cells, what is missing, the playbook's lines marked.

use super::document::Document;
use super::markup::Html;
use super::table::{Cell, Table};
use crate::coverage::{LineMark, REVIEW, adds, is_cell, marks, percent, rows, totals_rows};
use crate::text;
use playproof_explore::coverage::{CoverageReport, TargetState};
use playproof_formats::diagnostic::Source;
use playproof_formats::shell::Command;

/// The most characters of a line of the playbook.
const LINE: usize = 400;

/// What the marks of a cell are for.
const LEGEND: &str = "A verdict on the first or a later attempt of a read or a write. The four marks stand for a call with no \
                      key, with a reversal token, with a key, and with both.";

/// What each mark means.
const MARKS: [(&str, &str); 4] = [("#", "exercised"), (".", "not exercised"), ("-", "cannot be"), ("?", "unknown")];

/// What the first column of the playbook's lines says.
const LINES_LEGEND: &str = "Before a line: how many of the things that it declares fixtures exercise, of how many they can. \
                            Some are missing where a line is marked.";

/// The most suggested fixtures.
const SUGGESTED: usize = 40;

/// The page; `source` is the playbook's text, and `write` the command that writes every suggested fixture.
pub fn coverage(report: &CoverageReport, source: &Source, write: &Command) -> String {
    let mut page = Document::new("Coverage", &text::fitted(&report.playbook, 200));
    page.section("summary", "Summary", &summary(report));
    page.section("cells", "Verdicts in each cell", &grid(report));
    page.section("missing", "Not exercised", &missing(report));
    let cannot = others(report, |state| match state {
        TargetState::Unreachable(why) => Some(why),
        _ => None,
    });
    page.section("cannot", "Cannot be exercised", &cannot);
    let undecided = others(report, |state| (*state == TargetState::Undecided).then_some(""));
    page.section("undecided", "Undecided: no synthetic failure reaches it", &undecided);
    page.section("fixtures", "Fixtures that would exercise the rest", &suggested(report, write));
    page.section("lines", "The playbook, line by line", &lines(report, source));
    page.finish()
}

fn summary(report: &CoverageReport) -> Html {
    let (covered, coverable) = report.tally(None);
    let fixtures = text::counted(report.fixtures.len() as u64, "fixture", "fixtures");
    let mut table = Table::new("fit", [("", false), ("covered", true), ("of", true), ("cannot be", true)]);
    for row in totals_rows(report) {
        let mut cells = row.into_iter();
        let label = cells.next().map(Cell::Words);
        table.row("", &label.into_iter().chain(cells.map(Cell::Number)).collect::<Vec<_>>());
    }
    Html::of(|html| {
        html.element("p", "", |html| {
            html.text(&format!("{fixtures} cover "));
            html.line("span", if covered == coverable { "good strong" } else { "strong" }, &percent(report));
            html.text(&format!(" ({covered} of {coverable})"));
        });
        html.add(&table.finish());
    })
}

fn grid(report: &CoverageReport) -> Html {
    let names = ["", "read, first", "read, later", "write, first", "write, later"];
    let mut table = Table::new("fit narrow", names.map(|name| (name, false)));
    for (name, marks) in rows(report) {
        let mut cells = vec![Cell::Words(name)];
        for group in marks.chunks(4) {
            let group: String = group.iter().collect();
            let class = if group.contains('.') { "cells doubt" } else { "cells" };
            cells.push(Cell::Drawn(Html::of(|html| html.line("code", class, &group))));
        }
        table.row("", &cells);
    }
    let mut all = table.finish();
    if !all.is_empty() {
        all.line("p", "soft", LEGEND);
        all.element("p", "soft", |html| {
            for (mark, meaning) in MARKS {
                html.line("code", "strong", mark);
                html.text(&format!(" {meaning}   "));
            }
        });
    }
    all
}

fn missing(report: &CoverageReport) -> Html {
    let mut table = Table::new("", [("what", false), ("a fixture that would", false)]);
    for result in report.targets.iter().filter(|result| !is_cell(result)) {
        if let TargetState::Reachable(place) = result.state {
            let by = report.suggestions.get(place).map_or("?", |suggestion| &suggestion.name);
            table.row("", &[Cell::Code(result.id.clone()), Cell::Code(by.to_owned())]);
        }
    }
    table.finish()
}

fn others<'r>(report: &'r CoverageReport, why: impl Fn(&'r TargetState) -> Option<&'r str>) -> Html {
    let mut table = Table::new("", [("what", false), ("why", false)]);
    for result in report.targets.iter().filter(|result| !is_cell(result)) {
        if let Some(why) = why(&result.state) {
            table.row("", &[Cell::Code(result.id.clone()), Cell::Words(why.to_owned())]);
        }
    }
    table.finish()
}

fn suggested(report: &CoverageReport, write: &Command) -> Html {
    let all = report.suggestions.as_slice();
    if all.is_empty() {
        return Html::default();
    }
    Html::of(|html| {
        html.line("p", "soft", REVIEW);
        for suggestion in all.iter().take(SUGGESTED) {
            html.element("details", "", |html| {
                html.element("summary", "", |html| {
                    html.line("code", "", &format!("{}.yaml", suggestion.name));
                    html.text(&format!(" adds {}", adds(report, suggestion)));
                });
                html.line_pre(&suggestion.text);
            });
        }
        if all.len() > SUGGESTED {
            let more = text::counted((all.len() - SUGGESTED) as u64, "more fixture", "more fixtures");
            html.line("p", "soft", &format!("and {more}"));
        }
        html.element("p", "", |html| {
            html.text("This command writes all of them: ");
            html.line("code", "", &write.to_string());
        });
    })
}

fn lines(report: &CoverageReport, source: &Source) -> Html {
    let mut table = Table::new("lines mono", [("covered", false), ("", false), ("", false)]);
    for ((line, mark), number) in source.text.lines().zip(marks(report, source)).zip(source.first_line..) {
        let LineMark { share, sign } = mark;
        let class = if sign == "!" { "changed" } else { "" };
        let share = if sign == "x" { "cannot be".to_owned() } else { share };
        table.listing(class, &share, &number.to_string(), &text::fitted(line, LINE));
    }
    Html::of(|html| {
        html.line("p", "soft", LINES_LEGEND);
        html.element("div", "source", |html| html.add(&table.finish()));
    })
}
