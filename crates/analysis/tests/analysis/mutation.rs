//! That mutants are small, distinct and named for good; that fixtures catch what they show, and nothing else does.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use playproof_analysis::mutation::{AcceptedMutant, Judgement, Mutant, MutationReport, judge, mutants};
use playproof_engine::playbook::Tools;
use playproof_explore::coverage::NamedFixture;
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;
use playproof_formats::playbook::{EMBEDDED, Loaded, SCHEMA, embedded, parse};

/// Two rules, one of which gives what `otherwise` gives; a retry; a refusal.
const SMALL: &str = "\
format: playbook/1
name: small
queues: [humans, night_shift]
default_queue: humans
verdicts:
  slow: { means: m, effect: unknown, then: { retry_with_backoff: { backoff_ms: [100, 200] } } }
  no: { means: m, effect: not_applied, then: { escalate_to_human: { queue: humans } } }
classify:
- { rule: slow, when: { kind: slow }, verdict: slow }
- { rule: denied, when: { kind: denied, status: 403 }, verdict: no }
- { rule: odd, when: { kind: odd }, verdict: unclassified }
otherwise: unclassified
limits: { max_attempts: 9 }
";

const SLOW: &str = "\
format: fixture/1
title: t
playbooks: [small]
calls:
  keyed: { tool: t, idempotency_key: k }
  unkeyed: { tool: t, args: { n: 1 } }
upstream:
  keyed: [{ error: { kind: slow } }, { error: { kind: slow } }, { error: { kind: slow } }]
  unkeyed: [{ error: { kind: slow } }]
expect: { small: { effects: 0 } }
";

const DENIED: &str = "\
format: fixture/1
title: t
playbooks: [small]
calls: { a: { tool: t, idempotency_key: k } }
upstream: { a: [{ error: { kind: denied, status: 403 } }] }
expect: { small: { effects: 0 } }
";

fn playbook(text: &str) -> Loaded {
    parse(Source::whole("t", text)).unwrap_or_else(|report| panic!("{report}"))
}

fn case(name: &str, text: &str) -> NamedFixture {
    let fixture = fixture::parse(Source::whole(name, text)).unwrap_or_else(|report| panic!("{report}\n{text}"));
    NamedFixture { name: name.to_owned(), fixture }
}

fn all_mutants(loaded: &Loaded) -> Vec<Mutant> {
    mutants(loaded).next_block(usize::MAX, NonZeroUsize::MIN).unwrap_or_default()
}

fn entry(mutant: &str) -> AcceptedMutant {
    AcceptedMutant { mutant: mutant.to_owned(), why: "because".to_owned(), span: 3..4 }
}

fn judged(text: &str, cases: &[NamedFixture], accepted: &[AcceptedMutant], jobs: usize) -> MutationReport {
    let jobs = NonZeroUsize::new(jobs).expect("threads");
    judge("small", &playbook(text), &Tools::default(), cases, accepted, jobs, u64::MAX)
}

fn judgement<'r>(report: &'r MutationReport, id: &str) -> &'r Judgement {
    let found = report.mutants.iter().find(|mutant| mutant.id == id);
    &found.unwrap_or_else(|| panic!("no `{id}` in {:#?}", report.mutants)).judgement
}

fn survivors(report: &MutationReport) -> Vec<&str> {
    report.survivors().map(|(mutant, _)| mutant.id.as_str()).collect()
}

#[test]
fn every_mutant_is_another_playbook_and_has_an_id_of_its_own() {
    for text in EMBEDDED.iter().filter_map(|name| embedded(name)).chain([HEADERS]) {
        let playbook = playbook(text);
        let (name, all) = (&playbook.playbook.name, all_mutants(&playbook));
        assert_eq!(all.iter().map(|mutant| &mutant.id).collect::<BTreeSet<_>>().len(), all.len());
        for mutant in all {
            assert_ne!(mutant.playbook, playbook.playbook, "{name}: {}", mutant.id);
        }
    }
}

