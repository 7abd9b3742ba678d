//! `init --from`: what a project takes from recordings of the user's own.

use crate::place::Place;

const OWN: &str = r#"{"type":"tool_call","run_id":"r1","call_id":"c1","tool":"crm.close_ticket","at_ms":0,"args":{"id":7,"mail":"ada@example.com"},"idempotency_key":"k7"}
{"type":"tool_result","run_id":"r1","call_id":"c1","at_ms":120,"status":"error","error":{"kind":"403_forbidden","status":403,"message":"agents may not close tickets"}}
{"type":"tool_call","run_id":"r1","call_id":"c2","tool":"search.web","at_ms":200,"args":{"q":"x"}}
{"type":"tool_result","run_id":"r1","call_id":"c2","at_ms":900,"status":"error","error":{"kind":"odd","message":"what is this"}}
"#;

#[test]
fn a_trace_of_our_own_gives_tool_facts_and_a_fixture_without_anybody_s_data() {
    let place = Place::new();
    place.write("trace.jsonl", OWN);
    let page = place.run(&["init", "--from", "trace.jsonl"]).exits(0).out;
    assert!(page.starts_with("trace.jsonl: 2 calls, 2 failed\n"), "{page}");
    assert!(place.read("playproof.yaml").contains("\ntools: tools/trace.yaml\n"));
    let facts = place.read("tools/trace.yaml");
    assert!(facts.contains("search.web: { access: read }") && facts.contains("# guessed: confirm"), "{facts}");
    let fixture = place.read("fixtures/crm-close-ticket-meets-policy-denied.yaml");
    assert!(
        fixture.contains("agents may not close tickets") && fixture.contains("args: { id: 1, mail: text }"),
        "{fixture}"
    );
    assert!(!fixture.contains("ada@example.com") && !fixture.contains("k7"), "{fixture}");
    assert!(!place.path("fixtures/a-denial-goes-to-people.yaml").exists());
    assert_eq!(place.run(&["check"]).exits(0).out, "3 runs: 3 as accepted\n");
    place.run(&["lint"]).exits(0);
    assert!(place.run(&["replay", "trace.jsonl"]).exits(0).out.contains("policy_denied"));
}

#[test]
fn fields_of_a_trace_that_are_not_known_are_counted_because_they_may_hide_failures() {
    let place = Place::new();
    place.write("trace.jsonl", &OWN.replace("\"error\":{", "\"failure\":{").replace("\"error\"", "\"ok\""));
    let page = place.run(&["init", "--from", "trace.jsonl"]).exits(0).out;
    let said = "trace.jsonl: 2 calls, 0 failed\n  2 unknown fields are not read, which may hide failures: `playproof replay` names the first\n";
    assert!(page.starts_with(said), "{page}");
    assert!(place.run(&["replay", "trace.jsonl"]).exits(0).out.contains("unknown field `failure`"));
}

#[test]
fn a_failure_that_no_rule_knows_is_left_to_mining() {
    let place = Place::new();
    let (_, odd) = OWN.split_at(OWN.match_indices('\n').nth(1).expect("four lines").0 + 1);
    place.write("trace.jsonl", odd);
    place.run(&["init", "--from", "trace.jsonl"]).exits(0);
    assert!(place.path("fixtures/a-denial-goes-to-people.yaml").exists());
    assert!(place.run(&["propose", "find", "trace.jsonl"]).exits(0).out.contains("what is this"));
}

#[test]
fn recordings_of_known_formats_need_no_mapping() {
    for sample in ["tau2-bench.json", "tau-bench.json", "openai-chat.json", "openai-conversations.jsonl"] {
        let place = Place::new();
        place.copy(&format!("tests/samples/{sample}"), sample);
        place.run(&["init", "--from", sample]).exits(0);
        assert!(!place.path("mappings").exists(), "{sample}");
        let stem = sample.split('.').next().expect("a name");
        assert!(place.path(&format!("tools/{stem}.yaml")).exists(), "{sample}");
        place.run(&["check"]).exits(0);
        assert!(place.run(&["replay", sample]).code < 2, "{sample}");
    }
}

