//! Statistics of the fields of rows: how often a field is present, its types and its values. Guesses nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::names;
use crate::mapping::path::child;

/// Levels of a row that are surveyed.
const DEPTH: usize = 4;
/// Fields that are kept.
const FIELDS: usize = 300;
/// Different values of a field that are kept.
const VALUES: usize = 5_000;
/// The longest kept text, in characters: longer texts are no names, ids or times.
const MAX_TEXT: usize = 200;

/// The statistics of one field.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldStats {
    /// Its path, as a mapping writes it.
    pub(super) path: String,
    /// The names on the way to it.
    pub(super) steps: Vec<String>,
    /// The rows in which it is present and not `null`.
    pub(super) rows: BTreeSet<usize>,
    pub(super) texts: usize,
    pub(super) numbers: usize,
    pub(super) bools: usize,
    pub(super) objects: usize,
    /// The rows of each value, as text; long values are cut.
    pub(super) values: BTreeMap<String, BTreeSet<usize>>,
}

impl FieldStats {
    /// Its rank for a key of the mapping, by its name.
    pub(super) fn rank(&self, key: &str) -> Option<usize> {
        names::rank(key, &self.steps)
    }

    /// The number of `rows` that have it.
    pub(super) fn common(&self, rows: &BTreeSet<usize>) -> usize {
        self.rows.intersection(rows).count()
    }

    /// Whether some of `rows` have it, and at least half of them.
    pub(super) fn is_usual(&self, rows: &BTreeSet<usize>) -> bool {
        let common = self.common(rows);
        common > 0 && common * 2 >= rows.len()
    }

    /// Whether it is a text or a number wherever it is.
    pub(super) fn is_label(&self) -> bool {
        self.texts + self.numbers == self.rows.len()
    }

    pub(super) fn scalars(&self) -> usize {
        self.texts + self.numbers + self.bools
    }

    /// The values by row.
    pub(super) fn by_row(&self) -> BTreeMap<usize, &str> {
        let all = self.values.iter();
        all.flat_map(|(value, rows)| rows.iter().map(move |row| (*row, value.as_str()))).collect()
    }

    /// Whether it is a number in this range in every row that has it.
    pub(super) fn numbers_within(&self, first: f64, last: f64) -> bool {
        let number = |value: &String| value.parse::<f64>().is_ok_and(|number| (first..=last).contains(&number));
        self.numbers > 0 && self.numbers == self.rows.len() && self.values.keys().all(number)
    }
}

/// The fields of all rows, by path.
#[derive(Clone, Debug, Default)]
pub(super) struct Survey {
    pub(super) rows: usize,
    pub(super) fields: BTreeMap<String, FieldStats>,
    /// The paths of single values in what is named like arguments: none of them has a role.
    pub(super) in_args: BTreeSet<String>,
}

impl Survey {
    pub(super) fn of(rows: &[&Value]) -> Survey {
        let mut survey = Survey { rows: rows.len(), ..Survey::default() };
        for (row, value) in rows.iter().enumerate() {
            survey.enter(row, value, "", &[]);
        }
        survey
    }

    /// The fields whose names fit a key of the mapping, each with its rank, the most certain first.
    pub(super) fn named(&self, key: &str) -> impl Iterator<Item = (usize, &FieldStats)> {
        let mut named: Vec<_> = self.fields.values().filter_map(|field| Some((field.rank(key)?, field))).collect();
        named.sort_by_key(|(rank, field)| (*rank, field.steps.len()));
        named.into_iter()
    }

    fn enter(&mut self, row: usize, value: &Value, path: &str, steps: &[String]) {
        let Value::Object(fields) = value else { return };
        for (name, value) in fields.iter().filter(|(name, value)| !value.is_null() && is_writable(name)) {
            let path = child(path, name);
            if self.fields.len() >= FIELDS && !self.fields.contains_key(&path) {
                continue;
            }
            let mut steps = steps.to_vec();
            steps.push(name.clone());
            self.add(row, value, &path, &steps);
            if names::has("args", &names::plain(name)) && !is_envelope(value) {
                let inside = value.as_object().into_iter().flatten().filter(|(name, value)| {
                    !(value.is_null() || value.is_object() || value.is_array()) && is_writable(name)
                });
                let free = FIELDS.saturating_sub(self.in_args.len());
                self.in_args.extend(inside.take(free).map(|(name, _)| child(&path, name)));
            } else if steps.len() < DEPTH {
                self.enter(row, value, &path, &steps);
            }
        }
    }

    fn add(&mut self, row: usize, value: &Value, path: &str, steps: &[String]) {
        let field = self.fields.entry(path.to_owned()).or_insert_with(|| FieldStats {
            path: path.to_owned(),
            steps: steps.to_vec(),
            ..FieldStats::default()
        });
        field.rows.insert(row);
        let text = match value {
            Value::String(text) => {
                field.texts += 1;
                text.clone()
            }
            Value::Number(number) => {
                field.numbers += 1;
                number.to_string()
            }
            Value::Bool(value) => {
                field.bools += 1;
                value.to_string()
            }
            Value::Object(_) => return field.objects += 1,
            _ => return,
        };
        if field.values.len() < VALUES || field.values.contains_key(&text) {
            let short: String = text.chars().take(MAX_TEXT).collect();
            field.values.entry(short).or_default().insert(row);
        }
    }
}

/// Whether an object that is named like arguments has a tool and its arguments: `payload: { tool, args }`.
fn is_envelope(value: &Value) -> bool {
    let has = |is_it: fn(&str) -> bool| value.as_object().is_some_and(|fields| fields.keys().any(|name| is_it(name)));
    has(|name| names::means("means_tool", name)) && has(|name| names::has("args", &names::plain(name)))
}

/// Whether a path of a mapping can contain this name.
fn is_writable(name: &str) -> bool {
    !name.trim().is_empty() && name.trim() == name && !name.contains("\"]") && !name.chars().any(char::is_control)
}
