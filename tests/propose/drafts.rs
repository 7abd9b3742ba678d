//! What `propose new` writes.

use crate::propose::project::{COPY, Project, record};

fn failed(n: u32, tool: &str, message: &str) -> String {
    format!(
        r#"{{"run_id":"r1","tool":"{tool}","idempotency_key":"s3cret-{n}","args":{{"card":{n},"token":"s3cret"}},"status":"error","error":{{"kind":"tool_error","message":"{message}"}}}}"#
    ) + "\n"
}

pub fn trace(project: &Project) {
    let lines: Vec<String> = (1..4)
        .map(|n| failed(n, "payments.charge", &format!("card {n} was declined")))
        .chain([failed(9, "payments.charge", "card 9 was not answered"), failed(7, "search", "no flags")])
        .collect();
    project.write("trace.jsonl", &lines.concat());
    project.write("playproof.yaml", "format: project/1\nplaybook: playbooks/ours.yaml\nredaction: { keys: [token] }\n");
}

/// Keeps a call, and gives its id.
fn kept(project: &Project, args: &[&str]) -> String {
    let ran = project.run(&[&["propose", "keep"], args].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.out.lines().find_map(|line| line.strip_prefix("kept as ")).expect("an id").to_owned()
}

#[test]
fn a_draft_from_a_form_has_its_rule_both_fixtures_and_the_evidence() {
    let project = Project::new();
    trace(&project);
    let new = ["propose", "new", "said_no", "--from-cluster", "1", "--trace", "trace.jsonl", "--effect", "not_applied"];
    let ran = project.run(&new);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("neither --then nor --like was given: the verdict escalates to `people`"), "{}", ran.out);
    let proposal = project.read(COPY);
    assert!(proposal.contains("was declined") && proposal.contains("verdict: said_no"), "{proposal}");
    let caught = project.read("proposals/said-no/fixtures/said-no.yaml");
    assert!(caught.contains("card 1 was declined") && caught.contains("verdicts: [said_no]"), "{caught}");
    assert!(!caught.contains("s3cret"), "{caught}");
    let spared = project.read("proposals/said-no/fixtures/not-said-no.yaml");
    assert!(
        spared.contains("card 9 was not answered") && spared.contains("call: { not_verdicts: [said_no] }"),
        "{spared}"
    );
    let adr = project.read("proposals/said-no/adr.md");
    assert!(adr.contains("3 of 5 failed attempts recorded in `trace.jsonl`"), "{adr}");
    assert_eq!(adr.matches("<!-- write this:").count(), 2, "{adr}");
    let (code, said) = project.refused(&["propose", "check"]);
    assert_eq!(code, 1);
    assert!(said.contains("adr incomplete:") && said.contains("unwritten:"), "{said}");
    assert!(!said.contains("catches nothing") && !said.contains("look alike"), "{said}");
}

#[test]
fn a_fixture_has_no_value_that_the_recorded_call_sent_unless_the_rule_asks_for_it() {
    let project = Project::new();
    let line = |order: &str, cents: u32, said: &str| {
        format!(
            r#"{{"tool":"pay","args":{{"order":"{order}","of":{{"cents":[{cents}]}}}},"evidence_refs":["ev-{order}"],"status":"error","error":{{"kind":"tool_error","message":"{said}"}}}}"#
        ) + "\n"
    };
    let trace = [
        line("tulip-17", 4711, "no seat for tulip-17 at 4711 cents"),
        line("rose-18", 4712, "no seat for rose-18 at 4712 cents"),
        line("aster-19", 4713, "rows of aster-19 are closed"),
    ];
    project.write("trace.jsonl", &trace.concat());
    let values = ["tulip-17", "rose-18", "aster-19", "4711", "4712", "4713"];
    let fixtures = |id: &str| {
        ["", "not-"].map(|prefix| project.read(&format!("proposals/{id}/fixtures/{prefix}{id}.yaml"))).concat()
    };
    let new = |verdict: &'static str| ["propose", "new", verdict, "--from-cluster", "1", "--trace", "trace.jsonl"];
    assert_eq!(project.run(&new("full")).code, 0);
    let written = fixtures("full");
    assert!(written.contains("args: { of: { cents: [1] }, order: text }"), "{written}");
    assert!(written.contains("message: no seat for text at 1 cents"), "{written}");
    for value in values {
        assert!(!written.contains(value), "{value}: {written}");
    }
    let id = kept(&project, &["trace.jsonl", "trace.jsonl:1", "--note", "No tulips.", "--expect", "tulips"]);
    let asks = ["propose", "new", "tulips", "--from", &id, "--when", "message: { contains: tulip-17 }"];
    let ran = project.run(&asks);
    assert_eq!(ran.code, 0, "{ran:?}");
    let written = fixtures("tulips");
    assert!(written.contains("message: no seat for tulip-17 at 4711 cents"), "{written}");
    assert!(written.contains("args: { of: { cents: [1] }, order: text }"), "{written}");
}

