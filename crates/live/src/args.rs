//! The arguments of a call by meaning, as every driver gives them to the machine: sorted keys, no spaces, numbers in lowest
//! terms. Rests on no feature of `serde_json` that another package may switch.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use playproof_formats::number::Decimal;

/// The levels of nesting that are read.
const DEPTH: u32 = 100;

/// JSON by meaning. Text that is not JSON stays as it is.
pub(crate) fn by_meaning(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    match write(json, &mut out, DEPTH) {
        Some(()) => out,
        None => json.to_owned(),
    }
}

fn write(json: &str, out: &mut String, depth: u32) -> Option<()> {
    let json = json.trim_ascii();
    let depth = depth.checked_sub(1)?;
    match json.bytes().next()? {
        b'{' => {
            let entries: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
            let quoted = |(key, value)| Some((serde_json::to_string(&key).ok()?, value));
            let mut entries: Vec<(String, &RawValue)> = entries.into_iter().map(quoted).collect::<Option<_>>()?;
            entries.sort_by(|one, other| one.0.cmp(&other.0));
            out.push('{');
            for (n, (key, value)) in entries.iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                out.push_str(key);
                out.push(':');
                write(value.get(), out, depth)?;
            }
            out.push('}');
        }
        b'[' => {
            let values: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            out.push('[');
            for (n, value) in values.iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                write(value.get(), out, depth)?;
            }
            out.push(']');
        }
        b'"' => {
            let text: String = serde_json::from_str(json).ok()?;
            out.push_str(&serde_json::to_string(&text).ok()?);
        }
        b't' | b'f' | b'n' => {
            serde_json::from_str::<&RawValue>(json).ok()?;
            out.push_str(json);
        }
        _ => {
            serde_json::from_str::<&RawValue>(json).ok()?;
            out.push_str(&Decimal::parse(json)?.to_string());
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::by_meaning;

    #[test]
    fn what_means_the_same_is_the_same_text() {
        for same in [r#"{"b":[1.0,"\u0041"],"a":{}}"#, "{ \"a\" : { }, \"b\" : [ 10e-1 , \"A\" ] }"] {
            assert_eq!(by_meaning(same), r#"{"a":{},"b":[1,"A"]}"#);
        }
        assert_eq!(by_meaning("12345678901234567890123.0"), "12345678901234567890123", "no float is between");
    }

    #[test]
    fn what_is_not_json_stays() {
        for text in ["", "{", "{}}", "[1,]", "tru", "01", &"[".repeat(5_000)] {
            assert_eq!(by_meaning(text), text);
        }
    }
}
