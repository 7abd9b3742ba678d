//! HTML pages: one file each, without scripts and requests. Nothing in them comes from a trace as markup.

mod call;
mod changed_rows;
mod chart;
mod check;
mod coverage;
mod deciding;
mod document;
mod impact;
mod markup;
mod proposal;
mod rehearsal;
mod replay;
mod source;
mod table;
#[cfg(test)]
mod tests;
mod verify;

pub use call::{CallPiece, CallShown, call};
pub use check::check;
pub use coverage::coverage;
pub use document::is_page;
pub use impact::{impact, impact_part};
pub use markup::Html;
pub use proposal::{Proposed, proposals};
pub use rehearsal::{RehearsalPage, rehearsals};
pub use replay::{CallsShown, ReplayPage, replay};
pub use verify::verify;
