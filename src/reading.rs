//! Flags that say how traces are read, and what is said of one that cannot be. Reads nothing.

use super::exit::{Failure, MOSTLY_SKIPPED};
use super::output::say;
use super::values::whole;
use super::{files, inputs};
use playproof_report::text;
use playproof_trace::assemble::{AssembleOptions, InputLedger};
use playproof_trace::mapping::Mapping;
use playproof_trace::reader::ReadError;
use playproof_trace::trouble::OR_SKIP;

/// What stands before the number of lines that may be skipped, where it is suggested.
const ALLOW: &str = "`--allow-skipped ";

/// How traces are read.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Reading")]
pub struct Reading {
    /// The mapping file for a foreign recording that is not recognised
    #[arg(long, value_name = "FILE")]
    pub map: Option<String>,

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

impl Reading {
    /// A reading that takes nothing for something else.
    pub fn plain(map: Option<String>) -> Reading {
        let AssembleOptions { reorder_window, join_resends, skip_invalid } = AssembleOptions::default();
        Reading { map, join_resends, skip_invalid, allow_skipped: None, reorder_window }
    }

    /// The mapping that `--map` names, applied as the other flags say.
    ///
    /// # Errors
    /// A file that cannot be read, or in which something is wrong.
    pub fn mapping(&self) -> Result<Option<Mapping>, Failure> {
        let mapping = self.map.as_deref().map(inputs::mapping).transpose()?;
        Ok(mapping.map(|mapping| mapping.skipping_invalid(self.skip_invalid, self.allow_skipped)))
    }

    /// The same for the reader.
    pub fn options(&self) -> AssembleOptions {
        AssembleOptions {
            reorder_window: self.reorder_window,
            join_resends: self.join_resends,
            skip_invalid: self.skip_invalid,
        }
    }
}

/// The failure of a command that can skip no line: it does not say that one may be skipped.
pub fn without_skipping(failure: Failure) -> Failure {
    let Failure::Reports { mut reports, next } = failure else { return failure };
    for help in reports.iter_mut().flat_map(|report| &mut report.diagnostics).filter_map(|said| said.help.as_mut()) {
        *help = help.replace(OR_SKIP, "");
    }
    Failure::Reports { reports, next: next.filter(|next| !next.to_string().contains("--skip-invalid")) }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Failure {
        match error {
            ReadError::Unreadable(name, error) => files::unreadable(&name, &error),
            ReadError::Invalid(report) => Failure::from(*report),
            ReadError::Empty(name) => empty(&name).next("playproof schema trace"),
        }
    }
}

/// That the input that people call `name` holds nothing at all.
pub fn empty(name: &str) -> Failure {
    Failure::source(name, "empty_input", "it is empty").help("was it written to the end?")
}

/// Refuses the input that people call `name` where more of its lines were skipped than `allowed`, or than were read: what
/// is left says nothing of it.
///
/// # Errors
/// It was so.
pub fn refuse_mostly_skipped(name: &str, skipped: u64, read: u64, allowed: Option<u64>) -> Result<(), Failure> {
    if skipped <= allowed.unwrap_or(read) {
        return Ok(());
    }
    let more = allowed.map_or("read".to_owned(), |allowed| format!("the {} that are allowed", text::count(allowed)));
    let lines = text::counted(skipped, "line", "lines");
    let said =
        format!("{lines} skipped, {} read: more are skipped than {more}, so nothing is concluded", text::count(read));
    let help =
        format!("see what the skipped lines are; if the result may go without them, {ALLOW}{skipped}` allows that");
    Err(Failure::source(name, MOSTLY_SKIPPED, said).help(help))
}

/// How many lines must be allowed to be skipped, where that is what stopped the command.
pub fn wanted_allowance(failure: &Failure) -> Option<&str> {
    let Failure::Reports { reports, next: None } = failure else { return None };
    let said = reports.iter().flat_map(|report| &report.diagnostics).find(|said| said.id == MOSTLY_SKIPPED)?;
    said.help.as_deref()?.split_once(ALLOW)?.1.split('`').next()
}

impl Reading {
    /// Says on standard error how many lines of the input that people call `name` were passed over, if any were.
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
