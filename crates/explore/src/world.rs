//! What a failed answer says of the effect of its request, whatever a playbook says of it: the table of the world. Reads
//! the answer alone.

use playproof_engine::classify::{reads_as_denial, reads_as_processed};
use playproof_engine::event::ErrorFacts;

/// What a failed answer can hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reading {
    /// The request did nothing.
    Nothing,
    /// The request did nothing, or it acted.
    MayHaveActed,
    /// An earlier request under the key acted: comes only then.
    Processed,
    /// An earlier request under the key is at work: comes only then.
    InFlight,
    /// Only the tool's own words say it: the playbook's `effect` is believed.
    Believed,
}

/// One row of the table: the first that holds reads an answer.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name, for people and for assumptions.
    pub name: &'static str,
    /// What an answer of this row can hide.
    pub reading: Reading,
    /// Where this is known from.
    pub source: &'static str,
    /// Whether it holds only as long as refusals did nothing.
    pub is_refusal: bool,
    /// Answers of this row that an upstream may give to any call: kind, status, message.
    pub examples: &'static [Example],
    holds: fn(&Seen<'_>) -> bool,
}

/// The kind, the status and the message of an answer.
pub type Example = (Option<&'static str>, Option<u16>, Option<&'static str>);

/// What the table looks at.
struct Seen<'a> {
    kind: &'a str,
    /// The kind as a plain name; the code where the kind names nothing.
    name: &'a str,
    status: Option<u16>,
    message: &'a str,
    error: &'a ErrorFacts,
}

