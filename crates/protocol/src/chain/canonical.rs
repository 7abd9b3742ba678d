//! The text of an entry that its hash is of: as Python's `json.dumps(sort_keys=True, separators=(",", ":"))` writes what
//! `json.loads` has read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::de::IgnoredAny;

/// An entry of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its canonical text, without `hash`.
    pub text: String,
    /// The value of `prev`, if it is a text.
    pub prev: Option<String>,
    /// The value of `hash`, if it is a text.
    pub hash: Option<String>,
}

/// Reads a line; none: it is no JSON object.
pub(super) fn entry(line: &str) -> Option<Entry> {
    let line = line.trim_matches([' ', '\t', '\r', '\n']);
    serde_json::from_str::<IgnoredAny>(line).ok().filter(|_| line.starts_with('{'))?; // the scanner may trust it
    let mut members = Scanner { rest: line }.members();
    let text_at = |key: &str| {
        let value = members.get(&points(key))?;
        value.starts_with('"').then(|| serde_json::from_str(value).ok()).flatten()
    };
    let (prev, hash) = (text_at("prev"), text_at("hash"));
    members.remove(&points("hash"));
    Some(Entry { text: object(members), prev, hash })
}

/// The code points of a text.
fn points(text: &str) -> Vec<u32> {
    text.chars().map(u32::from).collect()
}

/// The members of an object by their keys, in the order of code points, each as its canonical text. Of two with one key, the
/// later one counts.
type Members = BTreeMap<Vec<u32>, String>;

/// What is left of a text that is known to be JSON.
struct Scanner<'t> {
    rest: &'t str,
}

impl<'t> Scanner<'t> {
    /// The next character that is no white space.
    fn next(&mut self) -> char {
        self.rest = self.rest.trim_start();
        let next = self.rest.chars().next().unwrap_or('\0');
        self.rest = &self.rest[next.len_utf8().min(self.rest.len())..];
        next
    }

    fn members(&mut self) -> Members {
        let mut members = Members::new();
        self.next();
        loop {
            match self.next() {
                '"' => {
                    let key = self.string();
                    self.next();
                    members.insert(key, self.value());
                }
                ',' => {}
                _ => return members,
            }
        }
    }

    fn value(&mut self) -> String {
        self.rest = self.rest.trim_start();
        match self.rest.bytes().next() {
            Some(b'{') => object(self.members()),
            Some(b'[') => self.list(),
            Some(b'"') => {
                self.next();
                quoted(&self.string())
            }
            _ => {
                let end = self.rest.find([',', '}', ']', ' ', '\t', '\r', '\n']).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                number(word)
            }
        }
    }

    fn list(&mut self) -> String {
        self.next();
        let mut values = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.bytes().next() {
                None | Some(b']') => break,
                Some(b',') => drop(self.next()),
                Some(_) => values.push(self.value()),
            }
        }
        self.next();
        format!("[{}]", values.join(","))
    }

    /// The code points of a string behind its opening quote; half a surrogate pair is one.
    fn string(&mut self) -> Vec<u32> {
        let mut points: Vec<u32> = Vec::new();
        let mut chars = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, next)) = chars.next() {
            match next {
                '"' => {
                    end = at + 1;
                    break;
                }
                '\\' => match chars.next().map_or('\0', |(_, escaped)| escaped) {
                    'u' => {
                        let digits = (0..4).filter_map(|_| chars.next()?.1.to_digit(16));
                        join_half(&mut points, digits.fold(0, |point, digit| point << 4 | digit));
                    }
                    'n' => points.push(0x0a),
                    't' => points.push(0x09),
                    'r' => points.push(0x0d),
                    'b' => points.push(0x08),
                    'f' => points.push(0x0c),
                    itself => points.push(itself.into()),
                },
                plain => points.push(plain.into()),
            }
        }
        self.rest = &self.rest[end..];
        points
    }
}

/// Adds an escaped code unit; a second half behind a first one makes one code point.
fn join_half(points: &mut Vec<u32>, unit: u32) {
    match points.last_mut() {
        Some(first @ 0xd800..=0xdbff) if (0xdc00..=0xdfff).contains(&unit) => {
            *first = 0x1_0000 + ((*first - 0xd800) << 10) + (unit - 0xdc00);
        }
        _ => points.push(unit),
    }
}

