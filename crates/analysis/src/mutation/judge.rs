//! Judges every mutant by every fixture; for survivors, looks for a fixture that would catch them.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::OnceLock;

use super::accepted::AcceptedMutant;
use super::body::NamelessRun;
use super::mutants::{Mutant, mutants, slug};
use super::runs::CallBudget;
use crate::check::map;
use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Plan, Scenario, Simulator};
use playproof_explore::coverage::{NamedFixture, Probe, Target, drafts, exercised, probes_of};
use playproof_explore::{expected, to_yaml};
use playproof_formats::diagnostic::did_you_mean;
use playproof_formats::golden::GoldenBody;
use playproof_formats::playbook::Loaded;

/// The number of changes that are made and judged at once.
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
    let made_up = OnceLock::new();
    let judge = MutantJudge::new(name, stronger, &plan, cases, &made_up);
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

/// A fixture and its run under the playbook as it is.
pub(super) struct BaseRun<'a> {
    pub(super) fixture: &'a Fixture,
    /// Of the playbook as it is.
    plan: &'a Plan,
    scenario: Scenario<'a>,
    run: NamelessRun,
    /// Made when a mutant's run first has another record.
    body: OnceLock<GoldenBody>,
    exercises: BTreeSet<Target>,
    /// Whether a reversal is sent: how its failure is classified, no event shows.
    sends_reversal: bool,
}

impl<'a> BaseRun<'a> {
    pub(super) fn of(plan: &'a Plan, fixture: &'a Fixture, runs: &mut CallBudget<'_>) -> BaseRun<'a> {
        let scenario = Scenario::of_fixture(fixture, plan);
        let record = runs.run_fixture(plan, &scenario);
        let exercises = exercised(&plan.playbook, &scenario, record);
        let sends_reversal = record.events.iter().any(|event| event.what.sent_reversal());
        let run = NamelessRun::of(record.clone());
        BaseRun { fixture, plan, scenario, run, body: OnceLock::new(), exercises, sends_reversal }
    }

    /// Whether the fixture shows another body under a mutant.
    pub(super) fn shows(&self, mutant: &PlannedMutant<'_>, runs: &mut CallBudget<'_>) -> bool {
        let may_show = |target| self.sends_reversal || self.exercises.contains(&target);
        if !mutant.mutant.needs.is_none_or(may_show) {
            return false;
        }
        match mutant.has_same_scenarios {
            true => self.differs(&mutant.plan, &self.scenario, runs),
            false => self.differs(&mutant.plan, &Scenario::of_fixture(self.fixture, &mutant.plan), runs),
        }
    }

    pub(super) fn differs(&self, plan: &Plan, scenario: &Scenario<'_>, runs: &mut CallBudget<'_>) -> bool {
        let record = runs.run_fixture(plan, scenario);
        if self.run.is(record) {
            return false;
        }
        let body = self.body.get_or_init(|| self.run.body(self.plan, &self.scenario));
        NamelessRun::of(record.clone()).body(plan, scenario) != *body
    }
}

/// A mutant, ready to run.
pub(super) struct PlannedMutant<'m> {
    mutant: &'m Mutant,
    pub(super) plan: Plan,
    /// Whether the fixtures have the scenarios that they have under the playbook as it is.
    has_same_scenarios: bool,
}

impl<'m> PlannedMutant<'m> {
    pub(super) fn new(mutant: &'m Mutant, base: &Plan, stronger: &Tools) -> PlannedMutant<'m> {
        let plan = Plan::new(mutant.playbook.clone(), stronger);
        PlannedMutant { mutant, has_same_scenarios: Scenario::are_same_under(base, &plan), plan }
    }
}

/// What is made up for a playbook.
pub(super) struct MadeUp {
    /// By name.
    drafts: BTreeMap<String, Vec<Fixture>>,
    /// What became of the drafts.
    probes: Vec<Probe>,
}

impl MadeUp {
    fn of(plan: &Plan, name: &str) -> MadeUp {
        let all = drafts(plan, name);
        let mut drafts: BTreeMap<String, Vec<Fixture>> = BTreeMap::new();
        for (name, draft) in &all {
            drafts.entry(name.clone()).or_default().push(draft.clone());
        }
        MadeUp { drafts, probes: probes_of(plan, all) }
    }

