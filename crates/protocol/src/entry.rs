//! The lines of a journal behind its head, read; and whether what was decided follows from what was said.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::value::RawValue;

use playproof_engine::time::{Duration, Instant};

use crate::error::LineError;
use crate::said::{Input, Said};

/// A line of a journal behind its head.
#[derive(Clone, Debug)]
pub enum Entry<'l> {
    /// A line of the driver.
    Said(Instant, Input),
    /// The program that had the state of transactions is gone.
    Crash(Instant),
    /// An end of an earlier file.
    End(&'l str),
    /// A call was made for a step.
    Step(NewStep),
    /// The luck of the wait that follows an attempt.
    Draw {
        /// The call.
        id: String,
        /// The number of the attempt.
        attempt: u64,
        /// From 0 to 1, as it is written.
        draw: String,
    },
    /// A decision.
    Decision {
        /// The call.
        id: String,
        /// What was decided: an object without its beginning up to the id.
        event: &'l str,
    },
}

/// A call that was made for a step of an action.
#[derive(Clone, Debug, Deserialize)]
pub struct NewStep {
    /// Its name.
    #[serde(rename = "step")]
    pub id: String,
    /// The name of its action.
    pub of: String,
    /// When it was made.
    pub at_ms: serde_json::Number,
    /// Its tool.
    pub tool: String,
    /// Its arguments.
    pub args: Box<RawValue>,
    /// Its idempotency key.
    pub key: Option<String>,
}

#[derive(Debug, Deserialize)]
struct CrashFields {
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
    ///
    /// # Errors
    /// It is damaged, or no line of a journal.
    pub fn parse(text: &'l str) -> Result<Entry<'l>, String> {
        let broken = |error: serde_json::Error| error.to_string();
        if is_of_type(text, "end") {
            return Ok(Entry::End(text));
        }
        if is_of_type(text, "crash") {
            let CrashFields { at_ms } = serde_json::from_str(text).map_err(broken)?;
            let at = Duration::parse_millis(&at_ms.to_string()).ok_or("`at_ms` is no moment")?;
            return Ok(Entry::Crash(Instant::ZERO.plus(at)));
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
            Ok(Said::Input(at, input)) => Ok(Entry::Said(at, input)),
            Ok(Said::Hello(_) | Said::Ask(_)) => Err("it is no line of a journal".to_owned()),
            Err(LineError { text, .. }) => Err(text),
        }
    }
}

/// How the line of a decision begins.
const DECISION: &str = "{\"type\":\"decision\",\"id\":";

fn is_of_type(text: &str, kind: &str) -> bool {
    text.strip_prefix("{\"type\":\"").and_then(|rest| rest.strip_prefix(kind)).is_some_and(|rest| rest.starts_with('"'))
}

/// Takes a line of what was decided; `decided` has what follows from the lines before and the journal has yet to say.
///
/// # Errors
/// Another line follows, or none.
pub fn take_decided(decided: &mut VecDeque<String>, line: &str) -> Result<(), String> {
    match decided.pop_front() {
        Some(known) if known == line => Ok(()),
        Some(_) => Err("the playbook decides otherwise today".to_owned()),
        None => Err("nothing was said that it could follow from".to_owned()),
    }
}
