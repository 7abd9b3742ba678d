//! Judges every mutant by every fixture; for survivors, looks for a fixture that would catch them.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::OnceLock;

use super::accepted::AcceptedMutant;
use super::body::{RunBody, scenario};
use super::mutants::{Mutant, mutants, slug};
use super::runs::CallBudget;
use crate::check::map;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Plan, Scenario, Simulator};
use playproof_explore::coverage::{NamedFixture, Probe, probes};
use playproof_explore::{expected, to_yaml};
use playproof_formats::diagnostic::did_you_mean;
use playproof_formats::playbook::Loaded;

/// The number of mutants that are judged at once.
const BLOCK: usize = 32;

/// To make a mutant of a playbook of so many values takes about as long as a simulated call.
const VALUES_A_CALL: usize = 100;

/// The mutants of one playbook and their judgements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutationReport {
    /// The playbook's name in fixtures.
    pub playbook: String,
    /// The names of the fixtures, in the given order.
    pub fixtures: Vec<String>,
    /// Every mutant, row by row.
    pub mutants: Vec<MutantResult>,
    /// Stale entries of the list of accepted survivors.
    pub stale: Vec<Stale>,
    /// Fixtures run under mutants.
    pub runs: usize,
}

/// One mutant and its judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutantResult {
    /// Its id.
    pub id: String,
    /// The row that was changed.
    pub row: String,
    /// The change, in words.
    pub what: String,
    /// The judgement.
    pub judgement: Judgement,
}

/// The judgement on a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// These fixtures show a different body: indexes into `fixtures`.
    Caught(Vec<usize>),
    /// Neither a fixture nor a synthetic one shows it. The search is bounded: equivalence is not proved.
    NotShown,
    /// No fixture shows it, which was accepted with a reason.
    Accepted {
        /// Why.
        why: String,
        /// A synthetic fixture that shows it.
        shown_by: RevealingFixture,
    },
    /// No fixture shows it.
    Survived {
        /// A synthetic fixture that shows it.
        shown_by: RevealingFixture,
    },
    /// The bound on simulated calls was reached.
    NotJudged,
}

/// A synthetic fixture that reveals a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevealingFixture {
    /// A name for its file, without its ending.
    pub name: String,
    /// The text of the file; its `expect` is the run without the change.
    pub text: String,
}

/// A stale entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The id that it names.
    pub mutant: String,
    /// Why it is stale.
    pub why: String,
    /// Where the id stands in the list.
    pub span: Range<usize>,
}

impl MutationReport {
    /// The survivors that are not accepted.
    pub fn survivors(&self) -> impl Iterator<Item = (&MutantResult, &RevealingFixture)> {
        self.mutants.iter().filter_map(|mutant| match &mutant.judgement {
            Judgement::Survived { shown_by } => Some((mutant, shown_by)),
            _ => None,
        })
    }

    /// Whether every survivor is accepted and every acceptance is needed.
    pub fn is_settled(&self) -> bool {
        self.stale.is_empty() && self.survivors().next().is_none()
    }

    /// The number of mutants that were not judged, because the bound on simulated calls was reached.
    pub fn not_judged(&self) -> usize {
        self.mutants.iter().filter(|mutant| mutant.judgement == Judgement::NotJudged).count()
    }
}

/// Judges every mutant of the playbook that fixtures call `name`, with `jobs` threads; the report is the same for any
/// number. `stronger` are tool facts that win over the playbook's own. About `most_calls` calls are simulated at most:
/// what remains then is not judged.
pub fn judge(
    name: &str,
    loaded: &Loaded,
    stronger: &Tools,
    cases: &[NamedFixture],
    accepted: &[AcceptedMutant],
    jobs: NonZeroUsize,
    most_calls: u64,
) -> MutationReport {
    let plan = Plan::new(loaded.playbook.clone(), stronger);
    let judge = MutantJudge::new(name, stronger, &plan, cases);
    let mut judged = judge.judge_all(loaded, jobs, most_calls);
    let stale = accept(&mut judged, accepted, cases);
    MutationReport {
        playbook: name.to_owned(),
        fixtures: cases.iter().map(|case| case.name.clone()).collect(),
        runs: judged.len() * cases.len(),
        mutants: judged,
        stale,
    }
}

/// A fixture with its scenario and its body under the playbook as it is.
struct FixtureRun<'a> {
    scenario: Scenario<'a>,
    body: RunBody,
}

/// Judges the mutants of one playbook.
struct MutantJudge<'a> {
    name: &'a str,
    stronger: &'a Tools,
    plan: &'a Plan,
    cases: &'a [NamedFixture],
    runs: Vec<FixtureRun<'a>>,
    /// Made when the first mutant survives.
    probes: OnceLock<Vec<(Probe, RunBody)>>,
}

