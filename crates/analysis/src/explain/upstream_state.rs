//! The state of the upstream, as far as it is known: from a fixture's ledger, or from a recording. All recorded answers
//! count, also those that the playbook would not have requested; modelled answers prove nothing.

use super::evidence::{AnswerEvidence, OtherCall, RecordingEvidence};
use super::subject::{Simulation, Subject};
use playproof_engine::call::RecordedCall;
use playproof_engine::event::{EffectClaim, FieldKey, FieldValue, IntentBalance, Outcome, Provenance};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::Plan;

/// Whether the effect is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectState {
    /// The effect is there.
    Done,
    /// The effect is not there.
    NotDone,
    /// The effect may be there.
    MaybeDone,
}

/// Effects of one intent beyond the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surplus {
    /// All effects of the intent.
    pub effects: u32,
    /// Whether they are proved: the tool's facts are declared and the call has no key.
    pub certain: bool,
}

/// The state of the upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamState {
    /// Whether the effect is there.
    pub known: EffectState,
    /// The surplus effects.
    pub surplus: Option<Surplus>,
    /// The effect was made and reversed.
    pub taken_back: bool,
    /// The effect is there, and failed requests may have made it again.
    pub once_more: Option<OnceMore>,
    /// The basis of this knowledge.
    pub basis: Basis,
    /// The number of recorded answers that the playbook does not use.
    pub unused: u32,
    /// Whether the outcome claims less than is known, because a request has no recorded answer.
    pub claims_less: bool,
    /// Whether a model answered, which proves nothing.
    pub modelled: bool,
}

/// The basis of the state of the upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The tool only reads.
    ReadOnly,
    /// The fixture's ledger, beside what the outcome claims.
    Ledger(IntentBalance, EffectClaim),
    /// Several requests with the intent were answered with ok.
    SeveralOk {
        /// How many.
        surplus: Surplus,
        /// The effects of this call, less reversals.
        own: u32,
        /// The other calls.
        others: Vec<OtherCall>,
    },
    /// An attempt of this call was answered with ok.
    Ok,
    /// Other calls were answered with ok.
    OthersOk {
        /// The other calls.
        others: Vec<OtherCall>,
        /// Whether this call may have made the effect too.
        own: bool,
    },
    /// The upstream's answer says so.
    Said,
    /// The upstream's answers to other calls say so.
    SaidToOthers {
        /// The other calls.
        others: Vec<OtherCall>,
        /// Whether this call may have made the effect too.
        own: bool,
    },
    /// The effect was reversed.
    TakenBack,
    /// According to the playbook, no attempt with the intent can have acted.
    NoneActed,
    /// Unknown: these other calls may have acted, or this call.
    Unknown(Vec<OtherCall>, OwnEffect),
}

/// What this call may have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnEffect {
    /// It was sent, and no answer is recorded.
    Unanswered,
    /// An attempt of it may have acted.
    Maybe,
    /// It has not acted.
    No,
    /// Its effect was reversed.
    TakenBack,
}

/// Requests that may have made an effect again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnceMore {
    /// Whether an attempt of this call may have.
    pub own: bool,
    /// Other calls that may have.
    pub others: Vec<OtherCall>,
}

impl UpstreamState {
    /// The state after the call.
    pub fn of(subject: &Subject, plan: &Plan, simulation: &Simulation, outcome: &Outcome) -> UpstreamState {
        let mut state = match subject {
            Subject::Recorded { call, recorded, .. } => of_recording(call.raw(), recorded, plan, simulation, outcome),
            Subject::Fixture { .. } => of_fixture(simulation.truth(), simulation.facts, outcome),
        };
        if simulation.facts.access == Access::Read {
            state.basis = Basis::ReadOnly;
        }
        state
    }
}

impl OwnEffect {
    const fn of(evidence: AnswerEvidence) -> OwnEffect {
        match (evidence.taken_back, evidence.claim, evidence.maybe) {
            (1.., ..) => OwnEffect::TakenBack,
            (0, None, _) => OwnEffect::Unanswered,
            (0, Some(_), 1..) => OwnEffect::Maybe,
            (0, Some(_), 0) => OwnEffect::No,
        }
    }
}

