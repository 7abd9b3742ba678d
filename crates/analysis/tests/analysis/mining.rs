//! Mining small traces: what is_unhandled, how it is grouped and ranked, and rules that are tried on what they must not catch.

use playproof_analysis::mining::{Cluster, Mined, MinedPart, Miner, NoRule};
use playproof_analysis::replay::{Inputs, ReplayOptions, TraceInput, replay};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook;
use playproof_formats::playbook::embedded;

fn plan(text: &str) -> Plan {
    let loaded = playbook::parse(Source::whole("playbook.yaml", text)).unwrap_or_else(|report| panic!("{report}"));
    Plan::new(loaded.playbook, &Tools::default())
}

fn mine_with(text: &str, trace: &str, jobs: usize) -> Mined {
    let plans = [plan(text)];
    let input = TraceInput::own("trace", trace.as_bytes());
    let inputs: Inputs<'_> = Box::new(std::iter::once(input));
    let mut all = MinedPart::default();
    let replayed =
        replay(&plans, inputs, &ReplayOptions { jobs, ..ReplayOptions::default() }, &Miner::default(), |part| {
            all.merge(part);
            Ok(())
        });
    all.finish(&plans[0], &replayed.expect("a trace that can be read"), 50)
}

fn mine(trace: &str) -> Mined {
    mine_with(embedded("standard").expect("shipped"), trace, 1)
}

/// A failure of `tool` with the error that `error` is as JSON.
fn failure(tool: &str, error: &str) -> String {
    format!("{{\"run_id\":\"r\",\"tool\":\"{tool}\",\"status\":\"error\",\"error\":{error}}}\n")
}

