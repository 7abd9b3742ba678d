//! Templates of error messages: what differs between messages becomes a placeholder.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use serde_json::Value;

/// The bytes of a message that count.
const MAX_MESSAGE: usize = 400;

/// Lengths of arguments that a message may repeat, in bytes.
const ECHO: RangeInclusive<usize> = 3..=200;

/// Words that say what failed. An argument with one of them is not taken out of a message.
const PREDICATES: [&str; 31] = [
    "already",
    "cannot",
    "denied",
    "exceeded",
    "expired",
    "failed",
    "forbidden",
    "illegal",
    "insufficient",
    "invalid",
    "malformed",
    "missing",
    "must",
    "never",
    "no",
    "not",
    "only",
    "refused",
    "rejected",
    "required",
    "timed",
    "too",
    "unable",
    "unauthorized",
    "unavailable",
    "unexpected",
    "unknown",
    "unsupported",
    "without",
    "wrong",
    "locked",
];

/// The number of cached messages.
const MAX_KNOWN: usize = 16;

/// A cache of the templates of the last messages, because a trace repeats them.
#[derive(Debug, Default)]
pub struct MessageTemplates {
    /// Messages with the arguments of their calls, and their templates.
    known: Vec<([String; 2], String)>,
    /// The entry to replace next.
    oldest: usize,
}

impl MessageTemplates {
    /// The template of `message`, as [`write_template`] writes it.
    pub fn template(&mut self, message: &str, args: Option<&str>) -> &str {
        let args = args.filter(|args| may_repeat(message, args)); // without them, calls share the template of a message
        let is_same = |[known, with]: &[String; 2]| known == message && with == args.unwrap_or("");
        let known = self.known.iter().position(|(known, _)| is_same(known));
        let place = known.unwrap_or_else(|| self.remember(message, args));
        self.known.get(place).map_or("", |(_, template)| template)
    }

    fn remember(&mut self, message: &str, args: Option<&str>) -> usize {
        if self.known.len() < MAX_KNOWN {
            self.known.push(Default::default());
        }
        let place = self.oldest;
        self.oldest = (place + 1) % MAX_KNOWN;
        if let Some(([known, with], template)) = self.known.get_mut(place) {
            message.clone_into(known);
            args.unwrap_or("").clone_into(with);
            write_template(message, args, template);
        }
        place
    }
}

/// Whether a message may repeat a text of arguments (JSON). Most repeat none, and parsing arguments is slow, so this only
/// compares what stands between quotes. Of a text with an escape it compares the part before the escape.
fn may_repeat(message: &str, args: &str) -> bool {
    let mut rest = args;
    let mut texts = std::iter::from_fn(|| {
        let (_, text) = rest.split_once('"')?;
        let mut ends = text.match_indices('"').map(|(end, _)| text.split_at(end));
        let (text, behind) = ends.find(|(text, _)| !ends_in_escape(text))?;
        rest = behind.strip_prefix('"')?;
        Some(text)
    });
    texts.any(|text| match text.split_once('\\') {
        Some((before, _)) => message.contains(before),
        None => ECHO.contains(&text.len()) && message.contains(text) && is_echo(text),
    })
}