#[test]
fn a_log_of_the_user_s_own_gets_a_mapping_that_reads_it() {
    let place = Place::new();
    place.copy("docs/examples/my-log.jsonl", "gateway.log");
    let page = place.run(&["init", "--from", "gateway.log"]).exits(0).out;
    assert!(page.starts_with("gateway.log: 9 calls, 6 failed, read by `mappings/gateway.yaml`\n"), "{page}");
    assert!(page.contains("  playproof replay gateway.log --map mappings/gateway.yaml "), "{page}");
    assert!(place.read("mappings/gateway.yaml").contains("# guessed: confirm"));
    let replayed = place.run(&["replay", "gateway.log", "--map", "mappings/gateway.yaml"]);
    assert!(replayed.code < 2 && replayed.out.contains("9 calls, 12 results"), "{}", replayed.out);
    place.run(&["propose", "find", "gateway.log", "--map", "mappings/gateway.yaml"]).exits(0);
}

#[test]
fn the_only_drafted_mapping_is_that_of_the_project_and_other_recordings_are_read_without_it() {
    let place = Place::new();
    place.copy("docs/examples/my-log.jsonl", "gateway.log");
    place.write("trace.jsonl", OWN);
    place.run(&["init", "--from", "gateway.log"]).exits(0);
    assert!(place.read("playproof.yaml").contains("\nmap: mappings/gateway.yaml # "));
    let replayed = place.run(&["replay", "gateway.log"]);
    assert!(replayed.code < 2 && replayed.out.contains("9 calls, 12 results"), "{}{}", replayed.out, replayed.err);
    assert!(place.run(&["replay", "trace.jsonl"]).code < 2);
}

#[test]
fn logs_of_one_form_share_a_mapping_and_others_get_their_own() {
    let place = Place::new();
    place.copy("docs/examples/my-log.jsonl", "monday.log");
    place.copy("docs/examples/my-log.jsonl", "tuesday.log");
    place.write("other/monday.log", "{\"action\":\"pay\",\"params\":{},\"success\":false}\n");
    let froms = ["init", "--from", "monday.log", "--from", "tuesday.log", "--from", "other/monday.log"];
    let page = place.run(&froms).exits(0).out;
    assert!(page.contains("tuesday.log: 9 calls, 6 failed, read by `mappings/monday.yaml`"), "{page}");
    assert!(page.contains("other/monday.log: 1 call, 1 failed, read by `mappings/monday-2.yaml`"), "{page}");
    assert!(!place.read("playproof.yaml").contains("\nmap:"), "people know which of two it is");
    let facts = place.read("tools/monday.yaml");
    assert!(facts.contains("pay: { access: write }") && facts.contains("(4 calls, 0 failed)"), "{facts}");
}

#[test]
fn the_next_commands_find_the_trace_from_the_project_s_folder() {
    let place = Place::new();
    place.write("trace.jsonl", OWN);
    let page = place.run(&["init", "a/b", "--from", "trace.jsonl"]).exits(0).out;
    let command = page.lines().find_map(|line| line.trim().strip_prefix("playproof replay ")).expect("a command");
    let trace = command.split_whitespace().next().expect("a trace");
    assert_eq!(trace, "../../trace.jsonl");
    place.run_below("a/b", &["replay", trace]).exits(0);
}

