//! The one way in: hands foreign bytes to the reader of their format. Knows no format.

use super::detect::SourceFormat;
use super::run::Sink;
use super::{openai, tau, tau2};
use crate::foreign::{Imported, Missing};
use crate::text::Foreign;
use playproof_formats::diagnostic::{Diagnostic, Report};

/// Turns foreign `bytes`, called `name`, into lines of our own trace format.
///
/// # Errors
/// Bytes that are no UTF-8 or no JSON, with the place; a document of another shape; one without any run.
pub fn import(format: SourceFormat, bytes: &[u8], name: &str) -> Result<Imported, Report> {
    let foreign = Foreign::new(bytes, name)?;
    let mut sink = Sink::default();
    sink.finder = foreign.lines();
    sink.loss.read_as = format.as_str().to_owned();
    sink.loss.missing.extend([
        Missing::Kinds,
        Missing::Status,
        Missing::Attempts,
        Missing::Keys,
        Missing::Tokens,
        Missing::Effects,
    ]);
    match format {
        SourceFormat::OpenAi => openai::read(&foreign, &mut sink)?,
        SourceFormat::Tau => tau::read(&foreign, &mut sink)?,
        SourceFormat::Tau2 => tau2::read(&foreign, &mut sink)?,
    }
    if sink.loss.runs == 0 {
        let help = "the file has the right shape, but holds no conversation";
        return Err(foreign.report(0, Diagnostic::error("empty_import", "no runs in this file").help(help)));
    }
    Ok(sink.finish())
}
