//! Lints of verdicts that no rule gives, and of guards that never trigger.

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::playbook::overlap;
use crate::playbook::overlap::{Compared, Follows};
use crate::playbook::places::Loaded;
use playproof_engine::event::EffectClaim;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{
    Access, AfterRefresh, Compensation, ConditionKind, ConditionTest, GuardMode, Playbook, Rule, UNCLASSIFIED, Verdict,
};

/// Verdicts that neither a live rule nor `otherwise` gives.
pub(super) fn verdicts(loaded: &Loaded, live: &[bool], found: &mut Vec<Diagnostic>) {
    for (id, verdict) in ids(&loaded.playbook) {
        let given = live_rules_of(&loaded.playbook, live, id).next().is_some() || loaded.playbook.otherwise == id;
        // The reserved verdict needs no rule.
        let Some(place) = loaded.places.verdict(id).filter(|_| !given && *verdict.name != *UNCLASSIFIED) else {
            continue;
        };
        found.push(
            Diagnostic::warning("unreached_verdict", format!("no rule gives the verdict `{}`", verdict.name))
                .at(place, "its compensation never runs")
                .help("add a rule that names it, or remove it"),
        );
    }
}

/// Written `on_unsafe` and `on_refused` that can never run.
pub(super) fn guards(loaded: &Loaded, live: &[bool], found: &mut Vec<Diagnostic>) {
    let playbook = &loaded.playbook;
    let never_unsafe = why_never_unsafe(playbook, live);
    let exhausts = playbook.study.as_ref().is_some_and(|study| study.refused_reversal_exhausts);
    for (id, verdict) in ids(playbook) {
        let why = never_unsafe.get(id.index()).copied().flatten();
        if let (Some(place), Some(why)) = (loaded.places.then(id, &["on_unsafe"]), why) {
            found.push(unreached(verdict, "on_unsafe", &place, why));
        } else if let Some(place) = loaded.places.on_refused(id)
            && exhausts
        {
            found.push(unreached(verdict, "on_refused", &place, "`refused_reversal: exhausted` ends the call first"));
        }
    }
}

fn unreached(verdict: &Verdict, guard: &str, place: &Range<usize>, why: &str) -> Diagnostic {
    Diagnostic::note("unreached_guard", format!("`{guard}` of `{}` can never run: {why}", verdict.name))
        .at(place.clone(), "never reached")
        .help(format!("remove `{guard}`, or check the verdict's `effect` and the conditions of its rules"))
}

/// Why the retry guard never stops a retry of each verdict; none: it may. `live`: whether each rule can match.
///
/// The guard stops a call only if it is an unkeyed write that is not idempotent and an attempt may have acted.
/// Every earlier retry of such a call passed the guard, so all attempts before the last were `not_applied`, and this
/// verdict decides the claim.
pub fn why_never_unsafe(playbook: &Playbook, live: &[bool]) -> Vec<Option<&'static str>> {
    let rules = Compared::rules(playbook);
    ids(playbook).map(|(id, _)| why_never_unsafe_of(playbook, &rules, live, id)).collect()
}

fn why_never_unsafe_of(
    playbook: &Playbook,
    rules: &[Compared<'_>],
    live: &[bool],
    id: VerdictId,
) -> Option<&'static str> {
    let verdict = playbook.verdict(id);
    if playbook.retry_guard() == GuardMode::Off {
        return Some("the retry guard is off");
    }
    if let Compensation::RefreshEvidence(refresh) = &verdict.then
        && refresh.then == AfterRefresh::Abort
    {
        return Some("nothing is sent again after `then: abort`");
    }
    if verdict.effect == EffectClaim::NotApplied {
        return Some("after `effect: not_applied` it is always safe to send again");
    }
    let is_of_it = |n: &usize| live[*n] && playbook.rules[*n].verdict == id;
    let mut its = (0..rules.len()).filter(is_of_it).peekable();
    if playbook.otherwise != id && its.peek().is_some() && its.all(|n| is_harmless(rules, live, n)) {
        return Some("its rules match reads, idempotent tools and keyed calls only");
    }
    None
}

/// Whether a rule never decides on an unkeyed write that is not idempotent: it does not match one, or an earlier rule
/// matches all of them first.
fn is_harmless(rules: &[Compared<'_>], live: &[bool], n: usize) -> bool {
    let when = rules[n].when();
    let is = |ask| when.is(ask) == Some(true);
    if when.access() == Some(Access::Read) || is(ConditionKind::Idempotent) || is(ConditionKind::Keyed) {
        return true;
    }
    let unguarded = when.clone().with(ConditionKind::Access, ConditionTest::Access(Access::Write));
    let unguarded = unguarded
        .with(ConditionKind::Idempotent, ConditionTest::Is(false))
        .with(ConditionKind::Keyed, ConditionTest::Is(false));
    let unguarded = rules[n].beside(unguarded);
    let mut earlier = rules.iter().zip(live).take(n).filter(|(_, live)| **live);
    earlier.any(|(earlier, _)| overlap::covers_by_words(earlier, &unguarded) == Follows::Yes)
}

/// The live rules that give this verdict.
fn live_rules_of<'a>(playbook: &'a Playbook, live: &'a [bool], id: VerdictId) -> impl Iterator<Item = &'a Rule> {
    playbook.rules.iter().zip(live).filter(move |(rule, live)| **live && rule.verdict == id).map(|(rule, _)| rule)
}

fn ids(playbook: &Playbook) -> impl Iterator<Item = (VerdictId, &Verdict)> {
    (0..).map(VerdictId).zip(&playbook.verdicts)
}
