//! What a page holds, whatever it is drawn for: blocks of text in their order. Knows no widths, no colours and no markup.

use std::ops::Range;
use std::sync::Arc;

use crate::text;
use playproof_formats::diagnostic::{Label, Report, Source};
use playproof_formats::shell::Command;

/// What a text means to its reader. No page needs it to be understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Said.
    #[default]
    Plain,
    /// What matters most.
    Strong,
    /// What may be skipped in reading.
    Soft,
    /// All is well.
    Good,
    /// Doubt.
    Doubt,
    /// Harm.
    Bad,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) said: String,
    pub(super) tone: Tone,
    pub(super) kind: SpanKind,
}

/// What a part of a text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SpanKind {
    Words,
    /// A name or a value.
    Code,
    /// Leads to the card of this id; where no page can lead there, nothing.
    Link(String),
}

/// A text of one line, which is broken where it is too long. Whatever it says is foreign: no renderer takes it for markup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(pub(super) Vec<Span>);

impl Text {
    /// A text in a tone.
    pub fn new(tone: Tone, said: impl Into<String>) -> Text {
        Text::default().and(tone, said)
    }

    /// A name or a value.
    pub fn code(said: impl Into<String>) -> Text {
        Text::default().name(said)
    }

    /// Adds words.
    pub fn say(self, said: impl Into<String>) -> Text {
        self.and(Tone::Plain, said)
    }

    /// Adds words in a tone.
    pub fn and(self, tone: Tone, said: impl Into<String>) -> Text {
        self.part(said, tone, SpanKind::Words)
    }

    /// Adds a name or a value.
    pub fn name(self, said: impl Into<String>) -> Text {
        self.part(said, Tone::Plain, SpanKind::Code)
    }

    /// Adds a link to the card of an id, after a blank.
    pub fn link(self, id: impl Into<String>, said: impl Into<String>) -> Text {
        self.part(said, Tone::Plain, SpanKind::Link(id.into()))
    }

    fn part(mut self, said: impl Into<String>, tone: Tone, kind: SpanKind) -> Text {
        self.0.push(Span { said: said.into(), tone, kind });
        self
    }

    /// Adds another text.
    pub fn join(mut self, more: Text) -> Text {
        self.0.extend(more.0);
        self
    }

    /// All of it in a tone.
    pub fn toned(mut self, tone: Tone) -> Text {
        self.0.iter_mut().for_each(|span| span.tone = tone);
        self
    }

    /// The tone of its first part that has one.
    pub(super) fn tone(&self) -> Tone {
        self.0.iter().map(|span| span.tone).find(|tone| *tone != Tone::Plain).unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|span| span.said.is_empty())
    }

    /// Its parts without links.
    pub(super) fn unlinked(&self) -> impl Iterator<Item = &Span> {
        self.0.iter().filter(|span| !matches!(span.kind, SpanKind::Link(_)))
    }

    /// Its words.
    pub(super) fn plain(&self) -> String {
        self.unlinked().map(|span| span.said.as_str()).collect()
    }
}

impl From<&str> for Text {
    fn from(said: &str) -> Text {
        Text::default().say(said)
    }
}

impl From<String> for Text {
    fn from(said: String) -> Text {
        Text::default().say(said)
    }
}

/// One entry of a list, and what is said below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// The entry.
    pub said: Text,
    /// What stands below it.
    pub below: Vec<Text>,
}

impl<T: Into<Text>> From<T> for Item {
    fn from(said: T) -> Item {
        Item { said: said.into(), below: Vec::new() }
    }
}

/// A label with what is said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub(super) label: Text,
    pub(super) said: Text,
}

impl<L: Into<Text>, S: Into<Text>> From<(L, S)> for Pair {
    fn from((label, said): (L, S)) -> Pair {
        Pair { label: label.into(), said: said.into() }
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) is_number: bool,
}

/// Rows in columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    pub(super) header: Vec<Column>,
    pub(super) rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) tone: Tone,
    pub(super) cells: Vec<Text>,
}

impl Table {
    /// A table with columns of words.
    pub fn named<const N: usize>(names: [&str; N]) -> Table {
        Table::columns(names.map(|name| (name, false)))
    }

