//! What calls of one machine share: keys, the budget of a run, permits. Driven by hand, one input after the other.

use super::driver::{Dispatcher, other, refused};
use super::tests::{failed, keyed_write};
use super::{CallFacts, Input, Output, Response};
use crate::event::{AdmissionRefusal, Decision, EffectClaim, OutcomeKind, OutcomeWord, StopReason};
use crate::ids::{ArgsId, CallId, KeyId, RunId, ToolId};
use crate::playbook::sample::{DEDUPE, DENIED, TIMEOUT, playbook};
use crate::playbook::{Access, BudgetUnit, Dedupe, PermitLimits, Playbook, Sharing, Study, ToolCallBudget};
use crate::time::{Duration, Instant};

fn sharing(sharing: Sharing) -> Playbook {
    Playbook { sharing, ..playbook() }
}

fn deduping() -> Playbook {
    sharing(Sharing { dedupe: Some(DEDUPE), ..Sharing::NONE })
}

fn with_permits(max_in_flight: u32, queue: u32) -> Playbook {
    let permits = Some(PermitLimits { max_in_flight, queue });
    sharing(Sharing { dedupe: Some(DEDUPE), permits, ..Sharing::NONE })
}

fn with_budget(tool_calls: u32, counts: BudgetUnit) -> Playbook {
    let budget = Some(ToolCallBudget { tool_calls, counts });
    sharing(Sharing { dedupe: Some(DEDUPE), budget, ..Sharing::NONE })
}

fn unkeyed_write() -> CallFacts {
    CallFacts { key: None, ..keyed_write() }
}

fn joined(leader: u32, ended: OutcomeWord) -> Option<OutcomeKind> {
    Some(OutcomeKind::Joined { leader: CallId(leader), ended })
}

#[test]
fn a_key_in_flight_is_joined_and_a_finished_one_is_kept_until_its_window_is_over() {
    let mut dispatcher = Dispatcher::of(deduping());
    dispatcher.call(0, keyed_write());
    assert_eq!(dispatcher.at(5).call(1, keyed_write()), [(1, Decision::Joined { leader: CallId(0) })]);
    dispatcher.at(10).answer(0, 1, Response::Ok);
    assert_eq!(dispatcher.ended(1), joined(0, OutcomeWord::Succeeded));
    assert_eq!(dispatcher.claim(1), Some(EffectClaim::Applied), "as its leader");
    let kept = Some(OutcomeKind::Cached { leader: CallId(0) });
    dispatcher.at(60_009).call(2, keyed_write());
    assert_eq!((dispatcher.ended(2), dispatcher.claim(2)), (kept, Some(EffectClaim::Applied)));
    dispatcher.at(60_010).call(3, keyed_write());
    assert_eq!(dispatcher.sent(), [0, 3], "the window counts from the end of the call");
}

#[test]
fn a_kept_result_proves_no_effect_that_was_reversed_since() {
    let mut dispatcher = Dispatcher::of(deduping());
    dispatcher.call(0, keyed_write());
    dispatcher.at(10).answer(0, 1, Response::Ok);
    let kept = Some(OutcomeKind::Cached { leader: CallId(0) });
    dispatcher.at(20).call(1, CallFacts { key_is_reused: true, ..keyed_write() });
    assert_eq!((dispatcher.ended(1), dispatcher.claim(1)), (kept, Some(EffectClaim::Unknown)));
    dispatcher.at(30).call(2, keyed_write());
    assert_eq!((dispatcher.ended(2), dispatcher.claim(2)), (kept, Some(EffectClaim::Applied)));
}

#[test]
fn a_window_of_zero_keeps_nothing() {
    let dedupe = Some(Dedupe { window: Duration::ZERO, ..DEDUPE });
    let mut dispatcher = Dispatcher::of(sharing(Sharing { dedupe, ..Sharing::NONE }));
    dispatcher.call(0, keyed_write());
    dispatcher.answer(0, 1, Response::Ok);
    dispatcher.call(1, keyed_write());
    assert_eq!(dispatcher.sent(), [0, 1]);
}

#[test]
fn a_key_is_bound_to_its_tool_and_arguments() {
    for facts in [CallFacts { tool: ToolId(1), ..keyed_write() }, CallFacts { args: ArgsId(1), ..keyed_write() }] {
        for has_ended in [false, true] {
            let mut dispatcher = Dispatcher::of(deduping());
            dispatcher.call(0, keyed_write());
            if has_ended {
                dispatcher.answer(0, 1, Response::Ok);
            }
            dispatcher.call(1, facts);
            assert_eq!(dispatcher.ended(1), refused(AdmissionRefusal::KeyReused));
        }
    }
}