/// Whether a backslash at the end of a text escapes what follows.
fn ends_in_escape(text: &str) -> bool {
    text.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Writes the template of the [`head`] of `message` into `out`: numbers become `<n>`, ids `<id>`, quoted text `<text>`
/// (but for the message of a printed exception), paths `<path>`, and texts of `args` (JSON) that the message repeats
/// `<arg>`; white space is one space.
pub fn write_template(message: &str, args: Option<&str>, out: &mut String) {
    out.clear();
    let mut rest = head(message);
    out.reserve(rest.len());
    let args = args.and_then(|args| serde_json::from_str::<Value>(args).ok()).unwrap_or_default();
    let mut texts = Vec::new();
    add_texts(&args, rest, &mut texts);
    while let Some((at, length)) =
        texts.iter().filter_map(|text| echo(rest, text)).min_by_key(|&(at, length)| (at, Reverse(length)))
    {
        let (before, after) = rest.split_at(at);
        write_words(before, out);
        out.push_str("<arg>");
        rest = after.get(length..).unwrap_or("");
    }
    write_words(rest, out);
    out.truncate(out.trim_end().len());
}

/// The part of `message` that makes its template: the first sentence of its first line, of a Python traceback of the
/// last one; at most 400 bytes.
pub fn head(message: &str) -> &str {
    let message = message.trim();
    let is_traceback = message.starts_with("Traceback (most recent call last)");
    let line = if is_traceback { message.lines().next_back() } else { message.lines().next() }.unwrap_or("");
    let line = line.get(..line.floor_char_boundary(MAX_MESSAGE)).unwrap_or(line);
    let sentence = first_sentence(line);
    sentence.trim()
}

/// The text up to the first full stop, exclamation or question mark that ends at least two words and is followed by a
/// blank and a capital letter.
fn first_sentence(line: &str) -> &str {
    let ends = line.match_indices(['.', '!', '?']).map(|(at, _)| line.split_at(at + 1)).find(|(sentence, rest)| {
        let begins = rest.strip_prefix(' ').is_some_and(|next| next.trim_start().starts_with(char::is_uppercase));
        let last = sentence.rsplit(' ').next().unwrap_or("");
        let is_short = last.len() < 3 || last.trim_end_matches('.').contains('.'); // an initial, or `e.g.`
        begins && sentence.contains(' ') && !is_short
    });
    ends.map_or(line, |(sentence, _)| sentence)
}

/// The place and length of `value` where `text` repeats it as a whole word or phrase, outside quotation marks.
fn echo(text: &str, value: &str) -> Option<(usize, usize)> {
    let stands_alone = |at: &usize| {
        let (before, after) = (text.get(..*at).unwrap_or(""), text.get(at + value.len()..).unwrap_or(""));
        let quote = before.chars().next_back().filter(|before| matches!(before, '"' | '\'' | '`'));
        let is_quoted = quote.is_some_and(|quote| after.starts_with(quote));
        !is_quoted && !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
    };
    let at = text.match_indices(value).map(|(at, _)| at).find(stands_alone)?;
    Some((at, value.len()))
}

/// Whether a text of the arguments may be taken out of a message. Not what other placeholders cover, nor a single word in
/// lower case, nor what may be the message's own words.
fn is_echo(value: &str) -> bool {
    let is_name = value.contains(' ') || value.contains(|c: char| !c.is_ascii_lowercase());
    let is_covered = || !value.contains(' ') && !value.bytes().all(|byte| byte.is_ascii_alphabetic());
    ECHO.contains(&value.len()) && is_name && !is_covered() && !has_predicate(value)
}

/// Whether `text` has a word that says what failed, such as `not` or `invalid`.
pub fn has_predicate(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let ends_negated = |word: &str| word.len() >= 3 && is_same(word.get(word.len() - 3..).unwrap_or(""), "n't");
    words.any(|word| ends_negated(word) || PREDICATES.iter().any(|known| is_same(known, word)))
}

fn is_same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

/// Adds the texts of `value` that may be taken out of `message`, which has them.
fn add_texts<'v>(value: &'v Value, message: &str, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) if message.contains(text) && is_echo(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, message, texts)),
        Value::Object(fields) => fields.values().for_each(|item| add_texts(item, message, texts)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn write_words(mut rest: &str, out: &mut String) {
    loop {
        let (plain, behind) = rest.split_at(plain_words(rest.as_bytes()));
        out.push_str(plain);
        rest = behind;
        let Some(first) = rest.chars().next() else { break };
        let taken = if first.is_whitespace() {
            out.push(' ');
            rest.len() - rest.trim_start().len()
        } else if let Some(length) = quoted(rest, first) {
            let (text, behind) = (rest.get(1..length - 1).unwrap_or(""), rest.get(length..).unwrap_or(""));
            if text.contains(' ') && behind.starts_with(')') && is_exception(out) {
                out.push(first);
                write_words(text, out);
                out.push(first);
            } else {
                out.push_str("<text>");
            }
            length
        } else if is_word(first) {
            let length = word_length(rest);
            word(rest.get(..length).unwrap_or(""), out);
            length
        } else {
            out.push(first);
            first.len_utf8()
        };
        rest = rest.get(taken..).unwrap_or("");
    }
}

/// Whether a text that ends here, such as `ToolException(`, begins the printed form of an exception: its message is quoted.
fn is_exception(before: &str) -> bool {
    let name = before.strip_suffix('(').and_then(|call| call.rsplit(|c: char| !is_word(c)).next());
    name.is_some_and(|name| name.ends_with("Error") || name.ends_with("Exception"))
}

/// The length of the words at the start that are of nothing but letters without accents, and of the single spaces
/// between them: most of a message is taken as it is, and at once.
fn plain_words(message: &[u8]) -> usize {
    let (mut taken, mut at) = (0, 0);
    loop {
        while message.get(at).is_some_and(u8::is_ascii_alphabetic) {
            at += 1;
        }
        match message.get(at) {
            Some(b' ') if at > taken && message.get(at + 1).is_some_and(u8::is_ascii_alphabetic) => {
                at += 1;
                taken = at;
            }
            Some(&next) if !next.is_ascii() || is_word(char::from(next)) => return taken, // the last word goes on
            _ => return at,
        }
    }
}

/// The length of the quoted text at the start; an apostrophe within a word quotes nothing, for `write_template` takes
/// words whole.
fn quoted(rest: &str, quote: char) -> Option<usize> {
    if !matches!(quote, '"' | '\'' | '`') {
        return None;
    }
    let end = rest.get(1..)?.find(quote)? + 1;
    Some(end + 1)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '\\' | '@' | '#' | '%' | '+' | '\'')
}

