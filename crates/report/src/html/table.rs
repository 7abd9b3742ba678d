//! Tables of a page, bounded: what does not fit is counted below.

use super::markup::Html;
use crate::text;

/// The most bytes of the rows of a table.
const BYTES_MAX: usize = 60_000;

/// The most characters of the name of a column.
const NAME: usize = 600;

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

    /// A row of a class (may be empty), with its cells; one that does not fit is counted.
    pub fn row(&mut self, class: &str, cells: impl FnOnce(&mut Html)) {
        let row = Html::of(|html| html.element("tr", class, cells));
        match self.rows.len() + row.len() <= BYTES_MAX {
            true => self.rows.add(&row),
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
                                    html.element("th", class, |html| html.name(&text::fitted(name, NAME)));
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
