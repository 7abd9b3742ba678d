//! The binary. Holds nothing: everything is in the library.

fn main() {}
