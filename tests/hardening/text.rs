//! Text: nothing that a trace, title or file name says becomes a command, markup or a control character.

use serde_json::json;

use crate::place::Place;

/// One of each range of the table, with what may do most harm.
const UNSAFE: &str = "\u{1b}]0;T\u{7} \u{202e} \u{200b} \r \u{9b}31m \u{ad} \u{61c} \u{2060} \u{e0041} \u{180e} \u{fe0f} \u{2028} \u{feff} \n::error::x";
const COMMANDS: [&str; 6] =
    ["::error file=README.md::x", "::stop-commands::zz", "##[error]x", "##vso[task.x]y", "##teamcity[x]", "%%[ x ]"];

/// How those lines are read as a log of somebody else's.
const MAPPING: &str = "\
format: mapping/1
call: { run: run_id, id: call_id, tool: tool, args: args, key: idempotency_key }
result: { id: call_id, message: error.message, code: error.code }
failed: [{ status: error }]
";

/// Three failures alike, of which every text that a trace may hold is `text`, and one that is not.
fn trace(text: &str) -> String {
    let alike = (0..3).map(|n| {
        json!({ "run_id": format!("{text}{n}"), "call_id": text, "tool": text, "args": { text: text },
            "idempotency_key": format!("{text}{n}"), "status": "error",
            "error": { "kind": text, "message": format!("it went wrong: {text}"), "code": text } })
    });
    let other = json!({ "run_id": "z", "tool": "o", "status": "error", "error": { "message": "other matter" } });
    alike.chain([other]).map(|line| format!("{line}\n")).collect()
}

/// What every command that shows a trace says of it.
fn shown(place: &Place, file: &str) -> Vec<(String, String)> {
    let first = format!("{file}:1");
    place.write("m.yaml", MAPPING);
    let commands: [&[&str]; 14] = [
        &["replay", file, "--all"],
        &["replay", file, "--all", "--format", "markdown", "--show-args"],
        &["replay", file, "--format", "json"],
        &["replay", file, "--format", "jsonl"],
        &["propose", "find", file],
        &["propose", "find", file, "--format", "json"],
        &["confirm", "--draft", file],
        &["formats", "convert", file],
        &["formats", "convert", file, "--map", "m.yaml"],
        &["impact", file, "-c", "study/retry-everything"],
        &["impact", file, "-c", "study/retry-everything", "--format", "json"],
        &["impact", file, "-c", "study/retry-everything", "--format", "markdown"],
        &["explain", file, &first],
        &["propose", "keep", file, &first, "--expect", "odd_one", "--note", "n"],
    ];
    let said = |args: &[&str]| {
        let ran = place.run_on_github(args);
        (args.join(" "), ran.out + &ran.err)
    };
    commands.iter().map(|args| said(args)).collect()
}

fn is_unsafe(c: char) -> bool {
    c != '\n'
        && (c.is_control()
            || "\u{202e}\u{200b}\u{ad}\u{61c}\u{2060}\u{e0041}\u{180e}\u{fe0f}\u{2028}\u{feff}".contains(c))
}

/// The first line that a CI system would obey.
fn obeyed(page: &str) -> Option<&str> {
    let is_own = |line: &str| {
        ["::error file=", "::warning file=", "::notice title=playproof"].iter().any(|own| line.starts_with(own))
    };
    page.lines().find(|line| {
        let start = line.trim_start();
        let anywhere = ["##[", "##vso[", "##teamcity["].iter().any(|command| line.contains(command));
        !is_own(line) && (anywhere || start.starts_with("::") || start.starts_with("%%["))
    })
}

#[test]
fn no_character_that_is_unsafe_to_print_leaves_a_trace() {
    let place = Place::new();
    place.write("t.jsonl", &trace(UNSAFE));
    for (command, said) in shown(&place, "t.jsonl") {
        assert!(!said.contains(is_unsafe), "{command}: {said:?}");
    }
}

