//! Reads Python's printed values: the literals of a dict, and the printed form of an MCP result. Evaluates nothing.

/// A dict or list as JSON text; none if the text is no printed value of plain literals.
pub(super) fn to_json(text: &str) -> Option<String> {
    let mut json = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        match c {
            '\'' | '"' => {
                let (content, after) = string(rest)?;
                json.push_str(&serde_json::to_string(&content).ok()?);
                rest = after;
            }
            c if c.is_ascii_alphabetic() => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                json.push_str(match word {
                    "True" | "true" => "true",
                    "False" | "false" => "false",
                    "None" | "null" | "nan" => "null",
                    _ => return None,
                });
                rest = after;
            }
            '(' | ')' => {
                json.push(if c == '(' { '[' } else { ']' });
                rest = rest.get(1..)?;
            }
            c => {
                json.push(c);
                rest = rest.get(c.len_utf8()..)?;
            }
        }
    }
    crate::json::parse(&json).is_ok().then_some(json)
}

/// The string literal that `text` begins with, and the text after it.
fn string(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut content = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => return Some((content, text.get(at + 1..)?)),
            '\\' => match chars.next()?.1 {
                'n' => content.push('\n'),
                't' => content.push('\t'),
                'r' => content.push('\r'),
                'x' => content.push(code(&mut chars, 2)?),
                'u' => content.push(code(&mut chars, 4)?),
                'U' => content.push(code(&mut chars, 8)?),
                other => content.push(other),
            },
            c => content.push(c),
        }
    }
    None
}

fn code(chars: &mut impl Iterator<Item = (usize, char)>, digits: usize) -> Option<char> {
    let mut value = 0_u32;
    for _ in 0..digits {
        value = value.checked_mul(16)?.checked_add(chars.next()?.1.to_digit(16)?)?;
    }
    Some(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER))
}

/// The printed form of an MCP result: its flag, and its texts.
pub(super) struct PrintedResult {
    pub(super) is_error: Option<bool>,
    pub(super) texts: Vec<String>,
}

/// The MCP result that `text` prints, such as `meta=None content=[TextContent(type='text', text='...')] isError=True`.
pub(super) fn printed_result(text: &str) -> Option<PrintedResult> {
    const HEADS: [&str; 6] =
        ["meta=", "_meta=", "CallToolResult(", "content=[", "result=CallToolResult(", "root=CallToolResult("];
    if !HEADS.iter().any(|head| text.starts_with(head)) {
        return None;
    }
    let mut result = PrintedResult { is_error: None, texts: Vec::new() };
    let mut rest = text;
    // Outside string literals, `text=` begins the text of a part, and `isError=` the flag.
    while let Some(at) = rest.find(['\'', '"', '=']) {
        let (before, found) = rest.split_at(at);
        if found.starts_with('=') {
            let value = found.get(1..)?;
            match before.trim_end() {
                name if name.ends_with("isError") || name.ends_with("is_error") => {
                    result.is_error = Some(value.starts_with("True"));
                }
                name if name.ends_with("text") && value.starts_with(['\'', '"']) => {
                    // A text that is cut has no end.
                    let Some((content, after)) = string(value) else {
                        result.texts.push(value.get(1..)?.to_owned());
                        break;
                    };
                    result.texts.push(content);
                    rest = after;
                    continue;
                }
                _ => {}
            }
            rest = value;
        } else {
            rest = string(found)?.1;
        }
    }
    (result.is_error.is_some() || !result.texts.is_empty()).then_some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_dict_becomes_json() {
        let json = to_json("{'error': \"it's\", 'a': [1, True, None], 't': ('x',), 'u': '\\xe9\\n'}");
        assert_eq!(json, None, "a tuple of one has a comma that JSON forbids");
        let json = to_json("{'error': \"it's\", 'a': [1, True, None], 'u': '\\xe9\\n'}");
        assert_eq!(json.as_deref(), Some(r#"{"error": "it's", "a": [1, true, null], "u": "é\n"}"#));
        assert_eq!(to_json("{'a': Order(id=1)}"), None);
        assert_eq!(to_json("{'a': 'cut"), None);
    }

    #[test]
    fn a_printed_result_gives_its_flag_and_its_texts() {
        let text = "meta=None content=[TextContent(type='text', text='a \\'b\\' isError=True', annotations=None), \
                    TextContent(type='text', text=\"c\")] structuredContent=None isError=False";
        let found = printed_result(text).expect("a result");
        assert_eq!((found.is_error, found.texts), (Some(false), vec!["a 'b' isError=True".into(), "c".into()]));
        assert!(printed_result("content is king").is_none());
    }
}
