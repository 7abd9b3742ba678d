//! A page for a terminal: blocks apart by a blank line, what a card holds indented below its title.

use super::page::{Bars, Block, Column, Doc, Item, Pair, Side, Span, Table, Text, TimedLine, Tone};
use crate::diagnostic;
use crate::style::Palette;
use crate::table::{self, Align, INDENT};
use crate::text;

/// The least width of a timeline; narrower ones stand below each other.
const SIDE_MIN: usize = 34;

/// The greatest width of one beside others.
const SIDE_MAX: usize = 72;

/// The blanks between timelines.
const GAP: usize = 3;

/// The columns of a bar that takes all the room.
const BAR: u64 = 30;

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
            let is_apart = matches!(one, Block::Fold { .. } | Block::Beside(_));
            page += if is_apart { "\n\n" } else { between };
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
        Block::Source { report, .. } => diagnostic::render(report, width, palette.is_on()).trim_end().to_owned(),
        Block::Listing(lines) => {
            let sign = |line: &super::page::Listed| if line.is_marked { '!' } else { ' ' };
            let front = |line: &super::page::Listed| format!("{:>9} {} {:>4} |", line.mark, sign(line), line.number);
            let line = |line: &super::page::Listed| {
                let tone = if line.is_marked { Tone::Doubt } else { Tone::Soft };
                format!("{} {}", palette.tone(tone, &front(line)), text::escape_unprintable(&line.text))
            };
            lines.iter().map(|one| line(one).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
        }
        Block::Fold { title, inside, .. } => {
            let title = words(title, width.saturating_sub(2), Palette::new(false));
            let title = title.lines().map(|line| palette.faint(&format!("# {line}"))).collect::<Vec<_>>().join("\n");
            format!("{title}\n{}", joined(inside, "\n", width, palette))
        }
        Block::Card { id, title, inside } => {
            let inside = joined(inside, "\n", width.saturating_sub(INDENT), palette);
            let title = if id.is_empty() { title.clone() } else { title.clone().toned(Tone::Strong) };
            let title = words(&title, width, palette);
            let title = if id.is_empty() { title } else { ruled(&title, width, palette) };
            format!("{title}\n{}", indented(&inside, INDENT)).trim_end().to_owned()
        }
        Block::Section { title, inside, .. } => {
            let title = words(&Text::new(Tone::Strong, title), width, palette);
            format!("{title}\n{}", drawn(inside, width, palette))
        }
        Block::Beside(sides) => beside(sides, width, palette),
        Block::Charts(charts) => {
            charts.iter().map(|chart| self::chart(chart, palette)).collect::<Vec<_>>().join("\n\n")
        }
        Block::Excerpt(_) | Block::Room(_) => String::new(),
        Block::Command(aim, command) => format!("{} {command}", palette.strong(&format!("{aim}:"))),
    }
}

/// A title that a line sets apart from what stands above it.
fn ruled(title: &str, width: usize, palette: Palette) -> String {
    let rest = width.saturating_sub(title.lines().last().map_or(0, text::width) + 1);
    format!("{title} {}", palette.faint(&"─".repeat(rest)))
}