fn said(tool: &str, messages: &[&str]) -> String {
    messages.iter().map(|message| failure(tool, &format!(r#"{{"kind":"tool_error","message":"{message}"}}"#))).collect()
}

fn templates(mined: &Mined) -> Vec<(&str, u64)> {
    mined.shown.iter().map(|cluster| (&*cluster.template, cluster.failures)).collect()
}

fn when(cluster: &Cluster) -> &str {
    &cluster.rule.as_ref().unwrap_or_else(|why| panic!("{}: {why:?}", cluster.template)).when
}

fn of<'a>(mined: &'a Mined, template: &str) -> &'a Cluster {
    mined.shown.iter().find(|cluster| cluster.template == template).unwrap_or_else(|| panic!("{:?}", templates(mined)))
}

#[test]
fn failures_are_grouped_by_form_and_ranked_by_number_times_risk() {
    let reads = ["no page 1", "no page 22", "No page 333", "no page 4", "no page 5"];
    let mined =
        mine(&[said("search.web", &reads), said("pay", &["Order a1 is locked", "order b2 is locked"])].concat());
    assert_eq!(templates(&mined), [("Order <id> is locked", 2), ("no page <n>", 5)]);
    assert_eq!((mined.shown[0].risk, mined.shown[1].risk), (8, 5));
    assert_eq!((mined.shown[0].writes, mined.shown[1].writes), (2, 0));
    assert_eq!((mined.failures, mined.unclassified, mined.clusters), (7, 7, 2));
}

#[test]
fn what_a_rule_of_the_playbook_knows_is_not_mined_but_may_look_alike() {
    let known = failure("pay", r#"{"kind":"timeout","message":"no answer from the bank within 5 s"}"#);
    let mined = mine(&[known, said("pay", &["no answer from the clerk within 3 days"])].concat());
    assert_eq!(templates(&mined), [("no answer from the clerk within <n> days", 1)]);
    assert_eq!((mined.failures, mined.unclassified), (2, 1));
    let alike = &mined.shown[0].look_alikes[0];
    assert_eq!((&*alike.verdict, alike.kind.as_deref()), ("result_unknown", Some("timeout")));
    let rule = mined.shown[0].rule.as_ref().expect("a rule");
    assert_eq!((rule.caught, rule.avoided), (1, 1));
}

#[test]
fn a_rule_is_as_plain_as_its_look_alikes_let_it_be() {
    let mined = mine(&said(
        "pay",
        &[
            "payment method is unknown",
            "payment method card_7 is unknown",
            "payment method card_9 is unknown",
            "Too many reservations",
            "You have too many reservations, friend",
            "Gate closed",
            "The gate closed",
            "flight A1 not flown on date 2024-05-13",
        ],
    ));
    assert_eq!(
        when(of(&mined, "payment method is unknown")),
        "{ kind: tool_error, message: { clause: payment method is unknown } }"
    );
    assert_eq!(
        when(of(&mined, "payment method <id> is unknown")),
        r"{ kind: tool_error, message: { matches: '^payment method \S+ is unknown$' } }"
    );
    assert_eq!(
        when(of(&mined, "Too many reservations")),
        "{ kind: tool_error, message: { clause: Too many reservations } }"
    );
    assert_eq!(when(of(&mined, "Gate closed")), "{ kind: tool_error, message: { equals: Gate closed } }");
    assert_eq!(
        when(of(&mined, "flight <id> not flown on date <id>")),
        "{ kind: tool_error, message: { contains: not flown on date } }"
    );
    let names: Vec<&str> = mined.shown.iter().filter_map(|cluster| Some(&*cluster.rule.as_ref().ok()?.name)).collect();
    assert!(
        names.contains(&"payment-method-is-unknown") && names.contains(&"payment-method-is-unknown-2"),
        "{names:?}"
    );
}

#[test]
fn status_and_kind_tell_equal_messages_apart() {
    let error = |kind: &str, status: u16| {
        failure("pay", &format!(r#"{{"kind":"{kind}","status":{status},"message":"go away"}}"#))
    };
    let mined = mine(&[error("http", 417), error("http", 418), error("grpc", 418)].concat());
    let rules: Vec<&str> = mined.shown.iter().map(when).collect();
    assert_eq!(rules.len(), 3);
    assert!(rules.contains(&"{ kind: http, status: 417, message: { clause: go away } }"), "{rules:?}");
}

/// Knows `odd` of one tool, and of second attempts.
const PARTLY: &str = "format: playbook/1\nname: p\nverdicts:\n  known: { means: k, effect: unknown, then: { escalate_to_human: { queue: q } } }\n\
    classify:\n  - { rule: by-tool, when: { kind: odd, tool: mail.send }, verdict: known }\n  \
    - { rule: later, when: { kind: late, attempt: 2 }, verdict: known }\notherwise: unclassified\ndefault_queue: q\nqueues: [q]\n";

#[test]
fn where_the_same_words_mean_something_else_of_another_tool_the_rule_names_its_tools() {
    let odd = r#"{"kind":"odd","message":"nobody is at home"}"#;
    let mined = mine_with(PARTLY, &[failure("mail.send", odd), failure("pay", odd)].concat(), 1);
    assert_eq!(mined.shown.len(), 1);
    assert_eq!(when(&mined.shown[0]), "{ kind: odd, message: { clause: nobody is at home }, tool: [pay] }");
    assert_eq!(mined.shown[0].look_alikes[0].verdict, "known");
}

#[test]
fn where_nothing_tells_them_apart_no_rule_is_drawn() {
    let late = |attempt: u8| {
        format!(
            "{{\"type\":\"tool_result\",\"run_id\":\"r\",\"call_id\":\"c\",\"attempt\":{attempt},\"status\":\"error\",\"error\":{{\"kind\":\"late\",\"message\":\"too late for that\"}}}}\n"
        )
    };
    let call = "{\"type\":\"tool_call\",\"run_id\":\"r\",\"call_id\":\"c\",\"tool\":\"pay\"}\n";
    let mined = mine_with(PARTLY, &[call, &late(1), &late(2)].concat(), 1);
    assert_eq!(mined.shown[0].rule, Err(NoRule::CatchesAlso("too late for that".to_owned())));
    let silent = mine(&[failure("pay", "{}"), failure("pay", r#"{"message":""}"#)].concat());
    assert_eq!(silent.shown.iter().map(|cluster| &cluster.rule).collect::<Vec<_>>(), [&Err(NoRule::NothingToAsk)]);
    for wordless in ["417", "<<>>", "a1: 30 ms", "/tmp/x 'y'"] {
        let mined = mine(&said("pay", &[wordless]));
        assert_eq!(mined.shown[0].rule, Err(NoRule::NothingToAsk), "{wordless}");
    }
    let coded = mine(&failure("pay", r#"{"kind":"tool_error","code":"E9","message":"a1"}"#));
    assert_eq!(when(&coded.shown[0]), "{ kind: tool_error, code: E9 }");
    let absent = mine("{\"tool\":\"pay\",\"status\":\"error\"}\n");
    assert_eq!(when(&absent.shown[0]), "{ error: absent }");
}

#[test]
fn a_rule_keeps_the_words_that_say_what_failed() {
    let mined =
        mine(&said("pay", &["Error calling tool pay: order o_1 is closed", "Error calling tool pay: no order o_2"]));
    assert_eq!(
        when(of(&mined, "Error calling tool pay: order <id> is closed")),
        r"{ kind: tool_error, message: { matches: '^Error calling tool pay: order \S+ is closed$' } }"
    );
}

#[test]
fn messages_are_clustered_by_their_first_sentence_without_what_the_call_sent() {
    let of = |city: &str, more: &str| {
        format!(
            "{{\"tool\":\"pay\",\"args\":{{\"to\":\"{city}\"}},\"status\":\"error\",\"error\":{{\"kind\":\"tool_error\",\"message\":\"no train to {city}. {more}\"}}}}\n"
        )
    };
    let mined = mine(&[of("Oslo", "Ask Ann."), of("Rome", "Try again\\nlater")].concat());
    assert_eq!(templates(&mined), [("no train to <arg>.", 2)]);
    assert_eq!(when(&mined.shown[0]), "{ kind: tool_error, message: { contains: no train to } }");
}

#[test]
fn three_words_in_one_place_are_a_placeholder_and_two_are_two_meanings() {
    let cities = ["no seats left to Oslo today", "no seats left to Rome today", "no seats left to Bern today"];
    let mined = mine(&said("pay", &cities));
    assert_eq!(templates(&mined), [("no seats left to <word> today", 3)]);
    assert_eq!(when(&mined.shown[0]), "{ kind: tool_error, message: { contains: no seats left to } }");
    assert_eq!(mined.shown[0].examples.len(), 3);
    let mined = mine(&said("pay", &["the refund was accepted by us", "the refund was refused by us"]));
    assert_eq!(mined.clusters, 2);
    assert_eq!(mined.shown[0].look_alikes.len(), 1);
}

#[test]
fn a_verdict_that_exhausts_its_call_is_mined_and_one_that_helps_is_not() {
    let call = |id: &str, answers: &[&str]| {
        let mut lines =
            format!("{{\"type\":\"tool_call\",\"run_id\":\"r\",\"call_id\":\"{id}\",\"tool\":\"search.web\"}}\n");
        for (n, answer) in answers.iter().enumerate() {
            let status = match *answer {
                "ok" => "\"status\":\"ok\"".to_owned(),
                message => format!("\"status\":\"error\",\"error\":{{\"kind\":\"5xx\",\"message\":\"{message}\"}}"),
            };
            lines += &format!(
                "{{\"type\":\"tool_result\",\"run_id\":\"r\",\"call_id\":\"{id}\",\"attempt\":{},{status}}}\n",
                n + 1
            );
        }
        lines
    };
    let trace = [
        call("a", &["index is gone", "index is gone", "index is gone"]),
        call("b", &["busy", "ok"]),
        call("c", &["index is gone", "ok"]),
        call("d", &["busy"]), // undetermined: the recording ends where the playbook would go on
    ];
    let mined = mine(&trace.concat());
    assert_eq!(templates(&mined), [("index is gone", 1)]);
    assert_eq!((mined.shown[0].helped, &*mined.shown[0].verdict), (3, "server_error_5xx"));
    assert_eq!(mined.shown[0].before.as_deref(), Some("server-error"), "behind it no rule would catch them");
    assert_eq!((mined.failures, mined.unclassified, mined.exhausted, mined.undetermined), (6, 0, 1, 1));
}

#[test]
fn white_space_and_length_do_not_let_a_message_escape_its_rule() {
    let long = format!("the ledger of {} is closed for good", "very ".repeat(120));
    let mined = mine(&said("pay", &["a  b\\n not\\tfound today", " a b is unknown today", &long]));
    assert_eq!(
        when(of(&mined, "a b is unknown today")),
        r"{ kind: tool_error, message: { matches: '^\s*a\s+b\s+is\s+unknown\s+today\s*$' } }"
    );
    let long = mined.shown.iter().find(|cluster| cluster.template.starts_with("the ledger")).expect("a cluster");
    assert!(long.template.len() <= 400 && long.rule.is_ok(), "{:?}", long.rule);
}

#[test]
fn forms_beyond_the_bound_are_counted_and_said() {
    let letters = |mut n: usize| {
        let mut word = String::new();
        for _ in 0..4 {
            word.push(char::from(b'a' + u8::try_from(n % 26).expect("below 26")));
            n /= 26;
        }
        word
    };
    let trace: String = (0..5_000).map(|n| said("pay", &[&letters(n)])).collect();
    let mined = mine(&trace);
    assert_eq!((mined.failures, mined.rare, mined.clusters), (5_000, 904, 4_096));
    assert_eq!(mined.shown.len(), 50);
}

#[test]
fn any_number_of_threads_mines_the_same() {
    let messages = ["no page 1", "order a1 is locked", "  odd ", "too many x", "too many y"];
    let trace = said("pay", &messages).repeat(1_500);
    let standard = embedded("standard").expect("shipped");
    let one = format!("{:?}", mine_with(standard, &trace, 1));
    for jobs in [2, 7] {
        assert_eq!(format!("{:?}", mine_with(standard, &trace, jobs)), one);
    }
}

#[test]
fn other_failures_stand_beside_a_cluster_the_nearest_first() {
    let late = |message: &str| failure("pay", &format!(r#"{{"kind":"timeout","message":"{message}"}}"#));
    let mined = mine(
        &[
            said("pay", &["Order a1 is locked"]),
            late("Nobody answers"),
            said("search.web", &["no pages at all"]),
            said("pay", &["card declined"]),
            late("Order b2 is locked by another"),
        ]
        .concat(),
    );
    let others: Vec<_> =
        of(&mined, "Order <id> is locked").others.iter().filter_map(|other| other.message.as_deref()).collect();
    // Near in words; then what nobody knows, of the same tool first; then what has a verdict.
    assert_eq!(others, ["Order b2 is locked by another", "card declined", "no pages at all", "Nobody answers"]);
    assert_eq!(of(&mined, "Order <id> is locked").before, None);
}

#[test]
fn no_rule_asks_for_what_stands_in_place_of_redacted_text() {
    let frozen = ["slot 9 is frozen by [redacted]", "slot 10 is frozen by [redacted]"];
    let mined = mine(&said("book", &frozen));
    let frozen = r"{ kind: tool_error, message: { matches: '(?s)^slot \S+ is frozen by .+$' } }";
    assert_eq!(when(&mined.shown[0]), frozen);
    let draft = mined.shown[0].rule.as_ref().map(|draft| &*draft.name);
    assert_eq!(draft, Ok("slot-is-frozen"));
    // What stands between is any text, where the words beside it do not tell.
    let both = mine(&said("book", &["no [redacted] here", "no way"]));
    assert_eq!(when(of(&both, "no [redacted] here")), "{ kind: tool_error, message: { matches: '(?s)^no .+ here$' } }");
    // Nothing of the message is left: what else the failures have in common.
    let coded = failure("book", r#"{"message":"[redacted]","status":418,"code":"SLOT_FROZEN"}"#);
    assert_eq!(when(&mine(&coded).shown[0]), "{ status: 418, code: SLOT_FROZEN }");
    let silent = failure("book", r#"{"message":"[redacted] 12","code":"E-[redacted]"}"#);
    assert_eq!(mine(&silent).shown[0].rule, Err(NoRule::Redacted));
}
