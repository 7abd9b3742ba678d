//! A second model of what an agent does over several calls, written from docs/adr/0048 alone and compared with the
//! engine on random traces. It knows the whole story at once and keeps no tables.

use std::collections::BTreeMap;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};

use crate::replay_properties::{StoryCall, recorded_in_trace, stories};

/// The random traces, where `PROPTEST_CASES` says 128 or more; else a part of them.
const TRACES: u32 = 2_000;

/// Ids and severities of one call.
type Found = Vec<(&'static str, &'static str)>;

impl StoryCall {
    fn acts_again(&self) -> bool {
        matches!(self.tool, "pay" | "odd" | "void")
    }

    fn writes(&self) -> bool {
        self.tool != "read"
    }

    /// Attempts that succeeded, at once or late.
    fn oks(&self) -> usize {
        let succeeded = |n: usize, said: &str| said == "ok" || n == 0 && self.late.is_some();
        self.answers.iter().enumerate().filter(|(n, (said, _))| succeeded(*n, said)).count()
    }

    /// Effects that were not reversed.
    fn effects(&self) -> usize {
        if self.writes() { self.oks().saturating_sub(usize::from(self.reversed.is_some())) } else { 0 }
    }

    fn may_have_acted(&self) -> bool {
        self.writes() && (self.answers.is_empty() || self.answers.iter().any(|(said, _)| may_act(said)))
    }

    fn last(&self) -> Option<&'static str> {
        self.answers.last().map(|(said, _)| *said)
    }

    fn ended(&self) -> Option<u64> {
        self.answers.last().map(|(_, at)| *at)
    }

    fn failed(&self) -> bool {
        self.last().is_some_and(|said| said != "ok")
    }

    fn is_after(&self, other: &StoryCall) -> bool {
        other.ended().is_some_and(|ended| self.made > ended)
    }

    /// The same tool and arguments in the same run.
    fn is_identical(&self, other: &StoryCall) -> bool {
        (self.run, self.tool, self.args) == (other.run, other.tool, other.args)
    }

    /// The key that its upstream looks at.
    fn known_key(&self) -> Option<u8> {
        if self.tool == "void" { None } else { self.key }
    }

    fn has_key_of(&self, other: &StoryCall) -> bool {
        self.known_key().is_some() && (self.tool, self.key) == (other.tool, other.key)
    }
}

fn may_act(said: &str) -> bool {
    matches!(said, "timeout" | "409_conflict" | "other")
}

fn is_denial(said: &str, _: &StoryCall) -> bool {
    said == "403_forbidden"
}

fn is_conflict(said: &str, call: &StoryCall) -> bool {
    said == "409_conflict" && call.key.is_some()
}

