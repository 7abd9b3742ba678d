//! What calls of one server share: the breaker and the retry budgets. Driven by hand, one input after the other.

use super::driver::{Dispatcher, other, refused};
use super::tests::{failed, keyed_write};
use super::{CallFacts, Input, Response};
use crate::event::{AdmissionRefusal, Decision, OutcomeKind, StopReason};
use crate::ids::{ArgsId, BreakerId, CallId, RetryBudgetId, ServerId};
use crate::playbook::sample::{DENIED, TIMEOUT, playbook};
use crate::playbook::{
    BreakerMark, BreakerRules, BreakerWindow, BudgetScope, BudgetUnit, Compensation, DEFAULT_BREAKER, EvaluateOn,
    HalfOpen, OnEmptyBudget, OpenBoundary, OpenPeriod, OpenThresholds, PermitLimits, Playbook, Ratio, Refund,
    RetryBudget, RetryBudgetKind, Sharing, TokenBucket, Tokens, ToolCallBudget,
};
use crate::time::Duration;

/// Opens at two failures of the last two answers, for 1,000 ms; one probe decides. A retry takes 5 of 10 tokens.
fn breaking() -> Playbook {
    let mut book = playbook();
    book.verdicts[usize::from(TIMEOUT)].breaker = BreakerMark::Failure;
    book.breakers.push((
        DEFAULT_BREAKER.into(),
        BreakerRules {
            window: BreakerWindow::Calls(2),
            min_calls: 2,
            opens_at: OpenThresholds { failure_count: Some(2), ..OpenThresholds::default() },
            evaluate_on: EvaluateOn::Failure,
            open: OpenPeriod::Fixed(Duration::from_millis(1_000)),
            boundary: OpenBoundary::AtEnd,
            half_open: HalfOpen::SingleProbe { another_after: None },
        },
    ));
    book
}

fn budgeted(on_empty: OnEmptyBudget) -> Playbook {
    let mut book = playbook();
    let bucket = TokenBucket {
        capacity: Tokens::from_thousandths(10_000),
        cost: Tokens::from_thousandths(5_000),
        no_retry_credit: Tokens::ONE,
        refund: Refund::LastCost,
        success_credit: Tokens::ZERO,
        refill_per_sec: Tokens::ZERO,
    };
    let budget = RetryBudget { kind: RetryBudgetKind::TokenBucket(bucket), per: BudgetScope::Server, on_empty };
    book.retry_budgets.push(("shared".into(), budget));
    if let Compensation::RetryWithBackoff(retry) = &mut book.verdicts[usize::from(TIMEOUT)].then {
        retry.retry_budget = Some(RetryBudgetId(0));
    }
    book
}

/// A call of a server with a breaker, which is not sent again.
fn served(n: u32) -> CallFacts {
    CallFacts { key: None, breaker: Some(BreakerId(0)), args: ArgsId(n), ..keyed_write() }
}

/// The dispatcher of `breaking`, whose breaker was opened at 10 ms by the call 1.
fn opened(permits: Option<PermitLimits>) -> Dispatcher {
    let book = Playbook { sharing: Sharing { permits, ..Sharing::NONE }, ..breaking() };
    let mut dispatcher = Dispatcher::of(book);
    for call in 0..2 {
        dispatcher.call(call, served(call));
        dispatcher.at(10).answer(call, 1, failed(TIMEOUT));
    }
    dispatcher
}

#[test]
fn an_open_breaker_refuses_and_names_the_call_that_opened_it() {
    let mut dispatcher = opened(None);
    let why = AdmissionRefusal::CircuitOpen;
    let retry_after = Some(Duration::from_millis(990));
    let refusal = Decision::Refused { why, error: None, by: Some(CallId(1)), retry_after };
    assert_eq!(dispatcher.at(20).call(2, served(2))[0], (2, refusal));
    let elsewhere = CallFacts { server: ServerId(1), ..served(3) };
    dispatcher.call(3, elsewhere);
    assert_eq!((dispatcher.ended(2), dispatcher.ended(3)), (refused(why), None), "each server has its own");
}

#[test]
fn a_probe_closes_the_breaker_and_others_wait_for_its_answer() {
    let mut dispatcher = opened(None);
    let half_open = Decision::CircuitHalfOpen { server: ServerId(0) };
    assert_eq!(dispatcher.at(1_010).call(2, served(2))[0], (2, half_open));
    dispatcher.call(3, served(3));
    assert_eq!(dispatcher.ended(3), refused(AdmissionRefusal::CircuitOpen));
    let closed = Decision::CircuitClosed { server: ServerId(0) };
    assert_eq!(dispatcher.at(1_020).answer(2, 1, Response::Ok)[1], (2, closed));
    dispatcher.call(4, served(4));
    assert_eq!(dispatcher.ended(4), None);
}