impl<'a> MutantJudge<'a> {
    fn new(name: &'a str, stronger: &'a Tools, plan: &'a Plan, cases: &'a [NamedFixture]) -> MutantJudge<'a> {
        let mut simulator = Simulator::new();
        let mut runs = CallBudget::new(&mut simulator, u64::MAX);
        let runs = cases.iter().map(|case| {
            let scenario = scenario(plan, &case.fixture);
            let body = RunBody::of(plan, &scenario, &mut runs);
            FixtureRun { scenario, body }
        });
        let runs = runs.collect();
        MutantJudge { name, stronger, plan, cases, runs, probes: OnceLock::new() }
    }

    /// Makes and judges mutants block by block, and ends where `most_calls` are used up: where that is does not depend on the
    /// threads.
    fn judge_all(&self, loaded: &Loaded, jobs: NonZeroUsize, most_calls: u64) -> Vec<MutantResult> {
        let mut left = most_calls;
        let mut judged = Vec::new();
        let mut mutants = mutants(loaded);
        while left > 0 {
            let block: Vec<Mutant> = mutants.by_ref().take(BLOCK).collect();
            if block.is_empty() {
                return judged;
            }
            let judge = |simulator: &mut Simulator, mutant: &Mutant| {
                let mut runs = CallBudget::new(simulator, left);
                runs.count(loaded.places.tree.values() / VALUES_A_CALL);
                let judgement = self.judge(mutant, &mut runs);
                (judgement, runs.made())
            };
            let judgements = map(&block, jobs, Simulator::new, judge, |_| false);
            for (Mutant { id, row, what, .. }, (judgement, made)) in block.into_iter().zip(judgements) {
                let judgement = if made <= left { judgement } else { Judgement::NotJudged };
                judged.push(MutantResult { id, row, what, judgement });
                left = left.saturating_sub(made);
            }
        }
        let rest = mutants.unmade().into_iter();
        judged.extend(rest.map(|(id, row, what)| MutantResult { id, row, what, judgement: Judgement::NotJudged }));
        judged
    }

    fn judge(&self, mutant: &Mutant, runs: &mut CallBudget<'_>) -> Judgement {
        let plan = Plan::new(mutant.playbook.clone(), self.stronger);
        let mut by = Vec::new();
        for (n, (case, run)) in self.cases.iter().zip(&self.runs).enumerate() {
            if runs.are_spent() {
                return Judgement::NotJudged;
            }
            let makes_keys = self.plan.playbook.studies(|study| study.makes_keys);
            let catches = match mutant.changes_tools || self.plan.has_steps || makes_keys {
                true => run.body.differs(&plan, &scenario(&plan, &case.fixture), runs),
                false => run.body.differs(&plan, &run.scenario, runs),
            };
            by.extend(catches.then_some(n));
        }
        if !by.is_empty() {
            return Judgement::Caught(by);
        }
        match self.shown_by(mutant, &plan, runs) {
            Some(shown_by) => Judgement::Survived { shown_by },
            None if runs.are_spent() => Judgement::NotJudged,
            None => Judgement::NotShown,
        }
    }

    /// A synthetic fixture, made for the playbook or the mutant, that shows the difference.
    fn shown_by(&self, mutant: &Mutant, plan: &Plan, runs: &mut CallBudget<'_>) -> Option<RevealingFixture> {
        let may_show = |probe: &Probe| mutant.needs.is_none_or(|target| probe.exercises.contains(&target));
        for (probe, body) in self.probes().iter().filter(|(probe, _)| may_show(probe)) {
            if runs.are_spent() {
                return None;
            }
            if body.differs(plan, &scenario(plan, &probe.fixture), runs) {
                return Some(self.shown(mutant, probe, runs));
            }
        }
        let made_up = probes(plan, self.name);
        made_up.iter().for_each(|probe| runs.count(probe.fixture.calls.len()));
        for probe in made_up.iter().filter(|probe| may_show(probe)) {
            if runs.are_spent() {
                return None;
            }
            let body = RunBody::of(self.plan, &scenario(self.plan, &probe.fixture), runs);
            if body.differs(plan, &scenario(plan, &probe.fixture), runs) {
                return Some(self.shown(mutant, probe, runs));
            }
        }
        None
    }

    /// The probes of the playbook as it is, with their bodies.
    fn probes(&self) -> &[(Probe, RunBody)] {
        self.probes.get_or_init(|| {
            let mut simulator = Simulator::new();
            let mut runs = CallBudget::new(&mut simulator, u64::MAX);
            let all = probes(self.plan, self.name).into_iter().map(|probe| {
                let body = RunBody::of(self.plan, &scenario(self.plan, &probe.fixture), &mut runs);
                (probe, body)
            });
            all.collect()
        })
    }

    fn shown(&self, mutant: &Mutant, probe: &Probe, runs: &mut CallBudget<'_>) -> RevealingFixture {
        let mut fixture = probe.fixture.clone();
        fixture.title = format!("{} would show here: {}", mutant.row, mutant.what);
        let scenario = scenario(self.plan, &probe.fixture);
        let expect = expected(self.plan, &scenario, runs.run_fixture(self.plan, &scenario));
        fixture.expect.insert(self.name.to_owned(), expect);
        RevealingFixture { name: slug(&mutant.id), text: to_yaml(&fixture) }
    }
}

/// Applies the list of accepted survivors, and returns its stale entries.
fn accept(judged: &mut [MutantResult], accepted: &[AcceptedMutant], cases: &[NamedFixture]) -> Vec<Stale> {
    let mut stale = Vec::new();
    for entry in accepted {
        let why = match judged.iter_mut().find(|mutant| mutant.id == entry.mutant) {
            None => {
                let near = did_you_mean(&entry.mutant, judged.iter().map(|mutant| mutant.id.as_str()));
                near.map_or("there is no such mutant".to_owned(), |near| {
                    format!("there is no such mutant; did you mean `{near}`?")
                })
            }
            Some(mutant) => match &mutant.judgement {
                Judgement::Survived { shown_by } => {
                    mutant.judgement = Judgement::Accepted { why: entry.why.clone(), shown_by: shown_by.clone() };
                    continue;
                }
                Judgement::Caught(by) => {
                    let name = by.first().and_then(|&n| cases.get(n)).map_or("?", |case| &case.name);
                    format!("the fixture `{name}` catches it")
                }
                Judgement::NotShown => "no synthetic fixture shows a difference either".to_owned(),
                // The reader refuses an id that stands twice; what is not judged may well survive.
                Judgement::Accepted { .. } | Judgement::NotJudged => continue,
            },
        };
        stale.push(Stale { mutant: entry.mutant.clone(), why, span: entry.span.clone() });
    }
    stale
}
