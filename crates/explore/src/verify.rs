//! `verify`: which properties of a playbook hold whatever an upstream answers, what breaks the others, and what the rest
//! rests on.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use playproof_engine::event::{Decision, FindingId, RequestKind};
use playproof_engine::fixture::{Fixture, FixtureCrash, FixtureCrashAt};
use playproof_engine::playbook::Access;
use playproof_engine::sim::{Plan, Scenario, Simulator};
use playproof_engine::time::Duration;
use playproof_engine::upstream::UpstreamReply;
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;

use crate::alphabet::Alphabet;
use crate::assumption::Assumption;
use crate::calls::CallKind;
use crate::changed::Changed;
use crate::fixture_text::{expected, to_yaml};
use crate::pool;
use crate::property::PROPERTIES;
use crate::search::{Bounds, Found, Search, Shown};
use crate::world::{Row, WORLD};

/// Departures that are tried without one of the assumptions.
const DEPARTURES_WITHOUT: u32 = 3;

/// Attempts that are run for each state that may be looked at: more are run only for long calls with many answers.
const ATTEMPTS: u64 = 100;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The name of the playbook in fixtures.
    pub playbook: &'a str,
    /// The properties; empty: all.
    pub properties: &'a [FindingId],
    /// States of one playbook that are looked at.
    pub states: u64,
    /// Threads; they change no result.
    pub jobs: NonZeroUsize,
    /// Only the kinds of call that changed rows reach, and what those rows assume; none: all.
    pub changed: Option<&'a Changed>,
}

/// How a property fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// Some script of answers breaks it.
    Violated,
    /// No script that was tried breaks it, and a bound cut: those with fewer departures were all tried.
    CutShort(u32),
    /// No script of answers breaks it.
    Holds,
    /// Nothing asks it: no call comes to where it could break.
    NotAsked,
}

impl Fate {
    /// Its word in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Fate::Violated => "violated",
            Fate::CutShort(_) => "cut_short",
            Fate::Holds => "holds",
            Fate::NotAsked => "not_asked",
        }
    }
}

/// One property of one playbook.
#[derive(Clone, Debug)]
pub struct PropertyResult {
    /// The finding.
    pub id: FindingId,
    /// Over all kinds of call.
    pub fate: Fate,
    /// By kind of call, in their order.
    pub kinds: Vec<(String, Fate)>,
    /// The shortest script that breaks it.
    pub counterexample: Option<Counterexample>,
}

/// A script of answers that breaks a property.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The kind of call.
    pub kind: String,
    /// Answers that a working upstream would not give.
    pub departures: u32,
    /// The answers, in words.
    pub answers: Vec<String>,
    /// The fixture, as read back from its text.
    pub fixture: Fixture,
    /// The text of its file.
    pub text: String,
    /// Whether the ordinary run of the file shows the finding; else it is our bug.
    pub confirmed: bool,
}

/// What properties rest on one assumption.
#[derive(Clone, Debug)]
pub struct RestsOn {
    /// The assumption.
    pub on: String,
    /// The properties that break without it.
    pub breaks: Vec<(FindingId, Counterexample)>,
    /// Those that rest on it, though no run can show it: a ledger believes the facts of its tools.
    pub unshown: Vec<FindingId>,
}

impl RestsOn {
    /// The properties that rest on it.
    pub fn properties(&self) -> impl Iterator<Item = FindingId> {
        self.breaks.iter().map(|(id, _)| *id).chain(self.unshown.iter().copied())
    }
}

/// The result for one playbook.
#[derive(Clone, Debug)]
pub struct Verified {
    /// Its name.
    pub playbook: String,
    /// The kinds of call.
    pub kinds: Vec<String>,
    /// States that were looked at.
    pub states: u64,
    /// Whether every script was tried.
    pub complete: bool,
    /// Whether the playbook orders actions or their steps: no call of an action was made.
    pub has_actions: bool,
    /// The properties that were asked.
    pub properties: Vec<PropertyResult>,
    /// What those that hold rest on.
    pub rests_on: Vec<RestsOn>,
}

