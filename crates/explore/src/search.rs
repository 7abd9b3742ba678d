//! The search: every script of answers to one call, the fewest departures first, each run by the ordinary simulator.
//! A script is extended as long as the call wants an answer; of calls in the same state, one goes on.

use std::collections::{BTreeMap, BTreeSet};

use playproof_engine::event::{Decision, EffectClaim, FindingId, OutcomeKind, RequestKind};
use playproof_engine::ids::VerdictId;
use playproof_engine::sim::{Plan, Scenario, SimulationRecord, Simulator};
use playproof_engine::time::Instant;
use playproof_engine::upstream::{AnswerSource, Script};

use crate::alphabet::{Alphabet, KeyState, Path};
use crate::calls::CallKind;
use crate::claims;
use crate::normal_form::{NormalForm, effects, most_effects};
use crate::property;

/// Where a search ends.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// States that are looked at.
    pub states: u64,
    /// Attempts in the scripts that are run.
    pub attempts: u64,
    /// Departures of one script; none: any.
    pub departures: Option<u32>,
    /// Answers of one script; none: any.
    pub answers: Option<usize>,
}

/// The shortest script that shows a finding: fewest departures, then fewest answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shown {
    /// Answers that a working upstream would not give.
    pub departures: u32,
    /// The answers.
    pub path: Path,
}

/// How a call ended, as far as a property or a reader may care.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct End {
    /// Its outcome in words.
    pub outcome: String,
    /// The verdict of its last failure.
    pub verdict: Option<VerdictId>,
    /// The effect that it claims.
    pub claim: EffectClaim,
    /// Net effects in the ledger, as far as their number matters.
    pub effects: usize,
    /// What was found.
    pub findings: Vec<FindingId>,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The shortest script of each finding.
    pub shown: BTreeMap<FindingId, Shown>,
    /// The findings whose condition came up.
    pub asked: BTreeSet<FindingId>,
    /// How calls ended.
    pub ends: BTreeSet<End>,
    /// The verdicts whose claim the ledger contradicts, each with the shortest script whose findings tell of it.
    pub contradicted: BTreeMap<VerdictId, Shown>,
    /// The verdicts whose retry the guard stopped.
    pub guarded: BTreeSet<VerdictId>,
    /// States that were looked at.
    pub states: u64,
    /// Where a bound cut: all scripts with fewer departures were tried. None: all scripts were.
    pub cut: Option<u32>,
    /// Whether the work was too much: states, attempts, or answers that the rules tell apart.
    pub is_too_much: bool,
}

/// One kind of call in one world.
#[derive(Debug)]
pub struct Search<'a> {
    /// The playbook.
    pub plan: &'a Plan,
    /// The kind of call.
    pub kind: &'a CallKind,
    /// What the upstream may answer.
    pub alphabet: &'a Alphabet,
    /// Whether the upstream knows keys again.
    pub honours_keys: bool,
    /// Whether calls in the same state are one: else every script is tried.
    pub merges: bool,
}

/// A call that wants an answer.
struct Open {
    path: Path,
    departures: u32,
    asked: RequestKind,
    key: KeyState,
    /// What it is at any time, as a number.
    timeless: usize,
}

/// A call after its script.
enum Step {
    Wants(RequestKind, KeyState, NormalForm),
    Ended(End, Witnessed),
}

/// What came up in a call that ended.
struct Witnessed {
    asked: BTreeSet<FindingId>,
    contradicted: Vec<VerdictId>,
    guarded: Vec<VerdictId>,
}

/// A search that is under way.
struct UnderWay<'a> {
    simulator: &'a mut Simulator,
    base: Scenario<'a>,
    found: Found,
    known: BTreeSet<NormalForm>,
    /// The same at any time, with their numbers.
    timeless: BTreeMap<NormalForm, usize>,
    /// The answers that ended a call, by its state at any time.
    judged: BTreeSet<(usize, usize)>,
    /// By departures and answers.
    open: BTreeMap<(u32, usize), Vec<Open>>,
    /// Attempts that were run.
    attempts: u64,
}

