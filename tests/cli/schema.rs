//! The schema of a trace allows exactly the lines that the reader takes, as far as a schema can tell.

use playproof_intake::wire::parse_line;
use serde_json::{Map, Value};

use super::Place;

/// Whether `value` is what `schema` asks for. Knows the words that our schema uses, and fails on others.
fn allows(root: &Value, schema: &Value, value: &Value) -> bool {
    let words = schema.as_object().expect("a schema is an object");
    words.iter().all(|(word, asked)| {
        let all = || asked.as_array().expect("a list");
        let text = || asked.as_str().expect("a text");
        let field = |name: &str| value.as_object().and_then(|fields| fields.get(name));
        let number = |holds: fn(&f64, &f64) -> bool| {
            value.as_f64().is_none_or(|number| holds(&number, &asked.as_f64().expect("a number")))
        };
        match word.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" | "then" | "else" => true,
            "$ref" => allows(root, root.pointer(text().trim_start_matches('#')).expect("a definition"), value),
            "type" => asked
                .as_str()
                .into_iter()
                .chain(asked.as_array().into_iter().flatten().filter_map(Value::as_str))
                .any(|kind| is(value, kind)),
            "enum" => all().contains(value),
            "const" => asked == value,
            "required" => {
                !value.is_object() || all().iter().all(|name| field(name.as_str().expect("a name")).is_some())
            }
            "properties" => {
                let asked = asked.as_object().expect("properties");
                asked.iter().all(|(name, asked)| field(name).is_none_or(|value| allows(root, asked, value)))
            }
            "additionalProperties" => {
                let named = |name: &str| schema["properties"].get(name).is_some();
                let others = value.as_object().into_iter().flatten().filter(|(name, _)| !named(name));
                others.into_iter().all(|(_, value)| allows(root, asked, value))
            }
            "items" => value.as_array().into_iter().flatten().all(|item| allows(root, asked, item)),
            "not" => !allows(root, asked, value),
            "anyOf" => all().iter().any(|one| allows(root, one, value)),
            "allOf" => all().iter().all(|one| allows(root, one, value)),
            "if" => {
                let next = if allows(root, asked, value) { "then" } else { "else" };
                words.get(next).is_none_or(|next| allows(root, next, value))
            }
            "minimum" => number(f64::ge),
            "maximum" => number(f64::le),
            "exclusiveMaximum" => number(f64::lt),
            "minLength" => {
                value.as_str().is_none_or(|text| text.chars().count() as u64 >= asked.as_u64().expect("a length"))
            }
            "pattern" => {
                value.as_str().is_none_or(|value| regex::Regex::new(text()).expect("a pattern").is_match(value))
            }
            other => panic!("the test does not know `{other}`"),
        }
    })
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        other => panic!("the test does not know the type `{other}`"),
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

const LINES: [&str; 14] = [
    r#"{}"#,
    r#"{"tool":"a"}"#,
    r#"{"tool":"a","status":"ok"}"#,
    r#"{"tool":"a","error":"e"}"#,
    r#"{"type":null,"tool":"a","status":"error","error":{"kind":"k"}}"#,
    r#"{"type":"tool_call","tool":"a","call_id":"c"}"#,
    r#"{"type":"tool_call","tool":"a","status":"error"}"#,
    r#"{"type":"tool_result","status":"ok"}"#,
    r#"{"call_id":"c","status":"error"}"#,
    r#"{"call_id":"c","error":{"message":"m"}}"#,
    r#"{"type":"run_end","run_id":"r"}"#,
    r#"{"type":"crash","run_id":"r"}"#,
    r#"{"type":"recording","playbook":"p","fingerprint":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","seed":0}"#,
    r#"{"type":"recording","playbook":"p","fingerprint":"0f","seed":0}"#,
];

const VALUES: [&str; 41] = [
    "null",
    "true",
    "0",
    "1",
    "-1",
    "-0.0",
    "1.5",
    "2.0",
    "7e2",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "1e30",
    r#""""#,
    r#""ok""#,
    r#""error""#,
    r#""tool_call""#,
    r#""tool_result""#,
    r#""run_end""#,
    r#""attempt""#,
    r#""reversal""#,
    r#""late""#,
    r#""text""#,
    r#""503""#,
    r#""00065535""#,
    r#""65536""#,
    r#""-1""#,
    "{}",
    "[]",
    r#"{"a":1}"#,
    r#"{"a":["1",true,2.5],"b":null}"#,
    r#"{"a":[null]}"#,
    r#"{"a":[[]]}"#,
    r#"{"a":{}}"#,
    r#""2026-11-21T10:00:00Z""#,
    r#""2026-11-21 10:00:60,25+0530""#,
    r#""2026-11-21T10:00:00""#,
    r#""2026-11-21""#,
    r#""2026-11-21T24:00:00Z""#,
    r#""1969-12-31T00:00:00Z""#,
];

#[test]
fn the_schema_of_a_trace_allows_what_the_reader_takes_and_nothing_else() {
    let schema = json(&Place::new().run(&["schema", "trace"]).exits(0).out);
    let known: Vec<&String> = schema["properties"].as_object().expect("properties").keys().collect();
    let of_errors: Vec<&String> =
        schema["$defs"]["error"]["properties"].as_object().expect("properties").keys().collect();
    assert_eq!((known.len(), of_errors.len()), (25, 9));
    let (mut taken, mut refused) = (0, 0);
    let mut agrees = |line: Map<String, Value>| {
        let line = Value::Object(line);
        let read = parse_line(&line.to_string()).map(drop).map_err(|error| error.message);
        assert_eq!(allows(&schema, &schema, &line), read.is_ok(), "{line}: {read:?}");
        *if read.is_ok() { &mut taken } else { &mut refused } += 1;
    };
    for line in LINES.map(json) {
        let fields = line.as_object().expect("an object");
        agrees(fields.clone());
        for value in VALUES.map(json) {
            let with =
                |name: &str, value: Value| fields.clone().into_iter().chain([(name.to_owned(), value)]).collect();
            known.iter().for_each(|name| agrees(with(name, value.clone())));
            of_errors.iter().for_each(|name| agrees(with("error", serde_json::json!({ name.as_str(): value }))));
        }
        known.iter().for_each(|name| {
            let mut without = fields.clone();
            without.remove(*name);
            agrees(without);
        });
    }
    assert!(taken > 1_000 && refused > 1_000, "{taken} {refused}");
}
