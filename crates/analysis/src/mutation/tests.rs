//! That what is not run again shows no mutant.
#![expect(clippy::disallowed_methods, reason = "a test reads the fixtures of this repository")]

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::OnceLock;

use super::judge::{BaseRun, MutantJudge, PlannedMutant};
use super::mutants::mutants;
use super::runs::CallBudget;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Plan, Scenario, Simulator};
use playproof_explore::coverage::{NamedFixture, probes};
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;
use playproof_formats::playbook::{embedded, parse};

/// The fixtures of this repository that run under a playbook.
fn fixtures_of(playbook: &str) -> Vec<NamedFixture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let all = paths.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "yaml")).map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let fixture = fixture::parse(Source::whole(&name, &text)).unwrap_or_else(|report| panic!("{report}"));
        NamedFixture { name, fixture }
    });
    all.filter(|case| case.fixture.playbooks.iter().any(|name| name == playbook)).collect()
}

/// Judges some mutants of a playbook with and without what saves runs; how many fixtures were not run, and how many mutants
/// a probe shows.
fn judge_both_ways(name: &str) -> (usize, usize) {
    let text = embedded(name).expect("an embedded playbook");
    let loaded = parse(Source::whole(name, text)).unwrap_or_else(|report| panic!("{report}"));
    let (none, cases) = (Tools::default(), fixtures_of(name));
    let plan = Plan::new(loaded.playbook.clone(), &none);
    let made_up = OnceLock::new();
    let judge = MutantJudge::new(name, &none, &plan, &cases, &made_up);
    let (mut simulator, mut other) = (Simulator::new(), Simulator::new());
    let mut runs = CallBudget::new(&mut simulator, u64::MAX);
    let mut slow_runs = CallBudget::new(&mut other, u64::MAX);
    let (mut saved, mut shown) = (0, 0);
    let all = mutants(&loaded).next_block(usize::MAX, NonZeroUsize::MIN).unwrap_or_default();
    for mutant in all.into_iter().step_by(19) {
        let planned = PlannedMutant::new(&mutant, &plan, &none);
        let mut differs = |run: &BaseRun<'_>| {
            let scenario = Scenario::of_fixture(run.fixture, &planned.plan);
            run.differs(&planned.plan, &scenario, &mut slow_runs)
        };
        for run in &judge.fixtures {
            let before = runs.made();
            assert_eq!(run.shows(&planned, &mut runs), differs(run), "{name}: {}", mutant.id);
            saved += usize::from(runs.made() == before);
        }
        let own = judge.probes().iter().find(|run| differs(run)).map(|run| judge.shown(&mutant, run, &mut runs));
        let made = if own.is_none() { probes(&planned.plan, name) } else { Vec::new() };
        let found = own.or_else(|| {
            let mut made = made.iter().map(|probe| BaseRun::of(&plan, &probe.fixture, &mut runs));
            let run = made.find(&mut differs)?;
            Some(judge.shown(&mutant, &run, &mut runs))
        });
        shown += usize::from(found.is_some());
        assert_eq!(judge.shown_by(&planned, &mut runs), found, "{name}: {}", mutant.id);
    }
    (saved, shown)
}

#[test]
fn what_is_not_run_again_shows_no_mutant() {
    let names = ["standard", "reversing", "coffee", "steps", "transactional"];
    let (saved, shown): (Vec<usize>, Vec<usize>) = names.iter().map(|name| judge_both_ways(name)).unzip();
    assert!(saved.iter().sum::<usize>() > 500, "{saved:?}");
    assert!(shown.iter().all(|shown| *shown > 0), "{shown:?}");
}
