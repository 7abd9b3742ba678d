//! `explain` on calls that end for what calls share: who opened the circuit, who took the last of a budget, what another call
//! made, and who acts where the caller is gone.

use super::Place;

/// Reads that are sent again after 100 ms; what they share is appended.
const PLAYBOOK: &str = "\
format: playbook/1
name: shared
queues: [people]
default_queue: people
verdicts:
  again:
    means: It did not work now.
    effect: unknown
    breaker: failure
    then: { retry_with_backoff: { backoff_ms: [100], max_retries: 5 } }
  no: { means: It never works., effect: unknown, breaker: failure, then: { escalate_to_human: { queue: people } } }
classify:
  - { rule: again, when: { kind: down }, verdict: again }
  - { rule: no, when: { kind: no }, verdict: no }
tools:
  look: { access: read }
";

/// The page of the call `a` of a fixture, in one line; with a retry budget, `again` pays from it.
fn explained(shared: &str, calls: &str) -> String {
    let place = Place::new();
    let playbook = match shared.contains("retry_budgets") {
        true => PLAYBOOK.replace("max_retries: 5", "max_retries: 5, retry_budget: few"),
        false => PLAYBOOK.to_owned(),
    };
    place.write("shared.yaml", playbook + shared);
    place.write("calls.yaml", format!("format: fixture/1\ntitle: Calls that share\n{calls}"));
    let run = place.run(&["explain", "calls.yaml", "a", "--playbook", "shared.yaml"]);
    assert_eq!(run.code, 0, "{}", run.err);
    run.out.split_whitespace().collect::<Vec<_>>().join(" ") // however its lines are wrapped
}

fn calls(b: &str, answers_of_a: &str) -> String {
    format!(
        "calls:\n  a: {{ tool: look }}\n  b: {{ tool: look, args: {{ n: 2 }}, at_ms: 10 }}\nupstream:\n  a: [{answers_of_a}]\n  b: [{b}]\nexpect: {{ shared: {{ sends: 2 }} }}\n"
    )
}

const DOWN: &str = "{ error: { kind: down } }";
const OK: &str = "{ ok: {} }";
const BREAKER: &str = "breakers:\n  look: { window: { calls: 2 }, failure_count: 2, open_ms: 1000 }\n";
const BUDGET: &str = "budget: { tool_calls: 2 }\n";
const RETRY_BUDGET: &str =
    "retry_budgets:\n  few: { kind: concurrency_ratio, budget_percent: 0, min_retry_concurrency: 1 }\n";

#[test]
fn a_call_that_stops_at_an_open_circuit_names_who_opened_it_and_is_not_sent_again_now() {
    let page = explained(BREAKER, &calls("{ error: { kind: no } }", &format!("{DOWN}, {OK}")));
    for said in [
        "The circuit breaker of its server lets no further attempt pass: b opened it. The call ends exhausted: circuit_open.",
        "send again? Not now, because the circuit breaker refuses it while it is open. When it lets a call pass: yes, because \
         the tool only reads.",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    let page = explained(BREAKER, &calls(OK, &format!("{DOWN}, {OK}")));
    assert!(!page.contains("opened it") && page.contains("send again? Yes, because"), "{page}");
}

#[test]
fn a_call_that_stops_for_a_budget_names_who_took_the_last_of_it() {
    let page = explained(BUDGET, &calls(OK, &format!("{DOWN}, {DOWN}")));
    assert!(page.contains("exhausted: budget") && page.contains("further attempt: this call itself took"), "{page}");
    let page = explained(BUDGET, &calls(OK, "{ error: { kind: down }, latency_ms: 50 }"));
    for said in [
        "The run has no tool call left for a further attempt: b took the last one. The call ends exhausted: budget.",
        "send again? Not in this run, because it has no tool calls left.",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    let page = explained("budget: { tool_calls: 3 }\n", &calls(OK, &format!("{DOWN}, {OK}")));
    assert!(!page.contains("took the last") && page.contains("succeeded_after_compensation"), "{page}");
}

#[test]
fn a_call_that_stops_for_a_retry_budget_names_who_spent_it() {
    let late = "{ error: { kind: down }, latency_ms: 50 }";
    let page = explained(RETRY_BUDGET, &calls(&format!("{DOWN}, {OK}"), late));
    for said in [
        "The retry budget has nothing left for a further attempt: b spent the last of it. The call ends exhausted: \
         retry_budget.",
        "send again? Not now: the retry budget is there to spare the server, and is spent.",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    let page = explained(RETRY_BUDGET, &calls(OK, &format!("{late}, {OK}")));
    assert!(!page.contains("spent the last") && page.contains("send again? Yes"), "{page}");
}

#[test]
fn a_claim_is_not_contradicted_by_what_a_follower_did() {
    let place = Place::new();
    let page = |call: &str| {
        place.copy_fixture("a-follower-takes-over-a-lost-leader.yaml");
        let run = place.run(&["explain", "a-follower-takes-over-a-lost-leader.yaml", call, "--playbook", "dispatcher"]);
        run.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let waits = page("waits");
    assert!(!waits.contains("something else than the ledger"), "{waits}");
    assert!(
        waits.contains("The effect is there, once, and not by this call: the outcome claims that it did"),
        "{waits}"
    );
}

#[test]
fn a_caller_that_went_away_decides_nothing() {
    let place = Place::new();
    let page = |call: &str| {
        let fixture = "a-write-is-cancelled-while-it-may-have-acted.yaml";
        place.copy_fixture(fixture);
        let run = place.run(&["explain", fixture, call, "--playbook", "dispatcher"]);
        run.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let write = page("in_backoff");
    assert!(
        write.contains("acts next Whoever follows the caller, which went away: it reads the upstream's"),
        "{write}"
    );
    assert!(write.contains("delay 50 ms added by the playbook"), "{write}");
    let read = page("read");
    assert!(read.contains("acts next Nobody: the caller went away, and nothing has to be put right."), "{read}");
}
