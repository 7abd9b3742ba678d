//! A page for a browser: a file of its own that runs nothing and asks for nothing.

use std::collections::BTreeSet;

use super::page::{Block, Column, Doc, Item, Listed, Pair, Side, Span, SpanKind, Table, Text, TimedLine, Tone};
use crate::html::{Document, Html, Rows, bars, source};
use crate::text;

/// The most characters of a text.
const SAID: usize = 600;

/// The most characters of a line of a file.
const LINE: usize = 400;

/// The most lines of a timeline.
const LINES: usize = 60;

impl Doc {
    /// The file. What it has no room for is counted, and no link leads there.
    pub fn html(&self) -> String {
        let all: BTreeSet<&str> = self.parts().flat_map(cards).collect();
        let (page, shown) = self.drawn(&all);
        if shown == all { page } else { self.drawn(&shown).0 }
    }

    /// The file with links to the `known` cards, and the cards that it has room for.
    fn drawn<'a>(&'a self, known: &BTreeSet<&'a str>) -> (String, BTreeSet<&'a str>) {
        let (drawing, mut shown, mut left) = (Drawing { known }, BTreeSet::new(), 0);
        let mut page = Document::new(&text::fitted(&self.title.plain(), 200));
        for part in self.parts().filter(|part| !part.is_empty()) {
            let inside = match part {
                Block::Section { inside, .. } => inside.as_slice(),
                part => std::slice::from_ref(part),
            };
            let inside: Vec<&Block> = inside.iter().filter(|block| !block.is_empty()).collect();
            let pieces = page.fitting(inside.iter().map(|block| drawing.piece(block)));
            left += inside.len() - pieces.len();
            shown.extend(inside.iter().take(pieces.len()).flat_map(|block| cards(block)));
            let pieces = Html::of(|html| pieces.iter().for_each(|piece| html.add(piece)));
            match part {
                Block::Section { id, title, .. } => page.section(id, title, &pieces),
                _ => page.add(&pieces),
            }
        }
        page.left_out(left);
        (page.finish(), shown)
    }

    /// The answer and the blocks, with those that only a page has room for.
    fn parts(&self) -> impl Iterator<Item = &Block> {
        self.answer.iter().chain(&self.blocks).flat_map(|block| match block {
            Block::Room(inside) => inside.as_slice(),
            block => std::slice::from_ref(block),
        })
    }
}

