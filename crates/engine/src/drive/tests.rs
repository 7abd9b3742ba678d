//! What a driver of any kind may rely on: wrong inputs are errors that change nothing, and memory follows the open calls.

use std::sync::Arc;

use super::{Dispatcher, InputFault, NewCall, Want};
use crate::call::Reply;
use crate::event::{ErrorFacts, RequestKind};
use crate::ids::{AttemptNo, CallId, ReasonId};
use crate::plan::Plan;
use crate::playbook::sample::{DENIED, playbook};
use crate::playbook::{Access, Compensation, ToolFacts, ToolRow, Tools};
use crate::time::Instant;

const FIRST: RequestKind = RequestKind::Attempt(AttemptNo::FIRST);

fn dispatcher() -> Dispatcher {
    Dispatcher::new(Plan::new(playbook(), &Tools::default()))
}

fn call(name: &str) -> NewCall {
    NewCall { name: name.to_owned(), run: "r".to_owned(), tool: "pay".to_owned(), ..NewCall::default() }
}

const fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

#[test]
fn an_input_that_nothing_asked_for_is_an_error_and_changes_nothing() {
    let mut dispatcher = dispatcher();
    let id = dispatcher.call(ms(0), call("a")).unwrap();
    assert!(matches!(dispatcher.take_wants()[..], [Want::Send { asked: FIRST, .. }]));
    let second = RequestKind::Attempt(AttemptNo::new(2));
    assert_eq!(dispatcher.call(ms(1), call("a")), Err(InputFault::NameTaken));
    assert_eq!(dispatcher.answer(ms(1), id, second, &Reply::Ok), Err(InputFault::NotAsked));
    assert_eq!(dispatcher.wake(ms(1), id), Err(InputFault::TooEarly));
    assert_eq!(dispatcher.late(ms(1), id, AttemptNo::FIRST, &Reply::Ok), Err(InputFault::NotSent), "it is still out");
    assert_eq!(dispatcher.cancel(ms(1), CallId(7)), Err(InputFault::UnknownCall));
    assert_eq!(dispatcher.forget(id), Err(InputFault::NotEnded));
    assert_eq!((dispatcher.take_wants(), dispatcher.events(id).len()), (Vec::new(), 1));
    dispatcher.answer(ms(5), id, FIRST, &Reply::Ok).unwrap();
    assert_eq!(dispatcher.take_wants(), [Want::End { call: id }]);
    assert!(dispatcher.outcome(id).is_some_and(|outcome| outcome.kind.is_success()));
    assert_eq!(dispatcher.answer(ms(6), id, FIRST, &Reply::Ok), Err(InputFault::NotAsked), "it was answered");
    assert_eq!((dispatcher.forget(id), dispatcher.find("a")), (Ok(()), None));
}

#[test]
fn a_wake_counts_from_the_moment_that_was_asked_for() {
    let mut dispatcher = dispatcher();
    let id = dispatcher.call(ms(0), call("a")).unwrap();
    dispatcher.time_out(ms(50), id, FIRST).unwrap();
    let wants = dispatcher.take_wants();
    let [_, Want::Wait { until, .. }] = wants[..] else { return assert!(matches!(wants[..], [_, Want::End { .. }])) };
    assert_eq!(dispatcher.wake(ms(51), id), Err(InputFault::TooEarly));
    dispatcher.wake(until, id).unwrap();
}

/// Whether a call that was refused for now may be made once more.
fn may_be_made_again(dispatcher: &mut Dispatcher, now: Instant, name: &str, args: &str) -> bool {
    let id = dispatcher.call(now, NewCall { args: args.to_owned(), ..call(name) }).unwrap();
    let busy = ErrorFacts { status: Some(503), ..ErrorFacts::default() };
    dispatcher.answer(now, id, FIRST, &Reply::Failed(Some(Arc::new(busy)))).unwrap();
    let told = dispatcher.told(id).expect("it failed");
    dispatcher.forget(id).unwrap();
    told.retriable
}

#[test]
fn a_call_that_is_forgotten_and_may_have_acted_speaks_against_one_more_until_its_run_ends() {
    let mut playbook = playbook();
    playbook.verdicts[usize::from(DENIED)].then = Compensation::DeprecateToolCall(ReasonId(0));
    let mut dispatcher = Dispatcher::new(Plan::new(playbook, &Tools::default()));
    assert!(may_be_made_again(&mut dispatcher, ms(0), "before", "{}"));
    let lost = dispatcher.call(ms(1), NewCall { args: "{}".to_owned(), ..call("lost") }).unwrap();
    dispatcher.time_out(ms(2), lost, FIRST).unwrap();
    assert!(!may_be_made_again(&mut dispatcher, ms(3), "beside", "{}"));
    dispatcher.forget(lost).unwrap();
    assert!(!may_be_made_again(&mut dispatcher, ms(4), "after", "{}"));
    assert!(may_be_made_again(&mut dispatcher, ms(5), "other", "[]"), "another request");
    dispatcher.end_run("r");
    assert!(may_be_made_again(&mut dispatcher, ms(6), "new", "{}"));
}

