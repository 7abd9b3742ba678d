//! Suggestions cover what they list, unreachable targets are unreachable, and missing targets are noticed.

use super::measure::targets_of;
use super::probes::{Probe, probes};
use super::reach::Reach;
use super::target::{Target, TargetKind};
use super::{CoverageReport, NamedFixture, TargetState, measure};
use crate::{expected, to_yaml};
use playproof_engine::fixture::{Fixture, FixtureTool};
use playproof_engine::playbook::{Access, Tools};
use playproof_engine::sim::{Plan, Scenario, Simulator, contradictions};
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;
use playproof_formats::playbook::{EMBEDDED, Loaded, embedded, parse};

/// A playbook in which much cannot happen.
const NARROW: &str = "\
format: playbook/1
name: narrow
queues: [humans, attic]
default_queue: humans
verdicts:
  slow: { means: m, effect: not_applied, then: { retry_with_backoff: { backoff_ms: [100, 200] } } }
  busy:
    means: m
    effect: unknown
    then: { retry_with_backoff: { backoff_ms: [100], after: retry_after, max_wait_ms: 5000 } }
  lonely: { means: m, effect: unknown, then: { deprecate_tool_call: { reason: r } } }
classify:
- { rule: slow, when: { kind: [slow, slower] }, verdict: slow }
- { rule: slower, when: { kind: slower, keyed: true }, verdict: lonely }
- { rule: busy, when: { status: 429, keyed: true, message: { matches: 'try (again|later)' } }, verdict: busy }
- { rule: odd, when: { kind: odd, message: { matches: 'a^' } }, verdict: slow }
otherwise: unclassified
limits: { max_attempts: 9 }
";

fn load(text: &str) -> Loaded {
    parse(Source::whole("t", text)).unwrap_or_else(|report| panic!("{report}"))
}

fn shipped() -> Vec<Loaded> {
    EMBEDDED.iter().map(|name| load(embedded(name).expect("embedded"))).chain([load(NARROW)]).collect()
}

fn case(name: &str, text: &str) -> NamedFixture {
    let fixture = fixture::parse(Source::whole(name, text)).unwrap_or_else(|report| panic!("{report}\n{text}"));
    NamedFixture { name: name.to_owned(), fixture }
}

fn bare(loaded: &Loaded) -> CoverageReport {
    measure(&loaded.playbook.name, loaded, &Tools::default(), &[])
}

fn state<'r>(report: &'r CoverageReport, id: &str) -> &'r TargetState {
    &report.targets.iter().find(|target| target.id == id).unwrap_or_else(|| panic!("no `{id}`")).state
}

fn why<'r>(report: &'r CoverageReport, id: &str) -> &'r str {
    match state(report, id) {
        TargetState::Unreachable(why) => why,
        other => panic!("`{id}` is {other:?}"),
    }
}

#[test]
fn a_suggested_fixture_parses_runs_meets_its_expect_and_covers_what_it_lists() {
    for loaded in shipped() {
        let report = bare(&loaded);
        assert!(!report.suggestions.is_empty());
        let plan = Plan::new(loaded.playbook.clone(), &Tools::default());
        for suggestion in &report.suggestions {
            let case = case(&suggestion.name, &suggestion.text);
            let scenario = Scenario::of_fixture(&case.fixture, &plan);
            let mut simulator = Simulator::new();
            let record = simulator.run_fixture(&plan, &scenario);
            let wrong = contradictions(&case.fixture.expect[&*plan.playbook.name], &plan, &scenario, record);
            assert_eq!(wrong, [], "{}", suggestion.text);
            let covered = targets_of(&plan, &case.fixture, &mut simulator);
            for &place in &suggestion.adds {
                let target = &report.targets[place];
                assert!(covered.contains(&target.target), "{} by\n{}", target.id, suggestion.text);
            }
        }
    }
}

#[test]
fn with_every_suggestion_taken_nothing_reachable_is_left() {
    for loaded in shipped() {
        let cases: Vec<NamedFixture> = bare(&loaded).suggestions.iter().map(|one| case(&one.name, &one.text)).collect();
        let report = measure(&loaded.playbook.name, &loaded, &Tools::default(), &cases);
        assert!(report.suggestions.is_empty(), "{:?}", report.suggestions);
    }
}

#[test]
fn a_probe_of_drawn_waits_can_be_written_and_read_again() {
    let name = "preset/polly";
    let plan = Plan::new(load(embedded(name).expect("embedded")).playbook, &Tools::default());
    let mut simulator = Simulator::new();
    for Probe { name: file, mut fixture, .. } in probes(&plan, name) {
        let scenario = Scenario::of_fixture(&fixture, &plan);
        let expect = expected(&plan, &scenario, simulator.run_fixture(&plan, &scenario));
        fixture.expect.insert(name.to_owned(), expect.into());
        case(&file, &to_yaml(&fixture)); // reads it
    }
}

