//! A playbook row as YAML, for reviewers. Unreadable text stays as it is.

use serde_json::Value;

use playproof_analysis::proposal::flow;

/// The row in one line; a rule ends with the rule before it.
pub(crate) fn row(text: &str) -> String {
    let Ok(Value::Object(mut parts)) = serde_json::from_str(text) else { return text.to_owned() };
    let Some(when) = parts.remove("when") else { return flow(&Value::Object(parts)) };
    let after = parts.remove("after").and_then(|after| match after {
        Value::Array(names) => names.last().and_then(Value::as_str).map(str::to_owned),
        _ => None,
    });
    let rest = parts.iter().map(|(key, value)| format!(", {key}: {}", flow(value)));
    let place = after.map_or_else(String::new, |after| format!(", after the rule {after}"));
    format!("{{ when: {}{} }}{place}", flow(&plain(when)), rest.collect::<String>())
}

/// Drops default values; unwraps one-element lists.
fn plain(condition: Value) -> Value {
    match condition {
        Value::Object(parts) => {
            let said = parts.into_iter().filter(|(key, value)| key != "case" || *value != Value::Bool(false));
            Value::Object(said.map(|(key, value)| (key, plain(value))).collect())
        }
        Value::Array(mut items) if items.len() == 1 => plain(items.remove(0)),
        Value::Array(items) => Value::Array(items.into_iter().map(plain).collect()),
        Value::String(text) => range(&text).map_or(Value::String(text), Value::from),
        other => other,
    }
}

/// The number of a range with one element.
fn range(text: &str) -> Option<u64> {
    let (first, last) = text.split_once('-')?;
    if first == last { first.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_like_playbook_yaml() {
        let rule = r#"{"after":["late"],"verdict":"v","when":{"code":["C"],"message":[{"case":false,"contains":["is frozen"]}],"status":["422-422","500-599"]}}"#;
        assert_eq!(
            row(rule),
            "{ when: { code: C, message: { contains: is frozen }, status: [422, '500-599'] }, verdict: v }, after the rule late"
        );
        let verdict = r#"{"effect":"unknown","then":{"retry_with_backoff":{"backoff_ms":[200]}}}"#;
        assert_eq!(row(verdict), "{ effect: unknown, then: { retry_with_backoff: { backoff_ms: [200] } } }");
        assert_eq!(row("5"), "5");
    }
}
