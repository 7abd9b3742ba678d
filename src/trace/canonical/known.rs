//! Objects by the keys that others had: an object with known keys in a known order is hashed by comparing it, not by
//! parsing. What it finds is what [`hash_value`](super::hash_value) finds, sooner.

use crate::trace::canonical::value::{Part, hash_key, number, part, string};
use crate::trace::scan::{Cursor, MAX_DEPTH};
use crate::trace::tree::{Steps, Tree};

/// Objects in objects that are known; deeper ones are parsed.
const MAX_NEST: usize = 4;

/// Levels of nesting that those and the outermost object take up.
const LEVELS: u32 = 5;
const _: () = assert!(LEVELS as usize == MAX_NEST + 1);

/// The keys that objects had so far, as a tree.
#[derive(Debug, Default)]
pub struct KnownObjects(Tree<Entry>);

/// A value of an entry, with the hash of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// A string, whose opening quote stands before it and whose closing one begins what stands before the next.
    Text(u128),
    /// Anything.
    Any(u128),
    /// An object that is not empty begins.
    Open(u128),
    /// It ends.
    Close,
    /// The outermost object ends.
    End,
}

impl KnownObjects {
    /// The hash of the value at `cursor`, which moves past it; none for anything but strict JSON up to `depth`.
    #[inline]
    pub fn hash(&mut self, cursor: &mut Cursor<'_>, depth: u32) -> Option<u128> {
        let start = cursor.offset();
        self.known(cursor, depth).or_else(|| self.hash_new(cursor, start, depth))
    }

    #[inline(never)]
    fn hash_new(&mut self, cursor: &mut Cursor<'_>, start: usize, depth: u32) -> Option<u128> {
        cursor.go_back(start);
        let hash = super::hash_value(cursor, depth)?;
        if self.0.wants_more()
            && let Some(steps) = steps(cursor.since(start))
        {
            self.0.grow(steps);
        }
        Some(hash)
    }

    #[inline]
    fn known(&self, cursor: &mut Cursor<'_>, depth: u32) -> Option<u128> {
        let (mut sum, mut outer, mut nested) = (0_u128, [(0, 0); MAX_NEST], 0);
        let mut node = self.0.first(cursor)?;
        loop {
            let (key, value) = match node.value {
                Entry::Text(key) => {
                    cursor.back_to_quote();
                    let text = string(cursor)?;
                    cursor.back_to_quote();
                    (key, text)
                }
                Entry::Any(key) if cursor.peek().is_some_and(|first| first.is_ascii_digit()) => (key, number(cursor)?),
                Entry::Any(key) => (key, part(cursor, depth.checked_sub(LEVELS)?)?),
                Entry::Open(key) => {
                    *outer.get_mut(nested)? = (key, sum);
                    (sum, nested) = (0, nested + 1);
                    node = self.0.next(node, cursor)?;
                    continue;
                }
                Entry::Close => {
                    nested = nested.checked_sub(1)?;
                    let (key, before) = *outer.get(nested)?;
                    let object = Part::object(sum);
                    sum = before;
                    (key, object)
                }
                Entry::End => return Some(Part::object(sum).hash()),
            };
            sum = sum.wrapping_add(value.entry(key));
            node = self.0.next(node, cursor)?;
        }
    }
}

/// What an object is made of that is strict JSON; none of another value, of one with too many entries, or of one that
/// goes on in the next line: compared with it, nobody would notice that a line ends.
fn steps(json: &str) -> Option<Steps<'_, Entry>> {
    if memchr::memchr(b'\n', json.as_bytes()).is_some() {
        return None;
    }
    let (mut cursor, mut steps) = (Cursor::new(json), Steps::new(json));
    object(&mut cursor, &mut steps, 0)?;
    steps.push(cursor.offset(), Entry::End)?;
    Some(steps)
}

/// The entries of the object at `cursor`, up to its closing bracket, which is passed.
fn object(cursor: &mut Cursor<'_>, steps: &mut Steps<'_, Entry>, nested: usize) -> Option<()> {
    if !cursor.eat(b'{') {
        return None;
    }
    while !cursor.eat(b'}') {
        cursor.skip_space();
        let key = hash_key(cursor)?;
        cursor.eat(b':');
        cursor.skip_space();
        entry(cursor, steps, key, nested)?;
        cursor.eat(b',');
    }
    Some(())
}

