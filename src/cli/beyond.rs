//! `--beyond-tape`: what answers where a recording ends.

use crate::upstream::BeyondTape;

/// Reads `ok`, `repeat` or `fail:KIND`.
///
/// # Errors
/// Anything else, in words.
pub fn parse(text: &str) -> Result<BeyondTape, String> {
    match text.split_once(':') {
        None if text == "ok" => Ok(BeyondTape::Ok),
        None if text == "repeat" => Ok(BeyondTape::Repeat),
        Some(("fail", kind)) if !kind.is_empty() => Ok(BeyondTape::Fail(kind.into())),
        _ => {
            Err("it is `ok`, `repeat` (the last recorded answer again) or `fail:KIND`, such as `fail:timeout`"
                .to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_are_read_and_nothing_else() {
        assert_eq!(parse("ok"), Ok(BeyondTape::Ok));
        assert_eq!(parse("repeat"), Ok(BeyondTape::Repeat));
        assert_eq!(parse("fail:timeout"), Ok(BeyondTape::Fail("timeout".into())));
        assert!(parse("fail").is_err() && parse("fail:").is_err() && parse("OK").is_err());
    }
}
