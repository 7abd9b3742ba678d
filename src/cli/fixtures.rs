//! Fixtures by path. Parses nothing itself.

use super::exit::Failure;
use super::files;
use super::kinds::{self, Kind};
use crate::fixture::{self, model::Fixture};

/// Loads a fixture.
///
/// # Errors
/// A path that cannot be read, and everything that is wrong in it.
pub fn load(path: &str) -> Result<Fixture, Failure> {
    let source = files::read_small(path)?;
    kinds::expect(Kind::Fixture, path, source.text.as_bytes())?;
    fixture::parse(source).map_err(|report| Failure::from(report).next("playproof schema fixture"))
}