#[test]
fn no_character_that_is_unsafe_to_print_is_left_in_a_trace_that_is_written() {
    let place = Place::begun();
    place.write("m.yaml", MAPPING);
    place.write("t.jsonl", &trace(UNSAFE));
    let project = place.read("playproof.yaml");
    for redaction in ["", "redaction: { patterns: ['sk_[0-9]'] }\n"] {
        place.write("playproof.yaml", &format!("{project}{redaction}"));
        place.run(&["formats", "convert", "t.jsonl", "--map", "m.yaml", "-o", "out.jsonl", "--replace"]).exits(0);
        place.run(&["propose", "keep", "t.jsonl", "t.jsonl:1", "--expect", "odd_one", "--note", "n"]).exits(0);
        place.run(&["replay", "out.jsonl", "t.jsonl"]).exits(0);
    }
    place.run(&["propose", "new", "vv", "--means", "m", "--from-cluster", "1", "--trace", "t.jsonl"]).exits(0);
    for args in [&["propose", "check"][..], &["check"], &["lint"], &["coverage"]] {
        let ran = place.run(&[args, &["--format", "json"]].concat());
        assert!(ran.code < 2 && !ran.out.contains(is_unsafe), "{args:?}: {ran:?}");
    }
    let files = place.files().into_iter().filter(|(name, _)| name.ends_with(".jsonl") && name != "t.jsonl");
    let texts: Vec<_> = files.map(|(name, text)| (name, String::from_utf8(text).expect("UTF-8"))).collect();
    assert_eq!(texts.len(), 2, "an import and a slice");
    for (name, text) in texts {
        assert!(
            !text.contains(is_unsafe) && text.contains("\\u202e") && text.contains("\\udb40\\udc41"),
            "{name}: {text}"
        );
        let read: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect();
        assert_eq!(read[0]["tool"], UNSAFE, "{name}");
        assert_eq!(read[0]["args"][UNSAFE], UNSAFE, "{name}");
    }
}

#[test]
fn no_line_is_a_command_to_a_ci_system_that_a_trace_wrote() {
    let place = Place::new();
    for command in COMMANDS {
        // Wherever lines are broken, one begins with it.
        place.write("t.jsonl", &trace(&format!("{command} {}", format!("words {command} ").repeat(12))));
        for (args, said) in shown(&place, "t.jsonl") {
            assert_eq!(obeyed(&said), None, "{args}: {said}");
        }
        place.write("bad.jsonl", &format!("{{\"tool\":7,\"x\":{}}}\n", json!(command)));
        place.write("wrong.yaml", &format!("format: playbook/1\n{}: 1\n", json!(command)));
        for args in [&["replay", "bad.jsonl"][..], &["lint", "wrong.yaml"], &["replay", command], &[command]] {
            let ran = place.run(args).exits(2);
            assert_eq!(obeyed(&ran.err), None, "{args:?}: {}", ran.err);
        }
    }
}

#[test]
fn what_is_typed_is_escaped_in_the_errors_of_the_command_line() {
    let place = Place::new();
    for odd in [UNSAFE, "\u{1b}[31mx", "--x\n::error::y", "check\u{202e}"] {
        for args in
            [&[odd][..], &["replay", "--format", odd], &["check", "--report", odd], &["replay", "t", odd, "--only"]]
        {
            let ran = place.run(args).exits(2);
            assert!(!ran.err.contains(is_unsafe) && obeyed(&ran.err).is_none(), "{args:?}: {:?}", ran.err);
        }
    }
}

#[test]
fn no_title_and_no_fixture_writes_a_command_where_check_runs_on_github() {
    let place = Place::begun();
    let fixture = place.read("fixtures/a-denial-goes-to-people.yaml");
    for (n, command) in COMMANDS.into_iter().enumerate() {
        let text = fixture.replace("outcome: escalated", "outcome: succeeded");
        let text: Vec<String> = text
            .lines()
            .map(|line| if line.starts_with("title:") { format!("title: {}", json!(command)) } else { line.to_owned() })
            .collect();
        place.write(&format!("fixtures/z{n}.yaml"), &text.join("\n"));
    }
    for args in [&["check"][..], &["check", "--format", "json"], &["check", "--report", "markdown=r.md"]] {
        let ran = place.run_on_github(args);
        assert_eq!(obeyed(&(ran.out.clone() + "\n" + &ran.err)), None, "{args:?}: {ran:?}");
        let own = ran.err.lines().filter(|line| line.starts_with("::")).count();
        assert!(args[0] != "check" || own > 0, "our own annotations stay: {ran:?}");
    }
}

/// Runs what follows `next:` in a shell in which `playproof` and others only say their words.
fn words_of(place: &Place, said: &str) -> Vec<String> {
    let next: Vec<&str> = said.lines().filter_map(|line| line.trim_start().strip_prefix("next: ")).collect();
    let next = next.last().unwrap_or_else(|| panic!("a command to run next: {said}"));
    let script = format!(
        "say() {{ printf '%s\\n\\0' \"$@\"; }}; playproof() {{ say \"$@\"; }}; rm() {{ say \"$@\"; }}; git() {{ say \"$@\"; }}; \
         jq() {{ say \"$@\"; }}; gzip() {{ say \"$@\"; }}; mv() {{ say \"$@\"; }}; {next}"
    );
    let ran = std::process::Command::new("bash").args(["-c", &script]).current_dir(place.path("empty")).output();
    let out = String::from_utf8(ran.expect("a shell").stdout).expect("UTF-8");
    out.split_terminator("\n\0").map(str::to_owned).collect()
}

