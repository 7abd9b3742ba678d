//! The help texts of the findings. `event::FindingId` owns the ids.

use playproof_engine::event::FindingId;

/// A title and an explanation.
#[expect(clippy::too_many_lines, reason = "one text a finding")]
pub const fn explain(id: FindingId) -> (&'static str, &'static str) {
    match id {
        FindingId::DuplicateEffect => (
            "one intent had more than one effect",
            "\
The upstream made one intended change more than once. Two calls have the same intent if they have the same tool and \
the same idempotency key, or, without a key, the same tool and arguments in one run. A reversed effect does not count.

This finding covers only tools with declared facts; `possible_duplicate_effect` covers the others. `recorded` means \
that several calls made the effect, or that it existed before the call: the agent asked again. `playbook` means that \
attempts of the dispatcher made it. One intent may have both.

Equal calls can be correct: an order may be refunded in three equal parts. If each call of the tool is meant to act, \
declare the tool `repeatable: true`. Each call then has its own intent, and the finding goes away. Before that, ask \
the owner of the tool: the declaration also hides real duplicates.

What to do: find out whether each call was meant. If not, find the surplus upstream and take it back; then give the \
call an idempotency key, or leave the retry guard on.",
        ),
        FindingId::UntruthfulOutcome => (
            "the outcome contradicts the upstream's ledger",
            "\
The outcome claims `not_applied` and the ledger has a net effect of its intent, or it claims `applied` and the ledger \
has none. The effect may be that of another call, or may have existed before. The finding also fires if an \
ignored verdict had already proved more than the outcome claims. A reader who trusts such an outcome sends a refund \
again, or tells a customer that it was made.

Only scripted and modelled effects are compared: a recording seldom shows what the upstream did.

What to do: check the `effect` of each verdict of the call. A failure that may follow the change (a timeout, a 5xx) \
needs `effect: unknown`. Classify later failures too.",
        ),
        FindingId::RetriedAfterDenial => (
            "the call was sent again after a denial",
            "\
A policy, a permission or a person denied the call, and the same call was sent again: as a further attempt, or as a new \
call with the same arguments in the same run. A success in between ends this. It is a doubt if the run id occurs in two \
inputs, one of the calls names no run, or the arguments are not recorded. Asking again does not change a \
denial. It bypasses a control, and may raise an alert or lock an account.

What to do: give denials a verdict of their own whose compensation is `escalate_to_human`.",
        ),
        FindingId::RetriedAfterConflict => (
            "the call was sent again after the upstream had already processed it",
            "\
The upstream answered that it had already processed this idempotency key, so the effect exists. Another attempt can \
only fail, or act a second time if the key is lost on the way. A new call with the same arguments in the same run counts \
too. Without a key the answer says nothing of this call, and there is no finding.

What to do: give this answer a verdict with `effect: applied` and the compensation `deprecate_tool_call`. A conflict \
with a request *in flight* is different: it may be retried.",
        ),
        FindingId::UnsafeRetry => (
            "a write was sent again without a key, after an attempt that may have acted",
            "\
A write was sent again although an earlier attempt may have acted. The tool is not idempotent, and the call has no \
idempotency key. Only luck decides whether it did harm. With several \
playbooks, a recorded attempt may have acted if one of them says so. `recorded` may also mean that the agent made the same call again, \
unchanged in the same run, after one that may have acted and had ended.

The retry guard stops further attempts of one call, but no new call of the agent. The finding appears if the guard is off \
(in a study playbook), and for recorded attempts and calls of the agent or its harness.

What to do: send an idempotency key, or leave the retry guard on.",
        ),
        FindingId::ResentUnderNewKey => (
            "the same request was sent under another key",
            "\
One run sent the same tool and arguments under two idempotency keys, or with a key and without one. The first call \
succeeded or may have acted. To the upstream these are two requests, so the key does not prevent a second effect.

It is unsafe if the tool has declared facts and both calls succeeded; else it is a doubt. Reads, idempotent and \
`repeatable` tools never have it.

What to do: derive the key from what the call is for, and send the same key again. Declare the tool `repeatable: true` \
if each call is meant to act.",
        ),
        FindingId::UnsafeAdvice => (
            "an agent was told to make a call again that may act twice",
            "\
The error of a call told the agent that it may try again (`error.retriable: true`), and the agent made the identical call \
again. The tool is a write that is not idempotent, the call has no key, and the failure may have followed an effect: the \
advice was wrong, and following it may have acted twice. It is a doubt if the tool is not declared, if the calls may be \
different requests, or if the call is an action of which no step is recorded. The advice of an action with steps is its own: \
the agent does not see that of a step.

Only recordings that say what the agent was told have this finding: `error.retriable` in a trace, `result.retriable` in a \
mapping. What a playbook tells is computed, and is never this.

What to do: let the harness compute `retriable` for the call, not for the kind of failure (`playproof help told`). Give \
the call a key, and look upstream for a second effect.",
        ),
        FindingId::IgnoredAdvice => (
            "an agent made a call again although it was told not to",
            "\
The error of a call told the agent not to try again (`error.retriable: false`), and the agent made the identical call \
again before any of them succeeded. The advice may have been right and the call futile or dangerous; other findings say so. \
A refusal of the order (`invalid_transition`, `unknown_action`) is advice until another call of the run succeeds. \
Only recordings that say what the agent was told have this finding.

What to do: say in the message what to do instead; agents follow prose more than a flag. If the second call succeeded, ask \
whether the advice was too careful.",
        ),
        FindingId::KeyReused => (
            "a key was also used with other arguments",
            "\
A write has an idempotency key that an earlier call used with other arguments, in any run of any input; `replay` takes the \
calls of an earlier input for earlier, and `explain` goes by times if all these calls have one. Most upstreams \
answer such a call with the result of the first one, or refuse it. So an ok does not prove that this call acted: in a \
recording its effect is `unknown`. The first call of each such request has this finding.

What to do: give each request a key of its own. Do not send this call again under this key.",
        ),
        FindingId::TokenReused => (
            "a reversal token was redeemed by two calls",
            "\
The upstream confirmed a reversal of this call, and another call of the run had redeemed the same reversal token before. \
A token stands for one effect, so one of the two effects may still be there: the second answer may be the first one \
again. Only recordings have this finding, because the token guard stops the dispatcher.

What to do: look upstream for both effects. Give each call the token of its own effect.",
        ),
        FindingId::RetryAfterIgnored => (
            "the upstream asked to wait, and was not heeded",
            "\
A failed answer asked for a wait (`retry_after_ms`, or the headers `retry-after-ms` and `retry-after`), and before that \
time was over the next recorded attempt of the call was sent, or the agent made the same call again. An upstream that is \
asked again too soon may refuse for longer. Recordings without times do not have this finding; a playbook heeds the wish \
with `after: retry_after` or `server_delay`.

What to do: let the client wait as long as it is told.",
        ),
        FindingId::RacedItself => (
            "an attempt was sent while an earlier one had not ended upstream",
            "\
An attempt of a write timed out and went on upstream, and the next attempt was sent before its answer came late \
(`late_answer`). Two requests for one change were out at once: which of them acts, and in which order, is luck. That the \
tool is idempotent or the call has a key does not settle it, because many upstreams only recognise a request that has \
ended. A further attempt that the upstream answers with a conflict (409) does not count: it saw that both are one request. \
Nor does a read.

In a recording, the times of attempts and late answers (`\"answers\": \"late\"`) show it.

What to do: give the tool a timeout that is longer than its slowest answer, or wait longer before the next attempt.",
        ),
        FindingId::Abandoned => (
            "a caller went away while its call may have acted",
            "\
The caller of a write went away (`cancel_at_ms`) while an attempt was out, or after one whose effect is unknown. The \
outcome is `cancelled`, and nobody learns from it what the upstream did.

What to do: keep the key of the call, and look upstream before another one is made. Cancel between attempts where you can.",
        ),
        FindingId::RetryAmplification => (
            "retries amplified the outage of a server",
            "\
A server failed, and its calls sent it more than two requests each: over at least 20 calls in a row whose first attempt \
failed, with no quiet minute between their ends. Retries then multiply the load of a server that is down, and can keep it \
down. A first attempt that works ends the outage. A refusal, a conflict and a limit of rate (400 to 499, but 408 and 499) \
show that the server works. Retries that a retry budget pays for do not count, because it bounds them. The finding stands once an outage, at the call that made the requests too many.

`recorded` counts the recorded attempts, over all runs of an input. `playbook` counts those of the simulation: over a \
fixture, and in a recording over the calls of one dispatcher, if the playbook lets them share something; other playbooks \
simulate each call of a recording alone.

What to do: give the server a breaker, or its retries a budget.",
        ),
        FindingId::ReadActed => (
            "a tool that is declared a read changed something upstream",
            "\
The tool facts say `access: read`, and the ledger has an effect of the tool: the facts are wrong. The guards let reads \
be sent again, so such a tool acts as often as it is sent. Its outcomes claim `not_applied`, and that claim is wrong too.

The ledger records what the script says (`applied: true`, `before`), whatever the tool facts say. `playbook` stands at \
the call that acted. `recorded` stands at the calls of a tool whose effect existed before.

What to do: declare the tool `access: write`.",
        ),
        FindingId::SentWhileRunning => (
            "an action was sent again while an earlier call of it was still open",
            "\
The playbook orders actions (`graph`). The recording has a call of an action, a write without an effective key that is not \
idempotent, that was made before an earlier call of the same action in its run had its last answer. Both may have acted. \
A harness that gives up an action after a timeout and offers it again does this.

On assumed tool facts, and where the calls name no run, it is a doubt.

What to do: find out whether both acted, and take the surplus back. Give the action a key, or withhold it until its last \
attempt is known to have ended, as the graph does.",
        ),
        FindingId::RanAfterFailedStep => (
            "a step that was sent after another step of its action had failed",
            "\
The recording has the steps of an action (`parent` and `step`), and one of them was sent after another one had failed. A \
playbook ends an action at its first failure and skips the rest, so what this step did upstream stands without the steps \
before it. It is looked for under playbooks in which an action has such a step.

What to do: look upstream for what the step did. Let the harness end an action at its first failure.",
        ),
        FindingId::OutOfOrder => (
            "a recorded call that the graph does not let through",
            "\
The graph of the playbook refuses this call, and in the recording it was made: the first such call of its run. From there \
on, the run is off tape, and further refusals follow from the first. A call that the recording itself refused is no finding: \
recording and graph agree. Nor is a call whose inputs alone do not fit: its turn was right.

What to do: if the call was right, add the edge to `graph`, after `playproof graph next` has shown what was valid there. If \
it was wrong, the graph would have stopped it.",
        ),
        FindingId::Unclassified => (
            "no rule matched a failure",
            "\
No rule of the playbook matches this failure. It is never retried; it goes to a queue of people. The summary groups \
such failures by message template, so that one rule can cover many of them.

What to do: `playproof explain TRACE CALL` shows why each rule did not match. `playproof mine TRACE` suggests rules.",
        ),
        FindingId::Undetermined => (
            "an answer is missing",
            "\
The playbook asks the upstream for something (a further attempt, a refresh, a reversal) that the recording does not \
have. Playproof does not guess: the outcome is `undetermined` and names the missing answer.

What to do: `--beyond-tape ok|repeat|fail:KIND` answers from a model (`modelled`). `--join-resends` reads an identical \
later call as the next attempt (`inferred`). Or write a fixture for the case.",
        ),
        FindingId::Unfinished => (
            "a result says that the work is not done yet",
            "\
The answer names the state of a job that goes on (`running`, `queued`, `pending`), waits for an approval, or stands in the \
place of a result that was lost. It is neither ok nor failed: no rule classifies it, it is not retried, the outcome is \
`undetermined`, and the effect of a write is `unknown`. A later result for the same call counts.

What to do: look in the upstream how the work ended. If the answer is the result, a mapping says so: \
`not_failed: [ { message: { starts_with: Queued } } ]`.",
        ),
        FindingId::SuspectedFailure => (
            "a result suggests a failure and does not prove one",
            "\
The source of this result has no flag for failures, and its text may be the message of a failure or an ordinary answer: \
`User not found`, of a tool that looks for users, can be both. Playproof does not guess. The result is neither ok nor failed: no rule classifies it, it is \
not retried, the outcome is `undetermined`, and the effect of a write is `unknown`.

The summary names the commonest such texts, each with the line of a mapping that decides it.

What to do: decide in a mapping file, which also works for a format that Playproof recognises (`--map FILE`):

    failed:     [ { message: { starts_with: User not found } } ]
    not_failed: [ { message: { starts_with: No orders } } ]",
        ),
        FindingId::PossibleDuplicateEffect => (
            "an intent may have had more than one effect; the recording does not say",
            "\
This is `duplicate_effect` in cases where the recording is no proof:

The tool is not declared. It is assumed to be a write that is not idempotent; if it is a read, ignore the finding. \
If its name or its HTTP method suggests a read (`get_order`), the finding is a note.

A call was sent twice with one idempotency key, and both got an ok. An upstream that remembers the key repeated its \
answer; one that forgot the key acted twice.

A write without a key was sent twice unchanged in one run. One got an ok, the other failed in a way that proves nothing \
about the effect, such as a timeout. Or the first one has no recorded end, so that both may have run at once.

The calls name no run, in one input or in several. They may belong to different runs, and then they are different intents.

It is unknown whether two calls are one request: their run id occurs in two inputs, one of them names no run, or the \
arguments of one are not recorded. This also counts under different keys.

An effect may have been taken back by a reversal that failed, and an identical call made it again.

One call has a success and a later attempt that may have acted; or it has equal result lines, and neither a number nor a \
time says whether they are one attempt or two; or it has two results with one attempt number that say different things.

What to do: look upstream if a call failed. `playproof tools TRACE -o tools.yaml` writes the facts of every tool seen, \
with guesses to confirm; then run `playproof replay TRACE --tools tools.yaml`.",
        ),
        FindingId::RunawayLoop => (
            "one run made the same call more than ten times",
            "\
One run made the same call, unchanged, more than ten times. Each call may be harmless, but the agent is probably stuck. \
Each call from the eleventh on has the finding, with the count so far.

What to do: look at the first repetition. The usual cause is a failure message that does not help the planner.",
        ),
        FindingId::FutileRetry => (
            "a failed call was sent again unchanged, and failed again",
            "\
The agent repeated a failed call with the same arguments, wrote nothing in between, and the call failed again. This \
costs time and tokens only.

What to do: give the failure a verdict that ends the call, or a message that tells the agent what to change.",
        ),
        FindingId::OverTimeout => (
            "a recorded answer came later than the tool's timeout allows",
            "\
A recorded answer counts even if it is late, because it is evidence. A live dispatcher with this timeout would have \
given up earlier, and the call would have gone differently.

What to do: raise the tool's `timeout_ms`, or make the late answer harmless (a key, an idempotent tool).",
        ),
        FindingId::GuardRedundant => (
            "a guard stopped an attempt that would have been safe",
            "\
The retry guard stopped a further attempt, and the ledger shows that no earlier attempt had acted. The guard could not \
know that, and was right to stop.

What to do: nothing; or give the call a key, or declare the tool `idempotent: true` if it is, so that the guard lets \
the attempt pass.",
        ),
    }
}
