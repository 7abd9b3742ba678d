//! Input that cannot be used: a message with its place, exit code 2, no panic, and nothing that looks like success.

use super::Place;

/// Runs `replay` on a file of `content` and expects it to be refused.
fn refused(name: &str, content: impl AsRef<[u8]>, said: &[&str]) {
    let place = Place::new();
    place.write(name, content);
    refused_in(&place, name, said);
}

fn refused_in(place: &Place, name: &str, said: &[&str]) {
    let run = place.run(&["replay", name]);
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{}", run.err);
    for words in said.iter().chain(&["1 error", "next: "]) {
        assert!(run.err.contains(words), "{words}\n{}", run.err);
    }
    assert!(!run.err.contains("bug in playproof"), "{}", run.err);
}

#[test]
fn a_truncated_line() {
    refused("t.jsonl", "{\"tool\":\"a\",\"status\":\"ok\"}\n{\"tool\":\"b\",\"sta", &["t.jsonl:2:16", "cut off"]);
}

#[test]
fn nesting_of_100_000_levels() {
    let line = format!("{{\"tool\":\"a\",\"args\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    refused("t.jsonl", line, &["t.jsonl:1:147", "nests deeper than 128 levels"]);
}

#[test]
fn a_line_of_60_mb() {
    let line = format!("{{\"tool\":\"a\",\"args\":\"{}\"}}", "x".repeat(60_000_000));
    refused("t.jsonl", line, &["t.jsonl:1:1", "the line is longer than 16 MiB, the limit of a line"]);
}

#[test]
fn bytes_that_are_not_utf8() {
    refused("t.jsonl", b"{\"tool\":\"a\xff\"}\n", &["t.jsonl:1:11", "not UTF-8"]);
}

#[test]
fn a_number_of_5_000_digits() {
    refused(
        "t.jsonl",
        format!("{{\"tool\":\"a\",\"at_ms\":{}}}", "9".repeat(5_000)),
        &["t.jsonl:1:21", "`at_ms` is beyond"],
    );
}

#[test]
fn an_empty_file_unless_it_is_allowed() {
    refused("t.jsonl", "", &["t.jsonl: it is empty", "--allow-empty"]);
    let place = Place::new();
    place.write("t.jsonl", "");
    assert_eq!(place.run(&["replay", "t.jsonl", "--allow-empty"]).code, 0);
}

#[test]
fn foreign_jsonl() {
    refused(
        "t.jsonl",
        "{\"foo\":1,\"bar\":\"x\"}\n",
        &["t.jsonl:1:1", "none of the fields of a trace", "next: playproof init --from t.jsonl"],
    );
}

#[test]
fn a_byte_order_mark_inside_a_file_is_named() {
    let good = "{\"tool\":\"a\",\"status\":\"ok\"}\n";
    refused(
        "t.jsonl",
        format!("\u{feff}{good}\u{feff}{good}"),
        &["t.jsonl:2:1", "a byte order mark begins the line", "joining files", "sed 's/^\\xef"],
    );
    let place = Place::new();
    place.write("m.yaml", "format: mapping/1\ncall: { tool: t }\nresult: { body: b }\nfailed: { b: no }\n");
    let row = "{\"t\":\"a\",\"b\":\"x\"}\n";
    place.write("our.log", format!("\u{feff}{row}\u{feff}{row}"));
    let run = place.run(&["replay", "our.log", "--map", "m.yaml"]);
    assert!(run.code == 2 && run.err.contains("our.log:2:1") && run.err.contains("byte order mark"), "{}", run.err);
    let run = place.run(&["replay", "our.log", "--map", "m.yaml", "--skip-invalid"]);
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn what_is_cut_of_a_long_line_is_marked_on_its_side() {
    let x = "x".repeat(500);
    let both = format!("{{\"tool\":\"{x}\",\"at_ms\":-5,\"y\":\"{x}\"}}\n");
    refused("t.jsonl", both, &["t.jsonl:1:520", " 1 │ …xxx", "xxx…\n"]);
    refused("t.jsonl", format!("{{\"tool\":\"{x}\",\"at_ms\":-5}}\n"), &[" 1 │ …xxx", "\"at_ms\":-5}\n"]);
    refused("t.jsonl", format!("{{\"tool\":[\"{x}\"]}}\n"), &[" 1 │ {\"tool\":[", "xxx…\n"]);
    let place = Place::new();
    place.write("t.json", format!("[{{\"role\":\"user\",\"content\":\"{x}\"}},{{\"role\":]}},{{\"role\":\"{x}\"}}]"));
    let run = place.run(&["formats", "convert", "t.json"]);
    assert!(run.code == 2 && run.err.contains(" 1 │ …xxx") && run.err.contains("xxx…\n"), "{}", run.err);
    place.write("p.yaml", format!("format: playbook/1\nname: {x}\n"));
    let run = place.run(&["lint", "p.yaml"]);
    assert!(run.code == 2 && run.out.contains("xxx…` is not the name of a playbook"), "{}{}", run.out, run.err);
}

#[test]
fn a_lone_bracket_is_a_document_before_the_first_line_of_a_trace_and_a_broken_line_behind_it() {
    let good = "{\"tool\":\"a\",\"status\":\"ok\"}\n";
    for (line, document, broken) in [
        ("{", "not one object a line", "t.jsonl:2:1"),
        ("[]", "not one object a line", "a line of a trace is a JSON object"),
        ("[", "not one object a line", "a line of a trace is a JSON object"),
        ("{\"foo\":1}", "next: playproof init --from t.jsonl", "none of the fields of a trace"),
    ] {
        refused("t.jsonl", format!("{line}\n{good}"), &[document]);
        let next = "next: playproof replay t.jsonl --skip-invalid";
        refused("t.jsonl", format!("{good}{line}\n{good}"), &[broken, "fix the line", next]);
    }
    // A line of another type makes no trace of its neighbours; a line of an earlier piece does.
    let log = "{\"type\":\"start\"}\n{\"foo\":1}\n";
    refused("t.jsonl", log, &["none of the fields of a trace", "playproof init --from t.jsonl"]);
    refused("t.jsonl", good.repeat(100_000) + "{\n", &["t.jsonl:100001:1", "is cut off", "fix the line"]);
}

#[test]
fn what_is_piped_has_no_name_that_a_next_command_could_take() {
    for (piped, next) in [
        ("{\0\"\0", "next: iconv -f UTF-16LE -t UTF-8 FILE.json > FILE.json.utf8"),
        ("[\n  {\"tool\": \"a\"}\n]", "next: playproof schema mapping"),
        ("format: playbook/1\n", "next: playproof lint FILE"),
    ] {
        let run = Place::new().run_with(&["replay", "-"], piped);
        assert!(run.code == 2 && run.err.contains(next), "{}", run.err);
    }
}

#[test]
fn a_directory_and_a_missing_file() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("traces")).expect("a folder");
    refused_in(&place, "traces", &["traces: there is no trace and no fixture in this folder"]);
    refused_in(&place, "traces/*.jsonl", &["traces/*.jsonl: no file matches"]);
    refused_in(&place, "gone.jsonl", &["gone.jsonl: no such file"]);
}

