//! One file a command: its arguments, and what it does.

<<<<<<< HEAD
pub mod coverage;
=======
pub mod accept;
pub mod approve;
pub mod check;
pub mod diff;
>>>>>>> main
pub mod explain;
pub mod help;
pub mod import;
pub mod lint;
<<<<<<< HEAD
pub mod mutate;
=======
pub mod reject;
>>>>>>> main
pub mod replay;
pub mod schema;
pub mod tools;
