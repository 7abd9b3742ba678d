//! The kind that the words of a message name. Words that prove that nothing happened count only at the start of the message,
//! or if the whole message is one short clause.

use std::sync::LazyLock;

use super::deeds::tells_of_something_done;
use super::kinds::{
    ARGUMENTS, CONFLICT, FORBIDDEN, INTERRUPTED, NOT_FOUND, PRECONDITION, QUOTA, RATE, REJECTED, SCHEMA, SERVER,
    TIMEOUT, UNAUTHORIZED, UNKNOWN_TOOL, proves_nothing_happened,
};
use super::patterns::{self, LazyPattern, LazySet};
use super::tool_name::{has_word, words};
use super::{already, clause, excerpt, held, message, other_languages, refused_values, sentence};

/// Characters of a message that are examined: its first line, at most this many.
const EXAMINED: usize = 240;
/// The longest clause, in bytes.
const CLAUSE: usize = 160;

/// Words at the start of a message.
pub(super) const STARTS: [(&str, &str); 15] = [
    (
        REJECTED,
        r"(?i)^(the user (doesn't|does not|didn't) want to (proceed|take this action)|user (has )?(rejected|denied|declined|refused|cancell?ed)|the user (has )?(rejected|denied|declined|refused) (this|the|permission to use this( specific)?) (tool|call|action|request|operation)\b|tool use rejected with user message:|skipping tool \[[^\n]{1,200}\] due to user rejecting|you (have )?(rejected|denied|declined) (this|it|the|that)\b|user blocked( \(| the | this |$)|(the )?(tool|tool use|tool call|action|operation|command|exec command|patch|request) (was |were )?(rejected|denied|declined|cancell?ed) by (the )?user|(tool execution|execution|tool call) (was )?(not approved|denied)|permission to use \S+ (with command .{0,120} )?has been (rejected|denied)|rejected by user|denied by user)",
    ),
    (
        UNKNOWN_TOOL,
        r"(?i)^(unknown (tool|function|action|command|method)\b|(tool|function) ['\x22`]?[\w.:/-]+['\x22`]? (was |is |does |could )?(not (found|exists?|available|registered|enabled|be found)|unknown|disabled)|(the )?tool call (with (the )?name|named|to) \S+ (is|was) not\b|[\w.:/'\x22`-]+ is not a valid tool|model tried to call unavailable tool|unsupported ([\w-]+ ){0,3}(call:|tool ['\x22`])|no such (tool|function name)|no tool (named|called|with|found)|method not found|tool not found|invalid tool( name)?\b)",
    ),
    (
        SCHEMA,
        r"(?i)^(output validation error|structured (output|content) (does|validation)|invalid (structured (content|output)|(tool )?(response|result))\b|unexpected token\b|expecting value: line|invalid json response|json ?decode|tool .{1,60} has an output schema)",
    ),
    (
        PRECONDITION,
        r"(?i)^(412\b|precondition failed|file has not been read yet|file (\S+ )?has been (unexpectedly )?modified since|you must (use your )?read|read the file|the file must be read)",
    ),
    (
        QUOTA,
        r"(?i)^(you('ve| have)? exceeded your (current |monthly |daily |free )?(quota|usage|plan|credit)|insufficient[_ ](quota|credits)|(\w+ ){0,2}quota (has been |was |is )?(exceeded|exhausted|reached)|your credit balance|(monthly|daily|weekly) (usage |request |api )?(quota|limit)|usage limit (reached|exceeded)|(tool|function) \S{1,80} has (already )?(reached|exceeded|used up) its ([\w-]+ ){0,3}limit\b|you have (run out of|no) (credits|remaining)|out of credits|exceeded .{0,40}quota)",
    ),
    (
        RATE,
        r"(?i)^(429\b|too many requests|([\w'-]+ ){0,3}rate[- ]?limit|request (was )?throttled|throttl|slow down\b|request limit exceeded|you('ve| have| are)? (been |being |exceeded the |hit the |reached the )?rate[- ]?limit)",
    ),
    (
        UNAUTHORIZED,
        r"(?i)^(401\b|unauthori[sz]ed|unauthenticated|not authenticated|([\w'-]+ ){0,3}(invalid|incorrect|expired|missing|invalid or expired) (api[ _-]?key|access token|auth(entication|orization)? token|token|credentials?|authentication)|(no|missing) (\S+ )?api[ _-]?key( header)?[.!]?$|(no |missing )?(api[ _-]?key|credentials?|(access|auth|session|bearer|refresh) token|token signature|session token signature) (is |are |was |were )?(missing|invalid|required|not (set|valid|found|provided|configured)|expired|provided|supplied|found)|authentication (failed|required|error|is required)|bad credentials|(your )?(session|token|access token) (has )?expired|not logged in|login required|unable to locate credentials)",
    ),
    (
        FORBIDDEN,
        r"(?i)^(403\b|forbidden|(policy|permission) denied\b|missing scope:? [\w.:-]+$|the user has specified a rule which prevents you from\b|unable to verify if domain \S+ is safe to fetch\b|(\w+ ){0,3}(is |was )?(blocked|denied|disallowed|not allowed|not permitted|forbidden|prohibited) (by|under) (an? |the |your |our )?([\w-]+ ){0,2}(rules?|policy|policies|firewall|guardrails?|filters?|hooks?|sandbox|allowlist|denylist|blocklist)\b|(write |read )?(path|command|tool|tool call|action|request|url|domain|access|operation) (blocked|denied):|((hard|auto)-|(\w+ ){0,2}(action|command|tool|tool call|request) )(blocked|denied)\b(: | by | \()|only (\w+ ){1,3}(is|are) (allowed|permitted)\b|(scope|tool|command|path) not in (the |this )?([\w'-]+ ){0,3}(permissions?|allowlist|whitelist|scopes?)\b|(\w+: )?permission (to [^:]{1,120} )?(is |was |has been )?denied|access( to [^:]{1,120})? (is |was |has been )?(blocked|denied|forbidden)|not (authorized|permitted|allowed) to|(you|user) (do|does)(n't| not) have (the )?(\w+ )?(permission|access)|insufficient (permissions?|privileges|scope)|operation not permitted|eacces|eperm|[^:\n]{1,80}: permission denied|(command|operation|tool|action|path|url|domain|method)( ['\x22`]\S+['\x22`])? (is )?(not allowed|not permitted|disallowed|rejected by)\b|[^\n]{1,160}\brequested permissions? to\b.{1,160}\b(haven't|have not|hasn't) (been )?granted|permissions? to \S.{0,80} has been auto-?denied|security violation: |path traversal not allowed|cannot access paths outside|this [\w-]+ command (contains|requires)\b.{0,120}\brequires? approval)",
    ),
    (FORBIDDEN, held::OUTSIDE_WORKSPACE),
    (
        NOT_FOUND,
        r"(?i)^(404\b|not found\b|enoent|no such (file|directory|table|key|object|entity|column|user|bucket|host)|(the |this |requested |specified )*(file|directory|folder|path|page|resource|url|module|endpoint|repository)s?( [^\n]{1,160}?)? (was |were |is |are )?(does not exist|do not exist|not found|doesn't exist|could not be found|cannot be found)|([^:\n]{1,80}: ){1,2}no such file or directory|(cannot|could not|can't) find (the )?(file|module|page|path|directory)|(failed to edit, )?((could not|cannot|can't|failed to|unable to) (find|locate)|0 occurrences found for) (an? |the )?(exact )?(match for )?['\x22`]?(old|search|target|text|string|hunk|context)|(the )?(string to replace|(old|search|target)[ _]?(str(ing)?|text|block|content|snippet)) (was |is )?(not found|did not (appear|match)|does not (exist|appear|match))|no replacement was performed, \S+ .{1,160} did not appear|string not found in file\b|(block \d+: )?old_str not found|[^\n:;.,]{1,120} (does not|doesn't|do not|don't) exist\b|[^\n:;]{1,120} not found(\. [A-Z]| in (the )?[\w ]{1,40}[.,]|\n))",
    ),
    (
        ARGUMENTS,
        r"(?i)^(400\b|422\b|bad request|unprocessable|input ?validation ?error|inputvalidationerror|invalid (arguments?|parameters?|params|input|tool (arguments|input|parameters|params))\b|\d+ validation errors? for \w*(arguments|args|input|params|schema)\b|the arguments (provided |given )?(to|for) (the )?tool( \S+)? (are|were) (invalid|malformed)\b|missing (\d+ )?(required|mandatory)|required (argument|parameter|property|field|input)s?\b|[\w.`'\x22-]{1,60} (is|are) (a )?required\b|[\w.`'\x22-]{1,60}\(\) (got an unexpected keyword|missing \d+ required|takes \d+)|strict mode violation|unexpected keyword argument|failed to parse (the )?(arguments|input|parameters)|arguments? (validation|must|is|are)|parameter ['\x22`]?\w+['\x22`]? (is|must|should)|expected (string|number|integer|boolean|object|array)\b)",
    ),
    // The report on any other model than the arguments.
    (SCHEMA, r"(?i)^\d+ validation errors? for \w"),
    (
        CONFLICT,
        r"(?i)^(409\b|conflict\b|duplicate (key|entry)|unique constraint failed|eexist|(the |this |a )?[\w '\x22`./-]{1,80} already exists|idempotency)",
    ),
    (
        TIMEOUT,
        r"(?i)^(time(d)?[- ]?out\b|408\b|504\b|524\b|deadline exceeded|etimedout|read timed out|gateway time-?out)",
    ),
    (
        SERVER,
        r"(?i)^(5\d\d\b|internal server error|bad gateway|service (is |temporarily )?(temporarily )?unavailable|overloaded|econn|enotfound|epipe|eai_again)",
    ),
];

