//! Why something failed, was stopped, was refused or was given up, and what a failed answer says. Reads no header's meaning.

use crate::ids::ReasonId;
use crate::time::Duration;
use crate::words;

words! {
    /// Why a further attempt was suppressed.
    pub enum SuppressionReason {
        /// The tool is a write that is not idempotent, the call has no key, and an earlier attempt may have acted.
        MayHaveActed = "may_have_acted",
        /// The same, and an earlier attempt did act.
        HasActed = "has_acted",
        /// The tool is declared never to be sent a request again.
        Never = "never",
    }
}

words! {
    /// Why a reversal was refused.
    pub enum ReversalRefusal {
        /// The call carries no reversal token.
        NoToken = "no_token",
        /// The token was sent for redemption before, whatever the answer.
        TokenRedeemed = "token_redeemed",
        /// The upstream refused the redemption.
        UpstreamRefused = "upstream_refused",
        /// The redemption timed out; it may have been redeemed.
        NoAnswer = "no_answer",
        /// The redemption failed without a clear refusal; it may have been redeemed.
        UpstreamFailed = "upstream_failed",
    }
}

impl ReversalRefusal {
    /// Whether the token was sent: the guard let it pass, and the upstream has seen it.
    pub const fn was_sent(self) -> bool {
        match self {
            ReversalRefusal::NoToken | ReversalRefusal::TokenRedeemed => false,
            ReversalRefusal::UpstreamRefused | ReversalRefusal::NoAnswer | ReversalRefusal::UpstreamFailed => true,
        }
    }
}

const METHOD_NOT_FOUND: &str = "-32601";
const INVALID_PARAMS: &str = "-32602";
const INTERNAL_ERROR: &str = "-32603";

words! {
    /// Why a call was refused before its first attempt, in the order of the admission checks: the JSON-RPC code that the
    /// caller gets, and what would be allowed instead.
    pub enum AdmissionRefusal: (&'static str, &'static str) {
        /// The graph has no such action.
        UnknownAction = "unknown_action" => (METHOD_NOT_FOUND, "call an action of the graph"),
        /// The graph does not allow the action after the last one, or withholds it.
        InvalidTransition = "invalid_transition" => (INTERNAL_ERROR, "call an action that is valid now"),
        /// The action's own validation failed.
        ValidationFailed = "validation_failed" => (INVALID_PARAMS, "send arguments that fit"),
        /// The tool is not declared, and the playbook refuses undeclared tools.
        NotFound = "not_found" => (METHOD_NOT_FOUND, "call a declared tool"),
        /// The arguments do not fit the tool's schema.
        Schema = "schema" => (INVALID_PARAMS, "send arguments that fit"),
        /// The tool needs an idempotency key.
        KeyMissing = "key_missing" => (INVALID_PARAMS, "send the call with an idempotency key"),
        /// The idempotency key is too short or too long.
        KeyLength = "key_length" => (INVALID_PARAMS, "send a key of an allowed length"),
        /// The idempotency key belongs to another request.
        KeyReused = "key_reused" => (INVALID_PARAMS, "send another request under a key of its own"),
        /// A call with the idempotency key is in flight.
        KeyInFlight = "key_in_flight" => (INTERNAL_ERROR, "wait until the call with this key has ended"),
        /// An earlier call with the idempotency key may have acted, and the upstream pays no attention to keys.
        Unsettled = "unsettled" => (INTERNAL_ERROR, "find out first what the earlier call with this key did"),
        /// The run has no tool calls left.
        BudgetExceeded = "budget_exceeded" => (INTERNAL_ERROR, "end the run, or give it more tool calls"),
        /// The breaker of the tool's server is open.
        CircuitOpen = "circuit_open" => (INTERNAL_ERROR, "make the call when the breaker lets one pass"),
        /// A call of the transaction is not known to be done, or state of it was lost in a crash.
        RolledBack = "rolled_back" => (INTERNAL_ERROR, "make the failed call again, or begin the transaction again"),
        /// Too many calls wait for a permit.
        QueueFull = "queue_full" => (INTERNAL_ERROR, "send the call again when others have ended"),
    }
}

impl AdmissionRefusal {
    /// The refusals of the gate.
    pub const OF_GATE: [AdmissionRefusal; 3] =
        [AdmissionRefusal::UnknownAction, AdmissionRefusal::InvalidTransition, AdmissionRefusal::ValidationFailed];

    /// Whether the gate refuses for this reason.
    pub const fn is_of_gate(self) -> bool {
        matches!(
            self,
            AdmissionRefusal::UnknownAction | AdmissionRefusal::InvalidTransition | AdmissionRefusal::ValidationFailed
        )
    }

    /// The JSON-RPC code that the caller gets.
    pub const fn code(self) -> &'static str {
        self.row().0
    }

    /// What would be allowed instead, as a sentence without its full stop.
    pub const fn instead(self) -> &'static str {
        self.row().1
    }
}

