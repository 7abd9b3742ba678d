//! The help texts of words of DESIGN.md and of outputs that the other lists do not have.

/// Id, title, text.
pub const TERMS: &[(&str, &str, &str)] = &[
    (
        "trace",
        "the recorded calls and results of agent runs",
        "A file of JSON Lines that Playproof only reads. `playproof schema trace` lists all fields; `playproof import` makes one \
         from a foreign recording.",
    ),
    (
        "run",
        "one agent run in a trace",
        "`run_id` names it. A call is named by its run and its number in it, such as `r1#3`. The calls of a run share a \
         dispatcher, unless the trace names dispatchers.",
    ),
    (
        "tool_call",
        "a request of an agent to a tool",
        "It has a tool, arguments, and perhaps an idempotency key and a reversal token. It is sent once or more: each try is an \
         attempt. It ends with one outcome.",
    ),
    (
        "tool_result",
        "the answer to one attempt of a call",
        "A success or a failure. In a trace, `answers` says that a result belongs to a refresh or a reversal, or came late.",
    ),
    (
        "tool_facts",
        "what people declare of a tool",
        "`access` (read or write), `idempotent`, `repeatable`, `timeout_ms`, `server`, `keys`, `key` and `schema`, by the name of \
         the tool or by a glob in which `*` stops at a dot and `**` crosses dots. Of a tool that nobody declared, a write that \
         is not idempotent is assumed, and findings on it are at most doubts. `playproof tools` drafts them.",
    ),
    (
        "attempt",
        "one try of a call",
        "Attempts are numbered from 1; retries are attempts less one. An attempt ends with an answer or with its timeout.",
    ),
    (
        "error_kind",
        "the adapter's name for an error",
        "Such as `timeout` or `409_conflict`. Rules ask for it with `kind`.",
    ),
    (
        "rule",
        "a named line of the classifier",
        "It has conditions (`when`) and a verdict. The first rule whose conditions all hold gives the verdict of a failure; \
         `playproof explain` shows each rule that was tried.",
    ),
    (
        "compensation",
        "the one next action that a verdict declares",
        "One of five: `retry_with_backoff`, `refresh_evidence`, `escalate_to_human`, `issue_reversal` and `deprecate_tool_call`. \
         A guard may stop it.",
    ),
    (
        "playbook",
        "the file with verdicts, rules, compensations, tool facts and limits",
        "A file in `playbooks/`, or one that is embedded: `playproof help playbook NAME` prints the text of one, such as \
         `standard`, to read or to copy. `playproof schema playbook` lists all keys, `playproof lint` finds mistakes.",
    ),
    (
        "guard",
        "a check that stops an unsafe compensation",
        "The `retry_guard` stands before each further attempt, the `token_guard` before each reversal. No playbook can weaken \
         them; a study playbook can switch them off, to show what happens.",
    ),
    (
        "decision_event",
        "one thing that the dispatcher decided or saw",
        "Such as `attempt_started`, `failure_classified` or `retry_scheduled`, each with its reason. Goldens hold them, and \
         `--record` writes them.",
    ),
    (
        "effect",
        "a change that the upstream made for an intent",
        "An outcome claims it as `applied`, `not_applied` or `unknown`. The ledger says whether that is true.",
    ),
    (
        "outcome",
        "how a call ended, once, with its effect claim",
        "`playproof help topics` lists the outcomes. An outcome also has the attempts, the verdicts in their order, the last \
         error and, if it differs, the first.",
    ),
    (
        "evidence",
        "why a result counts as failed",
        "The source's own `flag`, a `code`, the structure of the `body`, or the `text`. A result whose text only suggests a \
         failure is suspected (`playproof help suspected_failure`). Of a call, evidence is the snapshot that its attempts carry \
         (`playproof help refresh_evidence`).",
    ),
    (
        "template",
        "a failure's message without its variable parts",
        "Numbers, ids and quoted text become `<n>` and the like. The failures of one template are a cluster, which \
         `playproof mine` counts.",
    ),
    (
        "proposal",
        "a playbook change that waits for review",
        "A folder with the changed rows, their fixtures and a decision record. `playproof propose` drafts, checks and lists \
         proposals; `playproof accept` applies one.",
    ),
    (
        "record",
        "one accepted playbook change",
        "Its rows before and after, and the reason. All records are the history; `playproof history verify` compares it with the \
         lock.",
    ),
    (
        "feedback",
        "a call that a playbook handled wrong",
        "Kept with a note and the slice of its trace that replays it. `playproof feedback list` shows what waits for a change \
         of the playbook.",
    ),
    (
        "divergence",
        "a difference from a golden",
        "`playproof check` sorts divergences by what they mean, worst first: `effect_changed` to `cosmetic`.",
    ),
    (
        "breaker",
        "stops the requests to a server that does not work",
        "It counts the answers of a window, and opens where too many are failures or slow. While it is open, calls are refused as \
         `circuit_open`, and retries stop. Then it is half open: *probes* try whether the server works again. Only verdicts \
         with `breaker: failure` or `success` count. docs/breakers.md has all keys.",
    ),
    (
        "dispatcher",
        "one machine; its calls share keys, permits, breakers and retry budgets",
        "In a trace, `dispatcher_id` names it; without one, each run has its own. A playbook whose calls share something \
         simulates the calls of one dispatcher together. The tool-call budget counts by run.",
    ),
    (
        "server",
        "what a breaker and a retry budget are kept for",
        "A tool fact: tools with the same `server` share them. By default each tool is a server of its own.",
    ),
    (
        "permit",
        "the right to have an attempt out",
        "`permits: { max_in_flight: 8 }` bounds the attempts of a dispatcher that are out at once. A permit is held only while \
         an attempt is out, never during a wait. Other calls wait in their order; if the queue is full, a new one is refused as \
         `queue_full`.",
    ),
    (
        "leader",
        "of calls with one idempotency key, the one that is sent",
        "The others follow it: they wait, and end as it does (`joined`). If it is lost, a follower takes over where that is safe.",
    ),
    (
        "follower",
        "a call that waits for another one with its idempotency key",
        "It sends nothing, and ends as its leader does (`joined`). If the leader is lost, it takes over where that is safe (the \
         tool is a read or idempotent, or the upstream honours keys), else it is refused as `unsettled`.",
    ),
    (
        "retry_budget",
        "what the retries of several calls may take together",
        "A token bucket, a throttle, deposits and withdrawals, or a part of the calls that are out. It keeps retries from \
         multiplying the load of a server that is down. docs/breakers.md has the kinds.",
    ),
    (
        "action",
        "something that an agent can do",
        "`actions` of a playbook names them. A call of an action is a call of its tool. docs/graph.md has the keys.",
    ),
    (
        "step",
        "one of several calls of tools that an action makes, one after the other",
        "`steps` of an action names them. The first that does not succeed ends the action. docs/steps.md has the keys.",
    ),
    (
        "graph",
        "which action may follow which",
        "`graph` of a playbook says with which actions a run begins (`entry`), and what may follow each (`next`): a list of \
         actions, or `\"*\"` for every action; after `[]` nothing follows. `others` is what becomes of calls of tools that no \
         action has, `stuck` who gets an agent that repeats a refused call. The position \
         of a run is the action that it did last. `playproof graph` shows a graph, asks it about a recorded run, and drafts one.",
    ),
    (
        "gate",
        "the first check of admission",
        "It refuses what the graph does not allow, before anything is sent: `unknown_action`, `invalid_transition`, \
         `validation_failed`.",
    ),
    (
        "gated_call",
        "a call that the gate judges",
        "A call of an action, or of a tool that no action has where `others` are refused. The gated calls of a run go one at a \
         time, in the order in which they were made.",
    ),
    (
        "withheld",
        "of an action: not offered, because an attempt of it may still be at work",
        "An attempt of a write had no answer, and a second one could act again: the tool is not idempotent, and has no key that \
         the upstream heeds. Late failures release the action; a late success does not, for it has been done. An answer \
         withholds nothing, whatever it says.",
    ),
    (
        "draw",
        "a number from 0 to 1 that comes with a failed answer",
        "A wait with jitter depends on it. The dispatcher draws nothing itself: the draw comes from the fixture (`draws`), the \
         trace, or a function of seed, call and attempt, so that one more retry changes no other call.",
    ),
    (
        "provenance",
        "the origin of an answer",
        "`recorded`, `inferred`, `scripted`, `modelled`, or none (`unanswered`).",
    ),
    (
        "finding",
        "something that a run shows",
        "It has a stable id, a severity (`unsafe`, `doubt`, `note`) and a cause (`recorded`: the agent, `playbook`: the \
         dispatcher). `playproof help topics` lists them.",
    ),
    (
        "retriable",
        "whether the agent may make a failed call again",
        "It is computed, never written: the class of the failure passes by itself, the retry guard lets the call pass, no limit \
         was hit, and nobody else decides. `playproof help told` has the rest.",
    ),
    (
        "audit_id",
        "the name of a failed call in an envelope",
        "It is made of the run and the call alone, so that the same call has the same one in each replay: an agent can give it to \
         people, and they find the call by it.",
    ),
    (
        "idempotent",
        "of a tool: the same request sent twice changes as much as one",
        "A tool fact. The retry guard lets calls of such a tool be sent again, with or without a key.",
    ),
    (
        "repeatable",
        "of a tool: each call of it is meant",
        "A tool fact: two calls with the same arguments are two intents (a counter, a message), not one that was sent twice. An \
         attempt more of one call is still a repetition.",
    ),
    (
        "key",
        "the idempotency key of a call: attempts under one key are one request",
        "An upstream that honours keys acts once for a key, however often the request is sent, so that the retry guard lets such a \
         call be sent again. The tool facts `keys` and `key` say whether the upstream heeds keys, and where a call has its own.",
    ),
    (
        "queue",
        "where calls wait for people",
        "`queues` of a playbook declares them, `escalate_to_human` names one, and `default_queue` takes what guards stop.",
    ),
    (
        "mapping",
        "a file that says how a JSON log is read as calls and results",
        "`--map FILE` uses it, `playproof map` tries it, and `playproof init --from LOG` drafts it. Known formats need none \
         (`playproof formats`). docs/mappings.md has the keys.",
    ),
    (
        "seed",
        "the number from which draws are computed that a fixture or recording does not give",
        "`--seed`, else the fixture's `seed`, else 0. The same seed gives the same waits; `replay FIXTURE --seeds 1-1000` tries \
         many. `playproof help draw` says what a draw is.",
    ),
    (
        "pace",
        "when a call of a recording starts under a playbook whose calls share something",
        "`causal`: as long after the calls that it followed as recorded, however long the playbook lets those wait. `recorded`: at \
         its recorded time.",
    ),
];
