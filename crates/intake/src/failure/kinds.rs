//! The vocabulary of error kinds: the names, numbers and words by which upstreams tell what went wrong.
//!
//! Sources: JSON-RPC 2.0 and the Model Context Protocol; RFC 9110 (HTTP); `google/rpc/code.proto` (gRPC, Google); the error
//! pages of OpenAI, Anthropic and Stripe; botocore's `retries/standard.py` and the AWS "common errors"; PostgreSQL's
//! "error codes"; Inspect's `ToolCallError`; the exception names of Python, requests, httpx, Node, undici and Playwright.

use super::word_list::{WordList, letters};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The kind of a failure that nothing names.
pub(crate) const TOOL_ERROR: &str = "tool_error";
pub(super) const TIMEOUT: &str = "timeout";
pub(super) const RATE: &str = "429_rate_limited";
pub(super) const QUOTA: &str = "quota_exhausted";
pub(super) const CONFLICT: &str = "409_conflict";
pub(super) const PRECONDITION: &str = "412_precondition";
pub(super) const UNAUTHORIZED: &str = "401_unauthorized";
pub(super) const FORBIDDEN: &str = "403_forbidden";
pub(super) const NOT_FOUND: &str = "404_not_found";
pub(super) const NOT_SENT: &str = "not_sent";
pub(super) const SERVER: &str = "5xx";
pub(super) const SCHEMA: &str = "schema_validation";
pub(super) const ARGUMENTS: &str = "invalid_arguments";
pub(super) const UNKNOWN_TOOL: &str = "unknown_tool";
pub(super) const REJECTED: &str = "user_rejected";
pub(super) const APPROVAL_TIMEOUT: &str = "approval_timeout";
pub(super) const INTERRUPTED: &str = "interrupted";

