//! A journal as a trace: each of its lines becomes one line of our trace format, so that the places of lines stay. What
//! decides nothing (a wake, an end of an earlier file) becomes a line that a trace does not read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use playproof_engine::call::Reply;
use playproof_engine::drive::NewCall;
use playproof_engine::event::{Act, AdmissionRefusal, ErrorFacts, FieldKey};
use playproof_engine::time::{Duration, Instant};
use playproof_intake::trace_writer::error_object;
use playproof_protocol::chain::bare;

use crate::entry::{Entry, NewStep};
use crate::journal::{Contents, HEAD, Unusable, contents};
use crate::object::{Object, quote};
use crate::said::{Asked, Came, GivenAnswer, Input, Resolved};

/// The dispatcher of all calls of a journal, as a trace names it.
const DISPATCHER: &str = "serve";

/// A line that a trace does not read.
const OTHER: &str = "{\"type\":\"other\"}";

/// Whether a file that begins so is a journal.
pub fn is_journal(start: &[u8]) -> bool {
    start.starts_with(HEAD)
}

/// A journal as a trace in our own format.
///
/// # Errors
/// A damaged line; a torn last line is dropped.
pub fn of_journal(bytes: &[u8]) -> Result<String, Unusable> {
    let bytes = &*bare(bytes);
    let Contents { decider, entries, .. } = contents(bytes)?;
    let mut known = Known { in_shadow: decider.shadow, ..Known::of_all(&entries) };
    let mut out = String::new();
    Object::new(&mut out)
        .text("type", "recording")
        .text("playbook", &decider.playbook)
        .text("fingerprint", &decider.fingerprint)
        .number("seed", 0_u64)
        .end();
    for (_, entry) in &entries {
        out.push('\n');
        known.write(&mut out, entry);
    }
    out.push('\n');
    Ok(out)
}

/// What a person has said of a call of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedCall {
    /// The call, as a trace refers to it.
    pub reference: String,
    /// What was said.
    pub said: Resolved,
}

/// What persons have said of the calls of a journal, in its order.
///
/// # Errors
/// A damaged line; a torn last line is dropped.
pub fn resolved(bytes: &[u8]) -> Result<Vec<ResolvedCall>, Unusable> {
    let bytes = &*bare(bytes);
    let Contents { at, entries, .. } = contents(bytes)?;
    let mut known = Known::of_all(&entries);
    let (mut all, mut latest) = (Vec::new(), at);
    for (_, entry) in &entries {
        let Entry::Said(at, input) = entry else { continue };
        latest = latest.max(*at);
        if let Input::Resolve(id, said) = input
            && known.ends.get(id).is_some_and(|end| end.outcome == "escalated" && end.at <= latest)
            && let Some(reference) = known.reference(id)
        {
            known.ends.remove(id); // a second one is refused
            all.push(ResolvedCall { reference, said: said.clone() });
        }
    }
    Ok(all)
}

/// What a journal says of its calls.
#[derive(Debug, Default)]
pub(crate) struct Known {
    calls: BTreeMap<String, KnownCall>,
    /// Nobody obeyed what was decided: what was sent does not follow from it.
    in_shadow: bool,
    ends: BTreeMap<String, KnownEnd>,
    /// The commits that were refused.
    rolled_back: BTreeSet<String>,
    /// The calls that were written: a later line of the same id was refused.
    written: BTreeSet<String>,
    /// How many calls each run has made.
    made: BTreeMap<String, u32>,
    /// By call and attempt: what was decided beside its answer.
    attempts: BTreeMap<(String, u64), KnownAttempt>,
    requests: BTreeMap<String, KnownRequests>,
}

#[derive(Debug)]
struct KnownCall {
    run: String,
    /// From 1, in its run.
    number: u32,
}

/// Of one call, in milliseconds as they are written.
#[derive(Debug, Default)]
struct KnownRequests {
    /// When its last decision was made.
    decided_ms: String,
    /// When its refreshes and its reversal were asked for.
    asked_ms: VecDeque<String>,
}

/// How a call ended.
#[derive(Debug)]
struct KnownEnd {
    at: Instant,
    outcome: String,
}

#[derive(Debug, Default)]
struct KnownAttempt {
    started: Option<String>,
    draw: Option<String>,
    /// The error of its end.
    error: Option<String>,
    answered: Answered,
}

/// What the lines so far say of an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Answered {
    /// It is out, or was not sent.
    #[default]
    No,
    /// No answer came in time.
    TimedOut,
    /// It was answered.
    Yes,
}