impl Search<'_> {
    /// Tries the scripts within the bounds.
    pub fn run(&self, simulator: &mut Simulator, bounds: Bounds) -> Found {
        let fixture = self.kind.fixture(self.plan, "", Script::default());
        let base = Scenario::of_fixture(&fixture, self.plan);
        let mut way = UnderWay {
            simulator,
            base,
            found: Found::default(),
            known: BTreeSet::new(),
            timeless: BTreeMap::new(),
            judged: BTreeSet::new(),
            open: BTreeMap::new(),
            attempts: 0,
        };
        if self.alphabet.is_cut {
            (way.found.cut, way.found.is_too_much) = (Some(1), true); // a script without a departure needs no failure
        }
        self.visit(&mut way, Path::new(), 0);
        while let Some(((departures, _), level)) = way.open.pop_first() {
            for state in &level {
                if way.found.states >= bounds.states || way.attempts >= bounds.attempts {
                    way.found.cut_at(departures);
                    way.found.is_too_much = true;
                    return way.found;
                }
                way.found.states += 1;
                self.extend(&mut way, state, bounds);
            }
        }
        way.found
    }

    fn extend(&self, way: &mut UnderWay<'_>, state: &Open, bounds: Bounds) {
        for (place, letter) in self.alphabet.answers(state.asked).iter().enumerate() {
            if !letter.is_possible(self.plan, state.asked, state.key) {
                continue;
            }
            let departures = state.departures + u32::from(letter.departs);
            let is_long = bounds.answers.is_some_and(|most| state.path.len() >= most);
            if is_long || bounds.departures.is_some_and(|most| departures > most) {
                way.found.cut_at(departures);
                continue;
            }
            let ends = matches!(state.asked, RequestKind::Attempt(attempt) if letter.ends(self.plan, attempt));
            if self.merges && ends && !way.judged.insert((state.timeless, place)) {
                continue;
            }
            let mut path = state.path.clone();
            path.push((state.asked, place));
            self.visit(way, path, departures);
        }
    }

    /// Runs one script, and keeps what came of it.
    fn visit(&self, way: &mut UnderWay<'_>, path: Path, departures: u32) {
        match self.step(way, &path) {
            Step::Wants(asked, key, form) => {
                let (count, timeless) = (way.timeless.len(), form.at_any_time());
                if !self.merges || way.known.insert(form) {
                    let timeless = *way.timeless.entry(timeless).or_insert(count);
                    let level = way.open.entry((departures, path.len())).or_default();
                    level.push(Open { path, departures, asked, key, timeless });
                }
            }
            Step::Ended(end, witnessed) => {
                let found = &mut way.found;
                found.asked.extend(witnessed.asked);
                found.guarded.extend(witnessed.guarded);
                let shown = Shown { departures, path };
                end.findings.iter().for_each(|&finding| keep_shortest(&mut found.shown, finding, &shown));
                witnessed
                    .contradicted
                    .iter()
                    .for_each(|&verdict| keep_shortest(&mut found.contradicted, verdict, &shown));
                found.ends.insert(end);
            }
        }
    }

    fn step(&self, way: &mut UnderWay<'_>, path: &Path) -> Step {
        let script = self.script(path);
        let attempts = script.attempts.len();
        way.attempts += attempts as u64 + 1;
        // The names of the one call are always the same, so that only its script is new.
        let mut scenario = way.base.clone();
        for call in &mut scenario.calls {
            call.source = AnswerSource::Script(&script, &[]);
        }
        let record = way.simulator.run_fixture(self.plan, &scenario);
        match wanted(record, attempts) {
            Some((asked, at, events)) => {
                let key = self.key_state(record, (at, attempts), path);
                let form = NormalForm::of((self.plan, self.kind, self.alphabet), record, (asked, at, events), path);
                Step::Wants(asked, key, form)
            }
            None => {
                let witnessed = Witnessed {
                    asked: property::asked(self.kind, record),
                    contradicted: claims::contradicted(self.plan, record),
                    guarded: claims::guarded(record),
                };
                Step::Ended(ended(self.plan, self.kind, record), witnessed)
            }
        }
    }

    /// The answers of a path as a script.
    pub fn script(&self, path: &Path) -> Script {
        let mut script = Script::default();
        let mut key = KeyState { honoured: self.honours(), ..KeyState::default() };
        for (asked, place) in path {
            let Some(letter) = self.alphabet.answers(*asked).get(*place) else { continue };
            let answers = match asked {
                RequestKind::Attempt(_) => &mut script.attempts,
                RequestKind::Refresh(_) => &mut script.refresh,
                RequestKind::Reversal => &mut script.reversal,
            };
            answers.push(letter.scripted(*asked, key));
            key.acted |= letter.acts && matches!(asked, RequestKind::Attempt(_));
        }
        script
    }

    /// Whether the upstream knows the key of the call again.
    fn honours(&self) -> bool {
        self.honours_keys && self.kind.shape.keyed && !self.kind.facts.ignores_keys
    }

    /// What the upstream knows of the call at this moment.
    fn key_state(
        &self,
        record: &SimulationRecord,
        (at, attempts): (Instant, usize),
        path: &[(RequestKind, usize)],
    ) -> KeyState {
        let mut letters = path.iter().filter_map(|(asked, place)| self.alphabet.answers(*asked).get(*place));
        let mut key =
            KeyState { honoured: self.honours(), out: letters.any(|letter| letter.works_on), ..KeyState::default() };
        for entry in effects(record, attempts) {
            key.acted |= entry <= at;
            key.out |= entry > at;
        }
        key
    }
}

