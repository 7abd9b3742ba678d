//! The event of a line with a recorded decision. Reads nothing else of it.

use serde_json::value::RawValue;

use crate::wire::lower::{LineResult, Lowering};
use playproof_engine::event::EventKind;
use playproof_formats::diagnostic::did_you_mean;

impl<'a> Lowering<'a> {
    /// The event of a line with a decision.
    #[cold]
    pub(super) fn event(self, line: &'a str) -> LineResult<EventKind> {
        #[derive(serde::Deserialize)]
        struct EventField<'r> {
            #[serde(borrow)]
            event: Option<&'r RawValue>,
        }
        let EventField { event } = serde_json::from_str(line).map_err(|error| self.no_object(&error))?;
        let Some(raw) = event.map(RawValue::get) else {
            let message = "a `decision` needs an `event`: what was decided";
            return Err(self.error("missing_field", self.whole(), message, "it is not here"));
        };
        let known = || EventKind::ALL.iter().map(|kind| kind.as_str());
        let word = raw.trim_matches('"');
        EventKind::ALL.iter().copied().find(|kind| kind.as_str() == word && raw.starts_with('"')).ok_or_else(|| {
            let message = "the `event` of a `decision` is none of the dispatcher's";
            let mut error = self.error("unknown_value", self.span(raw), message, "no such event");
            error.help = did_you_mean(word, known()).map(|near| format!("did you mean `{near}`?"));
            error
        })
    }
}