    /// Whether a probe was made of the same draft; its title does not matter.
    fn knows(&self, name: &str, draft: &Fixture) -> bool {
        let same = |known: &Fixture| (&known.calls, &known.tools) == (&draft.calls, &draft.tools);
        self.drafts.get(name).is_some_and(|known| known.iter().any(same))
    }
}

/// Judges the mutants of one playbook.
pub(super) struct MutantJudge<'a> {
    name: &'a str,
    stronger: &'a Tools,
    plan: &'a Plan,
    pub(super) fixtures: Vec<BaseRun<'a>>,
    /// Made when the first mutant survives, as are its probes.
    made_up: &'a OnceLock<MadeUp>,
    probes: OnceLock<Vec<BaseRun<'a>>>,
}

impl<'a> MutantJudge<'a> {
    pub(super) fn new(
        name: &'a str,
        stronger: &'a Tools,
        plan: &'a Plan,
        cases: &'a [NamedFixture],
        made_up: &'a OnceLock<MadeUp>,
    ) -> MutantJudge<'a> {
        let mut simulator = Simulator::new();
        let mut runs = CallBudget::new(&mut simulator, u64::MAX);
        let fixtures = cases.iter().map(|case| BaseRun::of(plan, &case.fixture, &mut runs)).collect();
        MutantJudge { name, stronger, plan, fixtures, made_up, probes: OnceLock::new() }
    }

    fn made_up(&self) -> &'a MadeUp {
        self.made_up.get_or_init(|| MadeUp::of(self.plan, self.name))
    }

    /// The runs of the probes.
    pub(super) fn probes(&self) -> &[BaseRun<'a>] {
        self.probes.get_or_init(|| {
            let mut simulator = Simulator::new();
            let mut runs = CallBudget::new(&mut simulator, u64::MAX);
            let all = self.made_up().probes.iter();
            all.map(|probe| BaseRun::of(self.plan, &probe.fixture, &mut runs)).collect()
        })
    }

    /// Makes and judges mutants block by block, and ends where `most_calls` are used up: where that is does not depend on the
    /// threads.
    fn judge_all(&self, loaded: &Loaded, jobs: NonZeroUsize, most_calls: u64) -> Vec<MutantResult> {
        let mut left = most_calls;
        let mut judged = Vec::new();
        let mut mutants = mutants(loaded);
        while left > 0 {
            let Some(block) = mutants.next_block(BLOCK, jobs) else { return judged };
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
        let mutant = PlannedMutant::new(mutant, self.plan, self.stronger);
        let mut by = Vec::new();
        for (n, run) in self.fixtures.iter().enumerate() {
            if runs.are_spent() {
                return Judgement::NotJudged;
            }
            by.extend(run.shows(&mutant, runs).then_some(n));
        }
        if !by.is_empty() {
            return Judgement::Caught(by);
        }
        match self.shown_by(&mutant, runs) {
            Some(shown_by) => Judgement::Survived { shown_by },
            None if runs.are_spent() => Judgement::NotJudged,
            None => Judgement::NotShown,
        }
    }

    /// A synthetic fixture, made for the playbook or the mutant, that shows the difference. What is made for the mutant as it
    /// is for the playbook shows none: the probe of the playbook has shown none, so the run asks for the same answers.
    pub(super) fn shown_by(&self, mutant: &PlannedMutant<'_>, runs: &mut CallBudget<'_>) -> Option<RevealingFixture> {
        for run in self.probes() {
            if runs.are_spent() {
                return None;
            }
            if run.shows(mutant, runs) {
                return Some(self.shown(mutant.mutant, run, runs));
            }
        }
        let drafts = drafts(&mutant.plan, self.name);
        drafts.iter().for_each(|(_, draft)| runs.count(draft.calls.len()));
        for (_, draft) in drafts.into_iter().filter(|(name, draft)| !self.made_up().knows(name, draft)) {
            if runs.are_spent() {
                return None;
            }
            let probe = runs.probe(&mutant.plan, draft);
            let run = BaseRun::of(self.plan, &probe, runs);
            if run.shows(mutant, runs) {
                return Some(self.shown(mutant.mutant, &run, runs));
            }
        }
        None
    }

    pub(super) fn shown(&self, mutant: &Mutant, run: &BaseRun<'_>, runs: &mut CallBudget<'_>) -> RevealingFixture {
        let mut fixture = run.fixture.clone();
        fixture.title = format!("{} would show here: {}", mutant.row, mutant.what);
        let expect = expected(self.plan, &run.scenario, runs.run_fixture(self.plan, &run.scenario));
        fixture.expect.insert(self.name.to_owned(), expect.into());
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
