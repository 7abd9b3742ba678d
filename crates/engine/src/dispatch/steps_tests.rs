//! The steps of an action, driven by hand: order, the first failure, cancellation, and what is withheld; then over random
//! answers, against the sentence that only the steps up to the first failure are done.

use proptest::prelude::*;

use super::driver::Dispatcher;
use super::tests::{META, failed, keyed_write};
use super::{CallFacts, GateFacts, Input, Output, Response, StepOf};
use crate::event::{
    AdmissionRefusal, Decision, DecisionEvent, EffectClaim, Outcome, OutcomeKind, OutcomeWord, RequestKind, StepsEnd,
};
use crate::ids::{ActionId, AttemptNo, CallId, KeyId, QueueId, RunId, StepId, ToolId};
use crate::playbook::sample::{DENIED, TIMEOUT, playbook};
use crate::playbook::{Access, Action, Graph, Others, Playbook, Step};
use crate::time::Instant;

const SHIP: ActionId = ActionId(0);
const CLOSE: ActionId = ActionId(1);

fn playbook_of(steps: usize) -> Playbook {
    let step = |n: usize| Step { name: format!("s{n}").into(), tool: format!("t{n}").into(), never_idempotent: false };
    let action = |name: &str, steps: Vec<Step>| Action { name: name.into(), tool: name.into(), steps, inputs: None };
    let actions = vec![action("ship", (0..steps).map(step).collect()), action("close", Vec::new())];
    let next = vec![vec![SHIP, CLOSE], vec![SHIP, CLOSE]];
    let graph = Graph { entry: vec![SHIP], next, others: Others::Refuse, stuck: None };
    Playbook { actions, graph: Some(graph), ..playbook() }
}

fn ship(steps: u16) -> CallFacts {
    CallFacts { key: None, gate: GateFacts::Action { id: SHIP, fault: None }, steps, ..keyed_write() }
}

/// A write that cannot be repeated.
fn plain() -> CallFacts {
    CallFacts { key: None, ..keyed_write() }
}

fn read() -> CallFacts {
    CallFacts { access: Access::Read, ..plain() }
}

/// Makes the step that call 0 waits for as call `id`.
fn step(run: &mut Dispatcher, id: u32, place: u16, facts: CallFacts) -> Vec<(u32, Decision)> {
    let step = Some(StepOf { action: Some(CallId(0)), step: StepId(place) });
    run.call(id, CallFacts { step, tool: ToolId(id), ..facts })
}

fn asked(run: &Dispatcher) -> Vec<u16> {
    let steps = run.out.outputs.iter().filter_map(|output| match output {
        Output::Step { step, .. } => Some(step.0),
        _ => None,
    });
    steps.collect()
}

fn skipped(decisions: &[(u32, Decision)]) -> Vec<u16> {
    let steps = decisions.iter().filter_map(|(_, what)| match what {
        Decision::StepSkipped { step, .. } => Some(step.0),
        _ => None,
    });
    steps.collect()
}

#[test]
fn steps_are_asked_for_one_at_a_time_and_the_action_is_sent_nowhere() {
    let mut run = Dispatcher::of(playbook_of(2));
    run.call(0, ship(2));
    assert_eq!((asked(&run), run.sent()), (vec![0], vec![]));
    step(&mut run, 1, 0, read());
    assert_eq!((asked(&run), run.sent()), (vec![0], vec![1]));
    run.answer(1, 1, Response::Ok);
    assert_eq!(asked(&run), [0, 1]);
    step(&mut run, 2, 1, plain());
    run.answer(2, 1, Response::Ok);
    assert_eq!((run.ended(0), run.claim(0)), (Some(OutcomeKind::Succeeded), Some(EffectClaim::Applied)));
    assert_eq!(run.machine.valid_next(&run.playbook, RunId(0)).unwrap().position, Some(SHIP));
}

