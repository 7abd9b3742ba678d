//! The help texts of the reasons why a call is refused and why it stops. The engine owns the words.

use playproof_engine::event::{AdmissionRefusal, StopReason};

/// A title and an explanation of a refusal.
pub const fn refusal(why: AdmissionRefusal) -> (&'static str, &'static str) {
    match why {
        AdmissionRefusal::UnknownAction => (
            "no action of the playbook has the tool",
            "The graph refuses tools that no action names (`others: refuse`, the default). A misspelt name, or an action that \
             is missing in `actions`; `others: pass` lets such calls go by. Nothing is sent.",
        ),
        AdmissionRefusal::InvalidTransition => (
            "the action is not valid now",
            "The graph does not allow it after the action that the run did last, or withholds it because an attempt of it \
             may still be at work (`playproof help withheld`). `next` of the call before says what was valid. Nothing is sent.",
        ),
        AdmissionRefusal::ValidationFailed => (
            "the arguments do not fit the `inputs` of the action",
            "The message names the first place: `/modifier: expected one of \"oat\", \"soy\"`. Arguments that a recording does not \
             have are not checked. Nothing is sent, and the run stays where it is.",
        ),
        AdmissionRefusal::NotFound => (
            "the tool is not declared",
            "The playbook refuses tools without tool facts (`registry: { unknown_tools: refuse }`), and nobody declared this \
             one: a misspelt name, or a row that is missing. A tool facts file or the playbook's `tools` declares it.",
        ),
        AdmissionRefusal::Schema => (
            "the arguments do not fit the schema of the tool",
            "The tool facts have a `schema`, and the arguments do not fit it. The message names the first place: `/amount: \
             expected integer, got string`. Arguments that a recording does not have are not checked. \
             docs/admission.md lists the keywords.",
        ),
        AdmissionRefusal::KeyMissing => (
            "the call has no idempotency key, and the tool needs one",
            "The tool facts say `key: required`. Send the call with a key.",
        ),
        AdmissionRefusal::KeyLength => (
            "the idempotency key is too short or too long",
            "`min_key_len` and `max_key_len` of `dedupe` say how long a key may be, in bytes.",
        ),
        AdmissionRefusal::KeyReused => (
            "the idempotency key belongs to another request",
            "Within the window of `dedupe`, the key was used for another tool or other arguments. To answer it with the result \
             of that request would be wrong. Give each request a key of its own.",
        ),
        AdmissionRefusal::KeyInFlight => (
            "a call with the idempotency key is in flight",
            "`dedupe` has `in_flight: refuse`: a call whose key is in flight is refused. With `join`, the default, it waits and \
             ends as that call does (`playproof help joined`).",
        ),
        AdmissionRefusal::Unsettled => (
            "an earlier call with the key may have acted, and the upstream knows no keys",
            "An earlier call with this key failed or was lost, and may have acted. The tool facts say `keys: ignored`, so a \
             second request could act twice. Find out first what the earlier call did.",
        ),
        AdmissionRefusal::BudgetExceeded => (
            "the run has no tool calls left",
            "The `budget` of the run is spent. `explain` names the call that took the last one. A retry that finds nothing left \
             stops its call instead (`playproof help budget`).",
        ),
        AdmissionRefusal::CircuitOpen => (
            "the circuit breaker of the server is open",
            "The answers of the server showed that it does not work, and the breaker lets no call pass until its open period is \
             over. The refusal says how long that is, and `explain` names the call that opened it.",
        ),
        AdmissionRefusal::QueueFull => (
            "too many calls wait for a permit",
            "All permits are out, and `queue` of `permits` has no place left. A retry always finds a place: its call was \
             admitted.",
        ),
    }
}

/// A title and an explanation of a stop.
pub const fn stop(why: StopReason) -> (&'static str, &'static str) {
    match why {
        StopReason::ToldNotTo => (
            "the upstream said not to send the call again",
            "A header of the last answer forbids a retry: `x-should-retry: false`, or a negative wait where `server_delay` says \
             `negative: stop`. docs/waits.md has the headers.",
        ),
        StopReason::MaxRetries => (
            "the verdict allows no more retries",
            "`max_retries` of the verdict, or the length of its `backoff_ms`, is used up.",
        ),
        StopReason::MaxAttempts => (
            "the playbook allows no more attempts of a call",
            "`limits.max_attempts` bounds the attempts of a call over all of its verdicts.",
        ),
        StopReason::Deadline => (
            "the next attempt would begin too late",
            "`limits.deadline_ms` is the last moment at which an attempt may begin, from the start of the call. No wait begins \
             that no attempt can follow. A call that waits in a queue for so long stops too.",
        ),
        StopReason::CallTimeout => (
            "the time for the whole call is over",
            "`limits.call_timeout_ms` bounds the whole call, with its waits. It also cuts the timeout of the last attempt.",
        ),
        StopReason::MaxWait => (
            "the upstream asked to wait for too long",
            "The upstream's wish is longer than `max_wait_ms`, and the verdict stops then. `server_delay` can also cut or ignore \
             the wish, or hand the call to people.",
        ),
        StopReason::Budget => (
            "the run has no tool call left for a further attempt",
            "The `budget` of the run counts attempts, and is spent. `explain` names the call that took the last one. A new call \
             of the run would be refused (`playproof help budget_exceeded`).",
        ),
        StopReason::CircuitOpen => (
            "the circuit breaker of the server lets no further attempt pass",
            "The breaker opened before the next attempt, and stays open beyond its start. `explain` names the call that opened \
             it. A new call would be refused until the breaker lets a probe pass.",
        ),
        StopReason::RetryBudget => (
            "the retry budget has nothing left for a further attempt",
            "The retries of all calls that share the budget took what there was. `explain` names the call that spent it. With \
             `on_empty: wait_and_stop` the call ends after the wait of the retry. docs/breakers.md has the kinds.",
        ),
        StopReason::MaxRefreshes => {
            ("the verdict allows no more refreshes", "`max_refreshes` of `refresh_evidence` is used up (1 by default).")
        }
        StopReason::RefreshFailed => (
            "the refresh itself failed",
            "The upstream gave no new evidence. A failed refresh is not classified; it ends the call.",
        ),
        StopReason::ReversalRefused => (
            "a reversal was refused, and a study playbook gives up then",
            "Only study playbooks stop here. Every other one runs `on_refused`, by default an escalation.",
        ),
    }
}
