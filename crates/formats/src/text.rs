//! The characters of foreign text that are unsafe to print, and their escapes: one table for every output.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;

use crate::plain::is_printable;

/// Whether `c` is more than a visible character: controls, line and direction changes, tags, and characters that Unicode
/// lets a reader ignore (soft hyphens, joiners, variation selectors, fillers).
pub fn is_unsafe_to_print(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{fffe}' | '\u{ffff}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a reader sees a letter or a digit in the text.
pub fn says_something(text: &str) -> bool {
    text.contains(|c: char| c.is_alphanumeric() && !is_unsafe_to_print(c))
}

/// Whether a reader sees nothing of the text.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{2800}' || is_unsafe_to_print(c)) // an empty cell of Braille
}

/// The text with an escape (`\n`, `\u{1b}`) for each character that is unsafe to print.
pub fn escape_unprintable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe_to_print) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        push_escaped(&mut out, c);
    }
    Cow::Owned(out)
}

/// Appends `c` to `out`, escaped where it is unsafe to print.
pub fn push_escaped(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if is_unsafe_to_print(c) => push_code(out, c),
        c => out.push(c),
    }
}

fn push_code(out: &mut String, c: char) {
    let _ = write!(out, "\\u{{{:x}}}", u32::from(c)); // writing to a String cannot fail
}

/// JSON with an escape (`\u001b`) for each character that is unsafe to print; its meaning is the same. Outside strings,
/// JSON has no such characters except line ends and tabs, which stay.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    if is_printable(json.as_bytes()) {
        return Cow::Borrowed(json); // nearly always, and quickly seen
    }
    let is_suspect = |c: char| !matches!(c, '\n' | '\r' | '\t') && is_unsafe_to_print(c);
    if !json.contains(is_suspect) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 8);
    for c in json.chars() {
        match is_suspect(c) {
            true => drop(write!(out, "{}", JsonEscape(c))), // writing to a String cannot fail
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Displays a character as JSON escapes it: `\u001b`, or two such escapes beyond U+FFFF.
#[derive(Clone, Copy, Debug)]
pub struct JsonEscape(pub char);

impl fmt::Display for JsonEscape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(f, "\\u{unit:04x}"))
    }
}

/// A page with an escape for everything that a terminal or a CI system would execute: characters that are unsafe to print,
/// except line ends and styles (`ESC [ 31 m`), and the first character of a CI command: `::` (GitHub) and `%%[` at the
/// beginning of a line, after blanks; `##[`, `##vso[`, `##teamcity[` and the like anywhere.
pub fn escape_page(page: &str) -> Cow<'_, str> {
    escaped(page, style)
}

/// The same for a page without styles.
pub fn escape_plain_page(page: &str) -> Cow<'_, str> {
    escaped(page, |_| None)
}

fn escaped(page: &str, style: fn(&str) -> Option<usize>) -> Cow<'_, str> {
    let is_suspect = |c: char| c != '\n' && is_unsafe_to_print(c);
    if !["::", "##", "%%["].iter().any(|part| page.contains(part)) && !page.contains(is_suspect) {
        return Cow::Borrowed(page);
    }
    let mut out = String::with_capacity(page.len() + 8);
    let (mut begins, mut rest) = (true, page);
    while let Some(c) = rest.chars().next() {
        let length = style(rest).unwrap_or(c.len_utf8());
        let is_command = is_hash_command(rest) || begins && (rest.starts_with("::") || rest.starts_with("%%["));
        match c {
            _ if is_command => push_code(&mut out, c),
            '\n' | '\u{1b}' if c == '\n' || length > 1 => out.push_str(&rest[..length]),
            c => push_escaped(&mut out, c),
        }
        begins = c == '\n' || begins && (c.is_whitespace() || length > c.len_utf8());
        rest = &rest[length..];
    }
    Cow::Owned(out)
}

/// The length of the style at the beginning of the text.
fn style(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    codes[end..].starts_with('m').then_some(end + 3)
}

