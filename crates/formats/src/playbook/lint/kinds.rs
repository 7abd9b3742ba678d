//! Error kinds of rules that are likely misspelt. Which kinds adapters give is their affair: only what is one slip away
//! from a kind that is known is a doubt.

use crate::diagnostic::{Diagnostic, nearest};
use crate::playbook::KNOWN_KINDS;
use crate::playbook::places::Loaded;
use playproof_engine::playbook::ConditionKind;

/// The known kind that `kind` likely means: one of `known` that differs by one slip (two in a long word, none in a
/// word of three), and not in its digits, which are never one.
pub fn likely_kind<'a>(kind: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let digits = |kind: &str| kind.chars().filter(char::is_ascii_digit).collect::<String>();
    let limit = match kind.chars().count() {
        0..=3 => return None,
        4..=9 => 1,
        _ => 2,
    };
    let alike = known.into_iter().filter(|known| *known != kind && digits(known) == digits(kind));
    nearest(kind, alike.collect::<Vec<_>>(), limit)
}

/// One warning a kind that is known neither to the shipped playbooks nor to the rule that names what it likely means.
pub(super) fn slips(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    let rules = &loaded.playbook.rules;
    for (n, rule) in rules.iter().enumerate() {
        let unknown = |(_, kind): &(usize, &String)| !KNOWN_KINDS.contains(&kind.as_str());
        for (nth, kind) in rule.when.texts(ConditionKind::Kind).iter().enumerate().filter(unknown) {
            let earlier =
                rules.iter().take(n).flat_map(|rule| rule.when.texts(ConditionKind::Kind)).map(String::as_str);
            let named_before = earlier.clone().any(|earlier| earlier == kind);
            let Some(likely) = likely_kind(kind, KNOWN_KINDS.into_iter().chain(earlier)) else { continue };
            let both_meant = rule.when.texts(ConditionKind::Kind).iter().any(|other| other == likely);
            let Some(place) = loaded.places.rules.get(n).filter(|_| !both_meant && !named_before) else { continue };
            found.push(
                Diagnostic::warning("misspelt_kind", format!("no adapter is known to give the kind `{kind}`"))
                    .at(place.kinds.get(nth).unwrap_or(&place.when).clone(), "unknown")
                    .help(format!("did you mean `{likely}`? if both are given, name both in one rule")),
            );
        }
    }
}