/// Names of errors by kind: codes, types and exceptions, in lower case and without `Error`, `Exception` and marks. A name
/// that ends with `*` is a prefix.
const NAMES: [(&str, &str); 17] = [
    (
        TIMEOUT,
        "timeout timedout readtimeout connecttimeout connectiontimeout pooltimeout writetimeout httptimeout sockettimeout \
         asynciotimeout requesttimeout requesttimedout apitimeout apiconnectiontimeout deadlineexceeded etimedout econnaborted \
         esockettimedout undicierrheaderstimeout underrheaderstimeout underrbodytimeout underrconnecttimeout timeoutexpired \
         headerstimeout bodytimeout gatewaytimeout statementtimeout querytimeout lambdatimeout tooltimeout executiontimeout \
         errtimedout errconnectiontimedout executiontimeexceeded commandtimeout toolcalltimeout actiontimeout requesttimeoutexception",
    ),
    (
        RATE,
        "ratelimit ratelimited ratelimitexceeded ratelimitreached toomanyrequests throttling* throttled throttle \
         slowdown requestlimitexceeded userratelimitexceeded bandwidthlimitexceeded provisionedthroughputexceeded* locktimeout \
         requestthrottled* priorrequestnotcomplete limitexceeded ec2throttled transactioninprogressthrottled",
    ),
    (
        QUOTA,
        "insufficientquota quotaexceeded quotaexhausted billing billinghardlimitreached servicequotaexceeded maxusesexceeded \
         dailylimitexceeded creditbalancetoolow paymentrequired outofcredits usagelimitreached insufficientcredits",
    ),
    (
        CONFLICT,
        "conflict alreadyexists aborted idempotency idempotencykeyinuse idempotentparametermismatch \
         conditionalcheckfailed* transactioninprogress transactionconflict* resourceinuse resourceconflict optimisticlock* \
         eexist fileexists uniqueviolation integrity 23505 duplicatekey resourcealreadyexists entityalreadyexists \
         conditionalrequestconflict alreadyprocessed",
    ),
    (PRECONDITION, "preconditionfailed failedprecondition preconditionrequired preconditionnotmet"),
    (
        UNAUTHORIZED,
        "unauthenticated unauthorized authentication authenticationfailed invalidapikey expiredtoken* \
         tokenexpired invalidtoken unrecognizedclient* invalidclienttokenid nocredentials invalidaccesskeyid \
         signaturedoesnotmatch incompletesignature missingauthenticationtoken authfailure invalidauth notauthed \
         authenticationrequired credentialsexpired authinvalid authmissing",
    ),
    (
        FORBIDDEN,
        "permissiondenied permission forbidden accessdenied* unauthorizedoperation eacces eperm \
         insufficientpermissions insufficientscope missingscope notallowed 42501 authorizationfailed accessforbidden \
         insufficientprivilege urlnotallowed authzdenied policydenied policyviolation blockedbypolicy",
    ),
    (
        NOT_FOUND,
        "notfound resourcenotfound* filenotfound enoent nosuchkey nosuchbucket nosuchentity modelnotfound \
         urlnotaccessible 32002 resourcemissing pagenotfound entitynotfound objectnotfound usernotfound",
    ),
    (
        NOT_SENT,
        "connectionrefused econnrefused enotfound eaiagain gaierror errnamenotresolved errconnectionrefused nameresolution \
         unknownhost nosuchhost dns hostnotfound",
    ),
    (
        SERVER,
        "internal internalservererror internalfailure internalserver serviceunavailable unavailable server servererror \
         api apiconnection overloaded connection connectionreset connectionaborted brokenpipe econnreset \
         epipe enetunreach ehostunreach underrsocket remotedisconnected \
         remoteprotocol connect network badgateway dataloss newconnection serverdisconnected clientconnector* \
         clientconnection sslerror ssl certificateverify maxretry sandboxunavailable backend serviceexception \
         requesterror errconnection* errproxyconnection* errinternetdisconnected errnetwork* \
         erraddressunreachable closedresource brokenresource",
    ),
    (SCHEMA, "jsondecode outputvalidation invalidresponse responsevalidation malformedresponse outputparser"),
    (
        ARGUMENTS,
        "invalidargument invalidarguments invalidparams invalidparameter* invalidrequest badrequest \
         validationexception invalidinput invalidtoolinput inputvalidation toolinputvalidation missingparameter \
         missingrequiredparameter parsing unprocessableentity unprocessable outofrange invalidparametercombination \
         invalidtoolarguments requestvalidation 32602 32600 32700 invalidtype toolinputparsing illegalargument \
         querytoolong urltoolong missingargument badarguments validation",
    ),
    (
        UNKNOWN_TOOL,
        "toolnotregistered unknownaction unknowntool toolnotfound nosuchtool unknownfunction methodnotfound \
         32601 unavailabletool functionnotfound toolunavailable unimplemented invalidtool notool",
    ),
    (
        REJECTED,
        "userrejected userdenied userdeclined executiondenied outputdenied declined denied deny approval rejectedbyuser \
         permissionrejected usercancelled usercanceled tooluserejected approvaldenied notapproved toolexecutiondenied",
    ),
    (
        APPROVAL_TIMEOUT,
        "approvaltimeout approvaltimedout approvalexpired approvalrequesttimeout approvalrequestexpired confirmationtimeout",
    ),
    (
        INTERRUPTED,
        "interrupted cancelled canceled cancelederror abort aborterror keyboardinterrupt userinterrupt \
         asynciocancelled killed operationcancelled operationcanceled taskcancelled requestcancelled toolcancelled clientclosedrequest",
    ),
    (TOOL_ERROR, ""),
];

/// Names that say no more than that there was an error.
static EMPTY_NAMES: WordList = WordList::of(
    "error exception tool runtime value type key attribute index assertion failure failed unknown other mcp \
                           toolexecution execution null none true false object general completed 32603",
);

