//! `playproof proxy`: stands between an agent and its MCP server, over standard input and output.

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::Path;

use super::recording_file::{RecordingFile, begun, seed};
use crate::command::serve::{approved_only, refuse_study};
use crate::exit::{Exit, Failure, describe_io};
use crate::output::say;
use crate::project::Project;
use crate::workspace::Workspace;
use playproof_engine::time::{Duration, Instant};
use playproof_formats::playbook::fingerprint;
use playproof_formats::shell::Command;
use playproof_proxy::{Mode, Options, RunFrom, StartError, run as run_proxy};
use playproof_serve::decider::Decider;
use playproof_serve::session::Session;

/// Which server is joined, and what is done between.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Put it before the server's command in the settings of an MCP client. Without a playbook it records; with one it also
says what that would do, and changes nothing; with `--enforce` it does it (docs/proxy.md). All else passes byte for byte.

Examples:
  playproof proxy --record traces -- npx -y @example/server
  playproof proxy --record traces --playbook ours -- python server.py
  playproof proxy --record journals --playbook ours --enforce -- python server.py
  playproof replay traces

Exit codes: the server's, 128 + its signal, 127 or 126 if it cannot be started, 2 for wrong usage.")]
pub struct Args {
    /// Write a file for this process into this folder. Enforced, it is the journal and has raw values
    #[arg(long, value_name = "DIR")]
    pub record: Option<String>,

    /// The playbook: a name or a path
    #[arg(long, value_name = "PLAYBOOK")]
    pub playbook: Option<String>,

    /// Do what the playbook decides
    #[arg(long, requires = "playbook")]
    pub enforce: bool,

    /// Enforce rows that no lock approves
    #[arg(long, requires = "enforce")]
    pub unlocked: bool,

    /// Enforce with a journal although the project hides values: the journal has them as they are
    #[arg(long, requires = "enforce")]
    pub raw_journal: bool,

    /// Milliseconds after a call in which its last attempt starts: less than the client waits
    #[arg(long, value_name = "MS", default_value_t = 4_000, value_parser = crate::values::whole::<u64>(0..=86_400_000), requires = "playbook")]
    pub answer_within: u64,

    /// What a run is: `connection`, `traceparent` or `meta:KEY` (a key of `_meta`)
    #[arg(long, value_name = "WHAT", default_value = "connection", value_parser = run_from)]
    pub run_from: RunFrom,

    /// The name of the server in the file's name [default: its program]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// The server and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

fn run_from(word: &str) -> Result<RunFrom, String> {
    RunFrom::parse(word).ok_or_else(|| "it is `connection`, `traceparent` or `meta:KEY`".to_owned())
}

/// Joins client and server until the server ends.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    if args.record.is_none() && args.playbook.is_none() {
        return Err(Failure::new(
            "there is nothing to do: the calls are neither recorded nor compared with a playbook",
        )
        .help("name a folder with `--record`, or a playbook with `--playbook`"));
    }
    let workspace = Workspace::open()?;
    let redaction = Project::find()?.redaction;
    if args.enforce && args.record.is_some() && !redaction.is_empty() && !args.raw_journal {
        return Err(Failure::new("the project hides values, and a journal has them as they are")
            .help("enforce without `--record`, or write them down with `--raw-journal`"));
    }
    if let RunFrom::Meta(key) = &args.run_from
        && redaction.hides(key)
        && !args.raw_journal
    {
        return Err(Failure::new(format!("the project hides `{key}`, and the run of a call is written"))
            .help("name another key with `--run-from`"));
    }
    let program = args.command.first().map(|program| Path::new(program).file_name().unwrap_or(program));
    let name = args.name.clone().or_else(|| Some(program?.to_string_lossy().into_owned())).unwrap_or_default();
    let mode = match &args.playbook {
        Some(playbook) => deciding(args, &workspace, playbook)?,
        None => Mode::Record,
    };
    let recording = args.record.as_ref().map(|folder| RecordingFile::in_folder(folder, &name)).transpose()?;
    let connection = recording.as_ref().map_or_else(|| format!("{}-{}", begun().0, begun().1), |it| it.begun.clone());
    let mut file = recording.as_ref().map(RecordingFile::create).transpose()?;
    if let (Some(file), Mode::Enforce(session)) = (&mut file, &mode) {
        let head = session.decider().head(Instant::ZERO);
        file.write_all(head.as_bytes()).map_err(|error| {
            Failure::new(format!("the journal cannot be written: {}", describe_io(&error)))
                .help("the server was not started")
        })?;
    }
    let options = Options {
        connection,
        run_from: args.run_from.clone(),
        redaction,
        file: file.map(|file| Box::new(file) as Box<dyn Write + Send>),
        mode,
        answer_within: Duration::from_millis(args.answer_within),
        seed: seed(),
    };
    let program = program.unwrap_or_default().to_string_lossy().into_owned();
    let ended = match run_proxy(&args.command, options, &mut |line| say(&format!("playproof: {line}"))) {
        Ok(ended) => ended,
        Err(StartError::Unstarted(error)) => {
            say(&format!("playproof: `{program}` cannot be started: {}", describe_io(&error)));
            return Ok(Exit::Program(if error.kind() == ErrorKind::NotFound { 127 } else { 126 }));
        }
        Err(StartError::NoFormat) => return Err(Failure::new("this program lacks the format `mcp-jsonrpc`")),
    };
    if let Some((recording, guesses)) = recording.as_ref().zip(ended.guesses).filter(|_| !args.enforce) {
        let _ = recording.write_guesses(&guesses).inspect_err(|error| {
            say(&format!("playproof: the guesses of tools cannot be written: {}", describe_io(error)));
        });
    }
    if let Some(recording) = &recording {
        recording.remove_if_empty();
    }
    Ok(Exit::Program(code(ended.status)))
}

/// What decides; enforced, only what the lock approves.
fn deciding(args: &Args, workspace: &Workspace, playbook: &str) -> Result<Mode, Failure> {
    let (name, used) = workspace.playbook(Some(playbook))?;
    if args.enforce {
        refuse_study(&name, &used)?;
        if !args.unlocked {
            let unlocked =
                Command::new("playproof proxy --playbook").name(&name).and("--enforce --unlocked -- COMMAND");
            approved_only(&name, &used, workspace.read_lock()?.as_ref(), unlocked)?;
        }
        if used.plan.has_steps {
            return Err(Failure::new(format!("the playbook `{name}` has actions of several steps"))
                .help("a proxy sends what the client sends: serve such a playbook to your program instead")
                .next(Command::new("playproof serve --playbook").name(&name)));
        }
    }
    let decider = Decider {
        playbook: name,
        fingerprint: fingerprint(&used.plan.playbook).to_string(),
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        shadow: !args.enforce,
    };
    let session = Session::new(used.plan, decider, true);
    Ok(if args.enforce { Mode::Enforce(session) } else { Mode::Shadow(session) })
}

/// The exit code for how the server ended.
fn code(status: std::process::ExitStatus) -> u8 {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal: Option<i32> = None;
    let code = status.code().or_else(|| signal.map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}
