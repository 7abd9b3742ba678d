//! Changes parts of a line of JSON and leaves every other byte: numbers and the order of fields stay. Knows no protocol.

use std::ops::Range;

use serde_json::value::RawValue;

/// Parts of a line that are replaced.
#[derive(Debug)]
pub(crate) struct Cuts<'a> {
    line: &'a str,
    parts: Vec<(Range<usize>, String)>,
}

impl<'a> Cuts<'a> {
    pub(crate) fn of(line: &'a str) -> Cuts<'a> {
        Cuts { line, parts: Vec::new() }
    }

    /// Replaces a value that was read of the line.
    pub(crate) fn replace(mut self, value: &RawValue, by: impl Into<String>) -> Cuts<'a> {
        if let Some(place) = self.place(value) {
            self.parts.push((place, by.into()));
        }
        self
    }

    /// Adds a text before the end of a list or an object that was read of the line, with a comma where something is in it.
    pub(crate) fn add(mut self, value: &RawValue, text: &str) -> Cuts<'a> {
        let inside = value.get().get(1..value.get().len() - 1).unwrap_or_default();
        let comma = if inside.trim().is_empty() { "" } else { "," };
        if let Some(place) = self.place(value) {
            let end = place.end - 1;
            self.parts.push((end..end, format!("{comma}{text}")));
        }
        self
    }

    /// The line with its parts replaced.
    pub(crate) fn line(mut self) -> String {
        self.parts.sort_by_key(|(place, _)| (place.start, place.end));
        let (mut out, mut from) = (String::with_capacity(self.line.len() + 64), 0);
        for (place, text) in &self.parts {
            out.push_str(self.line.get(from..place.start).unwrap_or_default());
            out.push_str(text);
            from = place.end;
        }
        out.push_str(self.line.get(from..).unwrap_or_default());
        out
    }

    /// Where a value stands: it was borrowed from the line.
    fn place(&self, value: &RawValue) -> Option<Range<usize>> {
        let start = value.get().as_ptr().addr().checked_sub(self.line.as_ptr().addr())?;
        let end = start + value.get().len();
        (self.line.get(start..end) == Some(value.get())).then_some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    #[test]
    fn what_is_not_replaced_stays_as_it_was() {
        let line = "{\"z\": 1e2 , \"id\" : 7,\"params\":{ \"b\":10.10,\"u\":\"\\u00e9\" }}\r\n";
        let message = Message::parse(line).unwrap();
        let cut = Cuts::of(line).add(message.params.unwrap(), "\"x\":1").replace(message.id.unwrap(), "\"p-1\"").line();
        assert_eq!(cut, "{\"z\": 1e2 , \"id\" : \"p-1\",\"params\":{ \"b\":10.10,\"u\":\"\\u00e9\" ,\"x\":1}}\r\n");
        let empty = "{\"params\":{ }}";
        let message = Message::parse(empty).unwrap();
        assert_eq!(Cuts::of(empty).add(message.params.unwrap(), "\"x\":1").line(), "{\"params\":{ \"x\":1}}");
    }
}
