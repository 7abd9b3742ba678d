//! The loop: what happens at the pipes and what is due, one thing after the other, each forwarded in the step in which it
//! came.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitStatus;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration as RealDuration;

use playproof_engine::time::{Duration, Instant};
use playproof_intake::mcp_messages::Way;
use playproof_intake::redact::RedactionRules;
use playproof_serve::session::Session;

use crate::clock::Clock;
use crate::deciding::Deciding;
use crate::enforcer::{Enforcer, nonce};
use crate::message::Message;
use crate::pipes::{Event, Pipes, Ways};
use crate::reading::{Reading, RunFrom};
use crate::recording::Recording;
use crate::shadow::Shadow;

/// How a proxy works.
pub struct Options {
    /// The run of the connection.
    pub connection: String,
    /// What a run is.
    pub run_from: RunFrom,
    /// What is hidden in a recording.
    pub redaction: RedactionRules,
    /// The file of the recording; enforced, it is the journal, and its head is written.
    pub file: Option<Box<dyn Write + Send>>,
    /// What decides, if something does.
    pub decides: Option<Enforced>,
    /// No attempt of a call but the first starts later.
    pub answer_within: Duration,
    /// A number of this process, for ids that no client makes.
    pub seed: u64,
}

/// A playbook that decides.
pub struct Enforced {
    /// The playbook.
    pub session: Session,
    /// Whether it is obeyed.
    pub is_obeyed: bool,
}

/// Why a server was not started.
#[derive(Debug)]
pub enum StartError {
    /// It could not be started.
    Unstarted(io::Error),
    /// The program lacks the format of the messages.
    NoFormat,
}

/// How a proxy ended.
#[derive(Debug)]
pub struct Ended {
    /// How the server ended.
    pub status: ExitStatus,
    /// A tools file that the hints of the server suggest.
    pub guesses: Option<String>,
}

/// What stands between client and server.
enum Between {
    Watching(Box<Watch>),
    Enforcing(Box<Enforcer>),
}

/// Records, and changes nothing.
struct Watch {
    reading: Reading,
    recording: Recording,
    shadow: Option<Shadow>,
}

/// How long lines of a server that has ended may come: another process may have its pipe.
const AFTERWARDS: RealDuration = RealDuration::from_millis(500);

