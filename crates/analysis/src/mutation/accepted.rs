//! The committed list of accepted survivors: by playbook, the mutant's id and the reason. Judges nothing.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::yaml;
use playproof_formats::yaml::Cursor;

const FORMAT: &str = "mutants/1";

/// The file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// What the places point into.
    pub source: Arc<Source>,
    /// By the name of the playbook in fixtures.
    pub sections: BTreeMap<String, Section>,
}

/// The entries of one playbook, in the order of the file.
pub type Section = Vec<AcceptedMutant>;

/// One accepted survivor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedMutant {
    /// The mutant's id.
    pub mutant: String,
    /// The reason.
    pub why: String,
    /// Where the id stands.
    pub span: Range<usize>,
}

impl Accepted {
    /// No file: nothing is accepted.
    pub fn nothing() -> Accepted {
        Accepted { source: Source::whole("mutants.yaml", ""), sections: BTreeMap::new() }
    }

    /// Reads the file.
    ///
    /// # Errors
    /// All that is wrong with it, each with its place.
    pub fn parse(source: Arc<Source>) -> Result<Accepted, Report> {
        let sections = yaml::parse(Arc::clone(&source), sections)?;
        Ok(Accepted { source, sections })
    }

    /// The entries of one playbook.
    pub fn entries(&self, playbook: &str) -> &[AcceptedMutant] {
        self.sections.get(playbook).map_or(&[], Vec::as_slice)
    }
}

fn sections(root: Cursor<'_>) -> Option<BTreeMap<String, Section>> {
    let entries = root.entries("a list of accepted mutants")?;
    let mut sections = BTreeMap::new();
    let mut format = None;
    let mut good = true;
    for (key, value) in entries {
        if key.text == "format" {
            format = value.word(&[(FORMAT, ())]);
            good &= format.is_some();
        } else {
            good &= root.named(&key, "/");
            let section = section(value);
            good &= section.is_some();
            sections.extend(section.map(|section| (key.text.to_owned(), section)));
        }
    }
    if format.is_none() && good {
        root.wrong(
            "missing_key",
            format!("a list of accepted mutants needs `format: {FORMAT}`"),
            "`format` is missing",
        );
    }
    format.filter(|()| good).map(|()| sections)
}

fn section(at: Cursor<'_>) -> Option<Section> {
    let entries = at.entries("the mutants of a playbook: `ID: why no fixture need catch it`")?;
    let read: Vec<Option<AcceptedMutant>> = entries
        .map(|(key, why)| {
            Some(AcceptedMutant { mutant: key.text.to_owned(), why: why.words()?.to_owned(), span: key.span })
        })
        .collect();
    read.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Accepted, String> {
        Accepted::parse(Source::whole("mutants.yaml", text)).map_err(|report| report.to_string())
    }

    #[test]
    fn a_mutant_is_accepted_with_a_reason_and_has_a_place() {
        let text = "format: mutants/1\nstudy/old:\n  rule timeout/drop: another rule says the same\n";
        let accepted = read(text).expect("a good list");
        let [entry] = accepted.entries("study/old") else { panic!("{accepted:?}") };
        assert_eq!((&*entry.mutant, &*entry.why), ("rule timeout/drop", "another rule says the same"));
        assert_eq!(&text[entry.span.clone()], "rule timeout/drop");
        assert!(accepted.entries("standard").is_empty());
    }

    #[test]
    fn an_entry_without_a_reason_and_one_that_stands_twice_are_refused() {
        let empty = read("format: mutants/1\nstandard:\n  rule timeout/drop: ''\n").unwrap_err();
        assert!(empty.starts_with("mutants.yaml:3:"), "{empty}");
        let twice = read("format: mutants/1\nstandard:\n  rule a/drop: x\n  rule a/drop: y\n").unwrap_err();
        assert!(twice.starts_with("mutants.yaml:4:3:"), "{twice}");
    }

    #[test]
    fn a_list_of_another_format_is_refused() {
        assert!(read("standard: {}\n").unwrap_err().contains("needs `format: mutants/1`"));
        assert!(read("format: mutants/2\n").unwrap_err().contains("mutants/1"));
    }
}
