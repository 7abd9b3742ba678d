//! The arguments that make a request, out of all arguments of a call, in normal form: a text that is a plain decimal, `true` or
//! `false` says the same as that value, and `null` counts as not given.

use crate::normal_json::{Fields, Texts, object};

/// Values nest no deeper: else all arguments count.
const MAX_DEPTH: u32 = 128;

/// The arguments of these names in normal form; none: `args` is no object (also as JSON text), or lacks one of
/// them, so that nobody knows whether the others make the request.
pub fn normal(args: &str, names: &[Box<str>]) -> Option<String> {
    let text: Option<String> = args.starts_with('"').then(|| serde_json::from_str(args).ok()).flatten();
    let mut fields: Fields<'_> = serde_json::from_str(text.as_deref().unwrap_or(args)).ok()?;
    fields.retain(|name, value| names.iter().any(|named| **named == **name) && value.get() != "null");
    if fields.is_empty() || fields.len() < names.len() { None } else { object(fields, Texts::AsValues, MAX_DEPTH) }
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
        for (a, b) in [("1.1", "1.10"), ("12e3", "12000"), ("1.10", "1.100"), ("1E1", "10")] {
            let of = |text: &str| of(&format!(r#"{{"order":"{text}","amount":1}}"#));
            assert_ne!(of(a), of(b), "{a} {b}: texts");
            assert!(of(a).is_some());
        }
        assert_eq!(of(r#"{"amount":10,"order":"2.5"}"#), of(r#"{"amount":"10.0","order":2.50}"#));
        assert_eq!(of(r#"{"amount":10}"#), None, "without one of them all count");
        let long = |last| of(&format!(r#"{{"amount":1,"order":"1234567890123456789012345678{last}"}}"#));
        assert_ne!(long(1), long(2), "numbers of any length are exact");
    }

    #[test]
    fn values_inside_of_others_compare_by_meaning_too() {
        let of = |items: &str| of(&format!(r#"{{"amount":1,"order":{items}}}"#));
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
