//! Tests of the wire format: the meaning of each line, the underlined errors, and that all lanes agree.

use proptest::prelude::*;

use super::names::NAMES;
use super::parser::parse_line_with_serde;
use super::*;
use crate::canonical;
use playproof_engine::call::{AnswerTo, RecordedAnswer, Reply};
use playproof_engine::event::{Draw, KeyDialect, KindFrom, StatusFrom};
use playproof_engine::time::{Duration, Instant};

fn line(text: &str) -> TraceLine<'_> {
    parse_line(text).unwrap().line
}

fn call(text: &str) -> CallLine<'_> {
    match line(text) {
        TraceLine::Call(call) | TraceLine::Both(call, _) => call,
        other => panic!("{other:?}"),
    }
}

fn answer(text: &str) -> RecordedAnswer {
    match line(text) {
        TraceLine::Answer(AnswerLine { answer, .. }) | TraceLine::Both(_, answer) => answer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_documented_lines_are_read() {
    let text = r#"{"type":"tool_call","run_id":"r1","call_id":"c1","tool":"payments.issue_refund","at_ms":0,"args":{"order":"o_91","amount":4200},"idempotency_key":"ik_91","evidence_refs":["ev_7"],"reversal_token":"rev_x7y","timeout_ms":5000.5}"#;
    let read = call(text);
    assert_eq!(
        (read.run.as_deref(), read.id.as_deref(), &*read.tool),
        (Some("r1"), Some("c1"), "payments.issue_refund")
    );
    assert_eq!((read.at, read.timeout), (Some(Instant::ZERO), Some(Duration::from_micros(5_000_500))));
    assert_eq!((read.args, read.evidence), (Some(r#"{"order":"o_91","amount":4200}"#), Some(r#"["ev_7"]"#)));
    assert_eq!(read.args_hash, canonical::hash_of(r#"{"amount":4.2e3,"order":"o_91"}"#));
    assert_eq!((read.key.as_deref(), read.token.as_deref()), (Some("ik_91"), Some("rev_x7y")));

    let text = r#"{"type":"tool_result","run_id":"r1","call_id":"c1","attempt":2,"at_ms":5900,"status":"error","error":{"kind":"409_conflict","message":"idempotency_key already processed","status":409,"retry_after_ms":null}}"#;
    let read = answer(text);
    assert_eq!((read.to, read.attempt, read.at), (AnswerTo::Attempt, Some(2), Some(Instant::from_millis(5_900))));
    let Reply::Failed(Some(error)) = read.reply else { panic!() };
    assert_eq!((error.kind.as_deref(), error.status, error.retry_after), (Some("409_conflict"), Some(409), None));

    assert!(matches!(line(r#"{"tool":"search.web","args":{"q":"refund policy"},"status":"ok"}"#), TraceLine::Both(..)));
    assert_eq!(line(r#"{"type":"run_end","run_id":"r1"}"#), TraceLine::RunEnd(Some("r1".into())));
    assert_eq!(line(r#"{"type":"crash","at_ms":5}"#), TraceLine::Crash(None, Some(Instant::from_millis(5))));
    assert_eq!(line(r#"{"type":"break","at_ms":"whatever"}"#), TraceLine::Other);
}

#[test]
fn the_fields_of_a_line_without_a_type_decide_its_meaning() {
    assert!(matches!(line(r#"{"tool":"a"}"#), TraceLine::Call(_)));
    assert!(matches!(line(r#"{"tool":"a","error":"boom"}"#), TraceLine::Both(..)));
    assert!(matches!(line(r#"{"call_id":"c","status":"ok"}"#), TraceLine::Answer(_)));
    assert!(matches!(line(r#"{"tool":"a","type":"tool_call","status":"ok"}"#), TraceLine::Both(..)));
    assert!(matches!(line(r#"{"tool":"a","type":"tool_result","status":"ok"}"#), TraceLine::Answer(_)));
    assert!(matches!(line(r#"{"tool":"a","status":null,"error":null}"#), TraceLine::Call(_)));
}

#[test]
fn names_may_be_numbers_and_errors_may_be_text() {
    let read = call(r#"{"tool":"a","run_id":17,"call_id":-2.5,"idempotency_key":9}"#);
    assert_eq!((read.run.as_deref(), read.id.as_deref(), read.key.as_deref()), (Some("17"), Some("-2.5"), Some("9")));
    let text =
        r#"{"call_id":1,"error":{"code":-32602,"message":{"why":1},"status":"503","retry_after_ms":0.5,"extra":1}}"#;
    let Reply::Failed(Some(error)) = answer(text).reply else { panic!() };
    assert_eq!((error.code.as_deref(), error.message.as_deref()), (Some("-32602"), Some(r#"{"why":1}"#)));
    assert_eq!((error.status, error.retry_after), (Some(503), Some(Duration::from_micros(500))));
    assert_eq!(parse_line(text).unwrap().unknown_fields, 1);
    let Reply::Failed(Some(error)) = answer(r#"{"call_id":1,"error":"bo\"om"}"#).reply else { panic!() };
    assert_eq!(error.message.as_deref(), Some("bo\"om"));
    assert_eq!(answer(r#"{"call_id":1,"status":"error"}"#).reply, Reply::Failed(None));
}

#[test]
fn times_are_milliseconds_or_iso_8601_and_keep_their_microseconds() {
    let at = |text: &str| call(&format!(r#"{{"tool":"a",{text}}}"#)).at.map(Instant::as_micros);
    assert_eq!(at(r#""at_ms":1.0625"#), Some(1_062));
    assert_eq!(at(r#""at_ms":1.7e12"#), Some(1_700_000_000_000_000));
    assert_eq!(at(r#""at":"1970-01-01T00:00:01+00:00""#), Some(1_000_000));
    assert_eq!(at(r#""at":"1970-01-01T00:00:01Z","at_ms":3"#), Some(3_000), "`at_ms` wins");
    assert_eq!(at(r#""at":"1970-01-01T00:00:01Z","at_ms":null"#), Some(1_000_000));
    assert_eq!(at(r#""at_ms":null"#), None);
}

#[test]
fn a_combined_line_has_the_time_of_the_call_or_with_started_ms_that_of_the_answer() {
    let TraceLine::Both(call, answer) = line(r#"{"tool":"a","status":"ok","at_ms":5}"#) else { panic!() };
    assert_eq!((call.at, answer.at), (Some(Instant::from_millis(5)), None));
    let TraceLine::Both(call, answer) = line(r#"{"tool":"a","status":"ok","at_ms":5,"started_ms":2}"#) else {
        panic!()
    };
    assert_eq!(
        (call.at, answer.at, answer.started),
        (Some(Instant::from_millis(2)), Some(Instant::from_millis(5)), None)
    );
}

#[test]
fn a_result_may_answer_a_refresh_or_a_reversal() {
    assert_eq!(answer(r#"{"call_id":"c","status":"ok","answers":"refresh"}"#).to, AnswerTo::Refresh);
    assert_eq!(answer(r#"{"call_id":"c","status":"ok","answers":"reversal"}"#).to, AnswerTo::Reversal);
}

/// Checks the id, and that exactly the text between the markers is underlined.
#[track_caller]
fn refused(marked: &str, id: &str) -> LineError {
    let (before, rest) = marked.split_once('«').unwrap();
    let (under, after) = rest.split_once('»').unwrap();
    let text = format!("{before}{under}{after}");
    let error = *parse_line(&text).unwrap_err();
    assert_eq!((error.id, text.get(error.span.clone())), (id, Some(under)), "{error:?}");
    error
}

#[test]
fn errors_underline_the_wrong_part() {
    refused(r#"{"tool":«5»}"#, "wrong_type");
    refused(r#"{"tool":"a","run_id":«[1]»}"#, "wrong_type");
    refused(r#"{"tool":"a","at_ms":«-5»}"#, "negative_time");
    refused(r#"{"tool":"a","at":«"1969-12-31T00:00:00Z"»}"#, "negative_time");
    refused(r#"{"tool":"a","at":«"yesterday"»}"#, "wrong_type");
    refused(r#"{"tool":"a","at_ms":«"5"»}"#, "wrong_type");
    refused(r#"{"tool":"a","at_ms":5,"at":«"yesterday"»}"#, "wrong_type");
    refused(r#"{"tool":"a","at":«17»,"at_ms":5,"status":"ok"}"#, "wrong_type");
    refused(r#"{"call_id":"c","at":«"1969-12-31T00:00:00Z"»,"at_ms":5,"status":"ok"}"#, "negative_time");
    refused(&format!(r#"{{"tool":"a","at_ms":«{}»}}"#, "9".repeat(5_000)), "out_of_range");
    refused(r#"{"call_id":"c","status":«"okay"»}"#, "unknown_value");
    refused(r#"{"call_id":"c","status":"ok","error":«{}»}"#, "contradiction");
    refused(r#"{"call_id":"c","error":«[]»}"#, "wrong_type");
    refused(r#"{"call_id":"c","error":{"status":«99999»}}"#, "wrong_type");
    refused(r#"{"call_id":"c","error":{"retry_after_ms":«-1»}}"#, "negative_time");
    refused(r#"{"call_id":"c","error":{"kind":"a","kind":«"b"»}}"#, "duplicate_field");
    refused(r#"{"call_id":"c","error":{"should_retry":«"no"»}}"#, "wrong_type");
    refused(r#"{"call_id":"c","error":{"headers":«["a"]»}}"#, "wrong_type");
    refused(r#"{"call_id":"c","error":{"headers":{"a":1,"b":«{}»}}}"#, "wrong_type");
    refused(r#"{"call_id":"c","error":{"headers":{"a":[1,«[2]»]}}}"#, "wrong_type");
    refused(r#"{"call_id":"c","status":"ok","attempt":«0»}"#, "wrong_type");
    refused(r#" «{"type":"tool_call","args":{}}» "#, "missing_field");
    refused(r#"«{"type":"tool_result","call_id":"c"}»"#, "missing_field");
    refused(r#"«{"call_id":"c"}»"#, "missing_field");
    refused(r#"{"tool":"a","tool":«"b"»}"#, "duplicate_field");
    refused(r#"{"type":«7»,"tool":"a"}"#, "wrong_type");
    refused(r#"{"tool":«"\ud800"»}"#, "wrong_type");
    assert_eq!(
        refused(r#"{"call_id":"c","status":"ok","answers":«"refrehs"»}"#, "unknown_value").help.as_deref(),
        Some("did you mean `refresh`?")
    );
}

#[test]
fn broken_json_is_underlined_where_it_breaks() {
    refused(r#"{"tool":"a","args":{"q":"ref«u»"#, "truncated_line");
    refused(r#"{"tool":"a",«}»"#, "not_json");
    refused(r#"{"tool":"é",«x»:1}"#, "not_json");
    refused(r#"{"tool":"a"} «{»}"#, "not_json");
    refused("{\"tool\":\"a«\t»b\"}", "not_json");
    refused("{\"tool\":\"é\",\"args\":{\"q\":\"«\t»b\"}}", "not_json");
    refused("«\u{feff}»{\"tool\":\"a\"}", "byte_order_mark");
    refused("«\u{feff}»", "byte_order_mark");
    refused("«T»raceback (most recent call last):", "not_json");
    refused(&format!(r#"{{"tool":"a","args":{}«[»{}"#, "[".repeat(127), "[".repeat(99_872)), "too_deep");
}

#[test]
fn foreign_json_is_recognised() {
    let (row, document) = (Some(NonTrace::Row), Some(NonTrace::Document));
    assert_eq!(refused(r#"«{"event":"tool_start","name":"x"}»"#, "missing_field").foreign, row);
    assert_eq!(refused("«[»", "not_json").foreign, document);
    assert_eq!(refused("  «[»1,2]", "not_json").foreign, document);
    assert_eq!(refused("«{»", "truncated_line").foreign, document);
    assert_eq!(refused("«o»rder,amount", "not_json").foreign, Some(NonTrace::Text));
    assert_eq!(refused(r#"{"event«"»"#, "truncated_line").foreign, None);
    assert_eq!(refused(r#"«{"run_id":"r"}»"#, "missing_field").foreign, None);
}

#[test]
fn arguments_may_hold_numbers_of_any_length_and_nest_to_the_limit() {
    let number = "7".repeat(5_000);
    assert_eq!(call(&format!(r#"{{"tool":"a","args":{number}}}"#)).args, Some(&*number));
    let deep = "[".repeat(127) + &"]".repeat(127);
    assert_eq!(call(&format!(r#"{{"tool":"a","args":{deep}}}"#)).args, Some(&*deep));
}

#[test]
fn escapes_do_not_change_an_enum_value() {
    let text = r#"{"type":"tool\u005fresult","call_id":"1","status":"\u006fk","answers":"refres\u0068"}"#;
    assert_eq!((answer(text).reply, answer(text).to), (Reply::Ok, AnswerTo::Refresh));
    assert_eq!(line(r#"{"type":"tool\u005fcrash"}"#), TraceLine::Other);
    refused(r#"{"call_id":"1","status":«"\u006fka"»}"#, "unknown_value");
}

#[test]
fn headers_are_sorted_by_name_and_leave_the_line_in_the_fast_lane() {
    let text = r#"{"call_id":"1","error":{"kind":"5xx","headers":{"X-B":[1,"2"],"Retry-After":"3","a":null},"should_retry":false}}"#;
    let parsed = parse_line(text).unwrap();
    assert_eq!((parsed.unknown_fields, &parsed), (0, &parse_line_with_serde(text).unwrap()));
    let Reply::Failed(Some(error)) = answer(text).reply else { panic!() };
    let headers: Vec<(&str, &str)> = error.headers.iter().map(|header| (&*header.name, &*header.value)).collect();
    assert_eq!(headers, [("retry-after", "3"), ("x-b", "1"), ("x-b", "2")]);
    assert_eq!(error.should_retry, Some(false));
}

#[test]
fn what_the_agent_was_told_is_no_unknown_field() {
    for (told, expected) in [("true", Some(true)), ("false", Some(false)), ("null", None)] {
        let text = format!(r#"{{"call_id":"1","error":{{"kind":"5xx","retriable":{told}}}}}"#);
        let parsed = parse_line(&text).unwrap();
        assert_eq!((parsed.unknown_fields, &parsed), (0, &parse_line_with_serde(&text).unwrap()));
        let Reply::Failed(Some(error)) = answer(&text).reply else { panic!() };
        assert_eq!((error.retriable, error.should_retry), (expected, None));
    }
    refused(r#"{"call_id":"c","error":{"retriable":«"yes"»}}"#, "wrong_type");
}

#[test]
fn a_suspected_failure_keeps_its_error_and_its_evidence() {
    let read = answer(
        r#"{"call_id":"1","status":"suspected","status_from":"text","error":{"kind":"tool_error","kind_from":"text"}}"#,
    );
    let Reply::Suspected(Some(error)) = read.reply else { panic!() };
    assert_eq!((error.kind_from, read.status_from), (Some(KindFrom::Text), StatusFrom::Text));
    assert_eq!(answer(r#"{"call_id":"1","status":"suspected"}"#).reply, Reply::Suspected(None));
    assert_eq!(answer(r#"{"call_id":"1","status":"unfinished"}"#).reply, Reply::Unfinished(None));
    let other = answer(r#"{"call_id":"1","status":"error","status_from":"a guess","error":{"kind_from":"luck"}}"#);
    assert_eq!((other.reply.error().and_then(|error| error.kind_from), other.status_from), (None, StatusFrom::Flag));
    refused(r#"{"call_id":"1","status":«"suspicious"»}"#, "unknown_value");
}

#[test]
fn an_empty_key_is_no_key() {
    assert_eq!(call(r#"{"tool":"a","idempotency_key":""}"#).key, None);
}

#[test]
fn a_truncated_line_is_recognised_before_crlf() {
    let text = "{\"tool\":\"a\",\"status\":\"er\r\n{\"tool\":\"a\",\"args\":tr\r\n{\"tool\":\"a\"}\r\n";
    let content = each_line(text);
    assert_eq!(content, [Err(("truncated_line", "r")), Err(("truncated_line", "r")), Ok(0)]);
}

#[test]
fn an_enum_value_in_the_wrong_field_is_an_error_every_time() {
    let text = r#"{"call_id":"1","status":"attempt"}"#;
    let content = format!("{text}\n").repeat(4);
    let content = each_line(&content);
    assert_eq!(content, [Err(("unknown_value", "\"attempt\"")); 4]);
}

/// Of each line the number of unknown fields, or its error and the underlined text.
fn each_line(text: &str) -> Vec<Result<u32, (&'static str, &str)>> {
    let (mut lines, mut all) = (LineParser::new(text), Vec::new());
    while !lines.is_over() {
        let (line, content) = lines.parse(&mut None);
        all.push(content.map_err(|error| (error.id, &line[error.span])));
    }
    all
}

#[test]
fn an_object_does_not_go_on_in_the_next_line() {
    let text = "{\"tool\":\"a\",\n\"call_id\":\"1\"}\n{\"tool\":\"b\"}\n";
    let ids: Vec<_> = each_line(text).into_iter().map(|content| content.map_err(|(id, _)| id)).collect();
    assert_eq!(ids, [Err("truncated_line"), Err("not_json"), Ok(0)]);
    let are_read = |text: &str| each_line(text).iter().map(Result::is_ok).collect::<Vec<_>>();

    let line = r#"{"tool":"a","evidence_refs":[],"args":{"a":1}}"#;
    let broken = line.replace("[]", "[\n]");
    assert_eq!(are_read(&format!("{line}\n{broken}\n{line}\n")), [true, false, false, true]);

    let broken = line.replace(":1", ":1,\n\"b\":2");
    let read = are_read(&format!("{line}\n{broken}\n{broken}\n{broken}\n{line}\n"));
    assert_eq!(read, [true, false, false, false, false, false, false, true]);
}

fn field() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just(r#""ok""#.to_owned()),
        Just(r#""error""#.to_owned()),
        Just("null".to_owned()),
        Just(r#"{"kind":"timeout","message":"no \"answer\"","status":504,"x":[1]}"#.to_owned()),
        Just(r#"{"a":[1,2,{"b":"\u00e9"}]}"#.to_owned()),
        "[0-9]{1,7}(\\.[0-9]{1,4})?",
        r#""[a-zé]{0,5}(\\n)?""#,
    ];
    (0..NAMES.len() + 2, value, "[ ]?").prop_map(|(name, value, space)| {
        let name = NAMES.get(name).copied().unwrap_or("unheard_of");
        format!("\"{name}\":{space}{value}")
    })
}

/// The key of a call and the hash of its arguments.
fn request(fields: &str) -> (Option<String>, u128) {
    let text = format!(r#"{{"tool":"pay",{fields}}}"#);
    let call = call(&text);
    (call.key.map(std::borrow::Cow::into_owned), call.args_hash)
}

#[test]
fn an_argument_that_is_the_key_is_the_key_and_is_not_compared() {
    let (_, wanted) = request(r#""args":{"a":1}"#);
    let keyed = |key: &str| (Some(key.to_owned()), wanted);
    assert_eq!(request(r#""args":{"a":1,"idempotency_key":"k"}"#), keyed("k"));
    assert_eq!(request(r#""args":{"idempotencyKey":7,"a":1.0}"#), keyed("7"));
    assert_eq!(request(r#""idempotency_key":"own","args":{"a":1,"idempotency_key":"k"}"#), keyed("own"));
    assert_eq!(request(r#""args":{"idempotency_key":null,"a":1,"idempotencyKey":"k"}"#), keyed("k"));
    for none in ["null", r#""""#, r#"" ""#, "{}", r#"["k"]"#, "true"] {
        for name in ["idempotency_key", "idempotencyKey"] {
            assert_eq!(request(&format!(r#""args":{{"a":1,"{name}":{none}}}"#)), (None, wanted), "{name}: {none}");
        }
    }
    for look_alike in [
        r#""args":{"a":1,"idempotency":"k"}"#,
        r#""args":{"a":1,"b":{"idempotency_key":"k"}}"#,
        r#""args":{"a":1,"note":"idempotency_key"}"#,
    ] {
        let (key, hash) = request(look_alike);
        assert_eq!((key, hash == wanted), (None, false), "{look_alike}");
    }
}

#[test]
fn arguments_as_json_text_are_the_object_that_they_hold() {
    let (_, wanted) = request(r#""args":{"a":1}"#);
    assert_eq!(request(r#""args":"{\"a\": 1.0}""#), (None, wanted));
    assert_eq!(request(r#""args":"{\"a\":1,\"idempotency_key\":\"k\"}""#), (Some("k".to_owned()), wanted));
    assert_eq!(request(r#""args":"{\"a\":1,\"idempotency_key\":null}""#), (None, wanted));
    for look_alike in [r#""args":"{\"a\":1""#, r#""args":"a""#, r#""args":"[1]""#, r#""args":["{\"a\":1}"]"#] {
        assert_ne!(request(look_alike).1, wanted, "{look_alike}");
    }
    assert_ne!(request(r#""args":"1""#), request(r#""args":1"#));
}

proptest! {
    #[test]
    fn the_fast_lane_and_serde_agree(fields in proptest::collection::vec(field(), 0..7), kind in 0..4_usize, cut in 0..300_usize) {
        let kind = [r#""type":"tool_call","tool":"t""#, r#""type":"tool_result""#, r#""tool":"t""#, r#""call_id":"c""#][kind];
        let mut line = format!("{{{}}}", [kind.to_owned()].into_iter().chain(fields).collect::<Vec<_>>().join(", "));
        prop_assert_eq!(parse_line(&line), parse_line_with_serde(&line));
        line.truncate(line.floor_char_boundary(cut));
        prop_assert_eq!(parse_line(&line), parse_line_with_serde(&line));
    }

    #[test]
    fn a_line_is_read_alike_alone_and_after_others(
        lines in proptest::collection::vec((proptest::collection::vec(field(), 0..7), 0..4_usize, "[\r ]?"), 1..6),
        cut in 0..300_usize,
    ) {
        let kinds = [
            r#""type":"tool_call","tool":"t""#,
            r#""type":"tool_result""#,
            r#""tool":"t","args":{"a":"x","b":{"c":1}}"#,
            r#""call_id":"c""#,
        ];
        let mut lines: Vec<String> = lines
            .into_iter()
            .map(|(fields, kind, end)| {
                format!("{{{}}}{end}", [kinds[kind].to_owned()].into_iter().chain(fields).collect::<Vec<_>>().join(","))
            })
            .collect();
        lines.extend(lines.clone()); // the second time their errors are known
        if let Some(last) = lines.last_mut() {
            last.truncate(last.floor_char_boundary(cut));
        }
        let all = lines.join("\n") + "\n" + &" ".repeat(200);
            let mut read = LineParser::new(&all);
        for line in &lines {
            if read.pass_blank() {
                prop_assert_eq!(line.trim(), "");
                continue;
            }
            let mut content = None;
            let (text, unknown) = read.parse(&mut content);
            let line = line.strip_suffix('\r').unwrap_or(line);
            prop_assert_eq!(text, line);
            let parsed = unknown.map(|unknown_fields| ParsedLine { line: content.unwrap(), unknown_fields });
            prop_assert_eq!(parsed, parse_line_with_serde(line));
        }
    }

    #[test]
    fn no_line_panics(line in "[^\n]{0,60}") {
        let _ = parse_line(&line);
        let _ = parse_line(&format!(r#"{{"tool":"a","status":{line}}}"#));
    }
}

#[test]
fn lines_of_a_dispatcher_are_read() {
    let read = call(r#"{"tool":"a","dispatcher_id":"d1","call_id":"c"}"#);
    assert_eq!(read.dispatcher.as_deref(), Some("d1"));
    let read = answer(r#"{"call_id":"c","status":"ok","answers":"late","attempt":2,"draw":0.874419}"#);
    assert_eq!((read.to, read.attempt), (AnswerTo::Late, Some(2)));
    assert_eq!(read.draw, Draw::parse("0.874419"));

    let dispatch = |text| match line(text) {
        TraceLine::Dispatch(line) => line,
        other => panic!("{other:?}"),
    };
    let read = dispatch(r#"{"type":"cancel","run_id":"r","call_id":7,"at_ms":40}"#);
    assert_eq!((read.run.as_deref(), &*read.id, read.at), (Some("r"), "7", Instant::from_millis(40)));
    assert_eq!(read.what, DispatchWhat::Cancelled);
    let text = r#"{"type":"decision","call_id":"c","at_ms":1,"event":"outcome","outcome":"cached","to":"r#1"}"#;
    assert_eq!((dispatch(text).what, dispatch(text).text), (DispatchWhat::Ended, text));
    let text = r#"{"type":"decision","call_id":"c","at_ms":1,"event":"queued","place":1}"#;
    assert_eq!((dispatch(text).what, parse_line(text).unwrap().unknown_fields), (DispatchWhat::Decided, 0));
}

#[test]
fn a_recording_says_what_decides_its_lines() {
    let digits = "0123456789abcdef".repeat(4);
    let text = |playbook: &str, fingerprint: &str, seed: &str| {
        format!(r#"{{"type":"recording","playbook":{playbook},"fingerprint":{fingerprint},"seed":{seed},"more":[]}}"#)
    };
    let (quoted, most) = (format!("\"{digits}\""), u64::MAX.to_string());
    let TraceLine::Recording(read) = line(&text("\"a b\"", &quoted, &most)) else { panic!() };
    assert_eq!((&*read.playbook, &*read.fingerprint, read.seed), ("a b", &*digits, u64::MAX));
    let wrong = |text: &str| {
        let error = parse_line(text).unwrap_err();
        (error.id, text.get(error.span).unwrap_or_default().to_owned())
    };
    for (name, bad) in [
        ("playbook", "7"),
        ("playbook", "\"\""),
        ("fingerprint", "\"0f\""),
        ("fingerprint", "1"),
        ("seed", "-1"),
        ("seed", "1.0"),
        ("seed", "\"1\""),
        ("seed", "18446744073709551616"),
    ] {
        let of = |field: &str, good: &str| if name == field { bad.to_owned() } else { good.to_owned() };
        let text = text(&of("playbook", "\"a\""), &of("fingerprint", &quoted), &of("seed", "1"));
        assert_eq!(wrong(&text), ("wrong_type", bad.to_owned()), "{name}");
    }
    let keyed = |keys: &str| text("\"a\"", &quoted, "1").replace("\"more\"", &format!("\"keys\":{keys},\"more\""));
    let keys = |text: &str| match line(text) {
        TraceLine::Recording(read) => read.keys,
        other => panic!("{other:?}"),
    };
    assert_eq!((keys(&keyed("\"ietf\"")), keys(&keyed("null"))), (Some(KeyDialect::Ietf), None));
    for bad in ["\"honest\"", "true", "[]", "1", "\"\""] {
        assert_eq!(wrong(&keyed(bad)), ("unknown_value", bad.to_owned()));
    }
    for lacks in ["\"playbook\":\"a\",", "\"seed\":1,"] {
        let text = text("\"a\"", &quoted, "1").replace(lacks, "");
        assert_eq!(wrong(&text), ("missing_field", text.clone()));
    }
}

#[test]
fn impossible_draws_cancellations_and_decisions_are_underlined() {
    let wrong = |text: &str| {
        let error = parse_line(text).unwrap_err();
        (error.id, text.get(error.span).unwrap_or_default().to_owned())
    };
    for draw in ["1.5", "-0.1", "1e-10", "0.1234567891", "\"0.5\"", "true"] {
        let text = format!(r#"{{"call_id":"c","status":"ok","draw":{draw}}}"#);
        assert_eq!(wrong(&text), ("wrong_type", draw.to_owned()));
    }
    for lacks in [r#"{"type":"cancel","at_ms":1}"#, r#"{"type":"cancel","call_id":"c"}"#] {
        assert_eq!(wrong(lacks), ("missing_field", lacks.to_owned()));
    }
    assert_eq!(wrong(r#"{"type":"cancel","call_id":"c","at_ms":-1}"#).1, "-1");
    let decision = |event: &str| wrong(&format!(r#"{{"type":"decision","call_id":"c","at_ms":1{event}}}"#));
    assert_eq!(decision("").0, "missing_field");
    assert_eq!(decision(r#","event":"outcomes""#), ("unknown_value", r#""outcomes""#.to_owned()));
    assert_eq!(decision(r#","event":3"#), ("unknown_value", "3".to_owned()));
    for (field, wrong) in [
        ("attempt", "0"),
        ("attempt", "-1"),
        ("attempt", "\"x\""),
        ("attempts", "-4"),
        ("attempts", "0.5"),
        ("draw", "5"),
    ] {
        let event = format!(r#","event":"outcome","{field}":{wrong}"#);
        assert_eq!(decision(&event), ("wrong_type", wrong.to_owned()), "{field}");
    }
    for (event, wrong) in [
        (r#","event":"queued","place":-1"#, "-1"),
        (r#","event":"queued","place":1,"cause":7"#, "7"),
        (r#","event":"outcome","outcome":"succeeded","effect":"zzz""#, r#""zzz""#),
        (r#","event":"attempt_finished","attempt":1,"status":"weird""#, r#""weird""#),
        (r#","event":"attempt_finished","attempt":1,"status":"ok","latency_ms":-3"#, "-3"),
        (r#","event":"attempt_finished","attempt":1,"status":"ok","from":"elsewhere""#, r#""elsewhere""#),
        (r#","event":"failure_classified","verdict":7"#, "7"),
        (r#","event":"step_ended","step":"a","ended":"done""#, r#""done""#),
        (r#","event":"refused","why":"schema","error":"no""#, r#""no""#),
        (r#","event":"attempt_finished","attempt":1,"over_timeout":1"#, "1"),
        (r#","event":"retry_scheduled","attempt":2,"delay_ms":1e300"#, "1e300"),
        (r#","event":"retry_scheduled","attempt":2,"left":{"a":1}"#, r#"{"a":1}"#),
        (r#","event":"retry_scheduled","attempt":2,"left":-1"#, "-1"),
        (r#","event":"outcome","outcome":"refused","code":"x""#, r#""x""#),
        (r#","event":"queued","place":1,"place":2"#, "2"),
        (r#","event":"queued","place":1,"event":"queued""#, r#""queued""#),
    ] {
        assert_eq!(decision(event).1, wrong, "{event}");
    }
    for lacks in ["outcome", "attempt_started", "queued", "failure_classified", "escalated", "circuit_opened"] {
        assert_eq!(decision(&format!(r#","event":"{lacks}""#)).0, "missing_field", "{lacks}");
    }
    let outcome = r#","event":"outcome","outcome":"succeded""#;
    assert_eq!(decision(outcome), ("unknown_value", r#""succeded""#.to_owned()));
    for call in [r#"{"type":"tool_call","tool":"a","draw":0.5}"#, r#"{"tool":"a","draw":0.5}"#] {
        assert_eq!(wrong(call), ("draw_of_call", "0.5".to_owned()));
    }
    let late = r#"{"call_id":"c","status":"ok","answers":"late"}"#;
    assert_eq!(wrong(late), ("missing_field", r#""late""#.to_owned()));
    for right in [
        r#","event":"outcome","outcome":"reversed","attempts":0"#,
        r#","event":"retry_scheduled","attempt":2,"draw":1e-05"#,
    ] {
        assert!(parse_line(&format!(r#"{{"type":"decision","call_id":"c","at_ms":1{right}}}"#)).is_ok());
    }
}
