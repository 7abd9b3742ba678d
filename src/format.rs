//! The output formats of commands. Writes nothing; each command lists its own.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// An output format. A command matches its own formats; the page for people is the last arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Table,
    /// One JSON document
    Json,
    /// One JSON object a line: every decision event, every call, then the summary
    Jsonl,
    /// For a pull request or a wiki
    Markdown,
    /// The playbook's lines, marked
    Lines,
    /// A state diagram of Mermaid
    Mermaid,
    /// A graph of Graphviz
    Dot,
}

impl Format {
    /// Reads one of these, and refuses the others.
    pub fn one_of(formats: &'static [Format]) -> impl TypedValueParser<Value = Format> {
        let names = PossibleValuesParser::new(formats.iter().filter_map(ValueEnum::to_possible_value));
        names.map(|name| Format::from_str(&name, false).unwrap_or_default()) // only known names get here
    }
}
