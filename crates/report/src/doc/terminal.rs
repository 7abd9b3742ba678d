//! A page for a terminal: blocks apart by a blank line, what a card holds indented below its title.

use super::page::{Block, Doc, Item, Table, Text, Tone};
use crate::diagnostic;
use crate::style::Palette;
use crate::table::{self, Align, INDENT};
use crate::text;

impl Doc {
    /// The page, ending without a line break.
    pub fn terminal(&self, width: usize, palette: Palette) -> String {
        let title = (!self.title.is_empty()).then(|| words(&self.title.clone().toned(Tone::Strong), width, palette));
        let parts = [&self.blocks, &self.answer].map(|blocks| drawn(blocks, width, palette));
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        title.into_iter().chain(parts).collect::<Vec<_>>().join("\n\n")
    }
}

/// Some blocks, a blank line between them, ending without a line break.
pub fn drawn(blocks: &[Block], width: usize, palette: Palette) -> String {
    joined(blocks, "\n\n", width, palette)
}

fn joined(blocks: &[Block], between: &str, width: usize, palette: Palette) -> String {
    let mut page = String::new();
    for one in blocks.iter().filter(|block| !block.is_empty()) {
        let said = block(one, width, palette);
        if !page.is_empty() && !said.is_empty() {
            page += if matches!(one, Block::Fold(..)) { "\n\n" } else { between };
        }
        page += &said;
    }
    page
}

fn block(block: &Block, width: usize, palette: Palette) -> String {
    match block {
        Block::Para(said) => words(said, width, palette),
        Block::Pairs(pairs) => self::pairs(pairs, width, palette),
        Block::Table(table) => self::table(table, width, palette),
        Block::List(entries) => entries.iter().map(|entry| item(entry, width, palette)).collect::<Vec<_>>().join("\n"),
        Block::Lines(said) => said.lines().map(text::escape_unprintable).collect::<Vec<_>>().join("\n"),
        Block::Source(report, _) => diagnostic::render(report, width, palette.is_on()).trim_end().to_owned(),
        Block::Listing(lines) => {
            let sign = |line: &super::page::Listed| if line.is_marked { '!' } else { ' ' };
            let front = |line: &super::page::Listed| format!("{:>9} {} {:>4} |", line.mark, sign(line), line.number);
            let line = |line: &super::page::Listed| {
                let tone = if line.is_marked { Tone::Doubt } else { Tone::Soft };
                format!("{} {}", palette.tone(tone, &front(line)), text::escape_unprintable(&line.text))
            };
            lines.iter().map(|one| line(one).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
        }
        Block::Fold(title, inside, _) => {
            let title = words(title, width.saturating_sub(2), Palette::new(false));
            let title = title.lines().map(|line| palette.faint(&format!("# {line}"))).collect::<Vec<_>>().join("\n");
            format!("{title}\n{}", joined(inside, "\n", width, palette))
        }
        Block::Card(title, inside) => {
            let inside = joined(inside, "\n", width.saturating_sub(INDENT), palette);
            format!("{}\n{}", words(title, width, palette), indented(&inside, INDENT)).trim_end().to_owned()
        }
        Block::Section(_, title, inside) => {
            format!("{}\n{}", palette.strong(&text::escape_unprintable(title)), drawn(inside, width, palette))
        }
        Block::Room(_) => String::new(),
        Block::Next(command) => format!("{} {command}", palette.strong("next:")),
    }
}

fn indented(said: &str, by: usize) -> String {
    let line = |line: &str| if line.is_empty() { String::new() } else { format!("{:by$}{line}", "") };
    said.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A text in lines of at most `width` columns.
fn words(said: &Text, width: usize, palette: Palette) -> String {
    let painted = |by_word: bool| -> String {
        let span = |span: &super::page::Span| {
            let said = text::escape_unprintable(&span.said);
            match by_word {
                true => said.split(' ').map(|word| palette.tone(span.tone, word)).collect::<Vec<_>>().join(" "),
                false => palette.tone(span.tone, &said),
            }
        };
        said.0.iter().map(span).collect()
    };
    let whole = painted(false);
    if text::width(&whole) <= width {
        return whole;
    }
    text::broken(&painted(true), width.max(20)).join("\n")
}

fn pairs(pairs: &[(&'static str, Text)], width: usize, palette: Palette) -> String {
    let pairs = pairs.iter().filter(|(_, said)| !said.is_empty());
    let column = pairs.clone().map(|(label, _)| label.len()).max().unwrap_or_default() + 2;
    let pair = |(label, said): &(&'static str, Text)| {
        let said = indented(&words(said, width.saturating_sub(column), palette), column);
        format!("{}{}", palette.faint(&format!("{label:column$}")), said.trim_start())
    };
    pairs.map(pair).collect::<Vec<_>>().join("\n")
}

fn item(entry: &Item, width: usize, palette: Palette) -> String {
    const BELOW: usize = 2;
    let hanging = |said: &Text, by: usize| {
        let lines = words(said, width.saturating_sub(by), palette);
        indented(&lines, by)
    };
    let below = entry.below.iter().map(|said| hanging(said, BELOW));
    std::iter::once(hanging(&entry.said, 0)).chain(below).collect::<Vec<_>>().join("\n")
}

fn table(table: &Table, width: usize, palette: Palette) -> String {
    let cell = |cell: &Text| text::escape_unprintable(&cell.plain()).into_owned();
    let header: Vec<String> = table.header.iter().map(|(name, _)| text::escape_unprintable(name).into()).collect();
    let rows: Vec<Vec<String>> = table.rows.iter().map(|row| row.cells.iter().map(cell).collect()).collect();
    let align = |(_, number): &(String, bool)| if *number { Align::Right } else { Align::Left };
    let aligns: Vec<Align> = table.header.iter().map(align).collect();
    let paint = |row: Option<usize>, column: usize, said: &str| match row.and_then(|row| table.rows.get(row)) {
        None => palette.strong(said),
        Some(row) if row.tone != Tone::Plain => palette.tone(row.tone, said),
        Some(row) => palette.tone(row.cells.get(column).map(Text::tone).unwrap_or_default(), said),
    };
    table::painted(&header, &rows, &aligns, width, paint)
}