#[test]
fn a_draft_adds_the_queue_that_its_compensation_names_unless_it_is_probably_misspelt() {
    let project = Project::new();
    let new = |then: &'static str| ["propose", "new", "late", "--when", "kind: late", "--then", then];
    let (code, said) = project.refused(&new("{ escalate_to_human: { queue: peopel } }"));
    assert!(
        code == 2 && said.contains("no queue is called `peopel`") && said.contains("did you mean `people`?"),
        "{said}"
    );
    let waits = "{ retry_with_backoff: { backoff_ms: [9], on_unsafe: { escalate_to_human: { queue: night_shift } } } }";
    let ran = project.run(&new(waits));
    assert!(ran.code == 0 && ran.out.contains("it adds the queue `night_shift`, which --then names"), "{ran:?}");
    let proposal = project.read("proposals/late/playbook.yaml");
    assert!(proposal.contains("queues: [people, night_shift]\n"), "{proposal}");
    let known = project.run(&[
        "propose",
        "new",
        "later",
        "--when",
        "kind: later",
        "--then",
        "{ escalate_to_human: { queue: people } }",
    ]);
    assert!(
        known.code == 0 && project.read("proposals/later/playbook.yaml").contains("queues: [people]\n"),
        "{known:?}"
    );
}

#[test]
fn a_draft_takes_over_the_compensation_of_another_verdict() {
    let project = Project::new();
    let ran = project.run(&["propose", "new", "slower", "--when", "kind: [late, later]", "--like", "slow"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let proposal = project.read("proposals/slower/playbook.yaml");
    assert!(proposal.contains("then: { retry_with_backoff: { backoff_ms: [200] } }"), "{proposal}");
    assert!(proposal.contains("effect: unknown") && proposal.contains("when: { kind: [late, later] }"), "{proposal}");
}

#[test]
fn a_verdict_with_a_name_that_yaml_reads_as_something_else_is_drafted_all_the_same() {
    let project = Project::new();
    for (verdict, id) in [("null", "null"), ("1e3", "1e3"), ("True", "true"), ("_late", "late")] {
        let ran = project.run(&["propose", "new", verdict, "--when", "{ kind: late }", "--means", "Late."]);
        assert!(ran.code == 0 && ran.out.ends_with(&format!("next: playproof propose check {id}\n")), "{ran:?}");
        let ran = project.run(&["propose", "check", id]);
        assert!(ran.code == 1 && ran.out.contains(&format!("added    verdict {verdict}")), "{ran:?}");
        assert_eq!(project.run(&["reject", id, "--reason", "no"]).code, 0);
    }
}

#[test]
fn a_draft_without_a_rule_is_refused_by_check_until_it_is_written() {
    let project = Project::new();
    assert_eq!(project.run(&["propose", "new", "odd"]).code, 0);
    let (code, said) = project.refused(&["propose", "check", "odd"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("unwritten: line 13 of `proposals/odd/playbook.yaml` says `write this`"), "{said}");
}

#[test]
fn a_draft_of_what_is_there_already_or_cannot_be_is_refused() {
    let project = Project::with_proposal();
    let refused = |args: &[&str], part: &str| {
        let (code, said) = project.refused(args);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(part), "`{part}` in {said}");
    };
    refused(&["propose", "new", "slow"], "ours has the verdict `slow` already, and nothing of it would change");
    refused(&["propose", "new", "said_no"], "there is a proposal `said-no` already");
    refused(&["propose", "new", "../x"], "cannot be the name of a verdict");
    refused(&["propose", "new", "x", "--like", "slwo"], "did you mean `slow`?");
    refused(&["propose", "new", "x", "--when", "{ kind: "], "--when");
    refused(&["propose", "new", "x", "--when", "{ knd: a }"], "did you mean `kind`?");
    refused(&["propose", "new", "x", "--when", "{ knd: a }"], "[--when:1:3]");
    refused(&["propose", "new", "x", "--then", "{ escalate_to_human: { queue: peple } }"], "did you mean `people`?");
    refused(&["propose", "new", "x", "--playbook", "reversing"], "ships with Playproof and cannot be changed");
    trace(&project);
    let from = ["propose", "new", "x", "--from-cluster", "40", "--trace", "trace.jsonl"];
    refused(&from, "there is no cluster 40: 3 clusters were mined");
    refused(&from, "next: playproof propose find trace.jsonl");
    refused(&["propose", "new", "Too many!"], "next: playproof propose new too_many");
    let odd = ["propose", "new", "so bad", "--from-cluster", "1", "--trace", "a b.jsonl", "--map", "m.yaml"];
    refused(&odd, "next: playproof propose new so_bad --from-cluster 1 --trace 'a b.jsonl' --map m.yaml");
    refused(&["propose", "new", "x", "--from-cluster", "1", "--trace", "-"], "it is read twice");
    refused(
        &["propose", "new", "slow", "--then", "{ retry_with_backoff: { backoff_ms: [200] } }"],
        "nothing of it would",
    );
    project.write("calm.jsonl", "{\"tool\":\"search\",\"status\":\"ok\"}\n");
    refused(&["propose", "new", "x", "--from-cluster", "1", "--trace", "calm.jsonl"], "no recorded attempt failed");
    project.write("empty.jsonl", "");
    refused(&["propose", "new", "x", "--from-cluster", "1", "--trace", "empty.jsonl"], "next: playproof schema trace");
}

#[test]
fn a_draft_from_a_kept_call_has_its_rule_and_its_call() {
    let project = Project::new();
    trace(&project);
    let note = "Nobody can help a card that was declined.";
    let id = kept(&project, &["trace.jsonl", "r1#2", "--note", note, "--expect", "said_no"]);
    let new = project.run(&["propose", "new", "said_no", "--from", &id, "--effect", "not_applied"]);
    assert_eq!(new.code, 0, "{new:?}");
    let caught = project.read("proposals/said-no/fixtures/said-no.yaml");
    assert!(caught.contains("card 2 was declined") && caught.contains("verdicts: [said_no]"), "{caught}");
    let adr = project.read("proposals/said-no/adr.md");
    assert!(adr.contains("Nobody can help a card that was declined") && adr.contains("r1#2"), "{adr}");
    let (code, said) = project.refused(&["propose", "check"]);
    assert_eq!(code, 1, "{said}");
    let (code, said) = project.refused(&["propose", "new", "x", "--from", "none"]);
    assert_eq!(code, 2, "{said}");
}

#[test]
fn a_draft_from_the_second_of_two_failures_that_say_the_same_has_its_rule_and_its_kept_facts() {
    let project = Project::new();
    trace(&project);
    let again = failed(2, "payments.charge", "card 2 was declined");
    project.write("trace.jsonl", &(project.read("trace.jsonl") + &again));
    project.write("facts.yaml", "format: tools/1\ntools:\n  payments.charge: { access: read }\n");
    let keep = ["trace.jsonl", "r1#6", "--note", "No.", "--expect", "said_no", "--tools", "facts.yaml"];
    let id = kept(&project, &keep);
    let new = project.run(&["propose", "new", "said_no", "--from", &id, "--effect", "not_applied"]);
    assert_eq!(new.code, 0, "{new:?}");
    assert!(project.read(COPY).contains("was declined"));
    let caught = project.read("proposals/said-no/fixtures/said-no.yaml");
    assert!(caught.contains("access: read"), "{caught}");
}

#[test]
fn what_is_suggested_after_a_line_that_cannot_be_read_can_be_run() {
    let project = Project::new();
    trace(&project);
    project.write("trace.jsonl", &(project.read("trace.jsonl") + "{\"tool\": \n"));
    let new = ["propose", "new", "said_no", "--effect", "not_applied", "--from-cluster", "1", "--trace", "trace.jsonl"];
    let (code, said) = project.refused(&new);
    let next =
        "next: playproof propose new said_no --effect not_applied --from-cluster 1 --trace trace.jsonl --skip-invalid";
    assert!(code == 2 && said.contains(next), "{said}");
    let project = Project::with_proposal();
    project.write("trace.jsonl", "{\"tool\": \n");
    let ran = project.run(&["propose", "check", "said-no", "--corpus", "trace.jsonl"]);
    let next = "next: playproof propose check said-no --corpus trace.jsonl --skip-invalid";
    assert!(ran.code == 2 && ran.err.contains(next), "{ran:?}");
}

/// The title of a fixture, and what it expects of its call.
fn expects(project: &Project, fixture: &str) -> (String, String) {
    let text = project.read(&format!("proposals/{fixture}.yaml"));
    let line = |of: &str| text.lines().find(|line| line.trim_start().starts_with(of)).unwrap_or_default().to_owned();
    (line("title:"), text.lines().filter(|line| line.contains("verdicts:")).collect())
}

#[test]
fn a_look_alike_is_any_other_recorded_failure_where_none_is_near() {
    let project = Project::new();
    let odd = failed(1, "mail.send", "the letterbox is full");
    let late = r#"{"run_id":"r1","tool":"search","status":"error","error":{"kind":"timeout","message":"late"}}"#;
    let new = ["propose", "new", "said_no", "--effect", "not_applied", "--from-cluster", "1", "--trace", "trace.jsonl"];
    for (others, title) in [
        // What nobody knows goes before what is known, though that stands first.
        (format!("{late}\n{odd}"), "mail.send says: the letterbox is full"),
        (format!("{late}\n"), "search says: late"),
    ] {
        let lines: String = (1..9).map(|n| failed(n, "payments.charge", &format!("card {n} was declined"))).collect();
        project.write("trace.jsonl", &(lines + &others));
        let ran = project.run(&new);
        assert!(ran.code == 0 && !ran.out.contains("synthetic"), "{ran:?}");
        let (said, expected) = expects(&project, "said-no/fixtures/not-said-no");
        assert!(said.contains(title) && expected.contains("not_verdicts: [said_no]"), "{said} {expected}");
        assert_eq!(project.run(&["reject", "said-no", "--reason", "a try"]).code, 0);
    }
}

#[test]
fn a_look_alike_is_made_up_and_says_so_where_nothing_else_failed() {
    let project = Project::new();
    project.write("trace.jsonl", &failed(1, "payments.charge", "card 1 was declined"));
    let ran = project.run(&["propose", "new", "said_no", "--from-cluster", "1", "--trace", "trace.jsonl"]);
    assert!(ran.code == 0 && ran.out.contains("no other failure was recorded: the look-alike is synthetic"), "{ran:?}");
    let (title, _) = expects(&project, "said-no/fixtures/not-said-no");
    assert!(title.contains("write this - synthetic, because no other failure was recorded"), "{title}");
}

#[test]
fn a_verdict_that_is_there_gets_another_rule_with_both_fixtures() {
    let project = Project::new();
    trace(&project);
    let ran = project.run(&["propose", "new", "slow", "--from-cluster", "1", "--trace", "trace.jsonl"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("ours has the verdict `slow` already: this adds the rule"), "{}", ran.out);
    assert!(expects(&project, "slow-2/fixtures/slow-2").1.contains("verdicts: [slow"));
    assert!(expects(&project, "slow-2/fixtures/not-slow-2").0.contains("card 9 was not answered"));
    project.names_golden("slow-2", "ours/declined", "effect_changed");
    let (_, said) = project.refused(&["propose", "check"]);
    assert!(said.contains("1 row") && !said.contains("catches nothing:") && !said.contains("look alike"), "{said}");
    project.write("proposals/slow-2/adr.md", &record("Slow ones are sent again."));
    project.names_golden("slow-2", "ours/declined", "effect_changed");
    let accept = project.run(&["accept", "slow-2", "--reason", "they are slow too"]);
    assert_eq!((accept.code, project.run(&["check"]).code), (0, 0), "{accept:?}");
    assert_eq!(project.run(&["history", "verify"]).code, 0);
    // The next one has a number of its own.
    let ran = project.run(&["propose", "new", "slow", "--when", "{ kind: later }"]);
    assert!(ran.out.contains("wrote proposals/slow-3/playbook.yaml"), "{ran:?}");
}

#[test]
fn a_rule_for_a_verdict_wants_a_fixture_that_it_catches_and_one_that_it_spares() {
    let project = Project::new();
    assert_eq!(project.run(&["propose", "new", "slow", "--when", "{ kind: later }"]).code, 0);
    let caught = project.read("proposals/slow-2/fixtures/slow-2.yaml");
    let without = |file: &str| {
        std::fs::remove_file(project.path(&format!("proposals/slow-2/fixtures/{file}.yaml"))).unwrap();
        project.refused(&["propose", "check"]).1
    };
    without("slow-2-acted");
    let said = without("not-slow-2");
    assert!(said.contains("no look alike:") && !said.contains("catches nothing:"), "{said}");
    // A fixture that gets the verdict by another rule shows nothing of this one.
    project.write("proposals/slow-2/fixtures/slow-2.yaml", &caught.replace("kind: later", "kind: timeout"));
    let said = project.refused(&["propose", "check"]).1;
    assert!(said.contains("every fixture of the proposal with the verdict `slow` already gets it today"), "{said}");
    assert!(without("slow-2").contains("it catches nothing"));
    project.edit("proposals/slow-2/playbook.yaml", "kind: later", "kind: unheard");
    project.write(
        "proposals/slow-2/fixtures/odd.yaml",
        &caught.replace("verdicts: [slow]", "verdicts: [unclassified]").replace("kind: later", "kind: unheard"),
    );
    assert!(project.refused(&["propose", "check"]).1.contains("look alike caught: the look-alike `odd`"));
}

#[test]
fn a_verdict_that_is_there_gets_another_compensation() {
    let project = Project::new();
    let ran = project.run(&["propose", "new", "slow", "--like", "unclassified", "--effect", "not_applied"]);
    assert!(ran.code == 0 && ran.out.contains("this changes its `effect`, `then`"), "{ran:?}");
    let proposal = project.read("proposals/slow-2/playbook.yaml");
    let changed = "    effect: not_applied\n    then: { escalate_to_human: { queue: people } }\n";
    assert!(proposal.contains(changed) && !proposal.contains("- rule:"), "{proposal}");
    assert!(project.read("proposals/slow-2/adr.md").starts_with("# A change of the verdict `slow`\n"));
    assert!(!project.path("proposals/slow-2/fixtures/not-slow-2.yaml").exists(), "nothing could catch too much");
    let list = project.run(&["propose", "list"]);
    assert!(list.out.contains("slow-2    ours      slow"), "{}", list.out);
    let (_, said) = project.refused(&["propose", "check"]);
    assert!(said.contains("ours/slow-2  new fixture") && !said.contains("catches nothing"), "{said}");
}

#[test]
fn a_rule_for_failures_that_another_rule_catches_stands_before_it() {
    let project = Project::new();
    let late = r#"{"run_id":"r1","tool":"search","status":"error","error":{"kind":"timeout","message":"MESSAGE"}}"#;
    let lines: Vec<String> =
        ["the index is rebuilt", "no answer"].iter().map(|said| late.replace("MESSAGE", said) + "\n").collect();
    project.write("trace.jsonl", &lines.concat());
    let keep = |call, note, expect| kept(&project, &["trace.jsonl", call, "--note", note, "--expect", expect]);
    let id = keep("r1#1", "Waiting does not help.", "unclassified");
    keep("r1#2", "This one is another matter.", "no_answer");
    let next = format!("propose new unclassified --from {id}");
    let ran = project.run(&next.split(' ').collect::<Vec<_>>());
    assert_eq!(ran.code, 0, "{ran:?}");
    let proposal = project.read("proposals/unclassified-2/playbook.yaml");
    assert!(proposal.contains("verdict: unclassified\n  - { rule: timeout,"), "{proposal}");
    let (title, expected) = expects(&project, "unclassified-2/fixtures/not-unclassified-2");
    assert!(
        title.contains("search says: no answer") && expected.contains("not_verdicts: [unclassified]"),
        "{title} {expected}"
    );
    project.write("proposals/unclassified-2/adr.md", &record("People see it."));
    let accept = project.run(&["accept", "unclassified-2", "--reason", "people can help"]);
    assert_eq!(accept.code, 0, "{accept:?}");
    let check = project.run(&["check"]);
    let right = format!("handled right  kept/{id}: unclassified, by the rule the-index-is-rebuilt");
    assert!(check.out.contains(&right), "{}", check.out);
}

#[test]
fn a_draft_for_another_verdict_than_a_kept_call_expects_says_so() {
    let project = Project::new();
    trace(&project);
    let id = kept(&project, &["trace.jsonl", "r1#2", "--note", "Nobody can help.", "--expect", "said_no"]);
    let ran = project.run(&["propose", "new", "said_no", "--from", &id, "--trace", "trace.jsonl"]);
    assert!(ran.code == 0 && !ran.out.contains("expects"), "{ran:?}");
    let (title, _) = expects(&project, "said-no/fixtures/not-said-no");
    assert!(title.contains("card 9 was not answered"), "the trace has it, the slice has not: {title}");
    let ran = project.run(&["propose", "new", "other", "--from", &id]);
    let said = format!("{id} expects `said_no`, not `other`: accepting this does not answer it");
    assert!(ran.out.contains(&said), "{ran:?}");
}

#[test]
fn a_kept_call_of_a_log_that_needs_a_mapping_finds_its_look_alike_there() {
    let project = Project::new();
    for name in ["my-log.jsonl", "my-log.mapping.yaml"] {
        let from = format!("{}/docs/examples/{name}", env!("CARGO_MANIFEST_DIR"));
        project.write(name, &std::fs::read_to_string(from).expect("an example"));
    }
    let map = ["--map", "my-log.mapping.yaml"];
    let keep = ["my-log.jsonl", "agent-41#2", "--note", "It was done already.", "--expect", "done"];
    let id = kept(&project, &[&keep[..], &map].concat());
    let new = ["propose", "new", "done", "--from", &id, "--effect", "applied"];
    let alone = project.run(&new);
    assert!(alone.out.contains("`--trace FILE` may find a recorded one"), "{alone:?}");
    assert_eq!(project.run(&["reject", "done", "--reason", "a try"]).code, 0);
    let ran = project.run(&[&new[..], &["--trace", "my-log.jsonl"], &map].concat());
    assert!(ran.code == 0 && !ran.out.contains("synthetic"), "{ran:?}");
    let (title, expected) = expects(&project, "done/fixtures/not-done");
    assert!(!title.contains("write this") && expected.contains("not_verdicts: [done]"), "{title} {expected}");
}

#[test]
fn other_words_for_a_verdict_need_no_fixture() {
    let project = Project::new();
    assert_eq!(project.run(&["propose", "new", "slow", "--means", "Nobody answered in time."]).code, 0);
    assert!(!project.path("proposals/slow-2/fixtures").exists());
    project.write("proposals/slow-2/adr.md", &record("Nothing but the words."));
    let accept = project.run(&["accept", "slow-2", "--reason", "clearer"]);
    assert_eq!((accept.code, project.run(&["check"]).code), (0, 0), "{accept:?}");
    assert!(
        project.read(crate::propose::project::PLAYBOOK).contains("means: \"Nobody answered in time.\"   # who knows")
    );
    assert_eq!(project.run(&["propose", "new", "slow", "--like", "unclassified"]).code, 0);
    std::fs::remove_dir_all(project.path("proposals/slow-2/fixtures")).unwrap();
    project.edit("fixtures/slow.yaml", "timeout: {}", "ok: {}");
    let said = project.refused(&["propose", "check"]).1;
    assert!(said.contains("catches nothing: no fixture shows the change"), "{said}");
}

#[test]
fn a_form_that_a_verdict_did_not_help_gets_a_rule_before_that_verdict_s() {
    let project = Project::new();
    let answer = |n: u32| {
        format!(
            r#"{{"type":"tool_result","call_id":"a","attempt":{n},"status":"error","error":{{"status":504,"message":"the index is gone"}}}}"#
        ) + "\n"
    };
    let call = "{\"type\":\"tool_call\",\"call_id\":\"a\",\"tool\":\"search\",\"idempotency_key\":\"k\"}\n".to_owned();
    project.write("trace.jsonl", &(call + &answer(1) + &answer(2)));
    let page = project.run(&["propose", "find", "trace.jsonl"]);
    assert!(page.out.contains("if it goes before gateway"), "{}", page.out);
    let ran = project.run(&["propose", "new", "gone", "--from-cluster", "1", "--trace", "trace.jsonl"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(project.read("proposals/gone/playbook.yaml").contains("    verdict: gone\n  - { rule: gateway,"));
    let (_, said) = project.refused(&["propose", "check"]);
    assert!(!said.contains("catches nothing:") && !said.contains("new lint:"), "{said}");
    let ran = project.run(&["propose", "new", "slow", "--from-cluster", "1", "--trace", "trace.jsonl"]);
    let next = "next: playproof propose new slow --from-cluster 1 --trace trace.jsonl --then '{ ... }'";
    assert!(ran.code == 2 && ran.err.contains("gives it to these failures") && ran.err.contains(next), "{ran:?}");
}

#[test]
fn a_rule_that_earlier_ones_leave_nothing_to_stands_before_them() {
    let project = Project::new();
    let ran = project.run(&["propose", "new", "lost", "--when", "{ kind: timeout, tool: 'mail.*' }"]);
    assert!(ran.code == 0 && ran.out.contains("the rule goes before `timeout`"), "{ran:?}");
    assert!(project.read("proposals/lost/playbook.yaml").contains("    verdict: lost\n  - { rule: timeout,"));
    assert!(expects(&project, "lost/fixtures/lost").1.contains("verdicts: [lost"));
    let (_, said) = project.refused(&["propose", "check"]);
    assert!(!said.contains("catches nothing:") && !said.contains("new lint:"), "{said}");
    let ran = project.run(&["propose", "new", "other", "--when", "{ kind: reset }"]);
    assert!(
        !ran.out.contains("stands before")
            && project.read("proposals/other/playbook.yaml").contains("    verdict: other\n\notherwise:")
    );
}

#[test]
fn the_fixtures_of_a_playbook_with_a_graph_lead_to_their_call_or_say_that_nothing_does() {
    let project = Project::new();
    let coffee = std::fs::read_to_string(format!("{}/playbooks/coffee.yaml", env!("CARGO_MANIFEST_DIR")));
    project.write("playbooks/brew.yaml", &coffee.expect("a playbook").replace("name: coffee", "name: brew"));
    let failed = |tool: &str| {
        format!(
            r#"{{"run_id":"r1","tool":"{tool}","args":{{}},"status":"error","error":{{"kind":"odd","message":"out of beans"}}}}"#
        ) + "\n"
    };
    project.write("made.jsonl", &failed("kitchen.make"));
    project.write("other.jsonl", &failed("kitchen.clean"));
    let new = |verdict: &str, trace: &str| {
        let args = ["propose", "new", verdict, "-p", "brew", "--from-cluster", "1", "--trace", trace];
        project.run(&[&args[..], &["--effect", "not_applied"]].concat())
    };
    let made = new("out_of_beans", "made.jsonl");
    assert!(made.code == 0 && !made.out.contains("refuses"), "{made:?}");
    let fixture = project.read("proposals/out-of-beans/fixtures/out-of-beans.yaml");
    for part in ["step-1: {", "step-2: {", "tool: kitchen.make", "verdicts: [out_of_beans]"] {
        assert!(fixture.contains(part), "{part}: {fixture}");
    }
    let other = new("no_beans", "other.jsonl");
    assert!(other.out.contains("the graph of brew refuses `kitchen.clean`"), "{other:?}");
}

#[test]
fn a_failure_that_can_hide_an_effect_is_drafted_with_and_without_it_whatever_is_claimed() {
    let project = Project::new();
    let new = |verdict: &'static str, when: &'static str, effect: &'static str| {
        let then = "{ escalate_to_human: { queue: people } }";
        let ran = project.run(&["propose", "new", verdict, "--when", when, "--effect", effect, "--then", then]);
        assert_eq!(ran.code, 0, "{ran:?}");
    };
    for effect in ["not_applied", "applied", "unknown"] {
        new("odd", "{ kind: odd_words }", effect);
        let [nothing, acted] =
            ["odd", "odd-acted"].map(|name| project.read(&format!("proposals/odd/fixtures/{name}.yaml")));
        assert!(nothing.contains("applied: false") && nothing.contains("effects: 0"), "{nothing}");
        assert!(acted.contains("applied: true") && acted.contains("effects: 1"), "{acted}");
        let (_, said) = project.refused(&["propose", "check", "odd"]);
        assert_eq!(said.contains("untruthful_outcome"), effect != "unknown", "{effect}: {said}");
        assert_eq!(project.run(&["reject", "odd", "--reason", "tried"]).code, 0);
        std::fs::remove_dir_all(project.path("proposals/rejected")).expect("the rejected one goes");
    }
    new("refused", "{ status: 451 }", "not_applied");
    assert!(!project.path("proposals/refused/fixtures/refused-acted.yaml").exists(), "it can hide nothing");
}

#[test]
fn a_proposal_whose_own_fixture_shows_harm_is_refused_until_its_expect_names_it() {
    let doubles = ("{ retry_with_backoff: { backoff_ms: [100] } }", "duplicate_effect");
    for (then, finding) in [doubles, ("{ deprecate_tool_call: { reason: no } }", "untruthful_outcome")] {
        let project = Project::new();
        let new = ["propose", "new", "said_no", "--when", "{ kind: odd, keyed: false }", "--effect", "not_applied"];
        assert_eq!(project.run(&[&new[..], &["--then", then]].concat()).code, 0);
        let said = |args: &[&str]| project.refused(args).1.split_whitespace().collect::<Vec<_>>().join(" ");
        let objects = format!("`ours/said-no-acted` shows harm that its `expect` does not name: {finding}");
        let meant = format!("`findings: [{finding}]` to `expect` in proposals/said-no/fixtures/said-no-acted.yaml");
        for args in [&["propose", "check"][..], &["accept", "said-no", "--reason", "it is"]] {
            let said = said(args);
            assert!(said.contains(&objects) && said.contains(&meant), "{said}");
        }
        project.expects_harm("said-no-acted", finding);
        let said = said(&["propose", "check"]);
        assert!(!said.contains("contradiction:"), "{said}");
    }
}

#[test]
fn a_property_that_a_proposal_loses_needs_a_reason_in_its_record() {
    let project = Project::with_proposal();
    assert_eq!(project.run(&["propose", "check", "said-no"]).code, 0);
    project.edit(COPY, "clause: declined }", "clause: declined }, status: 500");
    let (_, said) = project.refused(&["propose", "check", "said-no"]);
    assert!(said.contains("property lost: `untruthful_outcome` is lost"), "{said}");
    assert!(said.contains("lost  untruthful_outcome"), "{said}");
    let adr = project.read("proposals/said-no/adr.md");
    project.write("proposals/said-no/adr.md", &format!("{adr}\n## Lost properties\n\nThe bank says so.\n"));
    let (_, said) = project.refused(&["propose", "check", "said-no"]);
    assert!(!said.contains("property lost"), "{said}");
}

#[test]
fn edited_rows_show_which_properties_they_break() {
    let project = Project::new();
    project.edit_first("playbooks/ours.yaml", "effect: unknown", "effect: not_applied");
    let check = project.run(&["check"]);
    assert!(check.out.contains("properties of ours") && check.out.contains("lost  "), "{}", check.out);
}
