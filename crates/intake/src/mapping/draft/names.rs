//! The usual names of fields. Examines no values.

/// The role of a field in a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FieldRole {
    Tool,
    Event,
    Run,
    Id,
    Args,
    Key,
    Evidence,
    Token,
    Attempt,
    Started,
    Time,
    Ended,
    Latency,
    Body,
    Message,
    Status,
    Code,
    Kind,
    RetryAfterMs,
    RetryAfterS,
}

/// The usual names of each role, the most certain first; lower-case letters and digits only.
#[rustfmt::skip]
const NAMES: [(FieldRole, &[&str]); 20] = [
    (FieldRole::Tool, &["tool", "toolname", "function", "functionname", "action", "actionname", "command", "operation",
        "method", "skill", "capability", "endpoint", "api", "name"]),
    (FieldRole::Event, &["event", "ev", "evt", "eventtype", "eventname", "type", "kind", "recordtype", "runtype",
        "spantype", "spankind", "category", "phase", "op", "msg"]),
    (FieldRole::Run, &["runid", "run", "sessionid", "session", "conversationid", "conversation", "convid", "conv", "chatid", "chat", "threadid", "thread",
        "traceid", "trace", "appid", "workflowid", "workflow", "agentid", "agent", "jobid", "job", "taskid", "task"]),
    (FieldRole::Id, &["callid", "callref", "toolcallid", "tooluseid", "invocationid", "spanid", "requestid", "reqid", "req", "correlationid",
        "call", "span", "id", "uuid"]),
    (FieldRole::Args, &["args", "arguments", "toolargs", "toolinput", "params", "parameters", "input", "inputs",
        "kwargs", "payload", "request", "requestbody"]),
    (FieldRole::Key, &["idempotencykey", "idempotencytoken", "idempotency", "idemkey", "idem", "dedupekey"]),
    (FieldRole::Evidence, &["evidencerefs", "evidenceids", "evidence"]),
    (FieldRole::Token, &["reversaltoken", "undotoken", "refundtoken"]),
    (FieldRole::Attempt, &["attempt", "attemptno", "attemptnumber", "try", "tryno"]),
    (FieldRole::Started, &["startedat", "starttime", "starttimestamp", "starttimeunixnano", "started", "start", "begin", "begunat"]),
    (FieldRole::Time, &["ts", "timestamp", "time", "when", "at", "atms", "datetime", "date", "createdat", "loggedat"]),
    (FieldRole::Ended, &["endedat", "endtime", "endtimestamp", "endtimeunixnano", "finishedat", "completedat", "ended", "finished", "end"]),
    (FieldRole::Latency, &["latencyms", "durationms", "tookms", "elapsedms", "responsetimems", "latencymillis",
        "durationmillis", "durms", "timems", "ms", "latency", "duration", "dur", "elapsed", "took", "durationseconds", "elapsedseconds"]),
    (FieldRole::Body, &["output", "result", "response", "responsebody", "answer", "content", "body", "observation", "out", "stdout", "reply",
        "returned", "returnvalue", "tooloutput", "toolresult", "toolresponse"]),
    (FieldRole::Message, &["errormessage", "errormsg", "errortext", "exceptionmessage", "failurereason", "refusalreason", "rejectionreason", "error", "err",
        "exception", "reason", "detail", "message", "msg", "text"]),
    (FieldRole::Status, &["statuscode", "httpstatus", "httpstatuscode", "httpcode", "responsestatus", "responsecode",
        "http", "status", "code"]),
    (FieldRole::Code, &["errorcode", "errcode", "errortype", "exceptiontype", "exceptionclass", "errorclass", "errorname"]),
    (FieldRole::Kind, &["errorkind", "errkind", "failurekind", "refusalreason", "rejectionreason", "failurereason"]),
    (FieldRole::RetryAfterMs, &["retryafterms", "waitms"]),
    (FieldRole::RetryAfterS, &["retryafters", "retryafterseconds", "retryafter"]),
];

