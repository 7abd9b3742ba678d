// Asks retry code of your own each fixture, in the test's process, on a virtual clock. For vitest, node:test and Jest:
//
//   import { cases } from "playproof/testing"; // first: a module that keeps `setTimeout` for itself comes after it
//   for (const one of cases("fixtures/")) test(one.name, { skip: one.skip }, () => one.run(callTool));
//
// `callTool(tool, args, key)` is yours. Its client ends in `fetch`, which is the fixture's upstream here, or in `send()`. The
// program has the clock, the upstream and its ledger (`playproof conform --stdio`).
"use strict";

const { spawn, spawnSync } = require("node:child_process");
const readline = require("node:readline");
const { PlayproofError, ToolError, found } = require("./index.cjs");
const { AsyncLocalStorage } = require("node:async_hooks");
const { missing } = require("./program.cjs");
const { here, install, real } = require("./virtual.cjs");

const PATIENCE_MS = 5_000;
const CHECKS = ["harm", "decisions", "moments"];
// The status of an answer whose error says only its kind. One that is not here has no answer.
const STATUSES = require("./failures.cjs").status_of_kind;

install();

/** One request of the current call to the fixture's upstream. `key` is the one that is really sent (without it, the call's own),
 * `timeout` in milliseconds. */
function send(given = {}) {
  const at = here.getStore();
  if (at === undefined || at.world.isOver) throw new Error("`send` is for code that a case asks");
  const { world, call } = at;
  const { key, timeout, signal } = given;
  if (signal?.aborted) return Promise.reject(signal.reason);
  const attempt = ++call.sent;
  world.out.push({ send: call.id, attempt, ...("key" in given ? { key: key ?? null } : {}), ...(timeout === undefined ? {} : { within_ms: timeout }) });
  return new Promise((resolve, reject) => {
    const leave = () => { call.waiting.delete(attempt); reject(signal.reason); };
    signal?.addEventListener("abort", leave, { once: true });
    call.waiting.set(attempt, AsyncLocalStorage.bind((line) => {
      signal?.removeEventListener("abort", leave);
      if (line.ok === true) return resolve({ ok: true });
      const { accepted, suspected, timeout: isTimeout = false, error = {} } = line;
      if (world.error !== undefined) return reject(world.error(error, isTimeout));
      const thrown = new ToolError({ ...error, accepted, suspected });
      reject(isTimeout ? Object.assign(thrown, { name: "TimeoutError" }) : thrown);
    }));
  });
}

/** `fetch`, as long as a case runs. */
async function fetchUpstream(world, input, init = {}) {
  const request = typeof input === "object" && "headers" in input ? input : undefined;
  const headers = new Headers(init.headers ?? request?.headers);
  const failed = (code, name, message) => new TypeError("fetch failed", { cause: Object.assign(new Error(message), { name, code }) });
  try {
    await send({ key: headers.get("idempotency-key"), signal: init.signal ?? request?.signal });
    return Response.json({ ok: true });
  } catch (error) {
    if (!(error instanceof ToolError)) throw error; // the code's own abort
    if (error.name === "TimeoutError") throw failed("UND_ERR_HEADERS_TIMEOUT", "HeadersTimeoutError", "Headers Timeout Error");
    const status = error.status ?? STATUSES[error.kind];
    if (error.kind === "not_sent") throw failed("ECONNREFUSED", "Error", error.message);
    if (status === undefined) throw failed("UND_ERR_SOCKET", "SocketError", error.message);
    const back = new Headers(error.headers ?? {});
    if (error.retry_after_ms !== undefined) back.set("retry-after", String(error.retry_after_ms / 1_000));
    return Response.json({ error: { message: error.message, code: error.code, kind: error.kind } }, { status, headers: back });
  }
}

