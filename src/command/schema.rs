//! `playproof schema KIND`: prints the JSON Schema of a file format.

use clap::ValueEnum;

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::project;
use playproof_analysis::kept;
use playproof_formats::schema::inlined;
use playproof_formats::{fixture, history, playbook};
use playproof_intake::{mapping, wire};
use playproof_serve::protocol;

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
    /// A record of an accepted change
    History,
    /// What should become of a recorded call
    Kept,
    /// One line of the dispatch protocol
    Dispatch,
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
    output.page(&inlined(text(args.kind)))?;
    Ok(Exit::Clean)
}

/// The names of the formats and their JSON Schemas.
pub fn all() -> impl Iterator<Item = (String, String)> {
    let name = |kind: &Kind| Some(kind.to_possible_value()?.get_name().to_owned());
    Kind::value_variants().iter().filter_map(move |kind| Some((name(kind)?, inlined(text(*kind)))))
}

fn text(kind: Kind) -> &'static str {
    match kind {
        Kind::Trace => wire::SCHEMA,
        Kind::Playbook => playbook::SCHEMA,
        Kind::Fixture => fixture::SCHEMA,
        Kind::Tools => playbook::TOOLS_SCHEMA,
        Kind::Project => project::SCHEMA,
        Kind::History => history::SCHEMA,
        Kind::Kept => kept::SCHEMA,
        Kind::Dispatch => protocol::SCHEMA,
        Kind::Mapping => mapping::SCHEMA,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use playproof_analysis::kept::{CameFrom, KeptFile};
    use playproof_engine::playbook::ToolFacts;
    use playproof_formats::golden::RowChange;
    use playproof_formats::history::Record;

    #[test]
    fn every_kind_has_a_schema_that_is_json() {
        for kind in Kind::value_variants() {
            let schema: serde_json::Value = serde_json::from_str(text(*kind)).unwrap();
            assert!(schema["$schema"].is_string() && schema["title"].is_string(), "{kind:?}");
        }
    }

    #[test]
    fn what_is_written_of_records_and_kept_calls_has_a_place_in_their_schemas() {
        let row = RowChange { name: "limit a".into(), before: None, after: Some("1".into()) };
        let kind = history::RecordKind::Proposal(history::AcceptedProposal {
            id: "a".into(),
            adr: "b".into(),
            fixtures: vec!["c".into()],
            goldens: vec!["d".into()],
            explained: vec!["d".into()],
        });
        let record = Record { kind, playbook: "standard".into(), reason: "r".into(), rows: vec![row] };
        let file = KeptFile {
            note: "n".into(),
            playbook: "p".into(),
            call: "c".into(),
            attempt: 1,
            expect: "v".into(),
            was: "w".into(),
            facts: Some(ToolFacts::ASSUMED),
            came_from: CameFrom::default(),
        };
        for (kind, written) in [(Kind::History, record.render()), (Kind::Kept, file.render())] {
            let schema: serde_json::Value = serde_json::from_str(text(kind)).unwrap();
            let keys =
                written.lines().filter(|line| !line.starts_with(['#', ' '])).filter_map(|line| line.split_once(':'));
            let keys: Vec<&str> = keys.map(|(key, _)| key).collect();
            let known = schema["properties"].as_object().unwrap();
            assert_eq!(keys.len(), known.len(), "{kind:?}: {keys:?}");
            assert!(keys.iter().all(|key| known.contains_key(*key)), "{kind:?}: {keys:?}");
        }
    }
}
