//! What people install and what CI runs: the files around the program. Builds no package; `tools/release.sh` does, and
//! tries what it has built.

mod ci;
mod comment;
mod node;
mod python;
mod release;
