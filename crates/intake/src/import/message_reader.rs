//! Reads the calls and results in chat messages, in the shape of OpenAI and its variants in tau-bench and tau2-bench: each
//! message by itself, on any thread. `messages` takes them in their order.

use std::borrow::Cow;
use std::sync::Arc;

use crate::failure::{FailureCache, ToolResult, names_no_error};
use crate::imported::{Changed, ImportWarning};
use crate::iso;
use crate::json;
use crate::json::{Fields, SourceArgs};
use crate::mapping::{Mapping, OwnRules};
use crate::origin::{LineFinder, SourceSpan};
use crate::raw_value::RawValue;
use crate::reader_state::ReaderState;
use crate::trace_writer::{Answer, WrittenArgs};
use crate::wire;

/// What a message with the result of a tool has as its `status` if the tool failed: LangChain writes `error`.
const FAILED_STATUS: [&str; 3] = ["error", "failed", "failure"];

/// Reads messages, each by itself.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageReader {
    /// What the user's mapping says otherwise.
    pub(super) overrides: Option<Arc<Mapping>>,
}

/// What a message says. Places are those behind the message's own.
#[derive(Debug, Default)]
pub(super) struct ReadMessage {
    pub(super) warnings: Vec<(ImportWarning, String)>,
    pub(super) changed: Changed,
    pub(super) said: Vec<ChatEntry>,
}

#[derive(Debug)]
pub(super) enum ChatEntry {
    Call(ChatCall),
    Result(ChatResult),
}

#[derive(Debug)]
pub(super) struct ChatCall {
    pub(super) id: Option<String>,
    pub(super) tool: String,
    /// The tool as the user's mapping names it.
    pub(super) renamed: Option<String>,
    pub(super) args: Option<WrittenArgs>,
    pub(super) at: Option<String>,
    pub(super) by_user: bool,
    pub(super) place: String,
    pub(super) span: SourceSpan,
}

#[derive(Debug)]
pub(super) struct ChatResult {
    pub(super) id: Option<String>,
    /// The tool that the result itself names.
    pub(super) named: Option<String>,
    /// The tool for which `answer` was found.
    pub(super) tool: Option<String>,
    pub(super) answer: Answer,
    pub(super) changed: Changed,
    /// How it is answered if another tool was called than was guessed; none: the tool is sure.
    pub(super) question: Option<Box<ChatQuestion<'static>>>,
    pub(super) flagged: bool,
    pub(super) at: Option<String>,
    pub(super) by_user: bool,
    pub(super) row: u32,
    pub(super) place: String,
    pub(super) span: SourceSpan,
}

/// All that tells whether a result failed, beside the tool.
#[derive(Debug)]
pub(super) struct ChatQuestion<'a> {
    flagged: Option<bool>,
    denies_words: bool,
    error: Option<Cow<'a, str>>,
    body: Cow<'a, str>,
    at: Option<u64>,
    own: Option<OwnRules>,
}

impl ChatQuestion<'_> {
    fn into_owned(self) -> ChatQuestion<'static> {
        let error = self.error.map(|error| Cow::Owned(error.into_owned()));
        ChatQuestion { error, body: Cow::Owned(self.body.into_owned()), ..self }
    }

    /// What is said of the result by the flag and the content, and by what the user's mapping says.
    pub(super) fn answer(
        &self,
        tool: Option<&str>,
        by: &MessageReader,
        failures: &mut FailureCache,
    ) -> (Answer, Changed) {
        let result = ToolResult {
            flag: self.flagged,
            denies_words: self.denies_words,
            message: self.error.as_deref(),
            body: Some(&self.body),
            tool,
            words: by.overrides.as_ref().and_then(|own| own.own_words()),
            at: self.at,
            ..ToolResult::default()
        };
        let (said, mut changed) = (failures.assess(&result), Changed::default());
        let said = match &self.own {
            Some(own) => own.corrected_content(&result, said, &mut changed),
            None => said,
        };
        (Answer::of(&said, self.flagged.is_some(), Some(&self.body)), changed)
    }
}

impl MessageReader {
    /// What a message says.
    pub(super) fn read(&self, raw: RawValue<'_>, finder: &LineFinder, state: &mut ReaderState) -> ReadMessage {
        match json::object(raw) {
            Some(message) => self.fields((&message, raw), finder, state),
            None => {
                ReadMessage { warnings: vec![(ImportWarning::NotReadable, String::new())], ..ReadMessage::default() }
            }
        }
    }

    /// What a message says whose fields are known.
    pub(super) fn fields(
        &self,
        (message, raw): (&Fields<'_>, RawValue<'_>),
        finder: &LineFinder,
        state: &mut ReaderState,
    ) -> ReadMessage {
        let mut reading = Reading { by: self, finder, state, read: ReadMessage::default() };
        match message.text("role").as_deref() {
            Some("system" | "developer") => {}
            Some(role @ ("assistant" | "user")) => reading.calls(message, role),
            Some("tool" | "function") => reading.results((message, raw)),
            _ => reading.warn(ImportWarning::UnknownRole, ""),
        }
        reading.read
    }
}

/// A message that is being read.
struct Reading<'r> {
    by: &'r MessageReader,
    finder: &'r LineFinder,
    state: &'r mut ReaderState,
    read: ReadMessage,
}

