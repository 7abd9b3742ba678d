//! Usual calls get the record of their kind: whatever is replayed is as if each call were simulated. Every output is made of
//! what is compared here.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use playproof_analysis::replay::{CallResult, Observer, ReplayOptions, Replayed, replay};
use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Plan, UsualCalls};
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::EMBEDDED;
use playproof_formats::{fixture, playbook};
use playproof_intake::hash;
use playproof_intake::input::TraceInput;
use playproof_report::decisions::trace_of;

use crate::foreign::{imported, recordings};
use crate::generate::{Shape, write_crowd, write_trace};
use foreign_shapes::Foreign;

#[path = "../benches/foreign.rs"]
#[expect(clippy::cast_possible_truncation, reason = "small numbers are drawn")]
mod foreign_shapes;

/// The embedded playbooks under which some calls of each trace are usual. The others share state, have actions, check requests
/// or cut waits.
const USUAL: [&str; 9] = [
    "preset/aileron",
    "preset/llm-client",
    "preset/mcp-2026-07-28",
    "preset/stripe",
    "preset/temporal",
    "reversing",
    "standard",
    "study/retry-everything",
    "study/typed-verdicts-literal",
];

/// Keeps what a call shows, as a hash, and the playbooks under which it is a usual one.
struct Shown;

#[derive(Default)]
struct Part {
    shown: Vec<(String, u64)>,
    kinds: Vec<UsualCalls>,
    usual: BTreeSet<String>,
}

impl Observer for Shown {
    type Part = Part;

    fn part(&self) -> Part {
        Part::default()
    }

    fn on_call(&self, seen: &CallResult<'_>, part: &mut Part) {
        let Part { shown, kinds, usual } = part;
        let call = seen.call.raw();
        kinds.resize_with(seen.plans.len(), UsualCalls::default);
        for (((plan, kinds), record), facts) in seen.plans.iter().zip(kinds).zip(seen.records()).zip(seen.facts()) {
            match kinds.take(plan, (call, hash::bytes(call.tool().as_bytes(), 0)), *facts) {
                Some(_) => usual.extend([plan.names.playbook.to_string()]),
                None => kinds.learn(record),
            }
        }
        let mut hasher = DefaultHasher::new();
        seen.records().for_each(|record| format!("{record:?}").hash(&mut hasher));
        format!("{:?} {:?} {:?}", seen.recorded, seen.facts(), seen.marks).hash(&mut hasher);
        shown.push((seen.call.reference(), hasher.finish()));
    }
}

fn load(name: &str) -> Plan {
    let text = playbook::embedded(name).expect("an embedded playbook");
    let loaded = playbook::parse(Source::whole(name, text)).unwrap_or_else(|report| panic!("{report}"));
    Plan::new(loaded.playbook, &Tools::default())
}

type Outputs = (Replayed, Vec<(String, u64)>);

/// What a replay shows, and the playbooks that have usual calls.
fn replayed(plans: &[Plan], trace: &[u8], options: &ReplayOptions) -> (Outputs, BTreeSet<String>) {
    let (mut all, mut usual) = (Vec::new(), BTreeSet::new());
    let inputs = Box::new(std::iter::once(TraceInput::own("trace", trace)));
    let replayed = replay(plans, inputs, options, &Shown, |part| {
        all.extend(part.shown);
        usual.extend(part.usual);
        Ok(())
    });
    ((replayed.unwrap_or_else(|error| panic!("{error:?}")), all), usual)
}

/// Replays a trace both ways under each playbook alone, and under pairs of them as `impact` does; gives the playbooks under
/// which some of its calls are usual.
fn compare(name: &str, trace: &[u8]) -> BTreeSet<String> {
    let mut all_usual = BTreeSet::new();
    let alone = EMBEDDED.iter().map(|name| vec![load(name)]);
    let pairs = EMBEDDED.iter().skip(1).map(|name| vec![load(EMBEDDED[0]), load(name)]);
    for (plans, n) in alone.chain(pairs).zip(0..) {
        let beyond = [MissingAnswerPolicy::Ok, MissingAnswerPolicy::Unanswered, MissingAnswerPolicy::Repeat];
        let options = ReplayOptions { jobs: 1, beyond: beyond[n % 3].clone(), ..ReplayOptions::default() };
        let (each, own) = replayed(&plans, trace, &ReplayOptions { simulates_each: true, ..options.clone() });
        let (usual, _) = replayed(&plans, trace, &options);
        all_usual.extend(own);
        let names: Vec<&str> = plans.iter().map(|plan| &*plan.names.playbook).collect();
        assert!(!usual.1.is_empty(), "{name} has calls");
        let differs = each.1.iter().zip(&usual.1).find(|(each, usual)| each != usual);
        assert_eq!(differs, None, "{name} under {names:?}");
        assert_eq!(each, usual, "{name} under {names:?}");
    }
    all_usual
}

#[test]
fn shapes_are_replayed_as_if_each_call_were_simulated() {
    for shape in Shape::ALL {
        let mut trace = Vec::new();
        write_trace(&mut trace, shape, 240).expect("memory takes everything");
        assert_eq!(compare(shape.name(), &trace), USUAL.map(str::to_owned).into(), "{}", shape.name());
    }
    let mut trace = Vec::new();
    write_crowd(&mut trace, 240).expect("memory takes everything");
    compare("crowd", &trace);
}

#[test]
fn foreign_shapes_are_replayed_as_if_each_call_were_simulated() {
    let folder = tempfile::tempdir().expect("a folder");
    for foreign in Foreign::ALL.into_iter().filter(|foreign| foreign.mapping().is_none()) {
        let mut written = Vec::new();
        foreign.write(&mut written, 150).expect("memory takes everything");
        let file = folder.path().join(foreign.name());
        std::fs::write(&file, written).expect("the recording is written");
        let usual = compare(foreign.name(), &imported(&file).lines);
        assert_eq!(usual, USUAL.map(str::to_owned).into(), "{}", foreign.name());
    }
}

/// The calls and answers of a fixture's run, without what its dispatcher decided.
fn calls_of(fixture: &Fixture) -> String {
    let trace = trace_of(&load(EMBEDDED[0]), fixture);
    let is_plain =
        |line: &&str| ["call", "result"].iter().any(|what| line.starts_with(&format!(r#"{{"type":"tool_{what}""#)));
    trace.lines().filter(is_plain).map(|line| format!("{line}\n")).collect()
}

#[test]
fn fixtures_are_replayed_as_if_each_call_were_simulated() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut trace = String::new();
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("fixtures/").map(|entry| entry.expect("entry").path()).collect();
    paths.sort();
    for path in paths {
        let source = Source::whole("f", std::fs::read_to_string(&path).expect("readable"));
        let fixture = fixture::parse(source).unwrap_or_else(|report| panic!("{report}"));
        if fixture.crash.is_none() && fixture.playbooks.iter().all(|name| name == EMBEDDED[0]) {
            trace += &calls_of(&fixture);
        }
    }
    assert_eq!(compare("fixtures", trace.as_bytes()), USUAL.map(str::to_owned).into());
}

#[test]
fn real_recordings_are_replayed_as_if_each_call_were_simulated() {
    let files = recordings();
    if files.is_empty() {
        println!("skipped: PLAYPROOF_TRACES names no recordings");
    }
    for file in files {
        compare(&file.display().to_string(), &imported(&file).lines);
    }
}
