//! `confirm`: what is asked of a log, the answers of the command line, and where they go.

use super::Place;

/// A search that worked, and a refund and a lookup that failed.
const LOG: &str = "{\"run_id\":\"r\",\"tool\":\"search.web\",\"args\":{},\"status\":\"ok\"}\n\
    {\"run_id\":\"r\",\"tool\":\"search.docs\",\"args\":{},\"status\":\"ok\"}\n\
    {\"run_id\":\"r\",\"tool\":\"payments.issue_refund\",\"args\":{},\"status\":\"error\",\"error\":{\"kind\":\"timeout\"}}\n";

/// A chat in which a tool is called once, with its answer.
fn chat(answer: &str) -> String {
    let answer = serde_json::Value::from(answer);
    format!(
        r#"{{"messages":[{{"role":"assistant","tool_calls":[{{"id":"1","type":"function","function":{{"name":"load_shelf","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"1","content":{answer}}}]}}"#
    ) + "\n"
}

fn place() -> Place {
    let place = Place::new();
    place.write("t.jsonl", LOG);
    place
}

#[test]
fn without_a_terminal_the_guesses_are_listed_worst_first_with_the_command_that_answers_them() {
    let place = place();
    let ran = place.run(&["confirm", "t.jsonl"]).exits(2);
    let tools: Vec<&str> = ran.out.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(tools, ["payments.issue_refund", "search.docs", "search.web"]);
    let twin = "next: playproof confirm t.jsonl --read 'search.*' --write payments.issue_refund\n";
    assert!(ran.err.contains("3 guesses wait for an answer") && ran.err.ends_with(twin), "{}", ran.err);
    assert!(!place.path().join("tools.yaml").exists());
    let args = ["confirm", "t.jsonl", "--read", "search.*", "--write", "payments.issue_refund"];
    let said = place.run(&args).exits(0).out;
    let found = "\n\n3 calls were read, of which 1 failed at least once. The recording shows no harm";
    assert!(said.contains("confirmed search.web: reads\n") && said.contains(found), "{said}");
    assert!(said.ends_with("next: playproof replay t.jsonl --tools tools.yaml\n"), "{said}");
    let facts = place.read("tools.yaml");
    assert!(!facts.contains("# guessed: confirm"), "{facts}");
    assert!(place.run(&["confirm", "t.jsonl"]).exits(0).out.contains("nothing to confirm"), "it is asked once");
}

#[test]
fn what_is_not_answered_stays_a_guess_and_is_asked_again() {
    let place = place();
    let ran = place.run(&["confirm", "t.jsonl", "--idempotent", "payments.**"]).exits(1);
    assert!(ran.out.contains("2 guesses are left\nnext: playproof confirm t.jsonl --read 'search.*'"), "{}", ran.out);
    let facts = place.read("tools.yaml");
    assert!(facts.contains("payments.issue_refund: { access: write, idempotent: true }\n"), "{facts}");
    assert_eq!(facts.matches("} # guessed: confirm").count() + facts.matches("}   ").count(), 2, "{facts}");
    place.run(&["confirm", "t.jsonl", "--guessed"]).exits(0);
    assert!(!place.read("tools.yaml").contains("# guessed: confirm ("));
}

#[test]
fn answers_that_contradict_each_other_or_name_nothing_change_nothing() {
    let place = place();
    let twice = place.run(&["confirm", "t.jsonl", "--read", "search.*", "--write", "**"]).exits(2).err;
    assert!(twice.contains("is answered twice: reads, and writes"), "{twice}");
    let none = place.run(&["confirm", "t.jsonl", "--read", "serch.*"]).exits(2).err;
    assert!(none.contains("no guess has a name like `serch.*`\n  help: did you mean `search.*`?"), "{none}");
    assert!(none.ends_with("next: playproof confirm t.jsonl --read 'search.*'\n"), "{none}");
    let none = place.run(&["confirm", "t.jsonl", "--write", "zzz"]).exits(2).err;
    assert!(none.contains("a guess is a tool that no tool facts declare"), "{none}");
    assert!(!place.path().join("tools.yaml").exists());
    let nowhere = place.run(&["confirm"]).exits(2).err;
    assert!(nowhere.contains("names no tool facts file") && nowhere.ends_with("confirm LOG\n"), "{nowhere}");
}