/// Joins a client on the standard streams and a server that it starts, until the server ends; `say` tells people.
///
/// # Errors
/// The server was not started.
pub fn run(command: &[OsString], options: Options, say: &mut dyn FnMut(&str)) -> Result<Ended, StartError> {
    let Options { connection, run_from, redaction, file, decides, answer_within, seed } = options;
    let is_obeyed = decides.as_ref().is_some_and(|decides| decides.is_obeyed);
    let redaction = if is_obeyed { RedactionRules::default() } else { redaction };
    let reading = Reading::new(connection, run_from, &redaction).ok_or(StartError::NoFormat)?;
    let mut between = match decides {
        Some(Enforced { session, is_obeyed: true }) => {
            let deciding = Deciding::new(session, file);
            Between::Enforcing(Box::new(Enforcer::new(deciding, reading, answer_within, nonce(seed))))
        }
        other => {
            let shadow = other.map(|decides| Shadow::new(Deciding::new(decides.session, None), answer_within));
            Between::Watching(Box::new(Watch { reading, recording: Recording::new(file), shadow }))
        }
    };
    let mut pipes = Pipes::start(command).map_err(StartError::Unstarted)?;
    let mut clock = Clock::new();
    let (mut has_exited, mut is_silent) = (false, false);
    while !(has_exited && is_silent) {
        let wait = match (has_exited, between.due()) {
            (true, _) => Some(AFTERWARDS),
            (false, Some(due)) => Some(clock.until(due)),
            (false, None) => None,
        };
        let event = match wait {
            Some(wait) => pipes.events.recv_timeout(wait),
            None => pipes.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match event {
            Ok(Event::Client(line)) => between.on_client(&mut clock, &pipes.ways, line, say),
            Ok(Event::Server(line)) => between.on_server(&mut clock, &pipes.ways, line, say),
            Ok(Event::ClientEnd) => {
                pipes.ways.server = None;
                between.on_client_end(&mut clock, &pipes.ways);
            }
            Ok(Event::Signal(signal)) => pipes.signal(signal),
            Ok(Event::Exited) => {
                pipes.exited();
                has_exited = true;
            }
            Ok(Event::ServerEnd) => {
                is_silent = true;
                has_exited |= cfg!(not(unix)); // elsewhere nothing else says it
                between.on_server_end(&mut clock, &pipes, say);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if has_exited => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        between.on_time(&mut clock, &pipes.ways);
        between.tell(say);
    }
    between.on_server_end(&mut clock, &pipes, say); // a call may have come since
    between.end(say);
    let guesses = between.reading().guesses();
    pipes.end().map(|status| Ended { status, guesses }).map_err(StartError::Unstarted)
}

impl Between {
    fn due(&self) -> Option<Instant> {
        match self {
            Between::Watching(_) => None,
            Between::Enforcing(enforcer) => enforcer.due(),
        }
    }

    fn on_client(&mut self, clock: &mut Clock, ways: &Ways, line: Vec<u8>, say: &mut dyn FnMut(&str)) {
        match self {
            Between::Watching(watch) => watch.pass(clock, Way::ToServer, line, |line| ways.to_server(line), say),
            Between::Enforcing(enforcer) => enforcer.on_client(clock, ways, line),
        }
    }

    fn on_server(&mut self, clock: &mut Clock, ways: &Ways, line: Vec<u8>, say: &mut dyn FnMut(&str)) {
        match self {
            Between::Watching(watch) => watch.pass(clock, Way::ToClient, line, |line| ways.to_client(line), say),
            Between::Enforcing(enforcer) => enforcer.on_server(clock, ways, line),
        }
    }

    fn on_client_end(&mut self, clock: &mut Clock, ways: &Ways) {
        match self {
            Between::Watching(_) => {}
            Between::Enforcing(enforcer) => enforcer.on_client_end(clock, ways),
        }
    }

    fn on_time(&mut self, clock: &mut Clock, ways: &Ways) {
        match self {
            Between::Watching(_) => {}
            Between::Enforcing(enforcer) => enforcer.on_time(clock, ways),
        }
    }

    fn on_server_end(&mut self, clock: &mut Clock, pipes: &Pipes, say: &mut dyn FnMut(&str)) {
        const HOW: &str = "the server ended before it answered";
        match self {
            Between::Watching(watch) => {
                let lines = watch.recording.interrupted(clock.now(), HOW);
                watch.keep(&lines, say);
            }
            Between::Enforcing(enforcer) => enforcer.on_server_end(clock, &pipes.ways, HOW),
        }
        self.tell(say);
    }

    fn end(&self, say: &mut dyn FnMut(&str)) {
        if let Between::Watching(watch) = self
            && watch.recording.lost() > 0
        {
            say(&format!("{} lines of the recording were lost", watch.recording.lost()));
        }
    }

    fn tell(&mut self, say: &mut dyn FnMut(&str)) {
        match self {
            Between::Watching(_) => {}
            Between::Enforcing(enforcer) => enforcer.take_said().iter().for_each(|line| say(line)),
        }
    }

    const fn reading(&self) -> &Reading {
        match self {
            Between::Watching(watch) => &watch.reading,
            Between::Enforcing(enforcer) => enforcer.reading(),
        }
    }
}

impl Watch {
    /// Passes a line as it is, and then records what it says.
    fn pass(
        &mut self,
        clock: &mut Clock,
        way: Way,
        line: Vec<u8>,
        send: impl FnOnce(Vec<u8>),
        say: &mut dyn FnMut(&str),
    ) {
        let at = clock.now();
        let said = std::str::from_utf8(&line).ok().and_then(|text| Some((text, Message::parse(text)?)));
        let lines = said.map(|(text, message)| self.reading.read(way, at, &message, text));
        send(line);
        if let Some(lines) = lines {
            self.keep(&lines, say);
        }
    }

    /// Keeps trace lines, and what a playbook decides of them.
    fn keep(&mut self, lines: &str, say: &mut dyn FnMut(&str)) {
        if lines.is_empty() {
            return;
        }
        let (decided, said) = self.shadow.as_mut().map(|shadow| shadow.take(lines)).unwrap_or_default();
        said.iter().for_each(|line| say(line));
        let lost = self.recording.write(&format!("{lines}{decided}"));
        lost.iter().for_each(|why| say(why));
    }
}