words! {
    /// The limit that ended a call.
    pub enum StopReason {
        /// The upstream said that the call is not to be sent again.
        ToldNotTo = "told_not_to",
        /// The verdict's own number of retries.
        MaxRetries = "max_retries",
        /// `limits.max_attempts`.
        MaxAttempts = "max_attempts",
        /// `limits.deadline_ms`.
        Deadline = "deadline",
        /// `limits.call_timeout_ms`.
        CallTimeout = "call_timeout",
        /// The upstream asked to wait longer than `max_wait_ms`.
        MaxWait = "max_wait",
        /// The run has no tool calls left.
        Budget = "budget",
        /// The breaker of the tool's server is open.
        CircuitOpen = "circuit_open",
        /// The retry budget of the tool's server is empty.
        RetryBudget = "retry_budget",
        /// `max_refreshes`.
        MaxRefreshes = "max_refreshes",
        /// The refresh itself failed.
        RefreshFailed = "refresh_failed",
        /// A reversal was refused, and a study playbook gives up then.
        ReversalRefused = "reversal_refused",
    }
}

words! {
    /// What opened a breaker.
    pub enum OpenReason {
        /// The part of failures.
        FailureRate = "failure_rate",
        /// The number of failures.
        FailureCount = "failure_count",
        /// The part of slow answers.
        SlowCallRate = "slow_call_rate",
        /// The answers to its probes.
        Probe = "probe",
        /// The half-open period took too long.
        MaxWait = "max_wait",
        /// Somebody opened it.
        Forced = "forced",
    }
}

/// Why a call was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum DeprecationReason {
    /// The playbook's own `reason`.
    Stated(ReasonId),
    /// `refresh_evidence: { then: abort }`.
    RefreshAbort,
    /// A study playbook gives up after the first refresh that did not help.
    RefreshFutile,
}

words! {
    /// What tells whether a recorded result failed.
    pub enum StatusFrom {
        /// The source's own flag or status.
        Flag = "flag",
        /// An HTTP status or an error code that the source names.
        Code = "code",
        /// The structure of the body.
        Body = "body",
        /// The beginning of the text.
        Text = "text",
    }
}

words! {
    /// What names the kind of an error.
    pub enum KindFrom {
        /// The source names it.
        Flag = "flag",
        /// A status, an error code or the name of an exception.
        Code = "code",
        /// The words of the message.
        Text = "text",
    }
}

/// The error object of a failed answer, as the adapter reported it.
#[derive(Clone, Debug, Default, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(not(test), derive(PartialEq))]
#[cfg_attr(test, expect(clippy::derived_hash_with_manual_eq, reason = "the same equality, but counted"))]
pub struct ErrorFacts {
    /// The adapter's name for what went wrong.
    pub kind: Option<Box<str>>,
    /// The message for people.
    pub message: Option<Box<str>>,
    /// The transport's status number.
    pub status: Option<u16>,
    /// The upstream's own error name.
    pub code: Option<Box<str>>,
    /// How long the upstream asks to wait.
    pub retry_after: Option<Duration>,
    /// Whether the upstream says that the call should be sent again.
    pub should_retry: Option<bool>,
    /// Whether the agent was told that it may make the call again: what a harness recorded, not what the upstream says.
    pub retriable: Option<bool>,
    /// The headers of the answer, as far as the adapter kept them.
    pub headers: Headers,
    /// What an import took the kind from; none: the trace gives it.
    pub kind_from: Option<KindFrom>,
}

/// The headers by which upstreams say whether a call should be sent again.
const SHOULD_RETRY: [&str; 2] = ["x-should-retry", "stripe-should-retry"];

impl ErrorFacts {
    /// What an attempt without an answer within its timeout failed with.
    pub fn timeout(within: Duration) -> ErrorFacts {
        ErrorFacts {
            kind: Some("timeout".into()),
            message: Some(format!("no answer within {within} ms").into()),
            ..ErrorFacts::default()
        }
    }

    /// The error of a request that was out when its dispatcher died: whoever sent it is gone.
    pub fn interrupted() -> ErrorFacts {
        ErrorFacts {
            kind: Some("interrupted".into()),
            message: Some("the dispatcher died while the request was out".into()),
            ..ErrorFacts::default()
        }
    }

    /// Whether it is an error of `timeout`, as a dispatcher of ours records it.
    pub fn is_own_timeout(&self) -> bool {
        let says = self.message.as_deref().is_some_and(|message| message.starts_with("no answer within "));
        says && self.kind.as_deref() == Some("timeout")
    }

    /// The timeout that such an error names.
    pub fn own_timeout(&self) -> Option<Duration> {
        let message = self.message.as_deref().filter(|_| self.is_own_timeout())?;
        let within = message.strip_prefix("no answer within ")?.strip_suffix(" ms")?;
        Some(Duration::from_millis(within.replace(',', "").parse().ok()?))
    }

    /// The check of a gate that it names, by its kind.
    pub fn gate_refusal(&self) -> Option<AdmissionRefusal> {
        let kind = self.kind.as_deref()?;
        AdmissionRefusal::OF_GATE.into_iter().find(|why| why.as_str() == kind)
    }

