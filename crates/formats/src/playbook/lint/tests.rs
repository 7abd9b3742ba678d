//! For every lint a playbook in which it fires, what it underlines, and playbooks in which it does not fire.

use super::{lint, stopped_globs};
use crate::diagnostic::Source;
use crate::playbook::{EMBEDDED, embedded, parse};

/// A playbook without lints, to which `verdicts`, `rules` and `rest` are added.
fn playbook(verdicts: &str, rules: &str, rest: &str) -> String {
    let rest =
        if rest.contains("limits:") { rest.to_owned() } else { format!("{rest}\nlimits: {{ max_attempts: 6 }}") };
    format!(
        "format: playbook/1\nname: test\nqueues: [humans]\ndefault_queue: humans\n\
         verdicts:\n  known: {{ means: m, effect: unknown, then: {{ deprecate_tool_call: {{ reason: r }} }} }}\n{verdicts}\n\
         classify:\n- {{ rule: first, when: {{ code: first }}, verdict: known }}\n{rules}\n{rest}\n"
    )
}

/// `id: what is underlined` of every lint of a playbook.
fn lints(text: &str) -> Vec<String> {
    let loaded = parse(Source::whole("t", text)).unwrap_or_else(|report| panic!("{report}"));
    let all = lint(&loaded);
    let underlined = |labels: &[crate::diagnostic::Label]| {
        labels.iter().map(|label| text[label.span.clone()].to_owned()).collect::<Vec<_>>().join("|")
    };
    all.iter().map(|found| format!("{}: {}", found.id, underlined(&found.labels))).collect()
}

fn of_rules(rules: &[&str]) -> Vec<String> {
    let rules: Vec<String> = rules
        .iter()
        .enumerate()
        .map(|(n, when)| format!("- {{ rule: r{n}, when: {{ {when} }}, verdict: known }}"))
        .collect();
    lints(&playbook("", &rules.join("\n"), ""))
}

fn of_retry(effect: &str, retry: &str, rest: &str) -> Vec<String> {
    let verdict = format!("  again: {{ means: m, effect: {effect}, then: {{ retry_with_backoff: {{ {retry} }} }} }}");
    lints(&playbook(&verdict, "- { rule: again, when: { kind: again }, verdict: again }", rest))
}

#[test]
fn shipped_playbooks_have_no_lint_except_study_playbook() {
    for name in EMBEDDED {
        let is_for_study = name.starts_with("study/") || name.starts_with("preset/");
        let expected: &[&str] = match name {
            _ if is_for_study => &["study_playbook: study"],
            &"transactional" => &["retries_beyond_attempts: 3|3"; 3], // as its source has it
            _ => &[],
        };
        assert_eq!(lints(embedded(name).expect("embedded")), expected, "{name}");
    }
}

#[test]
fn a_class_that_says_that_nothing_was_sent_contradicts_an_effect() {
    let of = |effect: &str, tell: &str| {
        let verdict = format!(
            "  told: {{ means: m, effect: {effect}, then: {{ deprecate_tool_call: {{ reason: r }} }}, tell: {{ {tell} }} }}"
        );
        lints(&playbook(&verdict, "- { rule: told, when: { kind: told }, verdict: told }", ""))
    };
    assert_eq!(of("applied", "class: network_error"), ["class_contradicts_effect: network_error|applied"]);
    assert_eq!(of("applied", "class: capability_denied, boundary: action").len(), 1);
    assert_eq!(of("applied", "class: approval_denied").len(), 1);
    assert!(of("applied", "class: external_api_error").is_empty());
    assert!(of("unknown", "class: network_error").is_empty());
    assert!(of("not_applied", "class: capability_denied, boundary: action").is_empty());
}

#[test]
fn a_rule_is_shadowed_by_an_earlier_list_range_or_glob() {
    let shadowed = ["shadowed_rule: r1|r0"];
    assert_eq!(of_rules(&["kind: [a, b]", "kind: b"]), shadowed);
    assert_eq!(of_rules(&["status: 400-499", "status: [404, 409]"]), shadowed);
    assert_eq!(of_rules(&["status: [400-449, 450-499]", "status: 440-460"]), shadowed);
    assert_eq!(of_rules(&["tool: 'search.*'", "tool: search.web"]), shadowed);
    assert_eq!(of_rules(&["tool: 'search.**'", "tool: 'search.web.*', keyed: true"]), shadowed);
    assert_eq!(of_rules(&["tool: 'search.*'", "tool: 'search.w*'"]), shadowed);
    assert_eq!(of_rules(&["attempt: 2-9", "attempt: 3"]), shadowed);
    assert_eq!(of_rules(&["retry_after: absent", "error: absent"]), shadowed);
}

