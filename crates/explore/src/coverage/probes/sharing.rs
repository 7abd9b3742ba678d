//! Probes of what calls share: the same key in other ways, more calls than a run has, more than may be out.

use crate::coverage::fixture_builder::{FixtureBuilder, LATENCY, NamedBuilder, failure, lost, ok};
use crate::coverage::path::Generator;
use crate::shape::{CallShape, KEYED, UNKEYED};
use playproof_engine::fixture::FixtureCall;
use playproof_engine::ids::VerdictId;
use playproof_engine::playbook::{Dedupe, Sharing};
use playproof_engine::time::{Duration, Instant};
use playproof_formats::playbook::example_texts;

/// The most calls of a probe: one with more is no fixture that people read.
pub(in crate::coverage) const MOST_CALLS: u32 = 200;

/// A longer time than any call of a probe takes.
const LATER: Duration = Duration::from_millis(1_000_000);

pub(super) fn for_sharing(generator: &Generator<'_>) -> Vec<NamedBuilder> {
    let playbook = &generator.plan.playbook;
    let Sharing { dedupe, budget, permits } = playbook.sharing;
    let mut found = Vec::new();
    if let Some(rules) = dedupe {
        found.extend(for_keys(rules));
    }
    for row in playbook.tools.rows().iter().filter(|row| row.facts.needs_key || row.facts.ignores_keys) {
        let tool = example_texts::of_glob(&row.pattern);
        let shape =
            |keyed| CallShape { access: row.facts.access, idempotent: row.facts.idempotent, keyed, token: false };
        let unkeyed =
            FixtureBuilder::of_declared(format!("{tool} without a key"), shape(false), &tool).answered([ok()]);
        found.push(("a-call-without-its-key".to_owned(), unkeyed));
        let silent = FixtureBuilder::of_declared(format!("{tool} again after no answer"), shape(true), &tool);
        let silent = silent.answered([lost(), lost()]);
        found.push(("a-key-after-no-answer".to_owned(), with_another(silent, LATER, |_| {})));
    }
    if let Some(most) = budget.map(|budget| budget.tool_calls).filter(|most| *most < MOST_CALLS) {
        let all = many("More calls than the run has", most + 1);
        found.push(("more-calls-than-the-run-has".to_owned(), all));
        found.extend(last_retry(generator, most));
    }
    if let Some(permits) = permits.filter(|permits| permits.max_in_flight.saturating_add(permits.queue) < MOST_CALLS) {
        let all = many("More calls than may wait", permits.max_in_flight + permits.queue + 1);
        found.push(("more-calls-than-may-wait".to_owned(), all));
    }
    found
}

fn for_keys(rules: Dedupe) -> Vec<NamedBuilder> {
    let keyed = |title: &str| FixtureBuilder::of(title, KEYED, KEYED.tool()).answered([ok()]);
    let soon = Duration::from_millis(1);
    let after = LATENCY.plus(soon);
    let mut found = vec![
        ("a-key-in-flight".to_owned(), with_another(keyed("A key in flight"), soon, |_| {})),
        ("a-key-that-is-kept".to_owned(), with_another(keyed("A key that is kept"), after, |_| {})),
        (
            "a-key-of-another-request".to_owned(),
            with_another(keyed("A key of another request"), soon, |call| {
                r#"{"order":"o_92"}"#.clone_into(&mut call.args)
            }),
        ),
    ];
    let longest = usize::try_from(rules.max_key_len).unwrap_or(usize::MAX);
    let mut long = keyed("A key that is too long");
    for call in long.calls.iter_mut().filter(|_| longest < 1_000) {
        call.key = Some("k".repeat(longest + 1));
    }
    found.push(("a-key-that-is-too-long".to_owned(), long));
    found
}

/// The same with one more call like the first, made so much later.
fn with_another(mut builder: FixtureBuilder, later: Duration, change: impl Fn(&mut FixtureCall)) -> FixtureBuilder {
    if let Some(first) = builder.calls.first().cloned() {
        let mut call = FixtureCall { name: "again".to_owned(), at: first.at.plus(later), ..first };
        change(&mut call);
        builder.calls.push(call);
    }
    builder
}

/// So many calls at once.
fn many(title: &str, calls: u32) -> FixtureBuilder {
    let mut builder = FixtureBuilder::of(title, UNKEYED, UNKEYED.tool()).answered([ok()]);
    if let Some(first) = builder.calls.pop() {
        let named = (1..=calls).map(|n| FixtureCall { name: format!("call-{n}"), ..first.clone() });
        builder.calls.extend(named);
    }
    builder
}

/// A call that takes the last tool call of its run and would be sent again.
fn last_retry(generator: &Generator<'_>, most: u32) -> Option<NamedBuilder> {
    let verdicts = (0..).map(VerdictId).zip(&generator.plan.playbook.verdicts);
    let mut resending = verdicts.filter(|(_, verdict)| verdict.then.sends_again()).map(|(id, _)| id);
    let shape = KEYED;
    let made = resending.find_map(|id| generator.failure(id, shape, 1, None))?;
    let mut builder = many("The last tool call of a run fails", most);
    let mut last = builder.calls.pop()?;
    last.key = Some("key_1".to_owned());
    last.at = Instant::ZERO.plus(LATER);
    last.script.attempts = vec![failure(generator, made, shape, 1, &last.tool), ok()];
    builder.calls.push(last);
    Some(("the-last-tool-call-fails".to_owned(), builder))
}
