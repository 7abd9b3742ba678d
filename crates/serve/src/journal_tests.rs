//! What a journal promises: what was answered is there, and reading it again brings back the session that answered.

use std::io::{self, BufReader};

use serde_json::Value;

use crate::decider::Decider;
use crate::journal::{OpenCall, Resumed, Unusable, resume};
use crate::server::{Keep, serve};
use crate::session::Session;
use crate::tests::session as new_session;

/// A file in memory, which is full after so many bytes.
struct Memory {
    bytes: Vec<u8>,
    most: usize,
    writes: usize,
}

impl Memory {
    fn new() -> Memory {
        Memory { bytes: Vec::new(), most: usize::MAX, writes: 0 }
    }
}

impl Keep for Memory {
    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writes += 1;
        if self.bytes.len() + bytes.len() > self.most {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn begin_anew(&mut self, beginning: &[u8]) -> io::Result<()> {
        self.bytes = beginning.to_vec();
        Ok(())
    }
}

/// Serves lines and gives their answers.
fn serve_lines(session: &mut Session, lines: &str, journal: Option<&mut Memory>) -> Vec<Value> {
    let mut out = Vec::new();
    serve(session, BufReader::new(lines.as_bytes()), &mut out, journal.map(|journal| journal as &mut dyn Keep))
        .unwrap();
    String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A session with its journal so far: its head, or what was read.
fn journaled(bytes: &[u8]) -> (Session, Memory) {
    journaled_by("dispatcher", bytes)
}

/// The same of another playbook.
fn journaled_by(playbook: &str, bytes: &[u8]) -> (Session, Memory) {
    let Resumed { session, length, anew } = resume(bytes, new_session(playbook, true)).unwrap();
    let kept = anew.map_or_else(|| bytes[..length].to_vec(), String::into_bytes);
    (session, Memory { bytes: kept, ..Memory::new() })
}

/// What two agents do: retries with draws, calls that share a key, a refusal, a late answer, a step towards a breaker.
const STORY: [&str; 13] = [
    r#"{"type":"call","id":"a","at_ms":0,"run":"r","tool":"db.write","args":{"table":"t","row":{"x":1}},"key":"ik_00000001"}"#,
    r#"{"type":"call","id":"b","at_ms":5,"run":"r","tool":"db.write","args":{"row":{"x":1},"table":"t"},"key":"ik_00000001"}"#,
    r#"{"type":"answer","id":"a","attempt":1,"at_ms":100,"error":{"kind":"transient","status":503}}"#,
    r#"{"type":"wake","id":"a","at_ms":400}"#,
    r#"{"type":"call","id":"c","at_ms":450,"run":"r","tool":"search.web","args":{"q":"x"}}"#,
    r#"{"type":"answer","id":"c","attempt":1,"at_ms":500,"timeout":true}"#,
    r#"{"type":"answer","id":"a","attempt":2,"at_ms":600,"ok":true}"#,
    r#"{"type":"wake","id":"c","at_ms":2000}"#,
    r#"{"type":"answer","id":"c","attempt":1,"at_ms":2100,"ok":true,"late":true}"#,
    r#"{"type":"call","id":"d","at_ms":2200,"run":"s","tool":"no.such.tool"}"#,
    r#"{"type":"cancel","id":"c","at_ms":2300}"#,
    r#"{"type":"call","id":"e","at_ms":2400,"run":"s","tool":"db.write","args":{"table":"t","row":{"x":1}},"key":"ik_00000001"}"#,
    r#"{"type":"answer","id":"x","attempt":1,"at_ms":2500,"ok":true}"#,
];

const HELLO: &str = r#"{"type":"hello","protocol":"dispatch/1","events":true}"#;

#[test]
fn a_death_after_any_line_changes_no_answer_to_the_lines_after_it() {
    let (mut whole, mut memory) = journaled(b"");
    let answers = serve_lines(&mut whole, &STORY.join("\n"), Some(&mut memory));
    for dies_after in 0..STORY.len() {
        let (mut first, mut memory) = journaled(b"");
        serve_lines(&mut first, &STORY[..dies_after].join("\n"), Some(&mut memory));
        // Decisions may be missing at the end: they follow from the lines.
        let lines = String::from_utf8(memory.bytes).unwrap();
        for drops_decisions in [false, true] {
            let mut kept: Vec<&str> = lines.lines().collect();
            while drops_decisions && kept.last().is_some_and(|line| line.starts_with("{\"type\":\"decision")) {
                kept.pop();
            }
            let (mut second, mut memory) = journaled(format!("{}\n", kept.join("\n")).as_bytes());
            let rest = serve_lines(&mut second, &STORY[dies_after..].join("\n"), Some(&mut memory));
            assert_eq!(rest, answers[dies_after..], "it dies after line {dies_after}");
            let (mut third, _) = journaled(&memory.bytes);
            let (mut fourth, _) = journaled(&memory.bytes);
            assert_eq!(serve_lines(&mut third, HELLO, None), serve_lines(&mut fourth, HELLO, None));
        }
    }
}

#[test]
fn what_ended_and_what_is_open_is_said_to_a_driver_that_begins() {
    let (mut first, mut memory) = journaled(b"");
    serve_lines(&mut first, &STORY[..8].join("\n"), Some(&mut memory));
    let (mut second, _) = journaled(&memory.bytes);
    let hello = &serve_lines(&mut second, HELLO, None)[0];
    let ids = |list: &str, key: &str| -> Vec<String> {
        hello[list].as_array().unwrap().iter().map(|one| one[key].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((ids("ended", "done"), ids("open", "id")), (vec!["a".to_owned(), "b".to_owned()], vec!["c".to_owned()]));
    assert_eq!((&hello["at_ms"], &hello["open"][0]["do"][0]["attempt"]), (&Value::from(2_000), &Value::from(2)));
}

#[test]
fn lines_that_are_ready_together_are_kept_by_one_write_before_they_are_answered() {
    let (mut session, mut memory) = journaled(b"");
    serve_lines(&mut session, &STORY.join("\n"), Some(&mut memory));
    assert_eq!(memory.writes, 2, "the lines, and at the end what was decided");
}

#[test]
fn a_full_disk_refuses_a_call_and_sends_nothing() {
    let (mut session, mut memory) = journaled(b"");
    memory.most = memory.bytes.len() + 10;
    let refused = serve_lines(&mut session, STORY[0], Some(&mut memory));
    assert_eq!(refused[0]["code"], "journal");
    memory.most = usize::MAX;
    let taken = serve_lines(&mut session, STORY[0], Some(&mut memory));
    assert_eq!(taken[0]["do"][0]["send"], "a", "nothing was taken before: {taken:?}");
    let (mut again, _) = journaled(&memory.bytes);
    assert_eq!(serve_lines(&mut again, HELLO, None)[0]["open"].as_array().unwrap().len(), 1);
}

#[test]
fn a_torn_last_line_is_dropped_and_told() {
    let (mut session, mut memory) = journaled(b"");
    serve_lines(&mut session, STORY[0], Some(&mut memory));
    let whole = memory.bytes.len();
    memory.bytes.extend_from_slice(&STORY[1].as_bytes()[..40]);
    let resumed = resume(&memory.bytes, new_session("dispatcher", true)).unwrap();
    assert_eq!((resumed.length, resumed.session.dropped_bytes()), (whole, 40));
    let mut session = resumed.session;
    assert_eq!(serve_lines(&mut session, HELLO, None)[0]["dropped_bytes"], 40);
}

#[test]
fn other_damage_is_refused_with_its_line() {
    let (mut session, mut memory) = journaled(b"");
    serve_lines(&mut session, &STORY.join("\n"), Some(&mut memory));
    let lines: Vec<&str> = std::str::from_utf8(&memory.bytes).unwrap().lines().collect();
    let decision = lines.iter().position(|line| line.starts_with("{\"type\":\"decision")).unwrap();
    let changed = lines[decision].replace("\"attempt\":1", "\"attempt\":2");
    for (place, text) in [(1, "{\"type\":\"call\"}"), (2, "no JSON"), (decision, &*changed), (4, HELLO), (0, "{}")] {
        let mut damaged = lines.clone();
        damaged[place] = text;
        let why = resume(format!("{}\n", damaged.join("\n")).as_bytes(), new_session("dispatcher", true));
        match why.map(drop) {
            Err(Unusable::Damaged { line, .. }) => assert_eq!(line, place as u64 + 1, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn another_playbook_goes_on_only_where_nothing_is_open() {
    let (mut session, mut memory) = journaled(b"");
    serve_lines(&mut session, &STORY[..8].join("\n"), Some(&mut memory));
    match resume(&memory.bytes, new_session("standard", true)) {
        Err(Unusable::Open { by, calls }) => {
            assert_eq!(
                (by.playbook.as_str(), calls),
                ("dispatcher", vec![OpenCall { id: "c".to_owned(), tool: "search.web".to_owned() }])
            );
        }
        other => panic!("{other:?}"),
    }
    serve_lines(&mut session, STORY[10], Some(&mut memory));
    let resumed = resume(&memory.bytes, new_session("standard", true)).unwrap();
    assert!(resumed.anew.is_some_and(|head| head.contains("\"standard\"") && head.contains("\"at_ms\":2300")));
}

#[test]
fn a_new_file_begins_when_nothing_depends_on_the_old_one_and_keeps_the_ends() {
    let fresh = || new_session("standard", true);
    let Resumed { mut session, anew, .. } = resume(b"", fresh()).unwrap();
    let mut memory = Memory { bytes: anew.unwrap().into_bytes(), ..Memory::new() };
    let call = r#"{"type":"call","id":"a","at_ms":7,"run":"r","tool":"pay"}"#;
    let denied = r#"{"type":"answer","id":"a","attempt":1,"at_ms":9,"error":{"kind":"403_forbidden"}}"#;
    serve_lines(&mut session, &[call, denied].join("\n"), Some(&mut memory));
    assert!(resume(&memory.bytes, fresh()).unwrap().anew.is_none(), "the run goes on");
    serve_lines(&mut session, r#"{"type":"end_run","run":"r","at_ms":10}"#, Some(&mut memory));
    let anew = resume(&memory.bytes, fresh()).unwrap().anew.unwrap();
    let mut next = resume(anew.as_bytes(), fresh()).unwrap().session;
    let hello = &serve_lines(&mut next, HELLO, None)[0];
    assert_eq!((&hello["ended"][0]["done"], &hello["at_ms"]), (&Value::from("a"), &Value::from(10)), "{hello}");
    assert_eq!(hello["ended"][0]["told"]["retriable"], false);
}

#[test]
fn a_long_journal_begins_anew_while_it_is_served_once_nothing_depends_on_it() {
    let mut session = new_session("standard", true);
    let mut memory = Memory { bytes: session.head().into_bytes(), ..Memory::new() };
    let args = "x".repeat(usize::try_from(crate::server::ANEW_FROM).unwrap());
    let call =
        format!("{{\"type\":\"call\",\"id\":\"a\",\"at_ms\":7,\"run\":\"r\",\"tool\":\"pay\",\"args\":\"{args}\"}}");
    let denied = r#"{"type":"answer","id":"a","attempt":1,"at_ms":9,"error":{"kind":"403_forbidden"}}"#;
    for line in [call.as_str(), denied] {
        serve_lines(&mut session, line, Some(&mut memory));
        assert!(memory.bytes.len() > args.len(), "the run goes on");
    }
    serve_lines(&mut session, r#"{"type":"end_run","run":"r","at_ms":10}"#, Some(&mut memory));
    let lines = String::from_utf8(memory.bytes.clone()).unwrap();
    assert!(lines.lines().count() == 2 && lines.contains("\"at_ms\":10}\n{\"type\":\"end\",\"id\":\"a\""), "{lines}");
    let (mut next, _) = journaled_by("standard", &memory.bytes);
    assert_eq!(serve_lines(&mut next, HELLO, None), serve_lines(&mut session, HELLO, None));
}

#[test]
fn what_a_person_says_of_an_escalated_call_is_told_to_the_calls_after_it() {
    let mut session = new_session("standard", true);
    let call = |id: &str, at: u32| format!(r#"{{"type":"call","id":"{id}","at_ms":{at},"run":"r","tool":"pay"}}"#);
    let busy = |id: &str, at: u32| {
        let error = r#"{"kind":"429_rate_limited","status":429,"retry_after_ms":99999999}"#;
        format!(r#"{{"type":"answer","id":"{id}","attempt":1,"at_ms":{at},"error":{error}}}"#)
    };
    let lost = r#"{"type":"answer","id":"a","attempt":1,"at_ms":9,"timeout":true}"#;
    let said = r#"{"type":"resolve","id":"a","at_ms":30,"effect":"not_applied","by":"anna"}"#;
    let lines = [&call("a", 7), lost, &call("b", 10), &busy("b", 11), said, &call("c", 40), &busy("c", 41)];
    let answers = serve_lines(&mut session, &lines.map(str::to_owned).join("\n"), None);
    let told = |n: usize| &answers[n]["do"][0];
    assert_eq!(told(1)["outcome"], "escalated", "{answers:?}");
    let may_be_made = |n: usize| told(n)["told"]["retriable"].as_bool();
    assert_eq!((may_be_made(3), may_be_made(6)), (Some(false), Some(true)), "{answers:?}");
}

#[test]
fn a_line_that_is_too_long_is_refused_and_the_next_one_is_read() {
    let long = format!("{{\"type\":\"call\",\"id\":\"{}\"}}\n{}", "x".repeat(crate::protocol::LINE_MAX), STORY[0]);
    let answers = serve_lines(&mut new_session("dispatcher", false), &long, None);
    assert_eq!((&answers[0]["code"], &answers[1]["do"][0]["send"]), (&Value::from("line_too_long"), &Value::from("a")));
}

/// What is decided in the shadow of a program: the events of one call, without those of attempts.
fn in_the_shadow(lines: &[&str], call: &str) -> (Vec<Value>, Vec<String>) {
    let decider = Decider { shadow: true, ..new_session("dispatcher", true).decider().clone() };
    let mut session = Session::new(crate::tests::plan("dispatcher"), decider, true);
    let mut memory = Memory { bytes: session.head().into_bytes(), ..Memory::new() };
    let answers = serve_lines(&mut session, &lines.join("\n"), Some(&mut memory));
    let text = String::from_utf8(memory.bytes).unwrap();
    let again =
        crate::decided_again(text.as_bytes(), crate::tests::plan("dispatcher"), |line| line.to_string()).unwrap();
    assert!(again.differences.is_empty() && again.calls > 0, "{again:?}");
    let decisions = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let own = decisions.filter(|line| line["type"] == "decision" && line["id"] == call);
    (answers, own.map(|line| format!("{} {}", line["at_ms"], line["event"].as_str().unwrap())).collect())
}

#[test]
fn in_the_shadow_a_call_is_sent_once_and_what_the_playbook_would_have_done_is_kept() {
    let retried = [STORY[0], STORY[2], r#"{"type":"call","id":"z","at_ms":5000,"run":"r","tool":"search.web"}"#];
    let (answers, decisions) = in_the_shadow(&retried, "a");
    let send = serde_json::json!({"do":[{"send":"a","attempt":1,"within_ms":5000}]});
    assert_eq!((&answers[0]["do"][0]["send"], &answers[1]), (&send["do"][0]["send"], &serde_json::json!({"do":[]})));
    let kinds: Vec<&str> = decisions.iter().map(|event| event.split_once(' ').unwrap().1).collect();
    let expected = ["attempt_started", "attempt_finished", "failure_classified", "retry_scheduled", "attempt_started"];
    assert_eq!(kinds[..5], expected, "{decisions:?}");
    assert!(kinds.contains(&"outcome") && answers[2]["do"][0]["send"] == "z", "{decisions:?}");
}

#[test]
fn in_the_shadow_a_call_that_the_playbook_refuses_is_sent_and_its_answer_taken() {
    let refused = [STORY[9], r#"{"type":"answer","id":"d","attempt":1,"at_ms":2300,"ok":true}"#];
    let (answers, decisions) = in_the_shadow(&refused, "d");
    assert_eq!((&answers[0]["do"][0]["send"], &answers[1]), (&Value::from("d"), &serde_json::json!({"do":[]})));
    assert!(decisions[0].ends_with("refused"), "{decisions:?}");
}

#[test]
fn a_file_of_something_else_without_a_line_end_is_no_torn_journal() {
    for foreign in ["my notes", "{\"type\":\"recording\"}", "{\"type\":\"journal\",\"protocol\":\"other"] {
        let read = resume(foreign.as_bytes(), new_session("standard", true));
        assert!(matches!(read, Err(Unusable::Damaged { line: 1, .. })), "{foreign}");
    }
    let head = new_session("standard", true).head();
    for length in 0..head.len() {
        assert!(resume(&head.as_bytes()[..length], new_session("standard", true)).is_ok(), "{length} bytes");
    }
}

#[test]
fn a_refused_line_does_not_move_the_clock() {
    let (mut session, _) = journaled(b"");
    let lines = r#"{"type":"call","id":"a","at_ms":10,"tool":"search.web","args":{"q":"x"}}
{"type":"wake","id":"z","at_ms":900000}
{"type":"cancel","id":"z","at_ms":900000}
{"type":"call","id":"a","at_ms":900000,"tool":"search.web"}
{"type":"end_run","run":"","at_ms":900000}
{"type":"answer","id":"a","attempt":7,"at_ms":900000,"ok":true}
{"type":"hello","protocol":"dispatch/1"}
{"type":"wake","id":"a","at_ms":18446744073709551.6}
"#;
    let answers = serve_lines(&mut session, lines, None);
    assert!(answers[1..6].iter().all(|answer| answer["code"].is_string()), "{answers:?}");
    assert_eq!((&answers[6]["at_ms"], &answers[7]["code"]), (&Value::from(10), &Value::from("bad_line")));
}

#[test]
fn the_id_of_a_call_that_has_ended_stays_taken_after_its_run_and_after_a_restart() {
    const LINES: &str = r#"{"type":"call","id":"a","at_ms":0,"run":"r","tool":"db.write","args":{"table":"t","row":{"x":1}}}
{"type":"answer","id":"a","attempt":1,"at_ms":5,"ok":true}
{"type":"end_run","run":"r","at_ms":6}
{"type":"call","id":"a","at_ms":7,"run":"r","tool":"db.write","args":{"table":"t","row":{"x":1}}}
{"type":"call","id":"b","at_ms":8,"run":"r","tool":"db.write","args":{"table":"t","row":{"x":1}}}
{"type":"answer","id":"b","attempt":1,"at_ms":9,"ok":true}
"#;
    let (mut session, mut journal) = journaled(b"");
    let answers = serve_lines(&mut session, LINES, Some(&mut journal));
    assert_eq!((&answers[3]["code"], &answers[4]["do"][0]["send"]), (&"id_taken".into(), &"b".into()), "{answers:?}");
    let again = r#"{"type":"call","id":"a","at_ms":10,"run":"s","tool":"db.write","args":{"table":"t","row":{"x":1}}}"#;
    let (mut session, mut anew) = journaled(&journal.bytes);
    assert_eq!(serve_lines(&mut session, again, Some(&mut anew))[0]["code"], "id_taken");

    let trace = crate::trace::of_journal(&journal.bytes).unwrap();
    let calls: Vec<&str> = trace.lines().filter(|line| line.contains("\"tool_call\"")).collect();
    assert!(calls.len() == 2 && calls[0].contains("\"a\"") && calls[1].contains("\"b\""), "{trace}");
    assert_eq!(trace.lines().count(), journal.bytes.iter().filter(|byte| **byte == b'\n').count());
    let compared = crate::decided_again(&journal.bytes, crate::tests::plan("dispatcher"), |line| line.to_string());
    let compared = compared.unwrap();
    assert!(compared.differences.is_empty() && compared.calls == 2, "{compared:?}");
}

#[test]
fn what_a_person_says_of_a_call_is_read_from_the_journal() {
    const LINES: &str = r#"{"type":"call","id":"a","at_ms":0,"run":"r","tool":"payments.issue_refund","args":{"order":"o_1"}}
{"type":"resolve","id":"a","at_ms":1,"effect":"applied","by":"too early"}
{"type":"answer","id":"a","attempt":1,"at_ms":5000,"timeout":true}
{"type":"resolve","id":"a","at_ms":6000,"effect":"applied","by":"ada"}
{"type":"resolve","id":"a","at_ms":7000,"effect":"not_applied","by":"bob"}
"#;
    let (mut session, mut journal) = journaled_by("standard", b"");
    let mut answers = Vec::new();
    for line in LINES.lines() {
        answers.extend(serve_lines(&mut session, line, Some(&mut journal)));
    }
    assert_eq!(answers[3]["do"][0]["by"], "ada", "{answers:?}");
    let resolved = crate::trace::resolved(&journal.bytes).unwrap();
    let said: Vec<_> = resolved.iter().map(|of| (&*of.reference, &*of.said.by, of.said.is_applied)).collect();
    assert!(said.contains(&("r#1", "ada", true)) && said.len() == 1, "{said:?}");
}

#[test]
fn a_driver_that_begins_anew_meets_no_earlier_call_unless_a_journal_keeps_it() {
    const ANEW: &str = r#"{"type":"hello","protocol":"dispatch/1","anew":true}"#;
    const CALL: &str = r#"{"type":"call","id":"a","at_ms":5,"tool":"search.web","args":{"q":"x"}}"#;
    let mut session = new_session("dispatcher", false);
    let answers = serve_lines(&mut session, &[CALL, ANEW, CALL].join("\n"), None);
    assert_eq!((&answers[1]["at_ms"], &answers[2]["do"][0]["send"]), (&0.into(), &"a".into()), "{answers:?}");
    let (mut session, mut journal) = journaled(b"");
    let answers = serve_lines(&mut session, &[ANEW, CALL, ANEW].join("\n"), Some(&mut journal));
    assert_eq!((&answers[0]["at_ms"], &answers[2]["code"]), (&0.into(), &"bad_line".into()), "{answers:?}");
}

const TRANSACTION: [&str; 4] = [
    r#"{"type":"begin","id":"t","at_ms":0,"run":"r","transaction":"order"}"#,
    r#"{"type":"call","id":"a","at_ms":1,"run":"r","transaction":"order","tool":"search.web","args":{"q":"x"}}"#,
    r#"{"type":"answer","id":"a","attempt":1,"at_ms":2,"ok":true}"#,
    r#"{"type":"state","id":"s","at_ms":3,"run":"r","transaction":"order","name":"order.status","args":"paid"}"#,
];
const COMMIT: &str = r#"{"type":"commit","id":"c","at_ms":9,"run":"r","transaction":"order"}"#;
const GOES_ON: &str = r#"{"type":"hello","protocol":"dispatch/1","goes_on":true}"#;

#[test]
fn another_playbook_goes_on_only_where_no_transaction_may_make_its_calls_again() {
    let call = r#"{"type":"call","id":"pay","at_ms":4,"run":"r","tool":"pay","transaction":"order"}"#;
    let ok = r#"{"type":"answer","id":"pay","attempt":1,"at_ms":5,"ok":true}"#;
    let (mut session, mut memory) = journaled_by("standard", b"");
    serve_lines(&mut session, &[TRANSACTION[0], call, ok].join("\n"), Some(&mut memory));
    let under = |playbook: &str, bytes: &[u8]| match resume(bytes, new_session(playbook, true)) {
        Err(Unusable::Open { calls, .. }) => calls.into_iter().map(|call| call.tool).collect(),
        other => other.map(|_| Vec::new()).unwrap(),
    };
    assert_eq!(under("transactional", &memory.bytes), ["pay"], "a key of its transaction would be forgotten");
    assert!(under("dispatcher", &memory.bytes).is_empty(), "it does nothing once in a transaction");
    serve_lines(&mut session, COMMIT, Some(&mut memory));
    assert!(under("transactional", &memory.bytes).is_empty());
}

#[test]
fn a_program_that_begins_hears_which_state_was_lost_and_one_that_goes_on_commits_it() {
    let (mut first, mut memory) = journaled(b"");
    let answers = serve_lines(&mut first, &TRANSACTION.join("\n"), Some(&mut memory));
    assert_eq!(answers[0]["do"][0]["outcome"], "succeeded");
    let commit = |hello: &str| {
        let (mut second, mut memory) = journaled(&memory.bytes);
        let mut answers = serve_lines(&mut second, &format!("{hello}\n{COMMIT}\n"), Some(&mut memory));
        (answers.remove(0), answers.remove(0)["do"][0].clone(), memory)
    };
    let (hello, done, _) = commit(GOES_ON);
    assert!(hello.get("lost").is_none() && done["outcome"] == "succeeded", "{hello} {done}");
    let (hello, done, memory) = commit(HELLO);
    assert_eq!(hello["lost"].to_string(), r#"[{"run":"r","state":["order.status"],"transaction":"order"}]"#);
    assert_eq!((&done["outcome"], &done["why"]), (&"refused".into(), &"rolled_back".into()));
    let journal = String::from_utf8(memory.bytes.clone()).unwrap();
    assert!(journal.contains(r#"{"type":"crash","at_ms":3}"#), "{journal}");
    let (mut third, _) = journaled(&memory.bytes);
    assert!(serve_lines(&mut third, HELLO, None)[0].get("lost").is_none(), "it is lost once");
    let trace = crate::trace::of_journal(&memory.bytes).unwrap();
    let is_act = |line: &&str| !line.contains("tool_") && !line.contains("other") && !line.contains("decision");
    let acts: Vec<&str> = trace.lines().skip(1).filter(is_act).collect();
    let of_it = r#""run_id":"r","transaction":"order","at_ms":"#;
    let expected = [
        format!(r#"{{"type":"begin",{of_it}0}}"#),
        format!(r#"{{"type":"state",{of_it}3,"name":"order.status","args":"paid"}}"#),
        format!(r#"{{"type":"rollback",{of_it}9}}"#),
    ];
    assert_eq!(acts, expected, "{trace}");
}

#[test]
fn a_program_that_begins_without_a_hello_has_lost_its_state_too() {
    let (mut first, mut memory) = journaled(b"");
    serve_lines(&mut first, &TRANSACTION.join("\n"), Some(&mut memory));
    let (mut second, mut memory) = journaled(&memory.bytes);
    let done = &serve_lines(&mut second, COMMIT, Some(&mut memory))[0]["do"][0];
    assert_eq!((&done["outcome"], &done["why"]), (&"refused".into(), &"rolled_back".into()));
    journaled(&memory.bytes); // it is gone on with
}

#[test]
fn a_journal_as_a_trace_leaves_out_what_was_refused_and_what_came_after_an_end() {
    const LINES: &str = r#"{"type":"call","id":"a","at_ms":0,"tool":"payments.issue_refund","args":{"order":"o_1"}}
{"type":"answer","id":"a","attempt":1,"at_ms":1,"late":true,"ok":true}
{"type":"answer","id":"a","attempt":1,"at_ms":5000,"timeout":true}
{"type":"answer","id":"a","attempt":1,"at_ms":5001,"ok":true}
{"type":"answer","id":"a","attempt":2,"at_ms":5002,"ok":true}
{"type":"cancel","id":"a","at_ms":5003}
{"type":"answer","id":"a","attempt":1,"at_ms":5004,"late":true,"ok":true}
{"type":"answer","id":"a","attempt":1,"at_ms":5005,"late":true,"ok":true}
"#;
    let (mut session, mut journal) = journaled_by("standard", b"");
    let answers = serve_lines(&mut session, LINES, Some(&mut journal));
    let refused = |answer: &Value| answer.get("error").is_some();
    assert_eq!(answers.iter().map(refused).collect::<Vec<_>>(), [false, true, false, true, true, false, false, true]);
    let trace = crate::trace::of_journal(&journal.bytes).unwrap();
    let mut results = trace.lines().filter(|line| line.contains("tool_result"));
    let first = results.next().unwrap();
    assert!(first.contains(r#""attempt":1,"started_ms":0,"at_ms":5000,"status":"error""#), "{trace}");
    assert!(results.next().unwrap().contains(r#""answers":"late""#), "{trace}");
    assert!(results.next().is_none() && !trace.contains("cancel"), "{trace}");
}
