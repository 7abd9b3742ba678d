//! Walks chat messages with tool calls, as OpenAI shapes them and as tau-bench and tau2-bench vary the shape.
//! Says what a call and a result are; `run` pairs them.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::run::{Answer, Call, Run, Sink};
use crate::arguments::Arguments;
use crate::foreign::Oddity;
use crate::iso;
use crate::json;
use crate::json::Fields;
use crate::origin::Stands;

/// Reads a failure out of a result's content where no flag says whether it is one.
pub(super) type ReadFailure = for<'c> fn(content: &'c str, tool: Option<&str>) -> Option<&'c str>;

/// What a result that begins with `Error:` says after it. The prefix must stand at the very start (behind white
/// space) and to the letter: `error`, `Error in` or an error object inside an answer may be an answer's subject.
pub(super) fn after_error_prefix<'c>(content: &'c str, _tool: Option<&str>) -> Option<&'c str> {
    content.trim_start().strip_prefix("Error:").map(|rest| if rest.trim().is_empty() { content } else { rest }.trim())
}

/// Writes the runs of one conversation: the agent's, and the simulated user's where that calls tools too.
pub(super) fn walk(run: &str, messages: &[&RawValue], place: &str, read_failure: ReadFailure, sink: &mut Sink) {
    let mut walk = Walk { agent: Run::new(run), user: None, name: run, read_failure, sink };
    for (n, raw) in messages.iter().enumerate() {
        let place = format!("{place}[{n}]");
        match json::object(raw) {
            Some(message) => walk.message(&message, walk.sink.finder.find(raw), &place),
            None => walk.sink.loss.saw(Oddity::NotReadable, &place),
        }
    }
    if messages.is_empty() {
        walk.sink.loss.saw(Oddity::EmptyRun, place);
    }
    walk.agent.end(walk.sink);
    if let Some(user) = walk.user {
        user.end(walk.sink);
    }
}

struct Walk<'w> {
    agent: Run,
    user: Option<Run>,
    name: &'w str,
    read_failure: ReadFailure,
    sink: &'w mut Sink,
}

