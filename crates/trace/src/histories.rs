//! Conversations that begin with all messages of an earlier one: a log of requests repeats the history in each line. Keeps a
//! bounded number of hashes, and no text.

use std::collections::{BTreeSet, VecDeque};

use serde_json::value::RawValue;

use crate::hash;

/// The most conversations that are remembered.
const MAX_CONVERSATIONS: usize = 10_000;
/// What a message with a call has in the formats that are read.
const MARKS: [&str; 5] = ["\"tool_calls\"", "\"function_call\"", "\"tool_use\"", "\"toolUse\"", "\"functionCall\""];

/// The conversations with calls so far.
#[derive(Debug, Default)]
pub(crate) struct Histories {
    known: BTreeSet<u64>,
    oldest_first: VecDeque<u64>,
}

impl Histories {
    /// Takes the next conversation; says whether it begins with an earlier one in which a call is, and goes on.
    pub(crate) fn goes_on(&mut self, messages: &[&RawValue]) -> bool {
        let (mut whole, mut goes_on, mut has_call) = (0, false, false);
        for message in messages.iter().map(|message| message.get()) {
            goes_on |= self.known.contains(&whole);
            has_call = has_call || MARKS.iter().any(|mark| message.contains(mark));
            whole = hash::half(hash::bytes(message.as_bytes(), whole));
        }
        if has_call && self.known.insert(whole) {
            self.oldest_first.push_back(whole);
            if self.oldest_first.len() > MAX_CONVERSATIONS
                && let Some(oldest) = self.oldest_first.pop_front()
            {
                self.known.remove(&oldest);
            }
        }
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_goes_on_if_it_begins_with_all_of_one_that_has_a_call() {
        let mut histories = Histories::default();
        let mut goes_on = |messages: &str| {
            let messages: Vec<&RawValue> = serde_json::from_str(messages).expect("a list");
            histories.goes_on(&messages)
        };
        let call = r#"{"tool_calls":[{"id":"a"}]}"#;
        assert!(!goes_on(r#"["hello"]"#));
        assert!(!goes_on(&format!(r#"["hello",{call}]"#)), "what goes on has no call");
        assert!(!goes_on(&format!(r#"["hello",{call}]"#)), "a copy does not go on");
        assert!(goes_on(&format!(r#"["hello",{call},"paid"]"#)));
        assert!(goes_on(&format!(r#"["hello",{call},"paid","thanks"]"#)));
        assert!(!goes_on(&format!(r#"["hello",{},"paid"]"#, call.replace("\"a\"", "\"b\""))), "another id");
    }
}
