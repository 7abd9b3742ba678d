//! Every integration test in one binary: one folder or file a subject. `cargo test --test all SUBJECT` runs one.

mod adequacy;
mod check;
mod cli;
mod corpus;
mod foreign;
mod frozen;
mod goldens;
mod hardening;
mod init;
mod place;
mod propose;
mod readme;
mod shipped_playbooks;
mod tidy;