#[test]
fn a_rule_that_is_narrower_than_a_later_one_does_not_shadow_it() {
    for rules in [
        ["kind: a", "kind: [a, b]"],
        ["status: 404", "status: 400-499"],
        ["tool: 'search.web.*'", "tool: 'search.*'"],
        ["tool: 'search.*'", "tool: 'searching'"],
        ["tool: 'search.*'", "tool: search.index.delete"],
        ["tool: 'search.*'", "tool: 'search.web.*'"],
        ["tool: 'search.*'", "tool: 'search.w**'"],
        ["message: { clause: not found }", "message: { contains: not found }"],
        ["message: { clause: not found }", "message: { clause: found }"],
        ["message: { clause: not found }", "message: { equals: 'mail sent, order not found' }"],
        ["kind: a, keyed: true", "kind: a"],
        ["access: write", "kind: a"],
        ["message: { contains: time out }", "message: { contains: time }"],
        ["message: { starts_with: time }", "message: { contains: time }"],
        ["message: { contains: time, case: sensitive }", "message: { contains: time }"],
        ["kind: a, message: { contains: x }", "kind: a"],
    ] {
        assert!(of_rules(&rules).is_empty(), "{rules:?} {:?}", of_rules(&rules));
    }
}

#[test]
fn a_rule_is_shadowed_by_an_earlier_text_that_its_own_contains() {
    let shadowed = ["shadowed_rule: r1|r0"];
    assert_eq!(of_rules(&["message: { contains: time }", "message: { contains: Timed out }"]), shadowed);
    assert_eq!(of_rules(&["message: { contains: time }", "message: { starts_with: time }"]), shadowed);
    assert_eq!(of_rules(&["message: { starts_with: time }", "message: { equals: timeout }"]), shadowed);
    assert_eq!(of_rules(&["message: { contains: [a, b] }", "message: { contains: [xa, xb] }"]), shadowed);
    assert_eq!(of_rules(&["message: { contains: found }", "message: { clause: not found }"]), shadowed);
    assert_eq!(of_rules(&["message: { clause: Not found }", "message: { clause: not found }"]), shadowed);
    assert_eq!(of_rules(&["message: { clause: not found }", "message: { equals: Order not found. }"]), shadowed);
    assert_eq!(of_rules(&["message: { matches: '[a-c]x' }", "message: { equals: bx }"]), shadowed);
    assert_eq!(of_rules(&["message: { matches: '[a-c]x' }", "message: { contains: bx }"]), shadowed);
}

#[test]
fn several_rules_together_shadow_one() {
    assert_eq!(of_rules(&["kind: a", "kind: b", "kind: [a, b]"]), ["shadowed_rule: r2|r0|r1"]);
    assert_eq!(of_rules(&["status: 500-549", "status: 550-599", "status: 500-599"]), ["shadowed_rule: r2|r0|r1"]);
    assert!(of_rules(&["status: 500-549", "status: 551-599", "status: 500-599"]).is_empty());
}

#[test]
fn a_regular_expression_is_decided_if_possible_and_reported_if_not() {
    let undecided = ["shadow_undecided: r1|r0"];
    assert_eq!(of_rules(&["message: { matches: 'a+' }", "message: { matches: 'a{2}' }"]), undecided);
    assert_eq!(of_rules(&["message: { matches: '^bx' }", "message: { contains: bx }"]), undecided);
    assert!(of_rules(&["message: { matches: 'c+x' }", "message: { contains: bx }"]).is_empty());
    assert!(of_rules(&["kind: a, message: { matches: 'a+' }", "kind: b, message: { matches: 'a{2}' }"]).is_empty());
}

#[test]
fn a_rule_with_impossible_conditions_is_reported() {
    assert_eq!(of_rules(&["error: absent, kind: a"]), ["impossible_rule: { error: absent, kind: a }"]);
    assert_eq!(of_rules(&["attempt: 7"]), ["impossible_rule: 7|6"]);
}

#[test]
fn a_verdict_that_no_live_rule_gives_is_reported() {
    let verdict = "  lonely: { means: m, effect: unknown, then: { deprecate_tool_call: { reason: r } } }";
    assert_eq!(lints(&playbook(verdict, "", "")), ["unreached_verdict: lonely"]);
    let shadowed = "- { rule: late, when: { code: first }, verdict: lonely }";
    assert_eq!(lints(&playbook(verdict, shadowed, "")), ["unreached_verdict: lonely", "shadowed_rule: late|first"]);
    assert!(lints(&playbook(verdict, "", "otherwise: lonely")).is_empty());
}

