// What a caller gives and gets: calls, attempts, outcomes, and what is thrown.
"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const { createHash } = require("node:crypto");

const FORMS = ["failure", "refusal", "dispatch", "openai", "anthropic"];

/** A failed request, as the rules of a playbook read it. `accepted`: the work goes on; `suspected`: it may be none. */
class ToolError extends Error {
  constructor(fields = {}, options) {
    if (typeof fields !== "object") throw new TypeError("a ToolError has fields: { kind, message, status, code, retry_after_ms, headers }");
    const { accepted = false, suspected = false, ...rest } = fields;
    super(rest.message ?? rest.kind ?? "failed", options);
    this.name = "ToolError";
    this.fields = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined && value !== null));
    const { kind, status, code, retry_after_ms, headers } = this.fields;
    Object.assign(this, { kind, status, code, retry_after_ms, headers, accepted, suspected });
  }
}

/** The dispatcher did not start, or refused what was said; nothing was sent for it. */
class PlayproofError extends Error {
  constructor(text, code) {
    super(text);
    this.name = "PlayproofError";
    this.code = code;
  }
}

/** The dispatcher is gone, and with it the call. `effect` is what is known of it. */
class DispatcherLost extends PlayproofError {
  constructor(text, effect) {
    super(text);
    this.name = "DispatcherLost";
    this.effect = effect;
  }
}

/** The commit was refused: a call of the transaction is not known to be done, or its state was lost. None of the state is there,
 * and nothing upstream is undone. Discard the state, and begin again. */
class RolledBack extends PlayproofError {
  constructor(label) {
    super(`the transaction ${label} was rolled back: a call of it is not known to be done, or its state was lost`);
    this.name = "RolledBack";
  }
}

/** A call did not succeed. Its text is for the agent. */
class CallFailed extends Error {
  constructor(outcome) {
    super(outcome.message("openai")?.content ?? `${outcome.tool}: ${outcome.outcome}, effect ${outcome.effect}`);
    this.name = "CallFailed";
    this.outcome = outcome;
  }
}

/** How a call ended. `said` has every field of the dispatcher's `done`. */
class Outcome {
  constructor(said, { tool, args, key, run }, { ok = false, value, error } = {}) {
    Object.assign(this, { said, tool, args, key, run, ok, value, error });
    this.id = said.done;
    this.outcome = said.outcome;
    this.effect = said.effect ?? "unknown";
    this.attempts = said.attempts ?? 0;
    this.queue = said.queue;
    this.told = said.told;
    this.validNext = said.valid_next ?? undefined;
  }

  /** What the agent is told, in a form of `replay --envelope`; nothing where it gets no such answer. */
  message(form = "failure") {
    if (!FORMS.includes(form)) throw new RangeError(`no form \`${form}\`, only ${FORMS.join(", ")}`);
    return this.said.messages?.[form];
  }

  /** The value of a success; of everything else, `CallFailed` is thrown. */
  result() {
    if (this.ok) return this.value;
    throw new CallFailed(this);
  }
}

/** One request that the dispatcher wants: an attempt, or a refresh or a reversal (`asked`). */
class Attempt {
  #heldMs = 0;
  #since;
  constructor(fields) { Object.assign(this, fields); }

  /** Does `work` while the clock of this request stands still: a person is asked. */
  hold = async (work) => {
    this.#since = performance.now();
    try {
      return await work();
    } finally {
      [this.#heldMs, this.#since] = [this.heldMs, undefined];
    }
  };

  get heldMs() { return this.#heldMs + (this.#since === undefined ? 0 : performance.now() - this.#since); }
}

// -- where a call belongs -----------------------------------------------------------------------------------------------

const place = new AsyncLocalStorage(); // { run, step, attempt, transaction }

/** The calls within `work` belong to this run, and to this step of it. */
function run(name, work, { step } = {}) { return place.run({ run: name, step }, work); }

/** The attempt for which a tool runs, or a call within `run`: its key goes to the upstream. */
function attempt() { return place.getStore()?.attempt; }

/** The key of a call that is made once in this step of this run with these arguments; the Python client makes the same. */
function autoKey(run, step, tool, args) {
  if (!run || !step) throw new TypeError(`${tool}: key "auto" needs the run and the step: without them, two calls that are meant are one`);
  const sorted = (value) => {
    if (Array.isArray(value)) return value.map(sorted);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));
  };
  const text = JSON.stringify([run, step, tool, sorted(JSON.parse(JSON.stringify(args)))]);
  const ascii = text.replace(/[\u007f-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `auto-${createHash("sha256").update(ascii).digest("hex").slice(0, 32)}`;
}

const OPTIONS = { key: "string", run: "string", token: "string", timeoutMs: "number", answerWithinMs: "number", steps: "object", id: "string", signal: "object" };

/** Throws where the dispatcher could not read the call. */
function check(tool, send, options) {
  if (typeof tool !== "string" || tool === "") throw new TypeError("the tool of a call is a text");
  if (typeof send !== "function") throw new TypeError("`send` of a call is a function that makes one request");
  for (const name in options) {
    const value = options[name], kind = OPTIONS[name];
    if (kind === undefined) refuseUnknown(options, Object.keys(OPTIONS), "a call");
    if (value !== undefined && value !== null && typeof value !== kind) throw new TypeError(`\`${name}\` of a call is a ${kind}, not ${value}`);
    if (kind === "number" && value < 0) throw new RangeError(`\`${name}\` of a call is a number of milliseconds from 0, not ${value}`);
  }
}

function refuseUnknown(options, known, of) {
  const strange = Object.keys(options).find((name) => !known.includes(name));
  if (strange !== undefined) throw new TypeError(`${of} has no option \`${strange}\`, only ${known.join(", ")}`);
}

module.exports = { Attempt, CallFailed, DispatcherLost, FORMS, Outcome, PlayproofError, RolledBack, ToolError, attempt, autoKey, check, place, refuseUnknown, run };