/// Words that prove nothing about the effect, anywhere in the first line; words that do, only if the line is one clause.
pub(super) const ANYWHERE: [(&str, &str); 10] = [
    (
        CONFLICT,
        r"(?i)\b(already (been )?(processed|completed|executed)|duplicate key value|unique constraint|deadlock (detected|found)|could not serialize access|etag mismatch|version conflict|idempotency[ _-]key)\b",
    ),
    (
        TIMEOUT,
        r"(?i)\b(timed[- ]?out|timeout(?:error)? (of|after|exceeded|waiting|expired|reached)|(request|connection|network|read|operation|gateway|query|statement|socket|execution|response|lock wait|command) timeout|timeout \d+ ?m?s|timeout:|deadline exceeded|etimedout|exceeded (the )?time(out| limit)|did not (respond|answer|complete) within|no (response|answer) within|took too long|aborted due to timeout)",
    ),
    (
        QUOTA,
        r"(?i)\b(exceeded your (current )?quota|insufficient_quota|quota exceeded|quota exhausted|credit balance is too low)\b",
    ),
    (
        RATE,
        r"(?i)\b(rate[- ]?limit(ed)?( was| has been)? ?(exceeded|reached|hit|error)?|too many (concurrent |in-flight )?requests)\b",
    ),
    (
        SERVER,
        r"(?i)\b(connection (was |has been |is )?(refused|reset|closed|aborted|error|lost|broken)|connection failed|socket hang up|fetch failed|server disconnected|remote end closed|getaddrinfo|name or service not known|name resolution|network (error|failure|is unreachable|(is )?down\b)|overloaded|(failed|unable|could not|cannot) (to )?(establish a (new )?connection|connect)|certificate verify failed|ssl(error|: )|temporarily unavailable|service unavailable|bad gateway|internal server error|econn(refused|reset)|upstream (connect|request) error|no route to host|host (is )?unreachable|executable doesn't exist|server error)",
    ),
    (
        SCHEMA,
        r"(?i)(\bis not valid json\b|unexpected token .{1,20} in json|expecting value: line|json parse error|unexpected end of json|did not match (the )?(output|expected|response) schema|output schema)",
    ),
    (
        INTERRUPTED,
        r"(?i)\b(cancell?ed|was aborted|sibling tool call errored|aborted by|interrupted|sigkill|sigterm|sigint|exit (code|status):? (130|137|143)\b|exited with code (130|137|143)\b|killed)\b",
    ),
    (UNKNOWN_TOOL, r"(?i)\b(is not a valid tool|unknown tool|no such tool|tool not found)\b"),
    (
        ARGUMENTS,
        r"(?i)\b(is (a )?required( (argument|parameter|property|field))?$|missing required|required (property|parameter|argument|field)|must be ((an?|one of|at least|at most|between|greater|less|positive|of type)\b|>=?|<=?)|not a valid (integer|number|string|date|email|uuid|url|enum)|unexpected keyword argument|invalid (argument|parameter)s?|validation errors? for \w*(arguments|args)\b)",
    ),
    (
        UNAUTHORIZED,
        r"(?i)\b(invalid (api[ _-]?key|access token|credentials)|bad credentials|api[ _-]?key (is )?(missing|invalid|not set|required|expired)|token (has )?expired)\b",
    ),
];