    /// A table with a column of labels and others of words.
    pub fn words<'a>(label: &'a str, names: impl IntoIterator<Item = &'a str>) -> Table {
        Table::columns(std::iter::once(label).chain(names).map(|name| (name, false)))
    }

    /// A table with columns of words and of numbers, which are said to be some.
    pub fn columns<'a>(names: impl IntoIterator<Item = (&'a str, bool)>) -> Table {
        let column = |(name, is_number): (&str, bool)| Column { name: name.to_owned(), is_number };
        Table { header: names.into_iter().map(column).collect(), rows: Vec::new() }
    }

    /// A table with a column of labels and others of numbers.
    pub fn numbers<'a>(label: &'a str, names: impl IntoIterator<Item = &'a str>) -> Table {
        let names = names.into_iter().map(|name| (name, true));
        Table::columns(std::iter::once((label, false)).chain(names))
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl Into<Vec<Text>>) {
        self.toned(Tone::Plain, cells);
    }

    /// Adds a row in a tone.
    pub fn toned(&mut self, tone: Tone, cells: impl Into<Vec<Text>>) {
        self.rows.push(Row { tone, cells: cells.into() });
    }

    /// Adds the title of the rows after it.
    pub fn head(&mut self, title: impl Into<Text>) {
        self.toned(Tone::Strong, [title.into()]);
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn is_head(&self, row: &Row) -> bool {
        row.cells.len() == 1 && self.header.len() > 1
    }
}

/// A line of a timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimedLine {
    /// When; empty where that is unknown, or as on the line above.
    pub at: String,
    /// What happened.
    pub said: Text,
    /// What a ledger booked at that time, which only a page has room for.
    pub booked: String,
    /// Whether it stands out.
    pub is_marked: bool,
}

/// A timeline, and how it ended.
#[derive(Clone, Debug)]
pub struct Side {
    /// Whose it is.
    pub title: String,
    /// Its lines.
    pub lines: Vec<TimedLine>,
    /// How it ended.
    pub end: Vec<Pair>,
    /// What stands below it.
    pub below: Vec<Block>,
}

/// Bars below each other, with their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bars {
    /// What they show.
    pub title: String,
    /// The value of a bar that takes all the room.
    pub of: u64,
    /// The bars.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// What it stands for.
    pub label: String,
    /// Its length, in the unit of all bars beside it.
    pub value: u64,
    /// The number as people read it.
    pub said: String,
}

/// A whole row of a file that people wrote, with what is to be seen in it underlined.
#[derive(Clone, Debug)]
pub struct Excerpt {
    /// The file.
    pub source: Arc<Source>,
    /// Where the row begins.
    pub begins: Range<usize>,
    /// What is underlined, and why.
    pub labels: Vec<Label>,
}

/// A part of a page.
#[derive(Clone, Debug)]
pub enum Block {
    /// A paragraph.
    Para(Text),
    /// Labels with what is said of each; those of which nothing is said are left out.
    Pairs(Vec<Pair>),
    /// A table; nothing without rows.
    Table(Table),
    /// A list; nothing without entries.
    List(Vec<Item>),
    /// Lines set as they are.
    Lines(String),
    /// Timelines side by side.
    Beside(Vec<Side>),
    /// Charts side by side.
    Charts(Vec<Bars>),
    /// Lines of a file with places underlined; a message that is said already is not repeated.
    Source {
        /// What is underlined.
        report: Report,
        /// The message that is said already; may be empty.
        said: String,
    },
    /// A row of a file.
    Excerpt(Excerpt),
    /// Lines of a file, each with a mark, its number, and whether it stands out.
    Listing(Vec<Listed>),
    /// What can be folded away, where a page can fold.
    Fold {
        /// What stands for it.
        title: Text,
        /// What it holds.
        inside: Vec<Block>,
        /// Whether it is folded at first.
        is_shut: bool,
    },
    /// What belongs together, under its title.
    Card {
        /// The name by which links find it; may be empty.
        id: String,
        /// Its title.
        title: Text,
        /// What it holds.
        inside: Vec<Block>,
    },
    /// A part of the page that its contents name; nothing if it is empty.
    Section {
        /// Its name on a page.
        id: String,
        /// Its title.
        title: String,
        /// What it holds.
        inside: Vec<Block>,
    },
    /// What only a page of its own has room for.
    Room(Vec<Block>),
    /// A command, and what it is for; it is never broken, so that it can be copied.
    Command(&'static str, Command),
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What stands before it.
    pub mark: String,
    /// Its number.
    pub number: usize,
    /// Its text.
    pub text: String,
    /// Whether it stands out.
    pub is_marked: bool,
}

impl Block {
    /// A paragraph.
    pub fn para(said: impl Into<Text>) -> Block {
        Block::Para(said.into())
    }

