//! Tables of a page, bounded: what does not fit is counted below.

use super::markup::Html;
use crate::text;

/// The most bytes of the rows of a table.
const BYTES_MAX: usize = 60_000;

/// The most characters of a cell.
const CELL: usize = 600;

/// What a cell holds.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    /// A number.
    Number(String),
    /// Code, names and values.
    Code(String),
    /// Something drawn.
    Drawn(Html),
}

/// A table in the making.
#[derive(Debug)]
pub(crate) struct Rows {
    class: &'static str,
    header: Vec<(String, bool)>,
    rows: Html,
    left: u64,
}

impl Rows {
    /// A table of a class (may be empty); `header` names its columns and whether they hold numbers, and may be empty.
    pub fn new<S: Into<String>>(class: &'static str, header: impl IntoIterator<Item = (S, bool)>) -> Rows {
        let header = header.into_iter().map(|(name, number)| (name.into(), number)).collect();
        Rows { class, header, rows: Html::default(), left: 0 }
    }

    /// A row of a class (may be empty). The first cell is its label.
    pub fn row(&mut self, class: &str, cells: &[Cell]) {
        let row = Html::of(|html| {
            html.element("tr", class, |html| {
                for (n, cell) in cells.iter().enumerate() {
                    draw(html, if n == 0 { "th" } else { "td" }, cell);
                }
            });
        });
        self.push(&row);
    }

    /// A line of a timeline: what happened, in the class `tone`. Its time and what the ledger booked are none where they
    /// have no column.
    pub fn timeline(&mut self, class: &str, at: Option<&str>, tone: &str, said: &str, ledger: Option<&str>) {
        let row = Html::of(|html| {
            html.element("tr", class, |html| {
                if let Some(at) = at {
                    html.line("td", "at", at);
                }
                html.line("td", tone, said);
                if let Some(ledger) = ledger {
                    html.line("td", "ledger", ledger);
                }
            });
        });
        self.push(&row);
    }

    /// A line of a file: a mark, its number, its text with all blanks.
    pub fn listing(&mut self, class: &str, mark: &str, number: &str, line: &str) {
        let row = Html::of(|html| {
            html.element("tr", class, |html| {
                html.line("td", "at", mark);
                html.line("td", "at", number);
                html.line("td", "", line);
            });
        });
        self.push(&row);
    }

    /// A row that heads those below it.
    pub fn head(&mut self, title: &str) {
        let columns = self.header.len().max(1).to_string();
        let row = Html::of(|html| {
            html.element("tr", "head", |html| {
                html.tag("th", &[("colspan", &columns)], |html| html.text(title));
            });
        });
        self.push(&row);
    }

    fn push(&mut self, row: &Html) {
        match self.rows.len() + row.len() <= BYTES_MAX {
            true => self.rows.add(row),
            false => self.left += 1,
        }
    }

    /// The table; nothing without rows.
    pub fn finish(self) -> Html {
        if self.rows.is_empty() && self.left == 0 {
            return Html::default();
        }
        let mut all = Html::of(|html| {
            html.element("div", "scroll", |html| {
                html.element("table", self.class, |html| {
                    if self.header.iter().any(|(name, _)| !name.is_empty()) {
                        html.element("thead", "", |html| {
                            html.element("tr", "", |html| {
                                for (name, number) in &self.header {
                                    let class = if *number { "n" } else { "" };
                                    html.element("th", class, |html| html.name(&text::fitted(name, CELL)));
                                }
                            });
                        });
                    }
                    html.element("tbody", "", |html| html.add(&self.rows));
                });
            });
        });
        if self.left > 0 {
            let said =
                text::counted(self.left, "more row is left out of this page", "more rows are left out of this page");
            all.line("p", "soft", &said);
        }
        all
    }
}

fn draw(html: &mut Html, name: &'static str, cell: &Cell) {
    match cell {
        Cell::Number(said) => html.line(name, "n", said),
        Cell::Code(said) => html.element(name, "", |html| html.code(&text::fitted(said, CELL))),
        Cell::Drawn(drawn) => html.element(name, "", |html| html.add(drawn)),
    }
}
