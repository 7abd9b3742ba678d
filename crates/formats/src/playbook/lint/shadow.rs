//! Lints of rules that can never match: shadowed by earlier ones, or with impossible conditions.

use crate::diagnostic::Diagnostic;
use crate::playbook::overlap;
use crate::playbook::overlap::{Compared, Follows};
use crate::playbook::places::Loaded;
use playproof_engine::ids::RuleId;
use playproof_engine::playbook::{ConditionKind, ConditionTest, LimitKind, NumberRange, Playbook, When};

/// The most cases of one rule that are checked one by one.
const MOST_CASES: usize = 256;

/// Whether each rule can match; reports the others.
pub(super) fn live_rules(loaded: &Loaded, found: &mut Vec<Diagnostic>) -> Vec<bool> {
    let rules = Compared::rules(&loaded.playbook);
    let mut live = Vec::with_capacity(rules.len());
    for n in 0..rules.len() {
        let is_live = is_possible(loaded, n, found) && !is_shadowed(loaded, &rules, n, &live, found);
        live.push(is_live);
    }
    live
}

/// Why each rule can never match, by `RuleId`; none if it may.
pub fn silent_rules(loaded: &Loaded) -> Vec<Option<String>> {
    let rules = Compared::rules(&loaded.playbook);
    let mut live: Vec<bool> = Vec::new();
    let mut silent = Vec::new();
    for n in 0..rules.len() {
        let mut found = Vec::new();
        let is_live = is_possible(loaded, n, &mut found) && !is_shadowed(loaded, &rules, n, &live, &mut found);
        live.push(is_live);
        silent.push(found.into_iter().next().map(|why| why.message).filter(|_| !is_live));
    }
    silent
}

fn rule_id(n: usize) -> RuleId {
    RuleId(u16::try_from(n).unwrap_or(u16::MAX)) // the format has fewer rules
}

fn is_possible(loaded: &Loaded, n: usize, found: &mut Vec<Diagnostic>) -> bool {
    let (playbook, rule) = (&loaded.playbook, &loaded.playbook.rules[n]);
    let when = || loaded.places.when(rule_id(n)).unwrap_or_default();
    if rule.when.get(ConditionKind::Error).is_some() && rule.when.requires_error() {
        found.push(
            Diagnostic::warning(
                "impossible_rule",
                format!("`{}` requires that the error is absent, and tests it", rule.name),
            )
            .at(when(), "matches nothing")
            .help("combine `error: absent` only with tool, access, idempotent, keyed and attempt"),
        );
        return false;
    }
    let most = playbook.limits.max_attempts;
    let attempts = rule.when.ranges(ConditionKind::Attempt);
    if !attempts.is_empty() && attempts.iter().all(|range| range.first > most) {
        let place = loaded.places.attempt(n).unwrap_or_else(when);
        let message = format!("`{}` requires an attempt that never happens: a call has at most {most}", rule.name);
        let diagnostic = Diagnostic::warning("impossible_rule", message).at(place, "never reached");
        found.push(match loaded.places.limit(LimitKind::MaxAttempts) {
            Some(limit) => diagnostic.at(limit, "the limit"),
            None => diagnostic,
        });
        return false;
    }
    true
}