#[test]
fn what_a_person_says_of_a_call_counts_for_the_calls_after_it() {
    for (applied, may_be_made) in [(true, false), (false, true)] {
        let mut playbook = playbook();
        playbook.verdicts[usize::from(DENIED)].then = Compensation::DeprecateToolCall(ReasonId(0));
        let mut dispatcher = Dispatcher::new(Plan::new(playbook, &Tools::default()));
        let lost = dispatcher.call(ms(1), NewCall { args: "{}".to_owned(), ..call("lost") }).unwrap();
        assert_eq!(dispatcher.resolve(ms(1), lost, applied), Err(InputFault::NotEnded));
        dispatcher.time_out(ms(2), lost, FIRST).unwrap();
        assert!(!may_be_made_again(&mut dispatcher, ms(3), "before", "{}"));
        dispatcher.resolve(ms(4), lost, applied).unwrap();
        assert_eq!(may_be_made_again(&mut dispatcher, ms(5), "after", "{}"), may_be_made, "applied: {applied}");
        dispatcher.forget(lost).unwrap();
        assert_eq!(may_be_made_again(&mut dispatcher, ms(6), "later", "{}"), may_be_made, "applied: {applied}");
    }
}

#[test]
fn a_dispatcher_that_remembers_no_more_lets_no_write_be_made_again() {
    let mut playbook = playbook();
    playbook.verdicts[usize::from(DENIED)].then = Compensation::DeprecateToolCall(ReasonId(0));
    let mut dispatcher = Dispatcher::new(Plan::new(playbook, &Tools::default()));
    for n in 0..=16_384 {
        let lost = dispatcher.call(ms(n), NewCall { args: n.to_string(), ..call("lost") }).unwrap();
        dispatcher.time_out(ms(n), lost, FIRST).unwrap();
        dispatcher.forget(lost).unwrap();
        dispatcher.take_wants();
        dispatcher.take_events();
    }
    assert!(!may_be_made_again(&mut dispatcher, ms(20_000), "first", "0"));
    assert!(!may_be_made_again(&mut dispatcher, ms(20_000), "other", "[]"));
}

#[test]
fn a_late_answer_says_nothing_of_an_attempt_that_was_answered() {
    for answered in [true, false] {
        let mut playbook = playbook();
        playbook.verdicts[usize::from(DENIED)].then = Compensation::DeprecateToolCall(ReasonId(0));
        let mut dispatcher = Dispatcher::new(Plan::new(playbook, &Tools::default()));
        let lost = dispatcher.call(ms(1), NewCall { args: "{}".to_owned(), ..call("lost") }).unwrap();
        let failed = |status, kind: Option<&str>| {
            Reply::Failed(Some(Arc::new(ErrorFacts { status, kind: kind.map(Into::into), ..ErrorFacts::default() })))
        };
        match answered {
            true => dispatcher.answer(ms(2), lost, FIRST, &failed(Some(504), Some("timeout"))).unwrap(),
            false => dispatcher.time_out(ms(2), lost, FIRST).unwrap(),
        }
        assert!(!may_be_made_again(&mut dispatcher, ms(3), "before", "{}"));
        dispatcher.late(ms(4), lost, AttemptNo::FIRST, &failed(Some(503), None)).unwrap();
        assert_eq!(may_be_made_again(&mut dispatcher, ms(5), "after", "{}"), !answered);
    }
}

#[test]
fn what_is_forgotten_counts_if_it_has_used_a_key_or_ends_a_denial() {
    let mut playbook = playbook();
    playbook.verdicts[usize::from(DENIED)].then = Compensation::DeprecateToolCall(ReasonId(0));
    let facts = ToolFacts { access: Access::Read, declared: true, ..ToolFacts::ASSUMED };
    let tools = Tools::new(vec![ToolRow::new("look", facts).unwrap()]);
    let mut dispatcher = Dispatcher::new(Plan::new(playbook, &tools));
    let failed = |status| Reply::Failed(Some(Arc::new(ErrorFacts { status: Some(status), ..ErrorFacts::default() })));
    let mut is_told_to = |at, new: NewCall, reply: &Reply| {
        let id = dispatcher.call(ms(at), new).unwrap();
        dispatcher.answer(ms(at), id, FIRST, reply).unwrap();
        let told = dispatcher.told(id);
        dispatcher.forget(id).unwrap();
        told.map(|told| told.retriable)
    };
    let keyed = |name, args: &str| NewCall { args: args.to_owned(), key: Some("k".to_owned()), ..call(name) };
    assert_eq!(is_told_to(1, keyed("one", "{}"), &failed(503)), Some(true));
    assert_eq!(is_told_to(2, keyed("two", "[]"), &failed(503)), Some(false), "the key of a request that did nothing");
    let look = |name| NewCall { tool: "look".to_owned(), ..call(name) };
    assert_eq!(is_told_to(3, look("denied"), &failed(403)), Some(false));
    assert_eq!(is_told_to(4, look("busy"), &failed(503)), Some(false), "it was denied");
    assert_eq!(is_told_to(5, look("done"), &Reply::Ok), None);
    assert_eq!(is_told_to(6, look("again"), &failed(503)), Some(true), "a success ended the denial");
}

#[test]
fn memory_follows_the_calls_that_are_not_forgotten() {
    let mut dispatcher = dispatcher();
    for n in 0..5_000_u64 {
        let name = format!("c{n}");
        let new = NewCall { run: name.clone(), args: name.clone(), key: Some(name.clone()), ..call(&name) };
        let id = dispatcher.call(ms(n), new).unwrap();
        assert_eq!(id, CallId(0), "its slot is free again");
        dispatcher.answer(ms(n), id, FIRST, &Reply::Failed(None)).unwrap();
        dispatcher.cancel(ms(n), id).unwrap();
        dispatcher.forget(id).unwrap();
        dispatcher.take_wants();
        dispatcher.take_events();
    }
    assert!(dispatcher.names_kept() < 3_000, "{} names", dispatcher.names_kept());
}
