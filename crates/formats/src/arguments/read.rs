//! Reads a schema of arguments, and refuses every keyword outside the subset where it stands.

use std::cmp::Ordering;

use regex::Regex;
use serde_json::{Number, Value};

use super::fits::order;
use super::schema::{JsonType, Schema};
use crate::diagnostic::Diagnostic;
use crate::yaml::{Cursor, MapReader, shorten};

/// The keywords of the subset.
pub(crate) const KEYS: &[&str] = &[
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "items",
    "required",
    "properties",
    "additionalProperties",
    "title",
    "description",
    "default",
    "examples",
];

/// Keywords of JSON Schema that people would expect here.
const UNSUPPORTED: &[&str] = &[
    "$ref",
    "$defs",
    "$schema",
    "$id",
    "definitions",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "format",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "uniqueItems",
    "multipleOf",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "prefixItems",
    "contains",
    "minProperties",
    "maxProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "nullable",
];

/// The deepest nesting.
const DEEPEST: usize = 32;

/// The schema written at `at`, for a whole object of arguments.
pub(crate) fn schema(at: Cursor<'_>) -> Option<Schema> {
    let schema = nested(at, 0);
    if let Some(place) = at.is_map().then(|| at.entry("type")).flatten().filter(|place| takes_no_object(*place)) {
        place.wrong("bad_schema", "arguments are an object, and this schema takes none", "expected `object`");
        return None;
    }
    schema
}

/// Whether the types at `at` are all known, and none is an object.
fn takes_no_object(at: Cursor<'_>) -> bool {
    let is_other = |word: &Value| {
        JsonType::TABLE.iter().any(|(known, one)| word.as_str() == Some(known) && *one != JsonType::Object)
    };
    match at.json() {
        Some(Value::Array(words)) => !words.is_empty() && words.iter().all(is_other),
        word => word.is_some_and(|word| is_other(&word)),
    }
}

/// The same for the inputs of an action, which are an object.
pub(crate) fn inputs(at: Cursor<'_>) -> Option<Schema> {
    Some(Schema { types: vec![JsonType::Object], ..schema(at)? })
}

