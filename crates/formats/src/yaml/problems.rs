//! Collects the errors of one source. Knows no format.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Report, Source};

/// The most errors in a report, and places in an error.
const MOST: usize = 50;

/// The errors so far.
///
/// Every [`super::Cursor`] of a source shares it, hence the cells.
#[derive(Debug)]
pub struct Problems {
    source: Arc<Source>,
    found: RefCell<Vec<Diagnostic>>,
    left_out: Cell<usize>,
}

impl Problems {
    /// A collector for `source` without errors.
    pub fn new(source: Arc<Source>) -> Problems {
        Problems { source, found: RefCell::default(), left_out: Cell::new(0) }
    }

    /// The source of the places.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Adds an error; a place over several lines is cut to its first line.
    pub fn push(&self, diagnostic: Diagnostic) {
        self.push_with(|| diagnostic);
    }

    /// Adds the error that `describe` makes, which is not asked once there are so many that further ones are only counted.
    pub fn push_with(&self, describe: impl FnOnce() -> Diagnostic) {
        if self.found.borrow().len() == MOST {
            return self.left_out.set(self.left_out.get() + 1);
        }
        let mut diagnostic = describe();
        diagnostic.labels.truncate(MOST);
        let mut found = self.found.borrow_mut();
        for label in &mut diagnostic.labels {
            let underlined = self.source.text.get(label.span.clone()).unwrap_or("");
            let line = underlined.lines().next().unwrap_or("");
            label.span.end = label.span.start + line.trim_end().len();
        }
        found.push(diagnostic);
    }

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// The value, if there is one and there are no errors.
    ///
    /// # Errors
    /// All errors, in the order of their places.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Report> {
        let mut diagnostics = self.found.into_inner();
        match value {
            Some(value) if diagnostics.is_empty() => return Ok(value),
            None if diagnostics.is_empty() => {
                debug_assert!(false, "a reader returned `None` without an error");
                diagnostics.push(Diagnostic::error("unreadable", "the file cannot be used"));
            }
            _ => {}
        }
        diagnostics.sort_by_key(|diagnostic| diagnostic.labels.first().map_or(0, |label| label.span.start));
        if self.left_out.get() > 0 {
            let message = format!("{} more errors are not shown", self.left_out.get());
            diagnostics.push(Diagnostic::error("more_errors", message));
        }
        Err(Report { source: self.source, diagnostics })
    }
}
