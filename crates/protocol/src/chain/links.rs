//! Links lines to one another, and takes the links away again. A link stands at the end of its line.

use std::borrow::Cow;

use super::canonical;
use super::hash::Hash;
use super::verify::{NoChain, Wanted, verify};

/// The end of a chain so far, which the next line goes on from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    head: Hash,
}

/// What stands between a line and its two keys.
const PREV: &str = ",\"prev\":\"";
const HASH: &str = "\",\"hash\":\"";
/// The length of what `link` adds before the closing brace.
const ADDED: usize = PREV.len() + HASH.len() + 2 * Hash::LENGTH + 1;

impl Chain {
    /// The chain that goes on from lines, all of which were written by [`Chain::link`].
    ///
    /// # Errors
    /// They are no whole chain: the first problem.
    pub fn of(lines: &[u8]) -> Result<Chain, NoChain> {
        let verified = verify(lines, &Wanted::default())?;
        match verified.problems.into_iter().next() {
            None => Ok(Chain { head: verified.head }),
            Some(problem) => Err(NoChain::Broken(problem)),
        }
    }

    /// Whether the first of some lines is one of a chain.
    pub fn has_begun(lines: &[u8]) -> bool {
        let first = lines.split(|byte| *byte == b'\n').next().unwrap_or_default();
        std::str::from_utf8(first).is_ok_and(|first| bare_line(first).is_some())
    }

    /// Appends lines to `out`, each with its two keys at its end. A line that is no object stays as it is.
    pub fn link(&mut self, out: &mut Vec<u8>, lines: &[u8]) {
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let text = std::str::from_utf8(line).unwrap_or_default().trim_end();
            let Some((body, hash)) = text.strip_suffix('}').and_then(|body| {
                let body = format!("{body}{PREV}{}\"", self.head);
                let entry = canonical::entry(&format!("{body}}}"))?;
                Some((body, Hash::of(&self.head.to_string(), &entry.text)))
            }) else {
                out.extend_from_slice(line);
                continue;
            };
            out.extend_from_slice(format!("{body},\"hash\":\"{hash}\"}}\n").as_bytes());
            self.head = hash;
        }
    }
}

/// Lines without the two keys that [`Chain::link`] has added; others stay as they are.
pub fn bare(lines: &[u8]) -> Cow<'_, [u8]> {
    if !Chain::has_begun(lines) {
        return Cow::Borrowed(lines);
    }
    let mut out = Vec::with_capacity(lines.len());
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let without_end = line.strip_suffix(b"\n").unwrap_or(line);
        match std::str::from_utf8(without_end).ok().and_then(bare_line) {
            Some(body) => {
                out.extend_from_slice(body.as_bytes());
                out.extend_from_slice(&[b"}", &line[without_end.len()..]].concat());
            }
            None => out.extend_from_slice(line),
        }
    }
    Cow::Owned(out)
}

/// What stands in a line before its two keys.
fn bare_line(line: &str) -> Option<&str> {
    let (body, added) = line.strip_suffix('}')?.split_at_checked(line.len().checked_sub(ADDED + 1)?)?;
    let (prev, hash) = added.strip_prefix(PREV)?.split_once(HASH)?;
    (Hash::parse(prev).is_some() && Hash::parse(hash.strip_suffix('"')?).is_some()).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(lines: &str) -> String {
        let mut out = Vec::new();
        Chain::default().link(&mut out, lines.as_bytes());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_are_linked_and_come_back_as_they_were() {
        let lines = "{\"seq\":0}\n{\"seq\":1}\n{ \"b\": [1.0, \"\u{e9}\"], \"a\": {} }\n";
        let chained = linked(lines);
        for hash in [
            "sha256:5781626acea47caffb8c1853d35378dba947d514fb180ddd921713f8226475f5",
            "sha256:2bcbc9ac1f7128b5275a74dcb0c5352501ba7ec827dc90b98f959d7320775f82",
        ] {
            assert!(chained.contains(&format!("\"hash\":\"{hash}\"}}\n")), "{chained}");
        }
        assert_eq!(String::from_utf8_lossy(&bare(chained.as_bytes())), lines);
        assert_eq!(bare(lines.as_bytes()), lines.as_bytes());
    }

    #[test]
    fn a_chain_goes_on_from_its_lines_and_from_no_broken_one() {
        let (first, both) = (linked("{\"seq\":0}\n"), linked("{\"seq\":0}\n{\"seq\":1}\n"));
        let mut on = Chain::of(first.as_bytes()).unwrap();
        let mut out = first.clone().into_bytes();
        on.link(&mut out, b"{\"seq\":1}\n");
        assert_eq!(String::from_utf8(out).unwrap(), both);
        assert!(Chain::has_begun(both.as_bytes()) && !Chain::has_begun(b"{\"seq\":0}\n"));
        assert!(matches!(Chain::of(both.replace("\"seq\":0", "\"seq\":7").as_bytes()), Err(NoChain::Broken(_))));
    }
}
