//! What people install and what CI runs: the files around the program. Builds no package.

mod ci;
mod comment;
