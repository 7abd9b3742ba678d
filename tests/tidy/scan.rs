//! Just enough of Rust's surface to tell code from comments and strings, tests from product, and to read paths.
//! No parser: macros are not expanded and types are not known.

use std::ops::Range;

/// A source in two views of the same length and the same lines.
pub struct Views {
    /// The source with comments and the insides of literals blanked.
    pub code: String,
    /// The source with everything but comments blanked.
    pub comments: String,
}

/// What a stretch of source is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stretch {
    Code,
    Comment,
    Literal,
}

/// Splits a source into its views.
pub fn views(source: &str) -> Views {
    let mut views = Views { code: String::new(), comments: String::new() };
    let mut rest = source;
    while !rest.is_empty() {
        let (stretch, length) = next_stretch(rest);
        let (text, after) = rest.split_at(length);
        views.code.push_str(&if stretch == Stretch::Code { text.to_owned() } else { blank(text) });
        views.comments.push_str(&if stretch == Stretch::Comment { text.to_owned() } else { blank(text) });
        rest = after;
    }
    views
}

/// As many bytes, all spaces but for the line ends.
fn blank(text: &str) -> String {
    text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
}

/// The kind and length of what a source begins with.
fn next_stretch(rest: &str) -> (Stretch, usize) {
    if rest.starts_with("//") {
        return (Stretch::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Stretch::Comment, block_comment(rest));
    }
    if let Some(length) = literal(rest) {
        return (Stretch::Literal, length);
    }
    let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (Stretch::Code, word.max(rest.chars().next().map_or(0, char::len_utf8)))
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(found) = rest[at..].find(['*', '/']) {
        at += found;
        match rest.get(at..at + 2) {
            Some("/*") => depth += 1,
            Some("*/") if depth == 1 => return at + 2,
            Some("*/") => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
    }
    rest.len()
}

/// The length of the string or character literal that a source begins with, if it does.
fn literal(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| rest.starts_with(prefix))?;
    let body = &rest[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = body.len() - body.trim_start_matches('#').len();
        let close = format!("\"{}", "#".repeat(hashes));
        let open = body[hashes..].strip_prefix('"')?;
        return Some(open.find(&close).map_or(rest.len(), |end| prefix.len() + hashes + 1 + end + close.len()));
    }
    if body.starts_with('"') {
        return Some(prefix.len() + closed_by('"', body));
    }
    let inside = body.strip_prefix('\'')?;
    let mut letters = inside.chars();
    let is_character = match letters.next()? {
        '\\' => true,
        _ => letters.next() == Some('\''), // else a lifetime
    };
    is_character.then(|| prefix.len() + closed_by('\'', body))
}

/// The length of a literal that begins and ends with `quote`, where `\` hides the next character.
fn closed_by(quote: char, body: &str) -> usize {
    let mut hidden = false;
    for (at, letter) in body.char_indices().skip(1) {
        match letter {
            _ if hidden => hidden = false,
            '\\' => hidden = true,
            _ if letter == quote => return at + letter.len_utf8(),
            _ => {}
        }
    }
    body.len()
}

/// The items of code (a view of it) that stand under `#[cfg(test)]`, attributes included.
pub fn test_items(code: &str) -> Vec<Range<usize>> {
    if code.contains("#![cfg(test)]") {
        return std::iter::once(0..code.len()).collect();
    }
    let marker = "#[cfg(test)]";
    let mut items = Vec::new();
    let mut from = 0;
    while let Some(found) = code[from..].find(marker) {
        let start = from + found;
        from = start + marker.len();
        from += item_length(&code[from..]);
        items.push(start..from);
    }
    items
}

/// Code (a view of it) with every item under `#[cfg(test)]` blanked.
pub fn without_tests(code: &str) -> String {
    let mut product = code.to_owned();
    for item in test_items(code) {
        let hole = blank(&code[item.clone()]);
        product.replace_range(item, &hole);
    }
    product
}

/// The length of the item that code begins with, its attributes included: up to its `;` or its closing brace.
fn item_length(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, letter) in code.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '}' if depth <= 1 => return at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// Code with every attribute (`#[..]`, `#![..]`) blanked.
pub fn without_attributes(code: &str) -> String {
    let mut plain = code.to_owned();
    let mut from = 0;
    while let Some(found) = plain[from..].find('#') {
        let start = from + found;
        let open = plain[start + 1..].trim_start_matches('!');
        from = start + 1;
        if !open.starts_with('[') {
            continue;
        }
        let mut depth = 0_usize;
        let inside = plain.len() - open.len();
        for (at, letter) in plain[inside..].char_indices() {
            match letter {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                from = inside + at + 1;
                break;
            }
        }
        let hole = blank(&plain[start..from]);
        plain.replace_range(start..from, &hole);
    }
    plain
}

/// A path in code that begins at the crate's root, with `super` and `self` resolved.
#[derive(Debug, PartialEq, Eq)]
pub struct CratePath {
    /// From the crate's root; `*` for a glob. Empty for the root itself.
    pub segments: Vec<String>,
    /// Where the path begins.
    pub offset: usize,
}

