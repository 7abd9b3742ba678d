//! The playbooks that are embedded in the binary. Reads no disk.

/// The names of the embedded playbooks; the first is the default.
pub const EMBEDDED: &[&str] = &[
    "standard",
    "reversing",
    "dispatcher",
    "coffee",
    "steps",
    "transactional",
    "preset/aileron",
    "preset/aws-2.0",
    "preset/aws-2.1",
    "preset/envoy",
    "preset/grpc",
    "preset/llm-client",
    "preset/mcp-2026-07-28",
    "preset/polly",
    "preset/resilience4j",
    "preset/stripe",
    "preset/temporal",
    "study/typed-verdicts-literal",
    "study/retry-everything",
    "study/course-dispatcher-literal",
];

/// The error kinds in rules of the embedded playbooks, which known adapters give. Sorted.
pub const KNOWN_KINDS: [&str; 28] = [
    "401_unauthorized",
    "403_forbidden",
    "404_not_found",
    "409_conflict",
    "412_precondition",
    "422_key_reused",
    "429_rate_limited",
    "5xx",
    "action_error",
    "application_failure",
    "approval_timeout",
    "auth_expired",
    "idempotency_mismatch",
    "internal",
    "interrupted",
    "invalid_arguments",
    "non_retryable",
    "not_found",
    "not_sent",
    "quota_exhausted",
    "rate_limited",
    "schema",
    "schema_validation",
    "timeout",
    "tool_error",
    "transient",
    "unknown_tool",
    "user_rejected",
];

/// The text of the embedded playbook `name`.
pub fn embedded(name: &str) -> Option<&'static str> {
    match name {
        "standard" => Some(include_str!("../../../../playbooks/standard.yaml")),
        "reversing" => Some(include_str!("../../../../playbooks/reversing.yaml")),
        "dispatcher" => Some(include_str!("../../../../playbooks/dispatcher.yaml")),
        "coffee" => Some(include_str!("../../../../playbooks/coffee.yaml")),
        "steps" => Some(include_str!("../../../../playbooks/steps.yaml")),
        "transactional" => Some(include_str!("../../../../playbooks/transactional.yaml")),
        "preset/aileron" => Some(include_str!("../../../../playbooks/preset/aileron.yaml")),
        "preset/aws-2.0" => Some(include_str!("../../../../playbooks/preset/aws-2.0.yaml")),
        "preset/aws-2.1" => Some(include_str!("../../../../playbooks/preset/aws-2.1.yaml")),
        "preset/envoy" => Some(include_str!("../../../../playbooks/preset/envoy.yaml")),
        "preset/grpc" => Some(include_str!("../../../../playbooks/preset/grpc.yaml")),
        "preset/llm-client" => Some(include_str!("../../../../playbooks/preset/llm-client.yaml")),
        "preset/mcp-2026-07-28" => Some(include_str!("../../../../playbooks/preset/mcp-2026-07-28.yaml")),
        "preset/polly" => Some(include_str!("../../../../playbooks/preset/polly.yaml")),
        "preset/resilience4j" => Some(include_str!("../../../../playbooks/preset/resilience4j.yaml")),
        "preset/stripe" => Some(include_str!("../../../../playbooks/preset/stripe.yaml")),
        "preset/temporal" => Some(include_str!("../../../../playbooks/preset/temporal.yaml")),
        "study/typed-verdicts-literal" => Some(include_str!("../../../../playbooks/study/typed-verdicts-literal.yaml")),
        "study/retry-everything" => Some(include_str!("../../../../playbooks/study/retry-everything.yaml")),
        "study/course-dispatcher-literal" => {
            Some(include_str!("../../../../playbooks/study/course-dispatcher-literal.yaml"))
        }
        _ => None,
    }
}

