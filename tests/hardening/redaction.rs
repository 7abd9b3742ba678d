//! Redaction: a secret in a trace reaches no output, wherever the trace holds it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::hardening::commands::all_commands;
use crate::place::{Place, Ran};

const REDACTION: &str = "redaction: { keys: [password], patterns: ['sk_live_[A-Za-z0-9]+', '\\b\\d{13,19}\\b'] }\n";

/// What no output may hold: what a pattern matches, a number that one matches, and what stands under a hidden key.
const SECRETS: [&str; 3] = ["sk_live_", "4111111111111111", "hush"];

/// Fields whose words decide how a source is read, and times: they hold no secret.
const STRUCTURE: [&str; 12] = [
    "type",
    "role",
    "requestor",
    "timestamp",
    "status",
    "status_from",
    "kind_from",
    "answers",
    "at",
    "ok",
    "attempt",
    "row",
];

/// A call and its result with every field that the schema knows.
fn native() -> Vec<Value> {
    let error = json!({"kind": "timeout", "message": "no answer", "code": "E", "status": 504, "retry_after_ms": 5,
        "should_retry": false, "retriable": true, "headers": {"retry-after": "soon", "x-a": ["1", "2"]}, "kind_from": "code"});
    vec![
        json!({"type": "tool_call", "run_id": "r", "call_id": "c", "tool": "pay", "at_ms": 0, "at": "2026-01-05T10:00:00Z",
            "args": {"order": "o"}, "idempotency_key": "k", "evidence_refs": ["e"], "reversal_token": "t", "timeout_ms": 9,
            "dispatcher_id": "d", "parent": "p", "step": "s", "source": "[0]", "answer_within_ms": 9, "transaction": "x"}),
        json!({"type": "tool_result", "run_id": "r", "call_id": "c", "tool": "pay", "attempt": 1, "started_ms": 0, "at_ms": 5,
            "status": "error", "error": error, "draw": 0.5, "status_from": "text", "answers": "attempt", "row": 7, "source": "[1]"}),
        json!({"run_id": "r2", "call_id": "c", "tool": "say", "args": {"order": 1}, "status": "error", "error": "odd"}),
        json!({"run_id": "r3", "tool": "pay", "args": {"order": "o"}, "status": "ok", "nobody_knows": "it"}),
    ]
}

