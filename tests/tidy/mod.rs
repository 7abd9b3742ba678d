//! Reads the project's own sources and holds them to the rules of CONTRIBUTING.md. Compiles and runs none of them.
//!
//! Every rule is a function from a tree of texts to a list of violations, so that each has two kinds of test:
//! this package has no violation, and a small bad tree has one.

mod ceilings;
mod decoders;
mod documents;
mod goldens;
mod imports;
mod layout;
mod leftovers;
mod lints;
mod manifest;
mod scan;
mod sinks;
mod tree;
