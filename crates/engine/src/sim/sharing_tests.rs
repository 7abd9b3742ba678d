//! Calls of a trace that share keys, a budget and a breaker: what one changes for the others, and when they start.

use std::sync::Arc;

use super::{FinishedCall, PATIENCE, Pace, Plan, Session, SessionCall, SharedHashes};
use crate::call::{AnswerTo, CallTexts, Place, RecordedAnswer, RecordedCall, Reply};
use crate::classify::Memo;
use crate::event::{AdmissionRefusal, Decision, ErrorFacts, OutcomeKind, OutcomeWord, StatusFrom, StopReason};
use crate::ids::{CallId, RetryBudgetId};
use crate::playbook::sample::{DEDUPE, TIMEOUT, playbook};
use crate::playbook::{
    Access, BudgetScope, BudgetUnit, Compensation, OnEmptyBudget, Ratio, RetryBudget, RetryBudgetKind, Sharing,
    ToolCallBudget, ToolFacts, Tools,
};
use crate::time::{Duration, Instant};
use crate::upstream::MissingAnswerPolicy;

const READ: ToolFacts = ToolFacts { declared: true, access: Access::Read, ..ToolFacts::ASSUMED };

fn plan(sharing: Sharing) -> Plan {
    let mut book = playbook();
    book.sharing = sharing;
    Plan::new(book, &Tools::default())
}

fn deduping() -> Plan {
    plan(Sharing { dedupe: Some(DEDUPE), ..Sharing::NONE })
}

/// A call that was made and answered at these moments.
struct Made {
    at: u64,
    answered: u64,
    /// The kind of its error; none: ok.
    error: Option<&'static str>,
    key: Option<u8>,
    args: u8,
    run: u8,
}

const OK: Made = Made { at: 0, answered: 40, error: None, key: None, args: 0, run: 0 };
const TIMED_OUT: Made = Made { error: Some("timeout"), ..OK };

impl Made {
    fn call(&self) -> Arc<RecordedCall> {
        let key = self.key.map(|key| key.to_string());
        let texts = CallTexts { run: Some("r"), tool: "look", key: key.as_deref(), ..CallTexts::default() };
        let mut call = RecordedCall::new(texts, Place::default());
        call.at = Some(Instant::from_millis(self.at));
        let failed = |kind: &str| ErrorFacts { kind: Some(kind.into()), ..ErrorFacts::default() };
        call.answers.push(RecordedAnswer {
            to: AnswerTo::Attempt,
            attempt: None,
            started: None,
            at: Some(Instant::from_millis(self.answered)),
            reply: self.error.map_or(Reply::Ok, |kind| Reply::Failed(Some(Arc::new(failed(kind))))),
            draw: None,
            inferred: false,
            status_from: StatusFrom::Flag,
            line_hash: 0,
            place: Place::default(),
        });
        Arc::new(call)
    }

    fn fed(&self, number: u64) -> SessionCall {
        let shared = SharedHashes {
            transaction: None,
            run: self.run.into(),
            tool: 0,
            server: "look".to_owned(),
            key: self.key.map(u128::from),
            args: self.args.into(),
            compares_args: false,
            name: format!("call-{number}"),
        };
        SessionCall { shared: Some(shared), ..SessionCall::alone(number, self.call(), READ) }
    }
}

fn replayed_at(plan: &Plan, pace: Pace, calls: &[Made]) -> Vec<FinishedCall> {
    let (mut memo, mut session) = (Memo::default(), Session::new(&MissingAnswerPolicy::Ok, pace));
    for (number, made) in (0..).zip(calls) {
        session.feed(made.fed(number));
        session.advance(plan, &mut memo);
    }
    session.finish(plan, &mut memo);
    let mut ended: Vec<FinishedCall> = session.take_ended().collect();
    ended.sort_by_key(|ended| ended.number);
    ended
}

fn replayed(plan: &Plan, calls: &[Made]) -> Vec<FinishedCall> {
    replayed_at(plan, Pace::Causal, calls)
}

fn kinds(ended: &[FinishedCall]) -> Vec<OutcomeKind> {
    ended.iter().map(|ended| ended.record.outcomes[0].kind).collect()
}

