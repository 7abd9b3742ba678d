//! What calls show of what was done upstream, and what follows from it: whether one more call could do harm, and what the
//! agent is told.

mod book;
mod meaning;
mod request_books;
mod reruns;
mod told;
mod watch;

pub use book::{Against, CallShows, Evidence, MOST_IDENTICAL_CALLS, Moment, OneMore, RequestBook, acts_again};
pub use meaning::FailureMeaning;
pub use request_books::RequestBooks;
pub use reruns::Reruns;
pub(crate) use told::{AgainstOneMore, is_told, told_as_follower, told_by_events};
pub use watch::CallWatch;
