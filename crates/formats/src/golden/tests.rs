//! `parse_body` reads what `render` writes: every kind of event, outcome, ledger entry and finding.

use std::sync::Arc;

use super::{GoldenBody, GoldenValue, parse_body};
use crate::diagnostic::{Report, Source};
use playproof_engine::event::{
    ActionNames, AdmissionRefusal, Became, Decision, DecisionEvent, DeprecationReason, EffectClaim, ErrorFacts,
    EventKind, FailureClass, FieldKey, Finding, FindingBy, FindingId, Intent, LedgerEntry, LedgerKind, OpenReason,
    Outcome, OutcomeKind, OutcomeWord, PlaybookNames, Provenance, RequestKind, ReversalRefusal, Status, StopReason,
    SuppressionReason, TokensLeft, Told, Transcript, ValidNext,
};
use playproof_engine::ids::{
    ActionId, AttemptNo, CallId, ErrorId, EvidenceId, QueueId, ReasonId, RuleId, ServerId, StepId, ToolId, VerdictId,
};
use playproof_engine::time::{Duration, Instant};

const ODD: &str = "it's: {a}, \"b\"\n#c";

fn action(name: &str) -> ActionNames {
    ActionNames { name: name.into(), tool: name.into(), inputs: None }
}

fn names() -> PlaybookNames {
    let one = |text: &str| vec![Arc::<str>::from(text)];
    PlaybookNames {
        playbook: "p".into(),
        verdicts: one("slow"),
        rules: one("timeout"),
        queues: one("people"),
        reasons: one(ODD),
        details: Vec::new(),
        actions: ["take_order", "pay"].map(action).to_vec(),
        steps: vec![one("find"), vec!["post".into(), "react".into()]],
    }
}

fn decisions() -> Vec<Decision> {
    let attempt = AttemptNo::new(2);
    let failed = Status::Failed(Some(ErrorId(0)));
    let provenance = Provenance::Scripted;
    vec![
        Decision::Refused {
            why: AdmissionRefusal::CircuitOpen,
            error: None,
            by: Some(CallId(1)),
            retry_after: Some(Duration::from_millis(5)),
        },
        Decision::Queued { place: 3, behind: Some(CallId(0)) },
        Decision::ActionWithheld { action: ActionId(0) },
        Decision::ActionReleased { action: ActionId(0) },
        Decision::StepEnded {
            action: ActionId(1),
            step: StepId(0),
            ended: OutcomeWord::Escalated,
            claim: EffectClaim::Unknown,
            attempts: 2,
            verdict: Some(VerdictId(0)),
            acts_again: true,
        },
        Decision::StepSkipped { action: ActionId(1), step: StepId(1) },
        Decision::Joined { leader: CallId(1) },
        Decision::ServedFromCache { leader: CallId(1), age: Duration::from_micros(1_500) },
        Decision::TookOver { leader: CallId(1) },
        Decision::Cancelled,
        Decision::CircuitOpened { server: ServerId(0), why: OpenReason::FailureRate, until: Some(Instant::ZERO) },
        Decision::CircuitHalfOpen { server: ServerId(0) },
        Decision::CircuitClosed { server: ServerId(0) },
        Decision::AttemptStarted { attempt, evidence: EvidenceId(1) },
        Decision::AttemptFinished { attempt, status: failed, latency: None, provenance, over_timeout: true },
        Decision::LateAnswer { attempt, status: Status::Unanswered },
        Decision::FailureClassified { verdict: VerdictId(0), rule: Some(RuleId(0)), ignored: true },
        Decision::RetryScheduled {
            attempt,
            delay: Duration::from_micros(200_500),
            due: Instant::ZERO,
            draw: None,
            told: None,
            left: Some(TokensLeft::from_thousandths(486_500)),
        },
        Decision::RetryUnpaid { attempt, delay: Duration::from_millis(20) },
        Decision::RetrySuppressed { why: SuppressionReason::HasActed },
        Decision::EvidenceRefreshed { evidence: EvidenceId(1), status: Status::Ok, provenance },
        Decision::Escalated { queue: QueueId(0) },
        Decision::ReversalRefused { why: ReversalRefusal::NoToken },
        Decision::ReversalRedeemed { reason: ReasonId(0), provenance },
        Decision::Deprecated { why: DeprecationReason::Stated(ReasonId(0)) },
        Decision::Transaction { became: Became::RolledBack, by: Some(CallId(1)) },
    ]
}

