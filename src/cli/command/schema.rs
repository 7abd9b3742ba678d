//! `playproof schema KIND`: the JSON Schema of a file format. Strict reading itself is the format's own.

use clap::ValueEnum;

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::trace::mapping;
use crate::{fixture, playbook};

/// The formats that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// One line of a trace
    Trace,
    /// A playbook
    Playbook,
    /// A fixture
    Fixture,
    /// How a foreign recording becomes a trace
    Mapping,
    /// A tool facts file
    Tools,
    /// `playproof.yaml`
    Project,
}

/// What is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Editors that know the YAML language server take it from the first line of a file:
  # yaml-language-server: $schema=playbook.schema.json

Example:
  playproof schema playbook > playbook.schema.json")]
pub struct Args {
    /// The file format
    #[arg(value_enum, value_name = "KIND")]
    pub kind: Kind,
}

/// Prints.
pub fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    output.page(&text(args.kind))?;
    Ok(Exit::Clean)
}

fn text(kind: Kind) -> String {
    match kind {
        Kind::Trace => include_str!("../schemas/trace.json").to_owned(),
        Kind::Playbook => format!("{:#}", playbook::schema()),
        Kind::Fixture => format!("{:#}", fixture::schema()),
        Kind::Tools => format!("{:#}", playbook::tools_schema()),
        Kind::Project => include_str!("../schemas/project.json").to_owned(),
        Kind::Mapping => format!("{:#}", mapping::schema()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_schema_that_is_json() {
        for kind in Kind::value_variants() {
            let schema: serde_json::Value = serde_json::from_str(&text(*kind)).unwrap();
            assert!(schema["$schema"].is_string() && schema["title"].is_string(), "{kind:?}");
        }
    }
}
