//! Writes recordings in the formats of others for timing: conversations with texts, lists, source and reports of errors as
//! agents get them, of many lengths. The same bytes for the same number of calls, on any machine. Reads nothing.

use std::io::{self, Write};

use crate::generate::Numbers;

/// A format of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// A conversation of OpenAI chat messages a line.
    OpenAi,
    /// A batch of OpenTelemetry spans of the GenAI conventions a line, each a run.
    Otlp,
    /// A session log of Claude Code.
    ClaudeCode,
    /// A gateway's own log, read by the mapping of `docs/examples`.
    Mapped,
}

/// Milliseconds of 28 days: times begin again after them.
const MONTH: u64 = 28 * 24 * 60 * 60 * 1_000;

const TOOLS: [(&str, &str); 6] = [
    ("get_order", "order"),
    ("search_docs", "query"),
    ("issue_refund", "order"),
    ("run_tests", "path"),
    ("read_file", "path"),
    ("send_mail", "to"),
];

const FAILED: [&str; 6] = [
    "Error: request timed out after 30000 ms",
    "HTTP 503 Service Unavailable: upstream connect error or disconnect before headers",
    "Error executing tool issue_refund: order o_17 was refunded already",
    "Traceback (most recent call last):\n  File \"/srv/app/tools.py\", line 81, in call\n    raise Refused(reason)\nRefused: amount exceeds the limit of 500.00 EUR",
    "rate limit exceeded, try again in 20 seconds",
    "1 validation error for issue_refund\namount\n  Input should be a valid integer",
];

const WORDS: [&str; 16] = [
    "order", "was", "shipped", "on", "Monday", "to", "the", "customer", "parcel", "returned", "fn", "main", "assert",
    "0", "ok", "total",
];

impl Foreign {
    /// All of them.
    pub const ALL: [Foreign; 4] = [Foreign::OpenAi, Foreign::Otlp, Foreign::ClaudeCode, Foreign::Mapped];

    /// What tables and files call it.
    pub fn name(self) -> &'static str {
        match self {
            Foreign::OpenAi => "openai-chat",
            Foreign::Otlp => "otlp-genai",
            Foreign::ClaudeCode => "claude-code",
            Foreign::Mapped => "mapped",
        }
    }

    /// Its mapping, where the program has none of its own.
    pub fn mapping(self) -> Option<&'static str> {
        (self == Foreign::Mapped).then_some("docs/examples/my-log.mapping.yaml")
    }

    /// Writes `calls` calls, one in ten of which fails.
    pub fn write(self, out: &mut impl Write, calls: u64) -> io::Result<()> {
        let mut numbers = Numbers::of(51);
        let (mut made, mut run) = (0, 0);
        while made < calls {
            let count = (numbers.below(14) + 1).min(calls - made);
            let calls: Vec<Call> = (0..count).map(|n| Call::draw(&mut numbers, made + n)).collect();
            match self {
                Foreign::OpenAi => open_ai(out, run, &calls)?,
                Foreign::Otlp => otlp(out, run, &calls)?,
                Foreign::ClaudeCode => claude_code(out, run, &calls)?,
                Foreign::Mapped => mapped(out, run, &calls)?,
            }
            made += count;
            run += 1;
        }
        out.flush()
    }
}

/// One call with its answer.
struct Call {
    number: u64,
    tool: &'static str,
    /// JSON.
    args: String,
    failed: Option<usize>,
    /// Text, which may be JSON.
    answer: String,
    at: u64,
    took: u64,
}