static START_SET: LazySet = LazyLock::new(|| patterns::set(STARTS.iter().map(|(_, pattern)| *pattern)));
static ANYWHERE_SET: LazySet = LazyLock::new(|| patterns::set(ANYWHERE.iter().map(|(_, pattern)| *pattern)));

/// Words of tools that end things.
const ENDS: [&str; 8] = ["abort", "cancel", "delete", "end", "kill", "remove", "stop", "terminate"];

/// The kind that the words of `message` name.
fn named(message: &str, tool: Option<&str>) -> Option<&'static str> {
    let line = |text: &str| excerpt::cut(text.trim().lines().next().unwrap_or_default(), EXAMINED).to_owned();
    let (inner, facts) = message::unframed(excerpt::cut(message, 4 * EXAMINED));
    // A frame can be the words, as in `Input validation error: ...`.
    let (inner, whole) = (line(inner), line(message));
    // Of a mail server, a number tells that it refuses, and not that it broke.
    static MAIL: LazyPattern = LazyLock::new(|| patterns::one(r"^5\d\d[ -]5\.\d{1,3}\.\d{1,3}\b"));
    let first = |text: &str| {
        if patterns::matches(&MAIL, text) {
            return None;
        }
        let found = START_SET.as_ref()?.matches(text.as_bytes()).iter().next()?;
        STARTS.get(found).map(|(kind, _)| *kind)
    };
    if is_about_arguments_of(&inner, tool) {
        return Some(ARGUMENTS);
    }
    if already::says(&inner, tool) {
        return Some(CONFLICT);
    }
    // `Booking 12 cancelled` of a tool that cancels: the booking ended, and not the call.
    let ends = tool.is_some_and(|tool| has_word(tool, &ENDS));
    let is_state =
        |kind: &str| kind == INTERRUPTED && (ends || inner.contains("cannot be ") || inner.contains("already "));
    let is_of_request = |kind: &&str| !speaks_of_another(kind, &inner, tool, &facts) && !is_state(kind);
    if let Some(kind) = first(&inner).or_else(|| first(&whole)) {
        let is_cut_off = kind == REJECTED
            && (inner.contains(" before it could complete") || inner.contains(" before it could finish"));
        let kind = if is_cut_off { INTERRUPTED } else { kind };
        return Some(kind).filter(is_of_request);
    }
    // A tool that fails half-way raises the same exceptions.
    let general =
        ["AssertionError", "IndexError", "KeyError", "LookupError", "RuntimeError", "TypeError", "ValueError"];
    let is_general = facts.names.iter().any(|name| general.contains(&name.as_str()));
    let is_clause = is_clause(&inner) && !is_general;
    if !is_general && refused_values::refuses(&inner, is_clause) {
        return Some(ARGUMENTS).filter(is_of_request);
    }
    if let Some(kind) = sentence::kind(&whole, tool).filter(|_| !is_general) {
        return Some(kind).filter(is_of_request);
    }
    let found = ANYWHERE_SET.as_ref()?.matches(inner.as_bytes());
    let kinds = found.iter().filter_map(|number| ANYWHERE.get(number)).map(|(kind, _)| *kind);
    let known = kinds.into_iter().find(|kind| (is_clause || !proves_nothing_happened(kind)) && is_of_request(kind));
    let known = known.or_else(|| other_languages::tells_a_timeout(&inner).then_some(TIMEOUT));
    known.or_else(|| clause::kind(&inner, tool).filter(|_| !is_general).filter(is_of_request))
}

