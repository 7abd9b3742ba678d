//! A changed row of a playbook as JSON.

use super::write::Object;
use playproof_formats::golden::RowChange;

/// The row, and what it said before and after; nothing where it was added or removed.
pub fn row(change: &RowChange) -> Object {
    Object::default().with("row", &change.name).with("before", &change.before).with("after", &change.after)
}
