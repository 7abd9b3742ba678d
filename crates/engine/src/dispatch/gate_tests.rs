//! The gate, driven by hand: order, line, withheld actions, equal refusals in a row.

use super::driver::{Dispatcher, refused};
use super::tests::{failed, keyed_write};
use super::{CallFacts, GateFacts, Input, Response};
use crate::event::{AdmissionRefusal, Decision, EffectClaim, OutcomeKind, RequestKind, StopReason, ValidNext};
use crate::ids::{ActionId, ArgsId, AttemptNo, CallId, ErrorId, QueueId, RunId, ToolId};
use crate::playbook::sample::{DEDUPE, DENIED, TIMEOUT, playbook};
use crate::playbook::{Access, Action, Graph, Limits, Others, Playbook, Sharing, Stuck};
use crate::time::{Duration, Instant};

const ORDER: ActionId = ActionId(0);
const PAY: ActionId = ActionId(1);
const CANCEL: ActionId = ActionId(2);

/// An order, then payment or cancellation, as often as wanted; cancelling ends it.
fn ordered(stuck: Option<Stuck>) -> Playbook {
    let action = |name: &str| Action { name: name.into(), tool: name.into(), steps: Vec::new(), inputs: None };
    let next = vec![vec![PAY, CANCEL], vec![CANCEL, PAY], Vec::new()];
    let graph = Graph { entry: vec![ORDER], next, others: Others::Refuse, stuck };
    let actions = ["order", "pay", "cancel"].map(action).to_vec();
    Playbook { actions, graph: Some(graph), ..playbook() }
}

fn gated() -> Dispatcher {
    Dispatcher::of(ordered(None))
}

/// An unkeyed write that is not idempotent.
fn of(action: ActionId) -> CallFacts {
    let gate = GateFacts::Action { id: action, fault: None };
    CallFacts { key: None, tool: ToolId(action.0.into()), gate, ..keyed_write() }
}

fn at(dispatcher: &Dispatcher) -> ValidNext {
    dispatcher.machine.valid_next(&dispatcher.playbook, RunId(0)).unwrap()
}

/// Makes a call and answers its attempt with a success.
fn done(dispatcher: &mut Dispatcher, id: u32, action: ActionId) {
    dispatcher.call(id, of(action));
    dispatcher.answer(id, 1, Response::Ok);
}

fn late(dispatcher: &mut Dispatcher, id: u32, failed: bool, proves_end: bool) -> Vec<(u32, Decision)> {
    let failed = failed.then_some(None);
    dispatcher.input(Input::Late { call: CallId(id), attempt: AttemptNo::FIRST, failed, proves_end })
}

/// Of each refusal: the call that is why.
fn refused_by(decisions: &[(u32, Decision)]) -> Vec<Option<CallId>> {
    let by = |(_, what): &(u32, Decision)| match what {
        Decision::Refused { by, .. } => Some(*by),
        _ => None,
    };
    decisions.iter().filter_map(by).collect()
}

#[test]
fn a_refusal_names_the_call_that_may_still_be_at_work_only_if_the_graph_allows_its_action() {
    let mut run = gated();
    done(&mut run, 0, ORDER);
    run.call(1, of(PAY));
    run.cancel(1);
    assert_eq!(refused_by(&run.call(2, of(PAY))), [Some(CallId(1))]);
    assert_eq!(refused_by(&run.call(3, of(ORDER))), [None], "the graph forbids it");
    done(&mut run, 4, CANCEL);
    assert_eq!(refused_by(&run.call(5, of(PAY))), [None], "nothing may follow");
}

