//! What the pages say, and that nothing in a trace can make them do anything else.

use super::{Place, TRACE};

#[test]
fn arguments_are_shown_in_characters_that_people_read() {
    let place = Place::new();
    let args = r#"{"name":"Zo\u00eb \u001b[31m\u202e"}"#;
    place.write("t.jsonl", format!("{{\"tool\":\"a\",\"args\":{args},\"status\":\"error\"}}\n"));
    for command in [&["replay", "t.jsonl"][..], &["explain", "t.jsonl"]] {
        let page = place.run(command);
        assert!(page.out.contains(r#"   args {"name":"Zoë \u001b[31m\u202e"}"#), "{}", page.out);
    }
}

#[test]
fn two_playbooks_side_by_side_show_three_refunds_and_one() {
    let place = Place::new();
    let fixture = "unkeyed-refund-times-out-after-landing.yaml";
    place.copy_fixture(fixture);
    let run = place.run(&["replay", fixture, "--playbook", "study/retry-everything", "--playbook", "standard"]);
    assert_eq!(run.code, 1, "{}", run.err);
    let row = run.out.lines().find(|line| line.starts_with("effects upstream")).expect("a row of effects");
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["effects", "upstream", "3", "1"]);
    assert!(
        run.out.contains("duplicate_effect: one intent had 3 effects, under study/retry-everything"),
        "{}",
        run.out
    );
    assert!(run.out.lines().all(|line| line.chars().count() <= 110), "{}", run.out);
}

#[test]
fn a_refused_call_is_not_given_the_effect_of_an_equal_one() {
    let place = Place::new();
    let fixture = "format: fixture/1\ntitle: t\nplaybooks: [coffee]\ncalls:\n  \
                   early: { tool: payments.charge, args: { amount: 5 } }\n  \
                   order: { tool: take_order, args: { item: latte }, after: [early] }\n  \
                   paid: { tool: payments.charge, args: { amount: 5 }, after: [order] }\n\
                   upstream: { order: [{ ok: {} }], paid: [{ ok: {} }] }\n\
                   expect: { coffee: { early: { outcome: refused }, effects: 2 } }\n";
    place.write("f.yaml", fixture);
    let page = place.run(&["replay", "f.yaml"]).out;
    let effects: Vec<&str> = page.lines().map(str::trim).filter(|line| line.starts_with("effect  ")).collect();
    let made = "effect   claims applied; 1 effect upstream";
    assert_eq!(effects, ["effect   claims not_applied; nothing was sent", made, made], "{page}");
}

#[test]
fn a_replay_says_first_what_was_counted_and_then_the_worst_call_with_its_first_difference() {
    let run = Place::with_trace().run(&["replay", "trace.jsonl"]);
    assert_eq!(run.code, 1, "{}", run.err);
    for said in [
        "8 lines, 2 runs, 3 calls, 5 results, all accounted for",
        "1. payments.issue_refund  r1#1 (c1)",
        "≠        → escalate_to_human: ambiguous_effects",
        "2. crm.close  r2#1 (c1)",
        "retried_after_denial: sent once more after a denial, as recorded",
        "≠ 200  attempt 2: 403_forbidden",
        "next: playproof explain trace.jsonl 'r1#1'",
    ] {
        assert!(run.out.contains(said), "{said}\n{}", run.out);
    }
}

#[test]
fn what_replay_says_to_run_next_can_be_run() {
    let place = Place::with_trace();
    let page = place.run(&["replay", "trace.jsonl"]).out;
    let next = page.lines().find_map(|line| line.strip_prefix("next: playproof ")).expect("a next command");
    let args: Vec<&str> = next.split(' ').map(|word| word.trim_matches('\'')).collect();
    let run = place.run(&args);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("send again?"), "{}", run.out);
}