fn entry(cursor: &mut Cursor<'_>, steps: &mut Steps<'_, Entry>, key: u128, nested: usize) -> Option<()> {
    match cursor.peek()? {
        b'"' => {
            steps.push(cursor.offset() + 1, Entry::Text(key))?;
            cursor.string()?;
            steps.go_on(cursor.offset() - 1);
        }
        b'{' if nested < MAX_NEST => {
            steps.push(cursor.offset(), Entry::Open(key))?;
            steps.go_on(cursor.offset());
            object(cursor, steps, nested + 1)?;
            steps.push(cursor.offset(), Entry::Close)?;
            steps.go_on(cursor.offset());
        }
        _ => {
            steps.push(cursor.offset(), Entry::Any(key))?;
            cursor.value(MAX_DEPTH)?;
            steps.go_on(cursor.offset());
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::canonical::{hash_of, tests::json};
    use proptest::prelude::*;

    fn known(objects: &mut KnownObjects, json: &str) -> u128 {
        let mut cursor = Cursor::new(json);
        let hash = objects.hash(&mut cursor, MAX_DEPTH).unwrap();
        assert_eq!(cursor.offset(), json.len(), "{json}");
        hash
    }

    #[test]
    fn an_object_with_known_keys_is_found_and_hashed_as_ever() {
        let mut objects = KnownObjects::default();
        known(&mut objects, r#"{"a":1,"b":"text","c":{"d":"","e":{}},"f":[1]}                "#.trim_end());
        let pad = " ".repeat(16); // what is near the end of its text is parsed
        for like in [
            r#"{"a":-1.50,"b":"te\u00e9xt","c":{"d":"a text of more than sixteen bytes","e":{}},"f":[]}"#,
            r#"{"a":{"x":[{}]},"b":"","c":{"d":"q\"","e":{}},"f":12345678901234567890}"#,
            r#"{"a":true,"b":"sixteen bytes ok","c":{"d":"x","e":{}},"f":"now a text"}"#,
        ] {
            let padded = format!("{like}{pad}");
            let mut cursor = Cursor::new(&padded);
            assert_eq!(objects.known(&mut cursor, MAX_DEPTH), Some(hash_of(like)), "{like}");
            assert_eq!(cursor.offset(), like.len());
        }
        for other in [
            r#"{"a":1,"b":"text","c":{"d":"","e":{}},"f":[1],"g":2}"#,
            r#"{"a":1,"b":5,"c":{"d":"","e":{}},"f":[1]}"#,
            r#"{"a":1 ,"b":"text","c":{"d":"","e":{}},"f":[1]}"#,
            r#"{"a":1,"b":"text","c":{"d":"","e":{"x":1}},"f":[1]}"#,
            r#"{"a":01,"b":"text","c":{"d":"","e":{}},"f":[1]}"#,
            "{\"a\":1,\"b\":\"te\txt\",\"c\":{\"d\":\"\",\"e\":{}},\"f\":[1]}",
        ] {
            assert_eq!(objects.known(&mut Cursor::new(&format!("{other}{pad}")), MAX_DEPTH), None, "{other}");
        }
    }

    #[test]
    fn known_objects_nest_as_deep_as_new_ones() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let text = |inner: &str| format!(r#"{{"a":{{"b":{{"c":{{"d":{{"e":{inner}}}}}}}}}}}{}"#, " ".repeat(16));
        let mut objects = KnownObjects::default();
        known(&mut objects, text("1").trim_end());
        for depth in [100, 121, 122, 123, 124, 130] {
            let text = text(&nested(depth));
            let parsed = super::super::hash_value(&mut Cursor::new(&text), MAX_DEPTH - 1);
            assert_eq!(parsed.is_some(), depth <= 122);
            assert_eq!(objects.known(&mut Cursor::new(&text), MAX_DEPTH - 1), parsed, "{depth}");
        }
    }

    #[test]
    fn what_is_no_strict_json_has_no_hash_and_is_not_learnt() {
        let mut objects = KnownObjects::default();
        for bad in [r#"{"a":1,}"#, r#"{"a":01}"#, "{", r#"{"a" 1}"#, "nul"] {
            assert_eq!(objects.hash(&mut Cursor::new(bad), MAX_DEPTH), None, "{bad}");
        }
        known(&mut objects, "{\"a\":1,\n\"b\":2}");
        assert!(objects.0.is_empty(), "a line's end must not become part of what is compared");
    }

    proptest! {
        #[test]
        fn known_and_new_objects_hash_alike(values in proptest::collection::vec(json(), 1..8)) {
            let mut objects = KnownObjects::default();
            for _ in 0..2 {
                for value in &values {
                    let text = value.to_string();
                    prop_assert_eq!(known(&mut objects, &text), hash_of(&text));
                }
            }
        }

        #[test]
        fn what_is_found_is_what_a_parser_finds(
            values in proptest::collection::vec(json(), 1..4),
            noise in r#"[{}\[\],:"\\ \n0a-]{0,3}"#,
            place in 0..60_usize,
        ) {
            let mut objects = KnownObjects::default();
            for value in &values {
                known(&mut objects, &value.to_string());
            }
            for value in &values {
                let mut text = format!("{value}                    ");
                text.insert_str(text.floor_char_boundary(place), &noise);
                let (mut one, mut other) = (Cursor::new(&text), Cursor::new(&text));
                if let Some(hash) = objects.known(&mut one, MAX_DEPTH) {
                    prop_assert_eq!(super::super::hash_value(&mut other, MAX_DEPTH), Some(hash), "{}", text);
                    prop_assert_eq!(one.offset(), other.offset());
                }
            }
        }
    }
}