#[test]
fn an_id_names_the_row_and_what_was_done_and_survives_an_edit_elsewhere() {
    let ids =
        |text: &str| all_mutants(&playbook(text)).into_iter().map(|mutant| mutant.id).collect::<BTreeSet<String>>();
    let before = ids(SMALL);
    for id in [
        "rule slow/drop",
        "rule denied/when.status-drop",
        "rule denied/when.status-to-403-404",
        "verdict slow/then.retry_with_backoff.backoff_ms.2-to-201",
        "verdict slow/then.retry_with_backoff.backoff_ms.200-drop",
        "verdict slow/then.retry_with_backoff.backoff_ms-longer",
        "verdict slow/effect-to-applied",
        "verdict slow/then-to-deprecate_tool_call",
        "verdict slow/then.retry_with_backoff.on_unsafe-to-escalate_to_human",
        "verdict no/then.escalate_to_human.queue-to-night_shift",
        "limit max_attempts/to-10",
        "study retry_guard/to-off",
    ] {
        assert!(before.contains(id), "{id} in {before:#?}");
    }
    let moved = SMALL.replace(
        "- { rule: slow,",
        "# a comment\n- { rule: first, when: { kind: first }, verdict: no }\n- { rule: slow,",
    );
    let after = ids(&moved);
    assert!(before.is_subset(&after), "{:?}", before.difference(&after));
}

/// Every condition on headers, and every way to read a wait from them.
const HEADERS: &str = "\
format: playbook/1
name: small
queues: [humans]
default_queue: humans
verdicts:
  told:
    means: m
    effect: not_applied
    then:
      retry_with_backoff:
        backoff_ms: [100]
        server_delay: { mode: exact, invalid: stop, negative: stop, multiple: stop }
  busy: { means: m, effect: not_applied, then: { deprecate_tool_call: { reason: busy } } }
  final: { means: m, effect: unknown, then: { deprecate_tool_call: { reason: final } } }
classify:
- { rule: final, when: { should_retry: false }, verdict: final }
- { rule: busy, when: { header: [{ name: x-busy, prefix: [a, b] }, { name: x-slots, range: [5, 9] }] }, verdict: busy }
- { rule: full, when: { header: { name: x-full } }, verdict: busy }
- { rule: told, when: { status: 429, header: { name: x-why, equals: [rate, quota] } }, verdict: told }
server_delay_sources:
- { header: wait-ms, format: ms }
- { header: wait, format: seconds, float: true }
- { header: wait, format: http_date }
- { header: reset, format: unix_ts }
limits: { max_attempts: 3 }
";

#[test]
fn fixtures_notice_what_is_told_and_without_them_it_survives() {
    let tell = "then: { deprecate_tool_call: { reason: busy } }, tell: { class: binding_failed, transient: true } }";
    let text_with = HEADERS.replacen("then: { deprecate_tool_call: { reason: busy } } }", tell, 1);
    assert_ne!(text_with, HEADERS);
    let report = judged(&text_with, &[], &[], 1);
    let of_tell: Vec<_> = report.mutants.iter().filter(|mutant| mutant.id.starts_with("verdict busy/tell")).collect();
    let ids: Vec<&str> = of_tell.iter().map(|mutant| mutant.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "verdict busy/tell-drop",
            "verdict busy/tell.class-to-connector_runtime_error",
            "verdict busy/tell.transient-to-false"
        ]
    );
    for mutant in of_tell {
        assert!(matches!(mutant.judgement, Judgement::Survived { .. }), "{}: a fixture would notice", mutant.id);
    }
    assert!(report.mutants.iter().all(|mutant| !mutant.id.starts_with("verdict told/tell")), "it has no `tell`");
}

#[test]
fn a_made_up_fixture_shows_every_change_of_what_headers_say() {
    let report = judged(HEADERS, &[], &[], 1);
    let ids: Vec<&str> = report.mutants.iter().map(|mutant| mutant.id.as_str()).collect();
    for id in [
        "rule final/when.should_retry-to-true",
        "rule busy/when.header.x-busy-drop",
        "rule busy/when.header.x-busy.prefix.b-drop",
        "rule busy/when.header.x-busy.prefix-to-equals",
        "rule busy/when.header.x-slots.range.2-to-10",
        "rule full/when.header.invert-to-true",
        "rule told/when.header-drop",
        "verdict told/then.retry_with_backoff.server_delay.negative-drop",
        "server_delay_sources/wait-drop-2",
        "server_delay_sources/wait-ms-behind-wait",
        "server_delay_sources/reset.float-to-true",
    ] {
        assert!(ids.contains(&id), "{id} in {ids:#?}");
    }
    let of_headers = |id: &str| {
        ["when.header", "should_retry", "negative-drop", "server_delay_sources"].iter().any(|part| id.contains(part))
    };
    let hidden = report.mutants.iter().filter(|mutant| of_headers(&mutant.id));
    let hidden: Vec<&str> = hidden
        .filter(|mutant| !matches!(mutant.judgement, Judgement::Survived { .. }))
        .map(|mutant| &*mutant.id)
        .collect();
    assert_eq!(hidden, ["server_delay_sources/wait-behind-wait"], "no value is both a number and a date");
}

