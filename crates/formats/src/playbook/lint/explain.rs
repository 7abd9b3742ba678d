//! The explanation of each lint, for `playproof help ID`. The ids never change.

/// Every lint id, sorted.
pub const IDS: &[&str] = &[
    "backoff_beyond_deadline",
    "backoff_repeats",
    "backoff_shrinks",
    "backoff_too_long",
    "budget_allows_no_call",
    "budget_below_one_retry",
    "circuit_never_closes",
    "circuit_never_opens",
    "class_contradicts_effect",
    "deadline_leaves_no_retry",
    "dedupe_shorter_than_retries",
    "glob_stops_at_dot",
    "hasty_takeover",
    "impossible_rule",
    "jitter_beyond_cap",
    "layers_multiply",
    "loose_schema",
    "misspelt_kind",
    "no_way_to_end",
    "retries_beyond_attempts",
    "shadow_undecided",
    "shadowed_rule",
    "shadowed_tool",
    "steps_repeat_a_write",
    "study_playbook",
    "tool_of_action_and_step",
    "tool_of_two_actions",
    "ungated_write",
    "unreachable_action",
    "unreached_guard",
    "unreached_verdict",
    "unread_headers",
    "unused_breaker",
    "unused_delay_sources",
    "unused_max_wait",
    "unused_queue",
    "unused_retry_budget",
    "words_prove_nothing",
];

/// The explanation of the lint `id`, with an example and a fix.
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
The last wait of a list with `max_retries` is written twice. The last wait repeats for all further retries anyway, so
one of the two is redundant.

    { backoff_ms: [200, 600, 600], max_retries: 5 }      # the same as [200, 600]

