//! Whether an error says no more than that a request was refused. Knows words, not languages: a word that it does not know
//! may tell of something done.

use std::sync::LazyLock;

use super::kinds;
use super::patterns::{self, LazyPattern};
use playproof_engine::event::ErrorFacts;

/// The longest refusal in several sentences, in bytes.
const LONGEST: usize = 400;

/// Words that say how often was asked, not what was done.
const MANY: &str = "too many requests";

/// Words of which at least one is in a refusal.
const REFUSING: &str = "bad credential credentials denied econnrefused enotfound exceed exceeded exhausted expired failed forbidden \
    incorrect insufficient invalid limit limited limits many missing must overloaded quota rate reduce refused \
    required requires resolution slow stale throttled throttling unauthenticated unauthorized unavailable wrong";

/// Things that an upstream does not find, or of which a request has none.
const THINGS: &str = "balance bucket card charge city credit date file flight funds gift invoice item model \
    object order payment product reservation room row seat seats stock subscription table user";

/// Other words of refusals: what they are about, and what to do next.
const KNOWN: &str = "a about access accessible account address admin again allowed an and any api apis are as \
    at authenticate authentication authorization authorized back be bearer been before billing busy by call caller \
    calling calls can capacity check client clients code concurrency concurrent connect connection connections \
    consumer contact cookie current currently customer daily day days default demand details do docs documentation \
    does down due e econnreset endpoint error errors etag evidence exceeding expect expected experiencing fast few \
    find for frequent frequently from g gateway getaddrinfo group had has have having header help here high higher \
    hit host hour hours http https id if in included increase information input integration ip is it its key keys \
    later learn level load login maintenance match max maximum method metric min minute minutes model moment moments \
    month monthly more most ms much name need needs number oauth occurred of off on operation or organization other \
    our output page password path per perform permission permissions permitted plan please precondition project \
    provided quickly quotas raise reached read reads refer region repository request requests resource resources \
    retry rights role route rpd rpm s scope scopes second secondary seconds secret security see server service \
    signature signed snapshot soon specified such sufficient support temporarily than that the there this tier time \
    to token tokens too tpm traffic try type upgrade url use user username valid ve version visit wait was we web \
    window with without would write writes x you your";

/// What is no word of a sentence: the call that was refused, an address, a name with a digit.
static NAMES: LazyPattern = LazyLock::new(|| {
    patterns::one(
        r#"in a given amount of time|\b(used|requested|status|status code):? \d\S*|when calling the \w+ operation|https?://\S+|\S*[0-9*]\S*|\S+\.\S+\.\S+|\b\w+(error|exception)\b"#,
    )
});

/// Where a refusal says "after" and "not": what it says of other times, and whatever else it denies, may be about what was
/// done, or about sending again.
static PHRASES: LazyPattern = LazyLock::new(|| {
    patterns::one(
        r"\b(retry|again|wait|reset|resets)[ -]after\b|\b(does|do|did|could|can|was|were|is|are) not (exist|be found|found|have( (access|permission|permissions|sufficient|enough|the|required|role|scope))*|authorized|authenticated|accessible|allowed|permitted|valid|available|supported|enough)\b|\bnot (found|authorized|authenticated|accessible|allowed|permitted|valid|available|enough|exist)\b|\bno such\b",
    )
});

/// The whole report of a tool that checks its arguments before it begins.
static ARGUMENTS: LazyPattern = LazyLock::new(|| {
    patterns::one(
        r"^(input validation error: ('\w+' is a required property|\S{1,40} is not of type '\w+')|missing required (argument|parameter)s?:? ['\x22`]?\w+['\x22`]?|(argument|parameter) ['\x22`]?\w+['\x22`]? is required)\.?$",
    )
});

/// A part of a whole that was not refused.
static PART: LazyPattern = LazyLock::new(|| patterns::one(r"\d (out )?of \d|\d/\d"));

/// Whether an error says no more than that the request was refused: its message, its status and its code do, and the
/// upstream does not say that the call should not be sent again.
pub fn is_plain_refusal(error: &ErrorFacts) -> bool {
    error.message.as_deref().is_none_or(is_plain_message)
        && error.status.is_none_or(refuses)
        && error.code.as_deref().is_none_or(is_plain_code)
        && error.says_to_retry() != Some(false)
}