fn outcomes() -> Vec<Outcome> {
    let kinds = [
        OutcomeKind::Succeeded,
        OutcomeKind::SucceededAfterCompensation,
        OutcomeKind::Deprecated(DeprecationReason::RefreshAbort),
        OutcomeKind::Escalated(QueueId(0)),
        OutcomeKind::Reversed(ReasonId(0)),
        OutcomeKind::Exhausted(StopReason::Deadline),
        OutcomeKind::Refused(AdmissionRefusal::Schema),
        OutcomeKind::Joined { leader: CallId(1), ended: OutcomeWord::Escalated },
        OutcomeKind::Cached { leader: CallId(1) },
        OutcomeKind::Skipped,
        OutcomeKind::Cancelled,
        OutcomeKind::Undetermined(RequestKind::Reversal),
        OutcomeKind::Suspected(RequestKind::Reversal),
        OutcomeKind::Unfinished(RequestKind::Reversal),
    ];
    let outcome = |kind| Outcome {
        kind,
        claim: EffectClaim::Unknown,
        attempts: 2,
        last_error: Some(ErrorId(0)),
        first_error: Some(ErrorId(0)),
        stopped_by: None,
    };
    kinds.map(outcome).to_vec()
}

fn rendered() -> String {
    shown().render()
}

fn shown() -> GoldenBody {
    let outcomes = outcomes();
    let calls: Vec<String> = (0..outcomes.len()).map(|n| format!("call {n}")).collect();
    let ends = outcomes.iter().map(|outcome| Decision::Outcome(*outcome));
    let whats: Vec<Decision> = decisions().into_iter().chain(ends).collect();
    let event = |(n, what): (usize, &Decision)| DecisionEvent {
        at: Instant::from_micros(1_500 * n as u64),
        call: CallId(0),
        what: *what,
    };
    let events: Vec<DecisionEvent> = whats.iter().enumerate().map(event).collect();
    let kinds = [LedgerKind::Existing, LedgerKind::Applied, LedgerKind::Reversed, LedgerKind::Unobserved];
    let entry = |kind| LedgerEntry {
        at: Instant::ZERO,
        intent: Intent::Unkeyed(playproof_engine::ids::RunId(0), ToolId(0), playproof_engine::ids::ArgsId(0)),
        kind,
        call: None,
        attempt: None,
        provenance: Provenance::Scripted,
    };
    let finding = |id| Finding::new(id, FindingBy::Playbook, CallId(1), 3);
    let (names, errors) =
        (names(), [ErrorFacts { kind: Some("409: conflict".into()), ..ErrorFacts::default() }.into()]);
    GoldenBody::new(&Transcript {
        names: &names,
        calls: &calls,
        others: &[],
        servers: &[ODD.to_owned()],
        intent_name: &|_| format!("pay{{\"note\":\"{ODD}\"}}"),
        events: &events,
        outcomes: &outcomes,
        valid_next: &[
            Some(ValidNext { position: None, next: Vec::new(), withheld: vec![ActionId(1)] }),
            Some(ValidNext { position: Some(ActionId(0)), next: vec![ActionId(1), ActionId(0)], withheld: Vec::new() }),
        ],
        ledger: &kinds.map(entry),
        errors: &errors,
        findings: &FindingId::ALL.map(finding),
        told: &outcomes
            .iter()
            .enumerate()
            .filter(|(_, outcome)| !outcome.kind.is_success())
            .map(told)
            .collect::<Vec<_>>(),
        death: None,
    })
}

/// Of every second call that it may be tried again.
fn told((n, outcome): (usize, &Outcome)) -> Told {
    let class = FailureClass::ALL[n % FailureClass::ALL.len()];
    Told {
        call: CallId::at(n),
        class,
        boundary: class.boundaries()[0], // each class has one
        retriable: n % 2 == 0,
        retry: None,
        retried: 1,
        status: None,
        retry_after: None,
        verdict: None,
        error: outcome.last_error,
    }
}

#[test]
fn a_call_is_told_a_class_and_whether_to_try_again_or_neither() {
    let call = |told: &str| {
        let end = format!("outcome: escalated, queue: q, effect: unknown, attempts: 1, verdicts: []{told}");
        format!("a: {{ {end} }}\nledger: {{}}\nfindings: []\nevents: []\n")
    };
    assert!(parse(&call(", told: network_error, retriable: false")).is_ok());
    assert!(refused(&call(", told: network_error")).contains("needs `retriable`"));
    assert!(refused(&call(", retriable: true")).contains("needs `told`"));
    assert!(refused(&call(", told: network, retriable: true")).contains("not a value of `told`"));
    assert!(refused(&call(", told: network_error, retriable: perhaps")).contains("not a value of `retriable`"));
}

fn without_places(mut body: GoldenBody) -> GoldenBody {
    body.calls.iter_mut().for_each(|call| call.span = 0..0);
    body.ledger.iter_mut().for_each(|line| line.span = 0..0);
    body.findings.iter_mut().for_each(|finding| finding.span = 0..0);
    body.events.iter_mut().for_each(|event| event.span = 0..0);
    body
}

fn parse(text: &str) -> Result<GoldenBody, Report> {
    parse_body(Source::whole("g.snap", text))
}