#[test]
fn only_what_the_graph_allows_now_is_sent_and_a_refusal_moves_nothing() {
    let mut run = gated();
    assert_eq!(at(&run), ValidNext { position: None, next: vec![ORDER], withheld: Vec::new() });
    run.call(0, of(PAY));
    assert_eq!(
        (run.ended(0), run.claim(0)),
        (refused(AdmissionRefusal::InvalidTransition), Some(EffectClaim::NotApplied))
    );
    assert_eq!(at(&run).next, [ORDER]);
    done(&mut run, 1, ORDER);
    assert_eq!(at(&run), ValidNext { position: Some(ORDER), next: vec![PAY, CANCEL], withheld: Vec::new() });
    done(&mut run, 2, PAY);
    assert_eq!(at(&run).next, [CANCEL, PAY], "in the author's order");
    done(&mut run, 3, CANCEL);
    assert_eq!(at(&run).next, [], "terminal");
    run.call(4, of(ORDER));
    assert_eq!(run.ended(4), refused(AdmissionRefusal::InvalidTransition));
    assert_eq!(run.sent(), [1, 2, 3]);
    let after: Vec<_> = run.out.valid_next.iter().map(|(call, valid)| (call.0, valid.next.len())).collect();
    assert_eq!(after, [(0, 1), (1, 2), (2, 2), (3, 0), (4, 0)], "each call says what is valid after it");
}

#[test]
fn order_is_checked_before_arguments_and_both_before_the_registry() {
    let mut run = gated();
    let fault = |id| GateFacts::Action { id, fault: Some(ErrorId(7)) };
    run.call(0, CallFacts { gate: fault(PAY), ..of(PAY) });
    assert_eq!(run.ended(0), refused(AdmissionRefusal::InvalidTransition));
    let unfit = super::RequestCheck::Refused(AdmissionRefusal::Schema, ErrorId(8));
    run.call(1, CallFacts { gate: fault(ORDER), request: unfit, ..of(ORDER) });
    assert_eq!(run.ended(1), refused(AdmissionRefusal::ValidationFailed));
    run.call(2, CallFacts { request: unfit, ..of(ORDER) });
    assert_eq!(run.ended(2), refused(AdmissionRefusal::Schema));
    run.call(3, CallFacts { gate: GateFacts::Unknown(ErrorId(9)), ..of(ORDER) });
    assert_eq!(run.ended(3), refused(AdmissionRefusal::UnknownAction));
    done(&mut run, 4, ORDER);
    assert_eq!(run.sent(), [4], "a call that the registry refuses leaves the gate free");
}

#[test]
fn arguments_are_checked_without_a_graph_too() {
    let mut run = Dispatcher::of(Playbook { graph: None, ..ordered(None) });
    run.call(0, CallFacts { gate: GateFacts::Action { id: PAY, fault: Some(ErrorId(0)) }, ..of(PAY) });
    run.call(1, of(PAY));
    run.call(2, of(CANCEL));
    assert_eq!(run.ended(0), refused(AdmissionRefusal::ValidationFailed));
    assert_eq!(run.sent(), [1, 2], "nothing is ordered, and nothing waits");
    assert!(run.out.valid_next.is_empty());
}

#[test]
fn the_position_moves_when_the_effect_is_applied_and_for_a_read_when_it_succeeds() {
    let position = |facts: CallFacts, response| {
        let mut run = gated();
        run.call(0, CallFacts { gate: of(ORDER).gate, ..facts });
        run.answer(0, 1, response);
        at(&run).position
    };
    let read = CallFacts { access: Access::Read, ..of(ORDER) };
    assert_eq!(position(of(ORDER), Response::Ok), Some(ORDER));
    assert_eq!(position(read, Response::Ok), Some(ORDER));
    assert_eq!(position(of(ORDER), failed(DENIED)), None);
    assert_eq!(position(read, failed(DENIED)), None);
    assert_eq!(position(CallFacts { key_is_reused: true, ..of(ORDER) }, Response::Ok), None, "whose effect is it?");
}

#[test]
fn gated_calls_of_a_run_go_one_at_a_time_in_the_order_in_which_they_were_made() {
    let mut run = gated();
    run.call(0, of(ORDER));
    assert_eq!(run.call(1, of(PAY)), [(1, Decision::Queued { place: 1, behind: Some(CallId(0)) })]);
    assert_eq!(run.call(2, of(ORDER)), [(2, Decision::Queued { place: 2, behind: Some(CallId(1)) })]);
    assert_eq!(run.call(3, of(CANCEL)), [(3, Decision::Queued { place: 3, behind: Some(CallId(2)) })]);
    run.call(4, CallFacts { gate: GateFacts::Free, ..of(PAY) });
    run.call(5, CallFacts { run: RunId(1), ..of(ORDER) });
    assert_eq!(run.sent(), [0, 4, 5], "a free call and another run do not wait");
    run.answer(0, 1, Response::Ok);
    assert_eq!(run.sent(), [0, 4, 5, 1]);
    run.answer(1, 1, failed(DENIED));
    assert_eq!(run.ended(2), refused(AdmissionRefusal::InvalidTransition), "judged when its turn comes");
    assert_eq!(run.sent(), [0, 4, 5, 1, 3], "and the next one is not held up");
}