#[test]
fn a_call_with_a_key_in_flight_joins_and_names_its_leader() {
    let ended = replayed(&deduping(), &[Made { key: Some(1), ..TIMED_OUT }, Made { key: Some(1), at: 10, ..OK }]);
    let joined = OutcomeKind::Joined { leader: CallId(1), ended: OutcomeWord::SucceededAfterCompensation };
    assert_eq!(kinds(&ended), [OutcomeKind::SucceededAfterCompensation, joined]);
    assert_eq!(ended[1].record.others, ["call-0"]);
    assert_eq!(ended[1].record.events[0].at, Instant::from_millis(10), "in the times of its recording");
}

#[test]
fn a_kept_result_names_the_call_that_has_left_the_session() {
    let calls = [
        Made { key: Some(1), ..OK },
        Made { at: 1_000, answered: 1_040, ..OK },
        Made { key: Some(1), at: 2_000, answered: 2_040, ..OK },
        Made { key: Some(1), args: 1, at: 3_000, answered: 3_040, ..OK },
    ];
    let ended = replayed(&deduping(), &calls);
    assert_eq!(ended[2].record.outcomes[0].kind, OutcomeKind::Cached { leader: CallId(1) });
    assert_eq!(ended[2].record.others, ["call-0"]);
    assert_eq!(ended[3].record.outcomes[0].kind, OutcomeKind::Refused(AdmissionRefusal::KeyReused));
}

#[test]
fn a_follower_has_the_error_of_its_leader_in_its_own_record() {
    let denied = Made { key: Some(1), error: Some("denied"), ..OK };
    let ended = replayed(&deduping(), &[denied, Made { key: Some(1), at: 10, ..OK }]);
    let outcome = ended[1].record.outcomes[0];
    let error = outcome.last_error.and_then(|error| ended[1].record.error(error));
    assert_eq!(error.and_then(|error| error.kind.as_deref()), Some("denied"));
}

#[test]
fn calls_that_followed_each_other_never_overlap() {
    // The first call takes 240 ms longer than recorded; the second was made 10 ms after its answer.
    let calls = || [Made { key: Some(1), ..TIMED_OUT }, Made { key: Some(1), at: 50, answered: 90, ..OK }];
    let ended = replayed(&deduping(), &calls());
    assert!(
        matches!(ended[1].record.outcomes[0].kind, OutcomeKind::Cached { .. }),
        "it waits until the first has ended"
    );
    let age = ended[1].record.events.iter().find_map(|event| match event.what {
        Decision::ServedFromCache { age, .. } => Some(age),
        _ => None,
    });
    assert_eq!(age, Some(Duration::from_millis(10)), "the distance is kept");
    let ended = replayed_at(&deduping(), Pace::Recorded, &calls());
    assert!(matches!(ended[1].record.outcomes[0].kind, OutcomeKind::Joined { .. }), "at its recorded time");
}

#[test]
fn a_budget_is_counted_by_run_and_names_who_took_the_last() {
    let budget = Some(ToolCallBudget { tool_calls: 2, counts: BudgetUnit::Attempts });
    let plan = plan(Sharing { budget, ..Sharing::NONE });
    let calls = [0, 100, 200, 300].map(|at| Made { at, answered: at + 40, run: u8::from(at == 300), ..OK });
    let ended = replayed(&plan, &calls);
    let refused = OutcomeKind::Refused(AdmissionRefusal::BudgetExceeded);
    assert_eq!(kinds(&ended), [OutcomeKind::Succeeded, OutcomeKind::Succeeded, refused, OutcomeKind::Succeeded]);
    assert_eq!(ended[2].record.others, ["call-1"]);
}

