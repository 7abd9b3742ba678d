//! The message of a failure in a text, and what it tells beside its words: codes and names in the frames around them. What is
//! a failure is left to others.

use std::sync::LazyLock;

use super::alternatives::Alternatives;
use super::excerpt::{EXAMINED, cut};
use super::kinds;
use super::patterns::{self, LazyPattern};

/// How Python begins to print the calls that led to an exception.
const TRACEBACK: &str = "Traceback (most recent call last)";

/// Codes that a message tells itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) names: Vec<String>,
    pub(super) status: Option<u16>,
}

/// The message of a failure: without `Error:` and tags; of a Python traceback the last line.
pub(super) fn message(text: &str) -> &str {
    let text = text.trim();
    if text.starts_with(TRACEBACK) {
        let last = text.lines().rev().find(|line| !line.trim().is_empty() && !line.starts_with(' '));
        return last.unwrap_or(text).trim();
    }
    // What was called, crossed, above its error.
    if let Some((first, error)) = text.split_once("\nError: ")
        && first.starts_with(['✗', '✘', '❌'])
        && first.ends_with(" failed")
    {
        return error.trim();
    }
    for tag in ["tool_use_error", "tool_call_error", "tool_error", "error_details", "error"] {
        let inner = text.strip_prefix('<').and_then(|text| text.strip_prefix(tag)?.strip_prefix('>'));
        if let Some(inner) = inner {
            let inner =
                inner.strip_suffix('>').and_then(|inner| inner.strip_suffix(tag)?.strip_suffix("</")).unwrap_or(inner);
            return message(inner);
        }
    }
    let rest = text.get(..6).filter(|head| head.eq_ignore_ascii_case("error:")).and_then(|_| text.get(6..));
    rest.map(str::trim).filter(|rest| !rest.is_empty()).unwrap_or(text)
}