#[test]
fn every_part_of_a_breaker_and_of_a_retry_budget_has_its_mutants() {
    let window = "window: { calls: 5 }, min_calls: 4, failure_rate: 1, open_ms: 9";
    let breakers = [
        "window: { time_ms: 100 }, failure_count: 2, open_backoff: { kind: linear, base_ms: 9, increment_ms: 1 }",
        "window: { time_ms: 100, align: epoch }, failure_count: 2, evaluate_on: any, open_ms: 9, open_boundary: '>'",
        "window: { calls: 5 }, min_calls: 1, slow_call_ms: 7, slow_call_rate: 0.5, failure_count: 1, open_ms: 9",
        &format!("{window}, half_open: {{ mode: single_probe, another_after_ms: 5 }}"),
        &format!("{window}, half_open: {{ mode: evaluate_rate, permits: 3, max_wait_ms: 5 }}"),
        &format!("{window}, half_open: {{ mode: evaluate_rate, permits: 5 }}"),
        &format!("{window}, half_open: {{ mode: thresholds, capacity: 4, success_threshold: 2 }}"),
        &format!("{window}, half_open: {{ mode: thresholds, capacity: 4, failure_threshold: 4 }}"),
    ];
    let budgets = [
        "kind: token_bucket, capacity: 500, cost: 14",
        "kind: throttle, max_tokens: 10, token_ratio: 0.1",
        "kind: deposit_withdraw, ttl_ms: 10000, min_retries_per_sec: 10, retry_percent: 0.2",
        "kind: concurrency_ratio, budget_percent: 20, min_retry_concurrency: 3",
        "kind: inflight_share, max_share: 0.2, min_retry_concurrency: 3, per: dispatcher, on_empty: wait_and_stop",
    ];
    let named = |rows: &[&str]| {
        let rows: Vec<String> = rows.iter().enumerate().map(|(n, row)| format!("r{n}: {{ {row} }}")).collect();
        rows.join(", ")
    };
    let shared = format!("breakers: {{ {} }}\nretry_budgets: {{ {} }}\nlimits:", named(&breakers), named(&budgets));
    let retry = "backoff_ms: [100, 200], retry_budget: r0, cost: 5, uncounted: true";
    let text = SMALL.replace("limits:", &shared).replace("backoff_ms: [100, 200]", retry);
    let playbook = playbook(&text);
    let all: Vec<_> = all_mutants(&playbook);
    let ids: BTreeSet<&str> = all.iter().map(|mutant| mutant.id.as_str()).collect();
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).expect("JSON");
    for (row, part, own) in [("breaker ", "breakers", "window"), ("retry_budget ", "retry_budgets", "kind")] {
        let keys = schema["properties"][part]["additionalProperties"]["properties"].as_object().expect("keys");
        let varies = |key: &str| ids.iter().any(|id| id.starts_with(row) && id.contains(&format!("/{key}")));
        let missing: Vec<&String> = keys.keys().filter(|key| *key != own && !varies(key)).collect();
        assert_eq!(missing, [""; 0], "{row}: {ids:#?}");
    }
    // What the format refuses is no mutant: more probes than the window, a threshold above the capacity, no threshold.
    for refused in ["r5/half_open.permits-to-6", "r7/half_open.failure_threshold-to-5", "r0/failure_count-drop"] {
        assert!(!ids.contains(&*format!("breaker {refused}")), "{refused}");
    }
    for id in [
        "breaker r3/half_open-drop",
        "breaker r3/half_open.mode-to-evaluate_rate",
        "breaker r0/open_backoff-to-open_ms",
        "verdict slow/then.retry_with_backoff.retry_budget-drop",
        "verdict slow/then.retry_with_backoff.cost-to-6",
        "verdict slow/then.retry_with_backoff.cost-drop",
        "verdict slow/then.retry_with_backoff.uncounted-drop",
        "verdict slow/breaker-to-failure",
        "verdict slow/breaker-to-success",
    ] {
        assert!(ids.contains(id), "{id} in {ids:#?}");
    }
}

#[test]
fn a_playbook_without_breakers_has_no_mutants_of_marks() {
    assert!(!all_mutants(&playbook(SMALL)).iter().any(|mutant| mutant.id.contains("/breaker-")));
}

#[test]
fn the_reserved_verdict_keeps_what_the_format_keeps() {
    let standard = playbook(embedded("standard").expect("embedded"));
    let all: Vec<_> = all_mutants(&standard);
    let reserved: Vec<&str> =
        all.iter().filter(|mutant| mutant.row == "verdict unclassified").map(|mutant| mutant.id.as_str()).collect();
    assert_eq!(reserved, ["verdict unclassified/then.escalate_to_human.queue-to-credentials"]);
}