#[test]
fn a_guard_that_never_triggers_is_reported() {
    let guarded = "backoff_ms: [200], on_unsafe: { escalate_to_human: { queue: humans } }";
    let unreached = ["unreached_guard: { escalate_to_human: { queue: humans } }"];
    assert_eq!(of_retry("not_applied", guarded, ""), unreached);
    assert!(of_retry("unknown", guarded, "").is_empty());
    let verdict = format!("  again: {{ means: m, effect: unknown, then: {{ retry_with_backoff: {{ {guarded} }} }} }}");
    for (when, expected) in [("access: read", 1), ("keyed: true", 1), ("idempotent: true", 1), ("keyed: false", 0)] {
        let rule = format!("- {{ rule: again, when: {{ kind: k, {when} }}, verdict: again }}");
        assert_eq!(lints(&playbook(&verdict, &rule, "")).len(), expected, "{when}");
    }
    let abort = "  again: { means: m, effect: unknown, then: { refresh_evidence: { then: abort, on_unsafe: \
                 { escalate_to_human: { queue: humans } } } } }";
    assert_eq!(lints(&playbook(abort, "- { rule: again, when: { kind: k }, verdict: again }", "")), unreached);
}

#[test]
fn a_guard_that_a_study_switch_makes_unreachable_is_reported() {
    let guarded = "backoff_ms: [200], on_unsafe: { escalate_to_human: { queue: humans } }";
    let all = of_retry("unknown", guarded, "study: { why: w, retry_guard: off }");
    assert_eq!(all, ["unreached_guard: { escalate_to_human: { queue: humans } }", "study_playbook: study"]);
    let verdict = "  back: { means: m, effect: applied, then: { issue_reversal: { reason: r, on_refused: \
                   { escalate_to_human: { queue: humans } } } } }";
    let rule = "- { rule: back, when: { kind: k }, verdict: back }";
    assert!(lints(&playbook(verdict, rule, "")).is_empty());
    let all = lints(&playbook(verdict, rule, "study: { why: w, refused_reversal: exhausted }"));
    assert_eq!(all, ["unreached_guard: { escalate_to_human: { queue: humans } }", "study_playbook: study"]);
}

#[test]
fn contradictory_waits_are_reported() {
    assert_eq!(of_retry("unknown", "backoff_ms: [1, 2], max_retries: 9", ""), ["retries_beyond_attempts: 9|6"]);
    assert_eq!(of_retry("unknown", "backoff_ms: [1, 2, 3], max_retries: 2", ""), ["backoff_too_long: [1, 2, 3]"]);
    assert_eq!(of_retry("unknown", "backoff_ms: [600, 200]", ""), ["backoff_shrinks: [600, 200]"]);
    assert_eq!(of_retry("unknown", "backoff_ms: [1, 2, 2], max_retries: 4", ""), ["backoff_repeats: [1, 2, 2]"]);
    assert!(of_retry("unknown", "backoff_ms: [2, 2, 2]", "").is_empty());
    assert_eq!(of_retry("unknown", "backoff_ms: [1], max_wait_ms: 50", ""), ["unused_max_wait: 50"]);
    assert!(of_retry("unknown", "backoff_ms: [1], max_wait_ms: 50, after: retry_after", "").is_empty());
    let limits = "limits: { max_attempts: 6, deadline_ms: 1000 }";
    assert_eq!(of_retry("unknown", "backoff_ms: [400, 700]", limits), ["backoff_beyond_deadline: [400, 700]|1000"]);
    assert_eq!(of_retry("unknown", "backoff_ms: [300], max_retries: 4", limits).len(), 1);
    assert!(of_retry("unknown", "backoff_ms: [300], max_retries: 3", limits).is_empty());
    let refresh = "  stale: { means: m, effect: not_applied, then: { refresh_evidence: { max_refreshes: 6 } } }";
    let rule = "- { rule: stale, when: { kind: k }, verdict: stale }";
    assert_eq!(lints(&playbook(refresh, rule, "")), ["retries_beyond_attempts: 6|6"]);
}

#[test]
fn an_unused_queue_and_an_unused_tool_glob_are_reported() {
    let text = playbook("", "", "").replace("queues: [humans]", "queues: [humans, attic]");
    assert_eq!(lints(&text), ["unused_queue: attic"]);
    let tools = "tools: { 's.**': { access: read }, 's.web.*': { access: write }, s.web: { access: write } }";
    assert_eq!(lints(&playbook("", "", tools)), ["shadowed_tool: 's.web.*'|'s.**'"]);
    assert!(lints(&playbook("", "", &tools.replace("**", "*"))).is_empty(), "one level each");
}

