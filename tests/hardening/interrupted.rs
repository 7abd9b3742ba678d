//! Interruption: a command that was killed anywhere leaves a project that the next command completes.