impl Verified {
    /// The counterexamples of the properties.
    pub fn counterexamples(&self) -> impl Iterator<Item = (FindingId, &Counterexample)> {
        self.properties.iter().filter_map(|property| Some((property.id, property.counterexample.as_ref()?)))
    }

    /// The counterexamples of everything that the result says.
    pub fn all_counterexamples(&self) -> impl Iterator<Item = (FindingId, &Counterexample)> {
        let without = self.rests_on.iter().flat_map(|rests| rests.breaks.iter().map(|(id, shown)| (*id, shown)));
        self.counterexamples().chain(without)
    }
}

/// Where a question is asked.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) world: &'a [Row],
    pub(crate) plan: &'a Plan,
    /// The name of the playbook in fixtures.
    pub(crate) playbook: &'a str,
}

/// One search that belongs to a result.
pub(crate) struct Unit<'a> {
    pub(crate) kind: &'a CallKind,
    pub(crate) dropped: Option<&'a Assumption>,
}

/// Verifies one playbook.
pub fn verify(plan: &Plan, question: &Question<'_>) -> Verified {
    verify_in(&WORLD, plan, question)
}

/// The same in another world.
pub(crate) fn verify_in(world: &[Row], plan: &Plan, question: &Question<'_>) -> Verified {
    let asked = Asked { world, plan, playbook: question.playbook };
    let kinds = CallKind::all(plan).into_iter();
    let kinds: Vec<CallKind> =
        kinds.filter(|kind| question.changed.is_none_or(|changed| changed.reaches(kind))).collect();
    let each = question.states.div_ceil(kinds.len().max(1) as u64).min(question.states);
    let whole = Bounds { states: each, attempts: each.saturating_mul(ATTEMPTS), departures: None, answers: None };
    let units: Vec<Unit<'_>> = kinds.iter().map(|kind| Unit { kind, dropped: None }).collect();
    let found = searched(asked, &units, whole, question.jobs);
    let is_asked = |id: &FindingId| question.properties.is_empty() || question.properties.contains(id);
    let properties = PROPERTIES.into_iter().filter(is_asked);
    let properties: Vec<PropertyResult> = properties.map(|id| property_result(asked, id, &units, &found)).collect();
    let holds: BTreeSet<FindingId> =
        properties.iter().filter(|property| property.fate == Fate::Holds).map(|property| property.id).collect();
    Verified {
        playbook: question.playbook.to_owned(),
        kinds: kinds.iter().map(|kind| kind.name.clone()).collect(),
        states: found.iter().map(|found| found.states).sum(),
        complete: found.iter().all(|found| found.cut.is_none()),
        has_actions: has_actions(plan),
        rests_on: rests_on(asked, question, &kinds, each, &holds),
        properties,
    }
}

/// What the properties that hold rest on: the assumptions without which some of them break. `states` are looked at for each
/// kind of call.
fn rests_on(
    asked: Asked<'_>,
    question: &Question<'_>,
    kinds: &[CallKind],
    states: u64,
    holds: &BTreeSet<FindingId>,
) -> Vec<RestsOn> {
    let mut assumptions = if holds.is_empty() { Vec::new() } else { Assumption::all(asked.plan) };
    assumptions.retain(|assumption| question.changed.is_none_or(|changed| changed.assumes(assumption)));
    let concerned = |dropped| kinds.iter().filter(move |kind: &&CallKind| kind.is_concerned(dropped));
    let without: Vec<Unit<'_>> = assumptions
        .iter()
        .flat_map(|dropped| concerned(dropped).map(move |kind| Unit { kind, dropped: Some(dropped) }))
        .collect();
    let attempts = states.saturating_mul(ATTEMPTS);
    let near = Bounds { states, attempts, departures: Some(DEPARTURES_WITHOUT), answers: None };
    let found_without = searched(asked, &without, near, question.jobs);
    let mut rests_on = Vec::new();
    let (mut units, mut found_without) = (without.as_slice(), found_without.as_slice());
    for dropped in &assumptions {
        let count = concerned(dropped).count();
        let (own, found) = (&units[..count], &found_without[..count]); // one unit for each kind
        (units, found_without) = (&units[count..], &found_without[count..]);
        let breaks = holds.iter().filter_map(|&id| Some((id, shortest(asked, id, own, found)?)));
        let breaks: Vec<(FindingId, Counterexample)> = breaks.collect();
        if !breaks.is_empty() {
            rests_on.push(RestsOn { on: dropped.name(), breaks, unshown: Vec::new() });
        }
    }
    rests_on.extend(declared_harmless(asked.plan, question.changed, holds));
    rests_on
}