#[test]
fn a_failure_is_shared_with_its_followers_and_not_kept() {
    let mut dispatcher = Dispatcher::of(deduping());
    dispatcher.call(0, keyed_write());
    dispatcher.call(1, keyed_write());
    dispatcher.answer(0, 1, failed(DENIED));
    assert_eq!(dispatcher.ended(1), joined(0, OutcomeWord::Escalated));
    dispatcher.call(2, keyed_write());
    assert_eq!(dispatcher.sent(), [0, 2]);
}

#[test]
fn a_call_after_one_that_may_have_acted_is_refused_where_the_upstream_ignores_keys() {
    let ignored = CallFacts { ignores_keys: true, ..keyed_write() };
    for (first, expected) in [(TIMEOUT, refused(AdmissionRefusal::Unsettled)), (DENIED, None)] {
        let mut dispatcher = Dispatcher::of(deduping());
        dispatcher.call(0, ignored);
        dispatcher.answer(0, 1, failed(first));
        assert!(dispatcher.ended(0).is_some(), "the retry guard does not trust the key either");
        dispatcher.call(1, ignored);
        assert_eq!(dispatcher.ended(1), expected);
    }
}

#[test]
fn the_first_follower_takes_over_where_the_leader_is_lost_and_that_is_safe() {
    let mut dispatcher = Dispatcher::of(deduping());
    for call in 0..3 {
        dispatcher.call(call, keyed_write());
    }
    let decisions = dispatcher.cancel(0);
    assert!(decisions.contains(&(1, Decision::TookOver { leader: CallId(0) })));
    assert_eq!((dispatcher.sent(), dispatcher.ended(2)), (vec![0, 1], None));
    dispatcher.answer(1, 1, Response::Ok);
    assert_eq!(dispatcher.ended(2), joined(1, OutcomeWord::Succeeded));
}

#[test]
fn no_follower_takes_over_where_the_leader_may_have_acted_and_keys_are_ignored() {
    let ignored = CallFacts { ignores_keys: true, ..keyed_write() };
    let mut dispatcher = Dispatcher::of(deduping());
    for call in 0..3 {
        dispatcher.call(call, ignored);
    }
    dispatcher.cancel(0);
    assert_eq!(dispatcher.claim(0), Some(EffectClaim::Unknown));
    for follower in [1, 2] {
        assert_eq!(dispatcher.ended(follower), refused(AdmissionRefusal::Unsettled));
    }
    assert_eq!(dispatcher.sent(), [0]);
}

#[test]
fn a_late_answer_to_a_cancelled_call_changes_no_decision() {
    let mut dispatcher = Dispatcher::of(deduping());
    dispatcher.call(0, keyed_write());
    dispatcher.cancel(0);
    let before = dispatcher.machine.clone();
    let decisions = dispatcher.answer(0, 1, Response::Ok);
    assert!(matches!(decisions[..], [(0, Decision::LateAnswer { .. })]));
    assert_eq!(dispatcher.machine, before);
}

#[test]
fn a_follower_that_goes_away_leaves_the_others_where_they_are() {
    let mut dispatcher = Dispatcher::of(deduping());
    for call in 0..3 {
        dispatcher.call(call, keyed_write());
    }
    dispatcher.cancel(1);
    assert_eq!((dispatcher.ended(1), dispatcher.claim(1)), (Some(OutcomeKind::Cancelled), Some(EffectClaim::Unknown)));
    dispatcher.answer(0, 1, Response::Ok);
    assert_eq!(dispatcher.ended(2), joined(0, OutcomeWord::Succeeded));
}

#[test]
fn a_follower_waits_no_longer_than_its_own_call_may_take() {
    let mut book = deduping();
    book.limits.call_timeout = Some(Duration::from_millis(500));
    let mut dispatcher = Dispatcher::of(book);
    dispatcher.call(0, keyed_write());
    dispatcher.at(100).call(1, keyed_write());
    assert!(dispatcher.out.outputs.contains(&Output::Wake { call: CallId(1), at: Instant::from_millis(600) }));
    dispatcher.at(600).input(Input::Woken(CallId(1)));
    assert_eq!(dispatcher.ended(1), Some(OutcomeKind::Exhausted(StopReason::CallTimeout)));
    assert_eq!(dispatcher.claim(1), Some(EffectClaim::Unknown));
}