#[test]
fn a_change_that_a_fixture_shows_is_caught_by_it() {
    let report = judged(SMALL, &[case("slow", SLOW), case("denied", DENIED)], &[], 1);
    assert_eq!(*judgement(&report, "study retry_guard/to-off"), Judgement::Caught(vec![0]));
    assert_eq!(
        *judgement(&report, "verdict slow/then.retry_with_backoff.backoff_ms.2-to-201"),
        Judgement::Caught(vec![0])
    );
    assert_eq!(*judgement(&report, "verdict slow/effect-to-not_applied"), Judgement::Caught(vec![0]));
    assert_eq!(
        *judgement(&report, "verdict no/then.escalate_to_human.queue-to-night_shift"),
        Judgement::Caught(vec![1])
    );
    assert_eq!(*judgement(&report, "rule denied/drop"), Judgement::Caught(vec![1]));
    assert_eq!(report.runs, report.mutants.len() * 2);
}

#[test]
fn without_its_fixture_the_same_change_survives_and_the_report_says_what_would_show_it() {
    let report = judged(SMALL, &[case("denied", DENIED)], &[], 1);
    assert!(survivors(&report).contains(&"study retry_guard/to-off"));
    assert!(!report.is_settled());
    let playbook = playbook(SMALL);
    for (mutant, shown_by) in report.survivors() {
        // What is shown is a fixture, and with it the mutant is caught.
        let report = judge(
            "small",
            &playbook,
            &Tools::default(),
            &[case("new", &shown_by.text)],
            &[],
            NonZeroUsize::MIN,
            u64::MAX,
        );
        assert_eq!(*judgement(&report, &mutant.id), Judgement::Caught(vec![0]), "{} by\n{}", mutant.id, shown_by.text);
    }
}

#[test]
fn the_name_of_the_rule_that_spoke_catches_nothing() {
    // `odd` and `otherwise` give the same verdict: only the rule's name would tell them apart.
    let odd = DENIED.replace("kind: denied, status: 403", "kind: odd");
    let report = judged(SMALL, &[case("odd", &odd)], &[], 1);
    assert_eq!(*judgement(&report, "rule odd/drop"), Judgement::NotShown);
}

#[test]
fn a_change_that_no_made_up_fixture_shows_is_said_to_be_just_that() {
    let report = judged(SMALL, &[case("slow", SLOW), case("denied", DENIED)], &[], 1);
    assert_eq!(*judgement(&report, "limit max_attempts/to-10"), Judgement::NotShown, "three attempts at most");
}

#[test]
fn an_accepted_survivor_is_no_survivor() {
    let without = judged(SMALL, &[case("slow", SLOW), case("denied", DENIED)], &[], 1);
    let accepted: Vec<AcceptedMutant> = survivors(&without).into_iter().map(entry).collect();
    assert!(!accepted.is_empty());
    let report = judged(SMALL, &[case("slow", SLOW), case("denied", DENIED)], &accepted, 1);
    assert!(report.is_settled());
    assert!(matches!(judgement(&report, &accepted[0].mutant), Judgement::Accepted { why, .. } if why == "because"));
    let report = judged(SMALL, &[case("slow", SLOW), case("denied", DENIED)], &accepted[1..], 1);
    assert_eq!(survivors(&report), [accepted[0].mutant.as_str()], "a new survivor");
    assert!(!report.is_settled());
}

#[test]
fn an_entry_that_accepts_nothing_is_stale_and_says_why() {
    let cases = [case("slow", SLOW), case("denied", DENIED)];
    let why = |mutant: &str| {
        let report = judged(SMALL, &cases, &[entry(mutant)], 1);
        assert!(!report.is_settled());
        let [stale] = report.stale.as_slice() else { panic!("{:?}", report.stale) };
        assert_eq!(stale.span, 3..4);
        stale.why.clone()
    };
    assert_eq!(why("rule denied/drop"), "the fixture `denied` catches it");
    assert_eq!(why("limit max_attempts/to-10"), "no synthetic fixture shows a difference either");
    assert_eq!(why("rule denyed/drop"), "there is no such mutant; did you mean `rule denied/drop`?");
    assert_eq!(why("nonsense"), "there is no such mutant");
}

#[test]
fn any_number_of_threads_says_the_same() {
    let cases = [case("slow", SLOW)];
    let one = judged(SMALL, &cases, &[], 1);
    for jobs in [2, 3, 64] {
        assert_eq!(judged(SMALL, &cases, &[], jobs), one);
    }
}

