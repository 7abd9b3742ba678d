//! Reads the headers of an answer from JSON: strictly in our own format, as far as they can be read in a foreign one. Knows
//! no header's meaning.

use std::borrow::Cow;

use crate::json;
use crate::raw_value::RawValue;
use playproof_engine::event::Headers;

/// The longest value of a foreign header that is kept, in bytes.
const MAX_VALUE: usize = 1_000;

/// Parts of the names of headers that hold credentials: an import leaves them out.
const CREDENTIALS: [&str; 7] = ["auth", "cookie", "csrf", "secret", "api-key", "session", "password"];

type Value<'a> = (Cow<'a, str>, Cow<'a, str>);

/// The headers of an object whose values are texts, numbers, booleans or lists of them; `null` is no value.
///
/// # Errors
/// The value that is none of these.
pub(crate) fn strict(raw: RawValue<'_>) -> Result<Headers, RawValue<'_>> {
    let fields = json::object(raw).ok_or(raw)?;
    let mut all = Vec::new();
    for (name, value) in fields.iter() {
        match json::array(value) {
            None if value.get() == "null" => {}
            None => all.push((name, json::scalar(value).ok_or(value)?)),
            Some(values) => {
                for value in values {
                    all.push((name, json::scalar(value).ok_or(value)?));
                }
            }
        }
    }
    Ok(Headers::new(all))
}

/// The headers of a foreign answer: an object, or a list of pairs or of objects with `name` and `value`. What cannot be read
/// is left out, and so are credentials and long values.
pub(crate) fn foreign(raw: RawValue<'_>) -> Headers {
    let mut all: Vec<Value<'_>> = Vec::new();
    if let Some(fields) = json::object(raw) {
        for (name, value) in fields.iter() {
            all.extend(scalars(value).into_iter().map(|value| (Cow::Owned(name.to_owned()), value)));
        }
    }
    all.extend(json::array(raw).unwrap_or_default().into_iter().filter_map(pair));
    all.retain(|(name, value)| {
        let name = name.to_ascii_lowercase();
        let is_secret = name.ends_with("-token") || CREDENTIALS.iter().any(|part| name.contains(part));
        !name.trim().is_empty() && !is_secret && value.len() <= MAX_VALUE
    });
    Headers::new(all)
}

/// A scalar, or those of a list.
fn scalars(raw: RawValue<'_>) -> Vec<Cow<'_, str>> {
    match json::array(raw) {
        Some(values) => values.into_iter().filter_map(json::scalar).collect(),
        None => json::scalar(raw).into_iter().collect(),
    }
}

/// `["name", "value"]` or `{"name": .., "value": ..}`.
fn pair(raw: RawValue<'_>) -> Option<Value<'_>> {
    if let Some(fields) = json::object(raw) {
        return Some((fields.text("name")?, fields.text("value")?));
    }
    match *json::array(raw)?.as_slice() {
        [name, value] => Some((json::string(name)?, json::scalar(value)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(headers: &Headers) -> Vec<(&str, &str)> {
        headers.iter().map(|header| (&*header.name, &*header.value)).collect()
    }

    #[test]
    fn foreign_headers_are_read_in_each_form_and_credentials_are_left_out() {
        let expected = [("date", "now"), ("retry-after", "2"), ("retry-after", "3")];
        for text in [
            r#"{"Retry-After":[2,"3"],"Date":"now","Set-Cookie":"s=1","X-Api-Key":"k","x-csrf-token":"t","a":{},"b":null}"#,
            r#"[["Retry-After","2"],["retry-after",3],["date","now"],["Authorization","b"],["x"],7]"#,
            r#"[{"name":"Retry-After","value":"2"},{"name":"Retry-After","value":"3"},{"name":"Date","value":"now"},{"name":"x"}]"#,
        ] {
            assert_eq!(all(&foreign(json::parse(text).expect(text))), expected, "{text}");
        }
        assert!(foreign(json::parse("\"Retry-After: 2\"").expect("valid")).is_empty());
        let long = format!("{{\"a\":\"{}\",\"x-ratelimit-reset-tokens\":\"6s\"}}", "x".repeat(MAX_VALUE + 1));
        assert_eq!(all(&foreign(json::parse(&long).expect("valid"))), [("x-ratelimit-reset-tokens", "6s")]);
    }

    #[test]
    fn our_own_headers_are_texts_numbers_booleans_or_lists_of_them() {
        let read = |text: &'static str| strict(json::parse(text).expect(text)).map_err(RawValue::get);
        let headers = read(r#"{"X-B":2,"a":["1",true],"c":null,"d":[]}"#).expect("valid");
        assert_eq!(all(&headers), [("a", "1"), ("a", "true"), ("x-b", "2")]);
        for (text, wrong) in
            [("7", "7"), ("[]", "[]"), (r#"{"a":{}}"#, "{}"), (r#"{"a":[1,[2]]}"#, "[2]"), (r#"{"a":[null]}"#, "null")]
        {
            assert_eq!(read(text), Err(wrong));
        }
    }

    proptest! {
        #[test]
        fn any_value_can_be_read(text in r#"[\[{]("[a-zé:-]{0,6}"|[0-9.]{1,3}|[\[\]{}:,]|null){0,9}[\]}]"#) {
            if let Ok(raw) = json::parse(&text) {
                let kept = foreign(raw);
                if let Ok(headers) = strict(raw) {
                    prop_assert!(kept.iter().all(|header| headers.iter().any(|other| other == header)));
                }
            }
        }
    }
}