#[test]
fn the_key_is_registered_before_the_wait_for_a_permit() {
    let mut dispatcher = Dispatcher::of(with_permits(1, 10));
    dispatcher.call(0, other(0));
    assert_eq!(dispatcher.call(1, keyed_write()), [(1, Decision::Queued { place: 1, behind: None })]);
    assert_eq!(dispatcher.call(2, keyed_write()), [(2, Decision::Joined { leader: CallId(1) })]);
    dispatcher.answer(0, 1, Response::Ok);
    dispatcher.answer(1, 1, Response::Ok);
    assert_eq!(dispatcher.sent(), [0, 1], "two calls with one key run once");
    assert_eq!(dispatcher.ended(2), joined(1, OutcomeWord::Succeeded));
}

#[test]
fn permits_are_given_in_the_order_of_the_queue_and_held_only_while_an_attempt_is_out() {
    let mut dispatcher = Dispatcher::of(with_permits(1, 10));
    for call in 0..3 {
        dispatcher.call(call, other(call));
    }
    let decisions = dispatcher.answer(0, 1, failed(TIMEOUT));
    assert!(decisions.iter().any(|(call, what)| *call == 0 && matches!(what, Decision::RetryScheduled { .. })));
    assert_eq!(dispatcher.sent(), [0, 1], "the wait holds no permit");
    dispatcher.at(200).input(Input::Woken(CallId(0)));
    dispatcher.answer(1, 1, Response::Ok);
    dispatcher.answer(2, 1, Response::Ok);
    assert_eq!(dispatcher.sent(), [0, 1, 2, 0]);
}

#[test]
fn a_full_queue_refuses_first_attempts_and_no_retries() {
    let mut dispatcher = Dispatcher::of(with_permits(1, 1));
    for call in 0..3 {
        dispatcher.call(call, other(call));
    }
    assert_eq!(dispatcher.ended(2), refused(AdmissionRefusal::QueueFull));
    dispatcher.answer(0, 1, failed(TIMEOUT));
    dispatcher.call(3, other(3));
    dispatcher.at(200).input(Input::Woken(CallId(0)));
    assert_eq!(dispatcher.ended(0), None, "it was admitted");
}

#[test]
fn a_call_leaves_the_queue_when_it_is_too_late_or_its_caller_goes_away() {
    let mut dispatcher = Dispatcher::of(with_permits(1, 10));
    for call in 0..4 {
        dispatcher.call(call, other(call));
    }
    dispatcher.cancel(1);
    assert_eq!(
        (dispatcher.ended(1), dispatcher.claim(1)),
        (Some(OutcomeKind::Cancelled), Some(EffectClaim::NotApplied))
    );
    let due = Instant::from_millis(60_000).plus(Duration::from_micros(1));
    assert!(dispatcher.out.outputs.contains(&Output::Wake { call: CallId(2), at: due }));
    dispatcher.now = due;
    dispatcher.input(Input::Woken(CallId(2)));
    assert_eq!(dispatcher.ended(2), Some(OutcomeKind::Exhausted(StopReason::Deadline)));
    dispatcher.answer(0, 1, Response::Ok);
    assert_eq!(dispatcher.ended(3), Some(OutcomeKind::Exhausted(StopReason::Deadline)), "a permit comes too late too");
    assert_eq!(dispatcher.sent(), [0]);
    dispatcher.call(4, other(4));
    assert_eq!(dispatcher.sent(), [0, 4], "no permit is lost");
}

#[test]
fn each_attempt_takes_one_tool_call_of_its_run() {
    let mut dispatcher = Dispatcher::of(with_budget(3, BudgetUnit::Attempts));
    dispatcher.call(0, other(0));
    dispatcher.answer(0, 1, failed(TIMEOUT));
    dispatcher.at(200).input(Input::Woken(CallId(0)));
    dispatcher.call(1, CallFacts { run: RunId(1), ..other(1) });
    dispatcher.call(2, other(2));
    dispatcher.answer(2, 1, failed(TIMEOUT));
    assert_eq!(dispatcher.ended(2), Some(OutcomeKind::Exhausted(StopReason::Budget)));
    dispatcher.call(3, other(3));
    assert_eq!(dispatcher.ended(3), refused(AdmissionRefusal::BudgetExceeded));
    assert_eq!(dispatcher.sent(), [0, 0, 1, 2]);
}

