//! Reads the calls and results in chat messages, in the shape of OpenAI and its variants in tau-bench and tau2-bench. `run`
//! pairs them.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::run::{ImportOutput, RunWriter, SourceCall, SourceResult};
use crate::failure::{ToolResult, assess};
use crate::imported::ImportWarning;
use crate::iso;
use crate::json;
use crate::json::{Fields, SourceArgs};

/// Writes the runs of one conversation: the agent's, and the simulated user's if that calls tools too. Without a name it is
/// unknown which messages belong to one run.
pub(super) fn walk(run: Option<&str>, messages: &[&RawValue], place: &str, output: &mut ImportOutput) {
    let mut walk = Walk { agent: RunWriter::of(run), user: None, name: run, output };
    for (n, raw) in messages.iter().enumerate() {
        let place = format!("{place}[{n}]");
        match json::object(raw) {
            Some(message) => walk.message((&message, raw), &place),
            None => walk.output.loss.warn(ImportWarning::NotReadable, &place),
        }
    }
    if messages.is_empty() {
        walk.output.loss.warn(ImportWarning::EmptyRun, place);
    }
    walk.agent.end(walk.output);
    if let Some(user) = walk.user {
        user.end(walk.output);
    }
}

/// The run of the simulated user beside an agent's run.
fn user_run(agent: Option<&str>) -> RunWriter {
    RunWriter::of(agent.map(|agent| format!("{agent}.user")).as_deref())
}

struct Walk<'w> {
    agent: RunWriter,
    user: Option<RunWriter>,
    name: Option<&'w str>,
    output: &'w mut ImportOutput,
}

impl Walk<'_> {
    fn message(&mut self, (message, raw): (&Fields<'_>, &RawValue), place: &str) {
        match message.text("role").as_deref() {
            Some("system" | "developer") => {}
            Some(role @ ("assistant" | "user")) => self.calls(message, role, place),
            Some("tool" | "function") => self.results((message, raw), place),
            _ => self.output.loss.warn(ImportWarning::UnknownRole, place),
        }
    }

    fn calls(&mut self, message: &Fields<'_>, role: &str, place: &str) {
        let at = self.time(message, place);
        for (n, raw) in message.get("tool_calls").and_then(json::array).unwrap_or_default().into_iter().enumerate() {
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

    fn call(&mut self, (call, raw): (&Fields<'_>, &RawValue), role: &str, at: Option<&str>, place: &str) {
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
        let run = match by_user {
            true => self.user.get_or_insert_with(|| user_run(self.name)),
            false => &mut self.agent,
        };
        let span = self.output.finder.find(raw);
        run.call(
            &SourceCall { id: id.as_deref(), tool: &tool, renamed: renamed.as_deref(), args, at, place, span },
            self.output,
        );
    }

    /// The results of one message.
    fn results(&mut self, (message, raw): (&Fields<'_>, &RawValue), place: &str) {
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

    fn result(&mut self, (message, raw): (&Fields<'_>, &RawValue), place: &str) {
        let span = self.output.finder.find(raw);
        let at = self.time(message, place);
        let id = message.text("tool_call_id").or_else(|| message.text("id"));
        let named = message.text("name");
        let run = match message.text("requestor").as_deref() {
            Some("user") => self.user.get_or_insert_with(|| user_run(self.name)),
            _ => &mut self.agent,
        };
        let waiting = id.as_deref().and_then(|id| run.tool_waiting_for(id));
        let content = message.get("content").map_or(Cow::Borrowed(""), json::content_text);
        let flagged = flag(message);
        let result = ToolResult {
            flag: flagged,
            body: Some(&content),
            tool: named.as_deref().or(waiting),
            at: at.as_deref().and_then(|at| u64::try_from(iso::parse_micros(at)?).ok()),
            ..ToolResult::default()
        };
        let mut assessment = assess(&result);
        if let Some(own) = &self.output.overrides {
            assessment = own.corrected_content(raw, &result, assessment, &mut self.output.loss.changed);
        }
        let (id, tool, at) = (id.as_deref(), named.as_deref(), at.as_deref());
        let (text, flagged) = (&*content, flagged.is_some());
        run.result(&SourceResult { id, tool, assessment, text, flagged, at, place, span }, self.output);
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

/// Whether a flag marks a result as a failure; none without a flag.
fn flag(message: &Fields<'_>) -> Option<bool> {
    message.get("error").or_else(|| message.get("is_error")).and_then(|flag| match flag.get() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    })
}
