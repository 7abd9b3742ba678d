//! What is said of input that cannot be used, and of input that was odd, without what must not be shown. Keys cannot be
//! found for sure in what is broken, so that nothing of it is quoted where anything is redacted. Our own words stay:
//! messages and helps hold nothing of a trace that was not looked through before it was put there.

use std::sync::Arc;

use super::rules::{REDACTED, RedactionRules};
use crate::wire::Unfamiliar;
use playproof_formats::diagnostic::{Report, Source};

impl RedactionRules {
    /// The same of a recording, quoting nothing of it: the places stay.
    #[must_use]
    pub fn report(&self, report: Report) -> Report {
        if self.is_empty() {
            return report;
        }
        let Report { source, mut diagnostics } = report;
        let first = diagnostics.iter().flat_map(|diagnostic| &diagnostic.labels).map(|label| label.span.start).min();
        let (line, column) = source.place(first.unwrap_or(0));
        for label in diagnostics.iter_mut().flat_map(|diagnostic| &mut diagnostic.labels) {
            label.span = 0..REDACTED.len();
        }
        let source = Source {
            name: source.name.clone(),
            text: if first.is_some() { REDACTED.to_owned() } else { String::new() },
            first_line: line,
            first_column: column - 1,
            begins_before: false,
            goes_on: false,
        };
        Report { source: Arc::new(source), diagnostics }
    }

    /// A name that nobody knows, which stands under `key`.
    pub(crate) fn unfamiliar(&self, key: &str, unfamiliar: Unfamiliar) -> Unfamiliar {
        let name = self.text_under(key, &unfamiliar.name);
        match name == unfamiliar.name {
            true => unfamiliar,
            false => Unfamiliar { name: name.into_owned(), near: None, ..unfamiliar },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_formats::diagnostic::Diagnostic;

    #[test]
    fn a_report_keeps_its_places_and_our_words_and_quotes_nothing() {
        let rules = RedactionRules::new(&[], &["sk_[a-z]+", "JSON|[0-9]"]).unwrap();
        let source = Source::whole("t.json", "{\n  \"a\": sk_x\n}");
        let said = Diagnostic::error("not_json", "no JSON").at(9..13, "here").help("mend line 2");
        let report = rules.report(Report::one(source, said.clone()));
        assert_eq!(report.to_string(), "t.json:2:8: no JSON");
        assert_eq!((&*report.source.text, &report.diagnostics[0].help), (REDACTED, &said.help));
    }
}