#[cfg(unix)]
#[test]
fn a_folder_as_standard_input_has_no_name_that_a_next_command_could_take() {
    let place = Place::new();
    for command in ["replay", "propose find", "impact"] {
        let mut run = std::process::Command::new(crate::place::program());
        run.args(command.split(' '))
            .arg("-")
            .args(["-c", "study/retry-everything"].iter().filter(|_| command == "impact"));
        let folder = std::fs::File::open(place.path()).expect("a folder");
        let ran = run.current_dir(place.path()).stdin(folder).output().expect("it runs");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.code() == Some(2) && said.contains("<stdin>: it is a directory"), "{said}");
        assert!(said.contains(&format!("next: playproof {command} FOLDER")), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_trace();
    let path = place.path().join("trace.jsonl");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("permissions");
    if std::fs::read(&path).is_err() {
        refused_in(&place, "trace.jsonl", &["trace.jsonl: permission denied"]); // root may read everything
    }
}

#[test]
fn a_tool_without_a_name() {
    refused(
        "t.jsonl",
        "{\"tool\":\"\",\"status\":\"ok\"}\n",
        &["t.jsonl:1:1", "needs a `tool`", "this line names no tool"],
    );
}

#[test]
fn unknown_types_and_fields_are_named_with_their_first_place() {
    let place = Place::new();
    let lines =
        "{\"tool\":\"a\",\"status\":\"ok\"}\n{\"type\":\"tool_cal\"}\n{\"tool\":\"a\",\"arg\":{},\"status\":\"ok\"}\n";
    place.write("t.jsonl", lines);
    let run = place.run(&["replay", "t.jsonl"]);
    assert_eq!(run.code, 0, "{}", run.err);
    for said in [
        "1 line of unknown type, 1 unknown field, all accounted for",
        "unknown type `tool_cal`, first in line 2 (did you mean `tool_call`?)",
        "unknown field `arg`, first in line 3 (did you mean `args`?)",
    ] {
        assert!(run.out.contains(said), "{said}\n{}", run.out);
    }
}

#[test]
fn results_without_calls() {
    refused(
        "t.jsonl",
        "{\"type\":\"tool_result\",\"call_id\":\"c\",\"status\":\"ok\"}\n",
        &["t.jsonl: 1 result, but no calls"],
    );
}

#[test]
fn where_no_call_was_asked_for_none_is_named_as_missing() {
    let place = Place::new();
    place.write("orphan.jsonl", "{\"type\":\"tool_result\",\"call_id\":\"c\",\"status\":\"ok\"}\n");
    for (args, said) in [
        (&["explain", "orphan.jsonl"][..], "there is no call in orphan.jsonl"),
        (&["explain", "orphan.jsonl", "r1#1"], "there is no call `r1#1` in orphan.jsonl"),
        (
            &["propose", "keep", "orphan.jsonl", "--expect", "odd_one", "--note", "n"],
            "there is no call in orphan.jsonl",
        ),
    ] {
        let run = place.run(args).exits(2);
        assert!(run.err.contains(said) && run.err.contains("a result belongs to a call before it"), "{}", run.err);
    }
}

#[test]
fn a_negative_time() {
    refused("t.jsonl", "{\"tool\":\"a\",\"at_ms\":-5}\n", &["t.jsonl:1:21", "`at_ms` is negative"]);
}

#[test]
fn times_going_backwards_are_accounted_for() {
    let place = Place::new();
    let lines = "{\"tool\":\"a\",\"call_id\":\"c\",\"at_ms\":100}\n{\"type\":\"tool_result\",\"call_id\":\"c\",\"at_ms\":50,\"status\":\"ok\"}\n";
    place.write("t.jsonl", lines);
    let run = place.run(&["replay", "t.jsonl"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("1 timestamp out of order, all accounted for"), "{}", run.out);
}

#[test]
fn compressed_input_that_is_cut_off() {
    refused("t.gz", b"\x1f\x8b\x08garbage", &["t.gz: "]);
}

#[test]
fn an_alias_bomb() {
    let mut bomb = String::from("a0: &a0 [x, x]\n");
    for n in 1..40 {
        let before = n - 1;
        bomb += &format!("a{n}: &a{n} [*a{before}, *a{before}]\n");
    }
    refused("f.yaml", &bomb, &["f.yaml:", "values, aliases followed"]);
    let place = Place::new();
    place.write("p.yaml", &bomb);
    assert_eq!(place.run(&["lint", "p.yaml"]).code, 2);
}

#[test]
fn a_type_that_nobody_knows_is_named_where_there_are_no_calls() {
    let said = ["no calls in 1 line", "unknown type", "`toolcall`, first in line 1 (did you mean `tool_call`?)"];
    refused("t.jsonl", "{\"type\":\"toolcall\",\"tool\":\"a\",\"status\":\"ok\"}\n", &said);
}

#[test]
fn what_is_compressed_by_something_else_says_so() {
    let place = Place::new();
    place.write("t.jsonl.bz2", b"BZh91AY&SY\xff");
    for command in ["replay", "confirm", "explain"] {
        let run = place.run(&[command, "t.jsonl.bz2"]);
        assert_eq!(run.code, 2);
        let said = ["t.jsonl.bz2", "it is compressed by bzip2; only gzip and zstd are read", "unpack it first"];
        assert!(said.iter().all(|said| run.err.contains(said)), "{}", run.err);
    }
}

#[test]
fn malformed_lines_can_be_skipped_and_are_counted() {
    let place = Place::new();
    place.write("t.jsonl", "{\"tool\":\"a\",\"status\":\"ok\"}\n{\"tool\":\n{\"tool\":\"a\",\"status\":\"ok\"}\n");
    let run = place.run(&["replay", "t.jsonl", "--skip-invalid"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("3 lines, 1 run, 2 calls, 2 results, 1 line skipped"), "{}", run.out);
    assert!(run.err.contains("t.jsonl:2:"), "{}", run.err);
    for args in
        [&["confirm", "--draft", "t.jsonl", "--skip-invalid"][..], &["explain", "t.jsonl", "#2", "--skip-invalid"]]
    {
        let run = place.run(args);
        assert_eq!((run.code, run.err.contains("t.jsonl: 1 line skipped\n")), (0, true), "{}", run.err);
    }
}

#[test]
fn of_many_skipped_lines_the_first_are_shown_the_rest_counted_and_what_helps_said_once() {
    let place = Place::new();
    place.write("a.jsonl", "{\"tool\":\"a\",\"at_ms\":-1}\n".repeat(1_234) + "{\"tool\":\"a\",\"status\":\"ok\"}\n");
    place.write("b.jsonl", "{\"tool\":\"a\",\"status\":\"ok\"}\n{\"tool\":\n{\"tool\":\"a\",\"status\":\"oks\"}\n");
    let run = place.run(&["replay", "a.jsonl", "b.jsonl", "--skip-invalid", "--allow-skipped", "1234"]);
    let times = |words: &str| run.err.matches(words).count();
    assert_eq!(
        (times("`at_ms` is negative"), times("fix the line"), times("--skip-invalid")),
        (5, 2, 0),
        "{}",
        run.err
    );
    assert!(run.err.contains("\n… and 1,229 more\na.jsonl: 1,234 lines skipped\n"), "{}", run.err);
    assert!(run.err.contains("did you mean `ok`? Otherwise fix the line"), "{}", run.err);
    assert!(run.err.ends_with("\nb.jsonl: 2 lines skipped\n") && times(" more\n") == 1, "{}", run.err);
}

#[test]
fn a_cut_short_line_of_a_mapped_source_has_its_place_and_can_be_skipped() {
    let place = Place::new();
    place.write("map.yaml", "format: mapping/1\ncall: { tool: t }\nresult: { body: b }\nfailed: [ { b: no } ]\n");
    place.write("log.jsonl", "{\"t\":\"a\",\"b\":\"yes\"}\n{\"t\":\"a\",\"b\":\n");
    for command in [&["replay"][..], &["formats", "convert"]] {
        let run = place.run(&[command, &["log.jsonl", "--map", "map.yaml"]].concat());
        assert_eq!(run.code, 2, "{}", run.err);
        assert!(run.err.contains("log.jsonl:2:13") && run.err.contains("--skip-invalid"), "{}", run.err);
        let run = place.run(&[command, &["log.jsonl", "--map", "map.yaml", "--skip-invalid"]].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        let said = "1 line that is not JSON, left out (first at line 2)";
        assert!(run.out.contains(said) || run.err.contains(said), "{}\n{}", run.out, run.err);
    }
}

#[test]
fn a_cut_short_line_of_a_recognised_source_can_be_skipped() {
    let place = Place::new();
    let call = r#"{"id":"w","type":"function","function":{"name":"water","arguments":"{}"}}"#;
    let asked = format!(r#"{{"role":"assistant","tool_calls":[{call}]}}"#);
    let line = format!(r#"{{"messages":[{asked},{{"role":"tool","tool_call_id":"w","content":"done"}}]}}"#);
    place.write("log.jsonl", format!("{line}\n{line}\n{}", &line[..60]));
    for command in [&["replay"][..], &["formats", "convert"]] {
        let run = place.run(&[command, &["log.jsonl"]].concat()).exits(2);
        assert!(run.err.contains("or is still being written; fix the line, or pass `--skip-invalid`"), "{}", run.err);
        place.run(&[command, &["log.jsonl", "--skip-invalid"]].concat()).exits(0);
    }
    let run = place.run(&["init", "--from", "log.jsonl"]).exits(2);
    assert!(!run.err.contains("--skip-invalid"), "{}", run.err);
}

#[test]
fn a_file_of_another_kind_is_told_in_one_line_with_the_command_that_takes_it() {
    let place = Place::with_trace();
    place.copy_fixture("the-worked-refund.yaml");
    place.write("book.yaml", "format: playbook/1\nname: b\n");
    place.write("map.yaml", "format: mapping/1\ncall: { tool: t }\n");
    std::fs::create_dir(place.path().join("books")).expect("a folder");
    for (args, said, next) in [
        (&["replay", "book.yaml"][..], "`book.yaml` is a playbook", "playproof lint book.yaml"),
        (&["propose", "find", "book.yaml"], "`book.yaml` is a playbook", "playproof lint book.yaml"),
        (&["lint", "trace.jsonl"], "`trace.jsonl` is a trace", "playproof replay trace.jsonl"),
        (&["lint", "the-worked-refund.yaml"], "is a fixture", "playproof replay the-worked-refund.yaml"),
        (&["replay", "trace.jsonl", "-p", "map.yaml"], "is a mapping", "playproof replay RECORDING --map map.yaml"),
        (&["replay", "trace.jsonl", "--tools", "book.yaml"], "is a playbook", "playproof lint book.yaml"),
        (&["replay", "trace.jsonl", "--map", "book.yaml"], "is a playbook", "playproof lint book.yaml"),
        (&["confirm", "--draft", "the-worked-refund.yaml"], "is a fixture", "playproof replay the-worked-refund.yaml"),
        (&["lint", "books"], "it is a directory", "playproof help lint"),
        (&["replay", "trace.jsonl", "--run", "r1", "--call", "#9"], "in the run `r1`", "--call 'r1#9'"),
    ] {
        let run = place.run(args);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{args:?}\n{}", run.err);
        assert!(run.err.contains(said) && run.err.contains(next), "{args:?}\n{}", run.err);
        assert!(run.err.lines().count() <= 4, "{args:?}\n{}", run.err);
    }
}

#[test]
fn what_only_has_to_be_converted_says_how() {
    refused(
        "t.json",
        "{\n  \"tool\": \"a\"\n}\n",
        &["one JSON document over many lines", "`jq -c .`", "next: playproof init --from t.json"],
    );
    let place = Place::new();
    place.write("t.jsonl", b"\xff\xfe{\0\"\0");
    let run = place.run(&["replay", "t.jsonl"]);
    assert!(run.code == 2 && run.err.contains("next: iconv -f UTF-16 -t UTF-8 t.jsonl"), "{}", run.err);
    place.write("t.gz", b"\x1f\x8b\x08garbage");
    let run = place.run(&["replay", "t.gz"]);
    assert!(run.code == 2 && run.err.contains("cut short, damaged"), "{}", run.err);
    assert!(run.err.contains("next: gzip -t t.gz"), "{}", run.err);
}

#[test]
fn wrong_usage() {
    let place = Place::with_trace();
    for (args, said) in [
        (&["replay"][..], "<INPUT>"),
        (&["replay", "trace.jsonl", "--formt", "json"], "--format"),
        (&["replay", "trace.jsonl", "--only", "policy_denid"], "did you mean `policy_denied`?"),
        (&["replay", "trace.jsonl", "--playbook", "standrd"], "did you mean `standard`?"),
        (&["replay", "trace.jsonl", "--beyond-tape", "perhaps"], "fail:KIND"),
        (&["replay", "trace.jsonl", "--run", "r9"], "there is no call in a run `r9`"),
        (&["replay", "trace.jsonl", "--run", "r9"], "next: playproof replay trace.jsonl"),
        (&["replay", "trace.jsonl", "--run", "r9", "--format", "jsonl"], "there is no call in a run `r9`"),
        (&["replay", "trace.jsonl", "--call", "nope", "--format", "jsonl"], "there is no call `nope`"),
        (&["replay", "trace.jsonl", "--call", "r1"], "a call is named by run and number (`r1#3`)"),
        (&["explain", "trace.jsonl", "r1"], "`r1` is a run; its calls are r1#1"),
        (&["explain", "trace.jsonl", "r1"], "next: playproof explain trace.jsonl 'r1#1'"),
        (&["replay", "trace.jsonl", "--call", "c9"], "there is no call `c9`"),
        (&["explain", "trace.jsonl", "c1"], "several calls: r1#1, r2#1"),
        (&["explain", "trace.jsonl", "r1#9"], "the calls of the run `r1` are r1#1"),
        (&["explain", "trace.jsonl", "r9#1"], "did you mean"),
        (&["explain", "trace.jsonl", "trace.jsonl:99"], "that line has no call, and no result of one"),
        (&["explain", "c1", "trace.jsonl"], "`c1` is no file; the call comes last"),
        (&["explain", "c1", "trace.jsonl"], "next: playproof explain trace.jsonl c1"),
        (&["explain", "none.jsonl", "trace.jsonl"], "none.jsonl: no such file"),
        (&["replay", "-p", "standrd", "trace.jsonl"], "next: playproof replay -p standard trace.jsonl"),
        (&["replay", "--playbook=standrd", "trace.jsonl"], "next: playproof replay --playbook=standard trace.jsonl"),
        (&["help", "duplicat_effect"], "did you mean `duplicate_effect`?"),
        (&["help", "playbook", "dispatchr"], "next: playproof help playbook dispatcher"),
        (&["help", "cancel"], "speaks of it"),
        (&["formats", "convert", "trace.jsonl"], "next: playproof replay trace.jsonl"),
    ] {
        let run = place.run(args);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{args:?}\n{}", run.err);
        assert!(run.err.contains(said), "{args:?}\n{}", run.err);
    }
}

#[test]
fn rows_that_say_in_fields_of_their_own_whether_they_failed_are_no_trace() {
    let place = Place::new();
    place.write(
        "own.jsonl",
        r#"{"tool":"pay","args":{},"status":"ok"}
{"tool":"pay","args":{},"status":"ok","is_error":true}
"#,
    );
    place.write("mostly.jsonl", "{\"tool\":\"pay\",\"session\":1,\"result\":\"done\",\"took\":3}\n");
    let untyped = "its lines have a `tool`, as those of a trace";
    for (file, said) in [("own.jsonl", "line 2 says in `is_error` that its call failed"), ("mostly.jsonl", untyped)] {
        let run = place.run(&["replay", file]).exits(2);
        assert!(run.err.contains(said), "{}", run.err);
        assert!(run.err.contains(&format!("next: playproof init --from {file}")), "{}", run.err);
    }
    place.write("typed.jsonl", r#"{"type":"tool_call","tool":"pay","a":1,"b":2,"c":3,"d":4,"messages":[]}"#);
    assert!(place.run(&["replay", "typed.jsonl"]).out.contains("unknown field"));
}

#[test]
fn a_trace_with_lines_of_another_format_is_refused_by_every_command() {
    let place = Place::new();
    let chat = r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t"}]}]}"#;
    place.write("mixed.jsonl", format!("{{\"tool\":\"pay\",\"status\":\"ok\"}}\n{chat}\n"));
    for args in
        [&["replay", "mixed.jsonl"][..], &["init", "--from", "mixed.jsonl"], &["formats", "convert", "mixed.jsonl"]]
    {
        let run = place.run(args).exits(2);
        assert!(run.err.contains("others look like `anthropic-messages`"), "{}", run.err);
    }
}

#[test]
fn a_folder_does_not_stand_for_hidden_files() {
    let place = Place::new();
    place.write("traces/a.jsonl", "{\"tool\":\"pay\",\"status\":\"ok\"}\n");
    place.write("traces/.old/b.jsonl", "{\"tool\":\"mail\",\"status\":\"ok\"}\n");
    let run = place.run(&["replay", "traces"]);
    assert!(run.out.contains("a.jsonl") && !run.out.contains("b.jsonl"), "{}", run.out);
}

#[test]
fn a_recording_without_calls_is_no_import_unless_that_is_allowed() {
    let place = Place::new();
    place.write(
        "results.json",
        r#"[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"c1","content":"done"}]"#,
    );
    place.write("talk.json", r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#);
    for (file, said) in [("results.json", "1 result, but no calls"), ("talk.json", "it holds no calls")] {
        let run = place.run(&["formats", "convert", file, "-o", "trace.jsonl"]);
        assert_eq!((run.code, run.err.contains(said)), (2, true), "{}", run.err);
        assert!(run.err.contains(&format!("next: playproof formats convert {file} --allow-empty")), "{}", run.err);
        assert!(!place.path().join("trace.jsonl").exists(), "nothing is written");
        assert_eq!(place.run(&["formats", "convert", file, "--allow-empty"]).code, 0);
    }
}
