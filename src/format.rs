//! Declares the output formats of a command: each command has its own closed set, and matches it without a wildcard.

/// `formats!(Format: Table = "For people", Json = "One JSON document")` is an enum for a flag `--format`.
macro_rules! formats {
    ($name:ident: $($format:ident = $help:tt),+) => {
        /// How the result is written.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
        pub enum $name {
            $(#[doc = $help] $format,)+
        }
    };
}

pub(crate) use formats;