#[test]
fn a_retry_is_paid_when_it_is_scheduled_and_given_back_if_it_is_never_sent() {
    let mut dispatcher = Dispatcher::of(with_budget(2, BudgetUnit::Attempts));
    dispatcher.call(0, other(0));
    dispatcher.answer(0, 1, failed(TIMEOUT));
    dispatcher.call(1, other(1));
    assert_eq!(dispatcher.ended(1), refused(AdmissionRefusal::BudgetExceeded), "the wait holds the last one");
    dispatcher.cancel(0);
    dispatcher.call(2, other(2));
    assert_eq!(dispatcher.ended(2), None);
}

#[test]
fn a_budget_of_calls_pays_no_retry() {
    let mut dispatcher = Dispatcher::of(with_budget(1, BudgetUnit::Calls));
    dispatcher.call(0, other(0));
    dispatcher.answer(0, 1, failed(TIMEOUT));
    dispatcher.at(200).input(Input::Woken(CallId(0)));
    dispatcher.call(1, other(1));
    assert_eq!((dispatcher.ended(0), dispatcher.ended(1)), (None, refused(AdmissionRefusal::BudgetExceeded)));
}

#[test]
fn a_known_key_costs_nothing_and_is_answered_at_zero_budget() {
    let mut dispatcher = Dispatcher::of(with_budget(1, BudgetUnit::Attempts));
    dispatcher.call(0, keyed_write());
    dispatcher.call(1, keyed_write());
    dispatcher.answer(0, 1, Response::Ok);
    dispatcher.call(2, keyed_write());
    assert_eq!(dispatcher.ended(2), Some(OutcomeKind::Cached { leader: CallId(0) }));
    dispatcher.call(3, CallFacts { access: Access::Read, ..unkeyed_write() });
    assert_eq!(dispatcher.ended(3), refused(AdmissionRefusal::BudgetExceeded));
}

#[test]
fn a_refused_leader_leaves_its_key_free() {
    let mut dispatcher = Dispatcher::of(with_budget(0, BudgetUnit::Attempts));
    dispatcher.call(0, keyed_write());
    assert_eq!(dispatcher.ended(0), refused(AdmissionRefusal::BudgetExceeded));
    assert!(!dispatcher.machine.knows_key(KeyId(0)));
}

fn taking_over(after: u64) -> Playbook {
    let dedupe = Some(Dedupe { takeover: Some(Duration::from_millis(after)), ..DEDUPE });
    sharing(Sharing { dedupe, ..Sharing::NONE })
}

#[test]
fn a_follower_takes_over_a_silent_leader_and_the_next_one_follows_it() {
    let mut dispatcher = Dispatcher::of(taking_over(100));
    dispatcher.call(0, keyed_write());
    dispatcher.at(10).call(1, keyed_write());
    dispatcher.at(20).call(2, keyed_write());
    assert_eq!(dispatcher.at(99).input(Input::Woken(CallId(1))), [], "too early");
    dispatcher.at(100).input(Input::Woken(CallId(1)));
    dispatcher.input(Input::Woken(CallId(2)));
    assert_eq!(dispatcher.sent(), [0, 1], "one of them, and the new leader has just begun");
    dispatcher.at(150).answer(0, 1, Response::Ok);
    assert_eq!((dispatcher.ended(0), dispatcher.ended(2)), (Some(OutcomeKind::Succeeded), None), "it leads no more");
    dispatcher.at(160).answer(1, 1, Response::Ok);
    assert_eq!(dispatcher.ended(2), joined(1, OutcomeWord::Succeeded));
    assert!(dispatcher.machine.keeps_success_of(KeyId(0), CallId(1)));
}

#[test]
fn a_call_that_comes_after_the_silence_takes_over_at_once() {
    let mut dispatcher = Dispatcher::of(taking_over(100));
    dispatcher.call(0, keyed_write());
    let decisions = dispatcher.at(100).call(1, keyed_write());
    assert_eq!(
        decisions[..2],
        [(1, Decision::Joined { leader: CallId(0) }), (1, Decision::TookOver { leader: CallId(0) })]
    );
    assert_eq!(dispatcher.sent(), [0, 1]);
}

