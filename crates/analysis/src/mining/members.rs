//! Clusters groups of failures: templates that differ in one word are joined, with a placeholder for that word. Also
//! tells how similar two templates are.

use std::collections::BTreeMap;

use super::group::{FailureGroup, GroupKey};

/// The placeholder for a word that differs.
pub(super) const WORD: &str = "<word>";

/// The least number of different words in one place. Two may have two meanings, such as `accepted` and `refused`.
const WORDS_MIN: usize = 3;

/// The least number of words around the place that must agree.
const AROUND_MIN: usize = 3;

/// Templates with more words are not joined.
const LENGTH_MAX: usize = 40;

/// Shapes that one rule should catch, by their places in the list of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClusterMembers {
    pub template: String,
    pub members: Vec<usize>,
}

/// Clusters every group for which `is_unhandled` holds; in the order of the first members.
pub(super) fn join(
    groups: &[(GroupKey, FailureGroup)],
    is_unhandled: impl Fn(&GroupKey, &FailureGroup) -> bool,
) -> Vec<ClusterMembers> {
    let all: Vec<usize> =
        groups.iter().enumerate().filter(|(_, (key, group))| is_unhandled(key, group)).map(|(n, _)| n).collect();
    let mut slots: Vec<(TemplateSlot<'_>, Vec<usize>)> = slots(groups, &all).into_iter().collect();
    slots.retain(|(_, members)| members.len() >= WORDS_MIN);
    slots.sort_by(|(a, few), (b, many)| many.len().cmp(&few.len()).then_with(|| a.cmp(b)));
    let mut taken = vec![false; groups.len()];
    let mut clusters = Vec::new();
    for (slot, mut members) in slots {
        members.retain(|&member| !taken[member]);
        if members.len() < WORDS_MIN {
            continue;
        }
        let first = members[0]; // at least three
        for &member in &members {
            taken[member] = true;
        }
        clusters.push(ClusterMembers { template: with_placeholder(&groups[first].1.template, slot.at), members });
    }
    let alone = all.into_iter().filter(|&n| !taken[n]);
    clusters.extend(alone.map(|n| ClusterMembers { template: groups[n].1.template.clone(), members: vec![n] }));
    clusters.sort_by_key(|clusters| clusters.members[0]); // never empty
    clusters
}

/// A template without one of its words, and all else that must agree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TemplateSlot<'a> {
    kind: &'a Option<Box<str>>,
    status: Option<u16>,
    code: &'a Option<Box<str>>,
    verdict: u16,
    at: usize,
    words: Vec<&'a str>,
}

fn slots<'a>(groups: &'a [(GroupKey, FailureGroup)], all: &[usize]) -> BTreeMap<TemplateSlot<'a>, Vec<usize>> {
    let mut slots: BTreeMap<TemplateSlot<'a>, Vec<usize>> = BTreeMap::new();
    for &n in all {
        let key = &groups[n].0;
        let words: Vec<&str> = key.template.split(' ').collect();
        if words.len() > LENGTH_MAX {
            continue;
        }
        for (at, word) in words.iter().enumerate() {
            let mut around = words.clone();
            around.remove(at);
            let literal = around.iter().filter(|word| !word.contains('<')).count();
            if literal < AROUND_MIN || word.contains('<') {
                continue;
            }
            let GroupKey { kind, status, code, verdict, .. } = key;
            let slot = TemplateSlot { kind, status: *status, code, verdict: verdict.0, at, words: around };
            slots.entry(slot).or_default().push(n);
        }
    }
    slots
}

fn with_placeholder(template: &str, at: usize) -> String {
    let words: Vec<&str> = template.split(' ').enumerate().map(|(n, word)| if n == at { WORD } else { word }).collect();
    words.join(" ")
}

/// The least similarity of look-alikes, in thousandths.
pub(super) const SIMILARITY_MIN: usize = 300;

/// Twice the shared words by all words, in thousandths: 1,000 for the same words in any order.
pub(super) fn similarity(a: &str, b: &str) -> usize {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for word in words(a) {
        counts.entry(word).or_default().0 += 1;
    }
    for word in words(b) {
        counts.entry(word).or_default().1 += 1;
    }
    let shared: usize = counts.values().map(|&(a, b)| a.min(b)).sum();
    let all: usize = counts.values().map(|&(a, b)| a + b).sum();
    (shared * 2_000).checked_div(all).unwrap_or(1_000) // two empty templates are the same
}

/// The words without placeholders: two messages are not similar because both contain a number.
fn words(template: &str) -> impl Iterator<Item = String> {
    let bare =
        template.split(' ').map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '<' && c != '>'));
    bare.filter(|word| !word.is_empty() && !word.contains('<')).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_words_make_templates_similar_and_placeholders_do_not() {
        assert_eq!(similarity("payment method <id> not found", "payment method not found"), 1_000);
        assert_eq!(similarity("order <n> not found", "Flight <n> not found!"), 666);
        assert_eq!(similarity("<n> <id>", "<n> other"), 0);
        assert_eq!(similarity("", ""), 1_000);
    }
}
