//! Consistency: every command gives the same answer about the same file, from any folder.
