//! The journal: the lines that a session has read, and what it decided. Reading it again brings the session back. Knows no
//! files.
//!
//! ```text
//! {"type":"journal","protocol":"dispatch/1",..}   the head: what decides, and the latest moment before
//! {"type":"end",..}                               an end of an earlier file that a driver may not have heard
//! {"type":"call",..}, {"type":"answer",..}, ..    lines of the driver, as they were read
//! {"type":"step"|"draw"|"decision",..}            what was decided of the lines before
//! ```

use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;
use serde_json::value::RawValue;

use playproof_engine::time::{Duration, Instant};

use crate::decider::Decider;
use crate::error::LineError;
use crate::protocol::PROTOCOL;
use crate::said::{Input, Said};
use crate::session::Session;

/// Why a journal cannot be gone on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// A line is damaged.
    Damaged {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// Something else decided it, and calls are open: their ids.
    Open {
        /// What decided it.
        by: Box<Decider>,
        /// The calls that have not ended, each as its id and its tool.
        calls: Vec<(String, String)>,
    },
}

/// What was read of a journal.
#[derive(Debug)]
pub struct Resumed {
    /// The session, as it was.
    pub session: Session,
    /// The bytes of the journal that count: behind them is a torn line.
    pub length: usize,
    /// What begins a new file, if the old one is not needed any more.
    pub anew: Option<String>,
}

/// How the line of an end begins.
const END: &[u8] = b"{\"type\":\"end\"";

/// A line of a journal behind its head.
#[derive(Clone, Debug)]
pub(crate) enum Entry<'l> {
    /// A line of the driver.
    Said(Said),
    /// An end of an earlier file.
    End(&'l str),
    /// A call was made for a step.
    Step(NewStep),
    /// The luck of the wait that follows an attempt.
    Draw { id: String, attempt: u64, draw: String },
    /// A decision, as an object without its type.
    Decision { id: String, event: &'l str },
}

/// A call that was made for a step of an action.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct NewStep {
    #[serde(rename = "step")]
    pub(crate) id: String,
    pub(crate) of: String,
    pub(crate) at_ms: serde_json::Number,
    pub(crate) tool: String,
    pub(crate) args: Box<RawValue>,
    pub(crate) key: Option<String>,
}

/// The fields of a head.
#[derive(Debug, Deserialize)]
struct Head {
    #[serde(rename = "type")]
    kind: String,
    protocol: String,
    playbook: String,
    fingerprint: String,
    engine: String,
    #[serde(default)]
    shadow: bool,
    at_ms: serde_json::Number,
}

#[derive(Debug, Deserialize)]
struct DrawFields {
    id: String,
    attempt: u64,
    draw: serde_json::Number,
}

impl<'l> Entry<'l> {
    /// Reads a line without its end.
    pub(crate) fn parse(text: &'l str) -> Result<Entry<'l>, String> {
        let broken = |error: serde_json::Error| error.to_string();
        if text.as_bytes().starts_with(END) {
            return Ok(Entry::End(text));
        }
        if is_of_type(text, "step") {
            return serde_json::from_str(text).map(Entry::Step).map_err(broken);
        }
        if is_of_type(text, "draw") {
            let DrawFields { id, attempt, draw } = serde_json::from_str(text).map_err(broken)?;
            return Ok(Entry::Draw { id, attempt, draw: draw.to_string() });
        }
        if let Some(event) = text.strip_prefix(DECISION) {
            let mut texts = serde_json::Deserializer::from_str(event).into_iter::<String>();
            let id = texts.next().unwrap_or_else(|| Ok(String::new())).map_err(broken)?;
            let event = event.get(texts.byte_offset()..).filter(|rest| rest.starts_with(','));
            return Ok(Entry::Decision { id, event: event.ok_or("it is no decision")? });
        }
        match Said::parse(text) {
            Ok(said @ Said::Input(..)) => Ok(Entry::Said(said)),
            Ok(_) => Err("it is no line of a journal".to_owned()),
            Err(LineError { text, .. }) => Err(text),
        }
    }
}

/// How the line of a decision begins.
const DECISION: &str = "{\"type\":\"decision\",\"id\":";

/// What a journal says.
#[derive(Clone, Debug)]
pub(crate) struct Contents<'l> {
    /// What decided it.
    pub(crate) decider: Decider,
    /// The latest moment before it.
    pub(crate) at: Instant,
    /// Its lines with their numbers; a torn last line is none.
    pub(crate) entries: Vec<(u64, Entry<'l>)>,
}

/// Reads a journal.
///
/// # Errors
/// Damage that is no torn last line.
pub(crate) fn contents(bytes: &[u8]) -> Result<Contents<'_>, Unusable> {
    let mut lines = (1..).zip(whole_lines(bytes));
    let first = lines.next().map_or(&[][..], |(_, line)| line);
    let (decider, at) = head(first).map_err(|what| Unusable::Damaged { line: 1, what })?;
    let entry = |(number, line)| match text(line).and_then(Entry::parse) {
        Ok(entry) => Ok((number, entry)),
        Err(what) => Err(Unusable::Damaged { line: number, what }),
    };
    Ok(Contents { decider, at, entries: lines.map(entry).collect::<Result<_, _>>()? })
}

fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
}

fn text(line: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(line).map_err(|_| "it is not UTF-8".to_owned())?;
    Ok(text.trim_end_matches('\n'))
}

/// Reads a journal into a new session; an empty one begins.
///
/// # Errors
/// Damage that is no torn last line; calls that something else has to end.
pub fn resume(bytes: &[u8], mut session: Session) -> Result<Resumed, Unusable> {
    let length = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    session.drop_bytes(bytes.len() - length);
    let mut lines = (1..).zip(whole_lines(bytes));
    let Some((_, first)) = lines.next() else {
        let anew = Some(session.head());
        return Ok(Resumed { session, length, anew });
    };
    let (decider, at) = head(first).map_err(|what| Unusable::Damaged { line: 1, what })?;
    session.begin_at(at);
    if decider != *session.decider() {
        let (calls, latest) = open_calls(bytes)?;
        session.begin_at(latest);
        return match calls.is_empty() {
            true => Ok(Resumed { anew: Some(session.head()), session, length }),
            false => Err(Unusable::Open { by: Box::new(decider), calls }),
        };
    }
    let (mut decided, mut has_said) = (VecDeque::new(), false);
    for (number, line) in lines {
        has_said |= !line.starts_with(END);
        let damaged = |what: String| Unusable::Damaged { line: number, what };
        take(&mut session, &mut decided, line).map_err(damaged)?;
    }
    session.keep_records(decided);
    let anew = (has_said && session.is_idle()).then(|| session.head());
    Ok(Resumed { session, length, anew })
}

/// Takes a line of a journal; `decided` has what the session decided of the lines before and the journal has yet to say.
fn take(session: &mut Session, decided: &mut VecDeque<String>, line: &[u8]) -> Result<(), String> {
    let text = text(line)?;
    match Entry::parse(text)? {
        Entry::End(end) => session.take_end(end),
        Entry::Step(_) | Entry::Draw { .. } | Entry::Decision { .. } => match decided.pop_front() {
            Some(known) if known == text => Ok(()),
            Some(_) => Err("the playbook decides otherwise today".to_owned()),
            None => Err("nothing was said that it could follow from".to_owned()),
        },
        Entry::Said(said) => {
            session.answer(said);
            decided.extend(session.take_records());
            Ok(())
        }
    }
}

fn is_of_type(text: &str, kind: &str) -> bool {
    text.strip_prefix("{\"type\":\"").and_then(|rest| rest.strip_prefix(kind)).is_some_and(|rest| rest.starts_with('"'))
}

/// What decided a journal, and the latest moment before it, from its first line.
fn head(line: &[u8]) -> Result<(Decider, Instant), String> {
    let head =
        serde_json::from_slice(line).ok().filter(|head: &Head| (&*head.kind, &*head.protocol) == ("journal", PROTOCOL));
    let Head { playbook, fingerprint, engine, shadow, at_ms, .. } =
        head.ok_or_else(|| "this is no journal of `playproof serve`".to_owned())?;
    let at = Duration::parse_millis(&at_ms.to_string()).unwrap_or_default();
    Ok((Decider { playbook, fingerprint, engine, shadow }, Instant::ZERO.plus(at)))
}

/// The calls of a journal that have not ended, as far as it says so, and its latest moment.
fn open_calls(bytes: &[u8]) -> Result<(Vec<(String, String)>, Instant), Unusable> {
    let Contents { at: mut latest, entries, .. } = contents(bytes)?;
    let mut open = BTreeMap::new();
    for (_, entry) in entries {
        match entry {
            Entry::Said(Said::Input(at, input)) => {
                latest = latest.max(at);
                if let Input::Call(new) = input {
                    open.insert(new.name, new.tool);
                }
            }
            Entry::Decision { id, event } if event.contains(",\"event\":\"outcome\",") => drop(open.remove(&id)),
            Entry::Said(_) | Entry::End(_) | Entry::Step(_) | Entry::Draw { .. } | Entry::Decision { .. } => {}
        }
    }
    Ok((open.into_iter().collect(), latest))
}
