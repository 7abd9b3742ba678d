//! Lines of a trace, one after the other: which lane reads each. Knows no meanings.

use crate::scan;
use crate::scan::Cursor;
use crate::wire::errors::KnownErrors;
use crate::wire::fields;
use crate::wire::fields::Fields;
use crate::wire::line::{Line, Listener, Parsed};
use crate::wire::lower::{Lowering, Outcome};
use crate::wire::names::{LINE_FIELDS, LineFields, NAMES};

/// Lines of a trace, one after the other: the whole interface between the reader and whatever scans JSON.
#[derive(Debug)]
pub struct Lines<'a> {
    cursor: Cursor<'a>,
    fields: Fields<'a, LINE_FIELDS>,
    /// Lines share the errors that they say in the same words.
    errors: KnownErrors,
}

impl<'a> Lines<'a> {
    /// The lines of `text`.
    pub fn new(text: &'a str) -> Lines<'a> {
        Lines { cursor: Cursor::new(text), fields: Fields::new(text), errors: KnownErrors::default() }
    }

    /// Whether there are no more.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.cursor.peek().is_none()
    }

    /// Past the line here if it is blank.
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

    /// Tells `listener` what the line here says, which is not blank, and moves past it. Returns the line without its
    /// break, and how many of its fields nobody knows.
    ///
    /// # Errors
    /// Anything but one JSON object whose known fields have their types; then the listener was told nothing.
    #[inline]
    pub fn parse(&mut self, listener: &mut impl Listener<'a>) -> (&'a str, Outcome<u32>) {
        let start = self.cursor.offset();
        self.cursor.begin_line();
        self.fields.clear();
        let accepted = fields::accept::<LineFields, LINE_FIELDS>(&mut self.cursor, &mut self.fields);
        match accepted.and_then(|()| self.cursor.end_line(start)) {
            Some(line) => (line, Lowering::of(line).line(&self.fields, &mut self.errors, listener)),
            None => {
                let line = self.cursor.take_line(start);
                (line, slowly(line, &mut self.errors, listener))
            }
        }
    }
}

/// What one line says.
///
/// # Errors
/// As [`Lines::parse`].
pub fn parse_line(line: &str) -> Outcome<Parsed<'_>> {
    let mut said = None;
    let (_, unknown_fields) = Lines::new(line).parse(&mut said);
    Ok(Parsed { unknown_fields: unknown_fields?, line: said.unwrap_or(Line::Other) })
}

/// [`parse_line`] by serde_json alone.
#[cfg(test)]
pub(super) fn parse_slowly(line: &str) -> Outcome<Parsed<'_>> {
    let mut said = None;
    let unknown_fields = slowly(line, &mut KnownErrors::default(), &mut said)?;
    Ok(Parsed { line: said.unwrap(), unknown_fields })
}

#[cold]
fn slowly<'a>(line: &'a str, known: &mut KnownErrors, listener: &mut impl Listener<'a>) -> Outcome<u32> {
    let lowering = Lowering::of(line);
    if let Some(place) = scan::too_deep(line) {
        let message = format!("the line nests deeper than {} levels", scan::MAX_DEPTH);
        return Err(lowering.wrong("too_deep", place..place + 1, message, "one level too many"));
    }
    let fields = fields::read::<LineFields, LINE_FIELDS>(line).map_err(|error| lowering.no_object(&error))?;
    if let Some((number, value)) = fields.twice {
        return Err(lowering.twice(NAMES.get(number).copied().unwrap_or_default(), value));
    }
    lowering.line(&fields, known, listener)
}
