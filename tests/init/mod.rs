//! `playproof init` as a user meets it: an empty folder, a folder with files of their own, a recording to begin from;
//! and the configuration that it writes, key by key.

mod completions;
mod configuration;
mod empty;
mod from;
mod kept;
