//! Maps whose keys are no text, as JSON: a list of pairs.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes a map as pairs.
///
/// # Errors
/// Those of the writer.
pub fn serialize<K: Serialize, V: Serialize, S: Serializer>(map: &BTreeMap<K, V>, out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(map)
}

/// Reads pairs as a map.
///
/// # Errors
/// They are no pairs of such keys and values.
pub fn deserialize<'de, K, V, D>(from: D) -> Result<BTreeMap<K, V>, D::Error>
where
    K: Ord + Deserialize<'de>,
    V: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Vec::<(K, V)>::deserialize(from).map(BTreeMap::from_iter)
}
