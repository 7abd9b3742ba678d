//! Files in which git left both sides of a merge: told as that, before anything is said of what stands in them.

use std::sync::Arc;

use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::golden::merge_conflict;

/// Refuses a text in which both sides of a merge are left.
///
/// # Errors
/// They are, at the first such place.
pub fn refuse_halves(source: &Arc<Source>) -> Result<(), Report> {
    match merge_conflict(&source.text) {
        None => Ok(()),
        Some(said) => {
            let help = "keep the side that is meant, or both, and take out the marks of git";
            Err(Report::one(Arc::clone(source), said.help(help)))
        }
    }
}
