//! The forms that lines had: what stands before each of their values, as a tree. A program writes its lines in a few
//! forms, and a line of a known one is read by comparing it, not by parsing. Like the fast lane it may only accept,
//! and what it accepts it reads as the fast lane does. Knows no meanings.

use crate::trace::canonical::KnownObjects;
use crate::trace::scan::{Cursor, MAX_DEPTH};
use crate::trace::tree::{Steps, Tree};
use crate::trace::wire::errors::KnownErrors;
use crate::trace::wire::fields::{Fields, Is, bit};
use crate::trace::wire::names::{ARGS, ERROR, LINE_FIELDS, NUMBERS, WORDS, WORDY};

/// The forms of some lines, and of the arguments in them.
#[derive(Debug, Default)]
pub struct KnownForms {
    lines: Tree<Value>,
    arguments: KnownObjects,
}

/// What a value is, with the number of its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// A string: its opening quote stands before it, its closing one before the next value.
    Text(usize),
    /// Any value but `null`.
    Any(usize),
    /// None: the object ends, and had these fields, of which the values say whether they are plain or numbers.
    End(Is),
}

impl KnownForms {
    /// Past an object of a known form, into `fields`, which must be empty, and are spoilt where there is doubt.
    #[inline]
    pub fn accept(
        &mut self,
        cursor: &mut Cursor<'_>,
        errors: &KnownErrors,
        fields: &mut Fields<'_, LINE_FIELDS>,
    ) -> Option<()> {
        let (mut plain, mut counted) = (0, 0);
        let mut node = self.lines.first(cursor)?;
        loop {
            let start = cursor.offset();
            match node.value {
                Value::Text(number) => {
                    cursor.pass_text();
                    match cursor.peek()? {
                        b'"' => plain |= bit(number),
                        _ => cursor.pass_escaped(start)?,
                    }
                    fields.set(number, start - 1, cursor.offset() + 1); // with its quotes
                }
                Value::Any(number) => {
                    match cursor.peek()? {
                        b'n' | ..=b' ' => return None, // `null` or white space: another form
                        b'0'..=b'9' if number < NUMBERS => match cursor.short_number() {
                            Some(value) => {
                                fields.count(number, value);
                                counted |= bit(number);
                            }
                            None => drop(cursor.number()?),
                        },
                        _ if number == ARGS => fields.hash = Some(self.arguments.hash(cursor, MAX_DEPTH - 1)?),
                        _ if number == ERROR => {
                            fields.known_error = errors.eat(cursor);
                            if fields.known_error.is_none() {
                                cursor.value(MAX_DEPTH - 1)?;
                            }
                        }
                        _ => drop(cursor.value(MAX_DEPTH - 1)?),
                    }
                    fields.set(number, start, cursor.offset());
                }
                Value::End(is) => {
                    fields.set_all(Is { plain, counted, ..is });
                    return Some(());
                }
            }
            node = self.lines.next(node, cursor)?;
        }
    }

    /// Learns the form of an object that the fast lane has read from `start` to `end`.
    pub fn learn(&mut self, fields: &Fields<'_, LINE_FIELDS>, start: usize, end: usize) {
        if self.lines.wants_more()
            && let Some(steps) = steps(fields, start, end)
        {
            self.lines.grow(steps);
        }
    }
}