#[test]
fn a_call_leaves_the_line_with_its_caller_or_when_it_is_too_late() {
    let limits = Limits { call_timeout: Some(Duration::from_millis(100)), ..Limits::NONE };
    let mut run = Dispatcher::of(Playbook { limits, ..ordered(None) });
    run.call(0, of(ORDER));
    run.call(1, of(PAY));
    run.call(2, of(PAY));
    run.cancel(1);
    assert_eq!((run.ended(1), run.claim(1)), (Some(OutcomeKind::Cancelled), Some(EffectClaim::NotApplied)));
    run.at(100).input(Input::Woken(CallId(2)));
    assert_eq!(run.ended(2), Some(OutcomeKind::Exhausted(StopReason::CallTimeout)));
    run.at(101).call(3, of(PAY));
    run.at(102).answer(0, 1, Response::Ok);
    assert_eq!(run.sent(), [0, 3]);
}

#[test]
fn a_write_whose_recording_refused_it_is_not_at_work_and_one_without_an_answer_may_be() {
    let unanswered = |was_refused: bool| {
        let mut run = gated();
        done(&mut run, 0, ORDER);
        run.call(1, CallFacts { was_refused, ..of(PAY) });
        run.answer(1, 1, Response::Unanswered);
        assert_eq!(run.ended(1), Some(OutcomeKind::Undetermined(RequestKind::Attempt(AttemptNo::FIRST))));
        at(&run).withheld
    };
    assert_eq!((unanswered(true), unanswered(false)), (vec![], vec![PAY]));
}

#[test]
fn a_write_that_may_still_be_at_work_is_withheld_until_a_late_failure() {
    let timed_out = |facts: CallFacts| {
        let mut run = gated();
        done(&mut run, 0, ORDER);
        run.call(1, facts);
        let decisions = run.answer(1, 1, failed(TIMEOUT));
        (run, decisions)
    };
    let (mut run, decisions) = timed_out(of(PAY));
    assert!(decisions.contains(&(1, Decision::ActionWithheld { action: PAY })), "{decisions:?}");
    let withheld = ValidNext { position: Some(ORDER), next: vec![CANCEL], withheld: vec![PAY] };
    assert_eq!(at(&run), withheld);
    run.call(2, of(PAY));
    assert_eq!(run.ended(2), refused(AdmissionRefusal::InvalidTransition));
    assert_eq!(late(&mut run, 1, false, true).len(), 1);
    assert_eq!(at(&run), withheld, "it has been done: offering it would do it twice");
    late(&mut run, 1, true, false);
    assert_eq!(at(&run), withheld, "what only suggests a failure proves nothing");
    let released = late(&mut run, 1, true, true);
    assert_eq!(released.last(), Some(&(1, Decision::ActionReleased { action: PAY })));
    assert_eq!(at(&run).next, [PAY, CANCEL]);
    for safe in [
        CallFacts { access: Access::Read, ..of(PAY) },
        CallFacts { idempotent: true, ..of(PAY) },
        CallFacts { key: Some(crate::ids::KeyId(0)), ..of(PAY) },
    ] {
        let (mut run, _) = timed_out(safe);
        for (attempt, due) in [(2, 200), (3, 800)] {
            run.at(due).input(Input::Woken(CallId(1)));
            run.answer(1, attempt, failed(TIMEOUT));
        }
        assert_eq!(run.ended(1), Some(OutcomeKind::Exhausted(StopReason::MaxRetries)));
        assert_eq!((at(&run).withheld, at(&run).next), (vec![], vec![PAY, CANCEL]), "{safe:?}");
    }
}