/// The rows of tools that are declared to do no harm twice, with the properties that nobody can see broken for them.
fn declared_harmless(plan: &Plan, changed: Option<&Changed>, holds: &BTreeSet<FindingId>) -> Vec<RestsOn> {
    let unshown: Vec<FindingId> =
        [FindingId::DuplicateEffect, FindingId::UnsafeRetry].into_iter().filter(|id| holds.contains(id)).collect();
    let rows = plan.playbook.tools.rows().iter();
    let harmless =
        rows.filter(|row| row.facts.access == Access::Write && (row.facts.idempotent || row.facts.repeatable));
    let assumed = harmless.map(|row| Assumption::Tool(row.pattern.clone()));
    let assumed = assumed.filter(|assumption| changed.is_none_or(|changed| changed.assumes(assumption)));
    let rests = assumed.map(|on| RestsOn { on: on.name(), breaks: Vec::new(), unshown: unshown.clone() });
    rests.filter(|rests| !rests.unshown.is_empty()).collect()
}

/// The searches, in order. Kinds of call that a playbook cannot tell apart have one search.
pub(crate) fn searched(asked: Asked<'_>, all: &[Unit<'_>], bounds: Bounds, jobs: NonZeroUsize) -> Vec<Found> {
    let same =
        |unit: &Unit<'_>, other: &Unit<'_>| unit.dropped == other.dropped && unit.kind.is_like(asked.plan, other.kind);
    let first = |unit: &Unit<'_>| all.iter().position(|other| same(unit, other)).unwrap_or_default();
    let firsts: Vec<usize> = all.iter().map(first).collect();
    let of_its_own: BTreeSet<usize> = firsts.iter().copied().collect();
    let of_its_own: Vec<usize> = of_its_own.into_iter().collect();
    let units: Vec<&Unit<'_>> = of_its_own.iter().filter_map(|&place| all.get(place)).collect();
    let found = each_searched(asked, &units, bounds, jobs);
    let of = |first: &usize| of_its_own.binary_search(first).ok().and_then(|place| found.get(place));
    firsts.iter().filter_map(of).cloned().collect()
}

fn each_searched(asked: Asked<'_>, units: &[&Unit<'_>], bounds: Bounds, jobs: NonZeroUsize) -> Vec<Found> {
    let work = |simulator: &mut Simulator, unit: &&Unit<'_>| {
        let alphabet = Alphabet::of(asked.plan, unit.kind, asked.world, unit.dropped);
        search(asked.plan, unit, &alphabet).run(simulator, bounds)
    };
    pool::map(units, jobs, Simulator::new, work, |_| false)
}

pub(crate) fn search<'a>(plan: &'a Plan, unit: &Unit<'a>, alphabet: &'a Alphabet) -> Search<'a> {
    let honours_keys = unit.dropped != Some(&Assumption::Keys);
    Search { plan, kind: unit.kind, alphabet, honours_keys, merges: true }
}

/// Whether a playbook orders actions: the calls that are tried are not calls of them.
fn has_actions(plan: &Plan) -> bool {
    plan.playbook.graph.is_some() || plan.playbook.has_steps()
}

fn property_result(asked: Asked<'_>, id: FindingId, units: &[Unit<'_>], found: &[Found]) -> PropertyResult {
    let fate = |found: &Found| match (found.shown.contains_key(&id), found.cut, found.asked.contains(&id)) {
        (true, ..) => Fate::Violated,
        (false, Some(departures), _) => Fate::CutShort(departures),
        (false, None, true) if !has_actions(asked.plan) => Fate::Holds,
        (false, None, _) => Fate::NotAsked,
    };
    let kinds: Vec<(String, Fate)> =
        units.iter().zip(found).map(|(unit, found)| (unit.kind.name.clone(), fate(found))).collect();
    PropertyResult {
        id,
        fate: kinds.iter().map(|(_, fate)| *fate).min().unwrap_or(Fate::NotAsked),
        kinds,
        counterexample: shortest(asked, id, units, found),
    }
}