fn is_shadowed(loaded: &Loaded, rules: &[Compared<'_>], n: usize, live: &[bool], found: &mut Vec<Diagnostic>) -> bool {
    let playbook = &loaded.playbook;
    let name_of = |n| loaded.places.rule(rule_id(n)).unwrap_or_default();
    let rule = &playbook.rules[n];
    let meets = |earlier: usize| !overlap::are_disjoint(&playbook.rules[earlier].when, &rule.when);
    let earlier: Vec<usize> = (0..n).filter(|&earlier| live[earlier] && meets(earlier)).collect();
    if let Some(shadows) = shadows(playbook, rules, &rules[n], &earlier) {
        let names: Vec<String> = shadows.iter().map(|&earlier| format!("`{}`", playbook.rules[earlier].name)).collect();
        let message = format!("`{}` never decides: {} matches the same failures first", rule.name, names.join(" and "));
        let diagnostic = Diagnostic::warning("shadowed_rule", message)
            .at(name_of(n), "never reached")
            .help("put the narrower rule first, or remove it");
        found.push(
            shadows.iter().fold(diagnostic, |all, &earlier| all.at(name_of(earlier), "the first that matches wins")),
        );
        return true;
    }
    let undecided = |&&earlier: &&usize| overlap::covers(&rules[earlier], &rules[n]) == Follows::Undecided;
    if let Some(&earlier) = earlier.iter().find(undecided) {
        let other = &playbook.rules[earlier].name;
        let message = format!(
            "it is undecided whether `{other}` leaves any failure to `{}`: its regular expression is not compared",
            rule.name
        );
        found.push(
            Diagnostic::warning("shadow_undecided", message)
                .at(name_of(n), "may never be reached")
                .at(name_of(earlier), "has a regular expression")
                .help("write a fixture in which the later rule matches, or use `contains`"),
        );
    }
    false
}

/// The earlier rules that together match everything that `rule` matches, if there are any.
fn shadows(playbook: &Playbook, rules: &[Compared<'_>], rule: &Compared<'_>, earlier: &[usize]) -> Option<Vec<usize>> {
    let covering = |case: &Compared<'_>| {
        let covers = |&&n: &&usize| overlap::covers_by_words(&rules[n], case) == Follows::Yes;
        earlier.iter().find(covers).copied()
    };
    if let Some(one) = covering(rule) {
        return Some(vec![one]);
    }
    if earlier.len() < 2 {
        return None;
    }
    let cases = cases(playbook, rule.when(), earlier)?;
    if cases.len() < 2 {
        return None; // the rule itself
    }
    let mut shadows: Vec<usize> = cases.into_iter().map(|case| covering(&rule.beside(case))).collect::<Option<_>>()?;
    shadows.sort_unstable();
    shadows.dedup();
    Some(shadows)
}

/// Splits `when` into cases that together match the same, each with one kind, one code and one range of status.
fn cases(playbook: &Playbook, when: &When, earlier: &[usize]) -> Option<Vec<When>> {
    let mut cases = vec![when.clone()];
    for ask in [ConditionKind::Kind, ConditionKind::Code, ConditionKind::Status] {
        let Some(test) = when.get(ask) else { continue };
        let parts = parts(playbook, ask, test, earlier);
        if cases.len() * parts.len() > MOST_CASES {
            return None;
        }
        cases = cases.iter().flat_map(|case| parts.iter().map(|part| case.clone().with(ask, part.clone()))).collect();
    }
    Some(cases)
}

/// Tests that together hold for the same values; ranges are cut at the ends of earlier rules' ranges.
fn parts(playbook: &Playbook, ask: ConditionKind, test: &ConditionTest, earlier: &[usize]) -> Vec<ConditionTest> {
    match test {
        ConditionTest::AnyOf(texts) => texts.iter().map(|text| ConditionTest::AnyOf(vec![text.clone()])).collect(),
        ConditionTest::Ranges(ranges) => pieces(playbook, ask, ranges, earlier),
        whole => vec![whole.clone()],
    }
}

fn pieces(playbook: &Playbook, ask: ConditionKind, ranges: &[NumberRange], earlier: &[usize]) -> Vec<ConditionTest> {
    let others = earlier.iter().flat_map(|&n| playbook.rules[n].when.ranges(ask));
    let mut cuts: Vec<u32> = others.flat_map(|range| [range.first, range.last.saturating_add(1)]).collect();
    cuts.sort_unstable();
    let piece = |first, last| ConditionTest::Ranges(vec![NumberRange { first, last }]);
    let mut pieces = Vec::new();
    for range in ranges {
        let mut first = range.first;
        for &cut in cuts.iter().filter(|&&cut| range.first < cut && cut <= range.last) {
            if cut > first {
                pieces.push(piece(first, cut - 1));
                first = cut;
            }
        }
        pieces.push(piece(first, range.last));
    }
    pieces
}
