//! What a foreign recording shows as it is shows also once imported, and places are those of the user's own file,
//! whatever it had to be turned into to be read.

use crate::cli::Place;

/// A tau2-bench results file: an answered call, and one that failed, in messages of their own.
fn results() -> serde_json::Value {
    let call = |id: &str, tool: &str| serde_json::json!({ "id": id, "name": tool, "arguments": {} });
    let made = |calls: Vec<serde_json::Value>| serde_json::json!({ "role": "assistant", "tool_calls": calls });
    let answer =
        |id: &str, error: bool| serde_json::json!({ "role": "tool", "id": id, "content": "x", "error": error });
    let messages = vec![
        made(vec![call("a", "look")]),
        answer("a", false),
        made(vec![call("b", "book"), call("c", "pay")]),
        answer("b", false),
        answer("c", true),
    ];
    serde_json::json!({ "info": {}, "simulations": [{ "task_id": "7", "trial": 0, "messages": messages }] })
}

const PATH: &str = "simulations[0].messages[2].tool_calls[1]";

/// The line of a text on which what follows begins.
fn line_of(text: &str, what: &str) -> usize {
    let (before, _) = text.split_once(what).expect("it is there");
    before.trim_end().matches('\n').count() + 2
}

#[test]
fn a_call_of_a_foreign_document_stands_in_the_line_that_an_editor_shows() {
    let place = Place::new();
    let text = serde_json::to_string_pretty(&results()).expect("JSON");
    // Keys are sorted: `arguments` is the first of a call, behind the line of its brace.
    let line = line_of(&text, "\"arguments\": {},\n              \"id\": \"c\"") - 1;
    assert_eq!(text.lines().nth(line - 1).map(str::trim), Some("{"), "{text}");
    place.write("results.json", &text);
    let named = format!("results.json:{line}");
    let run = place.run(&["replay", "results.json"]);
    assert!(run.out.contains(&format!("{named}\n")), "{}", run.out);
    let one = place.run(&["replay", "results.json", "--call", &named, "--format", "jsonl"]);
    assert!(one.out.contains(&format!("\"line\":{line},\"tool\":\"pay\"")), "{}{}", one.out, one.err);
    let page = place.run(&["explain", "results.json", &named]);
    assert!(page.code == 0 && page.out.contains(&named), "{}{}", page.out, page.err);
    let none = place.run(&["replay", "results.json", "--call", "results.json:1"]);
    assert_eq!((none.code, none.err.contains("there is no call `results.json:1`")), (2, true), "{}", none.err);
}

#[test]
fn where_a_line_holds_several_calls_the_path_in_the_document_follows_it() {
    let place = Place::new();
    place.write("results.json", results().to_string());
    let named = format!("results.json:1, {PATH}");
    let run = place.run(&["replay", "results.json"]);
    assert!(run.out.contains(&named) || run.out.replace("\n   ", " ").contains(&named), "{}", run.out);
    let one = place.run(&["replay", "results.json", "--call", &named, "--format", "jsonl"]);
    assert!(one.out.contains(&format!("\"line\":1,\"path\":\"{PATH}\",\"tool\":\"pay\"")), "{}{}", one.out, one.err);
    assert!(!one.out.contains("\"tool\":\"book\""), "{}", one.out);
    let all = place.run(&["replay", "results.json", "--call", "results.json:1"]);
    assert!(all.err.contains("is the name of 3 calls: ") && all.err.contains(&named), "{}", all.err);
    let page = place.run(&["explain", "results.json", &named]);
    assert!(page.code == 0 && page.out.contains(PATH), "{}{}", page.out, page.err);
}

#[test]
fn a_row_of_a_mapped_log_stands_in_its_line_and_standard_input_has_lines_too() {
    let place = Place::new();
    let row = |id: u32, ok: bool| format!("{{\"id\":{id},\"tool\":\"pay\",\"ok\":{ok}}}\n");
    let log = format!("{}\n\n{}", row(1, true), row(2, false));
    place.write("our.log", &log);
    place.write(
        "map.yaml",
        "format: mapping/1\ncall: { id: id, tool: tool }\nresult: { body: ok }\nfailed: [{ ok: false }]\n",
    );
    for (input, name) in [("our.log", "our.log:4"), ("-", "<stdin>:4")] {
        let run = place.run_with(&["replay", input, "--map", "map.yaml"], &log);
        assert!(run.out.contains(&format!("{name}\n")), "{}{}", run.out, run.err);
        let call = format!("{input}:4");
        let one = place.run_with(&["explain", input, "--map", "map.yaml", "--", &call], &log);
        assert!(one.code == 0 && one.out.contains(name), "{}{}", one.out, one.err);
    }
}

#[test]
fn the_line_of_a_result_tells_its_call_too() {
    let place = Place::with_trace();
    for (line, call) in [(1, "r1#1"), (2, "r1#1"), (3, "r1#1"), (5, "r1#2"), (8, "r2#1")] {
        let named = format!("trace.jsonl:{line}");
        let page = place.run(&["explain", "trace.jsonl", &named]).exits(0);
        let one = place.run(&["replay", "trace.jsonl", "--call", &named]);
        assert!(page.out.contains(call) && one.out.contains(call), "{named}: {}{}", page.out, one.out);
        assert!(one.out.contains("1 call; the most serious first"), "{named}: {}", one.out);
    }
    let none = place.run(&["explain", "trace.jsonl", "trace.jsonl:9"]).exits(2);
    assert!(none.err.contains("there is no call `trace.jsonl:9`"), "{}", none.err);
    place.write("results.json", serde_json::to_string_pretty(&results()).expect("JSON"));
    let text = place.read("results.json");
    let line = text.lines().position(|line| line.contains("\"error\": true")).expect("a result") - 1;
    let page = place.run(&["explain", "results.json", &format!("results.json:{line}")]).exits(0);
    assert!(page.out.contains("1. pay "), "{}", page.out);
}