#[test]
fn suggestions_have_unique_names() {
    for loaded in shipped() {
        let plan = Plan::new(loaded.playbook, &Tools::default());
        let mut names: Vec<String> = probes(&plan, "x").into_iter().map(|probe| probe.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}

#[test]
fn no_probe_reaches_an_unreachable_target() {
    for loaded in shipped() {
        let (reach, plan) = (Reach::new(&loaded), Plan::new(loaded.playbook.clone(), &Tools::default()));
        let mut simulator = Simulator::new();
        for probe in probes(&plan, &plan.playbook.name) {
            for target in targets_of(&plan, &probe.fixture, &mut simulator) {
                assert_eq!(reach.why_not(target), None, "{} by {}", target.id(&plan.playbook), probe.name);
            }
        }
    }
}

#[test]
fn every_target_of_standard_is_decided() {
    for name in ["standard", "reversing"] {
        let report = bare(&load(embedded(name).expect("embedded")));
        let doubtful: Vec<&str> = report
            .targets
            .iter()
            .filter(|target| target.state == TargetState::Undecided)
            .map(|target| &*target.id)
            .collect();
        assert!(doubtful.is_empty(), "{name}: {doubtful:#?}");
    }
}

#[test]
fn an_unreachable_target_has_a_reason() {
    let report = bare(&load(NARROW));
    assert!(why(&report, "rule slower").contains("`slow` matches the same failures first"));
    assert_eq!(why(&report, "verdict lonely"), "no rule that can match gives it");
    assert_eq!(why(&report, "compensation lonely deprecate_tool_call"), "no rule that can match gives it");
    assert!(why(&report, "retry_guard slow stops").contains("`effect: not_applied`"));
    assert!(why(&report, "retry_guard busy stops").contains("keyed calls only"));
    assert_eq!(why(&report, "outcome reversed"), "nothing issues a reversal");
    assert_eq!(why(&report, "outcome deprecated"), "nothing deprecates a call");
    assert_eq!(why(&report, "stop deadline"), "there is no deadline");
    assert!(why(&report, "stop max_attempts").contains("stay within"));
    assert_eq!(why(&report, "stop refresh_failed"), "nothing refreshes evidence");
    assert_eq!(why(&report, "queue attic"), "nothing that can happen escalates to it");
    assert_eq!(why(&report, "cell busy write unkeyed tokenless first"), "none of its rules matches such a call");
    assert!(matches!(state(&report, "stop max_wait"), TargetState::Reachable(_)));
    assert!(matches!(state(&report, "queue humans"), TargetState::Reachable(_)));
}

#[test]
fn a_rule_without_a_synthetic_failure_is_not_unreachable() {
    assert_eq!(*state(&bare(&load(NARROW)), "rule odd"), TargetState::Undecided);
}

#[test]
fn a_playbook_that_sends_once_has_no_later_cells() {
    let report = bare(&load(&NARROW.replace("max_attempts: 9", "max_attempts: 1")));
    assert_eq!(why(&report, "cell slow write keyed tokenless later"), "a call has one attempt");
    assert_eq!(why(&report, "outcome succeeded_after_compensation"), "a call has one attempt");
    assert!(matches!(state(&report, "stop max_attempts"), TargetState::Reachable(_)));
}

#[test]
fn what_one_fixture_covers_is_counted_and_named() {
    let loaded = load(NARROW);
    let text = "format: fixture/1\ntitle: t\nplaybooks: [narrow]\ncalls:\n  a: { tool: t, idempotency_key: k }\n\
                upstream:\n  a: [{ error: { kind: slow } }, { ok: {} }]\nexpect: { narrow: { effects: 1 } }\n";
    let report = measure(&loaded.playbook.name, &loaded, &Tools::default(), &[case("a", text), case("b", text)]);
    assert_eq!(*state(&report, "rule slow"), TargetState::Covered(vec![0, 1]));
    assert_eq!(*state(&report, "retry_guard slow passes"), TargetState::Covered(vec![0, 1]));
    assert_eq!(*state(&report, "cell slow write keyed tokenless first"), TargetState::Covered(vec![0, 1]));
    assert!(matches!(state(&report, "cell slow write keyed tokenless later"), TargetState::Reachable(_)));
    assert_eq!(report.tally(Some(TargetKind::Rules)), (1, 4), "three rules and `otherwise` can speak; one does");
    assert!(report.permille() > 0 && report.permille() < 300);
    let rule = report.targets.iter().find(|target| matches!(target.target, Target::Rule(_))).expect("a rule");
    assert_eq!(rule.place.clone().map(|place| &NARROW[place]), Some("slow"));
}

#[test]
fn a_tool_row_counts_only_where_no_stronger_row_overrides_it() {
    let loaded = load(&NARROW.replace("limits:", "tools: { t: { access: read } }\nlimits:"));
    let text = "format: fixture/1\ntitle: t\nplaybooks: [narrow]\ncalls:\n  a: { tool: t }\n\
                expect: { narrow: { effects: 0 } }\n";
    let report = measure(&loaded.playbook.name, &loaded, &Tools::default(), &[case("a", text)]);
    assert_eq!(*state(&report, "tool t"), TargetState::Covered(vec![0]));
    let own = text.replace("expect:", "tools: { t: { access: write } }\nexpect:");
    let report = measure(&loaded.playbook.name, &loaded, &Tools::default(), &[case("a", &own)]);
    assert!(matches!(state(&report, "tool t"), TargetState::Reachable(_)));
}

#[test]
fn a_tool_row_counts_under_a_stronger_row_that_leaves_out_one_of_its_facts() {
    let with = |rows: &str| load(&NARROW.replace("limits:", &format!("tools: {{ {rows} }}\nlimits:")));
    let covers = |own: &str, stronger: &str| {
        let text = "format: fixture/1\ntitle: t\nplaybooks: [narrow]\ncalls:\n  a: { tool: t }\n\
                    expect: { narrow: { effects: 0 } }\n";
        let report = measure("narrow", &with(own), &with(stronger).playbook.tools, &[case("a", text)]);
        report
            .targets
            .iter()
            .any(|target| matches!(target.target, Target::Tool(_)) && matches!(target.state, TargetState::Covered(_)))
    };
    assert!(covers("t: { access: write, timeout_ms: 5000 }", "t: { access: write }"));
    assert!(!covers("t: { access: write, timeout_ms: 5000 }", "t: { access: write, timeout_ms: 7 }"));
    assert!(!covers("t: { access: read }", "t: { access: write }"), "all that it says is said");
    let all = "{ access: write, idempotent: false, repeatable: false, timeout_ms: 7 }";
    assert!(covers("t: { access: read }", &format!("'t*': {all}")), "a name speaks before a glob");
    assert!(!covers("'t*': { access: read, timeout_ms: 5000 }", &format!("'t*': {all}")));
    assert!(covers("'t*': { access: read, timeout_ms: 5000 }", "t: { access: write }"));
}

/// `NARROW` with a breaker; `mark` is what the verdict `slow` says to it.
fn breaking(mark: &str, half_open: &str) -> Loaded {
    let breaker =
        format!("{{ window: {{ calls: 4 }}, min_calls: 3, failure_rate: 0.5, open_ms: 900, half_open: {half_open} }}");
    let text = NARROW.replace("slow: { means: m,", &format!("slow: {{ means: m,{mark}"));
    load(&text.replace("limits:", &format!("breakers: {{ default: {breaker} }}\nlimits:")))
}

#[test]
fn each_transition_of_a_breaker_is_a_target_and_a_missing_one_has_a_suggestion() {
    let steps = ["closed_to_open", "open_to_half_open", "half_open_to_closed", "half_open_to_open"];
    let ids = steps.map(|step| format!("circuit default {step}"));
    let opens = "format: fixture/1\ntitle: t\nplaybooks: [narrow]\ncalls:\n  a: { tool: t, idempotency_key: k }\n\
                 upstream:\n  a: [{ error: { kind: slow } }, { error: { kind: slow } }, { error: { kind: slow } }]\n\
                 expect: { narrow: { effects: 0 } }\n";
    for half_open in [
        "{ mode: single_probe }",
        "{ mode: evaluate_rate, permits: 3 }",
        "{ mode: thresholds, capacity: 3, success_threshold: 2 }",
    ] {
        let loaded = breaking(" breaker: failure,", half_open);
        let measured = |cases: &[NamedFixture]| measure("narrow", &loaded, &Tools::default(), cases);
        let report = measured(&[case("opens", opens)]);
        let covered = ids.each_ref().map(|id| matches!(state(&report, id), TargetState::Covered(_)));
        assert_eq!(covered, [true, false, false, false], "{half_open}");
        assert_eq!(report.tally(Some(TargetKind::Circuits)), (1, 4));
        let rest = ids.iter().skip(1).all(|id| matches!(state(&report, id), TargetState::Reachable(_)));
        assert!(rest, "{half_open}: {:?}", ids.each_ref().map(|id| state(&report, id)));
        let suggested: Vec<NamedFixture> = report.suggestions.iter().map(|one| case(&one.name, &one.text)).collect();
        assert_eq!(
            measured(&[&suggested[..], &[case("opens", opens)]].concat()).tally(Some(TargetKind::Circuits)),
            (4, 4)
        );
        let works: Vec<NamedFixture> = suggested.into_iter().filter(|one| !one.name.ends_with("fails-again")).collect();
        assert_eq!(measured(&works).tally(Some(TargetKind::Circuits)), (3, 4), "{half_open}");
    }
}

#[test]
fn a_breaker_that_no_failure_opens_makes_no_transition() {
    let report = bare(&breaking("", "{ mode: single_probe }"));
    assert_eq!(why(&report, "circuit default half_open_to_open"), "no verdict is a failure of its server");
    assert_eq!(report.tally(Some(TargetKind::Circuits)), (0, 0));
    assert_eq!(bare(&load(NARROW)).tally(Some(TargetKind::Circuits)), (0, 0), "it has none");
}

/// The playbook's facts of the tools that the calls of a fixture are made of, and what the fixture says of them instead.
fn untrue_facts(plan: &Plan, fixture: &Fixture) -> Vec<String> {
    let told = |row: &&FixtureTool| plan.facts(&row.pattern).declared;
    let is_true = |row: &FixtureTool| plan.facts(&row.pattern).access == access(row.writes);
    fixture.tools.iter().filter(told).filter(|row| !is_true(row)).map(|row| row.pattern.clone()).collect()
}

fn access(writes: bool) -> Access {
    if writes { Access::Write } else { Access::Read }
}

#[test]
fn no_probe_turns_a_declared_read_into_a_write_or_the_other_way_round() {
    let declared = "tools: { 'orders.*': { access: read }, ask: { access: read } }\nlimits:";
    let asks = "- { rule: asked, when: { kind: asked, tool: ask }, verdict: slow }\notherwise:";
    let breaker = "breakers: { ask: { window: { calls: 4 }, min_calls: 3, failure_rate: 0.5, open_ms: 900 } }\nlimits:";
    let text = NARROW.replace("limits:", declared).replace("otherwise:", asks).replace("limits:", breaker);
    let own = load(&text.replace("slow: { means: m,", "slow: { means: m, breaker: failure,"));
    for loaded in shipped().into_iter().chain([own]) {
        let plan = Plan::new(loaded.playbook, &Tools::default());
        for probe in probes(&plan, "x") {
            assert_eq!(
                untrue_facts(&plan, &probe.fixture),
                [""; 0],
                "{}: {}",
                plan.playbook.name,
                to_yaml(&probe.fixture)
            );
        }
    }
}

#[test]
fn an_example_tool_that_is_declared_otherwise_gives_way_to_another() {
    let loaded = load(&NARROW.replace("limits:", "tools: { 'orders.*': { access: read } }\nlimits:"));
    let report = bare(&loaded);
    assert!(matches!(state(&report, "cell slow write keyed tokenless first"), TargetState::Reachable(_)));
    assert!(matches!(state(&report, "cell slow read keyed tokenless first"), TargetState::Reachable(_)));
    let all = load(&NARROW.replace("limits:", "tools: { '*.*': { access: read } }\nlimits:"));
    assert_eq!(*state(&bare(&all), "cell slow write keyed tokenless first"), TargetState::Undecided);
}

#[test]
fn a_suggestion_calls_the_tool_that_its_title_names() {
    for name in ["coffee", "steps"] {
        let plan = Plan::new(load(embedded(name).expect("embedded")).playbook, &Tools::default());
        let mut named = 0;
        for Probe { fixture, .. } in probes(&plan, name) {
            let rows = plan.playbook.tools.rows().iter().filter(|row| fixture.title.contains(&row.pattern));
            for row in rows {
                let scenario = Scenario::of_fixture(&fixture, &plan);
                let scripted = scenario.calls.iter().filter(|call| call.tool_name == row.pattern);
                assert!(scripted.count() > 0, "{}", to_yaml(&fixture));
                named += 1;
            }
        }
        assert!(named > 3, "{name}: {named}");
    }
}

#[test]
fn the_answers_of_a_step_are_those_that_the_title_speaks_of() {
    let plan = Plan::new(load(embedded("steps").expect("embedded")).playbook, &Tools::default());
    let all = probes(&plan, "steps");
    let found = all.iter().find(|probe| probe.fixture.title == "no_answer on an unkeyed call of slack.post");
    let text = to_yaml(&found.expect("a probe of the step").fixture);
    assert!(text.contains("action: ship_update"), "{text}");
    assert!(text.contains("      post:\n        attempts:\n          - { timeout: {} }"), "{text}");
}
