//! Loads fixtures from paths and texts.

use std::sync::Arc;

use super::exit::Failure;
use super::files;
use super::input_kind::{self, InputKind, reject_conflict_markers};
use playproof_engine::fixture::Fixture;
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::fixture;

/// Loads a fixture.
///
/// # Errors
/// A path that cannot be read, and everything that is wrong in it.
pub fn load(path: &str) -> Result<Fixture, Failure> {
    let source = files::read_small(path)?;
    input_kind::expect(InputKind::Fixture, path, source.text.as_bytes())?;
    parse(source).map_err(|report| Failure::from(report).next("playproof schema fixture"))
}

/// Parses a fixture; rejects git's conflict markers.
///
/// # Errors
/// Everything that is wrong in it.
pub fn parse(source: Arc<Source>) -> Result<Fixture, Report> {
    reject_conflict_markers(&source)?;
    fixture::parse(source)
}
