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
    status: Option<u16>,
    message: &'a str,
    error: &'a ErrorFacts,
}

/// The table.
pub const WORLD: [Row; 13] = [
    Row {
        name: "no_connection",
        reading: Reading::Nothing,
        source: "RFC 9110, 9.2.2: a client may send a request again if it knows that it was never sent",
        is_refusal: false,
        examples: &[(Some("not_sent"), None, None)],
        holds: |seen| seen.kind == "not_sent",
    },
    Row {
        name: "no_answer",
        reading: Reading::MayHaveActed,
        source: "RFC 9110, 9.2.2: a connection that closes before the answer says nothing of the request",
        is_refusal: false,
        examples: &[(Some("timeout"), None, None)],
        holds: |seen| seen.kind == "timeout",
    },
    Row {
        name: "unreadable_answer",
        reading: Reading::MayHaveActed,
        source: "an answer that breaks its schema was written by a tool that had run",
        is_refusal: false,
        examples: &[(Some("schema_validation"), None, None)],
        holds: |seen| seen.kind == "schema_validation",
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
        holds: |seen| seen.status == Some(409) && IN_FLIGHT.iter().any(|words| seen.message.contains(words)),
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
        name: "own_words",
        reading: Reading::Believed,
        source: "the words of a tool mean what its playbook says",
        is_refusal: false,
        examples: &[(Some("never_seen_before"), None, Some("nobody has seen this before"))],
        holds: |_| true,
    },
];

/// Words of a conflict with a request that is at work.
const IN_FLIGHT: [&str; 7] =
    ["in flight", "in-flight", "in progress", "outstanding", "being processed", "still processing", "still running"];

/// Kinds of refusals that begin with no number.
const REFUSALS: [&str; 3] = ["rate_limited", "auth_expired", "idempotency_mismatch"];

/// An answer without an error object: it may have acted.
pub const ABSENT: &str = "no_error_object";

/// The row of the table that reads an answer, by its place; none: there is no error object.
pub fn row_of(world: &[Row], error: Option<&ErrorFacts>) -> Option<usize> {
    let error = error?;
    let message = error.message.as_deref().unwrap_or_default().to_lowercase();
    let kind = error.kind.as_deref().unwrap_or_default();
    let seen = Seen { kind, status: status(error), message: &message, error };
    world.iter().position(|row| (row.holds)(&seen))
}

/// Whether an answer can come after its request acted, and after it did not; whatever a playbook says.
pub fn can_hide(error: Option<&ErrorFacts>) -> bool {
    let row = row_of(&WORLD, error).and_then(|row| WORLD.get(row));
    row.is_none_or(|row| matches!(row.reading, Reading::MayHaveActed | Reading::Believed))
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

/// Whether kind and status of an answer speak of one thing.
pub fn agrees(error: &ErrorFacts) -> bool {
    let (Some(kind), Some(status)) = (error.kind.as_deref(), error.status) else { return true };
    match kind {
        "5xx" => (500..600).contains(&status),
        "timeout" => matches!(status, 408 | 504),
        "rate_limited" => matches!(status, 429 | 503),
        "auth_expired" => status == 401,
        "schema_validation" => (200..300).contains(&status),
        "not_sent" => false,
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
    fn a_conflict_is_read_by_its_words() {
        assert_eq!(read(None, Some(409), None), "conflict");
        assert_eq!(read(None, Some(409), Some("already completed")), "key_processed");
        assert_eq!(read(Some("409_conflict"), None, Some("A request is OUTSTANDING for this key")), "key_in_flight");
        assert_eq!(read(None, Some(409), Some("the seat was sold")), "conflict_in_own_words");
    }
}
