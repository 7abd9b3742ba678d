//! Finds the one call that is explained, in a trace or in a fixture.

use super::case::Case;
use crate::cli::exit::Failure;
use crate::cli::onecall::Search;
use crate::cli::{files, fixtures, inputs};
use crate::playbook::model::Access;
use crate::sim::Plan;
use crate::upstream::BeyondTape;

/// Finds the call; `beyond` answers where a recording ends.
///
/// # Errors
/// An input that cannot be read; no such call, or several.
pub fn find(search: &Search<'_>, plan: &Plan, beyond: BeyondTape) -> Result<Case, Failure> {
    if inputs::is_fixture(search.input) {
        return in_fixture(search);
    }
    let writes = |tool: &str| plan.facts(tool).access == Access::Write;
    let call = Box::new(search.in_trace(&writes)?.call);
    Ok(Case::Recorded { call, beyond, input: files::display_name(search.input) })
}

fn in_fixture(search: &Search<'_>) -> Result<Case, Failure> {
    let fixture = fixtures::load(search.input)?;
    let names: Vec<&str> = fixture.calls.iter().map(|call| call.name.as_str()).collect();
    let name = match (search.wanted, names.as_slice()) {
        (None, [only]) => (*only).to_owned(),
        (None, _) => return Err(search.several(&names)),
        (Some(wanted), _) if names.contains(&wanted) => wanted.to_owned(),
        (Some(wanted), _) => return Err(search.unknown(wanted, &names)),
    };
    Ok(Case::Rehearsed { fixture: Box::new(fixture), name })
}
