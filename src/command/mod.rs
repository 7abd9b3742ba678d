//! One file a command: its arguments, and what it does.

pub mod accept;
pub mod audit;
pub mod check;
pub mod completions;
pub mod confirm;
pub mod conform;
pub mod coverage;
pub mod demo;
pub mod explain;
pub mod formats;
pub mod graph;
pub mod graph_args;
pub mod help;
pub mod history;
pub mod impact;
pub mod init;
pub mod lint;
pub mod merge;
pub mod propose;
pub mod proxy;
pub mod reject;
pub mod replay;
pub mod review;
pub mod schema;
pub mod serve;
pub mod verify;
