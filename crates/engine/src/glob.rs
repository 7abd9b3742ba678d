//! Globs: how they are parsed, and their limits. In a glob of tools, `*`, `?` and classes stop at a dot, and `**` crosses
//! dots; in any other glob they match every character. Knows no tool and no key.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use regex::bytes::{Regex, RegexBuilder};

/// The characters that make a pattern a glob; without one of these it is a name.
pub const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// The most bytes of a glob.
const LONGEST: usize = 4_096;

/// The most `{` within `{`.
const DEEPEST: usize = 16;

/// The most bytes of a compiled glob.
const LARGEST: usize = 10 << 20;

/// The most compiled globs of tools that are kept.
const MOST_KEPT: usize = 1_000;

/// Globs of tools by their patterns. Compiling is slow, and the same glob is compiled for each playbook and fixture that has it.
static KEPT: Mutex<BTreeMap<String, Glob>> = Mutex::new(BTreeMap::new());

/// A compiled glob.
#[derive(Clone, Debug)]
pub struct Glob {
    /// Shared, because a copy would begin without what earlier searches have learned.
    regex: Arc<Regex>,
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
        Glob::of_regex(parsed(pattern)?.regex(), ignores_case)
    }

    fn of_regex(regex: &str, ignores_case: bool) -> Result<Glob, String> {
        // A regex of bytes knows case for ASCII only; other letters are lowercased before.
        let regex = RegexBuilder::new(regex)
            .dot_matches_new_line(true)
            .case_insensitive(ignores_case)
            .size_limit(LARGEST)
            .build();
        regex
            .map(|regex| Glob { regex: Arc::new(regex), ignores_case })
            .map_err(|_| "it is too large when compiled".to_owned())
    }

    /// The glob of a tool pattern; none for a plain name, which is compared exactly.
    ///
    /// # Errors
    /// Why the glob does not compile, in one line.
    pub fn of_tools(pattern: &str) -> Result<Option<Glob>, String> {
        if !is_glob(pattern) {
            return Ok(None);
        }
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(glob) = kept.get(pattern) {
            return Ok(Some(glob.clone()));
        }
        parsed(pattern)?; // its limits and its errors are those of every glob
        let glob = Glob::of_regex(&tool_regex(pattern), false)?;
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(pattern.to_owned(), glob.clone());
        Ok(Some(glob))
    }

    /// Whether the glob matches all of `text`.
    pub fn is_match(&self, text: &str) -> bool {
        let text = if self.ignores_case { lowercase(text) } else { Cow::Borrowed(text) };
        self.regex.is_match(text.as_bytes())
    }
}

/// A glob within the limits.
fn parsed(pattern: &str) -> Result<globset::Glob, String> {
    // Both limits are checked first: the glob parser recurses for each `{`, and aborts if the result is too large.
    if pattern.len() > LONGEST {
        return Err(format!("it has {} bytes, and a glob may have {LONGEST}", pattern.len()));
    }
    if depth(pattern) > DEEPEST {
        return Err(format!("more than {DEEPEST} `{{` stand within one another"));
    }
    globset::Glob::new(pattern).map_err(|error| error.kind().to_string())
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

/// The regular expression of a valid glob of tools.
fn tool_regex(pattern: &str) -> String {
    let mut regex = String::from("^");
    let mut open = 0_usize;
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' if rest.as_str().starts_with('*') => {
                rest = rest.as_str().trim_start_matches('*').chars();
                regex.push_str(".*");
            }
            '*' => regex.push_str("[^.]*"),
            '?' => regex.push_str("[^.]"),
            '[' => {
                let class = rest.as_str();
                pass_class(&mut rest);
                regex.push_str(&class_regex(&class[..class.len() - rest.as_str().len()]));
            }
            '{' => {
                open += 1;
                regex.push_str("(?:");
            }
            // An empty alternative counts for nothing, as in every glob.
            '}' => {
                open = open.saturating_sub(1);
                let closed = regex.strip_suffix('|').unwrap_or(&regex);
                regex = closed.strip_suffix("(?:").map_or_else(|| format!("{closed})"), str::to_owned);
            }
            ',' if open > 0 => {
                if !regex.ends_with("(?:") && !regex.ends_with('|') {
                    regex.push('|');
                }
            }
            '\\' => regex.extend(rest.next().map(literal)),
            c => regex.push_str(&literal(c)),
        }
    }
    regex + "$"
}

