//! What is said of input that cannot be used, and of input that was odd, without what must not be shown. Keys cannot be
//! found for sure in what is broken, so that nothing of it is quoted where anything is redacted.

use std::sync::Arc;

use super::rules::{REDACTED, RedactionRules};
use crate::diagnostic::{Report, Source};
use crate::trace::foreign::{Imported, LossReport};
use crate::trace::wire::Unfamiliar;

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
        for diagnostic in &mut diagnostics {
            diagnostic.message = self.text(&diagnostic.message).into_owned();
            diagnostic.help = diagnostic.help.take().map(|help| self.text(&help).into_owned());
            for label in &mut diagnostic.labels {
                label.text = self.text(&label.text).into_owned();
                label.span = 0..REDACTED.len();
            }
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

    /// What is said of a recording that was imported, and where its lines come from; the lines stay as they are.
    pub fn import(&self, imported: &mut Imported) {
        if !self.is_empty() {
            imported.origins = imported.origins.with_paths(|path| self.text(path));
            self.loss(&mut imported.loss);
        }
    }

    /// A name that nobody knows, which stands under `key`.
    pub(in crate::trace) fn unfamiliar(&self, key: &str, unfamiliar: Unfamiliar) -> Unfamiliar {
        let name = self.text_under(key, &unfamiliar.name);
        match name == unfamiliar.name {
            true => unfamiliar,
            false => Unfamiliar { name: name.into_owned(), near: None },
        }
    }

    fn loss(&self, loss: &mut LossReport) {
        for seen in loss.oddities.values_mut() {
            seen.first = self.text(&seen.first).into_owned();
        }
        for unused in &mut loss.unused {
            unused.near = unused.near.take().map(|near| self.text(&near).into_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Diagnostic;

    #[test]
    fn a_report_keeps_its_places_and_quotes_nothing() {
        let rules = RedactionRules::new(&[], &["sk_[a-z]+"]).unwrap();
        let source = Source::whole("t.json", "{\n  \"a\": sk_x\n}");
        let said = Diagnostic::error("not_json", "no JSON: `sk_x`").at(9..13, "here, not sk_y").help("mend sk_z");
        let report = rules.report(Report::one(source, said));
        assert_eq!(report.to_string(), "t.json:2:8: no JSON: `[redacted]`");
        assert!(!format!("{report:?}").contains("sk_"), "{report:?}");
    }
}
