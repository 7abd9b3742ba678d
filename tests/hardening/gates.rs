//! Gates: no command succeeds where nothing was checked.
