//! What each lint means, for `playproof help ID`. The ids never change.

/// Every lint id, sorted.
pub const IDS: &[&str] = &[
    "backoff_beyond_deadline",
    "backoff_repeats",
    "backoff_shrinks",
    "backoff_too_long",
    "impossible_rule",
    "misspelt_kind",
    "retries_beyond_attempts",
    "shadow_undecided",
    "shadowed_rule",
    "shadowed_tool",
    "study_playbook",
    "unreached_guard",
    "unreached_verdict",
    "unused_max_wait",
    "unused_queue",
];

/// What the lint `id` means, with an example and what to do.
pub fn explain(id: &str) -> Option<&'static str> {
    EXPLANATIONS.iter().find(|(known, _)| *known == id).map(|(_, text)| *text)
}

const EXPLANATIONS: &[(&str, &str)] = &[
    (
        "backoff_beyond_deadline",
        "\
The waits of a verdict, added up, are longer than `limits.deadline_ms`, which bounds the start of every attempt.
The retries at the end of the list can therefore never start, and the call ends `exhausted` (deadline) earlier than
the list suggests. The attempts themselves take time too, so even a sum just below the deadline is tight.

    then: { retry_with_backoff: { backoff_ms: [1000, 30000, 60000] } }
    limits: { deadline_ms: 60000 }       # the third retry would start after 91 s

Shorten the waits, or raise the deadline.",
    ),
    (
        "backoff_repeats",
        "\
The last wait of a list with `max_retries` is written twice. The last wait holds for all further retries anyway, so
one of the two says nothing.

    { backoff_ms: [200, 600, 600], max_retries: 5 }      # the same as [200, 600]

Write it once. (Without `max_retries` the length of the list is the number of retries, and repeating is meaningful.)",
    ),
    (
        "backoff_shrinks",
        "\
A later wait is shorter than an earlier one. An upstream that did not recover after the long wait is then asked
sooner, which is how retries of many agents pile up on a service in trouble. Most often the list is just unsorted.

    { backoff_ms: [1800, 600, 200] }

Put the waits in rising order.",
    ),
    (
        "backoff_too_long",
        "\
The list of waits is longer than `max_retries`: the waits at its end are never used.

    { backoff_ms: [200, 600, 1800], max_retries: 2 }     # 1800 is never waited

Leave `max_retries` out (the list's length then counts), or shorten the list.",
    ),
    (
        "impossible_rule",
        "\
A rule asks for what cannot be: `error: absent` together with something that only an error has (kind, message,
status, code, a `retry_after` that is present), or an attempt whose number is above `limits.max_attempts`.
It matches nothing, so its verdict is given by other rules or by nobody.

    when: { error: absent, status: 500 }
    when: { attempt: 7 }                  # with max_attempts: 6

Ask for less, split the rule in two, or remove it.",
    ),
    (
        "misspelt_kind",
        "\
A rule asks for an error kind that is one slip away from another: one that the shipped playbooks name, or one that an
earlier rule of this playbook names. Kinds are compared to the letter, so a rule with a misspelt one never speaks, and
its failures fall through to the rules below.

    - { rule: timeout, when: { kind: timeot }, verdict: transient_timeout }

Correct it. If your adapter does give both kinds, name both in one rule: `kind: [timeout, timeot]`.",
    ),
    (
        "retries_beyond_attempts",
        "\
A verdict wants more retries (or refreshes) than `limits.max_attempts` leaves. Attempts count the first try, retries
do not: 6 attempts are 5 retries. The limit wins, and the call ends `exhausted` (max_attempts).

    then: { retry_with_backoff: { backoff_ms: [200], max_retries: 9 } }
    limits: { max_attempts: 6 }

Raise the limit, or retry less often.",
    ),
    (
        "shadow_undecided",
        "\
An earlier rule asks a regular expression, everything else that it asks follows from this rule, and it could not be
decided whether the expression leaves anything to it. This rule may never speak.

    - { rule: broad,  when: { message: { matches: 'time.*out' } }, verdict: a }
    - { rule: narrow, when: { message: { matches: 'timed out after \\d+' } }, verdict: b }

Write a fixture in which the later rule speaks: its golden then decides for you. Or use `contains`, or put the
narrower rule first.",
    ),
    (
        "shadowed_rule",
        "\
Everything that this rule matches is matched by earlier rules, and the first that matches wins: it never speaks.
Lists, ranges, globs and texts are compared (`contains: time out` is covered by an earlier `contains: time`), several
earlier rules together too.

    - { rule: any-conflict, when: { status: 400-499 }, verdict: a }
    - { rule: denied,       when: { status: 403 },     verdict: b }      # never

Put the narrower rule first, or remove it.",
    ),
    (
        "shadowed_tool",
        "\
A tool glob stands behind a wider one, and the first glob that matches a tool speaks: its facts are never used.
(A row with the plain name of a tool always wins over globs, wherever it stands.)

    tools:
      search.*:     { access: read }
      search.web.*: { access: write }     # never

Put the narrower glob first.",
    ),
    (
        "study_playbook",
        "\
This playbook has a `study` block: it exists to show what goes wrong, with guards off or failures ignored. It is for
study, not for use. Commands skip it unless it is named, and it is a good column beside a playbook that you mean.

    playproof replay TRACE --playbook study/retry-everything --playbook standard

Nothing is to be done, unless you meant to use it: then remove the block and every switch in it.",
    ),
    (
        "unreached_guard",
        "\
An `on_unsafe` or `on_refused` is written that can never run. The retry guard stops a call only if it is a write that
is neither idempotent nor keyed and an attempt may have acted; a verdict with `effect: not_applied`, or whose rules
ask for reads, idempotent tools or keyed calls, never trips it.

    effect: not_applied
    then: { retry_with_backoff: { backoff_ms: [200], on_unsafe: { escalate_to_human: { queue: q } } } }

Remove it; or, if you expected it to run, check what the verdict says about the effect.",
    ),
    (
        "unreached_verdict",
        "\
No rule that can speak gives this verdict, and `otherwise` does not name it: its compensation never runs. Often the
rule is missing, or it is shadowed by an earlier one (see `shadowed_rule`).

    verdicts: { rate_limited: { ... } }
    classify: [ { rule: timeout, when: { kind: timeout }, verdict: transient_timeout } ]

Add a rule, or remove the verdict.",
    ),
    (
        "unused_max_wait",
        "\
`max_wait_ms` bounds the wait that the upstream asks for, and this verdict waits by its own list only
(`after: backoff`, which is the default): the bound is never asked.

    then: { retry_with_backoff: { backoff_ms: [200], max_wait_ms: 5000 } }

Write `after: retry_after` if the upstream's wish is to be honoured, or remove `max_wait_ms`.",
    ),
    (
        "unused_queue",
        "\
A queue is declared and nothing escalates to it: no verdict, no guard, not the `default_queue`. People who watch it
wait for nothing, and what they expect there goes elsewhere.

    queues: [policy_review, refunds]      # and no `escalate_to_human: { queue: refunds }`

Remove it, or name it where calls should go to it.",
    ),
];
