//! Conversations that begin with all messages of an earlier one and go on: each line of a log of requests repeats the history
//! of its conversation. Keeps a bounded number of hashes, and what its user knows of each conversation, but no text.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::LazyLock;

use memchr::memmem::Finder;
use regex::Regex;

use crate::hash;
use crate::json;
use crate::raw_value::RawValue;
use crate::repeated_calls::is_random;

/// The most conversations that are remembered.
const MAX_CONVERSATIONS: usize = 10_000;

/// The conversations with calls so far, each with what its user knows of it.
#[derive(Debug)]
pub(crate) struct Histories<C> {
    /// By the hash of all messages; none where a later conversation has gone on.
    known: BTreeMap<u64, Option<C>>,
    oldest_first: VecDeque<u64>,
}

/// What tells of a conversation whether it begins with an earlier one: hashes, and no text.
#[derive(Debug)]
pub(crate) struct Beginnings {
    /// Of the first messages, with a call among them: how many, and their hash. All messages are not among them.
    first: Vec<(usize, u64)>,
    /// The hash of all messages, if one of them has a call.
    pub(crate) whole: Option<u64>,
}

/// How a conversation begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum History<C> {
    /// With messages of its own.
    New,
    /// With all messages of an earlier one: how many, and what is known of it.
    GoesOn(usize, C),
    /// With all messages of an earlier one, from which another has already gone on.
    Branches,
    /// With all messages of an earlier one, and nothing else.
    Repeats,
}

impl<C> Default for Histories<C> {
    fn default() -> Histories<C> {
        Histories { known: BTreeMap::new(), oldest_first: VecDeque::new() }
    }
}

impl Beginnings {
    /// Those of a conversation called `name`. `is_call` tells the messages with a call, by number.
    pub(crate) fn of(name: &str, messages: &[RawValue<'_>], is_call: impl Fn(usize) -> bool) -> Beginnings {
        let (mut whole, mut has_call, mut first) = (hash::seed(name.as_bytes()), false, Vec::new());
        let first_call = (0..messages.len()).find(|n| is_call(*n)).and_then(|n| messages.get(n));
        let instructions = match first_call.is_some_and(|message| has_own_id(message.get())) {
            true => messages.iter().take_while(|message| is_instruction(**message)).count(),
            false => 0,
        };
        for (count, message) in messages.iter().enumerate().skip(instructions) {
            if has_call {
                first.push((count, whole));
            }
            has_call = has_call || is_call(count);
            whole = hash::half(hash::bytes(without_cache_marks(message.get()).as_bytes(), whole));
        }
        Beginnings { first, whole: has_call.then_some(whole) }
    }

    /// The most messages of which `is_known` knows the hash; 0: of none.
    pub(crate) fn longest(&self, is_known: impl Fn(&u64) -> bool) -> usize {
        let first = self.first.iter().rev().find(|(_, hash)| is_known(hash));
        first.map_or(0, |(count, _)| *count)
    }
}

impl<C> Histories<C> {
    /// Compares the next conversation with those before it.
    pub(crate) fn compare(&mut self, next: &Beginnings) -> History<C> {
        let is_copy = next.whole.is_some_and(|whole| self.known.contains_key(&whole));
        let earlier = next.first.iter().rev().find(|(_, hash)| self.known.contains_key(hash)).filter(|_| !is_copy);
        let earlier = earlier.map(|(count, hash)| (*count, self.known.get_mut(hash).and_then(Option::take)));
        match earlier {
            None if is_copy => History::Repeats,
            None => History::New,
            Some((count, Some(earlier))) => History::GoesOn(count, earlier),
            Some((_, None)) => History::Branches,
        }
    }

    /// Remembers a conversation that was compared, which may go on. Gives back one that is remembered no longer, or this one.
    pub(crate) fn remember(&mut self, whole: Option<u64>, conversation: C) -> Option<C> {
        let Some(whole) = whole.filter(|whole| !self.known.contains_key(whole)) else { return Some(conversation) };
        self.known.insert(whole, Some(conversation));
        self.oldest_first.push_back(whole);
        if self.known.len() <= MAX_CONVERSATIONS {
            return None;
        }
        self.known.remove(&self.oldest_first.pop_front()?).flatten()
    }