    /// Whether it says that there is no such tool, which is what importers make of an unknown action.
    pub fn is_of_unknown_tool(&self) -> bool {
        self.kind.as_deref() == Some("unknown_tool")
    }

    /// Whether the upstream says that the call should be sent again: the error's own field, else a header.
    pub fn says_to_retry(&self) -> Option<bool> {
        let said = |name: &&str| match self.headers.first(name)? {
            value if value.eq_ignore_ascii_case("true") => Some(true),
            value if value.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        };
        let of_headers = || if self.headers.is_empty() { None } else { SHOULD_RETRY.iter().find_map(said) };
        self.should_retry.or_else(of_headers)
    }
}

#[cfg(test)]
impl PartialEq for ErrorFacts {
    fn eq(&self, other: &ErrorFacts) -> bool {
        crate::ids::comparisons::count();
        let all = |error: &ErrorFacts| {
            let ErrorFacts { kind, message, status, code, retry_after, should_retry, retriable, headers, kind_from } =
                error.clone();
            (kind, message, status, code, retry_after, should_retry, retriable, headers, kind_from)
        };
        all(self) == all(other)
    }
}

/// One header of an answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Header {
    /// Its name in lower case.
    pub name: Box<str>,
    /// Its value without outer blanks.
    pub value: Box<str>,
}

/// The headers of a failed answer, sorted by name. A header with several values stands once for each, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Headers(Box<[Header]>); // usually empty, and then without an allocation

impl Headers {
    /// The headers of these names and values, in any order and case.
    pub fn new<N: AsRef<str>, V: AsRef<str>>(all: impl IntoIterator<Item = (N, V)>) -> Headers {
        let header = |(name, value): (N, V)| Header {
            name: name.as_ref().trim().to_ascii_lowercase().into(),
            value: value.as_ref().trim().into(),
        };
        let mut all: Vec<Header> = all.into_iter().map(header).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name)); // stable: the values of one header keep their order
        Headers(all.into())
    }

    /// Every header, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = &Header> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The headers by name, each with its values.
    pub fn by_name(&self) -> impl Iterator<Item = &[Header]> {
        self.0.chunk_by(|a, b| a.name == b.name)
    }

    /// The values of the header `name`, which is in lower case; empty if it is absent.
    pub fn values(&self, name: &str) -> &[Header] {
        let start = self.0.partition_point(|header| *header.name < *name);
        let rest = self.0.get(start..).unwrap_or_default();
        let count = rest.iter().take_while(|header| *header.name == *name).count();
        rest.get(..count).unwrap_or_default()
    }

    /// Its first value.
    pub fn first(&self, name: &str) -> Option<&str> {
        self.values(name).first().map(|header| &*header.value)
    }
}

/// What a failed answer says of waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ServerSays {
    /// How long to wait before the call is sent again.
    pub wait: Option<Duration>,
    /// What is wrong with the headers that say it, up to the first that can be read.
    pub faults: WishFaults,
}

/// What can be wrong with a wish to wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct WishFaults {
    /// No source can read the value.
    pub invalid: bool,
    /// It is below zero, or a time that has passed.
    pub negative: bool,
    /// The header has several values.
    pub multiple: bool,
}

impl WishFaults {
    /// Whether both have one of the faults.
    pub const fn intersects(self, other: WishFaults) -> bool {
        (self.invalid && other.invalid) || (self.negative && other.negative) || (self.multiple && other.multiple)
    }
}

impl From<Option<Duration>> for ServerSays {
    fn from(wait: Option<Duration>) -> ServerSays {
        ServerSays { wait, faults: WishFaults::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_errors_own_field_says_more_than_a_header() {
        let said = |should_retry, headers: &[(&str, &str)]| {
            ErrorFacts { should_retry, headers: Headers::new(headers.iter().copied()), ..ErrorFacts::default() }
                .says_to_retry()
        };
        assert_eq!(said(None, &[]), None);
        assert_eq!(said(None, &[("X-Should-Retry", "False")]), Some(false));
        assert_eq!(said(None, &[("stripe-should-retry", "true")]), Some(true));
        assert_eq!(said(None, &[("x-should-retry", "perhaps"), ("stripe-should-retry", "true")]), Some(true));
        assert_eq!(said(Some(true), &[("x-should-retry", "false")]), Some(true));
    }

    #[test]
    fn headers_are_found_by_name_whatever_their_order_and_case() {
        let headers = Headers::new([("X-B", " 2 "), ("x-a", "1"), ("x-b", "1"), ("X-C", "")]);
        let values = |name| headers.values(name).iter().map(|header| &*header.value).collect::<Vec<_>>();
        assert_eq!((values("x-a"), values("x-b"), values("x-c")), (vec!["1"], vec!["2", "1"], vec![""]));
        assert_eq!((headers.first("x-b"), headers.first("x"), headers.first("x-d")), (Some("2"), None, None));
        assert_eq!(headers.by_name().map(<[Header]>::len).collect::<Vec<_>>(), [1, 2, 1]);
        assert_eq!(size_of::<Headers>(), 2 * size_of::<usize>());
    }
}
