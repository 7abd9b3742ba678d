//! Sentences that would let a second effect happen: no agent is told that it may make a call again, and `explain` never says
//! Yes, where one more call could act twice or would be an unsafe finding.

use crate::place::Place;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/false_sentences");

/// A project with all inputs of the folder.
fn project() -> Place {
    let place = Place::new();
    for folder in ["", "playbooks/"] {
        let entries =
            std::fs::read_dir(format!("{FOLDER}/{folder}")).expect("a folder").map(|entry| entry.expect("entry"));
        for entry in entries.filter(|entry| entry.path().is_file()) {
            let name = format!("{folder}{}", entry.file_name().to_string_lossy());
            place.write(&name, &std::fs::read_to_string(entry.path()).expect("readable"));
        }
    }
    place.write("playproof.yaml", "format: project/1\nplaybook: standard\nfixtures: fixtures\n");
    place
}

/// What is told of the calls of an input: each with whether it may be made again.
fn told(input: &str, more: &[&str]) -> Vec<(String, bool)> {
    let run = project().run(&[&["replay", input, "--format", "jsonl"], more].concat());
    let mut told = Vec::new();
    for line in run.out.lines() {
        let call: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if let Some(retriable) = call["told"]["retriable"].as_bool() {
            let name = call["ref"].as_str().unwrap_or_default();
            told.push((name.to_owned(), retriable));
        }
    }
    assert!(!told.is_empty(), "{}\n{}", run.out, run.err);
    told
}

fn none_may_be_made_again(input: &str, more: &[&str]) {
    let told = told(input, more);
    assert!(told.iter().all(|(_, retriable)| !retriable), "{input}: {told:?}");
}

