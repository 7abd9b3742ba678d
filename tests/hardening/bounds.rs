//! Bounds: no input makes the program panic, hang, or need more memory than it says.
