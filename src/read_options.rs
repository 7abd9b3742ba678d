//! The flags that say how traces are read. Reads no trace.

use super::exit::Failure;
use super::inputs::{self, Reading};
use super::output::say;
use super::project::Project;
use super::skipped::refuse_mostly_skipped;
use super::threads::Threads;
use super::values::whole;
use playproof_intake::assemble::{AssembleOptions, InputLedger};
use playproof_intake::mapping::{self, Mapping};
use playproof_report::text;

/// The flags that say how to read traces.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Reading")]
pub struct ReadOptions {
    /// The mapping file for a foreign recording that is not recognised, or for what is different in one that is
    #[arg(long, value_name = "FILE")]
    pub map: Option<String>,

    /// The format of a foreign recording, if it is not recognised or several fit (`playproof formats` lists them)
    #[arg(long = "as", value_name = "FORMAT")]
    pub read_as: Option<String>,

    /// Read an identical call after a failed one as its next attempt
    #[arg(long)]
    pub join_resends: bool,

    /// Count malformed lines instead of stopping at the first
    #[arg(long)]
    pub skip_invalid: bool,

    /// Skip at most this many lines of each input; exit with 3 if one has more [default: as many as are read of it]
    #[arg(long, value_name = "N", requires = "skip_invalid", value_parser = whole::<u64>(0..=u64::MAX))]
    pub allow_skipped: Option<u64>,

    /// Pair a result only with a call that is among this many latest calls
    #[arg(long, value_name = "CALLS", default_value_t = 10_000, value_parser = whole::<u64>(1..=u64::MAX))]
    pub reorder_window: u64,
}

impl ReadOptions {
    /// The defaults, with a mapping.
    pub fn plain(map: Option<String>) -> ReadOptions {
        let AssembleOptions { reorder_window, join_resends, skip_invalid, .. } = AssembleOptions::default();
        ReadOptions { map, read_as: None, join_resends, skip_invalid, allow_skipped: None, reorder_window }
    }

    /// The mapping of `--map` or of the project and the format of `--as`, with the other flags; read on so many threads.
    ///
    /// # Errors
    /// A file that cannot be read or used; an unknown format.
    pub fn reading(&self, threads: Threads) -> Result<Reading, Failure> {
        let read = |path: &str| {
            Ok::<_, Failure>(inputs::mapping(path)?.skipping_invalid(self.skip_invalid, self.allow_skipped))
        };
        let Project { map, words, .. } = Project::find()?;
        let with_words = |mapping: Mapping| mapping.with_words(&words);
        let of_words = || (!words.is_empty()).then(mapping::unchanging).flatten();
        Ok(Reading {
            mapping: self.map.as_deref().map(read).transpose()?.map(with_words),
            of_project: map.as_deref().map(read).transpose()?.or_else(of_words).map(with_words),
            format: self.read_as.as_deref().map(Reading::format).transpose()?,
            skip_invalid: self.skip_invalid,
            allow_skipped: self.allow_skipped,
            jobs: threads.number().get(),
        })
    }

    /// The options of the assembler.
    pub fn options(&self) -> AssembleOptions {
        AssembleOptions {
            reorder_window: self.reorder_window,
            join_resends: self.join_resends,
            skip_invalid: self.skip_invalid,
            requests: None, // the plan knows
        }
    }
}

impl ReadOptions {
    /// Prints the number of skipped lines of the input `name` to standard error, if there are any.
    ///
    /// # Errors
    /// As [`refuse_mostly_skipped`].
    pub fn account_for(&self, name: &str, ledger: &InputLedger) -> Result<(), Failure> {
        if ledger.skipped > 0 {
            let lines = text::counted(ledger.skipped, "line", "lines");
            say(&format!("{name}: {lines} skipped"));
        }
        refuse_mostly_skipped(name, ledger.skipped, ledger.lines - ledger.blank - ledger.skipped, self.allow_skipped)
    }
}
