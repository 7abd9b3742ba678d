//! The findings, explained for whoever has one on the screen. The ids are `event::FindingId`'s.

use playproof_engine::event::FindingId;

/// A title and an explanation.
#[expect(clippy::too_many_lines, reason = "one text a finding")]
pub const fn explain(id: FindingId) -> (&'static str, &'static str) {
    match id {
        FindingId::DuplicateEffect => (
            "one intent had more than one effect",
            "\
What one call wanted done once was done more than once: the same tool with the same idempotency key, or, for \
calls without a key, the same tool with the same arguments in one run. Effects that were taken back do not count.

Only tools whose facts people declared are judged here (see `possible_duplicate_effect` for the others). `recorded`: \
several calls made the effect, or it was there before: the agent asked again. `playbook`: one call made it more than \
once, by attempts that the dispatcher would add. One intent may have both.

What to do: give the call an idempotency key, or let the retry guard stop the retry (do not switch it off), or, if \
doing it again is what is meant, declare the tool `repeatable: true`.",
        ),
        FindingId::UntruthfulOutcome => (
            "the outcome claims something else than what is true upstream",
            "\
The call's outcome claims `not_applied` where the upstream's ledger has a net effect, or `applied` where it has none; \
or it claims less than what a verdict that was ignored had already proved. Whoever acts on the outcome acts on a \
falsehood: sends a refund again, or tells a customer that it was made.

It is judged against scripted or modelled effects only: a recording seldom shows what the upstream did.

What to do: look at the `effect` of the verdicts on the call's way. A failure that may have happened after the change \
(a timeout, a 5xx) must say `effect: unknown`, and later failures must be classified too.",
        ),
        FindingId::RetriedAfterDenial => (
            "the call was sent again after the upstream had denied it",
            "\
A policy, a permission or a human said no, and the same call was sent again. A denial does not change by asking \
again; doing so works around a control, and may alert or lock.

What to do: give denials a verdict of their own whose compensation is `escalate_to_human`.",
        ),
        FindingId::RetriedAfterConflict => (
            "the call was sent again after the upstream had said that it was already processed",
            "\
The upstream answered that it had already processed this idempotency key: the effect is there. Sending again can \
only fail, or, where the key is dropped on the way, do it a second time.

What to do: give that answer a verdict with `effect: applied` and the compensation `deprecate_tool_call`. A conflict \
that says *in flight* is another one: it may be retried.",
        ),
        FindingId::UnsafeRetry => (
            "a further attempt that the retry guard would have stopped",
            "\
A write that is not idempotent, without an idempotency key, was sent again although an earlier attempt may have \
acted. Whether it did harm depends on luck.

The retry guard stops such an attempt; the finding is shown where it is off (a study playbook), and for recorded \
attempts of the agent or its harness.

What to do: send an idempotency key, or leave the retry guard on.",
        ),
        FindingId::Unclassified => (
            "no rule matched a failure",
            "\
The playbook does not know this failure. It is never retried; it goes to a human. The summary groups such failures by \
the template of their message, so that one rule can be written for many of them.

What to do: `playproof explain TRACE CALL` shows each rule and why it did not match; then add a rule.",
        ),
        FindingId::Undetermined => (
            "an answer was needed that nothing supplies",
            "\
The playbook would have asked the upstream for something (a further attempt, a refresh, a reversal) that the \
recording does not hold. Playproof does not guess; the outcome is `undetermined` and says which answer it lacked.

What to do: `--beyond-tape ok|repeat|fail:KIND` answers on request, and says that it did (`modelled`); or write a \
fixture for the case. `--join-resends` reads an identical later call as the next attempt (`inferred`).",
        ),
        FindingId::PossibleDuplicateEffect => (
            "one intent may have had more than one effect, which hangs on what is not known",
            "\
As `duplicate_effect`, for a tool that nobody declared: it is assumed to be a write that is not idempotent. If it is a \
read, the finding is moot. Also where a key was sent again and both times an ok came back: an upstream that honours keys \
gave its first answer again, one that forgot the key made its effect again. And where a write without a key was made \
twice unchanged in one run, of which one was answered with ok and the other failed in a way (a timeout) that says nothing \
of the effect: the one that failed may have acted too.

What to do: look upstream where a call failed; `playproof tools TRACE -o tools.yaml` writes the facts of every tool seen, with a guess to confirm; then \
`playproof replay TRACE --tools tools.yaml`.",
        ),
        FindingId::RunawayLoop => (
            "the same call was made many times over",
            "\
One run made one call, unchanged, more than ten times. Each may be harmless, but the agent is likely stuck. The finding \
stands at each call from the eleventh on, with how often it was made until then.

What to do: look at the first repetition; a failure that says nothing the planner can use is the usual cause.",
        ),
        FindingId::FutileRetry => (
            "a failed call was sent again unchanged, and failed again",
            "\
The agent sent a call again after it had failed, with the same arguments and nothing written in between, and it \
failed again. It costs time and tokens, no more.

What to do: give the failure a verdict that ends the call, or a message that says what to change.",
        ),
        FindingId::OverTimeout => (
            "a recorded answer came later than the tool's timeout allows",
            "\
A recorded answer is never cut short, because it is evidence; but a live dispatcher with this timeout would have \
given up before it came, and then the call would have gone another way.

What to do: raise the tool's `timeout_ms`, or make sure that the late answer is harmless (a key, an idempotent tool).",
        ),
        FindingId::GuardRedundant => (
            "a guard stopped what would have done no harm",
            "\
The retry guard stopped a further attempt, and the ledger shows that no earlier attempt had acted: sending again \
would have been safe. The guard was right to stop it on what it knew.

What to do: nothing, or give the call a key (or the tool `idempotent: true`, if it is), so that the guard lets pass.",
        ),
    }
}
