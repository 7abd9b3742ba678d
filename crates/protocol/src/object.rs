//! Writes JSON objects key by key. Knows no values of ours but times.

use playproof_engine::time::{Duration, Instant};
use playproof_formats::plain::is_plain;

/// A JSON object at the end of a text.
#[derive(Debug)]
pub struct Object<'a> {
    out: &'a mut String,
    is_empty: bool,
}

impl<'a> Object<'a> {
    /// Begins an object.
    pub fn new(out: &'a mut String) -> Object<'a> {
        out.push('{');
        Object { out, is_empty: true }
    }

    /// A text.
    pub fn text(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        quote(self.out, value);
        self
    }

    /// A text, left out where there is none.
    pub fn text_if(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(key, value),
            None => self,
        }
    }

    /// JSON as it is.
    pub fn json(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        self.out.push_str(value);
        self
    }

    /// Whether something is so.
    pub fn truth(self, key: &str, is_so: bool) -> Self {
        self.json(key, if is_so { "true" } else { "false" })
    }

    /// A whole number.
    pub fn number(self, key: &str, value: impl Into<u64>) -> Self {
        self.json(key, &value.into().to_string())
    }

    /// A span in milliseconds.
    pub fn span(self, key: &str, value: Duration) -> Self {
        self.json(key, &value.to_string())
    }

    /// The same, left out where there is none.
    pub fn span_if(self, key: &str, value: Option<Duration>) -> Self {
        match value {
            Some(value) => self.span(key, value),
            None => self,
        }
    }

    /// A moment in milliseconds.
    pub fn at(self, key: &str, value: Instant) -> Self {
        self.span(key, value.since(Instant::ZERO))
    }

    /// A list of texts.
    pub fn texts<'t>(self, key: &str, values: impl IntoIterator<Item = &'t str>) -> Self {
        self.list(key, values, quote)
    }

    /// A list.
    pub fn list<T>(
        mut self,
        key: &str,
        values: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut String, T),
    ) -> Self {
        self.key(key);
        self.out.push('[');
        for (n, value) in values.into_iter().enumerate() {
            if n > 0 {
                self.out.push(',');
            }
            write(self.out, value);
        }
        self.out.push(']');
        self
    }

    /// What a function adds.
    pub fn with(self, add: impl FnOnce(Self) -> Self) -> Self {
        add(self)
    }

    /// Ends it.
    pub fn end(self) {
        self.out.push('}');
    }

    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(',');
        }
        self.out.push('"');
        self.out.push_str(key);
        self.out.push_str("\":");
    }
}

/// A text in quotes.
pub fn quote(out: &mut String, text: &str) {
    if is_plain(text.as_bytes()) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&serde_json::Value::from(text).to_string());
    }
}