/// Whether an upstream that answers with this status has refused the request. Some say with 503 that too many came.
const fn refuses(status: u16) -> bool {
    matches!(status, 400..=407 | 410..=498 | 503)
}

/// Whether a code is a known one of a refusal, a number of the upstream's own, or made of the words of refusals.
fn is_plain_code(code: &str) -> bool {
    let code = code.trim().to_lowercase();
    match code.trim_start_matches('-').parse::<u32>() {
        Ok(100..=599) => code.parse().is_ok_and(refuses),
        Ok(_) => true,
        Err(_) => {
            kinds::says_nothing(&code)
                || kinds::names_refusal(&code)
                || is_plain_message(&code.replace(['_', '-', '.'], " "))
        }
    }
}

/// Whether a message says no more than that a request was refused: all its words are words of a refusal, names with a
/// digit, or addresses.
pub(super) fn is_plain_message(message: &str) -> bool {
    let message = message.trim().to_lowercase().replace('’', "'");
    let message = ["have been made", "were made", "made", "sent", "received"].iter().fold(message, |text, did| {
        text.replace(&format!("{did} too many requests"), MANY).replace(&format!("{MANY} {did}"), MANY)
    });
    let reports = || patterns::matches(&ARGUMENTS, &message);
    message.is_empty() || message.len() <= LONGEST && (has_only_known_words(&message) || reports())
}