/// The table.
pub const WORLD: [Row; 17] = [
    Row {
        name: "no_connection",
        reading: Reading::Nothing,
        source: "RFC 9110, 9.2.2: a client may send a request again if it knows that it was never sent",
        is_refusal: false,
        examples: &[(Some("not_sent"), None, None)],
        holds: |seen| NEVER_SENT.contains(&seen.name),
    },
    Row {
        name: "no_answer",
        reading: Reading::MayHaveActed,
        source: "RFC 9110, 9.2.2: a connection that closes before the answer says nothing of the request",
        is_refusal: false,
        examples: &[(Some("timeout"), None, None)],
        holds: |seen| names_no_answer(seen.name),
    },
    Row {
        name: "broken_connection",
        reading: Reading::MayHaveActed,
        source: "RFC 9110, 9.2.2: a connection that was made and broke says nothing of the request",
        is_refusal: false,
        examples: &[(Some("network_error"), None, None)],
        holds: |seen| BROKEN.contains(&seen.name),
    },
    Row {
        name: "unreadable_answer",
        reading: Reading::MayHaveActed,
        source: "an answer that breaks its schema was written by a tool that had run",
        is_refusal: false,
        examples: &[(Some("schema_validation"), None, None)],
        holds: |seen| UNREADABLE.contains(&seen.name),
    },
    Row {
        name: "interrupted",
        reading: Reading::MayHaveActed,
        source: "an interrupted program keeps what it has done before",
        is_refusal: false,
        examples: &[(Some("interrupted"), None, None)],
        holds: |seen| seen.kind == "interrupted",
    },
    Row {
        name: "key_processed",
        reading: Reading::Processed,
        source: "draft-ietf-httpapi-idempotency-key-header, 2.6",
        is_refusal: false,
        examples: &[(Some("409_conflict"), Some(409), Some("idempotency_key already processed"))],
        holds: |seen| reads_as_processed(seen.error, true),
    },
    Row {
        name: "key_in_flight",
        reading: Reading::InFlight,
        source: "draft-ietf-httpapi-idempotency-key-header, 2.6: 409 while the first request is at work",
        is_refusal: false,
        examples: &[(Some("409_conflict"), Some(409), Some("a request with this idempotency_key is in flight"))],
        holds: |seen| {
            let is_at_work = IN_FLIGHT.iter().any(|words| seen.message.contains(words));
            let is_done = DONE.iter().any(|words| seen.message.contains(words));
            seen.status == Some(409) && is_at_work && !is_done
        },
    },
    Row {
        name: "conflict",
        reading: Reading::MayHaveActed,
        source: "RFC 9110, 15.5.10: a conflict with the state, which an earlier request may have made",
        is_refusal: false,
        examples: &[(None, Some(409), None)],
        holds: |seen| seen.status == Some(409) && seen.message.is_empty(),
    },
    Row {
        name: "conflict_in_own_words",
        reading: Reading::Believed,
        source: "the words of a tool mean what its playbook says",
        is_refusal: false,
        examples: &[],
        holds: |seen| seen.status == Some(409),
    },
    Row {
        name: "gave_up_waiting",
        reading: Reading::MayHaveActed,
        source: "RFC 9110, 15.5.9 (408); RFC 4918, 11.4 (424); nginx, ngx_http_request.h (499)",
        is_refusal: false,
        examples: &[(None, Some(408), None), (None, Some(424), None), (None, Some(499), None)],
        holds: |seen| matches!(seen.status, Some(408 | 424 | 499)),
    },
    Row {
        name: "server_error",
        reading: Reading::MayHaveActed,
        source: "RFC 9110, 15.6: the server failed to fulfil a request that it may have begun",
        is_refusal: false,
        examples: &[
            (None, Some(500), None),
            (None, Some(503), None),
            (None, Some(504), None),
            (Some("5xx"), None, None),
        ],
        holds: |seen| matches!(seen.status, Some(500..=599)),
    },
    Row {
        name: "client_error",
        reading: Reading::Nothing,
        source: "RFC 9110, 15.5: the request was not fulfilled (assumed: `refusals_did_nothing`)",
        is_refusal: true,
        examples: &[
            (None, Some(400), None),
            (None, Some(401), None),
            (Some("403_forbidden"), Some(403), None),
            (None, Some(404), None),
            (Some("412_precondition"), Some(412), Some("the evidence is stale")),
            (None, Some(422), None),
            (Some("429_rate_limited"), Some(429), None),
        ],
        holds: |seen| matches!(seen.status, Some(400..=499)),
    },
    Row {
        name: "refusal_by_kind",
        reading: Reading::Nothing,
        source: "kinds that adapters give to answers with 401, 403, 422 and 429",
        is_refusal: true,
        examples: &[],
        holds: |seen| REFUSALS.contains(&seen.kind) || reads_as_denial(seen.error),
    },
    Row {
        name: "other_status",
        reading: Reading::MayHaveActed,
        source: "RFC 9110, 15.2 to 15.4: no status but one from 400 to 499 says that the request was not fulfilled",
        is_refusal: false,
        examples: &[(Some("not_stored"), Some(202), None), (None, Some(302), None)],
        holds: |seen| seen.status.is_some(),
    },
    Row {
        name: "failed_inside",
        reading: Reading::MayHaveActed,
        source: "google/rpc/code.proto: INTERNAL, UNAVAILABLE and DATA_LOSS come from a server that may have begun",
        is_refusal: false,
        examples: &[(Some("internal"), None, None)],
        holds: |seen| INSIDE.contains(&seen.name),
    },
    Row {
        name: "unnamed_failure",
        reading: Reading::MayHaveActed,
        source: "a failure that names no cause, or an exception that ended a tool, says nothing of its effect",
        is_refusal: false,
        examples: &[(Some("tool_error"), None, None)],
        holds: |seen| UNNAMED.contains(&seen.name) && seen.message.is_empty() && !says_more(seen.error),
    },
    Row {
        name: "own_words",
        reading: Reading::Believed,
        source: "the words of a tool mean what its playbook says",
        is_refusal: false,
        examples: &[(Some("never_seen_before"), None, Some("nobody has seen this before"))],
        holds: |_| true,
    },
];

/// Words of an upstream that has processed a key: with those of one that is at work they say both.
const DONE: [&str; 4] = ["already processed", "already been processed", "already completed", "already executed"];

/// Words of a conflict with a request that is at work.
const IN_FLIGHT: [&str; 7] =
    ["in flight", "in-flight", "in progress", "outstanding", "being processed", "still processing", "still running"];

/// Names of a connection that was never made.
const NEVER_SENT: [&str; 5] = ["notsent", "connectionrefused", "econnrefused", "enotfound", "eaiagain"];

/// Names of a connection that was made and broke.
const BROKEN: [&str; 14] = [
    "network",
    "connection",
    "connectionreset",
    "connectionaborted",
    "connectionclosed",
    "econnreset",
    "econnaborted",
    "epipe",
    "brokenpipe",
    "enetunreach",
    "ehostunreach",
    "remotedisconnected",
    "serverdisconnected",
    "sockethangup",
];

