//! Reads the calls and results in chat messages, in the shape of OpenAI and its variants in tau-bench and tau2-bench. `run`
//! pairs them.

use std::borrow::Cow;

use memchr::memmem;

use super::run::{ImportOutput, SourceCall, SourceResult, Speakers};
use crate::failure::{Assessment, ToolResult, names_no_error};
use crate::histories::{Compared, History};
use crate::imported::ImportWarning;
use crate::iso;
use crate::json;
use crate::json::{Fields, SourceArgs};
use crate::raw_value::RawValue;
use crate::wire;

/// What a message with the result of a tool has as its `status` if the tool failed: LangChain writes `error`.
const FAILED_STATUS: [&str; 3] = ["error", "failed", "failure"];

/// Writes the runs of one conversation: the agent's, and the simulated user's if that calls tools too. Without a name it is
/// unknown which messages belong to one run.
pub(super) fn walk(run: Option<&str>, messages: &[RawValue<'_>], place: &str, output: &mut ImportOutput) {
    let mut speakers = Speakers::begin(run, output);
    speakers.messages(messages, 0, place, output);
    speakers.end(output);
}

/// The same of a conversation that may go on from an earlier one of the same `thread`: its new messages then belong to the
/// runs of that one.
pub(super) fn walk_on(thread: &str, run: &str, messages: &[RawValue<'_>], place: &str, output: &mut ImportOutput) {
    let is_call = |n: usize| messages.get(n).is_some_and(|message| has_call(message.get()));
    let Compared { history, whole } = output.histories.compare(thread, messages, is_call);
    output.loss.warn_of_history(&history, place);
    let (mut speakers, known) = match history {
        History::GoesOn(known, speakers) => (speakers, known),
        History::New | History::Branches | History::Repeats => (Speakers::begin(Some(run), output), 0),
    };
    speakers.messages(messages, known, place, output);
    if !speakers.is_waiting() {
        speakers.end(output); // it may go on nevertheless, and ends once more then
    }
    speakers.shrink(); // thousands are remembered
    let forgotten = output.histories.remember(whole, speakers);
    forgotten.into_iter().for_each(|speakers| speakers.end_if_waiting(output));
}

/// Whether a message makes calls, as far as its text tells.
fn has_call(message: &str) -> bool {
    ["\"tool_calls\"", "\"function_call\""]
        .iter()
        .any(|name| memmem::find(message.as_bytes(), name.as_bytes()).is_some())
}

/// Ends the conversations that waited for a later one to go on from them.
pub(super) fn end_all(output: &mut ImportOutput) {
    let waiting = std::mem::take(&mut output.histories);
    waiting.into_all().for_each(|speakers| speakers.end_if_waiting(output));
}

impl Speakers {
    /// The messages behind the first `known` ones.
    fn messages(&mut self, messages: &[RawValue<'_>], known: usize, place: &str, output: &mut ImportOutput) {
        if messages.is_empty() {
            output.loss.warn(ImportWarning::EmptyRun, place);
        }
        for (n, raw) in messages.iter().enumerate().skip(known) {
            self.message(*raw, &format!("{place}[{n}]"), output);
        }
    }

    /// The next message.
    fn message(&mut self, raw: RawValue<'_>, place: &str, output: &mut ImportOutput) {
        match json::object(raw) {
            Some(message) => self.fields((&message, raw), place, output),
            None => output.loss.warn(ImportWarning::NotReadable, place),
        }
    }

    /// The next message, whose fields are known.
    pub(super) fn fields(&mut self, message: (&Fields<'_>, RawValue<'_>), place: &str, output: &mut ImportOutput) {
        Walk { speakers: self, output }.message(message, place);
    }
}

struct Walk<'w> {
    speakers: &'w mut Speakers,
    output: &'w mut ImportOutput,
}

impl Walk<'_> {
    fn message(&mut self, (message, raw): (&Fields<'_>, RawValue<'_>), place: &str) {
        match message.text("role").as_deref() {
            Some("system" | "developer") => {}
            Some(role @ ("assistant" | "user")) => self.calls(message, role, place),
            Some("tool" | "function") => self.results((message, raw), place),
            _ => self.output.loss.warn(ImportWarning::UnknownRole, place),
        }
    }

    fn calls(&mut self, message: &Fields<'_>, role: &str, place: &str) {
        let at = self.time(message, place);
        let calls = message.get("tool_calls").filter(|calls| calls.get() != "null");
        let listed = calls.and_then(json::array);
        if calls.is_some() && listed.is_none() {
            self.output.loss.warn(ImportWarning::NotReadable, &format!("{place}.tool_calls"));
        }
        for (n, raw) in listed.unwrap_or_default().into_iter().enumerate() {
            let place = format!("{place}.tool_calls[{n}]");
            match json::object(raw) {
                Some(call) => self.call((&call, raw), role, at.as_deref(), &place),
                None => self.output.loss.warn(ImportWarning::NotReadable, &place),
            }
        }
        // The older shape has one call a message, without an id.
        let older = message.get("function_call");
        if let Some((call, raw)) = older.and_then(|raw| Some((json::object(raw)?, raw))) {
            self.call((&call, raw), role, at.as_deref(), &format!("{place}.function_call"));
        }
    }

    fn call(&mut self, (call, raw): (&Fields<'_>, RawValue<'_>), role: &str, at: Option<&str>, place: &str) {
        let custom = call.get("custom").and_then(json::object);
        let function = call.get("function").and_then(json::object).or(custom.clone()).unwrap_or_default();
        let Some(tool) = function.text("name").or_else(|| call.text("name")).filter(|name| !name.is_empty()) else {
            self.output.loss.warn(ImportWarning::CallWithoutTool, place);
            return;
        };
        let own = self.output.overrides.as_ref();
        let renamed = own.and_then(|own| own.corrected_tool(raw, &tool, &mut self.output.loss.changed));
        let by_user = call.text("requestor").map_or(role == "user", |requestor| requestor == "user");
        if by_user {
            self.output.loss.warn(ImportWarning::UserSideCall, place);
        }
        let args = function.get("arguments").or_else(|| call.get("arguments")).map(SourceArgs::of);
        let args = args.or_else(|| custom?.get("input").map(|input| SourceArgs::Json(Cow::Borrowed(input.get()))));
        if matches!(args, Some(SourceArgs::Text(_))) {
            self.output.loss.warn(ImportWarning::ArgumentsNotJson, place);
        }
        let args = args.as_ref().and_then(SourceArgs::as_json);
        let id = call.text("id");
        let run = self.speakers.run(by_user, &mut self.output.loss.runs);
        let span = self.output.finder.find(raw.get());
        run.call(
            &SourceCall { id: id.as_deref(), tool: &tool, renamed: renamed.as_deref(), args, at, place, span },
            self.output,
        );
    }

    /// The results of one message.
    fn results(&mut self, (message, raw): (&Fields<'_>, RawValue<'_>), place: &str) {
        let Some(parts) = message.get("tool_messages").and_then(json::array) else {
            return self.result((message, raw), place);
        };
        for (n, raw) in parts.into_iter().enumerate() {
            let place = format!("{place}.tool_messages[{n}]");
            match json::object(raw) {
                Some(part) => self.result((&part, raw), &place),
                None => self.output.loss.warn(ImportWarning::NotReadable, &place),
            }
        }
    }

    fn result(&mut self, (message, raw): (&Fields<'_>, RawValue<'_>), place: &str) {
        let span = self.output.finder.find(raw.get());
        let at = self.time(message, place);
        let id = message.text("tool_call_id").or_else(|| message.text("id"));
        let named = message.text("name");
        let by_user = message.text("requestor").as_deref() == Some("user");
        let run = self.speakers.run(by_user, &mut self.output.loss.runs);
        let waiting = id.as_deref().and_then(|id| run.tool_waiting_for(id));
        let content = message.get("content").map_or(Cow::Borrowed(""), json::content_text);
        let flag = Flag::of(message);
        if flag.is_unknown && self.output.overrides.is_none() {
            self.output.loss.warn(ImportWarning::UnknownFlag, place);
        }
        let result = ToolResult {
            flag: flag.failed,
            denies_words: message.get("error").is_some_and(|error| error.get() == "false"), // tau2-bench, whose tools raise each failure
            message: flag.error.as_deref(),
            body: Some(&content),
            tool: named.as_deref().or(waiting),
            at: at.as_deref().and_then(|at| u64::try_from(iso::parse_micros(at)?).ok()),
            ..ToolResult::default()
        };
        let assessment = assessment(raw, result, self.output);
        let (id, tool, at) = (id.as_deref(), named.as_deref(), at.as_deref());
        let (text, flagged) = (&*content, flag.failed.is_some());
        let row = wire::hash_of_line(raw.get());
        run.result(&SourceResult { id, tool, assessment, text, row, flagged, at, place, span }, self.output);
    }

    /// The time of a message, if our format can hold it.
    fn time<'a>(&mut self, message: &Fields<'a>, place: &str) -> Option<Cow<'a, str>> {
        let raw = message.get("timestamp")?;
        let time = json::string(raw).filter(|text| iso::parse_micros(text).is_some());
        if time.is_none() {
            self.output.loss.warn(ImportWarning::UnreadableTime, place);
        }
        time
    }
}

