//! Python literals as JSON: what `str()` and `repr()` of a dictionary or a list write into logs. Evaluates nothing.

/// The deepest nesting.
const MAX_DEPTH: usize = 100;

/// The JSON of a Python dictionary, list or tuple; none for any other text.
pub(crate) fn to_json(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.starts_with(['{', '[', '(']) {
        return None;
    }
    let mut reader = Reader { rest: text, json: String::with_capacity(text.len()) };
    reader.value(0)?;
    reader.rest.is_empty().then_some(reader.json)
}

struct Reader<'a> {
    rest: &'a str,
    json: String,
}

impl<'a> Reader<'a> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, wanted: char) -> Option<()> {
        self.peek()?;
        self.rest = self.rest.strip_prefix(wanted)?;
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.peek()? {
            '{' => self.items(('{', '}'), depth),
            '[' => self.items(('[', ']'), depth),
            '(' => self.items(('(', ')'), depth),
            '\'' | '"' => self.string(),
            _ => self.word(),
        }
    }

    fn items(&mut self, (open, close): (char, char), depth: usize) -> Option<()> {
        self.take(open)?;
        let is_map = open == '{';
        self.json.push(if is_map { '{' } else { '[' });
        let mut first = true;
        while self.peek()? != close {
            if !std::mem::take(&mut first) {
                self.json.push(',');
            }
            if is_map {
                self.string()?;
                self.take(':')?;
                self.json.push(':');
            }
            self.value(depth + 1)?;
            if self.peek()? != close {
                self.take(',')?;
            }
        }
        self.take(close)?;
        self.json.push(if is_map { '}' } else { ']' });
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        self.peek()?;
        let (content, rest) = string(self.rest)?;
        self.json.push_str(&serde_json::to_string(&content).ok()?);
        self.rest = rest;
        Some(())
    }

    fn word(&mut self) -> Option<()> {
        let end = self.rest.find([',', ':', '}', ']', ')']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let json = match word.trim() {
            "True" | "true" => "true",
            "False" | "false" => "false",
            "None" | "null" | "nan" => "null",
            number => serde_json::from_str::<serde_json::Number>(number).ok().map(|_| number)?,
        };
        self.json.push_str(json);
        self.rest = rest;
        Some(())
    }
}

/// The content of the string literal that `text` begins with, and the text after it.
pub(crate) fn string(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut content = String::new();
    let mut chars = text.char_indices().skip(1);
    loop {
        let (at, c) = chars.next()?;
        match c {
            '\\' => match chars.next()?.1 {
                'n' => content.push('\n'),
                't' => content.push('\t'),
                'r' => content.push('\r'),
                'x' => content.push(escaped(&mut chars, 2)?),
                'u' => content.push(escaped(&mut chars, 4)?),
                'U' => content.push(escaped(&mut chars, 8)?),
                other if matches!(other, '\\' | '\'' | '"') => content.push(other),
                other => content.extend(['\\', other]),
            },
            c if c == quote => return Some((content, text.get(at + 1..)?)),
            c => content.push(c),
        }
    }
}

/// The character with the next `digits` hexadecimal digits; half of a pair of surrogates cannot be shown.
fn escaped(chars: &mut impl Iterator<Item = (usize, char)>, digits: usize) -> Option<char> {
    let mut code = 0_u32;
    for _ in 0..digits {
        code = code.checked_mul(16)?.checked_add(chars.next()?.1.to_digit(16)?)?;
    }
    Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dictionary_becomes_an_object() {
        let text = "{'a': [1, -2.5e3, True, False, None], \"b'\": (1,), 'c': {}, 'd': 'it\\'s \\x41\\n', }";
        let json = "{\"a\":[1,-2.5e3,true,false,null],\"b'\":[1],\"c\":{},\"d\":\"it's A\\n\"}";
        assert_eq!(to_json(text).as_deref(), Some(json));
    }

    #[test]
    fn words_of_json_and_half_a_character_are_read_too() {
        let text = "{'a': [true, false, null, nan], 'b': '\\ud83d', 'c': '\\d'}";
        let json = "{\"a\":[true,false,null,null],\"b\":\"\u{fffd}\",\"c\":\"\\\\d\"}";
        assert_eq!(to_json(text).as_deref(), Some(json));
    }

    #[test]
    fn anything_else_is_none() {
        let deep = "[".repeat(200_000);
        for text in [
            "",
            "x",
            "'a'",
            "{'a': Foo(1)}",
            "{1: 2}",
            "{'a' 1}",
            "{'a': 'b}",
            "[1",
            "[1]]",
            "[é",
            &deep,
            "{'\\ud8",
            "{'\\x+1': 1}",
        ] {
            assert_eq!(to_json(text), None);
        }
    }
}