/// Names of an answer that breaks its schema.
const UNREADABLE: [&str; 5] =
    ["schemavalidation", "outputvalidation", "responsevalidation", "malformedresponse", "invalidresponse"];

/// Names of a server that failed at its work.
const INSIDE: [&str; 11] = [
    "internal",
    "internalserver",
    "internalfailure",
    "server",
    "serviceunavailable",
    "unavailable",
    "transient",
    "temporary",
    "badgateway",
    "backend",
    "dataloss",
];

/// Names that say no more than that there was a failure, and those of programs and exceptions that ended a tool.
const UNNAMED: [&str; 13] = [
    "",
    "tool",
    "exception",
    "failure",
    "failed",
    "unknown",
    "other",
    "program",
    "runtime",
    "execution",
    "toolexecution",
    "toolraised",
    "nonzeroexit",
];

/// Names of timeouts before a request was sent, or of something other than its answer.
const OTHER_TIMEOUTS: [&str; 8] = [
    "approvaltimeout",
    "approvaltimedout",
    "confirmationtimeout",
    "locktimeout",
    "connecttimeout",
    "connectiontimeout",
    "connectiontimedout",
    "pooltimeout",
];

/// Whether a plain name is that of a request that was sent, and of which no answer came in time.
fn names_no_answer(name: &str) -> bool {
    let is_timeout = name.ends_with("timeout") || name.ends_with("timedout") || name == "deadlineexceeded";
    let has_status = name.starts_with(|first: char| first.is_ascii_digit());
    is_timeout && !has_status && !OTHER_TIMEOUTS.contains(&name)
}

/// Whether an error says more in fields of its own than its kind and its message do.
fn says_more(error: &ErrorFacts) -> bool {
    error.should_retry.is_some() || !error.headers.is_empty()
}

/// A kind or a code as a plain name: `READ_TIMEOUT`, `ReadTimeoutError` and `read-timeout` are one.
fn plain(text: &str) -> String {
    let name: String = text.chars().filter(|c| c.is_ascii_alphanumeric()).collect::<String>().to_ascii_lowercase();
    let short = ["error", "exception"].iter().find_map(|ending| name.strip_suffix(ending));
    short.map_or_else(|| name.clone(), str::to_owned)
}

/// The plain name of an error: its kind, or its code where the kind names nothing.
fn name(error: &ErrorFacts) -> String {
    let of_kind = plain(error.kind.as_deref().unwrap_or_default());
    let of_code = plain(error.code.as_deref().unwrap_or_default());
    if UNNAMED.contains(&&*of_kind) && !of_code.is_empty() { of_code } else { of_kind }
}

/// Kinds of refusals that begin with no number.
const REFUSALS: [&str; 3] = ["rate_limited", "auth_expired", "idempotency_mismatch"];

/// An answer without an error object: it may have acted.
pub const ABSENT: &str = "no_error_object";

/// The row of the table that reads an answer, by its place; none: there is no error object.
pub fn row_of(world: &[Row], error: Option<&ErrorFacts>) -> Option<usize> {
    let error = error?;
    let message = error.message.as_deref().unwrap_or_default().to_lowercase();
    let kind = error.kind.as_deref().unwrap_or_default();
    let name = name(error);
    let seen = Seen { kind, name: &name, status: status(error), message: &message, error };
    world.iter().position(|row| (row.holds)(&seen))
}

/// Whether an answer can come after its request acted, and after it did not; whatever a playbook says.
pub fn can_hide(error: Option<&ErrorFacts>) -> bool {
    let row = row_of(&WORLD, error).and_then(|row| WORLD.get(row));
    row.is_none_or(|row| matches!(row.reading, Reading::MayHaveActed | Reading::Believed))
}

/// Whether only the tool's own words say what an answer proves, were it without the status of a transport.
pub(crate) fn is_own_word(error: &ErrorFacts) -> bool {
    is_believed(&ErrorFacts { status: None, ..error.clone() })
}

/// Whether only the tool's own words say what an answer proves.
pub(crate) fn is_believed(error: &ErrorFacts) -> bool {
    row_of(&WORLD, Some(error)).and_then(|row| WORLD.get(row)).is_some_and(|row| row.reading == Reading::Believed)
}

/// The status of an answer: the transport's, else the number that its kind begins with.
pub fn status(error: &ErrorFacts) -> Option<u16> {
    error.status.or_else(|| status_of_kind(error.kind.as_deref()?))
}

