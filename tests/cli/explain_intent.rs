//! `explain` on calls whose intent was sent before or later: what any of those requests may have done counts.

use super::Place;

const TOOLS: &str = "\
format: tools/1
tools:
  set.*: { access: write, idempotent: true }
  pay: { access: write, idempotent: false }
";

const TIMEOUT: &str = r#""status":"error","error":{"kind":"timeout","message":"t"}"#;
const SLOW: &str = r#""status":"error","error":{"kind":"429_rate_limited","message":"too many requests"}"#;
const REFUSED: &str =
    r#""status":"error","error":{"kind":"invalid_arguments","message":"missing required argument: reason"}"#;
const OK: &str = r#""status":"ok""#;

/// What is to be known of one of two calls that want the same.
fn of_two(tool: &str, key: &str, answers: [&str; 2], call: &str, said: &[&str]) {
    let place = Place::new();
    let line = |answer: &str| format!("{{\"run_id\":\"r1\",\"tool\":\"{tool}\",{key}\"args\":{{\"a\":1}},{answer}}}\n");
    place.write("trace.jsonl", answers.map(line).concat());
    place.write("tools.yaml", TOOLS);
    let run = place.run(&["explain", "trace.jsonl", "--tools", "tools.yaml", call]);
    assert_eq!(run.code, 0, "{}", run.err);
    let page = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in said {
        assert!(page.contains(said), "{said}\n{page}");
    }
    assert!(!page.contains("Yes, because no attempt"), "{page}");
}

#[test]
fn an_unanswered_payment_is_not_forgotten_when_its_repetition_is_refused() {
    for second in [REFUSED, SLOW] {
        let said = [
            "Unknown: r1#1 may have acted with the same intent, and the recording does not show it; according to the \
             playbook, this call has not. Look upstream.",
            "No, because an attempt with this intent may have acted without an idempotency key",
        ];
        of_two("pay", "", [TIMEOUT, second], "r1#2", &said);
        of_two("pay", "", [second, TIMEOUT], "r1#1", &["Unknown: r1#2 may have acted with the same intent"]);
    }
}

#[test]
fn a_keyed_payment_that_was_not_answered_is_sent_with_the_same_key_only() {
    let said = ["Unknown: r1#1 may have acted with the same intent", "Yes, but only with the same key `k`"];
    of_two("pay", r#""idempotency_key":"k","#, [TIMEOUT, SLOW], "r1#2", &said);
}

#[test]
fn a_payment_that_succeeded_after_an_unanswered_one_may_be_the_second() {
    let said = [
        "The effect is there: an attempt was answered with ok. With the same intent, r1#1 may have made it again",
        "A person: check upstream whether the effect was made again.",
        "No, because the effect is there already",
    ];
    of_two("pay", "", [TIMEOUT, OK], "r1#2", &said);
    of_two("pay", "", [TIMEOUT, OK], "r1#1", &["The effect is there: r1#2 made it; this call may have made it too."]);
}

#[test]
fn an_idempotent_tool_is_credited_with_what_an_earlier_call_did() {
    let said = ["The effect is there: r1#1 made it; this call did not make it.", "Yes, because the tool is declared"];
    of_two("set.x", "", [OK, REFUSED], "r1#2", &said);
}

#[test]
fn what_only_the_playbook_says_is_not_told_as_seen() {
    let place = Place::new();
    place.write("trace.jsonl", format!("{{\"run_id\":\"r1\",\"tool\":\"pay\",{SLOW}}}\n"));
    place.write("tools.yaml", TOOLS);
    let run = place.run(&["explain", "trace.jsonl", "--tools", "tools.yaml"]);
    let page = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "The effect is not there: according to the playbook, no attempt with this intent can have acted.",
        "The outcome still claims unknown, because the recording does not answer one of the playbook's requests.",
        "Yes: according to the playbook, no attempt with this intent has acted. Add an idempotency key",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
}

#[test]
fn a_modelled_answer_is_not_called_a_proof() {
    let place = Place::new();
    place.write("trace.jsonl", format!("{{\"run_id\":\"r1\",\"tool\":\"pay\",{TIMEOUT}}}\n"));
    let flags = ["--playbook", "study/retry-everything", "--beyond-tape", "ok"];
    let run = place.run(&[&["replay", "trace.jsonl"], &flags[..]].concat());
    let page = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("one effect of this call is modelled, none is proved"), "{page}");
}

