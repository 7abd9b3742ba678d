//! Where a mapped call says that it is a step of an action.

use super::model::{Selector, StepMap};
use playproof_formats::diagnostic::Diagnostic;
use playproof_formats::yaml::MapReader;

impl StepMap {
    /// The paths `parent` and `step` of `record`, each of which is none outside if it is wrong and none inside if it is
    /// not written; in the same way, the step. One says nothing without the other.
    pub(super) fn of([parent, step]: [Option<Option<Selector>>; 2], record: &MapReader<'_>) -> Option<Option<StepMap>> {
        let (there, lacks) = match (parent?, step?) {
            (Some(parent), Some(step)) => return Some(Some(StepMap { parent, step })),
            (None, None) => return Some(None),
            (Some(_), None) => ("parent", "step"),
            (None, Some(_)) => ("step", "parent"),
        };
        let said = Diagnostic::error("missing_key", format!("`{there}` says nothing without `{lacks}`"));
        let said = said.at(record.key_span(there)?, format!("`{lacks}` is missing"));
        record.cursor().report(said.help("a step has both: the id of the action's call, and its own name"));
        None
    }
}
