//! What a playbook demands of a request before its first attempt. The check of arguments is made elsewhere; here it is
//! only held and asked.

use std::fmt;
use std::sync::Arc;

/// Says of arguments, as JSON text, what does not fit.
type Check = dyn Fn(&str) -> Result<(), String> + Send + Sync;

/// A check of a call's arguments.
#[derive(Clone)]
pub struct ArgumentSchema {
    /// Its canonical text. Two checks with one text are equal.
    text: Arc<str>,
    is_loose: bool,
    example: Arc<str>,
    check: Arc<Check>,
}

impl ArgumentSchema {
    /// A check with its canonical text; `is_loose`: arguments that it does not name pass; `example`: arguments that fit, as
    /// JSON text. `check` takes arguments as JSON
    /// text, and says what does not fit: the place, what was expected and what is there.
    pub fn new(
        text: impl Into<Arc<str>>,
        is_loose: bool,
        example: impl Into<Arc<str>>,
        check: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static,
    ) -> ArgumentSchema {
        ArgumentSchema { text: text.into(), is_loose, example: example.into(), check: Arc::new(check) }
    }

    /// The canonical text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Arguments that fit, as JSON text.
    pub fn example(&self) -> &str {
        &self.example
    }

    /// Whether arguments that it does not name pass.
    pub const fn is_loose(&self) -> bool {
        self.is_loose
    }

    /// Checks arguments.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self, args: &str) -> Result<(), String> {
        (self.check)(args)
    }
}

impl PartialEq for ArgumentSchema {
    fn eq(&self, other: &ArgumentSchema) -> bool {
        self.text == other.text
    }
}

impl Eq for ArgumentSchema {}

impl fmt::Debug for ArgumentSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ArgumentSchema").field(&self.text).finish()
    }
}