/// The script of a fixture decides its effects, and its ledger is the truth.
fn of_fixture(truth: IntentBalance, facts: ToolFacts, outcome: &Outcome) -> UpstreamState {
    let known = match (truth.effects, outcome.claim) {
        (1.., _) => EffectState::Done,
        (0, EffectClaim::Unknown) => EffectState::MaybeDone,
        (0, _) => EffectState::NotDone,
    };
    let surplus = Surplus { effects: truth.effects, certain: facts.declared };
    UpstreamState {
        known,
        surplus: (truth.effects > 1 && acts_again(facts)).then_some(surplus),
        taken_back: truth.reversed > 0 && truth.effects == 0,
        once_more: None,
        basis: Basis::Ledger(truth, outcome.claim),
        unused: 0,
        claims_less: false,
        modelled: false,
    }
}

fn of_recording(
    call: &RecordedCall,
    recorded: &RecordingEvidence,
    plan: &Plan,
    simulation: &Simulation,
    outcome: &Outcome,
) -> UpstreamState {
    let facts = simulation.facts;
    let evidence = AnswerEvidence::of(call, plan, facts);
    let effects = evidence.net().saturating_add(recorded.effects_of_others());
    let own = match evidence.taken_back {
        1.. => EffectClaim::NotApplied,
        0 => evidence.claim.unwrap_or(EffectClaim::Unknown),
    };
    let known = match (effects, recorded.others.iter().fold(own, |claim, other| claim.and(other.claim))) {
        (1.., _) | (0, EffectClaim::Applied) => EffectState::Done,
        (0, EffectClaim::NotApplied) => EffectState::NotDone,
        (0, EffectClaim::Unknown) => EffectState::MaybeDone,
    };
    let surplus = Surplus { effects, certain: facts.declared && call.key().is_none() };
    let surplus = (effects > 1 && acts_again(facts)).then_some(surplus);
    let may_be_doubled = known == EffectState::Done && acts_again(facts) && call.key().is_none();
    UpstreamState {
        known,
        surplus,
        taken_back: evidence.taken_back > 0 && known == EffectState::NotDone,
        once_more: may_be_doubled.then(|| once_more(recorded, evidence)).flatten(),
        basis: match surplus {
            Some(surplus) => {
                Basis::SeveralOk { surplus, own: evidence.net(), others: others(recorded, |other| other.effects > 0) }
            }
            None => of_one_effect(recorded, evidence, known),
        },
        unused: simulation.tally().tape_left,
        claims_less: known == EffectState::NotDone && outcome.claim == EffectClaim::Unknown,
        modelled: asked_a_model(simulation),
    }
}

fn once_more(recorded: &RecordingEvidence, evidence: AnswerEvidence) -> Option<OnceMore> {
    let others = others(recorded, |other| other.maybe);
    let own = evidence.maybe > 0 && evidence.net() > 0;
    (own || !others.is_empty()).then_some(OnceMore { own, others })
}

fn others(recorded: &RecordingEvidence, is: impl Fn(&OtherCall) -> bool) -> Vec<OtherCall> {
    recorded.others.iter().filter(|other| is(other)).cloned().collect()
}

/// Whether a second request changes what the first has changed.
fn acts_again(facts: ToolFacts) -> bool {
    facts.access == Access::Write && !facts.idempotent
}

/// The basis for an intent with at most one effect.
fn of_one_effect(recorded: &RecordingEvidence, evidence: AnswerEvidence, known: EffectState) -> Basis {
    let made = others(recorded, |other| other.effects > 0);
    match known {
        _ if evidence.net() > 0 => Basis::Ok,
        _ if !made.is_empty() => Basis::OthersOk { others: made, own: evidence.may_have_acted() },
        EffectState::Done => {
            let said = others(recorded, |other| other.claim == EffectClaim::Applied);
            match evidence.claim == Some(EffectClaim::Applied) || said.is_empty() {
                true => Basis::Said,
                false => Basis::SaidToOthers { others: said, own: evidence.may_have_acted() },
            }
        }
        EffectState::NotDone if evidence.taken_back > 0 => Basis::TakenBack,
        EffectState::NotDone => Basis::NoneActed,
        EffectState::MaybeDone => Basis::Unknown(others(recorded, |other| other.maybe), OwnEffect::of(evidence)),
    }
}

fn asked_a_model(simulation: &Simulation) -> bool {
    let is_modelled = |(_, value): (FieldKey, FieldValue)| value == FieldValue::Provenance(Provenance::Modelled);
    simulation.decisions().any(|(_, decision)| decision.describe().fields().any(is_modelled))
}
