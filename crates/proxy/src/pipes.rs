//! The server's process and the pipes: a thread for each that reads whole lines, one for each that writes, one that waits for
//! the process, one for signals. What is written waits in queues without a bound, so that a side that does not read stops
//! nobody. Knows no messages.

#![expect(clippy::disallowed_methods, reason = "a proxy owns its standard streams")]

use std::cell::Cell;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// What happens at the pipes.
#[derive(Debug)]
pub(crate) enum Event {
    /// A line of the client, with its end if it has one.
    Client(Vec<u8>),
    /// The client sends nothing more, or hears nothing.
    ClientEnd,
    /// A line of the server.
    Server(Vec<u8>),
    /// The server sends nothing more.
    ServerEnd,
    /// The server's process has ended.
    Exited,
    /// A signal for the server.
    Signal(i32),
}

/// Events that wait for the loop, which never blocks.
const EVENTS: usize = 1_024;

/// The bytes that are read at once.
const READ_AT_ONCE: usize = 64 << 10;

/// The ways out. A dropped way ends its pipe, once all before is written.
#[derive(Debug)]
pub(crate) struct Ways {
    client: Sender<Vec<u8>>,
    pub(crate) server: Option<Sender<Vec<u8>>>,
    /// The last line to the client has no end.
    is_torn: Cell<bool>,
}

impl Ways {
    fn new(client: Sender<Vec<u8>>, server: Option<Sender<Vec<u8>>>) -> Ways {
        Ways { client, server, is_torn: Cell::default() }
    }

    /// Ways that lead nowhere.
    pub(crate) fn nowhere() -> Ways {
        Ways::new(channel().0, None)
    }

    /// A line that the server left unended stays one of its own.
    pub(crate) fn to_client(&self, line: impl Into<Vec<u8>>) {
        let mut line = line.into();
        if self.is_torn.replace(!line.ends_with(b"\n")) {
            line.insert(0, b'\n');
        }
        let _ = self.client.send(line); // the client is gone
    }

    pub(crate) fn to_server(&self, line: impl Into<Vec<u8>>) {
        if let Some(server) = &self.server {
            let _ = server.send(line.into()); // the server is gone
        }
    }
}

/// The process of the server, with its pipes.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) events: Receiver<Event>,
    pub(crate) ways: Ways,
    child: Child,
    has_exited: bool,
    writing: JoinHandle<()>,
}

impl Pipes {
    /// Starts the server.
    pub(crate) fn start(command: &[OsString]) -> io::Result<Pipes> {
        let (program, args) = command.split_first().ok_or(io::ErrorKind::NotFound)?;
        let (sender, events) = sync_channel(EVENTS);
        signals(sender.clone())?;
        let mut child = Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (client, to_client) = channel();
        let (server, to_server) = channel();
        let lost = || io::Error::other("the server has no pipes");
        let (stdin, stdout) = (child.stdin.take().ok_or_else(lost)?, child.stdout.take().ok_or_else(lost)?);
        let (of_client, of_server, of_writer) = (sender.clone(), sender.clone(), sender.clone());
        thread::spawn(move || write(stdin, &to_server, || {}));
        let writing = thread::spawn(move || {
            write(io::stdout(), &to_client, || drop(of_writer.send(Event::ClientEnd))); // it hears nothing any more
        });
        thread::spawn(move || read(io::stdin(), &of_client, Event::Client, Event::ClientEnd));
        thread::spawn(move || read(stdout, &of_server, Event::Server, Event::ServerEnd));
        waits(&child, sender);
        Ok(Pipes { events, ways: Ways::new(client, Some(server)), child, has_exited: false, writing })
    }

    /// The process has ended: no signal reaches another one that has its number.
    pub(crate) const fn exited(&mut self) {
        self.has_exited = true;
    }

    /// Hands a signal on.
    pub(crate) fn signal(&self, signal: i32) {
        #[cfg(unix)]
        if !self.has_exited
            && let Some(signal) = rustix::process::Signal::from_named_raw(signal)
        {
            let _ = rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal);
        }
        #[cfg(not(unix))]
        let _ = signal;
    }

    /// Waits until the server has ended and the client has everything.
    pub(crate) fn end(self) -> io::Result<ExitStatus> {
        let Pipes { events, ways, mut child, writing, .. } = self;
        let status = child.wait();
        drop((events, ways)); // nobody waits for the loop
        let _ = writing.join(); // it does not panic
        status
    }
}

/// Reads lines until the end; a pipe that fails has ended.
fn read(source: impl Read, events: &SyncSender<Event>, line: fn(Vec<u8>) -> Event, end: Event) {
    let mut source = BufReader::with_capacity(READ_AT_ONCE, source);
    loop {
        let mut bytes = Vec::new();
        let is_read = source.read_until(b'\n', &mut bytes).is_ok();
        if !bytes.is_empty() && events.send(line(bytes)).is_err() {
            return;
        }
        if !is_read || source.fill_buf().map_or(true, <[u8]>::is_empty) {
            let _ = events.send(end); // the loop has ended
            return;
        }
    }
}

/// Writes until the way is dropped; what cannot be written is lost, as if the reader had not read it.
fn write(mut pipe: impl Write, lines: &Receiver<Vec<u8>>, on_closed: impl Fn()) {
    let mut is_open = true;
    while let Ok(line) = lines.recv() {
        if is_open && pipe.write_all(&line).and_then(|()| pipe.flush()).is_err() {
            is_open = false;
            on_closed();
        }
    }
}

/// Says when the process has ended, and leaves it to be asked.
#[cfg(unix)]
fn waits(child: &Child, events: SyncSender<Event>) {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let pid = Pid::from_child(child);
    thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), options), Err(rustix::io::Errno::INTR)) {}
        let _ = events.send(Event::Exited);
    });
}

/// Elsewhere the end of the server's output says it.
#[cfg(not(unix))]
fn waits(_: &Child, _: SyncSender<Event>) {}

/// Takes the signals that are meant for the server.
#[cfg(unix)]
fn signals(events: SyncSender<Event>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    thread::spawn(move || signals.forever().all(|signal| events.send(Event::Signal(signal)).is_ok()));
    Ok(())
}

#[cfg(not(unix))]
fn signals(_: SyncSender<Event>) -> io::Result<()> {
    Ok(())
}