#[test]
fn nobody_takes_over_a_silent_leader_where_keys_are_ignored_or_no_time_is_said() {
    let ignored = CallFacts { ignores_keys: true, ..keyed_write() };
    for (playbook, facts) in [(taking_over(100), ignored), (deduping(), keyed_write())] {
        let mut dispatcher = Dispatcher::of(playbook);
        dispatcher.call(0, facts);
        dispatcher.at(10).call(1, facts);
        dispatcher.at(5_000).input(Input::Woken(CallId(1)));
        assert_eq!(dispatcher.sent(), [0]);
        dispatcher.answer(0, 1, Response::Ok);
        assert_eq!(dispatcher.ended(1), joined(0, OutcomeWord::Succeeded));
    }
}

#[test]
fn the_oldest_ended_keys_are_forgotten_first() {
    let dedupe = Some(Dedupe { most_keys: 2, ..DEDUPE });
    let mut dispatcher = Dispatcher::of(sharing(Sharing { dedupe, ..Sharing::NONE }));
    for call in 0..3 {
        dispatcher.call(call, other(call));
        dispatcher.answer(call, 1, Response::Ok);
    }
    dispatcher.call(3, other(3));
    assert_eq!([0, 1, 2, 3].map(|n| dispatcher.machine.knows_key(KeyId(100 + n))), [false, false, true, true]);
}

#[test]
fn machines_that_share_the_same_are_equal() {
    let drive = || {
        let mut dispatcher = Dispatcher::of(with_permits(1, 10));
        dispatcher.call(0, keyed_write());
        dispatcher.call(1, other(1));
        dispatcher.call(2, keyed_write());
        dispatcher
    };
    let (one, mut two) = (drive(), drive());
    assert_eq!(one.machine, two.machine);
    two.answer(0, 1, Response::Ok);
    assert_ne!(one.machine, two.machine);
}

fn studying(playbook: Playbook, switch: impl FnOnce(&mut Study)) -> Playbook {
    let mut study = Study::safe("test");
    switch(&mut study);
    Playbook { study: Some(study), ..playbook }
}

#[test]
fn under_study_a_key_that_is_registered_after_the_permit_runs_twice() {
    let mut dispatcher = Dispatcher::of(studying(with_permits(2, 10), |study| study.registers_key_late = true));
    dispatcher.call(0, other(0));
    dispatcher.call(4, other(4));
    dispatcher.call(1, keyed_write());
    assert_eq!(dispatcher.call(2, keyed_write()), [(2, Decision::Queued { place: 2, behind: None })]);
    dispatcher.answer(0, 1, Response::Ok);
    assert_eq!(
        dispatcher.call(3, keyed_write()),
        [(3, Decision::Joined { leader: CallId(1) })],
        "it is registered now"
    );
    dispatcher.answer(4, 1, Response::Ok);
    dispatcher.answer(1, 1, Response::Ok);
    dispatcher.answer(2, 1, Response::Ok);
    assert_eq!(dispatcher.sent(), [0, 4, 1, 2]);
    assert_eq!(dispatcher.ended(3), joined(1, OutcomeWord::Succeeded), "the second one takes no follower away");
}

#[test]
fn under_study_a_key_that_is_bound_to_nothing_gives_another_tools_result() {
    let mut dispatcher = Dispatcher::of(studying(deduping(), |study| study.cache_ignores_arguments = true));
    dispatcher.call(0, keyed_write());
    dispatcher.answer(0, 1, Response::Ok);
    dispatcher.call(1, CallFacts { tool: ToolId(9), args: ArgsId(9), ..keyed_write() });
    assert_eq!(dispatcher.ended(1), Some(OutcomeKind::Cached { leader: CallId(0) }));
}

#[test]
fn under_study_a_permit_is_held_in_backoff_and_free_when_the_call_ends() {
    let mut dispatcher = Dispatcher::of(studying(with_permits(1, 10), |study| study.holds_permit_in_backoff = true));
    for call in 0..4 {
        dispatcher.call(call, other(call));
    }
    dispatcher.answer(0, 1, failed(TIMEOUT));
    assert_eq!(dispatcher.sent(), [0], "the wait holds the permit");
    dispatcher.at(200).input(Input::Woken(CallId(0)));
    dispatcher.answer(0, 2, Response::Ok);
    dispatcher.cancel(1);
    dispatcher.answer(2, 1, failed(DENIED));
    dispatcher.answer(3, 1, Response::Ok);
    dispatcher.call(4, other(4));
    dispatcher.call(5, other(5));
    assert_eq!(dispatcher.sent(), [0, 0, 1, 2, 3, 4], "each permit is given once");
}
