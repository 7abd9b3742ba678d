//! Imports small conversations in each format.

use super::{SourceFormat, import};
use crate::builtin;
use crate::builtin::beginning::{completed, documents};
use crate::imported::{ImportWarning, Imported, Missing};
use playproof_formats::diagnostic::Report;

/// The format that a file has which begins so.
pub(super) fn detect(text: &str) -> Option<SourceFormat> {
    let start = completed(text.as_bytes());
    super::detect(*documents(&start.text).first()?, start.is_cut)
}

fn imported(text: &str) -> Imported {
    import(detect(text).expect("a known format"), text.as_bytes(), "sample").expect("an import")
}

fn lines(imported: &Imported) -> Vec<serde_json::Value> {
    let text = std::str::from_utf8(&imported.lines).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect()
}

fn refused(format: SourceFormat, bytes: &[u8]) -> Report {
    import(format, bytes, "sample").expect_err("a refusal")
}

const CALL: &str = r#"{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"pay","arguments":"{\"n\": 1}"}}]}"#;

fn chat(result: &str) -> String {
    format!("[{CALL},{result}]")
}

#[test]
fn a_chat_becomes_calls_results_and_the_end_of_its_run() {
    let found = imported(&chat(r#"{"role":"tool","tool_call_id":"c1","content":"done"}"#));
    let expected = r#"{"type":"tool_call","run_id":"run_1","call_id":"c1","tool":"pay","args":{"n":1},"source":"[0].tool_calls[0]"}
{"type":"tool_result","run_id":"run_1","call_id":"c1","status":"ok","status_from":"text","row":693578011,"source":"[1]"}
{"type":"run_end","run_id":"run_1"}
"#;
    assert_eq!(std::str::from_utf8(&found.lines), Ok(expected));
    assert_eq!((found.loss.calls, found.loss.results, found.loss.failures, found.loss.unanswered), (1, 1, 0, 0));
    assert!(found.loss.missing.contains(&Missing::Times) && found.loss.missing.contains(&Missing::FailureFlags));
}

#[test]
fn a_flag_wins_over_the_error_prefix() {
    let result = |flag: &str| {
        let found = imported(&chat(&format!(
            r#"{{"role":"tool","tool_call_id":"c1","content":"Error: no seats","error":{flag}}}"#
        )));
        let line = lines(&found).swap_remove(1);
        (line["status"].clone(), line["error"]["kind"].clone(), line["error"]["message"].clone())
    };
    let failed = ("error".into(), "tool_error".into(), "no seats".into());
    assert_eq!(result("true"), failed);
    assert_eq!(result("null"), failed);
    assert_eq!(result("false"), ("ok".into(), serde_json::Value::Null, serde_json::Value::Null));
}

#[test]
fn a_flag_is_read_however_it_is_written_and_one_that_says_neither_is_warned_of() {
    let result = |flag: &str| {
        let found = imported(&chat(&format!(r#"{{"role":"tool","tool_call_id":"c1","content":"x",{flag}}}"#)));
        let line = lines(&found).swap_remove(1);
        let message = line["error"]["message"].as_str().unwrap_or_default().to_owned();
        (line["status"] == "error", message, found.loss.count(ImportWarning::UnknownFlag))
    };
    for flag in [r#""is_error":1"#, r#""is_error":"True""#, r#""isError":true"#, r#""status":"ERROR""#] {
        assert_eq!(result(flag), (true, "x".into(), 0), "{flag}");
    }
    let none = [r#""error":{}"#, r#""error":"None""#, r#""error":"No error""#, r#""error":" ""#];
    for flag in [r#""is_error":0"#, r#""error":"""#, r#""error":null"#, r#""status":"success""#].into_iter().chain(none)
    {
        assert_eq!(result(flag), (false, String::new(), 0), "{flag}");
    }
    assert_eq!(result(r#""error":"no route""#), (true, "no route".into(), 0));
    assert_eq!(result(r#""error":false,"is_error":true"#), (true, "x".into(), 0));
    assert_eq!(result(r#""is_error":"perhaps""#), (false, String::new(), 1));
}

#[test]
fn calls_of_a_history_that_was_cut_before_it_was_sent_again_are_warned_of() {
    let call = CALL.replace("\"c1\"", "\"call_8Yd2kQx0Zp41\"");
    let whole = format!(r#"{{"messages":[{{"role":"user","content":"go"}},{call}]}}"#);
    let cut = format!(r#"{{"messages":[{call},{{"role":"user","content":"and now?"}}]}}"#);
    assert_eq!(imported(&format!("{whole}\n{cut}")).loss.count(ImportWarning::RepeatedCall), 1);
    assert_eq!(imported(&whole).loss.count(ImportWarning::RepeatedCall), 0);
}

#[test]
fn a_flagged_failure_keeps_its_whole_content_as_message() {
    let found = imported(&chat(
        r#"{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"no"},{"type":"text","text":"way"}],"is_error":true}"#,
    ));
    assert_eq!(lines(&found)[1]["error"]["message"], "no\nway");
    assert!(!found.loss.missing.contains(&Missing::FailureFlags));
}

#[test]
fn arguments_may_be_text_an_object_broken_or_empty() {
    let args = |arguments: &str| {
        let text = format!(
            r#"[{{"role":"assistant","tool_calls":[{{"id":"c","function":{{"name":"t","arguments":{arguments}}}}}]}}]"#
        );
        let found = imported(&text);
        (lines(&found)[0].get("args").map(ToString::to_string), found.loss.count(ImportWarning::ArgumentsNotJson))
    };
    assert_eq!(args(r#""{\"a\": 1.50}""#), (Some(r#"{"a":1.5}"#.into()), 0));
    assert_eq!(args("{\"a\":\n[2]}"), (Some(r#"{"a":[2]}"#.into()), 0));
    assert_eq!(args(r#""{\"a\": ""#), (Some(r#""{\"a\": ""#.into()), 1));
    assert_eq!(args(r#""""#), (None, 0));
    assert_eq!(args("null"), (None, 0));
}

#[test]
fn several_conversations_are_several_runs_in_every_shape() {
    let one = chat(r#"{"role":"tool","tool_call_id":"c1","content":"ok"}"#);
    let ends = |text: &str| {
        let all = lines(&imported(text)).into_iter().filter(|line| line["type"] == "run_end");
        all.map(|line| line["run_id"].as_str().unwrap_or("").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ends(&format!("[{one},{one}]")), ["run_1", "run_2"]);
    assert_eq!(ends(&format!("{one}\n\n{one}\n")), ["run_1", "run_2"]);
    let named = format!("{{\"id\":\"s9\",\"messages\":{one}}}");
    assert_eq!(ends(&format!("{named}\n{named}\r\n")), ["s9", "s9.2"]);
    assert_eq!(ends(&format!("[{named}]")), ["s9"]);
}

#[test]
fn messages_on_lines_of_their_own_belong_to_the_conversation_that_they_name_and_else_to_no_run() {
    let one = chat(r#"{"role":"tool","tool_call_id":"c1","content":"ok"}"#);
    let lines_of = |extra: &str| one[1..one.len() - 1].replace("},{\"role\"", &format!("}}\n{{{extra}\"role\""));
    let named = |name: &str| {
        let text = lines_of(&format!("\"session_id\":\"{name}\","));
        text.replacen("{\"role\"", &format!("{{\"session_id\":\"{name}\",\"role\""), 1)
    };
    let found = imported(&lines_of(""));
    assert!(lines(&found).iter().all(|line| line["run_id"].is_null() && line["type"] != "run_end"));
    assert!(found.loss.missing.contains(&Missing::Runs) && found.loss.calls == 1);
    let (a, b) = (named("a"), named("b"));
    let (a, b): (Vec<&str>, Vec<&str>) = (a.lines().collect(), b.lines().collect());
    let found = imported(&[a[0], b[0], a[1], b[1]].join("\n"));
    let runs: Vec<_> = lines(&found).iter().map(|line| line["run_id"].as_str().unwrap_or("").to_owned()).collect();
    assert_eq!(runs, ["a", "a", "a", "b", "b", "b"]);
    assert!(!found.loss.missing.contains(&Missing::Runs) && found.loss.unanswered == 0);
}

#[test]
fn the_older_function_call_shape_is_paired_by_name() {
    let found = imported(
        r#"[{"role":"assistant","function_call":{"name":"t","arguments":"{}"}},{"role":"function","name":"t","content":"Error: no"}]"#,
    );
    let all = lines(&found);
    assert_eq!((&all[0]["call_id"], &all[1]["call_id"]), (&all[1]["call_id"], &"[0].function_call".into()));
    assert_eq!((found.loss.failures, found.loss.count(ImportWarning::CallWithoutId)), (1, 1));
}

#[test]
fn unreadable_values_are_counted_with_their_first_place() {
    let found = imported(
        r#"[{"role":"narrator"},{"role":"tool","tool_call_id":"x","content":null},7,{"role":"assistant","tool_calls":[3,{"id":"a"}]},{"role":"user","timestamp":9},{"role":"assistant","tool_calls":{"id":"b"}}]"#,
    );
    let loss = &found.loss;
    let first = |warning| loss.warnings.get(&warning).map(|counted| (counted.count, counted.first.as_str()));
    assert_eq!(first(ImportWarning::UnknownRole), Some((1, "[0]")));
    assert_eq!(first(ImportWarning::ResultWithoutCall), Some((1, "[1]")));
    assert_eq!(first(ImportWarning::NotReadable), Some((3, "[2]")));
    assert_eq!(first(ImportWarning::CallWithoutTool), Some((1, "[3].tool_calls[1]")));
    assert_eq!(first(ImportWarning::UnreadableTime), Some((1, "[4]")));
    assert_eq!(lines(&found)[0]["call_id"], "x");
}

#[test]
fn tau_runs_are_named_after_task_and_trial() {
    let run = |trial| format!(r#"{{"task_id":5,"reward":0.0,"info":{{}},"traj":[{CALL}],"trial":{trial}}}"#);
    let found = imported(&format!("[{},{},{{\"task_id\":6,\"traj\":null}},4]", run(0), run(1)));
    let names: Vec<_> = lines(&found).into_iter().map(|line| line["run_id"].clone()).collect();
    assert_eq!(names, ["task_5.trial_0", "task_5.trial_0", "task_5.trial_1", "task_5.trial_1", "task_6"]);
    assert_eq!((found.loss.runs, found.loss.unanswered), (3, 2));
    assert_eq!((found.loss.count(ImportWarning::EmptyRun), found.loss.count(ImportWarning::NotReadable)), (1, 1));
}

const TAU2: &str = r#"{"info":{},"simulations":[{"id":"u-u-i-d","task_id":"5","trial":0,"messages":[
 {"role":"assistant","timestamp":"2025-01-01T00:00:00.5","tool_calls":[{"id":"a","name":"pay","arguments":{"n":1},"requestor":"assistant"}]},
 {"role":"user","timestamp":"2025-01-01T00:00:01","tool_calls":[{"id":"a","name":"reboot","arguments":{},"requestor":"user"}]},
 {"role":"tool","id":"a","requestor":"user","error":true,"content":"Error: flat battery","timestamp":"2025-01-01T00:00:02"},
 {"role":"tool","tool_messages":[{"role":"tool","id":"a","requestor":"assistant","error":false,"content":"Error: is all I know","timestamp":"2025-01-01T00:00:03"}]}
]}]}"#;

#[test]
fn the_simulated_user_s_calls_are_a_run_of_their_own() {
    let found = imported(TAU2);
    let all = lines(&found);
    let brief: Vec<String> = all
        .iter()
        .map(|line| format!("{} {} {}", line["type"], line["run_id"], line["status"]).replace('"', ""))
        .collect();
    assert_eq!(
        brief,
        [
            "tool_call task_5 null",
            "tool_call task_5.user null",
            "tool_result task_5.user error",
            "tool_result task_5 ok",
            "run_end task_5 null",
            "run_end task_5.user null",
        ]
    );
    assert_eq!(found.loss.count(ImportWarning::UserSideCall), 1);
    assert_eq!(all[0]["at"], "2025-01-01T00:00:00.5");
    assert_eq!(all[3]["source"], "simulations[0].messages[3].tool_messages[0]");
    assert!(found.loss.missing.contains(&Missing::Latencies) && !found.loss.missing.contains(&Missing::Times));
}

#[test]
fn a_file_cut_short_is_refused_where_it_ends() {
    let text = "[\n  {\"role\": \"user\",\n   \"content\": \"hé";
    let report = refused(SourceFormat::OpenAi, text.as_bytes());
    assert_eq!(report.to_string(), "sample:3:17: the JSON ends before it is complete");
}

#[test]
fn invalid_json_is_underlined() {
    let report = refused(SourceFormat::Tau, b"[{\"traj\": [}]");
    let label = &report.diagnostics[0].labels[0];
    assert_eq!(&report.source.text[label.span.clone()], "}");
    assert!(report.to_string().starts_with("sample:1:12: this is not JSON: expected value"), "{report}");
}

#[test]
fn an_error_in_a_long_line_is_shown_in_a_window_with_its_true_column() {
    let text = format!("[\n{}x]", " ".repeat(5_000));
    let report = refused(SourceFormat::OpenAi, text.as_bytes());
    assert!(report.to_string().starts_with("sample:2:5001: "), "{report}");
    assert!(report.source.text.len() < 200);
}

#[test]
fn bytes_that_are_not_utf8_are_refused_at_their_place() {
    let report = refused(SourceFormat::OpenAi, b"[{\"role\":\"us\xffer\"}]");
    assert_eq!(report.to_string(), "sample:1:13: this is not UTF-8 text");
}

#[test]
fn a_file_without_runs_is_an_error() {
    assert_eq!(refused(SourceFormat::Tau2, b"{\"simulations\": []}").diagnostics[0].id, "empty_import");
    assert_eq!(refused(SourceFormat::Tau2, b"{\"simulations\": 7}").diagnostics[0].id, "not_this_format");
    assert_eq!(refused(SourceFormat::Tau, b"{}").diagnostics[0].id, "not_this_format");
    assert_eq!(refused(SourceFormat::OpenAi, b"7").diagnostics[0].id, "empty_import");
}

#[test]
fn no_change_of_single_bytes_makes_an_import_panic_or_write_anything_but_lines() {
    let chat = chat(r#"{"role":"tool","tool_call_id":"c1","content":"Error: no"}"#);
    let tau = format!(r#"[{{"task_id":5,"reward":0.0,"info":{{}},"traj":{chat},"trial":1}}]"#);
    for text in [chat.as_str(), &tau, TAU2] {
        for (n, mutant) in mutants(text.as_bytes()).enumerate() {
            for format in [SourceFormat::OpenAi, SourceFormat::Tau, SourceFormat::Tau2] {
                if let Ok(found) = import(format, &mutant, "mutant") {
                    assert!(!lines(&found).is_empty(), "mutant {n}");
                }
            }
            let _ = builtin::detect(&mutant);
        }
    }
}

/// The text cut at every byte, and with every byte changed in a few ways.
fn mutants(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let cut = (0..text.len()).map(|at| text[..at].to_vec());
    let changed = (0..text.len()).flat_map(move |at| {
        [b'"', b'{', b']', b',', b'0', b'\\', 0xff].map(|byte| {
            let mut mutant = text.to_vec();
            mutant[at] = byte;
            mutant
        })
    });
    cut.chain(changed)
}
