//! Whether a message says no more than that a request was refused. Knows words, not languages: a word that it does not
//! know may tell of something done. Reads texts only.

use std::sync::LazyLock;

use playproof_engine::playbook::clause;
use regex::Regex;

use super::patterns;

/// The longest refusal in several sentences, in bytes.
const LONGEST: usize = 400;

/// Words that say how often was asked, not what was done.
const MANY: &str = "too many requests";

/// Words by which an upstream refuses, at the beginning or end of one clause.
const FRAMES: [&str; 25] = [
    "rate limit",
    "rate limit exceeded",
    "rate limit reached",
    "rate limited",
    "rate exceeded",
    "limit exceeded",
    MANY,
    "quota exceeded",
    "slow down",
    "throttled",
    "not found",
    "no such",
    "does not exist",
    "unauthorized",
    "not authorized",
    "unauthenticated",
    "forbidden",
    "access denied",
    "permission denied",
    "not allowed",
    "invalid api key",
    "incorrect api key",
    "bad credentials",
    "service unavailable",
    "connection refused",
];

/// Words that join something else to a refusal.
const JOINING: [&str; 8] = ["after", "while", "when", "once", "then", "will", "because", "since"];

/// Words of which at least one is in a refusal of several sentences.
const REFUSING: &str = "bad credential credentials denied econnrefused enotfound exceed exceeded exhausted expired failed forbidden \
    incorrect insufficient invalid limit limited limits many missing must not no overloaded quota rate reduce refused \
    required requires resolution slow stale throttled throttling unauthenticated unauthorized unavailable unknown wrong";

/// Other words of refusals: what they are about, and what to do next.
const KNOWN: &str = "a about access accessible account address admin after again allowed an and any api apis are as at \
    authenticate authentication authorization authorized back be bearer been before billing busy by calling call calls can \
    capacity caller check client clients code concurrency concurrent connect connection connections consumer contact customer \
    cookie current currently daily day days default demand details do docs documentation does down due e econnreset email \
    endpoint etag evidence exceeding exist exists expect expected experiencing fast few find for found frequent \
    frequently from g gateway getaddrinfo group had has have having header help here high higher host hour hours http https \
    id if in included increase information input integration ip is it its key keys later learn level load login \
    maintenance match max maximum message method metric min minute minutes model moment moments month monthly more most ms \
    much name need needs number oauth occurred of off on operation or organization other our output page password path \
    per perform permission permissions permitted plan please precondition project provided quickly quotas raise reached \
    read reads refer region repository request requested requests resource resources retries retry rights role route rpd \
    rpm s scope scopes second secondary seconds secret security see server service signature signed soon specified \
    status such sufficient support temporarily than that the there this tier time to token tokens too tpm traffic try \
    type upgrade url use used user username valid version visit wait was we web window with without would write writes x \
    you your error errors hit";

/// What is no word of a sentence: the call that was refused, an address, a name with a digit.
static NAMES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    patterns::one(
        r#"in a given amount of time|when calling the \w+ operation|https?://\S+|\S*[0-9*]\S*|\S+\.\S+\.\S+|\b\w+(error|exception)\b"#,
    )
});

/// A part of a whole that was not refused.
static PART: LazyLock<Option<Regex>> = LazyLock::new(|| patterns::one(r"\d (out )?of \d|\d/\d"));

/// Whether a message says no more than that a request was refused: it is one clause of at most 80 characters that begins
/// or ends with the words of a refusal, or all its words are words of a refusal, names with a digit, or addresses.
pub fn is_plain_refusal(message: &str) -> bool {
    let message = message.trim().to_lowercase().replace('’', "'");
    let message = ["have been made", "were made", "made", "sent", "received"].iter().fold(message, |text, did| {
        text.replace(&format!("{did} too many requests"), MANY).replace(&format!("{MANY} {did}"), MANY)
    });
    if message.is_empty() {
        return true;
    }
    is_one_clause(&message) || message.len() <= LONGEST && has_only_known_words(&message)
}

/// Whether the message is one clause that begins or ends with the words of a refusal.
fn is_one_clause(message: &str) -> bool {
    let joins = |word: &str| JOINING.contains(&word);
    FRAMES.iter().any(|words| clause::is_framed(message, words)) && !message.split_whitespace().any(joins)
}

fn has_only_known_words(message: &str) -> bool {
    let (Some(names), Some(part)) = (NAMES.as_ref(), PART.as_ref()) else { return false };
    let bare = names.replace_all(message, " ");
    let words = || bare.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let refuses = |word: &str| REFUSING.split_whitespace().any(|known| known == word);
    let is_known = |word: &str| refuses(word) || KNOWN.split_whitespace().any(|known| known == word);
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
            "An error occurred (ThrottlingException) when calling the PutItem operation (reached max retries: 4): Rate \
             exceeded",
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
            "",
        ];
        let wrong: Vec<&str> = usual.into_iter().filter(|message| !is_plain_refusal(message)).collect();
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
        ] {
            assert!(!is_plain_refusal(message), "{message}");
        }
    }
}