#[test]
fn a_kind_that_is_one_typo_from_a_known_one_is_reported() {
    for (kind, likely) in [
        ("timeot", "timeout"),
        ("tiemout", "timeout"),
        ("403_forbiden", "403_forbidden"),
        ("schema_vaildtion", "schema_validation"),
    ] {
        let rule = format!("kind: {kind}");
        assert_eq!(of_rules(&[&rule]), [format!("misspelt_kind: {kind}")], "{likely}");
        let text = playbook("", &format!("- {{ rule: r, when: {{ {rule} }}, verdict: known }}"), "");
        let help = lint(&parse(Source::whole("t", text)).unwrap())[0].help.clone().unwrap();
        assert!(help.contains(&format!("`{likely}`")), "{help}");
    }
    assert_eq!(of_rules(&["kind: rate_limited", "kind: rate_limted"]), ["misspelt_kind: rate_limted"]);
    assert_eq!(of_rules(&["kind: [odd, timeot]"]), ["misspelt_kind: timeot"]);
    assert_eq!(of_rules(&["kind: 'read_*'"]), ["misspelt_kind: 'read_*'"], "a kind is no pattern");
}

#[test]
fn kinds_that_differ_in_digits_or_by_more_than_a_typo_or_are_both_named_are_not_reported() {
    for kind in ["timeout", "4xx", "403_denied", "429_conflict", "timed_out", "connection_reset"] {
        assert!(of_rules(&[&format!("kind: {kind}")]).is_empty(), "{kind}");
    }
    assert!(of_rules(&["kind: [timeout, timeot]"]).is_empty());
    assert!(of_rules(&["kind: [quota_spent, quota_spents]"]).is_empty());
}

#[test]
fn words_anywhere_in_a_message_are_no_proof_that_a_write_did_nothing() {
    let of = |when: &str, effect: &str| {
        let verdict =
            format!("  no: {{ means: m, effect: {effect}, then: {{ deprecate_tool_call: {{ reason: r }} }} }}");
        let rule = format!("- {{ rule: no, when: {{ {when} }}, verdict: no }}");
        lints(&playbook(&verdict, &rule, "tools: { 'search.*': { access: read }, find: { access: read } }"))
    };
    for when in [
        "message: { contains: not found }",
        "kind: tool_error, message: { contains: not found }",
        "access: write, message: { contains: [no, never], matches: order }",
        "tool: [find, pay], message: { contains: not found }",
    ] {
        assert_eq!(of(when, "not_applied"), [format!("words_prove_nothing: {{ {when} }}")]);
        assert!(of(when, "unknown").is_empty());
    }
    for when in [
        "status: 404, message: { contains: not found }",
        "code: gone, message: { contains: not found }",
        "kind: 404_not_found, message: { contains: not found }",
        "access: read, message: { contains: not found }",
        "tool: [find, 'search.*'], message: { contains: not found }",
        "message: { clause: not found }",
        "message: { contains: order, clause: not found }",
        "message: { equals: not found }",
        "message: { contains: order, matches: '^order \\S+ not found$' }",
    ] {
        assert!(of(when, "not_applied").is_empty(), "{when}");
    }
}

#[test]
fn a_glob_that_stops_at_a_dot_before_a_known_tool_is_reported() {
    let of_both = |glob: &str, known: &[&str], declared: &[&str]| {
        let tools = format!("tools: {{ '{glob}': {{ access: read }}, search.index.drop: {{ access: write }} }}");
        let rule = format!("- {{ rule: r, when: {{ kind: k, tool: '{glob}' }}, verdict: known }}");
        let loaded = parse(Source::whole("t", playbook("", &rule, &tools))).unwrap();
        let [known, declared] = [known, declared].map(|tools| tools.iter().map(|tool| (*tool).to_owned()).collect());
        stopped_globs(&loaded, &known, &declared).iter().map(|found| found.message.clone()).collect::<Vec<_>>()
    };
    let of = |glob: &str, known: &[&str]| of_both(glob, known, &[]);
    let deep = ["pay", "search.a.b", "search.index.delete", "search.index.drop", "search.web"];
    let said = "`search.*` does not match `search.a.b`, `search.index.delete`";
    assert_eq!(of("search.*", &deep), [said, said], "in the tool facts and in a rule");
    assert!(of("search.**", &deep).is_empty());
    assert!(of("search.*", &["search.web", "search.index.drop", "pay.a.b"]).is_empty());
    assert_eq!(of_both("search.*", &deep, &deep), [said], "in the rule: other tool facts win over the playbook's");
}

