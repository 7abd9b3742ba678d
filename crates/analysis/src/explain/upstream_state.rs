//! The state of the upstream, as far as it is known: from a fixture's ledger, or from a recording. All recorded answers
//! count, also those that the playbook would not have requested; modelled answers prove nothing.

use super::action_steps::StepsShown;
use super::distrust::{Distrust, InputGaps};
use super::effect_state::EffectState;
use super::evidence::AnswerEvidence;
use super::other_call::{KeyOwner, OtherCall, OtherName, Relation, UpstreamSaid};
use super::others::others_of;
use super::subject::{Simulation, Subject};
use playproof_engine::call::RecordedCall;
use playproof_engine::event::{
    EffectClaim, FieldKey, FindingId, IntentBalance, IntentDoubt, KeyHistory, Outcome, Provenance,
};
use playproof_engine::playbook::Access;
use playproof_engine::sim::Plan;
use playproof_engine::upstream::KeyDialect;

/// Effects of one intent beyond the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surplus {
    /// All effects of the intent.
    pub effects: u32,
    /// Why they are not proved; none: they are.
    pub doubt: Option<SurplusDoubt>,
}

/// Why effects of one intent may be fewer than the answers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurplusDoubt {
    /// The upstream may have honoured the key.
    Key,
    /// The tool is not declared as a write.
    ToolFacts,
    /// The calls may be different requests.
    Intent(IntentDoubt),
}

/// The state of the upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpstreamState {
    /// Whether the effect is there.
    pub known: EffectState,
    /// The surplus effects.
    pub surplus: Option<Surplus>,
    /// The effect was made and reversed.
    pub taken_back: bool,
    /// A reversal was confirmed, whatever it found, or may have been done, or may still be.
    pub reversed: bool,
    /// Such a reversal of this call was not confirmed.
    pub reversal_may_land: bool,
    /// This holds only if this call and others are one request, which is unknown.
    pub if_same: Option<IntentDoubt>,
    /// The outcome contradicts what is known.
    pub contradicted: bool,
    /// What the upstream said to this call, and to calls with its intent.
    pub said: UpstreamSaid,
    /// Other calls that redeemed the reversal token of this one.
    pub token_shared: Vec<OtherName>,
    /// The upstream does not remember keys: the fixture's, or that of a tool that is declared so.
    pub keys_forgotten: bool,
    /// The identical calls that were denied, if this one was not.
    pub denied: Vec<OtherCall>,
    /// The calls under another key whose key was processed, if the key of this one was not.
    pub processed: Vec<OtherCall>,
    /// The same request under another key, or with and without one.
    pub other_keys: Vec<OtherCall>,
    /// Calls that may be the same request, which the recording hides.
    pub maybe_same: Vec<OtherCall>,
    /// Calls of other runs with this tool and these arguments that acted or may have: other intents.
    pub other_runs: Vec<OtherCall>,
    /// The same key, for other requests.
    pub other_arguments: Vec<OtherCall>,
    /// The key belongs to another request: one that was sent before, or the upstream says so.
    pub takes_key: bool,
    /// Another request was sent under the key, and nothing shows which came first.
    pub key_order_unknown: bool,
    /// The request was the first with its key, and another one was sent under it later.
    pub shares_key: bool,
    /// Later calls of the tool with other arguments.
    pub later_writes: Vec<OtherCall>,
    /// Later identical calls of a `repeatable` tool that acted or may have.
    pub made_since: Vec<OtherCall>,
    /// The effect is there, and failed requests may have made it again.
    pub once_more: Option<OnceMore>,
    /// The basis of this knowledge.
    pub basis: Basis,
    /// What the inputs leave open of any write.
    pub gaps: InputGaps,
    /// The number of recorded answers that the playbook does not use.
    pub unused: u32,
    /// Whether the outcome claims less than is known, because a request has no recorded answer.
    pub claims_less: bool,
    /// Whether a model answered, which proves nothing.
    pub modelled: bool,
    /// Whether the tool facts say that the tool only reads, and the ledger has an effect of it.
    pub read_acted: bool,
}