/// The kind of an HTTP status.
pub(super) fn of_status(status: u16) -> Option<&'static str> {
    Some(match status {
        400 | 422 => ARGUMENTS,
        401 => UNAUTHORIZED,
        402 => return None, // a declined card, or an empty account
        403 | 451 => FORBIDDEN,
        404 | 410 => NOT_FOUND,
        408 | 504 | 524 => TIMEOUT,
        409 => CONFLICT,
        412 | 428 => PRECONDITION,
        429 => RATE,
        499 => INTERRUPTED,
        500..=599 => SERVER,
        _ => return None,
    })
}

/// The kind of a name: an error code, an error type or an exception.
pub(super) fn of_name(name: &str) -> Option<&'static str> {
    if let Some(number) = name.trim().strip_prefix('-') {
        return lookup(number);
    }
    if let Some(status) = name.trim().parse().ok().filter(|status| (400..=599).contains(status)) {
        return of_status(status);
    }
    // `HTTP_500`, `HTTP 429`
    let status =
        name.trim().get(..4).filter(|head| head.eq_ignore_ascii_case("http")).and_then(|_| name.trim().get(4..));
    if let Some(status) = status.and_then(|rest| rest.trim_start_matches(['_', '-', ' ']).parse().ok()) {
        return of_status(status);
    }
    // `requests.exceptions.ReadTimeout`, `com.amazonaws#ThrottlingException`, `StatusCode.UNAVAILABLE`
    let last = name.trim().rsplit(['.', '#', '/', ':']).next().unwrap_or(name);
    let plain = plain(last);
    if plain.is_empty() || plain.len() > 60 {
        return None;
    }
    let short = ["exception", "error", "fault"].iter().find_map(|ending| plain.strip_suffix(ending));
    lookup(&plain).or_else(|| lookup(short.filter(|short| !short.is_empty())?))
}

/// The name of an error number of Linux, as Python prints it.
pub(super) fn of_errno(number: u16) -> Option<&'static str> {
    Some(match number {
        1 => "EPERM",
        2 => "ENOENT",
        13 => "EACCES",
        17 => "EEXIST",
        32 => "EPIPE",
        104 => "ECONNRESET",
        110 => "ETIMEDOUT",
        111 => "ECONNREFUSED",
        _ => return None,
    })
}

/// Whether a name is that of an upstream that refused a request before it acted.
pub(super) fn names_refusal(name: &str) -> bool {
    of_name(name).is_some_and(|kind| {
        [NOT_SENT, RATE, QUOTA, PRECONDITION, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, ARGUMENTS, UNKNOWN_TOOL, REJECTED]
            .contains(&kind)
    })
}

/// Whether a text is an error code and no plain word: `rate_limit_exceeded`, `PERMISSION_DENIED`, `ECONNRESET`.
pub(super) fn is_code(text: &str) -> bool {
    const ENDINGS: [&str; 6] = ["_error", "_exception", "_exceeded", "_exhausted", "_denied", "_declined"];
    let is_identifier = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_errno = text.starts_with('E') && text.bytes().all(|byte| byte.is_ascii_uppercase());
    let lower = || text.to_ascii_lowercase();
    is_identifier
        && (text.contains('_') || is_errno)
        && text.len() <= 80
        && (of_name(text).is_some() || ENDINGS.iter().any(|ending| lower().ends_with(ending)))
}

/// A name in small letters, without marks: `errorCode` and `error_code` are one.
pub(super) fn plain(name: &str) -> String {
    letters(name).map(char::from).collect()
}

/// Whether a name says no more than that there was an error.
pub(super) fn says_nothing(name: &str) -> bool {
    let plain = plain(name);
    let short = plain.strip_suffix("error").or_else(|| plain.strip_suffix("exception")).unwrap_or(&plain);
    short.is_empty() || EMPTY_NAMES.has(short) || EMPTY_NAMES.has(&plain)
}

