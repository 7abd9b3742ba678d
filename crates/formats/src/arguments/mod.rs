//! The arguments that a tool takes, in a closed subset of JSON Schema: nothing is loaded, and every keyword outside the
//! subset is refused.

mod fits;
mod read;
mod schema;

pub(crate) use read::{inputs, schema};
pub(crate) use schema::Schema;
