//! What is true upstream, as far as anyone can tell: from a fixture's ledger, or from what a recording proves.
//! A recording proves what all its answers prove, those too that the playbook would not have asked for; what was
//! modelled proves nothing.

use super::case::{Case, Ran};
use super::recorded::Recorded;
use crate::classify::Signal;
use crate::event::{Decision, EffectClaim, Outcome, Provenance};
use crate::playbook::model::{Access, ToolFacts};
use crate::report::text;
use crate::report::view::Truth;
use crate::sim::Plan;
use crate::trace::model::{AnswerTo, RecordedAnswer, RecordedCall, Reply};

/// Other calls that are named.
const NAMED: usize = 5;

/// What the upstream's state is, as far as anyone can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The effect is there.
    Done,
    /// It is not.
    NotDone,
    /// It may be.
    MaybeDone,
}

/// Effects of one intent beyond the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surplus {
    /// All effects of the intent.
    pub effects: u32,
    /// Whether they are proved: the tool's facts are declared, and no key could have made one of two.
    pub certain: bool,
}

/// The state of the upstream, in a word and in sentences.
pub struct State {
    /// In a word.
    pub known: Known,
    /// More effects than the intent wanted.
    pub surplus: Option<Surplus>,
    /// The effect was made and is gone again.
    pub taken_back: bool,
    /// In sentences.
    pub said: String,
}

/// The state that a case leaves behind.
pub fn state(case: &Case, plan: &Plan, ran: &Ran, outcome: &Outcome) -> State {
    let mut state = match case {
        Case::Recorded { call, recorded, .. } => of_recording(call, recorded, plan, ran),
        Case::Rehearsed { .. } => of_fixture(ran.run(plan).truth(), ran, outcome),
    };
    if ran.facts.access == Access::Read {
        state.said = "Nothing has changed: the tool only reads.".to_owned();
    }
    state
}

/// A script decides its effects, and its ledger is the truth.
fn of_fixture(truth: Truth, ran: &Ran, outcome: &Outcome) -> State {
    let known = match (truth.effects, outcome.claim) {
        (1.., _) => Known::Done,
        (0, EffectClaim::Unknown) => Known::MaybeDone,
        (0, _) => Known::NotDone,
    };
    let claims = match outcome.claim {
        EffectClaim::Applied => "the outcome claims that it is there",
        EffectClaim::NotApplied => "the outcome claims that it is not there",
        EffectClaim::Unknown => "the outcome claims to know nothing of it",
    };
    let taken_back = if truth.reversed > 0 { " (one was made and taken back)" } else { "" };
    let existed = if truth.existing > 0 { ", made before this call" } else { "" };
    let said = match truth.effects {
        0 => format!("The effect is not there{taken_back}; {claims}."),
        1 => format!("The effect is there, once{existed}; {claims}."),
        many => format!("The effect is there {}{existed}; {claims}.", times(many)),
    };
    let surplus = (truth.effects > 1 && acts_again(ran.facts))
        .then_some(Surplus { effects: truth.effects, certain: ran.facts.declared });
    State { known, surplus, taken_back: truth.reversed > 0 && truth.effects == 0, said }
}

/// What the recorded answers of one call prove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Proof {
    /// Attempts that were answered with ok.
    made: u32,
    /// Reversals that were.
    taken_back: u32,
    /// Failed attempts that may have acted, by what the playbook says of their failures.
    maybe: u32,
    /// All together; none: there is no answer.
    claim: Option<EffectClaim>,
}

impl Proof {
    fn of(call: &RecordedCall, plan: &Plan, ran: &Ran) -> Proof {
        let mut proof = Proof::default();
        for (number, answer) in call.attempts() {
            let effect = match &answer.reply {
                Reply::Ok => EffectClaim::Applied,
                Reply::Failed(error) => {
                    let keyed = call.key().is_some();
                    let signal = Signal::new(error.as_deref(), call.tool(), ran.facts, keyed, number);
                    plan.playbook.verdict(plan.classifier.classify(&signal).verdict).effect
                }
            };
            proof.made += u32::from(answer.reply == Reply::Ok);
            proof.maybe += u32::from(effect == EffectClaim::Unknown);
            proof.claim = Some(proof.claim.map_or(effect, |claim| claim.and(effect)));
        }
        let taken_back = |answer: &&RecordedAnswer| answer.to == AnswerTo::Reversal && answer.reply == Reply::Ok;
        proof.taken_back = u32::try_from(call.answers.iter().filter(taken_back).count()).unwrap_or(u32::MAX);
        proof
    }

    /// Effects that are left.
    const fn net(&self) -> u32 {
        self.made.saturating_sub(self.taken_back)
    }
}

