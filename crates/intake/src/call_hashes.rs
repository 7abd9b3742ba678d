//! The hashes that tell runs, calls and intents apart. They are taken before anything is redacted. Keeps no texts.
//! 0 means that there is nothing to hash: no name hashes to 0 in practice (one in 2^128).

use crate::hash;
use crate::{args_meaning, canonical};
use playproof_engine::playbook::{SameIf, ToolFacts};

/// The hashes of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallHashes {
    /// The run; calls without a run share the nameless run.
    pub run: u128,
    /// The call's id in its run; 0: it has none.
    pub id: u128,
    /// The tool.
    pub tool: u128,
    /// Run, tool and arguments by meaning: equal for calls that ask for the same. Tool facts may leave the run out.
    pub request: u128,
    /// The arguments by meaning, as far as they make the request; 0: it has none.
    pub args: u128,
    /// Tool and idempotency key; 0: the call has no key.
    pub key: u128,
    /// What the calls that one dispatcher handled have in common: the dispatcher, else the run.
    pub dispatcher: u128,
}

mod tag {
    pub const NO_RUN: u64 = 20;
    pub const RUN: u64 = 21;
    pub const ID: u64 = 22;
    pub const TOOL: u64 = 23;
    pub const KEY: u64 = 24;
    pub const DISPATCHER: u64 = 25;
}

/// The hash of a run's name.
pub fn run_hash(run: Option<&str>) -> u128 {
    run.map_or_else(|| hash::bytes(&[], tag::NO_RUN), |run| hash::bytes(run.as_bytes(), tag::RUN))
}

/// The hash of a call's id in the run that hashes to `run`.
pub fn id_hash(run: u128, id: &str) -> u128 {
    hash::bytes_after(run, id.as_bytes(), tag::ID)
}

/// The hash of a tool's name.
pub fn tool_hash(tool: &str) -> u128 {
    hash::bytes(tool.as_bytes(), tag::TOOL)
}

/// The hash of the arguments that make a request, and whether only some of them do.
pub fn args_hash(same_if: Option<&SameIf>, args: Option<&str>) -> (u128, bool) {
    match args.and_then(|args| same_if?.intent(args)) {
        Some(named) => (canonical::hash_of(&named), true),
        None => (args_meaning::of(args, None, None).0, false),
    }
}

impl CallHashes {
    /// The hashes of a call whose arguments hash to `args` (0: it has none).
    pub fn new(run: Option<&str>, id: Option<&str>, tool: &str, key: Option<&str>, args: u128) -> CallHashes {
        let (run, tool) = (run_hash(run), tool_hash(tool));
        CallHashes {
            run,
            id: id.map_or(0, |id| id_hash(run, id)),
            tool,
            request: hash::joined([run, tool, args]),
            args,
            key: key.map_or(0, |key| hash::bytes_after(tool, key.as_bytes(), tag::KEY)),
            dispatcher: run,
        }
    }

    /// The same, of a call whose request is made of arguments that hash to `args`, in its run or in any.
    #[must_use]
    pub fn with_request(self, args: u128, across_runs: bool) -> CallHashes {
        let run = if across_runs { 0 } else { self.run };
        CallHashes { args, request: hash::joined([run, self.tool, args]), ..self }
    }

    /// The same, of a call whose dispatcher is named.
    #[must_use]
    pub fn of_dispatcher(self, dispatcher: Option<&str>) -> CallHashes {
        match dispatcher {
            None => self,
            Some(name) => CallHashes { dispatcher: hash::bytes(name.as_bytes(), tag::DISPATCHER), ..self },
        }
    }

    /// The intent: tool and key of a keyed call, else run, tool and arguments.
    pub fn intent(&self) -> u128 {
        if self.key == 0 { self.request } else { self.key }
    }

    /// The key by which the upstream knows the request; 0: the call has none, or the tool facts say that it is ignored.
    pub const fn key_under(&self, facts: ToolFacts) -> u128 {
        if facts.ignores_keys { 0 } else { self.key }
    }

    /// The request with its run and key: equal for a call and its unchanged resend.
    pub fn resend(&self) -> u128 {
        hash::joined([self.run, self.request, self.key])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;

    fn hashes(run: Option<&str>, tool: &str, key: Option<&str>, args: &str) -> CallHashes {
        CallHashes::new(run, Some("c"), tool, key, canonical::hash_of(args))
    }

    #[test]
    fn an_unkeyed_intent_is_run_tool_and_arguments_by_meaning() {
        let one = hashes(Some("r"), "pay", None, r#"{"a":1,"b":2}"#);
        assert_eq!(one.intent(), hashes(Some("r"), "pay", None, r#"{"b":2.0,"a":1}"#).intent());
        assert_ne!(one.intent(), hashes(Some("s"), "pay", None, r#"{"a":1,"b":2}"#).intent());
        assert_ne!(one.intent(), hashes(None, "pay", None, r#"{"a":1,"b":2}"#).intent());
        assert_ne!(one.intent(), hashes(Some("r"), "say", None, r#"{"a":1,"b":2}"#).intent());
    }

    #[test]
    fn a_call_without_arguments_is_not_one_with_an_empty_map() {
        let none = CallHashes::new(Some("r"), Some("c"), "pay", None, 0);
        assert_ne!(none.intent(), hashes(Some("r"), "pay", None, "{}").intent());
        assert_eq!(none.intent(), CallHashes::new(Some("r"), Some("d"), "pay", None, 0).intent());
    }

    #[test]
    fn a_keyed_intent_is_tool_and_key_in_any_run() {
        let one = hashes(Some("r"), "pay", Some("k"), "{}");
        assert_eq!(one.intent(), hashes(Some("s"), "pay", Some("k"), "[]").intent());
        assert_ne!(one.intent(), hashes(Some("r"), "pay", Some("l"), "{}").intent());
        assert_ne!(one.resend(), hashes(Some("s"), "pay", Some("k"), "{}").resend());
    }
}
