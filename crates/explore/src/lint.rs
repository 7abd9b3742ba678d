//! What lint says of a playbook beside its own lints: claims that the world contradicts, and no word against a guard that a
//! script of answers reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use playproof_engine::event::{EffectClaim, FindingId};
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::Verdict;
use playproof_engine::sim::{Plan, Scenario, Simulator};
use playproof_formats::diagnostic::Diagnostic;
use playproof_formats::playbook::Loaded;
use playproof_formats::playbook::lint::lint as own_lints;

use crate::alphabet::{Alphabet, MOST_CHECKS};
use crate::calls::CallKind;
use crate::search::{Bounds, Found, Shown};
use crate::shape::UNKEYED;
use crate::synthesize;
use crate::verify::{Asked, Unit, answers_of, search, searched};
use crate::world::{WORLD, is_believed};

/// The id of the error of a claim that the world contradicts.
pub const CONTRADICTED_CLAIM: &str = "contradicted_claim";

/// Answers of the scripts that are tried: a claim that is wrong shows with the answer after it.
const ANSWERS: usize = 2;

/// Attempts that are run, of all kinds of call together: lint answers at once, and `verify` takes its time.
const MOST_ATTEMPTS: u64 = 100_000;

/// All lints of a playbook, in the order of their places.
pub fn lint(loaded: &Loaded, plan: &Plan, jobs: NonZeroUsize) -> Vec<Diagnostic> {
    let kinds = CallKind::all(plan);
    let asked = Asked { world: &WORLD, plan, playbook: "" };
    let units: Vec<Unit<'_>> = kinds.iter().map(|kind| Unit { kind, dropped: None }).collect();
    let attempts = MOST_ATTEMPTS / kinds.len().max(1) as u64;
    let bounds = Bounds { states: u64::MAX, attempts, departures: None, answers: Some(ANSWERS) };
    let found = searched(asked, &units, bounds, jobs);
    let (rests, mut is_cut) = on_your_word(loaded, plan);
    is_cut |= found.iter().any(|found| found.is_too_much);
    let contradictions = shortest(&found);
    let guarded: BTreeSet<VerdictId> = found.iter().flat_map(|found| &found.guarded).copied().collect();
    let is_reached = |said: &Diagnostic| {
        let is_needed = |id: &VerdictId| contradictions.contains_key(id) || guarded.contains(id);
        said.id == "unreached_guard" && (is_cut || verdict_of(loaded, said).is_some_and(|id| is_needed(&id)))
    };
    let mut all = own_lints(loaded);
    all.retain(|said| !is_reached(said));
    all.extend(contradictions.into_iter().map(|(id, (n, shown))| contradicted(loaded, &asked, &units[n], id, shown)));
    all.extend(rests);
    all.extend(is_cut.then(cut_short));
    all.sort_by_key(|said| said.labels.first().map_or(0, |label| label.span.start)); // stable
    all
}

/// Of each verdict whose claim is contradicted, the shortest script that shows it, and its kind of call.
fn shortest(found: &[Found]) -> BTreeMap<VerdictId, (usize, &Shown)> {
    let mut shortest: BTreeMap<VerdictId, (usize, &Shown)> = BTreeMap::new();
    for (n, found) in found.iter().enumerate() {
        for (verdict, shown) in &found.contradicted {
            let length = |shown: &Shown| (shown.departures, shown.path.len());
            if shortest.get(verdict).is_none_or(|(_, known)| length(shown) < length(known)) {
                shortest.insert(*verdict, (n, shown));
            }
        }
    }
    shortest
}

/// The verdict in whose row a lint lies.
fn verdict_of(loaded: &Loaded, said: &Diagnostic) -> Option<VerdictId> {
    let at = said.labels.first()?.span.start;
    let ids = (0..).map(VerdictId).take(loaded.playbook.verdicts.len());
    ids.filter(|id| loaded.places.verdict(*id).is_some_and(|place| place.start <= at))
        .max_by_key(|id| loaded.places.verdict(*id).map(|place| place.start))
}

