// What a caller gives and gets: outcomes, and what is thrown.
"use strict";

const FORMS = ["failure", "refusal", "dispatch", "openai", "anthropic"];

/** A failed request, as the rules of a playbook read it. `accepted`: the work goes on; `suspected`: it may be none. */
class ToolError extends Error {
  constructor(fields = {}, options) {
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

module.exports = { CallFailed, DispatcherLost, FORMS, Outcome, PlayproofError, ToolError };
