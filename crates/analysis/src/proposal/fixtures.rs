//! The fixtures of a draft: a failure that it catches, and a look-alike that it must not catch; recorded if possible,
//! otherwise synthetic. Each is run before it is taken.

use std::collections::BTreeMap;

use super::diff::{FixtureDiff, before_and_after};
use super::draft::Draft;
use super::evidence::{DraftEvidence, EvidenceSource};
use super::request::{Note, WhySynthetic};
use crate::check::CaseId;
use crate::mining::FailureExample;
use crate::recorded::{message_without_echoes, of_recorded, without_echoes};
use playproof_engine::call::RecordedCall;
use playproof_engine::event::{AdmissionRefusal, Decision, Status};
use playproof_engine::fixture::{Expect, ExpectCall, Fixture, FixtureCall, FixtureTool};
use playproof_engine::glob;
use playproof_engine::ids::first_free;
use playproof_engine::playbook::{Access, DEFAULT_TIMEOUT, UNCLASSIFIED};
use playproof_engine::sim::{Plan, Scenario, Simulator};
use playproof_explore::coverage::{led_in, probes};
use playproof_explore::{can_hide, expected, to_yaml};
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;
use playproof_formats::golden::Class;

/// Recorded calls by input and reference.
pub type RecordedCalls = BTreeMap<(u32, String), RecordedCall>;

/// The current and the drafted playbook.
#[derive(Clone, Copy, Debug)]
pub struct TrialPlans<'a> {
    /// The draft.
    pub draft: &'a Draft,
    /// The current playbook.
    pub before: &'a Plan,
    /// The drafted playbook.
    pub after: &'a Plan,
}

/// A fixture of a draft.
#[derive(Clone, Debug, PartialEq)]
pub struct DraftFixture {
    /// The name of its file.
    pub name: String,
    /// The content of its title.
    pub title: Title,
    /// The fixture without a title.
    pub fixture: Fixture,
}

/// The content of a title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Title {
    /// The note of a kept call.
    Note(String),
    /// The message of a tool.
    Says {
        /// The tool.
        tool: String,
        /// Its message, if any.
        message: Option<String>,
    },
    /// A fixed text.
    Text(String),
    /// What the failure can hide: it acted, or it did nothing.
    Hides {
        /// The title of the failure.
        of: Box<Title>,
        /// Whether it acted.
        acted: bool,
    },
    /// A placeholder: its author must explain it.
    MadeUp {
        /// The verdict that it must not get.
        verdict: String,
        /// Why it is synthetic; none without a recording.
        why: Option<WhySynthetic>,
    },
}

/// All fixtures, under names that are not `taken`, and notes for their author.
pub fn fixtures(
    plans: &TrialPlans<'_>,
    id: &str,
    evidence: Option<(&DraftEvidence, &RecordedCalls)>,
    taken: &[String],
) -> (Vec<DraftFixture>, Vec<Note>) {
    let (draft, mut notes) = (plans.draft, Vec::new());
    let recorded = evidence.map(|(evidence, calls)| RecordedFixtures { plans, evidence, calls });
    let mut caught = recorded.as_ref().and_then(RecordedFixtures::caught);
    let mut spared = recorded.as_ref().filter(|_| draft.rule.is_some()).and_then(RecordedFixtures::spared);
    if caught.is_none() || (spared.is_none() && draft.rule.is_some()) {
        let all = probes(plans.after, &draft.playbook).into_iter().map(|probe| probe.fixture);
        let all: Vec<Fixture> = all.collect();
        let made_up = || all.iter().find(|fixture| plans.catches(fixture)).cloned();
        caught = caught.or_else(|| made_up().map(|fixture| (Title::Text(fixture.title.clone()), fixture)));
        if spared.is_none() && draft.rule.is_some() {
            let why = evidence.map(|(evidence, _)| match evidence.cluster.others.is_empty() {
                true => WhySynthetic::NoOther,
                false => WhySynthetic::AllCaught(draft.verdict.clone()),
            });
            let title = Title::MadeUp { verdict: draft.verdict.clone(), why: why.clone() };
            spared = plans.made_up(&all).map(|fixture| (title, fixture.clone()));
            notes.extend(why.map(Note::LookAlikeMadeUp));
            let origin = evidence.map(|(evidence, _)| &evidence.origin);
            notes
                .extend(matches!(origin, Some(EvidenceSource::Kept { is_alone: true, .. })).then_some(Note::KeptAlone));
        }
    }
    let caught: Vec<(Title, Fixture)> =
        caught.map(|(title, fixture)| plans.both_ways(title, fixture)).unwrap_or_default();
    let caught: Vec<(Title, Fixture)> =
        caught.into_iter().map(|(title, fixture)| (title, plans.with_expectation(fixture))).collect();
    notes.extend(caught.first().and_then(|(_, fixture)| plans.refused_at_gate(fixture)));
    let spared = spared.map(|(title, fixture)| (title, plans.with_exclusion(fixture)));
    let free = |name: &str| first_free(name, |name| taken.iter().any(|other| other == name));
    let mut caught = caught.into_iter();
    let named = [
        (free(id), caught.next()),
        (free(&format!("{id}-acted")), caught.next()),
        (free(&format!("not-{id}")), spared),
    ];
    let fixtures = named.into_iter().filter_map(|(name, drafted)| {
        let (title, fixture) = drafted?;
        Some(DraftFixture { name, title, fixture })
    });
    (fixtures.collect(), notes)
}

