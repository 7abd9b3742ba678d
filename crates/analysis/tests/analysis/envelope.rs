//! The samples of the published formats, field by field, and what is told where they are silent.

use serde_json::{Value, json};

use playproof_analysis::envelope::{EnvelopeCall, EnvelopeKind, NextActions, UnfitInput, audit_id, envelope};
use playproof_engine::event::{
    ActionNames, AdmissionRefusal, Decision, DecisionEvent, ErrorFacts, OutcomeKind, ValidNext, unnamed,
};
use playproof_engine::ids::{ActionId, CallId, ErrorId};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Plan, Scenario, SimulationRecord, Simulator};
use playproof_engine::time::Instant;
use playproof_formats::diagnostic::Source;
use playproof_formats::{fixture, playbook};

/// A playbook that gives every failure up; `verdict` stands behind its compensation.
fn playbook(effect: &str, verdict: &str) -> String {
    format!(
        "format: playbook/1\nname: p\nqueues: [q]\ndefault_queue: q\nregistry: {{ unknown_tools: refuse }}\n\
         tools: {{ charge: {{ access: write }}, report: {{ access: read }} }}\n\
         classify: [{{ rule: all, when: {{ status: 100-599 }}, verdict: v }}, {{ rule: kinds, when: {{ code: ValueError }}, verdict: v }},\n\
         {{ rule: silent, when: {{ kind: [timeout, network_error] }}, verdict: v }}]\n\
         verdicts: {{ v: {{ means: m, effect: {effect}, then: {{ deprecate_tool_call: {{ reason: r }} }}{verdict} }} }}\n"
    )
}

struct Ran {
    plan: Plan,
    record: SimulationRecord,
}

/// Runs a call of `tool` with these answers.
fn ran(playbook_text: &str, tool: &str, answers: &str) -> Ran {
    let loaded = playbook::parse(Source::whole("p", playbook_text)).unwrap_or_else(|report| panic!("{report}"));
    let plan = Plan::new(loaded.playbook, &Tools::default());
    let text = format!(
        "format: fixture/1\ntitle: t\ncalls: {{ one: {{ tool: {tool} }} }}\nupstream: {{ one: [{answers}] }}\n\
         expect: {{ p: {{ effects: 0 }} }}\n"
    );
    let fixture = fixture::parse(Source::whole("f", text)).unwrap_or_else(|report| panic!("{report}"));
    let scenario = Scenario::of_fixture(&fixture, &plan);
    let record = Simulator::new().run_fixture(&plan, &scenario).clone();
    Ran { plan, record }
}

impl Ran {
    fn envelope(&self, kind: EnvelopeKind, call: &EnvelopeCall<'_>) -> Option<Value> {
        let names = ["one".to_owned()];
        let transcript = self.record.transcript(&self.plan.names, &names, &unnamed);
        let envelope = envelope(kind, &transcript, CallId(0), call)?;
        Some(serde_json::to_value(envelope).unwrap())
    }

    /// The same call, refused.
    fn refused(mut self, why: AdmissionRefusal) -> Ran {
        let outcome = &mut self.record.outcomes[0];
        outcome.kind = OutcomeKind::Refused(why);
        outcome.attempts = 0;
        outcome.last_error = None;
        self.record.told[0].error = None;
        let what = Decision::Refused { why, error: None, by: None, retry_after: None };
        self.record.events.push(DecisionEvent { at: Instant::ZERO, call: CallId(0), what });
        self
    }
}

fn named(name: &str) -> EnvelopeCall<'_> {
    EnvelopeCall { run: Some("r1"), reference: "r1#1", id: Some("c1"), name, ..EnvelopeCall::default() }
}

/// Asserts that `got` has every field of `sample` with its value; `open` may have more fields.
fn has(got: &Value, sample: &Value, open: &[&str], at: &str) {
    match (got, sample) {
        (Value::Object(got), Value::Object(sample)) => {
            for (key, wanted) in sample {
                let place = format!("{at}/{key}");
                has(got.get(key).unwrap_or_else(|| panic!("{place} is missing")), wanted, open, &place);
            }
            if !open.contains(&at) {
                assert_eq!(got.keys().collect::<Vec<_>>(), sample.keys().collect::<Vec<_>>(), "{at}");
            }
        }
        _ => assert_eq!(got, sample, "{at}"),
    }
}

