//! Outcomes, claims, compensations, guards and the rest of the vocabulary, explained.

/// Sort, id, title, text.
pub const WORDS: &[(&str, &str, &str, &str)] = &[
    (
        "outcome",
        "succeeded",
        "nothing failed",
        "The first attempt was answered with ok. A write's effect is `applied`.",
    ),
    (
        "outcome",
        "succeeded_after_compensation",
        "a later attempt succeeded",
        "An attempt failed, the verdict's compensation sent the call again, and that attempt was answered with ok.",
    ),
    (
        "outcome",
        "deprecated",
        "given up here; the planner reconciles",
        "The local attempt is given up, not the intent: the planner reads what is true upstream and plans from there. With \
         effect `applied` the change is there already; with `unknown` it must reconcile before it sends anything again.",
    ),
    (
        "outcome",
        "escalated",
        "a human decides, from a queue",
        "The call waits in a queue of the playbook. No later attempt is made for it.",
    ),
    (
        "outcome",
        "reversed",
        "the reversal token was redeemed",
        "The effect was taken back upstream, once, with the token that the call carried.",
    ),
    (
        "outcome",
        "exhausted",
        "a limit was hit",
        "The last error stands, and the first beside it where it was another. The stop reason names the first limit hit: \
         `max_retries`, `max_attempts`, `deadline`, `max_wait`, `max_refreshes`, `refresh_failed` or `reversal_refused`.",
    ),
    (
        "outcome",
        "refused",
        "the call was not admitted; nothing was sent",
        "A check before the first attempt said no, so that no attempt was made and a write's effect is `not_applied`. The \
         decision event `refused` names the check's reason. No playbook has such a check yet.",
    ),
    (
        "outcome",
        "undetermined",
        "an answer was needed that nothing supplies",
        "The recording ends before the playbook does. The outcome says which answer it lacked: an assumption is never \
         reported as evidence. `--beyond-tape` answers on request.",
    ),
    ("claim", "applied", "the upstream made the change", "A claim about the effect of a call: the change is there."),
    (
        "claim",
        "not_applied",
        "the upstream did not make the change",
        "A claim about the effect of a call: no attempt made the change. Sending again is safe.",
    ),
    (
        "claim",
        "unknown",
        "the upstream may have made the change",
        "A claim about the effect of a call: at least one attempt may have acted, and none is proved. Look upstream before \
         anything is sent again without the same idempotency key.",
    ),
    (
        "compensation",
        "retry_with_backoff",
        "wait, then send again with the same key",
        "`backoff_ms` lists the waits; its length is the number of retries unless `max_retries` says, and the last value \
         holds. `after: retry_after` lets the upstream lengthen a wait, up to `max_wait_ms`. The retry guard is asked before \
         every retry; where it stops one, `on_unsafe` runs.",
    ),
    (
        "compensation",
        "refresh_evidence",
        "take a new snapshot of the evidence first",
        "`then: retry` sends the call again with the new snapshot, under the retry guard; `then: abort` gives it up. \
         `max_refreshes` bounds how often (1).",
    ),
    (
        "compensation",
        "escalate_to_human",
        "hand the call to people",
        "`queue` must be declared. No later attempt is made for the call.",
    ),
    (
        "compensation",
        "issue_reversal",
        "redeem the reversal token",
        "Takes the effect back, once. Without a token, or with one redeemed before, the token guard refuses, nothing is \
         redeemed, and `on_refused` runs.",
    ),
    (
        "compensation",
        "deprecate_tool_call",
        "give up the local attempt",
        "`reason` says why. The planner reconciles against the upstream.",
    ),
    (
        "guard",
        "retry_guard",
        "stops a further attempt that could act twice",
        "A further attempt passes if the tool is a read or idempotent, or the call has an idempotency key, or no attempt so \
         far can have acted. Otherwise the retry is suppressed and the compensation's `on_unsafe` runs, by default escalation \
         to the playbook's `default_queue`.",
    ),
    (
        "guard",
        "token_guard",
        "stops a reversal without a token, or a second one",
        "A reversal needs the token that the original call carried, and each token is redeemed once. Otherwise the reversal \
         is refused and `on_refused` runs, by default escalation to the playbook's `default_queue`.",
    ),
    (
        "provenance",
        "recorded",
        "the trace holds the answer",
        "As a word for who did something, `recorded` means the agent or its harness, in the recording.",
    ),
    (
        "provenance",
        "inferred",
        "read from an identical later call",
        "With `--join-resends`, an identical call after a failed one, with no successful write between, is read as its next \
         attempt.",
    ),
    ("provenance", "scripted", "a fixture's script says the answer", "People wrote it; nothing was recorded."),
    (
        "provenance",
        "modelled",
        "the answer was made by a model of the upstream",
        "By the fixture's key dialect, by `--beyond-tape`, or by the attempt's timeout.",
    ),
    ("provenance", "unanswered", "nothing answers", "The outcome of such a call is `undetermined`."),
    (
        "word",
        "off-tape",
        "the run departed from the recording",
        "From the first decision that departs from a recording (another number of attempts, another final status; never a \
         delay alone), the agent might have done something else. What follows in that run is still replayed, and marked.",
    ),
    (
        "word",
        "intent",
        "what a call wants done once",
        "Tool and idempotency key for a call with a key; else run, tool and canonical arguments of a write. Different keys \
         are different intents. A tool that is `repeatable` has one intent a call.",
    ),
    (
        "word",
        "widening",
        "a changed playbook attempts a write that it did not attempt before",
        "Said by `playproof impact` of a call for which the candidate sends a write more often than the base, or redeems a \
         reversal token where the base does not. The reverse is narrowing; all else, such as another queue or another delay, \
         is neutral. Widening is where harm comes from: `--fail-on widening` stops it, `--allow-widening REASON` says why it \
         is right this time.",
    ),
    (
        "word",
        "narrowing",
        "a changed playbook no longer attempts a write that it attempted before",
        "The reverse of widening, in the words of `playproof impact`: for this call the candidate sends a write less often \
         than the base, or leaves a reversal token alone. It does less harm, and may leave more to people.",
    ),
    (
        "word",
        "outside",
        "what a project names beyond its own folder",
        "Commands read and write the files of their own project: those below the folder of `playproof.yaml`. A path in it that \
         leads elsewhere, by its words or by a link, is an error; `--allow-outside` uses such a path and says so. It covers the \
         files and folders that `playproof.yaml` names, and what lies in those; a link within another folder of the project \
         (a fixture, say) that leads out of it stays an error, and so does everything that is written or removed through a \
         link within one. A file that you name yourself, after `-o` or `--report`, may lie \
         in any folder that is there, but not where a project would take it for a file of its own.",
    ),
    (
        "word",
        "interrupted",
        "what becomes of a command that is killed",
        "A command stages its files first, in `.accepting` beside the proposals, and then decides. Killed before that, it has \
         changed nothing; killed later, the next command that reads the project finishes the change before it reads anything \
         else, and says so (`help`, `schema` and `completions` read no project). A file that somebody changed meanwhile is kept beside its place, as `NAME.aside`. What was staged in \
         another folder, and came with a copy, an archive or a repository, is refused: nothing of it is applied or removed.",
    ),
    (
        "word",
        "redaction",
        "what of a trace is never shown",
        "\
`redaction` in playproof.yaml takes text of a trace out of everything that is shown or written: pages, JSON and reports, imports, feedback, fixtures and proposals. `keys` are globs, for which capitals do not count (`password` is also `Password`): what stands under such a key becomes `[redacted]`, in arguments and evidence, in JSON within any text however deep or broken, and in a trace's own fields (`run_id`, `call_id`, `tool`, `idempotency_key`, `reversal_token`, `args`, `evidence_refs`, `kind`, `message`, `code`). `patterns` are regular expressions over every text, number and key of a trace, also where backslashes escape its characters; no pattern changes our own words. A text such as `password=x` within a message is no JSON: it needs a pattern, such as `(?i)password=\\S+`.

It changes what is shown and nothing else: calls are paired, compared, classified and counted as they are recorded. Names that become the same text are numbered in the order of the trace (`[redacted] 2`); such a call is chosen by its place FILE:LINE, and by its recorded name all the same. Only forms are mined of what is shown, so that no rule asks for what is redacted. Where a fixture or a feedback needs what was taken out, it is refused or shows less.

Of input that cannot be read nothing is quoted, only its place, where anything is redacted. A mapping that would name what is redacted is not drafted, and a tool whose name is redacted gets no row of tool facts: `tools` and `init` count such tools, and their rows are written by hand.

Exempt are times, statuses (`ok`, `error`, status numbers), numbers of attempts, waits and timeouts, places (file, line, path), and what you type yourself. What is encoded (percent, base64, compressed) is not decoded.",
    ),
    (
        "word",
        "exit-codes",
        "what the exit code says",
        "\
\x20   0    clean
    1    an `unsafe` finding (replay), a difference that nobody accepted (check, init), what a gate refuses (impact, coverage, mutate), what speaks against a proposal (propose check, accept), a row that no record explains (history verify), or a warning (lint)
    2    wrong usage, input that cannot be read or is empty, a gate that cannot do its job
    3    inconclusive: under `--strict`, where there is a doubt; a gate that had nothing to decide (impact --fail-on, coverage --fail-under), a limit that was hit (mutate --max-calls), more lines skipped than read (--skip-invalid)
    70   our bug: please report it with the input
    130  interrupted (Ctrl-C)
    141  whoever read the output went away, as in `playproof replay TRACE --all | head`

The worst wins: 2 over 1 over 3 over 0. It is never 0 after an error was printed, but for lines that `--skip-invalid` passes over.",
    ),
];
