//! How many bad lines of an input may be skipped, and what is advised. Reads nothing.

use super::exit::{Failure, MOSTLY_SKIPPED};
use playproof_intake::bad_line::OR_SKIP;
use playproof_report::text;

/// The flag in a help text, before the number of lines.
const ALLOW: &str = "`--allow-skipped ";

/// Refuses an input if more of its lines were skipped than `allowed`, or than were read: the rest proves nothing.
///
/// # Errors
/// Too many lines were skipped.
pub fn refuse_mostly_skipped(name: &str, skipped: u64, read: u64, allowed: Option<u64>) -> Result<(), Failure> {
    if skipped <= allowed.unwrap_or(read) {
        return Ok(());
    }
    let more = allowed.map_or("read".to_owned(), |allowed| format!("the {} that are allowed", text::count(allowed)));
    let lines = text::counted(skipped, "line", "lines");
    let said =
        format!("{lines} skipped, {} read: more are skipped than {more}, so nothing is concluded", text::count(read));
    let help = format!("look at the skipped lines; if the result is fine without them, {ALLOW}{skipped}` allows that");
    Err(Failure::source(name, MOSTLY_SKIPPED, said).help(help))
}

/// The number of skipped lines to allow, if too many skipped lines stopped the command.
pub fn wanted_allowance(failure: &Failure) -> Option<&str> {
    let Failure::Reports { reports, next: None } = failure else { return None };
    let said = reports.iter().flat_map(|report| &report.diagnostics).find(|said| said.id == MOSTLY_SKIPPED)?;
    said.help.as_deref()?.split_once(ALLOW)?.1.split('`').next()
}

/// The failure without advice on `--skip-invalid`, for commands without that flag.
pub fn without_skipping(failure: Failure) -> Failure {
    let Failure::Reports { mut reports, next } = failure else { return failure };
    for help in reports.iter_mut().flat_map(|report| &mut report.diagnostics).filter_map(|said| said.help.as_mut()) {
        *help = help.replace(OR_SKIP, "");
    }
    Failure::Reports { reports, next: next.filter(|next| !next.to_string().contains("--skip-invalid")) }
}
