//! What fields are usually called. Looks at no values.

/// What a field may be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
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

/// The usual names of each part, the surest first; small letters and digits only.
#[rustfmt::skip]
const NAMES: [(Part, &[&str]); 20] = [
    (Part::Tool, &["tool", "toolname", "function", "functionname", "action", "actionname", "command", "operation",
        "method", "skill", "capability", "endpoint", "api", "name"]),
    (Part::Event, &["event", "ev", "evt", "eventtype", "eventname", "type", "kind", "recordtype", "runtype",
        "spantype", "spankind", "category", "phase", "op", "msg"]),
    (Part::Run, &["runid", "run", "sessionid", "session", "conversationid", "conversation", "threadid", "thread",
        "traceid", "trace", "workflowid", "workflow", "agentid", "agent", "jobid", "job", "taskid", "task"]),
    (Part::Id, &["callid", "toolcallid", "tooluseid", "invocationid", "spanid", "requestid", "reqid", "req", "correlationid",
        "call", "span", "id", "uuid"]),
    (Part::Args, &["args", "arguments", "toolargs", "toolinput", "params", "parameters", "input", "inputs",
        "kwargs", "payload", "request", "requestbody"]),
    (Part::Key, &["idempotencykey", "idempotencytoken", "idempotency", "idemkey", "idem", "dedupekey"]),
    (Part::Evidence, &["evidencerefs", "evidenceids", "evidence"]),
    (Part::Token, &["reversaltoken", "undotoken", "refundtoken"]),
    (Part::Attempt, &["attempt", "attemptno", "attemptnumber", "try", "tryno"]),
    (Part::Started, &["startedat", "starttime", "starttimestamp", "starttimeunixnano", "started", "start", "begin", "begunat"]),
    (Part::Time, &["ts", "timestamp", "time", "at", "atms", "datetime", "date", "createdat", "loggedat"]),
    (Part::Ended, &["endedat", "endtime", "endtimestamp", "endtimeunixnano", "finishedat", "completedat", "ended", "finished", "end"]),
    (Part::Latency, &["latencyms", "durationms", "tookms", "elapsedms", "responsetimems", "latencymillis",
        "durationmillis", "timems"]),
    (Part::Body, &["output", "result", "response", "responsebody", "answer", "content", "body", "observation"]),
    (Part::Message, &["errormessage", "errormsg", "errortext", "exceptionmessage", "failurereason", "error", "err",
        "exception", "reason", "detail", "message", "msg", "text"]),
    (Part::Status, &["statuscode", "httpstatus", "httpstatuscode", "httpcode", "responsestatus", "responsecode",
        "http", "status", "code"]),
    (Part::Code, &["errorcode", "errcode", "errortype", "exceptiontype", "exceptionclass"]),
    (Part::Kind, &["errorkind", "errkind", "failurekind"]),
    (Part::RetryAfterMs, &["retryafterms", "waitms"]),
    (Part::RetryAfterS, &["retryafters", "retryafterseconds", "retryafter"]),
];

impl Part {
    /// Its usual names.
    pub(super) fn names(self) -> &'static [&'static str] {
        NAMES.iter().find(|(part, _)| *part == self).map_or(&[], |(_, names)| names)
    }

    /// How surely a field of this path is that, from 0; none where its name says nothing.
    pub(super) fn rank(self, path: &[String]) -> Option<usize> {
        let (last, above) = path.split_last()?;
        let names = self.names();
        let plain = plain(last);
        let parent = above.last().map(|above| self::plain(above)).unwrap_or_default();
        // `tool.name` is a `toolname`, and `err.code` an `errorcode`.
        let in_error = is_error(&parent);
        let within = if in_error { format!("error{plain}") } else { format!("{parent}{plain}") };
        let rank = names.iter().position(|name| plain == *name || within == *name).or_else(|| {
            // `gen_ai.tool.name`: a longer name that ends in a telling one.
            names.iter().position(|name| name.len() > 5 && plain.ends_with(name)).map(|at| at + names.len())
        })?;
        let out_of_place = in_error
            && !matches!(self, Part::Message | Part::Code | Part::Kind | Part::Status)
            && !matches!(self, Part::RetryAfterMs | Part::RetryAfterS);
        (!out_of_place).then_some(rank)
    }
}

/// Whether the name is that of an error.
pub(super) fn is_error(plain: &str) -> bool {
    ["error", "err", "exception", "exc", "failure", "fault"].contains(&plain)
}

/// Whether what stands below a field of this name is the user's own data: its names tell nothing.
pub(super) fn is_data(name: &str) -> bool {
    Part::Args.names().contains(&plain(name).as_str())
}

/// Whether the words of a text say that something failed.
pub(super) fn says_failure(value: &str) -> bool {
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

/// Whether the words of a row's sort say that it is about a tool.
pub(super) fn says_tool(value: &str) -> bool {
    words(value).iter().any(|word| ["tool", "tools", "function"].contains(&word.as_str()))
}

/// Whether the words of an event's name say that something begins.
pub(super) fn says_start(value: &str) -> bool {
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
    !says_end(value) && words(value).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether the words of an event's name say that something ends.
pub(super) fn says_end(value: &str) -> bool {
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
    says_failure(value) || words(value).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// The words of a name: `toolCall.end` is tool, call, end.
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

/// A name in small letters and digits.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(part: Part, path: &[&str]) -> Option<usize> {
        part.rank(&path.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn names_are_known_however_they_are_spelt() {
        assert_eq!(rank(Part::Tool, &["toolName"]), rank(Part::Tool, &["tool_name"]));
        assert!(rank(Part::Tool, &["tool"]) < rank(Part::Tool, &["name"]));
        assert!(rank(Part::Tool, &["attributes", "gen_ai.tool.name"]).is_some());
        assert_eq!(rank(Part::Tool, &["tools_seen"]), None);
    }

    #[test]
    fn what_stands_in_an_error_is_about_the_error() {
        assert!(rank(Part::Code, &["err", "code"]).is_some());
        assert_eq!(rank(Part::Tool, &["error", "name"]), None);
        assert_eq!(rank(Part::Id, &["error", "id"]), None);
    }

    #[test]
    fn an_end_is_an_end_even_if_it_names_the_call() {
        assert!(says_start("tool_call") && says_start("toolCall.started") && says_start("tool.invoke"));
        assert!(says_end("tool_call_end") && !says_start("tool_call_end") && says_end("toolResult"));
        assert!(says_failure("TimedOut") || says_failure("timedout"));
        assert!(says_failure("error") && !says_failure("ok") && !says_failure("terror"));
        assert!(!says_start("recall") && !says_end("tool"));
    }
}
