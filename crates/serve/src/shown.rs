//! What a dispatcher wants, how calls ended and which are open, as JSON.

use playproof_analysis::envelope::{Envelope, EnvelopeCall, EnvelopeKind, GraphAnswer, envelope};
use playproof_engine::drive::{Dispatcher, NewCall};
use playproof_engine::event::{
    Decision, DecisionEvent, Outcome, OutcomeKind, RequestKind, Told, Transcript, ValidNext, unnamed,
};
use playproof_engine::ids::{ActionId, CallId, StepId};
use playproof_engine::playbook::ToolFacts;
use playproof_engine::time::{Duration, Instant};

use crate::mentioned::Mentioned;
use crate::object::Object;

/// A request that is wanted.
pub(crate) fn send(out: &mut String, dispatcher: &Dispatcher, call: CallId, asked: RequestKind) {
    let Some(made) = dispatcher.made(call) else { return };
    let object = Object::new(out).text("send", &made.name);
    let object = match asked {
        RequestKind::Attempt(attempt) => {
            let evidence = dispatcher.events(call).iter().rev().find_map(|event| match event.what {
                Decision::AttemptStarted { attempt: started, evidence } if started == attempt => Some(evidence.0),
                _ => None,
            });
            let object = object.number("attempt", attempt.get());
            match evidence {
                Some(number @ 1..) => object.number("evidence", number),
                _ => object,
            }
        }
        RequestKind::Refresh(evidence) => object.text("asked", "refresh").number("evidence", evidence.0),
        RequestKind::Reversal => object.text("asked", "reversal").text_if("token", made.token.as_deref()),
    };
    let within = dispatcher.within(call, asked).unwrap_or_default();
    object.span("within_ms", within).end();
}

/// The one request of a call that a program sends as it does.
pub(crate) fn only_send(out: &mut String, name: &str, within: Duration) {
    Object::new(out).text("send", name).number("attempt", 1_u64).span("within_ms", within).end();
}

/// A moment that is waited for.
pub(crate) fn wait(out: &mut String, name: &str, until: Instant) {
    Object::new(out).text("wait", name).at("until_ms", until).end();
}

/// What is known of a tool.
pub(crate) fn facts(object: Object<'_>, tool: &str, facts: ToolFacts) {
    let object = object.text("tool", tool).text("access", facts.access.as_str());
    let object = object.truth("idempotent", facts.idempotent).truth("repeatable", facts.repeatable);
    object.span("timeout_ms", facts.timeout).end();
}

/// A transaction whose state is lost.
pub(crate) fn lost(out: &mut String, ((run, transaction), names): ((String, Option<String>), Vec<String>)) {
    let object = Object::new(out).text_if("run", Some(&*run).filter(|run| !run.is_empty()));
    object.text_if("transaction", transaction.as_deref()).texts("state", names.iter().map(String::as_str)).end();
}

/// A call that has not ended.
pub(crate) fn open(out: &mut String, dispatcher: &Dispatcher, call: CallId) {
    let Some(made) = dispatcher.made(call) else { return };
    let is_start = |event: &&DecisionEvent| matches!(event.what, Decision::AttemptStarted { .. });
    let attempts = dispatcher.events(call).iter().filter(is_start).count() as u64;
    let wants = dispatcher.asked(call).map(Ok).chain(dispatcher.waits(call).iter().map(|until| Err(*until)));
    Object::new(out)
        .text("id", &made.name)
        .at("at_ms", dispatcher.made_at(call).unwrap_or_default())
        .text_if("run", Some(&*made.run).filter(|run| !run.is_empty()))
        .text_if("transaction", made.transaction.as_deref())
        .text("tool", &made.tool)
        .json("args", &made.args)
        .text_if("key", made.key.as_deref())
        .text_if("token", made.token.as_deref())
        .text_if("of", of(dispatcher, call))
        .number("attempts", attempts)
        .list("do", wants, |out, want| match want {
            Ok(asked) => send(out, dispatcher, call, asked),
            Err(until) => wait(out, &made.name, until),
        })
        .end();
}

/// Of a step: the name of its action's call.
fn of(dispatcher: &Dispatcher, call: CallId) -> Option<&str> {
    Some(&dispatcher.made(dispatcher.action_of(call)?)?.name)
}

