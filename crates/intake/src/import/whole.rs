//! Hands the bytes of a foreign source, all of which are at hand, to the reader of their format. Checks nothing.

use std::borrow::Cow;

use super::chat_lines::ChatLines;
use super::format::{FormatOptions, SourceFormat, output_of};
use super::{cassette, openai, tau};
use crate::foreign_lines::ForeignLines;
use crate::imported::{ImportWarning, Imported};
use crate::redact::RedactionRules;
use crate::source_text::SourceText;
use playproof_formats::diagnostic::{Diagnostic, Report};

/// Turns foreign `bytes`, called `name`, into lines of our own trace format.
///
/// # Errors
/// Bytes that are not UTF-8 or not JSON, with the place; a document of another shape; a document without runs.
pub fn import(format: SourceFormat, bytes: &[u8], name: &str) -> Result<Imported, Report> {
    import_with(format, bytes, name, FormatOptions::default())
}

/// [`import`], but for what `options` say.
///
/// # Errors
/// As [`import`]; a mapping that names the runs, because these formats have them in their structure.
pub fn import_with(
    format: SourceFormat,
    bytes: &[u8],
    name: &str,
    options: FormatOptions<'_>,
) -> Result<Imported, Report> {
    if let Some(own) = options.overrides.filter(|own| own.names_runs()) {
        return Err(own.refused_runs(format.as_str()));
    }
    if format == SourceFormat::OpenAi {
        let redaction = &RedactionRules::default(); // reading it as a whole reports what is wrong
        let lines = ForeignLines { source: bytes, name, redaction, jobs: options.jobs };
        if let Some(imported) = lines.read(ChatLines::new(name, options)) {
            return Ok(imported);
        }
    }
    import_whole(format, bytes, name, options)
}

/// [`import_with`] of a source that is not read line by line.
pub(crate) fn import_whole(
    format: SourceFormat,
    bytes: &[u8],
    name: &str,
    options: FormatOptions<'_>,
) -> Result<Imported, Report> {
    let written = SourceText::new(bytes, name)?;
    let text = match format {
        SourceFormat::Cassette => cassette::as_json(&written)?,
        _ if options.skip_invalid => Cow::Owned(written.without_bad_lines()),
        _ => Cow::Borrowed(written.text),
    };
    let source = SourceText { text: &text, name };
    let mut output = output_of(format, options);
    if format != SourceFormat::Cassette {
        for (n, _) in written.text.lines().zip(text.lines()).enumerate().filter(|(_, (before, after))| before != after)
        {
            output.loss.warn(ImportWarning::NotJson, &format!("line {}", n + 1));
        }
    }
    output.finder = source.lines();
    match format {
        SourceFormat::OpenAi => openai::read(&source, &mut output)?,
        SourceFormat::Tau => tau::read_tau(&source, &mut output)?,
        SourceFormat::Tau2 => tau::read_tau2(&source, &mut output)?,
        SourceFormat::Cassette => cassette::read(&source, &mut output)?,
    }
    if output.loss.runs == 0 {
        let help = "no part of it is a conversation in this format";
        return Err(source.report(0, Diagnostic::error("empty_import", "no runs in this file").help(help)));
    }
    Ok(output.finish())
}
