//! Fixtures by path. Parses nothing itself.

use super::exit::Failure;
use super::files;
use crate::fixture::{self, model::Fixture};

/// Loads a fixture.
///
/// # Errors
/// A path that cannot be read, and everything that is wrong in it.
pub fn load(path: &str) -> Result<Fixture, Failure> {
    fixture::parse(files::read_small(path)?).map_err(|report| Failure::from(report).next("playproof schema fixture"))
}