#[test]
fn an_unanswered_write_that_its_verdict_says_did_nothing_is_withheld_and_says_so() {
    let Response::Failed(failure) = failed(DENIED) else { panic!() };
    let unanswered = Response::Failed(super::ClassifiedFailure { unanswered: true, ..failure });
    let mut run = gated();
    done(&mut run, 0, ORDER);
    run.call(1, of(PAY));
    let decisions = run.answer(1, 1, unanswered);
    assert_eq!(run.claim(1), Some(EffectClaim::NotApplied));
    assert_eq!(at(&run).withheld, [PAY]);
    assert!(decisions.contains(&(1, Decision::ActionWithheld { action: PAY })), "{decisions:?}");
    let released = late(&mut run, 1, true, true);
    assert_eq!(released.last(), Some(&(1, Decision::ActionReleased { action: PAY })));
}

#[test]
fn an_answer_withholds_nothing_whatever_it_says_of_the_effect() {
    let Response::Failed(failure) = failed(TIMEOUT) else { panic!() };
    let of_unknown_effect = Response::Failed(super::ClassifiedFailure { unanswered: false, ..failure });
    for response in [failed(DENIED), of_unknown_effect, Response::Suspected(None)] {
        let mut run = gated();
        done(&mut run, 0, ORDER);
        run.call(1, of(PAY));
        run.answer(1, 1, response);
        assert_eq!(at(&run).withheld, [], "{response:?}");
        run.call(2, of(PAY));
        assert_eq!(run.sent(), [0, 1, 2], "{response:?}");
    }
}

#[test]
fn what_is_unanswered_withholds_its_action_whatever_a_later_attempt_got() {
    let keyed = |key: u32| CallFacts { key: Some(crate::ids::KeyId(key)), ignores_keys: false, ..of(PAY) };
    let twice = |second| {
        let mut run = gated();
        done(&mut run, 0, ORDER);
        run.call(1, keyed(0));
        run.answer(1, 1, failed(TIMEOUT)); // its retry waits
        run.at(200).input(Input::Woken(CallId(1)));
        run.answer(1, 2, second);
        run
    };
    let mut run = twice(failed(DENIED));
    assert_eq!(refused_by(&run.call(2, keyed(1))), [Some(CallId(1))], "attempt 1 may act under its own key");
    late(&mut run, 1, true, true);
    run.call(3, keyed(1));
    assert_eq!(run.sent(), [0, 1, 1, 3], "it has failed since");
    let mut run = twice(Response::Ok);
    assert_eq!(at(&run).position, Some(PAY));
    run.call(2, keyed(1));
    assert_eq!(run.sent(), [0, 1, 1, 2], "the key made both one");
}

#[test]
fn a_key_makes_only_a_call_with_the_same_key_safe() {
    let keyed = |key: u32| CallFacts { key: Some(crate::ids::KeyId(key)), ..of(PAY) };
    let mut run = gated();
    done(&mut run, 0, ORDER);
    run.call(1, keyed(7));
    run.cancel(1);
    assert_eq!((at(&run).next, at(&run).withheld), (vec![PAY, CANCEL], vec![]), "it is offered");
    run.call(2, of(PAY));
    run.call(3, keyed(8));
    assert_eq!(
        (run.ended(2), run.ended(3)),
        (refused(AdmissionRefusal::InvalidTransition), refused(AdmissionRefusal::InvalidTransition))
    );
    run.call(4, keyed(7));
    run.answer(4, 1, Response::Ok);
    run.call(5, keyed(8));
    assert_eq!(run.sent(), [0, 1, 4, 5], "what was at work under the key has been done");
    let mut failed_late = gated();
    done(&mut failed_late, 0, ORDER);
    failed_late.call(1, keyed(7));
    failed_late.cancel(1);
    let decisions = failed_late.answer(1, 1, failed(DENIED));
    assert!(!decisions.contains(&(1, Decision::ActionReleased { action: PAY })), "it was offered all the time");
    failed_late.call(2, keyed(8));
    assert_eq!(failed_late.sent(), [0, 1, 2]);
}

