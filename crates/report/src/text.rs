//! Foreign text on a page: Markdown escapes, cutting by display width.
//! Knows nothing of what the text means.

use std::borrow::Cow;
use std::collections::BTreeSet;

pub use playproof_formats::diagnostic::{count, counted};
use playproof_formats::text::escape_plain_page;
pub use playproof_formats::text::{escape_unprintable, is_unsafe_to_print, push_escaped};

/// JSON text with the characters for which its `\\u` escapes stand, where those can be read and change no string's end.
pub fn readable_json(json: &str) -> Cow<'_, str> {
    if !json.contains("\\u") {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        let decoded = escaped(escape).filter(|(c, _)| !is_unsafe_to_print(*c) && !matches!(c, '"' | '\\'));
        let whole = escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end); // of `\"`, `\\` and others
        out.push_str(plain);
        match decoded {
            Some((c, _)) => out.push(c),
            None => out.push_str(&escape[..whole]),
        }
        rest = &escape[decoded.map_or(whole, |(_, length)| length)..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character for which the `\\u` escape at the start stands, two of them for one beyond U+FFFF, and their length.
fn escaped(text: &str) -> Option<(char, usize)> {
    let unit = |from: usize| {
        let digits = text.get(from..)?.strip_prefix("\\u")?.get(..4)?;
        digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
    };
    let first = unit(0)?;
    let units = std::iter::once(first).chain(unit(6));
    let c = char::decode_utf16(units).next()?.ok()?;
    Some((c, 6 * c.len_utf16()))
}

/// The columns that `text` takes on a terminal, escape sequences of our own styles not counted.
pub fn width(text: &str) -> usize {
    console::measure_text_width(text)
}

/// The text escaped and cut to at most `columns`, with `…` for what was cut.
pub fn fitted(text: &str, columns: usize) -> Cow<'_, str> {
    let text = escape_unprintable(text);
    if width(&text) <= columns {
        return text;
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = width(c.encode_utf8(&mut [0; 4]));
        if used + wide + 1 > columns {
            break;
        }
        used += wide;
        out.push(c);
    }
    if columns > 0 {
        out.push('…');
    }
    Cow::Owned(out)
}