impl TrialPlans<'_> {
    fn shows(plan: &Plan, fixture: &Fixture) -> Expect {
        let scenario = Scenario::of_fixture(fixture, plan);
        let mut simulator = Simulator::new();
        let record = simulator.run_fixture(plan, &scenario);
        expected(plan, &scenario, record)
    }

    /// The fixture twice, if the failure that gets the verdict can hide an effect: it did nothing, and it acted. Whether it
    /// can, the verdict is not asked.
    fn both_ways(&self, title: Title, fixture: Fixture) -> Vec<(Title, Fixture)> {
        let Some((call, attempt)) = self.hiding(&fixture) else { return vec![(title, fixture)] };
        let way = |acted: bool| {
            let mut fixture = fixture.clone();
            let script = fixture.calls.get_mut(call).and_then(|call| call.script.attempts.get_mut(attempt));
            script.into_iter().for_each(|answer| answer.applied = Some(acted));
            (Title::Hides { of: Box::new(title.clone()), acted }, fixture)
        };
        [false, true].map(way).into()
    }

    /// The call and the attempt, both by their places, of a write that fails with the verdict, if the failure can hide an
    /// effect.
    fn hiding(&self, fixture: &Fixture) -> Option<(usize, usize)> {
        let scenario = Scenario::of_fixture(fixture, self.after);
        let mut simulator = Simulator::new();
        let record = simulator.run_fixture(self.after, &scenario);
        let mut last = None;
        let mut failures = record.events.iter().filter_map(|event| match event.what {
            Decision::AttemptFinished { attempt, status, .. } => {
                last = Some((attempt, status));
                None
            }
            Decision::FailureClassified { verdict, .. } => Some((event.call, last?, verdict)),
            _ => None,
        });
        let is_meant = |verdict| self.after.names.verdict(verdict) == self.draft.verdict;
        let (call, (attempt, status), _) = failures.find(|(_, _, verdict)| is_meant(*verdict))?;
        let Status::Failed(error) = status else { return None };
        let writes = scenario.calls.get(call.index())?.facts.access == Access::Write;
        let can_hide = writes && can_hide(error.and_then(|error| record.error(error)));
        can_hide.then_some((call.index(), attempt.index()))
    }

    /// The fixture with its run as `expect`, for its author to check.
    fn with_expectation(&self, mut fixture: Fixture) -> Fixture {
        let shown = TrialPlans::shows(self.after, &fixture);
        fixture.expect.insert(self.draft.playbook.clone(), shown.into());
        fixture
    }

    /// Says that the gate refuses a call of the fixture, so that it shows nothing of the failure.
    fn refused_at_gate(&self, fixture: &Fixture) -> Option<Note> {
        let expect = fixture.expect.get(&self.draft.playbook)?;
        let refused = |call: &&FixtureCall| {
            let why = expect.calls.get(&call.name).and_then(|expect| expect.why.as_deref());
            AdmissionRefusal::OF_GATE.into_iter().any(|refusal| why == Some(refusal.as_str()))
        };
        let call = fixture.calls.iter().find(refused)?;
        Some(Note::RefusedAtGate { tool: call.tool.clone(), playbook: self.draft.playbook.clone() })
    }

    /// A look-alike only excludes the verdict: it may get another one later.
    fn with_exclusion(&self, mut fixture: Fixture) -> Fixture {
        let not_verdicts = Some(vec![self.draft.verdict.clone()]);
        let excluded = Box::new(ExpectCall { not_verdicts, ..ExpectCall::default() });
        let calls = fixture.calls.iter().map(|call| (call.name.clone(), excluded.clone())).collect();
        fixture.expect.insert(self.draft.playbook.clone(), Box::new(Expect { calls, ..Expect::default() }));
        fixture
    }

    fn gives(&self, expect: &Expect) -> bool {
        verdicts(expect).any(|one| *one == self.draft.verdict)
    }

    /// Whether the draft catches the fixture: it now gets the verdict; without a new rule, its run changes.
    fn catches(&self, fixture: &Fixture) -> bool {
        if !self.is_readable(fixture) {
            return false;
        }
        let (before, after) = (TrialPlans::shows(self.before, fixture), TrialPlans::shows(self.after, fixture));
        let is_changed = if self.draft.rule.is_some() { !self.gives(&before) } else { before != after };
        self.gives(&after) && is_changed
    }

    /// Whether the fixture fails and does not get the verdict.
    fn spares(&self, fixture: &Fixture) -> bool {
        let after = TrialPlans::shows(self.after, fixture);
        verdicts(&after).next().is_some() && !self.gives(&after) && self.is_readable(fixture)
    }

    /// Whether its file can be read back: a trace may contain what a fixture cannot, such as a tool without a name.
    fn is_readable(&self, fixture: &Fixture) -> bool {
        let whole = self.with_exclusion(Fixture { title: "t".to_owned(), ..fixture.clone() });
        fixture::parse(Source::whole("", to_yaml(&whole))).is_ok()
    }

    /// A synthetic failure with another verdict, preferably unclassified.
    fn made_up<'f>(&self, all: &'f [Fixture]) -> Option<&'f Fixture> {
        let spared: Vec<&Fixture> = all.iter().filter(|fixture| self.spares(fixture)).collect();
        let is_unknown =
            |fixture: &&&Fixture| verdicts(&TrialPlans::shows(self.after, fixture)).any(|one| one == UNCLASSIFIED);
        spared.iter().find(is_unknown).or(spared.first()).copied()
    }

    /// The fixture of a recorded call, with the tool's facts if declared.
    fn of_call(&self, call: &RecordedCall) -> Fixture {
        let (facts, own) = (self.after.facts(call.tool()), self.after.playbook.tools.facts(call.tool()));
        let stated = |fact: bool, own: bool| (fact || own).then_some(fact); // else the row may omit it
        let tools = facts.declared.then(|| FixtureTool {
            pattern: glob::escape(call.tool()),
            writes: facts.access == Access::Write,
            idempotent: stated(facts.idempotent, own.idempotent),
            repeatable: stated(facts.repeatable, own.repeatable),
            timeout: (facts.timeout != DEFAULT_TIMEOUT || own.timeout != DEFAULT_TIMEOUT).then_some(facts.timeout),
            ignores_keys: stated(facts.ignores_keys, own.ignores_keys),
            needs_key: stated(facts.needs_key, own.needs_key),
            never_retried: stated(facts.never_retried, own.never_retried),
            across_runs: stated(facts.across_runs, own.across_runs),
            once: stated(facts.once, own.once),
            same_if: self.after.same_if(call.tool()).cloned(),
            server: None,
        });
        let fixture = Fixture {
            playbooks: vec![self.draft.playbook.clone()],
            tools: tools.into_iter().collect(),
            ..of_recorded(call)
        };
        // A rule may ask for a word that the call sent.
        let private = led_in(&self.after.playbook, without_echoes(fixture.clone(), call));
        let fixture = led_in(&self.after.playbook, fixture);
        let shows = |fixture: &Fixture| [self.before, self.after].map(|plan| TrialPlans::shows(plan, fixture));
        if shows(&private) == shows(&fixture) { private } else { fixture }
    }
}

