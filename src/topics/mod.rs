//! The topics of `playproof help WORD`. Their texts are the files of `help/`.

mod catalogue;
mod keys;
mod kinds;
mod texts;

pub use catalogue::all;
pub use keys::keys_of_files;
pub use texts::Topic;
