//! What a playbook decides: lines of the dispatch protocol in, what is wanted out. Each line is kept before anything follows
//! from it.

use std::io::{self, Write};

use serde::Deserialize;
use serde_json::value::RawValue;

use playproof_engine::time::{Duration, Instant};
use playproof_protocol::said::{Hello, Said};
use playproof_serve::session::Session;

/// A session and its journal.
pub(crate) struct Deciding {
    pub(crate) session: Session,
    journal: Option<Box<dyn Write + Send>>,
    /// Why the journal cannot be written any more.
    broken: Option<String>,
}

/// What is wanted.
#[derive(Debug, Deserialize)]
struct Wanted {
    #[serde(rename = "do", default)]
    wants: Vec<Want>,
    error: Option<Box<RawValue>>,
}

/// One thing that is wanted: a request to send, a moment to wait for, a call that has ended.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Want {
    pub(crate) send: Option<String>,
    pub(crate) attempt: Option<u32>,
    pub(crate) asked: Option<String>,
    within_ms: Option<Box<RawValue>>,
    pub(crate) wait: Option<String>,
    until_ms: Option<Box<RawValue>>,
    pub(crate) done: Option<String>,
    pub(crate) outcome: Option<String>,
    pub(crate) effect: Option<Box<RawValue>>,
    pub(crate) attempts: Option<Box<RawValue>>,
    pub(crate) queue: Option<Box<RawValue>>,
    pub(crate) stop: Option<Box<RawValue>>,
    pub(crate) why: Option<Box<RawValue>>,
    pub(crate) told: Option<Box<RawValue>>,
    pub(crate) valid_next: Option<Box<RawValue>>,
    pub(crate) value_of: Option<String>,
    pub(crate) messages: Option<Messages>,
}

/// What the agent gets, in the forms that were wished.
#[derive(Debug, Deserialize)]
pub(crate) struct Messages {
    pub(crate) openai: Option<Prose>,
}

/// A message in prose.
#[derive(Debug, Deserialize)]
pub(crate) struct Prose {
    pub(crate) content: String,
}

impl Want {
    pub(crate) fn within(&self) -> Duration {
        self.within_ms.as_ref().and_then(|ms| Duration::parse_millis(ms.get())).unwrap_or_default()
    }

    pub(crate) fn until(&self) -> Instant {
        let until = self.until_ms.as_ref().and_then(|ms| Duration::parse_millis(ms.get()));
        Instant::ZERO.plus(until.unwrap_or_default())
    }
}

impl Deciding {
    /// Goes on with a journal, whose head is written.
    pub(crate) fn new(mut session: Session, journal: Option<Box<dyn Write + Send>>) -> Deciding {
        session.answer(Said::Hello(Hello { messages: vec!["openai".to_owned()], ..Hello::default() }));
        Deciding { session, journal, broken: None }
    }

    /// What follows from a line, or why nothing does: it cannot be kept, or the session refuses it.
    pub(crate) fn say(&mut self, line: &str) -> Result<Vec<Want>, String> {
        if let Some(why) = &self.broken {
            return Err(why.clone());
        }
        let said = Said::parse(line).map_err(|error| error.text)?;
        if let Err(error) = self.keep(Some(line)) {
            return Err(self.broken.insert(format!("the journal cannot be written ({error})")).clone());
        }
        let wanted: Wanted = serde_json::from_str(&self.session.answer(said)).map_err(|error| error.to_string())?;
        wanted.error.map_or(Ok(wanted.wants), |error| Err(error.get().to_owned()))
    }

    /// Keeps what was decided last.
    pub(crate) fn end(&mut self) {
        let _ = self.keep(None); // it follows from the lines that are kept
    }

    fn keep(&mut self, line: Option<&str>) -> io::Result<()> {
        let decided = self.session.take_records();
        let Some(journal) = self.journal.as_mut().filter(|_| self.broken.is_none()) else { return Ok(()) };
        let mut lines = String::new();
        for line in decided.iter().map(String::as_str).chain(line) {
            lines.push_str(line);
            lines.push('\n');
        }
        journal.write_all(lines.as_bytes())
    }
}