fn verdicts(expect: &Expect) -> impl Iterator<Item = &String> {
    expect.calls.values().flat_map(|call| call.verdicts.iter().flatten())
}

/// Recorded failures as fixtures.
struct RecordedFixtures<'a> {
    plans: &'a TrialPlans<'a>,
    evidence: &'a DraftEvidence,
    calls: &'a RecordedCalls,
}

impl RecordedFixtures<'_> {
    /// A failure that the draft catches, otherwise the first of its cluster.
    fn caught(&self) -> Option<(Title, Fixture)> {
        if let EvidenceSource::Kept { call, note, .. } = &self.evidence.origin {
            return Some((Title::Note(note.clone()), self.plans.of_call(call)));
        }
        let mut all = self.fixtures(&self.evidence.cluster.examples);
        let best = all.iter().position(|(_, fixture)| self.plans.catches(fixture)).unwrap_or(0);
        (best < all.len()).then(|| all.swap_remove(best))
    }

    /// The nearest failure that the draft does not catch.
    fn spared(&self) -> Option<(Title, Fixture)> {
        self.fixtures(self.evidence.others()).into_iter().find(|(_, fixture)| self.plans.spares(fixture))
    }

    fn fixtures(&self, examples: &[FailureExample]) -> Vec<(Title, Fixture)> {
        let fixture = |example: &FailureExample| {
            let call = self.calls.get(&(example.place.input, example.reference.clone()))?;
            let message = example.message.as_deref().map(|message| message_without_echoes(message, call));
            Some((Title::Says { tool: call.tool().to_owned(), message }, self.plans.of_call(call)))
        };
        examples.iter().filter_map(fixture).collect()
    }
}