impl Known {
    /// What all lines of a journal say.
    fn of_all(entries: &[(u64, Entry<'_>)]) -> Known {
        let mut known = Known::default();
        entries.iter().for_each(|(_, entry)| known.learn(entry));
        known
    }

    /// Takes what a line says.
    pub(crate) fn learn(&mut self, entry: &Entry<'_>) {
        match entry {
            Entry::Said(_, Input::Call(new)) if new.act.is_none() => self.learn_call(&new.name, &new.run),
            Entry::Step(NewStep { id, of, .. }) => {
                let run = self.calls.get(of).map(|known| known.run.clone()).unwrap_or_default();
                self.learn_call(id, &run);
            }
            Entry::Draw { id, attempt, draw } => {
                self.attempts.entry((id.clone(), *attempt)).or_default().draw = Some(draw.clone());
            }
            Entry::Decision { id, event } => {
                let fields = format!("{{{}", &event[1..]); // it begins with a comma
                let fields: Value = serde_json::from_str(&fields).unwrap_or_default(); // of our own
                let (what, attempt) = (fields["event"].as_str().unwrap_or_default(), fields["attempt"].as_u64());
                let at = fields["at_ms"].to_string();
                let known = self.requests.entry(id.clone()).or_default();
                let before = std::mem::replace(&mut known.decided_ms, at.clone());
                if matches!(what, "evidence_refreshed" | "reversal_redeemed" | "reversal_refused") {
                    known.asked_ms.push_back(before);
                }
                if what == "refused" && fields["why"] == AdmissionRefusal::RolledBack.as_str() {
                    self.rolled_back.insert(id.clone());
                }
                if let Some(outcome) = fields["outcome"].as_str().filter(|_| what == "outcome") {
                    self.ends.insert(id.clone(), KnownEnd { at: moment(&at), outcome: outcome.to_owned() });
                }
                let Some(attempt) = attempt else { return };
                let known = self.attempts.entry((id.clone(), attempt)).or_default();
                match what {
                    "attempt_started" => known.started = Some(at),
                    "attempt_finished" => {
                        known.error = Some(&fields["error"]).filter(|it| it.is_object()).map(Value::to_string)
                    }
                    _ => {}
                }
            }
            Entry::Said(..) | Entry::Crash(_) | Entry::End(_) => {}
        }
    }

    /// A second call of an id is refused, and means nothing.
    fn learn_call(&mut self, id: &str, run: &str) {
        if self.calls.contains_key(id) {
            return;
        }
        let number = self.made.entry(run.to_owned()).or_default();
        *number += 1;
        self.calls.insert(id.to_owned(), KnownCall { run: run.to_owned(), number: *number });
    }

    /// The name of a call that is unique in a trace.
    pub(crate) fn reference(&self, id: &str) -> Option<String> {
        self.calls.get(id).map(|KnownCall { run, number }| format!("{run}#{number}"))
    }

    fn begin<'o>(&self, out: &'o mut String, kind: &str, id: &str) -> Object<'o> {
        let run = self.calls.get(id).map(|known| known.run.as_str()).filter(|run| !run.is_empty());
        Object::new(out).text("type", kind).text_if("run_id", run).text("call_id", id)
    }

    fn write(&mut self, out: &mut String, entry: &Entry<'_>) {
        match entry {
            Entry::Said(at, Input::Call(new)) if self.written.insert(new.name.clone()) => {
                if let Some(act) = new.act {
                    return self.act(out, *at, new, act);
                }
                self.call(self.begin(out, "tool_call", &new.name).at("at_ms", *at), new).end();
            }
            Entry::Said(at, Input::Answer(given))
                if self.calls.contains_key(&given.id) && self.is_taken(*at, given) && given.came != Came::Lost =>
            {
                self.answer(out, *at, given)
            }
            Entry::Said(at, Input::Cancel(id)) if self.calls.contains_key(id) && self.is_cancelled(id) => {
                self.begin(out, "cancel", id).at("at_ms", *at).end()
            }
            Entry::Step(NewStep { id, of, at_ms, tool, args, key }) => {
                let step = id.strip_prefix(of.as_str()).map(|rest| rest.trim_start_matches('/')).unwrap_or(id);
                let object = self
                    .begin(out, "tool_call", id)
                    .json("at_ms", &at_ms.to_string())
                    .text("parent", of)
                    .text("step", step);
                let new =
                    NewCall { tool: tool.clone(), args: args.get().to_owned(), key: key.clone(), ..NewCall::default() };
                self.call(object, &new).end();
            }
            Entry::Decision { id, event } if self.calls.contains_key(id) => self.decision(out, id, event),
            Entry::Said(..) | Entry::Crash(_) | Entry::Draw { .. } | Entry::Decision { .. } | Entry::End(_) => {
                out.push_str(OTHER)
            }
        }
    }

    /// Whether an answer was taken, and not refused: of an attempt, where it was sent by then and lacked this answer.
    fn is_taken(&mut self, at: Instant, given: &GivenAnswer) -> bool {
        let Asked::Attempt(attempt) = given.to else { return true };
        let has_ended = self.ends.get(&given.id).is_some_and(|end| end.at <= at);
        let known = self.attempts.entry((given.id.clone(), attempt.get().into())).or_default();
        let is_sent = self.in_shadow || known.started.as_deref().is_some_and(|started| moment(started) <= at);
        let (is_wanted, then) = match (&given.came, known.answered) {
            (Came::Reply(_), before) => (before == Answered::No, Answered::Yes),
            (Came::Timeout | Came::Lost, before) => (before == Answered::No, Answered::TimedOut),
            (Came::Late(_), before) => {
                (before == Answered::TimedOut || (before == Answered::No && has_ended), Answered::Yes)
            }
        };
        if is_sent && is_wanted {
            known.answered = then;
        }
        is_sent && is_wanted
    }

