//! Tests of JSON by meaning.

use super::*;
use proptest::prelude::*;

fn same(a: &str, b: &str) {
    assert_eq!(hash_of(a), hash_of(b), "{a} | {b}");
    assert_eq!(text_of(a), text_of(b));
}

fn differ(a: &str, b: &str) {
    assert_ne!(hash_of(a), hash_of(b), "{a} | {b}");
    assert_ne!(text_of(a), text_of(b));
}

#[test]
fn key_order_white_space_escapes_and_the_spelling_of_numbers_do_not_matter() {
    same(r#"{"a":1,"b":[true,null]}"#, r#" { "b" : [ true , null ] , "a" : 1.0 } "#);
    same(r#"{"a":"\u00e9\/"}"#, r#"{"a":"é/"}"#);
    same("[100]", "[1e2]");
    same("[0.10]", "[1e-1]");
    same("-0", "0");
}

#[test]
fn different_values_have_different_hashes_and_texts() {
    differ("[1,2]", "[2,1]");
    differ(r#"{"a":{"b":1}}"#, r#"{"b":{"a":1}}"#);
    differ(r#"{"a":"1"}"#, r#"{"a":1}"#);
    differ("{}", "[]");
    differ("null", "false");
    differ("[[],[]]", "[[[]]]");
    differ(r#"{"a":1,"a":2}"#, r#"{"a":2}"#);
    differ("12345678901234567890", "12345678901234567891");
    differ(&"1".repeat(5_000), &"1".repeat(5_001));
}

#[test]
fn the_hash_of_an_empty_object_is_known() {
    assert_eq!(EMPTY_OBJECT, hash_of(" { } "));
}

#[test]
fn the_text_is_sorted_and_short() {
    assert_eq!(text_of(r#"{ "b": 2.50, "a": {"d": [], "c": "x\n"} }"#), r#"{"a":{"c":"x\n","d":[]},"b":2.5}"#);
}

#[test]
fn text_that_is_not_strict_json_stays_as_written() {
    assert_eq!(text_of("{oops"), "{oops");
    differ("{oops", "{oop");
    same(r#"["\ud800"]"#, r#"[ "\ud800" ]"#);
    let deep = "[".repeat(200) + &"]".repeat(200);
    assert_eq!(text_of(&deep), deep);
}

pub(super) fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "[a-c\"\\\\é\\n]{0,12}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            proptest::collection::btree_map("[a-d]{1,2}", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn the_canonical_text_has_the_value_of_the_json(value in json()) {
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let text = text_of(&pretty);
        prop_assert_eq!(hash_of(&pretty), hash_of(&text));
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok(), Some(value));
    }

    #[test]
    fn hashes_agree_exactly_where_texts_do(a in json(), b in json()) {
        let (a, b) = (a.to_string(), b.to_string());
        prop_assert_eq!(hash_of(&a) == hash_of(&b), text_of(&a) == text_of(&b));
    }
}
