//! The deciding part: classifier, dispatcher, simulated upstream, and the one loop that connects them. No I/O, clock,
//! randomness or environment: the same input gives the same decisions.

pub mod call;
pub mod classify;
pub mod clock;
pub mod decimal;
pub mod dispatch;
pub mod drive;
pub mod event;
pub mod evidence;
pub mod fixture;
pub mod glob;
pub mod ids;
pub mod plan;
pub mod playbook;
pub mod sim;
pub mod time;
pub mod upstream;
