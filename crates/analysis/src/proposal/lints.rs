//! Gates for lints that the proposal introduces, each with a way to fix it. Lints nothing itself.

use std::num::NonZeroUsize;
use std::sync::Arc;

use super::gates::{GateKind, ProposalGate, TrialFacts, again};
use playproof_engine::playbook::Playbook;
use playproof_engine::sim::Plan;
use playproof_explore::lint;
use playproof_formats::diagnostic::{Diagnostic, Report};
use playproof_formats::shell::Command;

/// A gate for each lint that is new.
pub(super) fn lints(tried: &TrialFacts<'_>, plans: [&Plan; 2], jobs: NonZeroUsize) -> Vec<ProposalGate> {
    let [before, after] = plans;
    let old: Vec<(&str, String)> =
        lint(tried.before, before, jobs).into_iter().map(|said| (said.id, said.message)).collect();
    let is_old = |said: &Diagnostic| old.iter().any(|(id, message)| *id == said.id && *message == said.message);
    let new =
        lint(&tried.applied.loaded, after, jobs).into_iter().filter(|said| !is_old(said) && !is_decided(tried, said));
    let gates = new.map(|said| {
        let help = way_out(tried, &said);
        ProposalGate {
            kind: GateKind::NewLint,
            message: said.message.clone(),
            next: if help.is_some() { again(tried) } else { Command::new("playproof help").name(said.id) },
            help,
            report: Some(Report::one(Arc::clone(&tried.applied.loaded.places.source), said)),
        }
    });
    gates.collect()
}

/// Whether a fixture decides a lint that is in doubt: its rule matches.
fn is_decided(tried: &TrialFacts<'_>, said: &Diagnostic) -> bool {
    let rules = tried.applied.loaded.playbook.rules.iter().map(|rule| &*rule.name);
    said.id == "shadow_undecided"
        && told_of(tried, said, "rule", rules)
            .is_some_and(|rule| tried.diffs.iter().any(|diff| diff.rule_matches_after(rule)))
}

/// The row that a lint underlines first.
fn told_of<'a>(
    tried: &TrialFacts<'_>,
    said: &Diagnostic,
    kind: &str,
    mut names: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let at = said.labels.first()?.span.start;
    let (playbook, places) = (&tried.applied.loaded.playbook, &tried.applied.loaded.places);
    names.find(|name| places.row(playbook, &format!("{kind} {name}"), "").is_some_and(|place| place.contains(&at)))
}

/// How to fix a lint on a row that existed before the proposal.
fn way_out(tried: &TrialFacts<'_>, said: &Diagnostic) -> Option<String> {
    let Playbook { rules, verdicts, .. } = &tried.before.playbook;
    let rule = || told_of(tried, said, "rule", rules.iter().map(|rule| &*rule.name));
    let verdict = || told_of(tried, said, "verdict", verdicts.iter().map(|verdict| &*verdict.name));
    let gone = |kind: &str, name: &str| {
        format!("take the {kind} `{name}` out of {}/playbook.yaml, if it is not needed any more", tried.folder)
    };
    Some(match said.id {
        "shadowed_rule" => gone("rule", rule()?),
        "unreached_verdict" => gone("verdict", verdict()?),
        "shadow_undecided" => {
            format!("write a fixture in which the rule `{}` matches into {}/fixtures/", rule()?, tried.folder)
        }
        _ => return None,
    })
}
