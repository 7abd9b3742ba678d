//! Bodies of HTML forms (`application/x-www-form-urlencoded`) as JSON, so that the order of their fields means nothing.
//! Reads no headers.

use std::collections::BTreeMap;

use serde_json::Value;

/// Whether a text has only characters that a form leaves as they are, and its fields have names.
pub(super) fn looks_like_one(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._*~[]@:,/!'()$+%".contains(&byte);
    let is_field = |(name, value): (&str, &str)| !name.is_empty() && name.bytes().chain(value.bytes()).all(is_plain);
    text.split('&').all(|pair| pair.split_once('=').is_some_and(is_field))
}

/// The fields of a form by name, as JSON text: a text, or the list of its values where a name occurs several times. None: the
/// text is no form.
pub(super) fn to_json(text: &str) -> Option<String> {
    let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pair in text.split('&') {
        let (name, value) = pair.split_once('=')?;
        fields.entry(decoded(name)?).or_default().push(decoded(value)?);
    }
    let value = |mut values: Vec<String>| match values.len() {
        1 => values.pop().map_or(Value::Null, Value::String),
        _ => Value::from(values),
    };
    serde_json::to_string(&fields.into_iter().map(|(name, values)| (name, value(values))).collect::<Value>()).ok()
}

/// A part of a form without its escapes; none if one of them is no escape, or they are no text.
fn decoded(part: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(part.len()), part.bytes());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit =
                    |byte: Option<u8>| char::from(byte?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                (digit(rest.next())? << 4) | digit(rest.next())?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_fields_means_nothing() {
        for text in ["amount=1&metadata[note]=a+b%26c", "metadata%5Bnote%5D=a%20b%26c&amount=1"] {
            assert_eq!(to_json(text).as_deref(), Some(r#"{"amount":"1","metadata[note]":"a b&c"}"#), "{text}");
            assert!(looks_like_one(text), "{text}");
        }
        let lists = Some(r#"{"a":["2","1"],"b":""}"#);
        assert_eq!(to_json("b=&a=2&a=1").as_deref(), lists, "values of one name have an order");
        assert_eq!(to_json("a=%C3%A9").as_deref(), Some("{\"a\":\"\u{e9}\"}"));
        assert_eq!(to_json("a=<hidden>").as_deref(), Some(r#"{"a":"<hidden>"}"#));
    }

    #[test]
    fn what_is_no_form_stays_a_text() {
        for text in ["", "a", "a=1&b", "a=%2", "a=%zz", "a=%ff", "%=1"] {
            assert_eq!(to_json(text), None, "{text}");
        }
        for text in ["", "a", "a=1&b", "=1", "a=1 b", "<a b=\"1\">", "a=b=c", "{a=1}", "a=\u{e9}"] {
            assert!(!looks_like_one(text), "{text}");
        }
    }
}
