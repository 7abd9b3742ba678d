//! Every mutant against every fixture, and what becomes of those that no fixture catches.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::OnceLock;

use super::accepted::AcceptedMutant;
use super::body::{RunBody, scenario};
use super::mutants::{Mutant, mutants, slug};
use super::runs::CallBudget;
use crate::check::map;
use crate::coverage::{NamedFixture, Probe, expected, probes, to_yaml};
use playproof_engine::playbook::{Playbook, Tools};
use playproof_engine::sim::{Plan, Scenario, Simulator};
use playproof_formats::diagnostic::did_you_mean;

/// Mutants that are judged at once.
const BLOCK: usize = 32;

/// What the fixtures of one playbook make of its mutants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutationReport {
    /// The playbook, by the name that fixtures know it by.
    pub playbook: String,
    /// The fixtures, by name, in the order in which they were given.
    pub fixtures: Vec<String>,
    /// Every mutant, row by row.
    pub mutants: Vec<MutantResult>,
    /// Entries of the list of accepted survivors that accept nothing.
    pub stale: Vec<Stale>,
    /// Fixtures run under mutants.
    pub runs: usize,
}

/// One mutant, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutantResult {
    /// Its id.
    pub id: String,
    /// The row that was changed.
    pub row: String,
    /// What was done to it, in words.
    pub what: String,
    /// What became of it.
    pub judgement: Judgement,
}

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// These fixtures show another body: places in `fixtures`.
    Caught(Vec<usize>),
    /// No fixture shows it, and neither does any of those that were made up for the playbook and for the mutant. They
    /// are many and not all there could be: that it changes nothing is not proved.
    NotShown,
    /// No fixture shows it, and people have said why that is all right.
    Accepted {
        /// Why.
        why: String,
        /// What would have shown it.
        shown_by: RevealingFixture,
    },
    /// No fixture shows it.
    Survived {
        /// What would have shown it.
        shown_by: RevealingFixture,
    },
    /// So many calls were simulated before that no more may be.
    NotJudged,
}

/// A fixture that would have shown a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevealingFixture {
    /// A name for its file, without its ending.
    pub name: String,
    /// The text of the file; it says what the playbook shows without the change.
    pub text: String,
}

/// An entry that accepts nothing.
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
    /// The mutants that survived and that nobody has accepted.
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

    /// Mutants that were not judged, for too many calls were simulated before.
    pub fn not_judged(&self) -> usize {
        self.mutants.iter().filter(|mutant| mutant.judgement == Judgement::NotJudged).count()
    }
}

/// Judges every mutant of the playbook that fixtures call `name`, with `jobs` threads; the report is the same for any
/// number. `stronger` are tool facts that win over the playbook's own. About `most_calls` calls are simulated at most:
/// what remains then is not judged.
pub fn judge(
    name: &str,
    playbook: &Playbook,
    stronger: &Tools,
    cases: &[NamedFixture],
    accepted: &[AcceptedMutant],
    jobs: NonZeroUsize,
    most_calls: u64,
) -> MutationReport {
    let mutants = mutants(playbook);
    let court = MutantJudge::new(name, playbook, stronger, cases);
    let judgements = court.judge_all(&mutants, jobs, most_calls);
    let mut judged: Vec<MutantResult> = mutants
        .into_iter()
        .zip(judgements)
        .map(|(Mutant { id, row, what, .. }, judgement)| MutantResult { id, row, what, judgement })
        .collect();
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

/// What all mutants of a playbook are held against.
struct MutantJudge<'a> {
    name: &'a str,
    playbook: &'a Playbook,
    stronger: &'a Tools,
    plan: Plan,
    cases: &'a [NamedFixture],
    exhibits: Vec<FixtureRun<'a>>,
    /// Made when the first mutant survives.
    probes: OnceLock<Vec<(Probe, RunBody)>>,
}

impl<'a> MutantJudge<'a> {
    fn new(name: &'a str, playbook: &'a Playbook, stronger: &'a Tools, cases: &'a [NamedFixture]) -> MutantJudge<'a> {
        let plan = Plan::new(playbook.clone(), stronger);
        let mut simulator = Simulator::new();
        let mut runs = CallBudget::new(&mut simulator, u64::MAX);
        let exhibits = cases.iter().map(|case| {
            let scenario = scenario(&plan, &case.fixture);
            let body = RunBody::of(&plan, &scenario, &mut runs);
            FixtureRun { scenario, body }
        });
        let exhibits = exhibits.collect();
        MutantJudge { name, playbook, stronger, plan, cases, exhibits, probes: OnceLock::new() }
    }

    /// Judges block by block, and ends where `most_calls` are used up: where that is does not depend on the threads.
    fn judge_all(&self, mutants: &[Mutant], jobs: NonZeroUsize, most_calls: u64) -> Vec<Judgement> {
        let mut left = most_calls;
        let mut judgements = Vec::with_capacity(mutants.len());
        for block in mutants.chunks(BLOCK) {
            let judge = |simulator: &mut Simulator, mutant: &Mutant| {
                let mut runs = CallBudget::new(simulator, left);
                let judgement = self.judge(mutant, &mut runs);
                (judgement, runs.made())
            };
            let judged = if left == 0 { Vec::new() } else { map(block, jobs, Simulator::new, judge, |_| false) };
            for (judgement, made) in judged {
                judgements.push(if made <= left { judgement } else { Judgement::NotJudged });
                left = left.saturating_sub(made);
            }
        }
        judgements.resize(mutants.len(), Judgement::NotJudged);
        judgements
    }

    fn judge(&self, mutant: &Mutant, runs: &mut CallBudget<'_>) -> Judgement {
        let plan = Plan::new(mutant.apply(self.playbook), self.stronger);
        let mut by = Vec::new();
        for (n, (case, exhibit)) in self.cases.iter().zip(&self.exhibits).enumerate() {
            if runs.are_spent() {
                return Judgement::NotJudged;
            }
            let catches = match mutant.changes_tools {
                true => exhibit.body.differs(&plan, &scenario(&plan, &case.fixture), runs),
                false => exhibit.body.differs(&plan, &exhibit.scenario, runs),
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

    /// A fixture made up for the playbook, or else for the mutant, that shows the difference between the two.
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
            let body = RunBody::of(&self.plan, &scenario(&self.plan, &probe.fixture), runs);
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
            let all = probes(&self.plan, self.name).into_iter().map(|probe| {
                let body = RunBody::of(&self.plan, &scenario(&self.plan, &probe.fixture), &mut runs);
                (probe, body)
            });
            all.collect()
        })
    }

    fn shown(&self, mutant: &Mutant, probe: &Probe, runs: &mut CallBudget<'_>) -> RevealingFixture {
        let mut fixture = probe.fixture.clone();
        fixture.title = format!("{} would show here: {}", mutant.row, mutant.what);
        let scenario = scenario(&self.plan, &probe.fixture);
        let expect = expected(&self.plan, &scenario, runs.rehearse(&self.plan, &scenario));
        fixture.expect.insert(self.name.to_owned(), expect);
        RevealingFixture { name: slug(&mutant.id), text: to_yaml(&fixture) }
    }
}

/// Accepts what the list accepts, and gives back the entries that accept nothing.
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
                Judgement::NotShown => "no made-up fixture shows a difference either".to_owned(),
                // The reader refuses an id that stands twice; what is not judged may well survive.
                Judgement::Accepted { .. } | Judgement::NotJudged => continue,
            },
        };
        stale.push(Stale { mutant: entry.mutant.clone(), why, span: entry.span.clone() });
    }
    stale
}
