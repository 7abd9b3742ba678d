//! The arguments of a call by meaning, as every driver gives them to the machine.

use playproof_engine::drive::NewCall;
use playproof_formats::normal_json::{Texts, normal};

/// The levels of nesting that are read.
const DEPTH: u32 = 100;

/// The same call, with its arguments by meaning.
pub(crate) fn with_args_by_meaning(new: NewCall) -> NewCall {
    let args = if new.args.is_empty() { "{}".to_owned() } else { by_meaning(&new.args) };
    let steps = new.steps.iter().map(|(step, args)| (step.clone(), by_meaning(args))).collect();
    NewCall { args, steps, ..new }
}

/// JSON by meaning. Text that is not JSON stays as it is.
fn by_meaning(json: &str) -> String {
    normal(json, Texts::AsTexts, DEPTH).unwrap_or_else(|| json.to_owned())
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
