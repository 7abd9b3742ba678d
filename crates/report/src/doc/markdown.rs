//! A page for a pull request or a wiki: nothing that it says is markup, and what a comment has no room for is counted.

use super::page::{Block, Doc, Item, Span, SpanKind, Table, Text, Tone};
use super::terminal::drawn;
use crate::diagnostic;
use crate::style::Palette;
use crate::table::markdown_row;
use crate::text::{self, markdown as escaped, markdown_block, markdown_code};

/// GitHub refuses comments of more than 65,536 characters; some room is left for lines that a job adds.
const LONGEST: usize = 60_000;

/// The width of lines that are set as they are.
const WIDTH: usize = 100;

impl Doc {
    /// The page, ending without a line break.
    pub fn markdown(&self) -> String {
        let mut page = Page { said: String::new(), left: 0 };
        if !self.title.is_empty() {
            page.push(&format!("## {}", line(&self.title)));
        }
        page.blocks(&self.answer, 3);
        page.blocks(&self.blocks, 3);
        if page.left > 0 {
            let left = text::counted(page.left, "more part is", "more parts are");
            page.said += &format!("\n\n{left} not shown.");
        }
        page.said.trim_start().to_owned()
    }
}

struct Page {
    said: String,
    /// What did not fit.
    left: u64,
}

impl Page {
    /// Adds a part after a blank line, if there is room.
    fn push(&mut self, part: &str) {
        self.push_fitting(&format!("\n\n{part}"));
    }

    /// Adds a part if there is room, and says whether there was.
    fn push_fitting(&mut self, part: &str) -> bool {
        let fits = self.said.len() + part.len() <= LONGEST;
        match fits {
            true => self.said.push_str(part),
            false => self.left += 1,
        }
        fits
    }

    fn blocks(&mut self, blocks: &[Block], level: usize) {
        blocks.iter().filter(|block| !block.is_empty()).for_each(|block| self.block(block, level));
    }

    fn block(&mut self, block: &Block, level: usize) {
        let mut titled = |title: &str, inside: &[Block]| {
            self.push(&format!("{} {title}", "#".repeat(level)));
            self.blocks(inside, level + 1);
        };
        match block {
            Block::Card { title, inside, .. } => titled(&line(title), inside),
            Block::Section { title, inside, .. } => titled(&escaped(title), inside),
            Block::Para(said) => self.push(&emphasised(said)),
            Block::Pairs(pairs) => {
                let pairs = pairs.iter().filter(|pair| !pair.said.is_empty());
                let pairs = pairs.map(|pair| format!("- {}: {}", emphasised(&pair.label).trim(), line(&pair.said)));
                self.push(&pairs.collect::<Vec<_>>().join("\n"));
            }
            Block::Table(table) => self.table(table),
            Block::List(entries) => {
                let below = |said: &Text| format!("\n  - {}", line(said).trim());
                let entry = |entry: &Item| {
                    format!("- {}{}", line(&entry.said).trim(), entry.below.iter().map(below).collect::<String>())
                };
                self.push(&entries.iter().map(entry).collect::<Vec<_>>().join("\n"));
            }
            Block::Lines(said) => self.push(&markdown_block(said)),
            Block::Source { report, .. } => {
                self.push(&markdown_block(diagnostic::render(report, WIDTH, false).trim_end()))
            }
            Block::Fold { title, inside, .. } => {
                let summary = text::html(&title.plain());
                if self.push_fitting(&format!("\n\n<details><summary>{summary}</summary>")) {
                    self.blocks(inside, level);
                    self.said += "\n\n</details>";
                }
            }
            // Their columns are set with blanks.
            Block::Beside(_) | Block::Charts(_) => {
                let said = drawn(std::slice::from_ref(block), WIDTH, Palette::new(false));
                self.push(&markdown_block(&said));
            }
            Block::Listing(_) | Block::Excerpt(_) | Block::Room(_) => {}
            Block::Command(aim, command) => {
                let aim = aim[..1].to_ascii_uppercase() + &aim[1..]; // words of this program
                self.push(&format!("{aim}: {}", markdown_code(&command.to_string())));
            }
        }
    }

    /// A table: its header with the first row, or nothing of it; then as many rows as there is room for.
    fn table(&mut self, table: &Table) {
        let names: Vec<String> = table.header.iter().map(|column| escaped(&column.name)).collect();
        let rules: Vec<&str> =
            table.header.iter().map(|column| if column.is_number { "---:" } else { "---" }).collect();
        let mut begun = format!("\n\n{}\n{}", markdown_row(&names), markdown_row(&rules));
        for row in &table.rows {
            let mut cells: Vec<String> = row.cells.iter().map(|cell| line(cell).trim().to_owned()).collect();
            if table.is_head(row) {
                cells = cells.into_iter().map(|title| format!("**{title}**")).collect();
            }
            cells.resize(table.header.len(), String::new());
            if self.push_fitting(&format!("{begun}\n{}", markdown_row(&cells))) {
                begun.clear();
            }
        }
    }
}

/// A text with single blanks.
fn squeezed(said: &str) -> String {
    let mut out = String::with_capacity(said.len());
    for c in said.chars() {
        if c != ' ' || !out.ends_with(' ') {
            out.push(c);
        }
    }
    out
}

/// A text without emphasis.
fn line(said: &Text) -> String {
    said.unlinked().map(part).collect()
}

fn part(span: &Span) -> String {
    match span.kind {
        SpanKind::Code if span.said.is_empty() => String::new(),
        SpanKind::Code => markdown_code(&span.said),
        // What a terminal aligns with blanks would be code.
        SpanKind::Words | SpanKind::Link(_) => escaped(&squeezed(&span.said)),
    }
}

/// A text with what matters most in bold.
fn emphasised(said: &Text) -> String {
    let is_strong = |span: &Span| matches!(span.tone, Tone::Strong | Tone::Bad) && span.kind == SpanKind::Words;
    let span = |span: &Span| match part(span) {
        words if is_strong(span) && !words.trim().is_empty() => {
            let (before, rest) = words.split_at(words.len() - words.trim_start().len());
            format!("{before}**{}**{}", rest.trim_end(), &rest[rest.trim_end().len()..])
        }
        words => words,
    };
    said.unlinked().map(span).collect()
}
