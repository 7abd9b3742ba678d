//! The journal: the lines that a session has read, and what it decided. Reading it again brings the session back. Knows no
//! files.
//!
//! ```text
//! {"type":"journal","protocol":"dispatch/1",..}   the head: what decides, and the latest moment before
//! {"type":"end",..}                               an end of an earlier file that a driver may not have heard
//! {"type":"call",..}, {"type":"answer",..}, ..    lines of the driver, as they were read
//! {"type":"crash",..}                             the program that had the state of transactions is gone
//! {"type":"step"|"draw"|"decision",..}            what was decided of the lines before
//! ```
//!
//! The lines of a chained journal have `prev` and `hash` at their end, and are read without.

use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;

use playproof_engine::event::Act;
use playproof_engine::plan::Plan;
use playproof_engine::time::{Duration, Instant};
use playproof_protocol::chain::bare;

use crate::decider::Decider;
use crate::entry::{Entry, take_decided};
use crate::protocol::PROTOCOL;
use crate::said::Input;
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
    /// Something else decided it, and calls are open.
    Open {
        /// What decided it.
        by: Box<Decider>,
        /// The calls that have not ended.
        calls: Vec<OpenCall>,
    },
}

/// A call that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// Its id.
    pub id: String,
    /// Its tool.
    pub tool: String,
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

/// How the head begins.
pub(crate) const HEAD: &[u8] = b"{\"type\":\"journal\",\"protocol\":\"dispatch/";

/// What is said of a file that begins otherwise.
const NO_JOURNAL: &str = "this is no journal of `playproof serve`";

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
    let bytes = &*bare(bytes);
    let mut lines = (1..).zip(whole_lines(bytes));
    let Some((_, first)) = lines.next() else {
        if !bytes.starts_with(HEAD) && !HEAD.starts_with(bytes) {
            return Err(Unusable::Damaged { line: 1, what: NO_JOURNAL.to_owned() });
        }
        let anew = Some(session.head());
        return Ok(Resumed { session, length, anew });
    };
    let (decider, at) = head(first).map_err(|what| Unusable::Damaged { line: 1, what })?;
    session.begin_at(at);
    if decider != *session.decider() {
        let (calls, latest) = open_calls(bytes, session.plan())?;
        session.begin_at(latest);
        return match calls.is_empty() {
            true => Ok(Resumed { anew: Some(session.head()), session, length }),
            false => Err(Unusable::Open { by: Box::new(decider), calls }),
        };
    }
    let (mut decided, mut has_said) = (VecDeque::new(), false);
    for (number, line) in lines {
        let taken = text(line).and_then(|text| {
            let entry = Entry::parse(text)?;
            has_said |= !matches!(entry, Entry::End(_));
            take(&mut session, &mut decided, text, entry)
        });
        taken.map_err(|what| Unusable::Damaged { line: number, what })?;
    }
    session.keep_records(decided);
    let anew = (has_said && session.is_idle()).then(|| session.head());
    Ok(Resumed { session, length, anew })
}

/// Takes a line of a journal; `decided` has what the session decided of the lines before and the journal has yet to say.
fn take(session: &mut Session, decided: &mut VecDeque<String>, text: &str, entry: Entry<'_>) -> Result<(), String> {
    let is_crash = matches!(entry, Entry::Crash(_));
    match (session.read_again(&entry), entry) {
        (Some(records), _) => {
            decided.extend(records);
            if is_crash { take_decided(decided, text) } else { Ok(()) }
        }
        (None, Entry::End(end)) => session.take_end(end),
        (None, _) => take_decided(decided, text),
    }
}

/// What decided a journal, and the latest moment before it, from its first line.
fn head(line: &[u8]) -> Result<(Decider, Instant), String> {
    let head =
        serde_json::from_slice(line).ok().filter(|head: &Head| (&*head.kind, &*head.protocol) == ("journal", PROTOCOL));
    let Head { playbook, fingerprint, engine, shadow, at_ms, .. } = head.ok_or_else(|| NO_JOURNAL.to_owned())?;
    let at = Duration::parse_millis(&at_ms.to_string()).unwrap_or_default();
    Ok((Decider { playbook, fingerprint, engine, shadow }, Instant::ZERO.plus(at)))
}

/// The calls of a journal that have not ended, as far as it says so, and those that may not be made again before their
/// transaction is committed; its latest moment.
fn open_calls(bytes: &[u8], plan: &Plan) -> Result<(Vec<OpenCall>, Instant), Unusable> {
    let Contents { at: mut latest, entries, .. } = contents(bytes)?;
    let (mut open, mut once, mut commits) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (_, entry) in entries {
        match entry {
            Entry::Said(at, input) => {
                latest = latest.max(at);
                match input {
                    Input::Call(new) => {
                        let transaction = (new.run, new.transaction);
                        if new.act == Some(Act::Commit) {
                            commits.insert(new.name.clone(), transaction);
                        } else if new.act.is_none() && plan.facts(&new.tool).once {
                            once.insert(new.name.clone(), (transaction, new.tool.clone()));
                        }
                        open.insert(new.name, new.tool);
                    }
                    Input::EndRun(run) => once.retain(|_, ((of, _), _)| *of != run),
                    Input::Answer(_) | Input::Wake(_) | Input::Cancel(_) | Input::Resolve(..) => {}
                }
            }
            Entry::Decision { id, event } if event.contains(",\"event\":\"outcome\",") => {
                open.remove(&id);
                if let Some(committed) = commits.remove(&id)
                    && event.contains(",\"outcome\":\"succeeded\"")
                {
                    once.retain(|_, (of, _)| *of != committed);
                }
            }
            Entry::Crash(_) | Entry::End(_) | Entry::Step(_) | Entry::Draw { .. } | Entry::Decision { .. } => {}
        }
    }
    open.extend(once.into_iter().map(|(id, (_, tool))| (id, tool)));
    Ok((open.into_iter().map(|(id, tool)| OpenCall { id, tool }).collect(), latest))
}