#[test]
fn a_jitter_that_lengthens_a_capped_wait_is_told_and_no_other() {
    let of = |formula: &str| of_retry("not_applied", &format!("backoff: {{ {formula} }}, max_retries: 5"), "");
    let growing = "kind: exponential, base_ms: 100, max_ms: 400";
    let long = format!("{growing}, jitter: {{ proportional: {{ low: 0.8, high: 1.2 }} }}");
    assert_eq!(of(&long), [format!("jitter_beyond_cap: {{ {long} }}")]);
    assert!(of(&format!("{long}, cap: after_jitter")).is_empty());
    assert!(of(&format!("{growing}, jitter: full")).is_empty());
    assert!(
        of("kind: constant, base_ms: 100, max_ms: 400, jitter: { proportional: { low: 0.8, high: 1.2 } }").is_empty()
    );
    assert!(of("kind: exponential, base_ms: 100, jitter: { additive: { ms: 50 } }").is_empty());
}

#[test]
fn headers_that_are_read_in_vain_or_not_at_all_are_told() {
    let sources = "server_delay_sources: [{ header: retry-after, format: seconds }]";
    let of = |retry: &str, rest: &str| of_retry("not_applied", &format!("backoff_ms: [200]{retry}"), rest);
    let in_vain = ["unused_delay_sources: [{ header: retry-after, format: seconds }]"];
    assert_eq!(of("", sources), in_vain);
    assert_eq!(of(", server_delay: { mode: ignore }", sources), in_vain);
    for heeds in
        [", after: retry_after", ", server_delay: { mode: exact }", ", server_delay: { mode: ignore, negative: stop }"]
    {
        assert!(of(heeds, sources).is_empty(), "{heeds}");
    }
    let stops = "{ mode: exact, invalid: stop }";
    assert_eq!(of(&format!(", server_delay: {stops}"), ""), [format!("unread_headers: {stops}")]);
    assert!(of(&format!(", server_delay: {stops}"), sources).is_empty());
    assert!(of(", server_delay: { mode: exact, zero: ignore }", "").is_empty());
}

#[test]
fn a_rule_is_shadowed_by_an_earlier_test_of_its_header() {
    let shadowed = ["shadowed_rule: r1|r0"];
    assert_eq!(of_rules(&["header: { name: x }", "header: { name: X, equals: [a, b] }"]), shadowed);
    assert_eq!(of_rules(&["header: { name: x, range: [0, 9] }", "header: { name: x, equals: '5' }"]), shadowed);
    assert_eq!(of_rules(&["header: { name: x, present: false }", "error: absent"]), shadowed);
    let several = "header: [{ name: x, equals: a }, { name: x, prefix: b }]";
    assert_eq!(of_rules(&[several, "header: { name: x, equals: bc }"]), shadowed);
    assert_eq!(of_rules(&["should_retry: false", "should_retry: false, status: 500"]), shadowed);
    for rules in [
        ["header: { name: x }", "header: { name: y }"],
        ["header: { name: x, prefix: a }", "header: { name: x }"],
        ["header: { name: x, equals: a, invert: true }", "header: { name: x, prefix: b }"],
        ["should_retry: false", "should_retry: true"],
        ["should_retry: false", "error: absent"],
    ] {
        assert!(of_rules(&rules).is_empty(), "{rules:?}");
    }
    let impossible = of_rules(&["error: absent, header: { name: x }"]);
    assert_eq!(impossible, ["impossible_rule: { error: absent, header: { name: x } }"]);
    assert!(of_rules(&["error: absent, header: { name: x, present: false }"]).is_empty());
}

#[test]
fn a_formula_whose_shortest_waits_pass_the_deadline_is_told() {
    let of = |deadline: u64, retries: &str| {
        let rest = format!("limits: {{ max_attempts: 4, deadline_ms: {deadline} }}");
        of_retry(
            "not_applied",
            &format!("backoff: {{ kind: exponential, base_ms: 100, jitter: equal }}{retries}"),
            &rest,
        )
    };
    let told = |deadline: u64| {
        [format!("backoff_beyond_deadline: {{ kind: exponential, base_ms: 100, jitter: equal }}|{deadline}")]
    };
    // At least 50, 100 and 200 ms.
    assert!(of(350, ", max_retries: 3").is_empty());
    assert_eq!(of(349, ", max_retries: 3"), told(349));
    // Nobody wrote a number of retries: the deadline ends them, but one must fit.
    assert!(of(50, "").is_empty());
    assert_eq!(of(49, ""), told(49));
}