/// The length of the word at the start.
fn word_length(rest: &str) -> usize {
    let is_inside = |&byte: &u8| byte.is_ascii() && is_word(char::from(byte));
    let ascii = rest.bytes().take_while(|byte| is_inside(byte)).count();
    match rest.as_bytes().get(ascii) {
        Some(next) if !next.is_ascii() => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
        _ => ascii,
    }
}

fn word(word: &str, out: &mut String) {
    let bytes = word.as_bytes(); // all that is looked for is ASCII, and found faster in bytes
    let is_tail = |byte: &u8| matches!(byte, b'.' | b'\'' | b'-' | b'/');
    let (core, tail) = word.split_at(bytes.iter().rposition(|byte| !is_tail(byte)).map_or(0, |last| last + 1));
    let slashes = core.bytes().filter(|byte| matches!(byte, b'/' | b'\\')).count();
    // Behind a `<` stands the end of an element (`</script>`), and no path.
    let ends_element = out.ends_with('<') && slashes == 1;
    let is_path = core.starts_with(['/', '\\', '.']) && core.len() > 1 && !ends_element || slashes > 1;
    if is_path {
        out.push_str("<path>");
    } else if core.bytes().any(|byte| byte.is_ascii_digit()) {
        number_or_id(core, out);
    } else {
        out.push_str(core);
    }
    out.push_str(tail);
}

