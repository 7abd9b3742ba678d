//! Keys that only some kinds of a part have.

use crate::diagnostic::Diagnostic;
use crate::yaml::MapReader;

/// Whether `record`, of this kind, has keys that `table` gives only to others; each is an error.
pub(super) fn has_other_keys<K: Copy + PartialEq>(
    record: &MapReader<'_>,
    kind: K,
    name: impl Fn(K) -> &'static str,
    table: &[(&str, &[K])],
    id: &'static str,
) -> bool {
    let mut has_others = false;
    for (key, kinds) in table.iter().filter(|(_, kinds)| !kinds.contains(&kind)) {
        if let Some(span) = record.key_span(key) {
            let kinds: Vec<&str> = kinds.iter().map(|kind| name(*kind)).collect();
            let message = format!("`{key}` is for {}", kinds.join(" and "));
            let label = format!("not for {}", name(kind));
            record.cursor().report(Diagnostic::error(id, message).at(span, label));
            has_others = true;
        }
    }
    has_others
}
