// Retry code is asked fixtures: harm is found, and time is virtual for that code alone.
import { cases, send, ToolError } from "../lib/testing.mjs";
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("../../../..", import.meta.url)));
const all = new Map(cases("fixtures", { playbook: "standard", program: process.env.PLAYPROOF_BIN }).map((one) => [one.name, one]));
const refund = all.get("unkeyed-refund-times-out-after-landing");
const given = (key) => ({ key: key ?? null });

const loop = (request, wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))) => async (tool, args, key) => {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await request(key, attempt, args);
    } catch (error) {
      if (attempt === 2) throw error;
      await wait(200 * 2 ** attempt);
    }
  }
};
const plain = loop((key) => send(given(key)));
const byFetch = loop(async (key, attempt, args) => {
  const response = await fetch("https://pay/refunds", { method: "POST", body: JSON.stringify(args), headers: key ? { "Idempotency-Key": key } : {}, signal: AbortSignal.timeout(2_000) });
  if (!response.ok) throw Object.assign(new Error(await response.text()), { status: response.status });
}, pause);
const careful = async (tool, args, key) => {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await send(given(key));
    } catch (error) {
      const passes = error.name === "TimeoutError" ? key : error.status === 429 || (error.status >= 500 && key);
      if (!passes || attempt === 3) throw error;
      await pause(200 * 2 ** attempt);
    }
  }
};

test("plain retries pay more than once, by `send` and by `fetch`", async () => {
  const [one, again, fetched] = [await refund.rehearse(plain), await refund.rehearse(plain), await refund.rehearse(byFetch)];
  assert.deepEqual(one.harm.map(({ finding, effects }) => [finding, effects.code]), [["duplicate_effect", 3]]);
  assert.deepEqual(one.sends.map(({ at_ms }) => at_ms), [0, 5200, 10600]);
  assert.deepEqual({ ...one, ends: 0 }, { ...again, ends: 0 });
  assert.deepEqual(fetched.sends.map(({ at_ms }) => at_ms), [0, 2200, 4600]);
  await assert.rejects(refund.run(plain), /refund had 3 effects upstream, under the playbook 1/);
});

test("a new key each time is found, and careful loops at once do no harm", async () => {
  const newKey = loop((key, attempt) => send({ key: `${key}-${attempt}` }));
  assert.deepEqual((await all.get("a-server-error-that-hid-a-success").rehearse(newKey)).harm.map(({ finding }) => finding), ["possible_duplicate_effect"]);
  for (let rest = [...all.values()].filter(({ skip }) => !skip).slice(0, 40); rest.length > 0; ) await Promise.all(rest.splice(0, 8).map((one) => one.run(careful)));
});

test("what the playbook does is no difference, and exceptions have the names that are given", async () => {
  const once = async (tool, args, key) => void (await send(given(key)));
  await refund.run(once, { check: "moments" });
  await all.get("a-denial-escalates-and-is-never-retried").run(once, { check: "moments", outcomes: [[ToolError, "escalated"]] });
  await assert.rejects(refund.run(async (...call) => { await pause(1_000); return once(...call); }, { check: "moments" }), /other moment/);
});

test("all clocks move together, and the runner keeps its own", async () => {
  let seen, ticks = 0;
  const timer = setInterval(() => { ticks += 1; }, 5);
  const began = Date.now();
  await refund.rehearse(async () => {
    const clocks = () => [Date.now(), +new Date(), performance.now(), process.hrtime()[0] * 1e3 + process.hrtime()[1] / 1e6, Number(process.hrtime.bigint()) / 1e6];
    const then = clocks();
    await pause(1_000);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await new Promise((resolve) => AbortSignal.timeout(500).addEventListener("abort", resolve));
    let left = 5;
    await new Promise((resolve) => { const each = setInterval(() => { if (--left === 0) { clearInterval(each); resolve(); } }, 100); });
    await new Promise((resolve) => setImmediate(resolve));
    seen = clocks().map((now, n) => now - then[n]);
  });
  clearInterval(timer);
  assert.deepEqual(seen.map(Math.round), [3000, 3000, 3000, 3000, 3000]);
  assert.ok(ticks > 0 && Date.now() - began < 3_000);
});

test("code that never ends, or never begins, fails", async () => {
  await assert.rejects(refund.run(() => new Promise(() => {})), /waits for ever/);
  await assert.rejects(refund.run(async () => { for (;;) await pause(1); }), /does not end/);
  await assert.rejects(refund.run(async () => { while (Date.now() > 0); }), /reads the clock/);
  assert.throws(() => send(), /a case/);
  await assert.rejects(refund.run(async () => nothing.there), /no request was made: refund ended with ReferenceError/);
  await assert.rejects(refund.run(), TypeError);
});
