//! The loop: what happens at the pipes and what is due, one thing after the other, each forwarded in the step in which it
//! came.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitStatus;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration as RealDuration;

use playproof_engine::time::Duration;
use playproof_intake::redact::RedactionRules;
use playproof_serve::session::Session;

use crate::clock::Clock;
use crate::connection::Connection;
use crate::deciding::Deciding;
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
    /// What is done.
    pub mode: Mode,
    /// No attempt of a call but the first starts later.
    pub answer_within: Duration,
    /// A number of this process, for ids that no client makes.
    pub seed: u64,
}

/// What is done between client and server.
pub enum Mode {
    /// Calls are recorded.
    Record,
    /// And it is said what a playbook would do.
    Shadow(Session),
    /// What the playbook decides.
    Enforce(Session),
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

/// What is said of a call whose server has ended.
const HOW: &str = "the server ended before it answered";

/// How long lines of a server that has ended may come: another process may have its pipe.
const AFTERWARDS: RealDuration = RealDuration::from_millis(500);

/// Joins a client on the standard streams and a server that it starts, until the server ends; `say` tells people.
///
/// # Errors
/// The server was not started.
pub fn run(command: &[OsString], options: Options, say: &mut dyn FnMut(&str)) -> Result<Ended, StartError> {
    let Options { connection, run_from, redaction, file, mode, answer_within, seed } = options;
    let is_obeyed = matches!(mode, Mode::Enforce(_));
    let redaction = if is_obeyed { RedactionRules::default() } else { redaction };
    let reading = Reading::new(connection, run_from, &redaction).ok_or(StartError::NoFormat)?;
    let (recording, deciding) = match mode {
        Mode::Record => (Recording::new(file), None),
        Mode::Shadow(session) => (Recording::new(file), Some(Deciding::new(session, None, Some(Shadow::default())))),
        Mode::Enforce(session) => (Recording::new(None), Some(Deciding::new(session, file, None))),
    };
    let mut between = Connection::new(reading, recording, deciding, answer_within, seed);
    let mut pipes = Pipes::start(command).map_err(StartError::Unstarted)?;
    let nowhere = (!is_obeyed).then(Ways::nowhere); // what nobody obeys is not sent
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
            Ok(Event::Client(_)) if pipes.ways.server.is_none() => {} // it hears no answer
            Ok(Event::Client(line)) => {
                if !between.takes_of_client(&mut clock, acting(nowhere.as_ref(), &pipes), &line) || !is_obeyed {
                    pipes.ways.to_server(line);
                }
            }
            Ok(Event::Server(line)) => {
                if !between.takes_of_server(&mut clock, acting(nowhere.as_ref(), &pipes), &line) || !is_obeyed {
                    pipes.ways.to_client(line);
                }
            }
            Ok(Event::ClientEnd) => {
                pipes.ways.server = None;
                between.on_client_end(&mut clock, acting(nowhere.as_ref(), &pipes));
            }
            Ok(Event::Signal(signal)) => pipes.signal(signal),
            Ok(Event::Exited) => {
                pipes.exited();
                has_exited = true;
            }
            Ok(Event::ServerEnd) => {
                is_silent = true;
                has_exited |= cfg!(not(unix)); // elsewhere nothing else says it
                between.on_server_end(&mut clock, acting(nowhere.as_ref(), &pipes), HOW);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if has_exited => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        between.on_time(&mut clock, acting(nowhere.as_ref(), &pipes));
        between.take_said().iter().for_each(|line| say(line));
    }
    between.on_server_end(&mut clock, acting(nowhere.as_ref(), &pipes), HOW); // a call may have come since
    between.take_said().iter().for_each(|line| say(line));
    if between.recording.lost() > 0 {
        say(&format!("{} lines of the recording were lost", between.recording.lost()));
    }
    let guesses = between.reading.guesses();
    pipes.end().map(|status| Ended { status, guesses }).map_err(StartError::Unstarted)
}

/// Where what is decided goes.
fn acting<'a>(nowhere: Option<&'a Ways>, pipes: &'a Pipes) -> &'a Ways {
    nowhere.unwrap_or(&pipes.ways)
}