#[test]
fn what_cannot_be_drawn_from_is_refused_and_nothing_is_written() {
    let place = Place::new();
    place.write("empty.jsonl", "\n");
    place.write("no-tool.jsonl", "{\"level\":\"info\",\"text\":\"hello\"}\n");
    place.write("no-end.jsonl", "{\"tool\":\"pay\",\"took_ms\":3}\n");
    place.write("broken.jsonl", "{\"tool\":\"pay\",\"status\":\"ok\"}\n{\"tool\":\n");
    place.write("text.log", "hello\n");
    place.write("calls.yaml", "x: 1\n");
    place.write("ends.jsonl", "{\"type\":\"run_end\",\"run_id\":\"r\"}\n");
    let before = place.everything();
    for (from, said) in [
        ("missing.jsonl", "missing.jsonl: no such file"),
        ("empty.jsonl", "empty.jsonl: it is empty"),
        ("ends.jsonl", "ends.jsonl: it holds no calls"),
        ("no-tool.jsonl", "no field of it looks like the tool's name"),
        ("no-end.jsonl", "no field of it looks like whether a call failed"),
        ("broken.jsonl", "broken.jsonl:2"),
        ("text.log", "text.log:1:1"),
        ("calls.yaml", "`calls.yaml` is no recording"),
        ("-", "`--from` wants a file"),
        (".", "./broken.jsonl:2"),
        ("*.csv", "*.csv: no file matches"),
    ] {
        let ran = place.run(&["init", "project", "--from", from]).exits(2);
        let words: Vec<&str> = ran.err.split_whitespace().filter(|word| *word != "│").collect();
        assert!(words.join(" ").contains(said) && ran.err.contains("next: "), "{from}: {}", ran.err);
        assert_eq!(place.everything(), before, "{from}");
    }
    let fields = place.run(&["init", "--from", "no-tool.jsonl"]).exits(2).err;
    assert!(fields.contains("its rows have `level`, `text`"), "{fields}");
}

#[test]
fn a_draft_that_misses_the_failures_is_inconclusive_and_nothing_is_written() {
    let place = Place::new();
    let row = |result: &str| {
        format!(
            "{{\"event\":\"done\",\"name\":\"find_user\",\"input\":{{\"a\":1}},\"output\":\"{result}\",\"ok\":true}}\n"
        )
    };
    let (good, bad) = (row("Ann"), row("User not found"));
    place.write("missed.log", &(good.repeat(4) + &bad));
    place.write("few.log", &(good.repeat(5) + &bad));
    let before = place.everything();
    let ran = place.run(&["init", "project", "--from", "missed.log"]).exits(3);
    assert!(ran.err.contains("1 of 5 results look like one") && ran.err.contains("next: "), "{}", ran.err);
    assert_eq!(place.everything(), before);
    place.run(&["init", "project", "--from", "few.log"]).exits(0);
}

#[test]
fn a_mapping_that_is_there_already_reads_the_log_and_stays_where_it_is() {
    let place = Place::new();
    place.write("gw.log", "{\"t\":\"pay\",\"ok\":false,\"why\":\"declined\"}\n");
    place.write(
        "my map.yaml",
        "format: mapping/1\ncall: { tool: t }\nresult: { message: why }\nfailed: { ok: false }\n",
    );
    let page = place.run(&["init", "sub", "--from", "gw.log", "--map", "my map.yaml"]).exits(0).out;
    assert!(page.starts_with("gw.log: 1 call, 1 failed, read by `my map.yaml`\n"), "{page}");
    assert!(page.contains("  playproof replay ../gw.log --map '../my map.yaml'  "), "{page}");
    assert!(!place.path("sub/mappings").exists() && place.path("sub/tools/gw.yaml").exists());
    place.run_below("sub", &["replay", "../gw.log", "--map", "../my map.yaml"]).exits(0);
    place.run(&["init", "other", "--from", "-", "--map", "my map.yaml"]).exits(2);
    place.run(&["init", "other", "--map", "my map.yaml"]).exits(2);
    assert!(!place.path("other").exists());
}

#[test]
fn the_log_of_a_gateway_with_events_for_begin_and_end_is_read_at_the_first_try() {
    let place = Place::new();
    place.copy("tests/samples/gateway-events.jsonl", "gateway.jsonl");
    let page = place.run(&["init", "--from", "gateway.jsonl"]).exits(0).out;
    assert!(page.starts_with("gateway.jsonl: 25 calls, "), "{page}");
    let replayed = place.run(&["replay", "gateway.jsonl", "--format", "json"]);
    assert!(replayed.code < 2, "{}", replayed.err);
    let replayed: serde_json::Value = serde_json::from_str(&replayed.out).expect("JSON");
    assert_eq!(replayed["playbooks"][0]["failed_attempts"], 18);
    // Of its failures, the one that nobody answered and no key guards is the most dangerous.
    let fixture = place.everything().into_keys().find(|name| name.starts_with("fixtures/refund-create-meets-"));
    let fixture = place.read(&fixture.expect("a fixture"));
    assert!(fixture.contains("timeout") && !fixture.contains("idempotency_key"), "{fixture}");
}