/// How a call ended: the object of its `done` without its end, and whether people have it.
pub(crate) fn done(
    out: &mut String,
    dispatcher: &Dispatcher,
    (call, at): (CallId, Instant),
    forms: &[EnvelopeKind],
    mentioned: &mut Mentioned,
) {
    let Some((made, outcome)) = dispatcher.made(call).zip(dispatcher.outcome(call)) else { return };
    let names = &dispatcher.plan().names;
    let object = Object::new(out)
        .text("done", &made.name)
        .at("at_ms", at)
        .text("outcome", outcome.kind.as_str())
        .text("effect", outcome.claim.as_str())
        .number("attempts", outcome.attempts)
        .text_if("of", of(dispatcher, call));
    let object = match outcome.kind {
        OutcomeKind::Escalated(queue) => object.text("queue", names.queue(queue)),
        OutcomeKind::Refused(why) => object.text("why", why.as_str()),
        OutcomeKind::Exhausted(stop) => object.text("stop", stop.as_str()),
        OutcomeKind::Joined { .. } | OutcomeKind::Cached { .. } => {
            object.text_if("value_of", dispatcher.mentioned(call))
        }
        _ => object,
    };
    let valid = dispatcher.valid_next(call);
    let told = dispatcher.told(call);
    let object = match valid {
        Some(valid) => object.with(|object| next(object, "valid_next", dispatcher, valid)),
        None => object,
    };
    if told.is_none() && forms.is_empty() {
        return object.end();
    }
    for id in told.and_then(|told| told.error).into_iter().chain(outcome.last_error) {
        mentioned.learn_error(dispatcher, id);
    }
    let end = End { dispatcher, made, outcome, told, valid: valid.cloned(), mentioned };
    end.write(object, call, forms);
}

/// The valid and the withheld actions.
pub(crate) fn next<'o>(object: Object<'o>, key: &str, dispatcher: &Dispatcher, valid: &ValidNext) -> Object<'o> {
    let name = |action: &ActionId| dispatcher.plan().names.action(*action);
    object.texts(key, valid.next.iter().map(name)).texts("withheld", valid.withheld.iter().map(name))
}

/// A call that has ended, and what the agent is told of it.
struct End<'a> {
    dispatcher: &'a Dispatcher,
    made: &'a NewCall,
    outcome: Outcome,
    told: Option<Told>,
    valid: Option<ValidNext>,
    mentioned: &'a Mentioned,
}

impl End<'_> {
    /// What is told, in the forms that are wished.
    fn write(self, object: Object<'_>, call: CallId, forms: &[EnvelopeKind]) {
        const ONLY: CallId = CallId(0);
        let End { dispatcher, made, outcome, told, valid, mentioned } = self;
        let own = |event: &DecisionEvent| DecisionEvent { call: ONLY, ..*event };
        let transcript = Transcript {
            names: &dispatcher.plan().names,
            calls: std::slice::from_ref(&made.name),
            others: &[],
            servers: &[],
            intent_name: &unnamed,
            events: &dispatcher.events(call).iter().map(own).collect::<Vec<_>>(),
            outcomes: &[outcome],
            valid_next: &[valid],
            ledger: &[],
            errors: mentioned.errors(),
            findings: &[],
            told: &told.map(|told| Told { call: ONLY, ..told }).into_iter().collect::<Vec<_>>(),
            death: None,
        };
        let graph = GraphAnswer::of(&transcript, ONLY, &made.tool, Some(&made.args));
        let steps = transcript.steps_of(ONLY);
        let step = |action: ActionId, step: StepId| transcript.names.step(action, step);
        let completed: Vec<&str> =
            steps.iter().flat_map(|steps| steps.completed.iter().map(|id| step(steps.action, *id))).collect();
        let about = EnvelopeCall {
            run: Some(&*made.run).filter(|run| !run.is_empty()),
            reference: &made.name,
            id: Some(&made.name),
            name: graph.as_ref().and_then(|graph| graph.action).unwrap_or(&made.tool),
            step: steps.as_ref().and_then(|steps| Some(step(steps.action, steps.failed?))),
            completed_steps: &completed,
            next: graph.as_ref().map(GraphAnswer::next),
            unfit: graph.as_ref().and_then(GraphAnswer::unfit),
        };
        let form = |kind| envelope(kind, &transcript, ONLY, &about);
        let object = match form(EnvelopeKind::Failure) {
            Some(Envelope::Failure(failure)) => object.json("told", &json(&failure.error)),
            _ => object,
        };
        if forms.is_empty() {
            return object.end();
        }
        let is_step = dispatcher.action_of(call).is_some(); // its action answers the agent
        let mut messages = String::new();
        let mut all = Object::new(&mut messages);
        for kind in forms {
            all = all.json(kind.as_str(), &json(&form(*kind).filter(|_| !is_step)));
        }
        all.end();
        object.json("messages", &messages).end();
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()) // values of ours are JSON
}