/// The basis of the state of the upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// After the upstream said that it had processed the key, it answered this other call with ok; none: this call. The
    /// ok may be its first answer again, or a second effect.
    OkAfterProcessed(Option<OtherCall>),
    /// An attempt of this call was answered with ok.
    Ok,
    /// Other calls were answered with ok.
    OthersOk {
        /// The other calls.
        others: Vec<OtherCall>,
        /// What this call did.
        own: OwnEffect,
    },
    /// The upstream's answer says so.
    Said,
    /// The upstream's answers to other calls say so.
    SaidToOthers {
        /// The other calls.
        others: Vec<OtherCall>,
        /// What this call did.
        own: OwnEffect,
    },
    /// The effect was reversed: that of these other calls; none: that of this call.
    TakenBack(Vec<OtherCall>),
    /// According to the playbook, no attempt with the intent can have acted.
    #[default]
    NoneActed,
    /// According to the playbook, no attempt with the intent can have acted, and that is no proof; beside what the outcome
    /// claims.
    Distrusted(Distrust, EffectClaim),
    /// Unknown: a reversal under the key was confirmed, or may have been, and the upstream goes on giving its first answer.
    KeyReversed,
    /// Unknown: the upstream said that it had processed the key, under which it had only refused requests.
    RefusedBefore,
    /// Unknown: the key was sent before with other arguments, so that its answers may belong to this call.
    KeyOfAnother(OtherName),
    /// The effect under the key is that of another request, made by this call.
    OfAnotherRequest(OtherName),
    /// What became of the steps of an action.
    Steps(Box<StepsShown>),
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
    /// A reversal was confirmed, and an attempt may still take effect.
    MayLand,
    /// It acted, and a reversal may have taken its effect back.
    MayBeTakenBack,
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
        let (others, own_said) = others_of(subject, plan, simulation);
        let facts = simulation.facts;
        let same: Vec<OtherCall> = related(&others, Relation::Same);
        let said = same.iter().fold(own_said, |said, other| said.or(other.said));
        // A denial, and a request that was processed, also count under another key.
        let under_other_key: Vec<OtherCall> = related(&others, Relation::OtherKey);
        let elsewhere = under_other_key.iter().fold(said, |said, other| said.or(other.said));
        let identical = |other: &&OtherCall| match other.relation {
            Relation::Same | Relation::OtherKey | Relation::MaybeSame(_) => true,
            Relation::OtherArguments | Relation::LaterWrite | Relation::OtherRun => false,
        };
        // A denial counts also where it is unknown whether the call is the same request.
        let denials = || others.iter().filter(identical).filter(|other| other.said.denied).cloned();
        let denied: Vec<OtherCall> = if own_said.denied { Vec::new() } else { denials().collect() };
        let was_processed = |other: &&OtherCall| !said.processed && other.said.processed;
        let processed: Vec<OtherCall> = under_other_key.iter().filter(was_processed).cloned().collect();
        let UpstreamSaid { denied: is_denied, done, more, resent, .. } =
            others.iter().filter(identical).fold(own_said, |said, other| said.or(other.said));
        let said = UpstreamSaid { key_reused: said.key_reused, denied: is_denied, done, more, resent, ..elsewhere };
        let other_arguments = related(&others, Relation::OtherArguments);
        let key_owner = KeyOwner::among(&others);
        let owner = match key_owner {
            KeyOwner::Own => None,
            KeyOwner::Other(owner) | KeyOwner::Unknown(owner) => Some(owner),
        };
        let mut state = match subject {
            Subject::Recorded { call, recorded, .. } => {
                let same = if facts.repeatable { Vec::new() } else { same };
                let evidence = AnswerEvidence::of(call.raw(), plan, facts);
                let evidence = if recorded.token_shared.is_empty() { evidence } else { evidence.with_shared_token() };
                let intended = Intended { evidence, same, owner };
                let state = of_recording(call.raw(), &intended, simulation, outcome);
                UpstreamState { token_shared: recorded.token_shared.clone(), ..state }
            }
            Subject::Fixture { fixture, .. } => {
                let made = same.iter().fold(simulation.effects(), |sum, other| sum.saturating_add(other.effects));
                match owner.filter(|owner| made == 0 && owner.effects > 0) {
                    Some(owner) => {
                        UpstreamState::new(EffectState::NotDone, Basis::OfAnotherRequest(owner.name.clone()))
                    }
                    None => of_fixture(simulation, fixture.keys, outcome),
                }
            }
        };
        let finds = |id| simulation.findings.iter().any(|finding| finding.id == id);
        state.contradicted = finds(FindingId::UntruthfulOutcome);
        state.keys_forgotten |= facts.ignores_keys;
        state.read_acted = finds(FindingId::ReadActed);
        state.shares_key = owner.is_none() && !other_arguments.is_empty();
        state.takes_key = !state.shares_key && (owner.is_some() || said.key_reused);
        state.key_order_unknown = matches!(key_owner, KeyOwner::Unknown(_));
        state.said = said;
        if let (Access::Write, Subject::Recorded { recorded, .. }) = (facts.access, subject) {
            state.gaps = recorded.gaps;
            (state.unused, state.modelled) = (simulation.tally().tape_left, asked_a_model(simulation));
        }
        if let (Basis::NoneActed, Some(distrust)) = (&state.basis, Distrust::of(said, state.gaps)) {
            (state.known, state.claims_less) = (EffectState::MaybeDone, false);
            state.basis = Basis::Distrusted(distrust, outcome.claim);
        }
        state.denied = denied;
        state.processed = processed;
        state.other_arguments = other_arguments;
        if facts.access == Access::Write {
            state.other_keys = if facts.repeatable { Vec::new() } else { under_other_key };
            let maybe_same = |other: &&OtherCall| matches!(other.relation, Relation::MaybeSame(_));
            if !facts.repeatable && !facts.idempotent {
                state.maybe_same = others.iter().filter(maybe_same).cloned().collect();
                state.other_runs = related(&others, Relation::OtherRun);
                state.other_runs.retain(OtherCall::may_have_acted);
            }
            if facts.repeatable {
                let made = others.iter().filter(identical).filter(|other| other.later && other.may_have_acted());
                state.made_since = made.cloned().collect();
            }
            state.later_writes = if facts.idempotent { related(&others, Relation::LaterWrite) } else { Vec::new() };
        } else if state.known != EffectState::Done {
            state.basis = Basis::ReadOnly;
        }
        state
    }

    /// A state with this basis, and nothing else known.
    pub fn new(known: EffectState, basis: Basis) -> UpstreamState {
        UpstreamState { known, basis, ..UpstreamState::default() }
    }
}

