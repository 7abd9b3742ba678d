//! The matchers of a policy as conditions of rules. A fact for which errors have no field is a header of the answer.

use serde_json::Value;

use super::amount::Amount;
use super::unmet::Unmet;
use super::yaml::Yaml;

/// The conditions of one rule: keys of `when`, in the order in which they are written.
pub(super) type Conditions = Vec<(&'static str, Yaml)>;

/// Every failure: a call has at most 1,000 attempts.
pub(super) fn any() -> Conditions {
    vec![("attempt", Yaml::quoted("1-1000"))]
}

/// The conditions of a matcher: one rule for each.
pub(super) fn conditions(matcher: &Value) -> Result<Vec<Conditions>, Unmet> {
    let unknown = || Unmet::unsupported(format!("the matcher {matcher} has no counterpart in a playbook"));
    match matcher {
        Value::String(word) => of_word(word).ok_or_else(unknown),
        Value::Object(map) => match (map.len(), map.get("header").and_then(Value::as_object)) {
            (1, Some(test)) => {
                let mut all = Vec::new();
                for (key, value) in test {
                    all.push(match (key.as_str(), value) {
                        ("name", Value::String(name)) => ("name".to_owned(), Yaml::quoted(name)),
                        ("exact", Value::String(text)) => ("equals".to_owned(), Yaml::quoted(text)),
                        ("prefix", Value::String(text)) => ("prefix".to_owned(), Yaml::quoted(text)),
                        ("invert", Value::Bool(is)) => ("invert".to_owned(), (*is).into()),
                        ("range", Value::Array(ends)) => {
                            let ends = ends.iter().map(|end| Amount::of(end).map(Yaml::from));
                            let ends = ends.collect::<Option<Vec<_>>>().ok_or_else(unknown)?;
                            ("range".to_owned(), Yaml::List(ends))
                        }
                        _ => return Err(unknown()),
                    });
                }
                Ok(vec![vec![("header", Yaml::Map(all))]])
            }
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}

fn of_word(word: &str) -> Option<Vec<Conditions>> {
    let one = |key, value| Some(vec![vec![(key, value)]]);
    let Some((fact, value)) = word.split_once(':') else { return of_name(word) };
    match fact {
        "class" => one("kind", Yaml::quoted(value)),
        "code" => one("code", Yaml::quoted(value)),
        "status" => one("status", statuses(value)),
        "server_says" => one("should_retry", Yaml::plain(value)),
        "trait" => one("header", header(&format!("trait-{value}"), "present", Yaml::from(true))),
        "type" => one("message", message(value, "sensitive")),
        "type_ci" => one("message", message(value, "insensitive")),
        "exception" | "failure" | "timeout_type" | "result" | "grpc_status" | "reset" | "method" => {
            one("header", header(&fact.replace('_', "-"), "equals", Yaml::quoted(value)))
        }
        _ => None,
    }
}

/// The type of an error is its message.
fn message(text: &str, case: &str) -> Yaml {
    Yaml::map([("equals", Some(Yaml::quoted(text))), ("case", Some(Yaml::plain(case)))])
}

/// A status is a number, a range of them a text.
fn statuses(text: &str) -> Yaml {
    if text.contains('-') { Yaml::quoted(text) } else { Yaml::plain(text) }
}

/// The names of Envoy, and `any_error`.
fn of_name(name: &str) -> Option<Vec<Conditions>> {
    let status = |text| vec![("status", statuses(text))];
    let reset = |text| vec![("header", header("reset", "equals", Yaml::quoted(text)))];
    let any_reset = || {
        let not = Yaml::map([
            ("name", Some(Yaml::quoted("reset"))),
            ("equals", Some(Yaml::quoted("overflow"))),
            ("invert", Some(true.into())),
        ]);
        vec![("header", not)]
    };
    let grpc = |number: &str| vec![("header", header("grpc-status", "equals", Yaml::quoted(number)))];
    Some(match name {
        "any_error" => vec![any()],
        "5xx" => vec![status("500-599"), any_reset()],
        "gateway-error" => vec![status("502-504"), any_reset()],
        "reset" => vec![any_reset()],
        "connect-failure" => vec![reset("connect_failure")],
        "refused-stream" => vec![reset("remote_refused_stream")],
        "retriable-4xx" => vec![status("409")],
        "cancelled" => vec![grpc("1")],
        "deadline-exceeded" => vec![grpc("4")],
        "resource-exhausted" => vec![grpc("8")],
        "internal" => vec![grpc("13")],
        "unavailable" => vec![grpc("14")],
        _ => return None,
    })
}

/// A test of a header.
pub(super) fn header(name: &str, test: &str, value: Yaml) -> Yaml {
    Yaml::map([("name", Some(Yaml::quoted(name))), (test, Some(value))])
}

/// What both demand; none: nothing can be both.
pub(super) fn both(one: &Conditions, other: &Conditions) -> Result<Option<Conditions>, Unmet> {
    let every = any();
    let mut all: Conditions = one.iter().filter(|condition| !every.contains(condition)).cloned().collect();
    for (key, value) in other.iter().filter(|condition| !every.contains(condition)) {
        match all.iter().find(|(known, _)| known == key) {
            None => all.push((key, value.clone())),
            Some((_, known)) if known == value => {}
            Some(_) if ["kind", "code", "should_retry"].contains(key) => return Ok(None),
            Some(_) => return Err(Unmet::unsupported(format!("no rule has two tests of `{key}`"))),
        }
    }
    Ok(Some(if all.is_empty() { every } else { all }))
}