    /// Whether the caller of a call went away before its end.
    fn is_cancelled(&self, id: &str) -> bool {
        self.ends.get(id).is_none_or(|end| end.outcome == "cancelled")
    }

    /// What is done with a transaction. A commit that was refused is the rollback that it came to.
    fn act(&self, out: &mut String, at: Instant, new: &NewCall, act: Act) {
        let act = if self.rolled_back.contains(&new.name) { Act::Rollback } else { act };
        let run = Some(&*new.run).filter(|run| !run.is_empty());
        let object = Object::new(out).text("type", act.as_str()).text_if("run_id", run);
        let object = object.text_if("transaction", new.transaction.as_deref()).at("at_ms", at);
        match act {
            Act::State => object.text("name", &new.tool).json("args", &new.args).end(),
            Act::Begin | Act::Commit | Act::Rollback => object.end(),
        }
    }

    fn call<'o>(&self, object: Object<'o>, new: &NewCall) -> Object<'o> {
        let object = object
            .text_if("transaction", new.transaction.as_deref())
            .text("tool", &new.tool)
            .json("args", &new.args)
            .text_if("idempotency_key", new.key.as_deref())
            .text_if("reversal_token", new.token.as_deref())
            .text("dispatcher_id", DISPATCHER);
        object.span_if("timeout_ms", new.timeout).span_if("answer_within_ms", new.answer_within)
    }

    fn answer(&mut self, out: &mut String, at: Instant, given: &GivenAnswer) {
        let asked_at = match given.to {
            Asked::Attempt(_) => None,
            Asked::Refresh | Asked::Reversal => {
                self.requests.get_mut(&given.id).and_then(|known| known.asked_ms.pop_front())
            }
        };
        let is_late = matches!(given.came, Came::Late(_));
        let object = self.begin(out, "tool_result", &given.id);
        let (object, known) = match given.to {
            Asked::Attempt(attempt) => {
                let object = object.text_if("answers", is_late.then_some("late"));
                let known = self.attempts.get(&(given.id.clone(), attempt.get().into()));
                (object.number("attempt", attempt.get()), known)
            }
            Asked::Refresh => (object.text("answers", "refresh"), None),
            Asked::Reversal => (object.text("answers", "reversal"), None),
        };
        let started = asked_at.as_deref().or_else(|| known?.started.as_deref());
        let object = match started {
            Some(started) => object.json("started_ms", started),
            None => object,
        };
        let object = object.at("at_ms", at);
        let (status, error) = match &given.came {
            Came::Reply(reply) | Came::Late(reply) => (status(reply), reply.error().map(|error| error_object(error))),
            Came::Timeout if given.to == Asked::Refresh => ("error", None),
            Came::Timeout => ("error", Some(timeout(known, started, at))),
            Came::Lost => return object.end(), // it is never written
        };
        let object = object.text("status", status);
        let object = match error {
            Some(error) => object.json("error", &error),
            None => object,
        };
        match known.and_then(|known| known.draw.as_deref()).filter(|_| !is_late && status == "error") {
            Some(draw) => object.json("draw", draw).end(),
            None => object.end(),
        }
    }

    /// A decision; the other calls that it names have their names of a trace.
    fn decision(&self, out: &mut String, id: &str, event: &str) {
        self.begin(out, "decision", id).end();
        out.pop(); // it goes on
        let mut rest = event;
        for key in [FieldKey::Leader, FieldKey::Cause] {
            let key = format!("\"{}\":", key.as_str());
            let Some((before, value)) = rest.split_once(&key) else { continue };
            let mut texts = serde_json::Deserializer::from_str(value).into_iter::<String>();
            let named = texts.next().and_then(Result::ok).and_then(|id| self.reference(&id));
            if let Some(reference) = named {
                out.push_str(before);
                out.push_str(&key);
                quote(out, &reference);
                rest = &value[texts.byte_offset()..];
            }
        }
        out.push_str(rest);
    }
}

/// A moment that is written in milliseconds.
fn moment(millis: &str) -> Instant {
    Instant::ZERO.plus(Duration::parse_millis(millis).unwrap_or_default())
}

/// The error of a request that had no answer in time: that of its end, else of how long it was out.
fn timeout(known: Option<&KnownAttempt>, started: Option<&str>, at: Instant) -> String {
    let of_its_end = known.and_then(|known| known.error.clone());
    of_its_end.unwrap_or_else(|| {
        let started = started.map_or(at, moment);
        error_object(&ErrorFacts::timeout(at.since(started)))
    })
}

const fn status(reply: &Reply) -> &'static str {
    match reply {
        Reply::Ok => "ok",
        Reply::Failed(_) => "error",
        Reply::Suspected(_) => "suspected",
        Reply::Unfinished(_) => "unfinished",
    }
}
