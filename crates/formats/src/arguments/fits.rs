//! Whether arguments fit their schema, and where they do not: the first place in the order of the schema.

use std::cmp::Ordering;
use std::fmt::Write;

use serde_json::{Number, Value};

use super::schema::{JsonType, Schema};
use playproof_engine::call::KEY_ARGUMENTS;

impl Schema {
    /// Checks arguments as JSON text. Messages repeat no argument, which may be private.
    ///
    /// # Errors
    /// The place as a JSON pointer, what was expected and what is there: `/amount: expected integer, got string`.
    pub(crate) fn check(&self, args: &str) -> Result<(), String> {
        let no_json = |_| "the arguments are no JSON".to_owned();
        let mut args: Value = serde_json::from_str(args).map_err(no_json)?;
        // Some adapters write the object as text.
        if let Value::String(text) = &args {
            args = serde_json::from_str(text).map_err(no_json)?;
        }
        if let Value::Object(fields) = &mut args {
            fields.retain(|name, _| !KEY_ARGUMENTS.contains(&name.as_str()) || self.properties.contains_key(name));
        }
        let mut place = String::new();
        self.fits(&args, &mut place).map_err(|why| {
            let place = if place.is_empty() { "the arguments" } else { &place };
            format!("{place}: {why}")
        })
    }

    /// Leaves the place of what does not fit in `place`.
    fn fits(&self, value: &Value, place: &mut String) -> Result<(), String> {
        self.is_of_type(value)?;
        if let Some(values) = &self.any_of
            && !values.iter().any(|known| is_same(known, value))
        {
            let known: Vec<String> = values.iter().map(Value::to_string).collect();
            return Err(format!("expected {}, got {}", known.join(" or "), shown(value)));
        }
        match value {
            Value::Number(number) => self.number(number),
            Value::String(text) => self.text(text),
            Value::Array(items) => self.array(items, place),
            Value::Object(fields) => self.object(fields, place),
            Value::Null | Value::Bool(_) => Ok(()),
        }
    }

    fn is_of_type(&self, value: &Value) -> Result<(), String> {
        let is = |wanted: &JsonType| match (wanted, value) {
            (JsonType::Null, Value::Null)
            | (JsonType::Boolean, Value::Bool(_))
            | (JsonType::Number, Value::Number(_))
            | (JsonType::String, Value::String(_))
            | (JsonType::Array, Value::Array(_))
            | (JsonType::Object, Value::Object(_)) => true,
            (JsonType::Integer, Value::Number(number)) => is_whole(number),
            _ => false,
        };
        if self.types.is_empty() || self.types.iter().any(is) {
            return Ok(());
        }
        let wanted: Vec<&str> = self.types.iter().map(|wanted| wanted.as_str()).collect();
        Err(format!("expected {}, got {}", wanted.join(" or "), type_of(value)))
    }

    fn number(&self, number: &Number) -> Result<(), String> {
        if let Some(least) = self.minimum.as_ref().filter(|least| order(number, least) == Some(Ordering::Less)) {
            return Err(format!("expected at least {least}, got less"));
        }
        match self.maximum.as_ref().filter(|most| order(number, most) == Some(Ordering::Greater)) {
            Some(most) => Err(format!("expected at most {most}, got more")),
            None => Ok(()),
        }
    }

    fn text(&self, text: &str) -> Result<(), String> {
        counted(text.chars().count(), self.length, "characters")?;
        match self.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
            Some(pattern) => Err(format!("expected a text that matches `{pattern}`")),
            None => Ok(()),
        }
    }

    fn array(&self, items: &[Value], place: &mut String) -> Result<(), String> {
        counted(items.len(), self.items, "items")?;
        let Some(item) = &self.item else { return Ok(()) };
        for (n, value) in items.iter().enumerate() {
            within(place, &n.to_string(), |place| item.fits(value, place))?;
        }
        Ok(())
    }

    fn object(&self, fields: &serde_json::Map<String, Value>, place: &mut String) -> Result<(), String> {
        if let Some(missing) = self.required.iter().find(|name| !fields.contains_key(*name)) {
            return within(place, missing, |_| Err("is missing".to_owned()));
        }
        for (name, schema) in &self.properties {
            if let Some(value) = fields.get(name) {
                within(place, name, |place| schema.fits(value, place))?;
            }
        }
        match fields.keys().find(|name| self.closed && !self.properties.contains_key(*name)) {
            Some(unknown) => within(place, unknown, |_| Err("is no argument of this tool".to_owned())),
            None => Ok(()),
        }
    }
}

