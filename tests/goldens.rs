//! Every fixture under each of its playbooks: the run shows what the fixture says it shows, and equals its golden.
//! A changed golden is left beside the old one as `.snap.new`; `cargo insta review` reads it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use playproof_analysis::check::body_of;
use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Plan, Scenario, Simulator, contradictions};
use playproof_engine::upstream::{Ledger, Upstream};
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;
use playproof_formats::playbook;

const DEFAULT_PLAYBOOK: &str = "standard";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn fixtures() -> Vec<(String, Fixture)> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(root().join("fixtures")).expect("fixtures/").map(|entry| entry.expect("entry").path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (stem(&path), read(&path))).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a file name").to_string_lossy().into_owned()
}

pub fn read(path: &Path) -> Fixture {
    let source = Source::whole(path.to_string_lossy(), fs::read_to_string(path).expect("readable"));
    fixture::parse(source).unwrap_or_else(|report| panic!("{report}"))
}

pub fn plan(name: &str) -> Plan {
    let text = playbook::embedded(name).unwrap_or_else(|| panic!("no playbook `{name}`"));
    let loaded = playbook::parse(Source::whole(name, text)).unwrap_or_else(|report| panic!("{report}"));
    Plan::new(loaded.playbook, &Tools::default())
}

pub fn playbooks(fixture: &Fixture) -> Vec<String> {
    if fixture.playbooks.is_empty() { vec![DEFAULT_PLAYBOOK.to_owned()] } else { fixture.playbooks.clone() }
}

/// What the fixture shows under the playbook, as a golden's text, and in what it contradicts its `expect`.
pub fn run(fixture: &Fixture, name: &str) -> (String, Vec<String>) {
    let plan = plan(name);
    let scenario = Scenario::of_fixture(fixture, &plan);
    let mut simulator = Simulator::new();
    let record = simulator.run_fixture(&plan, &scenario);
    let expect = fixture.expect.get(name).unwrap_or_else(|| panic!("nothing is expected of `{name}`"));
    let wrong = contradictions(expect, &plan, &scenario, record).iter().map(ToString::to_string).collect();
    (body_of(&plan, &scenario, record).render(), wrong)
}

#[test]
fn every_fixture_shows_what_it_says_it_shows() {
    let mut wrong = Vec::new();
    for (name, fixture) in fixtures() {
        for playbook in playbooks(&fixture) {
            let (_, contradictions) = run(&fixture, &playbook);
            wrong.extend(contradictions.iter().map(|what| format!("{name} under {playbook}: {what}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_run_equals_its_golden() {
    for (name, fixture) in fixtures() {
        for playbook in playbooks(&fixture) {
            let (text, _) = run(&fixture, &playbook);
            let mut settings = insta::Settings::clone_current();
            settings.set_snapshot_path(root().join("goldens").join(&playbook));
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            settings.set_info(&serde_json::json!({ "fixture": name, "playbook": playbook }));
            settings.bind(|| insta::assert_snapshot!(name.as_str(), text));
        }
    }
}

#[test]
fn a_run_is_the_same_every_time_and_in_a_used_simulator() {
    let mut simulator = Simulator::new();
    for (_, fixture) in fixtures() {
        let plan = plan(&playbooks(&fixture)[0]);
        let scenario = Scenario::of_fixture(&fixture, &plan);
        let used = simulator.run_fixture(&plan, &scenario).clone();
        assert_eq!(used, *Simulator::new().run_fixture(&plan, &scenario));
    }
}

#[test]
fn a_run_that_is_driven_step_by_step_is_the_same() {
    let mut asked = 0;
    for (_, fixture) in fixtures() {
        for playbook in playbooks(&fixture) {
            let plan = plan(&playbook);
            let scenario = Scenario::of_fixture(&fixture, &plan);
            let (mut simulator, mut upstream) = (Simulator::new(), Upstream::default());
            upstream.clear(scenario.keys);
            for &effect in &scenario.before {
                upstream.add_existing(effect);
            }
            simulator.begin(&scenario);
            while let Some(request) = simulator.next(&plan, &scenario) {
                let answer = upstream.handle_request(&request, scenario.calls[request.call.index()].source);
                simulator.answer(&request, answer);
                asked += 1;
            }
            let mut ledger = Ledger::default();
            upstream.swap_ledger(&mut ledger);
            let driven = simulator.finish(&plan, &scenario, ledger).clone();
            assert_eq!(driven, *Simulator::new().run_fixture(&plan, &scenario));
        }
    }
    assert!(asked > 100, "{asked} answers were needed");
}

#[test]
fn a_result_that_contradicts_expect_is_named() {
    let (_, mut fixture) = fixtures().into_iter().next().expect("a fixture");
    let name = playbooks(&fixture)[0].clone();
    let expect = fixture.expect.get_mut(&name).expect("expectations");
    expect.effects = Some(77);
    expect.calls.values_mut().for_each(|call| call.attempts = Some(99));
    let (_, wrong) = run(&fixture, &name);
    assert!(wrong.iter().any(|what| what.starts_with("effects: expected 77")), "{wrong:?}");
    assert!(wrong.iter().any(|what| what.contains("attempts: expected 99")), "{wrong:?}");
}

#[test]
fn with_jitter_no_two_waits_are_equal_and_by_a_list_all_are() {
    let name = "calls-that-fail-together-come-back-one-by-one";
    let waits = |playbook: &str| -> Vec<String> {
        let (golden, _) = run(&read(&root().join(format!("fixtures/{name}.yaml"))), playbook);
        let waits = golden.lines().filter_map(|line| line.split_once("delay_ms: "));
        waits.map(|(_, wait)| wait.split([',', ' ']).next().unwrap_or_default().to_owned()).collect()
    };
    let different = |waits: &[String]| waits.iter().collect::<BTreeSet<_>>().len();
    let (jitter, list) = (waits("preset/aws-2.0"), waits("standard"));
    assert_eq!((jitter.len(), different(&jitter)), (8, 8), "{jitter:?}");
    assert_eq!((list.len(), different(&list)), (8, 1), "{list:?}");
}
