// Runs tool calls under a playbook: `playproof serve` decides, this driver waits and sends.
//
//   await using d = new Dispatcher({ playbook: "playbooks/ours.yaml", journal: "calls.jsonl" });
//   const outcome = await d.call("payments.issue_refund", { order: "o_91" }, send, { key: "ik_91", run: "r1" });
//
// It speaks the dispatch protocol. What the process knows is in its journal; what is out, and what has come back, is here.
// After the death of the process, both are compared, and no request is ever made twice.
"use strict";

const { AsyncResource } = require("node:async_hooks");
const { randomBytes } = require("node:crypto");
const { Attempt, CallFailed, DispatcherLost, FORMS, Outcome, PlayproofError, RolledBack, ToolError, attempt, autoKey, check, place, refuseUnknown, run } = require("./calls.cjs");
const { errorOf, errorOfValue, passes } = require("./errors.cjs");
const { Process } = require("./process.cjs");
const program = require("./program.cjs");

const RESTARTS_MAX = 20; // in a row, without one answered line between them
const JOURNAL_AGAIN_MS = 1_000; // a line that the journal could not take is said again
const ENDED_MAX = 1_000;
const TIMER_MAX = 2 ** 31 - 1; // a longer one of Node's is over at once
const NO_HANDLER = { error: { status: 400, message: "no handler" } };
const NOT_SENT = { error: { kind: "not_sent", message: "its caller went away before it was sent" } };
const INTERRUPTED = { error: { kind: "interrupted", message: "the program that sent it has ended" } };
const UNREADABLE = ["bad_line", "line_too_long", "unknown_type"];
const SUCCESS = ["succeeded", "succeeded_after_compensation"];
const SHARED = ["joined", "cached"];
const HANDLERS = ["onRefresh", "onReversal", "onQueue", "onEvent"];
const ACTS = ["begin", "state", "commit", "rollback"];
const HELD_AGAIN_MS = 50; // a clock that stands still is looked at again

/** What came of a request, by what it threw or gave. */
async function whatCame(hasThrown, what) {
  if (hasThrown && what instanceof ToolError) {
    const { fields, accepted, suspected } = what;
    const came = Object.keys(fields).length > 0 ? { error: fields } : accepted || suspected ? {} : { ok: false };
    return { ...came, ...(accepted ? { accepted } : suspected ? { suspected } : {}) };
  }
  try {
    const error = hasThrown ? errorOf(what) : await errorOfValue(what);
    return error === undefined ? { ok: true } : { error };
  } catch { // it cannot even be looked at
    return { error: { kind: "tool_error", code: "tool_raised", message: "an error that cannot be read", kind_from: "code" } };
  }
}

/** A call that has not ended. One of a program that has ended has no `send`. */
class Open {
  wasHeard = false;
  hasGone = false;
  requests = new Map();
  waits = new Map();
  values = {}; // of an action: of its steps
  constructor(fields) {
    Object.assign(this, fields);
    // Where its caller was: its requests are made there.
    this.scope = fields.of?.scope ?? new AsyncResource("playproof.call");
    this.place = fields.of?.place ?? place.getStore();
    this.ended = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
    this.ended.catch(() => {}); // who waits hears of it
  }

  get attempts() { return [...this.requests.values()].filter(({ attempt }) => attempt.asked === "attempt").length; }

  stopWaiting() {
    for (const timer of this.waits.values()) clearTimeout(timer);
    this.waits.clear();
  }
}

/** Calls `work` once `left()` milliseconds are over: Node's timers may end early, and have a longest time. */
function after(left, work, keep) {
  const wait = () => {
    const ms = left();
    if (ms > 0) keep(setTimeout(wait, Math.min(Math.ceil(ms), TIMER_MAX)));
    else work();
  };
  keep(setTimeout(wait, Math.min(Math.max(0, Math.ceil(left())), TIMER_MAX)));
}

/** Does `work` where the call belongs. Only who has said where pays for it. */
const at = (call, attempt, work) => (call.place === undefined ? work() : place.run({ ...call.place, attempt }, work));