/// Whether a call of a run whose budget is spent is refused after so many calls of other runs.
fn is_refused_after(others: u64) -> bool {
    let budget = Some(ToolCallBudget { tool_calls: 1, counts: BudgetUnit::Attempts });
    let (plan, mut memo) = (plan(Sharing { budget, ..Sharing::NONE }), Memo::default());
    let mut session = Session::new(&MissingAnswerPolicy::Ok, Pace::Causal).of_several_runs();
    let mut feed = |number: u64, run: u64| {
        let at = number * 100;
        let mut fed = Made { at, answered: at + 40, ..OK }.fed(number);
        fed.shared = fed.shared.map(|shared| SharedHashes { run: run.into(), ..shared });
        session.feed(fed);
        session.advance_to(Instant::from_millis(at));
        session.advance(&plan, &mut memo);
    };
    feed(0, 0);
    (1..=others).for_each(|n| feed(n, n));
    feed(others + 1, 0);
    assert!(session.names.runs.len() as u64 <= PATIENCE + 2, "{} runs", session.names.runs.len());
    session.finish(&plan, &mut memo);
    let last = session.take_ended().find(|ended| ended.number == others + 1).expect("the last call");
    matches!(last.record.outcomes[0].kind, OutcomeKind::Refused(AdmissionRefusal::BudgetExceeded))
}

#[test]
fn a_run_without_a_call_for_long_is_forgotten_with_what_it_has_used() {
    assert!(is_refused_after(PATIENCE - 1));
    assert!(!is_refused_after(PATIENCE));
}

#[test]
fn a_call_that_stops_for_a_budget_names_who_took_the_last() {
    let stopped = |tool_calls, calls: &[Made]| {
        let budget = Some(ToolCallBudget { tool_calls, counts: BudgetUnit::Attempts });
        let ended = replayed(&plan(Sharing { budget, ..Sharing::NONE }), calls);
        (ended[0].record.outcomes[0], ended[0].record.others.clone())
    };
    let (outcome, others) = stopped(2, &[TIMED_OUT, Made { at: 10, answered: 20, ..OK }]);
    assert_eq!((outcome.kind, outcome.stopped_by), (OutcomeKind::Exhausted(StopReason::Budget), Some(CallId(1))));
    assert_eq!(others, ["call-1"]);
    let (outcome, others) = stopped(1, &[TIMED_OUT]);
    assert_eq!((outcome.stopped_by, others), (Some(CallId(0)), Vec::new()), "it took the last itself");
    let (outcome, _) = stopped(2, &[TIMED_OUT]);
    assert_eq!((outcome.kind, outcome.stopped_by), (OutcomeKind::SucceededAfterCompensation, None));
    assert!(stopped(1, &[TIMED_OUT]).0.last_error.is_some(), "it keeps its own error");
}

#[test]
fn a_call_that_stops_for_a_retry_budget_names_who_spent_it() {
    let mut book = playbook();
    let kind = RetryBudgetKind::ConcurrencyRatio { budget_percent: Ratio(0), min_retry_concurrency: 1 };
    let budget = RetryBudget { kind, per: BudgetScope::Server, on_empty: OnEmptyBudget::Stop };
    book.retry_budgets.push(("one".into(), budget));
    if let Compensation::RetryWithBackoff(retry) = &mut book.verdicts[usize::from(TIMEOUT)].then {
        retry.retry_budget = Some(RetryBudgetId(0));
    }
    let plan = Plan::new(book, &Tools::default());
    let ended = replayed(&plan, &[TIMED_OUT, Made { at: 10, answered: 60, ..TIMED_OUT }]);
    let outcome = ended[1].record.outcomes[0];
    assert_eq!((outcome.kind, outcome.stopped_by), (OutcomeKind::Exhausted(StopReason::RetryBudget), Some(CallId(1))));
    assert_eq!(
        (kinds(&ended)[0], &*ended[1].record.others),
        (OutcomeKind::SucceededAfterCompensation, &["call-0".to_owned()][..])
    );
}

#[test]
fn keys_out_of_their_window_are_forgotten() {
    let plan = deduping();
    let (mut memo, mut session) = (Memo::default(), Session::new(&MissingAnswerPolicy::Ok, Pace::Causal));
    for number in 0..20_000_u64 {
        let (at, key) = (number * 1_000, u8::try_from(number % 200).ok());
        session.feed(Made { at, answered: at + 40, key, ..OK }.fed(number));
        session.advance(&plan, &mut memo);
        let ended: Vec<FinishedCall> = session.take_ended().collect();
        assert!(ended.iter().all(|ended| ended.record.outcomes[0].kind == OutcomeKind::Succeeded), "after 200 s");
    }
    assert!(session.slots() <= 2, "{} slots for one call at a time", session.slots());
}
