//! Two drivers, one result: every fixture under each of its playbooks, simulated, and by the lines of a session.

#![expect(clippy::disallowed_methods, reason = "a test reads the fixtures")]

use std::path::{Path, PathBuf};

use playproof_analysis::coverage::tool_facts;
use playproof_engine::fixture::Fixture;
use playproof_engine::plan::Plan;
use playproof_engine::playbook::Tools;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::tools;
use playproof_formats::{fixture, playbook};

use super::compared::{Compared, Comparison, compare};
use crate::decider::Decider;
use crate::said::Said;
use crate::session::Session;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> std::sync::Arc<Source> {
    Source::whole(path.to_string_lossy(), std::fs::read_to_string(path).unwrap())
}

fn plan(name: &str, facts: &Tools) -> Plan {
    let parsed = playbook::parse(read(&repository().join(format!("playbooks/{name}.yaml"))));
    Plan::new(parsed.unwrap_or_else(|report| panic!("{report}")).playbook, facts)
}

/// All fixtures of the repository, with their names.
fn fixtures() -> Vec<(String, Fixture)> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(repository().join("fixtures")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    paths
        .iter()
        .map(|path| (name(path), fixture::parse(read(path)).unwrap_or_else(|report| panic!("{report}"))))
        .collect()
}

/// A fixture by a session under a playbook; its answers go through `change`.
fn by_session(name: &str, fixture: &Fixture, change: impl Fn(String) -> String) -> Compared {
    let facts = match fixture.tools.is_empty() {
        true => Tools::default(),
        false => {
            let text = format!("format: tools/1\n{}", tool_facts(&fixture.tools));
            tools::parse(Source::whole("facts", text)).unwrap_or_else(|report| panic!("{report}")).tools
        }
    };
    let decider = Decider { playbook: name.to_owned(), fingerprint: String::new(), engine: String::new() };
    let mut session = Session::new(plan(name, &facts), decider, false);
    let ask = |line: &str| match Said::parse(line) {
        Ok(said) => Ok(change(session.answer(said))),
        Err(error) => Err(error.text),
    };
    compare(&plan(name, &Tools::default()), fixture, Comparison::default(), ask)
        .unwrap_or_else(|broken| panic!("{name}: {}: {}", broken.said, broken.why))
}

#[test]
fn every_fixture_has_the_same_decisions_simulated_and_by_the_lines_of_a_session() {
    let (mut runs, mut differ) = (0, Vec::new());
    for (fixture_name, fixture) in fixtures() {
        let playbooks: &[String] = &fixture.playbooks;
        let standard = ["standard".to_owned()];
        for name in if playbooks.is_empty() { &standard[..] } else { playbooks } {
            runs += 1;
            let compared = by_session(name, &fixture, |answer| answer);
            if compared.difference.is_some()
                || !compared.events.is_empty()
                || compared.effects != compared.effects_caused
            {
                differ.push(format!("{fixture_name} under {name}: {compared:#?}"));
            }
        }
    }
    assert!(runs > 200, "{runs} runs");
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
}

#[test]
fn a_session_that_waits_longer_differs_by_its_first_later_request() {
    let all = fixtures();
    let is_retried = |(_, fixture): &&(String, Fixture)| fixture.playbooks.is_empty() && fixture.calls.len() == 1;
    let later = |answer: String| answer.replace("\"until_ms\":", "\"until_ms\":1");
    let found =
        all.iter().filter(is_retried).find_map(|(_, fixture)| by_session("standard", fixture, later).difference);
    assert!(found.is_some_and(|found| found.playbook.is_some_and(|what| what.starts_with("send 2"))));
}
