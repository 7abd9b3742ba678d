//! Of which call a call is a step.

use std::borrow::Cow;

use crate::wire::fields::FieldSlices;
use crate::wire::lower::{LineResult, Lowering};
use crate::wire::names::{LINE_FIELDS, PARENT, STEP, TRANSACTION};

/// The id of the action's call, and the name of the step.
type StepNames<'a> = (Cow<'a, str>, Cow<'a, str>);

impl<'a> Lowering<'a> {
    /// The action's call and the step. Both words are common in logs: what is no text says nothing.
    #[cold]
    pub(super) fn step(self, fields: &FieldSlices<'a, LINE_FIELDS>) -> LineResult<Option<StepNames<'a>>> {
        let is_text = |number| fields.field(number).is_some_and(|raw| raw.starts_with('"'));
        if !is_text(PARENT) || !is_text(STEP) {
            return Ok(None);
        }
        Ok(self.text_of(fields, PARENT)?.zip(self.text_of(fields, STEP)?))
    }

    /// The label of the transaction of a line; what is no text is ignored.
    pub(super) fn transaction(self, fields: &FieldSlices<'a, LINE_FIELDS>) -> LineResult<Option<Cow<'a, str>>> {
        let is_text = fields.field(TRANSACTION).is_some_and(|raw| raw.starts_with('"'));
        if is_text { self.text_of(fields, TRANSACTION) } else { Ok(None) }
    }
}