/// The shortest script over all kinds of call that shows a finding.
fn shortest(asked: Asked<'_>, id: FindingId, units: &[Unit<'_>], found: &[Found]) -> Option<Counterexample> {
    let shown = units.iter().zip(found).filter_map(|(unit, found)| Some((unit, found.shown.get(&id)?)));
    let (unit, shown) = shown.min_by_key(|(_, shown)| (shown.departures, shown.path.len()))?;
    let alphabet = Alphabet::of(asked.plan, unit.kind, asked.world, unit.dropped);
    Some(counterexample(&search(asked.plan, unit, &alphabet), asked.playbook, id, shown))
}

fn counterexample(search: &Search<'_>, playbook: &str, id: FindingId, shown: &Shown) -> Counterexample {
    let (plan, kind) = (search.plan, search.kind);
    let answers = answers_of(search, shown);
    let title = format!("{} under {}: {}", id.as_str(), playbook, answers.join("; "));
    let written = |mut fixture: Fixture| {
        let expect = {
            let scenario = Scenario::of_fixture(&fixture, plan);
            expected(plan, &scenario, Simulator::new().run_fixture(plan, &scenario))
        };
        fixture.playbooks = vec![playbook.to_owned()];
        fixture.expect = BTreeMap::from([(playbook.to_owned(), expect.into())]);
        let text = to_yaml(&fixture);
        let confirmed =
            fixture::parse(Source::whole("counterexample", text.clone())).is_ok_and(|read| shows(plan, &read, id));
        (fixture, text, confirmed)
    };
    let scripted = kind.fixture(plan, &title, search.script(&shown.path));
    let crashing = crashing(search, shown, &scripted).map(written).filter(|(.., confirmed)| *confirmed);
    let (fixture, text, confirmed) = crashing.unwrap_or_else(|| written(scripted));
    Counterexample { kind: kind.name.clone(), departures: shown.departures, answers, fixture, text, confirmed }
}

/// The same with a dispatcher that dies, in place of the answer that this leaves. A fixture can say one death, in whole
/// milliseconds.
fn crashing(search: &Search<'_>, shown: &Shown, scripted: &Fixture) -> Option<Fixture> {
    let attempts = shown.path.iter().filter(|(asked, _)| matches!(asked, RequestKind::Attempt(_)));
    let letters = attempts.filter_map(|(asked, place)| search.alphabet.answers(*asked).get(*place));
    let mut crashes = letters.enumerate().filter(|(_, letter)| letter.is_crash());
    let (attempt, _) = crashes.next().filter(|_| crashes.next().is_none())?;
    let scenario = Scenario::of_fixture(scripted, search.plan);
    let mut simulator = Simulator::new();
    let mut events = simulator.run_fixture(search.plan, &scenario).events.iter();
    let sent = events.find(
        |event| matches!(event.what, Decision::AttemptStarted { attempt: started, .. } if started.index() == attempt),
    )?;
    let at = Some(sent.at).filter(|at| at.as_micros() % 1_000 == 0)?; // a fixture has whole milliseconds
    let crash = FixtureCrash { when: FixtureCrashAt::Time(at), restart: Duration::ZERO };
    let mut fixture = Fixture { crash: Some(crash), ..scripted.clone() };
    fixture.calls.first_mut()?.script.attempts.get_mut(attempt)?.reply = UpstreamReply::Lost;
    Some(fixture)
}

/// The answers of a script, in words.
pub(crate) fn answers_of(search: &Search<'_>, shown: &Shown) -> Vec<String> {
    let answers = shown.path.iter().filter_map(|(asked, place)| search.alphabet.answers(*asked).get(*place));
    answers.map(|letter| letter.name.clone()).collect()
}

/// Whether the ordinary run of a fixture shows a finding.
fn shows(plan: &Plan, fixture: &Fixture, id: FindingId) -> bool {
    let scenario = Scenario::of_fixture(fixture, plan);
    let mut simulator = Simulator::new();
    simulator.run_fixture(plan, &scenario).findings.iter().any(|finding| finding.id == id)
}
