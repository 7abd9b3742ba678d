//! The arguments that make a request of a tool, as its facts name them. Knows no JSON: what reads the facts brings it.

use std::fmt;
use std::sync::Arc;

/// Reads the arguments of these names out of arguments as JSON text, in a normal form; none: there are none of them.
pub type ReadNamed = fn(&str, &[Box<str>]) -> Option<String>;

/// The arguments that make a request; all others do not count.
#[derive(Clone)]
pub struct SameIf {
    names: Arc<[Box<str>]>,
    read: ReadNamed,
}

impl SameIf {
    /// The arguments of these names, which `read` reads.
    pub fn new(names: Vec<Box<str>>, read: ReadNamed) -> SameIf {
        SameIf { names: names.into(), read }
    }

    /// Their names, as written.
    pub fn names(&self) -> &[Box<str>] {
        &self.names
    }

    /// What makes the request, of a call with these arguments (JSON text); none: it has none of them, so that all of its
    /// arguments count.
    pub fn intent(&self, args: &str) -> Option<String> {
        (self.read)(args, &self.names)
    }
}

impl PartialEq for SameIf {
    fn eq(&self, other: &SameIf) -> bool {
        self.names == other.names
    }
}

impl Eq for SameIf {}

impl fmt::Debug for SameIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.names.fmt(f)
    }
}