#[test]
fn a_late_failure_releases_only_what_its_own_call_holds() {
    let keyed = |key: u32| CallFacts { key: Some(crate::ids::KeyId(key)), ..of(PAY) };
    let mut run = gated();
    done(&mut run, 0, ORDER);
    for id in [1, 2] {
        run.call(id, keyed(7));
        run.cancel(id);
    }
    run.answer(2, 1, failed(DENIED));
    assert_eq!(refused_by(&run.call(3, keyed(8))), [Some(CallId(1))], "the first may still act");
    run.answer(1, 1, failed(DENIED));
    run.call(4, keyed(8));
    assert_eq!(run.sent(), [0, 1, 2, 4]);
}

#[test]
fn a_write_without_any_answer_is_withheld() {
    let mut run = gated();
    done(&mut run, 0, ORDER);
    run.call(1, of(PAY));
    run.answer(1, 1, Response::Unanswered);
    assert_eq!(at(&run).withheld, [PAY]);
    let mut read = gated();
    done(&mut read, 0, ORDER);
    read.call(1, CallFacts { access: Access::Read, ..of(PAY) });
    read.answer(1, 1, Response::Unanswered);
    assert_eq!(at(&read).withheld, []);
}

#[test]
fn a_write_whose_caller_went_away_is_withheld_too() {
    let mut run = gated();
    done(&mut run, 0, ORDER);
    run.call(1, of(PAY));
    run.cancel(1);
    assert_eq!(at(&run).withheld, [PAY]);
    run.answer(1, 1, failed(DENIED));
    assert_eq!(at(&run).withheld, [], "it has failed since");
}

#[test]
fn equal_refusals_in_a_row_go_to_people() {
    let mut run = Dispatcher::of(ordered(Some(Stuck { after: 3, queue: QueueId(0) })));
    let tries = |run: &mut Dispatcher, ids: &[u32], facts: CallFacts| -> Vec<&'static str> {
        let end = |id: &u32| {
            run.call(*id, facts);
            run.ended(*id).map_or("none", OutcomeKind::as_str)
        };
        ids.iter().map(end).collect()
    };
    assert_eq!(tries(&mut run, &[0, 1], of(PAY)), ["refused", "refused"]);
    assert_eq!(tries(&mut run, &[2], CallFacts { args: ArgsId(9), ..of(PAY) }), ["refused"], "another call");
    assert_eq!(tries(&mut run, &[3, 4, 5, 6], of(PAY)), ["refused", "refused", "escalated", "escalated"]);
    assert_eq!((run.claim(5), run.sent()), (Some(EffectClaim::NotApplied), vec![]));
    done(&mut run, 7, ORDER);
    done(&mut run, 8, CANCEL);
    assert_eq!(tries(&mut run, &[9], of(PAY)), ["refused"], "an admitted call ends the row");
}

#[test]
fn the_gate_comes_before_the_key() {
    let sharing = Sharing { dedupe: Some(DEDUPE), ..Sharing::NONE };
    let mut run = Dispatcher::of(Playbook { sharing, ..ordered(None) });
    let keyed = |action| CallFacts { key: Some(crate::ids::KeyId(0)), ..of(action) };
    run.call(0, keyed(ORDER));
    run.answer(0, 1, Response::Ok);
    run.call(1, keyed(ORDER));
    assert_eq!(run.ended(1), refused(AdmissionRefusal::InvalidTransition), "a kept result would be out of order");
    run.call(2, CallFacts { run: RunId(1), ..keyed(ORDER) });
    assert_eq!(run.ended(2), Some(OutcomeKind::Cached { leader: CallId(0) }));
    let valid = run.machine.valid_next(&run.playbook, RunId(1)).unwrap();
    assert_eq!(valid.position, Some(ORDER), "its effect is applied");
}

#[test]
fn equal_histories_are_equal_machines() {
    let machine = || {
        let mut run = gated();
        done(&mut run, 0, ORDER);
        run.call(1, of(PAY));
        run.answer(1, 1, failed(TIMEOUT));
        run.machine
    };
    assert_eq!(machine(), machine());
    let mut other = gated();
    other.at(0).now = Instant::ZERO;
    done(&mut other, 0, ORDER);
    assert_ne!(machine(), other.machine);
}
