//! Parses the lines of a trace in a row: by the fast lane, or by serde_json where that gives up. Knows no meanings.

use crate::scan;
use crate::scan::JsonCursor;
use crate::wire::error_cache::ErrorCache;
use crate::wire::fields;
use crate::wire::fields::FieldSlices;
use crate::wire::line::{Listener, ParsedLine, TraceLine};
use crate::wire::lower::{LineResult, Lowering};
use crate::wire::names::{LINE_FIELDS, LineFields, NAMES};

/// Parses lines of a trace in a row: the only interface between the reader and the JSON scanners.
#[derive(Debug)]
pub struct LineParser<'a> {
    cursor: JsonCursor<'a>,
    fields: FieldSlices<'a, LINE_FIELDS>,
    /// Lines with the same error text share one error.
    errors: ErrorCache,
}

impl<'a> LineParser<'a> {
    /// The lines of `text`.
    pub fn new(text: &'a str) -> LineParser<'a> {
        LineParser { cursor: JsonCursor::new(text), fields: FieldSlices::new(text), errors: ErrorCache::default() }
    }

    /// Whether there are no more.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.cursor.peek().is_none()
    }

    /// Moves past this line if it is blank.
    #[inline]
    pub fn pass_blank(&mut self) -> bool {
        self.cursor.peek() != Some(b'{') && self.pass_white_space()
    }

    fn pass_white_space(&mut self) -> bool {
        let mut ahead = self.cursor.clone();
        let is_blank = ahead.take_line(self.cursor.offset()).trim_ascii().is_empty();
        if is_blank {
            self.cursor = ahead;
        }
        is_blank
    }

    /// Passes the content of this line, which is not blank, to `listener`, and moves past the line. Returns the line without
    /// its break, and the number of its unknown fields.
    ///
    /// # Errors
    /// Anything but one JSON object whose known fields have their types; the listener then gets nothing.
    #[inline]
    pub fn parse(&mut self, listener: &mut impl Listener<'a>) -> (&'a str, LineResult<u32>) {
        let start = self.cursor.offset();
        self.cursor.begin_line();
        self.fields.clear();
        let accepted = fields::accept::<LineFields, LINE_FIELDS>(&mut self.cursor, &mut self.fields);
        match accepted.and_then(|()| self.cursor.end_line(start)) {
            Some(line) => (line, Lowering::of(line).line(&self.fields, &mut self.errors, listener)),
            None => {
                let line = self.cursor.take_line(start);
                (line, parse_with_serde(line, &mut self.errors, listener))
            }
        }
    }
}

/// Parses a single line.
///
/// # Errors
/// Those of [`LineParser::parse`].
pub fn parse_line(line: &str) -> LineResult<ParsedLine<'_>> {
    let mut content = None;
    let (_, unknown_fields) = LineParser::new(line).parse(&mut content);
    Ok(ParsedLine { unknown_fields: unknown_fields?, line: content.unwrap_or(TraceLine::Other) })
}

/// [`parse_line`] by serde_json alone.
#[cfg(test)]
pub(super) fn parse_line_with_serde(line: &str) -> LineResult<ParsedLine<'_>> {
    let mut content = None;
    let unknown_fields = parse_with_serde(line, &mut ErrorCache::default(), &mut content)?;
    Ok(ParsedLine { line: content.unwrap(), unknown_fields })
}

#[cold]
fn parse_with_serde<'a>(line: &'a str, known: &mut ErrorCache, listener: &mut impl Listener<'a>) -> LineResult<u32> {
    let lowering = Lowering::of(line);
    if let Some(place) = scan::too_deep(line) {
        let message = format!("the line nests deeper than {} levels", scan::MAX_DEPTH);
        return Err(lowering.error("too_deep", place..place + 1, message, "one level too many"));
    }
    let fields = fields::read::<LineFields, LINE_FIELDS>(line).map_err(|error| lowering.no_object(&error))?;
    if let Some((number, value)) = fields.twice {
        return Err(lowering.twice(NAMES.get(number).copied().unwrap_or_default(), value));
    }
    lowering.line(&fields, known, listener)
}
