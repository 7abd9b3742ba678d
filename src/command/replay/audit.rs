//! `replay --audit FILE`: a line for each call that failed. With `--chain`, and in a file that is
//! a chain, the lines are linked to those that are there.

use std::path::Path;

use super::args::Args;
use crate::exit::Failure;
use crate::output::Output;
use crate::{files, outputs};
use playproof_formats::shell::Command;
use playproof_report::json::AUDIT_LINE;
use playproof_serve::chain::{Chain, NoChain};

/// The file of `--audit`.
pub struct AuditFile<'a> {
    path: &'a str,
    /// What it goes on with, and what goes on.
    kept: Vec<u8>,
    chain: Option<Chain>,
}

impl<'a> AuditFile<'a> {
    /// Prepares the file that was asked for.
    ///
    /// # Errors
    /// It is an input or another file; `--chain` adds only to a whole chain.
    pub fn of<'i>(args: &'a Args, inputs: impl IntoIterator<Item = &'i str>) -> Result<Option<AuditFile<'a>>, Failure> {
        let Some(path) = args.audit.as_deref() else { return refuse_lone_chain(args).map(|()| None) };
        outputs::refuse_input(path, inputs)?;
        outputs::refuse(path)?;
        outputs::refuse_others(path, "audit log of Playproof", |start| start.starts_with(AUDIT_LINE.as_bytes()))?;
        let mut kept = if outputs::is_kept(path) { files::bytes(Path::new(path))? } else { Vec::new() };
        let is_chain = args.chain || Chain::has_begun(&kept); // what has begun as one goes on as one
        if !is_chain {
            kept.clear();
        }
        let chain = match Chain::of(&kept) {
            _ if !is_chain => None,
            Ok(chain) => Some(chain),
            Err(NoChain::Empty) => Some(Chain::default()),
            Err(why) => {
                return Err(Failure::new(format!("nothing is added to `{path}`: {why}"))
                    .help("nothing was written; name another file")
                    .next(Command::new("playproof audit verify").path(path)));
            }
        };
        Ok(Some(AuditFile { path, kept, chain }))
    }

    /// Writes it with more lines.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(mut self, lines: &[u8], output: &mut Output) -> Result<(), Failure> {
        match &mut self.chain {
            Some(chain) => chain.link(&mut self.kept, lines),
            None => self.kept.extend_from_slice(lines),
        }
        outputs::write(self.path, &self.kept, output)
    }
}

fn refuse_lone_chain(args: &Args) -> Result<(), Failure> {
    match args.chain && args.record.is_none() {
        false => Ok(()),
        true => Err(Failure::new("`--chain` links the lines of `--record` or `--audit`, and neither is asked for")
            .help("name a file for them, such as `--audit audit.jsonl`")),
    }
}