impl Basis {
    /// Whether it says what other calls did, and nothing of this one.
    const fn rests_on_others(&self) -> bool {
        match self {
            Basis::OthersOk { .. } | Basis::SaidToOthers { .. } => true,
            Basis::TakenBack(others) => !others.is_empty(),
            Basis::Unknown(_, own) => matches!(own, OwnEffect::No | OwnEffect::TakenBack),
            _ => false,
        }
    }
}

fn related(others: &[OtherCall], relation: Relation) -> Vec<OtherCall> {
    others.iter().filter(|other| other.relation == relation).cloned().collect()
}

impl OwnEffect {
    const fn of(evidence: AnswerEvidence) -> OwnEffect {
        match (evidence.proved.taken_back, evidence.claim, evidence.maybe) {
            _ if evidence.proved.may_be_taken_back() => OwnEffect::MayBeTakenBack,
            (1.., _, 1..) | (1.., None, _) => OwnEffect::MayLand,
            (1.., ..) if evidence.proved.made > 0 => OwnEffect::TakenBack,
            (_, None, _) => OwnEffect::Unanswered,
            (_, Some(_), 1..) => OwnEffect::Maybe,
            (_, Some(_), 0) => OwnEffect::No,
        }
    }
}

/// The script of a fixture decides its effects, and its ledger is the truth.
fn of_fixture(simulation: &Simulation, keys: KeyDialect, outcome: &Outcome) -> UpstreamState {
    let (truth, facts, claim) = (simulation.truth(), simulation.facts, outcome.claim);
    let known = match (truth.effects, claim) {
        (1.., _) => EffectState::Done,
        (0, EffectClaim::Unknown) => EffectState::MaybeDone,
        (0, _) => EffectState::NotDone,
    };
    let doubt = (!facts.declared).then_some(SurplusDoubt::ToolFacts);
    let surplus = Surplus { effects: truth.effects, doubt };
    UpstreamState {
        surplus: (truth.effects > 1 && facts.adds_effects()).then_some(surplus),
        taken_back: truth.effects == 0 && simulation.made() > 0,
        reversed: truth.reversed > 0,
        keys_forgotten: matches!(keys, KeyDialect::None | KeyDialect::Lossy),
        ..UpstreamState::new(known, Basis::Ledger(truth, claim))
    }
}