/// The text as a Markdown code span that nothing in it can leave.
pub fn markdown_code(text: &str) -> String {
    let text = escape_unprintable(text);
    if text.trim().is_empty() {
        return String::from("` `");
    }
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A path escaped and cut at its beginning to at most `columns`, because its end says more.
pub fn fitted_path(path: &str, columns: usize) -> String {
    let path = escape_unprintable(path);
    let mut used = 0;
    let mut start = path.len();
    for (at, c) in path.char_indices().rev() {
        used += width(c.encode_utf8(&mut [0; 4]));
        if used + usize::from(at > 0) > columns {
            return format!("…{}", &path[start..]);
        }
        start = at;
    }
    path.into_owned()
}

/// A page without styles as a Markdown code block that nothing in it can leave.
pub fn markdown_block(page: &str) -> String {
    let page = escape_plain_page(page);
    let fence = "`".repeat(longest_run(&page, '`').max(2) + 1);
    format!("{fence}text\n{page}\n{fence}")
}

/// The text as HTML in which nothing is markup, neither between tags nor in quotes.
pub fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in escape_unprintable(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Where a comment keeps GitHub from linking: behind `GH` of `GH-12`, and within what may be the name of a commit.
fn links(text: &str) -> BTreeSet<usize> {
    let mut links = BTreeSet::new();
    let mut at = 0;
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let letters = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_issue = letters.eq_ignore_ascii_case("gh") && word.ends_with('-');
        let is_commit = (7..=64).contains(&letters.len()) && letters.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_issue || is_commit {
            links.insert(at + 2);
        }
        at += word.len();
    }
    links
}

/// The text as Markdown prose in which nothing is markup, a link or a mention.
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let text = escape_unprintable(text);
    let links = links(&text);
    for (at, c) in text.char_indices() {
        if links.contains(&at) {
            out.push_str("<!-- -->");
        }
        match c {
            '-' | '+' | '=' | '|' if out.is_empty() => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // A mention or a bare link is recognised after entities are decoded; an empty comment stops it.
            '@' => out.push_str("@<!-- -->"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '!' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out.replace("://", ":<!-- -->//").replace("www.", "www<!-- -->.")
}

/// The text wrapped at spaces into lines of at most `columns`; a longer word keeps its own line.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// The text wrapped at spaces, and words that are longer than a line broken into pieces of a line.
pub fn broken(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in wrapped(text, columns) {
        if width(&line) <= columns {
            lines.push(line);
            continue;
        }
        let mut piece = String::new();
        let mut used = 0; // at most: a style and what joins its neighbours take less
        for c in line.chars() {
            let wide = width(c.encode_utf8(&mut [0; 4]));
            if used + wide > columns {
                used = width(&piece);
            }
            if !piece.is_empty() && used + wide > columns {
                lines.push(std::mem::take(&mut piece));
                used = 0;
            }
            used += wide;
            piece.push(c);
        }
        lines.push(piece);
    }
    lines
}

/// The text wrapped (longer words are broken) with `first` before its first line, its further lines standing below.
pub fn hanging(first: &str, text: &str, columns: usize) -> Vec<String> {
    let inset = width(first);
    let below = " ".repeat(inset);
    let lines = broken(text, columns.saturating_sub(inset).max(8));
    lines.iter().enumerate().map(|(n, line)| format!("{}{line}", if n == 0 { first } else { &below })).collect()
}

/// How wide prose is set on a page of `columns`: longer lines are hard to read.
pub fn prose(columns: usize) -> usize {
    columns.min(120)
}

fn longest_run(text: &str, of: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// A number as people count: `1st`, `2nd`, `11th`.
pub fn ordinal(n: u64) -> String {
    let ending = match (n % 10, n % 100) {
        (1, tens) if tens != 11 => "st",
        (2, tens) if tens != 12 => "nd",
        (3, tens) if tens != 13 => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_json_are_read_where_nothing_but_a_character_comes_of_it() {
        for (json, readable) in [
            (r#"{"\u00e9":"caf\u00E9 \ud83d\ude00 \u4e2d\u6587"}"#, r#"{"é":"café 😀 中文"}"#),
            (r#""\u001b[31m \u202e \u0022 \u005c \n \" \\ \/""#, r#""\u001b[31m \u202e \u0022 \u005c \n \" \\ \/""#),
            (r#""\\u00e9 \\\u00e9""#, r#""\\u00e9 \\é""#),
            (r#""\ud83d é \ud83d\u0041 \ude00""#, r#""\ud83d é \ud83dA \ude00""#),
            (r#""\u00g9 \u00"#, r#""\u00g9 \u00"#),
            ("\\", "\\"),
        ] {
            assert_eq!(readable_json(json), readable);
            let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).ok();
            assert_eq!(value(json), value(readable));
        }
        assert!(matches!(readable_json("{\"a\":\"é\"}"), Cow::Borrowed(_)));
    }

    #[test]
    fn text_is_cut_by_columns_not_by_characters() {
        assert_eq!(fitted("漢字漢字", 5), "漢字…");
        assert_eq!(fitted("abcdef", 6), "abcdef");
        assert_eq!(fitted("abcdefg", 6), "abcde…");
        assert_eq!(fitted("abc", 0), "");
    }

    #[test]
    fn a_path_is_cut_at_its_beginning() {
        assert_eq!(fitted_path("traces/airline.json", 13), "…airline.json");
        assert_eq!(fitted_path("airline.json", 12), "airline.json");
        assert_eq!(fitted_path("airline.json", 11), "…rline.json");
    }

    #[test]
    fn a_code_span_cannot_be_left() {
        assert_eq!(markdown_code("a`b``c"), "```a`b``c```");
        assert_eq!(markdown_code("`"), "`` ` ``");
        assert_eq!(markdown_code("x\n# y"), "`x\\n# y`");
        assert_eq!(markdown_code(""), "` `");
    }

    #[test]
    fn markup_and_mentions_in_prose_are_escaped() {
        assert_eq!(markdown("<b>*x*</b>"), "&lt;b&gt;\\*x\\*&lt;/b&gt;");
        assert_eq!(markdown("[a](b) | @me"), "\\[a\\]\\(b\\) | @<!-- -->me");
        for (link, escaped) in [("GH-12 gh-7", "GH<!-- -->-12 gh<!-- -->-7"), ("0a1b2c3", "0a<!-- -->1b2c3")] {
            assert_eq!(markdown(link), escaped);
        }
        assert_eq!(markdown("GH 12 high-5 feedback 123456"), "GH 12 high-5 feedback 123456");
    }

    #[test]
    fn further_lines_stand_below_the_first() {
        assert_eq!(hanging("  - ", "one two three four five six", 24), ["  - one two three four", "    five six"]);
    }

    #[test]
    fn lines_wrap_at_spaces() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible", 5), ["incomprehensible"]);
    }

    #[test]
    fn ordinals_end_as_people_say_them() {
        assert_eq!([1, 2, 3, 4, 11, 12, 13, 21].map(ordinal).join(" "), "1st 2nd 3rd 4th 11th 12th 13th 21st");
    }
}
