//! Other calls by name, and what they did.

use crate::{findings, text};
use playproof_analysis::explain::{OtherCall, OtherName, Relation};

/// The most other calls that are named.
pub const NAMED: usize = 5;

/// Calls by name, each with what it did; those that may have acted come first.
pub fn with_effects(others: &[OtherCall]) -> String {
    let did = |other: &OtherCall| match (&other.name, other.effects, other.maybe) {
        (OtherName::Existing, ..) => "",
        (_, 1.., _) => " made the effect",
        (_, 0, true) if other.may_be_taken_back => " made it, and it may have been taken back",
        (_, 0, false) if other.is_said_to_have_acted() => " may have made it: the upstream says that it was processed",
        (_, 0, true) => " may have made it",
        (_, 0, false) if other.taken_back => " made it, and it was taken back",
        (_, 0, false) => " did not make it",
    };
    let (acting, others): (Vec<&OtherCall>, Vec<_>) = others.iter().partition(|other| other.may_have_acted());
    let all = acting.into_iter().chain(others);
    let hidden = all.clone().count().saturating_sub(NAMED);
    let shown = all.take(NAMED).map(|other| format!("{}{}", text::fitted(&name(&other.name), 60), did(other)));
    shown.chain((hidden > 0).then(|| format!("{hidden} more"))).collect::<Vec<_>>().join(", ")
}

/// Why it is unknown whether these calls are the same request.
pub fn doubt(others: &[OtherCall]) -> Option<&'static str> {
    let doubts = others.iter().filter_map(|other| match other.relation {
        Relation::MaybeSame(doubt) => Some(doubt),
        _ => None,
    });
    doubts.max().map(findings::intent_doubt)
}

/// What is known of the arguments of calls with the same key: those of one may not be recorded.
pub fn other_arguments(others: &[OtherCall]) -> &'static str {
    match !others.is_empty() && others.iter().all(|other| other.hides_args) {
        true => "with arguments that may be others",
        false => "with other arguments",
    }
}

/// How many times, from two on.
pub fn times(count: u32) -> String {
    if count == 2 { "twice".to_owned() } else { format!("{count} times") }
}

/// A call and the number of its effects.
pub fn made_by(name: &str, effects: u32) -> String {
    let name = text::fitted(name, 60);
    if effects == 1 { name.into_owned() } else { format!("{name} ({})", times(effects)) }
}

/// Other calls by name.
pub fn named(others: &[OtherCall]) -> String {
    let shown = others.iter().take(NAMED);
    let mut names: Vec<String> = shown.map(|other| text::fitted(&name(&other.name), 60).into_owned()).collect();
    if others.len() > NAMED {
        names.push(format!("{} more", others.len() - NAMED));
    }
    joined(names)
}

/// Names as a sentence has them: `a, b and c`.
pub fn joined(mut names: Vec<String>) -> String {
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) }
}

/// The name of a call.
pub fn name(name: &OtherName) -> String {
    match name {
        OtherName::Reference(reference) => reference.clone(),
        OtherName::Place { line, path: None } => format!("the call in line {line}"),
        OtherName::Existing => "an effect that existed before".to_owned(),
        OtherName::Place { line, path: Some(path) } => format!("the call in line {line} ({path})"),
    }
}
