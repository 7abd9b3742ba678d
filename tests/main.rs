//! Every integration test in one binary: one folder or file a subject. `cargo test --test all SUBJECT` runs one.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests look at the disk, start the program, and fail at the place of what is wrong"
)]

mod adequacy;
mod check;
mod cli;
mod corpus;
mod crashes;
mod driven;
mod false_sentences;
mod foreign;
mod frozen;
mod gallery;
#[path = "../benches/generate.rs"]
#[expect(clippy::cast_possible_truncation, reason = "small numbers are drawn")]
mod generate;
mod goldens;
mod hardening;
mod html;
mod init;
mod intake;
mod nets;
mod obeyed;
mod packages;
mod place;
mod propose;
mod proxy;
mod random_recordings;
mod readme;
mod recordings;
mod releases;
mod reported;
mod requests;
mod seeds;
mod serve;
mod shipped_playbooks;
mod storms;
mod storms_of_servers;
mod tidy;
mod transactions;
mod usual_calls;
mod wrong_values;