/** A fixture that is asked: speaks with the program, moves time, and starts and ends the calls. */
class World {
  now = 0; // microseconds
  numbers = 0;
  reads = 0;
  immediates = 0;
  timers = new Set();
  out = [];
  calls = new Map();
  open = new Set();
  ends = {};
  isOver = false;
  why = undefined;
  #seed = 1;

  constructor(one, callTool, error, outcomes) {
    Object.assign(this, { one, callTool, outcomes });
    this.error = error === undefined ? undefined : (facts, isTimeout) => error(facts, isTimeout);
  }

  fetch(input, init) { return fetchUpstream(this, input, init); }
  /** The moment in so many milliseconds, on the grid of the world: one that is finer would never come. */
  due(ms) { return this.now + Math.ceil(ms * 1_000 - 1e-3); }
  random() { return (this.#seed = (this.#seed * 48_271) % 2_147_483_647) / 2_147_483_647; }
  giveUp(why) { this.why ??= why; return new Error(why); }

  #next() {
    let first;
    for (const timer of this.timers) if (first === undefined || timer.due < first.due || (timer.due === first.due && timer.number < first.number)) first = timer;
    return first;
  }

  /** Until nothing can happen without time or an answer: microtasks are done when a real immediate runs. */
  async #quiet() {
    do {
      if (real.now() > this.until) return void this.giveUp(`it does not end within ${PATIENCE_MS / 1_000} s`);
      await new Promise((resolve) => real.setImmediate(resolve));
    } while (this.immediates > 0);
  }

  /** The timers that are due, one after the other, each with what follows from it at once. */
  async #fire() {
    for (let timer = this.#next(); timer !== undefined && timer.due <= this.now && this.why === undefined; timer = this.#next()) {
      if (timer.isRepeated) timer.refresh();
      else this.timers.delete(timer);
      timer.work();
      await this.#quiet();
    }
  }

  #start({ id, tool, args, key }) {
    const call = { id, sent: 0, waiting: new Map() };
    this.calls.set(id, call);
    this.open.add(id);
    const end = (outcome, what) => {
      if (this.isOver || !this.open.delete(id)) return;
      this.ends[id] = what;
      this.out.push({ done: id, outcome });
    };
    call.cancel = () => end("cancelled");
    const raised = (thrown) => end(this.outcomes.find(([kind]) => thrown instanceof kind)?.[1] ?? "raised", thrown);
    here.run({ world: this, call }, () => {
      Promise.resolve().then(() => this.callTool(tool, args, key)).then((value) => end("value", value), raised);
    });
  }

  #hear(line) {
    this.reads = 0;
    this.now = Math.max(this.now, Math.round((line.at_ms ?? 0) * 1_000));
    if (line.type === "call") this.#start(line);
    else if (line.type === "cancel") this.calls.get(line.id)?.cancel();
    else if (line.type === "answer" && line.late !== true) {
      const call = this.calls.get(line.id);
      const hear = call?.waiting.get(line.attempt);
      call?.waiting.delete(line.attempt);
      hear?.(line);
    }
  }

  async run() {
    const { program, playbook, fixture } = this.one;
    const words = ["conform", "--stdio", ...(playbook === undefined ? [] : ["--playbook", playbook]), fixture];
    const child = spawn(program, words, { stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text) => { stderr += text; });
    child.stdin.on("error", () => {}); // it has ended: it says why
    const ended = new Promise((resolve) => child.once("error", (error) => { stderr ||= error.message; resolve(); }).once("close", resolve));
    this.until = real.now() + PATIENCE_MS;
    try {
      for await (const text of readline.createInterface({ input: child.stdout })) {
        const line = JSON.parse(text);
        if (line.type === "result") return line;
        this.#hear(line);
        await this.#quiet();
        await this.#fire();
        const next = this.#next();
        if (next !== undefined && this.open.size > 0) this.out.push({ wait: this.open.values().next().value, until_ms: next.due / 1_000 });
        child.stdin.write(`${JSON.stringify(this.why === undefined ? { do: this.out } : { error: this.why })}\n`);
        this.out = [];
      }
      await ended;
      throw new PlayproofError(`the program ended without a result: ${stderr.trim()}`);
    } finally {
      this.isOver = true;
      child.stdin.destroy();
      child.kill();
    }
  }
}