const NAMES: [&str; 6] =
    ["a$(touch PWN)b", "a`touch PWN`;touch PWN", "it's \"x\"", "a\nb\u{202e}c", "a b & touch PWN | #", "*?[x]{1,2}~"];

#[test]
fn the_command_that_is_suggested_has_the_name_of_a_file_as_it_is() {
    for name in NAMES {
        let place = Place::begun();
        place.write("empty/x", "");
        let trace_name = format!("{name}.jsonl");
        place.write(&trace_name, &trace("x"));
        place.write(&format!("{name}.yaml"), "format: playbook/1\nbad: 1\n");
        place.write(&format!("fixtures/{name}.yaml"), &place.read("fixtures/a-denial-goes-to-people.yaml"));
        place.write(&format!("goldens/ours/o{name}.snap"), &place.read("goldens/ours/a-denial-goes-to-people.snap"));
        let yaml = format!("{name}.yaml");
        for (args, wanted) in [
            (&["replay", &trace_name][..], trace_name.clone()),
            (&["propose", "find", &trace_name], trace_name.clone()),
            (&["impact", &trace_name, "-c", "study/retry-everything"], trace_name.clone()),
            (&["explain", &trace_name, "nowhere"], trace_name.clone()),
            (&["propose", "keep", &trace_name, "--expect", "odd_one", "--note", name], trace_name.clone()),
            (&["confirm", "--draft", &trace_name, "-o", "facts.yaml"], trace_name.clone()),
            (&["formats", "convert", &trace_name], trace_name.clone()),
            (&["replay", &trace_name, "--call", name], trace_name.clone()),
            (&["lint", &yaml], "playbook".to_owned()),
            (&["replay", &trace_name, "-p", &yaml], yaml.clone()),
            (&["replay", &trace_name, &trace_name], trace_name.clone()),
            (&["check"], format!("ours/{name}")),
        ] {
            let ran = place.run(args);
            let words = words_of(&place, &(ran.out + "\n" + &ran.err));
            assert!(words.contains(&wanted), "{args:?}: {words:?}");
        }
        assert!(!place.path("empty/PWN").exists(), "{name}");
    }
}

#[test]
fn the_command_that_is_suggested_has_the_name_of_a_proposal_as_it_is() {
    for name in ["a$(touch PWN)b", "a;b'c", "-x"] {
        let place = Place::begun();
        place.write("empty/x", "");
        place.write("t.jsonl", &trace("x"));
        place.run(&["propose", "new", "vv", "--means", "m", "--from-cluster", "1", "--trace", "t.jsonl"]).exits(0);
        std::fs::rename(place.path("proposals/vv"), place.path(&format!("proposals/{name}"))).expect("renamed");
        for args in [&["propose", "check"][..], &["accept", "--", name], &["reject", "--", name]] {
            let ran = place.run(args);
            let words = words_of(&place, &(ran.out + "\n" + &ran.err));
            assert!(words.contains(&name.to_owned()), "{args:?}: {words:?}");
        }
        assert!(!place.path("empty/PWN").exists(), "{name}");
    }
}

#[test]
fn the_command_that_keep_suggests_for_an_unknown_call_is_one() {
    let place = Place::begun();
    place.write("t.jsonl", &trace("x"));
    let ran = place.run(&["propose", "keep", "t.jsonl", "nosuch", "--expect", "odd_one", "--note", "n"]).exits(2);
    let next = ran.err.rsplit_once("next: playproof ").expect("a command").1.trim_end();
    let args: Vec<&str> = next.split(' ').map(|word| word.trim_matches('\'')).collect();
    let again = place.run(&args);
    assert!(!again.err.contains("unexpected argument"), "{next}: {}", again.err);
}

