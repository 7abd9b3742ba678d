//! What a playbook decides: lines of the dispatch protocol in, what is wanted out. Each line is kept before anything follows
//! from it.

use std::io::{self, Write};

use serde::Deserialize;
use serde_json::from_str;
use serde_json::value::RawValue;

use playproof_engine::time::{Duration, Instant};
use playproof_protocol::said::{Hello, Said};
use playproof_serve::session::Session;

use crate::shadow::Shadow;

type Journal = Box<dyn Write + Send>;

/// A session, and where its decisions go.
pub(crate) struct Deciding {
    pub(crate) session: Session,
    journal: Option<Journal>,
    /// Where its decisions go that nobody obeys.
    pub(crate) shadow: Option<Shadow>,
    /// Why the journal cannot be written any more.
    broken: Option<String>,
}

/// What is wanted, or why nothing is.
#[derive(Debug, Deserialize)]
struct Wanted<'a> {
    #[serde(rename = "do", default, borrow)]
    wants: Vec<&'a RawValue>,
    error: Option<&'a RawValue>,
}

/// One thing that is wanted, told by the fields that it alone has.
#[derive(Debug)]
pub(crate) enum Want {
    Ask(Ask),
    Send(Attempt),
    Wait(Wait),
    End(End),
}

/// A request that the connection has nothing for: what refreshes or reverses.
#[derive(Debug, Deserialize)]
pub(crate) struct Ask {
    #[serde(rename = "send")]
    pub(crate) name: String,
    pub(crate) asked: String,
}

/// An attempt of a call.
#[derive(Debug, Deserialize)]
pub(crate) struct Attempt {
    #[serde(rename = "send")]
    pub(crate) name: String,
    #[serde(rename = "attempt")]
    pub(crate) number: u32,
    within_ms: Box<RawValue>,
}

/// A moment that a call waits for.
#[derive(Debug, Deserialize)]
pub(crate) struct Wait {
    #[serde(rename = "wait")]
    pub(crate) name: String,
    until_ms: Box<RawValue>,
}

/// How a call has ended.
#[derive(Debug, Deserialize)]
pub(crate) struct End {
    #[serde(rename = "done")]
    pub(crate) name: String,
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
    fn parse(want: &RawValue) -> serde_json::Result<Want> {
        let text = want.get();
        from_str(text)
            .map(Want::Ask)
            .or_else(|_| from_str(text).map(Want::Send))
            .or_else(|_| from_str(text).map(Want::Wait))
            .or_else(|_| from_str(text).map(Want::End))
    }
}

impl Attempt {
    pub(crate) fn within(&self) -> Duration {
        Duration::parse_millis(self.within_ms.get()).unwrap_or_default()
    }
}

impl Wait {
    pub(crate) fn until(&self) -> Instant {
        Instant::ZERO.plus(Duration::parse_millis(self.until_ms.get()).unwrap_or_default())
    }
}

impl Deciding {
    /// Goes on with a journal, whose head is written.
    pub(crate) fn new(mut session: Session, journal: Option<Journal>, shadow: Option<Shadow>) -> Deciding {
        session.answer(Said::Hello(Hello { messages: vec!["openai".to_owned()], ..Hello::default() }));
        Deciding { session, journal, shadow, broken: None }
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
        let answer = self.session.answer(said);
        let wanted: Wanted<'_> = from_str(&answer).map_err(|error| error.to_string())?;
        match wanted.error {
            Some(error) => Err(error.get().to_owned()),
            None => wanted.wants.into_iter().map(|want| Want::parse(want).map_err(|error| error.to_string())).collect(),
        }
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
