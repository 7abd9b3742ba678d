//! The beginnings of the successful results of a foreign recording, by the lines that report them: a rule for failures
//! must not match them. They are as recorded, so nothing shows them. Their number is bounded.

/// The most bytes of a text.
const TEXT_MAX: usize = 256;

/// The most texts of one recording.
const TEXTS_MAX: usize = 1_024;

/// Texts of successful results. If there are too many, every second one goes, and from then on every second one is left
/// out; so they come from the whole recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OkTexts {
    /// By line, in order.
    texts: Vec<(u64, Box<str>)>,
    seen: u64,
    halved: u32,
}

/// What is kept of a text.
pub(crate) fn cut(text: &str) -> &str {
    let text = text.trim();
    text.get(..text.floor_char_boundary(TEXT_MAX)).unwrap_or(text)
}

impl OkTexts {
    /// Adds the text of the result on `line`, which comes after all others.
    pub(crate) fn add(&mut self, line: u64, text: &str) {
        let text = cut(text);
        if text.is_empty() {
            return;
        }
        if self.texts.len() == TEXTS_MAX {
            let mut number = 0;
            self.texts.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.halved += 1;
        }
        if self.seen.trailing_zeros() >= self.halved {
            self.texts.push((line, text.into()));
        }
        self.seen += 1;
    }

    /// Adds texts whose lines come after `lines` others.
    pub(crate) fn append(&mut self, lines: u64, more: &OkTexts) {
        more.texts.iter().for_each(|(line, text)| self.add(lines + line, text));
    }

    /// A copy without the texts of the lines `dropped` (sorted); other lines move up.
    pub(crate) fn without(&self, dropped: &[u64]) -> OkTexts {
        let moved = |(line, text): &(u64, Box<str>)| {
            let before = dropped.binary_search(line).err()?;
            Some((line - before as u64, text.clone()))
        };
        OkTexts { texts: self.texts.iter().filter_map(moved).collect(), ..*self }
    }

    /// The texts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|(_, text)| &**text)
    }

    /// The text of the result on a line, if it is kept.
    pub(crate) fn text(&self, line: u64) -> Option<&str> {
        let at = self.texts.binary_search_by_key(&line, |(line, _)| *line).ok()?;
        self.texts.get(at).map(|(_, text)| &**text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_texts_are_thinned_out_evenly() {
        let mut texts = OkTexts::default();
        for line in 0..100_000 {
            texts.add(line, "fine");
        }
        let lines: Vec<u64> = texts.texts.iter().map(|(line, _)| *line).collect();
        assert!(lines.len() <= TEXTS_MAX && lines.len() > TEXTS_MAX / 2, "{}", lines.len());
        assert!(lines.iter().all(|line| line % 128 == 0) && lines.last() > Some(&99_000), "{lines:?}");
    }

    #[test]
    fn a_text_is_found_by_its_line_also_after_others_are_dropped() {
        let mut texts = OkTexts::default();
        for (line, text) in [(2, "a"), (3, "  "), (5, "b"), (6, "c")] {
            texts.add(line, text);
        }
        assert_eq!([2, 3, 5, 6].map(|line| texts.text(line)), [Some("a"), None, Some("b"), Some("c")]);
        let fewer = texts.without(&[1, 5]);
        assert_eq!([1, 2, 3, 4].map(|line| fewer.text(line)), [Some("a"), None, None, Some("c")]);
        let mut both = texts.clone();
        both.append(10, &fewer);
        assert_eq!((both.text(5), both.text(11), both.text(14)), (Some("b"), Some("a"), Some("c")));
    }

    #[test]
    fn long_texts_are_cut() {
        let mut texts = OkTexts::default();
        texts.add(1, &"ü".repeat(1_000));
        assert_eq!(texts.text(1).map(str::len), Some(TEXT_MAX));
    }
}