/** What is wrong with what code did; nothing: an empty text. */
function explain(result, check = "harm") {
  const said = result.harm.map(({ finding, call, effects }) => {
    if (finding === "untruthful_outcome") return `harm: ${call} returned a value, and the upstream has no effect`;
    return `harm: ${call} ${finding === "duplicate_effect" ? "had" : "may have had"} ${effects.code} effects upstream, under the playbook ${effects.playbook}`;
  });
  const differs = (what, found) => found && said.push(`first other ${what}, ${found.call}: playbook ${found.playbook}, your code ${found.code}`);
  if (check !== "harm") differs("decision", result.differs);
  if (check === "moments") differs("moment", result.moments);
  if (result.stopped) said.push(`stopped: ${Object.values(result.stopped).join(", ")}`);
  if (said.length > 0) {
    const sends = result.sends.map(({ call, attempt, at_ms, key, assumed }) => `${call} ${attempt} at ${at_ms} ms key ${key}${assumed ? " (not in the fixture: taken as done)" : ""}`);
    said.push(`sends: ${sends.join("; ") || "none"}`, `playproof explain ${result.fixture} shows what the playbook does`);
  }
  return said.join("\n");
}

/** Code that breaks before it sends does no harm, but was not asked either. */
function unsent({ sends, decided, ends }) {
  const isSent = sends.length > 0 || !Object.values(decided).flat().some(({ what }) => what.startsWith("send"));
  const [call, thrown] = Object.entries(ends).find(([, what]) => what instanceof Error) ?? [];
  return isSent || call === undefined ? "" : `no request was made: ${call} ended with ${thrown.name}: ${thrown.message}`;
}

/** A fixture that code can be asked. */
class Case {
  constructor({ skip, ...row }, playbook, program) {
    Object.assign(this, row, { playbook, program });
    this.skip = skip ? `plain code cannot be asked: under the playbook it ${skip}` : false;
  }

  /** What the code does: the last line of the program, with what each call returned or threw in `ends`. */
  async rehearse(callTool, { error, outcomes = [] } = {}) {
    if (typeof callTool !== "function") throw new TypeError("`callTool(tool, args, key)` is a function");
    const world = new World(this, callTool, error, [...outcomes]);
    const result = await world.run();
    return { ...result, ends: world.ends };
  }

  /** Asks the code, and fails at harm; with `check: "decisions"` also where it sends or ends otherwise than the playbook, and with
   * `"moments"` also where it does so at another time. `error(facts, isTimeout)` makes what `send` throws; `outcomes` are pairs of
   * a class that is thrown and the outcome of the playbook that it means. */
  async run(callTool, { check = "harm", ...how } = {}) {
    if (!CHECKS.includes(check)) throw new RangeError(`no check \`${check}\`, only ${CHECKS.join(", ")}`);
    const result = await this.rehearse(callTool, how);
    const said = explain(result, check) || unsent(result);
    if (said !== "") throw new Error(said); // Jest explains an error of `assert` away
  }
}

/** The fixtures of a folder, or one, that run under the playbook. */
function cases(path, { playbook, program = found() } = {}) {
  const words = ["conform", "--list", ...(playbook === undefined ? [] : ["--playbook", playbook]), path];
  const done = spawnSync(program, words, { encoding: "utf8", maxBuffer: 1 << 26, windowsHide: true });
  if (done.status !== 0) throw new PlayproofError(done.error === undefined ? done.stderr.trim() : missing(program, done.error));
  return done.stdout.trim().split("\n").map((line) => new Case(JSON.parse(line), playbook, program));
}

module.exports = { Case, ToolError, cases, explain, send };