/// The same with a secret in every text and in every object of arguments.
fn poisoned(value: &Value, key: &str) -> Value {
    match value {
        Value::String(text) if key == "arguments" => {
            let args: Value = serde_json::from_str(text).unwrap_or_default();
            Value::String(poisoned(&args, "args").to_string())
        }
        Value::String(text) if STRUCTURE.contains(&key) => Value::String(text.clone()),
        Value::String(text) => {
            let mark: String = text.chars().filter(char::is_ascii_alphanumeric).take(9).collect();
            Value::String(format!("{text} sk_live_{mark}"))
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| poisoned(item, key)).collect()),
        Value::Object(fields) => {
            let mut all: Map<String, Value> =
                fields.iter().map(|(key, value)| (key.clone(), poisoned(value, key))).collect();
            if matches!(key, "args" | "arguments") {
                let body = r#"{"password":"hush","deep":"{\"password\":\"hush\"}","u":"\u0073k_live_U"}"#;
                all.extend([
                    ("password".to_owned(), json!({"all": ["hush"]})),
                    ("sk_live_KEY".to_owned(), json!(1)),
                    ("sk_live_KEX".to_owned(), json!([4_111_111_111_111_111_u64, 4.111_111_111_111_111e15])),
                    ("body".to_owned(), json!(body)),
                    ("said".to_owned(), json!("{'password': 'hush'}")),
                ]);
            }
            Value::Object(all)
        }
        other => other.clone(),
    }
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn sample(name: &str) -> Value {
    let path = format!("{}/tests/samples/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    poisoned(&serde_json::from_str(&text).expect("JSON"), "")
}

/// A project that redacts, and its inputs, each with the flags that it is read with.
fn project() -> (Place, Vec<(&'static str, &'static [&'static str])>) {
    let place = Place::begun();
    place.write("playproof.yaml", &(place.read("playproof.yaml") + REDACTION));
    let mut native: Vec<Value> = native().iter().map(|line| poisoned(line, "")).collect();
    native.push(json!({"tool": "x", "sk_live_FIELD": 1, "error": {"sk_live_FIELD": 1}}));
    native.push(json!({"type": "sk_live_TYPE"}));
    native.push(json!({"tool": "x", "status": "error",
        "error": {"kind": "x", "message": r#"said {"a":1,"password":"hush"} and {"password": 17, "#}}));
    place.write("native.jsonl", &lines(&native));
    let row = |ok: bool| {
        json!({"t": "pay", "r": "r", "c": "c", "k": "k", "v": "t", "e": "e", "args": {"a": "b"}, "m": "m", "n": "n",
        "ok": ok, "deep": {"odd": "x"}})
    };
    place.write("mapped.jsonl", &lines(&[poisoned(&row(false), ""), poisoned(&row(true), "")]));
    place.write(
        "m.yaml",
        "format: mapping/1\nrun: r\ncall: { tool: t, id: c, key: k, token: v, evidence: e, args: args }\n\
         result: { id: c, message: m, code: n, kind: n }\nfailed: { ok: false }\n",
    );
    for (name, from) in [("chat", "openai-chat.json"), ("tau", "tau-bench.json"), ("tau2", "tau2-bench.json")] {
        place.write(&format!("{name}.json"), &sample(from).to_string());
    }
    let plain: &[&str] = &[];
    let mapped: &[&str] = &["--map", "m.yaml"];
    let inputs = vec![
        ("native.jsonl", plain),
        ("mapped.jsonl", mapped),
        ("chat.json", plain),
        ("tau.json", plain),
        ("tau2.json", plain),
    ];
    (place, inputs)
}

/// Commands that read a trace: `TRACE` is one, with the flags that it is read with.
const OF_A_TRACE: [&[&str]; 38] = [
    &["replay", "TRACE", "--all"],
    &["replay", "TRACE", "--all", "--skip-invalid"],
    &["replay", "TRACE", "--all", "--format", "json"],
    &["replay", "TRACE", "--all", "--format", "jsonl"],
    &["replay", "TRACE", "--all", "--format", "markdown"],
    &["replay", "TRACE", "--all", "--format", "markdown", "--show-args"],
    &["replay", "TRACE", "--all", "--join-resends"],
    &["replay", "TRACE", "--call", "nope"],
    &["replay", "TRACE", "--run", "nope"],
    &["explain", "TRACE"],
    &["explain", "TRACE", "nope"],
    &["explain", "TRACE", "FIRST"],
    &["propose", "find", "TRACE"],
    &["propose", "find", "TRACE", "--format", "json"],
    &["impact", "TRACE", "--candidate", "reversing"],
    &["impact", "TRACE", "--candidate", "reversing", "--format", "json"],
    &["impact", "TRACE", "--candidate", "reversing", "--format", "markdown"],
    &["confirm", "--draft", "TRACE"],
    &["confirm", "--draft", "TRACE", "-o", "tools.yaml"],
    &["formats", "convert", "TRACE"],
    &["formats", "convert", "TRACE", "-o", "imported.jsonl", "--replace"],
    &["propose", "keep", "TRACE", "FIRST", "--expect", "bad", "--note", "odd", "--new"],
    &["propose", "keep", "TRACE", "nope", "--expect", "odd_one", "--note", "odd"],
    &["propose", "new", "said_no", "--from-cluster", "1", "--trace", "TRACE"],
    &["propose", "new", "said_other", "--from-cluster", "2", "--trace", "TRACE"],
    &["init", "--from", "TRACE"],
    &["formats", "try", "TRACE"],
    &["graph", "next", "TRACE", "--playbook", "coffee", "--after", "0", "--try", "pay"],
    &["graph", "draft", "TRACE"],
    &["graph", "history", "TRACE", "--playbook", "coffee", "--format", "json"],
    &["graph", "history", "TRACE", "--playbook", "coffee", "--run", "nope"],
    &["replay", "TRACE", "--playbook", "coffee", "--all"],
    &["replay", "TRACE", "--all", "--show-args", "--report", "html=replay.html"],
    &["replay", "TRACE", "--audit", "audit.jsonl", "--chain"],
    &["impact", "TRACE", "--candidate", "reversing", "--report", "html=impact.html"],
    &["replay", "TRACE", "--partial", "replay.part"],
    &["impact", "TRACE", "--candidate", "reversing", "--partial", "impact.part"],
    &["propose", "find", "TRACE", "--partial", "find.part"],
];

/// Commands that read what those have written.
const OF_A_PROJECT: [&[&str]; 16] = [
    &["propose", "new", "bad", "--from", "ID"],
    &["propose", "list"],
    &["propose", "check"],
    &["propose", "check", "--format", "json"],
    &["propose", "check", "--format", "markdown"],
    &["check", "--report", "junit=j.xml", "--report", "sarif=s.json", "--report", "github=g.txt"],
    &["check", "--format", "json", "--report", "markdown=m.md", "--report", "json=c.json"],
    &["check"],
    &["lint"],
    &["coverage"],
    &["verify"],
    &["history"],
    &["replay", "FIXTURE"],
    &["replay", "FIXTURE", "--show-args", "--report", "html=fixture.html"],
    &["check", "--show-args", "--report", "html=check.html"],
    &["propose", "check", "--report", "html=propose.html"],
];

/// Commands that are given no text of a trace but what the others have written into the project.
const OTHERS: [&str; 18] = [
    "accept",
    "audit verify",
    "completions",
    "conform",
    "demo",
    "formats",
    "formats show",
    "formats words",
    "graph show",
    "help",
    "history verify",
    "merge",
    "propose rebase",
    "proxy",
    "reject",
    "review",
    "schema",
    "serve",
];

#[track_caller]
fn tells_nothing(place: &Place, args: &[String], ran: &Ran) {
    assert!([0, 1, 2, 3].contains(&ran.code), "{args:?}: {ran:?}");
    for secret in SECRETS {
        let said = [&ran.out, &ran.err].into_iter().flat_map(|text| text.lines()).find(|line| line.contains(secret));
        assert!(said.is_none(), "{args:?} says {secret}: {}", said.unwrap_or_default());
        let is_input =
            |name: &str| name.ends_with("mapped.jsonl") || name.contains("given/") || name == "playproof.yaml";
        for (name, bytes) in place.files() {
            let text = String::from_utf8_lossy(&bytes);
            let given = is_input(&name) || ["native.jsonl", "chat.json", "tau.json", "tau2.json"].contains(&&*name);
            assert!(given || !text.contains(secret), "{args:?} wrote {secret} into {name}:\n{text}");
            assert!(given || !name.contains(secret), "{args:?} wrote {name}");
        }
    }
}

/// Whether a command with its words in place did its work; it tells nothing either way.
fn run(place: &Place, words: &[&str], (input, flags): (&str, &[&str])) -> bool {
    let first = format!("{input}:1");
    let mut args: Vec<String> = words
        .iter()
        .map(|word| match *word {
            "TRACE" => input.to_owned(),
            "FIRST" => first.clone(),
            word => word.to_owned(),
        })
        .collect();
    args.extend(flags.iter().map(|flag| (*flag).to_owned()));
    let typed: Vec<&str> = args.iter().map(String::as_str).collect();
    let ran = place.run(&typed);
    tells_nothing(place, &args, &ran);
    ran.code != 2
}

#[test]
fn a_secret_anywhere_in_a_trace_reaches_no_output_of_any_command() {
    let (place, inputs) = project();
    let mut worked = BTreeSet::new();
    for input in &inputs {
        for words in OF_A_TRACE {
            if run(&place, words, *input) {
                worked.insert(words);
            }
        }
    }
    let ids: Vec<String> = place
        .files()
        .into_keys()
        .filter_map(|name| Some(name.strip_prefix("kept/")?.strip_suffix(".yaml")?.to_owned()))
        .collect();
    assert!(!ids.is_empty(), "no call was kept");
    let written = |name: &String| name.starts_with("proposals/") && name.contains("/fixtures/");
    let fixture = place.files().into_keys().find(written).expect("a fixture was drawn");
    for words in OF_A_PROJECT {
        for id in &ids {
            let words: Vec<&str> = words
                .iter()
                .map(|word| match *word {
                    "ID" => id.as_str(),
                    "FIXTURE" => fixture.as_str(),
                    word => word,
                })
                .collect();
            run(&place, &words, ("", &[]));
        }
    }
    // What says what is wrong is looked through too, but nothing would be proved by commands that never work. Names are
    // redacted here, so that there are no parts.
    let is_refused = ["nope", "init", "--partial"];
    let refused = |words: &&&[&str]| words.iter().any(|word| is_refused.contains(word)) || words == &&OF_A_TRACE[9];
    let never: Vec<_> = OF_A_TRACE.iter().filter(|words| !refused(words) && !worked.contains(**words)).collect();
    assert!(never.is_empty(), "{never:?}");
}

#[test]
fn a_project_that_begins_with_a_trace_holds_no_secret_of_it() {
    let (place, inputs) = project();
    let given: Vec<(String, String)> = inputs.iter().map(|(name, _)| ((*name).to_owned(), place.read(name))).collect();
    for ((name, text), (_, flags)) in given.iter().zip(&inputs) {
        for flags in [*flags, &[]] {
            let fresh = Place::new();
            fresh.write("playproof.yaml", &format!("format: project/1\nplaybook: playbooks/ours.yaml\n{REDACTION}"));
            fresh.write("m.yaml", &place.read("m.yaml"));
            fresh.write(name, text);
            run(&fresh, &["init", "--from", "TRACE"], (name, flags));
        }
    }
}

#[test]
fn a_secret_in_what_cannot_be_read_reaches_no_output() {
    let (place, inputs) = project();
    let mut broken: Vec<(String, Vec<u8>, &[&str])> = Vec::new();
    for (name, flags) in inputs {
        let text = place.read(name);
        let first = if name == "native.jsonl" { text.lines().next().unwrap_or_default() } else { text.as_str() };
        for part in [2, 3, 5, 7] {
            let cut = first.get(..first.floor_char_boundary(first.len() * part / 8)).unwrap_or_default();
            broken.push((format!("given/{part}-{name}"), cut.as_bytes().to_vec(), flags));
        }
        let odd = [first.as_bytes(), b"\xff sk_live_X"].concat();
        broken.push((format!("given/odd-{name}"), odd, flags));
    }
    for (n, field) in [
        r#""at":"sk_live_A""#,
        r#""attempt":"sk_live_A""#,
        r#""status":"sk_live_A""#,
        r#""run_id":{"sk_live_A":4111111111111111}"#,
        r#""tool":["sk_live_A"]"#,
        r#""at_ms":-4111111111111111"#,
        r#""answers":"sk_live_A""#,
        r#""password":"hush","error":7"#,
        r#""sk_live_A":1,"sk_live_A":2,"tool":3"#,
        r#""args":sk_live_A"#,
    ]
    .into_iter()
    .enumerate()
    {
        let line = format!("{{\"tool\":\"x\",\"call_id\":\"sk_live_B\",{field}}}\n");
        broken.push((format!("given/line-{n}.jsonl"), line.into_bytes(), &[]));
    }
    let commands: [&[&str]; 8] = [
        &["replay", "TRACE"],
        &["replay", "TRACE", "--skip-invalid"],
        &["explain", "TRACE", "FIRST"],
        &["propose", "find", "TRACE"],
        &["confirm", "--draft", "TRACE"],
        &["formats", "convert", "TRACE"],
        &["propose", "keep", "TRACE", "FIRST", "--expect", "odd_one", "--note", "odd"],
        &["init", "--from", "TRACE"],
    ];
    for (name, bytes, flags) in &broken {
        place.write_bytes(name, bytes);
        for words in commands {
            run(&place, words, (name, flags));
        }
    }
}

/// Calls that resemble one another, in every way that is counted by tool; a resend of the last is named `again`.
fn resembling() -> Vec<Value> {
    let call = |tool: &str, id: &str, key: Option<&str>, is_ok: bool| {
        let error = json!({"kind": "timeout", "message": "no answer"});
        let (status, error) = if is_ok { ("ok", Value::Null) } else { ("error", error) };
        json!({"run_id": "sk_live_RUN", "call_id": id, "tool": tool, "args": {"n": 1}, "idempotency_key": key,
            "status": status, "error": error})
    };
    let result = |attempt: u32, status: &str, error: Value| json!({"type": "tool_result", "run_id": "sk_live_RUN", "call_id": "t", "attempt": attempt, "status": status, "error": error});
    vec![
        call("sk_live_UNDECLARED", "a", None, true),
        call("sk_live_UNDECLARED", "b", None, true),
        call("sk_live_KEYED", "c", Some("k"), true),
        call("sk_live_KEYED", "d", Some("k"), true),
        json!({"type": "tool_call", "run_id": "sk_live_RUN", "call_id": "t", "tool": "sk_live_SENTAGAIN"}),
        result(1, "error", json!({"kind": "timeout"})),
        result(2, "ok", Value::Null),
        call("sk_live_FAILED", "e", None, false),
        call("sk_live_FAILED", "again", None, true),
    ]
}

#[test]
fn a_secret_in_the_names_of_calls_that_resemble_one_another_reaches_no_output() {
    let place = Place::begun();
    place.write("playproof.yaml", &(place.read("playproof.yaml") + REDACTION));
    place.write("given/t.jsonl", &lines(&resembling()));
    let says = |words: &[&str], what: &str| {
        let ran = place.run(words);
        let said = ran.out.clone() + &ran.err;
        assert!(said.contains(what), "{words:?}: {ran:?}");
        assert!(!said.contains("sk_live_"), "{words:?}: {ran:?}");
    };
    for counted in ["Undeclared tools that", "Resent keys", "Identical calls", "resent after"] {
        says(&["replay", "given/t.jsonl", "--all"], counted);
        says(&["replay", "given/t.jsonl", "--format", "markdown"], counted);
    }
    for counted in ["undeclared", "keyed", "failed", "resent"] {
        says(&["replay", "given/t.jsonl", "--format", "json"], &format!("possible_duplicates_by_{counted}_tool"));
    }
    for line in [1, 2, 3, 4, 5, 8, 9] {
        says(&["explain", "given/t.jsonl", &format!("given/t.jsonl:{line}")], "[redacted]");
    }
    says(&["explain", "given/t.jsonl", "given/t.jsonl:2"], "declare in a tools file whether");
    says(&["explain", "given/t.jsonl", "--join-resends", "again"], "is an attempt of the first");
}

#[test]
fn a_rule_that_came_after_a_kept_call_holds_for_all_that_is_shown_and_drawn_of_it() {
    let place = Place::begun();
    let error = json!({"kind": "odd", "message": "the card 4111111111111111 is odd"});
    let call = json!({"run_id": "r", "tool": "pay", "args": {"password": "hush"}, "status": "error", "error": error});
    place.write("given/t.jsonl", &lines(&[call]));
    let add = ["propose", "keep", "given/t.jsonl", "r#1", "--expect", "bad", "--note", "odd", "--new"];
    place.run(&add).exits(0);
    let kept = |name: &String| name.starts_with("kept/");
    for name in place.files().into_keys().filter(kept) {
        place.write(&format!("given/{name}"), &place.read(&name));
    }
    let id =
        place.files().into_keys().find_map(|name| Some(name.strip_prefix("kept/")?.strip_suffix(".yaml")?.to_owned()));
    let id = id.expect("a kept call");
    place.write("playproof.yaml", &(place.read("playproof.yaml") + REDACTION));
    for words in [
        &["check"][..],
        &["check", "--format", "json"],
        &["propose", "new", "bad", "--from", &id],
        &["propose", "check"],
    ] {
        let ran = place.run(words);
        assert!([0, 1].contains(&ran.code), "{words:?}: {ran:?}");
        let written = place.files().into_iter().filter(|(name, _)| !kept(name) && !name.starts_with("given/"));
        let texts = written
            .filter(|(name, _)| name != "playproof.yaml")
            .map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned());
        for text in texts.chain([ran.out, ran.err]) {
            assert!(SECRETS.iter().all(|secret| !text.contains(secret)), "{words:?}: {text}");
        }
    }
}

#[test]
fn a_proposal_draws_its_fixture_from_a_run_whose_name_is_redacted() {
    let place = Place::begun();
    place.write("playproof.yaml", &(place.read("playproof.yaml") + REDACTION));
    let error = json!({"kind": "odd", "message": "the ledger is closed"});
    let call = |run: &str| json!({"run_id": run, "tool": "pay", "args": {"n": run}, "status": "error", "error": error});
    place.write("t.jsonl", &lines(&["sk_live_A", "sk_live_B", "sk_live_C"].map(call)));
    place.run(&["propose", "new", "closed", "--from-cluster", "1", "--trace", "t.jsonl"]).exits(0);
    let drawn = place.read("proposals/closed/fixtures/closed.yaml");
    assert!(drawn.contains("pay says: the ledger is closed") && !drawn.contains("sk_live_"), "{drawn}");
}

#[test]
fn a_call_that_redaction_keeps_from_being_kept_is_named_as_it_is_shown() {
    let place = Place::begun();
    place.write("playproof.yaml", &(place.read("playproof.yaml") + &REDACTION.replace("password", "kind")));
    let denied = json!({"kind": "403_forbidden", "message": "no"});
    place
        .write("t.jsonl", &lines(&[json!({"run_id": "sk_live_R", "tool": "pay", "status": "error", "error": denied})]));
    let (code, said) =
        place.refused(&["propose", "keep", "t.jsonl", "t.jsonl:1", "--expect", "odd_one", "--note", "odd"]);
    assert!(code == 2 && said.contains("redaction changes") && said.contains("next: playproof explain"), "{said}");
    assert!(!said.contains("sk_live_"), "{said}");
}

#[test]
fn a_tool_whose_name_is_redacted_gets_no_row_and_is_counted() {
    let place = Place::begun();
    place.write(
        "playproof.yaml",
        &format!("{}redaction: {{ patterns: ['sk_[a-z]+'] }}\n", place.read("playproof.yaml")),
    );
    place.write(
        "t.jsonl",
        &["pay", "sk_a", "sk_b"].map(|tool| format!("{{\"tool\":\"{tool}\",\"status\":\"ok\"}}\n")).concat(),
    );
    let drafted = place.run(&["confirm", "--draft", "t.jsonl"]).exits(0).out;
    let rows: Vec<&str> = drafted.lines().skip_while(|line| *line != "tools:").skip(1).collect();
    assert!(rows[0].starts_with("  # 2 tools are left out: `redaction` takes out of the name"), "{drafted}");
    assert!(rows.len() == 2 && rows[1].starts_with("  pay: "), "{drafted}");
    place.run(&["init", "new", "--from", "t.jsonl"]);
    let written = place.files().into_keys().find(|name| name.starts_with("new/tools/")).expect("tool facts");
    assert!(place.read(&written).contains("sk_a"), "the redaction of another project decides nothing about a new one");
}

/// What commands say of inputs that are broken or odd, with redaction by `patterns`.
fn said_under(patterns: &str) -> Vec<Ran> {
    let place = Place::begun();
    place.write("playproof.yaml", &format!("{}redaction: {{ patterns: {patterns} }}\n", place.read("playproof.yaml")));
    place.write(
        "m.yaml",
        "format: mapping/1\ncall: { tool: t, args: a }\nresult: { message: m }\nfailed: { ok: false }\n",
    );
    let call = r#"{"tool":"x","status":"ok"}"#;
    let blank = "\n".repeat(1_500);
    let deep = format!(r#"{{"t":"x","a":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    let inputs: [(&str, String, &[&str]); 9] = [
        ("cut.jsonl", format!("{call}\n{blank}{{\"tool\":\n"), &[]),
        ("word.jsonl", format!("{call}\n{blank}{{\"tool\":\"x\",\"status\":\"oq\"}}\n"), &[]),
        ("number.jsonl", format!("{call}\n{blank}{{\"tool\":\"x\",\"at_ms\":99999999999999999999999}}\n"), &[]),
        ("none.jsonl", format!("{call}\n{{}}\n"), &[]),
        ("odd.jsonl", format!("{blank}{{\"tool\":\"x\",\"status\":\"error\",\"error\":{{\"q\":1}}}}\n"), &[]),
        ("cut.json", "[{\"role\": \"assistant\",".to_owned(), &[]),
        ("unfit.jsonl", "{\"tt\":\"x\"}\n".repeat(1_500), &["--map", "m.yaml"]),
        ("deep.jsonl", format!("{blank}{deep}\n"), &["--map", "m.yaml"]),
        ("cut-row.jsonl", format!("{{\"t\":\"x\"}}\n{blank}{{\"t\":\n"), &["--map", "m.yaml"]),
    ];
    let commands: [&[&str]; 5] = [
        &["replay", "TRACE"],
        &["replay", "TRACE", "--skip-invalid"],
        &["propose", "find", "TRACE"],
        &["formats", "convert", "TRACE"],
        &["init", "new", "--from", "TRACE"],
    ];
    let mut said = Vec::new();
    for (name, text, flags) in &inputs {
        place.write(name, text);
        for words in commands {
            let given = words.iter().map(|word| if *word == "TRACE" { name } else { word });
            let flags = flags.iter().filter(|_| words[0] != "init");
            said.push(place.run(&given.chain(flags).copied().collect::<Vec<_>>()));
        }
    }
    said
}

#[test]
fn a_pattern_that_matches_our_own_words_and_numbers_changes_none_of_them() {
    let ours = r"['\d{4,}', line, field, fix, JSON, row, must, 'no\b', status, error, first, '`', '\d [a-z]+', '[ ]']";
    for (plain, redacted) in said_under("[nothing-holds-this]").into_iter().zip(said_under(ours)) {
        assert_eq!((plain.code, plain.out, plain.err), (redacted.code, redacted.out, redacted.err));
    }
}

#[test]
fn a_field_that_is_new_to_the_schema_must_get_a_secret_here() {
    let place = Place::new();
    let schema: Value = serde_json::from_str(&place.run(&["schema", "trace"]).exits(0).out).expect("JSON");
    let known = schema["properties"].as_object().expect("properties").keys().cloned().collect::<BTreeSet<_>>();
    let used =
        native().iter().flat_map(|line| line.as_object().expect("an object").keys().cloned()).collect::<Vec<_>>();
    let used: BTreeSet<String> = used.into_iter().filter(|key| key != "nobody_knows").collect();
    assert_eq!(known, used);
}

#[test]
fn a_new_command_must_say_whether_it_shows_text_of_a_trace() {
    let tried = OF_A_TRACE.iter().chain(&OF_A_PROJECT).map(|words| match words[0] {
        "formats" | "graph" | "propose" => words[..2].join(" "),
        command => command.to_owned(),
    });
    assert_eq!(all_commands(), tried.chain(OTHERS.map(str::to_owned)).collect());
}

#[test]
fn what_is_redacted_is_still_classified_paired_and_told_apart() {
    let place = Place::begun();
    place.write(
        "playproof.yaml",
        &(place.read("playproof.yaml") + "redaction: { keys: [kind], patterns: ['secret-\\w+'] }\n"),
    );
    let call = |run: &str, line: &str| format!("{{\"run_id\":\"{run}\",\"call_id\":\"1\",\"tool\":\"pay\",{line}}}\n");
    let timeout = r#""args":{"a":"secret-a"},"idempotency_key":"secret-k","status":"error","error":{"kind":"timeout"}"#;
    let ok = r#""args":{"a":"secret-a"},"status":"ok""#;
    place.write("t.jsonl", &[call("secret-1", timeout), call("secret-2", ok)].concat());
    let page = place.run(&["replay", "t.jsonl", "--all"]);
    assert!(page.out.contains("[redacted]#1") && page.out.contains("[redacted] 2#1"), "{page:?}");
    assert!(!page.out.contains("unclassified") && !page.out.contains("secret-"), "{page:?}");
    for name in ["secret-2#1", "[redacted] 2#1", "t.jsonl:2"] {
        let explained = place.run(&["explain", "t.jsonl", name]).exits(0);
        assert!(explained.out.contains("t.jsonl:2") && !explained.out.contains("secret-"), "{name}: {explained:?}");
    }
    let one = place.run(&["replay", "t.jsonl", "--all", "--format", "jsonl", "--jobs", "1"]).out;
    assert_eq!(one, place.run(&["replay", "t.jsonl", "--all", "--format", "jsonl", "--jobs", "4"]).out);
}