impl Reading<'_> {
    fn warn(&mut self, warning: ImportWarning, place: &str) {
        self.read.warnings.push((warning, place.to_owned()));
    }

    fn calls(&mut self, message: &Fields<'_>, role: &str) {
        let at = self.time(message, "");
        let calls = message.get("tool_calls").filter(|calls| calls.get() != "null");
        let listed = calls.and_then(json::array);
        if calls.is_some() && listed.is_none() {
            self.warn(ImportWarning::NotReadable, ".tool_calls");
        }
        for (n, raw) in listed.unwrap_or_default().into_iter().enumerate() {
            let place = format!(".tool_calls[{n}]");
            match json::object(raw) {
                Some(call) => self.call((&call, raw), role, at.as_deref(), place),
                None => self.warn(ImportWarning::NotReadable, &place),
            }
        }
        // The older shape has one call a message, without an id.
        let older = message.get("function_call");
        if let Some((call, raw)) = older.and_then(|raw| Some((json::object(raw)?, raw))) {
            self.call((&call, raw), role, at.as_deref(), ".function_call".to_owned());
        }
    }

    fn call(&mut self, (call, raw): (&Fields<'_>, RawValue<'_>), role: &str, at: Option<&str>, place: String) {
        let custom = call.get("custom").and_then(json::object);
        let function = call.get("function").and_then(json::object).or(custom.clone()).unwrap_or_default();
        let Some(tool) = function.text("name").or_else(|| call.text("name")).filter(|name| !name.is_empty()) else {
            self.warn(ImportWarning::CallWithoutTool, &place);
            return;
        };
        let own = self.by.overrides.as_ref();
        let renamed = own.and_then(|own| own.corrected_tool(raw, &tool, &mut self.read.changed));
        let by_user = call.text("requestor").map_or(role == "user", |requestor| requestor == "user");
        if by_user {
            self.warn(ImportWarning::UserSideCall, &place);
        }
        let args = function.get("arguments").or_else(|| call.get("arguments")).map(SourceArgs::of);
        let args = args.or_else(|| custom?.get("input").map(|input| SourceArgs::Json(Cow::Borrowed(input.get()))));
        if matches!(args, Some(SourceArgs::Text(_))) {
            self.warn(ImportWarning::ArgumentsNotJson, &place);
        }
        let written = |args| WrittenArgs::of(args, renamed.as_deref().unwrap_or(&tool), false);
        let args = args.as_ref().and_then(SourceArgs::as_json).map(written);
        let (id, tool) = (call.text("id").map(Cow::into_owned), tool.into_owned());
        id.iter().for_each(|id| self.state.tools.add("", id, &tool));
        let (at, span) = (at.map(str::to_owned), self.finder.find(raw.get()));
        self.read.said.push(ChatEntry::Call(ChatCall { id, tool, renamed, args, at, by_user, place, span }));
    }

    /// The results of one message.
    fn results(&mut self, (message, raw): (&Fields<'_>, RawValue<'_>)) {
        let Some(parts) = message.get("tool_messages").and_then(json::array) else {
            return self.result((message, raw), String::new());
        };
        for (n, raw) in parts.into_iter().enumerate() {
            let place = format!(".tool_messages[{n}]");
            match json::object(raw) {
                Some(part) => self.result((&part, raw), place),
                None => self.warn(ImportWarning::NotReadable, &place),
            }
        }
    }

    fn result(&mut self, (message, raw): (&Fields<'_>, RawValue<'_>), place: String) {
        let at = self.time(message, &place);
        let id = message.text("tool_call_id").or_else(|| message.text("id")).map(Cow::into_owned);
        let named = message.text("name").map(Cow::into_owned);
        let flag = Flag::of(message);
        if flag.is_unknown && self.by.overrides.is_none() {
            self.warn(ImportWarning::UnknownFlag, &place);
        }
        let question = ChatQuestion {
            flagged: flag.failed,
            denies_words: message.get("error").is_some_and(|error| error.get() == "false"), // tau2-bench, whose tools raise each failure
            error: flag.error,
            body: message.get("content").map_or(Cow::Borrowed(""), json::content_text),
            at: at.as_deref().and_then(|at| u64::try_from(iso::parse_micros(at)?).ok()),
            own: self.by.overrides.as_ref().map(|own| own.rules_of_content(raw)),
        };
        let waiting = || self.state.tools.tool("", id.as_deref()?);
        let tool = named.clone().or_else(waiting);
        let (answer, changed) = question.answer(tool.as_deref(), self.by, &mut self.state.failures);
        let is_sure = named.is_some() || id.is_none();
        self.read.said.push(ChatEntry::Result(ChatResult {
            by_user: message.text("requestor").as_deref() == Some("user"),
            row: wire::hash_of_line(raw.get()),
            span: self.finder.find(raw.get()),
            flagged: question.flagged.is_some(),
            question: (!is_sure).then(|| Box::new(question.into_owned())),
            at: at.map(Cow::into_owned),
            id,
            named,
            tool,
            answer,
            changed,
            place,
        }));
    }

    /// The time of a message, if our format can hold it.
    fn time<'a>(&mut self, message: &Fields<'a>, place: &str) -> Option<Cow<'a, str>> {
        let raw = message.get("timestamp")?;
        let time = json::string(raw).filter(|text| iso::parse_micros(text).is_some());
        if time.is_none() {
            self.warn(ImportWarning::UnreadableTime, place);
        }
        time
    }
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
