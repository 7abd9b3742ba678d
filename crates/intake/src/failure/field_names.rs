//! The names of fields in the bodies of failures, by what they hold. Reads no values.

use super::word_list::{WordList, letters};

/// Fields that hold an answer inside an envelope.
pub(super) static ENVELOPES: WordList = WordList::of(
    "json result results output outputs content structuredContent structured_content response functionResponse \
    function_response toolResult tool_result data body text value",
);
/// Fields that may be beside a failure's fields without making the object a record that only tells of one.
pub(super) static BESIDE: WordList = WordList::of(
    "message msg code cod debugid declinereason declinecode links status statuscode httpstatus statustext type \
    detail details success ok requestid errordescription errorcode errortype errormessage errorname hint help path \
    timestamp jsonrpc retryafter retryable suggestion suggestions documentationurl tool toolname name iserror \
    description reason title instance stack traceback meta args exception headers",
);
/// Fields that hold the reason of a refusal in words.
pub(super) static REASONS: WordList = WordList::of("message msg detail reason why because cause");
/// The fields of an error object that may hold its message, the most telling first.
pub(super) static MESSAGES: WordList = WordList::of(
    "message Message errorMessage ErrorMessage error_message error_description detail msg description text content \
    stderr reason why because cause problem details title error output stdout",
);
/// The fields that may hold a message inside a list or an object.
pub(super) static NESTED: WordList = WordList::of("message detail content reason");
/// The fields that may hold a name for the error, the most specific first.
pub(super) static NAMES: WordList = WordList::of(
    "code Code error_code errorCode type __type errorType error_type exception exception_type reason status name \
    kind error",
);
/// The fields that may hold an HTTP status.
pub(super) static STATUSES: WordList = WordList::of("status statusCode status_code http_status httpStatus code Code");
/// The fields that may hold the headers of the answer.
pub(super) static HEADERS: WordList = WordList::of("headers responseHeaders response_headers");

/// Whether a field beside an error holds something that the call was made for.
pub(super) fn is_data(name: &str) -> bool {
    matches!(name, "data" | "result" | "results" | "items" | "output" | "rows" | "records" | "content" | "stdout")
}

/// Whether a field is the id of something, other than of the request and of the error.
pub(super) fn is_id(name: &str) -> bool {
    let is_own =
        matches!(name, "request_id" | "requestId" | "trace_id" | "traceId" | "correlation_id" | "correlationId");
    (name == "id" || name.ends_with("_id") || name.ends_with("Id")) && !is_own && !is_beside(name)
}

pub(super) fn is_beside(name: &str) -> bool {
    is_of_error(name) || BESIDE.has_plain(name)
}

/// Whether the name of a field begins with that of an error.
pub(super) fn is_of_error(name: &str) -> bool {
    letters(name).take(3).eq(*b"err")
}

/// Whether a field may be beside the only words of an error.
pub(super) fn is_beside_words(name: &str) -> bool {
    matches!(name, "documentation_url" | "status" | "requestId" | "request_id" | "code" | "retry_after" | "global")
}
