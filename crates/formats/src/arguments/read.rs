//! Reads a schema of arguments: a closed part of JSON Schema, whose keywords the schema of playbooks lists.

use std::cmp::Ordering;

use regex::Regex;
use serde_json::{Number, Value};

use super::fits::order;
use super::schema::{JsonType, Schema};
use crate::schema::At;
use crate::yaml::shorten;

/// The deepest nesting.
const DEEPEST: usize = 32;

/// The schema written at `at`, for a whole object of arguments.
pub(crate) fn schema(at: At<'_>) -> Option<Schema> {
    let types = |place: At<'_>| place.all(|one| one.text().map(|word| word == "object"));
    if let Some(place) = at.get("type").filter(|place| types(*place).is_some_and(|are| !are.contains(&true))) {
        place.wrong("bad_schema", "arguments are an object, and this schema takes none", "expected `object`");
    }
    nested(at, 0)
}

/// The same for the inputs of an action, which are an object.
pub(crate) fn inputs(at: At<'_>) -> Option<Schema> {
    Some(Schema { types: vec![JsonType::Object], ..schema(at)? })
}

fn nested(at: At<'_>, depth: usize) -> Option<Schema> {
    if depth > DEEPEST {
        at.wrong("bad_schema", format!("a schema has at most {DEEPEST} levels"), "too deep");
        return None;
    }
    let types = at.get("type").map_or(Some(Vec::new()), |at| at.all(|at| JsonType::parse(at.text()?)));
    let any_of = any_of(at);
    let (minimum, maximum) = (at.optional("minimum", number), at.optional("maximum", number));
    let count = |key| at.optional(key, At::whole);
    let length = (count("minLength"), count("maxLength"));
    let items = (count("minItems"), count("maxItems"));
    let pattern = at.optional("pattern", pattern);
    let item = at.optional("items", |at| nested(at, depth + 1).map(Box::new));
    let fields = at.get("properties").into_iter().flat_map(At::entries);
    let fields: Vec<_> = fields.map(|(key, at)| Some((key.text.to_owned(), nested(at, depth + 1)?))).collect();
    let names = at.get("required").map_or(Some(Vec::new()), |at| at.all(|at| at.text().map(str::to_owned)));
    let closed = at.optional("additionalProperties", At::flag)? == Some(false);
    let schema = Schema {
        types: types?,
        any_of: any_of?,
        minimum: minimum?,
        maximum: maximum?,
        length: (length.0?, length.1?),
        pattern: pattern?,
        items: (items.0?, items.1?),
        item: item?,
        required: names?,
        properties: fields.into_iter().collect::<Option<_>>()?,
        closed,
    };
    report_impossible(at, &schema);
    Some(schema)
}

/// Reports what no value fits.
fn report_impossible(at: At<'_>, schema: &Schema) {
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
    for (_, key, message) in wrong.into_iter().filter(|(is_wrong, ..)| *is_wrong) {
        let at = at.get(key).unwrap_or(at);
        at.wrong("bad_schema", format!("nothing fits this schema: {message}"), "nothing fits");
    }
}

/// The values of `enum` or the one of `const`.
fn any_of(at: At<'_>) -> Option<Option<Vec<Value>>> {
    let value = |at: At<'_>| at.cursor().json();
    match (at.get("enum"), at.get("const")) {
        (None, None) => Some(None),
        (None, Some(one)) => Some(Some(vec![value(one)?])),
        (Some(values), None) => values.all(value).map(Some),
        (Some(_), Some(one)) => {
            one.wrong("bad_schema", "a schema has `enum` or `const`, not both", "remove one of them");
            None
        }
    }
}

fn number(at: At<'_>) -> Option<Number> {
    let by_value = || match at.cursor().json()? {
        Value::Number(number) => Some(number),
        _ => None,
    };
    serde_json::from_str(at.text()?).ok().or_else(by_value)
}

fn pattern(at: At<'_>) -> Option<Regex> {
    match Regex::new(at.text()?) {
        Ok(pattern) => Some(pattern),
        Err(why) => {
            let why = why.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            at.wrong("bad_regex", format!("this is not a regular expression: {why}"), "not a regular expression");
            None
        }
    }
}