#[test]
fn a_whole_name_says_more_than_a_pattern() {
    let place = place();
    let ran = place.run(&["confirm", "t.jsonl", "--read", "search.docs", "--write", "**"]).exits(0).out;
    for said in ["search.docs: reads", "search.web: writes", "payments.issue_refund: writes"] {
        assert!(ran.contains(said), "{said}: {ran}");
    }
}

#[test]
fn the_file_that_a_project_names_keeps_what_it_says_and_gets_the_missing_rows() {
    let place = place();
    place.write("t.jsonl", LOG.replace("search", "wiki"));
    place.run(&["init"]).exits(0);
    place.write("facts.yaml", "# ours\nformat: tools/1\ntools:\n  wiki.web: { access: write } # sure\n");
    let project = place.read("playproof.yaml");
    let at = project.find("# tools:").expect("a line about tools");
    place.write("playproof.yaml", format!("{}tools: facts.yaml\n{}", &project[..at], &project[at..]).as_bytes());
    let ran = place.run(&["confirm", "t.jsonl"]).exits(2);
    assert!(ran.out.contains("wiki.docs") && !ran.out.contains("wiki.web"), "it is declared: {}", ran.out);
    place.run(&["confirm", "t.jsonl", "--guessed"]).exits(0);
    let facts = place.read("facts.yaml");
    assert!(facts.starts_with("# ours\nformat: tools/1\ntools:\n  wiki.web: { access: write } # sure\n"), "{facts}");
    assert!(facts.contains("\n  wiki.docs: { access: write }\n"), "{facts}");
    place.write("facts.yaml", "format: tools/1\ntools: { wiki.web: { access: write } }\n");
    let said = place.run(&["confirm", "t.jsonl", "--guessed"]).exits(2).err;
    assert!(said.contains("do not stand on lines of their own"), "{said}");
}

#[test]
fn results_that_only_suggest_a_failure_are_asked_once_and_decided_in_a_mapping() {
    let place = Place::new();
    place.write("chat.jsonl", chat("Lift 3 is not ready") + &chat("Lift 4 is not ready"));
    let ran = place.run(&["confirm", "chat.jsonl"]).exits(2);
    let first = ran.out.lines().next().unwrap_or_default();
    assert_eq!(first, "Lift <n> is not ready  2 results of load_shelf  guessed: failed, by its words", "{}", ran.out);
    assert!(ran.err.contains("--write load_shelf --failed 'Lift <n> is not ready'"), "{}", ran.err);
    let args = ["confirm", "chat.jsonl", "--guessed", "--ok", "Lift <n> is not ready"];
    assert!(place.run(&args).exits(2).err.contains("is answered twice"), "as guessed, and an answer");
    let args = ["confirm", "chat.jsonl", "--write", "load_shelf", "--failed", "Lift <n> is not ready"];
    let ran = place.run(&args).exits(0);
    let next = "next: playproof replay chat.jsonl --tools tools.yaml --map mapping.yaml\n";
    assert!(ran.out.ends_with(next), "{}", ran.out);
    assert!(place.read("mapping.yaml").contains("failed:\n  - { message: { contains: is not ready } }\n"));
    for map in [&["--map", "mapping.yaml"][..], &[]] {
        let said = place.run(&[&["confirm", "chat.jsonl"], map].concat()).exits(0).out;
        assert!(said.contains("nothing to confirm"), "it is asked once: {said}");
    }
    place.run(&["confirm", "chat.jsonl", "--map", "two.yaml", "--guessed"]).exits(2);
    place.write("two.yaml", "format: mapping/1\nnot_failed: { message: { starts_with: Shelf } }\n");
    let args = ["confirm", "chat.jsonl", "--map", "two.yaml", "--unfinished", "Lift <n> is not ready"];
    place.run(&args).exits(0);
    place.run(&["confirm", "chat.jsonl", "--map", "two.yaml"]).exits(0);
}