/// Checks one part of a value; the place stays at the part where it does not fit.
fn within(place: &mut String, part: &str, check: impl FnOnce(&mut String) -> Result<(), String>) -> Result<(), String> {
    let outer = place.len();
    let _ = write!(place, "/{}", part.replace('~', "~0").replace('/', "~1")); // RFC 6901
    check(place)?;
    place.truncate(outer);
    Ok(())
}

fn counted(count: usize, (least, most): (Option<u64>, Option<u64>), what: &str) -> Result<(), String> {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    match (least.filter(|least| count < *least), most.filter(|most| count > *most)) {
        (Some(least), _) => Err(format!("expected at least {least} {what}, got {count}")),
        (_, Some(most)) => Err(format!("expected at most {most} {what}, got {count}")),
        (None, None) => Ok(()),
    }
}

/// A whole number, also if it is written with a fraction of zero.
fn is_whole(number: &Number) -> bool {
    number.is_i64()
        || number.is_u64()
        || number.as_f64().is_some_and(|number| number.trunc().total_cmp(&number).is_eq())
}

/// The order of two numbers, exact where both are whole.
pub(super) fn order(one: &Number, other: &Number) -> Option<Ordering> {
    let whole = |number: &Number| number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

/// Whether two values are the same to JSON Schema: 1 is 1.0.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => order(one, other) == Some(Ordering::Equal),
        _ => one == other,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if is_whole(number) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The type of a value; its content may be private.
fn shown(value: &Value) -> String {
    format!("another {}", type_of(value))
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use crate::arguments::{Schema, schema};
    use crate::diagnostic::{Report, Source};
    use crate::schema as compiled;

    static ARGUMENTS: LazyLock<compiled::Schema> =
        LazyLock::new(|| compiled::Schema::compile(r#"{ "$ref": "playbook.json#/$defs/arguments" }"#));

    fn read_schema(text: &str) -> Result<Schema, Report> {
        compiled::read(Source::whole("t", text), &ARGUMENTS, schema)
    }

    const REFUND: &str = "\
type: object
required: [order, amount]
additionalProperties: false
properties:
  order: { type: string, pattern: '^o_[0-9]+$', maxLength: 6 }
  amount: { type: integer, minimum: 1, maximum: 10000 }
  currency: { enum: [EUR, USD] }
  share: { type: number, minimum: 0.5 }
  note: { type: [string, 'null'] }
  lines: { type: array, minItems: 1, maxItems: 2, items: { type: object, required: [id], properties: { id: { const: 1 } } } }
";

    fn check(schema_text: &str, args: &str) -> Result<(), String> {
        let read = read_schema(schema_text).unwrap_or_else(|report| panic!("{report}"));
        read.check(args)
    }

    #[test]
    fn arguments_that_fit_pass() {
        for args in [
            r#"{"order":"o_91","amount":4200}"#,
            r#"{"order":"o_91","amount":4200,"idempotency_key":"ik_1"}"#,
            r#""{\"order\":\"o_91\",\"amount\":4200}""#,
            r#"{"order":"o_91","amount":4200.0,"currency":"EUR","share":0.5,"note":null,"lines":[{"id":1,"x":2},{"id":1.0}]}"#,
        ] {
            assert_eq!(check(REFUND, args), Ok(()), "{args}");
        }
        assert_eq!(check("{}", r#"{"anything":[1,"two"]}"#), Ok(()));
    }

    #[test]
    fn the_first_place_that_does_not_fit_is_named() {
        for (args, expected) in [
            (r#"{"order":"o_91","amount":"4200"}"#, "/amount: expected integer, got string"),
            (r#"{"order":"o_91","amount":true}"#, "/amount: expected integer, got boolean"),
            (r#"{"order":"o_91","amount":4200.5}"#, "/amount: expected integer, got number"),
            (r#"{"order":"o_91","amount":0}"#, "/amount: expected at least 1, got less"),
            (r#"{"order":"o_91","amount":10001}"#, "/amount: expected at most 10000, got more"),
            (r#"{"order":"o_91"}"#, "/amount: is missing"),
            (r#"{"order":"x","amount":1}"#, "/order: expected a text that matches `^o_[0-9]+$`"),
            (r#"{"order":"o_91234","amount":1}"#, "/order: expected at most 6 characters, got 7"),
            (
                r#"{"order":"o_91","amount":1,"currency":"GBP"}"#,
                "/currency: expected \"EUR\" or \"USD\", got another string",
            ),
            (r#"{"order":"o_91","amount":1,"share":0.25}"#, "/share: expected at least 0.5, got less"),
            (r#"{"order":"o_91","amount":1,"note":1}"#, "/note: expected string or null, got integer"),
            (r#"{"order":"o_91","amount":1,"lines":[]}"#, "/lines: expected at least 1 items, got 0"),
            (r#"{"order":"o_91","amount":1,"lines":[{"id":1},{}]}"#, "/lines/1/id: is missing"),
            (r#"{"order":"o_91","amount":1,"lines":[{"id":2}]}"#, "/lines/0/id: expected 1, got another integer"),
            (r#"{"order":"o_91","amount":1,"a/b":2}"#, "/a~1b: is no argument of this tool"),
            ("[]", "the arguments: expected object, got array"),
            ("{", "the arguments are no JSON"),
        ] {
            assert_eq!(check(REFUND, args), Err(expected.to_owned()), "{args}");
        }
    }

    #[test]
    fn a_keyword_outside_the_subset_is_refused_where_it_stands() {
        for (text, expected) in [
            ("{ type: object, oneOf: [] }", "unknown_key: oneOf"),
            ("{ properties: { a: { format: email } } }", "unknown_key: format"),
            ("{ $ref: '#/x' }", "unknown_key: $ref"),
            ("{ requierd: [a] }", "unknown_key: requierd"),
            ("{ type: text }", "wrong_type: text"),
            ("{ type: string }", "bad_schema: string"),
            ("{ properties: { a: { pattern: '(' } } }", "bad_regex: '('"),
            ("{ properties: { a: { minimum: low } } }", "wrong_type: low"),
            ("{ properties: { a: { enum: [1], const: 1 } } }", "bad_schema: 1"),
            ("{ properties: { a: { enum: [] } } }", "bad_schema: []"),
            ("{ properties: { a: { minimum: 10, maximum: 1 } } }", "bad_schema: 10"),
            ("{ properties: { a: { minLength: 10, maxLength: 1 } } }", "bad_schema: 10"),
            ("{ required: [orderr], additionalProperties: false, properties: { order: {} } }", "bad_schema: [orderr]"),
            ("{ additionalProperties: { type: string } }", "wrong_type: { type: string }"),
        ] {
            let report = read_schema(text).expect_err(text);
            let found = report.diagnostics.first().unwrap();
            assert_eq!(format!("{}: {}", found.id, &text[found.labels[0].span.clone()]), expected, "{text}");
        }
    }

    #[test]
    fn the_example_of_a_schema_fits_it() {
        let any_order = REFUND.replace("pattern: '^o_[0-9]+$', ", "");
        for text in [
            &any_order,
            "{}",
            "{ required: [a, b], properties: { a: { type: array, minItems: 2, items: { type: number, maximum: 0 } } } }",
        ] {
            let read = read_schema(text).unwrap_or_else(|report| panic!("{report}"));
            let example = read.example_object().to_string();
            assert_eq!(read.check(&example), Ok(()), "{example}");
        }
    }

    #[test]
    fn the_canonical_form_leaves_out_what_says_nothing() {
        let canonical = |text: &str| {
            let read = read_schema(text).unwrap_or_else(|report| panic!("{report}"));
            (read.canonical().to_string(), read.is_loose())
        };
        assert_eq!(canonical("{}"), ("{}".to_owned(), false));
        let said = r#"{"properties":{"a":{"type":["integer"]}},"required":["a","b"],"type":["object"]}"#;
        assert_eq!(
            canonical(
                "{ title: t, type: object, required: [b, a], properties: { a: { type: integer, description: d } } }"
            ),
            (said.to_owned(), true)
        );
        assert!(!canonical("{ properties: { a: {} }, additionalProperties: false }").1);
    }
}