/// The findings about several calls, and those about several attempts that have the same ids.
fn model(story: &[StoryCall], n: usize) -> Found {
    let call = &story[n];
    let before: Vec<&StoryCall> = story[..n].iter().filter(|other| other.is_identical(call)).collect();
    let certain = if call.tool == "odd" { "Doubt" } else { "Unsafe" };
    let mut found = Found::new();
    if retried_after(call, &before, is_denial) {
        found.push(("retried_after_denial", certain));
    }
    // The first attempt was denied, and its success came late: it ran all the same.
    if call.late.is_some() && call.answers.first().is_some_and(|(said, _)| is_denial(said, call)) {
        found.push(("retried_after_denial", "Unsafe"));
    }
    if retried_after(call, &before, is_conflict) {
        found.push(("retried_after_conflict", certain));
    }
    if is_futile(story, call, &before) {
        found.push(("futile_retry", "Note"));
    }
    if call.acts_again() {
        let others = || before.iter().filter(|other| other.known_key() != call.known_key());
        if others().any(|other| other.effects() > 0 || other.may_have_acted()) {
            let both = call.effects() > 0 && others().any(|other| other.effects() > 0);
            let lost = others().any(|other| other.may_have_acted() && call.is_after(other));
            found.push(("resent_under_new_key", if both || lost { certain } else { "Doubt" }));
        }
        if call.known_key().is_none() {
            found.extend(sent_again(call, &before));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// An identical call had ended so, and no success had ended after it.
fn retried_after(call: &StoryCall, before: &[&StoryCall], is: fn(&str, &StoryCall) -> bool) -> bool {
    let ended = || before.iter().filter(|other| call.is_after(other));
    let success = ended().filter(|other| other.last() == Some("ok")).filter_map(|other| other.ended()).max();
    ended().any(|other| other.last().is_some_and(|said| is(said, other)) && other.ended() > success)
}

/// The call before it had failed, it fails too, and the run wrote nothing in between.
fn is_futile(story: &[StoryCall], call: &StoryCall, before: &[&StoryCall]) -> bool {
    let Some(last) = before.iter().rfind(|other| other.ended().is_some()) else { return false };
    let ended = last.ended().unwrap_or(u64::MAX);
    let wrote = |other: &StoryCall| {
        let oks = other.answers.iter().filter(|(said, _)| *said == "ok").map(|(_, at)| *at);
        oks.chain(other.reversed).chain(other.late).any(|at| ended < at && at < call.made)
    };
    let writes = story.iter().filter(|other| other.run == call.run && other.writes());
    call.failed() && last.failed() && call.is_after(last) && !writes.into_iter().any(wrote)
}

/// Without a key: after calls that may have acted, or that acted.
fn sent_again(call: &StoryCall, before: &[&StoryCall]) -> Found {
    let unkeyed = || before.iter().filter(|other| other.known_key().is_none());
    let lost = || unkeyed().filter(|other| other.may_have_acted());
    let made: usize = unkeyed().map(|other| other.effects()).sum();
    let mut found = Found::new();
    if lost().next().is_some() {
        found.push(match call.tool != "odd" && lost().any(|other| call.is_after(other)) {
            true => ("unsafe_retry", "Unsafe"),
            false => ("possible_duplicate_effect", "Doubt"),
        });
        if call.effects() > 0 && made == 0 {
            found.push(("possible_duplicate_effect", "Doubt"));
        }
    } else if call.effects() == 0 && call.may_have_acted() && made > 0 {
        found.push(("possible_duplicate_effect", "Doubt"));
    }
    if call.effects() > 0 && made > 0 {
        found.push(match call.tool {
            "pay" | "void" => ("duplicate_effect", "Unsafe"),
            _ => ("possible_duplicate_effect", "Doubt"),
        });
    }
    found
}

#[test]
fn a_second_model_agrees_on_random_traces() {
    let traces = TRACES * Config::default().cases.min(128) / 128;
    let mut runner = TestRunner::deterministic();
    let stories = stories(true, 1);
    let mut shown: BTreeMap<&str, u32> = BTreeMap::new();
    for number in 0..traces {
        let mut story = stories.new_tree(&mut runner).unwrap().current();
        if number % 4 == 0 {
            story.iter_mut().filter(|call| call.tool == "pay").for_each(|call| call.tool = "odd"); // else it is rare
        }
        let all = story.clone();
        // Keys that two requests or two runs have in common are another chapter.
        for (n, call) in story.iter_mut().enumerate() {
            let shared = |other: &StoryCall| call.has_key_of(other);
            let is_other = |other: &StoryCall| !call.is_identical(other);
            if all.iter().enumerate().any(|(m, other)| m != n && shared(other) && is_other(other)) {
                call.key = None;
            }
        }
        for (n, recorded) in recorded_in_trace(&story).into_iter().enumerate() {
            let mut expected = model(&story, n);
            let same_key = |other: &&StoryCall| story[n].has_key_of(other) && other.effects() > 0;
            if story[n].acts_again() && story[n].effects() > 0 && story[..n].iter().any(|other| same_key(&other)) {
                expected.push(("possible_duplicate_effect", "Doubt"));
                expected.sort_unstable();
                expected.dedup();
            }
            let id = |text: &str| text.split(" x").next().unwrap_or_default().to_owned();
            let mut recorded: Vec<String> = recorded.iter().map(|text| id(text)).collect();
            recorded.sort();
            for (id, _) in &expected {
                *shown.entry(id).or_default() += 1;
            }
            let expected: Vec<String> = expected.iter().map(|(id, severity)| format!("{id}/{severity}")).collect();
            assert_eq!(recorded, expected, "call {n} of {story:#?}");
        }
    }
    assert!(
        shown.len() == 7 && shown.values().all(|&count| count * TRACES >= 5 * traces),
        "the traces show each finding: {shown:?}"
    );
}