Write it once. (Without `max_retries` the length of the list is the number of retries, and repeating is meaningful.)",
    ),
    (
        "backoff_shrinks",
        "\
A later wait is shorter than an earlier one. An upstream that did not recover after the long wait is then called
sooner, so that retries of many agents pile up on a service in trouble. Most often the list is just unsorted.

    { backoff_ms: [1800, 600, 200] }

Put the waits in ascending order.",
    ),
    (
        "backoff_too_long",
        "\
The list of waits is longer than `max_retries`: the waits at its end are never used.

    { backoff_ms: [200, 600, 1800], max_retries: 2 }     # 1800 is never used

Leave `max_retries` out (the list's length then counts), or shorten the list.",
    ),
    (
        "budget_allows_no_call",
        "\
The budget of a run has no tool calls, so every call of every run is refused with `budget_exceeded`, and nothing is ever
sent.

    budget: { tool_calls: 0 }

Raise `tool_calls` to what a run may use, or remove the budget.",
    ),
    (
        "budget_below_one_retry",
        "\
A retry budget allows no retry even when it is full: a retry costs more than the budget ever has, or a throttle stops
retries after its first failure. The verdicts that name it retry on paper only.

    retry_budgets: { payments: { kind: token_bucket, capacity: 10, cost: 14 } }

Raise the budget or lower the cost. If no retry is meant, give the verdict another compensation.",
    ),
    (
        "circuit_never_closes",
        "\
A breaker opens again whatever its probes answer, so that its server gets no requests for ever: its half-open period
ends before an answer can come, or every answer counts as slow.

    half_open: { mode: evaluate_rate, permits: 5, max_wait_ms: 0 }

Give probes the time to answer: a longer `max_wait_ms` or `slow_call_ms`, or `on_max_wait: closed`.",
    ),
    (
        "circuit_never_opens",
        "\
No verdict says that its failure is one of the server, so a breaker never opens. A failure counts only where its verdict
says so, because a complete round trip proves no outage: most refusals come from a server that works.

    verdicts: { unavailable: { means: m, effect: unknown, breaker: failure, then: ... } }

Write `breaker: failure` in the verdicts that mean that the server is down, and `breaker: success` in those that prove
that it works.",
    ),
    (
        "class_contradicts_effect",
        "\
A verdict says `effect: applied`, and tells the agent a class that says the opposite: the upstream never saw the call, or
the call was refused before it ran. An agent that trusts the class makes the call again under another key, and the
effect exists twice.

    duplicate: { means: m, effect: applied, tell: { class: network_error }, then: ... }

If the upstream answered, write `class: external_api_error`. If nothing was done, write `effect: not_applied`.",
    ),
    (
        "deadline_leaves_no_retry",
        "\
A verdict retries, but no retry can start in time: the first attempt and the shortest wait already reach
`limits.deadline_ms` or `limits.call_timeout_ms`. If only timeouts have the verdict, the attempt takes the timeout of its
tool; otherwise it may fail at once.

    then: { retry_with_backoff: { backoff: { kind: constant, base_ms: 500 } } }
    limits: { call_timeout_ms: 500 }     # no wait begins that would end at the end of the call

Raise the limit, or shorten the wait or the timeouts of the tools.",
    ),
    (
        "dedupe_shorter_than_retries",
        "\
The result of a key is kept for less time than the retries of a verdict can wait, also for what the upstream may wish. An
agent that waits by the same numbers and then sends its call again finds nothing kept, and the call runs a second time.

    then: { retry_with_backoff: { backoff_ms: [60000, 60000] } }
    dedupe: { window_ms: 60000 }         # the second retry comes after 120 s

Raise `window_ms`, or retry for a shorter time. `window_ms: 0` keeps nothing on purpose, and is not reported.",
    ),
    (
        "glob_stops_at_dot",
        "\
A glob of tools does not match a known tool because `*`, `?` and classes stop at a dot: `search.*` matches `search.web`
and not `search.index.delete`. `**` crosses dots. The known tools are those of the fixtures, of the tool facts, and of
the traces after `--trace`. In earlier versions `*` crossed dots too.

    tools: { search.*: { access: read } }       # search.index.delete is not declared, so it counts as a write

Write `search.**` if all of them are meant. If not, give each tool a row with its own name; the lint is then silent.",
    ),
    (
        "hasty_takeover",
        "\
A follower takes over from its leader (`dedupe.takeover_ms`) before the first attempt of that call must have ended: the
slowest tool has a longer timeout. A call that works is then sent a second time while it is out.

    tools: { payments.charge: { access: write, timeout_ms: 5000 } }
    dedupe: { window_ms: 60000, takeover_ms: 2000 }

Raise `takeover_ms` above the longest timeout, better above the longest call with its retries.",
    ),
    (
        "impossible_rule",
        "\
A rule has conditions that never hold: `error: absent` together with a condition on the error (kind, message, status,
code, a `retry_after` that is present), or an attempt whose number is above `limits.max_attempts`.
It matches nothing, so only other rules can give its verdict.

    when: { error: absent, status: 500 }
    when: { attempt: 7 }                  # with max_attempts: 6

Remove a condition, split the rule in two, or remove it.",
    ),
    (
        "jitter_beyond_cap",
        "\
A wait can be longer than its `max_ms`: the cap comes before the jitter, and the jitter lengthens. Some clients mean it
so; a person who reads `max_ms` may not.

    backoff: { kind: exponential, base_ms: 100, max_ms: 1000, jitter: { proportional: { low: 0.8, high: 1.2 } } }

Write `cap: after_jitter`, or keep it if the system that you follow does the same.",
    ),
    (
        "layers_multiply",
        "\
The client of a tool sends a request again by itself (`upstream_retries`), and the playbook retries its calls too. The
attempts multiply: with three attempts in each of three layers, a failing service gets 27 requests for one call, and the
playbook sees three of them.

    tools: { search.web: { access: read, upstream_retries: 2 } }

Retry in one layer: switch the retries of the client off, and write what is left of them in `upstream_retries`.",
    ),
    (
        "loose_schema",
        "\
A schema names the arguments of a tool, but lets others pass: a misspelt argument reaches the tool, which may ignore it.

    schema: { type: object, properties: { amount: { type: integer } } }      # takes `{ amuont: 1 }`

Write `additionalProperties: false`, also in objects inside.",
    ),
    (
        "misspelt_kind",
        "\
A rule names an error kind that is one typo away from another: from a kind of the embedded playbooks, or of an earlier
rule of this playbook. Kinds are compared exactly, so a rule with a misspelt kind never matches, and its failures fall
through to the rules below.

    - { rule: timeout, when: { kind: timeot }, verdict: transient_timeout }

Correct it. If your adapter gives both kinds, name both in one rule: `kind: [timeout, timeot]`.",
    ),
    (
        "no_way_to_end",
        "\
From an action that a run can do, no run comes to an action that nothing follows (`[]`): it can only go on. That may be \
meant for an agent that works for ever. More often an edge is missing, and the agent never learns that it is done.

    graph:
      entry: [order]
      next: { order: [pay, cancel], pay: [pay], cancel: [] }   # who pays once can only pay again

Add an edge to an action that ends a run, or write `[]` for one that does.",
    ),
    (
        "retries_beyond_attempts",
        "\
A verdict allows more retries (or refreshes) than `limits.max_attempts` leaves. Attempts include the first one, retries
do not: 6 attempts are 5 retries. The limit applies first, and the call ends `exhausted` (max_attempts).

    then: { retry_with_backoff: { backoff_ms: [200], max_retries: 9 } }
    limits: { max_attempts: 6 }

Raise the limit, or retry less often.",
    ),
    (
        "shadow_undecided",
        "\
An earlier rule has a regular expression, and all its other conditions follow from this rule. It is undecided whether
the expression leaves any failure to this rule: it may never match.

    - { rule: broad,  when: { message: { matches: 'time.*out' } }, verdict: a }
    - { rule: narrow, when: { message: { matches: 'timed out after \\d+' } }, verdict: b }

Write a fixture in which the later rule matches: its golden then proves it. Or use `contains`, or put the narrower rule
first.",
    ),
    (
        "shadowed_rule",
        "\
Earlier rules match everything that this rule matches, and the first match wins: this rule never decides. The lint
compares lists, ranges, globs and texts (an earlier `contains: time` covers `contains: time out`), also of several
earlier rules together.

    - { rule: any-conflict, when: { status: 400-499 }, verdict: a }
    - { rule: denied,       when: { status: 403 },     verdict: b }      # never

Put the narrower rule first, or remove it.",
    ),
    (
        "shadowed_tool",
        "\
A tool glob comes after a wider one, and the first glob that matches a tool applies: its facts are never used.
(A row with the plain name of a tool always takes precedence over globs.)

    tools:
      search.*:     { access: read }
      search.web.*: { access: write }     # never

Put the narrower glob first.",
    ),
    (
        "steps_repeat_a_write",
        "\
An action has a step that is declared a write, is not idempotent, and is not the last. If a later step fails, what the write \
did stays, and a call that repeats the action does it again. The agent is told that the action is not to be repeated, and \
people must finish it by hand.

    actions:
      pay_and_tell:
        steps: [ { id: pay, tool: payments.charge }, { id: tell, tool: mail.send } ]   # `tell` may fail after `pay`

Make the write the last step, or give the calls of the action a key: each step then has a key of its own. Write \
`idempotent: false` at the step if it is meant as it stands.",
    ),
    (
        "study_playbook",
        "\
This playbook has a `study` block: it shows what goes wrong if guards are off or failures are ignored. It is for study,
not for use. Commands skip it unless you name it. It is useful for comparison with a playbook for use.

    playproof replay TRACE --playbook study/retry-everything --playbook standard

There is nothing to fix, unless you want to use the playbook: then remove the block with all its switches.",
    ),
    (
        "tool_of_action_and_step",
        "\
A write is the tool of one action and a step of another, and it is neither idempotent nor repeatable. A call that says that \
it is the step is the step; any other call of the tool is the action. The graph does not connect the two: it offers the \
action while the step may still be at work, and after the step has acted.

    actions:
      post: { tool: slack.post }
      ship: { steps: [ { id: post, tool: slack.post }, ... ] }   # then `post` posts once more

Let the step have a tool of its own. If a second call is wanted or does nothing more, say so in the tool facts \
(`repeatable` or `idempotent`).",
    ),
    (
        "tool_of_two_actions",
        "\
Steps may share tools, and a write that does a step of two actions is neither idempotent nor repeatable. The graph does not \
connect the two: while the step of one may still be at work, only that action is withheld, and the other is offered.

    actions:
      ship: { steps: [ { id: find, tool: github.find_pr }, { id: post, tool: slack.post } ] }
      tell: { steps: [ { id: post, tool: slack.post } ] }   # `post` of `ship` timed out, and `tell` posts again

If the second write is another one (other arguments), nothing is wrong. Else let one of them have a tool of its own, or say \
so in the tool facts (`repeatable` or `idempotent`).",
    ),
    (
        "ungated_write",
        "\
With `others: pass` the graph does not judge the calls of tools that no action has, and one of them is declared a write: an \
agent can make it at any time and in any order. A tool that only the steps of an action have is such a tool, when it is \
called by itself.

    graph: { entry: [order], next: { order: [pay], pay: [] }, others: pass }
    tools: { payments.refund: { access: write } }   # before `order`, after `pay`, ten times in a row

Give the write an action and a row in `next` (`'*'`: anything may follow), or write `others: refuse`.",
    ),
    (
        "unreachable_action",
        "\
No run can reach the action: neither `entry` names it, nor a row of `next` that a run can come to. Every call of it is \
refused as `invalid_transition`.

    graph:
      entry: [order]
      next: { order: [pay], pay: [], cancel: [] }   # nothing leads to `cancel`

Name it where it may follow, or remove it.",
    ),
    (
        "unreached_guard",
        "\
An `on_unsafe` or `on_refused` can never run. The retry guard stops a call only if it is a write that is neither
idempotent nor keyed, and an attempt may have acted. A verdict with `effect: not_applied`, or whose rules match only
reads, idempotent tools or keyed calls, never triggers it.

    effect: not_applied
    then: { retry_with_backoff: { backoff_ms: [200], on_unsafe: { escalate_to_human: { queue: q } } } }

Remove it; or, if you expected it to run, check the `effect` of the verdict.",
    ),
    (
        "unreached_verdict",
        "\
No rule that can match gives this verdict, and `otherwise` does not name it: its compensation never runs. Often the
rule is missing, or an earlier one shadows it (see `shadowed_rule`).

    verdicts: { rate_limited: { ... } }
    classify: [ { rule: timeout, when: { kind: timeout }, verdict: transient_timeout } ]

Add a rule, or remove the verdict.",
    ),
    (
        "unread_headers",
        "\
A verdict stops at a wish of the upstream that is invalid, negative or there several times. Only headers have such faults,
and the playbook lists none in `server_delay_sources`: the adapter's `retry_after_ms` is always one valid wait.

    server_delay: { mode: exact, negative: stop }         # and no `server_delay_sources`

List the headers that say how long to wait, or leave `negative` out.",
    ),
    (
        "unused_breaker",
        "\
A breaker is declared for a server to which no tool belongs, so that no request ever asks it; or a verdict says what it
proves to a breaker, and the playbook declares none.

    breakers: { paymets: { ... } }
    tools: { payments: { access: write } }

Correct the name, declare `breakers`, or remove the part that does nothing.",
    ),
    (
        "unused_delay_sources",
        "\
`server_delay_sources` lists headers that say how long to wait, but every retry waits by its own backoff alone: the headers
change nothing. A verdict heeds them with `server_delay`, or with `after: retry_after`.

    server_delay_sources: [{ header: retry-after, format: seconds }]
    then: { retry_with_backoff: { backoff_ms: [200] } }

Heed the headers in a verdict, or remove the list.",
    ),
    (
        "unused_max_wait",
        "\
`max_wait_ms` limits the wait that the upstream asks for, but this verdict uses only its own list of waits
(`after: backoff`, which is the default): the limit is never used.

    then: { retry_with_backoff: { backoff_ms: [200], max_wait_ms: 5000 } }

Write `after: retry_after` to honour the upstream's `retry_after`, or remove `max_wait_ms`.",
    ),
    (
        "unused_queue",
        "\
A queue is declared, but nothing escalates to it: no verdict, no guard, and it is not the `default_queue`. People who
watch it wait in vain; the calls go to other queues.

    queues: [policy_review, refunds]      # and no `escalate_to_human: { queue: refunds }`

Remove it, or name it in a compensation.",
    ),
    (
        "unused_retry_budget",
        "\
A retry budget is declared, but no `retry_with_backoff` names it: nothing takes from it, and retries are not limited by
it.

    retry_budgets: { payments: { kind: token_bucket, capacity: 500, cost: 5 } }

Name it in the verdicts whose retries it should pay for (`retry_budget: payments`), or remove it.",
    ),
    (
        "words_prove_nothing",
        "\
A rule for tools that write claims `not_applied`, and it recognises the failure only by words anywhere in the message. A
tool that acted may say the same words: `Refund re_1 created, but the e-mail was not found`. People would send the
refund again.

    - { rule: refused, when: { message: { contains: not found } }, verdict: request_rejected }    # effect: not_applied

Ask for a `status`, a `code` or a `kind` other than `tool_error`. Or write `clause` instead of `contains`: the whole
message must then be one clause of at most 80 characters that begins or ends with the words.",
    ),
];
