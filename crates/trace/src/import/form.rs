//! Bodies of HTML forms (`application/x-www-form-urlencoded`) as JSON, so that the order of their fields means nothing.
//! Reads no headers.

use std::collections::BTreeMap;

use serde_json::Value;

/// The fields of a form by name, as JSON text: a text, or the list of its values where a name occurs several times. None: the
/// text is no form.
pub(super) fn to_json(text: &str) -> Option<String> {
    let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pair in text.split('&') {
        let (name, value) = pair.split_once('=')?;
        fields.entry(decoded(name).filter(|name| !name.is_empty())?).or_default().push(decoded(value)?);
    }
    let value = |mut values: Vec<String>| match values.len() {
        1 => values.pop().map_or(Value::Null, Value::String),
        _ => Value::from(values),
    };
    serde_json::to_string(&fields.into_iter().map(|(name, values)| (name, value(values))).collect::<Value>()).ok()
}

/// A part of a form without its escapes; none if it has a character that a form escapes, or an escape that is none.
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
            byte if byte.is_ascii_alphanumeric() || b"-._*~[]@:,/!'()$".contains(&byte) => byte,
            _ => return None,
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
        }
        assert_eq!(
            to_json("b=&a=2&a=1").as_deref(),
            Some(r#"{"a":["2","1"],"b":""}"#),
            "values of one name have an order"
        );
        assert_eq!(to_json("a=%C3%A9").as_deref(), Some("{\"a\":\"\u{e9}\"}"));
    }

    #[test]
    fn what_is_no_form_stays_a_text() {
        for text in ["", "a", "a=1&b", "=1", "a=1 b", "<a b=\"1\">", "a=%2", "a=%zz", "a=%ff", "a=b=c", "{a=1}", "a=é"]
        {
            assert_eq!(to_json(text), None, "{text}");
        }
    }
}
