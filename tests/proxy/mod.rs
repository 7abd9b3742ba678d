//! `playproof proxy` as a client and a server see it: bytes, recordings, what is sent again, deaths.

mod deaths;
mod enforced;
mod life;
mod process;
mod recorded;
