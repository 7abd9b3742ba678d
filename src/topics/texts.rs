//! Reads the files of `help/`: one file a sort of topic, one heading `## ID: TITLE` a topic. Headings without a text
//! between them share the text below.

use std::borrow::Cow;

/// What a heading says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// The word before the colon.
    pub id: &'static str,
    /// The rest of the heading, if it has one.
    pub title: Option<&'static str>,
    /// The text below it, in paragraphs; lines that begin with four blanks keep their breaks.
    pub text: &'static str,
}

/// The sections of a file, in their order.
pub fn sections(file: &'static str) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut shared = "";
    for section in file.split("\n## ").skip(1).collect::<Vec<_>>().into_iter().rev() {
        let (heading, text) = section.split_once('\n').unwrap_or((section, ""));
        let (id, title) = match heading.split_once(": ") {
            Some((id, title)) => (id, Some(title)),
            None => (heading, None),
        };
        shared = if text.trim().is_empty() { shared } else { text.trim_matches('\n') };
        sections.push(Section { id, title, text: shared });
    }
    sections.reverse();
    sections
}
/// The first sentence of a text as a title: without its capital and its stop.
pub fn first_sentence(text: &str) -> String {
    let line = text.split("\n\n").next().unwrap_or(text).replace('\n', " ");
    let end = line.find(". ").unwrap_or_else(|| line.trim_end_matches('.').len());
    let sentence = &line[..end];
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// One entry of `playproof help`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// What users type.
    pub id: Cow<'static, str>,
    /// The group: `finding`, `lint`, `outcome`, `refusal`, `stop`, ...
    pub sort: &'static str,
    /// The title, one line.
    pub title: String,
    /// The text, in paragraphs; lines that begin with four blanks keep their breaks.
    pub text: Cow<'static, str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_without_a_text_share_the_one_below() {
        let sections =
            sections("# Words\n\n## a: the first\n\n## b\n\nBoth.\n\n    a  row\n\n## c: one: two\n\nIts own.\n");
        let both = "Both.\n\n    a  row";
        let all = [("a", Some("the first"), both), ("b", None, both), ("c", Some("one: two"), "Its own.")];
        assert_eq!(sections, all.map(|(id, title, text)| Section { id, title, text }));
    }

    #[test]
    fn a_title_is_the_first_sentence() {
        assert_eq!(first_sentence("A later wait is\nshorter. And so on.\n\nMore"), "a later wait is shorter");
    }
}