/// What a recording proves of the intent of a call.
struct Intended<'a> {
    /// By its own answers.
    evidence: AnswerEvidence,
    /// By the other calls with the same arguments.
    same: Vec<OtherCall>,
    /// The first with the key, if it has other arguments, or may be the first.
    owner: Option<&'a OtherCall>,
}

fn of_recording(
    call: &RecordedCall,
    intended: &Intended<'_>,
    simulation: &Simulation,
    outcome: &Outcome,
) -> UpstreamState {
    let (facts, same, evidence) = (simulation.facts, &intended.same, intended.evidence);
    if facts.access == Access::Read {
        return UpstreamState::new(EffectState::NotDone, Basis::ReadOnly); // an ok of a read proves no effect
    }
    let effects = same.iter().fold(evidence.proved.net(), |sum, other| sum.saturating_add(other.effects));
    let known = match (effects, same.iter().fold(evidence.net_claim(), |claim, other| claim.and(other.claim))) {
        (1.., _) | (0, EffectClaim::Applied) => EffectState::Done,
        (0, EffectClaim::NotApplied) => EffectState::NotDone,
        (0, EffectClaim::Unknown) => EffectState::MaybeDone,
    };
    if let Some(owner) = intended.owner.filter(|_| known != EffectState::NotDone) {
        return UpstreamState::new(EffectState::MaybeDone, Basis::KeyOfAnother(owner.name.clone()));
    }
    let is_keyed = call.is_keyed() && !facts.ignores_keys;
    let if_same = call.intent_doubt().filter(|_| !is_keyed);
    let doubt = match (is_keyed, facts.declared) {
        (true, _) => Some(SurplusDoubt::Key),
        (false, false) => Some(SurplusDoubt::ToolFacts),
        (false, true) => if_same.filter(|_| effects > evidence.proved.net()).map(SurplusDoubt::Intent),
    };
    let says_done = effects > 0 || evidence.says_processed() || same.iter().any(OtherCall::says_processed);
    let is_reversed = evidence.proved.is_reversed() || same.iter().any(|other| other.reversed);
    if is_keyed && is_reversed && says_done {
        return UpstreamState { reversed: true, ..UpstreamState::new(EffectState::MaybeDone, Basis::KeyReversed) };
    }
    let surplus = Surplus { effects, doubt };
    let surplus = (effects > 1 && facts.adds_effects()).then_some(surplus);
    let may_be_doubled = known == EffectState::Done && facts.adds_effects() && !is_keyed;
    let taken_back = evidence.proved.all_taken_back() || same.iter().any(|other| other.taken_back);
    let basis = match surplus {
        Some(surplus) => {
            Basis::SeveralOk { surplus, own: evidence.proved.net(), others: others(same, |other| other.effects > 0) }
        }
        None => of_one_effect(
            same,
            evidence,
            known,
            evidence.refused_before || call.key_history == KeyHistory::Refused && evidence.says_processed(),
        ),
    };
    UpstreamState {
        surplus,
        taken_back: taken_back && known == EffectState::NotDone,
        if_same: if_same.filter(|_| basis.rests_on_others()),
        reversed: is_reversed,
        reversal_may_land: evidence.proved.taken_back == 0 && evidence.proved.unclear > 0,
        once_more: may_be_doubled.then(|| once_more(same, evidence, surplus.is_some())).flatten(),
        claims_less: known == EffectState::NotDone && outcome.claim == EffectClaim::Unknown,
        ..UpstreamState::new(known, basis)
    }
}