#[test]
fn a_revoked_token_is_told_with_its_binding_and_what_to_do() {
    let tell = ", tell: { class: external_api_error, details: { binding: oauth2/slack/work, \
                suggestion: aileron binding rebind oauth2/slack/work } }";
    let message = "Slack returned 401 (invalid_auth). The token bound to oauth2/slack/work appears to be revoked.";
    let ran =
        ran(&playbook("not_applied", tell), "charge", &format!("{{ error: {{ status: 401, message: '{message}' }} }}"));
    let sample = json!({ "error": {
        "class": "external_api_error",
        "message": message,
        "retriable": false,
        "boundary": "external",
        "audit_id": audit_id(Some("r1"), "r1#1"),
        "details": {
            "status": 401,
            "binding": "oauth2/slack/work",
            "suggestion": "aileron binding rebind oauth2/slack/work",
        },
    } });
    let failure = ran.envelope(EnvelopeKind::Failure, &named("ship-update")).unwrap();
    has(&failure, &sample, &["/error/details"], "");
    assert_eq!(failure["error"]["details"]["retried"], 0);
    let prose = format!(
        "Action 'ship-update' failed: external_api_error ({message}).\naileron binding rebind oauth2/slack/work\nDo not make the same call again.\naudit_id: {}",
        audit_id(Some("r1"), "r1#1")
    );
    let message = ran.envelope(EnvelopeKind::Openai, &named("ship-update")).unwrap();
    assert_eq!(message, json!({ "tool_call_id": "c1", "role": "tool", "content": prose }));
    let result = ran.envelope(EnvelopeKind::Anthropic, &named("ship-update")).unwrap();
    let expected = json!({ "type": "tool_result", "tool_use_id": "c1", "is_error": true, "content": prose });
    let after_steps = EnvelopeCall { completed_steps: &["find_pr", "post"], ..named("ship-update") };
    let prose = ran.envelope(EnvelopeKind::Openai, &after_steps).unwrap();
    assert!(prose["content"].as_str().unwrap().contains("\nSteps that are done and stay done: find_pr, post.\n"));
    assert_eq!(result, expected);
}

#[test]
fn a_lost_answer_of_a_write_is_told_as_not_to_be_repeated() {
    let message = "TLS handshake timed out reaching treasury-api.acme.com:443.";
    let answer = format!("{{ error: {{ kind: network_error, message: '{message}' }} }}");
    let lost = ran(&playbook("unknown", ""), "charge", &answer);
    let failure = lost.envelope(EnvelopeKind::Failure, &named("charge-customer")).unwrap();
    let sample = json!({ "error": {
        "class": "network_error",
        "message": message,
        "retriable": false,
        "boundary": "external",
        "audit_id": audit_id(Some("r1"), "r1#1"),
        "details": { "retried": 0, "retry": "suppressed" },
    } });
    has(&failure, &sample, &[], "");
    let prose = lost.envelope(EnvelopeKind::Openai, &named("charge-customer")).unwrap();
    assert!(prose["content"].as_str().unwrap().contains("\nDo not make the same call again: it may act twice.\n"));
    let read = ran(&playbook("unknown", ""), "report", &answer);
    assert_eq!(read.envelope(EnvelopeKind::Failure, &named("report")).unwrap()["error"]["retriable"], true);
}

#[test]
fn a_success_is_told_only_by_a_graph() {
    let ok = ran(&playbook("unknown", ""), "report", "{ ok: {} }");
    let schema = json!({ "type": "object" });
    let valid = [("pay", Some(schema)), ("cancel", None)];
    let next = NextActions {
        position: Some("take_order"),
        valid: &valid,
        withheld: &[],
        known: &["take_order", "pay", "cancel"],
    };
    let call = EnvelopeCall { next: Some(next), ..named("take_order") };
    for kind in EnvelopeKind::ALL.into_iter().filter(|kind| *kind != EnvelopeKind::Refusal) {
        assert_eq!(ok.envelope(kind, &call), None, "{kind:?}");
    }
    assert_eq!(
        ok.envelope(EnvelopeKind::Refusal, &call),
        Some(json!({
            "action": "take_order",
            "state": "take_order",
            "valid_next_actions": ["pay", "cancel"],
            "next_action_schemas": { "pay": { "type": "object" }, "cancel": null },
        }))
    );
    assert_eq!(ok.envelope(EnvelopeKind::Refusal, &named("look")), Some(json!({ "action": "look" })));
    let open = ran(&playbook("unknown", ""), "report", "");
    assert_eq!(open.envelope(EnvelopeKind::Refusal, &call), None, "it has no end");
}

