//! A schema of arguments, as read.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Number, Value, json};

/// What a value must be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    /// The types, one of which it has; empty: any.
    pub types: Vec<JsonType>,
    /// The values, one of which it is.
    pub any_of: Option<Vec<Value>>,
    /// The least number.
    pub minimum: Option<Number>,
    /// The largest number.
    pub maximum: Option<Number>,
    /// The fewest and the most characters.
    pub length: (Option<u64>, Option<u64>),
    /// The regular expression that a text matches somewhere.
    pub pattern: Option<Regex>,
    /// The fewest and the most items.
    pub items: (Option<u64>, Option<u64>),
    /// What each item must be.
    pub item: Option<Box<Schema>>,
    /// The fields that must be there, as written.
    pub required: Vec<String>,
    /// What each field must be, by name.
    pub properties: BTreeMap<String, Schema>,
    /// Whether other fields are refused.
    pub closed: bool,
}

/// The most items or characters of an example.
const MOST_EXAMPLES: usize = 100;

/// The types of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum JsonType {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl JsonType {
    /// The words of JSON Schema.
    pub const TABLE: [(&'static str, JsonType); 7] = [
        ("null", JsonType::Null),
        ("boolean", JsonType::Boolean),
        ("integer", JsonType::Integer),
        ("number", JsonType::Number),
        ("string", JsonType::String),
        ("array", JsonType::Array),
        ("object", JsonType::Object),
    ];

    /// The type of a word.
    pub fn parse(word: &str) -> Option<JsonType> {
        JsonType::TABLE.iter().find(|(known, _)| *known == word).map(|(_, one)| *one)
    }

    /// The word of JSON Schema.
    pub fn as_str(self) -> &'static str {
        JsonType::TABLE.iter().find(|(_, known)| *known == self).map_or("", |(word, _)| word)
    }
}

impl Schema {
    /// The canonical form: sorted keys, and nothing that says nothing.
    pub fn canonical(&self) -> Value {
        let Schema { types, any_of, minimum, maximum, length, pattern, items, item, required, properties, closed } =
            self;
        let mut types = types.clone();
        types.sort_unstable();
        let mut names = required.clone();
        names.sort_unstable();
        let fields: serde_json::Map<String, Value> =
            properties.iter().map(|(name, schema)| (name.clone(), schema.canonical())).collect();
        let parts = [
            ("type", (!types.is_empty()).then(|| types.into_iter().map(JsonType::as_str).collect())),
            ("enum", any_of.as_ref().map(|values| json!(values))),
            ("minimum", minimum.as_ref().map(|number| json!(number))),
            ("maximum", maximum.as_ref().map(|number| json!(number))),
            ("minLength", length.0.map(|length| json!(length))),
            ("maxLength", length.1.map(|length| json!(length))),
            ("pattern", pattern.as_ref().map(|pattern| json!(pattern.as_str()))),
            ("minItems", items.0.map(|count| json!(count))),
            ("maxItems", items.1.map(|count| json!(count))),
            ("items", item.as_ref().map(|item| item.canonical())),
            ("required", (!names.is_empty()).then(|| json!(names))),
            ("properties", (!fields.is_empty()).then_some(Value::Object(fields))),
            ("additionalProperties", closed.then_some(json!(false))),
        ];
        parts.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
    }

    /// A value that fits, except where a `pattern` asks for a text that this does not know.
    pub fn example(&self) -> Value {
        if let Some(first) = self.any_of.iter().flatten().next() {
            return first.clone();
        }
        let wanted = self.types.first().copied().unwrap_or(match self.properties.is_empty() {
            true => JsonType::String,
            false => JsonType::Object,
        });
        let count =
            |least: Option<u64>| usize::try_from(least.unwrap_or_default()).unwrap_or_default().min(MOST_EXAMPLES);
        match wanted {
            JsonType::Null => Value::Null,
            JsonType::Boolean => json!(true),
            JsonType::Integer | JsonType::Number => {
                self.minimum.as_ref().or(self.maximum.as_ref()).map_or_else(|| json!(1), |number| json!(number))
            }
            JsonType::String => json!("x".repeat(count(self.length.0).max(1))),
            JsonType::Array => {
                let item = || self.item.as_ref().map_or(json!(1), |item| item.example());
                Value::Array((0..count(self.items.0)).map(|_| item()).collect())
            }
            JsonType::Object => self.example_object(),
        }
    }

    /// The required fields.
    pub fn example_object(&self) -> Value {
        let field = |name: &String| {
            let value = self.properties.get(name).map_or_else(|| json!("x"), Schema::example);
            (name.clone(), value)
        };
        Value::Object(self.required.iter().map(field).collect())
    }

    /// Whether an object may have fields that the schema does not name, here or in a field.
    pub fn is_loose(&self) -> bool {
        let may_be_object = self.types.is_empty() || self.types.contains(&JsonType::Object);
        (may_be_object && !self.closed && !self.properties.is_empty()) || self.properties.values().any(Schema::is_loose)
    }
}