/// `##`, letters, `[`.
fn is_hash_command(text: &str) -> bool {
    let name = text.strip_prefix("##").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
    name.is_some_and(|rest| rest.starts_with('['))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_are_escaped() {
        assert_eq!(escape_unprintable("a\u{1b}[31mb\n\t\u{7}"), "a\\u{1b}[31mb\\n\\t\\u{7}");
        assert_eq!(escape_unprintable("x\u{202e}y\u{9b}z\u{200b}"), "x\\u{202e}y\\u{9b}z\\u{200b}");
        for c in
            "\u{ad}\u{61c}\u{180e}\u{2028}\u{2060}\u{2069}\u{fe0f}\u{feff}\u{e0041}\u{e0100}\u{3164}\u{ffff}".chars()
        {
            assert!(is_unsafe_to_print(c), "{c:?}");
        }
        assert!(matches!(escape_unprintable("plain ünïcode 🎉 漢字 العربية \u{a0}"), Cow::Borrowed(_)));
    }

    #[test]
    fn the_first_and_the_last_character_of_each_unsafe_kind_is_unsafe() {
        for (kind, chars) in [
            ("controls", "\u{0}\u{1f}\u{7f}\u{80}\u{9f}"),
            ("a soft hyphen, a grapheme joiner, an Arabic letter mark", "\u{ad}\u{34f}\u{61c}"),
            ("Hangul fillers", "\u{115f}\u{1160}\u{3164}\u{ffa0}"),
            ("Khmer vowels that are not drawn", "\u{17b4}\u{17b5}"),
            ("Mongolian selectors", "\u{180b}\u{180f}"),
            ("zero widths and direction marks", "\u{200b}\u{200f}"),
            ("line ends and embeddings", "\u{2028}\u{202e}"),
            ("invisible operators and isolates", "\u{2060}\u{206f}"),
            ("variation selectors", "\u{fe00}\u{fe0f}\u{e0100}\u{e01ef}"),
            ("byte order marks", "\u{feff}\u{fffe}"),
            ("specials and noncharacters", "\u{fff0}\u{fffb}\u{ffff}"),
            ("shorthand", "\u{1bca0}\u{1bca3}"),
            ("musical beams and slurs", "\u{1d173}\u{1d17a}"),
            ("tags and what is reserved beside them", "\u{e0000}\u{e0001}\u{e0fff}"),
        ] {
            assert!(chars.chars().all(is_unsafe_to_print), "{kind}: {}", escape_unprintable(chars));
        }
        for beside in
            "\u{34e}\u{61b}\u{115e}\u{180a}\u{2010}\u{202f}\u{205f}\u{fe10}\u{fffc}\u{fffd}\u{1bc9f}\u{1d17b}".chars()
        {
            assert!(!is_unsafe_to_print(beside), "{beside:?}");
        }
    }

    #[test]
    fn what_nobody_sees_says_nothing() {
        for invisible in ["", " \n", "\u{3164}", "\u{ffa0} \u{115f}", "\u{200b}\u{feff}", "\u{2800}", "\u{e0041}"] {
            assert!(is_blank(invisible) && !says_something(invisible), "{invisible:?}");
        }
        for visible in ["a", "\u{200b}7", "因", "\u{3164}é"] {
            assert!(!is_blank(visible) && says_something(visible), "{visible:?}");
        }
        assert!(!is_blank("...") && !says_something("..."));
    }

    #[test]
    fn escaped_json_has_the_same_meaning() {
        let json = "{\"a\u{202e}\":\t\"\u{ad}\u{2028}\u{7f}\u{e0041}é\"}\r\n";
        assert_eq!(escape_json(json), "{\"a\\u202e\":\t\"\\u00ad\\u2028\\u007f\\udb40\\udc41é\"}\r\n");
        assert!(matches!(escape_json("{\"a\": \"é🎉\"}\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn only_commands_to_terminals_and_ci_systems_are_escaped_in_a_page() {
        for (line, escaped) in [
            ("::error::x", "\\u{3a}:error::x"),
            ("a\n \u{a0} ::stop-commands::x\n", "a\n \u{a0} \\u{3a}:stop-commands::x\n"),
            ("a\r::x", "a\\r::x"),
            ("\u{1b}[31m::x\u{1b}[0m", "\u{1b}[31m\\u{3a}:x\u{1b}[0m"),
            ("a\u{1b}[2Jb\u{1b}", "a\\u{1b}[2Jb\\u{1b}"),
            ("a ##[error]x ##vso[task.x]y", "a \\u{23}#[error]x \\u{23}#vso[task.x]y"),
            ("###teamcity[x]", "#\\u{23}#teamcity[x]"),
            ("%%[ error ]", "\\u{25}%[ error ]"),
        ] {
            assert_eq!(escape_page(line), escaped);
            assert_eq!(escape_page(escaped), escaped);
        }
        for plain in ["a ::b::c", "## Replay", "std::fmt", "r#1 ##", "##a b[", "100 %%[x"] {
            assert_eq!(escape_page(plain), plain);
        }
    }
}