#[test]
fn programs_that_answer_at_once_lose_no_answer() {
    const ANSWERS: [[&str; 2]; 3] =
        [["--read", "search.web"], ["--read", "search.docs"], ["--write", "payments.issue_refund"]];
    for _ in 0..4 {
        let place = place();
        place.run(&["init"]).exits(0);
        place.write("playproof.yaml", place.read("playproof.yaml") + "tools: facts.yaml\n");
        place.write("facts.yaml", "format: tools/1\ntools:\n  other: { access: read }\n");
        let answer = |answer: [&str; 2]| place.run(&[&["confirm", "t.jsonl"], &answer[..]].concat()).code;
        let codes = std::thread::scope(|scope| {
            ANSWERS.map(|one| scope.spawn(move || answer(one))).map(|each| each.join().expect("it ends"))
        });
        let facts = place.read("facts.yaml");
        for ([_, tool], code) in ANSWERS.iter().zip(codes) {
            assert_eq!(facts.contains(tool), code != 2, "{tool} ended with {code}: {facts}");
        }
    }
}

#[test]
fn an_answer_about_a_template_decides_results_of_this_template_alone() {
    let json = r#"{"status":"pending"}"#;
    for (answer, doubt, result) in
        [("--unfinished", "unfinished", json), ("--failed", "", "pending"), ("--ok", "", "pending")]
    {
        let place = Place::new();
        let others = chat("3 pending orders: a, b, c") + &chat("Sent. No pending mails remain.");
        place.write("chat.jsonl", chat(result) + &others);
        place.run(&["confirm", "chat.jsonl", "--write", "load_shelf", answer, "pending"]).exits(0);
        let said = place.run(&["confirm", "chat.jsonl"]).exits(0).out;
        assert!(said.contains("nothing to confirm"), "{answer}: {said}");
        let args = ["replay", "chat.jsonl", "--tools", "tools.yaml", "--map", "mapping.yaml", "--format", "json"];
        let report: serde_json::Value = serde_json::from_str(&place.run(&args).exits(0).out).expect("JSON");
        let failed = &report["playbooks"][0]["failed_calls"];
        assert_eq!(failed, u64::from(answer == "--failed"), "{answer}: {}", place.read("mapping.yaml"));
        let page = place.run(&[&args[..6], &["--stats"]].concat()).exits(0).out;
        let one = format!("doubt   {doubt}  ");
        assert_eq!(page.contains("unfinished"), !doubt.is_empty(), "{answer}: {page}");
        assert!(doubt.is_empty() || page.lines().any(|line| line.contains(&one) && line.ends_with(" 1")), "{page}");
    }
}

#[test]
fn answers_in_two_steps_end_as_answers_in_one_and_a_confirmed_guess_is_found_where_it_stands() {
    let place = Place::new();
    place.write("chat.jsonl", chat("Lift 3 is not ready"));
    place.run(&["confirm", "chat.jsonl", "--failed", "Lift <n> is not ready"]).exits(1);
    let ran = place.run(&["confirm", "chat.jsonl", "--write", "load_shelf"]).exits(0);
    let next = "next: playproof replay chat.jsonl --tools tools.yaml --map mapping.yaml\n";
    assert!(ran.out.ends_with(next), "{}", ran.out);
    let facts = place.read("tools.yaml");
    let line = facts.lines().position(|line| line.contains("load_shelf:")).expect("a row") + 1;
    let said = place.run(&["confirm", "chat.jsonl", "--read", "load_shelf"]).exits(2).err;
    assert!(said.contains(&format!("`load_shelf` is confirmed already, in tools.yaml:{line}\n")), "{said}");
    assert!(said.contains("edit it there"), "{said}");
    let said = place.run(&["confirm", "chat.jsonl", "--ok", "Lift <n> is not ready"]).exits(2).err;
    assert!(said.contains("is confirmed already, in mapping.yaml\n"), "{said}");
}

#[test]
fn init_names_what_was_confirmed_and_guesses_nothing_in_its_place() {
    for from in [&[][..], &["--from", "chat.jsonl"]] {
        let place = Place::new();
        place.write("chat.jsonl", chat("Lift 3 is not ready"));
        place.run(&["confirm", "chat.jsonl", "--read", "load_shelf", "--failed", "Lift <n> is not ready"]).exits(0);
        let facts = place.read("tools.yaml");
        place.run(&[&["init"], from].concat()).exits(0);
        let project = place.read("playproof.yaml");
        assert!(project.contains("\ntools: tools.yaml\n") && project.contains("\nmap: mapping.yaml #"), "{project}");
        assert_eq!(place.read("tools.yaml"), facts);
        assert!(!place.path().join("tools").exists(), "no second facts: {from:?}");
        assert!(place.run(&["confirm", "chat.jsonl"]).exits(0).out.contains("nothing to confirm"), "{from:?}");
    }
}