    /// Labels with what is said of each.
    pub fn pairs<P: Into<Pair>>(pairs: impl IntoIterator<Item = P>) -> Block {
        Block::Pairs(pairs.into_iter().map(Into::into).collect())
    }

    /// A list without what stands below its entries.
    pub fn list<T: Into<Item>>(entries: impl IntoIterator<Item = T>) -> Block {
        Block::List(entries.into_iter().map(Into::into).collect())
    }

    /// What belongs together, and is found by no link.
    pub fn card(title: impl Into<Text>, inside: Vec<Block>) -> Block {
        Block::Card { id: String::new(), title: title.into(), inside }
    }

    /// The one command to run next.
    pub fn next(command: Command) -> Block {
        Block::Command("next", command)
    }

    /// What is folded at first.
    pub fn folded(title: impl Into<Text>, inside: Vec<Block>) -> Block {
        Block::Fold { title: title.into(), inside, is_shut: true }
    }

    /// A part of the page that its contents name.
    pub fn section(id: impl Into<String>, title: impl Into<String>, inside: Vec<Block>) -> Block {
        Block::Section { id: id.into(), title: title.into(), inside }
    }

    /// Whether nothing is drawn of it.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Block::Para(said) => said.is_empty(),
            Block::Pairs(pairs) => pairs.iter().all(|pair| pair.said.is_empty()),
            Block::Table(table) => table.is_empty(),
            Block::List(entries) => entries.is_empty(),
            Block::Lines(said) => said.is_empty(),
            Block::Beside(sides) => sides.is_empty(),
            Block::Charts(charts) => charts.iter().all(|chart| chart.bars.is_empty()),
            Block::Listing(lines) => lines.is_empty(),
            Block::Section { inside, .. } | Block::Room(inside) => inside.iter().all(Block::is_empty),
            Block::Source { .. } | Block::Excerpt(_) | Block::Fold { .. } | Block::Card { .. } | Block::Command(..) => {
                false
            }
        }
    }
}

/// At most `most` entries of a list, and how many more there are.
pub fn first<T: Into<Item>>(most: usize, entries: impl ExactSizeIterator<Item = T>) -> Block {
    let more = entries.len().saturating_sub(most) as u64;
    let mut shown: Vec<Item> = entries.take(most).map(Into::into).collect();
    if more > 0 {
        shown.push(Text::new(Tone::Soft, format!("and {} more", text::count(more))).into());
    }
    Block::List(shown)
}

/// A whole page.
#[derive(Clone, Debug, Default)]
pub struct Doc {
    pub(super) title: Text,
    /// The answer in short: at the end of a terminal, where one reads from; at the beginning of any other page.
    pub answer: Vec<Block>,
    /// What it holds.
    pub blocks: Vec<Block>,
}

impl Doc {
    /// A page with its title.
    pub fn new(title: impl Into<Text>) -> Doc {
        Doc { title: title.into(), ..Doc::default() }
    }

    /// A page with its title and what it holds.
    pub fn with(title: impl Into<Text>, blocks: Vec<Block>) -> Doc {
        Doc { blocks, ..Doc::new(title) }
    }

    /// The page without its title, where the command says what it is.
    pub fn untitled(self) -> Doc {
        Doc { title: Text::default(), ..self }
    }

    /// The page below a line by which a job finds an earlier one, ending with a line break.
    pub fn comment(&self, marker: &str) -> String {
        format!("{marker}\n{}\n", self.markdown())
    }

    /// Adds a block.
    pub fn add(&mut self, block: Block) {
        self.blocks.push(block);
    }
}