fn once_more(same: &[OtherCall], evidence: AnswerEvidence, several: bool) -> Option<OnceMore> {
    let others = others(same, |other| other.maybe);
    let own = evidence.may_have_acted() && (several || evidence.proved.net() > 0);
    (own || !others.is_empty()).then_some(OnceMore { own, others })
}

fn others(same: &[OtherCall], is: impl Fn(&OtherCall) -> bool) -> Vec<OtherCall> {
    same.iter().filter(|other| is(other)).cloned().collect()
}

/// The basis for an intent with at most one effect.
fn of_one_effect(same: &[OtherCall], evidence: AnswerEvidence, known: EffectState, refused_before: bool) -> Basis {
    let made = others(same, |other| other.effects > 0);
    let reversed = others(same, |other| other.taken_back);
    match known {
        EffectState::Done if let Some(basis) = ok_after_processed(same, evidence) => basis,
        _ if evidence.proved.net() > 0 => Basis::Ok,
        _ if !made.is_empty() => Basis::OthersOk { others: made, own: OwnEffect::of(evidence) },
        EffectState::Done => {
            let said = others(same, |other| other.claim == EffectClaim::Applied);
            match evidence.claim == Some(EffectClaim::Applied) || said.is_empty() {
                true => Basis::Said,
                false => Basis::SaidToOthers { others: said, own: OwnEffect::of(evidence) },
            }
        }
        EffectState::NotDone if evidence.proved.all_taken_back() => Basis::TakenBack(Vec::new()),
        EffectState::NotDone if !reversed.is_empty() => Basis::TakenBack(reversed),
        EffectState::NotDone => Basis::NoneActed,
        EffectState::MaybeDone if refused_before => Basis::RefusedBefore,
        EffectState::MaybeDone => Basis::Unknown(others(same, |other| other.maybe), OwnEffect::of(evidence)),
    }
}

/// The basis for an effect whose only ok came after the upstream had said that the key was processed.
fn ok_after_processed(same: &[OtherCall], evidence: AnswerEvidence) -> Option<Basis> {
    let own = (evidence.said, evidence.proved.net(), None);
    let of = |later: bool| same.iter().filter(move |other| other.later == later);
    let all = of(false).map(|other| (other.said, other.effects, Some(other)));
    let all = all.chain([own]).chain(of(true).map(|other| (other.said, other.effects, Some(other))));
    let mut was_processed = false;
    for (said, effects, call) in all {
        if effects > 0 {
            return (was_processed || said.ok_after_processed).then(|| Basis::OkAfterProcessed(call.cloned()));
        }
        was_processed |= said.processed;
    }
    None
}

fn asked_a_model(simulation: &Simulation) -> bool {
    let modelled = (FieldKey::From, Provenance::Modelled.into());
    simulation.decisions().any(|(_, decision)| decision.fields().any(|field| field == modelled))
}