fn has_only_known_words(message: &str) -> bool {
    let (Some(names), Some(phrases), Some(part)) = (NAMES.as_ref(), PHRASES.as_ref(), PART.as_ref()) else {
        return false;
    };
    let whole = names.replace_all(message, " ");
    let bare = phrases.replace_all(&whole, " refused ");
    let words = || bare.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let is_in = |list: &str, word: &str| list.split_whitespace().any(|known| known == word);
    let refuses = |word: &str| is_in(REFUSING, word);
    let is_known = |word: &str| refuses(word) || is_in(KNOWN, word) || is_in(THINGS, word);
    let is_status = || words().next().is_none() && ["429", "401", "403", "404"].contains(&message);
    !part.is_match(message) && (is_status() || words().any(refuses) && words().all(is_known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_messages_of_upstreams_are_plain() {
        let usual = [
            // OpenAI
            "Rate limit reached for gpt-4o in organization org-a1B2 on tokens per min (TPM): Limit 30000, Used 29500, \
             Requested 1000. Please try again in 1.2s. Visit https://platform.openai.com/account/rate-limits to learn \
             more.",
            "You exceeded your current quota, please check your plan and billing details.",
            "Incorrect API key provided: sk-ab12****. You can find your API key at \
             https://platform.openai.com/account/api-keys.",
            "The model `gpt-9` does not exist or you do not have access to it.",
            // Anthropic
            "This request would exceed your organization's rate limit of 50,000 input tokens per minute. For details, \
             refer to: https://docs.anthropic.com/en/api/rate-limits.",
            "Number of request tokens has exceeded your per-minute rate limit",
            "invalid x-api-key",
            "Overloaded",
            // Stripe
            "Too many requests made to the API too quickly",
            "Request rate limit exceeded. Learn more about rate limits at https://stripe.com/docs/rate-limits.",
            "Invalid API Key provided: sk_test_****1234",
            "No such customer: 'cus_1a2B'",
            // AWS
            "Rate exceeded",
            "ThrottlingException: Rate exceeded",
            "An error occurred (ThrottlingException) when calling the PutItem operation: Rate exceeded",
            "Please reduce your request rate.",
            "The security token included in the request is invalid.",
            "The specified key does not exist.",
            // GitHub
            "API rate limit exceeded for user ID 1234.",
            "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
            "Bad credentials",
            "Requires authentication",
            "Resource not accessible by integration",
            "Must have admin rights to Repository.",
            // Google
            "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user' of service \
             'sheets.googleapis.com' for consumer 'project_number:12'.",
            "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid \
             authentication credential.",
            "The caller does not have permission",
            "Resource has been exhausted (e.g. check quota).",
            // HTTP
            "429",
            "429 Too Many Requests",
            "HTTP 429: Too Many Requests",
            "Unauthorized",
            "403 Forbidden",
            "Not Found",
            "Service Unavailable",
            "You have sent too many requests in a given amount of time",
            "slow",
            "slow down",
            "connect ECONNREFUSED 127.0.0.1:8080",
            "Payment method card_1 not found",
            "rate limited, retry after 5s",
            "You've exceeded the limit, please try again after 2 minutes",
            "Request failed with status code 429",
            "The order could not be found.",
            "Not enough seats on flight HAT268",
            "Gift card balance is not enough",
            "Input validation error: 'amount' is a required property",
            "Missing required argument: amount",
            "",
        ];
        let wrong: Vec<&str> = usual.into_iter().filter(|message| !is_plain_message(message)).collect();
        assert_eq!(wrong, Vec::<&str>::new());
    }

    #[test]
    fn a_message_that_says_more_is_not_plain() {
        for message in [
            "refund issued; rate limited now",
            "Payment completed. Rate limit reached for receipts.",
            "charge succeeded; 429",
            "charge succeeded 429",
            "Partial success: 1 of 2 refunds",
            "1 of 2. Rate limit exceeded",
            "money sent, slow down",
            "wire dispatched",
            "request queued, will be executed when capacity is free",
            "rate limited, request queued",
            "rate limited while sending the receipt",
            "rate limit reached after payment",
            "refund issued but rate limited",
            "refund re_1 not created",
            "Rückerstattung gesendet, Limit erreicht",
            "Zu viele Anfragen",
            "paid: too many requests",
            "ok",
            "x",
            "An error occurred (ThrottlingException) when calling the PutItem operation (reached max retries: 4): Rate \
             exceeded",
            "Max retries exceeded: 429 Too Many Requests",
            "Rate limited on attempt 3 of 3",
            "no need to retry",
            "do not retry this request",
            "rate limited, do not retry",
            "rate limited; don't retry",
            "retry not required",
            "account was limited after your request",
            "Receipt email rate limited",
            "refund created not found",
            "Zahlung rate limited",
            "payment status unknown",
            "payment found, limit exceeded",
            "order requested, rate limited",
            "Already refunded",
            "Output validation error: 'id' is a required property",
            "'id' is a required property",
        ] {
            assert!(!is_plain_message(message), "{message}");
        }
    }

    #[test]
    fn a_status_a_code_or_a_wish_that_says_otherwise_is_no_plain_refusal() {
        let error = || ErrorFacts { message: Some("rate limited".into()), ..ErrorFacts::default() };
        for status in [200, 202, 302, 408, 409, 499, 500, 502, 504] {
            assert!(!is_plain_refusal(&ErrorFacts { status: Some(status), ..error() }), "{status}");
        }
        for status in [400, 401, 403, 404, 412, 422, 429, 503] {
            assert!(is_plain_refusal(&ErrorFacts { status: Some(status), ..error() }), "{status}");
        }
        for code in ["charge_already_refunded", "partial_success", "202", "504", "timeout", "x"] {
            assert!(!is_plain_refusal(&ErrorFacts { code: Some(code.into()), ..error() }), "{code}");
        }
        for code in ["rate_limit_exceeded", "ThrottlingException", "-32602", "20429", "429", "forbidden", "error"] {
            assert!(is_plain_refusal(&ErrorFacts { code: Some(code.into()), ..error() }), "{code}");
        }
        let wish = |said: &str| playproof_engine::event::Headers::new([("x-should-retry", said)]);
        assert!(!is_plain_refusal(&ErrorFacts { should_retry: Some(false), ..error() }));
        assert!(!is_plain_refusal(&ErrorFacts { headers: wish("false"), ..error() }));
        assert!(is_plain_refusal(&ErrorFacts { headers: wish("true"), ..error() }));
        assert!(is_plain_refusal(&ErrorFacts { should_retry: Some(true), ..error() }) && is_plain_refusal(&error()));
    }
}