class Dispatcher {
  #command;
  #options;
  #process = null;
  #hello = null; // of a process that has not answered it
  #starting = null;
  #first = null; // in the shadow: whether it has started
  #lost = null; // why no call can be made
  #isClosing = false;
  #unheard = [];
  #calls = new Map();
  #ended = new Map(); // of calls with keys or in transactions
  #tools = new Map();
  #prefix = randomBytes(4).toString("hex");
  #number = 0;
  #zero = performance.now();
  #base = 0;
  #inARow = 0;
  /** How often the process was started again. */
  restarts = 0;
  /** The transactions whose state was lost with the program that had this journal: `run`, `transaction` and `state`, its names. */
  lost = [];

  /** Handlers may be set until the first call: `onRefresh`, `onReversal`, `onQueue`, `onEvent`. In the `shadow`, each call is sent
   * once and at once, and what the playbook would have done is in the journal. */
  constructor({ playbook, journal, lock, unlocked = false, shadow = false, program: named, messages = FORMS, ...handlers } = {}) {
    if (playbook === undefined) throw new TypeError("`playbook` is missing: its path, or the name of a shipped one");
    refuseUnknown(handlers, HANDLERS, "a dispatcher (besides `playbook`, `journal`, `lock`, `unlocked`, `shadow`, `program` and `messages`)");
    this.#options = { journal, messages, shadow };
    const given = (flag, value) => (value === undefined ? [] : [flag, String(value)]);
    const words = typeof named === "string" ? [named] : named;
    this.#command = () => [...(words ?? [found()]), "serve", "--playbook", String(playbook), ...given("--journal", journal),
      ...given("--lock", lock), ...(unlocked ? ["--unlocked"] : []), ...(shadow ? ["--shadow"] : [])];
    for (const name of HANDLERS) this[name] = handlers[name];
  }

  // -- what a program says ---------------------------------------------------------------------------------------------

  /** Makes a call. `send(attempt)` makes one request of it, as often as the playbook says. A call that was sent never rejects,
   * but with the signal of a framework that `send` throws. */
  async call(tool, args, send, options = {}) {
    check(tool, send, options);
    const { signal } = options;
    signal?.throwIfAborted();
    if (this.#options.shadow) return this.#callBeside(tool, args, send, options);
    await this.start();
    signal?.throwIfAborted();
    const call = this.#begin(tool, args, send, options);
    const leave = () => this.#cancel(call);
    signal?.addEventListener("abort", leave, { once: true });
    try {
      return await call.ended;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  #begin(tool, args, send, { key, run = place.getStore()?.run, token, timeoutMs, answerWithinMs, steps, id }) {
    if (this.#lost !== null || this.#isClosing) throw new PlayproofError(this.#lost ?? "the dispatcher is closed");
    const name = id ?? `${run ?? "call"}-${this.#prefix}-${++this.#number}`;
    if (this.#calls.has(name)) throw new PlayproofError(`a call has the id ${name}`);
    const { transaction: of } = place.getStore() ?? {};
    const transaction = of?.run === run ? of?.label : undefined;
    const call = new Open({ id: name, tool, args, key, run, send, transaction });
    this.#say(call, { type: "call", id: name, tool, args, run, transaction, key, token, timeout_ms: timeoutMs, answer_within_ms: answerWithinMs, steps });
    this.#calls.set(name, call);
    this.#hold();
    return call;
  }

  /** In the shadow: sends at once, whatever becomes of the dispatcher, and tells it what came. */
  async #callBeside(tool, args, send, options) {
    await (this.#first ??= this.start().catch((error) => process.emitWarning(`playproof: nothing is told in the shadow: ${error.message}`)));
    const { key, run = place.getStore()?.run, id = "", signal } = options;
    let call;
    try {
      call = this.#begin(tool, args, send, options);
    } catch (error) {
      if (!(error instanceof PlayproofError)) throw error;
      call = new Open({ id, tool, args, key, run, send });
    }
    const attempt = new Attempt({ id: call.id, tool, args, key, run, number: 1, asked: "attempt", evidence: 0, signal: signal ?? new AbortController().signal });
    const request = { attempt, said: undefined, hasTimedOut: false, timer: undefined, began: performance.now() };
    call.requests.set("attempt 1 ", request);
    const tell = async (hasThrown, what) => {
      const came = await whatCame(hasThrown, what);
      clearTimeout(request.timer);
      if (this.#calls.get(call.id) !== call || this.#lost !== null) return;
      this.#calls.delete(call.id);
      if (hasThrown && (passes(what) || signal?.aborted)) this.#say(call, { type: "cancel", id: call.id });
      else this.#told(call, request, came);
    };
    try {
      const value = await at(call, attempt, () => send(attempt));
      await tell(false, value);
      return new Outcome({ done: call.id, outcome: "succeeded", attempts: 1 }, call, { ok: true, value });
    } catch (thrown) {
      await tell(true, thrown);
      throw thrown;
    }
  }

  /** Makes calls at once, in their order, and gives their outcomes in the same order: `[tool, args, send, options]` each. What is
   * wrong with any of them is thrown before the first is sent. */
  async gather(calls) {
    for (const [tool, args, send, options = {}] of calls) {
      check(tool, send, options);
      JSON.stringify([args, options.steps]);
    }
    return Promise.all(calls.map((call) => this.call(...call)));
  }

  /** The function is a tool: who calls it makes a call, and gets its result, or `CallFailed`. `key`, `run` and `step` are texts, or
   * functions of the arguments and the context; the key "auto" is made of run, step, tool and arguments. Steps of actions use the
   * function, too. */
  tool(name, fn, { key, run, step, timeoutMs } = {}) {
    const send = (args, attempt) => place.run({ ...place.getStore(), attempt }, () => fn(args, attempt));
    this.#tools.set(name, send);
    return async (args, context = {}) => {
      const of = (what) => (typeof what === "function" ? what(args, context) : what);
      const options = { key: of(key), run: of(run) ?? context?.run ?? place.getStore()?.run, timeoutMs, signal: context?.abortSignal ?? context?.signal };
      if (key === "auto") {
        options.key = autoKey(options.run, of(step) ?? place.getStore()?.step, name, args);
        if (await this.#isRepeatable(name)) throw new TypeError(`${name}: the key "auto" would make one of the calls of a tool that is \`repeatable\``);
      }
      return (await this.call(name, args, (attempt) => send(args, attempt), options)).result();
    };
  }

  /** The calls within `work` belong to the transaction, and its state is committed as one at its end: `work(order)` writes it with
   * `order.state(name, value)`. Where `work` throws, it is rolled back; where the commit is refused, `RolledBack` is thrown. */
  async transaction(label, work, { run = place.getStore()?.run } = {}) {
    if (typeof label !== "string" || label === "") throw new TypeError("the label of a transaction is a text");
    const act = (type, fields) => this.#act({ type, id: `${run ?? "call"}-${this.#prefix}-${++this.#number}`, run, transaction: label, ...fields });
    await act("begin");
    const life = this.restarts;
    let value;
    try {
      const own = { label, run, state: (name, value = null) => act("state", { name, args: value }).then(() => {}) };
      value = await place.run({ ...place.getStore(), run, transaction: own }, () => work(own));
    } catch (thrown) {
      await act("rollback");
      throw thrown;
    }
    const isForgotten = this.#options.journal === undefined && life !== this.restarts;
    const done = isForgotten ? { outcome: "refused" } : await act("commit");
    if (done !== undefined && done.outcome !== "succeeded") throw new RolledBack(label);
    return value;
  }

  async #act(line) {
    if (!this.#options.shadow) return (await this.#ask(line)).do[0];
    if (this.#process !== null && this.#lost === null) this.#say(null, line);
  }

  #isRepeatable(tool) {
    return this.#ask({ type: "ask", what: "tool", tool }).then((facts) => facts.repeatable === true, (error) => {
      if (error instanceof PlayproofError && error.code !== undefined) return false; // it is not asked for facts
      if (this.#options.shadow) return false;
      throw error;
    });
  }

  /** The actions that the run may make now; nothing without a graph. */
  async validNext(run) { return (await this.#ask({ type: "ask", what: "next", run })).next ?? undefined; }

  /** The calls that have ended (`history`) and those that have not (`open`). */
  history(run) { return this.#ask({ type: "ask", what: "history", run }); }

  /** A person, `by`, says what an escalated call did: `applied` or `not_applied`. */
  async resolve(id, effect, by) { await this.#ask({ type: "resolve", id, effect, by }); }

  /** The run makes no more calls. */
  async endRun(run) { await this.#ask({ type: "end_run", run }); }

  async #ask(line) {
    await this.start();
    if (this.#lost !== null) throw new PlayproofError(this.#lost);
    return new Promise((resolve, reject) => {
      this.#say(null, line, { resolve, reject });
      this.#hold();
    });
  }

  // -- the process -----------------------------------------------------------------------------------------------------

  /** Starts the process, and takes over what its journal has. The first call does it. */
  start() { return this.#isClosing ? Promise.resolve() : (this.#starting ??= this.#connect()); }

  get pid() { return this.#process?.pid; }

  #connect() {
    return new Promise((resolve, reject) => {
      this.#hello = { resolve, reject };
      const next = new Process(this.#command(), (line) => this.#onLine(next, line), (process, why) => this.#onEnd(process, why));
      const hello = { type: "hello", protocol: "dispatch/1", events: this.onEvent !== undefined, messages: this.#options.messages,
        goes_on: this.restarts > 0 }; // what transactions have written is here
      next.say(`${JSON.stringify(hello)}\n`);
    });
  }

  /** Cancels what is open, and ends the process. */
  async close() {
    const starting = this.#isClosing ? null : this.#starting;
    this.#isClosing = true; // who dies now is not started again
    await starting?.catch(() => {});
    for (const call of [...this.#calls.values()]) this.#cancel(call);
    while (this.#process !== null && (this.#unheard.length > 0)) await new Promise((resolve) => setTimeout(resolve, 1));
    this.#lost ??= "the dispatcher is closed";
    for (const call of [...this.#calls.values()]) this.#lose(call, this.#lost);
    const process = this.#process;
    this.#process = null;
    await process?.close();
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() { await this.close(); }

  /** A dispatcher without an open call keeps no program alive. */
  #hold() { this.#process?.hold(this.#isClosing || this.#calls.size > 0 || this.#unheard.length > 0); }

  #onEnd(process, why) {
    if (this.#hello !== null) {
      const { reject } = this.#hello;
      this.#hello = null;
      const said = process.stderr.replace("`--unlocked`", "`unlocked: true`") || "it said nothing";
      reject(new PlayproofError(why ?? `the dispatcher did not start: ${said}`));
    } else if (process === this.#process) {
      this.#process = null;
      if (this.#isClosing) this.#unheard = [];
      else this.#startAgain(process.stderr);
    }
  }

  #startAgain(stderr) {
    this.#inARow += 1;
    this.restarts += 1;
    const text = `the dispatcher ended ${this.#inARow} times in a row: ${stderr}`;
    this.#starting = this.#inARow > RESTARTS_MAX ? Promise.reject(new PlayproofError(text)) : this.#connect();
    this.#starting.catch((error) => {
      this.#lost = error.message;
      for (const call of [...this.#calls.values()]) this.#lose(call, error.message);
      for (const { answer } of this.#unheard) answer?.reject(new PlayproofError(error.message));
      this.#unheard = [];
    });
  }

  /** Compares what the process knows with what is here, and says again what it has not heard. */
  #takeOver(process, hello) {
    this.#process = process;
    this.#base = Math.max(this.#base, hello.at_ms - (performance.now() - this.#zero));
    this.lost.push(...(hello.lost ?? []));
    const unheard = this.#unheard;
    this.#unheard = [];
    const ended = new Map(hello.ended.map((end) => [end.done, end]));
    const known = new Set([...hello.ended.map(({ done }) => done), ...hello.open.map(({ id }) => id)]);
    for (const call of this.#calls.values()) call.stopWaiting();
    for (const end of hello.ended) this.#end(end);
    const foreign = [];
    for (const each of hello.open) {
      const call = this.#calls.get(each.id) ?? this.#takeOpen(each);
      call.wasHeard = true;
      if (call.send === undefined && call.requests.size === 0 && !each.do.some((want) => "send" in want)) foreign.push(call);
      for (const want of each.do) if (call.send !== undefined || "send" in want) this.#do(want, INTERRUPTED);
    }
    for (const call of foreign) this.#cancel(call);
    for (const call of [...this.#calls.values()]) {
      if (known.has(call.id)) continue;
      if (call.hasGone) this.#lose(call, "its caller went away, and the dispatcher does not know it");
      else if (call.wasHeard || this.#options.journal === undefined) this.#lose(call, "the dispatcher ended, and does not know the call");
    }
    for (const said of unheard) { // an answer to a request that is still out was said again; a wait has begun again
      const isKnown = said.call === null || known.has(said.call.id);
      const isOpen = said.call !== null && this.#calls.has(said.call.id);
      if (said.kind === "answer" || said.kind === "wake" || (said.kind === "call" && isKnown)) continue;
      const done = ACTS.includes(said.kind) ? ended.get(JSON.parse(said.text).id) : undefined;
      if (done !== undefined) {
        said.answer?.resolve({ do: [done] });
        continue;
      }
      if (isKnown || isOpen) this.#write(said);
    }
    this.#hold();
  }

  /** A call that is not known here: a step of an own one, or a call of a program that has ended. */
  #takeOpen(each) {
    const of = this.#calls.get(each.of);
    const call = new Open({ id: each.id, tool: each.tool, args: each.args, key: each.key, run: of?.run ?? each.run, send: of?.send, of });
    this.#calls.set(call.id, call);
    return call;
  }

  #now() { return Math.round((performance.now() - this.#zero + this.#base) * 1000) / 1000; }

  #say(call, line, answer = null, kind = line.type) {
    const text = `${JSON.stringify({ ...line, at_ms: line.at_ms ?? this.#now() })}\n`;
    this.#write({ kind, text, call, answer });
    return text;
  }

  /** Says a line; while the process is away, it waits. */
  #write(said) {
    this.#unheard.push(said);
    this.#process?.say(said.text);
  }

  #onLine(process, line) {
    let answer;
    try { answer = JSON.parse(line); } catch { return process.refuse(line); }
    if (this.#hello !== null) {
      const { resolve, reject } = this.#hello;
      this.#hello = null;
      if ("error" in answer) return reject(new PlayproofError(answer.error, answer.code));
      this.#takeOver(process, answer);
      return resolve();
    }
    this.#inARow = 0;
    const said = this.#unheard.shift();
    if ("error" in answer) {
      this.#onError(said, answer.error, answer.code ?? "");
    } else {
      if (said.kind === "call") said.call.wasHeard = true;
      for (const want of answer.do ?? []) this.#do(want);
      if (this.onEvent !== undefined) for (const event of answer.events ?? []) this.#tell("an event", () => this.onEvent(event));
      said.answer?.resolve(answer);
    }
    this.#hold();
  }

  async #tell(what, handler) {
    try {
      await handler();
    } catch (error) {
      process.emitWarning(`playproof: the handler of ${what} has thrown: ${error?.stack ?? error}`);
    }
  }

  #onError({ kind, call, answer, ...said }, text, code) {
    if (answer !== null) {
      answer.reject(new PlayproofError(text, code));
    } else if (kind === "call") { // nothing was sent for it
      this.#calls.delete(call.id);
      call.reject(new PlayproofError(text, code));
    } else if (code === "journal") {
      setTimeout(() => this.#process !== null && !this.#isClosing && this.#write({ kind, call, answer, ...said }), JOURNAL_AGAIN_MS);
    } else if (UNREADABLE.includes(code) && call !== null && this.#calls.get(call.id) === call) {
      this.#lose(call, `the dispatcher refused an answer: ${text}`);
    }
  }

  // -- what the dispatcher wants ---------------------------------------------------------------------------------------

  #do(want, foreign = null) {
    if ("done" in want) return this.#end(want);
    const call = this.#calls.get(want.send ?? want.wait ?? want.of);
    if (call === undefined) return; // of a call that was given up here
    if ("step" in want) {
      const step = new Open({ id: want.step, tool: want.tool, args: want.args, key: want.key, run: call.run, send: call.send, of: call });
      step.wasHeard = true;
      this.#calls.set(step.id, step);
    } else if (call.send === undefined) {
      // A call of a program that has ended: what it sent was interrupted, and nobody sends more.
      if (foreign === null || !("send" in want)) return this.#cancel(call);
      const { attempt, asked } = want;
      this.#say(call, { type: "answer", id: call.id, attempt, asked, ...foreign });
    } else if ("send" in want) {
      this.#request(call, want);
    } else {
      const until = want.until_ms;
      const wake = () => {
        call.waits.delete(until);
        if (this.#process !== null) this.#say(call, { type: "wake", id: call.id, at_ms: Math.max(until, this.#now()) });
      };
      clearTimeout(call.waits.get(until));
      after(() => until - this.#now(), wake, (timer) => call.waits.set(until, timer));
    }
  }

  /** Makes a request, once: what is asked for again is still out, or is answered again. */
  #request(call, want) {
    const asked = want.asked ?? "attempt";
    const name = `${asked} ${want.attempt ?? ""} ${want.evidence ?? ""}`;
    const earlier = call.requests.get(name);
    if (earlier !== undefined) {
      if (this.#options.shadow && earlier.timer === undefined) {
        const left = () => earlier.began + want.within_ms - performance.now();
        after(left, () => { earlier.hasTimedOut = true; this.#answer(call, earlier, { timeout: true }); }, (timer) => { earlier.timer = timer.unref(); });
      }
      if (earlier.said !== undefined) this.#write({ kind: "answer", text: earlier.said, call, answer: null });
      return;
    }
    const abort = new AbortController();
    const { tool, args, key, run, refreshed } = call;
    const attempt = new Attempt({ id: call.id, tool, args, key, run, number: want.attempt ?? 0, asked, token: want.token, evidence: want.evidence ?? 0, refreshed, signal: abort.signal });
    const request = { attempt, abort, said: undefined, hasTimedOut: false, timer: undefined };
    call.requests.set(name, request);
    const ofStep = call.of === undefined ? undefined : this.#tools.get(tool);
    const ofCall = ofStep === undefined ? call.send : (step) => ofStep(step.args, step);
    const send = { refresh: this.onRefresh, reversal: this.onReversal, attempt: ofCall }[asked];
    if (call.hasGone || send === undefined) return this.#answer(call, request, call.hasGone ? NOT_SENT : NO_HANDLER);
    const ends = performance.now() + (want.within_ms ?? Infinity);
    if (want.within_ms !== undefined) {
      const left = () => { // a clock that stands still is at its end no earlier than after a while
        const ms = ends - performance.now() + attempt.heldMs;
        return ms > 0 && attempt.heldMs > 0 ? Math.max(ms, HELD_AGAIN_MS) : ms;
      };
      after(left, () => this.#onTime(call, request, want.within_ms), (timer) => { request.timer = timer; });
    }
    call.scope.runInAsyncScope(() => at(call, attempt, () => this.#make(call, request, send)));
  }

  async #make(call, request, send) {
    let hasThrown = false;
    let what;
    try {
      what = await send(request.attempt);
    } catch (thrown) {
      [hasThrown, what] = [true, thrown];
    }
    if (hasThrown && passes(what)) {
      clearTimeout(request.timer);
      call.reject(what);
      return this.#cancel(call);
    }
    const came = await whatCame(hasThrown, what);
    clearTimeout(request.timer);
    if (this.#lost !== null || (hasThrown && (call.hasGone || request.hasTimedOut) && request.abort.signal.aborted && what === request.abort.signal.reason)) return;
    const { asked } = request.attempt;
    if (asked === "attempt" && !request.hasTimedOut) Object.assign(call, came.ok ? { value: what, error: undefined } : { value: undefined, error: what });
    if (asked === "refresh" && !request.hasTimedOut) call.refreshed = hasThrown ? undefined : what;
    if (asked === "attempt" || !request.hasTimedOut) this.#told(call, request, came);
  }

  /** Says what came of a request, in its time or late. */
  #told(call, request, came) {
    if (!request.hasTimedOut) return this.#answer(call, request, came);
    this.#say(call, { type: "answer", id: call.id, attempt: request.attempt.number, late: true, ...came }, null, "late");
  }

  #onTime(call, request, within) {
    if (request.said !== undefined) return;
    request.hasTimedOut = true;
    call.error = new DOMException(`no answer within ${within} ms`, "TimeoutError");
    this.#answer(call, request, { timeout: true });
    request.abort.abort(call.error);
  }

  #answer(call, request, came) {
    const { asked, number, heldMs } = request.attempt;
    const held = heldMs > 0 ? { held_ms: Math.round(heldMs * 1000) / 1000 } : {};
    request.said = this.#say(call, { type: "answer", id: call.id, ...(asked === "attempt" ? { attempt: number } : { asked }), ...held, ...came });
  }

  // -- the end of a call -----------------------------------------------------------------------------------------------

  /** The caller has gone away. */
  #cancel(call) {
    if (call.hasGone || !this.#calls.has(call.id) || this.#lost !== null) return;
    call.hasGone = true;
    call.stopWaiting();
    this.#say(call, { type: "cancel", id: call.id });
    for (const each of [call, ...[...this.#calls.values()].filter(({ of }) => of === call)]) {
      each.hasGone = true;
      const reason = new DOMException("its caller went away", "AbortError");
      for (const request of each.requests.values()) if (!request.hasTimedOut) request.abort.abort(reason);
    }
  }

  #end(done) {
    const call = this.#calls.get(done.done);
    if (call === undefined) return;
    this.#calls.delete(done.done);
    call.stopWaiting();
    const leader = this.#ended.get(done.value_of);
    let how = { error: call.error };
    if (SUCCESS.includes(done.outcome)) how = { ok: true, value: Object.keys(call.values).length > 0 ? call.values : call.value };
    else if (SHARED.includes(done.outcome)) how = { ok: leader?.ok ?? !("told" in done), value: leader?.value };
    const outcome = new Outcome(done, call, how);
    if (call.key !== undefined || call.transaction !== undefined) {
      this.#ended.set(call.id, outcome);
      if (this.#ended.size > ENDED_MAX) this.#ended.delete(this.#ended.keys().next().value);
    }
    if (call.of !== undefined && outcome.ok) call.of.values[call.id.split("/").pop()] = outcome.value;
    if (outcome.queue === undefined || this.onQueue === undefined || call.of !== undefined) return call.resolve(outcome);
    // People have the call before its caller hears of it.
    this.#tell(`the queue ${outcome.queue}`, () => this.onQueue(outcome)).then(() => call.resolve(outcome));
  }

  /** Nothing more is known of a call than whether anything was sent for it, or for one of its steps. */
  #lose(lost, why) {
    const call = lost.of ?? lost;
    const family = [call, ...[...this.#calls.values()].filter(({ of }) => of === call)];
    for (const each of family) {
      this.#calls.delete(each.id);
      each.stopWaiting();
      for (const request of each.requests.values()) clearTimeout(request.timer);
    }
    const attempts = family.reduce((sum, each) => sum + each.attempts, 0);
    const effect = attempts > 0 || Object.keys(call.values).length > 0 ? "unknown" : "not_applied";
    const said = { done: call.id, outcome: "lost", effect, attempts, text: why };
    call.resolve(new Outcome(said, call, { error: new DispatcherLost(`${why}; the effect of ${call.tool} is ${effect}`, effect) }));
  }
}

/** The program of the package, else the one on the path. */
function found() {
  return program.find() ?? "playproof";
}

module.exports = { Attempt, CallFailed, Dispatcher, DispatcherLost, Outcome, PlayproofError, RolledBack, ToolError, attempt, autoKey, errorOf, found, run };