#[test]
fn the_first_step_that_fails_ends_the_action_with_its_outcome() {
    let mut run = Dispatcher::of(playbook_of(3));
    run.call(0, ship(3));
    step(&mut run, 1, 0, plain());
    run.answer(1, 1, Response::Ok);
    step(&mut run, 2, 1, plain());
    let decisions = run.answer(2, 1, failed(DENIED));
    assert_eq!(skipped(&decisions), [2]);
    assert_eq!(run.ended(0), Some(OutcomeKind::Escalated(QueueId(0))));
    let Outcome { claim, attempts, last_error, .. } = run.machine.outcome(CallId(0)).unwrap();
    assert_eq!((claim, attempts), (EffectClaim::Applied, 2), "what is done stays done");
    assert_eq!(last_error, run.machine.outcome(CallId(2)).unwrap().last_error);
    assert_eq!(asked(&run), [0, 1], "no later step is asked for");
    assert_eq!(run.machine.valid_next(&run.playbook, RunId(0)).unwrap().position, None, "the action is not done");
}

#[test]
fn a_step_out_of_turn_is_skipped_and_decides_nothing() {
    let mut run = Dispatcher::of(playbook_of(2));
    run.call(0, ship(2));
    step(&mut run, 1, 1, plain());
    assert_eq!((run.ended(1), run.sent()), (Some(OutcomeKind::Skipped), vec![]));
    step(&mut run, 2, 0, plain());
    step(&mut run, 3, 0, plain());
    assert_eq!((run.ended(3), run.sent()), (Some(OutcomeKind::Skipped), vec![2]), "it has a call already");
    let of_none = CallFacts { step: Some(StepOf { action: None, step: StepId(0) }), ..plain() };
    run.call(4, of_none);
    assert_eq!((run.ended(4), run.ended(0)), (Some(OutcomeKind::Skipped), None));
}

#[test]
fn a_step_that_may_still_be_at_work_withholds_its_action_until_it_has_failed() {
    let withheld = |run: &Dispatcher| run.machine.valid_next(&run.playbook, RunId(0)).unwrap().withheld;
    let mut run = Dispatcher::of(playbook_of(2));
    run.call(0, ship(2));
    step(&mut run, 1, 0, plain());
    run.answer(1, 1, failed(TIMEOUT));
    assert_eq!(withheld(&run), [SHIP]);
    let late = |failed| Input::Late { call: CallId(1), attempt: AttemptNo::FIRST, failed, proves_end: true };
    run.input(late(None));
    assert_eq!(withheld(&run), [SHIP], "it has acted");
    run.input(late(Some(None)));
    assert_eq!(withheld(&run), []);
    let mut run = Dispatcher::of(playbook_of(2));
    run.call(0, ship(2));
    step(&mut run, 1, 0, keyed_write());
    run.answer(1, 1, failed(DENIED));
    assert_eq!(withheld(&run), [], "it is over");
}

#[test]
fn a_keyed_step_that_may_still_be_at_work_binds_its_action_to_the_key_of_the_call() {
    let keyed = |key| CallFacts { key: Some(KeyId(key)), ..plain() };
    let valid = |run: &Dispatcher| run.machine.valid_next(&run.playbook, RunId(0)).unwrap();
    let refused = super::driver::refused(AdmissionRefusal::InvalidTransition);
    let mut run = Dispatcher::of(playbook_of(1));
    run.call(0, CallFacts { key: Some(KeyId(9)), ..ship(1) });
    step(&mut run, 1, 0, keyed(10));
    run.cancel(0);
    assert_eq!((valid(&run).next, valid(&run).withheld), (vec![SHIP], vec![]), "it is offered");
    run.call(2, ship(1));
    run.call(3, CallFacts { key: Some(KeyId(8)), ..ship(1) });
    assert_eq!((run.ended(2), run.ended(3)), (refused, refused));
    run.call(4, CallFacts { key: Some(KeyId(9)), ..ship(1) });
    run.call(5, CallFacts { step: Some(StepOf { action: Some(CallId(4)), step: StepId(0) }), ..keyed(10) });
    run.answer(5, 1, Response::Ok);
    run.call(6, ship(1));
    assert_eq!((run.ended(4), run.ended(6)), (Some(OutcomeKind::Succeeded), None), "the key made both one");
    let mut failed_late = Dispatcher::of(playbook_of(1));
    failed_late.call(0, CallFacts { key: Some(KeyId(9)), ..ship(1) });
    step(&mut failed_late, 1, 0, keyed(10));
    failed_late.cancel(0);
    failed_late.answer(1, 1, failed(DENIED));
    failed_late.call(2, ship(1));
    assert_eq!(failed_late.ended(2), None, "it has failed since");
}

