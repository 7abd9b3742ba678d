//! `playproof serve`: decides for a program by the dispatch protocol, over standard input and output.

use std::io::{self, BufReader, Write};
use std::sync::Arc;

use super::journal_file::JournalFile;
use crate::exit::{Exit, Failure};
use crate::output::{json_to_stdout, refused, say};
use crate::workspace::{Used, Workspace};
use crate::{files, outputs};
use playproof_formats::golden::{Lock, changes};
use playproof_formats::playbook::{fingerprint, rows};
use playproof_formats::shell::Command;
use playproof_serve::decider::Decider;
use playproof_serve::journal::{Resumed, Unusable, resume};
use playproof_serve::server::{Keep, serve};
use playproof_serve::session::Session;

/// The bytes of standard input that are read at once: what is ready is taken together.
const READ_AT_ONCE: usize = 1 << 20;

/// The rows or calls that a message names.
const SHOWN: usize = 5;

/// What is served.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It speaks `dispatch/1`: one line of JSON in, one out (docs/dispatch-protocol.md). It has no clock and no threads: the same
lines give the same answers. Python programs use the client of the package `playproof`.

Examples:
  playproof serve --playbook ours --journal calls.jsonl
  playproof serve --playbook standard --unlocked

Exit codes: 0 the input has ended, 2 a playbook that is not served, a journal that cannot be used or gone on with.")]
pub struct Args {
    /// The playbook: a name or a path [default: the project's]
    #[arg(long, value_name = "PLAYBOOK")]
    pub playbook: Option<String>,

    /// Keep every line here before it is answered, and go on from there after a restart. It has raw values
    #[arg(long, value_name = "FILE")]
    pub journal: Option<String>,

    /// The lock that approves the rows of the playbook [default: the project's]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<String>,

    /// Serve rows that no lock approves
    #[arg(long, conflicts_with = "lock")]
    pub unlocked: bool,
}

/// Serves until the input ends.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let (name, used) = workspace.playbook(args.playbook.as_deref())?;
    refuse_study(&name, &used)?;
    if !args.unlocked {
        refuse_unapproved(&name, &used, lock(args, &workspace)?.as_ref())?;
    }
    let decider = Decider {
        playbook: name,
        fingerprint: fingerprint(&used.plan.playbook).to_string(),
        engine: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let session = Session::new(used.plan, decider, args.journal.is_some());
    let (mut session, mut journal) = match &args.journal {
        None => (session, None),
        Some(path) => {
            let (session, journal) = journaled(path, session)?;
            (session, Some(journal))
        }
    };
    let input = BufReader::with_capacity(READ_AT_ONCE, files::open(files::STDIN)?);
    let kept = journal.as_mut().map(|journal| journal as &mut dyn Keep);
    serve(&mut session, input, Answers, kept).map_err(|error| refused(&error))?;
    Ok(Exit::Clean)
}

/// The session that a journal brings back, and its file, ready to go on.
fn journaled(path: &str, session: Session) -> Result<(Session, JournalFile), Failure> {
    outputs::refuse(path)?;
    let (mut file, bytes) = JournalFile::open(path)?;
    let Resumed { session, length, anew } = resume(&bytes, session).map_err(|why| unusable(path, why))?;
    if session.dropped_bytes() > 0 {
        let dropped = session.dropped_bytes();
        say(&format!("note: the last line of `{path}` was torn: its {dropped} bytes are dropped; it was not answered"));
        file.cut(length as u64)?;
    }
    let file = match anew {
        Some(beginning) => file.begin_anew(beginning.as_bytes())?,
        None => file,
    };
    Ok((session, file))
}

/// Refuses what is for study; presets are.
fn refuse_study(name: &str, used: &Used) -> Result<(), Failure> {
    match used.loaded.playbook.study.is_some() {
        false => Ok(()),
        true => Err(Failure::new(format!("the playbook `{name}` is for study, and is not served"))
            .help("its `study` block says why: it does what no dispatcher should do")),
    }
}

/// The lock that was named, else the project's.
fn lock(args: &Args, workspace: &Workspace) -> Result<Option<Lock>, Failure> {
    match &args.lock {
        Some(path) => Ok(Some(Lock::parse(Arc::clone(&files::read_small(path)?))?)),
        None => workspace.read_lock(),
    }
}

fn refuse_unapproved(name: &str, used: &Used, lock: Option<&Lock>) -> Result<(), Failure> {
    let rows = rows(&used.loaded.playbook);
    let section = lock.and_then(|lock| lock.playbooks.get(name));
    let changes = changes(section, rows.iter().map(|row| (row.name.as_str(), row.text.as_str())));
    if changes.is_empty() {
        return Ok(());
    }
    let shown = first_of(changes.iter().map(|change| format!("`{}` ({})", change.name, change.became())));
    let said = match section {
        None => format!("no lock approves the rows of the playbook `{name}`"),
        Some(_) => format!("the lock does not approve these rows of the playbook `{name}`: {shown}"),
    };
    let accept = Command::new("playproof accept").name(name).flag("--reason", "TEXT");
    let help = "what is served was reviewed: accept the rows, or serve them as they are with `--unlocked`";
    Err(Failure::new(said).help(help).next(accept))
}

/// The first of some things, and how many more there are.
fn first_of(mut all: impl Iterator<Item = String>) -> String {
    let mut shown: Vec<String> = all.by_ref().take(SHOWN).collect();
    match all.count() {
        0 => {}
        more => shown.push(format!("{more} more")),
    }
    shown.join(", ")
}

/// Why a journal is not gone on with.
fn unusable(path: &str, why: Unusable) -> Failure {
    match why {
        Unusable::Damaged { line, what } => Failure::new(format!("{path}:{line}: {what}"))
            .help("a journal is never changed by hand; move it away after somebody has looked into its open calls"),
        Unusable::Open { by, calls } => {
            let shown = first_of(calls.iter().map(|(id, tool)| format!("`{id}` ({tool})")));
            let Decider { playbook, fingerprint, engine } = *by;
            let short = fingerprint.get(..12).unwrap_or(&fingerprint);
            let said = format!("`{path}` has open calls that another playbook or engine decides: {shown}");
            Failure::new(said).help(format!(
                "serve it with the playbook `{playbook}` ({short}) and version {engine} until they have ended, or move the \
                 journal away after somebody has looked into them"
            ))
        }
    }
}

/// Standard output.
struct Answers;

impl Write for Answers {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        json_to_stdout(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(()) // each write is flushed
    }
}