    /// All conversations that did not go on, in their order.
    pub(crate) fn into_all(mut self) -> impl Iterator<Item = C> {
        self.oldest_first.into_iter().filter_map(move |whole| self.known.remove(&whole).flatten())
    }
}

/// Whether a message at the beginning only instructs the model: programs write the time of the request into it.
fn is_instruction(message: RawValue<'_>) -> bool {
    let role = json::object(message).and_then(|fields| fields.text("role"));
    role.is_some_and(|role| ["system", "developer"].contains(&&*role))
}

/// Whether a call has an id that no other call has by chance. Where calls are counted, as in tests of instructions, two
/// conversations may begin alike.
fn has_own_id(message: &str) -> bool {
    let ids = message.split("id\"").skip(1).filter_map(|rest| rest.trim_start().strip_prefix(':'));
    let mut values = ids.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
    values.any(is_random)
}

/// A message without its `cache_control`: a client moves that mark, `{"type": "ephemeral"}`, to the last message of each
/// request.
fn without_cache_marks(message: &str) -> Cow<'_, str> {
    static MARK: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?:,\s*)?"cache_control"\s*:\s*\{\s*"type"\s*:\s*"ephemeral"[^{}]*\}"#).ok());
    static NAME: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\"cache_control\""));
    match MARK.as_ref().filter(|_| NAME.find(message.as_bytes()).is_some()) {
        Some(mark) => mark.replace_all(message, ""),
        None => Cow::Borrowed(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares a conversation and remembers it by the number of its messages.
    fn begins(histories: &mut Histories<usize>, name: &str, messages: &str) -> History<usize> {
        let messages: Vec<RawValue<'_>> = serde_json::from_str(messages).expect("a list");
        let is_call = |n: usize| messages[n].get().contains("tool_calls");
        let next = Beginnings::of(name, &messages, is_call);
        let history = histories.compare(&next);
        histories.remember(next.whole, messages.len());
        history
    }

    #[test]
    fn a_conversation_goes_on_if_it_begins_with_all_of_one_that_has_a_call() {
        let (mut histories, call) = (Histories::default(), r#"{"tool_calls":[{"id":"a"}]}"#);
        let mut begins = |messages: &str| begins(&mut histories, "", messages);
        assert_eq!(begins(r#"["hello"]"#), History::New);
        assert_eq!(begins(&format!(r#"["hello",{call}]"#)), History::New, "what goes on has no call");
        assert_eq!(begins(&format!(r#"["hello",{call}]"#)), History::Repeats, "nothing is new");
        assert_eq!(begins(&format!(r#"["hello",{call},"paid"]"#)), History::GoesOn(2, 2));
        assert_eq!(begins(&format!(r#"["hello",{call},"paid","thanks"]"#)), History::GoesOn(3, 3));
        assert_eq!(begins(&format!(r#"["hello",{call},"refused"]"#)), History::Branches);
        assert_eq!(
            begins(&format!(r#"["hello",{},"paid"]"#, call.replace("\"a\"", "\"b\""))),
            History::New,
            "another id"
        );
        assert_eq!(histories.into_all().collect::<Vec<_>>(), [4, 3, 3], "in their order");
    }

    #[test]
    fn a_conversation_goes_on_though_its_instructions_and_its_cache_marks_change() {
        let mut histories = Histories::default();
        let mut begins = |id: &str, time: &str, rest: &str| {
            let call = format!(r#"{{"role":"assistant","tool_calls":[{{"id":"{id}"}}]}}"#);
            begins(&mut histories, "", &format!(r#"[{{"role":"system","content":"it is {time}"}},{call}{rest}]"#))
        };
        let id = "call_8Yd2kQx0Zp41";
        assert_eq!(begins(id, "9:15", ""), History::New);
        let marked = r#",{"role":"tool","content":[{"type":"text", "cache_control": {"type":"ephemeral"}}]}"#;
        assert_eq!(begins(id, "9:16", marked), History::GoesOn(2, 2));
        let plain = r#",{"role":"tool","content":[{"type":"text"}]},{"role":"system","content":"go on"}"#;
        assert_eq!(begins(id, "9:17", plain), History::GoesOn(3, 3));
        let other = plain.replace("go on", "stop");
        assert_eq!(
            begins(id, "9:18", &other),
            History::Branches,
            "instructions inside a conversation are a part of it"
        );
        assert_eq!(begins("call_1", "9:15", ""), History::New);
        assert_eq!(begins("call_1", "9:16", marked), History::New, "another conversation may have this id");
    }

    #[test]
    fn only_the_mark_of_a_cache_is_left_out() {
        for (message, rest) in [
            (
                r#"{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}"#,
                r#"{"type":"text","text":"a"}"#,
            ),
            (r#"{"cache_control":null,"text":"a"}"#, r#"{"cache_control":null,"text":"a"}"#),
            (
                r#"{"input":{"cache_control":"no-cache","url":"a"}}"#,
                r#"{"input":{"cache_control":"no-cache","url":"a"}}"#,
            ),
        ] {
            assert_eq!(without_cache_marks(message), rest);
        }
    }

    #[test]
    fn conversations_of_two_names_do_not_go_on_from_each_other() {
        let (mut histories, call) = (Histories::default(), r#"{"tool_calls":[{"id":"a"}]}"#);
        assert_eq!(begins(&mut histories, "x", &format!("[{call}]")), History::New);
        assert_eq!(begins(&mut histories, "y", &format!(r#"[{call},"paid"]"#)), History::New);
        assert_eq!(begins(&mut histories, "x", &format!(r#"[{call},"paid"]"#)), History::GoesOn(1, 1));
    }

    #[test]
    fn the_oldest_conversation_is_forgotten() {
        let mut histories = Histories::default();
        let call = |id: usize| format!(r#"[{{"tool_calls":[{{"id":"{id}"}}]}}]"#);
        for id in 0..=MAX_CONVERSATIONS {
            assert_eq!(begins(&mut histories, "", &call(id)), History::New);
        }
        assert_eq!((histories.known.len(), histories.oldest_first.len()), (MAX_CONVERSATIONS, MAX_CONVERSATIONS));
        let goes_on = |id: usize| call(id).replace("}]}]", "}]},\"paid\"]");
        assert_eq!(begins(&mut histories, "", &goes_on(0)), History::New);
        assert_eq!(begins(&mut histories, "", &goes_on(2)), History::GoesOn(1, 1));
    }
}
