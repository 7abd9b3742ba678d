//! How large a pattern of usual parts may become when it is compiled, by its text alone: to parse one with its classes of all
//! letters costs more than to read the rest of its playbook. Knows no flags, no named groups and no classes of classes.

/// The most groups inside of each other.
const DEEPEST: usize = 50;
/// Bytes of any part beside those of its letters.
const OWN: usize = 300;

/// The most bytes that a pattern takes once it is compiled, by what its parts took in trials; none: it has other parts, or is
/// none.
pub(super) fn most_bytes(pattern: &str) -> Option<usize> {
    let mut parts = Parts { rest: pattern, depth: 0 };
    let size = parts.alternatives()?;
    parts.rest.is_empty().then_some(size)
}

struct Parts<'p> {
    rest: &'p str,
    depth: usize,
}

impl Parts<'_> {
    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let next = letters.next();
        self.rest = letters.as_str();
        next
    }

    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Everything to the end of a group, or of the pattern.
    fn alternatives(&mut self) -> Option<usize> {
        let mut size = OWN;
        while !self.rest.is_empty() && !self.rest.starts_with(')') {
            let part = if self.takes("|") { 0 } else { self.repeated()? };
            size = size.saturating_add(OWN).saturating_add(part);
        }
        Some(size)
    }

    fn repeated(&mut self) -> Option<usize> {
        let mut size = self.part()?;
        while self.rest.starts_with(['?', '*', '+', '{']) {
            let times = if self.next() == Some('{') { self.times()? } else { 1 };
            self.takes("?");
            size = size.saturating_add(100).saturating_mul(times);
        }
        Some(size)
    }

    /// The numbers of `{2}`, `{2,}` and `{2,5}`.
    fn times(&mut self) -> Option<usize> {
        let (numbers, rest) = self.rest.split_once('}')?;
        self.rest = rest;
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u16>().ok())?;
        let (least, most) = numbers.split_once(',').unwrap_or((numbers, numbers));
        let least = number(least)?;
        let most = if most.is_empty() { least } else { number(most)? };
        (least <= most).then_some(usize::from(most.max(1)))
    }

    fn part(&mut self) -> Option<usize> {
        match self.next()? {
            '(' => self.group(),
            '[' => self.class(),
            '\\' if self.takes("b") || self.takes("B") => (!self.rest.starts_with('{')).then_some(OWN),
            '\\' => self.escaped(),
            '^' | '$' => Some(OWN),
            '.' => Some(2_500),
            '?' | '*' | '+' | '{' | '}' | ')' | ']' => None,
            letter => Some(of_letter(letter)),
        }
    }

    fn group(&mut self) -> Option<usize> {
        let has_flags = !self.takes("?:") && self.rest.starts_with('?');
        if has_flags || self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        let size = self.alternatives()?;
        self.depth -= 1;
        self.takes(")").then_some(size.saturating_add(OWN))
    }

    fn class(&mut self) -> Option<usize> {
        let mut size = if self.takes("^") { 2_500 } else { 0 };
        let mut is_empty = true;
        loop {
            size += match self.next()? {
                ']' if !is_empty => return Some(size),
                '-' if is_empty && !self.rest.starts_with('-') || self.rest.starts_with(']') => of_letter('-'),
                '[' | ']' | '-' | '&' | '~' => return None,
                '\\' => self.escaped()?,
                first if self.rest.starts_with('-') && !self.rest.starts_with("-]") => {
                    self.next();
                    let last = self.next().filter(char::is_ascii_alphanumeric)?;
                    (first.is_ascii_alphanumeric() && first <= last).then_some(1_700)?
                }
                letter => of_letter(letter),
            };
            is_empty = false;
        }
    }

    /// What stands behind `\`, also in a class.
    fn escaped(&mut self) -> Option<usize> {
        Some(match self.next()? {
            'w' | 'W' => 70_000,
            'd' | 'D' => 8_000,
            's' | 'S' => 2_500,
            'n' | 'r' | 't' => of_letter('n'),
            '<' | '>' => return None,
            sign if sign.is_ascii_punctuation() => of_letter(sign),
            _ => return None,
        })
    }
}

/// A letter in both cases: two of ASCII have a third form beyond it.
const fn of_letter(letter: char) -> usize {
    if letter.is_ascii() && !matches!(letter, 'k' | 'K' | 's' | 'S') { 400 } else { 1_700 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::Parser;

    #[test]
    fn a_pattern_that_has_a_size_is_one() {
        let signs = ["a", "2", ",", "(", "?:", ")", "[", "^", "-", "]", "\\", "b", "w", "|", "*", "?", "{", "}", ">"];
        let mut texts = vec![String::new()];
        let mut known = 0;
        for _ in 0..4 {
            texts = texts.iter().flat_map(|text| signs.map(|sign| format!("{text}{sign}"))).collect();
            // The beginnings of what is wrong are rarely right again: only some are gone on with.
            texts.retain(|text| most_bytes(text).is_some() || text.contains(['(', '[', '{', '\\']));
            for text in texts.iter().filter(|text| most_bytes(text).is_some()) {
                assert!(Parser::new().parse(text).is_ok(), "{text}");
                known += 1;
            }
        }
        assert!(known > 1_000, "{known}");
    }

    #[test]
    fn usual_patterns_have_a_size() {
        for pattern in [
            "",
            "()|",
            r"^\s*((http|error)[\s:,-]+)*idempotency[\s_-]?key\.?$",
            r"^(\w+ ){1,3}is [\d.]+(?:a|b){2,}$",
            r"no\b[^a-z0-9]\x20?|\b",
        ] {
            assert_eq!(most_bytes(pattern).is_some(), !pattern.contains(r"\x"), "{pattern}");
        }
        for other in ["(?i)a", "(?P<a>b)", r"\pL", "[[:alpha:]]", "[a&&b]", "a{,2}", "a{2", "a{3,2}", r"\b{start}", "["]
        {
            assert_eq!(most_bytes(other), None, "{other}");
        }
        assert_eq!(most_bytes(&"(".repeat(DEEPEST + 1)), None);
    }
}