#[test]
fn a_step_that_no_key_of_its_action_repeats_withholds_it() {
    let withheld = |run: &Dispatcher| run.machine.valid_next(&run.playbook, RunId(0)).unwrap().withheld;
    let mut run = Dispatcher::of(playbook_of(2));
    run.call(0, ship(2));
    step(&mut run, 1, 0, keyed_write());
    let decisions = run.cancel(0);
    assert!(decisions.contains(&(1, Decision::ActionWithheld { action: SHIP })), "the key is the step's alone");
    assert_eq!(withheld(&run), [SHIP]);
    let mut run = Dispatcher::of(playbook_of(2));
    run.call(0, CallFacts { key: Some(KeyId(9)), ..ship(2) });
    step(&mut run, 1, 0, keyed_write());
    run.answer(1, 1, failed(TIMEOUT));
    run.at(200).input(Input::Woken(CallId(1)));
    run.answer(1, 2, Response::Ok);
    step(&mut run, 2, 1, plain());
    run.cancel(0);
    assert_eq!(withheld(&run), [SHIP], "an earlier step with a key does not offer it");
}

#[test]
fn other_actions_of_the_run_wait_for_all_steps() {
    let mut run = Dispatcher::of(playbook_of(2));
    run.call(0, ship(2));
    step(&mut run, 1, 0, plain());
    let close = CallFacts { gate: GateFacts::Action { id: CLOSE, fault: None }, ..plain() };
    run.call(2, close);
    run.answer(1, 1, Response::Ok);
    assert_eq!(run.sent(), [1]);
    step(&mut run, 3, 1, plain());
    run.answer(3, 1, Response::Ok);
    assert_eq!(run.sent(), [1, 3, 2]);
}

#[test]
fn a_cancelled_action_cancels_its_step_and_skips_the_rest() {
    let mut run = Dispatcher::of(playbook_of(2));
    run.call(0, ship(2));
    step(&mut run, 1, 0, plain());
    assert_eq!(skipped(&run.cancel(0)), [1]);
    assert_eq!((run.ended(0), run.ended(1)), (Some(OutcomeKind::Cancelled), Some(OutcomeKind::Cancelled)));
    assert_eq!(run.claim(0), Some(EffectClaim::Unknown));
    let mut run = Dispatcher::of(playbook_of(2));
    run.call(0, ship(2));
    assert_eq!(skipped(&run.cancel(0)), [0, 1], "no step had begun");
    assert_eq!((run.ended(0), run.claim(0)), (Some(OutcomeKind::Cancelled), Some(EffectClaim::NotApplied)));
    step(&mut run, 1, 0, plain());
    assert_eq!((run.ended(1), run.sent()), (Some(OutcomeKind::Skipped), vec![]));
}

#[test]
fn a_step_of_which_nothing_is_known_leaves_its_action_undetermined() {
    let mut run = Dispatcher::of(playbook_of(2));
    run.call(0, ship(2));
    step(&mut run, 1, 0, read());
    run.answer(1, 1, Response::Ok);
    run.input(Input::NoStep(CallId(0)));
    let asked = RequestKind::Attempt(AttemptNo::FIRST);
    assert_eq!((run.ended(0), run.claim(0)), (Some(OutcomeKind::Undetermined(asked)), Some(EffectClaim::Unknown)));
    run.input(Input::NoStep(CallId(0)));
    assert_eq!(run.out.events.len(), 0, "it has ended");
}

#[test]
fn an_action_that_the_gate_refuses_asks_for_no_step() {
    let mut run = Dispatcher::of(playbook_of(2));
    let fault = Some(crate::ids::ErrorId(0));
    run.call(0, CallFacts { gate: GateFacts::Action { id: SHIP, fault }, ..ship(2) });
    assert_eq!(run.ended(0), super::driver::refused(AdmissionRefusal::ValidationFailed));
    assert!(asked(&run).is_empty());
}

/// How the step at a place is answered, and what it is.
#[derive(Clone, Copy, Debug)]
struct Written {
    ok: bool,
    read: bool,
    keyed: bool,
}

