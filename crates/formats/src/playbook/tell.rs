//! The canonical form of what a verdict tells the agent.

use serde_json::{Map, Value, json};

use playproof_engine::playbook::Tell;

/// The `tell` in the row of its verdict.
pub(super) fn canonical(tell: &Tell) -> Value {
    let mut parts = Map::new();
    parts.insert("class".into(), json!(tell.class.as_str()));
    parts.insert("boundary".into(), json!(tell.boundary.as_str()));
    if let Some(transient) = tell.transient {
        parts.insert("transient".into(), json!(transient));
    }
    if !tell.details.is_empty() {
        let details = tell.details.iter().map(|(key, text)| (key.to_string(), json!(&**text)));
        parts.insert("details".into(), details.collect());
    }
    Value::Object(parts)
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Source;
    use crate::playbook::tests::errors_of;
    use crate::playbook::{fingerprint, parse, rows};
    use playproof_engine::event::{Boundary, FailureClass};
    use playproof_engine::playbook::Tell;

    fn playbook(tell: &str) -> String {
        let tell = if tell.is_empty() { String::new() } else { format!(", tell: {{ {tell} }}") };
        format!(
            "format: playbook/1\nname: t\nqueues: [q]\ndefault_queue: q\nclassify: [{{ rule: r, when: {{ kind: k }}, verdict: v }}]\n\
             verdicts: {{ v: {{ means: m, effect: unknown, then: {{ escalate_to_human: {{ queue: q }} }}{tell} }} }}\n"
        )
    }

    fn told(tell: &str) -> Option<Tell> {
        let loaded = parse(Source::whole("t", playbook(tell))).unwrap_or_else(|report| panic!("{report}"));
        loaded.playbook.verdicts[0].tell.clone()
    }

    fn row(tell: &str) -> String {
        let loaded = parse(Source::whole("t", playbook(tell))).unwrap_or_else(|report| panic!("{report}"));
        rows(&loaded.playbook).into_iter().find(|row| row.name == "verdict v").map(|row| row.text).unwrap_or_default()
    }

    #[test]
    fn a_boundary_follows_from_a_class_with_only_one() {
        assert_eq!(told(""), None);
        let tell = told("class: external_api_error, details: { suggestion: rebind, binding: slack }").unwrap();
        assert_eq!((tell.class, tell.boundary), (FailureClass::ExternalApiError, Boundary::External));
        assert_eq!(tell.transient, None);
        let details: Vec<(&str, &str)> = tell.details.iter().map(|(key, text)| (&**key, &**text)).collect();
        assert_eq!(details, [("binding", "slack"), ("suggestion", "rebind")]);
        let denied = told("class: capability_denied, boundary: connector_manifest").unwrap();
        assert_eq!(denied.boundary, Boundary::ConnectorManifest);
        assert_eq!(told("class: binding_failed, transient: true").unwrap().transient, Some(true));
        for class in FailureClass::ALL {
            let tell = Tell::of(class);
            assert!(
                class.boundaries().contains(&tell.boundary) && tell.transient.is_some() == class.depends_on_cause()
            );
        }
    }

    #[test]
    fn what_a_class_cannot_have_is_underlined() {
        for (tell, expected) in [
            ("class: external_error", "wrong_type: external_error"),
            ("boundary: runtime", "missing_key: { boundary: runtime }"),
            ("class: network_error, boundary: user", "wrong_boundary: user|network_error"),
            ("class: network_error, boundary: upstream", "wrong_type: upstream"),
            ("class: capability_denied", "missing_boundary: capability_denied"),
            ("class: capability_denied, boundary: external", "wrong_boundary: external|capability_denied"),
            ("class: binding_failed", "missing_transient: binding_failed"),
            ("class: connector_runtime_error, boundary: sandbox", "missing_transient: connector_runtime_error"),
            ("class: network_error, transient: true", "no_transient: transient|network_error"),
            ("class: network_error, transient: yes", "wrong_type: yes"),
            ("class: binding_failed, transient: perhaps", "wrong_type: perhaps"),
            ("class: network_error, retriable: true", "unknown_key: retriable"),
            ("class: network_error, details: { status: '401' }", "bad_name: status"),
            ("class: network_error, details: { binding: 5 }", "wrong_type: 5"),
            ("class: network_error, details: { a b: c }", "bad_name: a b"),
            ("class: network_error, details: [a]", "wrong_type: [a]"),
        ] {
            assert_eq!(errors_of(&playbook(tell)), [expected], "{tell}");
        }
    }

    #[test]
    fn no_detail_contradicts_what_is_computed() {
        for key in Tell::COMPUTED {
            let tell = format!("class: network_error, details: {{ {key}: 'true' }}");
            assert_eq!(errors_of(&playbook(&tell)), [format!("bad_name: {key}")]);
        }
        let both = "class: network_error, details: { retriable: 'true', boundary: user }";
        assert_eq!(errors_of(&playbook(both)), ["bad_name: retriable", "bad_name: boundary"]);
        for fine in ["retriable_after", "suggestion", "binding", "cause"] {
            assert!(told(&format!("class: network_error, details: {{ {fine}: 'true' }}")).is_some(), "{fine}");
        }
    }

    #[test]
    fn several_errors_of_one_tell_are_found_at_once() {
        let all = "class: capability_denied, boundary: user, transient: true, details: { retried: '3' }";
        let mut found = errors_of(&playbook(all));
        found.sort();
        assert_eq!(
            found,
            [
                "bad_name: retried",
                "no_transient: transient|capability_denied",
                "wrong_boundary: user|capability_denied"
            ]
        );
    }

    #[test]
    fn the_row_of_a_verdict_has_its_tell_only_where_it_is_written() {
        assert!(!row("").contains("tell"));
        let text = row("class: network_error, details: { b: x, a: y }");
        let tell = r#""tell":{"boundary":"external","class":"network_error","details":{"a":"y","b":"x"}}"#;
        assert!(text.contains(tell), "{text}");
        assert_eq!(text, row("boundary: external, details: { a: y, b: x }, class: network_error"));
        let print = |tell: &str| {
            let loaded = parse(Source::whole("t", playbook(tell))).unwrap_or_else(|report| panic!("{report}"));
            fingerprint(&loaded.playbook)
        };
        let all = ["", "class: network_error", "class: external_api_error", "class: network_error, details: { a: b }"]
            .into_iter()
            .chain(["class: binding_failed, transient: true", "class: binding_failed, transient: false"])
            .map(print)
            .collect::<Vec<_>>();
        for (n, one) in all.iter().enumerate() {
            assert!(!all[..n].contains(one), "{n}");
        }
    }
}