/// The five samples of the refusals.
#[test]
fn the_five_refusals_have_the_fields_of_their_samples() {
    use playproof_engine::event::AdmissionRefusal::{InvalidTransition, UnknownAction, ValidationFailed};
    let failed = || ran(&playbook("unknown", ""), "report", "{ error: { status: 500 } }");
    let known = ["take_order", "add_modifier", "pay", "fulfill", "cancel"];
    let valid = |names: &[&'static str]| names.iter().map(|name| (*name, None)).collect::<Vec<_>>();
    let after = |valid| NextActions { position: None, valid, withheld: &[], known: &known };

    let start = valid(&["take_order"]);
    let call = EnvelopeCall { next: Some(after(&start)), ..named("pay") };
    let early = failed().refused(InvalidTransition).envelope(EnvelopeKind::Refusal, &call).unwrap();
    assert_eq!(
        early,
        json!({
            "error": "invalid_transition",
            "requested": "pay",
            "valid_next_actions": ["take_order"],
            "message": "action 'pay' is not reachable from current state. Valid actions now: ['take_order'].",
        })
    );

    let call = EnvelopeCall { next: Some(after(&start)), ..named("tako_order") };
    let unknown = failed().refused(UnknownAction).envelope(EnvelopeKind::Refusal, &call).unwrap();
    assert_eq!(
        unknown,
        json!({
            "error": "unknown_action",
            "requested": "tako_order",
            "known_actions": known,
            "valid_next_actions": ["take_order"], // the sample leaves it out; its text requires it
        })
    );

    let ordered = valid(&["add_modifier", "pay", "cancel"]);
    let got = json!("moon");
    let unfit = UnfitInput { reason: "modifier must be one of: oat, soy, almond", field: "modifier", got: &got };
    let call = EnvelopeCall { next: Some(after(&ordered)), unfit: Some(unfit), ..named("add_modifier") };
    let refused = failed().refused(ValidationFailed).envelope(EnvelopeKind::Refusal, &call).unwrap();
    assert_eq!(
        refused,
        json!({
            "error": "validation_failed",
            "requested": "add_modifier",
            "reason": "modifier must be one of: oat, soy, almond",
            "details": { "field": "modifier", "got": "moon" },
            "valid_next_actions": ["add_modifier", "pay", "cancel"],
        })
    );

    let fetched = valid(&["fetch_report", "cancel"]);
    let call = EnvelopeCall { next: Some(after(&fetched)), ..named("fetch_report") };
    let timed_out = |millis: u64| {
        let late = ran(&playbook("unknown", ""), &format!("report, timeout_ms: {millis}"), "{ timeout: {} }");
        late.envelope(EnvelopeKind::Refusal, &call).unwrap()
    };
    assert_eq!(
        timed_out(30_000),
        json!({
            "error": "action_timeout",
            "requested": "fetch_report",
            "timeout_seconds": 30,
            "message": "action 'fetch_report' exceeded its 30s timeout.",
            "valid_next_actions": ["fetch_report", "cancel"],
        })
    );
    assert_eq!(timed_out(200)["timeout_seconds"], json!(0.2));
    let answer = "{ error: { kind: timeout, message: the service is slow }, latency_ms: 4900 }";
    let slow = ran(&playbook("unknown", ""), "report", answer).envelope(EnvelopeKind::Refusal, &call).unwrap();
    assert_eq!(slow["error"], json!("action_timeout"));
    assert_eq!(slow["timeout_seconds"], json!(null), "how long it took is not how long it may");
    assert_eq!(slow["message"], json!("action 'fetch_report' got no answer: the service is slow"));

    let edited = valid(&["read_file", "edit_file"]);
    let call = EnvelopeCall { next: Some(after(&edited)), ..named("edit_file") };
    let answer = "{ error: { code: ValueError, message: must read the file before editing it } }";
    let raised = ran(&playbook("not_applied", ""), "charge", answer).envelope(EnvelopeKind::Refusal, &call).unwrap();
    assert_eq!(
        raised,
        json!({
            "error": "action_error",
            "requested": "edit_file",
            "error_type": "ValueError",
            "error_message": "must read the file before editing it",
            "valid_next_actions": ["read_file", "edit_file"],
        })
    );
}

#[test]
fn a_dispatch_error_has_the_code_and_the_kind_of_its_failure() {
    let data = |playbook: &str, tool: &str, answers: &str| {
        let error = ran(playbook, tool, answers).envelope(EnvelopeKind::Dispatch, &named("x")).unwrap();
        let data = error["data"].clone();
        (error["code"].as_i64().unwrap(), data["kind"].as_str().unwrap().to_owned(), data["attempts"].as_u64().unwrap())
    };
    let own = playbook("unknown", "");
    for (answers, kind) in [
        ("{ timeout: {} }", "timeout"),
        ("{ error: { status: 503 } }", "transient"),
        ("{ error: { status: 429 } }", "transient"),
        ("{ error: { status: 404 } }", "internal"),
        ("{ error: { kind: network_error } }", "transient"),
        ("{ error: { code: ValueError } }", "internal"),
    ] {
        assert_eq!(data(&own, "report", answers), (-32_603, kind.to_owned(), 1), "{answers}");
    }
    assert_eq!(data(&own, "nothing", ""), (-32_601, "not_found".to_owned(), 0));
    let wrong = "{ error: { kind: invalid_arguments, status: 400 } }";
    assert_eq!(data(&own, "report", wrong), (-32_602, "schema".to_owned(), 1));
    let schema =
        own.replace("report: { access: read }", "report: { access: read, schema: { type: object, required: [id] } }");
    assert_eq!(data(&schema, "report", ""), (-32_602, "schema".to_owned(), 0));
    let spent = format!("{own}budget: {{ tool_calls: 0 }}\n");
    assert_eq!(data(&spent, "report", ""), (-32_603, "budget_exceeded".to_owned(), 0));
}

#[test]
fn each_envelope_of_an_invalid_transition_names_what_is_valid_and_what_is_withheld() {
    let refused = |by| {
        let mut failed = ran(&playbook("unknown", ""), "report", "{ error: { status: 500 } }")
            .refused(AdmissionRefusal::InvalidTransition);
        if let Some(Decision::Refused { by: place, .. }) = failed.record.events.last_mut().map(|event| &mut event.what)
        {
            *place = by;
        }
        let action = |name: &str| ActionNames { name: name.into(), tool: name.into(), inputs: None };
        failed.plan.names.actions = ["add", "pay", "cancel"].map(action).to_vec();
        let (next, withheld) = (vec![ActionId(2), ActionId(0)], vec![ActionId(1)]);
        failed.record.valid_next = vec![Some(ValidNext { position: None, next, withheld })];
        failed
    };
    let valid = [("cancel", None), ("add", None)];
    let next = NextActions { position: None, valid: &valid, withheld: &["pay"], known: &["add", "pay", "cancel"] };
    let of = |name| EnvelopeCall { next: Some(next), ..named(name) };
    let (valid, withheld) = (json!(["cancel", "add"]), json!(["pay"]));
    for (name, by, said) in [
        ("take", None, "action 'take' is not reachable from current state"),
        (
            "pay",
            Some(CallId(1)),
            "action 'pay' is withheld: an earlier call of this action has no answer, or was done late",
        ),
        (
            "add",
            Some(CallId(1)),
            "action 'add' is withheld from calls without its key: an earlier call of this action has no answer, or was \
             done late",
        ),
    ] {
        let message = format!("invalid_transition: {said}; valid actions now: cancel, add; withheld: pay");
        let failed = refused(by);
        let failure = failed.envelope(EnvelopeKind::Failure, &of(name)).unwrap();
        assert_eq!(failure["error"]["message"], json!(message));
        let details = &failure["error"]["details"];
        assert_eq!((&details["valid_next_actions"], &details["withheld"]), (&valid, &withheld));
        let dispatch = failed.envelope(EnvelopeKind::Dispatch, &of(name)).unwrap();
        let data = json!({ "kind": "invalid_transition", "attempts": 0 });
        assert_eq!(
            dispatch,
            json!({ "code": -32_603, "message": message, "data": data }),
            "its arguments may be right"
        );
        for kind in [EnvelopeKind::Openai, EnvelopeKind::Anthropic] {
            let prose = failed.envelope(kind, &of(name)).unwrap();
            assert!(prose["content"].as_str().unwrap().contains(&message), "{prose}");
        }
        let refusal = failed.envelope(EnvelopeKind::Refusal, &of(name)).unwrap();
        assert_eq!(refusal["message"], json!(format!("{said}. Valid actions now: ['cancel', 'add'].")));
        assert_eq!((&refusal["valid_next_actions"], &refusal["withheld"]), (&valid, &withheld));
    }
    let unknown = ran(&playbook("unknown", ""), "report", "{ error: { status: 500 } }");
    let unknown = unknown.refused(AdmissionRefusal::UnknownAction);
    let prose = unknown.envelope(EnvelopeKind::Openai, &of("tako")).unwrap();
    assert!(prose["content"].as_str().unwrap().contains("; valid actions now: cancel, add; withheld: pay)"), "{prose}");
}

#[test]
fn a_timeout_that_the_library_recorded_is_written_as_it_was() {
    let call = named("fetch_report");
    for (said, seconds, message) in [
        ("exceeded the 0.5s timeout", json!(0.5), "action 'fetch_report' exceeded the 0.5s timeout"),
        ("action 'x' exceeded the 30s timeout", json!(30), "action 'x' exceeded the 30s timeout"),
        (
            "exceeded the many-s timeout",
            json!(null),
            "action 'fetch_report' got no answer: exceeded the many-s timeout",
        ),
        (
            "exceeded the 0.12345s timeout",
            json!(null),
            "action 'fetch_report' got no answer: exceeded the 0.12345s timeout",
        ),
    ] {
        let answer = format!("{{ error: {{ kind: action_timeout, message: \"{said}\" }} }}");
        let recorded = ran(&playbook("unknown", ""), "report", &answer).envelope(EnvelopeKind::Refusal, &call).unwrap();
        assert_eq!(recorded["error"], json!("action_timeout"), "as the library records it");
        assert_eq!((&recorded["timeout_seconds"], recorded["message"].as_str()), (&seconds, Some(message)));
    }
}

#[test]
fn a_step_that_failed_is_told_with_the_steps_before_it() {
    let failed = ran(&playbook("unknown", ""), "report", "{ error: { status: 503, retry_after_ms: 1500 } }");
    let call = EnvelopeCall { step: Some("post"), completed_steps: &["find_pr"], ..named("ship_update") };
    let failure = failed.envelope(EnvelopeKind::Failure, &call).unwrap();
    let details = json!({
        "status": 503, "retried": 0, "retry_after_ms": 1500, "step": "post", "completed_steps": ["find_pr"],
    });
    assert_eq!(failure["error"]["details"], details);
    let prose = failed.envelope(EnvelopeKind::Openai, &call).unwrap();
    assert!(prose["content"].as_str().unwrap().contains("\nThe same call may be made again after 1500 ms.\n"));
}

#[test]
fn a_message_is_the_redacted_one() {
    let secret = "token ghp_secret was revoked";
    let mut failed =
        ran(&playbook("unknown", ""), "report", &format!("{{ error: {{ status: 401, message: '{secret}' }} }}"));
    let shown =
        ErrorFacts { message: Some("token [redacted] was revoked".into()), ..(*failed.record.errors[0]).clone() };
    failed.record.show(vec![shown.into()]);
    assert_eq!(failed.record.told[0].error, Some(ErrorId(0)));
    for kind in EnvelopeKind::ALL {
        let text = failed.envelope(kind, &named("x")).unwrap().to_string();
        assert!(text.contains("token [redacted] was revoked") && !text.contains("ghp_secret"), "{kind:?}: {text}");
    }
}