/// The ids of the cards of a block.
fn cards(block: &Block) -> Vec<&str> {
    match block {
        Block::Card { id, .. } if !id.is_empty() => vec![id],
        Block::Section { inside, .. } | Block::Room(inside) => inside.iter().flat_map(cards).collect(),
        _ => Vec::new(),
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

/// Draws blocks, with links to the cards that are known.
struct Drawing<'a> {
    known: &'a BTreeSet<&'a str>,
}

impl Drawing<'_> {
    fn pieces(&self, html: &mut Html, blocks: &[Block]) {
        blocks.iter().filter(|block| !block.is_empty()).for_each(|block| html.add(&self.piece(block)));
    }

    fn piece(&self, block: &Block) -> Html {
        Html::of(|html| match block {
            Block::Para(said) => match said.0.as_slice() {
                [Span { said, tone, kind: SpanKind::Words }] => html.line("p", class(*tone), &text::fitted(said, SAID)),
                _ => html.element("p", "", |html| self.line(html, said)),
            },
            Block::Pairs(pairs) => self.pairs(html, pairs),
            Block::Table(table) => html.add(&self.table(table)),
            Block::List(entries) => self.list(html, entries),
            Block::Lines(said) => html.line_pre(said),
            Block::Beside(sides) => {
                html.element("div", "grid", |html| sides.iter().for_each(|side| self.side(html, side)))
            }
            Block::Charts(charts) => {
                html.element("div", "grid", |html| charts.iter().for_each(|chart| html.add(&bars(chart))));
            }
            Block::Source { report, said } => html.add(&source::report(report, said)),
            Block::Excerpt(row) => html.add(&source::row(&row.source, &row.begins, &row.labels)),
            Block::Listing(lines) => html.add(&listing(lines)),
            Block::Fold { title, inside, is_shut } => {
                html.tag("details", &[("open", if *is_shut { "" } else { "open" })], |html| {
                    html.element("summary", "", |html| self.line(html, title));
                    self.pieces(html, inside);
                });
            }
            Block::Card { id, title, inside } => self.card(html, id, title, inside),
            Block::Section { title, inside, .. } => {
                html.line("h3", "", title);
                self.pieces(html, inside);
            }
            Block::Room(inside) => self.pieces(html, inside),
            Block::Command(aim, command) => html.element("p", "", |html| {
                html.line("span", "strong", &format!("{aim}: "));
                html.line("code", "", &command.to_string());
            }),
        })
    }

    /// A card; one that links find leads back to the top.
    fn card(&self, html: &mut Html, id: &str, title: &Text, inside: &[Block]) {
        html.tag("article", &[("class", "card"), ("id", id)], |html| {
            html.element("h3", "", |html| {
                for (n, span) in title.0.iter().enumerate() {
                    let is_tagged = n > 0 && title.0[n - 1].tone != Tone::Plain;
                    match span.said.strip_prefix(": ").filter(|_| is_tagged && span.tone == Tone::Plain) {
                        Some(said) => html.text(&format!(" {}", text::fitted(said, SAID))), // the tag sets it apart
                        None => self.span(html, span, true),
                    }
                }
                if !id.is_empty() {
                    html.text(" ");
                    let top = [("class", "back-link"), ("href", "#top"), ("aria-label", "to the top of the page")];
                    html.tag("a", &top, |html| html.text("↑"));
                }
            });
            self.pieces(html, inside);
        });
        html.newline();
    }

    /// A label with a tone is a tag.
    fn pairs(&self, html: &mut Html, pairs: &[Pair]) {
        html.element("dl", "", |html| {
            for Pair { label, said } in pairs.iter().filter(|pair| !pair.said.is_empty()) {
                html.element("dt", "", |html| match label.tone() {
                    Tone::Plain => html.text(label.plain().trim()),
                    _ => label.0.iter().for_each(|span| self.span(html, span, true)),
                });
                html.element("dd", "", |html| self.line(html, said));
            }
        });
    }

    fn list(&self, html: &mut Html, entries: &[Item]) {
        html.element("ul", "", |html| {
            for entry in entries {
                html.element("li", "", |html| {
                    self.line(html, &entry.said);
                    entry.below.iter().for_each(|below| html.element("p", "", |html| self.line(html, below)));
                });
            }
        });
    }

    /// The parts of a text.
    fn line(&self, html: &mut Html, said: &Text) {
        said.0.iter().for_each(|span| self.span(html, span, false));
    }

    /// A part of a text. In a title, words with a tone are tags.
    fn span(&self, html: &mut Html, span: &Span, is_title: bool) {
        let (said, class) = (text::fitted(&span.said, SAID), class(span.tone));
        match (&span.kind, class) {
            (SpanKind::Link(id), _) if self.known.contains(id.as_str()) => {
                html.text(" ");
                html.link(id, &said);
            }
            (SpanKind::Link(_), _) => {}
            (SpanKind::Code, "") if is_title => html.line("code", "strong", &said),
            (SpanKind::Code, "") => html.code(&said),
            (SpanKind::Code, class) => html.line("code", class, &said),
            (SpanKind::Words, "") => html.text(&said),
            (SpanKind::Words, class) if is_title => html.line("span", &format!("tag {class}"), &said),
            (SpanKind::Words, class) => html.line("span", class, &said),
        }
    }

    fn table(&self, table: &Table) -> Html {
        let is_fit = table.header.iter().skip(1).all(|column| column.is_number);
        let header = table.header.iter().map(|column| (column.name.clone(), column.is_number));
        let mut rows = Rows::new(if is_fit { "fit" } else { "" }, header);
        for row in &table.rows {
            let class = match row.tone {
                _ if table.is_head(row) => "head",
                Tone::Bad => "changed harm",
                Tone::Doubt => "changed",
                Tone::Plain | Tone::Strong | Tone::Soft | Tone::Good => "",
            };
            rows.row(class, |html| match table.is_head(row) {
                true => html.tag("th", &[("colspan", &table.header.len().to_string())], |html| {
                    html.text(&row.cells[0].plain());
                }),
                false => row.cells.iter().zip(&table.header).enumerate().for_each(|(n, (cell, column))| {
                    self.cell(html, if n == 0 { "th" } else { "td" }, cell, column);
                }),
            });
        }
        rows.finish()
    }

    fn cell(&self, html: &mut Html, name: &'static str, said: &Text, column: &Column) {
        match said.0.as_slice() {
            _ if column.is_number => html.line(name, "n", &said.plain()),
            [Span { said, tone: Tone::Plain, kind: SpanKind::Code }] => {
                html.element(name, "", |html| html.code(&text::fitted(said, SAID)));
            }
            [Span { said, tone: Tone::Plain, kind: SpanKind::Words }, links @ ..] => html.element(name, "", |html| {
                html.name(&text::fitted(&below(said), SAID));
                links.iter().for_each(|span| self.span(html, span, false));
            }),
            _ => html.element(name, "", |html| self.line(html, said)),
        }
    }

    /// A timeline with what a ledger booked beside it, if it booked anything.
    fn side(&self, html: &mut Html, side: &Side) {
        html.element("div", "", |html| {
            html.line("h3", "", &text::fitted(&side.title, 100));
            let has = |part: fn(&TimedLine) -> &str| side.lines.iter().any(|line| !part(line).is_empty());
            let (has_times, has_ledger) = (has(|line| &line.at), has(|line| &line.booked));
            let times = has_times.then_some(("ms", true));
            let header = times.into_iter().chain([("", false)]).chain(has_ledger.then_some(("ledger", false)));
            let mut rows = Rows::new("lines", header);
            for line in side.lines.iter().take(LINES) {
                rows.row(if line.is_marked { "departs" } else { "" }, |html| {
                    if has_times {
                        html.line("td", "at", &line.at);
                    }
                    html.line("td", class(line.said.tone()), &text::fitted(&line.said.plain(), LINE));
                    if has_ledger {
                        html.line("td", "ledger", &line.booked);
                    }
                });
            }
            html.add(&rows.finish());
            let more = side.lines.len().saturating_sub(LINES) as u64;
            if more > 0 {
                html.line("p", "soft", &format!("and {}", text::counted(more, "more line", "more lines")));
            }
            self.pairs(html, &side.end);
            self.pieces(html, &side.below);
        });
    }
}

/// A label that stands below another has a dot instead of blanks.
fn below(label: &str) -> String {
    label.strip_prefix("  ").map_or_else(|| label.to_owned(), |label| format!("· {label}"))
}

fn listing(lines: &[Listed]) -> Html {
    let mut rows = Rows::new("lines mono", ["", "", ""].map(|name| (name, false)));
    for line in lines {
        rows.row(if line.is_marked { "changed" } else { "" }, |html| {
            html.line("td", "at", &line.mark);
            html.line("td", "at", &line.number.to_string());
            html.line("td", "", &text::fitted(&line.text, LINE));
        });
    }
    Html::of(|html| html.element("div", "source", |html| html.add(&rows.finish())))
}