/// The regular expression of a class, of which `inside` is what follows the `[`, up to and with the `]`.
fn class_regex(inside: &str) -> String {
    let inside = inside.strip_suffix(']').unwrap_or(inside);
    let (negated, inside) = match inside.strip_prefix(['!', '^']) {
        Some(inside) => ("^", inside),
        None => ("", inside),
    };
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut rest = inside.chars();
    while let Some(c) = rest.next() {
        match (c, ranges.last_mut(), rest.clone().next()) {
            ('-', Some(range), Some(last)) => {
                range.1 = last;
                rest.next();
            }
            _ => ranges.push((c, c)),
        }
    }
    let ranges: String =
        ranges.into_iter().map(|(first, last)| format!("{}-{}", literal(first), literal(last))).collect();
    format!("[[{negated}{ranges}]--[.]]")
}

/// The regular expression of one character, which does not end in `|`.
fn literal(c: char) -> String {
    if c == '|' { r"\x7C".to_owned() } else { regex::escape(c.encode_utf8(&mut [0; 4])) }
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
    let begin = rest.as_str();
    let begin = begin.strip_prefix(['!', '^']).unwrap_or(begin);
    let begin = begin.strip_prefix(']').unwrap_or(begin);
    *rest = begin.find(']').map_or("", |end| &begin[end + 1..]).chars();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    fn in_a_glob_of_tools_one_star_stops_at_a_dot_and_two_cross_it() {
        let matches = |glob: &str, tool: &str| Glob::of_tools(glob).unwrap().unwrap().is_match(tool);
        for (glob, yes, no) in [
            ("search.*", "search.web", "search.index.delete"),
            ("search.*", "search.", "search"),
            ("*", "refund", "payments.refund"),
            ("*.delete", "index.delete", "search.index.delete"),
            ("search.**", "search.index.delete", "search"),
            ("**.delete", "search.index.delete", "search.index.deleted"),
            ("s**e", "search.index.delete", "search"),
            ("***", "a.b.c\nd", ""),
            ("a?c", "abc", "a.c"),
            ("a[!x]c", "abc", "a.c"),
            ("a[+-9]c", "a-c", "a.c"),
            ("a[]-]c", "a]c", "abc"),
            ("a[&~^]c", "a^c", "abc"),
            ("a[x-]{b,c*}", "a-cx", "a-c.x"),
            ("a[[]b*", "a[bc", "a[b.c"),
            ("pay.{refund,void.*}", "pay.void.all", "pay.void.all.now"),
            ("a\\*b?", "a*bc", "axbc"),
            ("é?", "éß", "é."),
            ("a,b*", "a,bc", "a"),
        ] {
            assert!(matches(glob, yes), "{glob} {yes}");
            assert!(no.is_empty() || !matches(glob, no), "{glob} {no}");
        }
        assert!(Glob::new("search.*").unwrap().is_match("search.index.delete"), "not a glob of tools");
        assert!(Glob::of_tools("search.web").unwrap().is_none());
        assert!(Glob::of_tools("a[").is_err() && Glob::of_tools("a{*").is_err());
        assert!(Glob::of_tools(&format!("{}*", escape("a[*]{b,c}\\"))).unwrap().unwrap().is_match("a[*]{b,c}\\x"));
    }

    proptest! {
        #[test]
        fn a_glob_of_tools_is_like_any_other_where_there_are_no_dots(
            pattern in r"[ab*?!^|\[\]{},\\-]{1,9}", tool in r"[ab!^|\[\]{},\\-]{0,5}"
        ) {
            if let (true, Ok(glob)) = (is_glob(&pattern), Glob::new(&pattern)) {
                let of_tools = Glob::of_tools(&pattern).unwrap().unwrap();
                prop_assert_eq!(of_tools.is_match(&tool), glob.is_match(&tool));
            }
        }
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