impl FieldRole {
    /// Its usual names.
    pub(super) fn names(self) -> &'static [&'static str] {
        NAMES.iter().find(|(role, _)| *role == self).map_or(&[], |(_, names)| names)
    }

    /// The rank of a path for this role: 0 is the most certain; none if its name does not fit.
    pub(super) fn rank(self, path: &[String]) -> Option<usize> {
        let (last, above) = path.split_last()?;
        let names = self.names();
        let plain = plain(last);
        let parent = above.last().map(|above| self::plain(above)).unwrap_or_default();
        // `tool.name` is a `toolname`, and `err.code` an `errorcode`.
        let in_error = is_error(&parent);
        let within = if in_error { format!("error{plain}") } else { format!("{parent}{plain}") };
        let rank = names.iter().position(|name| plain == *name || within == *name).or_else(|| {
            // `gen_ai.tool.name`: a longer name that ends in a usual one.
            names.iter().position(|name| name.len() > 5 && plain.ends_with(name)).map(|at| at + names.len())
        })?;
        let out_of_place = in_error
            && !matches!(self, FieldRole::Message | FieldRole::Code | FieldRole::Kind | FieldRole::Status)
            && !matches!(self, FieldRole::RetryAfterMs | FieldRole::RetryAfterS);
        (!out_of_place).then_some(rank)
    }
}

/// Whether this is the name of an error.
pub(super) fn is_error(plain: &str) -> bool {
    ["error", "err", "exception", "exc", "failure", "fault"].contains(&plain)
}

/// Whether a field of this name holds the user's own data, whose names mean nothing here.
pub(super) fn is_data(name: &str) -> bool {
    FieldRole::Args.names().contains(&plain(name).as_str())
}

/// Whether the words of a text mean a failure.
pub(super) fn means_failure(value: &str) -> bool {
    const WORDS: [&str; 16] = [
        "error",
        "err",
        "fail",
        "failed",
        "failure",
        "exception",
        "timeout",
        "timedout",
        "denied",
        "rejected",
        "refused",
        "aborted",
        "cancelled",
        "canceled",
        "crashed",
        "fatal",
    ];
    words(value).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether the words of an event's name mean a tool.
pub(super) fn means_tool(value: &str) -> bool {
    words(value).iter().any(|word| ["tool", "tools", "function"].contains(&word.as_str()))
}

/// Whether the words of an event's name mean a start.
pub(super) fn means_start(value: &str) -> bool {
    const WORDS: [&str; 12] = [
        "start",
        "started",
        "begin",
        "begun",
        "call",
        "called",
        "request",
        "requested",
        "invoke",
        "invoked",
        "input",
        "use",
    ];
    !means_end(value) && words(value).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether the words of an event's name mean an end.
pub(super) fn means_end(value: &str) -> bool {
    const WORDS: [&str; 18] = [
        "end",
        "ended",
        "finish",
        "finished",
        "result",
        "response",
        "responded",
        "complete",
        "completed",
        "return",
        "returned",
        "output",
        "done",
        "success",
        "succeeded",
        "answer",
        "answered",
        "observation",
    ];
    means_failure(value) || words(value).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// The words of a name: `toolCall.end` is `tool`, `call`, `end`.
fn words(value: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in value.chars().take(80) {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A name in lower-case letters and digits.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(part: FieldRole, path: &[&str]) -> Option<usize> {
        part.rank(&path.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn names_are_recognised_however_they_are_spelled() {
        assert_eq!(rank(FieldRole::Tool, &["toolName"]), rank(FieldRole::Tool, &["tool_name"]));
        assert!(rank(FieldRole::Tool, &["tool"]) < rank(FieldRole::Tool, &["name"]));
        assert!(rank(FieldRole::Tool, &["attributes", "gen_ai.tool.name"]).is_some());
        assert_eq!(rank(FieldRole::Tool, &["tools_seen"]), None);
    }

    #[test]
    fn fields_of_an_error_have_only_roles_of_errors() {
        assert!(rank(FieldRole::Code, &["err", "code"]).is_some());
        assert_eq!(rank(FieldRole::Tool, &["error", "name"]), None);
        assert_eq!(rank(FieldRole::Id, &["error", "id"]), None);
    }

    #[test]
    fn the_name_of_an_end_may_contain_the_words_of_a_start() {
        assert!(means_start("tool_call") && means_start("toolCall.started") && means_start("tool.invoke"));
        assert!(means_end("tool_call_end") && !means_start("tool_call_end") && means_end("toolResult"));
        assert!(means_failure("TimedOut") || means_failure("timedout"));
        assert!(means_failure("error") && !means_failure("ok") && !means_failure("terror"));
        assert!(!means_start("recall") && !means_end("tool"));
    }
}