impl Walk<'_> {
    fn message(&mut self, message: &Fields<'_>, stands: Stands, place: &str) {
        match message.text("role").as_deref() {
            Some("system" | "developer") => {}
            Some(role @ ("assistant" | "user")) => self.calls(message, role, place),
            Some("tool" | "function") => self.results(message, stands, place),
            _ => self.sink.loss.saw(Oddity::UnknownRole, place),
        }
    }

    fn calls(&mut self, message: &Fields<'_>, role: &str, place: &str) {
        let at = self.time(message, place);
        for (n, raw) in message.get("tool_calls").and_then(json::array).unwrap_or_default().into_iter().enumerate() {
            let place = format!("{place}.tool_calls[{n}]");
            match json::object(raw) {
                Some(call) => self.call((&call, raw), role, at.as_deref(), &place),
                None => self.sink.loss.saw(Oddity::NotReadable, &place),
            }
        }
        // The older shape: one call a message, without an id.
        let older = message.get("function_call");
        if let Some((call, raw)) = older.and_then(|raw| Some((json::object(raw)?, raw))) {
            self.call((&call, raw), role, at.as_deref(), &format!("{place}.function_call"));
        }
    }

    fn call(&mut self, (call, raw): (&Fields<'_>, &RawValue), role: &str, at: Option<&str>, place: &str) {
        let function = call.get("function").and_then(json::object).unwrap_or_default();
        let Some(tool) = function.text("name").or_else(|| call.text("name")).filter(|name| !name.is_empty()) else {
            self.sink.loss.saw(Oddity::CallWithoutTool, place);
            return;
        };
        let by_user = call.text("requestor").map_or(role == "user", |requestor| requestor == "user");
        if by_user {
            self.sink.loss.saw(Oddity::UserSideCall, place);
        }
        let args = function.get("arguments").or_else(|| call.get("arguments")).map(Arguments::of);
        if matches!(args, Some(Arguments::Text(_))) {
            self.sink.loss.saw(Oddity::ArgumentsNotJson, place);
        }
        let args = args.as_ref().and_then(Arguments::as_json);
        let id = call.text("id");
        let run = match by_user {
            true => self.user.get_or_insert_with(|| Run::new(&format!("{}.user", self.name))),
            false => &mut self.agent,
        };
        let stands = self.sink.finder.find(raw);
        run.call(&Call { id: id.as_deref(), tool: &tool, args, at, place, stands }, self.sink);
    }

    /// One result, or several that one message holds.
    fn results(&mut self, message: &Fields<'_>, stands: Stands, place: &str) {
        let Some(parts) = message.get("tool_messages").and_then(json::array) else {
            return self.result(message, stands, place);
        };
        for (n, raw) in parts.into_iter().enumerate() {
            let place = format!("{place}.tool_messages[{n}]");
            match json::object(raw) {
                Some(part) => self.result(&part, self.sink.finder.find(raw), &place),
                None => self.sink.loss.saw(Oddity::NotReadable, &place),
            }
        }
    }

    fn result(&mut self, message: &Fields<'_>, stands: Stands, place: &str) {
        let at = self.time(message, place);
        let id = message.text("tool_call_id").or_else(|| message.text("id"));
        let named = message.text("name");
        let run = match message.text("requestor").as_deref() {
            Some("user") => self.user.get_or_insert_with(|| Run::new(&format!("{}.user", self.name))),
            _ => &mut self.agent,
        };
        let waiting = id.as_deref().and_then(|id| run.tool_waiting_for(id));
        let content = content(message);
        let flagged = flag(message);
        let failed = match flagged {
            Some(false) => None,
            Some(true) => Some(after_error_prefix(&content, None).unwrap_or(&content)),
            None => (self.read_failure)(&content, named.as_deref().or(waiting)),
        };
        let (id, tool, at) = (id.as_deref(), named.as_deref(), at.as_deref());
        run.answer(&Answer { id, tool, failed, flagged: flagged.is_some(), at, place, stands }, self.sink);
    }

    /// When a message was written, where it says so in a way that our format can carry.
    fn time<'a>(&mut self, message: &Fields<'a>, place: &str) -> Option<Cow<'a, str>> {
        let raw = message.get("timestamp")?;
        let time = json::string(raw).filter(|text| iso::parse_micros(text).is_some());
        if time.is_none() {
            self.sink.loss.saw(Oddity::UnreadableTime, place);
        }
        time
    }
}

/// Whether a flag says that a result is a failure; none where there is no flag.
fn flag(message: &Fields<'_>) -> Option<bool> {
    message.get("error").or_else(|| message.get("is_error")).and_then(|flag| match flag.get() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    })
}

/// The content as text: a string as it is, text parts joined, anything else as JSON.
fn content<'a>(message: &Fields<'a>) -> Cow<'a, str> {
    let Some(raw) = message.get("content") else {
        return Cow::Borrowed("");
    };
    let part = |raw| json::object(raw).and_then(|part| part.text("text"));
    let parts = || json::array(raw)?.into_iter().map(part).collect::<Option<Vec<_>>>();
    json::scalar(raw)
        .or_else(|| parts().map(|parts| Cow::Owned(parts.join("\n"))))
        .unwrap_or_else(|| Cow::Borrowed(raw.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_prefix_makes_a_content_a_failure() {
        let failure = |content| after_error_prefix(content, None);
        assert_eq!(failure("Error: no seats"), Some("no seats"));
        assert_eq!(failure(" \nError:no seats\nat all "), Some("no seats\nat all"));
        assert_eq!(failure("Error:"), Some("Error:"));
        for answer in ["error: x", "Error x", "Errors: x", "The Error: x", "{\"Error\": 1}", ""] {
            assert_eq!(failure(answer), None, "{answer}");
        }
    }
}
