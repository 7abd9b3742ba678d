//! The tool facts file. What the facts mean is the model's.

use std::sync::Arc;

use super::model::Tools;
use crate::diagnostic::{Report, Source};
use crate::yaml;

/// Reads a tool facts file (`format: tools/1`).
///
/// # Errors
/// All that is wrong with it, each with its place.
pub fn parse(source: Arc<Source>) -> Result<Tools, Report> {
    yaml::parse(source, super::lower::tools_file)
}
