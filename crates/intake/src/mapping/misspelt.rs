//! The kinds of a mapping that are probably misspelt known ones. Reads no rows.

use super::model::Mapping;
use crate::unused::UnknownKind;
use playproof_formats::playbook::KNOWN_KINDS;
use playproof_formats::playbook::lint::likely_kind;

impl Mapping {
    /// The kinds that are probably misspelt known ones.
    pub(crate) fn misspelt_kinds(&self) -> Vec<UnknownKind> {
        let is_named = |name: &str| self.kinds.iter().any(|kind| kind.name == name);
        let unknown = self.kinds.iter().filter(|kind| !KNOWN_KINDS.contains(&&*kind.name));
        let misspelt = unknown.filter_map(|kind| {
            let near = likely_kind(&kind.name, KNOWN_KINDS).filter(|near| !is_named(near))?;
            Some(UnknownKind { name: kind.name.clone(), near, place: self.place(&kind.span) })
        });
        misspelt.collect()
    }
}