/// Whether a text is that of the default playbook, of which a test says that it is right.
pub(super) fn is_default(text: &str) -> bool {
    EMBEDDED.first().and_then(|name| embedded(name)) == Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::playbook::parse;
    use crate::playbook::syntax::PLAYBOOK;
    use crate::schema;
    use playproof_engine::event::EffectClaim;
    use playproof_engine::playbook::{Compensation, ConditionKind, Playbook};

    fn load(name: &str) -> Playbook {
        let source = Source::whole(format!("<embedded>/{name}"), embedded(name).expect("an embedded playbook"));
        parse(source).unwrap_or_else(|report| panic!("{report}")).playbook
    }

    #[test]
    fn every_embedded_playbook_loads_under_its_own_name() {
        for name in EMBEDDED {
            assert_eq!(*load(name).name, **name);
        }
    }

    #[test]
    fn the_default_playbook_is_right_by_its_schema() {
        let text = embedded(EMBEDDED[0]).expect("an embedded playbook");
        assert!(is_default(text) && !is_default("format: playbook/1"));
        let read = schema::read(Source::whole("standard", text), &PLAYBOOK, |_| Some(()));
        assert!(read.is_ok(), "{read:?}");
    }

    #[test]
    fn standard_has_the_verdicts_that_were_accepted_and_the_reserved_one() {
        let playbook = load("standard");
        let table: Vec<_> =
            playbook.verdicts.iter().map(|verdict| (&*verdict.name, verdict.effect, verdict.then.as_str())).collect();
        use EffectClaim::{Applied, NotApplied, Unknown};
        let expected = [
            ("transient_timeout", Unknown, "retry_with_backoff"),
            ("not_sent", NotApplied, "retry_with_backoff"),
            ("server_error_5xx", Unknown, "retry_with_backoff"),
            ("idempotency_conflict", Applied, "deprecate_tool_call"),
            ("evidence_stale", NotApplied, "refresh_evidence"),
            ("policy_denied", NotApplied, "escalate_to_human"),
            ("schema_mismatch", Unknown, "deprecate_tool_call"),
            ("request_rejected", NotApplied, "deprecate_tool_call"),
            ("rate_limited", NotApplied, "retry_with_backoff"),
            ("idempotency_in_flight", Unknown, "retry_with_backoff"),
            ("idempotency_key_reused", Unknown, "deprecate_tool_call"),
            ("auth_rejected", NotApplied, "escalate_to_human"),
            ("result_unknown", Unknown, "escalate_to_human"),
            ("invalid_arguments", NotApplied, "deprecate_tool_call"),
            ("unknown_tool", NotApplied, "deprecate_tool_call"),
            ("quota_exhausted", NotApplied, "escalate_to_human"),
            ("user_rejected", NotApplied, "deprecate_tool_call"),
            ("approval_unanswered", Unknown, "escalate_to_human"),
            ("target_missing", Unknown, "deprecate_tool_call"),
            ("program_failed", Unknown, "deprecate_tool_call"),
            ("read_failed", NotApplied, "deprecate_tool_call"),
            ("tool_raised", Unknown, "escalate_to_human"),
            ("tool_refused", Unknown, "deprecate_tool_call"),
            ("write_interrupted", Unknown, "escalate_to_human"),
            ("unclassified", Unknown, "escalate_to_human"),
        ];
        assert_eq!(table, expected);
        assert!(playbook.study.is_none());
    }

    #[test]
    fn the_known_kinds_are_the_kinds_of_the_embedded_rules() {
        let mut kinds: Vec<String> = EMBEDDED
            .iter()
            .flat_map(|name| load(name).rules)
            .flat_map(|rule| rule.when.texts(ConditionKind::Kind).to_vec())
            .collect();
        kinds.sort();
        kinds.dedup();
        assert_eq!(kinds, KNOWN_KINDS);
    }

    #[test]
    fn retry_everything_makes_three_attempts_after_any_failure() {
        let playbook = load("study/retry-everything");
        let Compensation::RetryWithBackoff(retry) = &playbook.verdict(playbook.otherwise).then else { panic!() };
        assert_eq!((retry.max_retries, playbook.limits.max_attempts, playbook.rules.len()), (2, 3, 0));
    }
}