/// The page of one call, in one line.
fn explained(input: &str, call: &str, more: &[&str]) -> String {
    let run = project().run(&[&["explain", input, call], more].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    run.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn never_yes(input: &str, call: &str, more: &[&str]) -> String {
    let page = explained(input, call, more);
    assert!(page.contains("No, because"), "{page}");
    assert!(!page.contains("Yes, because") && !page.contains("Yes: ") && !page.contains("Yes, with"), "{page}");
    page
}

#[test]
fn a_call_that_is_made_after_another_is_judged_by_when_it_is_made() {
    for at in ["at_ms: 1 ", "at_ms: 0 ", "at_ms: 2 "] {
        let place = project();
        let text = std::fs::read_to_string(format!("{FOLDER}/after-call-counts-as-made-at-0.yaml")).expect("readable");
        place.write("shifted.yaml", &text.replace("at_ms: 1 ", at));
        let run = place.run(&["replay", "shifted.yaml"]);
        assert_eq!(run.code, 1, "{}", run.out);
        assert!(run.out.contains("unsafe_retry"), "{}", run.out);
    }
    none_may_be_made_again("retriable-true-after-the-effect.yaml", &[]);
    let run = project().run(&["replay", "after-untruthful.yaml"]);
    assert!(!run.out.contains("untruthful_outcome"), "{}", run.out);
}

#[test]
fn what_is_known_when_the_agent_is_told_decides() {
    none_may_be_made_again("parallel-identical-retriable.jsonl", &[]);
    none_may_be_made_again("earlier-call-without-arguments.jsonl", &[]);
}

#[test]
fn a_fixture_and_its_recording_tell_the_same_of_a_key_that_is_not_the_calls_own() {
    none_may_be_made_again("key-of-another-request-retriable.yaml", &[]);
    none_may_be_made_again(
        "key-of-a-reversed-effect.jsonl",
        &["--tools", "reversal-tools.yaml", "-p", "playbooks/rv.yaml"],
    );
}

#[test]
fn words_of_a_deed_are_heard_in_recordings() {
    none_may_be_made_again("words-of-a-deed.jsonl", &[]);
}

#[test]
fn a_denial_is_never_to_be_sent_again_whatever_a_playbook_tells() {
    none_may_be_made_again("denial-told-as-transient.yaml", &[]);
    never_yes("denial-told-as-transient.yaml", "a", &[]);
}

#[test]
fn the_effect_of_another_request_under_the_key_is_not_the_calls_own() {
    let page = explained("effect-of-another-request.yaml", "c", &[]);
    assert!(
        page.contains("This request was not made: the effect under its key is that of another one, made by a."),
        "{page}"
    );
}

#[test]
fn a_call_that_may_have_acted_since_a_reversal_is_the_reason() {
    let page = explained("reversed-then-answered.jsonl", "r#1", &["-p", "reversing"]);
    assert!(!page.contains("an attempt that was not answered"), "{page}");
    assert!(page.contains("r#2 may have acted"), "{page}");
}

#[test]
fn what_an_identical_action_has_written_counts_before_and_after() {
    never_yes("action-that-never-began.yaml", "second", &[]);
    never_yes("identical-action-later.yaml", "second", &[]);
    never_yes("identical-action-later.jsonl", "s", &["-p", "playbooks/sg4.yaml"]);
}

#[test]
fn a_write_that_was_made_directly_counts_for_the_action_that_would_make_it_as_a_step() {
    let of = |input, action: &str, more: &[&str]| told(input, more).into_iter().find(|(name, _)| name == action);
    assert_eq!(of("step-made-directly-before.yaml", "second", &[]), Some(("second".to_owned(), false)));
    let recorded = of("step-made-directly-before.jsonl", "r#2", &["-p", "playbooks/sg6.yaml"]);
    assert_eq!(recorded, Some(("r#2".to_owned(), false)));
    for input in ["step-of-its-own-arguments-made-directly.jsonl", "step-made-directly-without-arguments.jsonl"] {
        assert_eq!(of(input, "r#2", &["-p", "playbooks/sg6.yaml"]), Some(("r#2".to_owned(), false)), "{input}");
    }
    never_yes("step-made-directly-before.yaml", "second", &[]);
    never_yes("step-made-directly-before.jsonl", "s", &["-p", "playbooks/sg6.yaml"]);
}

#[test]
fn an_identical_call_that_may_have_acted_speaks_against_both() {
    never_yes("identical-call-that-may-have-acted.yaml", "a", &[]);
    never_yes("identical-call-that-may-have-acted.yaml", "b", &[]);
}

#[test]
fn no_guard_is_called_redundant_where_the_tool_is_never_sent_a_request_again() {
    let text = |more: &str| {
        format!(
            "format: fixture/1\ntitle: t\nplaybooks: [busy]\ntools: {{ p.w: {{ access: write, timeout_ms: 100{more} }} }}\n\
             calls: {{ a: {{ tool: p.w, args: {{}} }} }}\nupstream: {{ a: [{{ timeout: {{}}, applied: false }}] }}\nexpect: {{ busy: {{ sends: 1 }} }}\n"
        )
    };
    let place = project();
    place.write(
        "playbooks/busy.yaml",
        "format: playbook/1\nname: busy\nverdicts:\n  slow: { means: m, effect: unknown, then: { retry_with_backoff: { backoff_ms: [10] } } }\n\
         classify:\n  - { rule: s, when: { kind: timeout }, verdict: slow }\notherwise: unclassified\ndefault_queue: q\nqueues: [q]\n",
    );
    for (more, is_redundant) in [("", true), (", retry: never", false)] {
        place.write("busy.yaml", &text(more));
        let run = place.run(&["replay", "busy.yaml", "--format", "json"]);
        assert_eq!(run.out.contains("guard_redundant"), is_redundant, "{}\n{}", run.out, run.err);
    }
}

#[test]
fn a_key_that_the_upstream_ignores_is_refused_as_long_as_the_documented_window_lasts() {
    let place = project();
    for (window, refused) in [(0, 0), (10_000, 2)] {
        place.write(
            "playbooks/window.yaml",
            &format!(
                "format: playbook/1\nname: window\nverdicts:\n  slow: {{ means: m, effect: unknown, then: {{ deprecate_tool_call: {{ reason: r }} }} }}\n\
                 classify:\n  - {{ rule: s, when: {{ kind: timeout }}, verdict: slow }}\notherwise: unclassified\n\
                 default_queue: q\nqueues: [q]\ndedupe: {{ window_ms: {window} }}\n"
            ),
        );
        place.write(
            "window.yaml",
            "format: fixture/1\ntitle: t\nplaybooks: [window]\ntools: { p.w: { access: write, timeout_ms: 100, keys: ignored } }\n\
             calls:\n  a: { tool: p.w, args: { n: 1 }, idempotency_key: k }\n\
             \x20 b: { tool: p.w, args: { n: 1 }, idempotency_key: k, at_ms: 120 }\n\
             \x20 c: { tool: p.w, args: { n: 1 }, idempotency_key: k, at_ms: 5000 }\n\
             \x20 d: { tool: p.w, args: { n: 1 }, idempotency_key: k, at_ms: 900000 }\n\
             upstream: { a: [{ timeout: {}, applied: true }], b: [{ ok: {} }], c: [{ ok: {} }], d: [{ ok: {} }] }\n\
             expect: { window: { sends: 1 } }\n",
        );
        let run = place.run(&["replay", "window.yaml", "--format", "json"]);
        assert_eq!(
            run.out.matches(r#""outcome":"refused","why":"unsettled""#).count(),
            2 * refused,
            "{}{}",
            run.out,
            run.err
        );
    }
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/admission.md")).expect("readable");
    assert!(page.contains("as long as the window of that one lasts"), "the bound is documented");
}
