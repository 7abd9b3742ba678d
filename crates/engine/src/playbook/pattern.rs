//! Regular expressions of rules: how they are checked and compiled, and the words of their errors. A pattern is compiled when
//! a message is first compared with it: most programs compare none. Of ASCII texts a pattern takes the same as the one whose
//! classes are ASCII, which is compiled in a tenth of the time: the other one is compiled for other texts alone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex::{Regex, RegexBuilder, bytes};
use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{
    Ast, ClassPerl, ClassPerlKind, ClassSet, ClassSetItem, ClassUnicode, ClassUnicodeKind, RepetitionKind,
    RepetitionRange,
};

/// A compiled `matches` larger than this would make every failure slow; bytes.
const LARGEST: usize = 1 << 20;

/// The most compiled patterns that are kept.
const MOST_KEPT: usize = 1_000;

/// Patterns by text and case. Compiling is slow, and the same pattern is compiled for each plan, of which `coverage --mutate`
/// makes hundreds. They are shared, because a copy would begin without what earlier searches have learned.
type Kept<R> = Mutex<BTreeMap<(String, bool), Arc<R>>>;

/// Those for any text.
static KEPT: Kept<Regex> = Mutex::new(BTreeMap::new());

/// Those for ASCII texts.
static KEPT_FOR_ASCII: Kept<bytes::Regex> = Mutex::new(BTreeMap::new());

/// A `matches` of a rule.
#[derive(Debug)]
pub struct Pattern {
    text: Box<str>,
    case_sensitive: bool,
    compiled: OnceLock<Option<Arc<Regex>>>,
    for_ascii: OnceLock<Option<Arc<bytes::Regex>>>,
}

impl Pattern {
    /// A pattern that [`check`] has found right; another one matches nothing.
    pub fn new(text: &str, case_sensitive: bool) -> Pattern {
        Pattern { text: text.into(), case_sensitive, compiled: OnceLock::new(), for_ascii: OnceLock::new() }
    }

