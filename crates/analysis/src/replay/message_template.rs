//! Templates of error messages: what differs between messages becomes a placeholder.

/// The bytes of a message that count.
const MAX_MESSAGE: usize = 400;

/// The number of cached messages.
const MAX_KNOWN: usize = 16;

/// A cache of the templates of the last messages, because a trace repeats them.
#[derive(Debug, Default)]
pub struct MessageTemplates {
    /// Messages with their templates.
    known: Vec<(String, String)>,
    /// The entry to replace next.
    oldest: usize,
}

impl MessageTemplates {
    /// The template of `message`, as [`write_template`] writes it.
    pub fn of(&mut self, message: &str) -> &str {
        let known = self.known.iter().position(|(known, _)| known == message);
        let place = known.unwrap_or_else(|| self.remember(message));
        self.known.get(place).map_or("", |(_, template)| template)
    }

    fn remember(&mut self, message: &str) -> usize {
        if self.known.len() < MAX_KNOWN {
            self.known.push(Default::default());
        }
        let place = self.oldest;
        self.oldest = (place + 1) % MAX_KNOWN;
        if let Some((known, template)) = self.known.get_mut(place) {
            message.clone_into(known);
            write_template(message, template);
        }
        place
    }
}

/// Writes the template of `message` into `out`: numbers become `<n>`, ids `<id>`, quoted text `<text>`, paths `<path>`;
/// white space is one space. At most 400 bytes of the message count.
pub fn write_template(message: &str, out: &mut String) {
    out.clear();
    out.reserve(message.len().min(MAX_MESSAGE));
    let mut rest = message.get(..message.floor_char_boundary(MAX_MESSAGE)).unwrap_or(message).trim_start();
    loop {
        let (plain, behind) = rest.split_at(plain_words(rest.as_bytes()));
        out.push_str(plain);
        rest = behind;
        let Some(first) = rest.chars().next() else { break };
        let taken = if first.is_whitespace() {
            out.push(' ');
            rest.len() - rest.trim_start().len()
        } else if let Some(length) = quoted(rest, first) {
            out.push_str("<text>");
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
    out.truncate(out.trim_end().len());
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
    if core.starts_with(['/', '\\', '.']) && core.len() > 1 || slashes > 1 {
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
        write_template(message, &mut out);
        out
    }

    #[test]
    fn what_changes_from_one_error_to_the_next_is_a_placeholder() {
        assert_eq!(template("no answer within 5000 ms"), "no answer within <n> ms");
        assert_eq!(template("no answer within 5000ms."), "no answer within <n>ms.");
        assert_eq!(template("order o_91 not found,  try again\n"), "order <id> not found, try again");
        assert_eq!(template("can't open '/etc/x' or /var/log/a.txt"), "can't open <text> or <path>");
        assert_eq!(template("user 550e8400-e29b-41d4-a716-446655440000: denied"), "user <id>: denied");
        assert_eq!(template("Error: Reservation ZFA04Y (\"first class\")"), "Error: Reservation <id> (<text>)");
        assert_eq!(template("status=503; -1.5% and/or"), "status=<n>; <n>% and/or");
    }

    #[test]
    fn a_form_that_is_remembered_is_the_one_that_would_be_made() {
        let mut templates = MessageTemplates::default();
        for n in (0..40).chain([39, 0, 38]) {
            let message = format!("order o_{n} of {} not found", "x".repeat(n % 7));
            assert_eq!(templates.of(&message), template(&message));
            assert_eq!(templates.of(&message), template(&message));
        }
    }

    #[test]
    fn a_long_message_counts_by_its_beginning() {
        assert_eq!(template(&"é ".repeat(9_999)).chars().filter(|&c| c == 'é').count(), 133);
        assert_eq!(template(""), "");
        assert_eq!(template("unclosed 'quote"), "unclosed 'quote");
    }
}
