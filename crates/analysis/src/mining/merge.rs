//! Joins forms that differ in one word: where many words stood in the same place, the place is a placeholder.

use std::collections::BTreeMap;

use super::shape::{Key, Shape};

/// What stands for a word that changes.
pub(super) const WORD: &str = "<word>";

/// So many words must have stood in a place: two may well be two meanings, such as `accepted` and `refused`.
const WORDS_MIN: usize = 3;

/// So many words around the place must agree.
const AROUND_MIN: usize = 3;

/// Forms with more words are left alone.
const LENGTH_MAX: usize = 40;

/// Shapes that one rule should catch, by their places in the list of shapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Joined {
    pub form: String,
    pub members: Vec<usize>,
}

/// Every shape for which `falls` holds, those that differ in one word joined; in the order of their first member.
pub(super) fn join(shapes: &[(Key, Shape)], falls: impl Fn(&Key, &Shape) -> bool) -> Vec<Joined> {
    let all: Vec<usize> =
        shapes.iter().enumerate().filter(|(_, (key, shape))| falls(key, shape)).map(|(n, _)| n).collect();
    let mut slots: Vec<(Slot<'_>, Vec<usize>)> = slots(shapes, &all).into_iter().collect();
    slots.retain(|(_, members)| members.len() >= WORDS_MIN);
    slots.sort_by(|(a, few), (b, many)| many.len().cmp(&few.len()).then_with(|| a.cmp(b)));
    let mut taken = vec![false; shapes.len()];
    let mut joined = Vec::new();
    for (slot, mut members) in slots {
        members.retain(|&member| !taken[member]);
        if members.len() < WORDS_MIN {
            continue;
        }
        let first = members[0]; // at least three
        for &member in &members {
            taken[member] = true;
        }
        joined.push(Joined { form: with_placeholder(&shapes[first].1.form, slot.at), members });
    }
    let alone = all.into_iter().filter(|&n| !taken[n]);
    joined.extend(alone.map(|n| Joined { form: shapes[n].1.form.clone(), members: vec![n] }));
    joined.sort_by_key(|joined| joined.members[0]); // never empty
    joined
}

/// A form without one of its words, and all else that must agree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Slot<'a> {
    kind: &'a Option<Box<str>>,
    status: Option<u16>,
    code: &'a Option<Box<str>>,
    verdict: u16,
    at: usize,
    words: Vec<&'a str>,
}

fn slots<'a>(shapes: &'a [(Key, Shape)], all: &[usize]) -> BTreeMap<Slot<'a>, Vec<usize>> {
    let mut slots: BTreeMap<Slot<'a>, Vec<usize>> = BTreeMap::new();
    for &n in all {
        let key = &shapes[n].0;
        let words: Vec<&str> = key.form.split(' ').collect();
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
            let Key { kind, status, code, verdict, .. } = key;
            let slot = Slot { kind, status: *status, code, verdict: verdict.0, at, words: around };
            slots.entry(slot).or_default().push(n);
        }
    }
    slots
}

fn with_placeholder(form: &str, at: usize) -> String {
    let words: Vec<&str> = form.split(' ').enumerate().map(|(n, word)| if n == at { WORD } else { word }).collect();
    words.join(" ")
}