#[test]
fn a_page_is_as_wide_as_columns_says() {
    let place = Place::with_trace();
    for width in [60, 80, 140] {
        let output = place.command().args(["replay", "trace.jsonl"]).env("COLUMNS", width.to_string()).output();
        let page = String::from_utf8(output.expect("the binary runs").stdout).expect("UTF-8");
        let widest = page.lines().map(|line| line.chars().count()).max();
        assert_eq!(widest, Some(width), "{page}"); // the rule beside a call's title
    }
}

#[test]
fn standard_input_is_an_input() {
    let run = Place::new().run_with(&["replay", "-", "--format", "json"], TRACE);
    assert_eq!(run.code, 1, "{}", run.err);
    let page: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!((&page["format"], &page["inputs"][0]["name"]), (&"replay/1".into(), &"<stdin>".into()));
    assert_eq!(page["calls"].as_array().map(Vec::len), Some(3));
}

#[test]
fn every_line_of_jsonl_is_an_object_and_the_last_is_the_summary() {
    let run = Place::with_trace().run(&["replay", "trace.jsonl", "--format", "jsonl"]);
    let lines: Vec<serde_json::Value> = run.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.first().map(|line| &line["format"]), Some(&"replay/1".into()));
    assert_eq!(lines.last().map(|line| &line["type"]), Some(&"summary".into()));
    let calls = lines.iter().filter(|line| line["type"] == "call").count();
    assert_eq!(calls, 3);
}

