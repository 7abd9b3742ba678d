//! Reads the JSON documents of a foreign source in a row, each with its line. If each line is a document, a bad line is
//! reported alone and can be skipped. Knows no mapping.

use std::ops::Range;
use std::sync::Arc;

use crate::json::Parsed;
use crate::raw_value::RawValue;
use crate::source_text::{SourceText, skippable};
use playproof_formats::diagnostic::Report;

/// Reads the documents of a source.
#[derive(Debug)]
pub(super) struct Documents<'t> {
    source: SourceText<'t>,
    at: usize,
    line: usize,
    one_a_line: bool,
}

/// A document and the number of its first line, from 1.
#[derive(Debug)]
pub(super) struct Document<'t> {
    pub(super) value: Parsed<'t>,
    pub(super) line: usize,
}

/// Text that is no document.
#[derive(Debug)]
pub(super) struct BrokenDocument {
    pub(super) report: Report,
    pub(super) line: usize,
    /// It is one line, and every document is one line: reading goes on after it.
    pub(super) is_line: bool,
}

impl<'t> Documents<'t> {
    pub(super) fn new(source: SourceText<'t>) -> Documents<'t> {
        Documents { source, at: 0, line: 1, one_a_line: true }
    }

    /// The next document; none at the end.
    pub(super) fn next(&mut self) -> Option<Result<Document<'t>, BrokenDocument>> {
        match Parsed::first_of(self.source.text.get(self.at..)?)? {
            Ok((value, rest)) => {
                let end = self.source.text.len() - rest.len();
                self.advance(end.saturating_sub(value.text.len()));
                let line = self.line;
                self.one_a_line &= memchr::memchr(b'\n', value.text.as_bytes()).is_none();
                self.advance(end);
                Some(Ok(Document { value, line }))
            }
            Err(error) => {
                let bad = self.first_line();
                let is_first = self.at == 0;
                self.advance(bad.start);
                let line = self.line;
                let of_line =
                    self.line_report(&bad).filter(|_| self.one_a_line && (!is_first || self.goes_on(bad.end)));
                let is_line = of_line.is_some();
                self.at = bad.end;
                // The place in `error` is counted from the end of the last document.
                Some(Err(BrokenDocument {
                    report: of_line.unwrap_or_else(|| self.source_report(error)),
                    line,
                    is_line,
                }))
            }
        }
    }

    fn advance(&mut self, to: usize) {
        let passed = self.source.text.get(self.at..to).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', passed.as_bytes()).count();
        self.at = to;
    }

    /// The rest of the first line from here on that is not blank.
    fn first_line(&self) -> Range<usize> {
        let rest = self.source.text.get(self.at..).unwrap_or_default();
        let start = self.at + (rest.len() - rest.trim_start().len());
        let rest = self.source.text.get(start..).unwrap_or_default();
        start..start + rest.find('\n').unwrap_or(rest.len())
    }

    /// The report of a whole line by itself.
    fn line_report(&self, line: &Range<usize>) -> Option<Report> {
        let before = self.source.text.get(..line.start)?;
        let whole = before.rfind('\n').map_or(before, |newline| before.get(newline + 1..).unwrap_or_default());
        let text = self.source.text.get(line.start - whole.len()..line.end)?.trim_end_matches('\r');
        if !whole.trim().is_empty() {
            return None;
        }
        let mut report = SourceText { text, name: self.source.name }.document().err()?;
        Arc::make_mut(&mut report.source).first_line += self.line - 1;
        Some(skippable(report))
    }

    /// Whether the next line after `at` is a document.
    fn goes_on(&self, at: usize) -> bool {
        let rest = self.source.text.get(at..).unwrap_or_default().trim_start();
        let next = rest.split('\n').next().unwrap_or_default();
        next.starts_with(['{', '[']) && serde_json::from_str::<RawValue<'_>>(next).is_ok()
    }

    /// The report of the source as a whole.
    fn source_report(&self, error: serde_json::Error) -> Report {
        let all = serde_json::Deserializer::from_str(self.source.text).into_iter::<RawValue<'_>>();
        let first = all.filter_map(Result::err).next();
        self.source.not_json(&first.unwrap_or(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of documents, and of broken documents with their reports.
    fn walk(text: &str) -> (Vec<usize>, Vec<(usize, bool, String)>) {
        let mut documents = Documents::new(SourceText { text, name: "log" });
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        while let Some(next) = documents.next() {
            match next {
                Ok(document) => good.push(document.line),
                Err(broken) => {
                    bad.push((broken.line, broken.is_line, broken.report.to_string()));
                    if !broken.is_line {
                        break;
                    }
                }
            }
        }
        (good, bad)
    }

    #[test]
    fn a_truncated_line_is_reported_where_it_ends() {
        let short = "the JSON ends before it is complete".to_owned();
        assert_eq!(walk("{\"a\":1}\n{\"b\":\n"), (vec![1], vec![(2, true, format!("log:2:5: {short}"))]));
        assert_eq!(walk("{\"a\":1}\n\n{\"b\":\n{\"c\":1}"), (vec![1, 4], vec![(3, true, format!("log:3:5: {short}"))]));
        assert_eq!(walk("{\"b\":\n{\"c\":1}\n"), (vec![2], vec![(1, true, format!("log:1:5: {short}"))]));
    }

    #[test]
    fn a_broken_document_of_many_lines_is_reported_as_a_whole() {
        let (good, bad) = walk("{\"a\":\n  1\n}\n{\"b\":\n  oops\n}\n");
        assert_eq!((good, bad.len()), (vec![1], 1));
        assert!(bad[0].2.starts_with("log:5:3: this is not JSON"), "{bad:?}");
        assert!(!bad[0].1);
        let (_, bad) = walk("[{\"a\":1},\n{\"b\":\n\n\n");
        assert_eq!(bad[0].2, "log:2:5: the JSON ends before it is complete");
    }
}