/// The status that a kind speaks of.
pub fn status_of_kind(kind: &str) -> Option<u16> {
    if kind == "5xx" {
        return Some(500);
    }
    let digits = kind.get(..3).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|digits| digits.parse().ok())
}

/// Whether kind, status and headers of an answer speak of one thing.
pub fn agrees(error: &ErrorFacts) -> bool {
    let Some(kind) = error.kind.as_deref() else { return true };
    let name = plain(kind);
    let Some(status) = error.status else {
        // No answer has no headers, and where a server was reached by none, there is nobody who wrote them.
        return error.headers.is_empty() || !(names_no_answer(&name) || NEVER_SENT.contains(&&*name));
    };
    match kind {
        _ if names_no_answer(&name) => matches!(status, 408 | 504),
        _ if NEVER_SENT.contains(&&*name) => false,
        _ if BROKEN.contains(&&*name) => (500..600).contains(&status),
        _ if INSIDE.contains(&&*name) => (500..600).contains(&status),
        _ if UNREADABLE.contains(&&*name) => (200..300).contains(&status),
        "5xx" => (500..600).contains(&status),
        "rate_limited" => matches!(status, 429 | 503),
        "auth_expired" => status == 401,
        "interrupted" => status == 499,
        "idempotency_mismatch" => matches!(status, 400 | 409 | 422),
        _ if reads_as_denial(&ErrorFacts { status: None, ..error.clone() }) => matches!(status, 401 | 403),
        _ => status_of_kind(kind).is_none_or(|own| own == status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: Option<&str>, status: Option<u16>, message: Option<&str>) -> &'static str {
        let error = ErrorFacts {
            kind: kind.map(Into::into),
            status,
            message: message.map(Into::into),
            ..ErrorFacts::default()
        };
        row_of(&WORLD, Some(&error)).map_or(ABSENT, |row| WORLD[row].name)
    }

    #[test]
    fn each_row_reads_its_own_examples() {
        for row in &WORLD {
            for (kind, status, message) in row.examples {
                assert_eq!(read(*kind, *status, *message), row.name);
            }
        }
    }

    #[test]
    fn the_status_of_the_transport_counts_before_that_of_the_kind() {
        assert_eq!(read(Some("429_rate_limited"), Some(500), None), "server_error");
        assert_eq!(read(Some("429_rate_limited"), None, None), "client_error");
        assert_eq!(read(Some("5xx"), None, Some("x")), "server_error");
        assert_eq!(read(Some("rate_limited"), None, None), "refusal_by_kind");
        assert_eq!(read(Some("permission_denied"), None, None), "refusal_by_kind");
        assert_eq!(read(Some("tool_error"), None, Some("not found")), "own_words");
    }

    #[test]
    fn a_kind_that_proves_nothing_may_have_acted() {
        let kinds = "tool_error internal INTERNAL transient network_error connection_error read_timeout ETIMEDOUT \
                     deadline_exceeded timed_out unavailable ReadTimeoutError unknown_error";
        for kind in kinds.split_whitespace() {
            let row = read(Some(kind), None, None);
            let reading = WORLD.iter().find(|other| other.name == row).map(|row| row.reading);
            assert_eq!(reading, Some(Reading::MayHaveActed), "{kind}: {row}");
        }
        for status in [101, 202, 302, 600] {
            assert_eq!(read(None, Some(status), None), "other_status");
        }
        let believed = ["db_lock", "schema", "card_declined", "approval_timeout", "connect_timeout"];
        assert!(believed.iter().all(|kind| read(Some(kind), None, None) == "own_words"));
        assert_eq!(read(Some("ECONNREFUSED"), None, None), "no_connection");
    }

    #[test]
    fn a_conflict_is_read_by_its_words() {
        assert_eq!(read(None, Some(409), None), "conflict");
        assert_eq!(read(None, Some(409), Some("already completed")), "key_processed");
        assert_eq!(read(Some("409_conflict"), None, Some("A request is OUTSTANDING for this key")), "key_in_flight");
        assert_eq!(read(None, Some(409), Some("the seat was sold")), "conflict_in_own_words");
        assert_eq!(read(None, Some(409), Some("already processed, in flight")), "conflict_in_own_words");
        assert_eq!(read(None, Some(409), Some("a request with this key is already in progress")), "key_in_flight");
    }
}
