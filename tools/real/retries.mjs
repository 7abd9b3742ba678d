// The same as `retries.py`, in JavaScript: and in each fixture, the policy of p-retry does what that of tenacity did.
import { cases, send } from "playproof/testing";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as pause } from "node:timers/promises";
import asyncRetry from "async-retry";
import { ConstantBackoff, handleAll, retry } from "cockatiel";
import pRetry from "p-retry";

const { here } = createRequire(import.meta.url)("./node_modules/playproof/lib/virtual.cjs");
const program = process.env.PLAYPROOF_BIN;
const given = (key) => ({ key: key ?? null });
const forAMinute = async (tool, args, key) => {
  const until = performance.now() + 60_000;
  for (let wait = 1_000; ; wait *= 2) {
    try {
      return await send(given(key));
    } catch (error) {
      if (performance.now() + wait > until) throw error;
      await pause(wait);
    }
  }
};
const byPRetry = (tool, args, key) => pRetry(() => send(given(key)), { retries: 2, minTimeout: 200, factor: 1 });
const byFetch = (tool, args, key) => pRetry(async () => {
  const response = await fetch("https://pay/refunds", { method: "POST", body: JSON.stringify(args), headers: key ? { "Idempotency-Key": key } : {}, signal: AbortSignal.timeout(2_000) });
  if (!response.ok) throw Object.assign(new Error(await response.text()), { status: response.status });
}, { retries: 2 });
const policy = retry(handleAll, { maxAttempts: 2, backoff: new ConstantBackoff(200) });
const plain = {
  "p-retry": byPRetry,
  "p-retry, fetch": byFetch,
  "async-retry": (tool, args, key) => asyncRetry(() => send(given(key)), { retries: 2, minTimeout: 200 }),
  cockatiel: (tool, args, key) => policy.execute(() => send(given(key))),
  "a minute": forAMinute,
};
const newKey = async (tool, args, key) => pRetry((attempt) => send({ key: `${key}-${attempt}` }), { retries: 2, minTimeout: 500 });
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

const asked = cases("fixtures", { playbook: "standard", program }).filter(({ skip }) => !skip);
const named = new Map(asked.map((one) => [one.name, one]));
const refund = named.get("unkeyed-refund-times-out-after-landing");
for (const [name, code] of Object.entries(plain)) {
  const { harm } = await refund.rehearse(code);
  assert.ok(harm[0]?.finding === "duplicate_effect" && harm[0].effects.code >= 3, `${name}: ${JSON.stringify(harm)}`);
}
const { harm } = await named.get("a-server-error-that-hid-a-success").rehearse(newKey);
assert.deepEqual(harm.map(({ finding }) => finding), ["possible_duplicate_effect"]);

/** Code that does what was decided, to the moment. */
class Ends extends Error {}
const ENDS = new Map(["escalated", "deprecated", "exhausted", "cancelled", "suppressed", "blocked", "undetermined", "reversed"].map((word) => [word, class extends Ends {}]));
function asDecided(decided) {
  return async () => {
    for (const { what, at_ms } of decided[here.getStore().call.id]) {
      const [does, word] = what.split(" ");
      const left = at_ms - performance.now();
      if (left > 0) await pause(left);
      if (does === "send") send().catch(() => {});
      else if (ENDS.has(word)) throw new (ENDS.get(word))(word);
      else return "done";
    }
    return new Promise(() => {});
  };
}
const outcomes = [...ENDS].map(([word, kind]) => [kind, word]);
const results = readFileSync(process.argv[2], "utf8").trim().split("\n").map((line) => JSON.parse(line));
assert.equal(results.length, asked.length);
for (const [at, one] of asked.entries()) {
  await one.run(careful);
  const { ends, ...said } = await one.rehearse(byPRetry);
  assert.deepEqual(said, results[at], `${one.name}: p-retry does otherwise than tenacity`);
  await one.run(asDecided(said.decided), { check: "moments", outcomes });
}
console.log(`Node: ${Object.keys(plain).length} retries of the refund and a new key each time are found; in ${asked.length} fixtures a careful loop does no ` +
  "harm, the playbook's own decisions are the same, and p-retry does what tenacity does");
