//! The forms in which commands write their results, as they are asked for. Writes nothing.

use clap::ValueEnum;

/// For people and for programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Table,
    /// One JSON document
    Json,
}

/// The same, and for what is posted somewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PublicFormat {
    /// For people
    #[default]
    Table,
    /// One JSON document
    Json,
    /// For a pull request or a wiki
    Markdown,
}