/// The paths of `code` (without comments and strings) that start with `crate`, `super`, or the crate's own name.
/// `module` is the path of the module whose file this is.
pub fn crate_paths(code: &str, module: &[&str], own_name: &str) -> Vec<CratePath> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut inline: Vec<Option<String>> = Vec::new(); // open braces; named where they are an inline module's
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let text = &code[token.clone()];
        let before = |back: usize| at.checked_sub(back).map_or("", |n| &code[tokens[n].clone()]);
        match text {
            "{" => inline.push((before(2) == "mod").then(|| before(1).to_owned())),
            "}" => drop(inline.pop()),
            _ if before(1) == "::" => {} // the middle of a path that another rule began
            _ if text == "crate" || text == "super" || text == own_name => {
                let here: Vec<String> =
                    module.iter().map(ToString::to_string).chain(inline.iter().flatten().cloned()).collect();
                let mut walk = Walk { code, tokens: &tokens, at, found: &mut found, own_name };
                walk.tree(&here);
                at = walk.at.max(at + 1);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Reads one path, or a whole tree of a `use`.
struct Walk<'a> {
    code: &'a str,
    tokens: &'a [Range<usize>],
    at: usize,
    found: &'a mut Vec<CratePath>,
    own_name: &'a str,
}

impl Walk<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |token| &self.code[token.clone()])
    }

    /// `a::b`, `a::*`, `a::{b, c::d}`; `base` is what the path stands on.
    fn tree(&mut self, base: &[String]) {
        let mut path = base.to_vec();
        let offset = self.tokens.get(self.at).map_or(0, |token| token.start);
        loop {
            match self.peek() {
                "crate" => path.clear(),
                name if name == self.own_name => path.clear(),
                "self" => {}
                "super" => drop(path.pop()),
                "{" => return self.branches(&path),
                "*" => path.push("*".to_owned()),
                name if name.starts_with(|c: char| c.is_alphabetic() || c == '_') => path.push(name.to_owned()),
                _ => break, // a generic argument such as `::<T>`
            }
            self.at += 1;
            if self.peek() != "::" {
                break;
            }
            self.at += 1;
        }
        self.found.push(CratePath { segments: path, offset });
    }

    fn branches(&mut self, base: &[String]) {
        self.at += 1;
        while !matches!(self.peek(), "}" | "") {
            let before = self.at;
            self.tree(base);
            if self.peek() == "as" {
                self.at += 2;
            }
            if self.peek() == "," || self.at == before {
                self.at += 1;
            }
        }
        self.at += 1;
    }
}

/// Words, `::`, and single other characters.
fn tokens(code: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(letter) = code[at..].chars().next() {
        let word = code[at..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len() - at);
        let length = match word {
            0 if code[at..].starts_with("::") => 2,
            0 => letter.len_utf8(),
            _ => word,
        };
        if !letter.is_whitespace() {
            tokens.push(at..at + length);
        }
        at += length;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(code: &str) -> Vec<String> {
        let found = crate_paths(&views(code).code, &["sim", "world"], "playproof");
        found.into_iter().map(|path| path.segments.join("::")).collect()
    }

    #[test]
    fn comments_and_literals_are_not_code() {
        let source = "a /* b /* c */ d */ \"e // \\\" f\" r#\"g\"h\"# 'i' '\\'' b'j' b\"k\" // l\nm";
        let views = views(source);
        assert_eq!(views.code.split_whitespace().collect::<String>(), "am");
        assert_eq!(views.comments.split_whitespace().collect::<String>(), "/*b/*c*/d*///l");
        assert_eq!((views.code.len(), views.comments.len()), (source.len(), source.len()));
    }

    #[test]
    fn a_lifetime_is_code_and_so_is_a_raw_name() {
        assert_eq!(views("fn f<'a>(r#type: &'a str)").code, "fn f<'a>(r#type: &'a str)");
        assert_eq!(views("bar(\"x\")").code.split_whitespace().collect::<String>(), "bar()");
    }

    #[test]
    fn a_test_module_is_not_product_and_what_follows_it_is() {
        let code =
            "use a;\n#[cfg(test)]\n#[derive(X)]\nmod tests { fn f() { } }\nuse b;\n#[cfg(test)]\nmod more;\nuse c;";
        let product: String = without_tests(code).split_whitespace().collect();
        assert_eq!(product, "usea;useb;usec;");
    }

    #[test]
    fn attributes_go_and_the_rest_stays() {
        let plain: String = without_attributes("#![a(b = [1])]\n#[c] mod d; # e").split_whitespace().collect();
        assert_eq!(plain, "modd;#e");
    }

    #[test]
    fn paths_are_found_in_uses_and_in_the_midst_of_code() {
        assert_eq!(paths("use crate::event::Names;"), ["event::Names"]);
        assert_eq!(paths("let x = crate::time::Instant::ZERO.plus(y);"), ["time::Instant::ZERO"]);
        assert_eq!(paths("crate::ids::parse::<u8>()"), ["ids::parse"]);
        assert_eq!(paths("pub(crate) fn f() {}"), [""]);
        assert_eq!(paths("use std::fmt; use serde::de;"), Vec::<String>::new());
    }

    #[test]
    fn nested_braces_are_followed_to_every_leaf() {
        let code = "use crate::{event::{self, Names as N, a::{b, c}}, time::*};";
        assert_eq!(paths(code), ["event", "event::Names", "event::a::b", "event::a::c", "time::*"]);
    }

    #[test]
    fn supers_are_resolved_against_the_file_and_inline_modules() {
        assert_eq!(paths("use super::tape;"), ["sim::tape"]);
        assert_eq!(paths("use super::super::dispatch::Machine;"), ["dispatch::Machine"]);
        assert_eq!(paths("mod inner { use super::helper; } use super::x;"), ["sim::world::helper", "sim::x"]);
    }

    #[test]
    fn the_crate_s_own_name_is_its_root() {
        assert_eq!(paths("playproof::cli::run()"), ["cli::run"]);
    }
}