fn refused(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn a_rendered_body_reads_back() {
    let text = rendered();
    let body = parse(&text).unwrap_or_else(|report| panic!("{report}\n{text}"));
    assert_eq!(body.render(), text);
    assert_eq!(without_places(body.clone()), shown());
    assert_eq!(body.calls.len(), outcomes().len());
    assert_eq!(body.calls[4].field(FieldKey::Reason), Some(&GoldenValue::Text(ODD.into())));
    assert_eq!(body.ledger[0].words(), "applied x1, existing x1, reversed x1, unobserved x1");
    assert_eq!(body.net_effects(), 1);
    let ids: Vec<FindingId> = body.findings.iter().map(|finding| finding.id).collect();
    assert_eq!(ids, FindingId::ALL);
    assert_eq!(body.events.len(), decisions().len() + outcomes().len());
    let place = |what: fn(&Decision) -> bool| decisions().iter().position(what).expect("one of them");
    let retry = place(|what| matches!(what, Decision::RetryScheduled { .. }));
    assert_eq!(body.events[retry].words(), "retry_scheduled: 2, delay_ms: 200.5, left: 486.5");
    assert_eq!(body.events[retry].at, Instant::from_micros(1_500 * retry as u64));
    let ended = place(|what| matches!(what, Decision::AttemptFinished { .. }));
    assert_eq!(body.events[ended].field(FieldKey::Status), Some(&GoldenValue::Text("409: conflict".into())));
}

#[test]
fn every_event_has_all_fields_of_its_kind() {
    let all: Vec<Decision> = decisions().into_iter().chain([Decision::Outcome(outcomes()[0])]).collect();
    assert!(all.iter().map(Decision::kind).eq(EventKind::ALL));
    let keys = |what: &Decision| what.fields().map(|(key, _)| key).collect::<Vec<_>>();
    assert!(all.iter().all(|what| keys(what) == what.kind().keys()));
}

#[test]
fn a_missing_answer_is_parsed_from_its_displayed_form() {
    for asked in [RequestKind::Attempt(AttemptNo::new(2)), RequestKind::Refresh(EvidenceId(1)), RequestKind::Reversal] {
        assert_eq!(RequestKind::parse(&asked.to_string()), Some(asked));
    }
}

#[test]
fn invalid_values_are_refused_with_their_place() {
    let event = |event: &str| refused(&format!("ledger: {{}}\nfindings: []\nevents:\n- {event}\n"));
    assert_eq!(event("{ +0: a, outcome: lost }"), "g.snap:4:21: this is not a value of `outcome`");
    assert_eq!(event("{ +0: a, reversal_refused: maybe }"), "g.snap:4:30: this is not a value of `why`");
    assert_eq!(event("{ +0: a, attempt_started: one }"), "g.snap:4:29: this is not a value of `attempt`");
    assert_eq!(
        event("{ +0: a, retry_scheduled: 2, delay_ms: soon }"),
        "g.snap:4:42: this is not a value of `delay_ms`"
    );
    let finding = |finding: &str| refused(&format!("ledger: {{}}\nfindings:\n- {finding}\nevents: []\n"));
    assert_eq!(finding("{ unsafe_retry: a, by: agent, count: 1 }"), "g.snap:3:26: this is not a value of `by`");
    assert_eq!(finding("{ unsafe_retry: a, by: playbook }"), "g.snap:3:5: a finding needs `count`");
}

#[test]
fn every_value_of_a_golden_takes_one_line() {
    let text = rendered();
    let lines = outcomes().len() + 2 + 1 + FindingId::ALL.len() + 1 + decisions().len() + outcomes().len();
    assert_eq!(text.lines().count(), lines, "{text}");
}

#[test]
fn a_truncated_golden_is_refused() {
    let text = rendered();
    assert!(refused(&text[..text.find("findings:").unwrap()]).contains("a golden needs `findings`"));
    assert!(refused(&text[..text.len() - 9]).starts_with("g.snap:"));
}

#[test]
fn unknown_words_are_refused_with_their_place() {
    let (head, tail) = ("ledger: {}\nfindings: []\nevents:\n", "ledger: {}\nfindings: []\nevents: []\n");
    let event = |event: &str| refused(&format!("{head}- {event}\n"));
    assert_eq!(event("{ +0: a, retry_schedule: 2 }"), "g.snap:4:12: there is no event `retry_schedule`");
    assert_eq!(event("{ +0: a, retry_scheduled: 2, delay: 3 }"), "g.snap:4:32: this event has no key `delay`");
    assert_eq!(event("{ 200: a, outcome: x }"), "g.snap:4:5: `200` is not a delta time");
    assert_eq!(event("{ +1.2345: a, outcome: x }"), "g.snap:4:5: `+1.2345` is not a delta time");
    assert_eq!(
        refused(&format!("a: {{ outcome: succeeded }}\n{tail}")),
        "g.snap:1:1: the end of a call needs `effect`"
    );
    assert_eq!(refused(&tail.replace("{}", "{ a: many }")), "g.snap:1:14: this is not a ledger line");
    assert_eq!(refused(&tail.replace("[]\nevents", "[{ odd: a }]\nevents")), "g.snap:2:14: there is no finding `odd`");
}