fn object(members: Members) -> String {
    let members: Vec<String> = members.iter().map(|(key, value)| format!("{}:{value}", quoted(key))).collect();
    format!("{{{}}}", members.join(","))
}

/// A string in ASCII.
fn quoted(points: &[u32]) -> String {
    let mut out = String::from("\"");
    for point in points {
        match point {
            0x22 => out.push_str("\\\""),
            0x5c => out.push_str("\\\\"),
            0x0a => out.push_str("\\n"),
            0x0d => out.push_str("\\r"),
            0x09 => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            0x20..=0x7e => out.push(char::from_u32(*point).unwrap_or(' ')),
            0x1_0000.. => {
                let above = point - 0x1_0000;
                let _ = write!(out, "\\u{:04x}\\u{:04x}", 0xd800 + (above >> 10), 0xdc00 + (above & 0x3ff));
            }
            _ => drop(write!(out, "\\u{point:04x}")),
        }
    }
    out.push('"');
    out
}

/// A number as Python writes it, or a word. A number with a fraction or an exponent is a float: the shortest digits that give
/// it back, with an exponent below 1e-4 and from 1e16.
fn number(word: &str) -> String {
    if !word.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return word.to_owned();
    }
    if !word.contains(['.', 'e', 'E']) {
        return if word == "-0" { "0".to_owned() } else { word.to_owned() };
    }
    let float: f64 = word.parse().unwrap_or_default(); // every number of JSON is one of Rust
    if float.is_infinite() {
        return if word.starts_with('-') { "-Infinity" } else { "Infinity" }.to_owned();
    }
    let shortest = format!("{float:e}");
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    match exponent.parse::<i32>().unwrap_or_default() {
        -4..=15 => format!("{float:?}"),
        exponent => format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &str) -> String {
        entry(line).map_or_else(|| "none".to_owned(), |entry| entry.text)
    }

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        for (given, written) in [
            ("0", "0"),
            ("-0", "0"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("5.0", "5.0"),
            ("-0.0", "-0.0"),
            ("1e5", "100000.0"),
            ("1E+15", "1000000000000000.0"),
            ("1e16", "1e+16"),
            ("123456789012345680.0", "1.2345678901234568e+17"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("0.000123456789", "0.000123456789"),
            ("0.1", "0.1"),
            ("0.30000000000000004", "0.30000000000000004"),
            ("1e400", "Infinity"),
            ("-1e400", "-Infinity"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ] {
            assert_eq!(text(&format!("{{\"n\":{given}}}")), format!("{{\"n\":{written}}}"));
        }
    }

    #[test]
    fn texts_are_ascii_and_keys_are_in_the_order_of_code_points() {
        let given =
            r#"{"z": "\u00E9é\/\u007f \u0000\n\t\"\\", "\ud83d\ude00": "😀", "\uff5e": "\ud800x\udc00", "a" : [ ]}"#;
        let written = r#"{"a":[],"z":"\u00e9\u00e9/\u007f \u0000\n\t\"\\","\uff5e":"\ud800x\udc00","\ud83d\ude00":"\ud83d\ude00"}"#;
        assert_eq!(text(given), written);
    }

    #[test]
    fn the_later_of_two_keys_counts_and_only_the_hash_of_the_entry_itself_is_left_out() {
        let given = r#"{"a":1,"hash":"h","b":{"hash":[true,null,{"y":1,"x":2}]},"a":{"c":1,"c":2},"prev":"p"}"#;
        let read = entry(given).unwrap();
        assert_eq!(read.text, r#"{"a":{"c":2},"b":{"hash":[true,null,{"x":2,"y":1}]},"prev":"p"}"#);
        assert_eq!((read.prev.as_deref(), read.hash.as_deref()), (Some("p"), Some("h")));
    }

    #[test]
    fn what_is_no_object_is_no_entry() {
        for wrong in ["", "1", "[]", "{", "{}x", "{\"a\":01}", "{\"a\":NaN}", "null"] {
            assert_eq!(entry(wrong), None, "{wrong}");
        }
        assert_eq!(text(" { } \r"), "{}");
    }
}
