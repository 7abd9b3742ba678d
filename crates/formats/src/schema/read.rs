//! Reads a file by its schema: the text, its structure, and what its reader makes of it.

use std::sync::Arc;

use super::at::At;
use super::compile::Schema;
use super::validate::validate;
use crate::diagnostic::{Report, Source};
use crate::yaml;
use crate::yaml::{Node, Problems};

/// Reads `source`, checks its tree against `schema`, and passes its root to `lower`. A file of another format is read no
/// further; of any other mistakes `lower` sees the rest, so that what only it can find is reported beside them.
///
/// # Errors
/// All errors of the text, of its structure and of `lower`, in the order of their places.
pub fn read<T>(
    source: Arc<Source>,
    schema: &'static Schema,
    lower: impl FnOnce(At<'_>) -> Option<T>,
) -> Result<T, Report> {
    yaml::parse(source, |root| check(root.node(), schema, root.problems()).and_then(lower))
}

/// The root of a checked tree; none: it is of another format.
pub fn check<'a>(node: &'a Node, schema: &'static Schema, problems: &'a Problems) -> Option<At<'a>> {
    let root = At::root(node, schema, problems);
    validate(root).then_some(root)
}

/// The root of a tree that is not checked here, because a test has checked it: to check the default playbook takes about 2.4 of
/// the 25 million instructions of a start.
pub(crate) fn unvalidated<'a>(node: &'a Node, schema: &'static Schema, problems: &'a Problems) -> At<'a> {
    At::root(node, schema, problems)
}
