//! The page of `explain`, on calls built by hand.

use super::case::Case;
use super::recorded::Recorded;
use super::run::page;
use playproof_engine::call::{AnswerTo, CallTexts, Place, RecordedAnswer, RecordedCall, Reply};
use playproof_engine::event::ErrorFacts;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_engine::time::Instant;
use playproof_engine::upstream::BeyondTape;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::{embedded, parse};
use playproof_report::block::{Arguments, Style};
use playproof_report::style::Palette;
use playproof_trace::assemble::ClosedCall;
use playproof_trace::origin::Sources;

fn plan(name: &str) -> Plan {
    let source = Source::whole(name, embedded(name).unwrap());
    Plan::new(parse(source).unwrap().playbook, &Tools::default())
}

fn failed(at_ms: u64, kind: &str, message: &str) -> RecordedAnswer {
    let error = ErrorFacts { kind: Some(kind.into()), message: Some(message.into()), ..ErrorFacts::default() };
    answered(at_ms, Reply::Failed(Some(std::sync::Arc::new(error))))
}

fn answered(at_ms: u64, reply: Reply) -> RecordedAnswer {
    RecordedAnswer {
        to: AnswerTo::Attempt,
        attempt: None,
        started: None,
        at: Some(Instant::from_millis(at_ms)),
        reply,
        inferred: false,
        from_text: false,
        line_hash: 0,
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
    Case::Recorded {
        call: Box::new(ClosedCall::of(call)),
        beyond: BeyondTape::Unanswered,
        sources: Sources::new(["trace.jsonl".to_owned()]),
        recorded: Recorded::default(),
    }
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

#[test]
fn an_answer_that_the_playbook_leaves_unused_still_proves_the_effect() {
    let case = refund(None, vec![failed(5_000, "timeout", "no answer"), answered(5_900, Reply::Ok)]);
    let page = explain(&case, "standard");
    for said in [
        "an unused answer of the recording proves one",
        "The effect is there: an attempt was answered with ok. That counts 1 answer of the recording that this \
         playbook leaves unused: it would not send the attempt that it answers.",
        "An attempt that failed may have made it once more: look upstream.",
        "in the queue `ambiguous_effects`; the effect is there already.",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    let keyed = refund(Some("ik_91"), vec![failed(5_000, "timeout", "no answer"), answered(5_900, Reply::Ok)]);
    let page = explain(&keyed, "standard");
    assert!(!page.contains("unused") && !page.contains("once more"), "{page}");
}

#[test]
fn what_was_modelled_is_not_said_to_be_true_upstream() {
    let mut case = refund(Some("ik_91"), vec![failed(5_000, "timeout", "none")]);
    if let Case::Recorded { beyond, .. } = &mut case {
        *beyond = BeyondTape::Ok;
    }
    let page = explain(&case, "standard");
    assert!(page.contains("Nobody knows: an attempt may have acted"), "{page}");
    assert!(page.contains("What was modelled proves nothing, and is left out."), "{page}");
}

#[test]
fn an_effect_that_was_taken_back_is_not_said_never_to_have_been_there() {
    let taken_back = RecordedAnswer { to: AnswerTo::Reversal, ..answered(7_000, Reply::Ok) };
    let case = refund(None, vec![answered(5_000, Reply::Ok), taken_back]);
    let page = explain(&case, "standard");
    assert!(page.contains("The effect is not there: it was taken back."), "{page}");
    assert!(page.contains("Only if it is wanted again") && !page.contains("Yes, because"), "{page}");
}
