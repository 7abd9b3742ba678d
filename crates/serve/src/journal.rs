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

use playproof_engine::time::{Duration, Instant};

use crate::decider::Decider;
use crate::error::LineError;
use crate::protocol::PROTOCOL;
use crate::said::{Input, Said};
use crate::session::Session;

impl Line {
    /// Its moment.
    fn at(&self) -> Instant {
        let at = self.at_ms.as_ref().and_then(|at| Duration::parse_millis(&at.to_string()));
        Instant::ZERO.plus(at.unwrap_or_default())
    }
}

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

/// The fields of a line that is none of a driver.
#[derive(Debug, Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: Option<String>,
    protocol: Option<String>,
    playbook: Option<String>,
    fingerprint: Option<String>,
    engine: Option<String>,
    at_ms: Option<serde_json::Value>,
    id: Option<String>,
    event: Option<String>,
}

/// Reads a journal into a new session; an empty one begins.
///
/// # Errors
/// Damage that is no torn last line; calls that something else has to end.
pub fn resume(bytes: &[u8], mut session: Session) -> Result<Resumed, Unusable> {
    let length = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    session.drop_bytes(bytes.len() - length);
    let mut lines = (1..).zip(bytes[..length].split_inclusive(|byte| *byte == b'\n'));
    let Some((_, first)) = lines.next() else {
        let anew = Some(session.head());
        return Ok(Resumed { session, length, anew });
    };
    let (decider, at) = head(first).map_err(|what| Unusable::Damaged { line: 1, what })?;
    session.begin_at(at);
    if decider != *session.decider() {
        let (calls, latest) = open_calls(lines)?;
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
    let text = std::str::from_utf8(line).map_err(|_| "it is not UTF-8".to_owned())?.trim_end_matches('\n');
    if line.starts_with(END) {
        return session.take_end(text);
    }
    let is_record = ["step", "draw", "decision"].iter().any(|kind| is_of_type(text, kind));
    if is_record {
        return match decided.pop_front() {
            Some(known) if known == text => Ok(()),
            Some(_) => Err("the playbook decides otherwise today".to_owned()),
            None => Err("nothing was said that it could follow from".to_owned()),
        };
    }
    match Said::parse(text) {
        Ok(said @ Said::Input(..)) => {
            session.answer(said);
            decided.extend(session.take_records());
            Ok(())
        }
        Ok(_) => Err("it is no line of a journal".to_owned()),
        Err(LineError { text, .. }) => Err(text),
    }
}

fn is_of_type(text: &str, kind: &str) -> bool {
    text.strip_prefix("{\"type\":\"").and_then(|rest| rest.strip_prefix(kind)).is_some_and(|rest| rest.starts_with('"'))
}

/// What decided a journal, and the latest moment before it, from its first line.
fn head(line: &[u8]) -> Result<(Decider, Instant), String> {
    let other = || "this is no journal of `playproof serve`".to_owned();
    let line: Line = serde_json::from_slice(line).map_err(|_| other())?;
    if line.kind.as_deref() != Some("journal") || line.protocol.as_deref() != Some(PROTOCOL) {
        return Err(other());
    }
    let at = line.at();
    let (playbook, fingerprint, engine) =
        (line.playbook.ok_or_else(other)?, line.fingerprint.ok_or_else(other)?, line.engine.ok_or_else(other)?);
    Ok((Decider { playbook, fingerprint, engine }, at))
}

/// The calls of a journal that have not ended, as far as it says so, and its latest moment.
fn open_calls<'l>(lines: impl Iterator<Item = (u64, &'l [u8])>) -> Result<(Vec<(String, String)>, Instant), Unusable> {
    let (mut open, mut latest) = (BTreeMap::new(), Instant::ZERO);
    for (number, line) in lines {
        let damaged = |what: String| Unusable::Damaged { line: number, what };
        let fields: Line = serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))?;
        latest = latest.max(fields.at());
        match fields.kind.as_deref() {
            Some("call") => {
                let text = std::str::from_utf8(line).map_err(|_| damaged("it is not UTF-8".to_owned()))?;
                if let Ok(Said::Input(_, Input::Call(new))) = Said::parse(text.trim_end()) {
                    open.insert(new.name, new.tool);
                }
            }
            Some("decision") if fields.event.as_deref() == Some("outcome") => {
                fields.id.and_then(|id| open.remove(&id));
            }
            _ => {}
        }
    }
    Ok((open.into_iter().collect(), latest))
}
