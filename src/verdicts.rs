//! Checks names of verdicts that users type: impossible and misspelt ones. Knows no command.

use super::exit::Failure;
use playproof_engine::playbook::Playbook;
use playproof_formats::diagnostic::did_you_mean;

/// Refuses an impossible name of a verdict, and suggests the command with a possible one.
///
/// # Errors
/// The name is impossible; a similar possible name.
pub fn refuse_odd(name: &str) -> Result<(), Failure> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.is_empty() && name.len() <= 100 && name.chars().all(fits) && !name.starts_with(['.', '-']) {
        return Ok(());
    }
    let allowed = "a name has 1 to 100 of the letters a-z, digits and _ - . and begins with a letter, a digit or _";
    if name.is_empty() {
        return Err(Failure::new("the name of a verdict is empty").typo(name, "VERDICT").help(allowed));
    }
    if !name.is_ascii() {
        return Err(Failure::new(format!("`{name}` cannot be the name of a verdict"))
            .typo(name, "VERDICT")
            .help(format!("{allowed}, and no others")));
    }
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let near: String = words.collect::<Vec<_>>().join("_").to_ascii_lowercase().chars().take(60).collect();
    let near = if near.is_empty() { "request_rejected" } else { near.trim_end_matches('_') };
    Err(Failure::new(format!("`{name}` cannot be the name of a verdict"))
        .typo(name, near)
        .help(format!("{allowed}, such as `{near}`")))
}

/// Refuses an expected verdict that is probably a misspelt one of the playbook, unless `is_new`.
///
/// # Errors
/// As [`refuse_odd`]; the verdict that is probably meant.
pub fn refuse_misspelt(expected: &str, is_new: bool, playbook: &Playbook, called: &str) -> Result<(), Failure> {
    refuse_odd(expected)?;
    let known = || playbook.verdicts.iter().map(|verdict| &*verdict.name);
    if is_new || known().any(|known| known == expected) {
        return Ok(());
    }
    let Some(near) = did_you_mean(expected, known()) else { return Ok(()) };
    Err(Failure::new(format!("`{called}` has no verdict `{expected}`"))
        .typo(expected, near)
        .help(format!("did you mean `{near}`? for a new verdict add `--new`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_blanks_is_refused_with_one_that_can_be_typed() {
        for (name, possible) in
            [("Rate limited!", "rate_limited"), ("", "VERDICT"), ("ünï", "VERDICT"), ("../x", "x"), ("-a", "a")]
        {
            match refuse_odd(name) {
                Err(Failure::Message { typo: Some(typo), help: Some(help), .. }) => {
                    assert_eq!(*typo, (name.to_owned(), possible.to_owned()));
                    assert!(help.contains("begins with a letter, a digit or _"), "{help}");
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        assert!(refuse_odd("rate_limited").is_ok() && refuse_odd("a.b-2").is_ok());
    }
}
