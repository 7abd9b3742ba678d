//! The page of `explain`, on calls built by hand.

use super::case::Case;
use super::run::page;
use crate::diagnostic::Source;
use crate::event::ErrorFacts;
use crate::playbook::model::Tools;
use crate::playbook::{embedded, parse};
use crate::report::block::{Arguments, Style};
use crate::report::style::Palette;
use crate::sim::Plan;
use crate::time::Instant;
use crate::trace::model::{AnswerTo, CallTexts, Place, RecordedAnswer, RecordedCall, Reply};
use crate::upstream::BeyondTape;

fn plan(name: &str) -> Plan {
    let source = Source::whole(name, embedded(name).unwrap());
    Plan::new(parse(source).unwrap().playbook, &Tools::default())
}

fn failed(at_ms: u64, kind: &str, message: &str) -> RecordedAnswer {
    let error = ErrorFacts { kind: Some(kind.into()), message: Some(message.into()), ..ErrorFacts::default() };
    answered(at_ms, Reply::Failed(Some(Box::new(error))))
}

fn answered(at_ms: u64, reply: Reply) -> RecordedAnswer {
    RecordedAnswer {
        to: AnswerTo::Attempt,
        attempt: None,
        started: None,
        at: Some(Instant::from_millis(at_ms)),
        reply,
        inferred: false,
        place: Place::default(),
    }
}

fn refund(key: Option<&str>, answers: Vec<RecordedAnswer>) -> Case {
    let texts = CallTexts {
        run: Some("r1"),
        id: Some("c1"),
        tool: "payments.issue_refund",
        args: Some(r#"{"order":"o_91","amount":4200}"#),
        key,
        ..CallTexts::default()
    };
    let mut call = RecordedCall::new(texts, Place { input: 0, line: 7 });
    call.number_in_run = 3;
    call.at = Some(Instant::ZERO);
    call.answers = answers;
    Case::Recorded { call: Box::new(call), beyond: BeyondTape::Unanswered, input: "trace.jsonl".into() }
}

fn explain(case: &Case, playbook: &str) -> String {
    let style = Style { width: 100, palette: Palette::new(false), arguments: Arguments::Values };
    let page = page(case, &plan(playbook), &Tools::default(), style);
    page.split_whitespace().collect::<Vec<_>>().join(" ") // however its lines are wrapped
}

#[test]
fn a_keyed_conflict_is_explained_to_its_end() {
    let answers = vec![
        failed(5_000, "timeout", "no answer within 5000 ms"),
        failed(5_900, "409_conflict", "idempotency_key already processed"),
    ];
    let page = explain(&refund(Some("ik_91"), answers), "standard");
    for said in [
        "no timeout-status: it asks that status is",
        "yes key-already-processed:",
        "Without the rule `key-already-processed`, the verdict would be",
        "Had the retry guard stopped it,",
        "No, because the effect is there already. If it must be sent, only with the same key `ik_91`",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
}

#[test]
fn an_unkeyed_server_error_is_not_safe_to_send_again() {
    let case = refund(None, vec![failed(5_000, "5xx", "internal error"), answered(5_900, Reply::Ok)]);
    let page = explain(&case, "standard");
    for said in [
        "The retry guard is asked and stops the further attempt",
        "With the retry guard off, the call would end succeeded_after_compensation",
        "A person, from the queue `ambiguous_effects`.",
        "No, because a person decides first",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
}
