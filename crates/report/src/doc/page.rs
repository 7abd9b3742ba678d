//! What a page holds, whatever it is drawn for: blocks of text in their order. Knows no widths, no colours and no markup.

use crate::text;
use playproof_formats::diagnostic::Report;
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
    pub(super) is_code: bool,
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
    pub fn and(mut self, tone: Tone, said: impl Into<String>) -> Text {
        self.0.push(Span { said: said.into(), tone, is_code: false });
        self
    }

    /// Adds a name or a value.
    pub fn name(mut self, said: impl Into<String>) -> Text {
        self.0.push(Span { said: said.into(), tone: Tone::Plain, is_code: true });
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

    /// Its words.
    pub(super) fn plain(&self) -> String {
        self.0.iter().map(|span| span.said.as_str()).collect()
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

/// Rows in columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The names of the columns, and whether they hold numbers.
    pub(super) header: Vec<(String, bool)>,
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
        Table { header: names.map(|name| (name.to_owned(), false)).into(), rows: Vec::new() }
    }

    /// A table with a column of labels and others of words.
    pub fn words<'a>(label: &'a str, names: impl IntoIterator<Item = &'a str>) -> Table {
        let names = std::iter::once(label).chain(names);
        Table { header: names.map(|name| (name.to_owned(), false)).collect(), rows: Vec::new() }
    }

    /// A table with columns of words and of numbers, which are said to be some.
    pub fn columns<const N: usize>(names: [(&str, bool); N]) -> Table {
        Table { header: names.map(|(name, is_number)| (name.to_owned(), is_number)).into(), rows: Vec::new() }
    }

    /// A table with a column of labels and others of numbers.
    pub fn numbers<'a>(label: &str, names: impl IntoIterator<Item = &'a str>) -> Table {
        let names = names.into_iter().map(|name| (name.to_owned(), true));
        Table { header: std::iter::once((label.to_owned(), false)).chain(names).collect(), rows: Vec::new() }
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

/// A part of a page.
#[derive(Clone, Debug)]
pub enum Block {
    /// A paragraph.
    Para(Text),
    /// Labels with what is said of each; those of which nothing is said are left out.
    Pairs(Vec<(&'static str, Text)>),
    /// A table; nothing without rows.
    Table(Table),
    /// A list; nothing without entries.
    List(Vec<Item>),
    /// Lines set as they are.
    Lines(String),
    /// Lines of a file with places underlined; a message that is said already is not repeated.
    Source(Report, String),
    /// Lines of a file, each with a mark, its number, and whether it stands out.
    Listing(Vec<Listed>),
    /// What can be folded away, where a page can fold; `true`: it is so at first.
    Fold(Text, Vec<Block>, bool),
    /// What belongs together, under its title.
    Card(Text, Vec<Block>),
    /// A section, by its id on a page, with its title; nothing without contents.
    Section(String, String, Vec<Block>),
    /// What only a page of its own has room for.
    Room(Vec<Block>),
    /// The one command to run next.
    Next(Command),
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

    /// A list without what stands below its entries.
    pub fn list<T: Into<Item>>(entries: impl IntoIterator<Item = T>) -> Block {
        Block::List(entries.into_iter().map(Into::into).collect())
    }

    /// Whether nothing is drawn of it.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Block::Para(said) => said.is_empty(),
            Block::Pairs(pairs) => pairs.iter().all(|(_, said)| said.is_empty()),
            Block::Table(table) => table.is_empty(),
            Block::List(entries) => entries.is_empty(),
            Block::Lines(said) => said.is_empty(),
            Block::Listing(lines) => lines.is_empty(),
            Block::Section(_, _, inside) | Block::Room(inside) => inside.iter().all(Block::is_empty),
            Block::Source(..) | Block::Fold(..) | Block::Card(..) | Block::Next(_) => false,
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