    /// The regular expression.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it matches somewhere in a text.
    pub fn is_match(&self, text: &str) -> bool {
        let for_ascii = || kept(&KEPT_FOR_ASCII, &self.text, self.case_sensitive, build_for_ascii).ok();
        if text.is_ascii()
            && let Some(regex) = self.for_ascii.get_or_init(for_ascii)
        {
            return regex.is_match(text.as_bytes());
        }
        let compiled = self.compiled.get_or_init(|| kept(&KEPT, &self.text, self.case_sensitive, build).ok());
        compiled.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

/// The pattern that takes the same ASCII texts with ASCII classes; none where the pattern names letters by their numbers or
/// classes, or says itself what its classes are. Inside brackets, the classes of names are known.
fn for_ascii(pattern: &str) -> Option<String> {
    let known = match pattern.contains('[') {
        true => pattern.replace(r"\p{Alphabetic}", "a-zA-Z").replace(r"\p{N}", "0-9"),
        false => pattern.to_owned(),
    };
    let says_itself = |flags: &str| flags.split([')', ':']).next().is_some_and(|flags| flags.contains(['u', 'x']));
    let is_other = [r"\p", r"\P", r"\x", r"\u", r"\U"].iter().any(|numbers| known.contains(numbers));
    (known.is_ascii() && !is_other && !known.split("(?").skip(1).any(says_itself)).then_some(known)
}

/// Checks a `matches` of a rule, and compiles it only where it could be too large: to make the classes of all letters costs more
/// than to read the rest of a playbook.
///
/// # Errors
/// Why it does not compile, in one line.
pub fn check(pattern: &str, case_sensitive: bool) -> Result<(), String> {
    let most = Parser::new().parse(pattern).ok().and_then(|parsed| most_bytes(&parsed));
    match most {
        Some(most) if most <= LARGEST => Ok(()),
        _ => kept(&KEPT, pattern, case_sensitive, build).map(drop),
    }
}

/// The most bytes that a pattern takes once it is compiled, by what its parts took in trials; none: its syntax alone does not tell.
fn most_bytes(pattern: &Ast) -> Option<usize> {
    let sum = |parts: &[Ast]| parts.iter().try_fold(300_usize, |sum, part| Some(sum.saturating_add(most_bytes(part)?)));
    match pattern {
        Ast::Empty(_) | Ast::Assertion(_) => Some(300),
        Ast::Dot(_) => Some(2_500),
        Ast::Literal(letter) => Some(of_letter(letter.c)),
        Ast::ClassPerl(class) => Some(of_perl(class)),
        Ast::ClassBracketed(class) => {
            let ClassSet::Item(item) = &class.kind else { return None };
            let others = if class.negated { 2_500 } else { 0 };
            of_item(item).map(|size| size.saturating_add(others))
        }
        Ast::Repetition(repeated) => {
            let times = usize::try_from(most_times(&repeated.op.kind)).unwrap_or(usize::MAX);
            Some(most_bytes(&repeated.ast)?.saturating_add(100).saturating_mul(times))
        }
        Ast::Group(group) if group.flags().is_none_or(|flags| flags.items.is_empty()) => {
            Some(most_bytes(&group.ast)?.saturating_add(300))
        }
        Ast::Concat(parts) => sum(&parts.asts),
        Ast::Alternation(parts) => sum(&parts.asts),
        Ast::ClassUnicode(class) => of_named(class),
        Ast::Flags(_) | Ast::Group(_) => None,
    }
}

/// What is listed in brackets.
fn of_item(item: &ClassSetItem) -> Option<usize> {
    match item {
        ClassSetItem::Empty(_) | ClassSetItem::Ascii(_) => Some(1_700),
        ClassSetItem::Literal(letter) => Some(of_letter(letter.c)),
        ClassSetItem::Range(range) => range.end.c.is_ascii().then_some(1_700),
        ClassSetItem::Perl(class) => Some(of_perl(class)),
        ClassSetItem::Union(union) => {
            union.items.iter().try_fold(0_usize, |sum, item| Some(sum.saturating_add(of_item(item)?)))
        }
        ClassSetItem::Unicode(class) => of_named(class),
        ClassSetItem::Bracketed(_) => None,
    }
}

/// A letter in both cases: two of ASCII have a third form beyond it.
const fn of_letter(letter: char) -> usize {
    if letter.is_ascii() && !matches!(letter, 'k' | 'K' | 's' | 'S') { 400 } else { 1_700 }
}

const fn of_perl(class: &ClassPerl) -> usize {
    match class.kind {
        ClassPerlKind::Word => 70_000,
        ClassPerlKind::Digit => 8_000,
        ClassPerlKind::Space => 2_500,
    }
}

/// The two classes that the schemas of our own formats name.
fn of_named(class: &ClassUnicode) -> Option<usize> {
    match &class.kind {
        ClassUnicodeKind::Named(name) if name == "Alphabetic" => Some(70_000),
        ClassUnicodeKind::Named(name) if name == "N" => Some(15_000),
        ClassUnicodeKind::Named(_) | ClassUnicodeKind::OneLetter(_) | ClassUnicodeKind::NamedValue { .. } => None,
    }
}

/// How often a part is compiled.
const fn most_times(kind: &RepetitionKind) -> u32 {
    match kind {
        RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore | RepetitionKind::OneOrMore => 1,
        RepetitionKind::Range(
            RepetitionRange::Exactly(times) | RepetitionRange::AtLeast(times) | RepetitionRange::Bounded(_, times),
        ) if *times > 1 => *times,
        RepetitionKind::Range(_) => 1,
    }
}

/// Compiles a pattern, or gives the one that was compiled before.
fn kept<R>(
    all: &Kept<R>,
    pattern: &str,
    case_sensitive: bool,
    build: impl FnOnce(&str, bool) -> Result<R, String>,
) -> Result<Arc<R>, String> {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (pattern.to_owned(), case_sensitive);
    if let Some(compiled) = all.get(&key) {
        return Ok(Arc::clone(compiled));
    }
    let compiled = Arc::new(build(pattern, case_sensitive)?);
    if all.len() >= MOST_KEPT {
        all.clear();
    }
    all.insert(key, Arc::clone(&compiled));
    Ok(compiled)
}

/// The pattern for ASCII texts. An error: there is no other one than that for any text.
fn build_for_ascii(pattern: &str, case_sensitive: bool) -> Result<bytes::Regex, String> {
    let ascii = for_ascii(pattern).ok_or("it has no form for ASCII texts")?;
    let mut builder = bytes::RegexBuilder::new(&ascii);
    builder.unicode(false).case_insensitive(!case_sensitive).size_limit(LARGEST);
    builder.build().map_err(|error| error.to_string())
}

fn build(pattern: &str, case_sensitive: bool) -> Result<Regex, String> {
    RegexBuilder::new(pattern).case_insensitive(!case_sensitive).size_limit(LARGEST).build().map_err(|error| {
        match error {
            regex::Error::CompiledTooBig(_) => "it is too large when compiled".to_owned(),
            // The last line has the reason; those before it draw the place.
            error => {
                let text = error.to_string();
                let last = text.lines().last().unwrap_or("it does not parse");
                last.trim().trim_start_matches("error: ").to_owned()
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_pattern_is_refused_in_one_line() {
        assert_eq!(check("(a", false).expect_err("no regex"), "unclosed group");
        assert_eq!(check("(?:a{1000}){1000}", false).expect_err("too big"), "it is too large when compiled");
        for large in [r"(\w{50}){50}", r"^[\p{Alphabetic}]{3,900}$", r"^[\p{N}_]{9000}$", r"^[^\W\d_b-zB-Z]{3,900}$"] {
            assert_eq!(check(large, false).expect_err(large), "it is too large when compiled");
        }
    }

    #[test]
    fn what_is_not_compiled_at_once_can_be_compiled() {
        let parts = ["a", r"\w", ".", "[^x]", "é", "(b|c)", r"\S+", "^", r"[\p{Alphabetic}\p{N}_]", r"[^\d.]"];
        let times = ["", "*", "{3}", "{40}", "{2,400}"];
        for part in parts {
            for pattern in times.iter().flat_map(|one| times.map(|two| format!("({part}{one} ){two}x"))) {
                for case_sensitive in [false, true] {
                    let is_right = check(&pattern, case_sensitive).is_ok();
                    assert_eq!(is_right, build(&pattern, case_sensitive).is_ok(), "{pattern}");
                }
            }
        }
    }

    #[test]
    fn what_the_syntax_alone_does_not_tell_is_compiled() {
        let most = |pattern: &str| Parser::new().parse(pattern).ok().and_then(|parsed| most_bytes(&parsed));
        for usual in [
            "",
            "()|",
            r"^\s*((http|error)[\s:,-]+)*key\.?$",
            r"^(\w+ ){1,3}is [\d.]+(?:a|b){2,}$",
            r"[^a-z]\b",
            r"[\p{N}]",
        ] {
            assert!(most(usual).is_some_and(|most| most <= LARGEST), "{usual}");
        }
        for other in ["(?i)a", "(?x:a b)", r"\pL", r"\p{Nothing}", "[a&&b]", "[[a]b]", "(a"] {
            assert_eq!(most(other), None, "{other}");
            assert_eq!(check(other, false), build(other, false).map(drop), "{other}");
        }
    }

    #[test]
    fn a_pattern_takes_the_same_ascii_texts_either_way() {
        let parts = [
            "a",
            "k",
            "[^k]",
            r"\w",
            r"\W",
            r"\s",
            r"\S",
            r"\d",
            r"\D",
            ".",
            r"\b",
            r"\B",
            "[a-f]",
            "[^\\s/]",
            r"[\p{Alphabetic}_]",
            r"[^\p{N}.]",
            "(?i:s)",
            "(?s:.)",
            "$",
            "[[:alpha:]]",
        ];
        let texts: Vec<String> = (0..128_u8).map(|byte| format!("x{}y", char::from(byte))).collect();
        for (part, case_sensitive) in parts.iter().flat_map(|part| [(part, false), (part, true)]) {
            let pattern = format!("^x({part})y");
            let any = build(&pattern, case_sensitive).expect("valid");
            let ascii = build_for_ascii(&pattern, case_sensitive).expect("valid");
            for text in &texts {
                assert_eq!(ascii.is_match(text.as_bytes()), any.is_match(text), "{pattern} {text:?}");
            }
        }
        for other in ["é", r"\pL", r"\x{17f}", r"\u017F", "(?-u:a)", "(?iu)a", "(?x)a b", r"\p{Alphabetic}"] {
            assert_eq!(for_ascii(other), None, "{other}");
        }
        assert!(Pattern::new("ſ|K", false).is_match("K") && Pattern::new("k", false).is_match("\u{212a}"));
    }

    #[test]
    fn a_pattern_that_is_kept_is_kept_with_its_case() {
        for _ in 0..2 {
            assert!(Pattern::new("^refused$", false).is_match("Refused"));
            assert!(!Pattern::new("^refused$", true).is_match("Refused"));
        }
    }
}
