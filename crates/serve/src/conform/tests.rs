//! Three drivers, one result: every fixture under each of its playbooks, simulated, by the lines of a session, and live
//! (`live_tests`).

#![expect(clippy::disallowed_methods, reason = "a test reads the fixtures")]

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use playproof_analysis::replay::{CallResult, Observer, ReplayOptions, replay};
use playproof_engine::event::{KeyDialect, unnamed};
use playproof_engine::fixture::Fixture;
use playproof_engine::plan::Plan;
use playproof_engine::playbook::Tools;
use playproof_explore::tool_facts;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::tools;
use playproof_formats::{fixture, playbook};
use playproof_intake::input::TraceInput;
use playproof_report::decisions::ComparedDecisions;

use super::compared::{Compared, Comparison, compare};
use crate::again::decided_again;
use crate::decider::Decider;
use crate::said::Said;
use crate::session::Session;
use crate::trace::of_journal;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> std::sync::Arc<Source> {
    Source::whole(path.to_string_lossy(), std::fs::read_to_string(path).unwrap())
}

pub(super) fn plan(name: &str, facts: &Tools) -> Plan {
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

/// What a fixture shows by a session under a playbook, and the journal of that session.
struct BySession {
    compared: Compared,
    journal: String,
    facts: Tools,
}

/// What a fixture says of its tools: a dispatcher that runs knows it from its project.
pub(super) fn facts_of(fixture: &Fixture) -> Tools {
    if fixture.tools.is_empty() {
        return Tools::default();
    }
    let text = format!("format: tools/1\n{}", tool_facts(&fixture.tools));
    tools::parse(Source::whole("facts", text)).unwrap_or_else(|report| panic!("{report}")).tools
}

/// A fixture by a session under a playbook; its answers go through `change`.
fn by_session(name: &str, fixture: &Fixture, change: impl Fn(String) -> String) -> BySession {
    let facts = facts_of(fixture);
    let fingerprint = playbook::fingerprint(&plan(name, &facts).playbook).to_string();
    let decider = Decider { playbook: name.to_owned(), fingerprint, engine: String::new(), shadow: false };
    let mut session = Session::new(plan(name, &facts), decider, true);
    let mut journal = session.head();
    let ask = |line: &str| match Said::parse(line) {
        Ok(said) => {
            if let Said::Input(..) = said {
                journal += &format!("{line}\n");
            }
            let answer = session.answer(said);
            session.take_records().iter().for_each(|record| journal += &format!("{record}\n"));
            Ok(change(answer))
        }
        Err(error) => Err(error.text),
    };
    let compared = compare(&plan(name, &Tools::default()), fixture, Comparison::default(), ask)
        .unwrap_or_else(|broken| panic!("{name}: {}: {}", broken.said, broken.why));
    BySession { compared, journal, facts }
}

/// Compares the decisions of a trace with those of the plan.
struct Decisions(Mutex<ComparedDecisions>);

impl Observer for Decisions {
    type Part = ();

    fn part(&self) {}

    fn on_call(&self, seen: &CallResult<'_>, (): &mut ()) {
        let (record, reference) = (seen.records().next().unwrap(), [seen.call.reference()]);
        let transcript = record.transcript(&seen.plans[0].names, &reference, &unnamed);
        self.0.lock().unwrap().add(&seen.call, &transcript, |line| line.to_string());
    }
}

/// A journal, read as a trace and replayed; `keys` is how the fixture's upstream treats keys.
fn replayed(plan: &Plan, journal: &str, keys: KeyDialect) -> ComparedDecisions {
    let trace = of_journal(journal.as_bytes()).unwrap_or_else(|why| panic!("{why:?}\n{journal}"));
    let trace = trace.replacen("\"seed\":0", &format!("\"seed\":0,\"keys\":\"{}\"", keys.as_str()), 1);
    let observer = Decisions(Mutex::default());
    let input = std::iter::once(TraceInput::own("journal", trace.as_bytes()));
    let options = ReplayOptions { jobs: 1, ..ReplayOptions::default() };
    replay(std::slice::from_ref(plan), Box::new(input), &options, &observer, |()| Ok(()))
        .unwrap_or_else(|error| panic!("{error:?}\n{trace}"));
    observer.0.into_inner().unwrap()
}

/// How the decisions of a journal differ when its lines are decided again, or replayed as a trace.
pub(super) fn unlike(plan: &dyn Fn() -> Plan, journal: &str, keys: KeyDialect) -> Option<String> {
    let calls = journal.lines().filter(|line| line.starts_with("{\"type\":\"call\"")).count() as u64;
    let again = decided_again(journal.as_bytes(), plan(), |line| line.to_string()).unwrap();
    let both = [("again", again), ("as a trace", replayed(&plan(), journal, keys))];
    both.into_iter().find_map(|(how, compared)| {
        let has_decisions = compared.decisions > 0 || calls == 0; // acts alone decide nothing
        let is_whole = compared.calls >= calls && compared.undecided == 0 && has_decisions;
        (!compared.differences.is_empty() || !is_whole).then(|| format!("{how}: {compared:?} of {calls}"))
    })
}

/// The runs of all fixtures under each of their playbooks.
pub(super) fn runs() -> Vec<(String, String, Fixture)> {
    let mut all = Vec::new();
    for (name, fixture) in fixtures().into_iter().filter(|(_, fixture)| fixture.crash.is_none()) {
        let playbooks =
            if fixture.playbooks.is_empty() { vec!["standard".to_owned()] } else { fixture.playbooks.clone() };
        all.extend(playbooks.into_iter().map(|playbook| (name.clone(), playbook, fixture.clone())));
    }
    assert!(all.len() > 200, "{} runs", all.len());
    all
}

#[test]
fn every_fixture_has_the_same_decisions_simulated_and_by_the_lines_of_a_session_and_from_its_journal() {
    let mut differ = Vec::new();
    for (fixture_name, name, fixture) in runs() {
        let of = by_session(&name, &fixture, |answer| answer);
        let compared = &of.compared;
        if compared.difference.is_some() || !compared.events.is_empty() || compared.effects != compared.effects_caused {
            differ.push(format!("{fixture_name} under {name}: {compared:#?}"));
        }
        let again = unlike(&|| plan(&name, &of.facts), &of.journal, fixture.keys);
        differ.extend(again.map(|how| format!("{fixture_name} under {name}, {how}")));
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
}

#[test]
fn a_journal_whose_playbook_waits_longer_today_differs_by_the_first_decision() {
    let (_, fixture) =
        fixtures().into_iter().find(|(name, _)| name == "unkeyed-refund-times-out-after-landing").unwrap();
    let of = by_session("standard", &fixture, |answer| answer);
    let other = decided_again(of.journal.as_bytes(), plan("reversing", &Tools::default()), |line| line.to_string());
    let differences = other.unwrap().differences;
    assert!(!differences.is_empty() && differences[0].recorded.is_some(), "{differences:?}");
}

#[test]
fn a_session_that_waits_longer_differs_by_its_first_later_request() {
    let all = fixtures();
    let is_retried = |(_, fixture): &&(String, Fixture)| fixture.playbooks.is_empty() && fixture.calls.len() == 1;
    let later = |answer: String| answer.replace("\"until_ms\":", "\"until_ms\":1");
    let found = all
        .iter()
        .filter(is_retried)
        .find_map(|(_, fixture)| by_session("standard", fixture, later).compared.difference);
    assert!(found.is_some_and(|found| found.playbook.is_some_and(|what| what.starts_with("send 2"))));
}

#[test]
fn an_end_that_claims_another_effect_or_goes_to_another_queue_differs() {
    let (_, fixture) =
        fixtures().into_iter().find(|(name, _)| name == "unkeyed-refund-times-out-after-landing").unwrap();
    let lies = |from: &'static str, to: &'static str| {
        by_session("standard", &fixture, move |answer| answer.replace(from, to)).compared
    };
    assert_eq!(lies("no such words", "").difference, None);
    for (from, to) in [
        ("\"effect\":\"unknown\"", "\"effect\":\"not_applied\""),
        ("\"effect\":\"unknown\"", "\"effect\":\"applied\""),
        ("\"queue\":\"ambiguous_effects\"", "\"queue\":\"nobody\""),
    ] {
        let found = lies(from, to).difference.unwrap_or_else(|| panic!("{to}"));
        assert!(found.dispatcher.is_some_and(|said| to.replace('"', "").ends_with(said.rsplit(' ').next().unwrap())));
    }
    let silent = lies("\"outcome\":\"escalated\",\"effect\":\"unknown\"", "\"outcome\":\"escalted\"");
    assert_eq!((silent.difference, silent.uncompared.outcomes, silent.uncompared.effects), (None, 1, 1));
}

#[test]
fn what_is_no_word_or_no_want_of_the_protocol_is_no_answer() {
    let (_, fixture) =
        fixtures().into_iter().find(|(name, _)| name == "unkeyed-refund-times-out-after-landing").unwrap();
    for (answer, why) in [
        (r#"{"do":[{"done":"c","effect":"maybe"}]}"#, "not `maybe`"),
        (r#"{"do":[{"done":"c","outcome":5}]}"#, "`outcome` of a `done` is a text, not 5"),
        (r#"{"do":[{"done":"c","queue":[]}]}"#, "`queue`"),
        (r#"{"do":[{"snd":"c","attempt":1}]}"#, "\"snd\""),
        (r#"{"do":[{"wait":"c","until_ms":-200}]}"#, "not -200"),
        (r#"{"protocol":"dispatch/9","do":[]}"#, "dispatch/9"),
        ("{}", "names no protocol"),
    ] {
        let compared =
            compare(&plan("standard", &Tools::default()), &fixture, Comparison::default(), |_| Ok(answer.to_owned()));
        assert!(compared.as_ref().is_err_and(|broken| broken.why.contains(why)), "{answer}: {compared:?}");
    }
}