impl Found {
    fn cut_at(&mut self, departures: u32) {
        self.cut = Some(self.cut.map_or(departures, |cut| cut.min(departures)));
    }
}

fn keep_shortest<K: Ord>(all: &mut BTreeMap<K, Shown>, of: K, shown: &Shown) {
    let length = |shown: &Shown| (shown.departures, shown.path.len());
    if all.get(&of).is_none_or(|known| length(shown) < length(known)) {
        all.insert(of, shown.clone());
    }
}

/// The request that has no answer in the script, when it was made, and how many events there were before; none: the call
/// ended by its script. The key of a call that is known may give it answers that no script has.
fn wanted(record: &SimulationRecord, attempts: usize) -> Option<(RequestKind, Instant, usize)> {
    record.events.iter().enumerate().find_map(|(place, event)| match event.what {
        Decision::AttemptStarted { attempt, .. } if attempt.index() >= attempts => {
            Some((RequestKind::Attempt(attempt), event.at, place))
        }
        Decision::Outcome(outcome) => match outcome.kind {
            OutcomeKind::Undetermined(asked) => Some((asked, event.at, place)),
            _ => None,
        },
        _ => None,
    })
}

/// How a call ended.
pub(crate) fn ended(plan: &Plan, kind: &CallKind, record: &SimulationRecord) -> End {
    let outcome = record.outcomes.first();
    let detail = match outcome.map(|outcome| outcome.kind) {
        Some(OutcomeKind::Escalated(queue)) => plan.names.queue(queue).to_owned(),
        Some(OutcomeKind::Exhausted(stop)) => stop.as_str().to_owned(),
        Some(OutcomeKind::Refused(why)) => why.as_str().to_owned(),
        Some(OutcomeKind::Reversed(reason)) => format!("reason {}", reason.0),
        Some(OutcomeKind::Deprecated(why)) => format!("{why:?}"),
        _ => String::new(),
    };
    let mut last_verdict = record.events.iter().filter_map(|event| match event.what {
        Decision::FailureClassified { verdict, .. } => Some(verdict),
        _ => None,
    });
    let word = outcome.map_or("none", |outcome| outcome.kind.as_str());
    let mut findings: Vec<FindingId> = record.findings.iter().map(|finding| finding.id).collect();
    findings.sort_unstable();
    findings.dedup();
    End {
        outcome: format!("{word} {detail}").trim_end().to_owned(),
        verdict: last_verdict.next_back(),
        claim: outcome.map_or(EffectClaim::Unknown, |outcome| outcome.claim),
        effects: record.ledger.net().values().map(|net| net.effects as usize).sum::<usize>().min(most_effects(kind)),
        findings,
    }
}