#[test]
fn a_schema_that_lets_unknown_arguments_pass_is_told_where_it_stands() {
    let of = |schema: &str| lints(&playbook("", "", &format!("tools:\n  pay: {{ access: write, schema: {schema} }}")));
    let open = "{ properties: { a: { type: integer } } }";
    assert_eq!(of(open), [format!("loose_schema: {open}")]);
    let inside = "{ additionalProperties: false, properties: { a: { properties: { b: {} } } } }";
    assert_eq!(of(inside), [format!("loose_schema: {inside}")]);
    assert!(of("{ additionalProperties: false, properties: { a: { type: integer } } }").is_empty());
    assert!(of("{ type: object }").is_empty(), "it names no argument");
}

/// The lints of these breakers, where the verdict `down` speaks so to them.
fn of_breakers(mark: &str, breakers: &str, rest: &str) -> Vec<String> {
    let verdict =
        format!("  down: {{ means: m, effect: unknown, {mark}then: {{ deprecate_tool_call: {{ reason: r }} }} }}");
    let rule = "- { rule: down, when: { kind: down }, verdict: down }";
    let text = playbook(&verdict, rule, &format!("{breakers}\n{rest}"));
    // The other verdict shows that the server works.
    let says = if breakers.contains("breakers:") { "breaker: success, " } else { "" };
    lints(&text.replacen("known: { means: m, ", &format!("known: {{ means: m, {says}"), 1))
}

#[test]
fn a_breaker_whose_probes_may_count_neither_way_may_stay_half_open() {
    let of = |half_open: &str| {
        let verdict =
            "  down: { means: m, effect: unknown, breaker: failure, then: { deprecate_tool_call: { reason: r } } }";
        let rule = "- { rule: down, when: { kind: down }, verdict: down }";
        let rules = format!("window: {{ calls: 5 }}, min_calls: 5, failure_rate: 0.5, open_ms: 9{half_open}");
        lints(&playbook(verdict, rule, &format!("breakers: {{ default: {{ {rules} }} }}"))).len()
    };
    assert_eq!(of(""), 1);
    assert_eq!(of(", half_open: { mode: evaluate_rate, permits: 5 }"), 1);
    assert_eq!(of(", half_open: { mode: evaluate_rate, permits: 5, max_wait_ms: 9 }"), 0, "it ends by itself");
}

#[test]
fn a_breaker_that_never_opens_or_closes_or_that_nobody_asks() {
    let failure = "breaker: failure, ";
    let rules = "window: { calls: 5 }, failure_count: 3, open_ms: 9";
    let plain = format!("breakers: {{ default: {{ {rules} }} }}");
    assert_eq!(of_breakers(failure, &plain, ""), [""; 0]);
    assert_eq!(of_breakers("breaker: success, ", &plain, ""), ["circuit_never_opens: default"]);
    assert_eq!(of_breakers("", &plain, ""), ["circuit_never_opens: default"]);
    let slow = |key: &str| {
        let window = "window: { calls: 5 }, min_calls: 5, open_ms: 9, half_open: { mode: evaluate_rate, permits: 5 }";
        format!("breakers: {{ default: {{ {window}, slow_call_rate: 0.5, {key} }} }}")
    };
    assert_eq!(of_breakers("", &slow("slow_call_ms: 7, evaluate_on: any"), ""), [""; 0]);
    assert_eq!(of_breakers("", &slow("slow_call_ms: 7"), ""), ["circuit_never_opens: default"]);
    assert_eq!(of_breakers(failure, &slow("slow_call_ms: 0"), ""), ["circuit_never_closes: 0"]);
    let waiting = |max_wait: &str| {
        let half_open = format!("{{ mode: evaluate_rate, permits: 5, {max_wait} }}");
        let rules = "window: { calls: 5 }, min_calls: 5, failure_rate: 0.5, open_ms: 9";
        (format!("breakers: {{ default: {{ {rules}, half_open: {half_open} }} }}"), half_open)
    };
    let (at_once, place) = waiting("max_wait_ms: 0");
    assert_eq!(of_breakers(failure, &at_once, ""), [format!("circuit_never_closes: {place}")]);
    assert_eq!(of_breakers(failure, &waiting("max_wait_ms: 0, on_max_wait: closed").0, ""), [""; 0]);
    assert_eq!(of_breakers(failure, &waiting("max_wait_ms: 1").0, ""), [""; 0]);
    assert_eq!(of_breakers(failure, "", ""), ["unused_breaker: failure"]);
    let named = format!("breakers: {{ pay.card: {{ {rules} }} }}");
    for (tools, unused) in [("", false), ("pay.card", false), ("pay.*", false), ("pay", true), ("search", true)] {
        let tools = if tools.is_empty() { String::new() } else { format!("tools: {{ {tools}: {{ access: read }} }}") };
        let expected: &[&str] = if unused { &["unused_breaker: pay.card"] } else { &[] };
        assert_eq!(of_breakers(failure, &named, &tools), expected, "{tools}");
    }
}

