// Virtual time for the code under test: timers, clocks, `AbortSignal.timeout` and `fetch` of what a case has started. Everything
// else in the process keeps its own: where code belongs is known by `AsyncLocalStorage`.
//
// A world has `now` (microseconds), `due(ms)`, `timers`, `numbers`, `immediates`, `random()`, `fetch` and `isOver`.
"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const { syncBuiltinESMExports } = require("node:module");
const timers = require("node:timers");
const promises = require("node:timers/promises");

const EPOCH_MS = 1_700_000_000_000;
const READS_MAX = 200_000; // of a clock, while nothing happens
const here = new AsyncLocalStorage(); // { world, call }
const real = { setImmediate, setTimeout, clearTimeout, now: performance.now.bind(performance) };

/** The world whose code runs now. */
const inside = () => {
  const at = here.getStore();
  return at !== undefined && !at.world.isOver ? at.world : null;
};

class Timer {
  constructor(world, ms, isRepeated, work) {
    Object.assign(this, { world, ms, isRepeated, work, isRef: true });
    this.refresh();
  }
  refresh() {
    this.due = this.world.due(this.ms);
    this.number = ++this.world.numbers;
    this.world.timers.add(this);
    return this;
  }
  close() { this.world.timers.delete(this); return this; }
  ref() { this.isRef = true; return this; }
  unref() { this.isRef = false; return this; }
  hasRef() { return this.isRef; }
  [Symbol.toPrimitive]() { return this.number; }
}
Timer.prototype[Symbol.dispose ?? Symbol.for("Symbol.dispose")] = Timer.prototype.close;

const set = (isRepeated) => (old) => function (work, delay = 0, ...args) {
  const world = inside();
  if (world === null) return old.call(this, work, delay, ...args);
  const ms = +delay >= 1 && +delay < 2 ** 31 ? +delay : 1; // as Node does
  return new Timer(world, ms, isRepeated, AsyncLocalStorage.bind(() => work(...args)));
};
const clear = (old) => function (one) {
  if (one instanceof Timer) return void one.close();
  const world = inside();
  if (world !== null) for (const timer of world.timers) if (timer.number === +one) timer.close();
  return world === null ? old.call(this, one) : undefined;
};
const immediate = (old) => function (work, ...args) {
  const world = inside();
  if (world === null) return old.call(this, work, ...args);
  world.immediates += 1;
  return old.call(this, () => {
    world.immediates -= 1;
    work(...args);
  });
};
const clearImmediate_ = (old) => function (one) {
  const world = inside();
  if (world !== null && one?._destroyed === false) world.immediates -= 1;
  return old.call(this, one);
};
const aborted = (signal) => Object.assign(new Error("The operation was aborted", { cause: signal.reason }), { name: "AbortError", code: "ABORT_ERR" });
const pause = (old) => function (ms, value, options) {
  if (inside() === null) return old.call(this, ms, value, options);
  return new Promise((resolve, reject) => {
    const signal = options?.signal;
    if (signal?.aborted) return reject(aborted(signal));
    const leave = () => { clearTimeout(timer); reject(aborted(signal)); };
    const timer = setTimeout(() => { signal?.removeEventListener("abort", leave); resolve(value); }, ms);
    signal?.addEventListener("abort", leave, { once: true });
  });
};
const timeoutSignal = (old) => function (ms) {
  if (inside() === null) return old.call(AbortSignal, ms);
  const abort = new AbortController();
  setTimeout(() => abort.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")), ms);
  return abort.signal;
};

/** Reads a clock; code that reads it for ever does not wait. */
function read(world) {
  world.reads += 1;
  if (world.reads > READS_MAX) throw world.giveUp("it reads the clock and does not wait");
  return world.now / 1_000;
}

const RealDate = Date;
const VirtualDate = new Proxy(RealDate, {
  construct(_, args, target) {
    const world = inside();
    const given = world !== null && args.length === 0 ? [EPOCH_MS + Math.floor(read(world))] : args;
    return Reflect.construct(RealDate, given, target === VirtualDate ? RealDate : target);
  },
  apply() {
    const world = inside();
    return world === null ? RealDate() : new RealDate(EPOCH_MS + Math.floor(read(world))).toString();
  },
  get(of, name) {
    if (name !== "now") return Reflect.get(of, name);
    return () => { const world = inside(); return world === null ? RealDate.now() : EPOCH_MS + Math.floor(read(world)); };
  },
});

function patch(owner, name, make) {
  const old = owner[name];
  if (old !== undefined) owner[name] = Object.defineProperties(make(old), Object.getOwnPropertyDescriptors(old));
}

let isThere = false;
/** Puts the clocks into the process, once. Outside of a case they are the real ones. */
function install() {
  if (isThere) return;
  isThere = true;
  for (const owner of [globalThis, timers]) {
    for (const [name, isRepeated] of [["setTimeout", false], ["setInterval", true]]) patch(owner, name, set(isRepeated));
    for (const name of ["clearTimeout", "clearInterval"]) patch(owner, name, clear);
    patch(owner, "setImmediate", immediate);
    patch(owner, "clearImmediate", clearImmediate_);
  }
  patch(promises, "setTimeout", pause);
  const { scheduler } = promises;
  const wait = scheduler.wait.bind(scheduler);
  Object.defineProperty(scheduler, "wait", { configurable: true, writable: true, value: (ms, options) => (inside() === null ? wait(ms, options) : promises.setTimeout(ms, undefined, options)) });
  globalThis.Date = VirtualDate;
  patch(performance, "now", () => () => { const world = inside(); return world === null ? real.now() : read(world); });
  const { hrtime } = process;
  const { bigint } = hrtime;
  const virtual = (before) => {
    const world = inside();
    if (world === null) return hrtime(before);
    const micros = Math.round(read(world) * 1_000) - (before === undefined ? 0 : before[0] * 1e6 + before[1] / 1_000);
    return [Math.floor(micros / 1e6), (micros % 1e6) * 1_000];
  };
  process.hrtime = Object.assign(virtual, { bigint: () => { const world = inside(); return world === null ? bigint() : BigInt(Math.round(read(world) * 1_000)) * 1_000n; } });
  patch(AbortSignal, "timeout", timeoutSignal);
  patch(Math, "random", (old) => () => inside()?.random() ?? old());
  patch(globalThis, "fetch", (old) => function (input, init) { const world = inside(); return world === null ? old.call(this, input, init) : world.fetch(input, init); });
  syncBuiltinESMExports();
}

module.exports = { here, inside, install, real };