/// The names and beginnings in [`NAMES`], each with the index of its kind.
fn indexed() -> impl DoubleEndedIterator<Item = (&'static str, usize)> {
    NAMES
        .iter()
        .enumerate()
        .flat_map(|(index, (_, names))| names.split_ascii_whitespace().map(move |name| (name, index)))
}

/// The index of each whole name; the first counts.
static WHOLE: LazyLock<BTreeMap<&str, usize>> = LazyLock::new(|| indexed().rev().collect());

/// The index of each beginning of names.
static BEGINNINGS: LazyLock<Vec<(&str, usize)>> =
    LazyLock::new(|| indexed().filter_map(|(name, index)| Some((name.strip_suffix('*')?, index))).collect());

fn lookup(plain: &str) -> Option<&'static str> {
    if EMPTY_NAMES.has(plain) {
        return None;
    }
    let begun = BEGINNINGS.iter().find(|(beginning, _)| plain.starts_with(beginning)).map(|(_, index)| *index);
    let index = WHOLE.get(plain).copied().into_iter().chain(begun).min()?;
    NAMES.get(index).map(|(kind, _)| *kind)
}

/// Whether words or a second code tell more than the code beside them: upstreams use general codes for special failures.
pub(super) fn is_more_specific(text: &str, coded: &str) -> bool {
    match coded {
        RATE => text == QUOTA,
        QUOTA | SCHEMA | NOT_SENT | UNKNOWN_TOOL | REJECTED | TIMEOUT | CONFLICT | PRECONDITION => false,
        FORBIDDEN => matches!(text, RATE | QUOTA | REJECTED),
        ARGUMENTS => matches!(
            text,
            UNKNOWN_TOOL | SCHEMA | RATE | QUOTA | UNAUTHORIZED | TIMEOUT | CONFLICT | NOT_FOUND | PRECONDITION
        ),
        SERVER => matches!(text, TIMEOUT | RATE | QUOTA | NOT_SENT),
        NOT_FOUND => text == UNKNOWN_TOOL,
        INTERRUPTED => text == REJECTED || text == TIMEOUT,
        _ => false,
    }
}

/// Whether a text is nothing but the reason phrase of an HTTP error.
pub(super) fn is_reason_phrase(text: &str) -> bool {
    status_of_phrase(text).is_some()
}

/// The status of a text that is nothing but the reason phrase of an HTTP error.
pub(super) fn status_of_phrase(text: &str) -> Option<u16> {
    const PHRASES: [(&str, u16); 30] = [
        ("bad request", 400),
        ("unauthorized", 401),
        ("missing authentication token", 401),
        ("payment required", 402),
        ("forbidden", 403),
        ("not found", 404),
        ("method not allowed", 405),
        ("not acceptable", 406),
        ("request timeout", 408),
        ("conflict", 409),
        ("gone", 410),
        ("length required", 411),
        ("precondition failed", 412),
        ("payload too large", 413),
        ("request entity too large", 413),
        ("uri too long", 414),
        ("unsupported media type", 415),
        ("range not satisfiable", 416),
        ("expectation failed", 417),
        ("unprocessable entity", 422),
        ("unprocessable content", 422),
        ("failed dependency", 424),
        ("too many requests", 429),
        ("internal server error", 500),
        ("not implemented", 501),
        ("bad gateway", 502),
        ("service unavailable", 503),
        ("gateway timeout", 504),
        ("gateway time-out", 504),
        ("endpoint request timed out", 504),
    ];
    let plain = text.trim().trim_end_matches(['.', '!']);
    PHRASES.iter().find(|(phrase, _)| plain.eq_ignore_ascii_case(phrase)).map(|(_, status)| *status)
}

/// Whether a failure of this kind says that the call did nothing.
pub(super) fn proves_nothing_happened(kind: &str) -> bool {
    matches!(
        kind,
        NOT_SENT | QUOTA | RATE | UNKNOWN_TOOL | ARGUMENTS | UNAUTHORIZED | FORBIDDEN | REJECTED | PRECONDITION
    )
}
