//! The arguments that make a request, out of all arguments of a call, in one normal form: sorted names, no spaces, numbers
//! in lowest terms, and a text that is a JSON number, `true` or `false` as that value. `null` counts as not given.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::number::Decimal;

/// Values nest no deeper: else all arguments count.
const MAX_DEPTH: u32 = 128;

type Object<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// The arguments of these names in normal form; none: `args` is no object (also as JSON text), or has none of them.
pub fn normal(args: &str, names: &[Box<str>]) -> Option<String> {
    let text: Option<String> = args.starts_with('"').then(|| serde_json::from_str(args).ok()).flatten();
    let all: Object<'_> = serde_json::from_str(text.as_deref().unwrap_or(args)).ok()?;
    let is_named = |name: &str| names.iter().any(|named| **named == *name);
    let named: Object<'_> = all.into_iter().filter(|(name, value)| is_named(name) && value.get() != "null").collect();
    if named.is_empty() { None } else { object(&named, MAX_DEPTH) }
}

fn value(raw: &RawValue, depth: u32) -> Option<String> {
    let raw = raw.get();
    match raw.as_bytes().first()? {
        b'"' => text(raw),
        b'{' => object(&serde_json::from_str(raw).ok()?, depth.checked_sub(1)?),
        b'[' => {
            let depth = depth.checked_sub(1)?;
            let items: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
            let items: Option<Vec<String>> = items.into_iter().map(|item| value(item, depth)).collect();
            Some(format!("[{}]", items?.join(",")))
        }
        b't' | b'f' | b'n' => Some(raw.to_owned()),
        _ => Some(Decimal::parse(raw)?.to_string()),
    }
}

fn object(fields: &Object<'_>, depth: u32) -> Option<String> {
    let field = |(name, raw): (&Cow<'_, str>, &&RawValue)| {
        Some(format!("{}:{}", serde_json::to_string(name).ok()?, value(raw, depth)?))
    };
    Some(format!("{{{}}}", fields.iter().map(field).collect::<Option<Vec<_>>>()?.join(",")))
}

/// A text that is a JSON value of another kind says the same as that value.
fn text(raw: &str) -> Option<String> {
    let text: String = serde_json::from_str(raw).ok()?;
    let is_json = text.trim() == text && serde_json::from_str::<&RawValue>(&text).is_ok();
    Some(match text.as_bytes().first() {
        Some(b'-' | b'0'..=b'9') if is_json => Decimal::parse(&text)?.to_string(),
        Some(b't' | b'f') if is_json => text,
        _ => serde_json::to_string(&text).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(args: &str) -> Option<String> {
        normal(args, &["order".into(), "amount".into()])
    }

    #[test]
    fn values_compare_by_meaning_and_other_arguments_do_not_count() {
        let wanted = Some(r#"{"amount":10,"order":"o1"}"#.to_owned());
        for args in [
            r#"{"order":"o1","amount":10,"reason":"broken"}"#,
            r#"{ "amount" : 10.0, "order": "o1" }"#,
            r#"{"amount":"10","order":"o1","note":null}"#,
            r#"{"amount":"10.00","order":"\u006f1"}"#,
            r#"{"amount":1e1,"order":"o1","request_id":7}"#,
            r#""{\"amount\":10,\"order\":\"o1\"}""#,
        ] {
            assert_eq!(of(args), wanted, "{args}");
        }
        for args in [
            r#"{"amount":10.01,"order":"o1"}"#,
            r#"{"amount":" 10","order":"o1"}"#,
            r#"{"amount":"010","order":"o1"}"#,
            r#"{"amount":-10,"order":"o1"}"#,
            r#"{"amount":10,"order":"O1"}"#,
            r#"{"amount":10}"#,
        ] {
            assert_ne!(of(args), wanted, "{args}");
        }
        assert_eq!(of(r#"{"amount":10,"order":null}"#), of(r#"{"amount":10}"#), "null is not given");
        let long = |last| of(&format!(r#"{{"order":"1234567890123456789012345678{last}"}}"#));
        assert_ne!(long(1), long(2), "numbers of any length are exact");
    }

    #[test]
    fn values_inside_of_others_compare_by_meaning_too() {
        let of = |items: &str| of(&format!(r#"{{"order":{items}}}"#));
        assert_eq!(of(r#"[{"b":"true","a":"1"},[2.0]]"#), of(r#"[ {"a":1.0,"b":true}, ["2"] ]"#));
        assert_ne!(of("[1,2]"), of("[2,1]"));
    }

    #[test]
    fn without_a_named_argument_all_of_them_count() {
        let deep = format!(r#"{{"order":{}{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(of(&serde_json::to_string(&deep).unwrap()), None);
        for args in [r#"{"reason":"broken"}"#, r#"{"order":null}"#, "[1]", "{}", "oops", "\"text\""] {
            assert_eq!(of(args), None, "{args}");
        }
    }
}
