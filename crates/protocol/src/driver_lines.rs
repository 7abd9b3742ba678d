//! The lines of a driver, written: a call, a moment that has come, what came of a request. And the lines that a journal keeps
//! behind them, of what was decided.

use playproof_engine::call::Reply;
use playproof_engine::drive::NewCall;
use playproof_engine::event::{Act, Draw, RequestKind};
use playproof_engine::ids::AttemptNo;
use playproof_engine::time::{Duration, Instant};

use crate::events::error_object;
use crate::object::Object;
use crate::said::Came;

/// What is said of a request.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    /// The call.
    pub name: &'a str,
    /// The request.
    pub asked: RequestKind,
    /// What came.
    pub came: Came,
    /// The luck of the wait that follows.
    pub draw: Option<Draw>,
    /// How long the clock of the request stood still.
    pub held: Duration,
}

/// A call is made, or something is done with a transaction.
pub fn call(at: Instant, new: &NewCall) -> String {
    let mut line = String::new();
    let args = if new.args.is_empty() { "{}" } else { &new.args };
    let object = begin(&mut line, new.act.map_or("call", Act::as_str), at, &new.name);
    let object = match new.act {
        None => object.text("tool", &new.tool).json("args", args),
        Some(Act::State) => object.text("name", &new.tool).json("args", args),
        Some(Act::Begin | Act::Commit | Act::Rollback) => object,
    };
    let object = object
        .text_if("run", Some(&*new.run).filter(|run| !run.is_empty()))
        .text_if("transaction", new.transaction.as_deref())
        .text_if("key", new.key.as_deref())
        .text_if("token", new.token.as_deref())
        .span_if("timeout_ms", new.timeout)
        .span_if("answer_within_ms", new.answer_within);
    if new.steps.is_empty() && new.unknown_steps.is_empty() {
        object.end();
        return line;
    }
    let mut steps = String::new();
    let known = new.steps.iter().map(|(step, args)| (step, &**args));
    let unknown = new.unknown_steps.iter().map(|step| (step, "null"));
    let all = known.chain(unknown).fold(Object::new(&mut steps), |all, (step, args)| all.json(step, args));
    all.end();
    object.json("steps", &steps).end();
    line
}

/// A run makes no more calls.
pub fn end_run(at: Instant, run: &str) -> String {
    let mut line = String::new();
    Object::new(&mut line).text("type", "end_run").text("run", run).at("at_ms", at).end();
    line
}

/// The program that had the state of transactions is gone, for the journal.
pub fn crash(at: Instant) -> String {
    let mut line = String::new();
    Object::new(&mut line).text("type", "crash").at("at_ms", at).end();
    line
}

/// The draw of a wait, for the journal.
pub fn draw(name: &str, attempt: AttemptNo, draw: Draw) -> String {
    let mut record = String::new();
    let object = Object::new(&mut record).text("type", "draw").text("id", name);
    object.number("attempt", attempt.get()).json("draw", &draw.to_string()).end();
    record
}

/// A call that was made for a step, for an answer.
pub fn step<'o>(object: Object<'o>, made: &NewCall, of: &str) -> Object<'o> {
    let object = object.text("step", &made.name).text("of", of).text("tool", &made.tool);
    object.json("args", &made.args).text_if("key", made.key.as_deref())
}

/// The same for the journal.
pub fn step_record(at: Instant, made: &NewCall, of: &str) -> String {
    let mut record = String::new();
    step(Object::new(&mut record).text("type", "step").at("at_ms", at), made, of).end();
    record
}

/// A decision for the journal, from its object.
pub fn decision(object: &str) -> String {
    format!("{{\"type\":\"decision\",{}", object.get(1..).unwrap_or("}"))
}

/// A moment has come, or the caller goes away.
pub fn bare(kind: &str, at: Instant, name: &str) -> String {
    let mut line = String::new();
    begin(&mut line, kind, at, name).end();
    line
}

/// What came of a request.
pub fn answer(at: Instant, said: &Answer<'_>) -> String {
    let mut line = String::new();
    let object = begin(&mut line, "answer", at, said.name);
    let object = match said.asked {
        RequestKind::Attempt(attempt) => object.number("attempt", attempt.get()),
        RequestKind::Refresh(_) => object.text("asked", "refresh"),
        RequestKind::Reversal => object.text("asked", "reversal"),
    };
    let object = match said.draw {
        Some(draw) => object.json("draw", &draw.to_string()),
        None => object,
    };
    let object = object.span_if("held_ms", Some(said.held).filter(|held| *held > Duration::ZERO));
    let object = match &said.came {
        Came::Timeout => object.truth("timeout", true),
        Came::Lost => object.truth("lost", true),
        Came::Reply(reply) => with_reply(object, reply),
        Came::Late(reply) => with_reply(object.truth("late", true), reply),
    };
    object.end();
    line
}

fn begin<'o>(line: &'o mut String, kind: &str, at: Instant, name: &str) -> Object<'o> {
    Object::new(line).text("type", kind).text("id", name).at("at_ms", at)
}

fn with_reply<'o>(object: Object<'o>, reply: &Reply) -> Object<'o> {
    let object = match reply {
        Reply::Ok => return object.truth("ok", true),
        Reply::Failed(None) => object.truth("ok", false),
        Reply::Failed(Some(_)) => object,
        Reply::Suspected(_) => object.truth("suspected", true),
        Reply::Unfinished(_) => object.truth("accepted", true),
    };
    match reply.error() {
        Some(error) => object.json("error", &error_object(error)),
        None => object,
    }
}
