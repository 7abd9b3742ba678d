//! A small sample of each format that is built in: detected, read, and read back by our own reader.

use super::{imported, path, read_back};

/// The sample's account of itself, and what our own reader makes of its lines.
fn account(name: &str) -> (String, (u64, u64, u64)) {
    let found = imported(&path("tests/samples").join(name));
    let said = found.loss.to_string();
    (said.lines().next().unwrap_or_default().to_owned(), read_back(&found.lines))
}

#[test]
fn a_chat_of_openai_messages_is_one_run() {
    let (said, counts) = account("openai-chat.json");
    assert_eq!(
        said,
        "read as OpenAI chat messages: 1 run, 4 calls, 4 results, 2 of them failed; 1 call without a result"
    );
    assert_eq!(counts, (4, 4, 2));
}

#[test]
fn conversations_one_a_line_are_runs_of_their_own() {
    let (said, counts) = account("openai-conversations.jsonl");
    assert_eq!(said, "read as OpenAI chat messages: 2 runs, 2 calls, 2 results, 1 of them failed");
    assert_eq!(counts, (2, 2, 1));
}

#[test]
fn results_of_tau_bench_are_runs_by_task_and_trial() {
    let (said, counts) = account("tau-bench.json");
    assert_eq!(said, "read as tau-bench results: 2 runs, 3 calls, 3 results, 2 of them failed");
    assert_eq!(counts, (3, 3, 2));
}

#[test]
fn results_of_tau2_bench_have_flags_times_and_calls_of_the_user() {
    let (said, counts) = account("tau2-bench.json");
    assert_eq!(said, "read as tau2-bench results: 2 runs, 5 calls, 5 results, 1 of them failed");
    assert_eq!(counts, (5, 5, 1));
}