#[test]
fn a_budget_of_no_tool_calls() {
    let of = |budget: &str| of_breakers("", &format!("budget: {{ {budget} }}"), "");
    assert_eq!(of("tool_calls: 0"), ["budget_allows_no_call: { tool_calls: 0 }"]);
    assert_eq!(of("tool_calls: 0, counts: calls"), ["budget_allows_no_call: { tool_calls: 0, counts: calls }"]);
    assert_eq!(of("tool_calls: 1"), [""; 0]);
}

#[test]
fn a_retry_budget_that_allows_no_retry_or_that_no_retry_names() {
    let of = |budget: &str, retry: &str| {
        let budgets = format!("retry_budgets: {{ b: {{ {budget} }} }}");
        of_retry("unknown", &format!("backoff_ms: [5], retry_budget: b{retry}"), &budgets)
    };
    for (budget, expected) in [
        ("kind: token_bucket, capacity: 14, cost: 14", None),
        ("kind: token_bucket, capacity: 13.999, cost: 14", Some("13.999")),
        ("kind: throttle, max_tokens: 3, token_ratio: 1", None),
        ("kind: throttle, max_tokens: 2, token_ratio: 1", Some("2")),
        ("kind: throttle, max_tokens: 2, token_ratio: 1, allow_above: 0.4", None),
        ("kind: deposit_withdraw, ttl_ms: 1000, min_retries_per_sec: 0, retry_percent: 0", Some("0")),
        ("kind: deposit_withdraw, ttl_ms: 1000, min_retries_per_sec: 0, retry_percent: 0.1", None),
        ("kind: deposit_withdraw, ttl_ms: 1000, min_retries_per_sec: 1, retry_percent: 0", None),
        ("kind: concurrency_ratio, budget_percent: 0, min_retry_concurrency: 0", Some("0")),
        ("kind: concurrency_ratio, budget_percent: 1, min_retry_concurrency: 0", None),
        ("kind: inflight_share, max_share: 0, min_retry_concurrency: 0", None),
    ] {
        let expected: Vec<String> = expected.into_iter().map(|at| format!("budget_below_one_retry: {at}")).collect();
        assert_eq!(of(budget, ""), expected, "{budget}");
    }
    let bucket = "kind: token_bucket, capacity: 14, cost: 14";
    assert_eq!(of(bucket, ", cost: 14"), [""; 0]);
    assert_eq!(of(bucket, ", cost: 14.5"), ["budget_below_one_retry: 14.5"]);
    let unused = format!("retry_budgets: {{ b: {{ {bucket} }} }}");
    assert_eq!(of_retry("unknown", "backoff_ms: [5]", &unused), ["unused_retry_budget: b"]);
}

#[test]
fn a_limit_that_leaves_no_time_for_a_first_retry_is_told() {
    let of = |kind: &str, retry: &str, rest: &str| {
        let retry = format!("retry_with_backoff: {{ backoff: {{ kind: constant, base_ms: 500 }}{retry} }}");
        let verdict = format!("  again: {{ means: m, effect: not_applied, then: {{ {retry} }} }}");
        lints(&playbook(&verdict, &format!("- {{ rule: again, when: {{ kind: {kind} }}, verdict: again }}"), rest))
    };
    let told = |limit: &str| [format!("deadline_leaves_no_retry: {{ kind: constant, base_ms: 500 }}|{limit}")];
    // No wait begins that would end at the end of the call.
    assert_eq!(of("again", "", "limits: { call_timeout_ms: 500 }"), told("500"));
    assert!(of("again", "", "limits: { call_timeout_ms: 501 }").is_empty());
    assert!(of("again", ", server_delay: { mode: exact }", "limits: { call_timeout_ms: 500 }").is_empty());
    // A timeout takes its time first; other failures may come at once.
    let tools = "registry: { unknown_tools: refuse }\ntools: { a: { access: read, timeout_ms: 9000 } }";
    let within = |limits: &str| format!("{tools}\nlimits: {{ {limits} }}");
    assert_eq!(of("timeout", "", &within("deadline_ms: 9499")), told("9499"));
    assert!(of("timeout", "", &within("deadline_ms: 9500")).is_empty());
    assert!(of("[timeout, again]", "", &within("deadline_ms: 9499")).is_empty());
    assert!(of("timeout", "", &within("deadline_ms: 9499, elapsed: waits_after")).is_empty());
    assert_eq!(of("timeout", "", &within("deadline_ms: 20000, call_timeout_ms: 9000")), told("9000"));
    // A tool that nobody declared has 30 s.
    assert_eq!(of("timeout", "", "limits: { deadline_ms: 30499 }"), told("30499"));
    assert!(of("timeout", "", "limits: { deadline_ms: 30500 }").is_empty());
}

