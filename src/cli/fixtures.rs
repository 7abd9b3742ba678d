//! Fixtures by path. Parses nothing itself.

use super::exit::Failure;
use super::files;
use crate::fixture::model::Fixture;

/// Loads a fixture.
///
/// # Errors
/// A path that cannot be read, and everything that is wrong in it.
pub fn load(path: &str) -> Result<Fixture, Failure> {
    let _source = files::read_small(path)?;
    Err(Failure::said("fixtures cannot be read yet"))
}