/// What a line's form is made of; none where it has a value that no form has.
fn steps<'a>(fields: &Fields<'a, LINE_FIELDS>, start: usize, end: usize) -> Option<Steps<'a, Value>> {
    if fields.unknown > 0 {
        return None; // the names of unknown fields may be as many as lines
    }
    let (mut steps, mut is) = (Steps::new(fields.text()), fields.all());
    steps.go_on(start);
    for (number, place) in fields.in_order() {
        let value = fields.text().get(place.clone())?;
        let wordy = number.checked_sub(WORDY).and_then(|place| Some((is.words.get_mut(place)?, WORDS.get(place)?)));
        if let Some((word, known)) = wordy {
            *word = Some(known.iter().find(|&&word| word == value)?); // it belongs to the form
        } else if value.starts_with('"') && ![ARGS, ERROR].contains(&number) {
            steps.push(place.start + 1, Value::Text(number))?;
            steps.go_on(place.end - 1);
        } else {
            steps.push(place.start, Value::Any(number))?;
            steps.go_on(place.end);
        }
    }
    (is.plain, is.counted) = (0, 0);
    steps.push(end, Value::End(is))?;
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::wire::fields;
    use crate::trace::wire::names::LineFields;

    const CALL: &str = r#"{"type":"tool_call", "call_id":"c1","tool":"pay","at_ms":12,"key":null,"args":{"a":1}}"#;

    fn learn(forms: &mut KnownForms, line: &str) {
        let (mut cursor, mut fields) = (Cursor::new(line), Fields::new(line));
        fields::accept::<LineFields, LINE_FIELDS>(&mut cursor, &mut fields).unwrap();
        forms.learn(&fields, 0, cursor.offset());
    }

    /// What the fields of a line of a known form say, by their numbers.
    fn accepted(forms: &mut KnownForms, line: &str) -> Option<Vec<String>> {
        let padded = format!("{line}\n{}", " ".repeat(64)); // what is near the end of its text is parsed
        let (mut cursor, mut fields) = (Cursor::new(&padded), Fields::new(&padded));
        forms.accept(&mut cursor, &KnownErrors::default(), &mut fields)?;
        cursor.end_line(0)?;
        let said = (0..LINE_FIELDS)
            .filter_map(|number| fields.known_word(number).or_else(|| fields.field(number)))
            .map(str::to_owned);
        Some(said.collect())
    }

    #[test]
    fn a_line_like_an_earlier_one_is_read_and_any_other_is_left_to_be_parsed() {
        let mut forms = KnownForms::default();
        learn(&mut forms, &CALL.replace("key", "idempotency_key"));
        let like = r#"{"type":"tool_call", "call_id":"d","tool":"s","at_ms":0,"idempotency_key":null,"args":[]}"#;
        let expected = ["0", "\"tool_call\"", "\"d\"", "\"s\"", "[]"].map(str::to_owned);
        assert_eq!(accepted(&mut forms, like), Some(expected.to_vec()));
        for other in [
            like.replace(", ", ","),
            like.replace("tool_call", "tool_cull"),
            like.replace("null", "\"k\""),
            like.replace(":0", ":00"),
            like.replace(":0", ":null"),
            like.replace("\"d\"", "\"d\\x\""),
            like.replace("\"d\"", "\"d\tx\""),
            like.replace("\"d\"", "7"),
            like.replace("[]", "null"),
            like.replace("[]", " []"),
            like.replace("[]", "[}"),
            like.replace("}", ",\"x\":1}"),
            like.replace("}", "}}"),
            like.replace("}", ""),
        ] {
            assert_eq!(accepted(&mut forms, &other), None, "{other}");
        }
    }

    #[test]
    fn texts_may_have_escapes_and_numbers_fractions_and_errors_are_known_by_their_words() {
        let mut forms = KnownForms::default();
        let line = r#"{"call_id":"c","at_ms":1,"error":{"kind":"5xx"}}"#;
        learn(&mut forms, line);
        let like = r#"{"call_id":"c\"\u00e9","at_ms":1.5,"error":"x"}"#;
        let expected = ["1.5", r#""c\"\u00e9""#, "\"x\""].map(str::to_owned);
        assert_eq!(accepted(&mut forms, like), Some(expected.to_vec()));
        let padded = format!("{line}\n{}", " ".repeat(64));
        let (mut cursor, mut fields, mut errors) = (Cursor::new(&padded), Fields::new(&padded), KnownErrors::default());
        errors.note(r#"{"kind":"5xx"}"#, &std::sync::Arc::default(), 0);
        forms.accept(&mut cursor, &errors, &mut fields).unwrap();
        assert_eq!(fields.known_error, Some(0));
        assert_eq!((fields.field(ERROR), fields.counted(0)), (Some(r#"{"kind":"5xx"}"#), Some(1)));
    }

    #[test]
    fn a_line_with_a_field_or_a_word_that_nobody_knows_has_no_form() {
        let mut forms = KnownForms::default();
        learn(&mut forms, CALL);
        learn(&mut forms, r#"{"type":"crash","run_id":"r"}"#);
        assert!(forms.lines.is_empty());
    }
}