#[test]
fn where_the_simulated_calls_are_used_up_the_rest_is_not_judged_and_what_was_is_judged_alike() {
    let (playbook, cases) = (playbook(SMALL), [case("denied", DENIED)]);
    let judged = |most| {
        let report = judge("small", &playbook, &Tools::default(), &cases, &[], NonZeroUsize::MIN, most);
        report.mutants.into_iter().map(|mutant| mutant.judgement).collect::<Vec<_>>()
    };
    let all = judged(u64::MAX);
    let mut ends = BTreeSet::new();
    for most in [0, 1, 10, 100, 1_000, 3_000, 10_000] {
        let some = judged(most);
        let end = some.iter().position(|judgement| *judgement == Judgement::NotJudged).unwrap_or(all.len());
        assert_eq!(some[..end], all[..end], "of {most}");
        assert!(some[end..].iter().all(|judgement| *judgement == Judgement::NotJudged), "of {most}: {some:?}");
        ends.insert(end);
    }
    assert!(ends.contains(&0) && ends.iter().any(|end| (1..all.len()).contains(end)), "{ends:?} of {}", all.len());
}

#[test]
fn a_changed_fact_of_a_tool_is_caught_by_a_call_of_it() {
    let text = SMALL.replace("limits:", "tools: { t: { access: write } }\nlimits:");
    let report = judged(&text, &[case("slow", SLOW)], &[], 1);
    assert_eq!(*judgement(&report, "tool t/access-to-read"), Judgement::Caught(vec![0]));
    assert_eq!(*judgement(&report, "tool t/idempotent-to-true"), Judgement::Caught(vec![0]));
}

#[test]
fn another_tool_of_an_action_is_caught_by_a_call_of_the_action() {
    let text = SMALL.replace("when: { kind: slow }", "when: { kind: slow, tool: t }");
    let text = text.replace("limits:", "actions: { buy: { tool: t } }\nlimits:");
    let buys = DENIED.replace("{ tool: t, idempotency_key: k }", "{ action: buy, idempotency_key: k }");
    let report = judged(&text, &[case("buys", &buys.replace("kind: denied, status: 403", "kind: slow"))], &[], 1);
    assert_eq!(*judgement(&report, "action buy/tool-drop"), Judgement::Caught(vec![0]));
}

#[test]
fn another_fact_of_a_tool_is_another_one_also_where_its_row_leaves_it_out() {
    let playbook = playbook(&SMALL.replace("limits:", "tools: { t: { access: write } }\nlimits:"));
    let of_tools = all_mutants(&playbook).into_iter().filter(|mutant| mutant.row.starts_with("tool"));
    let facts: Vec<_> = of_tools.map(|mutant| mutant.playbook.tools.facts("t")).collect();
    assert_eq!(facts.len(), 11, "dropped, each fact another, and three timeouts");
    assert!(facts.iter().all(|facts| *facts != playbook.playbook.tools.facts("t")), "{facts:?}");
}

#[test]
fn what_calls_share_and_the_facts_that_it_needs_have_mutants() {
    let shares = "dedupe: { window_ms: 500 }\npermits: { max_in_flight: 2, queue: 3 }\n\
                  tools: { t: { access: write, server: pay, key: required }, u: { access: write, keys: ignored } }\nlimits:";
    let playbook = playbook(&SMALL.replace("limits:", shares));
    let all: Vec<_> = all_mutants(&playbook);
    let changed = |id: &str| {
        let mutant = all.iter().find(|mutant| mutant.id == id).unwrap_or_else(|| panic!("{id}"));
        mutant.playbook.clone()
    };
    let keys = |id: &str| changed(id).sharing.dedupe.map(|dedupe| (dedupe.window.as_millis(), dedupe.most_keys));
    assert_eq!(
        (keys("dedupe/window_ms-to-501"), keys("dedupe/most_keys-to-1")),
        (Some((501, 100_000)), Some((500, 1)))
    );
    assert_eq!(changed("permits/queue-to-0").sharing.permits.map(|permits| permits.queue), Some(0));
    assert_eq!((playbook.playbook.tools.server("t"), changed("tool t/server-drop").tools.server("t")), ("pay", "t"));
    assert!(!changed("tool t/key-drop").tools.facts("t").needs_key);
    assert!(changed("tool t/keys-to-ignored").tools.facts("t").ignores_keys);
    assert!(!changed("tool u/keys-drop").tools.facts("u").ignores_keys);
    // Where no key is shared, only a fact that a row declares has a mutant.
    let alone = self::playbook(&SMALL.replace("limits:", "tools: { t: { access: write } }\nlimits:"));
    assert!(!all_mutants(&alone).iter().any(|mutant| mutant.id == "tool t/keys-to-ignored"));
}
