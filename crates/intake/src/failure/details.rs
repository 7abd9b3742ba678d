//! What an error object or an error text says: message, names, status, wait.

use super::field_names::{HEADERS, MESSAGES, NAMES, NESTED, REASONS, STATUSES};
use super::table::Says;
use super::word_list::WordList;
use super::{message, retry_after};
use crate::headers;
use crate::json;
use crate::json::Fields;
use crate::raw_value::RawValue;
use playproof_engine::event::{Headers, StatusFrom as Evidence};

/// Levels of error objects that are read.
const DEPTH: usize = 6;

/// What is known of one error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Details {
    pub(super) message: String,
    /// Error codes, types and exception names; the most specific first.
    pub(super) names: Vec<String>,
    pub(super) status: Option<u16>,
    /// A wait as the source writes it.
    pub(super) wait: Option<retry_after::Wait>,
    /// The headers of the answer, if the error names them.
    pub(super) headers: Headers,
}

/// What a body or a text says, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) evidence: Evidence,
    pub(super) says: Says,
    pub(super) details: Details,
}

impl Found {
    pub(super) fn of_body(sure: bool, details: Details) -> Found {
        let says = if sure { Says::Failed } else { Says::Suspected };
        Found { evidence: Evidence::Body, says, details }
    }
}

impl Details {
    pub(super) fn of_text(message: &str) -> Details {
        Details { message: message.to_owned(), ..Details::default() }
    }

    /// The value of `error`, in an object with `siblings`.
    pub(super) fn of_error(raw: RawValue<'_>, siblings: Option<&Fields<'_>>) -> Details {
        let mut details = Details::default();
        details.read(raw, DEPTH);
        if let Some(siblings) = siblings {
            details.read_fields(siblings, DEPTH);
        }
        details
    }

    /// The error in a whole object.
    pub(super) fn of_object(fields: &Fields<'_>) -> Details {
        let mut details = Details::default();
        details.read_fields(fields, DEPTH);
        details
    }

    /// These details, with one more name.
    pub(super) fn named(mut self, name: &str) -> Details {
        self.names.push(name.to_owned());
        self
    }

    /// These details; `other` adds what they lack.
    pub(super) fn or(mut self, other: Details) -> Details {
        if self.message.trim().is_empty() {
            self.message = other.message;
        }
        self.names.extend(other.names);
        let headers = if self.headers.is_empty() { other.headers } else { self.headers };
        Details { status: self.status.or(other.status), wait: self.wait.or(other.wait), headers, ..self }
    }

    fn read(&mut self, raw: RawValue<'_>, depth: usize) {
        if depth == 0 {
            return;
        }
        if let Some(text) = json::string(raw) {
            self.add(Details::of_text(&text));
        } else if let Some(fields) = json::object(raw) {
            self.read_fields(&fields, depth);
        } else if let Some(items) = json::array(raw) {
            items.into_iter().take(3).for_each(|item| self.read(item, depth - 1));
        }
    }

    fn read_fields(&mut self, fields: &Fields<'_>, depth: usize) {
        if let Some(nested) = fields.get("error").filter(|nested| nested.get().starts_with(['{', '['])) {
            self.read(nested, depth - 1);
        }
        let text = |name: &str| fields.get(name).and_then(json::string).filter(|text| !text.trim().is_empty());
        if let Some(message) = MESSAGES.words().find_map(text) {
            self.add(Details::of_text(&message));
        } else if let Some(value) = NESTED.words().find_map(|name| fields.get(name)) {
            self.read(value, depth - 1);
        }
        let words = |name: &str| {
            let value = fields.get(name).and_then(json::scalar)?;
            let is_name =
                message::is_name(&value) && !is_status(&value) && (!is_refused(&value) || is_of_a_person(fields));
            is_name.then_some(value)
        };
        self.names.extend(NAMES.words().filter_map(words).map(std::borrow::Cow::into_owned));
        let number = |name: &str| fields.text(name).filter(|text| is_status(text))?.parse().ok();
        self.status = self.status.or_else(|| STATUSES.words().find_map(number));
        self.wait = self.wait.take().or_else(|| retry_after::of_fields(fields));
        if let Some(raw) = HEADERS.words().find_map(|name| fields.get(name)).filter(|_| self.headers.is_empty()) {
            self.headers = headers::foreign(raw);
        }
        for list in ["details", "errors"] {
            let items = fields.get(list).and_then(json::array).unwrap_or_default();
            items.into_iter().take(8).filter(|_| depth > 1).filter_map(json::object).for_each(|item| {
                let mut inner = Details::default();
                inner.read_fields(&item, depth - 1);
                self.add(inner);
            });
        }
    }

    fn add(&mut self, other: Details) {
        *self = std::mem::take(self).or(other);
    }

    /// Adds the names, the status and the wait that the message itself tells.
    pub(super) fn learn_from_message(&mut self) {
        let told = message::facts(&self.message);
        self.names.extend(told.names);
        self.status = self.status.or(told.status);
        self.wait = self.wait.take().or_else(|| retry_after::of_text(&self.message));
    }

    /// The wait in milliseconds, for an answer that came at `at`.
    pub(super) fn retry_after(&self, at: Option<u64>) -> Option<u64> {
        self.wait.as_ref()?.millis(at)
    }
}

/// Whether a value is the state of what was refused, which does not say by whom: a bank declines a card.
fn is_refused(value: &str) -> bool {
    ["declined", "denied", "rejected"].iter().any(|state| value.eq_ignore_ascii_case(state))
}

/// Whether an object with a refusal speaks of the person who was asked.
fn is_of_a_person(fields: &Fields<'_>) -> bool {
    static WORDS: WordList = WordList::of(
        "approval approve approved approver confirm confirmation confirmed human operator permission user",
    );
    let is_word = |word: &str| WORDS.has_in_any_case(word);
    let speaks = |text: &str| text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_word);
    let names = REASONS.words().chain(["description", "error"]);
    let texts = names.filter_map(|name| fields.get(name).and_then(json::string));
    texts.into_iter().any(|text| speaks(&text))
}

/// Whether a text is an HTTP status.
fn is_status(text: &str) -> bool {
    text.parse().is_ok_and(|status: u16| (100..=599).contains(&status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_refused_only_where_the_reason_speaks_of_one() {
        let names = |body| Details::of_object(&json::object(json::parse(body).unwrap()).unwrap()).names;
        for body in [
            r#"{"status":"denied","reason":"The user said no"}"#,
            r#"{"status":"declined","message":"by the operator"}"#,
        ] {
            assert!(names(body).iter().any(|name| ["declined", "denied"].contains(&&**name)), "{body}");
        }
        for body in [
            r#"{"status":"declined","reason":"no_funds","user_id":"u1"}"#,
            r#"{"status":"declined","reason":"no_funds","confirmation_code":"x1"}"#,
            r#"{"status":"declined","reason":"no_funds","approval_code":"0"}"#,
            r#"{"status":"declined"}"#,
            r#"{"error":"declined"}"#,
            r#"{"status":"declined","decline_code":51}"#,
        ] {
            assert!(!names(body).contains(&"declined".to_owned()), "{body}");
        }
    }
}
