//! The tool facts file. What the facts mean is the model's.

use std::sync::Arc;

use super::model::Tools;
use super::places::ToolPlaces;
use crate::diagnostic::{Report, Source};
use crate::yaml::{self, GUESSED};

/// What a tool facts file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsFile {
    /// What people declare in it.
    pub tools: Tools,
    /// Rows that a draft guessed and nobody has confirmed: they declare nothing.
    pub guessed: usize,
}

/// Reads a tool facts file (`format: tools/1`).
///
/// # Errors
/// All that is wrong with it, each with its place.
pub fn parse(source: Arc<Source>) -> Result<ToolsFile, Report> {
    let (tools, places) = yaml::parse(Arc::clone(&source), super::lower::tools_file)?;
    let rows = tools.rows().iter().zip(&places);
    let declared: Vec<_> = rows.filter(|(_, places)| !is_guessed(&source.text, places)).map(|(row, _)| row).collect();
    let guessed = tools.rows().len() - declared.len();
    Ok(ToolsFile { tools: Tools::new(declared.into_iter().cloned().collect()), guessed })
}

/// Whether one of the lines of a row still has the mark of the draft.
fn is_guessed(text: &str, places: &ToolPlaces) -> bool {
    let last = places.facts.iter().map(|(_, span)| span.end).max().unwrap_or(places.name.end);
    let end = text.get(last..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| last + at);
    text.get(places.name.start..end).is_some_and(|row| row.lines().any(has_mark))
}

/// Whether a line has the mark, however people have spaced and spelt it.
fn has_mark(line: &str) -> bool {
    let Some((_, comment)) = line.split_once('#') else { return false };
    let words = |text: &str| text.to_lowercase().replace(['#', ' ', '\t'], "");
    words(comment).contains(&words(GUESSED))
}