/// Words of answers: what is wrong with them was found after the tool acted.
static ANSWER: LazyPattern = LazyLock::new(|| {
    patterns::one(
        r"(?i)\b(answer|content|output|outputs|received|reply|respon[sd]\w*|results?|return(s|ed)?|structured)\b",
    )
});

/// The function, the model or the tool of which a message speaks.
static NAMED: LazyPattern = LazyLock::new(|| {
    patterns::one(
        r"(?i)(?:\b([\w.]+)\(\) (?:got|missing|takes)\b|\bvalidation errors? for (\w+)\b|^(?:unknown|unrecognized|unsupported|invalid|no such) (?:tool|function)(?: name)?(?: requested| called| available)?\s*[:'\x22`]?\s*['\x22`]?([\w.:/-]+)|^(?:tool|function) ['\x22`]?([\w.:/-]+?)['\x22`]? (?:was |is |does |could )?(?:not|unknown|disabled)\b|^['\x22`]?([\w.:/-]+?)['\x22`]? is not a valid tool|^no tool (?:named|called|with name) ['\x22`]?([\w.:/-]+)|\b(?:for|of|to) (?:the )?(?:tool|function):? ['\x22`]?([\w.:/-]+))",
    )
});

/// Functions in which frameworks run a tool.
const RUNNERS: [&str; 4] = ["run", "_run", "arun", "_arun"];