/// The lines of a page that speak of no file.
fn without_places(page: &str, input: &str) -> Vec<String> {
    let name = format!("{input}:");
    let lines = page.lines().filter(|line| !line.starts_with(input) && !line.starts_with("next: "));
    let lines = lines.map(|line| line.find(&name).map_or(line, |at| &line[..at]).trim_end().to_owned());
    lines.filter(|line| !line.is_empty()).collect() // a place may stand in a line of its own
}

#[test]
fn an_imported_trace_replays_as_the_recording_itself_and_knows_what_that_could_not_tell() {
    let place = Place::new();
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    for name in ["openai-chat.json", "openai-conversations.jsonl", "tau-bench.json", "tau2-bench.json"] {
        place.write(name, std::fs::read(samples.join(name)).expect("a sample"));
        let import = place.run(&["formats", "convert", name, "-o", "trace.jsonl", "--replace"]);
        assert_eq!(import.code, 0, "{}", import.err);
        let (theirs, ours) = (place.run(&["replay", name, "--all"]), place.run(&["replay", "trace.jsonl", "--all"]));
        let skip_account = |page: &str, input: &str| {
            let (_, account) = page.split_once(&format!("\n\n{input}")).expect("the account of the input");
            without_places(account.split_once("\n\n").map_or("", |(_, rest)| rest), input)
        };
        assert_eq!(skip_account(&theirs.out, name), skip_account(&ours.out, "trace.jsonl"), "{name}");
        assert!(!ours.out.contains("unknown field"), "{}", ours.out);
        let reads_text = name != "tau2-bench.json";
        assert_eq!(ours.out.contains("status read from the text"), reads_text, "{}", ours.out);
        let json = |input: &str| {
            let run = place.run(&["replay", input, "--format", "json", "--all"]);
            let mut document: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
            let account = document["inputs"][0].as_object_mut().expect("an input");
            for key in ["name", "read_as", "odd_in_the_source"] {
                account.remove(key);
            }
            for run in document["recorded"]["unsettled_runs"]["first"].as_array_mut().into_iter().flatten() {
                run.as_object_mut().expect("a run").remove("place");
            }
            for call in document["calls"].as_array_mut().expect("calls") {
                for run in call["runs"].as_array_mut().expect("runs") {
                    for key in ["input", "line", "path"] {
                        run.as_object_mut().expect("a run").remove(key);
                    }
                }
            }
            (document, run.code)
        };
        assert_eq!(json(name), json("trace.jsonl"), "{name}");
        let (theirs, ours) = (["explain", name], ["explain", "trace.jsonl"]);
        let call = place.run(&["replay", name, "--format", "jsonl"]).out;
        let call: serde_json::Value = call
            .lines()
            .find(|line| line.contains("\"ref\""))
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .expect("a call");
        let call = call["ref"].as_str().expect("a reference").to_owned();
        let explained = |words: [&str; 2]| without_places(&place.run(&[&words[..], &[&call]].concat()).out, words[1]);
        assert_eq!(explained(theirs), explained(ours), "{name}");
    }
}

#[test]
fn a_row_of_a_mapped_log_that_stands_twice_is_a_duplicate_and_one_that_differs_is_an_attempt() {
    let place = Place::new();
    place.write(
        "map.yaml",
        "format: mapping/1\ncall: { where: { e: call }, id: id, tool: tool }\nresult: { where: { e: end }, id: id, body: said }\nfailed: [{ e: end }]\n",
    );
    let (call, end) = (r#"{"e":"call","id":1,"tool":"pay"}"#, r#"{"e":"end","id":1,"said":"no","at":5}"#);
    let other = end.replace(":5", ":6");
    place.write("twice.log", [call, end, end].join("\n"));
    place.write("again.log", [call, end, &other].join("\n"));
    for (log, duplicates, attempts) in [("twice.log", 1, 1), ("again.log", 0, 2)] {
        let run = place.run(&["replay", log, "--map", "map.yaml", "--format", "json"]);
        let document: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
        let found = (&document["inputs"][0]["duplicates"], &document["playbooks"][0]["upstream_calls_recorded"]);
        assert_eq!(found, (&serde_json::json!(duplicates), &serde_json::json!(attempts)), "{log}");
        place.run(&["formats", "convert", log, "--map", "map.yaml", "-o", "trace.jsonl"]);
        let imported = place.run(&["replay", "trace.jsonl"]);
        assert_eq!(imported.out.contains("1 duplicate result"), duplicates == 1, "{}", imported.out);
    }
}

/// The window of writes that are compared holds 65,536 of them.
#[test]
fn a_denial_that_makes_room_for_itself_is_still_known() {
    let line = |n: usize, args: usize, run: &str, failed: bool| {
        let status = if failed {
            r#""status":"error","error":{"kind":"403_forbidden","message":"denied"}"#
        } else {
            r#""status":"ok""#
        };
        format!(r#"{{"type":"tool_call","call_id":"c{n}"{run},"tool":"pay","args":{{"a":{args}}},{status}}}"#) + "\n"
    };
    for others in [65_534, 65_535, 65_536] {
        let place = Place::new();
        let mut trace = line(0, 0, "", true);
        trace.extend((1..=others).map(|n| line(n, n, r#","run_id":"r""#, false)));
        trace += &line(others + 1, 0, "", true);
        trace += &line(others + 2, 0, r#","run_id":"r2""#, false);
        place.write("t.jsonl", trace);
        let run = place.run(&["replay", "t.jsonl", "--format", "json"]);
        assert!(run.out.contains("retried_after_denial"), "{others}");
    }
}
