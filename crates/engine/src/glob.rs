//! Globs: how they are parsed, and their limits. Knows no tools and no keys.

use std::borrow::Cow;

use regex::bytes::{Regex, RegexBuilder};

/// The characters that make a pattern a glob; without one of these it is a name.
pub const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// The most bytes of a glob.
const LONGEST: usize = 4_096;

/// The most `{` within `{`.
const DEEPEST: usize = 16;

/// The most bytes of a compiled glob.
const LARGEST: usize = 10 << 20;

/// A compiled glob.
#[derive(Clone, Debug)]
pub struct Glob {
    regex: Regex,
    ignores_case: bool,
}

impl Glob {
    /// Compiles `pattern`, which has at most 4,096 bytes and nests `{` at most 16 deep.
    ///
    /// # Errors
    /// Why it does not compile, in one line.
    pub fn new(pattern: &str) -> Result<Glob, String> {
        Glob::compile(pattern, false)
    }

    /// Compiles a glob that ignores case.
    ///
    /// # Errors
    /// Why it does not compile, in one line.
    pub fn ignoring_case(pattern: &str) -> Result<Glob, String> {
        Glob::compile(&lowercase(pattern), true)
    }

    fn compile(pattern: &str, ignores_case: bool) -> Result<Glob, String> {
        // Both limits are checked first: the glob parser recurses for each `{`, and aborts if the result is too large.
        if pattern.len() > LONGEST {
            return Err(format!("it has {} bytes, and a glob may have {LONGEST}", pattern.len()));
        }
        if depth(pattern) > DEEPEST {
            return Err(format!("more than {DEEPEST} `{{` stand within one another"));
        }
        let glob = globset::Glob::new(pattern).map_err(|error| error.kind().to_string())?;
        // A regex of bytes knows case for ASCII only; other letters are lowercased before.
        let regex = RegexBuilder::new(glob.regex())
            .dot_matches_new_line(true)
            .case_insensitive(ignores_case)
            .size_limit(LARGEST)
            .build();
        regex.map(|regex| Glob { regex, ignores_case }).map_err(|_| "it is too large when compiled".to_owned())
    }

    /// The glob of a tool pattern; none for a plain name, which is compared exactly.
    ///
    /// # Errors
    /// Why the glob does not compile, in one line.
    pub fn of_tools(pattern: &str) -> Result<Option<Glob>, String> {
        is_glob(pattern).then(|| Glob::new(pattern)).transpose()
    }

    /// Whether the glob matches all of `text`.
    pub fn is_match(&self, text: &str) -> bool {
        let text = if self.ignores_case { lowercase(text) } else { Cow::Borrowed(text) };
        self.regex.is_match(text.as_bytes())
    }
}

/// Lowercases a text that has non-ASCII characters, character by character.
fn lowercase(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().flat_map(char::to_lowercase).collect())
}

/// Whether a pattern is a glob and not a name.
pub fn is_glob(pattern: &str) -> bool {
    pattern.contains(WILDCARDS)
}

/// The pattern that matches only `name`: itself, or an escaped glob.
pub fn escape(name: &str) -> String {
    if is_glob(name) { globset::escape(&name.replace('\\', "\\\\")) } else { name.to_owned() }
}

/// How deep `{` is nested; one that is escaped or within `[]` does not count.
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

/// Skips to the end of `[]`; a `]` at its beginning is one of its characters.
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
    fn a_glob_matches_a_whole_text() {
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
    fn a_glob_that_is_too_long_too_deep_or_invalid_is_refused_in_one_line() {
        let nested = |depth: usize| format!("{}a{}", "{".repeat(depth), "}".repeat(depth));
        assert_eq!(why(&nested(DEEPEST)), "");
        assert_eq!(why(&nested(DEEPEST + 1)), "more than 16 `{` stand within one another");
        assert_eq!(why(&nested(2_000)), "more than 16 `{` stand within one another");
        assert_eq!(why(&"?".repeat(LONGEST)), "");
        assert_eq!(why(&"?".repeat(300_000)), "it has 300000 bytes, and a glob may have 4096");
        assert!(!why("a[").is_empty() && !why("a[").contains('\n'));
    }

    #[test]
    fn a_literal_brace_does_not_nest() {
        for name in ["{".repeat(300), "[{]".repeat(99), "[!]{".repeat(99), "]".repeat(99)] {
            assert!(Glob::new(&escape(&name)).is_ok_and(|glob| glob.is_match(&name)), "{name}");
        }
        assert_eq!(why(&"\\{".repeat(99)), "");
        assert_eq!(why(&"[]{]".repeat(99)), "");
        assert_eq!(depth("[!]{{{]{a}"), 1);
    }
}