/// Whether words that would refuse the request speak of something else: another tool or function, or an answer. A tool
/// that has acted reads an answer, calls another function, or checks its own result.
fn speaks_of_another(kind: &str, line: &str, tool: Option<&str>, facts: &message::Facts) -> bool {
    if kind != ARGUMENTS && kind != UNKNOWN_TOOL {
        return false;
    }
    let is_unframed = facts.names.iter().any(|name| message::is_bare_validation(name));
    // A schema says what it expected, and what it received of the request.
    static RECEIVED: LazyPattern = LazyLock::new(|| {
        patterns::one(r#"(?i)expected [\w ]{1,40}, received \w+|"received": ?"[^"\n]*"|(declared )?input schema"#)
    });
    let plain = RECEIVED.as_ref().map_or(line.into(), |received| received.replace_all(line, ""));
    let is_of_arguments = |line: &str| is_about_arguments_of(line, tool);
    names_another(line, tool)
        || kind == ARGUMENTS && (patterns::matches(&ANSWER, &plain) || is_unframed && !is_of_arguments(line))
}

/// Whether a line names another function, model or tool than that of the call. A tool that calls tools names those.
fn names_another(line: &str, tool: Option<&str>) -> bool {
    let named = NAMED.as_ref().and_then(|named| named.captures(line));
    let named = named.as_ref().and_then(|named| named.iter().skip(1).flatten().next()).map(|name| name.as_str());
    let tool = tool.filter(|tool| !words(tool).iter().any(|word| word == "tool"));
    named.zip(tool).is_some_and(|(name, tool)| !is_named_after(name.trim_end_matches(['.', ':']), tool))
}

/// Whether a message speaks of another function, model or tool than that of the call: then no code in it is about the call.
pub(super) fn is_about_another(message: &str, tool: Option<&str>) -> bool {
    let (inner, _) = message::unframed(excerpt::cut(message, 4 * EXAMINED));
    names_another(excerpt::cut(inner.lines().next().unwrap_or_default(), EXAMINED), tool)
}

/// Whether a function, a model or a tool is that of the call, as far as its name tells: `pay.refund`, `pay_refund()`,
/// `refundArguments`.
fn is_named_after(name: &str, tool: &str) -> bool {
    let plain = |text: &str| {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect::<String>()
    };
    let last = name.rsplit('.').next().unwrap_or(name);
    let (stem, tool) = (plain(name), plain(tool));
    let stem = ["arguments", "args", "input", "params", "schema", "action", "request", "tool"]
        .iter()
        .find_map(|end| stem.strip_suffix(end))
        .unwrap_or(&stem);
    let is_part = |stem: &str| stem.len() > 2 && (tool.contains(stem) || stem.ends_with(&*tool));
    stem.is_empty()
        || stem == tool
        || ["tool", "function", "call"].contains(&stem)
        || RUNNERS.contains(&last)
        || is_part(stem)
        || is_part(&plain(last))
}

/// Pydantic's report on the arguments of a tool names the model after the tool.
fn is_about_arguments_of(line: &str, tool: Option<&str>) -> bool {
    let Some((count, rest)) = line.split_once(" validation error") else { return false };
    let name = rest
        .trim_start_matches('s')
        .strip_prefix(" for ")
        .map(|rest| rest.split(['\n', ' ', ':']).next().unwrap_or(rest));
    let called = |name: &str| name.strip_prefix("call[").and_then(|name| name.strip_suffix(']')).map(str::to_owned);
    let of_tool = |name: &str| tool.is_some_and(|tool| is_named_after(name, tool));
    let is_of_call = |name: &str| called(name).is_some_and(|called| tool.is_none() || of_tool(&called));
    count.parse::<u32>().is_ok() && name.is_some_and(|name| of_tool(name) || is_of_call(name))
}

/// The kind that the words of `message` name, unless the message tells of something done and the kind would deny it.
pub(super) fn of_message(message: &str, tool: Option<&str>) -> Option<&'static str> {
    named(message, tool).filter(|kind| !proves_nothing_happened(kind) || !tells_of_something_done(message))
}

/// Whether a message is of who called the tool and of the request, and not of the program that ran.
pub(super) fn is_of_caller(message: &str) -> bool {
    const WORDS: [&str; 16] = [
        "approv",
        "arguments",
        "blocked",
        "hook",
        "mcp error",
        "not allowed",
        "parameter",
        "permission to",
        "policy",
        "property",
        "refused",
        "reject",
        "sandbox",
        "schema",
        "tool",
        "validation",
    ];
    let message = excerpt::cut(message, EXAMINED).to_lowercase();
    WORDS.iter().any(|word| message.contains(word))
}

/// Whether a line is one short clause: words within a longer text prove nothing about a write.
fn is_clause(line: &str) -> bool {
    let line = line.trim_end_matches(['.', '!']);
    let broken = [";", ". ", " but ", " however", " although ", " after ", " then ", " and "];
    line.len() <= CLAUSE && !broken.iter().any(|mark| line.contains(mark))
}