/// The goldens of earlier look-alikes that were unclassified and now get the verdict, each with its worst class. Other
/// changes are left to the author.
pub fn changed_look_alikes(plans: &TrialPlans<'_>, fixtures: &[(String, Fixture)]) -> Vec<(CaseId, Class)> {
    let mut simulator = Simulator::new();
    let changed = fixtures.iter().filter(|(_, fixture)| is_look_alike(fixture, &plans.draft.playbook));
    let changed = changed.filter_map(|(name, fixture)| {
        let id = CaseId { playbook: plans.draft.playbook.clone(), fixture: name.clone() };
        let diff = before_and_after(&mut simulator, &id, fixture, [plans.before, plans.after], false);
        diff.class().filter(|_| is_meant(&diff, &plans.draft.verdict)).map(|class| (id, class))
    });
    changed.collect()
}

/// Whether the fixture only excludes verdicts.
fn is_look_alike(fixture: &Fixture, playbook: &str) -> bool {
    let expect = fixture.expect.get(playbook);
    expect.is_some_and(|expect| {
        let says_that_alone = |call: &ExpectCall| {
            let alone = ExpectCall { not_verdicts: call.not_verdicts.clone(), ..ExpectCall::default() };
            call.not_verdicts.is_some() && *call == alone
        };
        !expect.calls.is_empty() && expect.calls.values().all(|call| says_that_alone(call))
    })
}

/// Whether the only change is that unclassified failures get the verdict.
fn is_meant(diff: &FixtureDiff, verdict: &str) -> bool {
    let is_found = |one: &str, other: &str| one == other || (one == UNCLASSIFIED && other == verdict);
    diff.contradictions.is_empty()
        && diff.gives_verdict_after(verdict)
        && diff.before.iter().zip(&diff.after).all(|(before, after)| {
            before.verdicts.split(", ").zip(after.verdicts.split(", ")).all(|(one, other)| is_found(one, other))
        })
}