/// `5000`, `-1.5`, `12%` are numbers, `5000ms` is one with its unit; anything else with a digit is an id.
fn number_or_id(core: &str, out: &mut String) {
    let digits = core.trim_start_matches(['-', '+', '#']);
    let length = digits.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = digits.split_at(length);
    if !number.is_empty() && unit.len() <= 3 && unit.chars().all(|c| c.is_alphabetic() || c == '%') {
        out.push_str("<n>");
        out.push_str(unit);
    } else {
        out.push_str("<id>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(message: &str) -> String {
        let mut out = String::new();
        write_template(message, None, &mut out);
        out
    }

    #[test]
    fn what_changes_from_one_error_to_the_next_is_a_placeholder() {
        assert_eq!(template("no answer within 5000 ms"), "no answer within <n> ms");
        assert_eq!(template("no answer within 5000ms."), "no answer within <n>ms.");
        assert_eq!(template("order o_91 not found,  try again\n"), "order <id> not found, try again");
        assert_eq!(template("can't open '/etc/x' or /var/log/a.txt"), "can't open <text> or <path>");
        assert_eq!(template("<b>no</b> </script> <br/> at /etc/x"), "<b>no</b> </script> <br/> at <path>");
        assert_eq!(template("user 550e8400-e29b-41d4-a716-446655440000: denied"), "user <id>: denied");
        assert_eq!(template("Error: Reservation ZFA04Y (\"first class\")"), "Error: Reservation <id> (<text>)");
        assert_eq!(template("status=503; -1.5% and/or"), "status=<n>; <n>% and/or");
    }

    #[test]
    fn the_message_of_a_printed_exception_is_no_quoted_text() {
        assert_eq!(template("ToolException('order o_91 is closed')"), "ToolException('order <id> is closed')");
        assert_eq!(
            template("Error: a.ApiError(\"the card 'x' expired\")"),
            "Error: a.ApiError(\"the card <text> expired\")"
        );
        for look_alike in ["KeyError('b')", "TypeError('a b', 1)", "refund('order one')"] {
            assert!(template(look_alike).contains("(<text>"), "{look_alike}");
        }
    }

    #[test]
    fn a_form_that_is_remembered_is_the_one_that_would_be_made() {
        let mut templates = MessageTemplates::default();
        for n in (0..40).chain([39, 0, 38]) {
            let message = format!("order o_{n} of {} not found", "x".repeat(n % 7));
            assert_eq!(templates.template(&message, None), template(&message));
            assert_eq!(templates.template(&message, None), template(&message));
        }
    }

    #[test]
    fn the_first_sentence_makes_the_template() {
        assert_eq!(template("\n Order is locked. Ask for help.\nmore"), "Order is locked.");
        assert_eq!(
            template("no page in v. 3.5 of it. see e.g. J. Smith"),
            "no page in v. <n> of it. see e.g. J. Smith"
        );
        assert_eq!(template("No. Never do that"), "No. Never do that");
        assert_eq!(
            template("Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'b'\n"),
            "KeyError: <text>"
        );
        assert_eq!(template("Traceback (most recent call last)"), "Traceback (most recent call last)");
    }

    #[test]
    fn arguments_that_a_message_repeats_are_a_placeholder() {
        let of = |message: &str, args: &str| {
            let (mut out, mut templates) = (String::new(), MessageTemplates::default());
            write_template(message, Some(args), &mut out);
            assert_eq!(templates.template(message, Some("{}")), template(message));
            assert_eq!(templates.template(message, Some(args)), out);
            out
        };
        let places = r#"{"from":"New York","to":["York","Ulm"],"modifier":"oat","why":"not found","n":"R7"}"#;
        assert_eq!(of("no train from New York to Ulm", places), "no train from <arg> to <arg>");
        assert_eq!(of("Yorkshire: no train to York.", places), "Yorkshire: no train to <arg>.");
        assert_eq!(of("'New York' is far, \"Ulm is", r#"["New York", "Ulm"]"#), "<text> is far, \"<arg> is");
        assert_eq!(of("oat R7 not found", places), "oat <id> not found");
        assert_eq!(of("no train to Ulm", "{"), "no train to Ulm");
        assert_eq!(
            of("a card of Ada Lovelace in Paris", r#"{"a":{"b":"Ada Lovelace in Paris"},"c":"Ada"}"#),
            "a card of <arg>"
        );
    }

    #[test]
    fn only_arguments_that_a_message_may_repeat_are_parsed() {
        let message = "no train from New York to Ulm; oat";
        let escaped = [r#"["a \"b\"", "Ulm"]"#, r#"["\u0055lm"]"#, r#"["New\u0020York"]"#, r#"["a \\", "Ulm"]"#];
        for args in ["{\"to\":\"Ulm\"}", "\"New York\"", "{\"Ulm\":1}"].into_iter().chain(escaped) {
            assert!(may_repeat(message, args), "{args}");
        }
        for args in ["{}", "{\"to\":\"Bonn\",\"n\":7}", "[\"oat\", \"no\", \"\"]", "", r#"["say \"Ulm\""]"#] {
            assert!(!may_repeat(message, args), "{args}");
        }
    }

    #[test]
    fn a_long_message_counts_by_its_beginning() {
        assert_eq!(template(&"é ".repeat(9_999)).chars().filter(|&c| c == 'é').count(), 133);
        assert_eq!(template(""), "");
        assert_eq!(template("unclosed 'quote"), "unclosed 'quote");
    }
}