#[test]
fn no_cell_of_markdown_is_left_and_nothing_in_it_is_markup() {
    let place = Place::new();
    let odd = "a|b \\| c `d` <img src=x> [e](http://f.g) @you ![h](i)";
    place.write("t.jsonl", &trace(odd));
    for args in [
        &["replay", "t.jsonl", "--all", "--format", "markdown", "--show-args"][..],
        &["impact", "t.jsonl", "-c", "study/retry-everything", "--format", "markdown"],
    ] {
        let page = place.run(args).out;
        let mut columns = 0;
        let mut is_code = false;
        for line in page.lines() {
            is_code ^= line.starts_with("```");
            if is_code || !line.starts_with('|') {
                columns = 0;
                let text: String = line.split("``").step_by(2).collect(); // between them is code
                assert!(is_code || !text.contains("<img") && !text.contains("@you"), "{line}");
                continue;
            }
            let bars = line.replace("\\\\", "").replace("\\|", "").matches('|').count();
            assert!(columns == 0 || bars == columns, "{line}");
            columns = bars;
        }
    }
}

#[test]
fn what_is_drafted_is_read_whatever_tools_messages_and_kinds_are_called() {
    let long = "t".repeat(2_000);
    let odd = "x: {y # !!python\n- # \"'\\ [&a *b] | > % @ ` \u{85}\u{2028}\u{feff} ";
    for text in
        ["pay\nrefund", &long, odd, "null", "~", "true", "1e5", "0x1", "---", "# guessed: confirm", "a[*]{b", "-", "?"]
    {
        let place = Place::begun();
        place.write("t.jsonl", &trace(text));
        place.run(&["confirm", "--draft", "t.jsonl", "-o", "facts.yaml"]).exits(0);
        let ran = place.run(&["replay", "t.jsonl", "--tools", "facts.yaml"]);
        assert_ne!(ran.code, 2, "{text:?}: {}", ran.err);
        place.write("sure.yaml", &place.read("facts.yaml").replace(" # guessed: confirm (", " # ("));
        let ran = place.run(&["replay", "t.jsonl", "--tools", "sure.yaml", "--all"]);
        assert!(ran.code != 2 && !ran.out.contains("(assumed)"), "{text:?}: {}{}", ran.out, ran.err);
        let new = [
            "propose",
            "new",
            "vv",
            "--means",
            "m",
            "--from-cluster",
            "1",
            "--trace",
            "t.jsonl",
            "--tools",
            "sure.yaml",
        ];
        let new = [&new[..], &["--when", "{ kind: k }"]].concat();
        let ran = place.run(&new[..new.len() - 2]);
        if ran.code == 0 {
            let ran = place.run(&["propose", "check"]);
            assert_eq!(ran.code, 1, "it can be read, and waits for words: {text:?}: {}{}", ran.out, ran.err);
        }
        let own = Place::new();
        own.write("t.jsonl", &trace(text));
        own.run(&["init", "--from", "t.jsonl"]).exits(0);
        own.run(&["check"]).exits(0);
    }
}

#[test]
fn a_line_break_in_a_name_breaks_no_line_of_a_page() {
    let place = Place::begun();
    let fixture = place.files().into_keys().find(|name| name.starts_with("fixtures/")).expect("a fixture");
    let text = place.read(&fixture);
    place.write("fixtures/a\nBROKEN.yaml", &text);
    place.write("a\nBROKEN.jsonl", "{\"tool\":\"a\",\"status\":\"ok\"}\n{\n");
    let chat = format!("{}/tests/samples/openai-chat.json", env!("CARGO_MANIFEST_DIR"));
    let commands: [&[&str]; 10] = [
        &["check"],
        &["reject"],
        &["check"],
        &["accept"],
        &["check", "--accept"],
        &["check", "a\nBROKEN"],
        &["replay", "a\nBROKEN.jsonl", "--skip-invalid"],
        &["confirm", "--draft", "a\nBROKEN.jsonl", "--skip-invalid", "-o", "b\nBROKEN.yaml"],
        &["replay", "a\nBROKEN.jsonl", "--skip-invalid", "--tools", "b\nBROKEN.yaml"],
        &["formats", "convert", &chat, "-o", "c\nBROKEN.jsonl"],
    ];
    for args in commands {
        if args == ["check", "--accept"] {
            place
                .files()
                .into_keys()
                .filter(|name| name.contains("goldens/ours/a\n"))
                .for_each(|name| place.remove(&name));
        }
        let ran = place.run(args);
        let said = ran.out.clone() + &ran.err;
        assert!(!said.lines().any(|line| line.trim_start().starts_with("BROKEN")), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_path_of_the_project_is_shown_without_its_control_characters() {
    let place = Place::begun();
    place.edit_first("playproof.yaml", "goldens: goldens", "goldens: \"a\\e[31mb\"");
    for args in [&["check"][..], &["accept", "--reason", "r"], &["accept", "--reason", "r"], &["check"]] {
        let ran = place.run(args);
        assert!(!(ran.out.clone() + &ran.err).contains('\u{1b}'), "{args:?}: {ran:?}");
    }
}
