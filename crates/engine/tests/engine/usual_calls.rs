//! The record that a usual call gets from its kind is the one that its simulation gives.

use std::sync::Arc;

use playproof_engine::call::{AnswerTo, CallTexts, Place, RecordedAnswer, RecordedCall, Reply};
use playproof_engine::event::{ErrorFacts, Headers, KeyHistory, StatusFrom};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Plan, Simulator, UsualCalls};
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::{self, EMBEDDED};
use proptest::prelude::*;

/// Calls of few kinds, whose times may hit the limits of a playbook: answers and pauses of up to 40 s.
fn calls() -> impl Strategy<Value = Vec<RecordedCall>> {
    let times = (0_u64..4, 0_u64..40_000, 0_u64..40_000);
    let answers = prop::collection::vec((0_usize..9, any::<bool>(), times), 0..3);
    let traits = (0_usize..4, 0_usize..3, prop::option::weighted(0.1, any::<bool>()), 0_u8..40, any::<bool>());
    let call = (traits, prop::option::weighted(0.9, 0_u64..1_000_000), answers);
    prop::collection::vec(call.prop_map(|(traits, at, answers)| made(traits, at, &answers)), 250)
}

type Traits = (usize, usize, Option<bool>, u8, bool);
type Answer = (usize, bool, (u64, u64, u64));

fn made((tool, key, history, odd, is_short): Traits, at: Option<u64>, answers: &[Answer]) -> RecordedCall {
    let texts = CallTexts {
        tool: ["pay", "read.one", "payments.issue_refund", "get_order"][tool],
        key: [None, Some("k1"), Some("k2")][key],
        token: (odd == 1).then_some("t"),
        ..CallTexts::default()
    };
    let mut call = RecordedCall::new(texts, Place::default());
    call.at = at.map(Instant::from_micros);
    call.key_history = match history {
        None => KeyHistory::Unknown,
        Some(true) => KeyHistory::MayHaveActed,
        Some(false) => KeyHistory::Refused,
    };
    (call.key_is_reused, call.key_is_reversed, call.is_repeat_unwise) = (odd == 2, odd == 3, odd == 4);
    call.timeout = is_short.then_some(Duration::from_millis(20_000));
    let mut now = call.at;
    for &(reply, is_sent, (span, pause, latency)) in answers {
        let span = |millis: u64| Duration::from_millis(if span == 0 { millis } else { millis / 100 });
        let started = now.map(|now| now.plus(span(pause)));
        now = started.map(|started| started.plus(span(latency)));
        call.answers.push(RecordedAnswer {
            to: AnswerTo::Attempt,
            attempt: None,
            started: started.filter(|_| is_sent),
            at: now,
            reply: replied(reply),
            inferred: odd == 5,
            status_from: StatusFrom::Flag,
            draw: None,
            line_hash: 0,
            place: Place::default(),
        });
    }
    call
}

fn replied(n: usize) -> Reply {
    let error = |kind: &str, message: &str, status| {
        let (kind, message) = (Some(kind.into()), Some(message.into()));
        Reply::Failed(Some(Arc::new(ErrorFacts { kind, message, status, ..ErrorFacts::default() })))
    };
    match n {
        0 => error("timeout", "no answer within 5000 ms", None),
        1 => error("5xx", "upstream connect error", Some(503)),
        2 => error("409_conflict", "idempotency key 'k1' already processed", Some(409)),
        3 => error("412_precondition", "evidence ev_7 is stale", Some(412)),
        4 => {
            let headers = Headers::new([("retry-after", "Mon, 02 Mar 2026 09:15:00 GMT")]);
            Reply::Failed(Some(Arc::new(ErrorFacts { status: Some(429), headers, ..ErrorFacts::default() })))
        }
        5 => Reply::Failed(None),
        6 => Reply::Suspected(None),
        _ => Reply::Ok,
    }
}

fn plan(name: &str) -> Plan {
    let text = playbook::embedded(name).expect("an embedded playbook");
    Plan::new(playbook::parse(Source::whole(name, text)).expect("a valid playbook").playbook, &Tools::default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]
    #[test]
    fn a_record_of_a_kind_is_what_the_simulation_gives(calls in calls(), n in 0_usize..3) {
        let beyond = [MissingAnswerPolicy::Ok, MissingAnswerPolicy::Unanswered, MissingAnswerPolicy::Repeat];
        for name in EMBEDDED {
            let (plan, mut usual, mut taken) = (plan(name), UsualCalls::default(), 0);
            for call in calls.iter().chain(&calls) {
                let facts = plan.facts(call.tool());
                let simulated = Simulator::new().replay(&plan, call, facts, &beyond[n]).clone();
                match usual.take(&plan, (call, call.tool().len() as u128), facts) {
                    Some(record) => {
                        prop_assert_eq!(&*record, &simulated, "{} of {:?}", name, call);
                        taken += 1;
                    }
                    None => usual.learn(&simulated),
                }
            }
            prop_assert!(taken > 0 || *name != EMBEDDED[0], "no call of {} is a usual one", name);
        }
    }
}
