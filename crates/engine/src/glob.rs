//! Globs, wherever people write them: how they are read, and which are too much. Knows no tools and no keys.

use std::borrow::Cow;

use regex::bytes::{Regex, RegexBuilder};

/// What makes a glob of a pattern; without one of these it is a name.
pub const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// The most bytes of a glob.
const LONGEST: usize = 4_096;

/// The most `{` within `{`.
const DEEPEST: usize = 16;

/// A compiled glob may hold so many bytes.
const LARGEST: usize = 10 << 20;

/// A glob that can be asked.
#[derive(Clone, Debug)]
pub struct Glob {
    regex: Regex,
    ignores_case: bool,
}

impl Glob {
    /// The glob that `pattern` is: of at most 4,096 bytes, with at most 16 `{` within one another.
    ///
    /// # Errors
    /// Why it is none, in one line.
    pub fn new(pattern: &str) -> Result<Glob, String> {
        Glob::compile(pattern, false)
    }

    /// The same, for which a capital is the letter that it is the capital of.
    ///
    /// # Errors
    /// Why it is none, in one line.
    pub fn ignoring_case(pattern: &str) -> Result<Glob, String> {
        Glob::compile(&lowercase(pattern), true)
    }

    fn compile(pattern: &str, ignores_case: bool) -> Result<Glob, String> {
        // Both bounds come first: what reads globs calls itself for each `{`, and stops the program if the result is large.
        if pattern.len() > LONGEST {
            return Err(format!("it has {} bytes, and a glob may have {LONGEST}", pattern.len()));
        }
        if depth(pattern) > DEEPEST {
            return Err(format!("more than {DEEPEST} `{{` stand within one another"));
        }
        let glob = globset::Glob::new(pattern).map_err(|error| error.kind().to_string())?;
        // The expression is one of bytes, of which case is known for ASCII alone; other letters come in lower case.
        let regex = RegexBuilder::new(glob.regex())
            .dot_matches_new_line(true)
            .case_insensitive(ignores_case)
            .size_limit(LARGEST)
            .build();
        regex.map(|regex| Glob { regex, ignores_case }).map_err(|_| "it becomes too large".to_owned())
    }

    /// The glob of a pattern of tools; none where it has no wildcard, and so is a name that is compared to the letter.
    ///
    /// # Errors
    /// Why it is neither, in one line.
    pub fn of_tools(pattern: &str) -> Result<Option<Glob>, String> {
        is_glob(pattern).then(|| Glob::new(pattern)).transpose()
    }

    /// Whether all of `text` is as the glob says.
    pub fn is_match(&self, text: &str) -> bool {
        let text = if self.ignores_case { lowercase(text) } else { Cow::Borrowed(text) };
        self.regex.is_match(text.as_bytes())
    }
}

/// The text with what is beyond ASCII in lower case, letter by letter.
fn lowercase(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().flat_map(char::to_lowercase).collect())
}

/// Whether a pattern is meant as a glob and not as a name.
pub fn is_glob(pattern: &str) -> bool {
    pattern.contains(WILDCARDS)
}

/// The pattern that only `name` matches: itself, or a glob in which nothing is a wildcard.
pub fn escape(name: &str) -> String {
    if is_glob(name) { globset::escape(&name.replace('\\', "\\\\")) } else { name.to_owned() }
}

/// How many `{` stand within one another at most; one that is escaped, or within `[]`, opens nothing.
fn depth(pattern: &str) -> usize {
    let (mut open, mut deepest) = (0_usize, 0);
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            '[' => pass_class(&mut rest),
            '{' => open += 1,
            '}' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// Passes what stands within `[]`: one `]` at its beginning is a letter of it.
fn pass_class(rest: &mut std::str::Chars<'_>) {
    let begin = rest.as_str().trim_start_matches(['!', '^']);
    let begin = begin.strip_prefix(']').unwrap_or(begin);
    *rest = begin.find(']').map_or("", |end| &begin[end + 1..]).chars();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(pattern: &str) -> String {
        Glob::new(pattern).err().unwrap_or_default()
    }

    #[test]
    fn a_glob_matches_the_whole_of_a_text() {
        let matches = |glob: &str, text: &str| Glob::new(glob).unwrap().is_match(text);
        assert!(matches("search.*", "search.a/b\nc") && !matches("search.*", "a.search.b"));
        assert!(matches("pay.{refund,void}", "pay.void") && !matches("pay.{refund,void}", "pay.voided"));
        assert!(matches("?", "é") == matches("??", "é").eq(&false), "a letter is one or two");
    }

    #[test]
    fn a_glob_that_ignores_case_matches_capitals_of_every_script() {
        for (pattern, text) in [
            ("password", "PassWord"),
            ("*_TOKEN", "api_token"),
            ("ПАРОЛЬ", "Пароль"),
            ("[a-f]é*", "CÉ"),
            ("token", "to\u{212a}en"),
            ("ασ", "ΑΣ"),
        ] {
            assert!(Glob::ignoring_case(pattern).unwrap().is_match(text), "{pattern} {text}");
            assert!(!Glob::new(pattern).unwrap().is_match(text), "{pattern} {text}");
        }
        assert!(!Glob::ignoring_case("password").unwrap().is_match("passwords"));
    }

    #[test]
    fn what_is_too_long_too_deep_or_no_glob_is_refused_in_one_line() {
        let nested = |depth: usize| format!("{}a{}", "{".repeat(depth), "}".repeat(depth));
        assert_eq!(why(&nested(DEEPEST)), "");
        assert_eq!(why(&nested(DEEPEST + 1)), "more than 16 `{` stand within one another");
        assert_eq!(why(&nested(2_000)), "more than 16 `{` stand within one another");
        assert_eq!(why(&"?".repeat(LONGEST)), "");
        assert_eq!(why(&"?".repeat(300_000)), "it has 300000 bytes, and a glob may have 4096");
        assert!(!why("a[").is_empty() && !why("a[").contains('\n'));
    }

    #[test]
    fn a_brace_that_is_a_letter_nests_nothing() {
        for name in ["{".repeat(300), "[{]".repeat(99), "[!]{".repeat(99), "]".repeat(99)] {
            assert!(Glob::new(&escape(&name)).is_ok_and(|glob| glob.is_match(&name)), "{name}");
        }
        assert_eq!(why(&"\\{".repeat(99)), "");
        assert_eq!(why(&"[]{]".repeat(99)), "");
        assert_eq!(depth("[!]{{{]{a}"), 1);
    }
}