/// The frames before the words of an innermost error, in any order and number, beside marks.
pub(super) static FRAMES: LazyLock<Alternatives> = LazyLock::new(|| {
    let all = [
        (r#"(?:Error|Result)\s*\n\s*"#, "ERROR|RESULT"),
        (r#"(?i:state|status)\s*:\s*(?i:error|failed|failure)\s*\n\s*"#, "STATE|STATUS"),
        (r#"<(?:tool_use_error|tool_call_error|tool_error|error)>"#, "ERROR>"),
        (r#"(?i:\[?error\]?)\s*[:!-]\s*"#, "ERROR"),
        (
            r#"(?i:error\s+(?:executing|calling|running|invoking)(?:\s+(?:the|mcp))?(?:\s+(?:tool|function))?)\s*['"`]?[\w.:/-]*['"`]?\s*[:-]\s*"#,
            "ERROR",
        ),
        (
            r#"\[?(?i:erro\s+ao\s+(?:executar|chamar)|error\s+al\s+(?:ejecutar|llamar)|erreur\s+lors\s+de\s+l(?:'|’)(?:exécution|appel)|fehler\s+beim\s+(?:ausführen|aufruf)|ошибка\s+при\s+(?:выполнении|вызове)|lỗi\s+khi\s+(?:chạy|gọi))[^:\n]{0,60}:\s*"#,
            "ERRO|ERREUR|FEHLER|ОШИБКА|LỖI",
        ),
        (
            r#"(?i:erro|fehler|erreur|errore|ошибка|помилка|lỗi|错误)\s*(?::|：)\s*"#,
            "ERRO|FEHLER|ERREUR|ОШИБКА|ПОМИЛКА|LỖI|错误",
        ),
        (
            r#"(?i:(?:i|it\s+seems\s+we)\s+encountered\s+an\s+(?:unexpected\s+)?error\s+while\s+trying\s+to\s+use\s+the\s+tool)\.?\s+(?i:this\s+was\s+the\s+error):\s*"#,
            "ENCOUNTERED",
        ),
        (r#"(?:[A-Z][\w-]*\s){0,2}API\s+(?P<vendor>[45]\d\d):\s*"#, "API"),
        (r#"(?i:mcp\s+error):?\s*(?P<rpc>-?\d+)?\s*:?\s*"#, "MCP"),
        (
            r#"(?i:(?:tool|function)\s+(?:execution|call|invocation)?\s*(?:failed|error)(?:\s+for\s+\S+)?)\s*[:-]\s*"#,
            "TOOL|FUNCTION",
        ),
        (r#"(?i:error\s+code:?)\s+(?P<code>[45]\d\d)\s*[-:]\s*"#, "ERROR"),
        (
            r#"(?i:error\s+(?:response|status))\s+(?P<response>[45]\d\d)\b(?:\s+(?i:while|when|from)\s+(?:[a-z]+\s+)?\S+)?\s*[-:]?\s*"#,
            "ERROR",
        ),
        (r#"(?i:http(?:/[\d.]+)?(?:\s+(?:error|status)(?:\s+code)?)?)[\s:]+(?P<http>[45]\d\d)\b[\s:-]*"#, "HTTP"),
        (r#"(?i:(?:client|server)\s+error)\s+'?(?P<requests>[45]\d\d)\s*"#, "ERROR"),
        (
            r#"(?i:(?:the\s+)?(?:api\s+|http\s+)?(?:request|call|query)\s+failed\s+with)\s+(?i:http\s+)?(?i:status|code|error)(?i:\s+code)?:?\s*(?P<axios>[45]\d\d)[\s:-]*"#,
            "FAILED",
        ),
        (r#"(?i:status(?:\s+code)?)[:\s]+(?P<status>[45]\d\d)\b[\s:-]*"#, "STATUS"),
        (
            r#"(?i:api|http|network|server|client|internal|unexpected|tool|execution|runtime|connection|validation|request|response|upstream|provider|service)\s+(?i:error|exception|failure)\s*[(\[]?(?:(?i:status|code|http)[\s:]*)?(?P<api>[45]\d\d)?[)\]]?\s*[:-]\s*"#,
            "ERROR|EXCEPTION|FAILURE",
        ),
        (
            r#"(?i:an\s+error\s+occurred)\s+\((?P<aws>\w+)\)\s+(?i:when\s+calling\s+the)\s+\w+\s+(?i:operation)(?:\s+\([^)]*\))?:?\s*"#,
            "OCCURRED",
        ),
        (r#"(?i:an?\s+(?:\w+\s+)?error\s+(?:has\s+)?occurred)[^:\n]{0,80}:\s*"#, "OCCURRED"),
        (r#"(?i:rpc\s+error):\s*(?i:code)\s*=\s*(?P<grpc>\w+)\s*(?i:desc)\s*=\s*"#, "RPC"),
        (r#"(?i:statuscode)\.(?P<grpcpy>[A-Z_]+)\s*:?\s*"#, "STATUSCODE"),
        (
            r#"(?P<named>(?:[a-z_]\w*\.)+(?:exceptions?|errors?)\.[A-Z]\w*|(?:[A-Za-z_]\w*(?:\.|::))*(?:[A-Z]\w*(?:Error|Exception|Timeout|Fault|Interrupt)|Exception))\b\s*(?:\[(?P<node>\w+)\])?\s*(?::|\(\s*['"]?|$)\s*"#,
            "ERROR|EXCEPTION|TIMEOUT|FAULT|INTERRUPT",
        ),
        (r#"(?i:failed\s+to\s+[^:\n]{1,120}|error\s+\([A-Z_]+\)):\s+"#, "FAILED|ERROR"),
        (r#"(?i:(?:fatal|failed|failure|exception))\s*:\s*"#, "FATAL|FAILED|FAILURE|EXCEPTION"),
    ];
    Alternatives::between("(?x)^(?:", &all, ")")
});

/// Whether a sign before an error is a frame by itself.
fn is_error_sign(c: char) -> bool {
    "*#`\"' \t\r\n❌✗✘🚫⛔💥❗🛑⚠\u{fe0f}".contains(c)
}

/// The frames that a message may have.
const FRAME_STEPS: usize = 8;

/// The words of the innermost error, with the codes in the frames before them.
pub(super) fn unframed(message: &str) -> (&str, Facts) {
    let mut facts = Facts::default();
    let mut rest = message.trim();
    for _ in 0..FRAME_STEPS {
        if rest.starts_with(is_error_sign) {
            rest = rest.trim_start_matches(is_error_sign).trim_start();
            continue;
        }
        let Some(found) = FRAMES.find(rest) else { break };
        for group in ["code", "response", "http", "requests", "axios", "status", "api", "vendor"] {
            facts.status = facts.status.or_else(|| found.name(group)?.parse().ok());
        }
        for group in ["rpc", "aws", "grpc", "grpcpy", "node", "named"] {
            facts.names.extend(found.name(group).map(str::to_owned));
        }
        let end = found.end();
        match rest.get(end..).map(str::trim_start) {
            Some(inner) if end > 0 => rest = inner,
            _ => break,
        }
    }
    (rest, facts)
}

/// Whether a message has no words of its own before the object that it holds.
pub(super) fn is_only_a_frame(message: &str) -> bool {
    unframed(message).0.trim_start_matches(['-', ':', ' ']).starts_with(['{', '['])
}

/// The codes that a message tells.
pub(super) fn facts(message: &str) -> Facts {
    static STATUS: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^\(?([45]\d\d)\)?\b(?:\s*[:,-]|\s+[A-Z]|\s*$)|\b(?:http|status|status code|statuscode|error code|code)[ :=/(]+([45]\d\d)\b|\(([45]\d\d)\)",
        )
    });
    let (rest, mut facts) = unframed(cut(message, EXAMINED));
    let line = cut(rest.lines().next().unwrap_or_default(), 200);
    if facts.status.is_none() && has_status(line) {
        facts.status = STATUS.find(line).and_then(|found| found.group()?.parse().ok());
    }
    static NODE: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"\b(E(?:CONN[A-Z]+|TIMEDOUT|NOTFOUND|PIPE|AI_AGAIN|NOENT|ACCES|PERM|XIST|HOSTUNREACH|NETUNREACH)|UND_ERR_[A-Z_]+|ERR_[A-Z_]+)\b",
        )
    });
    facts.names.retain(|name| !is_bare_validation(name));
    // `Max retries exceeded with url: / (Caused by ConnectTimeoutError(...))`
    static CAUSE: LazyPattern = LazyLock::new(|| patterns::one(r"\bCaused by ([A-Z]\w+)\("));
    let examined = Some(cut(message, EXAMINED)).filter(|examined| examined.contains("Caused by "));
    facts.names.extend(examined.and_then(|examined| CAUSE.find(examined)?.get(1)).map(str::to_owned));
    static ERRNO: LazyPattern = LazyLock::new(|| patterns::one(r"\[Errno (\d{1,3})\]"));
    let errno = line.contains("[Errno ").then(|| ERRNO.find(line)?.get(1)?.parse().ok()).flatten();
    facts.names.extend(errno.and_then(kinds::of_errno).map(str::to_owned));
    facts.names.extend(leading_code(line).map(str::to_owned));
    let has_capitals =
        line.as_bytes().windows(3).any(|three| three.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_'));
    facts.names.extend(has_capitals.then(|| NODE.find(line)?.get(1)).flatten().map(str::to_owned));
    facts
}

/// Whether a text has three digits as those of the status of a failure.
fn has_status(text: &str) -> bool {
    let is_status = |three: &[u8]| matches!(three, [b'4' | b'5', rest @ ..] if rest.iter().all(u8::is_ascii_digit));
    text.as_bytes().windows(3).any(is_status)
}

/// The error code that is the whole text, or that words follow: `rate_limit_exceeded`, `INVALID_ARGUMENT: x`, `[NOT_FOUND] x`.
pub(super) fn leading_code(text: &str) -> Option<&str> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    if let Some((code, _)) = bracketed {
        let is_upper = code.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        return Some(code).filter(|code| is_upper && kinds::is_code(code));
    }
    let (code, words) = text.split_once(':').map_or((text, None), |(code, words)| (code, Some(words.trim_start())));
    let is_followed =
        |words: &str| !code.contains(|c: char| c.is_ascii_lowercase()) && words.starts_with(char::is_alphabetic);
    let code = code.trim_end_matches(['.', '!']);
    (words.is_none_or(is_followed) && kinds::is_code(code)).then_some(code)
}

/// Whether a body is a traceback: any statement before the exception may have acted.
pub(super) fn is_of_traceback(body: &str) -> bool {
    body.trim_start_matches(['"', ' ', '\n']).starts_with(TRACEBACK)
}

/// The message of an exception that is printed in front of its traceback: `ConflictError('taken')Traceback ...`.
pub(super) fn error_of_traceback(text: &str) -> Option<&str> {
    let (printed, _) = text.split_once(TRACEBACK)?;
    let (name, quoted) = printed.strip_suffix(')')?.split_once('(')?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    let mark = quoted.chars().next().filter(|mark| is_name && matches!(mark, '\'' | '"'))?;
    let message = quoted.strip_prefix(mark)?.strip_suffix(mark)?;
    (!message.contains([mark, '\\'])).then_some(message)
}

/// Whether an exception may be raised by whatever checks something, also a result.
pub(super) fn is_bare_validation(name: &str) -> bool {
    name.rsplit(['.', ':']).next() == Some("ValidationError")
}

/// Whether a text can be the name of an error: a word or a number.
pub(super) fn is_name(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && text.len() <= 80
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '#' | ':' | '/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frame_is_one() {
        const FRAMED: &str = "❌ no|Error\nno|state: failed\nno|<tool_error>no|[ERROR] - no|error calling tool 'pay': no|\
            [lỗi khi gọi pay: no|erreur lors de l’appel de pay: no|ошибка при вызове pay: no|помилка: no|\
            I encountered an error while trying to use the tool. This was the error: no|OpenAI API 503: no|\
            MCP error -32000: no|Tool execution failed: no|error code: 503 - no|error status 503 while calling pay: no|\
            HTTP/1.1 503: no|client error '503 no|request failed with status code 503: no|status code: 503 no|\
            upstream failure (503): no|an error occurred (Throttled) when calling the Pay operation: no|\
            an unknown error has occurred here: no|rpc error: code = Unavailable desc = no|StatusCode.UNAVAILABLE: no|\
            pay.errors.NoCard: no|java.net.SocketTimeout: no|failed to pay: no|fatal: no";
        for framed in FRAMED.split('|') {
            assert!(unframed(framed).0.len() < framed.len(), "no frame: {framed}");
        }
        assert_eq!(unframed("the order is paid").0, "the order is paid");
    }
}
