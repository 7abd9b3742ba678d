//! Says which field of a line has a wrong type, in words of the protocol. Only asked of lines that cannot be read.

use serde_json::{Map, Value};

/// What a field is.
#[derive(Clone, Copy)]
enum Is {
    Text,
    Truth,
    Object,
    Texts,
    Attempt,
    Status,
}

/// The fields of lines whose type matters; times have their own words.
const FIELDS: [(&str, Is); 24] = [
    ("type", Is::Text),
    ("protocol", Is::Text),
    ("id", Is::Text),
    ("tool", Is::Text),
    ("run", Is::Text),
    ("key", Is::Text),
    ("token", Is::Text),
    ("asked", Is::Text),
    ("effect", Is::Text),
    ("by", Is::Text),
    ("what", Is::Text),
    ("anew", Is::Truth),
    ("events", Is::Truth),
    ("ok", Is::Truth),
    ("timeout", Is::Truth),
    ("accepted", Is::Truth),
    ("suspected", Is::Truth),
    ("lost", Is::Truth),
    ("late", Is::Truth),
    ("messages", Is::Texts),
    ("tools", Is::Object),
    ("steps", Is::Object),
    ("error", Is::Object),
    ("attempt", Is::Attempt),
];

/// Those of the `error` of an answer.
const OF_ERROR: [(&str, Is); 7] = [
    ("kind", Is::Text),
    ("message", Is::Text),
    ("code", Is::Text),
    ("kind_from", Is::Text),
    ("should_retry", Is::Truth),
    ("headers", Is::Object),
    ("status", Is::Status),
];

/// Those of a tool of `hello`.
const OF_TOOL: [(&str, Is); 5] =
    [("access", Is::Text), ("retry", Is::Text), ("keys", Is::Text), ("declared", Is::Truth), ("idempotent", Is::Truth)];

/// What is wrong with a line that cannot be read.
pub(crate) fn what_is_wrong(line: &str, error: &serde_json::Error) -> String {
    match serde_json::from_str::<Value>(line) {
        Err(_) if line.trim().is_empty() => "the line is empty: it is a JSON object".to_owned(),
        Err(error) => format!("the line is no JSON: {error}"),
        Ok(Value::Object(fields)) => {
            let wrong = wrong_field(&fields, "", &FIELDS).or_else(|| {
                let of_error = fields.get("error").and_then(Value::as_object);
                of_error.and_then(|error| wrong_field(error, "error.", &OF_ERROR))
            });
            let of_tool = || {
                fields.get("tools").and_then(Value::as_object).into_iter().flatten().find_map(|(name, tool)| match tool
                    .as_object()
                {
                    Some(tool) => wrong_field(tool, &format!("tools.{name}."), &OF_TOOL),
                    None => Some(format!("`tools.{name}` is an object, not {}", shown(tool))),
                })
            };
            wrong.or_else(of_tool).unwrap_or_else(|| without_place(&error.to_string()))
        }
        Ok(other) => format!("the line is a JSON object, not {}", shown(&other)),
    }
}

fn wrong_field(of: &Map<String, Value>, before: &str, fields: &[(&str, Is)]) -> Option<String> {
    fields.iter().find_map(|(name, is)| {
        let value = of.get(*name).filter(|value| !value.is_null() && !is.fits(value))?;
        Some(format!("`{before}{name}` is {}, not {}", is.words(), shown(value)))
    })
}

impl Is {
    fn fits(self, value: &Value) -> bool {
        match self {
            Is::Text => value.is_string(),
            Is::Truth => value.is_boolean(),
            Is::Object => value.is_object(),
            Is::Texts => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
            Is::Attempt => value.as_u64().is_some_and(|number| u32::try_from(number).is_ok()),
            Is::Status => value.as_u64().is_some_and(|number| u16::try_from(number).is_ok()),
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Is::Text => "a text",
            Is::Truth => "`true` or `false`",
            Is::Object => "an object",
            Is::Texts => "a list of texts",
            Is::Attempt => "a whole number from 1 to 4294967295",
            Is::Status => "a whole number from 0 to 65535",
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// An error without its line and column: a driver has written an object, and no text.
fn without_place(error: &str) -> String {
    error.split(" at line ").next().unwrap_or(error).replace("duplicate field", "the line has twice the field")
}

#[cfg(test)]
mod tests {
    use crate::said::Said;

    #[test]
    fn a_wrong_type_is_named_by_its_field_in_words_of_the_protocol() {
        for (line, said) in [
            ("", "the line is empty: it is a JSON object"),
            ("[]", "the line is a JSON object, not a list"),
            ("null", "the line is a JSON object, not null"),
            (r#"{"type":1}"#, "`type` is a text, not 1"),
            (r#"{"type":"call","id":1}"#, "`id` is a text, not 1"),
            (r#"{"type":"call","steps":[]}"#, "`steps` is an object, not a list"),
            (r#"{"type":"answer","ok":"yes"}"#, "`ok` is `true` or `false`, not a text"),
            (r#"{"type":"answer","attempt":-1}"#, "`attempt` is a whole number from 1 to 4294967295, not -1"),
            (r#"{"type":"answer","error":"x"}"#, "`error` is an object, not a text"),
            (
                r#"{"type":"answer","error":{"status":"500"}}"#,
                "`error.status` is a whole number from 0 to 65535, not a text",
            ),
            (r#"{"type":"call","id":"a","id":"b"}"#, "the line has twice the field `id`"),
            (
                r#"{"type":"hello","protocol":"dispatch/1","messages":"openai"}"#,
                "`messages` is a list of texts, not a text",
            ),
            (r#"{"type":"hello","protocol":"dispatch/1","tools":{"a":1}}"#, "`tools.a` is an object, not 1"),
            (
                r#"{"type":"hello","protocol":"dispatch/1","tools":{"a":{"access":"reed"}}}"#,
                "`tools.a.access` is `read` or `write`, not `reed`",
            ),
            (r#"{"type":"hello"}"#, "`protocol` is missing"),
            (r#"{"type":"ask"}"#, "`what` is missing"),
            (
                r#"{"type":"wake","id":"a","at_ms":18446744073709551.6}"#,
                "`at_ms` is a number of milliseconds from 0 to 18446744073709551",
            ),
        ] {
            assert_eq!(Said::parse(line).unwrap_err().text, said, "{line}");
        }
        let broken = Said::parse("{bad").unwrap_err().text;
        assert!(broken.starts_with("the line is no JSON: "), "{broken}");
    }

    #[test]
    fn what_is_not_ok_says_nothing_beside_what_came() {
        let parsed = |came: &str| Said::parse(&format!(r#"{{"type":"answer","id":"a","at_ms":1,"attempt":1,{came}}}"#));
        assert_eq!(parsed(r#""timeout":true"#), parsed(r#""timeout":true,"ok":false"#));
        assert!(parsed(r#""timeout":true"#).is_ok() && parsed(r#""timeout":true,"ok":true"#).is_err());
    }
}
