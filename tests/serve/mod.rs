//! `playproof serve` as its drivers see it: what it serves, its journal's file, and deaths.

mod conform;
mod deaths;
mod journal;
mod process;
mod served;
mod trace;