/// Drives an action to its end, each step with its answers: two timeouts, or an ok.
fn driven(steps: &[Written]) -> (Dispatcher, Vec<DecisionEvent>, Vec<Option<KeyId>>) {
    let mut run = Dispatcher::of(playbook_of(steps.len()));
    let mut events = Vec::new();
    let mut keys = Vec::new();
    run.call(0, ship(u16::try_from(steps.len()).unwrap()));
    let mut handled = 0;
    while let Some(&output) = run.out.outputs.get(handled) {
        handled += 1;
        let input = match output {
            Output::Step { action, step } => {
                let Written { read: is_read, keyed, .. } = steps[step.index()];
                let facts = if is_read { read() } else { plain() };
                let key = keyed.then_some(KeyId(u32::from(step.0)));
                keys.push(key);
                let id = CallId(u32::from(step.0) + 1);
                let step = Some(StepOf { action: Some(action), step });
                Input::Call(id, CallFacts { step, key, at: run.now, tool: ToolId(id.0), ..facts })
            }
            Output::Ask { call, asked, .. } => {
                let ok = steps[call.index() - 1].ok;
                let response = if ok { Response::Ok } else { failed(TIMEOUT) };
                Input::Answered { call, asked, response, meta: META }
            }
            Output::Wake { call, at } => {
                run.now = run.now.max(at);
                Input::Woken(call)
            }
        };
        run.machine.handle_input(&run.playbook, run.now, input, &mut run.out);
        events.append(&mut run.out.events);
    }
    assert!(run.now < Instant::from_millis(10_000_000));
    (run, events, keys)
}

proptest! {
    #[test]
    fn exactly_the_steps_up_to_the_first_failure_are_done(
        steps in prop::collection::vec(any::<[bool; 3]>(), 1..7)
    ) {
        let steps: Vec<Written> = steps.into_iter().map(|[ok, read, keyed]| Written { ok, read, keyed }).collect();
        let (run, events, keys) = driven(&steps);
        let prefix = steps.iter().position(|step| !step.ok).unwrap_or(steps.len());
        let ids = |range: std::ops::Range<usize>| range.map(|n| StepId(u16::try_from(n).unwrap())).collect::<Vec<_>>();
        let end = StepsEnd::read(events.iter().filter(|event| event.call == CallId(0))).unwrap();
        prop_assert_eq!(&end.completed, &ids(0..prefix));
        prop_assert_eq!(end.failed, ids(prefix..steps.len()).first().copied());
        prop_assert_eq!(&end.skipped, &ids((prefix + 1).min(steps.len())..steps.len()));
        let sent: Vec<u32> = (1..=u32::try_from(steps.len().min(prefix + 1)).unwrap()).collect();
        let mut first = run.sent();
        first.dedup();
        prop_assert_eq!(first, sent, "in order, and nothing after the first failure");
        let mut distinct: Vec<KeyId> = keys.iter().flatten().copied().collect();
        let all = distinct.len();
        distinct.dedup();
        prop_assert_eq!(distinct.len(), all);
        let outcome = run.machine.outcome(CallId(0)).unwrap();
        let done = prefix == steps.len();
        prop_assert_eq!(outcome.kind.is_success(), done);
        if let Some(last) = end.failed {
            let own = run.machine.outcome(CallId(u32::from(last.0) + 1)).unwrap();
            prop_assert_eq!((outcome.kind, outcome.last_error), (own.kind, own.last_error));
            prop_assert_ne!(own.kind.word(), OutcomeWord::Skipped);
        }
        let writes = || steps.iter().take(prefix).filter(|step| !step.read);
        let lost = steps.get(prefix).is_some_and(|step| !step.read);
        let claim = match (writes().count(), lost) {
            (1.., _) => EffectClaim::Applied,
            (0, true) => EffectClaim::Unknown,
            (0, false) => EffectClaim::NotApplied,
        };
        prop_assert_eq!(outcome.claim, claim);
        let unsafe_again = steps.iter().take(prefix + 1).any(|step| !step.read && !step.keyed);
        prop_assert_eq!(end.acts_again, unsafe_again);
        let valid = run.machine.valid_next(&run.playbook, RunId(0)).unwrap();
        prop_assert_eq!(valid.position, done.then_some(SHIP));
        prop_assert_eq!(valid.withheld.contains(&SHIP), lost, "the action has no key");
    }
}
