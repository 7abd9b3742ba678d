//! The values of `--format`.

use clap::ValueEnum;

/// The formats for people and programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Table,
    /// One JSON document
    Json,
}

/// The same, and Markdown for pull requests.
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