#[test]
fn a_probe_whose_caller_goes_away_frees_its_place() {
    let mut dispatcher = opened(None);
    dispatcher.at(1_010).call(2, served(2));
    dispatcher.cancel(2);
    dispatcher.call(3, served(3));
    assert_eq!(dispatcher.ended(3), None);
}

#[test]
fn the_answer_to_a_probe_of_an_earlier_period_decides_nothing() {
    let mut book = breaking();
    book.breakers[0].1.half_open = HalfOpen::SingleProbe { another_after: Some(Duration::from_millis(50)) };
    let mut dispatcher = opened(None);
    dispatcher.playbook = book;
    dispatcher.at(1_010).call(2, served(2));
    dispatcher.at(1_060).call(3, served(3));
    dispatcher.at(1_070).answer(3, 1, failed(TIMEOUT)); // opens it again
    dispatcher.at(2_070).call(4, served(4));
    let decisions = dispatcher.at(2_080).answer(2, 1, Response::Ok);
    assert!(!decisions.iter().any(|(_, what)| what.circuit().is_some()), "{decisions:?}");
}

#[test]
fn a_verdict_that_says_nothing_of_the_server_opens_nothing() {
    let mut dispatcher = Dispatcher::of(breaking());
    for call in 0..3 {
        dispatcher.call(call, served(call));
        dispatcher.answer(call, 1, failed(DENIED));
    }
    dispatcher.call(3, served(3));
    assert_eq!(dispatcher.ended(3), None);
}

#[test]
fn a_waiting_call_is_refused_if_the_breaker_opens_before_its_permit() {
    let mut dispatcher = opened(Some(PermitLimits { max_in_flight: 1, queue: 10 }));
    dispatcher.at(1_010).call(2, served(2));
    dispatcher.call(3, CallFacts { breaker: None, ..served(3) });
    dispatcher.call(4, CallFacts { breaker: None, ..served(4) });
    dispatcher.answer(2, 1, failed(TIMEOUT));
    dispatcher.answer(3, 1, Response::Ok);
    assert_eq!(dispatcher.sent(), [0, 1, 2, 3, 4], "those of other servers go on");
    dispatcher.call(5, served(5));
    assert_eq!(dispatcher.ended(5), refused(AdmissionRefusal::CircuitOpen), "it takes no place in the queue");
}

#[test]
fn retries_share_a_budget_and_a_success_gives_back() {
    let mut dispatcher = Dispatcher::of(budgeted(OnEmptyBudget::Stop));
    for call in 0..3 {
        dispatcher.call(call, other(call));
        dispatcher.answer(call, 1, failed(TIMEOUT));
    }
    assert_eq!(
        [0, 1, 2].map(|call| dispatcher.ended(call)),
        [None, None, Some(OutcomeKind::Exhausted(StopReason::RetryBudget))]
    );
    assert_eq!(dispatcher.stopped_by(2), Some(CallId(1)), "the last retry that took from it");
    dispatcher.at(200).input(Input::Woken(CallId(0)));
    dispatcher.answer(0, 2, Response::Ok);
    dispatcher.call(3, other(3));
    dispatcher.answer(3, 1, failed(TIMEOUT));
    assert_eq!(dispatcher.ended(3), None, "what the last retry took is back");
    let elsewhere = CallFacts { server: ServerId(1), ..other(4) };
    dispatcher.call(4, elsewhere);
    dispatcher.answer(4, 1, failed(TIMEOUT));
    assert_eq!(dispatcher.ended(4), None, "each server has its own");
}

#[test]
fn a_scheduled_retry_that_is_never_sent_gives_its_cost_back() {
    let mut dispatcher = Dispatcher::of(budgeted(OnEmptyBudget::Stop));
    for call in 0..2 {
        dispatcher.call(call, other(call));
        dispatcher.answer(call, 1, failed(TIMEOUT));
    }
    dispatcher.cancel(0);
    dispatcher.call(2, other(2));
    dispatcher.answer(2, 1, failed(TIMEOUT));
    assert_eq!(dispatcher.ended(2), None);
}

#[test]
fn a_retry_that_was_sent_keeps_its_cost_although_its_caller_goes_away() {
    let mut dispatcher = Dispatcher::of(budgeted(OnEmptyBudget::Stop));
    for call in 0..2 {
        dispatcher.call(call, other(call));
        dispatcher.answer(call, 1, failed(TIMEOUT));
    }
    dispatcher.at(200).input(Input::Woken(CallId(0)));
    dispatcher.cancel(0);
    dispatcher.call(2, other(2));
    dispatcher.answer(2, 1, failed(TIMEOUT));
    assert_eq!(dispatcher.ended(2), Some(OutcomeKind::Exhausted(StopReason::RetryBudget)));
}

