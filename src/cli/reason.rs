//! A reason as the command line takes it: never blank, because it is kept for whoever reads it next.

/// Reads a reason.
///
/// # Errors
/// One that says nothing.
pub fn parse(given: &str) -> Result<String, String> {
    match given.trim() {
        "" => Err("it is blank; say why in a few words".to_owned()),
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
}