#[test]
fn strict_makes_a_doubt_inconclusive() {
    let place = Place::new();
    place.write("t.jsonl", r#"{"tool":"t","status":"error","error":{"kind":"weird","message":"boom"}}"#);
    assert_eq!(place.run(&["replay", "t.jsonl"]).code, 0);
    assert_eq!(place.run(&["replay", "t.jsonl", "--strict"]).code, 3);
}

#[test]
fn what_makes_strict_doubt_can_be_seen() {
    let place = Place::new();
    place.write("t.jsonl", "{\"tool\":\"t\",\"run_id\":\"r\",\"args\":{\"n\":1},\"status\":\"ok\"}\n".repeat(3));
    let run = place.run(&["replay", "t.jsonl", "--strict", "--only", "findings", "--stats"]);
    assert_eq!(run.code, 3, "{}", run.err);
    for said in [
        "doubt   possible_duplicate_effect          2",
        "1. t  r#3 ×2 ──",
        "possible_duplicate_effect: one intent may have had 3 effects, if this tool writes",
    ] {
        assert!(run.out.contains(said), "{said}\n{}", run.out);
    }
}

#[test]
fn all_shows_every_call_those_that_went_well_too() {
    let place = Place::new();
    let ok = "{\"tool\":\"search.web\",\"status\":\"ok\"}\n";
    place.write("t.jsonl", format!("{ok}{ok}{{\"tool\":\"t\",\"status\":\"error\"}}\n"));
    let few = place.run(&["replay", "t.jsonl"]).out;
    assert!(few.contains("1 call failed or shows a finding") && !few.contains("2. "), "{few}");
    let all = place.run(&["replay", "t.jsonl", "--all"]).out;
    assert!(all.contains("3 calls; the most serious first"), "{all}");
    for said in ["1. t  #3", "2. search.web  #1", "3. search.web  #2"] {
        assert!(all.contains(said), "{said}\n{all}");
    }
    let failed = place.run(&["replay", "t.jsonl", "--all", "--only", "failed"]).out;
    assert!(failed.contains("1 call failed; the most serious first") && !failed.contains("2. "), "{failed}");
}

#[test]
fn an_ok_that_was_read_from_a_text_is_said_to_be_so() {
    let place = Place::new();
    let chat = r#"[{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"pay","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c","content":"done"},
{"role":"assistant","tool_calls":[{"id":"d","type":"function","function":{"name":"pay","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"d","content":"done"}]"#;
    place.write("chat.json", chat);
    let page = place.run(&["replay", "chat.json"]).out;
    for said in ["its results have no status", "write, not idempotent (assumed) · status read from the text"] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    let recorded = Place::with_trace();
    assert!(!recorded.run(&["replay", "trace.jsonl"]).out.contains("read from"));
    let loss = place.run(&["formats", "convert", "chat.json", "-o", "t.jsonl"]).err;
    assert!(loss.contains("1 run, 2 calls, 2 results, 0 of them failed"), "{loss}");
    assert!(loss.contains("because none has a status"), "{loss}");
}

#[test]
fn control_characters_and_markup_of_a_trace_reach_no_page() {
    let place = Place::new();
    let hostile = r"\u001b[2J\u0007\u009b31m\u202e```\n# x <img src=y> @me | [a](b)";
    let line = format!(
        r#"{{"run_id":"{hostile}","call_id":"{hostile}","tool":"{hostile}","args":{{"{hostile}":"{hostile}"}},"idempotency_key":"{hostile}","status":"error","error":{{"kind":"{hostile}","message":"{hostile}","code":"{hostile}"}}}}"#
    );
    place.write("t.jsonl", &line);
    for format in ["table", "json", "jsonl", "markdown"] {
        let run = place.run(&["replay", "t.jsonl", "--format", format]);
        assert_eq!(run.code, 0, "{}", run.err);
        let tame = |c: char| c == '\n' || !c.is_control() && c != '\u{202e}';
        assert!(run.out.chars().all(tame), "{format}\n{:?}", run.out);
        assert!(!run.out.lines().any(|line| line.starts_with("# x")), "{format}\n{}", run.out);
    }
    let explained = place.run(&["explain", "t.jsonl"]);
    assert!(explained.out.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", explained.out);
    let markdown = place.run(&["replay", "t.jsonl", "--format", "markdown"]).out;
    assert!(outside_of_code(&markdown).all(|line| !without_code(line).contains("<img")), "{markdown}");
}

/// A line of a Markdown page without its code spans.
fn without_code(line: &str) -> String {
    let (mut said, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(['`', '\\']) {
        let ticks = rest[at..].chars().take_while(|&c| c == '`').count();
        said += &rest[..at];
        let fence = "`".repeat(ticks);
        let after = &rest[at + ticks..];
        rest = match ticks {
            0 => after.get(2..).unwrap_or_default(), // a backslash, and what it escapes
            _ => after.split_once(&fence).map_or(after, |(_, after)| after),
        };
    }
    said + rest
}

/// The lines of a Markdown page that are not inside a code block.
fn outside_of_code(page: &str) -> impl Iterator<Item = &str> {
    let mut fence: Option<usize> = None;
    page.lines().filter(move |line| {
        let ticks = line.chars().take_while(|&c| c == '`').count();
        match fence {
            None if ticks >= 3 => fence = Some(ticks),
            Some(open) if ticks >= open && line.len() == ticks => fence = None,
            _ => return fence.is_none(),
        }
        false
    })
}

#[test]
fn markdown_shows_the_shape_of_arguments_unless_their_values_are_asked_for() {
    let place = Place::with_trace();
    let shape = place.run(&["replay", "trace.jsonl", "--format", "markdown"]).out;
    assert!(shape.contains("args `{amount: number, order: string}`") && !shape.contains("o_91"), "{shape}");
    let values = place.run(&["replay", "trace.jsonl", "--format", "markdown", "--show-args"]).out;
    assert!(values.contains("o_91"), "{values}");
}

#[test]
fn redaction_rules_of_the_project_apply_before_any_page() {
    let place = Place::with_trace();
    place.write("playproof.yaml", "format: project/1\nredaction: { keys: [order], patterns: ['no answer'] }\n");
    for format in ["table", "json", "jsonl"] {
        let run = place.run(&["replay", "trace.jsonl", "--format", format]);
        assert!(!run.out.contains("o_91") && !run.out.contains("no answer within"), "{}", run.out);
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    use std::io::Read;
    use std::process::Stdio;
    let place = Place::new();
    place.write("t.jsonl", TRACE.repeat(5_000));
    let binary = assert_cmd::cargo::cargo_bin!("playproof");
    let mut child = std::process::Command::new(binary)
        .args(["replay", "t.jsonl", "--format", "jsonl"])
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut first = [0; 10];
    child.stdout.take().expect("stdout").read_exact(&mut first).expect("a beginning"); // and drop the pipe
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn help_is_a_result_and_explains_commands_findings_and_lints() {
    let place = Place::new();
    for (args, said) in [
        (&["help"][..], "What people ask:"),
        (&["--help"], "Usage: playproof"),
        (&["help", "replay"], "Usage: playproof replay"),
        (&["help", "playbook", "preset/stripe"], "\nname: preset/stripe\n"),
        (&["replay", "--help"], "Usage: playproof replay"),
        (&["help", "duplicate_effect"], "one intent had more than one effect"),
        (&["help", "shadowed_rule"], "shadowed_rule (lint)"),
        (&["help", "topics"], "findings"),
        (&["help", "circuit_open"], "circuit_open (stop)"),
        (&["help", "Tool", "facts"], "tool_facts (word)"),
        (&["help", "off", "tape"], "off-tape (word)"),
        (&["help", "schema"], "schema (refusal)"),
        (&["help", "schema"], "Usage: playproof schema"),
        (&["--version"], "playproof "),
        (&["lint", "standard"], "clean"),
        (&["schema", "playbook"], "\"$schema\""),
        (&["schema", "trace"], "\"tool\""),
    ] {
        let run = place.run(args);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{args:?}");
        assert!(run.out.contains(said), "{args:?}\n{}", run.out);
    }
}

#[test]
fn colour_is_a_choice_and_changes_nothing_but_colour() {
    let place = Place::with_trace();
    let plain = place.run(&["replay", "trace.jsonl"]).out;
    let coloured = place.run(&["replay", "trace.jsonl", "--color", "always"]).out;
    assert!(coloured.contains('\u{1b}') && !plain.contains('\u{1b}'));
    let mut bare = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        bare += before;
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    assert_eq!(bare + rest, plain);
}

#[test]
fn a_selection_lists_fewer_calls_and_says_that_everything_else_is_of_the_whole_input() {
    let place = Place::with_trace();
    let all = place.run(&["replay", "trace.jsonl"]);
    let one = place.run(&["replay", "trace.jsonl", "--run", "r1"]);
    let (summary, listed) = one.out.split_once("\n\nCounted above").expect("it is said");
    assert!(all.out.starts_with(summary), "the summary is that of the whole input: {}", one.out);
    assert!(listed.contains("`--run r1`") && !listed.contains("r2#1"), "{listed}");
    assert_eq!(all.code, one.code);
    assert!(!all.out.contains("Counted above"), "{}", all.out);
    let flags = ["replay", "trace.jsonl", "--run", "r2", "--only", "failed", "--format"];
    for format in ["json", "jsonl"] {
        let run = place.run(&[&flags[..], &[format]].concat());
        let last = run.out.lines().last().expect("a summary");
        let document: serde_json::Value = serde_json::from_str(last).expect("JSON");
        assert_eq!(document["listed_only"], serde_json::json!({ "only": "failed", "run": "r2" }));
        assert_eq!((&document["playbooks"][0]["calls"], run.code), (&serde_json::json!(3), all.code));
    }
    let markdown = place.run(&[&flags[..], &["markdown"]].concat());
    assert!(markdown.out.contains("the whole input"), "{}", markdown.out);
}

#[test]
fn failed_calls_are_listed_by_the_class_that_is_told_and_by_tool() {
    let place = Place::new();
    let line = |tool: &str, kind: &str| {
        format!("{{\"tool\":\"{tool}\",\"run_id\":\"r\",\"status\":\"error\",\"error\":{{\"kind\":\"{kind}\"}}}}\n")
    };
    let ok = "{\"tool\":\"mail.get\",\"run_id\":\"r\",\"status\":\"ok\"}\n";
    let denied = [line("mail.send", "policy_denied"), line("pay.charge", "policy_denied")].concat();
    place.write("t.jsonl", [&*line("mail.send", "timeout"), &denied, ok].concat());
    let listed = |select: &[&str]| {
        let run = place.run(&[&["replay", "t.jsonl", "--format", "jsonl"], select].concat());
        let lines = run.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        let calls =
            lines.filter(|line| line["type"] == "call").map(|line| line["ref"].as_str().unwrap_or("").to_owned());
        calls.collect::<Vec<_>>()
    };
    assert_eq!(listed(&["--failed"]), ["r#1", "r#2", "r#3"]);
    assert_eq!(listed(&["--tool", "mail.*"]), ["r#1", "r#2", "r#4"]);
    assert_eq!(listed(&["--failed", "--tool", "mail.*"]), ["r#1", "r#2"]);
    assert_eq!(listed(&["--tool", "pay.charge"]), ["r#3"]);
    assert_eq!(listed(&["--class", "network_error"]), ["r#1"]);
    assert_eq!(listed(&["--failed", "--class", "connector_runtime_error", "--tool", "mail.*"]), ["r#2"]);
    let audit = ["replay", "t.jsonl", "--class", "connector_runtime_error", "--format", "json", "--audit", "a.jsonl"];
    let document: serde_json::Value = serde_json::from_str(&place.run(&audit).out).expect("JSON");
    assert_eq!(document["listed_only"], serde_json::json!({ "class": "connector_runtime_error" }));
    let told =
        place.read("a.jsonl").lines().filter(|line| line.contains("\"class\":\"connector_runtime_error\"")).count();
    let listed: u64 = document["calls"].as_array().unwrap().iter().filter_map(|group| group["count"].as_u64()).sum();
    assert_eq!((told, listed), (2, 2), "{document}");
    let none = place.run(&["replay", "t.jsonl", "--class", "hash_mismatch", "--tool", "mail.*"]).exits(2);
    let said = "there is no call that `--class hash_mismatch --tool 'mail.*'` selects";
    assert!(none.err.contains(said) && none.err.ends_with("next: playproof replay t.jsonl\n"), "{}", none.err);
    let wrong = place.run(&["replay", "t.jsonl", "--class", "denied"]).exits(2);
    assert!(wrong.err.contains("capability_denied"), "{}", wrong.err);
    place.run(&["replay", "t.jsonl", "--tool", "mail.[a"]).exits(2);
}

#[test]
fn a_fixture_has_no_runs_to_select() {
    let place = Place::new();
    place.copy_fixture("unkeyed-refund-times-out-after-landing.yaml");
    for flags in [&["--run", "r1"][..], &["--only", "failed"], &["--failed"], &["--tool", "pay*"]] {
        let run = place.run(&[&["replay", "unkeyed-refund-times-out-after-landing.yaml"], flags].concat());
        assert!(run.err.contains(&format!("`{}` selects", flags[0])), "{}", run.err);
        assert_eq!((run.code, run.err.contains("selects calls of a trace")), (2, true), "{}", run.err);
    }
}

#[test]
fn the_commands_are_shown_in_groups_on_one_screen() {
    let place = Place::new();
    let page = place.run(&["--help"]).exits(0).out;
    assert!(page.lines().count() <= 24 && page.lines().all(|line| line.len() <= 100), "{page}");
    assert_eq!(place.run(&["-h"]).exits(0).out, page);
    let headings = page.lines().filter(|line| line.ends_with(':') && !line.starts_with(' '));
    assert_eq!(headings.collect::<Vec<_>>(), ["Every day:", "Analysis:", "Reference:"]);
    let more = place.run(&["help", "more"]).exits(0).out;
    assert!(more.contains("  accept ") && more.contains("--allow-outside"), "{more}");
}
