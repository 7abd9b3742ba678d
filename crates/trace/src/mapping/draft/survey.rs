//! What the fields of rows hold: how often they are there, of which types, which values. Guesses nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::names;
use crate::mapping::path::child;

/// How deep rows are looked into.
const DEPTH: usize = 4;
/// Fields that are remembered.
const FIELDS: usize = 300;
/// Different values of a field that are remembered.
const VALUES: usize = 5_000;
/// Longer texts are no names, ids or times.
const LONGEST: usize = 200;

/// A field of the rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Field {
    /// Its path as a mapping writes it.
    pub(super) path: String,
    /// The names on the way to it.
    pub(super) steps: Vec<String>,
    /// The rows that have it, and not as `null`.
    pub(super) rows: BTreeSet<usize>,
    pub(super) texts: usize,
    pub(super) numbers: usize,
    pub(super) bools: usize,
    pub(super) objects: usize,
    pub(super) arrays: usize,
    /// Rows by what stands there, as text; none of a field with too many or too long ones.
    pub(super) values: BTreeMap<String, BTreeSet<usize>>,
}

impl Field {
    pub(super) fn scalars(&self) -> usize {
        self.texts + self.numbers + self.bools
    }

    /// What stands there, by row.
    pub(super) fn by_row(&self) -> BTreeMap<usize, &str> {
        let all = self.values.iter();
        all.flat_map(|(value, rows)| rows.iter().map(move |row| (*row, value.as_str()))).collect()
    }

    /// Whether the rows where it stands as a number have only numbers in this range there.
    pub(super) fn numbers_within(&self, first: f64, last: f64) -> bool {
        let number = |value: &String| value.parse::<f64>().is_ok_and(|number| (first..=last).contains(&number));
        self.numbers > 0 && self.numbers == self.rows.len() && self.values.keys().all(number)
    }
}

/// The fields of all rows, by path.
#[derive(Clone, Debug, Default)]
pub(super) struct Survey {
    pub(super) rows: usize,
    pub(super) fields: BTreeMap<String, Field>,
}

impl Survey {
    pub(super) fn of(rows: &[&Value]) -> Survey {
        let mut survey = Survey { rows: rows.len(), fields: BTreeMap::new() };
        for (row, value) in rows.iter().enumerate() {
            survey.enter(row, value, "", &[]);
        }
        survey
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
            self.see(row, value, &path, &steps);
            if steps.len() < DEPTH && !names::is_data(name) {
                self.enter(row, value, &path, &steps);
            }
        }
    }

    fn see(&mut self, row: usize, value: &Value, path: &str, steps: &[String]) {
        let field = self.fields.entry(path.to_owned()).or_insert_with(|| Field {
            path: path.to_owned(),
            steps: steps.to_vec(),
            ..Field::default()
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
            Value::Array(_) => return field.arrays += 1,
            _ => return field.objects += 1,
        };
        if field.values.len() < VALUES || field.values.contains_key(&text) {
            let short: String = text.chars().take(LONGEST).collect();
            field.values.entry(short).or_default().insert(row);
        }
    }
}

/// Whether a path of a mapping can name it.
fn is_writable(name: &str) -> bool {
    !name.trim().is_empty() && name.trim() == name && !name.contains("\"]") && !name.chars().any(char::is_control)
}
