//! `playproof serve`: decides for a program by the dispatch protocol, over standard input and output.

use std::io::{self, BufReader, Write};
use std::sync::Arc;

use super::journal_file::JournalFile;
use crate::exit::{Exit, Failure};
use crate::inputs::{first_of, unusable_journal};
use crate::output::{json_to_stdout, refused, say};
use crate::workspace::{Used, Workspace};
use crate::{files, outputs};
use playproof_formats::golden::{Lock, changes};
use playproof_formats::playbook::{fingerprint, rows};
use playproof_formats::shell::Command;
use playproof_serve::decider::Decider;
use playproof_serve::journal::{Resumed, resume};
use playproof_serve::server::{Keep, serve};
use playproof_serve::session::Session;

/// The bytes of standard input that are read at once: what is ready is taken together.
const READ_AT_ONCE: usize = 1 << 20;

/// What is served.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It speaks `dispatch/1`: one line of JSON in, one out (`playproof help dispatch`, `help journal`, `schema dispatch`). It has no clock and no threads: the same
lines give the same answers. Python programs use the client of the package `playproof`.

Examples:
  playproof serve --playbook ours --journal calls.jsonl
  playproof serve --playbook standard --unlocked
  playproof serve --playbook ours --journal shadow.jsonl --shadow
  playproof replay shadow.jsonl

Exit codes: 0 the input has ended, 2 a playbook that is not served, a journal that cannot be used or gone on with.")]
pub struct Args {
    /// The playbook: a name or a path [default: the project's]
    #[arg(long, value_name = "PLAYBOOK")]
    pub playbook: Option<String>,

    /// Keep every line here before it is answered, and go on from there after a restart. It has raw values
    #[arg(long, value_name = "FILE")]
    pub journal: Option<String>,

    /// Link each line of the journal to the one before it (`playproof audit verify`)
    #[arg(long, requires = "journal")]
    pub chain: bool,

    /// The lock that approves the rows of the playbook [default: the project's]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<String>,

    /// Serve rows that no lock approves
    #[arg(long, conflicts_with = "lock")]
    pub unlocked: bool,

    /// Have every call sent once, as without a playbook, and keep in the journal what the playbook would have done
    #[arg(long, requires = "journal")]
    pub shadow: bool,
}

/// Serves until the input ends.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let workspace = Workspace::open()?;
    let (name, used) = workspace.playbook(args.playbook.as_deref())?;
    refuse_study(&name, &used)?;
    if !args.unlocked {
        let unlocked = Command::new("playproof serve --playbook").name(&name).and("--unlocked");
        approved_only(&name, &used, lock(args, &workspace)?.as_ref(), unlocked)?;
    }
    let decider = Decider {
        playbook: name,
        fingerprint: fingerprint(&used.plan.playbook).to_string(),
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        shadow: args.shadow,
    };
    let session = Session::new(used.plan, decider, args.journal.is_some());
    let (mut session, mut journal) = match &args.journal {
        None => (session, None),
        Some(path) => {
            let (session, journal) = journaled(path, args.chain, session)?;
            (session, Some(journal))
        }
    };
    let input = BufReader::with_capacity(READ_AT_ONCE, files::open(files::STDIN)?);
    let kept = journal.as_mut().map(|journal| journal as &mut dyn Keep);
    serve(&mut session, input, Answers, kept).map_err(|error| refused(&error))?;
    Ok(Exit::Clean)
}

/// The session that a journal brings back, and its file, ready to go on.
fn journaled(path: &str, chained: bool, session: Session) -> Result<(Session, JournalFile), Failure> {
    outputs::refuse(path)?;
    let (mut file, bytes) = JournalFile::open(path, chained)?;
    let Resumed { session, length, anew } = resume(&bytes, session).map_err(|why| unusable_journal(path, why))?;
    if session.dropped_bytes() > 0 {
        let dropped = session.dropped_bytes();
        say(&format!("note: the last line of `{path}` was torn: its {dropped} bytes are dropped; it was not answered"));
        file.cut(length as u64)?;
    }
    if let Some(beginning) = anew {
        file.begin_anew(beginning.as_bytes()).map_err(|error| file.unusable(&error))?;
    }
    Ok((session, file))
}

/// Refuses what is for study; presets are.
pub fn refuse_study(name: &str, used: &Used) -> Result<(), Failure> {
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

/// Refuses rows that the lock does not approve; `unlocked` is the command that takes them where there is no lock.
pub fn approved_only(name: &str, used: &Used, lock: Option<&Lock>, unlocked: Command) -> Result<(), Failure> {
    let rows = rows(&used.loaded.playbook);
    let section = lock.and_then(|lock| lock.playbooks.get(name));
    let changes = changes(section, rows.iter().map(|row| (row.name.as_str(), row.text.as_str())));
    if changes.is_empty() {
        return Ok(());
    }
    let shown = first_of(changes.iter().map(|change| format!("`{}` ({})", change.name, change.became())));
    if lock.is_none() {
        return Err(Failure::new(format!("no lock approves the rows of the playbook `{name}`"))
            .help("there is no lock here; what nobody has reviewed is served with `--unlocked`")
            .next(unlocked));
    }
    let said = match section {
        None => format!("no lock approves the rows of the playbook `{name}`"),
        Some(_) => format!("the lock does not approve these rows of the playbook `{name}`: {shown}"),
    };
    let accept = Command::new("playproof accept").name(name).flag("--reason", "TEXT");
    let help = "what is served was reviewed: accept the rows, or serve them as they are with `--unlocked`";
    Err(Failure::new(said).help(help).next(accept))
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
