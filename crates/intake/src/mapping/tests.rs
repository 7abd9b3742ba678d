//! Tests of applied mappings: the lines that they make of rows, and the errors where they do not fit.

use super::{Applier, Mapping, apply, parse, unchanging};
use crate::imported::{ImportWarning, Imported, Missing};
use crate::line_importer::LineImporter;
use crate::reader_state::ReaderState;
use crate::redact::RedactionRules;
use playproof_formats::diagnostic::{Diagnostic, Report, Source};

const TWO_ROWS: &str = "format: mapping/1
call:
  where: { event: tool_start }
  run: trace_id
  id: span.id
  tool: name
  args: { path: input, optional: true }
  at: &at { path: ts, optional: true }
result: { where: { event: tool_end }, run: trace_id, id: { path: span.id, optional: true }, body: output, status: code, at: *at }
failed: [ { ok: false }, { output: { starts_with: \"Error:\" } } ]
kinds:
  timeout: { message: { contains: timed out } }
  rate_limited: { status: 429 }
";

fn mapping(text: &str) -> Mapping {
    parse(Source::whole("m.yaml", text)).unwrap_or_else(|report| panic!("{report}"))
}

fn refusal(text: &str) -> Vec<(&'static str, String, Diagnostic)> {
    let report = parse(Source::whole("m.yaml", text)).expect_err("a refusal");
    underlined(&report)
}

fn underlined(report: &Report) -> Vec<(&'static str, String, Diagnostic)> {
    let text = |diagnostic: &Diagnostic| {
        let of = |label: &playproof_formats::diagnostic::Label| report.source.text[label.span.clone()].to_owned();
        diagnostic.labels.iter().map(of).collect::<Vec<_>>().join("|")
    };
    report.diagnostics.iter().map(|diagnostic| (diagnostic.id, text(diagnostic), diagnostic.clone())).collect()
}

fn as_recorded(map: &Mapping, rows: &[u8]) -> Result<Imported, Report> {
    apply(map, rows, "log", &RedactionRules::default())
}

fn applied(map: &str, rows: &str) -> (Imported, Vec<serde_json::Value>) {
    let found = as_recorded(&mapping(map), rows.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
    let text = String::from_utf8(found.lines.clone()).expect("text");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect();
    (found, lines)
}

#[test]
fn rows_of_calls_and_rows_of_results_become_lines() {
    let (found, _) = applied(
        TWO_ROWS,
        r#"{"event":"tool_start","trace_id":"r","span":{"id":7},"name":"pay","input":{"n": 1},"ts":1.5}
{"event":"other"}
{"event":"tool_end","trace_id":"r","span":{"id":7},"output":"it timed out","ok":false,"ts":9,"code":"504"}
"#,
    );
    let expected = r#"{"type":"tool_call","run_id":"r","call_id":"7","tool":"pay","at_ms":1.5,"args":{"n":1},"source":"line 1"}
{"type":"tool_result","run_id":"r","call_id":"7","at_ms":9,"status":"error","error":{"kind":"timeout","message":"it timed out","status":504},"row":116639786,"source":"line 3"}
"#;
    assert_eq!(std::str::from_utf8(&found.lines), Ok(expected));
    let loss = &found.loss;
    assert_eq!((loss.runs, loss.calls, loss.results, loss.failures), (1, 1, 1, 1));
    assert_eq!(loss.warnings[&ImportWarning::UnmatchedRow].first, "line 2");
    assert!(loss.missing.contains(&Missing::Keys) && !loss.missing.contains(&Missing::Times));
}

#[test]
fn the_first_kind_that_fits_names_the_error_and_a_text_test_ignores_case() {
    let call = r#"{"event":"tool_start","name":"t","span":{"id":1}}"#;
    let kind = |end: &str| {
        let (_, lines) = applied(TWO_ROWS, &format!("{call}\n{end}"));
        lines[1]["error"]["kind"].as_str().unwrap_or("none").to_owned()
    };
    assert_eq!(kind(r#"{"event":"tool_end","output":"ERROR: Timed Out","code":429}"#), "timeout");
    assert_eq!(kind(r#"{"event":"tool_end","output":{"a":1},"ok":false,"code":429}"#), "rate_limited");
    assert_eq!(kind(r#"{"event":"tool_end","output":"x","ok":false}"#), "tool_error");
}

#[test]
fn a_row_that_is_call_and_result_without_an_id_is_identified_by_its_line() {
    let map = "format: mapping/1\ncall: { tool: tool, evidence: ev }\nresult: { status: status, kind: why }\nfailed: { status: 400-599 }\n";
    let (_, lines) = applied(
        map,
        "{\"tool\":\"a\",\"status\":200,\"ev\":\"e1\"}\n\n{\"tool\":\"b\",\"status\":503,\"why\":\"down\"}",
    );
    let brief: Vec<String> = lines.iter().map(|line| format!("{} {}", line["call_id"], line["status"])).collect();
    assert_eq!(brief, ["\"line 1\" null", "\"line 1\" \"ok\"", "\"line 3\" null", "\"line 3\" \"error\""]);
    assert_eq!(lines[0]["evidence_refs"], serde_json::json!(["e1"]));
    assert_eq!(lines[3]["error"]["kind"], "down");
}

#[test]
fn records_lead_to_rows_deep_in_a_document() {
    let map = "format: mapping/1\nrecords: batches[*].spans\ncall: { tool: 'attributes[\"tool.name\"]' }\n";
    let document = r#"{"batches":[{"spans":[{"attributes":{"tool.name":"a"}}]},
        {"spans":[{"attributes":{}},{"attributes":{"tool.name":"b"}}]}]}"#;
    let (found, lines) = applied(map, document);
    let sources: Vec<_> = lines.iter().map(|line| line["source"].as_str().unwrap_or("")).collect();
    assert_eq!(sources, ["batches[0].spans[0]", "batches[1].spans[1]"]);
    assert_eq!(found.loss.count(ImportWarning::UnmatchedRow), 1);
    let (_, lines) = applied(map, &format!("{}\n{}\n", document.replace('\n', ""), document.replace('\n', "")));
    assert_eq!(lines[2]["source"], "line 2: batches[0].spans[0]");
}

#[test]
fn an_array_of_rows_needs_no_records() {
    let (_, lines) = applied("format: mapping/1\ncall: { tool: t }\n", "[{\"t\":\"a\"},\n{\"t\":\"b\"}]");
    assert_eq!((lines.len(), &lines[1]["source"]), (2, &"[1]".into()));
}

#[test]
fn of_start_end_and_latency_two_determine_the_third() {
    let times = |result: &str| {
        let map = format!("format: mapping/1\ncall: {{ tool: t, at: ts }}\nresult: {result}\nfailed: {{ x: 1 }}\n");
        let (_, lines) = applied(&map, "{\"t\":\"a\",\"ts\":1000,\"end\":1400,\"took\":250.5}");
        format!("{} {}", lines[1]["started_ms"], lines[1]["at_ms"])
    };
    assert_eq!(times("{ latency_ms: took }"), "1000 1250.5");
    assert_eq!(times("{ started: ts, latency_ms: took }"), "1000 1250.5");
    assert_eq!(times("{ at: end }"), "null 1400");
}

#[test]
fn what_the_agent_was_told_is_mapped_where_it_is_a_flag() {
    let map = "format: mapping/1\ncall: { tool: t }\nresult: { retriable: told.retriable }\nfailed: { t: a }\n";
    for (told, expected) in [
        ("true", serde_json::json!(true)),
        ("\"False\"", serde_json::json!(false)),
        ("\"soon\"", serde_json::Value::Null),
    ] {
        let (_, lines) = applied(map, &format!("{{\"t\":\"a\",\"told\":{{\"retriable\":{told}}}}}"));
        assert_eq!(lines[1]["error"]["retriable"], expected, "{told}");
    }
}

#[test]
fn a_step_needs_its_parent_and_its_name() {
    let map = "format: mapping/1\ncall: { tool: t, id: i, parent: p, step: s }\n";
    for (fields, expected) in [
        (r#","p":"c1","s":"find""#, ("c1", "find")),
        (r#","p":7,"s":"find""#, ("7", "find")),
        (r#","p":"c1""#, ("", "")),
        (r#","s":"find""#, ("", "")),
        (r#","p":"","s":"find""#, ("", "")),
        (r#","p":{},"s":"find""#, ("", "")),
    ] {
        let (_, lines) = applied(map, &format!("{{\"t\":\"a\",\"i\":\"c2\"{fields}}}"));
        let said = |key: &str| lines[0][key].as_str().unwrap_or_default();
        assert_eq!((said("parent"), said("step")), expected, "{fields}");
    }
    for (there, lacks) in [("parent", "step"), ("step", "parent")] {
        let text = format!("format: mapping/1\ncall: {{ tool: t, {there}: p }}\n");
        let report = parse(Source::whole("map.yaml", text.clone())).expect_err("half a step");
        let said = &report.diagnostics[0];
        assert_eq!((said.id, &text[said.labels[0].span.clone()]), ("missing_key", there));
        assert_eq!(said.message, format!("`{there}` needs `{lacks}`"));
    }
}

#[test]
fn unreadable_numbers_and_times_are_counted_and_left_out() {
    let map = "format: mapping/1\ntime: s\ncall: { tool: t, at: ts }\nresult: { status: s, retry_after_s: ra, attempt: n }\nfailed: { t: a }\n";
    let (found, lines) =
        applied(map, "{\"t\":\"a\",\"ts\":-3,\"s\":99999,\"ra\":\"soon\",\"n\":1.5}\n{\"t\":\"a\",\"ra\":0.25}");
    assert_eq!(
        (found.loss.count(ImportWarning::UnreadableTime), found.loss.count(ImportWarning::UnreadableNumber)),
        (1, 3)
    );
    assert_eq!(lines[3]["error"]["retry_after_ms"], 250);
}

#[test]
fn a_mapping_that_fits_no_row_names_the_paths_of_the_rows() {
    let map = mapping("format: mapping/1\ncall: { where: { evnt: tool }, tool: name }\n");
    let report = as_recorded(&map, b"{\"event\":\"tool\",\"name\":\"a\"}\n{\"event\":\"x\"}").expect_err("a report");
    let (id, text, diagnostic) = underlined(&report).remove(0);
    assert_eq!((id, text.as_str()), ("nothing_fits", "where"));
    assert_eq!(diagnostic.message, "none of the 2 rows of `log` is a call");
    let help = "no row has `evnt` (did you mean `event`?); the first rows have `event`, `name`";
    assert_eq!(diagnostic.help.as_deref(), Some(help));
}

#[test]
fn a_mapping_whose_tool_no_row_has_is_underlined_there() {
    let map = mapping("format: mapping/1\ncall: { tool: nam }\n");
    let report = as_recorded(&map, b"[{\"name\":\"a\",\"span\":{\"id\":1}}]").expect_err("a report");
    let (_, text, diagnostic) = underlined(&report).remove(0);
    assert_eq!(text, "nam");
    assert!(diagnostic.help.is_some_and(|help| help.contains("did you mean `name`?") && help.contains("`span.id`")));
}

#[test]
fn rows_that_fit_but_name_no_tool_underline_the_tool_and_not_the_condition() {
    let map = mapping("format: mapping/1\ncall: { where: { event: tool }, tool: svc.nam }\n");
    let rows = b"{\"event\":\"tool\",\"svc\":{\"name\":\"a\"}}\n{\"event\":\"tool\"}\n{\"event\":\"x\"}";
    let report = as_recorded(&map, rows).expect_err("a report");
    let (_, text, diagnostic) = underlined(&report).remove(0);
    assert_eq!((text.as_str(), diagnostic.labels.len()), ("svc.nam", 1));
    assert_eq!(diagnostic.labels[0].text, "none of the 2 rows that fit has a tool here");
    assert!(diagnostic.help.is_some_and(|help| help.contains("no row has `svc.nam` (did you mean `svc.name`?)")));
}

#[test]
fn a_mapping_without_fitting_results_says_so_and_names_no_field_of_results() {
    let map = "format: mapping/1\ncall: { where: { ev: a }, tool: t, id: id }\n\
               result: { where: { ev: nd }, id: id, body: b }\nfailed: { b: 9 }\n";
    let (found, _) = applied(map, "{\"ev\":\"a\",\"t\":\"x\",\"id\":1}\n{\"ev\":\"end\",\"id\":1,\"b\":2}");
    let last = "no row fits `result.where`, so no call has a result";
    assert_eq!(found.loss.remarks().last().map(String::as_str), Some(last));
    assert_eq!(found.loss.unused, []);
    let (found, _) = applied(
        &map.replace("nd", "end").replace("body: b", "body: t"),
        "{\"ev\":\"a\",\"t\":\"x\",\"id\":1}\n{\"ev\":\"end\",\"id\":1}",
    );
    let last = [
        "no row that is a result has `t`, which the mapping names as `result.body` at m.yaml:3:45",
        "no result has `b`, which the mapping names as `failed` at m.yaml:4:11",
    ];
    assert!(found.loss.remarks().ends_with(&last.map(str::to_owned)), "{:?}", found.loss.remarks());
}

#[test]
fn a_condition_of_failures_that_no_result_can_fit_is_named_where_nothing_failed() {
    let map = "format: mapping/1\ncall: { tool: t }\nresult: { body: b }\nfailed: [{ okay: false }, { err: { absent: false } }]\n";
    let named = |rows: &str| {
        let loss = applied(map, rows).0.loss;
        loss.unused.iter().map(|unused| unused.path.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(named(r#"{"t":"x","b":"done"}"#), "okay err");
    assert_eq!(named(r#"{"t":"x","b":"done","okay":true}"#), "", "one of them is there to tell");
    assert_eq!(named("{\"t\":\"x\",\"err\":\"late\"}\n{\"t\":\"x\",\"b\":1}"), "", "one failed");
}

#[test]
fn the_id_of_a_result_in_the_row_of_its_call_is_no_field_that_no_row_has() {
    let map =
        "format: mapping/1\ncall: { tool: t, id: id }\nresult: { where: { t: x }, id: id }\nfailed: { bad: true }\n";
    let (found, _) = applied(map, "{\"t\":\"x\",\"id\":0,\"bad\":true}");
    assert_eq!(found.loss.unused, []);
    let map = mapping(&map.replace("id: id }\nfailed", "id: ids }\nfailed"));
    let report = as_recorded(&map, b"{\"t\":\"x\",\"id\":0,\"bad\":true}").expect_err("a refusal");
    assert_eq!(report.diagnostics.len(), 1);
}

#[test]
fn a_source_without_rows_is_an_error() {
    let map = mapping("format: mapping/1\nrecords: spans\ncall: { tool: t }\n");
    let report = as_recorded(&map, b"{\"items\": []}").expect_err("a report");
    assert_eq!(underlined(&report)[0].1, "spans");
    assert!(as_recorded(&map, b"").is_err());
}

#[test]
fn a_field_of_the_mapping_that_no_row_has_is_named_with_a_near_path() {
    let map = "format: mapping/1\ncall: { tool: t, id: id, args: input, where: { evnt: a } }\n";
    let rows = "{\"t\":\"a\",\"inputs\":{},\"span\":{\"id\":1},\"event\":\"a\"}";
    let refused = |map: &str| underlined(&as_recorded(&mapping(map), rows.as_bytes()).expect_err("a refusal"));
    let none: Vec<_> = refused(map).into_iter().map(|(id, text, _)| (id, text)).collect();
    assert_eq!(none, [("nothing_fits", "where".to_owned())]);
    let map = map.replace(", where: { evnt: a }", "");
    let found = refused(&map);
    let brief: Vec<_> = found.iter().map(|(id, text, said)| (*id, text.as_str(), said.help.as_deref())).collect();
    assert_eq!(
        brief,
        [
            ("unknown_path", "id", Some("did you mean `span.id`?")),
            ("unknown_path", "input", Some("did you mean `inputs`?"))
        ]
    );
    assert_eq!(found[1].2.message, "no row has `input`, which `call.args` needs");
    let optional = map.replace("id: id, args: input", "id: { path: id, optional: true }, args: inputs");
    let (found, _) = applied(&optional, rows);
    assert_eq!(found.loss.unused, []);
    let tested =
        "format: mapping/1\ncall: { tool: t }\nresult: { where: { t: a, done: true }, body: t }\nfailed: { t: b }\n";
    assert_eq!(
        refused(tested).iter().map(|(id, text, _)| (*id, text.as_str())).collect::<Vec<_>>(),
        [("unknown_path", "done")]
    );
    applied(&tested.replace("done: true", "done: { equals: \"true\", optional: true }"), rows);
    applied(&tested.replace("done: true", "done: { absent: true }"), rows);
    applied(
        &tested.replace(
            "result: { where: { t: a, done: true }, body: t }",
            "result: [{ where: { t: a, done: true } }, { body: t }]",
        ),
        rows,
    );
    applied(&tested.replace(", done: true", "").replace("failed: { t: b }", "failed: { err: x }"), rows);
}

#[test]
fn all_errors_of_a_mapping_are_reported_at_once() {
    let found = refusal(
        "format: mapping/1
call: { tol: name, id: 'a..b', args: 'a[*].b' }
result: { retry_after_ms: a, retry_after_s: b, at: [[x]] }
kinds:
  'bad name': { status: 1 }
  k: { message: { contans: x } }
  l: { message: { matches: '(' } }
  m: {}
  n: { a..b: 1, c: { case: sensitive } }
",
    );
    let brief: Vec<_> = found.iter().map(|(id, text, _)| (*id, text.as_str())).collect();
    let expected = [
        ("unknown_key", "tol"),
        ("bad_path", "'a..b'"),
        ("many_values", "'a[*].b'"),
        ("several_chosen", "retry_after_ms|retry_after_s"),
        ("wrong_type", "[x]"),
        ("bad_name", "'bad name'"),
        ("unknown_key", "contans"),
        ("bad_regex", "'('"),
        ("empty_map", "{}"),
        ("bad_path", "a..b"),
        ("empty_condition", "{ case: sensitive }"),
    ];
    for one in expected {
        assert!(brief.contains(&one), "{one:?} is not in {brief:#?}");
    }
}

#[test]
fn results_without_a_failure_condition_are_refused() {
    let found = refusal("format: mapping/1\ncall: { tool: t }\nresult: { body: b }\n");
    assert_eq!((found.len(), found[0].0), (1, "missing_key"));
    assert_eq!(found[0].2.message, "`result` needs `failed`");
    assert_eq!(refusal("format: mapping/2\ncall: { tool: t }\n")[0].0, "wrong_type");
}

#[test]
fn lines_come_one_by_one_and_a_bad_one_does_not_stop_the_next() {
    let map = mapping("format: mapping/1\ncall: { tool: t }\n");
    let redaction = RedactionRules::default();
    let (mut applier, mut state) = (Applier::new(&map, "log", &redaction), ReaderState::default());
    assert_eq!(applier.line(&mut state, 1, b"{\"t\":\"a\"}"), Ok(()));
    assert_eq!(
        applier.line(&mut state, 2, b"{\"t\": ").map_err(|report| report.to_string()),
        Err("log:2:6: the JSON ends before it is complete".into())
    );
    assert_eq!(applier.line(&mut state, 3, b" \r"), Ok(()));
    assert_eq!(applier.line(&mut state, 4, b"{\"t\":\"b\"}"), Ok(()));
    let text = String::from_utf8(applier.lines().take_imported().lines).expect("text");
    assert_eq!(text.lines().count(), 2);
    assert!(text.contains("\"source\":\"line 4\""));
    assert_eq!(applier.finish().map(|loss| loss.calls), Ok(2));
}

#[test]
fn no_change_of_single_bytes_makes_a_mapping_panic() {
    let row = br#"{"event":"tool_start","trace_id":"r","span":{"id":7},"name":"pay","input":"{\"n\": 1}","ts":1.5}"#;
    let whole = mapping(TWO_ROWS);
    for at in 0..row.len() {
        for byte in [b'"', b'{', b']', b'0', 0xff] {
            let mut mutant = row.to_vec();
            mutant[at] = byte;
            let _ = as_recorded(&whole, &mutant);
        }
        let _ = as_recorded(&whole, &row[..at]);
    }
    for at in (0..TWO_ROWS.len()).step_by(3) {
        for byte in ['"', '{', ']', '0', '[', ':'] {
            let mutant: String = TWO_ROWS.char_indices().map(|(n, c)| if n == at { byte } else { c }).collect();
            if let Ok(mapping) = parse(Source::whole("m", mutant)) {
                let _ = as_recorded(&mapping, row);
            }
        }
    }
}

/// The lines in brief: run, id, tool or status, time.
fn brief(lines: &[serde_json::Value]) -> Vec<String> {
    let part = |line: &serde_json::Value, name: &str| line[name].as_str().unwrap_or("-").to_owned();
    let all = lines.iter().map(|line| {
        let what = if line["type"] == "tool_call" { part(line, "tool") } else { part(line, "status") };
        format!("{} {} {what}", part(line, "run_id"), part(line, "call_id"))
    });
    all.collect()
}

#[test]
fn calls_and_results_have_rows_of_their_own_and_know_what_is_around_them() {
    let map = "format: mapping/1
skip: rest
call: { records: 'm[*].calls[*]', run: ^^.session, id: id, tool: f.name, args: f.args, at: ^.ts }
result: { records: 'm[*]', where: { role: tool }, run: ^.session, id: for, body: text }
failed: text
";
    let document = r#"{"session":"s","m":[{"role":"a","ts":5,"calls":[{"id":"1","f":{"name":"pay","args":"{\"n\":1}"}}]},
        {"role":"tool","for":"1","text":"Error: no money"},{"role":"user"}]}"#;
    let (found, lines) = applied(map, document);
    assert_eq!(brief(&lines), ["s 1 pay", "s 1 error"]);
    assert_eq!((&lines[0]["at_ms"], &lines[0]["args"]["n"]), (&5.into(), &1.into()));
    assert_eq!(found.loss.remarks(), Vec::<String>::new());
    assert!(found.loss.to_string().contains("1 of them failed; 2 rows passed by `skip: rest`"), "{}", found.loss);
    let (told, _) = applied(&map.replace("skip: rest\n", ""), document);
    assert_eq!((told.loss.passed, told.loss.count(ImportWarning::UnmatchedRow)), (0, 2));
}

#[test]
fn the_first_alternative_that_a_row_has_counts_and_prefixes_and_constants_shape_texts() {
    let map = "format: mapping/1
call:
  - where: { kind: span }
    tool: { path: [name, title], strip: { prefix: ['execute_tool ', 'mcp__*__'] } }
  - where: { kind: http }
    tool: { value: http }
";
    let rows = "{\"kind\":\"span\",\"title\":\"execute_tool pay\"}\n{\"kind\":\"span\",\"name\":\"mcp__shop__buy\",\"title\":\"x\"}\n\
                {\"kind\":\"http\"}\n{\"kind\":\"span\",\"name\":\"execute_tool \"}";
    let (_, lines) = applied(map, rows);
    assert_eq!(brief(&lines), ["- - pay", "- - buy", "- - http", "- - execute_tool "]);
}

#[test]
fn an_object_around_the_row_can_be_the_run() {
    let map = "format: mapping/1\nrecords: 'm[*]'\ncall: { tool: t, run: [^.id, ^] }\n";
    let (found, lines) = applied(map, "{\"m\":[{\"t\":\"a\"}]}\n{\"id\":\"own\",\"m\":[{\"t\":\"b\"}]}");
    assert_eq!((brief(&lines), found.loss.runs), (vec!["line 1 - a".to_owned(), "own - b".to_owned()], 2));
    let (_, lines) = applied("format: mapping/1\ncall: { tool: t, run: $file }\n", "{\"t\":\"a\"}");
    assert_eq!(brief(&lines), ["log - a"]);
}

#[test]
fn results_without_ids_are_paired_by_order_and_by_their_tool() {
    let map = "format: mapping/1
pair: order
call: { where: { k: c }, tool: t }
result: { where: { k: r }, tool: t }
failed: { bad: true }
";
    let rows = [
        r#"{"k":"c","t":"a"}"#,
        r#"{"k":"c","t":"b"}"#,
        r#"{"k":"c","t":"a"}"#,
        r#"{"k":"r","t":"b","bad":true}"#,
        r#"{"k":"r"}"#,
        r#"{"k":"r","t":"z"}"#,
    ];
    let (found, lines) = applied(map, &rows.join("\n"));
    assert_eq!(brief(&lines)[3..], ["- line 2 error", "- line 1 ok", "- line 6 ok"]);
    assert_eq!(found.loss.count(ImportWarning::ResultWithoutCall), 1);
}

#[test]
fn answers_to_other_requests_copies_and_rows_to_skip_are_left_out() {
    let map = "format: mapping/1
pair: known
skip: { note: { absent: false } }
unique: [r, c]
new_run: { begin: true }
call: { where: { c: { absent: false } }, id: c, tool: t }
result: { where: { r: { absent: false } }, id: r }
failed: { bad: true }
";
    let rows = [
        r#"{"begin":true,"note":1}"#,
        r#"{"r":"0"}"#,
        r#"{"c":"1","t":"a"}"#,
        r#"{"c":"1","t":"a"}"#,
        r#"{"r":"1"}"#,
        r#"{"r":"1"}"#,
        r#"{"begin":true,"note":1}"#,
        r#"{"c":"2","t":"a"}"#,
        r#"{"else":1}"#,
    ];
    let (found, lines) = applied(map, &rows.join("\n"));
    assert_eq!(brief(&lines), ["line 1 1 a", "line 1 1 ok", "line 7 2 a"]);
    assert_eq!((found.loss.count(ImportWarning::Copy), found.loss.count(ImportWarning::UnmatchedRow)), (2, 1));
}

#[test]
fn each_time_and_each_duration_may_have_its_own_unit() {
    let map = "format: mapping/1
call: { tool: t, at: { path: s, unit: s, optional: true } }
result: { at: { path: end, optional: true }, latency: { path: took, unit: ns } }
failed: { x: 1 }
";
    let (_, lines) = applied(map, r#"{"t":"a","s":"1.5","took":84000000}"#);
    assert_eq!((&lines[0]["at_ms"], &lines[1]["at_ms"]), (&1500.into(), &1584.into()));
    let (_, lines) = applied(map, r#"{"t":"a","end":"Thu, 01 Jan 1970 00:00:02 GMT","took":1000000}"#);
    assert_eq!((&lines[1]["started_ms"], &lines[1]["at_ms"]), (&1999.into(), &2000.into()));
}

#[test]
fn the_content_decides_only_where_the_mapping_says_so_and_no_condition_fits() {
    let status = |failed: &str, row: &str| {
        let map = format!(
            "format: mapping/1\ncall: {{ tool: t }}\nresult: {{ body: b }}\nfailed: {failed}\nnot_failed: {{ fine: true }}\n"
        );
        applied(&map, row).1[1]["status"].as_str().unwrap_or("none").to_owned()
    };
    let error = r#"{"t":"a","b":"Error: no"}"#;
    assert_eq!(status("{ bad: true }", error), "ok");
    assert_eq!(status("[{ bad: true }, text]", error), "error");
    assert_eq!(status("text", r#"{"t":"a","b":"Error: no","fine":true}"#), "ok");
    assert_eq!(status("[{ bad: true }, text]", r#"{"t":"a","b":"no word of it","bad":true}"#), "error");
}

#[test]
fn words_that_prove_a_failure_count_against_a_success_that_a_source_sends_with_each_answer() {
    let status = |key: &str, tool: &str, text: &str| {
        let map = format!(
            "format: mapping/1\ncall: {{ tool: t }}\nresult: {{ body: b }}\nfailed: text\n{key}: {{ fine: true }}\n"
        );
        let row = format!(r#"{{"t":"{tool}","b":"{text}","fine":true}}"#);
        applied(&map, &row).1[1]["status"].as_str().unwrap_or("none").to_owned()
    };
    assert_eq!(status("not_suspected", "book_seat", "Error: no seats"), "error");
    assert_eq!(status("not_suspected", "book_seat", "Sorry, it is full"), "ok");
    assert_eq!(status("not_suspected", "bash", "Error: no seats"), "ok");
    assert_eq!(status("not_failed", "book_seat", "Error: no seats"), "ok");
}

#[test]
fn a_mapping_without_calls_changes_a_recognised_format_and_counts_it() {
    let format = "format: mapping/1\ncall: { tool: t, run: r }\nresult: { body: b }\nfailed: text\n";
    let own = "format: mapping/1
run: session
tool: { path: t, strip: { prefix: x_ } }
failed: [{ message: { starts_with: Oops } }]
not_failed: { message: { contains: expected } }
kinds: { timeout: { message: { contains: slow } } }
";
    let own = mapping(own);
    assert!(own.is_override());
    let format = mapping(format).of_format("the format", Some(&own));
    let rows = [
        r#"{"t":"x_a","r":"1","b":"Oops, slow"}"#,
        r#"{"t":"b","r":"1","session":"s","b":"Error: expected"}"#,
        r#"{"t":"b","r":"1","b":"Error: slow"}"#,
    ];
    let found = as_recorded(&format, rows.join("\n").as_bytes()).unwrap_or_else(|report| panic!("{report}"));
    let text = String::from_utf8(found.lines).expect("text");
    let lines: Vec<_> = text.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect();
    let expected = ["1 line 1 a", "1 line 1 error", "s line 2 b", "s line 2 ok", "1 line 3 b", "1 line 3 error"];
    assert_eq!(brief(&lines), expected);
    assert_eq!((&lines[1]["error"]["kind"], &lines[5]["error"]["kind"]), (&"timeout".into(), &"timeout".into()));
    let said = "the mapping changed 1 result to a failure, 1 failure to a success, 2 error kinds, \
                2 runs of calls and results, 1 tool";
    assert_eq!(found.loss.changed.described().as_deref(), Some(said));
    assert_eq!(refusal("format: mapping/1\nrecords: a\nfailed: { x: 1 }\n")[0].0, "missing_key");
}

#[test]
fn a_renamed_tool_is_paired_by_the_name_of_the_source() {
    let format = "format: mapping/1\npair: order\ncall: { where: { c: { absent: false } }, tool: c, run: r }\n\
                  result: { where: { a: { absent: false } }, tool: a, body: b }\nfailed: text\n";
    let own = mapping("format: mapping/1\ntool: { path: c, strip: { prefix: x_ } }\n");
    let format = mapping(format).of_format("the format", Some(&own));
    let rows = [
        r#"{"c":"x_a","r":"1"}"#,
        r#"{"c":"x_b","r":"1"}"#,
        r#"{"a":"x_b","r":"1","b":"fine"}"#,
        r#"{"a":"x_a","r":"1","b":"Error: no"}"#,
    ];
    let found = as_recorded(&format, rows.join("\n").as_bytes()).unwrap_or_else(|report| panic!("{report}"));
    let text = String::from_utf8(found.lines).expect("text");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect();
    assert_eq!((&lines[0]["tool"], &lines[1]["tool"]), (&"a".into(), &"b".into()));
    assert_eq!((&lines[2]["call_id"], &lines[3]["call_id"]), (&lines[1]["call_id"], &lines[0]["call_id"]));
    assert_eq!((found.loss.failures, found.loss.changed.tools), (1, 2));
}

#[test]
fn a_mapping_warns_of_what_no_row_has_and_not_of_alternatives() {
    let remarks = |text: &str, rows: &str| {
        let found = as_recorded(&mapping(&format!("format: mapping/1\n{text}")), rows.as_bytes());
        found.unwrap_or_else(|report| panic!("{report}")).loss.remarks()
    };
    let rows = r#"{"calls":[{"id":"1","t":"a","b":"x","level":"error","c":null}]}"#;
    let used = "records: 'calls[*]'\nunique: id\ncall: { tool: t, run: ^ }\n\
                result: [{ where: { k: other }, id: other_id }, { body: b }]\n";
    assert_eq!(remarks(&format!("{used}failed: {{ level: error }}\n"), rows), [""; 0]);
    assert_eq!(remarks(&format!("{used}failed: [{{ level: error }}, {{ leve1: error }}]\n"), rows), [""; 0]);
    assert_eq!(
        remarks(
            &format!("{used}failed: {{ levle: error }}\nkinds: {{ timeout: {{ levle: x, reason: late }} }}\n"),
            rows
        ),
        [("failed", "6:11"), ("kinds", "7:21")].map(|(key, place)| format!(
            "no result has `levle`, which the mapping names as `{key}` at m.yaml:{place} (did you mean `level`?)"
        ))
    );
    assert_eq!(
        remarks(&format!("{}failed: text\n", used.replace("unique: id", "unique: idd")), rows),
        ["no row has `idd`, which the mapping names as `unique` at m.yaml:3:9 (did you mean `id`?)"]
    );
}

#[test]
fn a_failure_in_words_that_failed_does_not_name_is_warned_of() {
    let rows = r#"{"t":"refund","ok":false,"b":"Error: no such order"}
{"t":"refund","ok":true,"b":"done"}"#;
    let remarks = |failed: &str| {
        let own = format!("format: mapping/1\ncall: {{ tool: t }}\nresult: {{ body: b }}\nfailed: {failed}\n");
        let found = as_recorded(&mapping(&own), rows.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
        found.loss.remarks()
    };
    assert_eq!(
        remarks("{ ok: 'no' }"),
        [
            "1 result whose content or status tells of a failure, which `failed` does not name: a success (`failed: [..., text]` \
             reads it) (first at line 1)"
        ]
    );
    for named in ["{ ok: false }", "[{ ok: 'no' }, text]"] {
        assert_eq!(remarks(named), Vec::<String>::new(), "{named}");
    }
    assert_eq!(remarks("{ ok: 'no' }\nnot_failed: { ok: false }"), Vec::<String>::new());
}

#[test]
fn a_content_that_no_result_has_tells_of_no_success() {
    let said = |result: &str, failed: &str| {
        let own = format!("format: mapping/1\ncall: {{ tool: t }}\nresult: {result}\n{failed}\n");
        let found = as_recorded(&mapping(&own), br#"{"t":"pay","out":"Error: declined","ok":false}"#);
        found.map(|found| found.loss.failures).map_err(|report| format!("{report:?}"))
    };
    let report = said("{ body: outt }", "failed: text").unwrap_err();
    assert!(report.contains("no result of") && report.contains("did you mean `out`?"), "{report}");
    assert!(said("{ id: ok }", "failed: text").unwrap_err().contains("name the content: `body` in `result`"));
    assert_eq!(said("{ body: out }", "failed: text"), Ok(1));
    assert_eq!(said("{ body: outt }", "failed: [{ ok: false }, text]"), Ok(1));
}

#[test]
fn a_status_inside_the_content_counts_for_the_mapping_of_the_user() {
    let format = "format: mapping/1\ncall: { tool: t }\nresult: { body: b }\nfailed: text\n";
    let remarks = |own: &str| {
        let own = mapping(&format!("format: mapping/1\n{own}\n"));
        let format = mapping(format).of_format("the format", Some(&own));
        let rows = r#"{"t":"a","b":"{\"error\":{\"status\":403,\"message\":\"no\"}}"}"#;
        let found = as_recorded(&format, rows.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
        found.loss.remarks().pop().unwrap_or_default()
    };
    assert_eq!(remarks("not_failed: { status: 403 }"), "the mapping changed 1 failure to a success");
    for nothing in ["not_failed: { status: 404 }", "failed: { nosuch: { contains: x } }", "tool: nosuch", "run: nosuch"]
    {
        assert_eq!(remarks(nothing), "the mapping changed nothing", "{nothing}");
    }
}

#[test]
fn what_is_wrong_in_the_new_parts_of_a_mapping_is_underlined() {
    let found = refusal(
        "format: mapping/1
records: [^.a, 'b[*']
skip: all
pair: sequence
run: here
call: { tool: { path: a, value: b }, args: { path: x, unit: s }, at: { unit: s }, run: 'a[=x]', id: { pth: a } }
result: { latency: a, latency_ms: b }
failed: [texts]
",
    );
    let brief: Vec<_> = found.iter().map(|(id, text, _)| (*id, text.as_str())).collect();
    for one in [
        ("bad_path", "^.a"),
        ("bad_path", "'b[*'"),
        ("wrong_type", "all"),
        ("wrong_type", "sequence"),
        ("misplaced_key", "run"),
        ("misplaced_key", "unit"),
        ("bad_path", "'a[=x]'"),
        ("unknown_key", "pth"),
        ("several_chosen", "latency|latency_ms"),
        ("wrong_type", "texts"),
    ] {
        assert!(brief.contains(&one), "{one:?} is not in {brief:#?}");
    }
}

#[test]
fn a_mapping_leads_to_the_headers_of_failed_answers() {
    let map =
        "format: mapping/1\ncall: { tool: t }\nresult: { status: s, headers: http.headers }\nfailed: { s: 429 }\n";
    let rows = "{\"t\":\"a\",\"s\":429,\"http\":{\"headers\":{\"Retry-After\":2,\"Cookie\":\"s\",\"X-A\":[\"1\",\"2\"]}}}\n\
                {\"t\":\"a\",\"s\":200,\"http\":{\"headers\":{\"Retry-After\":2}}}\n{\"t\":\"a\",\"s\":429}";
    let (_, lines) = applied(map, rows);
    assert_eq!(lines[1]["error"]["headers"], serde_json::json!({ "retry-after": "2", "x-a": ["1", "2"] }));
    assert_eq!(
        (&lines[3]["error"], &lines[5]["error"]["headers"]),
        (&serde_json::Value::Null, &serde_json::Value::Null)
    );
}

#[test]
fn a_result_that_holds_its_calls_is_read_after_them_and_judged_by_their_tool() {
    let map = "format: mapping/1
call: { records: \"[*].step.calls[*]\", run: { value: r }, id: id, tool: name }
result: { records: \"[*]\", run: { value: r }, id: \"step.calls[0].id\", body: out }
skip: rest
failed: [text]
";
    let rows = r#"[{"out":"fare_not_found","step":{"calls":[{"id":"1","name":"edit_fare"}]}},
{"out":"fare_not_found","step":{"calls":[{"id":"2","name":"search"}]}}]"#;
    let (found, lines) = applied(map, rows);
    let brief: Vec<_> = lines.iter().map(|line| (line["call_id"].as_str(), line["status"].as_str())).collect();
    assert_eq!(brief, [(Some("1"), None), (Some("1"), Some("error")), (Some("2"), None), (Some("2"), Some("ok"))]);
    assert_eq!((found.loss.results, found.loss.failures), (2, 1));
}

#[test]
fn a_value_that_is_none_of_several_or_missing_fits_not() {
    let map = "format: mapping/1
call: { run: { value: r }, id: id, tool: tool }
result: { body: out }
failed: [text]
not_failed: { tool: { not: [bash, python] } }
";
    let row = |tool: &str| format!("{{\"id\":\"{tool}\",\"tool\":\"{tool}\",\"out\":\"Error: boom\"}}\n");
    let (_, lines) = applied(map, &["bash", "read", "python"].map(row).concat());
    let results = lines.iter().filter(|line| line["type"] == "tool_result");
    let failed: Vec<_> = results.map(|line| line["status"] == "error").collect();
    assert_eq!(failed, [true, false, true]);
}

#[test]
fn what_two_of_three_times_and_a_status_tell_is_not_missing() {
    let row = r#"{"tool":"pay","end":"2026-03-02T09:15:02Z","took":1500,"http":500}"#;
    let lacks = |result: &str| {
        let map =
            format!("format: mapping/1\ncall: {{ tool: tool }}\nresult: {{ {result} }}\nfailed: {{ http: 500 }}\n");
        let (found, lines) = applied(&map, row);
        let all = [Missing::Times, Missing::Kinds, Missing::KindNames, Missing::Status];
        (lines[0]["at_ms"].clone(), all.map(|missing| found.loss.missing.contains(&missing)))
    };
    assert_eq!(
        lacks("at: end, latency: { path: took, unit: ms }, status: http"),
        (1_772_442_900_500_u64.into(), [false, false, true, false])
    );
    assert_eq!(lacks("started: end, code: http"), (1_772_442_902_000_u64.into(), [false, false, true, false]));
    assert_eq!(lacks("at: end"), (serde_json::Value::Null, [true, true, false, true]));
}

#[test]
fn a_status_of_a_failure_that_failed_does_not_name_is_warned_of() {
    let warned = |status: &str, rest: &str| {
        let own = format!("format: mapping/1\ncall: {{ tool: t }}\nresult: {{ status: st, code: c }}\n{rest}");
        let row = format!("{{\"t\":\"pay\",\"res\":\"ko\",\"st\":{status},\"c\":\"timeout\"}}");
        applied(&own, &row).0.loss.count(ImportWarning::UnnamedFailure)
    };
    let by_flag = "failed: { res: KO }\n";
    assert_eq!((warned("500", by_flag), warned("\"404\"", by_flag)), (1, 1));
    assert_eq!((warned("200", by_flag), warned("600", by_flag)), (0, 0));
    assert_eq!(warned("500", "failed: { res: KO }\nnot_failed: { st: 500 }\n"), 0, "it is named as a success");
}

#[test]
fn a_call_goes_on_waiting_after_a_result_that_is_not_finished() {
    let map = "format: mapping/1
pair: order
call: { where: { ev: BEGIN }, tool: fn }
result: { where: { ev: [WAIT, END] }, tool: fn, body: out }
unfinished: { ev: WAIT }
failed: text
";
    let rows = "{\"ev\":\"BEGIN\",\"fn\":\"pay\"}\n{\"ev\":\"WAIT\",\"fn\":\"pay\"}\n\
                {\"ev\":\"END\",\"fn\":\"pay\",\"out\":\"done\"}";
    let (found, lines) = applied(map, rows);
    assert_eq!((lines.len(), &lines[1]["call_id"]), (2, &lines[0]["call_id"]));
    assert_eq!(found.loss.count(ImportWarning::Unfinished), 1);
    assert_eq!(found.loss.count(ImportWarning::ResultWithoutCall), 0);
}

#[test]
fn failed_and_not_failed_name_parts_of_the_result_where_the_row_has_no_field_of_that_name() {
    let status = |result: &str, conditions: &str, row: &str| {
        let map = format!("format: mapping/1\ncall: {{ tool: t }}\nresult: {result}\n{conditions}\n");
        applied(&map, &format!("{{\"t\":\"find_user\",{row}}}")).1[1]["status"].as_str().unwrap_or("none").to_owned()
    };
    let row = r#""why":"User not found","st":404,"c":"E7""#;
    let whole = "{ message: why, status: st, code: c }";
    for named in ["message: { starts_with: user not found }", "status: 400-599", "code: E7"] {
        assert_eq!(status(whole, &format!("failed: {{ {named} }}"), row), "error", "{named}");
        assert_eq!(status("{ id: t }", &format!("failed: {{ {named} }}"), row), "ok", "{named}");
    }
    let by_body = "failed: text\nnot_failed: { message: { contains: not found } }";
    assert_eq!(status("{ body: why }", by_body, row), "ok");
    let own = r#""status":"failed","st":200"#;
    assert_eq!(status("{ status: st }", "failed: { status: failed }", own), "error", "a field of the row comes first");
    assert_eq!(status("{ status: st }", "failed: { status: 200 }", own), "ok");
}

/// What the report says of a mapping and rows beside the warnings.
fn unfitting(map: &str, rows: &str) -> Vec<String> {
    let loss = applied(&format!("format: mapping/1\n{map}"), rows).0.loss;
    loss.unused.iter().map(ToString::to_string).chain(loss.unknown_kinds.iter().map(ToString::to_string)).collect()
}

const LOG: &str = "{\"ev\":\"BEGIN\",\"op\":\"svc:pay\",\"hb\":false}\n{\"ev\":\"WAIT\",\"res\":\"ko\"}\n\
                   {\"ev\":\"END\",\"res\":\"OK\",\"why\":\"held\",\"st\":423}\n{\"ev\":\"END\",\"res\":\"KO\",\"st\":200}";

#[test]
fn a_misspelt_path_of_any_condition_is_named_with_its_place_and_what_is_meant() {
    let said = |condition: &str| {
        let map = "skip: { hb: true }\ncall: { where: { ev: BEGIN }, tool: op }\n\
                   result: { where: { ev: [WAIT, END] }, message: why, status: st }\nfailed: { res: KO }\n";
        let map = match condition.starts_with("skip") {
            true => map.replace("skip: { hb: true }", condition),
            false => format!("{map}{condition}\n"),
        };
        unfitting(&map, LOG).join("; ")
    };
    let no_row = |path: &str, key: &str, place: &str, near: &str| {
        let who = if key == "skip" { "row" } else { "result" };
        format!("no {who} has `{path}`, which the mapping names as `{key}` at m.yaml:{place} (did you mean `{near}`?)")
    };
    assert_eq!(said("not_failed: { mesage: { contains: x } }"), no_row("mesage", "not_failed", "6:15", "message"));
    assert_eq!(said("kinds: { timeout: { staus: 504 } }"), no_row("staus", "kinds", "6:21", "status"));
    assert_eq!(said("skip: { hbb: true }"), no_row("hbb", "skip", "2:9", "hb"));
    for fine in [
        "not_failed: { note: fine }",
        "skip: { level: debug }",
        "kinds: { stock_held: { message: { contains: x } } }",
        "not_suspected: { ress: OK }",
    ] {
        assert_eq!(said(fine), "", "{fine}");
    }
}

#[test]
fn a_kind_that_is_nearly_a_known_one_is_named() {
    let said = "no known kind is `timout`, which the mapping names as `kinds` at m.yaml:5:10 (did you mean `timeout`?)";
    let map = "call: { tool: op }\nresult: { body: why }\nfailed: text\n";
    assert_eq!(unfitting(&format!("{map}kinds: {{ timout: {{ why: late }} }}"), LOG), [said]);
    assert_eq!(unfitting(&format!("{map}kinds: {{ timout: {{ why: a }}, timeout: {{ why: b }} }}"), LOG), [""; 0]);
    assert_eq!(unfitting(&format!("{map}kinds: {{ stock_held: {{ why: late }} }}"), LOG), [""; 0]);
}

#[test]
fn a_path_to_rows_that_finds_none_is_named_and_not_what_the_rows_would_have() {
    let document = r#"{"sessions":[{"sid":"S","turns":[{"acts":[{"op":"a","id":1}],"outs":[{"id":1,"b":"x"}]}]}]}"#;
    let map = |acts: &str, outs: &str| {
        format!(
            "call: {{ records: 'sessions[*].{acts}[*].acts[*]', run: ^^.sid, id: id, tool: op }}\n\
             result: {{ records: 'sessions[*].turns[*].{outs}[*]', run: ^^.sid, id: id, body: b }}\nfailed: text\n"
        )
    };
    assert_eq!(unfitting(&map("turns", "outs"), document), [""; 0]);
    let said = "no rows are at `sessions[*].turns[*].outz[*]`, which the mapping names as `result.records` at m.yaml:3:20 \
                (did you mean `sessions[*].turns[*].outs[*]`?)";
    assert_eq!(unfitting(&map("turns", "outz"), document), [said]);
    let wrong = mapping(&format!("format: mapping/1\n{}", map("turnz", "outs")));
    let report = as_recorded(&wrong, document.as_bytes()).expect_err("no calls");
    let (id, text, diagnostic) = underlined(&report).remove(0);
    assert_eq!((id, text.as_str()), ("no_rows", "'sessions[*].turnz[*].acts[*]'"));
    assert_eq!(diagnostic.help.as_deref(), Some("did you mean `sessions[*].turns[*].acts[*]`?"));
    let near = |run: &str| unfitting(&map("turns", "outs").replacen("^^.sid", run, 1), document).join("; ");
    assert!(near("^.sid").ends_with("(did you mean `^^.sid`?)"), "{}", near("^.sid"));
    assert!(near("$flie").ends_with("(did you mean `$file`?)"), "{}", near("$flie"));
}

/// The lines of rows in a format whose content decides, under the user's mapping without `call`.
fn changed(own: &str, format: &str, bodies: &[&str]) -> (Vec<String>, Option<String>) {
    let format = format!("format: mapping/1\ncall: {{ tool: t }}\nresult: {{ body: b }}\n{format}");
    let own = mapping(&format!("format: mapping/1\n{own}"));
    let format = mapping(&format).of_format("the format", Some(&own));
    let row = |body: &&str| serde_json::json!({ "t": "find_user", "b": body, "flag": "fine" }).to_string();
    let rows = bodies.iter().map(row).collect::<Vec<_>>().join("\n");
    let found = as_recorded(&format, rows.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
    let lines = String::from_utf8(found.lines).expect("text");
    let lines = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("one object a line"));
    let status = |line: serde_json::Value| line["status"].as_str().map(str::to_owned);
    (lines.filter_map(status).collect(), found.loss.changed.described())
}

#[test]
fn a_status_or_code_in_the_content_of_a_success_counts_in_a_mapping_without_calls() {
    let bodies = [r#"{"status":207}"#, r#"{"code":"E7","n":1}"#, r#"{"status":"KAPUTT"}"#, r#"[{"status":207}]"#];
    let (lines, said) = changed("failed: [{ status: 207 }, { code: E7 }]\n", "failed: text\n", &bodies);
    assert_eq!(lines, ["error", "error", "ok", "ok"]);
    assert_eq!(said.as_deref(), Some("the mapping changed 2 results to failures"));
    let (lines, _) = changed("failed: { status: KAPUTT }\n", "failed: text\n", &bodies);
    assert_eq!(lines, ["ok", "ok", "error", "ok"]);
}

#[test]
fn a_mapping_without_calls_says_which_results_are_called_successes() {
    let bodies = ["User not found", r#"{"error":"no"}"#, "Error: declined"];
    let of_text = "failed: text\n";
    let (before, _) = changed("tool: t\n", of_text, &bodies);
    let (after, said) = changed("not_suspected: { flag: fine }\n", of_text, &bodies);
    assert_eq!((before[0].as_str(), after[0].as_str(), &after[1..]), ("suspected", "ok", &before[1..]));
    assert_eq!(said.as_deref(), Some("the mapping changed 1 failure to a success"));
    let (after, _) = changed("not_suspected: { flag: fine }\n", "failed: { flag: fine }\n", &bodies);
    assert_eq!(after, ["error"; 3], "a flag of the format is stronger");
}

#[test]
fn a_mapping_without_calls_is_told_which_keys_it_may_have() {
    let found = refusal("format: mapping/1\nfailed: { x: 1 }\nskip: rest\npair: order\n");
    let (id, text, said) = &found[0];
    assert_eq!((found.len(), *id, text.as_str()), (1, "missing_key", "skip|pair"));
    let help = "say how rows become calls (`call`), or use only `failed`, `not_failed`, `not_suspected`, `kinds`, `words`, `run`, `tool`";
    assert_eq!(said.help.as_deref(), Some(help));
    assert_eq!(
        refusal("format: mapping/1\nresult: { body: b }\nfailed: text\n")[0].2.message,
        "a mapping needs `call`"
    );
    let misspelt = refusal("format: mapping/1\ncal: { tool: t }\nskip: rest\n");
    assert_eq!((misspelt.len(), misspelt[0].0), (1, "unknown_key"));
}

#[test]
fn a_key_without_a_value_is_refused_and_null_means_missing() {
    let found = refusal("format: mapping/1\ncall: { where: { ev: END, WAIT }, tool: t }\n");
    let (id, text, said) = &found[0];
    assert_eq!((found.len(), *id, text.as_str()), (1, "no_value", "WAIT"));
    assert!(
        said.help.as_deref().is_some_and(|help| help.contains("`event: [end, wait]`") && help.contains("`WAIT: null`"))
    );
    let (_, lines) = applied("format: mapping/1\ncall: { where: { gone: null, away: ~ }, tool: t }\n", "{\"t\":\"a\"}");
    assert_eq!(lines.len(), 1);
}

#[test]
fn a_unit_where_the_name_has_one_leads_to_the_key_that_takes_it() {
    let said = |part: &str| {
        let text = format!(
            "format: mapping/1\ncall: {{ tool: t }}\nresult: {{ {part}: {{ path: d, unit: s }} }}\nfailed: text\n"
        );
        let (id, text, said) = refusal(&text).remove(0);
        assert_eq!((id, text.as_str()), ("misplaced_key", "unit"));
        format!("{}: {}", said.message, said.help.unwrap_or_default())
    };
    assert_eq!(
        said("latency_ms"),
        "`result.latency_ms` has its unit in its name: a duration in another unit is `latency`, with this `unit`"
    );
    assert!(said("retry_after_ms").ends_with("milliseconds are `retry_after_ms`, seconds `retry_after_s`"));
    assert_eq!(said("body"), "`result.body` is neither a time nor a duration, and has no unit: ");
}

#[test]
fn seconds_that_are_read_as_milliseconds_are_warned_of() {
    let warned = |time: &str, value: &str| {
        let map = format!("format: mapping/1\n{time}call: {{ tool: t, at: ts }}\n");
        applied(&map, &format!("{{\"t\":\"a\",\"ts\":{value}}}")).0.loss.describe(ImportWarning::TimeIn1970)
    };
    let said = "1 time in January 1970 (first at the document: the mapping has no unit, perhaps it is `time: s`)";
    assert_eq!(warned("", "1772442902").as_deref(), Some(said));
    assert!(warned("", "\"1772442902.5\"").is_some());
    for (time, value) in
        [("time: s\n", "1772442902"), ("time: ms\n", "1772442902"), ("", "1772442902000"), ("", "5000")]
    {
        assert_eq!(warned(time, value), None, "{time}{value}");
    }
}

#[test]
fn the_first_value_that_cannot_be_read_is_named_with_its_path() {
    let map = "format: mapping/1\ncall: { tool: t, at: ts }\nresult: { latency: took, status: st }\nfailed: text\n";
    let rows =
        "{\"t\":\"a\",\"ts\":\"noon\",\"took\":\"5s\",\"st\":\"bad\"}\n{\"t\":\"a\",\"ts\":\"late\",\"took\":\"long\"}";
    let loss = applied(map, rows).0.loss;
    let first = |warning| loss.warnings.get(&warning).map(|counted| (counted.count, counted.first.as_str()));
    assert_eq!(first(ImportWarning::UnreadableTime), Some((3, "line 1: `ts` is `noon`")));
    assert_eq!(first(ImportWarning::UnreadableNumber), Some((2, "line 1: `st` is `bad`")));
}

#[test]
fn no_value_is_quoted_where_anything_is_redacted() {
    let map =
        "format: mapping/1\ncall: { tool: t }\nresult: { latency: took, body: t }\nfailed: { user: hannahsmith }\n";
    let rows = br#"{"t":"a","took":"s3cr3t-value","user":"hannahsmyth"}"#;
    let said =
        |rules: RedactionRules| apply(&mapping(map), rows, "log", &rules).expect("read").loss.remarks().join("; ");
    let open = said(RedactionRules::default());
    assert!(open.contains("s3cr3t-value"), "{open}");
    for rules in [RedactionRules::new(&["user", "took"], &[]), RedactionRules::new(&[], &["other"])] {
        let said = said(rules.expect("rules"));
        assert!(!said.contains("s3cr3t-value") && !said.contains("hannahsmyth"), "{said}");
        assert!(said.contains("2 numbers that could not be read, left out"), "{said}");
    }
}

#[test]
fn the_paths_below_a_redacted_key_are_not_named() {
    let wrong = mapping("format: mapping/1\ncall: { tool: secret.hanah }\n");
    let rules = RedactionRules::new(&["secret"], &[]).expect("rules");
    let report = apply(&wrong, br#"{"secret":{"hannah":1}}"#, "log", &rules).expect_err("no calls");
    assert_eq!(report.diagnostics[0].help.as_deref(), Some("the first rows have `secret`"));
}

#[test]
fn of_several_paths_that_is_named_whose_value_cannot_be_read() {
    let map = "format: mapping/1\ncall: { tool: t }\nresult: { status: [status, http], body: t }\nfailed: text\n";
    let loss = applied(map, r#"{"t":"a","http":"ko"}"#).0.loss;
    assert_eq!(loss.warnings[&ImportWarning::UnreadableNumber].first, "the document: `http` is `ko`");
}

#[test]
fn a_test_on_absence_is_about_the_field_of_the_row_and_no_part_of_the_result() {
    let failures = |result: &str, conditions: &str, rows: &str| {
        applied(&format!("format: mapping/1\ncall: {{ tool: t }}\nresult: {result}\n{conditions}\n"), rows)
            .0
            .loss
            .failures
    };
    let rows = "{\"t\":\"a\",\"output\":\"fine\"}\n{\"t\":\"a\",\"message\":\"no room\"}";
    assert_eq!(failures("{ body: output, message: message }", "failed: { message: { absent: false } }", rows), 1);
    let rows = "{\"t\":\"a\",\"http\":200}\n{\"t\":\"a\",\"status\":\"broken\"}";
    assert_eq!(failures("{ status: [status, http] }", "failed: { status: { not: [null, ok] } }", rows), 1);
    let rows = "{\"t\":\"a\",\"output\":\"Error: no room\"}";
    assert_eq!(failures("{ body: output }", "failed: text\nnot_failed: { message: null }", rows), 0);
}

#[test]
fn a_field_that_is_null_in_each_row_is_there_and_a_missing_one_is_named_once() {
    let map = "call: { tool: t }\nresult: { message: error, body: b }\nfailed: { error: { absent: false } }\n";
    assert_eq!(unfitting(map, r#"{"t":"a","b":"done","error":null}"#), [""; 0]);
    let below = map.replace("error", "error.text");
    assert_eq!(unfitting(&below, r#"{"t":"a","b":"done","error":null}"#), [""; 0]);
    let said = "no row has `error`, which the mapping names as `result.message` at m.yaml:3:20";
    assert_eq!(unfitting(map, r#"{"t":"a","b":"done"}"#), [said]);
}

#[test]
fn rows_of_failure_words_come_before_those_of_the_program() {
    let map = |words: &str| {
        format!(
            "format: mapping/1
call: {{ records: \"[*]\", run: {{ value: r }}, id: id, tool: tool }}
result: {{ records: \"[*]\", run: {{ value: r }}, id: id, body: out }}
skip: rest
failed: [text]
{words}"
        )
    };
    let rows = r#"[{"id":"1","tool":"load_shelf","out":"Lift 3 is asleep"}]"#;
    let said = |words: &str| {
        let (_, lines) = applied(&map(words), rows);
        lines[1]["status"].as_str().map(str::to_owned)
    };
    let row =
        "words: [{ where: first, says: failed, pattern: '^lift', examples: [Lift 3 is asleep, Lift 7 is asleep] }]\n";
    assert_eq!(said("").as_deref(), Some("suspected"));
    assert_eq!(said(row).as_deref(), Some("error"));
    assert_eq!(said(&row.replace("failed", "unfinished")).as_deref(), Some("unfinished"));
    let text = map(&row.replace("Lift 7 is asleep", "The gate is shut"));
    let report = parse(Source::whole("m", text)).expect_err("an example that does not fit");
    assert!(report.to_string().contains("does not match its own example"), "{report}");
    assert!(unchanging().is_some_and(|mapping| mapping.is_override()));
}
