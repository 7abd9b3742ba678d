//! What tells runs, calls and intents apart, as hashes taken before anything is redacted. Keeps no texts.
//! No name hashes to 0 in practice (one in 2^128), so that 0 can say that there is none.

use crate::hash;

/// The hashes of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// The run; calls without one share the nameless run.
    pub run: u128,
    /// The label in the run; 0: the call has none.
    pub id: u128,
    /// The tool.
    pub tool: u128,
    /// Run, tool and arguments by meaning: the same for a call that is made again unchanged.
    pub same: u128,
    /// Tool and idempotency key; 0: the call has none.
    pub keyed: u128,
}

mod tag {
    pub const NO_RUN: u64 = 20;
    pub const RUN: u64 = 21;
    pub const ID: u64 = 22;
    pub const TOOL: u64 = 23;
    pub const KEY: u64 = 24;
}

/// The hash of a run's name.
pub fn of_run(run: Option<&str>) -> u128 {
    run.map_or_else(|| hash::bytes(&[], tag::NO_RUN), |run| hash::bytes(run.as_bytes(), tag::RUN))
}

/// The hash of a call's label in the run that hashes to `run`.
pub fn of_id(run: u128, id: &str) -> u128 {
    hash::bytes_after(run, id.as_bytes(), tag::ID)
}

/// The hash of a tool's name.
pub fn of_tool(tool: &str) -> u128 {
    hash::bytes(tool.as_bytes(), tag::TOOL)
}

impl Marks {
    /// The marks of a call whose arguments hash to `args` (0 where it has none).
    pub fn new(run: Option<&str>, id: Option<&str>, tool: &str, key: Option<&str>, args: u128) -> Marks {
        let (run, tool) = (of_run(run), of_tool(tool));
        Marks {
            run,
            id: id.map_or(0, |id| of_id(run, id)),
            tool,
            same: hash::pair(hash::pair(run, tool), args),
            keyed: key.map_or(0, |key| hash::bytes_after(tool, key.as_bytes(), tag::KEY)),
        }
    }

    /// What the call wants done once: tool and key if keyed, else run, tool and arguments.
    pub fn intent(&self) -> u128 {
        if self.keyed == 0 { self.same } else { self.keyed }
    }

    /// The same for a call that is made again unchanged, its key included.
    pub fn resend(&self) -> u128 {
        hash::pair(self.same, self.keyed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;

    fn marks(run: Option<&str>, tool: &str, key: Option<&str>, args: &str) -> Marks {
        Marks::new(run, Some("c"), tool, key, canonical::hash_of(args))
    }

    #[test]
    fn an_unkeyed_intent_is_run_tool_and_arguments_by_meaning() {
        let one = marks(Some("r"), "pay", None, r#"{"a":1,"b":2}"#);
        assert_eq!(one.intent(), marks(Some("r"), "pay", None, r#"{"b":2.0,"a":1}"#).intent());
        assert_ne!(one.intent(), marks(Some("s"), "pay", None, r#"{"a":1,"b":2}"#).intent());
        assert_ne!(one.intent(), marks(None, "pay", None, r#"{"a":1,"b":2}"#).intent());
        assert_ne!(one.intent(), marks(Some("r"), "say", None, r#"{"a":1,"b":2}"#).intent());
    }

    #[test]
    fn a_keyed_intent_is_tool_and_key_in_any_run() {
        let one = marks(Some("r"), "pay", Some("k"), "{}");
        assert_eq!(one.intent(), marks(Some("s"), "pay", Some("k"), "[]").intent());
        assert_ne!(one.intent(), marks(Some("r"), "pay", Some("l"), "{}").intent());
        assert_ne!(one.resend(), marks(Some("s"), "pay", Some("k"), "{}").resend());
    }
}
