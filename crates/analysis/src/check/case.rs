//! Runs one fixture under one playbook and compares the run with its `expect` and its golden. Writes nothing.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use playproof_engine::event::{Finding, FindingBy, FindingId, FindingSeverity};
use playproof_engine::fixture::{Expect, Fixture};
use playproof_engine::sim::{Contradiction, Plan, Scenario, SimulationRecord, Simulator, contradictions};
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::golden::{Class, Comparison, GoldenBody, GoldenFile, compare, parse_body};

/// Which fixture under which playbook; shown and typed as `standard/refund`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseId {
    /// The playbook's name.
    pub playbook: String,
    /// The fixture's name.
    pub fixture: String,
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.playbook, self.fixture)
    }
}

/// One fixture under one playbook, to be checked.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// Its id.
    pub id: CaseId,
    /// The fixture.
    pub fixture: &'a Fixture,
    /// The playbook, ready to run.
    pub plan: &'a Plan,
    /// The golden's file, or why it is not text; none without a golden.
    pub golden: Option<Result<Arc<Source>, Report>>,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// Its id.
    pub id: CaseId,
    /// The fixture's title.
    pub title: String,
    /// The run as a golden's body.
    pub body: GoldenBody,
    /// The run against its golden.
    pub golden: GoldenState,
    /// The run against the fixture's `expect`.
    pub contradictions: Vec<Contradiction>,
    /// Unsafe findings by the playbook that the fixture's `expect` does not name: no golden blesses them.
    pub unexpected_harm: Vec<FindingId>,
}

/// A run against its golden.
#[derive(Clone, Debug)]
pub enum GoldenState {
    /// They are the same.
    Same,
    /// They differ.
    Diverged(Box<Diverged>),
    /// There is no golden yet.
    Missing,
    /// The golden cannot be read.
    Unreadable(Report),
}

/// A golden that differs from the run.
#[derive(Clone, Debug)]
pub struct Diverged {
    /// The golden.
    pub golden: GoldenFile,
    /// The differences.
    pub comparison: Comparison,
}

impl CaseResult {
    /// Whether the run is as accepted and meets its `expect`.
    pub fn passes(&self) -> bool {
        matches!(self.golden, GoldenState::Same) && self.contradictions.is_empty()
    }

    /// The differences from the golden.
    pub fn comparison(&self) -> Option<&Comparison> {
        match &self.golden {
            GoldenState::Diverged(diverged) => Some(&diverged.comparison),
            _ => None,
        }
    }

    /// The worst class of divergence.
    pub fn worst(&self) -> Option<Class> {
        self.comparison().and_then(Comparison::worst)
    }

    /// The golden that can be accepted; none if nothing differs or the run contradicts its fixture.
    pub fn pending_golden(&self) -> Option<GoldenFile> {
        if !self.contradictions.is_empty() {
            return None;
        }
        let CaseId { playbook, fixture } = &self.id;
        match &self.golden {
            GoldenState::Same | GoldenState::Unreadable(_) => None,
            GoldenState::Missing => Some(GoldenFile::new(fixture, playbook, &self.body.render())),
            GoldenState::Diverged(diverged) => {
                let golden = diverged.golden.clone();
                let named = GoldenFile { fixture: fixture.clone(), playbook: playbook.clone(), ..golden };
                Some(named.with_body(&self.body.render()))
            }
        }
    }
}

/// The golden body of a run: its decisions, outcomes, effects and findings.
pub fn body_of(plan: &Plan, scenario: &Scenario<'_>, record: &SimulationRecord) -> GoldenBody {
    let calls: Vec<String> = scenario.calls.iter().map(|call| call.name.to_owned()).collect();
    GoldenBody::new(&record.transcript(&plan.names, &calls, &|intent| scenario.intent_name(intent)))
}

/// Checks one case. The simulator may have been used before.
pub fn check_one(simulator: &mut Simulator, case: &Case<'_>) -> CaseResult {
    let plan = case.plan;
    let scenario = Scenario::of_fixture(case.fixture, plan);
    let record = simulator.run_fixture(plan, &scenario);
    let expect = case.fixture.expect.get(&case.id.playbook).map(|expect| &**expect);
    let body = body_of(plan, &scenario, record);
    CaseResult {
        id: case.id.clone(),
        title: case.fixture.title.clone(),
        // A recording has no title, and no place where people could expect anything.
        unexpected_harm: match case.fixture.title.is_empty() {
            true => Vec::new(),
            false => unexpected_harm(expect, record),
        },
        contradictions: expect.map_or_else(Vec::new, |expect| contradictions(expect, plan, &scenario, record)),
        golden: match &case.golden {
            None => GoldenState::Missing,
            Some(Err(report)) => GoldenState::Unreadable(report.clone()),
            Some(Ok(golden)) => compare_with_golden(golden, &body),
        },
        body,
    }
}

/// The unsafe findings by the playbook in the run of a fixture.
pub fn harm(simulator: &mut Simulator, plan: &Plan, fixture: &Fixture) -> Vec<FindingId> {
    unexpected_harm(None, simulator.run_fixture(plan, &Scenario::of_fixture(fixture, plan)))
}

/// The unsafe findings by the playbook that `expect` does not name.
fn unexpected_harm(expect: Option<&Expect>, record: &SimulationRecord) -> Vec<FindingId> {
    let named = expect.and_then(|expect| expect.findings.as_deref()).unwrap_or_default();
    let is_harm = |finding: &&Finding| finding.severity == FindingSeverity::Unsafe && finding.by == FindingBy::Playbook;
    let harm = record.findings.iter().filter(is_harm).map(|finding| finding.id);
    let unnamed: BTreeSet<FindingId> = harm.filter(|id| !named.contains(id)).collect();
    unnamed.into_iter().collect()
}

fn compare_with_golden(source: &Arc<Source>, body: &GoldenBody) -> GoldenState {
    let golden = match GoldenFile::parse(source) {
        Ok(golden) => golden,
        Err(report) => return GoldenState::Unreadable(report),
    };
    if golden.body.text.trim_end() == body.render().trim_end() {
        return GoldenState::Same; // the usual case needs no values
    }
    let comparison = match parse_body(Arc::clone(&golden.body)) {
        Ok(accepted) => compare(&accepted, body),
        Err(report) => return GoldenState::Unreadable(report),
    };
    match comparison.worst() {
        None => GoldenState::Same,
        Some(_) => GoldenState::Diverged(Box::new(Diverged { golden, comparison })),
    }
}
