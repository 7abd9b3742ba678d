//! `--jobs`: the number of threads, an argument of several commands.

use std::num::NonZeroUsize;

use super::values;

/// The number of threads that is asked for.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Threads {
    /// Threads; the result is the same for any number [default: all cores]
    #[arg(short, long, value_name = "N", value_parser = values::threads)]
    pub jobs: Option<NonZeroUsize>,
}

impl Threads {
    /// The number; without one, all cores.
    #[expect(clippy::disallowed_methods, reason = "the command line chooses the number of threads")]
    pub fn number(self) -> NonZeroUsize {
        self.jobs.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
    }
}