fn nested(at: Cursor<'_>, depth: usize) -> Option<Schema> {
    if depth > DEEPEST {
        at.wrong("bad_schema", format!("a schema has at most {DEEPEST} levels"), "too deep");
        return None;
    }
    let is_refused = refuse_unsupported(at);
    let record = at.record_beside("a schema", KEYS, UNSUPPORTED)?;
    let types = record.optional("type").map_or(Some(Vec::new()), types);
    let any_of = any_of(&record);
    let number = |key| record.optional(key).map_or(Some(None), |at: Cursor<'_>| number(at).map(Some));
    let (minimum, maximum) = (number("minimum"), number("maximum"));
    let count = |key| record.optional(key).map_or(Some(None), |at: Cursor<'_>| at.whole(0..=u64::MAX).map(Some));
    let length = (count("minLength"), count("maxLength"));
    let items = (count("minItems"), count("maxItems"));
    let pattern = record.optional("pattern").map_or(Some(None), |at| pattern(at).map(Some));
    let item = record.optional("items").map_or(Some(None), |at| nested(at, depth + 1).map(|item| Some(Box::new(item))));
    let required = record.optional("required").map_or(Some(Vec::new()), |at| {
        let names: Vec<Option<String>> = at.list()?.map(|at| at.string().map(str::to_owned)).collect();
        names.into_iter().collect()
    });
    let properties = record.optional("properties").map_or(Some(Default::default()), |at| {
        let fields = at.entries("`properties`")?.map(|(key, at)| Some((key.text.to_owned(), nested(at, depth + 1)?)));
        fields.collect::<Vec<_>>().into_iter().collect()
    });
    // These say nothing about what fits, but are no place for anything else.
    let texts = ["title", "description"].map(|key| record.optional(key).map_or(Some(()), |at| at.string().map(drop)));
    let examples = record.optional("examples").map_or(Some(()), |at| at.list().map(drop));
    let closed = record.optional("additionalProperties").map_or(Some(false), |at| at.bool().map(|open| !open));
    texts.into_iter().chain([examples]).collect::<Option<()>>()?;
    let schema = Schema {
        types: types?,
        any_of: any_of?,
        minimum: minimum?,
        maximum: maximum?,
        length: (length.0?, length.1?),
        pattern: pattern?,
        items: (items.0?, items.1?),
        item: item?,
        required: required?,
        properties: properties?,
        closed: closed?,
    };
    (!is_impossible(&record, &schema) && !is_refused).then_some(schema)
}

/// Reports what no value fits.
fn is_impossible(record: &MapReader<'_>, schema: &Schema) -> bool {
    let crossed = |(least, most): (Option<u64>, Option<u64>)| least.zip(most).is_some_and(|(least, most)| least > most);
    let numbers = schema.minimum.as_ref().zip(schema.maximum.as_ref());
    let is_crossed = numbers.is_some_and(|(least, most)| order(least, most) == Some(Ordering::Greater));
    let unknown = schema.required.iter().find(|name| schema.closed && !schema.properties.contains_key(*name));
    let wrong = [
        (schema.any_of.as_ref().is_some_and(Vec::is_empty), "enum", "no value is allowed".to_owned()),
        (is_crossed, "minimum", "`minimum` is above `maximum`".to_owned()),
        (crossed(schema.length), "minLength", "`minLength` is above `maxLength`".to_owned()),
        (crossed(schema.items), "minItems", "`minItems` is above `maxItems`".to_owned()),
        (
            unknown.is_some(),
            "required",
            format!("`{}` is required and not allowed", shorten(unknown.map_or("", String::as_str))),
        ),
    ];
    let found: Vec<_> = wrong.into_iter().filter(|(is_wrong, ..)| *is_wrong).collect();
    for (_, key, message) in &found {
        let at = record.optional(key).unwrap_or(record.cursor());
        at.wrong("bad_schema", format!("nothing fits this schema: {message}"), "nothing fits");
    }
    !found.is_empty()
}

/// Refuses keywords of JSON Schema outside the subset: to ignore one would let pass what it forbids.
fn refuse_unsupported(at: Cursor<'_>) -> bool {
    let mut refused = false;
    for (key, _) in at.is_map().then(|| at.entries("a schema")).flatten().into_iter().flatten() {
        if UNSUPPORTED.contains(&key.text) {
            let message = format!("`{}` is outside the supported part of JSON Schema", shorten(key.text));
            let help = "remove it, or say the same with type, enum, minimum, maximum, lengths, pattern, items, required, \
                        properties and additionalProperties";
            at.report(Diagnostic::error("unsupported_keyword", message).at(key.span, "not supported").help(help));
            refused = true;
        }
    }
    refused
}

fn types(at: Cursor<'_>) -> Option<Vec<JsonType>> {
    let types: Vec<Option<JsonType>> = at.one_or_many().into_iter().map(|at| at.word(&JsonType::TABLE)).collect();
    types.into_iter().collect::<Option<Vec<_>>>().filter(|types| !types.is_empty())
}

/// The values of `enum` or the one of `const`.
fn any_of(record: &MapReader<'_>) -> Option<Option<Vec<Value>>> {
    match (record.optional("enum"), record.optional("const")) {
        (None, None) => Some(None),
        (None, Some(value)) => value.json().map(|value| Some(vec![value])),
        (Some(values), None) => {
            let values: Vec<Option<Value>> = values.list()?.map(Cursor::json).collect();
            values.into_iter().collect::<Option<Vec<_>>>().map(Some)
        }
        (Some(_), Some(value)) => {
            value.wrong("bad_schema", "a schema has `enum` or `const`, not both", "remove one of them");
            None
        }
    }
}

fn number(at: Cursor<'_>) -> Option<Number> {
    at.decimal("a number", |text| serde_json::from_str(text).ok())
}

fn pattern(at: Cursor<'_>) -> Option<Regex> {
    let text = at.string()?;
    match Regex::new(text) {
        Ok(pattern) => Some(pattern),
        Err(why) => {
            let why = why.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            at.wrong("bad_regex", format!("this is not a regular expression: {why}"), "not a regular expression");
            None
        }
    }
}