#[test]
fn a_dedupe_window_below_the_waits_of_a_verdict_is_told() {
    let of = |retry: &str, window: u64, limits: &str| {
        of_retry("not_applied", retry, &format!("dedupe: {{ window_ms: {window} }}\nlimits: {{ {limits} }}"))
    };
    let told = |window: u64| [format!("dedupe_shorter_than_retries: {{ window_ms: {window} }}")];
    assert_eq!(of("backoff_ms: [400, 600]", 999, "max_attempts: 6"), told(999));
    assert!(of("backoff_ms: [400, 600]", 1000, "max_attempts: 6").is_empty());
    assert!(of("backoff_ms: [400, 600]", 0, "max_attempts: 6").is_empty());
    assert!(of("backoff_ms: [400, 600]", 999, "max_attempts: 6, call_timeout_ms: 999").is_empty());
    let jittered = "backoff: { kind: exponential, base_ms: 100, jitter: { proportional: { low: 1, high: 1.5 } } }";
    assert_eq!(of(jittered, 449, "max_attempts: 3"), told(449));
    assert!(of(jittered, 450, "max_attempts: 3").is_empty());
    let wish = "backoff_ms: [100], after: retry_after, max_wait_ms: 5000";
    assert_eq!(of(wish, 4999, "max_attempts: 6"), told(4999));
    assert!(of("backoff_ms: [100], after: retry_after", 4999, "max_attempts: 6").is_empty(), "nobody bounds the wish");
}

#[test]
fn a_takeover_before_the_first_attempt_has_timed_out_is_told() {
    let of = |takeover: u64, tools: &str| {
        let parts = format!("{tools}\ndedupe: {{ window_ms: 60000, takeover_ms: {takeover} }}");
        of_retry("not_applied", "backoff_ms: [100]", &parts)
    };
    let told = |takeover: u64| [format!("hasty_takeover: {{ window_ms: 60000, takeover_ms: {takeover} }}")];
    let tools = "tools: { a: { access: read, timeout_ms: 2000 }, b: { access: write, timeout_ms: 5000 } }";
    assert_eq!(of(4999, tools), told(4999));
    assert!(of(5000, tools).is_empty());
    assert_eq!(of(29_999, ""), told(29_999), "a tool that nobody declared has 30 s");
    assert!(of(30_000, "").is_empty());
}

#[test]
fn a_tool_whose_own_client_retries_too_is_told() {
    let of = |retries: &str, limits: &str| {
        let tools = format!("tools: {{ a: {{ access: read{retries} }} }}");
        of_retry("not_applied", "backoff_ms: [100, 200]", &format!("{tools}\nlimits: {{ {limits} }}"))
    };
    assert_eq!(of(", upstream_retries: 2", "max_attempts: 6"), ["layers_multiply: 2"]);
    assert!(of(", upstream_retries: 0", "max_attempts: 6").is_empty());
    assert!(of("", "max_attempts: 6").is_empty());
    let no_retries = "tools: { a: { access: read, upstream_retries: 2 } }";
    assert!(lints(&playbook("", "", no_retries)).is_empty());
}

#[cfg(debug_assertions)]
#[test]
fn each_regular_expression_is_compiled_for_comparison_once() {
    let playbook = |count: usize| {
        let rules = (0..count)
            .map(|n| format!("  - {{ rule: r{n}, when: {{ message: {{ matches: 'z.*q{n}x' }} }}, verdict: v }}\n"));
        let head = "format: playbook/1\nname: p\nverdicts:\n  v: { means: x, effect: unknown, then: { escalate_to_human: { queue: q } } }\nclassify:\n";
        let foot =
            "otherwise: unclassified\ndefault_queue: q\nqueues: [q]\nlimits: { max_attempts: 4, deadline_ms: 30000 }\n";
        parse(Source::whole("p", format!("{head}{}{foot}", rules.collect::<String>()))).expect("a playbook")
    };
    assert!(crate::steps::are_linear(20, playbook, |loaded| drop(lint(&loaded))));
}
