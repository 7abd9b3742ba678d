//! Edits the text of a feedback file: changed values only; every other byte stays, comments too.

use std::sync::Arc;

use super::file::parse;
use super::model::{Feedback, Kept};
use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::yaml;
use playproof_formats::yaml::lines::{after_colon, block_end, is_block_text, is_flow, line_break, line_start, trimmed};
use playproof_formats::yaml::{Node, quoted};

impl Kept {
    /// The text of the file with note, expected verdict and closing as `new` has them. Its comments stay.
    ///
    /// # Errors
    /// A file that a program cannot edit, with the place.
    pub fn edited(&self, new: &Feedback) -> Result<String, Report> {
        let old = &self.feedback;
        let said = [
            ("note", Some(&old.note), Some(&new.note)),
            ("expected", old.expected.as_ref(), new.expected.as_ref()),
            ("closed", old.closed.as_ref(), new.closed.as_ref()),
        ];
        let mut source = Arc::clone(&self.source);
        let mut last = "note";
        for (key, _, new) in said.into_iter().filter(|(_, old, new)| old != new) {
            let root = yaml::tree(&source).ok();
            let edited = root.and_then(|root| with_value(&source.text, &root, key, new.map(String::as_str)));
            source = Source::whole(&*self.source.name, edited.ok_or_else(|| self.by_hand(key))?);
            last = key;
        }
        // Only a text that reads back as intended is written.
        match parse(Arc::clone(&source)) {
            Ok((read, _)) if read == *new => Ok(source.text.clone()),
            _ => Err(self.by_hand(last)),
        }
    }

    fn by_hand(&self, key: &str) -> Report {
        let said = Diagnostic::error("edit_by_hand", format!("`{key}` cannot be edited by a program"))
            .help("write one key a line, without brackets, anchors and aliases; nothing was changed");
        let root = yaml::tree(&self.source).ok();
        let place = root.as_ref().and_then(|root| root.entry(key)).map(|entry| entry.key_span.clone());
        let said = match place {
            Some(place) => said.at(place, "in an unsupported style"),
            None => said,
        };
        Report::one(Arc::clone(&self.source), said)
    }
}

/// The text with another value for a key, a new line for a new key, or without the line of a removed key.
fn with_value(text: &str, root: &Node, key: &str, value: Option<&str>) -> Option<String> {
    if is_flow(text, root) {
        return None;
    }
    let (span, new) = match (root.entry(key), value) {
        (Some(old), Some(value)) if is_block_text(text, old) => {
            (after_colon(text, old)..trimmed(text, old.value.span.end), format!(" {}", quoted(value)))
        }
        (Some(old), Some(value)) if old.value.span.start > old.key_span.end => (old.value.span.clone(), quoted(value)),
        (None, Some(value)) => {
            let above = ["expected", "call"].iter().find_map(|above| root.entry(above))?;
            let (at, broken) = (block_end(text, &above.value, 0), line_break(text));
            let line = format!("{key}: {}", quoted(value));
            let ends_open = text.get(..at).is_some_and(|before| !before.ends_with('\n'));
            (at..at, if ends_open { format!("{broken}{line}") } else { format!("{line}{broken}") })
        }
        (Some(old), None) => (line_start(text, old.key_span.start)..block_end(text, &old.value, 0), String::new()),
        _ => return None,
    };
    let mut text = text.to_owned();
    text.replace_range(span, &new);
    Some(text)
}