#[test]
fn an_empty_budget_can_let_the_call_wait_before_it_stops() {
    let mut dispatcher = Dispatcher::of(budgeted(OnEmptyBudget::WaitAndStop));
    for call in 0..3 {
        dispatcher.call(call, other(call));
        dispatcher.answer(call, 1, failed(TIMEOUT));
    }
    assert_eq!(dispatcher.ended(2), None);
    dispatcher.at(199).input(Input::Woken(CallId(2)));
    assert_eq!(dispatcher.ended(2), None, "a stale moment");
    dispatcher.at(200).input(Input::Woken(CallId(2)));
    assert_eq!(dispatcher.ended(2), Some(OutcomeKind::Exhausted(StopReason::RetryBudget)));
    assert_eq!(dispatcher.stopped_by(2), Some(CallId(1)));
}

#[test]
fn a_throttle_is_spent_by_the_failure_after_which_it_allows_no_retry() {
    let mut book = budgeted(OnEmptyBudget::Stop);
    book.retry_budgets[0].1.kind = RetryBudgetKind::Throttle {
        max_tokens: Tokens::whole(4),
        token_ratio: Tokens::ONE,
        allow_above: Ratio(500_000),
    };
    let mut dispatcher = Dispatcher::of(book);
    for call in 0..4 {
        dispatcher.call(call, other(call));
        dispatcher.answer(call, 1, failed(TIMEOUT));
    }
    let stopped = [0, 1, 2, 3].map(|call| dispatcher.stopped_by(call));
    assert_eq!(stopped, [None, Some(CallId(1)), Some(CallId(1)), Some(CallId(1))], "the second of four, its own call");
}

#[test]
fn a_call_that_stops_at_an_open_breaker_names_the_call_that_opened_it() {
    let mut dispatcher = Dispatcher::of(breaking());
    let served = |n| CallFacts { breaker: Some(BreakerId(0)), ..other(n) };
    for call in 0..3 {
        dispatcher.call(call, served(call));
    }
    for call in 1..3 {
        dispatcher.at(10).answer(call, 1, failed(TIMEOUT));
    }
    let stop = Some(OutcomeKind::Exhausted(StopReason::CircuitOpen));
    assert_eq!((dispatcher.ended(1), dispatcher.ended(2)), (None, stop), "the second failure opens it");
    assert_eq!(dispatcher.stopped_by(2), Some(CallId(2)), "its own");
    dispatcher.answer(0, 1, failed(TIMEOUT));
    assert_eq!((dispatcher.ended(0), dispatcher.stopped_by(0)), (stop, Some(CallId(2))));
    dispatcher.at(210).input(Input::Woken(CallId(1)));
    assert_eq!((dispatcher.ended(1), dispatcher.stopped_by(1)), (stop, Some(CallId(2))), "at its start too");
    dispatcher.at(1_010).call(3, served(3));
    dispatcher.answer(3, 1, failed(DENIED));
    assert_eq!(dispatcher.stopped_by(3), None, "the verdict ends it, and not the breaker");
}

#[test]
fn a_retry_without_a_tool_call_left_names_the_call_that_took_the_last() {
    let budget = Some(ToolCallBudget { tool_calls: 2, counts: BudgetUnit::Attempts });
    let mut dispatcher = Dispatcher::of(Playbook { sharing: Sharing { budget, ..Sharing::NONE }, ..playbook() });
    dispatcher.call(0, other(0));
    dispatcher.call(1, other(1));
    dispatcher.answer(0, 1, failed(TIMEOUT));
    assert_eq!(dispatcher.ended(0), Some(OutcomeKind::Exhausted(StopReason::Budget)));
    assert_eq!(dispatcher.stopped_by(0), Some(CallId(1)));
}

#[test]
fn a_request_that_never_left_is_no_attempt_and_costs_nothing() {
    let mut book = budgeted(OnEmptyBudget::Stop);
    book.limits.max_attempts = 2;
    if let Compensation::RetryWithBackoff(retry) = &mut book.verdicts[usize::from(TIMEOUT)].then {
        (retry.uncounted, retry.max_retries) = (true, 5);
    }
    let mut dispatcher = Dispatcher::of(book);
    dispatcher.call(0, other(0));
    for attempt in 1..=3 {
        dispatcher.at(1_000 * u64::from(attempt)).answer(0, attempt, failed(TIMEOUT));
        dispatcher.at(1_000 * u64::from(attempt) + 900).input(Input::Woken(CallId(0)));
    }
    assert_eq!((dispatcher.ended(0), dispatcher.sent()), (None, vec![0; 4]));
}
