//! `playproof audit verify`: whether a log of linked lines is whole.

use std::io::Read;

use crate::exit::{Exit, Failure};
use crate::files;
use crate::output::Output;
use playproof_formats::shell::Command;
use playproof_report::text::counted;
use playproof_serve::chain::{Hash, Verified, Wanted, verify};

/// What is asked.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub what: What,
}

/// What is asked of an audit log.
#[derive(Debug, clap::Subcommand)]
pub enum What {
    /// Verify the chain of a log: what was altered, moved, removed or cut off?
    Verify(Verify),
}

/// A log, and what is known of it from elsewhere.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Reads any log of JSON lines with `prev` and `hash`, also of other programs: the hash is SHA-256 of the text of `prev` and of
the entry without `hash`, as Python's json.dumps(sort_keys=True, separators=(',', ':')) writes it (docs/audit.md).

Lines alone cannot show that the end was cut off, or that all of them were hashed anew: keep the number of entries and the
hash of the last one elsewhere.

Examples:
  playproof serve --playbook ours --journal calls.jsonl --chain
  playproof audit verify calls.jsonl
  playproof audit verify calls.jsonl --entries 1207 --head sha256:5781626acea47caffb8c1853d35378dba947d514fb180ddd921713f8226475f5

Exit codes: 0 whole, 1 it is not, 2 unreadable, empty, no chain, or one that needs a key (`hmac-sha256:`).")]
pub struct Verify {
    /// The log
    #[arg(value_name = "FILE")]
    pub file: String,

    /// How many entries it has
    #[arg(long, value_name = "N", value_parser = crate::values::whole::<u64>(0..=u64::MAX))]
    pub entries: Option<u64>,

    /// The hash of its last entry
    #[arg(long, value_name = "HASH", value_parser = head)]
    pub head: Option<Hash>,
}

fn head(text: &str) -> Result<Hash, String> {
    Hash::parse(text).ok_or_else(|| "expected `sha256:` and 64 characters of 0-9 and a-f".to_owned())
}

/// Verifies.
///
/// # Errors
/// A file that cannot be read, or is no chain.
pub fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let What::Verify(Verify { file, entries, head }) = &args.what;
    let name = files::display_name(file);
    let mut bytes = Vec::new();
    files::open(file)?.read_to_end(&mut bytes).map_err(|error| files::unreadable(&name, &error))?;
    let wanted = Wanted { entries: *entries, head: *head };
    let verified = verify(&bytes, &wanted).map_err(|why| Failure::new(format!("{name}: {why}")))?;
    let Verified { entries, head, problems } = verified;
    let of = counted(entries, "entry", "entries");
    if problems.is_empty() {
        let next = Command::new("playproof audit verify").path(file).flag("--entries", &entries.to_string());
        let next = next.flag("--head", &head.to_string());
        output.lines(&[format!("{name}: whole, {of}"), format!("next: {next}")])?;
        return Ok(Exit::Clean);
    }
    let mut lines: Vec<String> =
        problems.iter().map(|problem| format!("{name}:{}: {}", problem.line, problem.cause)).collect();
    lines.push(format!("{} in {of}", counted(problems.len() as u64, "problem", "problems")));
    lines.push(format!("next: {}", Command::new("playproof help audit verify")));
    output.lines(&lines)?;
    Ok(Exit::Found)
}
