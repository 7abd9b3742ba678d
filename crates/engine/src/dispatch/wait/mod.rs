//! How long a retry waits, or the limit that forbids it. Pure arithmetic in whole numbers; only `polly` needs floats.

mod fixed;
mod jitter;
mod limits;
mod next;
mod own;
mod polly;
mod range;
mod server;

pub use limits::first_retry_fits;
pub use own::own_wait;
pub use range::wait_range;

pub(super) use limits::{attempts_left, starts_in_time, time_left, too_late_at};
pub(super) use next::{CallUsage, NextWait, RetryStop, WaitHistory, next_wait};
pub(super) use own::formula_wait;