impl Call {
    fn draw(numbers: &mut Numbers, number: u64) -> Call {
        let (tool, field) = TOOLS[numbers.below(6) as usize];
        let args = format!(r#"{{"{field}":"x_{}","limit":{}}}"#, numbers.below(100_000), numbers.below(50));
        let failed = (numbers.below(10) == 0).then(|| numbers.below(6) as usize);
        let answer = failed.map_or_else(|| answer(numbers), |kind| FAILED[kind].to_owned());
        Call { number, tool, args, failed, answer, at: number * 700 % MONTH, took: numbers.below(600) + 20 }
    }

    fn ended(&self) -> u64 {
        self.at + self.took
    }
}

/// What a tool answers: an object, a list or lines of text, mostly short and sometimes long.
fn answer(numbers: &mut Numbers) -> String {
    let length = if numbers.below(12) == 0 { 200 } else { numbers.below(20) + 2 };
    let words: Vec<&str> = (0..length).map(|_| WORDS[numbers.below(16) as usize]).collect();
    match numbers.below(3) {
        0 => format!(
            r#"{{"id":"o_{}","state":"paid","total":{},"note":"{}"}}"#,
            numbers.below(9_999),
            length,
            words.join(" ")
        ),
        1 => format!(
            r#"[{}]"#,
            words.iter().map(|word| format!(r#"{{"name":"{word}","size":{length}}}"#)).collect::<Vec<_>>().join(",")
        ),
        _ => words.chunks(9).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n"),
    }
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn open_ai(out: &mut impl Write, run: u64, calls: &[Call]) -> io::Result<()> {
    write!(
        out,
        r#"{{"id":"chat-{run}","model":"m-1","messages":[{{"role":"user","content":"please look at order {run}"}}"#
    )?;
    for Call { number, tool, args, answer, .. } in calls {
        let (args, answer) = (quoted(args), quoted(answer));
        write!(
            out,
            r#",{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{number:012x}","type":"function","function":{{"name":"{tool}","arguments":{args}}}}}]}}"#
        )?;
        write!(out, r#",{{"role":"tool","tool_call_id":"call_{number:012x}","content":{answer}}}"#)?;
    }
    writeln!(out, r#",{{"role":"assistant","content":"That is all about it."}}]}}"#)
}

fn otlp(out: &mut impl Write, run: u64, calls: &[Call]) -> io::Result<()> {
    let attribute =
        |key: &str, value: &str| format!(r#"{{"key":"{key}","value":{{"stringValue":{}}}}}"#, quoted(value));
    let spans = calls.iter().map(|call| {
        let status = if call.failed.is_some() { r#"{"code":2}"# } else { "{}" };
        let attributes = [
            attribute("gen_ai.operation.name", "execute_tool"),
            attribute("gen_ai.tool.name", call.tool),
            attribute("gen_ai.tool.call.id", &format!("call_{:x}", call.number)),
            attribute("gen_ai.tool.type", "function"),
            attribute("gen_ai.tool.call.arguments", &call.args),
            attribute("gen_ai.tool.call.result", &call.answer),
        ];
        format!(
            r#"{{"traceId":"{run:032x}","spanId":"{:016x}","name":"execute_tool {}","kind":1,"startTimeUnixNano":"{}000000","endTimeUnixNano":"{}000000","attributes":[{}],"events":[],"status":{status}}}"#,
            call.number, call.tool, 1_772_442_000_000 + call.at, 1_772_442_000_000 + call.ended(), attributes.join(",")
        )
    });
    let spans: Vec<String> = spans.collect();
    let service = attribute("service.name", "support-agent");
    writeln!(
        out,
        r#"{{"resourceSpans":[{{"resource":{{"attributes":[{service}]}},"scopeSpans":[{{"scope":{{"name":"agents","version":"0.1"}},"spans":[{}]}}]}}]}}"#,
        spans.join(",")
    )
}

fn claude_code(out: &mut impl Write, run: u64, calls: &[Call]) -> io::Result<()> {
    let head = |kind: &str, id: u64, at: u64| {
        format!(
            r#"{{"parentUuid":"u-{id}","isSidechain":false,"userType":"external","cwd":"/srv/app","sessionId":"session_{run}","version":"2.0.14","gitBranch":"main","type":"{kind}","uuid":"u-{}","timestamp":"{}""#,
            id + 1,
            time(at)
        )
    };
    for call in calls {
        let (id, asked, came) =
            (call.number, head("assistant", call.number * 2, call.at), head("user", call.number * 2 + 1, call.ended()));
        let (args, answer, flag) =
            (&call.args, quoted(&call.answer), if call.failed.is_some() { r#","is_error":true"# } else { "" });
        writeln!(
            out,
            r#"{asked},"message":{{"id":"msg_{id}","type":"message","role":"assistant","content":[{{"type":"tool_use","id":"toolu_{id:x}","name":"mcp__shop__{}","input":{args}}}],"usage":{{"input_tokens":3,"output_tokens":90}}}}}}"#,
            call.tool
        )?;
        writeln!(
            out,
            r#"{came},"message":{{"role":"user","content":[{{"tool_use_id":"toolu_{id:x}","type":"tool_result","content":[{{"type":"text","text":{answer}}}]{flag}}}]}},"toolUseResult":{answer}}}"#
        )?;
    }
    Ok(())
}

fn mapped(out: &mut impl Write, run: u64, calls: &[Call]) -> io::Result<()> {
    for call in calls {
        let (status, error) = match call.failed {
            None => ("200", "null".to_owned()),
            Some(0) => ("null", "null".to_owned()),
            Some(kind) => (if kind == 4 { "429" } else { "503" }, format!(r#"{{"text":{}}}"#, quoted(&call.answer))),
        };
        let Call { number, tool, args, took, at, .. } = call;
        writeln!(
            out,
            r#"{{"ts":"{}","event":"tool","agent":"run-{run}","req":"r-{number}","try":1,"tool":"{tool}","params":{args},"idem":"k-{number}","took_ms":{took},"http":{status},"err":{error}}}"#,
            time(*at)
        )?;
    }
    Ok(())
}

/// A time in March 2026.
fn time(ms: u64) -> String {
    let (seconds, ms) = (ms / 1_000, ms % 1_000);
    let (minutes, hours) = (seconds / 60, seconds / 3_600);
    format!("2026-03-{:02}T{:02}:{:02}:{:02}.{ms:03}Z", hours / 24 + 1, hours % 24, minutes % 60, seconds % 60)
}
