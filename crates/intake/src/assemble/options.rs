//! How calls are assembled: what the caller decides.

use std::sync::Arc;

use playproof_engine::playbook::Tools;

/// How calls are assembled.
#[derive(Clone, Debug)]
pub struct AssembleOptions {
    /// A call closes this many calls later, at least 1.
    pub reorder_window: u64,
    /// Joins an identical call to a failed one, as its next attempt, if no successful write lies between.
    pub join_resends: bool,
    /// Counts and skips lines that cannot be used.
    pub skip_invalid: bool,
    /// The tool facts that say what makes a request; none: all arguments do, in their run.
    pub requests: Option<Arc<Tools>>,
}

impl Default for AssembleOptions {
    fn default() -> AssembleOptions {
        AssembleOptions { reorder_window: 10_000, join_resends: false, skip_invalid: false, requests: None }
    }
}

/// Whether a tool changes the upstream; unknown tools do.
pub type Writes<'a> = dyn Fn(&str) -> bool + Sync + 'a;
