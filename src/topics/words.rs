//! The help texts of outcomes, claims, compensations, guards and other words.

const SEVERITY: &str = "\
Each finding has one of three severities:

\x20   unsafe  it shows harm, or an outcome that contradicts the ledger; the exit code is 1
    doubt   it may show harm, and the input does not say; the exit code is 3 under `--strict`
    note    it costs time, or is worth knowing; it never changes the exit code

A finding on assumed tool facts is at most a doubt. `recorded` says that the agent caused it, `playbook` that the dispatcher would. `playproof help FINDING` explains one finding.";

/// Sort, id, title, text.
pub const WORDS: &[(&str, &str, &str, &str)] = &[
    (
        "outcome",
        "succeeded",
        "the first attempt succeeded",
        "The first attempt got an ok. The effect of a write is `applied`.",
    ),
    (
        "outcome",
        "succeeded_after_compensation",
        "a later attempt succeeded",
        "An attempt failed, the compensation of its verdict sent the call again, and a later attempt got an ok.",
    ),
    (
        "outcome",
        "deprecated",
        "given up here; the planner reconciles",
        "The dispatcher gives up the local attempt, not the intent: the planner reads the state upstream and plans from there. \
         If the effect is `applied`, the change exists already. If it is `unknown`, the planner must reconcile before it sends \
         the call again.",
    ),
    (
        "outcome",
        "escalated",
        "a person decides",
        "The call waits in a queue of the playbook. The dispatcher makes no further attempt.",
    ),
    (
        "outcome",
        "reversed",
        "the reversal token was redeemed",
        "The upstream reversed the effect, once, with the reversal token of the call. The claim is `not_applied` only if \
         every attempt before it ended with a known effect. An attempt whose effect is unknown may still land after its \
         reversal; the claim is then `unknown`.",
    ),
    (
        "outcome",
        "exhausted",
        "a limit was hit",
        "The outcome has the last error, and the first one if it differs. The stop reason names the first limit that was hit: \
         `told_not_to` (a header of the upstream), `max_retries`, `max_attempts`, `deadline`, `call_timeout`, `max_wait`, \
         `budget` (the tool calls of the run), `circuit_open`, `retry_budget`, `max_refreshes`, `refresh_failed` or \
         `reversal_refused`. `playproof help REASON` explains one.",
    ),
    (
        "outcome",
        "refused",
        "an admission check refused the call; nothing was sent",
        "A check before the first attempt refused the call. The checks in their order: the gate (`unknown_action`, \
         `invalid_transition`, `validation_failed`), the request (`not_found`, `schema`, \
         `key_missing`, `key_length`), its key (`key_reused`, `key_in_flight`, `unsettled`), the tool calls of the run \
         (`budget_exceeded`), the breaker (`circuit_open`) and the permits (`queue_full`). The dispatcher made no attempt, and \
         the effect is `not_applied`. A refusal says what would be allowed instead. `playproof help REASON` explains one, \
         docs/graph.md and docs/admission.md all.",
    ),
    (
        "outcome",
        "joined",
        "another call with its key was in flight; it ended as that one did",
        "`dedupe` makes two calls with one idempotency key one request: the second one, the follower, waits for the first, the \
         leader, and ends with its result or error and its claim. It has no attempts and costs nothing.",
    ),
    (
        "outcome",
        "cached",
        "another call with its key had succeeded; it got the same result",
        "A call with the same key, tool and arguments succeeded within the window of `dedupe`. Nothing is sent, and the claim is \
         that of the other call. Failures are never kept.",
    ),
    (
        "outcome",
        "skipped",
        "a step whose action had ended before its turn",
        "Nothing was sent for it, and its effect is `not_applied`. The first step of an action that does not succeed ends the \
         action, and the rest is skipped; what was done before stays done. docs/steps.md has the rules.",
    ),
    (
        "outcome",
        "cancelled",
        "the caller went away",
        "The dispatcher sends nothing more, and frees what the call held. What was sent may have acted: the claim is what is \
         proved so far, `unknown` if an attempt was out. Nobody waits for the result, so whoever follows the caller must look \
         upstream first. See the finding `abandoned`.",
    ),
    (
        "outcome",
        "undetermined",
        "an answer is missing, or only suggests a failure",
        "The recording ends before the playbook does. The outcome names the missing answer; Playproof never reports an \
         assumption as evidence. `--beyond-tape` answers from a model. Or an answer suggests a failure and does not prove one: \
         see the finding `suspected_failure`. Or it says that the work is not done yet: see the finding `unfinished`.",
    ),
    ("claim", "applied", "the upstream made the change", "A claim about the effect of a call: the change exists."),
    (
        "claim",
        "not_applied",
        "the upstream did not make the change",
        "A claim about the effect of a call: no attempt made the change. Another attempt is safe.",
    ),
    (
        "claim",
        "unknown",
        "the upstream may have made the change",
        "A claim about the effect of a call: an attempt may have acted, and nothing proves it. Look upstream before you send \
         the call again without the same idempotency key.",
    ),
    (
        "compensation",
        "retry_with_backoff",
        "wait, then send again with the same key",
        "`backoff_ms` lists the waits. Its length is the number of retries; `max_retries` sets another number, and further \
         retries repeat the last wait. `backoff` gives a formula instead, with growth and jitter. `after: retry_after` lets \
         the upstream lengthen a wait, up to `max_wait_ms`; `server_delay` has more ways. docs/waits.md has all of them. The \
         retry guard decides before each retry; if it stops one, `on_unsafe` runs.",
    ),
    (
        "compensation",
        "refresh_evidence",
        "take a new snapshot of the evidence",
        "`then: retry` sends the call again with the new snapshot, if the retry guard allows it. `then: abort` gives the call up. \
         `max_refreshes` limits the number of refreshes (1 by default).",
    ),
    (
        "compensation",
        "escalate_to_human",
        "hand the call to people",
        "The call waits in `queue`, which the playbook must declare. The dispatcher makes no further attempt.",
    ),
    (
        "compensation",
        "issue_reversal",
        "redeem the reversal token",
        "Reverses the effect, once. If the call has no token, or the token was redeemed before, the token guard refuses and \
         `on_refused` runs.",
    ),
    (
        "compensation",
        "deprecate_tool_call",
        "give up the local attempt",
        "`reason` says why. The planner reconciles with the upstream.",
    ),
    (
        "guard",
        "retry_guard",
        "stops a further attempt that could act twice",
        "A further attempt passes if the tool is a read or idempotent, or the call has an idempotency key, or no attempt so \
         far can have acted. Otherwise the guard suppresses it, and the compensation's `on_unsafe` runs. By default that is an \
         escalation to the `default_queue`.",
    ),
    (
        "guard",
        "token_guard",
        "stops a reversal without a token, or a second one",
        "A reversal needs the token of the original call, and a token is redeemed once. Otherwise the guard refuses the \
         reversal, and `on_refused` runs. By default that is an escalation to the `default_queue`.",
    ),
    (
        "provenance",
        "recorded",
        "the trace holds the answer",
        "Of a finding, `recorded` means that the agent or its harness caused it.",
    ),
    (
        "provenance",
        "inferred",
        "read from an identical later call",
        "`--join-resends` reads an identical call after a failed one as its next attempt, unless a successful write lies \
         between them.",
    ),
    ("provenance", "scripted", "the answer is in a fixture's script", "A person wrote it; nothing was recorded."),
    (
        "provenance",
        "modelled",
        "a model of the upstream gave the answer",
        "The model is the fixture's key dialect, `--beyond-tape`, or the attempt's timeout.",
    ),
    ("provenance", "unanswered", "there is no answer", "The outcome of such a call is `undetermined`."),
    (
        "word",
        "off-tape",
        "the run departed from the recording",
        "A run is off tape from the first decision that departs from its recording: another number of attempts or another \
         final status, never a delay alone. The agent might then have done something else. Playproof still replays the rest of \
         the run, and marks it.",
    ),
    (
        "word",
        "resend",
        "an identical call after a failed one",
        "A chat log does not say which calls are retries. `--join-resends` reads a call as the next attempt of the one before \
         it in its run if both have the same tool, arguments and key, the one before failed, and no successful write lies \
         between them. Such an attempt is `inferred`, and has no reference of its own. What it shows of the agent stays: a \
         resend that failed again is `futile_retry`, one after a write that may have acted is `unsafe_retry`.",
    ),
    (
        "word",
        "told",
        "what the agent is told of a failed call",
        "A class, the boundary that produced it, and `retriable`: whether the agent may make the call again now. A verdict can \
         name the class (`tell`); else the error does. `retriable` is computed: the class passes, the retry guard lets the \
         call pass, no limit but `max_wait` was hit, and nobody else decides. `retry: suppressed` or `exhausted` says why \
         not. docs/what-the-agent-is-told.md has the rules and the envelopes.",
    ),
    (
        "word",
        "verdict",
        "the meaning of a failure",
        "\
The rules of a playbook are tried in order on each failed attempt; the first that matches gives the verdict. A failure that no rule matches is `unclassified`.

A verdict says what the failure proves about the effect (`applied`, `not_applied` or `unknown`), and has one compensation: the next action. The compensation ends in one outcome. `playproof schema playbook` lists all keys.",
    ),
    (
        "word",
        "tape",
        "the recorded answers of a run",
        "In a replay, recorded answer n of a call answers attempt n. The tape of a call ends with its last recorded answer. If \
         the playbook then sends again, an answer is missing and the outcome is `undetermined`; `--beyond-tape` answers from a \
         model. See also `playproof help off-tape`.",
    ),
    (
        "word",
        "ledger",
        "the simulated upstream's own record of effects",
        "Only the simulated upstream writes the ledger, from what a fixture scripts or a recording proves; it does not know the \
         playbook. Claims of outcomes are compared with it. From a recording only the ok of a write proves an effect; the rest \
         is `unobserved`.",
    ),
    ("word", "severity", "how serious a finding is: unsafe, doubt or note", SEVERITY),
    ("word", "unsafe", "a finding that shows harm: the exit code is 1", SEVERITY),
    ("word", "doubt", "a finding that may show harm", SEVERITY),
    (
        "word",
        "fixture",
        "a hand-written scenario",
        "\
A file in `fixtures/`: calls, the upstream's answer to each attempt (`upstream`), and what the run must show (`expect`). `playproof replay FILE` shows the run, `playproof check` runs all fixtures and compares each run with `expect` and with its golden.

No command changes `expect`: a run that contradicts it fails, and cannot be accepted. `playproof schema fixture` lists all keys.",
    ),
    (
        "word",
        "golden",
        "the accepted run of a fixture under a playbook",
        "\
A file in `goldens/PLAYBOOK/`: every decision event, the outcomes, the ledger and the findings. `playproof check` compares each run with its golden and fails on a difference.

`playproof check` leaves the new run beside its golden as `.snap.new`; `playproof diff` shows it, `playproof accept` makes it the golden, `playproof reject` removes it. Commit goldens; git ignores pending files.",
    ),
    (
        "word",
        "lock",
        "the accepted rows of the playbooks",
        "\
`goldens/playbook.lock` has one line for each row (verdict, rule, tool, limit) of the playbooks that fixtures use, with the reason of its last change. An edited row fails `playproof check` until `playproof accept PLAYBOOK --reason '...'` accepts it.

It is not the project lock, which a command holds while it writes.",
    ),
    (
        "word",
        "intent",
        "the change that a call wants, once",
        "\
For a call with an idempotency key, the intent is the tool and the key. For a write without a key, it is the run, the tool and the canonical arguments; so it is where the tool facts say that the upstream ignores keys (`keys: ignored`). Different keys are different intents. Each call of a `repeatable` tool has its own intent: three equal partial refunds are then three changes, not one change made three times.

An upstream tells requests apart by their keys, and so do intents. A person may see one change where the upstream sees two, so `explain` also names the calls that are close to an intent:

A call of the same run with the same tool and arguments under another key, or one with a key and one without. If both act, the change is made twice.

A call with the same key and other arguments. An upstream that checks keys refuses it, another repeats the answer to the first request. An ok then proves nothing about the second.

See also `playproof help safe_to_send_again`.",
    ),
    (
        "word",
        "safe_to_send_again",
        "when `explain` says that a call may be sent again",
        "\
The last block of `playproof explain` answers yes in four cases. The tool only reads. The tool is declared idempotent. According to the playbook, no attempt with this intent has acted. Or an attempt may have acted and the call has a key: then the same key, the same arguments, and an upstream that honours keys.

If an open circuit breaker or an empty budget stopped the call, the answer is *not now*, with what holds when calls pass again.

It never answers yes if one more call could add an effect, or would be an `unsafe` finding:

\x20   the effect is there, or may be there without a key that makes a second request harmless
    a person decides first, or the call was denied
    the upstream says that it has processed the key, or the same request under another one
    the message of a failure says that something was done
    the upstream says that a write is not to be sent again
    the call has no key, or is given up, and a failure says more than a refusal
    the client of the tool sends requests again by itself (`upstream_retries`), and the call has no key, or is given up
    an answer of the inputs belongs to no call, is no plain refusal, and may be one to this call
    an input cannot be read to its end, or lines of it are skipped, and the call has no key
    another call made the effect, or may have, and may be the same request
    the playbook gives the request up, because it would be refused again (not after a failure that passes, such as 429)
    the key belongs to a request with other arguments
    the same request under another key made the effect, or may have
    the outcome claims something else than the ledger
    the tool is declared a read, and it acted
    the effect was reversed on purpose, also of an idempotent tool, or may still land after its reversal
    a reversal was sent and not confirmed, so that it may land later
    the only requests under its key were refused before the upstream said that it had processed the key
    an effect under its key was reversed, so that an answer may be the first one again
    a reversal failed, or shared its token with another call, and may have taken the effect back

A failure says no more than a refusal if all of it does. Its message is absent, or it has at most 400 bytes and only English words of refusals and of what to do next; names with a digit, addresses and names of errors are not read. Any other word, also one in another language, may tell of something done. So may any \"not\" that is not part of a refusal, and several attempts. Its status is absent, 503, or from 400 to 498 without 408 and 409. Its code is absent, a number, or the name of a refusal. The upstream does not say that the call should not be sent again.

If a failure says more, or the client of the tool sends requests again by itself, the effect is unknown, whatever the playbook takes it for: the answer to the last request says nothing of those before it.

An idempotent tool makes a second call harmless, not a late one: if another call has written the same object since, sending the first again undoes that. `explain` names later calls of the tool with other arguments; it cannot know whether they wrote the same object.

A write without a key has its intent within its run. The same request in a run of another id is another intent. The page names it if it acted or may have: an agent that begins again may have a new run id.

Each call of a `repeatable` tool acts, so sending it again makes one more effect. The page then asks whether that is wanted.",
    ),
    (
        "word",
        "widening",
        "a changed playbook attempts a write that it did not attempt before",
        "`playproof impact` reports it for a call if the candidate sends a write more often than the base, redeems a \
         reversal token that the base does not, or lets a call or a step through that the base holds back. The reverse is narrowing. Every other change, such as another queue or delay, \
         is neutral. Widening can do harm: `--fail-on widening` fails on it, `--allow-widening REASON` accepts it.",
    ),
    (
        "word",
        "narrowing",
        "a changed playbook no longer attempts a write that it attempted before",
        "`playproof impact` reports it for a call if the candidate sends a write less often than the base, or does not redeem a \
         reversal token that the base redeems. It does less harm, and may leave more work to people.",
    ),
    (
        "word",
        "outside",
        "files outside the project's folder",
        "Commands read and write the files of their own project: those below the folder of `playproof.yaml`. A path in that \
         file that leads out of the project, by its words or through a link, is an error. `--allow-outside` uses such paths and \
         says so. The flag covers only the files and folders that `playproof.yaml` names, with their contents. Other links \
         that lead out of the project stay errors, such as a link among the fixtures. No command writes or removes anything \
         through a link in the project. A file that you name after `-o` or `--report` may lie in any existing folder, but not \
         where a project would read it as its own.",
    ),
    (
        "word",
        "interrupted",
        "what happens after a command is killed",
        "A command first stages its files in `.accepting`, beside the proposals, and then commits. If it is killed before the \
         commit, nothing has changed. If it is killed later, the next command that reads the project finishes the change first \
         and says so (`help`, `schema` and `completions` read no project). If a file was edited meanwhile, the edited text is \
         kept as `NAME.aside`. Staged files that came with a copy, an archive or a repository are refused: nothing of them is \
         applied or removed.",
    ),
    (
        "word",
        "redaction",
        "how to hide secrets of a trace",
        "\
`redaction` in playproof.yaml hides text of a trace in everything that is shown or written: pages, JSON and reports, imports, feedback, fixtures and proposals.

`keys` are globs without regard to case (`password` also matches `Password`). The value under such a key becomes `[redacted]`: in arguments and evidence, in JSON within any text, however deep or broken, and in a trace's own fields (`run_id`, `call_id`, `tool`, `idempotency_key`, `reversal_token`, `args`, `evidence_refs`, `kind`, `message`, `code`).

`patterns` are regular expressions for every text, number and key of a trace, also where backslashes escape its characters. They never change Playproof's own words. A text such as `password=x` within a message is not JSON: it needs a pattern, such as `(?i)password=\\S+`.

Redaction changes only what is shown. Calls are paired, compared, classified and counted as recorded. Names that become the same text are numbered in the order of the trace (`[redacted] 2`). Select such a call by its place FILE:LINE or by its recorded name. Only message templates are made from redacted text, so that no suggested rule asks for a secret. A fixture or feedback that needs redacted text is refused, or shows less.

If anything is redacted, input that cannot be read is not quoted; messages give only its place. `init` drafts no mapping that would name redacted text. A tool whose name is redacted gets no row of tool facts: `tools` and `init` count such tools, and people write their rows.

Redaction does not cover times, statuses (`ok`, `error`, status numbers), numbers of attempts, waits and timeouts, places (file, line, path), and what you type yourself. Encoded text (percent, base64, compressed) is not decoded.",
    ),
    (
        "word",
        "exit-codes",
        "the meaning of each exit code",
        "\
\x20   0    clean
    1    an `unsafe` finding (replay, demo), a difference that is not accepted (check, init), something that still waits (review), a failed gate (impact, coverage, mutate), an objection to a proposal (propose check, accept), a run that contradicts its fixture under accepted rows (accept), a row that no record explains (history verify), or a warning (lint)
    2    wrong usage, input that cannot be read or is empty (the results of other inputs are shown), nothing that waits (diff, accept, reject), no terminal (review), or a gate that cannot run
    3    inconclusive: a doubt under `--strict`, a gate with nothing to decide (impact --fail-on, coverage --fail-under), a limit that was hit (mutate --max-calls), or more lines skipped than read (--skip-invalid)
    70   a bug in Playproof: please report it with the input
    130  interrupted (Ctrl-C)
    141  the reader of the output went away, as in `playproof replay TRACE --all | head`

If several apply, 2 wins over 1, and 1 over 3. A command that printed an error never exits with 0, except for lines that `--skip-invalid` passed over.",
    ),
];