/// What is to be known of each call of a trace of `pay` in one run.
fn known(lines: &[&str]) -> Vec<String> {
    let place = Place::new();
    let line = |line: &&str| format!("{{\"run_id\":\"r1\",\"tool\":\"pay\",{line}}}\n");
    place.write("trace.jsonl", lines.iter().map(line).collect::<String>());
    place.write("tools.yaml", TOOLS);
    let page = |n: usize| {
        let run = place.run(&["explain", "trace.jsonl", "--tools", "tools.yaml", &format!("r1#{n}")]).exits(0);
        let known = run.out.split_once("What to know").expect("the last block").1;
        known.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    (1..=lines.len()).map(page).collect()
}

/// The end of a line: arguments, key and answer.
fn sent(n: u32, key: &str, answer: &str) -> String {
    format!(r#""args":{{"a":{n}}},"idempotency_key":"{key}",{answer}"#)
}

#[test]
fn the_same_request_under_another_key_is_named_and_never_sent_again() {
    for first in [TIMEOUT, REFUSED, OK] {
        let pages = known(&[&sent(1, "k1", first), &sent(1, "k2", OK)]);
        assert!(pages[0].contains("also sent under another key or none: r1#2 made the effect."), "{}", pages[0]);
        assert!(pages[1].contains("also sent under another key or none: r1#1 "), "{}", pages[1]);
        assert!(pages.iter().all(|page| page.contains("send again? No, because ")), "{pages:?}");
        let asked = "A person: check upstream whether the effect was made under the other key too.";
        assert_eq!(pages[1].contains(asked), first != REFUSED, "{}", pages[1]);
    }
    // One with a key, and one without.
    let pages = known(&[r#""args":{"a":1},"status":"error","error":{"kind":"5xx"}"#, &sent(1, "k", OK)]);
    assert!(pages[0].contains("also sent with a key: r1#2 made the effect."), "{}", pages[0]);
}

#[test]
fn another_request_under_another_key_is_left_alone() {
    let pages = known(&[&sent(1, "k1", TIMEOUT), &sent(2, "k2", OK)]);
    assert!(!pages[0].contains("also sent"), "{}", pages[0]);
    assert!(pages[0].contains("send again? Yes, but only with the same key `k1`"), "{}", pages[0]);
    // Neither of two requests has acted: they name each other, and may be sent.
    let pages = known(&[&sent(1, "k1", SLOW), &sent(1, "k2", SLOW)]);
    assert!(pages[0].contains("r1#2 did not make it.") && pages[0].contains("send again? Yes, with"), "{}", pages[0]);
}

#[test]
fn a_key_with_other_arguments_is_no_proof_and_never_sent_again() {
    let pages = known(&[&sent(1, "k", OK), &sent(2, "k", OK), &sent(1, "k", TIMEOUT)]);
    assert!(pages[0].contains("Its key was also sent with other arguments, by r1#2."), "{}", pages[0]);
    assert!(pages[1].contains("the key was sent with other arguments before, by r1#1"), "{}", pages[1]);
    assert!(pages[1].contains("check upstream which of the requests with this key has acted"), "{}", pages[1]);
    assert!(pages[1].contains("No, because the key `k` belongs to a request with other arguments"), "{}", pages[1]);
    assert!(pages[2].contains("The effect is there: r1#1 made it"), "{}", pages[2]);
    let refused = r#""status":"error","error":{"kind":"422_key_reused","status":422}"#;
    let said = known(&[&sent(1, "k", refused)]);
    assert!(said[0].contains("No, because the key `k` belongs to a request with other arguments."), "{}", said[0]);
}

#[test]
fn what_was_processed_under_the_key_of_another_request_claims_no_effect() {
    let place = Place::new();
    let line = |run: u32, order: u32, answer: &str| {
        format!(
            r#"{{"type":"tool_call","run_id":"r{run}","tool":"pay","args":{{"o":{order}}},"idempotency_key":"k_1",{answer}}}"#
        )
    };
    let processed =
        r#""status":"error","error":{"kind":"409_conflict","message":"idempotency key k_1 was already processed"}"#;
    for (order, claim) in [(2, "unknown"), (1, "applied")] {
        place.write("t.jsonl", [line(1, 1, OK), line(2, order, processed)].join("\n"));
        let run = place.run(&["replay", "t.jsonl", "--playbook", "standard", "--all", "--format", "jsonl"]);
        let claimed = |line: &&str| line.contains(r#""type":"call""#) && line.contains(r#""run":"r2""#);
        let call = run.out.lines().find(claimed).unwrap_or_default();
        assert!(call.contains(&format!(r#""effect":"{claim}""#)), "{order}: {call}\n{}", run.err);
    }
}

#[test]
fn a_key_whose_arguments_are_not_recorded_may_be_that_of_the_same_request() {
    let bare = |answer: &str| format!(r#""idempotency_key":"k",{answer}"#);
    let pages = known(&[&bare(OK), &sent(1, "k", OK)]);
    assert!(pages[1].contains("the key was sent with arguments that may be others before, by r1#1"), "{}", pages[1]);
    let no = "No, because the key `k` belongs to a request with arguments that may be others, sent by r1#1";
    assert!(pages[1].contains(no), "{}", pages[1]);
    assert!(pages[0].contains("Its key was also sent with arguments that may be others, by r1#2."), "{}", pages[0]);
    // A look-alike: the arguments are others.
    let pages = known(&[&sent(2, "k", OK), &sent(1, "k", OK)]);
    assert!(pages[1].contains("the key was sent with other arguments before, by r1#1"), "{}", pages[1]);
}

#[test]
fn the_first_request_under_a_key_is_never_told_to_take_another() {
    for second in [SLOW, OK, r#""status":"error","error":{"kind":"422_key_reused","status":422}"#] {
        let pages = known(&[&sent(1, "k", TIMEOUT), &sent(2, "k", second), &sent(1, "k", SLOW)]);
        for first in [&pages[0], &pages[2]] {
            assert!(
                first.contains("A person: check upstream which of the requests with this key has acted"),
                "{first}"
            );
            assert!(
                first.contains(
                    "No, because the key `k` is this request's own, and another request was sent under it later, by \
                     r1#2. Look upstream, and never send this one under a new key"
                ),
                "{first}"
            );
            assert!(!first.contains("needs a key of its own"), "{first}");
        }
        assert!(pages[1].contains("No, because the key `k` belongs to a request with other arguments, sent by r1#1"));
        assert!(pages[1].contains("needs a key of its own"), "{}", pages[1]);
    }
}

#[test]
fn a_later_write_of_an_idempotent_tool_is_mentioned() {
    let place = Place::new();
    let line = |n: u32, answer| format!("{{\"run_id\":\"r1\",\"tool\":\"set.x\",\"args\":{{\"a\":{n}}},{answer}}}\n");
    place.write("trace.jsonl", line(1, TIMEOUT) + &line(2, OK));
    place.write("tools.yaml", TOOLS);
    let page = |call| {
        let run = place.run(&["explain", "trace.jsonl", "--tools", "tools.yaml", call]).exits(0);
        run.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(page("r1#1").contains("r1#2 called the tool later with other arguments"), "{}", page("r1#1"));
    assert!(page("r1#1").contains("send again? Only if no later write is lost"), "{}", page("r1#1"));
    assert!(
        page("r1#2").contains("changes nothing more, unless the same object was written since"),
        "{}",
        page("r1#2")
    );
}

#[test]
fn identical_calls_without_a_run_may_belong_to_several() {
    let place = Place::new();
    place.write("trace.jsonl", format!("{{\"tool\":\"pay\",\"args\":{{\"a\":1}},{OK}}}\n").repeat(2));
    place.write("tools.yaml", TOOLS);
    let run = place.run(&["explain", "trace.jsonl", "--tools", "tools.yaml", "#2"]).exits(0);
    let page = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("twice if these calls belong to one run, which is not recorded"), "{page}");
    assert!(page.contains("find out whether the calls belong to one run"), "{page}");
}

#[test]
fn what_another_call_without_a_run_did_is_told_under_that_condition() {
    let line = |run: &str, answer: &str| format!("{{{run}\"tool\":\"pay\",\"args\":{{\"a\":1}},{answer}}}\n");
    let condition = "All this holds only if these calls belong to one run, which is not recorded.";
    for (answer, no) in [
        (
            OK,
            "No, because the effect is there already if these calls belong to one run, and without an idempotency key",
        ),
        (TIMEOUT, "No, because an attempt with this intent may have acted"),
    ] {
        let page = known_of(&[("a.jsonl", &(line("", answer) + &line("", REFUSED)))], "#2");
        assert!(page.contains(condition) && page.contains(no), "{page}");
        assert!(page.contains("The planner: it reads the upstream's state first"), "{page}");
        // Look-alikes: a run, and what the call itself did.
        let run = r#""run_id":"r","#;
        let page = known_of(&[("a.jsonl", &(line(run, answer) + &line(run, REFUSED)))], "r#2");
        assert!(!page.contains("belong to one run"), "{page}");
        let page = known_of(&[("a.jsonl", &(line("", answer) + &line("", REFUSED)))], "#1");
        assert!(!page.contains("belong to one run"), "{page}");
    }
}

#[test]
fn a_key_is_compared_over_all_inputs() {
    let place = Place::new();
    for (file, run) in [("a.jsonl", "r1"), ("b.jsonl", "r2")] {
        place.write(file, format!("{{\"run_id\":\"{run}\",\"tool\":\"pay\",{}}}\n", sent(1, "k", OK)));
    }
    let page = place.run(&["explain", "a.jsonl", "b.jsonl", "r2#1"]).exits(0).out;
    assert!(page.contains("Answered with ok: a.jsonl:1 and this call"), "{page}");
}

#[test]
fn a_request_that_may_land_after_its_reversal_is_unknown() {
    let place = Place::new();
    let reversed = r#"{"run_id":"r1","call_id":"c","tool":"pay","reversal_token":"t","args":{"a":1},"status":"error","error":{"kind":"schema_validation"}}
{"type":"tool_result","run_id":"r1","call_id":"c","answers":"reversal","status":"ok"}
"#;
    place.write("trace.jsonl", reversed);
    let page = place.run(&["explain", "trace.jsonl", "--playbook", "reversing"]).exits(0).out;
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("a reversal was confirmed, and an attempt that was not answered may still take"), "{page}");
    assert!(page.contains("reads the upstream's state first") && page.contains("send again? No, because"), "{page}");
}

/// The last block of the page on the only call of a fixture.
fn of_fixture(playbook: &str, rest: &str) -> String {
    let place = Place::new();
    let text = format!(
        "format: fixture/1\ntitle: t\nplaybooks: [{playbook}]\n{rest}expect: {{ {playbook}: {{ sends: 1 }} }}\n"
    );
    place.write("f.yaml", text);
    let run = place.run(&["explain", "f.yaml", "--playbook", playbook]).exits(0);
    let known = run.out.split_once("What to know").expect("the last block").1;
    known.split_whitespace().collect::<Vec<_>>().join(" ")
}

const KEYED: &str = "calls: { a: { tool: payments.issue_refund, args: { order: 1 }, idempotency_key: k } }\n";

#[test]
fn a_conflict_about_nothing_is_for_people_and_not_sent_again() {
    let upstream = |applied| {
        format!(
            "{KEYED}upstream: {{ a: [{{ timeout: {{}}, applied: {applied} }}, {{ error: {{ kind: 409_conflict, \
             message: idempotency_key already processed, status: 409 }} }}] }}\n"
        )
    };
    let nothing = of_fixture("standard", &upstream(false));
    for said in [
        "The effect is not there; the outcome claims that it is there.",
        "A person: look upstream, because the outcome claims something else than the ledger.",
        "send again? No, because the outcome claims something else than the ledger.",
    ] {
        assert!(nothing.contains(said), "{said}\n{nothing}");
    }
    let made = of_fixture("standard", &upstream(true));
    assert!(made.contains("acts next The planner: it treats the effect as made"), "{made}");
}

#[test]
fn an_effect_that_lands_after_its_reversal_is_there() {
    let answers = |latency| {
        format!(
            "calls: {{ a: {{ tool: payments.issue_refund, args: {{ order: 1 }}, reversal_token: t }} }}\nupstream: {{ a: {{ \
             attempts: [{{ ok: {{}}, latency_ms: {latency} }}], reversal: [{{ ok: {{}}, latency_ms: 500 }}] }} }}\n"
        )
    };
    let late = of_fixture("reversing", &answers(9_000));
    assert!(late.contains("The effect is there, once (a reversal was confirmed too);"), "{late}");
    assert!(!late.contains("the effect was taken back"), "{late}");
    assert!(
        late.contains("reads the upstream's state first") && late.contains("send again? No, because the"),
        "{late}"
    );
    let before = of_fixture("reversing", &answers(5_200));
    assert!(before.contains("(one was made and taken back)"), "{before}");
}

#[test]
fn an_upstream_that_forgets_keys_is_not_asked_again() {
    let page = |keys| {
        let script = "upstream: { a: [{ error: { kind: schema_validation } }] }\n";
        of_fixture("standard", &format!("{KEYED}{script}keys: {keys}\n"))
    };
    assert!(
        page("none")
            .contains("No, because an attempt with this intent may have acted, and the upstream does not remember")
    );
    assert!(page("replay").contains("Yes, but only with the same key `k`"));
}

/// What is to be known of one call of these files.
fn known_of(files: &[(&str, &str)], call: &str) -> String {
    let place = Place::new();
    files.iter().for_each(|(file, lines)| place.write(file, lines));
    place.write("tools.yaml", TOOLS);
    let names = files.iter().map(|(file, _)| *file);
    let args: Vec<&str> = ["explain"].into_iter().chain(names).chain(["--tools", "tools.yaml", call]).collect();
    let run = place.run(&args).exits(0);
    let known = run.out.split_once("What to know").expect("the last block").1;
    known.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_same_write_of_another_run_is_named_where_it_may_have_acted() {
    let line = |run: u32, args: &str, answer: &str| {
        format!("{{\"run_id\":\"{run}\",\"tool\":\"pay\",\"args\":{{\"a\":{args}}},{answer}}}\n")
    };
    let page_beside = |other: &str| known_of(&[("a.jsonl", &(line(1, "1", REFUSED) + other))], "1#1");
    let page = page_beside(&line(2, "1", OK));
    assert!(page.contains("Other runs sent the same: the call in line 2 made the effect."), "{page}");
    assert!(
        page_beside(&line(2, "1", TIMEOUT)).contains("Other runs sent the same: the call in line 2 may have made it.")
    );
    for other in [line(2, "1", REFUSED), line(2, "2", OK), String::new()] {
        assert!(!page_beside(&other).contains("Other runs"), "{other}");
    }
    let without_args = |run| line(run, "1", OK).replace("\"args\":{\"a\":1},", "");
    let page = known_of(&[("a.jsonl", &(without_args(1) + &without_args(2)))], "1#1");
    assert!(!page.contains("Other runs"), "they may have asked for anything: {page}");
}

#[test]
fn what_may_be_the_same_request_is_named_and_never_sent_again() {
    let line = |run: &str, args: &str, answer: &str| format!("{{{run}\"tool\":\"pay\"{args},{answer}}}\n");
    let (r, a) = (r#""run_id":"r","#, r#","args":{"a":1}"#);
    let (paid, refused) = (line(r, a, OK), line(r, a, REFUSED));
    for answer in [OK, TIMEOUT] {
        let first = line(r, a, answer);
        let did = if answer == OK { "made the effect" } else { "may have made it" };
        // A log that was cut in the middle of a run.
        let page = known_of(&[("a.jsonl", &first), ("b.jsonl", &refused)], "b.jsonl:1");
        assert!(page.contains(&format!("because the run id occurs in two inputs: a.jsonl:1 {did}.")), "{page}");
        assert!(page.contains(&format!("No, because this may be a request that was sent before: a.jsonl:1 {did}.")));
        let page = known_of(&[("b.jsonl", &refused), ("a.jsonl", &first)], "b.jsonl:1");
        assert!(page.contains("No, because this may be"), "the other one may come later: {page}");
        // Two files without run ids, or one of them.
        for (first, second) in [(line("", a, answer), line("", a, REFUSED)), (line("", a, answer), refused.clone())] {
            let page = known_of(&[("a.jsonl", &first), ("b.jsonl", &second)], "b.jsonl:1");
            assert!(page.contains(&format!("because one of the calls names no run: a.jsonl:1 {did}.")), "{page}");
            assert!(page.contains("No, because this may be") && !page.contains("effect is not there"), "{page}");
        }
        // One line without its run.
        let page = known_of(&[("a.jsonl", &(line("", a, answer) + &refused))], "a.jsonl:2");
        assert!(page.contains(&format!("because one of the calls names no run: the call in line 1 {did}.")), "{page}");
        assert!(page.contains("No, because this may be"), "{page}");
        // One line without its arguments.
        let lines = line(r, "", answer) + &line(r, r#","args":{}"#, REFUSED);
        let page = known_of(&[("a.jsonl", &lines)], "a.jsonl:2");
        assert!(page.contains(&format!("because the arguments of a call are not recorded: r#1 {did}.")), "{page}");
        assert!(page.contains("No, because this may be"), "{page}");
    }
    let page = known_of(&[("a.jsonl", &paid), ("b.jsonl", &paid)], "b.jsonl:1");
    assert!(page.contains("A person: check upstream whether the effect was made more than once"), "{page}");
    // Look-alikes: another run, another request in files without runs, a request that was refused too.
    let (other, no_run) = (refused.replace("\"r\"", "\"s\""), refused.replace(r, ""));
    for files in [
        [("a.jsonl", &*paid), ("b.jsonl", &*other)],
        [("a.jsonl", &paid.replace(r, "").replace(":1}", ":2}")), ("b.jsonl", &no_run)],
        [("a.jsonl", &refused), ("b.jsonl", &refused)],
    ] {
        let page = known_of(&files, "b.jsonl:1");
        assert!(page.contains("send again? Not as it stands: according to the playbook, no attempt"), "{page}");
    }
}

#[test]
fn what_an_answer_tells_to_be_done_is_not_sent_again() {
    let failed = |kind: &str, message: &str| {
        format!(r#""args":{{"a":1}},"status":"error","error":{{"kind":"{kind}","message":"{message}"}}"#)
    };
    for (kind, message) in [
        ("429_rate_limited", "refund re_1 created, but rate limited on receipt"),
        ("invalid_arguments", "duplicate: already refunded"),
    ] {
        let one = failed(kind, message);
        for key in ["", r#""idempotency_key":"k","#] {
            let page = &known(&[&format!("{key}{one}")])[0];
            let claims = match kind {
                "invalid_arguments" => "The outcome claims not_applied, which is not proved: according to the playbook",
                _ => "Unknown: according to the playbook", // one of the playbook's requests has no recorded answer
            };
            assert!(
                page.contains(claims) && page.contains("an answer says that something was done. Look upstream."),
                "{page}"
            );
            assert!(!page.contains("is not there"), "{page}");
            assert!(page.contains("A person: check upstream what was done: an answer says"), "{page}");
            assert!(page.contains("send again? No, because the answer says that something was done."), "{page}");
        }
        // The same intent counts.
        let pages = known(&[&one, &failed("429_rate_limited", "too many requests")]);
        assert!(pages.iter().all(|page| page.contains("the answer says that something was done")), "{pages:?}");
    }
    let page = &known(&[&failed("401_unauthorized", "token expired after refund was submitted")])[0];
    assert!(page.contains("because a person decides first") && page.contains("something was done."), "{page}");
    for message in ["too many requests", "rate limit exceeded, please retry later"] {
        let page = &known(&[&failed("429_rate_limited", message)])[0];
        assert!(page.contains("send again? Yes: "), "{page}");
    }
}

#[test]
fn a_yes_for_an_idempotent_tool_whose_answer_tells_of_an_effect_rests_on_its_declaration() {
    let set = |message: &str| {
        let error = format!(r#""status":"error","error":{{"kind":"429_rate_limited","message":"{message}"}}"#);
        known_of(&[("a.jsonl", &format!("{{\"tool\":\"set.x\",{error}}}\n"))], "#1")
    };
    let alone = "This rests on the declaration alone: an answer says that something was done.";
    let page = set("refund re_1 was created, mail failed");
    assert!(
        page.contains("send again? Yes, because the tool is declared idempotent") && page.contains(alone),
        "{page}"
    );
    let page = set("too many requests");
    assert!(
        page.contains("send again? Yes, because the tool is declared idempotent") && !page.contains(alone),
        "{page}"
    );
}

#[test]
fn a_request_that_would_be_refused_again_gets_no_plain_yes() {
    let failed = |kind: &str| {
        format!(r#""args":{{"a":1}},"status":"error","error":{{"kind":"{kind}","message":"too many requests"}}"#)
    };
    for kind in ["invalid_arguments", "unknown_tool"] {
        let page = &known(&[&failed(kind)])[0];
        assert!(page.contains("acts next The planner") && page.contains("send again? Not as it stands: "), "{page}");
        assert!(!page.contains("Yes"), "{page}");
    }
    let page = &known(&[&failed("429_rate_limited")])[0];
    assert!(page.contains("send again? Yes: "), "{page}");
}

const DENIED: &str = r#""status":"error","error":{"kind":"403_forbidden","message":"no","status":403}"#;

#[test]
fn replay_says_of_identical_calls_without_an_ok_nothing_of_an_ok() {
    let place = Place::new();
    let line = |answer: &str| format!("{{\"run_id\":\"r\",\"tool\":\"pay\",\"args\":{{\"a\":1}},{answer}}}\n");
    place.write("tools.yaml", TOOLS);
    let page = |answers: [&str; 2]| {
        place.write("trace.jsonl", answers.map(line).concat());
        let page = place.run(&["replay", "trace.jsonl", "--tools", "tools.yaml"]).out;
        page.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let title = "Identical calls, at least one failed; if each acted, the effect is there more than once (calls)";
    for answers in [[r#""at_ms":0"#, SLOW], [OK, TIMEOUT]] {
        let page = page(answers);
        assert!(page.contains(title) && !page.contains("one ok"), "{page}");
    }
    let page = page([SLOW, SLOW]);
    assert!(!page.contains("Identical calls"), "{page}");
}

#[test]
fn a_denial_of_what_may_be_the_same_request_is_named_and_not_sent_again() {
    let line = |run: &str, answer: &str| format!("{{{run}\"tool\":\"pay\",\"args\":{{\"a\":1}},{answer}}}\n");
    let r = r#""run_id":"r","#;
    for denied in [DENIED, r#""status":"error","error":{"kind":"user_rejected","message":"no"}"#] {
        let page = known_of(&[("a.jsonl", &line(r, denied)), ("b.jsonl", &line(r, SLOW))], "b.jsonl:1");
        assert!(page.contains("send again? No, because an identical call was denied (a.jsonl:1)"), "{page}");
        let page = known_of(&[("a.jsonl", &(line("", denied) + &line(r, SLOW)))], "a.jsonl:2");
        assert!(page.contains("send again? No, because an identical call was denied (the call in line 1)"), "{page}");
        // Look-alikes: another run, and another request.
        let other = line(&r.replace("\"r\"", "\"s\""), denied);
        for other in [other, line(r, denied).replace("\"a\":1", "\"a\":2")] {
            let page = known_of(&[("a.jsonl", &other), ("b.jsonl", &line(r, SLOW))], "b.jsonl:1");
            assert!(page.contains("send again? Yes: "), "{page}");
        }
    }
}

#[test]
fn a_call_whose_arguments_are_not_recorded_may_be_any_request_of_its_tool() {
    let line = |args: &str, answer: &str| format!("{{\"run_id\":\"r\",\"tool\":\"pay\",{args}{answer}}}\n");
    let a = r#""args":{"a":1},"#;
    for answer in [OK, TIMEOUT] {
        for (first, second) in [("", a), (a, "")] {
            let page = known_of(&[("a.jsonl", &(line(first, answer) + &line(second, SLOW)))], "r#2");
            assert!(page.contains("because the arguments of a call are not recorded: r#1 "), "{page}");
            assert!(page.contains("send again? No, because this may be a request that was sent before"), "{page}");
        }
    }
    let page = known_of(&[("a.jsonl", &(line("", DENIED) + &line(a, SLOW)))], "r#2");
    assert!(page.contains("No, because a call that may be the same request was denied (r#1)"), "{page}");
    // Look-alikes: other arguments, another run, and one that did nothing.
    let other_run = line("", OK).replace("\"r\"", "\"s\"");
    for first in [line(r#""args":{"a":2},"#, OK), line(r#""args":{},"#, OK), other_run, line("", SLOW)] {
        let page = known_of(&[("a.jsonl", &(first + &line(a, SLOW)))], "a.jsonl:2");
        assert!(page.contains("send again? Yes: "), "{page}");
    }
    // What an idempotent tool would overwrite counts, whatever the arguments.
    let set = (line(a, TIMEOUT) + &line("", OK)).replace("\"pay\"", "\"set.x\"");
    let page = known_of(&[("a.jsonl", &set)], "r#1");
    assert!(page.contains("send again? Only if no later write is lost"), "{page}");
}

#[test]
fn a_request_under_another_key_in_another_input_is_never_sent_again() {
    let line =
        |key: &str, answer: &str| format!("{{\"run_id\":\"r\",\"tool\":\"pay\",{key}\"args\":{{\"a\":1}},{answer}}}\n");
    let (k1, k2) = (r#""idempotency_key":"k1","#, r#""idempotency_key":"k2","#);
    for (first, second) in [(k1, k2), (k1, ""), ("", k1)] {
        let page = known_of(&[("a.jsonl", &line(first, OK)), ("b.jsonl", &line(second, SLOW))], "b.jsonl:1");
        assert!(page.contains("No, because this may be a request that was sent before: a.jsonl:1 made"), "{page}");
    }
    let other_run = line(k1, OK).replace("\"r\"", "\"s\"");
    let page = known_of(&[("a.jsonl", &other_run), ("b.jsonl", &line(k2, SLOW))], "b.jsonl:1");
    assert!(page.contains("send again? Yes, with the same key `k2`"), "{page}");
}

#[test]
fn a_denial_is_told_of_the_call_that_was_denied_beside_what_may_have_acted() {
    let same = |answer: &str| format!(r#""args":{{"a":1}},{answer}"#);
    let pages = known(&[&same(TIMEOUT), &same(DENIED)]);
    let did =
        "an identical call was denied (r1#2), and sending it again does not change a denial; this call may have acted";
    assert!(pages[0].contains(did), "{}", pages[0]);
    assert!(!pages[0].contains("the call was denied"), "{}", pages[0]);
    let rejected = r#""status":"error","error":{"kind":"user_rejected","message":"no"}"#;
    let did = "the call was denied, and sending it again does not change a denial; r1#1 may have acted all the same";
    for denied in [DENIED, rejected] {
        let pages = known(&[&same(TIMEOUT), &same(denied)]);
        assert!(pages[1].contains(did), "{}", pages[1]);
    }
    // A look-alike: nothing may have acted.
    let pages = known(&[&same(SLOW), &same(rejected)]);
    assert!(pages[1].contains("the call was denied, and sending it again does not change a denial."), "{}", pages[1]);
}

#[test]
fn the_page_of_a_call_tells_why_an_effect_may_be_doubled() {
    let place = Place::new();
    let paid = format!("{{\"run_id\":\"r\",\"tool\":\"pay\",\"args\":{{\"a\":1}},{OK}}}\n");
    ["a.jsonl", "b.jsonl"].iter().for_each(|file| place.write(file, &paid));
    place.write("tools.yaml", TOOLS);
    let replay = place.run(&["replay", "a.jsonl", "b.jsonl", "--tools", "tools.yaml"]).out;
    let page = place.run(&["explain", "a.jsonl", "b.jsonl", "--tools", "tools.yaml", "b.jsonl:1"]).out;
    for page in [replay, page] {
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains("one intent may have had 2 effects: the run id occurs in two inputs"), "{page}");
    }
}

#[test]
fn an_effect_that_was_taken_back_is_not_sent_again_by_a_later_call() {
    let call = |id: &str, answer: &str| {
        let key = r#""reversal_token":"t","args":{"a":1}"#;
        format!("{{\"run_id\":\"r\",\"call_id\":\"{id}\",\"tool\":\"pay\",{key},{answer}}}\n")
    };
    let reversal =
        "{\"type\":\"tool_result\",\"run_id\":\"r\",\"call_id\":\"1\",\"answers\":\"reversal\",\"status\":\"ok\"}\n";
    let lines = call("1", OK) + reversal + &call("2", REFUSED);
    let page = known_of(&[("a.jsonl", &lines)], "r#2");
    assert!(page.contains("The effect is not there: r#1 made it, and it was taken back."), "{page}");
    assert!(page.contains("send again? Only if the effect is wanted again: it was reversed on purpose."), "{page}");
    // An attempt that was not answered may outlive its reversal.
    let lines = call("1", TIMEOUT) + reversal + &call("2", REFUSED);
    let page = known_of(&[("a.jsonl", &lines)], "r#2");
    assert!(page.contains("Unknown: r#1 may have acted with the same intent"), "{page}");
    assert!(page.contains("may still take effect after the reversal"), "{page}");
    let keyed = lines.replace("\"args\"", "\"idempotency_key\":\"k\",\"args\"");
    let page = known_of(&[("a.jsonl", &keyed)], "r#2");
    assert!(page.contains("send again? No, because an attempt that was not answered may still take effect"), "{page}");
    // A look-alike: the reversal was refused.
    let refused = reversal.replace("\"ok\"", "\"error\",\"error\":{\"kind\":\"403_forbidden\",\"status\":403}");
    let page = known_of(&[("a.jsonl", &(call("1", OK) + &refused + &call("2", REFUSED)))], "r#2");
    assert!(page.contains("The effect is there: r#1 made it; this call did not make it."), "{page}");
}

#[test]
fn an_effect_whose_reversal_was_not_confirmed_may_be_there() {
    let call = |id: &str, key: &str, answer: &str| {
        format!(
            "{{\"run_id\":\"r\",\"call_id\":\"{id}\",\"tool\":\"pay\",\"reversal_token\":\"t\",{key}\"args\":{{\"a\":1}},{answer}}}\n"
        )
    };
    let reversal = |answer: &str| {
        format!("{{\"type\":\"tool_result\",\"run_id\":\"r\",\"call_id\":\"1\",\"answers\":\"reversal\",{answer}}}\n")
    };
    let k = r#""idempotency_key":"k","#;
    let open = "a reversal may have taken it back, and the recording does not show whether it did";
    for answer in [TIMEOUT, r#""status":"error","error":{"kind":"5xx","status":503}"#] {
        for key in ["", k] {
            let lines = call("1", key, OK) + &reversal(answer);
            let page = known_of(&[("a.jsonl", &lines)], "r#1");
            assert!(page.contains(&format!("Unknown: this call made the effect; {open}. Look upstream.")), "{page}");
            assert!(page.contains("The planner: it reads the upstream's state first"), "{page}");
            let no = "send again? No, because the effect was made, and it is unknown whether a reversal took it back";
            assert!(page.contains(no), "{page}");
            let page = known_of(&[("a.jsonl", &(lines + &call("2", key, SLOW)))], "r#2");
            assert!(page.contains(&format!("Unknown: r#1 made the effect; {open}")) && page.contains(no), "{page}");
        }
    }
    // Look-alikes: the reversal was refused, or confirmed in the end, or another call has the effect.
    let denied = call("1", "", OK) + &reversal(DENIED);
    let page = known_of(&[("a.jsonl", &denied)], "r#1");
    assert!(page.contains("The effect is there: an attempt was answered with ok."), "{page}");
    let confirmed = call("1", "", OK) + &reversal(TIMEOUT) + &reversal(OK);
    let page = known_of(&[("a.jsonl", &confirmed)], "r#1");
    assert!(page.contains("The effect is not there: it was taken back."), "{page}");
    let again = call("1", "", OK) + &reversal(TIMEOUT) + &call("2", "", OK);
    let page = known_of(&[("a.jsonl", &again)], "r#1");
    assert!(page.contains("r#2 made it; this call made one too, and it may have been taken back."), "{page}");
    let place = Place::new();
    place.write("tools.yaml", TOOLS);
    for (lines, said) in [
        (call("1", "", OK) + &reversal(TIMEOUT), "claims applied; made, and may have been taken back"),
        (again, "possible_duplicate_effect: one intent may have had 2 effects"),
    ] {
        place.write("trace.jsonl", lines);
        let page = place.run(&["replay", "--all", "trace.jsonl", "--tools", "tools.yaml"]).out;
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(said) && !page.contains(" duplicate_effect"), "{page}");
    }
}

#[test]
fn a_token_that_two_calls_redeemed_proves_neither_reversal() {
    let call = |id: u32, token: &str| {
        let call = format!(
            r#"{{"run_id":"r","call_id":"{id}","tool":"pay","reversal_token":"{token}","args":{{"a":{id}}},{OK}}}"#
        );
        format!(
            "{call}\n{{\"type\":\"tool_result\",\"run_id\":\"r\",\"call_id\":\"{id}\",\"answers\":\"reversal\",{OK}}}\n"
        )
    };
    let lines = call(1, "t") + &call(2, "t");
    for (one, other) in [("r#1", "r#2"), ("r#2", "r#1")] {
        let page = known_of(&[("a.jsonl", &lines)], one);
        assert!(page.contains("Unknown: this call made the effect; a reversal may have taken it back"), "{page}");
        let shared =
            format!("Its reversal token was redeemed by {other} too: it is unknown whose effect was taken back.");
        assert!(page.contains(&shared), "{page}");
        assert!(page.contains("send again? No, because the effect was made"), "{page}");
    }
    // Look-alikes: two tokens, and the token of another run.
    for lines in [call(1, "t") + &call(2, "u"), call(1, "t") + &call(2, "t").replace("\"r\"", "\"s\"")] {
        let page = known_of(&[("a.jsonl", &lines)], "r#1");
        assert!(page.contains("The effect is not there: it was taken back."), "{page}");
    }
}

#[test]
fn a_call_whose_effect_was_taken_back_is_not_said_to_have_made_none() {
    let call = |id: &str, answer: &str| {
        format!(
            "{{\"run_id\":\"r\",\"call_id\":\"{id}\",\"tool\":\"pay\",\"reversal_token\":\"t{id}\",\"args\":{{\"a\":1}},{answer}}}\n"
        )
    };
    let reversal =
        "{\"type\":\"tool_result\",\"run_id\":\"r\",\"call_id\":\"1\",\"answers\":\"reversal\",\"status\":\"ok\"}\n";
    for (first, said) in [
        (OK, "The effect is there: r#2 made it; this call made one too, and it was taken back."),
        (REFUSED, "The effect is there: r#2 made it; this call did not make it."),
    ] {
        for lines in [call("1", first) + reversal + &call("2", OK), call("1", first) + &call("2", OK) + reversal] {
            let page = known_of(&[("a.jsonl", &lines)], "r#1");
            assert!(page.contains(said), "{page}");
        }
    }
}

#[test]
fn replay_and_explain_agree_on_an_effect_that_was_taken_back() {
    let place = Place::new();
    let lines = format!("{{\"run_id\":\"r\",\"call_id\":\"1\",\"tool\":\"pay\",\"args\":{{\"a\":1}},{OK}}}\n");
    let reversal =
        "{\"type\":\"tool_result\",\"run_id\":\"r\",\"call_id\":\"1\",\"answers\":\"reversal\",\"status\":\"ok\"}\n";
    for (text, proved, said) in [
        (lines.clone() + reversal, "claims applied; taken back", "The effect is not there: it was taken back."),
        (lines, "succeeded at the first attempt", "The effect is there: an attempt was answered"),
    ] {
        place.write("trace.jsonl", text);
        place.write("tools.yaml", TOOLS);
        for (command, said) in [(&["replay", "--all"][..], proved), (&["explain"], said)] {
            let page = place.run(&[command, &["trace.jsonl", "--tools", "tools.yaml"]].concat()).out;
            let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(page.contains(said), "{page}");
        }
    }
}

#[test]
fn an_ok_after_a_processed_key_may_be_the_first_answer_again() {
    let processed = r#""status":"error","error":{"kind":"409_conflict","message":"idempotency_key already processed","status":409}"#;
    let pages = known(&[&sent(1, "k", processed), &sent(1, "k", OK)]);
    for (page, whose) in pages.iter().zip(["r1#2", "this call"]) {
        assert!(page.contains(&format!("The later ok of {whose} may be its first answer again")), "{page}");
        assert!(page.contains("send again? No, because the effect is there already"), "{page}");
        assert!(!page.contains("made it"), "{page}");
    }
    assert!(pages[1].contains("A person: check upstream whether the key was honoured."), "{}", pages[1]);
    // A look-alike: the ok came first, so it made the effect.
    let pages = known(&[&sent(1, "k", OK), &sent(1, "k", processed)]);
    assert!(pages[0].contains("The effect is there: an attempt was answered with ok."), "{}", pages[0]);
    assert!(pages[1].contains("The effect is there: r1#1 made it; this call did not make it."), "{}", pages[1]);
}

#[test]
fn one_call_proves_no_more_than_its_own_effects() {
    let place = Place::new();
    let call = r#""tool":"pay","call_id":"1","args":{"a":1}"#;
    let ok = |n: u32| format!("{{\"type\":\"tool_result\",\"call_id\":\"1\",\"attempt\":{n},{OK}}}\n");
    place.write(
        "trace.jsonl",
        format!("{{\"tool\":\"pay\",\"args\":{{\"a\":1}},{OK}}}\n{{{call}}}\n{}{}", ok(1), ok(2)),
    );
    place.write("tools.yaml", TOOLS);
    let page = place.run(&["replay", "trace.jsonl", "--tools", "tools.yaml", "--all"]).out;
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("duplicate_effect: one intent had 2 effects"), "{page}");
    assert!(page.contains("one intent may have had 3 effects, if these calls belong to one run"), "{page}");
}

#[test]
fn a_processed_key_is_an_effect_for_the_same_request_under_another_key() {
    let line = |run: &str, key: &str, args: &str, answer: &str| {
        let key = if key.is_empty() { String::new() } else { format!("\"idempotency_key\":\"{key}\",") };
        format!("{{{run}{key}\"tool\":\"pay\"{args},{answer}}}\n")
    };
    let (r, a) = (r#""run_id":"r","#, r#","args":{"a":1}"#);
    let limited = r#""status":"error","error":{"kind":"429_rate_limited","status":429}"#;
    let with = |message: &str| {
        format!(r#""status":"error","error":{{"kind":"409_conflict","status":409,"message":"{message}"}}"#)
    };
    let processed = line(r, "k", a, &with("idempotency key already processed"));
    let may_have = "may have made it: the upstream says that it was processed";
    for key in ["k2", ""] {
        let page = known_of(&[("a.jsonl", &(processed.clone() + &line(r, key, a, limited)))], "a.jsonl:2");
        let said = "No, because the upstream answered that it has processed the same request under the key of r#1.";
        assert!(page.contains(&format!("r#1 {may_have}.")) && page.contains(said), "{key} {page}");
        // Without arguments, without its run, in another input.
        for (run, args) in [(r, ""), ("", a)] {
            let both = processed.clone() + &line(run, key, args, limited);
            let page = known_of(&[("a.jsonl", &both)], "a.jsonl:2");
            assert!(page.contains(may_have) && page.contains("No, because this may be"), "{key} {page}");
        }
        let page = known_of(&[("a.jsonl", &processed), ("b.jsonl", &line(r, key, a, limited))], "b.jsonl:1");
        assert!(
            page.contains(&format!("No, because this may be a request that was sent before: a.jsonl:1 {may_have}"))
        );
    }
    let own = known_of(&[("a.jsonl", &(line(r, "k2", a, limited) + &processed))], "a.jsonl:2");
    assert!(own.contains("No, because the effect is there already"), "{own}");
    // Look-alikes: another request, and a key that was not processed.
    let other = line(r, "k", r#","args":{"a":2}"#, &with("idempotency key already processed"));
    for first in [other, line(r, "k", a, limited)] {
        let page = known_of(&[("a.jsonl", &(first + &line(r, "k2", a, limited)))], "a.jsonl:2");
        assert!(page.contains("Yes, with the same key `k2`"), "{page}");
    }
}

#[test]
fn a_write_without_a_key_is_sent_again_only_after_a_plain_refusal() {
    let failed = |key: &str, kind: &str, message: &str| {
        format!(r#"{key}"args":{{"a":1}},"status":"error","error":{{"kind":"{kind}"{message}}}"#)
    };
    let with = |message: &str| format!(r#","message":"{message}""#);
    let more = "No, because the words of the failure are not those of a plain refusal: look upstream first.";
    let part = &known(&[&failed("", "429_rate_limited", &with("Partial success: 1 of 2 refunds"))])[0];
    assert!(part.contains("No, because the answer says that something was done."), "{part}");
    for message in ["refund issued; rate limited now", "money sent, slow down"] {
        let page = &known(&[&failed("", "429_rate_limited", &with(message))])[0];
        assert!(page.contains(more) && page.contains("Unknown: ") && !page.contains("is not there"), "{page}");
        assert!(!page.contains("Yes") && !page.contains(message), "{page}");
        let page = &known(&[&failed("", "401_unauthorized", &with(message))])[0];
        assert!(
            page.contains("a person decides first") && page.contains("are not those of a plain refusal."),
            "{page}"
        );
        // Look-alike: a key makes a second request harmless, unless the request is given up.
        let page = &known(&[&failed(r#""idempotency_key":"k","#, "429_rate_limited", &with(message))])[0];
        assert!(page.contains("Yes, but only with the same key `k`") && page.contains("Unknown: "), "{page}");
        let page = &known(&[&failed(r#""idempotency_key":"k","#, "invalid_arguments", &with(message))])[0];
        assert!(page.contains(more) && page.contains("not_applied, which is not proved: "), "{page}");
    }
    // The message of another call with the intent counts.
    let pages =
        known(&[&failed("", "429_rate_limited", &with("wire dispatched")), &failed("", "429_rate_limited", "")]);
    assert!(pages.iter().all(|page| page.contains(more)), "{pages:?}");
    for message in [String::new(), with("Too Many Requests"), with("Rate limit reached for gpt-4o. Try again in 2s.")] {
        let page = &known(&[&failed("", "429_rate_limited", &message)])[0];
        assert!(page.contains("send again? Yes: "), "{page}");
    }
    // What contradicts the refusal beside its message.
    for beside in [r#","status":202"#, r#","code":"charge_already_refunded""#] {
        let page = &known(&[&failed("", "429_rate_limited", beside)])[0];
        assert!(page.contains(more) && page.contains("Unknown: "), "{page}");
    }
    // With the status of a failure, the playbook itself knows nothing.
    let page = &known(&[&failed("", "429_rate_limited", r#","status":500"#)])[0];
    assert!(page.contains("No, because a person decides first") && page.contains("Unknown: "), "{page}");
    for beside in [r#","status":429"#, r#","status":503"#, r#","code":"rate_limit_exceeded""#] {
        let page = &known(&[&failed("", "429_rate_limited", beside)])[0];
        assert!(page.contains("send again? Yes: "), "{page}");
    }
}

#[test]
fn a_write_is_not_sent_again_if_the_upstream_says_so_itself() {
    let failed = |key: &str, beside: &str| {
        let error = format!(r#""error":{{"kind":"429_rate_limited","message":"rate limited"{beside}}}"#);
        format!(r#"{key}"args":{{"a":1}},"status":"error",{error}"#)
    };
    let key = r#""idempotency_key":"k","#;
    for beside in [r#","should_retry":false"#, r#","headers":{"x-should-retry":"false"}"#] {
        let page = &known(&[&failed("", beside)])[0];
        assert!(page.contains("send again? No") && page.contains("Unknown: "), "{page}");
        let page = &known(&[&failed(key, beside)])[0];
        assert!(page.contains("send again? No, because the upstream says not to send the call again."), "{page}");
    }
    let page = &known(&[&failed(key, r#","should_retry":true"#)])[0];
    assert!(page.contains("Yes, with the same key `k`"), "{page}");
}

#[test]
fn a_refusal_proves_nothing_of_what_a_client_sent_before_it() {
    let page = |facts: &str, key: &str| {
        let place = Place::new();
        place.write("tools.yaml", format!("format: tools/1\ntools:\n  pay: {{ access: write{facts} }}\n"));
        let error = r#""status":"error","error":{"kind":"429_rate_limited","message":"rate limited"}"#;
        place.write("a.jsonl", format!("{{\"run_id\":\"r\",\"tool\":\"pay\",\"args\":{{}},{key}{error}}}\n"));
        let run = place.run(&["explain", "a.jsonl", "--tools", "tools.yaml"]).exits(0);
        run.out.split_once("What to know").expect("the last block").1.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let page_of_three = page(", upstream_retries: 3", "");
    assert!(page_of_three.contains("send again? No, because the client of the tool sends"), "{page_of_three}");
    assert!(page_of_three.contains("Unknown: ") && !page_of_three.contains("is not there"), "{page_of_three}");
    let keyed = page(", upstream_retries: 3", r#""idempotency_key":"k","#);
    assert!(keyed.contains("Yes, but only with the same key `k`"), "{keyed}");
    for facts in ["", ", upstream_retries: 0"] {
        let page = page(facts, "");
        assert!(page.contains("send again? Yes: ") && page.contains("is not there"), "{page}");
    }
}