/// Whether a result failed, with what the user's mapping says.
fn assessment(raw: RawValue<'_>, result: ToolResult<'_>, output: &mut ImportOutput) -> Assessment {
    let Some(own) = &output.overrides else { return output.failures.assess(&result) };
    let result = ToolResult { words: own.own_words(), ..result };
    own.corrected_content(raw, &result, output.failures.assess(&result), &mut output.loss.changed)
}

/// What a message says of the failure of its tool.
struct Flag<'a> {
    /// Whether the tool failed; none: nothing tells.
    failed: Option<bool>,
    /// The error, if that is more than a flag.
    error: Option<Cow<'a, str>>,
    /// It has a flag whose value is unknown.
    is_unknown: bool,
}

impl<'a> Flag<'a> {
    fn of(message: &Fields<'a>) -> Flag<'a> {
        let flag = |failed, error| Flag { failed, error, is_unknown: false };
        let status = message.text("status");
        if status.is_some_and(|status| FAILED_STATUS.iter().any(|failed| status.eq_ignore_ascii_case(failed))) {
            return flag(Some(true), None);
        }
        let is = |raw: RawValue<'_>, words: [&str; 2]| {
            words.iter().any(|word| raw.get().trim_matches('"').eq_ignore_ascii_case(word))
        };
        let given = ["error", "is_error", "isError"].into_iter().filter_map(|name| Some((name, message.get(name)?)));
        let of_one = |(name, raw): (&str, RawValue<'a>)| match name {
            _ if is(raw, ["true", "1"]) => Some(flag(Some(true), None)),
            _ if is(raw, ["false", "0"]) => Some(flag(Some(false), None)),
            _ if names_no_error(raw) => None,
            "error" => Some(flag(Some(true), Some(json::content_text(raw)))),
            _ => Some(Flag { is_unknown: true, ..flag(None, None) }),
        };
        // A flag of failure counts most.
        let all: Vec<Flag<'a>> = given.filter_map(of_one).collect();
        let most = all.into_iter().max_by_key(|flag| (flag.failed == Some(true), flag.failed == Some(false)));
        most.unwrap_or_else(|| flag(None, None))
    }
}
