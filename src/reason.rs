//! A reason on the command line: never blank and never only marks, because later readers need it. Suggested commands
//! have `'...'` in its place, and people paste them unchanged.

use playproof_formats::text::{escape_unprintable, says_something};

/// Reads a reason.
///
/// # Errors
/// One that says nothing.
pub fn parse(given: &str) -> Result<String, String> {
    match given.trim() {
        "" => Err("it is empty; say why in a few words".to_owned()),
        marks if !says_something(marks) => {
            Err(format!("`{}` says nothing; say why in a few words", escape_unprintable(marks)))
        }
        reason => Ok(reason.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_reason_is_none() {
        assert_eq!(parse(" because \n"), Ok("because".to_owned()));
        assert!(parse("").is_err() && parse(" \t").is_err());
    }

    #[test]
    fn a_reason_that_was_pasted_as_it_was_printed_is_none() {
        assert_eq!(parse("..."), Err("`...` says nothing; say why in a few words".to_owned()));
        assert!(parse("…").is_err() && parse("-").is_err() && parse("?!").is_err());
        for invisible in ["\u{3164}", "\u{ffa0}\u{115f}", "\u{200b}", "\u{e0041}", "\u{2800}"] {
            assert!(parse(invisible).is_err(), "{invisible:?}");
        }
        assert!(parse("#7").is_ok() && parse("ja, größer").is_ok() && parse("因为").is_ok());
    }
}