/// The error, with the story of two lines.
fn contradicted(loaded: &Loaded, asked: &Asked<'_>, unit: &Unit<'_>, id: VerdictId, shown: &Shown) -> Diagnostic {
    let Verdict { name, effect, .. } = asked.plan.playbook.verdict(id);
    let alphabet = Alphabet::of(asked.plan, unit.kind, asked.world, unit.dropped);
    let search = search(asked.plan, unit, &alphabet);
    let answers = answers_of(&search, shown).join(" → ");
    let fixture = unit.kind.fixture(asked.plan, "", search.script(&shown.path));
    let scenario = Scenario::of_fixture(&fixture, asked.plan);
    let mut simulator = Simulator::new();
    let record = simulator.run_fixture(asked.plan, &scenario);
    let effects: u32 = record.ledger.net().values().map(|net| net.effects).sum();
    let claim = record.outcomes.first().map_or(EffectClaim::Unknown, |outcome| outcome.claim);
    let is_twice = record.findings.iter().any(|finding| finding.id == FindingId::DuplicateEffect);
    let end = match is_twice {
        true => format!("the ledger has {effects} effects of one call: {}", FindingId::DuplicateEffect.as_str()),
        false => {
            let there = if effects == 0 { "no effect" } else { "the effect" };
            let untruthful = FindingId::UntruthfulOutcome.as_str();
            format!("the call ends with `{}`, and the ledger has {there}: {untruthful}", claim.as_str())
        }
    };
    let why = match effect {
        EffectClaim::Applied => "its request may have done nothing",
        EffectClaim::NotApplied | EffectClaim::Unknown => "its request may have acted",
    };
    let place = |part| loaded.places.row(&loaded.playbook, &format!("verdict {name}"), part).unwrap_or_default();
    Diagnostic::error("contradicted_claim", format!("`{name}` claims `{}`, and {why}", effect.as_str()))
        .at(place("effect"), format!("{}: {answers}", unit.kind.name))
        .at(place("then"), end)
        .help(match effect {
            EffectClaim::Applied => {
                "write `effect: not_applied` if its rules match refusals, else `effect: unknown`; what proves an effect is \
                 a conflict that says that the key of the call was processed"
            }
            _ => {
                "write `effect: unknown`, or narrow its rules to answers that prove it: a status from 400 to 499 but 408, \
                 409, 424 and 499, or `kind: not_sent`"
            }
        })
}

/// What is said of a search that was too much work.
fn cut_short() -> Diagnostic {
    let message = "the rules are too many to try every script of two answers: a false claim may be unnamed";
    Diagnostic::note("world_cut_short", message).help("`playproof verify` tries more, and says how far it came")
}

/// The verdicts that send a write again because only its tool's own words say that it did nothing; and whether there was
/// too much work to find them all.
fn on_your_word(loaded: &Loaded, plan: &Plan) -> (Vec<Diagnostic>, bool) {
    let mut said: BTreeSet<VerdictId> = BTreeSet::new();
    let mut checks = 0;
    for made in synthesize::of_playbook(&plan.playbook).iter().filter(|made| !made.lends_status) {
        let verdict = plan.playbook.verdict(made.verdict);
        let is_claim = verdict.effect == EffectClaim::NotApplied && verdict.then.sends_again();
        let can_double = is_claim && made.fits(UNKEYED) && !said.contains(&made.verdict);
        let Some(error) = made.error.as_ref().filter(|error| can_double && is_believed(error)) else { continue };
        checks += plan.classifier.candidates(error.kind.as_deref());
        if checks > MOST_CHECKS {
            break;
        }
        if made.attempt(1).is_some_and(|at| made.classified(plan, UNKEYED, at).verdict == made.verdict) {
            said.insert(made.verdict);
        }
    }
    let place = |name: &str| loaded.places.row(&loaded.playbook, &format!("verdict {name}"), "effect");
    let warning = |id: VerdictId| {
        let name = &plan.playbook.verdict(id).name;
        let message = format!("`{name}` rests on your word: nothing but the tool's own words says that it did nothing");
        Diagnostic::note("rests_on_word", message)
            .at(place(name).unwrap_or_default(), "and the write is sent again")
            .help("make sure that the tool means it; `playproof verify` shows what breaks where it does not")
    };
    (said.into_iter().map(warning).collect(), checks > MOST_CHECKS)
}
