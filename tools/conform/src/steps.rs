//! The order of a case: each step as often as it says, compared at once, and then the end. Runs no step itself.

use super::case::{Case, CaseStep};
use super::compare::{Sight, compare};
use super::unmet::Unmet;

/// Runs the steps of a case on `subject`; `end` is what it shows after the last one.
pub(super) fn run_steps<S>(
    case: &Case,
    subject: &mut S,
    mut step: impl FnMut(&mut S, &CaseStep) -> Result<Sight, Unmet>,
    end: impl FnOnce(&S) -> Sight,
) -> Result<(), Unmet> {
    for one in &case.steps {
        for _ in 0..one.repeat {
            compare(&one.expect, &step(subject, one)?, case.tolerance_ms)?;
        }
    }
    compare(&case.expect, &end(subject), case.tolerance_ms)
}
