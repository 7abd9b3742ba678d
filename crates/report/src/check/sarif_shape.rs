//! A strict reading of the parts of SARIF 2.1.0 that a report holds (OASIS standard, sections 3.13 to 3.49, whose
//! schema allows no other properties): names, types, required properties, enumerations, and that places are places.

use serde_json::{Map, Value};

/// What a property must be.
enum Is {
    Text,
    /// One of these.
    Word(&'static [&'static str]),
    /// A URI reference: no blanks, no raw characters outside ASCII, relative unless it has a scheme.
    Uri,
    /// Counted from 1.
    FromOne,
    /// A place in a list.
    Index,
    Object(fn(&Map<String, Value>)),
    Objects(fn(&Map<String, Value>)),
    /// Text by any name.
    Texts,
}

/// Panics where `log` is no SARIF log.
pub fn assert_sarif(log: &Value) {
    log_of(log.as_object().expect("an object"));
    for run in log["runs"].as_array().expect("runs") {
        let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
        let ids: Vec<&Value> = rules.iter().map(|rule| &rule["id"]).collect();
        assert!(ids.iter().enumerate().all(|(n, id)| !ids[n + 1..].contains(id)), "rule ids are unique: {ids:?}");
        for result in run["results"].as_array().expect("results") {
            assert!(ids.contains(&&result["ruleId"]), "no rule {}", result["ruleId"]);
            if let Some(index) = result.get("ruleIndex") {
                let index = usize::try_from(index.as_u64().expect("an index")).expect("a small index");
                assert_eq!(ids.get(index), Some(&&result["ruleId"]), "{result}");
            }
        }
    }
}

fn log_of(log: &Map<String, Value>) {
    use Is::{Objects, Uri, Word};
    check(log, &["version", "runs"], &[("$schema", Uri), ("version", Word(&["2.1.0"])), ("runs", Objects(run))]);
}

fn run(run: &Map<String, Value>) {
    let kinds = Is::Word(&["utf16CodeUnits", "unicodeCodePoints"]);
    let known = [("tool", Is::Object(tool)), ("columnKind", kinds), ("results", Is::Objects(result))];
    check(run, &["tool"], &known);
}

fn tool(tool: &Map<String, Value>) {
    check(tool, &["driver"], &[("driver", Is::Object(driver))]);
}

fn driver(driver: &Map<String, Value>) {
    let known = [("name", Is::Text), ("semanticVersion", Is::Text), ("rules", Is::Objects(rule))];
    check(driver, &["name"], &known);
}

fn rule(rule: &Map<String, Value>) {
    check(rule, &["id"], &[("id", Is::Text), ("shortDescription", Is::Object(message))]);
}

fn message(message: &Map<String, Value>) {
    check(message, &["text"], &[("text", Is::Text)]);
}

fn result(result: &Map<String, Value>) {
    let known = [
        ("ruleId", Is::Text),
        ("ruleIndex", Is::Index),
        ("level", Is::Word(&["none", "note", "warning", "error"])),
        ("message", Is::Object(message)),
        ("locations", Is::Objects(location)),
        ("partialFingerprints", Is::Texts),
    ];
    check(result, &["message"], &known);
}

fn location(location: &Map<String, Value>) {
    check(location, &[], &[("physicalLocation", Is::Object(physical))]);
}

fn physical(place: &Map<String, Value>) {
    let known = [("artifactLocation", Is::Object(artifact)), ("region", Is::Object(region))];
    check(place, &["artifactLocation"], &known);
}

fn artifact(artifact: &Map<String, Value>) {
    check(artifact, &["uri"], &[("uri", Is::Uri)]);
    let uri = artifact["uri"].as_str().expect("text");
    assert!(!uri.starts_with('/') && !uri.contains("..") && !uri.contains('\\'), "not below the repository: {uri}");
}

fn region(region: &Map<String, Value>) {
    check(region, &["startLine"], &[("startLine", Is::FromOne), ("startColumn", Is::FromOne)]);
}

fn check(object: &Map<String, Value>, required: &[&str], known: &[(&str, Is)]) {
    for name in required {
        assert!(object.contains_key(*name), "`{name}` is missing in {object:?}");
    }
    for (name, value) in object {
        let (_, is) = known.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no property `{name}`"));
        let text = || value.as_str().unwrap_or_else(|| panic!("`{name}` is no text: {value}"));
        let inner = |value: &Value| value.as_object().cloned().unwrap_or_else(|| panic!("`{name}` is no object"));
        match is {
            Is::Text => assert!(!text().is_empty(), "`{name}` is empty"),
            Is::Word(words) => assert!(words.contains(&text()), "`{name}`: {value}"),
            Is::Uri => {
                let allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
                assert!(!text().is_empty() && text().chars().all(allowed), "`{name}`: {value}");
            }
            Is::FromOne => assert!(value.as_u64().is_some_and(|number| number >= 1), "`{name}`: {value}"),
            Is::Index => assert!(value.is_u64(), "`{name}`: {value}"),
            Is::Object(check) => check(&inner(value)),
            Is::Objects(check) => {
                let all = value.as_array().unwrap_or_else(|| panic!("`{name}` is no list"));
                all.iter().for_each(|one| check(&inner(one)));
            }
            Is::Texts => assert!(inner(value).values().all(Value::is_string), "`{name}`: {value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Something done to a log.
    type Change = fn(&mut Value);

    fn log(change: impl Fn(&mut Value)) -> Value {
        let place = json!({ "artifactLocation": { "uri": "a%20b.yaml" }, "region": { "startLine": 1 } });
        let result = json!({
            "ruleId": "r", "level": "error", "message": { "text": "m" }, "locations": [{ "physicalLocation": place }]
        });
        let mut log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
            "runs": [{ "tool": { "driver": { "name": "p", "rules": [{ "id": "r" }] } }, "results": [result] }]
        });
        change(&mut log);
        log
    }

    #[test]
    fn a_log_is_accepted() {
        assert_sarif(&log(|_| {}));
    }

    #[test]
    fn each_thing_that_is_wrong_is_found() {
        let wrongs: [(&str, Change); 7] = [
            ("version", |log| log["version"] = json!("2.1")),
            ("no property", |log| log["runs"][0]["result"] = json!([])),
            ("level", |log| log["runs"][0]["results"][0]["level"] = json!("bad")),
            ("message", |log| drop(log["runs"][0]["results"][0].as_object_mut().unwrap().remove("message"))),
            ("rule", |log| log["runs"][0]["results"][0]["ruleId"] = json!("other")),
            ("uri", |log| {
                log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] =
                    json!("a b.yaml");
            }),
            ("line", |log| {
                log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = json!(0);
            }),
        ];
        for (what, change) in wrongs {
            let wrong = log(change);
            assert!(std::panic::catch_unwind(|| assert_sarif(&wrong)).is_err(), "{what}");
        }
    }
}