fn indented(said: &str, by: usize) -> String {
    let line = |line: &str| if line.is_empty() { String::new() } else { format!("{:by$}{line}", "") };
    said.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A text in lines of at most `width` columns.
fn words(said: &Text, width: usize, palette: Palette) -> String {
    let painted = |by_word: bool| -> String {
        let span = |span: &Span| {
            let said = text::escape_unprintable(&span.said);
            match by_word {
                true => said.split(' ').map(|word| palette.tone(span.tone, word)).collect::<Vec<_>>().join(" "),
                false => palette.tone(span.tone, &said),
            }
        };
        said.unlinked().map(span).collect()
    };
    let whole = painted(false);
    if text::width(&whole) <= width {
        return whole;
    }
    text::broken(&painted(true), text::prose(width).max(20)).join("\n")
}

/// Labels, and beside them what is said.
fn pairs(pairs: &[Pair], width: usize, palette: Palette) -> String {
    let pairs: Vec<&Pair> = pairs.iter().filter(|pair| !pair.said.is_empty()).collect();
    let label = |pair: &Pair| text::escape_unprintable(&pair.label.plain()).into_owned();
    let column = pairs.iter().map(|pair| text::width(&label(pair))).max().unwrap_or_default() + 2;
    let pair = |pair: &&Pair| {
        let said = indented(&words(&pair.said, width.saturating_sub(column), palette), column);
        let tone = if pair.label.tone() == Tone::Plain { Tone::Soft } else { pair.label.tone() };
        let blanks = " ".repeat(column - text::width(&label(pair)));
        format!("{}{blanks}{}", palette.tone(tone, &label(pair)), said.trim_start())
    };
    pairs.iter().map(pair).collect::<Vec<_>>().join("\n")
}

/// An entry, its further lines and what stands below it a little to the right.
fn item(entry: &Item, width: usize, palette: Palette) -> String {
    const BELOW: usize = 2;
    let hanging = |said: &Text, by: usize| {
        let lines = words(said, width.saturating_sub(by + BELOW), palette);
        indented(&lines.replace('\n', &format!("\n{:BELOW$}", "")), by)
    };
    let below = entry.below.iter().map(|said| hanging(said, BELOW));
    std::iter::once(hanging(&entry.said, 0)).chain(below).collect::<Vec<_>>().join("\n")
}

/// Timelines side by side, then their ends, or one below the other where they do not fit.
fn beside(sides: &[Side], width: usize, palette: Palette) -> String {
    let count = sides.len().max(1);
    let room = width.saturating_sub(GAP * (count - 1)) / count;
    let both = |width: usize| {
        let tops = sides.iter().map(|side| timeline(side, width, palette));
        let ends = sides.iter().map(|side| {
            let end = indented(&pairs(&side.end, width.saturating_sub(MARK), palette), MARK);
            let below = joined(&side.below, "\n", width, palette);
            [end, below].join("\n").lines().map(str::to_owned).collect::<Vec<_>>()
        });
        (tops.collect::<Vec<_>>(), ends.collect::<Vec<_>>())
    };
    if room >= SIDE_MIN || count == 1 {
        let room = room.min(SIDE_MAX);
        let (tops, ends) = both(room);
        return [zipped(&tops, room), zipped(&ends, room)].concat().join("\n");
    }
    let (tops, ends) = both(width);
    let whole = tops.into_iter().zip(ends).map(|(top, end)| [top, end].concat().join("\n"));
    whole.collect::<Vec<_>>().join("\n\n")
}

fn zipped(columns: &[Vec<String>], width: usize) -> Vec<String> {
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let line = |n: usize| {
        let cells = columns.iter().map(|column| {
            let cell = column.get(n).map_or("", String::as_str);
            format!("{cell}{}", " ".repeat((width + GAP).saturating_sub(text::width(cell))))
        });
        cells.collect::<String>().trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

/// The columns of the mark of a line that stands out.
const MARK: usize = 2;

/// The lines of a timeline below its title. What a ledger booked has no room here.
fn timeline(side: &Side, width: usize, palette: Palette) -> Vec<String> {
    let widest = side.lines.iter().map(|line| text::width(&line.at)).max().unwrap_or(0);
    let unit = if widest > 0 { " (ms)" } else { "" };
    let head = text::fitted(&side.title, width.saturating_sub(unit.len()));
    let mut lines = vec![format!("{}{}", palette.strong(&head), palette.faint(unit))];
    for TimedLine { at, said, is_marked, .. } in side.lines.iter().filter(|line| !line.said.is_empty()) {
        let mark = if *is_marked { palette.doubtful("≠ ") } else { " ".repeat(MARK) };
        let gutter = if widest == 0 { mark } else { format!("{mark}{at:>widest$}  ") };
        let said_plain = text::escape_unprintable(&said.plain()).into_owned();
        let hanging = text::hanging(&gutter, &said_plain, width);
        lines.extend(hanging.into_iter().map(|line| palette.tone(said.tone(), &line)));
    }
    lines
}

/// Bars below each other, each with its number.
fn chart(chart: &Bars, palette: Palette) -> String {
    let widest =
        |of: fn(&super::page::Bar) -> &str| chart.bars.iter().map(|bar| text::width(of(bar))).max().unwrap_or(0);
    let (labels, numbers) = (widest(|bar| &bar.label), widest(|bar| &bar.said));
    let bar = |bar: &super::page::Bar| {
        let length = share(bar.value, chart.of, BAR);
        let (label, said) = (text::escape_unprintable(&bar.label), &bar.said);
        format!("{label:labels$}  {said:>numbers$}  {}", "█".repeat(length)).trim_end().to_owned()
    };
    let title = palette.strong(&text::escape_unprintable(&chart.title));
    std::iter::once(title).chain(chart.bars.iter().map(bar)).collect::<Vec<_>>().join("\n")
}

/// The length of a bar of a value in a chart `of` another one: at least one where there is anything.
fn share(value: u64, of: u64, whole: u64) -> usize {
    let length = u128::from(value) * u128::from(whole) / u128::from(of.max(1));
    usize::try_from(length).unwrap_or(0).clamp(usize::from(value > 0), usize::try_from(whole).unwrap_or(0))
}

fn table(table: &Table, width: usize, palette: Palette) -> String {
    let cell = |cell: &Text| text::escape_unprintable(&cell.plain()).into_owned();
    let header: Vec<String> = table.header.iter().map(|column| text::escape_unprintable(&column.name).into()).collect();
    let rows: Vec<Vec<String>> = table.rows.iter().map(|row| row.cells.iter().map(cell).collect()).collect();
    let align = |column: &Column| if column.is_number { Align::Right } else { Align::Left };
    let aligns: Vec<Align> = table.header.iter().map(align).collect();
    let paint = |row: Option<usize>, column: usize, said: &str| match row.and_then(|row| table.rows.get(row)) {
        None => palette.strong(said),
        Some(row) if row.tone != Tone::Plain => palette.tone(row.tone, said),
        Some(row) => palette.tone(row.cells.get(column).map(Text::tone).unwrap_or_default(), said),
    };
    table::painted(&header, &rows, &aligns, width, paint)
}
