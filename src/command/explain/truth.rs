//! What is true upstream, as far as anyone can tell: from a fixture's ledger, or from what a recording proves.
//! A recording proves what all its answers prove, those too that the playbook would not have asked for; what was
//! modelled proves nothing.

use super::case::{Case, Ran};
use super::proof::Proof;
use super::recorded::{Other, Recorded};
use playproof_engine::call::RecordedCall;
use playproof_engine::event::{EffectClaim, Key, Outcome, Provenance, Truth, Value};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::Plan;
use playproof_report::text;

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
    /// The effect is there, and a request that failed may have made it again.
    pub once_more: bool,
    /// In sentences.
    pub said: String,
}

/// The state that a case leaves behind.
pub fn state(case: &Case, plan: &Plan, ran: &Ran, outcome: &Outcome) -> State {
    let mut state = match case {
        Case::Recorded { call, recorded, .. } => of_recording(call.raw(), recorded, plan, ran, outcome),
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
    State { known, surplus, taken_back: truth.reversed > 0 && truth.effects == 0, once_more: false, said }
}

fn of_recording(call: &RecordedCall, recorded: &Recorded, plan: &Plan, ran: &Ran, outcome: &Outcome) -> State {
    let proof = Proof::of(call, plan, ran.facts);
    let effects = proof.net().saturating_add(recorded.effects_of_others());
    let own = if proof.taken_back > 0 { EffectClaim::NotApplied } else { proof.claim.unwrap_or(EffectClaim::Unknown) };
    let claim = recorded.others.iter().fold(own, |claim, other| claim.and(other.claim));
    let known = match (effects, claim) {
        (1.., _) | (0, EffectClaim::Applied) => Known::Done,
        (0, EffectClaim::NotApplied) => Known::NotDone,
        (0, EffectClaim::Unknown) => Known::MaybeDone,
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
    let mut once_more = None;
    if known == Known::Done && acts_again(ran.facts) && call.key().is_none() {
        once_more = may_have_made_it_too(recorded, proof);
    }
    if let Some(who) = &once_more {
        said += &format!(" {who} may have made it once more: look upstream.");
    }
    if known == Known::NotDone && outcome.claim == EffectClaim::Unknown {
        said += " The outcome claims unknown all the same, because it counts a request of the playbook that the \
                 recording does not answer.";
    }
    if asked_a_model(ran, plan) {
        said += " What was modelled proves nothing, and is left out.";
    }
    let taken_back = proof.taken_back > 0 && known == Known::NotDone;
    State { known, surplus, taken_back, once_more: once_more.is_some(), said }
}

/// Who may have made an effect that is there already.
fn may_have_made_it_too(recorded: &Recorded, proof: Proof) -> Option<String> {
    let others = named(recorded.others.iter().filter(|other| other.maybe));
    match (proof.maybe > 0 && proof.net() > 0, others) {
        (false, None) => None,
        (true, None) => Some("An attempt that failed".to_owned()),
        (true, Some(others)) => Some(format!("An attempt that failed, and {others},")),
        (false, Some(others)) => Some(format!("With the same intent, {others}")),
    }
}

/// Other calls by name, if there are any.
fn named<'a>(others: impl Iterator<Item = &'a Other>) -> Option<String> {
    let mut names: Vec<String> = others.map(|other| text::fitted(&other.name, 60).into_owned()).collect();
    let hidden = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    if hidden > 0 {
        names.push(format!("{hidden} more"));
    }
    let last = names.pop()?;
    Some(if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) })
}

/// Whether a second request changes what the first has changed.
fn acts_again(facts: ToolFacts) -> bool {
    facts.access == Access::Write && !facts.idempotent
}

/// The effect of an intent that has one at most.
fn alone(recorded: &Recorded, proof: Proof, known: Known) -> String {
    let own = if proof.may_have_acted() { "this call may have made it as well" } else { "this call did not make it" };
    if proof.net() > 0 {
        return "The effect is there: an attempt was answered with ok.".to_owned();
    }
    if let Some(others) = named(recorded.others.iter().filter(|other| other.effects > 0)) {
        return format!("The effect is there: {others} made it; {own}.");
    }
    match known {
        Known::Done if proof.claim == Some(EffectClaim::Applied) => {
            "The effect is there: the upstream's answer says so.".to_owned()
        }
        Known::Done => match named(recorded.others.iter().filter(|other| other.claim == EffectClaim::Applied)) {
            Some(others) => format!("The effect is there: the upstream's answer to {others} says so; {own}."),
            None => "The effect is there: the upstream's answer says so.".to_owned(),
        },
        Known::NotDone if proof.taken_back > 0 => "The effect is not there: it was taken back.".to_owned(),
        Known::NotDone => "By what the playbook says of its failures, the effect is not there: no attempt with this \
                           intent can have acted."
            .to_owned(),
        Known::MaybeDone => unknown(recorded, proof),
    }
}

/// The effect of an intent of which nobody knows whether it was made.
fn unknown(recorded: &Recorded, proof: Proof) -> String {
    let others = named(recorded.others.iter().filter(|other| other.maybe));
    let own = proof.may_have_acted() && proof.taken_back == 0;
    let why = match (others, own) {
        (Some(others), true) => format!("this call may have acted, and with the same intent {others} too"),
        (Some(others), false) => {
            let this = match proof.taken_back {
                0 => "this call has not, by what the playbook says of its failures",
                _ => "what this call made was taken back",
            };
            format!("with the same intent {others} may have acted, and the recording does not show it; {this}")
        }
        (None, _) if proof.claim.is_none() => "the call was sent, and no answer is recorded".to_owned(),
        (None, _) => "an attempt may have acted, and the recording does not show it".to_owned(),
    };
    format!("Nobody knows: {why}. Look upstream.")
}

/// An intent with more than one effect: how many, and by which calls.
fn in_surplus(call: &RecordedCall, recorded: &Recorded, proof: Proof, surplus: Surplus) -> String {
    let mut by: Vec<String> = Vec::new();
    let listed = |later: bool| recorded.others.iter().filter(move |other| other.later == later && other.effects > 0);
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
    let is_modelled = |(_, value): (Key, Value)| value == Value::Provenance(Provenance::Modelled);
    ran.run(plan).decisions().any(|(_, decision)| decision.describe().fields().any(is_modelled))
}