fn of_recording(call: &RecordedCall, recorded: &Recorded, plan: &Plan, ran: &Ran) -> State {
    let proof = Proof::of(call, plan, ran);
    let effects = proof.net().saturating_add(recorded.effects_of_others());
    let claim = if proof.taken_back > 0 { Some(EffectClaim::NotApplied) } else { proof.claim };
    let known = match (effects, claim) {
        (1.., _) | (0, Some(EffectClaim::Applied)) => Known::Done,
        (0, Some(EffectClaim::NotApplied)) => Known::NotDone,
        (0, Some(EffectClaim::Unknown) | None) => Known::MaybeDone,
    };
    let certain = ran.facts.declared && call.key().is_none();
    let surplus = (effects > 1 && acts_again(ran.facts)).then_some(Surplus { effects, certain });
    let mut said = match surplus {
        Some(surplus) => in_surplus(call, recorded, proof, surplus),
        None => alone(recorded, proof, known),
    };
    if let Some(unused) = unused(ran, plan) {
        said += &unused;
    }
    if effects > 0 && proof.maybe > 0 && acts_again(ran.facts) && call.key().is_none() {
        said += " An attempt that failed may have made it once more: look upstream.";
    }
    if asked_a_model(ran, plan) {
        said += " What was modelled proves nothing, and is left out.";
    }
    State { known, surplus, taken_back: proof.taken_back > 0 && effects == 0, said }
}

/// Whether a second request changes what the first has changed.
fn acts_again(facts: ToolFacts) -> bool {
    facts.access == Access::Write && !facts.idempotent
}

/// The effect of an intent that has one at most.
fn alone(recorded: &Recorded, proof: Proof, known: Known) -> String {
    let elsewhere = recorded.others.first().map(|other| text::fitted(&other.name, 60));
    match (known, proof.net(), elsewhere) {
        (_, 1.., _) => "The effect is there: an attempt was answered with ok.".to_owned(),
        (_, _, Some(other)) => {
            let own = if proof.maybe > 0 { "this call may have made it as well" } else { "this call did not make it" };
            format!("The effect is there: {other} made it; {own}.")
        }
        (Known::Done, ..) => "The effect is there: the upstream's answer says so.".to_owned(),
        (Known::NotDone, ..) if proof.taken_back > 0 => "The effect is not there: it was taken back.".to_owned(),
        (Known::NotDone, ..) => "The effect is not there: no attempt can have acted.".to_owned(),
        (Known::MaybeDone, ..) if proof.claim.is_none() => {
            "Nobody knows: the call was sent, and no answer is recorded. Look upstream.".to_owned()
        }
        (Known::MaybeDone, ..) => {
            "Nobody knows: an attempt may have acted, and the recording does not show it. Look upstream.".to_owned()
        }
    }
}

/// An intent with more than one effect: how many, and by which calls.
fn in_surplus(call: &RecordedCall, recorded: &Recorded, proof: Proof, surplus: Surplus) -> String {
    let mut by: Vec<String> = Vec::new();
    let listed = |later: bool| recorded.others.iter().filter(move |other| other.later == later);
    by.extend(listed(false).map(|other| made_by(&other.name, other.effects)));
    let before = by.len();
    by.truncate(NAMED);
    let named = by.len();
    if proof.net() > 0 {
        by.push(made_by("this call", proof.net()));
    }
    by.extend(listed(true).map(|other| made_by(&other.name, other.effects)).take(NAMED));
    let hidden = (before - named) + listed(true).count().saturating_sub(NAMED);
    if hidden > 0 {
        by.push(format!("{hidden} more"));
    }
    let (effects, by) = (times(surplus.effects), by.join(", "));
    if surplus.certain {
        return format!("The effect is there {effects}; made by {by}.");
    }
    let doubt = match call.key() {
        Some(_) => "if the upstream ignores the key; if it honours it, once",
        None => "if this tool writes, which nobody has declared",
    };
    format!("The effect is there {effects} {doubt}. It was answered with ok to {by}.")
}

/// How many times, from two on.
pub fn times(count: u32) -> String {
    if count == 2 { "twice".to_owned() } else { format!("{count} times") }
}

fn made_by(name: &str, effects: u32) -> String {
    let name = text::fitted(name, 60);
    if effects == 1 { name.into_owned() } else { format!("{name} ({})", times(effects)) }
}

/// Recorded answers that prove something, and that the playbook would never have seen.
fn unused(ran: &Ran, plan: &Plan) -> Option<String> {
    let left = ran.run(plan).tally.tape_left;
    let answers = text::counted(left.into(), "answer", "answers");
    let sent = if left == 1 { "the attempt that it answers" } else { "the attempts that they answer" };
    (left > 0).then(|| {
        format!(" That counts {answers} of the recording that this playbook leaves unused: it would not send {sent}.")
    })
}

fn asked_a_model(ran: &Ran, plan: &Plan) -> bool {
    ran.run(plan).decisions().any(|(_, decision)| {
        matches!(
            decision,
            Decision::AttemptFinished { provenance: Provenance::Modelled, .. }
                | Decision::EvidenceRefreshed { provenance: Provenance::Modelled, .. }
                | Decision::ReversalRedeemed { provenance: Provenance::Modelled, .. }
        )
    })
}
