//! A page for a browser: a file of its own that runs nothing and asks for nothing.

use super::page::{Block, Doc, Listed, Span, Table, Text, Tone};
use crate::html::{Cell, Document, Html, Rows, source};
use crate::text;

/// The most characters of a text.
const SAID: usize = 600;

/// The most characters of a line of a file.
const LINE: usize = 400;

impl Doc {
    /// The file.
    pub fn html(&self) -> String {
        let mut page = Document::new(&text::fitted(&self.title.plain(), 200), "");
        let mut left = 0;
        let blocks = self.answer.iter().chain(&self.blocks).flat_map(|block| match block {
            Block::Room(inside) => inside.as_slice(),
            block => std::slice::from_ref(block),
        });
        for block in blocks.filter(|block| !block.is_empty()) {
            match block {
                Block::Section(id, title, inside) => {
                    let pieces: Vec<Html> = inside.iter().map(piece).collect();
                    let (count, pieces) = (pieces.len(), page.fitting(pieces, 0));
                    left += count - pieces.len();
                    page.section(id, title, &Html::of(|html| pieces.iter().for_each(|piece| html.add(piece))));
                }
                block => match page.fitting(vec![piece(block)], 0).first() {
                    Some(piece) => page.add(piece),
                    None => left += 1,
                },
            }
        }
        page.left_out(left, "part is", "parts are");
        page.finish()
    }
}

const fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Strong => "strong",
        Tone::Soft => "soft",
        Tone::Good => "good",
        Tone::Doubt => "doubt",
        Tone::Bad => "bad",
    }
}

impl Block {
    /// The block as a part of a page.
    pub(crate) fn html(&self) -> Html {
        piece(self)
    }
}

fn pieces(html: &mut Html, blocks: &[Block]) {
    blocks.iter().filter(|block| !block.is_empty()).for_each(|block| html.add(&piece(block)));
}

fn piece(block: &Block) -> Html {
    Html::of(|html| match block {
        Block::Para(said) => match said.0.as_slice() {
            [Span { said, tone, is_code: false }] => html.line("p", class(*tone), &text::fitted(said, SAID)),
            _ => html.element("p", "", |html| line(html, said, false)),
        },
        Block::Pairs(pairs) => html.element("dl", "", |html| {
            for (label, said) in pairs.iter().filter(|(_, said)| !said.is_empty()) {
                html.line("dt", "", label.trim());
                html.element("dd", "", |html| line(html, said, false));
            }
        }),
        Block::Table(table) => html.add(&self::table(table)),
        Block::List(entries) => html.element("ul", "", |html| {
            for entry in entries {
                html.element("li", "", |html| {
                    line(html, &entry.said, false);
                    for below in &entry.below {
                        html.element("p", "", |html| line(html, below, false));
                    }
                });
            }
        }),
        Block::Lines(said) => html.line_pre(said),
        Block::Source(report, said) => html.add(&source::report(report, said)),
        Block::Listing(lines) => html.add(&listing(lines)),
        Block::Fold(title, inside, is_shut) => {
            html.tag("details", &[("open", if *is_shut { "" } else { "open" })], |html| {
                html.element("summary", "", |html| line(html, title, false));
                pieces(html, inside);
            })
        }
        Block::Card(title, inside) => {
            html.element("article", "card", |html| {
                html.element("h3", "", |html| line(html, title, true));
                pieces(html, inside);
            });
            html.newline();
        }
        Block::Section(_, title, inside) => {
            html.line("h3", "", title);
            pieces(html, inside);
        }
        Block::Room(inside) => pieces(html, inside),
        Block::Next(command) => html.add(&crate::html::next(command)),
    })
}

/// The parts of a text. In a title, words with a tone are tags.
fn line(html: &mut Html, said: &Text, is_title: bool) {
    for Span { said, tone, is_code } in &said.0 {
        let said = text::fitted(said, SAID);
        match (is_code, class(*tone)) {
            (true, "") if is_title => html.line("code", "strong", &said),
            (true, "") => html.code(&said),
            (true, class) => html.line("code", class, &said),
            (false, "") => {
                html.text(&said);
            }
            (false, class) if is_title => html.line("span", &format!("tag {class}"), &said),
            (false, class) => html.line("span", class, &said),
        }
    }
}

fn table(table: &Table) -> Html {
    let is_fit = table.header.iter().skip(1).all(|(_, number)| *number);
    let mut rows = Rows::new(if is_fit { "fit" } else { "" }, table.header.iter().cloned());
    for row in &table.rows {
        let cells: Vec<Cell> =
            row.cells.iter().zip(&table.header).map(|(cell, (_, number))| self::cell(cell, *number)).collect();
        match (table.is_head(row), row.tone) {
            (true, _) => rows.head(&row.cells[0].plain()),
            (false, Tone::Bad) => rows.row("changed harm", &cells),
            (false, Tone::Doubt) => rows.row("changed", &cells),
            (false, Tone::Plain | Tone::Strong | Tone::Soft | Tone::Good) => rows.row("", &cells),
        }
    }
    rows.finish()
}

fn cell(said: &Text, is_number: bool) -> Cell {
    match said.0.as_slice() {
        _ if is_number => Cell::Number(said.plain()),
        [Span { said, tone: Tone::Plain, is_code: true }] => Cell::Code(said.clone()),
        [Span { said, tone: Tone::Plain, is_code: false }] => Cell::Words(below(said)),
        _ => Cell::Drawn(Html::of(|html| line(html, said, false))),
    }
}

/// A label that stands below another has a dot instead of blanks.
fn below(label: &str) -> String {
    label.strip_prefix("  ").map_or_else(|| label.to_owned(), |label| format!("· {label}"))
}

fn listing(lines: &[Listed]) -> Html {
    let mut rows = Rows::new("lines mono", ["", "", ""].map(|name| (name, false)));
    for line in lines {
        let class = if line.is_marked { "changed" } else { "" };
        rows.listing(class, &line.mark, &line.number.to_string(), &text::fitted(&line.text, LINE));
    }
    Html::of(|html| html.element("div", "source", |html| html.add(&rows.finish())))
}
